//! A run directory, read: facts of `run.json`, and a frame for each CSV file.

mod facts;
mod frame;

pub use facts::Facts;

use crate::error::ReportError;
use polars::prelude::DataFrame;
use serde_json::Value;
use std::path::Path;

/// The newest form of a run directory that is read; all before it are read as well.
const FORMAT: u64 = 1;

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The name of its folder.
    pub name: String,
    /// What tells it from others: its name, and its variant where it was narrowed to one.
    pub label: String,
    /// `run.json`.
    pub facts: Facts,
    /// The CSV files.
    pub frames: Frames,
    /// What verification found, arm by arm, for the arms whose rows were verified.
    pub verified: Vec<Verified>,
}

/// The CSV files of a run. Each has the columns `variant` and `repeat`, which name the arm; times
/// are in seconds of the arm's clock, sizes in bytes; null says that there is no such number.
#[derive(Clone, Debug)]
pub struct Frames {
    /// A row per workflow.
    pub workflows: DataFrame,
    /// A row per attempt.
    pub attempts: DataFrame,
    /// A row per stage that a worker told of.
    pub stages: DataFrame,
    /// A row per table after each workflow.
    pub tables: DataFrame,
    /// A row per process of a worker.
    pub workers: DataFrame,
    /// Memory, CPU and I/O of each process over time.
    pub samples: DataFrame,
    /// What Spark's event logs say, by workflow, attempt and stage.
    pub spark: DataFrame,
}

/// What verification found of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Its variant.
    pub variant: String,
    /// Number of the repeat, from 1.
    pub repeat: i64,
    /// Checks that passed.
    pub passed: u64,
    /// Checks that failed.
    pub failed: u64,
}

impl Run {
    /// Reads a run directory.
    ///
    /// # Errors
    /// [`ReportError`]: a file that cannot be read, or a form that this version does not know.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let path = folder.join("run.json");
        let facts = Facts(json(&path)?);
        match facts.0["format"].as_u64() {
            Some(1..=FORMAT) => {}
            _ => {
                let reason = format!(
                    "its format is {}, and this bench reads 1 to {FORMAT}",
                    facts.0["format"]
                );
                return Err(ReportError::file(&path, reason));
            }
        }
        let name = folder.canonicalize().ok();
        let name = name.as_deref().unwrap_or(folder).file_name();
        let name = match name {
            Some(name) => name.to_string_lossy().into_owned(),
            None => facts.text("run").unwrap_or("run").to_owned(),
        };
        Ok(Self {
            label: name.clone(),
            name,
            frames: Frames {
                workflows: frame::read(folder, &frame::WORKFLOWS)?,
                attempts: frame::read(folder, &frame::ATTEMPTS)?,
                stages: frame::read(folder, &frame::STAGES)?,
                tables: frame::read(folder, &frame::TABLES)?,
                workers: frame::read(folder, &frame::WORKERS)?,
                samples: frame::read(folder, &frame::SAMPLES)?,
                spark: frame::read(folder, &frame::SPARK)?,
            },
            verified: verified(&folder.join("verification.json"))?,
            facts,
        })
    }
}

impl Run {
    /// The run with nothing but one of its variants. Nothing where it has no such variant.
    #[must_use]
    pub fn only(&self, variant: &str) -> Option<Self> {
        let facts = self.facts.only(variant)?;
        Some(Self {
            label: format!("{}:{variant}", self.name),
            facts,
            ..self.clone()
        })
    }
}

fn verified(path: &Path) -> Result<Vec<Verified>, ReportError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let value = json(path)?;
    let arms = value["arms"].as_array().into_iter().flatten();
    let verified = arms.map(|one| {
        let checks = one["checks"].as_array().map(Vec::as_slice);
        let checks = checks.unwrap_or_default();
        let passed = checks.iter().filter(|check| check["passed"] == true);
        let passed = passed.count() as u64;
        Verified {
            variant: one["variant"].as_str().unwrap_or_default().to_owned(),
            repeat: one["repeat"].as_i64().unwrap_or_default(),
            passed,
            failed: checks.len() as u64 - passed,
        }
    });
    Ok(verified.collect())
}

fn json(path: &Path) -> Result<Value, ReportError> {
    let text = std::fs::read(path).map_err(|source| ReportError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|error| ReportError::file(path, error))
}
