//! What is verified: a lake, the logs that went into it, and what its workers said of that.

use crate::probe::TableState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A lake and everything that is known of how it came about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// Path or address of the lake.
    pub lake: String,
    /// What the store of a lake elsewhere needs.
    pub storage: BTreeMap<String, String>,
    /// Where the truth of the logs comes from.
    pub truth: Truth,
    /// Folder of the logs.
    pub dataset_root: PathBuf,
    /// Workflows that were attempted, in the order in which they committed to `reports`. One that
    /// committed nothing there, or of which it is not known which attempt did, stands where any of
    /// its attempts ran.
    pub workflows: Vec<Ingested>,
    /// How attempts of different workflows followed each other.
    pub interleaving: Interleaving,
    /// Which of some reports of one batch, accession and time becomes the latest.
    pub ties: Ties,
    /// Whether the engine was told to derive the mapping.
    pub create_mapping: bool,
    /// Threads to read with.
    pub threads: usize,
}

/// Where the truth of the logs comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// From the generator, which wrote it beside the logs: `dataset_root` is a data set.
    #[default]
    Generated,
    /// There is none: the logs are read with this project's reader, whose faults stay unseen.
    ReadFromLogs,
}

/// How attempts of different workflows follow each other. What the derived tables hold depends on
/// it where message times are missing or equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interleaving {
    /// A workflow's first attempt starts after the workflow before has ended for good.
    #[default]
    Sequential,
    /// One attempt at a time, but others may run between two attempts of a workflow.
    OneAtATime,
    /// Several attempts run at once.
    Overlapping,
}

/// Which of some reports of one batch, one accession and one message time becomes the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// The one with the greatest name, as targets of this project do it.
    #[default]
    GreatestName,
    /// Any of them: the platform's own transformer ranks by the time alone.
    Open,
}

/// How a workflow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its worker said that it is done.
    Completed,
    /// It failed or was cancelled after attempts, which may have committed to any first tables.
    Interrupted,
}

/// A workflow that was attempted.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingested {
    /// Its number in the sequence.
    pub workflow: u32,
    /// Its logs, relative to `dataset_root`.
    pub logs: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The account that its worker gave in `done`.
    pub ledger: Option<Ledger>,
    /// How often it was attempted.
    pub attempts: u32,
    /// Versions of the tables that its worker named in `done`.
    pub versions: BTreeMap<String, i64>,
    /// The tables as a probe found them after `done`, before anything else was asked of a worker.
    /// Empty where nobody looked.
    pub probed: Vec<TableState>,
}

/// The account of a workflow in the form of `docs/worker-protocol.md`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Logs of the batch, failed ones included.
    pub logs: u64,
    /// Logs without rows.
    pub failed_logs: Vec<FailedLog>,
    /// Messages in the logs.
    pub messages: u64,
    /// Messages without content.
    pub empty: u64,
    /// Messages that are no HL7.
    pub unparsable: Vec<LostMessage>,
    /// Messages that are rows.
    pub parsed: u64,
    /// What became of those rows in `reports`.
    pub reports: ReportCounts,
    /// What the last attempt did to the tables that follow; a table may be left out.
    #[serde(default)]
    pub tables: BTreeMap<String, TableCounts>,
    /// The tables afterwards; a table may be left out.
    #[serde(default)]
    pub state: BTreeMap<String, StateCounts>,
    /// Whether an earlier attempt had committed the reports.
    #[serde(default)]
    pub continued: bool,
}

/// A log that gave no rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedLog {
    /// The log, relative to the data set.
    pub file: String,
}

/// A message that gave no row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LostMessage {
    /// The log, relative to the data set.
    pub file: String,
    /// Number of the message within the log, from 0.
    pub ordinal: u32,
}

/// What became of the rows of a workflow in `reports`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportCounts {
    /// Rows of new files, or without a year.
    pub inserted: u64,
    /// Rows whose content had changed.
    pub updated: u64,
    /// Rows that were stored as they are.
    pub unchanged: u64,
}

/// What became of rows in a table that follows another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableCounts {
    /// New rows.
    pub inserted: u64,
    /// Rows with new values.
    pub updated: u64,
    /// Rows that went.
    pub deleted: u64,
    /// Source rows that the table does not take.
    pub dropped: u64,
}

/// A table as its worker saw it after the workflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateCounts {
    /// Its version.
    pub version: i64,
    /// Its rows.
    pub rows: u64,
    /// Its live files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}
