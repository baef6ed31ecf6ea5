//! `reports_report_patient_mapping`: which report belongs to which patient.
//!
//! [`stages`] decides (the fourth in [`components`]), [`stored`] finds what is stored and linked, [`history`] logs joins and
//! conflicts. Every stage that has rows is one merge and one commit, the last of which carries the
//! mark that curated has been seen. An attempt that died in between is continued by leaving out
//! the reports that are mapped already; so is one that another writer overtook.

mod components;
mod history;
mod stages;
mod stored;

use super::Step;
use super::curate::mapping_ids;
use super::follow::{self, Changes};
use crate::error::{Error, Result};
use crate::lake::{Matched, Merge, Outcome, Table, retry};
use crate::stage::Recorder;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringArray};
use bench_tables::Table as Name;
use stages::{Change, Report, Stage, StageRows};
use std::sync::Arc;

/// What following `reports_curated` did.
#[derive(Default)]
pub(crate) struct Mapping {
    pub(crate) inserted: u64,
    pub(crate) updated: u64,
    pub(crate) history: u64,
}

/// Brings the mapping and its history up to date with `reports_curated`.
pub(crate) fn follow(
    step: &mut Step<'_, '_>,
    (mapping, log): (&mut Table, &mut Table),
    curated: &mut Table,
    fresh: Option<&Changes>,
) -> Result<Mapping> {
    let mut done = Mapping::default();
    let mut changed = history::Fresh::new();
    let committed = retry(mapping.name(), || {
        mapping.refresh()?;
        let Some(changes) = follow::behind(step.root, mapping, curated, fresh)? else {
            return Ok(Some(false));
        };
        let stages = plan(step, mapping, &changes)?;
        if stages.is_empty() {
            follow::note(step.root, mapping, curated, changes.up_to)?;
            return Ok(Some(false));
        }
        let last = stages.len() - 1;
        for (number, stage) in stages.into_iter().enumerate() {
            let mark = (number == last).then_some((&*curated, changes.up_to));
            let Some((version, rows)) = commit(step, mapping, stage, mark, &mut done)? else {
                return Ok(None);
            };
            if let Some(rows) = rows {
                changed.insert(version, rows);
            }
        }
        Ok(Some(true))
    })?;
    done.history = history::follow(step, log, mapping, &changed)?;
    if committed {
        step.after_commit(mapping)?;
    }
    Ok(done)
}

fn plan(step: &mut Step<'_, '_>, mapping: &Table, changes: &Changes) -> Result<Vec<StageRows>> {
    let mut clock = Recorder::begin();
    let threads = step.writing.threads;
    let mut reports = Vec::new();
    for batch in &changes.batches {
        let names: ArrayRef = batch
            .column_by_name("primary_report_identifier")
            .cloned()
            .ok_or_else(|| missing("primary_report_identifier"))?;
        let names = names.as_string::<i32>();
        for (row, (mpi, epic_mrn)) in mapping_ids(batch)?.into_iter().enumerate() {
            if names.is_valid(row) {
                reports.push(Report {
                    report: names.value(row).to_owned(),
                    mpi,
                    epic_mrn,
                });
            }
        }
    }
    let reports = stored::only_new(mapping, reports, threads)?;
    let linked = if reports.is_empty() {
        Vec::new()
    } else {
        stored::linked(mapping, &reports, threads)?
    };
    clock.rows = linked.len() as u64;
    let stages = stages::plan(linked, reports, || uuid::Uuid::new_v4().to_string());
    step.recorder
        .end("mapping-1-read", Some(Name::Mapping), &clock);
    Ok(stages)
}

/// Commits a stage: the version, and for components what they changed; `None` for a conflict.
#[allow(
    clippy::type_complexity,
    reason = "a version and what it changed, used once"
)]
fn commit(
    step: &mut Step<'_, '_>,
    mapping: &mut Table,
    stage: StageRows,
    mark: Option<(&Table, i64)>,
    done: &mut Mapping,
) -> Result<Option<(i64, Option<Vec<Change>>)>> {
    let mut clock = Recorder::begin();
    let source = [batch(mapping, &stage.rows)?];
    let plan = Merge {
        source: &source,
        key: "primary_report_identifier",
        second_key: None,
        decide_on: &[],
        decide: &|_, _| Matched::Update,
        insert: true,
    }
    .plan(mapping, step.writing.threads)?;
    let mut commit = step.writing.prepare(mapping, &plan)?;
    commit
        .tags
        .push((history::STAGE, stage.stage.name().to_owned()));
    if let Some((curated, up_to)) = mark {
        follow::mark(&mut commit, curated, up_to);
    }
    clock.wrote(&commit.adds);
    clock.rows = plan.counts.inserted + plan.counts.updated;
    let Outcome::Committed(version) = mapping.commit(&commit)? else {
        return Ok(None);
    };
    done.inserted += plan.counts.inserted;
    done.updated += plan.counts.updated;
    clock.version = Some(version);
    step.recorder
        .end(stage.stage.name(), Some(Name::Mapping), &clock);
    let rows = (stage.stage == Stage::Components).then_some(stage.rows);
    Ok(Some((version, rows)))
}

fn batch(mapping: &Table, rows: &[Change]) -> Result<RecordBatch> {
    let text = |of: &dyn Fn(&Change) -> Option<&str>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let columns = vec![
        text(&|change| Some(&change.after.patient)),
        text(&|change| Some(&change.after.report)),
        text(&|change| change.after.mpi.as_deref()),
        text(&|change| change.after.epic_mrn.as_deref()),
        Arc::new(
            rows.iter()
                .map(|change| Some(change.after.consistent))
                .collect::<BooleanArray>(),
        ),
    ];
    RecordBatch::try_new(Arc::clone(mapping.schema()), columns)
        .map_err(Error::columns(mapping.name(), "writing the mapping"))
}

fn missing(column: &str) -> Error {
    Error::Columns {
        table: Name::Mapping.name(),
        action: "reading reports",
        source: format!("column {column} is missing").into(),
    }
}
