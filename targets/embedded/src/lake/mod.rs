//! The lake: tables of Parquet files with a Delta log each.
//!
//! delta-rs opens tables, reads checkpoints, puts log entries if they are absent and writes
//! checkpoints. What a write *does* is planned here, because the settings that this engine exists
//! to measure decide about exactly that: which files a merge reads, which it writes again, and into
//! how many files its output is cut.
//!
//! ```text
//! store    bytes: data files, log entries, notes beside the tables; remote those of an object store
//! log      what log entries say: live files, key ranges, transactions
//! table    a table at a version; opening, making, refusing
//! read     rows out of files          encode   rows into a file, stats its statistics
//! merge    which files and rows a merge touches
//! layout   which rows go into which file
//! commit   put a version, or learn that it is taken
//! compact, vacuum
//! ```
//!
//! Left out: the change data feed (what follows a table derives from the files that commits added),
//! deletion vectors, column mapping, constraints. A table that has them is refused.

pub(crate) mod commit;
pub(crate) mod compact;
mod encode;
mod layout;
pub(crate) mod log;
pub(crate) mod merge;
pub(crate) mod parallel;
pub(crate) mod read;
pub(crate) mod remote;
mod stats;
pub(crate) mod store;
pub(crate) mod table;
mod vacuum;

use crate::error::{Error, Result};
use crate::settings::Settings;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use deltalake::kernel::Add;
use std::time::Duration;

pub(crate) use commit::{Commit, Outcome};
pub(crate) use merge::{Matched, Merge, Plan};
pub(crate) use store::Root;
pub(crate) use table::Table;

/// Plans that are made before a writer gives up against faster ones.
const ATTEMPTS: u32 = 200;

/// How the engine writes.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub(crate) settings: Settings,
    pub(crate) threads: usize,
}

impl Writing {
    /// Writes rows as files of the table, not yet part of it.
    pub(crate) fn write(
        &self,
        table: &Table,
        schema: &SchemaRef,
        batches: &[RecordBatch],
    ) -> Result<Vec<Add>> {
        let key = table.key_column().unwrap_or("primary_report_identifier");
        layout::write(table, schema, batches, key, &self.settings, self.threads)
    }

    /// Writes what a plan puts out and makes its commit, to which the caller adds.
    pub(crate) fn prepare(&self, table: &Table, plan: &Plan) -> Result<Commit> {
        let mut commit = Commit::new("MERGE");
        commit.adds = self.write(table, &plan.schema, &plan.output)?;
        commit.removes.clone_from(&plan.touched);
        commit.metadata.clone_from(&plan.metadata);
        let counts = &plan.counts;
        commit.metrics = vec![
            ("numSourceRows", counts.source),
            ("numTargetRowsInserted", counts.inserted),
            ("numTargetRowsUpdated", counts.updated),
            ("numTargetRowsDeleted", counts.deleted),
            ("numTargetRowsCopied", counts.copied),
            (
                "numOutputRows",
                counts.copied + counts.updated + counts.inserted,
            ),
            ("numTargetFilesAdded", commit.adds.len() as u64),
            ("numTargetFilesRemoved", commit.removes.len() as u64),
        ];
        Ok(commit)
    }
}

/// Makes a plan and carries it out until no other writer is faster, a bounded number of times.
/// `plan` gives `None` for a conflict.
pub(crate) fn retry<T>(
    table: &'static str,
    mut plan: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    for attempt in 0..ATTEMPTS {
        if let Some(done) = plan()? {
            return Ok(done);
        }
        // Writers that lost together must not try again together.
        let spread = uuid::Uuid::new_v4().as_u128() % 64;
        let wait = u64::from(attempt.min(16)) + u64::try_from(spread).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(wait));
    }
    Err(Error::Contention {
        table,
        attempts: ATTEMPTS,
    })
}
