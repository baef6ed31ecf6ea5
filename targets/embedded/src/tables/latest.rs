//! `reports_latest`: one row per accession, replaced only by a strictly later message.

use super::Step;
use super::follow::{self, Changes};
use crate::error::{Error, Result};
use crate::lake::{Matched, Merge, Table, retry};
use crate::stage::Recorder;
use arrow::array::{Array, AsArray, RecordBatch, UInt64Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::TimestampMicrosecondType;
use bench_tables::Table as Name;
use std::collections::HashMap;

/// What following `reports_curated` did.
#[derive(Default)]
pub(crate) struct Latest {
    pub(crate) inserted: u64,
    pub(crate) updated: u64,
    /// Stored rows that a report met and did not replace.
    pub(crate) kept: u64,
    pub(crate) changes: Option<Changes>,
}

/// Brings `reports_latest` up to date with `reports_curated`.
pub(crate) fn follow(
    step: &mut Step<'_, '_>,
    latest: &mut Table,
    curated: &mut Table,
    fresh: Option<&Changes>,
) -> Result<Latest> {
    let mut clock = Recorder::begin();
    let done = retry(latest.name(), || {
        latest.refresh()?;
        let Some(changes) = follow::behind(step.root, latest, curated, fresh)? else {
            return Ok(Some(Latest::default()));
        };
        let winners = newest_per_accession(&changes.batches)?;
        let plan = Merge {
            source: &winners,
            key: "accession_number",
            second_key: None,
            decide_on: &["message_dt"],
            decide: &|stored, incoming| match (
                stored.timestamp("message_dt"),
                incoming.timestamp("message_dt"),
            ) {
                (Some(old), Some(new)) if new > old => Matched::Update,
                _ => Matched::Keep,
            },
            insert: true,
        }
        .plan(latest, step.writing.threads)?;
        let mut done = Latest {
            inserted: plan.counts.inserted,
            updated: plan.counts.updated,
            kept: plan.counts.kept,
            changes: None,
        };
        if plan.is_empty() {
            follow::note(step.root, latest, curated, changes.up_to)?;
            return Ok(Some(done));
        }
        let committed = step.commit_merge(latest, plan, curated, changes.up_to, &mut clock)?;
        Ok(committed.map(|changes| {
            done.changes = Some(changes);
            done
        }))
    })?;
    step.recorder.end("latest", Some(Name::Latest), &clock);
    if done.changes.is_some() {
        step.optimize_latest(latest)?;
        step.after_commit(latest)?;
    }
    Ok(done)
}

/// Of the rows of an accession, the one with the greatest message time; no time comes last, and
/// the greatest report identifier breaks a tie.
pub(crate) fn newest_per_accession(batches: &[RecordBatch]) -> Result<Vec<RecordBatch>> {
    let name = Name::Latest.name();
    let column = |batch: &RecordBatch, column: &str| {
        batch
            .column_by_name(column)
            .cloned()
            .ok_or_else(|| Error::Columns {
                table: name,
                action: "choosing the newest reports",
                source: format!("column {column} is missing").into(),
            })
    };
    let mut rows: Vec<(_, _, _)> = Vec::with_capacity(batches.len());
    for batch in batches {
        rows.push((
            column(batch, "accession_number")?,
            column(batch, "message_dt")?,
            column(batch, "primary_report_identifier")?,
        ));
    }
    let mut best: HashMap<&str, (Option<i64>, &str, usize, usize)> = HashMap::new();
    for (number, (accession, time, report)) in rows.iter().enumerate() {
        let accession = accession.as_string::<i32>();
        let time = time.as_primitive::<TimestampMicrosecondType>();
        let report = report.as_string::<i32>();
        for row in 0..accession.len() {
            if accession.is_null(row) {
                continue;
            }
            let at = time.is_valid(row).then(|| time.value(row));
            let new = (at, report.value(row), number, row);
            best.entry(accession.value(row))
                .and_modify(|old| {
                    if (new.0, new.1) > (old.0, old.1) {
                        *old = new;
                    }
                })
                .or_insert(new);
        }
    }
    let mut chosen: Vec<Vec<u64>> = vec![Vec::new(); batches.len()];
    for (_, _, number, row) in best.into_values() {
        chosen[number].push(row as u64);
    }
    let mut winners = Vec::new();
    for (batch, mut rows) in batches.iter().zip(chosen) {
        if rows.len() == batch.num_rows() {
            winners.push(batch.clone());
        } else if !rows.is_empty() {
            rows.sort_unstable();
            let rows = take_record_batch(batch, &UInt64Array::from(rows))
                .map_err(Error::columns(name, "choosing the newest reports"))?;
            winners.push(rows);
        }
    }
    Ok(winners)
}
