//! From a suite's text to its scenarios, strictly and as a whole, in the way scenarios are read.

use super::{FORMAT, Member, Suite, SuiteErrors};
use crate::error::Error;
use crate::plan::{Logs, Plan};
use crate::scenario::{
    Entry, Errors, Kind, Loaded, Node, Place, ScenarioError, Tree, Value, load, nearest, parse_toml,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Keys of the file, and of a scenario in it.
const FILE: [&str; 4] = ["format", "name", "about", "scenarios"];
const MEMBER: [&str; 5] = ["scenario", "name", "set", "repeats", "time"];

const REPEATS: Kind = Kind::Count {
    least: 1,
    most: 1000,
};
const TIME: Kind = Kind::Duration {
    least: Duration::from_secs(1),
};

/// Reads a suite's text as if it stood in the file `path`, with `sets` laid over each scenario.
///
/// # Errors
/// Everything that is wrong with it and with its scenarios, at once.
pub fn parse(text: &str, path: &Path, sets: &[(String, String)]) -> Result<Suite, Error> {
    let mut errors = Errors::new(&path.display().to_string());
    let root = match parse_toml(text) {
        Ok(root) => root,
        Err(wrong) => {
            for error in wrong {
                errors.plain(error.at, format!("is no TOML: {}", error.what));
            }
            return finish(errors, None, Vec::new());
        }
    };
    let raw = file(&root, &mut errors);
    let mut faults = Vec::new();
    let mut members = Vec::new();
    let mut places: BTreeMap<String, Place> = BTreeMap::new();
    for one in &raw.members {
        let Some(member) = member(one, path, sets, &mut errors, &mut faults) else {
            continue;
        };
        if let Some(before) = places.insert(member.name().to_owned(), one.at.clone()) {
            let what = format!(
                "has a second scenario {:?}, after that of {before}: runs and baselines are known by \
                 it, so give one of them another `name`",
                member.name()
            );
            errors.at(&one.at, "scenarios", what);
        }
        members.push(member);
    }
    let suite = raw.name.map(|name| Suite {
        name,
        about: raw.about,
        path: path.to_path_buf(),
        scenarios: members,
    });
    finish(errors, suite, faults)
}

/// The suite, or everything that is wrong with its file, and after that with its scenarios.
fn finish(
    errors: Errors,
    suite: Option<Suite>,
    of_scenarios: Vec<ScenarioError>,
) -> Result<Suite, Error> {
    let mut all = match errors.finish(suite) {
        Ok(suite) if of_scenarios.is_empty() => return Ok(suite),
        Ok(_) => Vec::new(),
        Err(errors) => errors.all().to_vec(),
    };
    for error in of_scenarios {
        if !all.contains(&error) {
            all.push(error);
        }
    }
    Err(Error::Suite(SuiteErrors(all)))
}

/// A suite's file as written.
#[derive(Default)]
struct Raw {
    name: Option<String>,
    about: Option<String>,
    members: Vec<RawMember>,
}

/// A scenario of it as written.
struct RawMember {
    at: Place,
    named: String,
    sets: Vec<Set>,
    time: Option<Duration>,
}

/// A key of a scenario that the suite gives another value, as `--set` would.
struct Set {
    at: Place,
    key: String,
    value: String,
}

fn file(root: &Node, errors: &mut Errors) -> Raw {
    let mut raw = Raw::default();
    let mut format = false;
    let Tree::Table(entries) = &root.tree else {
        return raw;
    };
    for Entry { name, at, node } in entries {
        match name.as_str() {
            "format" => {
                format = true;
                let only = Kind::Count {
                    least: FORMAT,
                    most: FORMAT,
                };
                value(&only, "format", node, errors);
            }
            "name" => raw.name = text(&Kind::Name, "name", node, errors),
            "about" => raw.about = text(&Kind::Text, "about", node, errors),
            "scenarios" => raw.members = members(node, errors),
            other => errors.at(at, other, unknown(other, &FILE)),
        }
    }
    let has = |key: &str| entries.iter().any(|entry| entry.name == key);
    for (key, is_there, how) in [
        ("format", format, "begin it with format = 1"),
        ("name", has("name"), "begin it with name = \"a-name\""),
        (
            "scenarios",
            has("scenarios"),
            "name at least one, as [[scenarios]]",
        ),
    ] {
        if !is_there {
            errors.plain(None, format!("has no `{key}`: {how}"));
        }
    }
    raw
}

fn members(node: &Node, errors: &mut Errors) -> Vec<RawMember> {
    let items = match &node.tree {
        Tree::Array(items) if !items.is_empty() => items,
        other => {
            let what = format!(
                "is {}; scenarios are a list of at least one table, [[scenarios]]",
                other.describe()
            );
            errors.at(&node.at, "scenarios", what);
            return Vec::new();
        }
    };
    items
        .iter()
        .filter_map(|item| {
            let Tree::Table(entries) = &item.tree else {
                let what = format!("has {}; a scenario is a table", item.tree.describe());
                errors.at(&item.at, "scenarios", what);
                return None;
            };
            raw_member(&item.at, entries, errors)
        })
        .collect()
}

fn raw_member(at: &Place, entries: &[Entry], errors: &mut Errors) -> Option<RawMember> {
    let mut named = None;
    let mut sets = Vec::new();
    let mut time = None;
    let set = |key: &str, at: &Place, value: &Value| Set {
        at: at.clone(),
        key: key.to_owned(),
        value: value.toml(),
    };
    for Entry { name, at, node } in entries {
        let full = format!("scenarios.{name}");
        match name.as_str() {
            "scenario" => named = text(&Kind::Text, &full, node, errors),
            "name" => {
                let value = value(&Kind::Name, &full, node, errors);
                sets.extend(value.map(|value| set("name", at, &value)));
            }
            "repeats" => {
                let value = value(&REPEATS, &full, node, errors);
                sets.extend(value.map(|value| set("measure.repeats", at, &value)));
            }
            "time" => {
                if let Some(Value::Duration(value)) = value(&TIME, &full, node, errors) {
                    time = Some(value);
                }
            }
            "set" => match &node.tree {
                Tree::Table(entries) => flatten("", entries, &mut sets),
                other => {
                    let what = format!(
                        "is {}; it is a table of a scenario's keys, as in \
                         {{ settings.shuffle_partitions = 32 }}",
                        other.describe()
                    );
                    errors.at(&node.at, &full, what);
                }
            },
            other => errors.at(at, &full, unknown(other, &MEMBER)),
        }
    }
    if !entries.iter().any(|entry| entry.name == "scenario") {
        let what = "is missing: it is the name of a shipped scenario, or a file beside the suite";
        errors.at(at, "scenarios.scenario", what);
    }
    Some(RawMember {
        at: at.clone(),
        named: named?,
        sets,
        time,
    })
}

fn value(kind: &Kind, key: &str, node: &Node, errors: &mut Errors) -> Option<Value> {
    kind.read(node)
        .map_err(|what| errors.at(&node.at, key, what))
        .ok()
}

fn text(kind: &Kind, key: &str, node: &Node, errors: &mut Errors) -> Option<String> {
    match value(kind, key, node, errors) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("is no key; the nearest is `{near}`"),
        None => format!("is no key; known here are {}", known.join(", ")),
    }
}

/// Tables as dotted keys, which is how a scenario's keys are set from outside.
fn flatten(prefix: &str, entries: &[Entry], sets: &mut Vec<Set>) {
    for Entry { name, at, node } in entries {
        let key = format!("{prefix}{}", part(name));
        match &node.tree {
            Tree::Table(inner) if !inner.is_empty() => flatten(&format!("{key}."), inner, sets),
            tree => sets.push(Set {
                at: at.clone(),
                key,
                value: toml_text(tree),
            }),
        }
    }
}

/// A part of a dotted key, quoted where it has to be.
fn part(name: &str) -> String {
    let is_bare = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => toml::Value::String(name.to_owned()).to_string(),
    }
}

fn toml_text(tree: &Tree) -> String {
    match tree {
        Tree::Boolean(value) => value.to_string(),
        Tree::Integer(value) => value.to_string(),
        Tree::Float(value) => toml::Value::Float(*value).to_string(),
        Tree::String(value) => toml::Value::String(value.clone()).to_string(),
        Tree::Datetime(value) => value.clone(),
        Tree::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| toml_text(&item.tree)).collect();
            format!("[{}]", items.join(", "))
        }
        Tree::Table(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|entry| format!("{} = {}", part(&entry.name), toml_text(&entry.node.tree)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// Loads a scenario of the suite; what is wrong with it goes to `faults`.
fn member(
    raw: &RawMember,
    suite: &Path,
    asked: &[(String, String)],
    errors: &mut Errors,
    faults: &mut Vec<ScenarioError>,
) -> Option<Member> {
    let is_file = raw.named.contains('/') || raw.named.ends_with(".toml");
    let named = match suite.parent() {
        Some(folder) if is_file => folder.join(&raw.named).display().to_string(),
        _ => raw.named.clone(),
    };
    let own = raw
        .sets
        .iter()
        .map(|set| (set.key.clone(), set.value.clone()));
    let sets: Vec<(String, String)> = own.chain(asked.iter().cloned()).collect();
    let loaded = match load(&named, &sets) {
        Ok(loaded) => loaded,
        Err(wrong) => {
            let own = |error: &ScenarioError| of_suite(error.clone(), raw, suite, asked);
            faults.extend(wrong.all().iter().map(own));
            return None;
        }
    };
    let seconds = match raw.time {
        Some(time) => time.as_secs_f64(),
        None => match estimate(&loaded) {
            Ok(Some(seconds)) => seconds,
            Ok(None) => {
                let what = "is missing, and what a command takes cannot be estimated: give it, as in \
                            time = \"5min\"";
                errors.at(&raw.at, "scenarios.time", what);
                return None;
            }
            Err(error) => {
                errors.at(
                    &raw.at,
                    "scenarios.scenario",
                    format!("cannot be planned: {}", error.chain()),
                );
                return None;
            }
        },
    };
    Some(Member {
        named,
        sets,
        loaded,
        seconds,
    })
}

fn estimate(loaded: &Loaded) -> Result<Option<f64>, Error> {
    let scenario = &loaded.scenario;
    Ok(Plan::of(scenario, &Logs::foresee(&scenario.dataset)?).seconds)
}

/// An error in what the suite sets, which a scenario takes for the command line's, gets its place in
/// the suite; so does one that has no place in a scenario's file, such as that there is no such file.
fn of_suite(
    mut error: ScenarioError,
    raw: &RawMember,
    suite: &Path,
    asked: &[(String, String)],
) -> ScenarioError {
    if let Some(Place::Flag(flag)) = &error.place {
        let is_of = |key: &str| {
            flag.strip_prefix("--set ")
                .and_then(|rest| rest.strip_prefix(key))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let set = raw.sets.iter().rev().find(|set| is_of(&set.key));
        if let (Some(set), false) = (set, asked.iter().any(|(key, _)| is_of(key))) {
            error.place = Some(set.at.clone());
            error.file = suite.display().to_string();
        }
    } else if error.place.is_none() && error.key.is_none() {
        error.what = format!("{}: {}", error.file, error.what);
        error.place = Some(raw.at.clone());
        error.file = suite.display().to_string();
    }
    error
}
