//! A resolved scenario to look at: as text, as JSON, and as a scenario file of its own.
//!
//! The base is shown whole, a variant only where it differs from it. What stands in a store's options
//! may be a password: text and JSON leave it out, the file does not, since it must load.

use super::keys::{CONCURRENT, KEYS, SPARK, SPARK_CONF, is_secret};
use super::kind::{NONE, Value};
use super::layer::{Given, Layer};
use super::model::{Fault, FaultKind, When};
use super::source::Place;
use super::units::{duration_text, size_text};
use super::{Loaded, Values};
use crate::table::{Align, Table};
use crate::terminal::{Terminal, Tone, wrap};
use serde_json::json;
use std::fmt::Write;

/// What a value is shown as where it may be a secret.
const HIDDEN: &str = "(not shown)";

impl Loaded {
    /// The scenario as text: every value with where it came from.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let mut text = String::new();
        let name = terminal.paint(Tone::Heading, &self.scenario.name);
        let _ = writeln!(text, "{name}: {}", self.path.display());
        for line in self.scenario.about.iter().flat_map(|about| about.lines()) {
            for line in wrap(line, terminal.width - 2) {
                let _ = writeln!(text, "  {line}");
            }
        }
        let values = &self.origins;
        let mut base = values.scenario.clone();
        base.extend(values.base.clone());
        let told = ["format", "name", "about"];
        let base = ordered(&base).filter(|(key, _)| !told.contains(key));
        let is_alone = is_only_default(values);
        let title = if is_alone { "Values" } else { "All variants" };
        section(&mut text, terminal, title, base.map(row));
        for (name, layer) in values.variants.iter().filter(|_| !is_alone) {
            let rows = differences(&values.base, layer).map(|(key, given)| match given {
                Some(given) => row((key, given)),
                None => [key.to_owned(), NONE.to_owned(), format!("variant {name}")],
            });
            section(&mut text, terminal, &format!("Variant {name}"), rows);
        }
        if !values.faults.is_empty() {
            let title = terminal.paint(Tone::Heading, "Done on purpose");
            let _ = writeln!(text, "\n{title}");
            let mut table = Table::new([
                ("workflow", Align::Right),
                ("attempt", Align::Right),
                ("what", Align::Left),
                ("to", Align::Left),
            ]);
            for (fault, of) in &values.faults {
                table.push([
                    fault.workflow.to_string(),
                    fault.attempt.to_string(),
                    what_is_done(&fault.kind),
                    match of.len() == values.variants.len() {
                        true => "all variants".to_owned(),
                        false => of.join(", "),
                    },
                ]);
            }
            table.render(terminal, &mut text);
        }
        text
    }

    /// The scenario as JSON: durations in seconds, sizes in bytes.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let given = |(key, given): (&str, &Given)| {
            let value = match is_secret(key) {
                true => json!(HIDDEN),
                false => given.value.json(),
            };
            let line = match given.origin.place() {
                Some(Place::File { line, .. }) => Some(line),
                _ => None,
            };
            let shown = json!({"value": value, "from": given.origin.name(), "line": line});
            (key.to_owned(), shown)
        };
        let values = &self.origins;
        let mut base = values.scenario.clone();
        base.extend(values.base.clone());
        let base: serde_json::Map<_, _> = ordered(&base).map(given).collect();
        let variants: Vec<serde_json::Value> = values
            .variants
            .iter()
            .map(|(name, layer)| {
                let values: serde_json::Map<_, _> = differences(&values.base, layer)
                    .map(|(key, value)| match value {
                        Some(value) => given((key, value)),
                        None => (
                            key.to_owned(),
                            json!({"value": null, "from": "variant", "line": null}),
                        ),
                    })
                    .collect();
                json!({"name": name, "values": values})
            })
            .collect();
        let faults: Vec<serde_json::Value> = values
            .faults
            .iter()
            .map(|(fault, of)| {
                json!({
                    "workflow": fault.workflow,
                    "attempt": fault.attempt,
                    "what": what_is_done(&fault.kind),
                    "variants": of,
                })
            })
            .collect();
        json!({
            "format": 1,
            "name": self.scenario.name,
            "path": self.path,
            "base": base,
            "variants": variants,
            "faults": faults,
        })
    }

    /// The scenario as a file that loads as the same: defaults and what was set are in it, the matrix
    /// is crossed.
    #[must_use]
    pub fn toml(&self) -> String {
        let values = &self.origins;
        let mut base = values.scenario.clone();
        base.extend(values.base.clone());
        let mut text = String::new();
        tables(
            &mut text,
            "",
            ordered(&base).map(|(key, given)| (key, given.value.clone())),
        );
        if !is_only_default(values) {
            for (name, layer) in &values.variants {
                let lifted = Value::Lifted;
                let own = differences(&values.base, layer).map(|(key, given)| {
                    let value = given.map_or(&lifted, |given| &given.value);
                    (key, value.clone())
                });
                // A variant that differs in nothing is one all the same.
                let _ = writeln!(text, "\n[variants.{}]", toml_key(name));
                tables(&mut text, &format!("variants.{}.", toml_key(name)), own);
            }
        }
        for (fault, of) in &values.faults {
            let _ = write!(
                text,
                "\n[[faults]]\nworkflow = {}\nattempt = {}\n{}",
                fault.workflow,
                fault.attempt,
                done_toml(&fault.kind)
            );
            if of.len() < values.variants.len() {
                let _ = writeln!(text, "variants = {}", Value::Words(of.clone()).toml());
            }
        }
        text
    }
}

/// Whether the scenario has no variant but the one that every scenario has.
fn is_only_default(values: &Values) -> bool {
    matches!(values.variants.as_slice(), [(name, layer)]
        if name == "default" && differences(&values.base, layer).next().is_none())
}

/// Values in the order of the documentation, without those that mean nothing.
fn ordered(layer: &Layer) -> impl Iterator<Item = (&str, &Given)> {
    let place = |key: &str| {
        KEYS.iter().position(|known| {
            let section = known.path.strip_suffix('*');
            known.path == key || section.is_some_and(|section| key.starts_with(section))
        })
    };
    let mut all: Vec<(&str, &Given)> = layer
        .iter()
        .map(|(key, given)| (key.as_str(), given))
        .filter(|(key, _)| is_meant(key, layer))
        .collect();
    all.sort_by_key(|(key, _)| place(key));
    all.into_iter()
}

/// Whether a key means something beside the others.
fn is_meant(key: &str, layer: &Layer) -> bool {
    let is = |key: &str, word: &str| {
        let value = layer.get(key).map(|given| &given.value);
        matches!(value, Some(Value::Text(text)) if text == word)
    };
    if CONCURRENT.contains(&key) {
        return !is("sequence.mode", "sequential");
    }
    if SPARK.contains(&key) || key.starts_with(SPARK_CONF) {
        return is("target.kind", "spark");
    }
    key != "target.command" || is("target.kind", "command")
}

/// Where a variant differs from the base: `None` where the base's value is lifted.
fn differences<'a>(
    base: &'a Layer,
    layer: &'a Layer,
) -> impl Iterator<Item = (&'a str, Option<&'a Given>)> {
    let own = ordered(layer)
        .filter(|(key, given)| {
            let below = base.get(*key).filter(|_| is_meant(key, base));
            below.is_none_or(|below| below.value != given.value)
        })
        .map(|(key, given)| (key, Some(given)));
    let lifted = base
        .keys()
        .filter(|key| !layer.contains_key(*key) && !CONCURRENT.contains(&key.as_str()))
        .map(|key| (key.as_str(), None));
    own.chain(lifted)
}

fn row((key, given): (&str, &Given)) -> [String; 3] {
    let value = match is_secret(key) {
        true => HIDDEN.to_owned(),
        false => given.value.toml(),
    };
    [key.to_owned(), value, given.origin.to_string()]
}

fn section(
    text: &mut String,
    terminal: &Terminal,
    title: &str,
    rows: impl Iterator<Item = [String; 3]>,
) {
    let _ = writeln!(text, "\n{}", terminal.paint(Tone::Heading, title));
    let mut table = Table::new([
        ("key", Align::Left),
        ("value", Align::Left),
        ("from", Align::Left),
    ]);
    let mut is_empty = true;
    for row in rows {
        table.push(row);
        is_empty = false;
    }
    if is_empty {
        let _ = writeln!(text, "  nothing of its own");
    } else {
        table.render(terminal, text);
    }
}

/// What a fault does, in words.
#[must_use]
pub(crate) fn what_is_done(kind: &FaultKind) -> String {
    let when = |at: &When| match at {
        When::Stage(stage) => format!("after stage {stage}"),
        When::After(time) => format!("{} after it was sent", duration_text(*time)),
    };
    match kind {
        FaultKind::Memory(bytes) => format!("memory limit {}", size_text(*bytes)),
        FaultKind::Kill { signal, at } => format!("{signal} {}", when(at)),
        FaultKind::Pause { for_, at } => {
            format!("paused for {} {}", duration_text(*for_), when(at))
        }
    }
}

fn done_toml(kind: &FaultKind) -> String {
    let when = |at: &When| match at {
        When::Stage(stage) => format!("stage = {}\n", Value::Text(stage.clone()).toml()),
        When::After(time) => format!("after = {}\n", Value::Duration(*time).toml()),
    };
    match kind {
        FaultKind::Memory(bytes) => format!("memory = {}\n", Value::Size(*bytes).toml()),
        FaultKind::Kill { signal, at } => {
            format!(
                "kill = {}\n{}",
                Value::Text(signal.clone()).toml(),
                when(at)
            )
        }
        FaultKind::Pause { for_, at } => {
            format!("pause = {}\n{}", Value::Duration(*for_).toml(), when(at))
        }
    }
}

/// Writes values as tables below a prefix, each table once.
fn tables<'a>(text: &mut String, prefix: &str, values: impl Iterator<Item = (&'a str, Value)>) {
    let mut sections: Vec<(String, String)> = Vec::new();
    for (key, value) in values {
        let parts: Vec<String> = parts(key).into_iter().map(toml_key).collect();
        let (name, section) = parts.split_last().expect("a key has a last part");
        let section = section.join(".");
        let line = format!("{name} = {}\n", value.toml());
        match sections.iter_mut().find(|(open, _)| *open == section) {
            Some((_, lines)) => lines.push_str(&line),
            None => sections.push((section, line)),
        }
    }
    // Keys without a table stand before all tables.
    sections.sort_by_key(|(section, _)| !section.is_empty());
    for (section, lines) in sections {
        if !section.is_empty() {
            let _ = writeln!(text, "\n[{prefix}{section}]");
        }
        text.push_str(&lines);
    }
}

/// The parts of a dotted key; behind an open section all is one name.
fn parts(key: &str) -> Vec<&str> {
    for section in ["target.storage.", SPARK_CONF, "settings."] {
        if let Some(name) = key.strip_prefix(section) {
            let mut parts: Vec<&str> = section.trim_end_matches('.').split('.').collect();
            parts.push(name);
            return parts;
        }
    }
    key.split('.').collect()
}

fn toml_key(name: &str) -> String {
    let is_bare = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        // A text of JSON is one of TOML, but for one character.
        false => serde_json::Value::String(name.to_owned())
            .to_string()
            .replace('\u{7f}', "\\u007F"),
    }
}

impl Fault {
    /// The fault in words: what is done, and to which attempt.
    #[must_use]
    pub fn describe(&self) -> String {
        format!(
            "workflow {}, attempt {}: {}",
            self.workflow,
            self.attempt,
            what_is_done(&self.kind)
        )
    }
}
