//! Proof that no row was lost: what stands in a lake, compared with what its logs must give.
//!
//! Everything is read from outside the engine, by Delta's log and Parquet alone.
//! `docs/verification.md` says what is checked and what cannot be.

mod checks;
mod columns;
mod committed;
mod diagnoses;
mod dx;
mod facts;
mod files;
mod history;
mod lake;
mod latest;
mod ledger;
mod mapping;
mod parallel;
mod plan;
mod reached;
mod read;
mod statistics;
mod subject;
mod verification;
mod versions;
mod winners;

use crate::delta::Lake;
use checks::Checks;
use facts::Facts;
use std::collections::BTreeSet;
use std::time::Instant;

pub use subject::{
    FailedLog, Ingested, Interleaving, Ledger, LostMessage, Outcome, ReportCounts, StateCounts,
    Subject, TableCounts, Ties, Truth,
};
pub use verification::{Check, Position, Status, Verification};

/// What keeps a lake from being verified at all. A lake that can be read and is wrong is no error.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The lake cannot be reached.
    #[error("the lake {lake} cannot be verified: {reason}")]
    Lake {
        /// The lake as it was named.
        lake: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The data set cannot be read.
    #[error("the logs in {folder} cannot be verified against: {reason}")]
    Dataset {
        /// The folder.
        folder: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Verifies a lake.
///
/// # Errors
/// [`VerifyError`] where lake or data set cannot be read; what is wrong in the lake stands in the
/// [`Verification`].
pub fn verify(subject: &Subject) -> Result<Verification, VerifyError> {
    let start = Instant::now();
    let wrong_lake = |reason: String| VerifyError::Lake {
        lake: subject.lake.clone(),
        reason,
    };
    let threads = subject.threads.max(1);
    let lake = Lake::open(&subject.lake, &subject.storage).map_err(wrong_lake)?;
    let logs = logs(subject)?;
    let read_rows = subject.truth == Truth::ReadFromLogs;
    let mut scans = facts::scan(&subject.dataset_root, &logs, read_rows, threads);
    let facts = Facts::of(subject, &logs, &mut scans)?;
    let mut checks = Checks::default();
    ledger::logs(&facts, &scans, &mut checks);
    drop(scans);
    let settled = lake::check(subject, &lake, &facts, &mut checks)
        .map_err(|reason| wrong_dataset(subject, reason))?;
    ledger::check(
        subject,
        &facts,
        &settled.plan,
        settled.counts.as_deref(),
        &mut checks,
    );
    let Checks(checks) = checks;
    let passed = checks.iter().all(|check| check.passed);
    Ok(Verification {
        status: if passed {
            Status::Passed
        } else {
            Status::Failed
        },
        seconds: start.elapsed().as_secs_f64(),
        checks,
    })
}

/// Every log that a workflow takes, once, in the order of their paths.
fn logs(subject: &Subject) -> Result<Vec<String>, VerifyError> {
    let mut logs = BTreeSet::new();
    for workflow in &subject.workflows {
        let mut own = BTreeSet::new();
        for log in &workflow.logs {
            if !own.insert(log) {
                let number = workflow.workflow;
                let reason =
                    format!("{log} stands twice in workflow {number}: a manifest names a log once");
                return Err(wrong_dataset(subject, reason));
            }
            logs.insert(log.clone());
        }
    }
    Ok(logs.into_iter().collect())
}

fn wrong_dataset(subject: &Subject, reason: String) -> VerifyError {
    VerifyError::Dataset {
        folder: subject.dataset_root.display().to_string(),
        reason,
    }
}
