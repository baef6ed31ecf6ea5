//! A run directory, read.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The form of a run directory that is read.
const FORMAT: u64 = 1;

/// What keeps a report from being made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not what it must be.
    #[error("{} cannot be used: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// `run.json`.
    pub facts: Value,
    /// Variants in the order of the scenario.
    pub variants: Vec<Variant>,
}

/// A variant with its arms.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its arms, one per repeat.
    pub arms: Vec<Arm>,
}

/// An arm.
#[derive(Clone, Debug, Default)]
pub struct Arm {
    /// Its variant.
    pub variant: String,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Its workflows by number.
    pub workflows: BTreeMap<u32, Workflow>,
    /// Its attempts.
    pub attempts: Vec<Attempt>,
    /// The tables after each workflow: workflow, then table.
    pub tables: BTreeMap<u32, BTreeMap<String, TableState>>,
    /// Processes that were started after another one of the same worker.
    pub restarts: u32,
    /// Checks that passed and that failed; nothing where rows were not verified.
    pub verified: Option<(u64, u64)>,
}

/// A row of `workflows.csv`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Workflow {
    variant: String,
    repeat: u32,
    workflow: u32,
    /// `completed`, `failed`, `cancelled` or `open`.
    pub status: String,
    /// Seconds from launch to close.
    pub duration_s: Option<f64>,
    /// Seconds that it waited for its first attempt.
    pub queue_s: Option<f64>,
    /// Seconds from its first to its last attempt.
    pub retry_s: Option<f64>,
    /// Seconds of its last attempt.
    pub service_s: Option<f64>,
    /// Attempts.
    pub attempts: u32,
    /// Whether another runner carried on with it.
    pub resumed: bool,
    /// Messages that became rows.
    pub rows: Option<u64>,
    /// Why it did not complete.
    pub reason: Option<String>,
}

/// A row of `attempts.csv`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Attempt {
    variant: String,
    repeat: u32,
    /// The workflow.
    pub workflow: u32,
    /// `completed`, `failed`, `lost` or `open`.
    pub outcome: String,
    /// Why it did not complete.
    pub cause: Option<String>,
    /// Most resident memory in bytes.
    pub peak_rss_bytes: Option<u64>,
    /// Faults that the scenario injected.
    pub injected: Option<String>,
}

/// A row of `tables.csv`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TableState {
    variant: String,
    repeat: u32,
    workflow: u32,
    table: String,
    /// Rows by the statistics of its live files.
    pub rows: Option<u64>,
    /// Live data files.
    pub live_files: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// Data files on disk, dead ones included.
    pub disk_files: u64,
    /// Their bytes.
    pub disk_bytes: u64,
}

#[derive(Deserialize)]
struct Worker {
    variant: String,
    repeat: u32,
    incarnation: u32,
}

impl Run {
    /// Reads a run directory.
    ///
    /// # Errors
    /// [`ReportError`]
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let path = folder.join("run.json");
        let facts = json(&path)?;
        if facts["format"].as_u64() != Some(FORMAT) {
            return Err(ReportError::File {
                path,
                reason: format!(
                    "its format is {}, and this bench reads {FORMAT}",
                    facts["format"]
                ),
            });
        }
        let mut run = Self {
            variants: names(&facts)
                .into_iter()
                .map(|name| Variant {
                    name,
                    arms: Vec::new(),
                })
                .collect(),
            facts,
        };
        for workflow in rows::<Workflow>(folder, "workflows.csv")? {
            if let Some(arm) = run.arm(&workflow.variant, workflow.repeat) {
                arm.workflows.insert(workflow.workflow, workflow);
            }
        }
        for attempt in rows::<Attempt>(folder, "attempts.csv")? {
            if let Some(arm) = run.arm(&attempt.variant, attempt.repeat) {
                arm.attempts.push(attempt);
            }
        }
        for state in rows::<TableState>(folder, "tables.csv")? {
            if let Some(arm) = run.arm(&state.variant, state.repeat) {
                let tables = arm.tables.entry(state.workflow).or_default();
                tables.insert(state.table.clone(), state);
            }
        }
        for worker in rows::<Worker>(folder, "workers.csv")? {
            if let Some(arm) = run.arm(&worker.variant, worker.repeat) {
                arm.restarts += u32::from(worker.incarnation > 1);
            }
        }
        run.verification(&folder.join("verification.json"))?;
        Ok(run)
    }

    /// Names of the variants whose workflows run concurrently.
    pub fn concurrent(&self) -> impl Iterator<Item = &str> {
        let variants = self.facts["scenario"]["variants"].as_array();
        let variants = variants.into_iter().flatten();
        variants
            .filter(|variant| variant["sequence"]["mode"] != "sequential")
            .filter_map(|variant| variant["name"].as_str())
    }

    /// The arm of that variant and repeat, which is made if it is new; none of an unknown variant.
    fn arm(&mut self, variant: &str, repeat: u32) -> Option<&mut Arm> {
        let variant = self.variants.iter_mut().find(|one| one.name == variant)?;
        let at = match variant.arms.iter().position(|arm| arm.repeat == repeat) {
            Some(at) => at,
            None => {
                variant.arms.push(Arm {
                    variant: variant.name.clone(),
                    repeat,
                    ..Arm::default()
                });
                variant.arms.len() - 1
            }
        };
        variant.arms.get_mut(at)
    }

    fn verification(&mut self, path: &Path) -> Result<(), ReportError> {
        if !path.exists() {
            return Ok(());
        }
        let value = json(path)?;
        for one in value["arms"].as_array().into_iter().flatten() {
            let repeat = one["repeat"].as_u64().unwrap_or_default();
            let repeat = u32::try_from(repeat).unwrap_or_default();
            let variant = one["variant"].as_str().unwrap_or_default().to_owned();
            if let Some(arm) = self.arm(&variant, repeat) {
                let checks = one["checks"].as_array().map(Vec::as_slice);
                let checks = checks.unwrap_or_default();
                let passed = checks
                    .iter()
                    .filter(|check| check["passed"] == true)
                    .count() as u64;
                arm.verified = Some((passed, checks.len() as u64 - passed));
            }
        }
        Ok(())
    }
}

impl Arm {
    /// The last workflow that completed, with all before it.
    #[must_use]
    pub fn completed_prefix(&self) -> u32 {
        let mut last = 0;
        while self
            .workflows
            .get(&(last + 1))
            .is_some_and(|workflow| workflow.status == "completed")
        {
            last += 1;
        }
        last
    }

    /// The tables after the last workflow that was looked at.
    #[must_use]
    pub fn last_tables(&self) -> Option<(u32, &BTreeMap<String, TableState>)> {
        // The last look is at the workflow that closed last, which need not have the last number.
        let rows = |tables: &BTreeMap<String, TableState>| {
            tables
                .get("reports")
                .and_then(|table| table.rows)
                .unwrap_or_default()
        };
        self.tables
            .iter()
            .max_by_key(|(workflow, tables)| (rows(tables), **workflow))
            .map(|(workflow, tables)| (*workflow, tables))
    }
}

fn names(facts: &Value) -> Vec<String> {
    let variants = facts["scenario"]["variants"].as_array();
    variants
        .into_iter()
        .flatten()
        .filter_map(|variant| variant["name"].as_str().map(str::to_owned))
        .collect()
}

fn json(path: &Path) -> Result<Value, ReportError> {
    let text = std::fs::read(path).map_err(|source| ReportError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|error| ReportError::File {
        path: path.to_path_buf(),
        reason: error.to_string(),
    })
}

fn rows<T: for<'de> Deserialize<'de>>(folder: &Path, name: &str) -> Result<Vec<T>, ReportError> {
    let path = folder.join(name);
    let failed = |error: csv::Error| ReportError::File {
        path: path.clone(),
        reason: error.to_string(),
    };
    let mut reader = csv::Reader::from_path(&path).map_err(failed)?;
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(failed)
}
