//! The account of a workflow: logs → messages → rows per table, every message accounted for.

use crate::tables::reports::ReportCounts;
use bench_tables::Table as Name;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A log that gave no rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedLog {
    /// The log, relative to the dataset.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// A message that gave no row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostMessage {
    /// The log, relative to the dataset.
    pub file: String,
    /// Number of the message within the log, from 0.
    pub ordinal: u32,
}

/// Rows of a table that follows another, by what became of them in this attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableCounts {
    /// New rows.
    pub inserted: u64,
    /// Rows with new values.
    pub updated: u64,
    /// Rows that went.
    pub deleted: u64,
    /// Source rows that met a stored row and changed nothing.
    pub kept: u64,
    /// Source rows that the table does not take.
    pub dropped: u64,
}

/// A table after the workflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableState {
    /// Its version.
    pub version: i64,
    /// Its rows.
    pub rows: u64,
    /// Its live data files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The account of one workflow, or of several added up. What another engine's account leaves out is
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// Logs of the batch, failed ones included.
    pub logs: u64,
    /// Logs without rows.
    pub failed_logs: Vec<FailedLog>,
    /// Messages in the logs, numbered ones without content included.
    pub messages: u64,
    /// Messages without content.
    pub empty: u64,
    /// Messages that are no HL7.
    pub unparsable: Vec<LostMessage>,
    /// Messages that are rows.
    pub parsed: u64,
    /// What became of those rows in `reports`.
    pub reports: ReportCounts,
    /// What became of changed rows in the tables that follow.
    pub tables: BTreeMap<String, TableCounts>,
    /// The tables afterwards.
    pub state: BTreeMap<String, TableState>,
    /// Whether no message was parsable. The reference fails such a workflow.
    pub without_messages: bool,
    /// Whether an earlier attempt had committed the reports.
    pub continued: bool,
}

impl Ledger {
    /// Counts of a table that follows another.
    #[must_use]
    pub fn table(&self, table: Name) -> TableCounts {
        self.tables.get(table.name()).copied().unwrap_or_default()
    }

    /// State of a table afterwards.
    #[must_use]
    pub fn state(&self, table: Name) -> TableState {
        self.state.get(table.name()).copied().unwrap_or_default()
    }

    /// Whether every message is accounted for.
    #[must_use]
    pub fn is_balanced(&self) -> bool {
        let lost = self.unparsable.len() as u64;
        let ReportCounts {
            inserted,
            updated,
            unchanged,
        } = self.reports;
        self.messages == self.empty + lost + self.parsed
            && self.parsed == inserted + updated + unchanged
    }

    /// Adds the account of a later workflow.
    pub fn add(&mut self, later: Self) {
        self.logs += later.logs;
        self.failed_logs.extend(later.failed_logs);
        self.messages += later.messages;
        self.empty += later.empty;
        self.unparsable.extend(later.unparsable);
        self.parsed += later.parsed;
        self.reports.inserted += later.reports.inserted;
        self.reports.updated += later.reports.updated;
        self.reports.unchanged += later.reports.unchanged;
        for (table, counts) in later.tables {
            let sum = self.tables.entry(table).or_default();
            sum.inserted += counts.inserted;
            sum.updated += counts.updated;
            sum.deleted += counts.deleted;
            sum.kept += counts.kept;
            sum.dropped += counts.dropped;
        }
        self.state.extend(later.state);
        self.without_messages |= later.without_messages;
        self.continued |= later.continued;
    }
}
