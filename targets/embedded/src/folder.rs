//! A folder of logs, ingested by hand: every batch one workflow, one after the other.

use crate::batch::LogBatch;
use crate::error::Result;
use crate::ingest::{Engine, Options};
use crate::ledger::Ledger;
use crate::stage::{Progress, Stage};
use std::path::Path;
use std::time::{Duration, Instant};

/// Listens to the ingest of a folder.
pub trait FolderProgress: Progress {
    /// The logs were found, and make so many workflows.
    fn found(&mut self, _logs: usize, _workflows: usize) {}
    /// A workflow begins; numbers count from 1.
    fn begins(&mut self, _workflow: usize, _logs: usize) {}
    /// A workflow is complete.
    fn completed(&mut self, _workflow: usize, _ledger: &Ledger, _took: Duration) {}
}

impl FolderProgress for crate::stage::Silent {}

/// Ingests every log under a folder into a lake. Running it again is a deliberate ingest of the
/// same logs: what is stored as it is commits nothing.
///
/// # Errors
/// The first workflow that fails ends the ingest; those before it stay.
pub fn ingest_folder(
    logs: &Path,
    lake: &str,
    files_per_workflow: usize,
    options: Options,
    progress: &mut dyn FolderProgress,
) -> Result<Ledger> {
    let found = bench_hl7::discover(logs)?;
    let batches = LogBatch::split(&found, files_per_workflow.max(1));
    progress.found(found.len(), batches.len());
    let mut engine = Engine::open(lake, options)?;
    let sequence = uuid::Uuid::new_v4();
    let all = u32::try_from(batches.len()).ok();
    let mut total = Ledger::default();
    for (number, batch) in (1_u32..).zip(&batches) {
        let workflow = number as usize;
        progress.begins(workflow, batch.logs().len());
        let began = Instant::now();
        let mut stages = Stages(progress);
        let ledger = engine.ingest(&format!("{sequence}/{number}"), batch, &mut stages)?;
        engine.after_workflow(number, all)?;
        progress.completed(workflow, &ledger, began.elapsed());
        let without = total.without_messages || ledger.without_messages;
        total.add(ledger);
        total.without_messages = without;
    }
    Ok(total)
}

/// Hands stages to a listener of the folder.
struct Stages<'a>(&'a mut dyn FolderProgress);

impl Progress for Stages<'_> {
    fn stage(&mut self, stage: &Stage) {
        self.0.stage(stage);
    }
}
