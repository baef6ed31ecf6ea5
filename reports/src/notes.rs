//! What stands under an evidence table: what differs between variants, and what cannot be concluded.

use crate::number::counted;
use crate::run::{Arm, Run, Variant};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What differs between the variants of a run: a line for each key, with each variant's value.
#[must_use]
pub fn differences(run: &Run) -> Vec<String> {
    let variants = run.facts["scenario"]["variants"].as_array();
    let variants = variants.map(Vec::as_slice).unwrap_or_default();
    let mut values: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (at, variant) in variants.iter().enumerate() {
        for part in [
            "settings",
            "resources",
            "sequence",
            "target",
            "faults",
            "expect",
        ] {
            collect(part, &variant[part], &mut |key, value| {
                let row = values.entry(key).or_default();
                row.resize(variants.len(), None);
                row[at] = value;
            });
        }
    }
    let mut lines = Vec::new();
    for (key, values) in values {
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            continue;
        }
        let missing = if key.starts_with("settings.") {
            "the target's default"
        } else {
            "none"
        };
        let named: Vec<String> = variants
            .iter()
            .zip(&values)
            .map(|(variant, value)| {
                let name = variant["name"].as_str().unwrap_or_default();
                format!("{name} {}", value.as_deref().unwrap_or(missing))
            })
            .collect();
        lines.push(format!("`{key}`: {}", named.join(", ")));
    }
    lines
}

/// Hands over the dotted key of everything that is no object, with its value as text.
fn collect(prefix: &str, value: &Value, found: &mut impl FnMut(String, Option<String>)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect(&format!("{prefix}.{name}"), member, found);
            }
        }
        Value::Null => found(prefix.to_owned(), None),
        Value::Array(members) if members.is_empty() => found(prefix.to_owned(), None),
        Value::Array(members) if prefix == "faults" => {
            let text = counted(members.len(), "declared fault");
            found(prefix.to_owned(), Some(text));
        }
        Value::String(text) => found(prefix.to_owned(), Some(text.clone())),
        other => found(prefix.to_owned(), Some(other.to_string())),
    }
}

/// What this run cannot tell, in a sentence each.
#[must_use]
pub fn limits_of_knowledge(run: &Run) -> Vec<String> {
    let mut limits = Vec::new();
    let repeats = run.variants.iter().map(|one| one.arms.len()).max();
    if repeats.unwrap_or(0) < 2 && run.variants.len() > 1 {
        limits.push(
            "One arm a variant: how much of a difference in time is noise of the machine is not known. Counts of files, \
             bytes and rows are exact."
                .to_owned(),
        );
    }
    if run.facts["dataset"]["truth"] == false {
        limits.push(
            "The logs are not generated: rows were checked against the logs as this project reads them, so a fault of its \
             reader would stay unseen."
                .to_owned(),
        );
    }
    for variant in &run.variants {
        if run.facts["limits"][&variant.name]["memory_binding"] == false {
            limits.push(format!(
                "{}: its memory limit is above what the machine has, so that it does not bind; nothing is said of memory.",
                variant.name
            ));
        }
        for arm in &variant.arms {
            limits.extend(of_arm(run, variant, arm));
        }
    }
    limits
}

fn of_arm(run: &Run, variant: &Variant, arm: &Arm) -> Vec<String> {
    let mut limits = Vec::new();
    let name = match variant.arms.len() {
        1 => variant.name.clone(),
        _ => format!("{} (repeat {})", variant.name, arm.repeat),
    };
    if arm.verified.is_none() {
        limits.push(format!(
            "{name}: its rows were not verified, so its times may be those of work that was not done."
        ));
    }
    if let Some((_, failed @ 1..)) = arm.verified {
        limits.push(format!(
            "{name}: {} of its rows failed. **No figure of it may be used.**",
            counted(failed, "check")
        ));
    }
    let last = arm.completed_prefix();
    let planned = planned(run, variant);
    if planned.is_some_and(|planned| last < planned) {
        limits.push(format!(
            "{name}: it ended after workflow {last}; whether its growth would have levelled off cannot be told."
        ));
    }
    let injected: BTreeSet<&str> = arm
        .attempts
        .iter()
        .filter_map(|attempt| attempt.injected.as_deref())
        .filter(|injected| !injected.is_empty())
        .collect();
    if !injected.is_empty() {
        let count = arm
            .attempts
            .iter()
            .filter(|one| one.injected.as_deref().is_some_and(|what| !what.is_empty()))
            .count();
        let what: Vec<&str> = injected.into_iter().collect();
        limits.push(format!(
            "{name}: {} injected on purpose ({}); durations contain what followed.",
            counted(count, "fault"),
            what.join(", ")
        ));
    }
    // What a fault, a person or the end of a runner took away was asked for.
    let asked = ["fault", "interrupted", "runner_gone"];
    let lost = |attempt: &&crate::run::Attempt| {
        attempt.outcome != "completed"
            && attempt.injected.as_deref().is_none_or(str::is_empty)
            && !asked.contains(&attempt.cause.as_deref().unwrap_or_default())
    };
    let lost = arm.attempts.iter().filter(lost).count();
    if lost > 0 {
        limits.push(format!(
            "{name}: {} did not complete without having been asked to; durations contain the retries.",
            counted(lost, "attempt")
        ));
    }
    let resumed = arm.workflows.values().filter(|one| one.resumed).count();
    if resumed > 0 {
        limits.push(format!(
            "{name}: the run was resumed; {} open meanwhile, whose durations are not those of one go.",
            counted(resumed, "workflow")
        ));
    }
    limits
}

/// Workflows that an arm of a variant would have if nothing ended it.
fn planned(run: &Run, variant: &Variant) -> Option<u32> {
    let variants = run.facts["scenario"]["variants"].as_array()?;
    let own = variants
        .iter()
        .find(|one| one["name"].as_str() == Some(&variant.name))?;
    let size = own["sequence"]["files_per_workflow"].as_u64()?.max(1);
    let passes = own["sequence"]["passes"].as_u64()?;
    let logs = run.facts["dataset"]["log_files"].as_u64()?;
    u32::try_from(logs.div_ceil(size) * passes).ok()
}
