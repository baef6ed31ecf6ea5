//! Which lies there are, and those that spoil a table.

use crate::Result;
use crate::edit::{Table, copy_folder, pick, remove, texts};
use crate::rows::{self, sources_of};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const REPORTS: &str = "reports";
const CURATED: &str = "reports_curated";
const LATEST: &str = "reports_latest";
const DX: &str = "reports_dx";
const MAPPING: &str = "reports_report_patient_mapping";
const HISTORY: &str = "reports_report_patient_mapping_history";

/// Every lie with the tables that it is told about.
pub(crate) const ALL: &[(&str, &[&str])] = &[
    (
        "drop-row",
        &[REPORTS, CURATED, LATEST, DX, MAPPING, HISTORY],
    ),
    ("double-row", &[REPORTS, CURATED, LATEST, DX, MAPPING]),
    (
        "double-row-with-other-values",
        &[REPORTS, CURATED, LATEST, DX],
    ),
    (
        "made-up-row",
        &[REPORTS, CURATED, LATEST, DX, MAPPING, HISTORY],
    ),
    ("change-value", &[REPORTS, CURATED, LATEST, DX]),
    ("null-value", &[REPORTS, CURATED, LATEST, DX]),
    ("change-updated", &[CURATED, LATEST]),
    ("change-key", &[LATEST, DX]),
    ("swap-patients", &[MAPPING]),
    ("swap-ids", &[MAPPING, HISTORY]),
    ("join-patients", &[MAPPING]),
    ("split-patient", &[MAPPING]),
    ("flip-consistent", &[MAPPING]),
    ("drop-all-rows", &[HISTORY]),
    ("diagnosis-of-another", &[DX]),
    ("stale-latest", &[LATEST]),
    ("lose-commit", &[REPORTS, CURATED, LATEST, DX, MAPPING]),
    ("undo-commit", &[REPORTS, CURATED, LATEST, DX, MAPPING]),
    (
        "lose-table",
        &[REPORTS, CURATED, LATEST, DX, MAPPING, HISTORY],
    ),
    ("missing-file", &[REPORTS, CURATED, LATEST, DX, MAPPING]),
    ("file-less-in-the-log", &[REPORTS, CURATED]),
    ("broken-file", &[CURATED]),
    ("file-size", &[REPORTS]),
    ("statistics-rows", &[REPORTS, LATEST]),
    ("statistics-bounds", &[CURATED]),
    ("checkpoint-less", &[CURATED, MAPPING]),
    ("other-partition", &[REPORTS]),
    ("other-type", &[LATEST]),
    ("skip-log", &[""]),
    ("early-done", &[""]),
    ("account-inserted", &[""]),
    ("account-message-more", &[""]),
    ("account-unparsable", &[""]),
    ("account-hides-unparsable", &[""]),
    ("account-failed-log", &[""]),
    ("account-log-less", &[""]),
    ("account-none", &[""]),
    ("account-table", &[CURATED, LATEST, DX, MAPPING]),
    ("account-version-ahead", &[REPORTS, DX]),
    ("account-version-behind", &[REPORTS, DX]),
    ("account-state", &[CURATED]),
];

/// What a lie is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Honest,
    /// The workflow is called done before it is begun.
    EarlyDone,
    /// A log is not ingested and counted all the same.
    SkipLog,
    Account,
    Lake,
}

/// The lie that is told.
#[derive(Clone, Debug)]
pub(crate) struct Lie {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) table: String,
    /// A log, for lies that name one.
    pub(crate) log: Option<String>,
    /// After which workflow.
    pub(crate) workflow: u32,
}

impl Lie {
    /// Reads the arguments; `None` for `--list`.
    pub(crate) fn from_arguments(arguments: impl Iterator<Item = String>) -> Result<Option<Self>> {
        let mut lie = Self {
            kind: Kind::Honest,
            name: String::new(),
            table: String::new(),
            log: None,
            workflow: 1,
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            if argument == "--list" {
                return Ok(None);
            }
            let value = arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))?;
            match argument.as_str() {
                "--lie" => lie.name = value,
                "--table" => lie.table = value,
                "--log" => lie.log = Some(value),
                "--workflow" => lie.workflow = value.parse()?,
                _ => {
                    return Err(format!(
                        "{argument} is none of --lie --table --log --workflow --list"
                    )
                    .into());
                }
            }
        }
        lie.kind = match lie.name.as_str() {
            "" => Kind::Honest,
            "early-done" => Kind::EarlyDone,
            "skip-log" => Kind::SkipLog,
            name if name.starts_with("account-") => Kind::Account,
            _ => Kind::Lake,
        };
        let known = ALL.iter().find(|(name, _)| *name == lie.name);
        match known {
            None if lie.kind == Kind::Honest => Ok(Some(lie)),
            None => Err(format!("there is no lie {}; --list shows them", lie.name).into()),
            Some((_, tables)) => {
                if lie.table.is_empty() {
                    lie.table = tables[0].to_owned();
                }
                if !tables.contains(&lie.table.as_str()) {
                    return Err(format!("{} is about {}", lie.name, tables.join(" or ")).into());
                }
                Ok(Some(lie))
            }
        }
    }
}

/// Says on stderr what was done: to which table, the rows of which staged files, and which logs or
/// data files.
pub(crate) fn tell(table: Option<&str>, sources: &[String], files: &[String]) {
    eprintln!(
        "LIE {}",
        json!({ "table": table, "sources": sources, "files": files })
    );
}

/// Spoils a table.
pub(crate) fn spoil(lie: &Lie, lake: &Path) -> Result<()> {
    let name = lie.table.as_str();
    let mut table = Table::open(lake, name)?;
    match lie.name.as_str() {
        "lose-commit" => {
            table.lose_newest()?;
            tell(Some(name), &[], &[]);
        }
        "undo-commit" => undo(&mut table, lake, name)?,
        "lose-table" => {
            fs::remove_dir_all(&table.folder)?;
            tell(Some(name), &[], &[]);
        }
        "missing-file" | "broken-file" => {
            let path = table.last_file()?;
            let full = table.folder.join(&path);
            if lie.name == "missing-file" {
                fs::remove_file(full)?;
            } else {
                let mut bytes = fs::read(&full)?;
                bytes
                    .iter_mut()
                    .skip(4)
                    .take(4000)
                    .for_each(|byte| *byte = !*byte);
                fs::write(full, bytes)?;
            }
            tell(Some(name), &[], &[path]);
        }
        "file-less-in-the-log" => {
            let path = table.last_file()?;
            let sources = sources(&table, &path)?;
            table.commit(&[remove(&path)])?;
            tell(Some(name), &sources, &[]);
        }
        "checkpoint-less" => {
            let path = table.lose_from_checkpoint()?;
            let sources = sources(&table, &path)?;
            tell(Some(name), &sources, &[path]);
        }
        "file-size" => {
            restate(&mut table, name, |add| {
                add["size"] = json!(add["size"].as_u64().unwrap_or_default() + 1);
                Ok(())
            })?;
        }
        "statistics-rows" => restate(&mut table, name, |add| {
            let rows = statistics(add)?["numRecords"].as_u64().unwrap_or_default();
            add["stats"] = json!(json!({ "numRecords": rows + 1 }).to_string());
            Ok(())
        })?,
        "statistics-bounds" => restate(&mut table, name, |add| {
            let mut stats = statistics(add)?;
            stats["maxValues"]["primary_report_identifier"] = json!("");
            add["stats"] = json!(stats.to_string());
            Ok(())
        })?,
        "other-partition" => {
            let path = table.last_file()?;
            let sources = sources(&table, &path)?;
            let mut add = table.live[&path].clone();
            add["partitionValues"]["year"] = json!("1901");
            table.commit(&[remove(&path), json!({ "add": add })])?;
            tell(Some(name), &sources, &[]);
        }
        "other-type" => {
            let log = table.folder.join("_delta_log/00000000000000000000.json");
            let text = fs::read_to_string(&log)?;
            let metadata = text.lines().find(|line| line.contains("metaData"));
            let mut metadata: Value = serde_json::from_str(metadata.ok_or("no metadata")?)?;
            let schema = metadata["metaData"]["schemaString"]
                .as_str()
                .unwrap_or_default();
            let schema = schema.replacen(
                r#""name":"patient_age","nullable":true,"type":"integer""#,
                r#""name":"patient_age","nullable":true,"type":"long""#,
                1,
            );
            metadata["metaData"]["schemaString"] = json!(schema);
            table.commit(&[metadata])?;
            tell(Some(name), &[], &[]);
        }
        "stale-latest" => stale(&mut table, lake)?,
        "drop-all-rows" => {
            let sources = all_sources(&table)?;
            let actions: Vec<Value> = table.live.keys().map(|path| remove(path)).collect();
            table.commit(&actions)?;
            tell(Some(name), &sources, &[]);
        }
        _ => rows::spoil(lie, &mut table)?,
    }
    Ok(())
}

fn statistics(add: &Value) -> Result<Value> {
    Ok(serde_json::from_str(
        add["stats"].as_str().ok_or("a file has no statistics")?,
    )?)
}

/// States something else of the last live file.
fn restate(table: &mut Table, name: &str, change: impl Fn(&mut Value) -> Result<()>) -> Result<()> {
    let path = table.last_file()?;
    let mut add = table.live[&path].clone();
    add["dataChange"] = json!(false);
    change(&mut add)?;
    table.commit(&[json!({ "add": add })])?;
    tell(Some(name), &[], &[path]);
    Ok(())
}

/// Puts back, in a new commit, what stood before the last one that changed rows.
fn undo(table: &mut Table, lake: &Path, name: &str) -> Result<()> {
    let copy = lake.with_extension("before");
    copy_folder(lake, &copy)?;
    let mut before = Table::open(&copy, name)?;
    let now = sorted(all_sources(table)?);
    while sorted(all_sources(&before)?) == now {
        before.lose_newest()?;
        before = Table::open(&copy, name)?;
    }
    let mut actions = Vec::new();
    for path in table
        .live
        .keys()
        .filter(|path| !before.live.contains_key(*path))
    {
        actions.push(remove(path));
    }
    for (path, add) in &before.live {
        if !table.live.contains_key(path) {
            actions.push(json!({ "add": add }));
        }
    }
    fs::remove_dir_all(copy)?;
    table.commit(&actions)?;
    tell(Some(name), &[], &[]);
    Ok(())
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

fn sources(table: &Table, path: &str) -> Result<Vec<String>> {
    let rows = table.rows()?;
    let (_, batch) = rows
        .iter()
        .find(|(found, _)| found == path)
        .ok_or("no such file")?;
    sources_of(batch)
}

fn all_sources(table: &Table) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for (_, batch) in table.rows()? {
        all.extend(sources_of(&batch)?);
    }
    Ok(all)
}

/// Puts an older report of an accession where a later one stands.
fn stale(latest: &mut Table, lake: &Path) -> Result<()> {
    let mut older: BTreeMap<String, Vec<RecordBatch>> = BTreeMap::new();
    for (_, batch) in Table::open(lake, CURATED)?.rows()? {
        for (row, accession) in texts(&batch, "accession_number")?.into_iter().enumerate() {
            let rows = older.entry(accession.unwrap_or_default()).or_default();
            rows.push(pick(&batch, &[row])?);
        }
    }
    for (path, batch) in latest.rows()? {
        let accessions = texts(&batch, "accession_number")?;
        let reports = texts(&batch, "primary_report_identifier")?;
        for row in 0..batch.num_rows() {
            let accession = accessions[row].clone().unwrap_or_default();
            for stale in older.get(&accession).into_iter().flatten() {
                let report = texts(stale, "primary_report_identifier")?[0].clone();
                if report == reports[row] || stale.schema() != batch.schema() {
                    continue;
                }
                let others: Vec<usize> = (0..batch.num_rows()).filter(|&r| r != row).collect();
                let rest = pick(&batch, &others)?;
                let changed = concat_batches(&batch.schema(), [&rest, stale])?;
                latest.replace(&path, &changed)?;
                tell(Some(LATEST), &[report.unwrap_or_default()], &[]);
                return Ok(());
            }
        }
    }
    Err("no accession has two reports".into())
}
