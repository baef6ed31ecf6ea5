//! What two measurements must have in common so that one may gate the other.
//!
//! A key is the facts of a run that change its figures, in a few parts. Two keys are compared part by
//! part, and a part that differs, or that one of them does not tell, keeps the two apart unless somebody
//! said that it may: [`Key::differences`].
//!
//! Left out on purpose, since a night's work is there to change them: the git revision, and the version
//! of `bench` itself, which runs and verifies but does not ingest. The kernel is left out as well: hosts
//! of CI change it every few weeks. All three stand beside a verdict as a note where they differ.

use crate::run::Facts;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The logs, by their digest.
    Dataset,
    /// What the scenario says of the variant: sequence, resources, settings, faults.
    Scenario,
    /// What ingests: kind, pipeline, command, and the store of a lake elsewhere.
    Target,
    /// Versions of the target, as its workers tell them.
    Version,
    /// The class of the host: processor, cores, memory, storage.
    Host,
}

impl Part {
    /// All parts, in the order in which they are told.
    pub const ALL: [Self; 5] = [
        Self::Dataset,
        Self::Scenario,
        Self::Target,
        Self::Version,
        Self::Host,
    ];

    /// Its name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Scenario => "scenario",
            Self::Target => "target",
            Self::Version => "version",
            Self::Host => "host",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Dataset => "data set",
            Self::Scenario => "scenario",
            Self::Target => "target",
            Self::Version => "version of the target",
            Self::Host => "host class",
        }
    }
}

/// What a measurement may be compared with: facts by name, in each part.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(BTreeMap<Part, BTreeMap<String, String>>);

/// A part in which two keys are not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The part.
    pub part: Part,
    /// What differs in it, in words.
    pub text: String,
}

impl Key {
    /// The key of a variant of a run.
    #[must_use]
    pub fn of(run: &Facts, variant: &Facts) -> Self {
        let told = |facts: &Facts, path: &str| facts.at(path).and_then(text);
        let some = |pairs: Vec<(&str, Option<String>)>| -> BTreeMap<String, String> {
            let told = pairs
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            told.collect()
        };
        let mut versions = BTreeMap::new();
        for (name, value) in run.leaves("versions") {
            let name = name.trim_start_matches("versions.");
            if name != "bench" {
                versions.extend(text(&value).map(|value| (name.to_owned(), value)));
            }
        }
        let mut scenario = BTreeMap::new();
        for part in ["sequence", "resources", "settings", "faults"] {
            for (name, value) in variant.leaves(part) {
                scenario.extend(text(&value).map(|value| (name, value)));
            }
        }
        let target = some(vec![
            ("kind", told(variant, "target.kind")),
            ("pipeline", told(variant, "target.pipeline")),
            ("command", told(variant, "target.command")),
            ("lake", variant.text("target.lake").and_then(store)),
        ]);
        let host = some(vec![
            ("processor", told(run, "host.cpu_model")),
            ("architecture", told(run, "host.architecture")),
            ("cores", told(run, "host.cores")),
            ("memory", memory(run)),
            ("storage", told(run, "host.storage")),
        ]);
        Self(BTreeMap::from([
            (
                Part::Dataset,
                some(vec![("digest", told(run, "dataset.digest"))]),
            ),
            (Part::Scenario, scenario),
            (Part::Target, target),
            (Part::Version, versions),
            (Part::Host, host),
        ]))
    }

    /// The facts of a part.
    #[must_use]
    pub fn part(&self, part: Part) -> &BTreeMap<String, String> {
        const NONE: &BTreeMap<String, String> = &BTreeMap::new();
        self.0.get(&part).unwrap_or(NONE)
    }

    /// Whether the scenario does something to workers on purpose.
    pub(super) fn has_faults(&self) -> bool {
        let scenario = self.part(Part::Scenario);
        scenario.keys().any(|name| name.starts_with("faults"))
    }

    /// The parts in which another key is not the same, or that one of the two does not tell.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let differs = |part: Part| {
            let (one, other) = (self.part(part), other.part(part));
            let text = match (one.is_empty(), other.is_empty()) {
                (true, true) => format!("{}: told by neither", part.words()),
                (true, false) => format!("{}: not told by the baseline", part.words()),
                (false, true) => format!("{}: not told by the run", part.words()),
                (false, false) if one == other => return None,
                (false, false) => format!("{}: {}", part.words(), changes(one, other)),
            };
            Some(Difference { part, text })
        };
        Part::ALL.into_iter().filter_map(differs).collect()
    }
}

/// What differs between two tables of facts: `seed 1 → 2`.
fn changes(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let mut text = String::new();
    for name in names {
        let (old, new) = (one.get(name), other.get(name));
        if old != new {
            let show = |value: Option<&String>| value.map_or("none".to_owned(), Clone::clone);
            let gap = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{gap}{name} {} → {}", show(old), show(new));
        }
    }
    text
}

/// Where a lake elsewhere lies, as far as it matters: `s3://bucket`. A path on this machine is no part
/// of a key, as the file system it is on is known by itself.
fn store(lake: &str) -> Option<String> {
    let (scheme, rest) = lake.split_once("://")?;
    let authority = rest.split('/').next().unwrap_or_default();
    Some(format!("{scheme}://{authority}"))
}

/// The class of a host's memory, or of what its container may use.
fn memory(run: &Facts) -> Option<String> {
    let bytes = ["host.memory_bytes", "host.memory_limit_bytes"]
        .into_iter()
        .filter_map(|path| run.number(path))
        .reduce(f64::min)?;
    Some(format!("{} GiB", memory_class(bytes)))
}

/// Bytes as the size that such a machine is sold with, in GiB. The kernel keeps a part for itself that
/// changes with its version, so it is rounded up: to 1 GiB below 16 GiB, above to an eighth of the power
/// of two below.
#[must_use]
pub fn memory_class(bytes: f64) -> u64 {
    let gib = bytes / f64::from(1_u32 << 30);
    let step = match gib {
        small if small <= 16.0 => 1.0,
        large => (large.log2().floor() - 3.0).exp2(),
    };
    ((gib / step).ceil() * step).max(1.0) as u64
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(members) if members.is_empty() => None,
        Value::Array(members) => {
            let members: Vec<String> = members.iter().filter_map(text).collect();
            Some(members.join(" "))
        }
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(seed: u64, cores: u64) -> Facts {
        Facts::new(json!({
            "dataset": { "digest": format!("d{seed}") },
            "versions": { "bench": "0.1.0", "engine": "1" },
            "host": { "cpu_model": "C", "cores": cores, "memory_bytes": 25_276_502_016_u64 },
        }))
    }

    fn variant(partitions: u64) -> Facts {
        Facts::new(json!({
            "name": "v",
            "target": { "kind": "embedded", "command": [], "lake": "/somewhere/else" },
            "sequence": { "mode": "sequential" },
            "settings": { "shuffle_partitions": partitions },
        }))
    }

    fn parts(one: &Key, other: &Key) -> Vec<Part> {
        one.differences(other).iter().map(|one| one.part).collect()
    }

    #[test]
    fn a_part_that_differs_is_told_with_both_values() {
        let one = Key::of(&run(1, 2), &variant(200));
        assert_eq!(parts(&one, &one), []);
        let other = Key::of(&run(2, 2), &variant(16));
        let found = one.differences(&other);
        assert_eq!(
            found
                .iter()
                .map(|one| one.text.as_str())
                .collect::<Vec<_>>(),
            [
                "data set: digest d1 → d2",
                "scenario: settings.shuffle_partitions 200 → 16"
            ]
        );
        assert_eq!(
            parts(&one, &Key::of(&run(1, 4), &variant(200))),
            [Part::Host]
        );
    }

    #[test]
    fn what_is_not_told_is_never_the_same() {
        let empty = Key::of(&Facts::new(json!({})), &variant(200));
        assert!(parts(&empty, &empty).contains(&Part::Dataset));
        assert!(parts(&empty, &empty).contains(&Part::Version));
    }

    #[test]
    fn the_version_of_bench_is_no_part_of_a_key() {
        let mut value = json!({ "versions": { "bench": "0.1.0", "engine": "1" } });
        let one = Key::of(&Facts::new(value.clone()), &variant(1));
        value["versions"]["bench"] = json!("9");
        let other = Key::of(&Facts::new(value), &variant(1));
        assert!(!parts(&one, &other).contains(&Part::Version));
    }

    #[test]
    fn memory_is_classed_by_the_size_it_is_sold_with() {
        let gib = |size: f64| memory_class(size * f64::from(1_u32 << 30));
        assert_eq!([15.4, 15.6, 16.0].map(gib), [16, 16, 16]);
        assert_eq!([7.5, 7.7, 23.5, 31.2, 62.6].map(gib), [8, 8, 24, 32, 64]);
        assert_eq!([125.3, 125.9, 251.5].map(gib), [128, 128, 256]);
    }

    #[test]
    fn a_lake_on_this_machine_is_known_by_its_file_system_and_one_elsewhere_by_its_store() {
        assert_eq!(store("/mnt/lake"), None);
        assert_eq!(store("s3://b/p/q").as_deref(), Some("s3://b"));
    }
}
