//! The run directory of what was imported.

use super::ImportError;
use super::durations::Row;
use super::facts::{Facts, Mode, Whole};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Writes a run directory that is not there yet.
pub(super) fn write(facts: &Facts, rows: &[Row], out: &Path) -> Result<(), ImportError> {
    if out.exists() {
        return Err(ImportError::Taken(out.to_path_buf()));
    }
    let failed = |action: &'static str| {
        move |source: std::io::Error| ImportError::Io {
            action,
            path: out.to_path_buf(),
            source,
        }
    };
    // Beside its place until it is complete, so that there is never half a run.
    let parent = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).map_err(failed("make the folder of"))?;
    let folder = tempfile::Builder::new()
        .prefix(".import-")
        .tempdir_in(parent)
        .map_err(failed("make"))?;
    let file = |name: &str, content: std::io::Result<Vec<u8>>| {
        let written = content.and_then(|content| std::fs::write(folder.path().join(name), content));
        written.map_err(failed("write"))
    };
    file(
        "run.json",
        serde_json::to_vec_pretty(&run(facts, out)).map_err(Into::into),
    )?;
    file(
        "workflows.csv",
        csv(&workflows(facts, rows)).map_err(Into::into),
    )?;
    file("tables.csv", csv(&tables(facts)).map_err(Into::into))?;
    let folder = folder.keep();
    std::fs::rename(&folder, out).map_err(failed("write"))
}

fn run(facts: &Facts, out: &Path) -> Value {
    let variants = facts.variants.iter().map(|(name, variant)| {
        let mut value = plain(&facts.whole(variant));
        value["name"] = json!(name);
        value["shipped"] = json!(variant.shipped);
        value["published"] = plain(&variant.published);
        value
    });
    let variants: Vec<Value> = variants.collect();
    json!({
        "format": 1,
        "run": out.file_name().map(|name| name.to_string_lossy().into_owned()),
        "status": "imported",
        "source": facts.source,
        "scenario": {
            "name": facts.name,
            "about": facts.about,
            "variants": variants,
        },
        "dataset": plain(&facts.dataset),
        "host": plain(&facts.host),
        "versions": facts.versions,
        "revision": facts.revision,
        "cache_state": facts.cache_state,
    })
}

/// A value as JSON, without what is not known.
fn plain(value: &impl serde::Serialize) -> Value {
    fn known(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.into_iter().filter(|(_, value)| !value.is_null());
                let members = members.map(|(name, value)| (name, known(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Value::Array(members) => Value::Array(members.into_iter().map(known).collect()),
            other => other,
        }
    }
    known(serde_json::to_value(value).unwrap_or_default())
}

fn workflows(facts: &Facts, rows: &[Row]) -> Vec<[String; 7]> {
    let mut table = vec![
        [
            "variant",
            "repeat",
            "workflow",
            "status",
            "launched_s",
            "closed_s",
            "duration_s",
        ]
        .map(str::to_owned),
    ];
    for (name, variant) in &facts.variants {
        let whole = facts.whole(variant);
        let durations: BTreeMap<u32, Option<f64>> = rows
            .iter()
            .filter(|row| row.variant == *name)
            .map(|row| (row.workflow, row.seconds))
            .collect();
        // Those that completed without a duration having been reported are there, too.
        let reported = 1..=whole.reported.completed.unwrap_or(0);
        let numbers: BTreeSet<u32> = durations.keys().copied().chain(reported).collect();
        for (at, workflow) in numbers.iter().enumerate() {
            let duration = durations.get(workflow).copied().flatten();
            let launched = launched(&whole, at, numbers.len());
            let closed = launched
                .zip(duration)
                .map(|(launched, duration)| launched + duration);
            table.push([
                name.clone(),
                "1".to_owned(),
                workflow.to_string(),
                "completed".to_owned(),
                cell(launched),
                cell(closed),
                cell(duration),
            ]);
        }
    }
    table
}

/// When a workflow was launched, where that is known: evenly within the time that was told.
fn launched(whole: &Whole, at: usize, of: usize) -> Option<f64> {
    let within = whole.sequence.launched_within?;
    let concurrent = whole.sequence.mode == Some(Mode::Concurrent);
    let steps = of.saturating_sub(1).max(1);
    concurrent.then(|| within * at as f64 / steps as f64)
}

fn tables(facts: &Facts) -> Vec<[String; 8]> {
    let mut rows = vec![
        [
            "variant",
            "repeat",
            "workflow",
            "table",
            "rows",
            "live_files",
            "live_bytes",
            "disk_bytes",
        ]
        .map(str::to_owned),
    ];
    for (name, variant) in &facts.variants {
        for table in &variant.tables {
            rows.push([
                name.clone(),
                "1".to_owned(),
                table.after.to_string(),
                table.table.clone(),
                cell(table.rows),
                cell(table.live_files),
                cell(table.live_bytes),
                cell(table.disk_bytes),
            ]);
        }
    }
    rows
}

/// What is not known is an empty cell.
fn cell(number: Option<impl ToString>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}

fn csv<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row)?;
    }
    writer
        .into_inner()
        .map_err(|error| error.into_error().into())
}
