//! Stage 4: the components of reports with both ids, over the whole table.
//!
//! A component is walked over the rows that are known, gets one patient, and is consistent where it
//! holds one MPI and one Epic MRN at most.

use super::stages::{Change, Known, Report, Row, Stage, StageRows};
use std::collections::BTreeSet;

/// Settles the component of every report that has both ids.
pub(super) fn components(
    known: &mut Known,
    stages: &mut Vec<StageRows>,
    reports: Vec<Report>,
    new_patient: &mut dyn FnMut() -> String,
) {
    if reports.is_empty() {
        return;
    }
    // New reports stand behind the known rows while components are walked, not yet with a patient.
    let first_new = known.rows.len();
    for report in reports {
        let Report {
            report,
            mpi,
            epic_mrn,
        } = report;
        known.insert(Row {
            patient: String::new(),
            report,
            mpi,
            epic_mrn,
            consistent: true,
        });
    }
    let mut seen = vec![false; known.rows.len()];
    let mut changes = Vec::new();
    for start in first_new..known.rows.len() {
        if !seen[start] {
            let web = walk(known, start, &mut seen);
            settle(known, &web, first_new, new_patient, &mut changes);
        }
    }
    let rows = changes
        .into_iter()
        .map(|(at, before)| Change {
            before,
            after: known.rows[at].clone(),
        })
        .collect();
    stages.push(StageRows {
        stage: Stage::Components,
        rows,
    });
}

/// Every row that is linked to a row, itself included.
fn walk(known: &Known, start: usize, seen: &mut [bool]) -> Vec<usize> {
    let mut web = vec![start];
    seen[start] = true;
    let mut at = 0;
    while let Some(&row) = web.get(at) {
        at += 1;
        let row = &known.rows[row];
        let linked = known.of_mpi(row.mpi.as_deref()).iter();
        for &next in linked.chain(known.of_mrn(row.epic_mrn.as_deref())) {
            if !std::mem::replace(&mut seen[next], true) {
                web.push(next);
            }
        }
    }
    web
}

/// Row and its state before.
type Changed = (usize, Option<(String, bool)>);

fn settle(
    known: &mut Known,
    web: &[usize],
    first_new: usize,
    new_patient: &mut dyn FnMut() -> String,
    changes: &mut Vec<Changed>,
) {
    let rows = || web.iter().map(|&at| &known.rows[at]);
    let mpis: BTreeSet<&str> = rows().filter_map(|row| row.mpi.as_deref()).collect();
    let mrns: BTreeSet<&str> = rows().filter_map(|row| row.epic_mrn.as_deref()).collect();
    let consistent = mpis.len() <= 1 && mrns.len() <= 1;
    // A patient that is stored outlives one that this workflow began; among several it is that of
    // the first report by name, so that the same batches leave the same history.
    let placed = |of: std::ops::Range<usize>| {
        let rows = web
            .iter()
            .filter(|at| of.contains(at))
            .map(|&at| &known.rows[at]);
        rows.min_by(|a, b| a.report.cmp(&b.report))
            .map(|row| row.patient.clone())
    };
    let patient = placed(0..known.stored)
        .or_else(|| placed(known.stored..first_new))
        .unwrap_or_else(new_patient);
    for &at in web {
        let row = &mut known.rows[at];
        let before = (at < first_new).then(|| (row.patient.clone(), row.consistent));
        let same = row.patient == patient && row.consistent == consistent;
        if before.is_some() && same {
            continue;
        }
        row.patient.clone_from(&patient);
        row.consistent = consistent;
        changes.push((at, before));
    }
}
