//! From layers to variants in which every value stands: defaults, the file, the variant, the matrix,
//! what was set by hand.

use super::error::Errors;
use super::keys::{self, KEYS, Scope};
use super::kind::{NAME, Value, is_name};
use super::layer::{Given, Layer, Origin, lay};
use super::model::Fault;
use super::read::{Axis, Raw, RawVariant};
use super::source::{Place, parse_flag};
use std::path::{Path, PathBuf};

/// More variants than anyone compares: a matrix that explodes is a slip.
const MOST_VARIANTS: usize = 1000;
/// The one variant of a scenario without any.
const ONLY: &str = "default";

/// Every value in its place, with where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// What cannot differ between variants.
    pub scenario: Layer,
    /// What holds for a variant that says nothing else.
    pub base: Layer,
    /// What holds for each variant, in the order of the file.
    pub variants: Vec<(String, Layer)>,
    /// What is done on purpose, and the variants that it is done to, in the order of the file.
    pub faults: Vec<(Fault, Vec<String>)>,
}

/// Lays the layers over each other.
pub(super) fn resolve(raw: &mut Raw, folder: &Path, errors: &mut Errors) -> Values {
    anchor_all(raw, folder);
    let mut scenario = defaults(Scope::Scenario);
    let mut base = defaults(Scope::Variant);
    let is_of = |key: &str, scope| matches!(keys::find(key, scope), keys::Found::Key(_));
    for (key, given) in &raw.base {
        let layer = match is_of(key, Scope::Variant) {
            true => &mut base,
            false => &mut scenario,
        };
        layer.insert(key.clone(), given.clone());
    }
    let (sets, scenario_sets): (Layer, Layer) = std::mem::take(&mut raw.sets)
        .into_iter()
        .partition(|(key, _)| is_of(key, Scope::Variant));
    dataset(&mut scenario, &scenario_sets, errors);
    // A key that is set by hand has one value: it is no axis any more.
    raw.axes.retain(|axis| !sets.contains_key(&axis.key));
    let names: Vec<String> = raw.variants.iter().map(|one| one.name.clone()).collect();
    let mut variants = Vec::new();
    for (name, layer, of) in cross(raw, errors) {
        let mut values = base.clone();
        lay(&mut values, &layer);
        lay(&mut values, &sets);
        for set in &raw.sets_of {
            if set.name == name || Some(&set.name) == of.as_ref() {
                lay(&mut values, &set.layer);
            }
        }
        values.retain(|_, given| given.value != Value::Lifted);
        variants.push((name, values));
    }
    for set in &raw.sets_of {
        if !names.contains(&set.name) && !variants.iter().any(|(name, _)| *name == set.name) {
            let known: Vec<&str> = variants.iter().map(|(name, _)| name.as_str()).collect();
            let what = no_variant(&set.name, &known);
            errors.plain(Some(set.at.clone()), what);
        }
    }
    lay(&mut base, &sets);
    base.retain(|_, given| given.value != Value::Lifted);
    Values {
        scenario,
        base,
        variants,
        faults: Vec::new(),
    }
}

/// What to say of a variant that does not exist.
pub(super) fn no_variant(name: &str, known: &[&str]) -> String {
    let hint = match keys::nearest(name, known.iter().copied()) {
        Some(near) => format!("the nearest is `{near}`"),
        None if known.len() > 12 => format!("there are {}", known.len()),
        None => format!("there are {}", known.join(", ")),
    };
    format!("there is no variant {name:?}; {hint}")
}

fn defaults(scope: Scope) -> Layer {
    let given = |key: &keys::Key| {
        let node = parse_flag(key.default, "");
        Given {
            value: key
                .kind
                .read(&node)
                .expect("defaults are values of their keys"),
            origin: Origin::Default,
        }
    };
    KEYS.iter()
        .filter(|key| key.scope == scope && !key.default.is_empty())
        .map(|key| (key.path.to_owned(), given(key)))
        .collect()
}

/// The keys that say what the generator makes.
pub(super) const GENERATED: [&str; 8] = [
    "dataset.profile",
    "dataset.messages",
    "dataset.log_files",
    "dataset.per_day",
    "dataset.days",
    "dataset.start",
    "dataset.seed",
    "dataset.encoding",
];
const TOTAL: [&str; 2] = ["dataset.messages", "dataset.log_files"];
const RATE: [&str; 2] = ["dataset.per_day", "dataset.days"];

/// Lays what was set by hand over the file's data set: a folder drops what the generator would make,
/// a total drops a rate and the other way round, and messages alone keep the size of a log.
fn dataset(scenario: &mut Layer, sets: &Layer, errors: &mut Errors) {
    one_source(scenario, errors);
    one_source(sets, errors);
    if sets.contains_key("dataset.path") {
        scenario.retain(|key, _| !GENERATED.contains(&key.as_str()));
    } else if scenario.contains_key("dataset.path") {
        for (key, given) in sets {
            if let (true, Some(at)) = (GENERATED.contains(&key.as_str()), given.origin.place()) {
                let what = "is for the generator, and the scenario has dataset.path: set that to \
                            another folder, or use another scenario";
                errors.at(at, key, what);
            }
        }
    }
    if let (Some(messages), None, Some(before), Some(logs)) = (
        sets.get(TOTAL[0]),
        sets.get(TOTAL[1]),
        count_in(scenario, TOTAL[0]),
        count_in(scenario, TOTAL[1]),
    ) && let Value::Count(now) = messages.value
    {
        let scaled = u128::from(logs) * u128::from(now) / u128::from(before.max(1));
        let value = Value::Count(u64::try_from(scaled).unwrap_or(u64::MAX).max(1));
        let origin = messages.origin.clone();
        scenario.insert(TOTAL[1].to_owned(), Given { value, origin });
    }
    for (given, dropped) in [(TOTAL, RATE), (RATE, TOTAL)] {
        if given.iter().any(|key| sets.contains_key(*key)) {
            scenario.retain(|key, _| !dropped.contains(&key.as_str()));
        }
    }
    lay(scenario, sets);
    if scenario.contains_key("dataset.path") {
        scenario.remove("dataset.profile");
    }
}

/// A folder and what the generator would make exclude each other.
fn one_source(layer: &Layer, errors: &mut Errors) {
    if !layer.contains_key("dataset.path") {
        return;
    }
    for key in GENERATED {
        if let Some(at) = layer.get(key).and_then(|given| given.origin.place()) {
            let what = "is for the generator, and dataset.path names a folder that exists: keep one \
                        of them";
            errors.at(at, key, what);
        }
    }
}

fn count_in(layer: &Layer, key: &str) -> Option<u64> {
    match layer.get(key)?.value {
        Value::Count(count) => Some(count),
        _ => None,
    }
}

/// Variants crossed with the matrix: name, values, and the variant that it is a cell of.
fn cross(raw: &Raw, errors: &mut Errors) -> Vec<(String, Layer, Option<String>)> {
    let cells: Option<usize> = raw
        .axes
        .iter()
        .try_fold(raw.variants.len().max(1), |product, axis| {
            product.checked_mul(axis.values.len())
        });
    if cells.is_none_or(|cells| cells > MOST_VARIANTS) {
        let at = raw.axes.first().map(|axis| axis.at.clone());
        let what = format!("the matrix makes more than {MOST_VARIANTS} variants");
        errors.plain(at, what);
        return Vec::new();
    }
    let none = RawVariant {
        name: String::new(),
        at: Place::File { line: 1, column: 1 },
        layer: Layer::new(),
    };
    let outer: Vec<&RawVariant> = match raw.variants.as_slice() {
        [] => vec![&none],
        all => all.iter().collect(),
    };
    let mut crossed: Vec<(String, Layer, Option<String>)> = Vec::new();
    for variant in outer {
        let mut cells = vec![(variant.name.clone(), variant.layer.clone())];
        for axis in &raw.axes {
            let label = label(axis, &raw.axes);
            cells = cells
                .into_iter()
                .flat_map(|(name, layer)| {
                    let label = &label;
                    axis.values.iter().map(move |value| {
                        let mut layer = layer.clone();
                        let given = Given {
                            value: value.clone(),
                            origin: Origin::Matrix(axis.at.clone()),
                        };
                        layer.insert(axis.key.clone(), given);
                        let gap = if name.is_empty() { "" } else { "--" };
                        (format!("{name}{gap}{label}-{}", tag(value)), layer)
                    })
                })
                .collect();
        }
        for (name, layer) in cells {
            let name = if name.is_empty() {
                ONLY.to_owned()
            } else {
                name
            };
            if !is_name(&name) {
                let what = format!(
                    "the matrix makes a variant {name:?}, which is no {}",
                    &NAME[2..]
                );
                errors.plain(raw.axes.first().map(|axis| axis.at.clone()), what);
            } else if crossed.iter().any(|(other, _, _)| *other == name) {
                let what = format!("the matrix makes two variants {name:?}");
                errors.plain(raw.axes.first().map(|axis| axis.at.clone()), what);
            }
            let of = (!variant.name.is_empty()).then(|| variant.name.clone());
            crossed.push((name, layer, of));
        }
    }
    crossed
}

/// What an axis is called in names: the last part of its key, or all of it where that is not unique.
fn label(axis: &Axis, axes: &[Axis]) -> String {
    let last = |key: &str| {
        key.rsplit_once('.')
            .map_or(key, |(_, last)| last)
            .to_owned()
    };
    let short = last(&axis.key);
    let same = axes.iter().filter(|other| last(&other.key) == short);
    if same.count() > 1 {
        axis.key.clone()
    } else {
        short
    }
}

/// A value as part of a name.
fn tag(value: &Value) -> String {
    value
        .toml()
        .trim_matches('"')
        .chars()
        .map(|char| match char {
            char if char.is_ascii_alphanumeric() || "._-".contains(char) => char,
            _ => '_',
        })
        .collect()
}

/// Makes paths absolute: those of the file stand beside it, those set by hand in the current folder.
fn anchor_all(raw: &mut Raw, folder: &Path) {
    let here = Path::new("");
    anchor(&mut raw.base, folder);
    for variant in &mut raw.variants {
        anchor(&mut variant.layer, folder);
    }
    for axis in &mut raw.axes {
        let key = [LAKE, TRANSFORMER].into_iter().find(|key| axis.key == *key);
        for value in axis.values.iter_mut().filter(|_| key.is_some()) {
            anchor_value(&axis.key, value, folder);
        }
    }
    anchor(&mut raw.sets, here);
    for set in &mut raw.sets_of {
        anchor(&mut set.layer, here);
    }
}

const LAKE: &str = "target.lake";
const TRANSFORMER: &str = "target.transformer";

fn anchor(layer: &mut Layer, folder: &Path) {
    for key in ["dataset.path", "dataset.profile", LAKE, TRANSFORMER] {
        if let Some(given) = layer.get_mut(key) {
            anchor_value(key, &mut given.value, folder);
        }
    }
}

fn anchor_value(key: &str, value: &mut Value, folder: &Path) {
    let Value::Text(text) = value else { return };
    let is_name = match key {
        "dataset.profile" => !text.contains(['/', '.']),
        LAKE => text.contains("://"),
        _ => false,
    };
    if !is_name {
        *text = absolute(&folder.join(&*text)).display().to_string();
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
