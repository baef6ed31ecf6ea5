//! `reports_curated`: reports with an accession, merged on report and year.

use super::Step;
use super::curate::curate;
use super::follow::{self, Changes};
use crate::error::Result;
use crate::lake::{Matched, Merge, Table, retry};
use crate::stage::Recorder;
use bench_tables::Table as Name;

/// What following `reports` did.
#[derive(Default)]
pub(crate) struct Curated {
    pub(crate) inserted: u64,
    pub(crate) updated: u64,
    /// Reports without an accession.
    pub(crate) dropped: u64,
    pub(crate) changes: Option<Changes>,
}

/// Brings `reports_curated` up to date with `reports`.
pub(crate) fn follow(
    step: &mut Step<'_, '_>,
    curated: &mut Table,
    reports: &mut Table,
    fresh: Option<&Changes>,
) -> Result<Curated> {
    let mut clock = Recorder::begin();
    let done = retry(curated.name(), || {
        curated.refresh()?;
        let Some(changes) = follow::behind(step.root, curated, reports, fresh)? else {
            return Ok(Some(Curated::default()));
        };
        let mut done = Curated::default();
        let mut rows = Vec::new();
        for batch in &changes.batches {
            let (batch, dropped) = curate(batch)?;
            done.dropped += dropped;
            rows.push(batch);
        }
        let plan = Merge {
            source: &rows,
            key: "primary_report_identifier",
            second_key: Some("year"),
            decide_on: &[],
            decide: &|_, _| Matched::Update,
            insert: true,
        }
        .plan(curated, step.writing.threads)?;
        done.inserted = plan.counts.inserted;
        done.updated = plan.counts.updated;
        if plan.is_empty() {
            follow::note(step.root, curated, reports, changes.up_to)?;
            return Ok(Some(done));
        }
        let committed = step.commit_merge(curated, plan, reports, changes.up_to, &mut clock)?;
        Ok(committed.map(|changes| {
            done.changes = Some(changes);
            done
        }))
    })?;
    step.recorder.end("curated", Some(Name::Curated), &clock);
    if done.changes.is_some() {
        step.after_commit(curated)?;
    }
    Ok(done)
}
