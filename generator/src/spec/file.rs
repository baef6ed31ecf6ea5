//! A spec as it is written: layers of TOML, from the base upwards, merged into one file with
//! every key. Nothing is validated here beyond the keys' names.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::DeTable;
use toml::{Table, Value};

/// The shipped profiles: name and text.
pub const PROFILES: [(&str, &str); 5] = [
    ("varied", include_str!("../../profiles/varied.toml")),
    ("lifelike", include_str!("../../profiles/lifelike.toml")),
    ("webs", include_str!("../../profiles/webs.toml")),
    ("dirty", include_str!("../../profiles/dirty.toml")),
    ("production", include_str!("../../profiles/production.toml")),
];

/// The profile that every spec rests on in the end; it has every key.
const ROOT: &str = "varied";

/// Every key of a spec with its value: what `dataset.json` records.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SpecFile {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) encoding: String,
    pub(crate) volume: VolumeFile,
    pub(crate) versions: VersionsFile,
    pub(crate) patients: PatientsFile,
    pub(crate) reports: ReportsFile,
    pub(crate) life_cycle: LifeCycleFile,
    pub(crate) resends: ResendsFile,
    pub(crate) late: LateFile,
    pub(crate) webs: WebsFile,
    pub(crate) faults: BTreeMap<String, f64>,
}

impl SpecFile {
    /// Name of the profile, or of the spec.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seed of all draws.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

/// Value and weight, as TOML writes them: `[value, weight]`.
pub(crate) type Entries = Vec<(u32, f64)>;

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VolumeFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) messages: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log_files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) per_day: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) days: Option<u64>,
    pub(crate) start: String,
    pub(crate) second_feed: f64,
    pub(crate) growth_per_year: f64,
    pub(crate) weekdays: Vec<f64>,
    pub(crate) dispersion: f64,
    pub(crate) hours: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionsFile {
    pub(crate) era: String,
    pub(crate) mixed: SharesFile,
    pub(crate) realistic: Vec<PeriodFile>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharesFile {
    pub(crate) v2_3: f64,
    pub(crate) v2_4: f64,
    pub(crate) v2_7: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeriodFile {
    pub(crate) from: String,
    pub(crate) v2_3: f64,
    pub(crate) v2_4: f64,
    pub(crate) v2_7: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatientsFile {
    pub(crate) studies: Entries,
    pub(crate) oldest: u32,
    pub(crate) mbmc: f64,
    pub(crate) empi: f64,
    pub(crate) accented: f64,
    pub(crate) race_unavailable: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportsFile {
    pub(crate) no_obx: f64,
    pub(crate) preliminary: f64,
    #[serde(rename = "final")]
    pub(crate) final_: f64,
    pub(crate) wet_read: f64,
    pub(crate) lines_2_7: Entries,
    pub(crate) lines_2_3: Entries,
    pub(crate) lines_2_4: Entries,
    pub(crate) addendum: f64,
    pub(crate) technician_note: f64,
    pub(crate) diagnoses: Entries,
    pub(crate) icd9: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LifeCycleFile {
    pub(crate) follow_ups: f64,
    pub(crate) lags: Entries,
    pub(crate) out_of_order: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResendsFile {
    pub(crate) rate: f64,
    pub(crate) lags: Entries,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LateFile {
    pub(crate) rate: f64,
    pub(crate) days: Entries,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebsFile {
    pub(crate) second_epic: f64,
    pub(crate) merged: f64,
}

/// One TOML text of a spec, kept so that an error can name its line.
pub(crate) struct Layer {
    source: String,
    text: String,
    table: Table,
}

impl Layer {
    fn parse(source: String, text: String) -> Result<Self, Error> {
        match text.parse::<Table>() {
            Ok(table) => Ok(Self {
                source,
                text,
                table,
            }),
            Err(error) => {
                let place = match error.span() {
                    Some(span) => format!("{source}, line {}", line_of(&text, span.start)),
                    None => source,
                };
                Err(Error::spec(place, error.message().to_owned()))
            }
        }
    }

    /// Source and line of a dotted key, if the layer has it.
    fn locate(&self, key: &str) -> Option<String> {
        let parsed = DeTable::parse(&self.text).ok()?;
        let mut table = parsed.into_inner();
        let mut parts = key.split('.').peekable();
        loop {
            let part = parts.next()?;
            let found = table
                .iter()
                .find(|(name, _)| name.get_ref() == part)
                .map(|(name, value)| (name.span(), value.clone()))?;
            if parts.peek().is_none() {
                let line = line_of(&self.text, found.0.start);
                return Some(format!("{}, line {line}, `{key}`", self.source));
            }
            table = match found.1.into_inner() {
                toml::de::DeValue::Table(inner) => inner,
                _ => return None,
            };
        }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].bytes().filter(|&byte| byte == b'\n').count() + 1
}

/// The layers of a spec, topmost first, and what they come to.
pub(crate) struct Layers {
    /// Keys that were given by hand over the files.
    by_hand: Vec<String>,
    layers: Vec<Layer>,
    pub(crate) merged: Table,
}

impl Layers {
    /// Reads a profile or a file with all its bases.
    pub(crate) fn load(name: &str) -> Result<Self, Error> {
        let mut layers = vec![open(name, None)?];
        loop {
            let top = layers.last().expect("there is always one layer");
            let base = match top.table.get("base") {
                Some(Value::String(base)) => base.clone(),
                Some(_) => {
                    let place = top.locate("base").unwrap_or_else(|| top.source.clone());
                    return Err(Error::spec(
                        place,
                        "must be the name of a profile or a path",
                    ));
                }
                None if is_root(&top.source) => break,
                None => ROOT.to_owned(),
            };
            let next = open(&base, Some(&top.source))?;
            if layers.iter().any(|layer| layer.source == next.source) {
                return Err(Error::spec(
                    &next.source,
                    "is its own base: bases must end at a shipped profile",
                ));
            }
            layers.push(next);
        }
        let mut merged = layers.last().expect("the root").table.clone();
        for layer in layers.iter().rev().skip(1) {
            check_keys(layer, &layer.table, &known_keys(), "")?;
            merge(&mut merged, &layer.table, "");
        }
        merged.remove("base");
        Ok(Self {
            by_hand: Vec::new(),
            layers,
            merged,
        })
    }

    /// Lays values that were given by hand (flags, or another program) over the file.
    pub(crate) fn overlay(&mut self, table: &Table) {
        merge(&mut self.merged, table, "");
        for (key, value) in table {
            match value {
                Value::Table(section) => {
                    let keys = section.keys().map(|inner| format!("{key}.{inner}"));
                    self.by_hand.extend(keys);
                }
                _ => self.by_hand.push(key.clone()),
            }
        }
    }

    /// Where a key got its value: by hand, or in the topmost layer that has it.
    pub(crate) fn place(&self, key: &str) -> String {
        if self.by_hand.iter().any(|given| given == key) {
            let flag = key.rsplit('.').next().unwrap_or(key);
            return format!("--{}", flag.replace('_', "-"));
        }
        self.layers
            .iter()
            .find_map(|layer| layer.locate(key))
            .unwrap_or_else(|| format!("`{key}`"))
    }

    /// The merged file in its typed form.
    pub(crate) fn file(&self) -> Result<SpecFile, Error> {
        let text = toml::to_string(&self.merged).expect("a table of TOML can be written as TOML");
        // Deserialised part by part, so that an error can name the key.
        toml::from_str(&text).map_err(|error| {
            let key = error.span().and_then(|span| key_at(&text, span.start));
            let place = key.map_or_else(|| "spec".to_owned(), |key| self.place(&key));
            Error::spec(place, error.message().to_owned())
        })
    }
}

/// The dotted key of the value that stands at an offset of a written table.
fn key_at(text: &str, offset: usize) -> Option<String> {
    let mut section = String::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some(name) = line
            .trim()
            .strip_prefix('[')
            .filter(|_| !line.contains('='))
        {
            section = name.trim_matches(['[', ']']).to_owned();
        }
        if offset < end {
            let (key, _) = line.split_once('=')?;
            let key = key.trim();
            return Some(if section.is_empty() {
                key.to_owned()
            } else {
                format!("{section}.{key}")
            });
        }
        start = end;
    }
    None
}

fn is_root(source: &str) -> bool {
    source == format!("profile `{ROOT}`")
}

fn open(name: &str, from: Option<&str>) -> Result<Layer, Error> {
    if let Some((_, text)) = PROFILES.iter().find(|(profile, _)| *profile == name) {
        return Layer::parse(format!("profile `{name}`"), (*text).to_owned());
    }
    // A base that is a path is looked for beside the file that names it.
    let path = match from.map(Path::new).and_then(Path::parent) {
        Some(folder) => folder.join(name),
        None => PathBuf::from(name),
    };
    if !path.exists() && !name.contains(['/', '.']) {
        return Err(Error::UnknownProfile {
            name: name.to_owned(),
            shipped: PROFILES.map(|(profile, _)| profile).join(", "),
        });
    }
    let text = std::fs::read_to_string(&path).map_err(Error::io("read the spec", &path))?;
    Layer::parse(path.display().to_string(), text)
}

/// Every key that a spec may have, from the root profile and the alternatives it comments out.
fn known_keys() -> Table {
    let (_, text) = PROFILES
        .iter()
        .find(|(name, _)| *name == ROOT)
        .expect("the root is shipped");
    let mut keys: Table = text.parse().expect("the shipped profiles are valid");
    keys.insert("base".to_owned(), Value::String(String::new()));
    if let Some(Value::Table(volume)) = keys.get_mut("volume") {
        volume.insert("per_day".to_owned(), Value::Float(0.0));
        volume.insert("days".to_owned(), Value::Integer(0));
    }
    keys
}

fn check_keys(layer: &Layer, table: &Table, known: &Table, path: &str) -> Result<(), Error> {
    for (key, value) in table {
        let full = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        let Some(expected) = known.get(key) else {
            let place = layer.locate(&full).unwrap_or_else(|| layer.source.clone());
            return Err(Error::spec(place, unknown_key(key, known)));
        };
        if let (Value::Table(value), Value::Table(expected)) = (value, expected) {
            check_keys(layer, value, expected, &full)?;
        }
    }
    Ok(())
}

fn unknown_key(key: &str, known: &Table) -> String {
    let nearest = known
        .keys()
        .map(|name| (strsim::damerau_levenshtein(key, name), name))
        .min();
    match nearest {
        Some((distance, name)) if distance <= 3.max(name.len() / 3) => {
            format!("is no key of a spec; the nearest is `{name}`")
        }
        _ => {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            format!("is no key of a spec; known here are {}", names.join(", "))
        }
    }
}

/// Lays one table over another. A total drops a rate below it, and the other way round; messages
/// without a number of logs keep the volume of a log that stands below.
fn merge(under: &mut Table, over: &Table, path: &str) {
    if path == "volume" {
        let number = |table: &Table, key: &str| table.get(key).and_then(Value::as_integer);
        if let (Some(messages), None, Some(before), Some(logs)) = (
            number(over, "messages"),
            number(over, "log_files"),
            number(under, "messages").filter(|before| *before > 0),
            number(under, "log_files"),
        ) {
            let scaled = i128::from(messages) * i128::from(logs) / i128::from(before);
            let scaled = i64::try_from(scaled).unwrap_or(i64::MAX).max(1);
            under.insert("log_files".to_owned(), Value::Integer(scaled));
        }
        for (given, dropped) in [
            (["messages", "log_files"], ["per_day", "days"]),
            (["per_day", "days"], ["messages", "log_files"]),
        ] {
            if given.iter().any(|key| over.contains_key(*key)) {
                for key in dropped.iter().filter(|key| !over.contains_key(**key)) {
                    under.remove(*key);
                }
            }
        }
    }
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above, key),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}
