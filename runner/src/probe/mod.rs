//! The state of a lake's tables as it is read from outside, after a workflow has closed.
//!
//! Knows Delta's log and folders and nothing of the engine that wrote them. It never writes, and it
//! reads no rows: counts come from the log. Whether those are true is for [`crate::verify`].

mod disk;
mod table;

use crate::delta::Lake;
use bench_tables::Table;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use table::TableProbe;

/// A table as it stands after a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableState {
    /// Name of the table, which is that of its folder (`reports`, `reports_curated`, …).
    pub table: String,
    /// Its newest version.
    pub version: i64,
    /// Rows, by the statistics of the live files; `None` where a live file has none.
    pub rows: Option<u64>,
    /// Data files of the newest version.
    pub live_files: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// Size of the file in the middle, of two the smaller one; `None` without live files.
    pub file_p50_bytes: Option<u64>,
    /// Size of the greatest live file; `None` without live files.
    pub file_max_bytes: Option<u64>,
    /// Data files that lie in the table's folder: live ones, tombstones and orphans.
    pub disk_files: u64,
    /// Their bytes.
    pub disk_bytes: u64,
    /// Commits in the log, as entries that lie there.
    pub log_entries: u64,
    /// Checkpoints in the log.
    pub checkpoints: u64,
    /// Commits since the probe last looked, by Delta's name of the operation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operations: BTreeMap<String, u64>,
}

/// What keeps a probe from reading a lake.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The address of the lake is none that can be read.
    #[error("the lake {lake} cannot be probed: {reason}")]
    Location {
        /// The lake as it was named.
        lake: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A table cannot be read.
    #[error("table {table} cannot be probed: {reason}")]
    Table {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// Looks at a lake again and again; each look reads what is new since the last.
pub struct LakeProbe {
    name: String,
    lake: Lake,
    tables: BTreeMap<&'static str, TableProbe>,
}

impl LakeProbe {
    /// A probe for a lake at a path or an address. The lake need not exist yet.
    ///
    /// # Errors
    /// [`ProbeError::Location`]
    pub fn new(lake: &str, storage: &BTreeMap<String, String>) -> Result<Self, ProbeError> {
        let name = lake.to_owned();
        match Lake::open(lake, storage) {
            Ok(lake) => Ok(Self {
                name,
                lake,
                tables: BTreeMap::new(),
            }),
            Err(reason) => Err(ProbeError::Location { lake: name, reason }),
        }
    }

    /// The lake as it was named.
    #[must_use]
    pub fn lake(&self) -> &str {
        &self.name
    }

    /// Every table that exists, in the order in which a workflow writes them.
    ///
    /// # Errors
    /// [`ProbeError::Table`]
    pub fn tables(&mut self) -> Result<Vec<TableState>, ProbeError> {
        let mut states = Vec::new();
        for table in Table::ALL {
            let table = table.name();
            let state = self.table(table);
            states.extend(state.map_err(|reason| ProbeError::Table { table, reason })?);
        }
        Ok(states)
    }

    fn table(&mut self, name: &'static str) -> Result<Option<TableState>, String> {
        if !self.tables.contains_key(name) {
            let Some(store) = self.lake.table(name)? else {
                return Ok(None);
            };
            self.tables.insert(name, TableProbe::new(store));
        }
        let Some(table) = self.tables.get_mut(name) else {
            return Ok(None);
        };
        table.look(name)
    }
}
