//! What differs between the columns of a report beyond its figures.

use crate::arms::{Arms, Column};
use crate::number::counted;
use serde_json::Value;
use std::collections::BTreeMap;

/// Parts of a variant that may differ, as the scenario names them, besides its settings.
const PARTS: [&str; 5] = ["resources", "sequence", "target", "faults", "expect"];

/// Facts of a run that may differ from another run's.
const RUN_PARTS: [&str; 4] = ["dataset.digest", "dataset.messages", "host", "versions"];

/// What differs between the columns: a line for each key, with each column's value.
pub(crate) fn differences(arms: &Arms<'_>) -> Vec<String> {
    let mut values: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (at, column) in arms.columns.iter().enumerate() {
        let run = &arms.runs[column.run].facts;
        let own = PARTS.iter().flat_map(|part| column.facts.leaves(part));
        let of_run = RUN_PARTS.iter().flat_map(|part| run.leaves(part));
        for (key, value) in settings(arms, column).into_iter().chain(own).chain(of_run) {
            let row = values.entry(key).or_default();
            row.resize(arms.columns.len(), None);
            row[at] = shown(&value);
        }
    }
    let differ = values.into_iter().filter_map(|(key, mut values)| {
        values.resize(arms.columns.len(), None);
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            return None;
        }
        let missing = match key.starts_with("settings.") {
            true => "the target's default",
            false => "none",
        };
        let named: Vec<String> = arms
            .columns
            .iter()
            .zip(&values)
            .map(|(column, value)| {
                format!("{} {}", column.name, value.as_deref().unwrap_or(missing))
            })
            .collect();
        Some(format!("`{key}`: {}", named.join(", ")))
    });
    differ.collect()
}

/// The settings of a column: those in force where every target told them. Where one did not, those that
/// were asked for, and they are called that.
fn settings(arms: &Arms<'_>, column: &Column) -> Vec<(String, Value)> {
    let in_force = |column: &Column| {
        let own = format!("effective.{}", column.variant);
        let leaves = arms.runs[column.run].facts.leaves(&own);
        let named = leaves.into_iter().map(|(key, value)| {
            let name = key.trim_start_matches(&own);
            (format!("settings{name}"), value)
        });
        named.collect::<Vec<_>>()
    };
    if arms
        .columns
        .iter()
        .all(|column| !in_force(column).is_empty())
    {
        return in_force(column);
    }
    let asked = column.facts.leaves("settings").into_iter();
    asked
        .map(|(key, value)| (format!("{key} (asked for)"), value))
        .collect()
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(members) if members.is_empty() => None,
        // Faults are tables: how many there are is what a reader of the report compares.
        Value::Array(members) if members.iter().all(Value::is_object) => {
            Some(counted(members.len(), "entry"))
        }
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
