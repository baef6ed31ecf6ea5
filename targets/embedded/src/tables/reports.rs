//! `reports`: what was read, merged on source file and year.
//!
//! A row that is stored with the same hash is dropped before the merge; if nothing is left there is
//! no commit. A row of NULL year meets no stored row, so what keeps a repeated attempt from
//! inserting it again is the workflow's transaction in the commit.

use super::Step;
use super::follow::{self, Changes};
use crate::error::Result;
use crate::lake::{Matched, Merge, Outcome, Table, retry};
use crate::stage::Recorder;
use arrow::array::RecordBatch;
use bench_tables::Table as Name;
use serde::{Deserialize, Serialize};

/// Tag of a commit: its rows by what became of them.
const ROWS: &str = "bench.rows";

/// What became of the rows that a workflow read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportCounts {
    /// Rows of new files, or of NULL year.
    pub inserted: u64,
    /// Rows whose content had changed.
    pub updated: u64,
    /// Rows that were stored as they are.
    pub unchanged: u64,
}

/// What the merge of a workflow's rows did.
pub(crate) struct Merged {
    pub(crate) counts: ReportCounts,
    /// What changed, where this attempt committed it.
    pub(crate) changes: Option<Changes>,
    /// Whether an earlier attempt had committed already.
    pub(crate) before: bool,
}

/// The name under which a workflow records its commit.
fn application(workflow: &str) -> String {
    format!("bench:workflow:{workflow}")
}

/// Merges a workflow's rows into `reports`.
pub(crate) fn merge(
    step: &mut Step<'_, '_>,
    reports: &mut Table,
    rows: &[RecordBatch],
    workflow: &str,
) -> Result<Merged> {
    let mut clock = Recorder::begin();
    let application = application(workflow);
    let merged = retry(reports.name(), || {
        reports.refresh()?;
        if let Some(version) = reports.transaction(&application)? {
            let counts = recorded(reports, version)?;
            return Ok(Some(Merged {
                counts,
                changes: None,
                before: true,
            }));
        }
        let plan = Merge {
            source: rows,
            key: "source_file",
            second_key: Some("year"),
            decide_on: &["content_hash"],
            decide: &|stored, incoming| match (
                stored.text("content_hash"),
                incoming.text("content_hash"),
            ) {
                (Some(old), Some(new)) if old == new => Matched::Unchanged,
                _ => Matched::Update,
            },
            insert: true,
        }
        .plan(reports, step.writing.threads)?;
        let counts = ReportCounts {
            inserted: plan.counts.inserted,
            updated: plan.counts.updated,
            unchanged: plan.counts.unchanged,
        };
        if plan.is_empty() {
            return Ok(Some(Merged {
                counts,
                changes: None,
                before: false,
            }));
        }
        let mut commit = step.writing.prepare(reports, &plan)?;
        let after = reports.version();
        commit.transactions.push((application.clone(), after + 1));
        commit
            .tags
            .push((ROWS, serde_json::json!(counts).to_string()));
        follow::stamp(&mut commit, &plan.changed);
        clock.wrote(&commit.adds);
        clock.rows = counts.inserted + counts.updated;
        match reports.commit(&commit)? {
            Outcome::Conflict => Ok(None),
            Outcome::Committed(up_to) => {
                clock.version = Some(up_to);
                let changes = Changes {
                    after,
                    up_to,
                    batches: plan.changed,
                };
                Ok(Some(Merged {
                    counts,
                    changes: Some(changes),
                    before: false,
                }))
            }
        }
    })?;
    step.recorder.end("reports", Some(Name::Reports), &clock);
    if merged.changes.is_some() {
        step.after_commit(reports)?;
    }
    Ok(merged)
}

/// What an earlier attempt's commit said of its rows.
fn recorded(reports: &Table, version: i64) -> Result<ReportCounts> {
    let entries = reports.entries(version - 1, version)?;
    let text = entries.first().and_then(|entry| entry.tags.get(ROWS));
    Ok(text
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default())
}
