//! `…_mapping_history`: what it must hold whatever batches there were, and, where they are known,
//! how many rows.

use super::checks::{self, Checks, Wrong};
use super::facts::{Facts, MessageId};
use super::files;
use super::mapping::{Found, Patient, Patients};
use super::read::OpenTable;
use bench_tables::Table;
use bench_tables::fold::{Expected, Range};
use std::collections::{HashMap, HashSet};

/// What is known of the batches.
pub(super) enum Known<'a> {
    /// All of them.
    Exactly(Expected<'a>),
    /// All of them, but a workflow may have taken several attempts for the mapping's stages.
    AtLeast(Expected<'a>),
    /// Not which workflows shared one.
    Open,
}

/// Checks the history beside the mapping. `is_complete` says that no workflow was interrupted
/// between the two.
pub(super) fn check(
    table: &OpenTable,
    history: &Found,
    mapping: Option<&Found>,
    facts: &Facts,
    known: &Known<'_>,
    is_complete: bool,
    checks: &mut Checks,
) {
    rows(history, facts, known, checks);
    let mut keys = Wrong::default();
    if let Some(mapping) = mapping {
        let unknown = history.rows.iter().filter(|row| !mapping.holds(row.id));
        keys.messages(facts, unknown.map(|row| row.id), "it is not in the mapping");
    }
    history.strange(table, &mut keys);
    checks.none_wrong("keys", Some(table.table), "unexpected keys", keys);
    history.check_ids(table, facts, checks);
    if let Some(mapping) = mapping.filter(|_| is_complete) {
        chain(history, mapping, facts, checks);
        conflicts(history, mapping, facts, checks);
    }
    files::files(table, &history.files, checks);
}

/// Rows in all and of each report, within the bounds of the fold.
fn rows(history: &Found, facts: &Facts, known: &Known<'_>, checks: &mut Checks) {
    let name = Some(Table::MappingHistory);
    let expected = match known {
        Known::Exactly(expected) | Known::AtLeast(expected) => *expected,
        Known::Open => {
            let found = history.count().to_string();
            let check = checks.add("rows", name, "any number", found, true);
            check
                .note("which workflows shared a batch is not known, and the history depends on it");
            return;
        }
    };
    let bounds = |range: Range| match known {
        Known::Exactly(_) => range,
        _ => Range {
            least: range.least,
            most: u64::MAX,
        },
    };
    let text = |range: Range| match range {
        Range { least, most } if least == most => least.to_string(),
        Range {
            least,
            most: u64::MAX,
        } => format!("at least {least}"),
        Range { least, most } => format!("{least} to {most}"),
    };
    let total = bounds(expected.totals().mapping_history);
    let passed = total.contains(history.count());
    let found = history.count().to_string();
    let check = checks.add("rows", name, text(total), found, passed);
    if matches!(known, Known::AtLeast(_)) {
        check.note("a workflow took several attempts, so the greatest number is not known");
    }

    let mut counts: HashMap<MessageId, u64> = HashMap::new();
    for row in &history.rows {
        *counts.entry(row.id).or_default() += 1;
    }
    let mut wrong = Wrong::default();
    for log in &facts.logs {
        for id in log.first..log.first + log.messages {
            if facts.row_of(id).is_none() {
                continue;
            }
            let found = counts.get(&id).copied().unwrap_or(0);
            let row = expected.mapping_of(&facts.name_in(log, id));
            let range = bounds(row.map_or(Range::default(), |row| row.history));
            if !range.contains(found) {
                let what = format!("{found} rows, expected {}", text(range));
                wrong.messages(facts, [id], &what);
            }
        }
    }
    checks.none_wrong(
        "rows_of_report",
        name,
        "reports with another number of rows",
        wrong,
    );
}

/// The rows of a report lead from one patient to the next, and the last to the one in the mapping.
fn chain(history: &Found, mapping: &Found, facts: &Facts, checks: &mut Checks) {
    let current: HashMap<MessageId, Patient> = mapping
        .rows
        .iter()
        .map(|row| (row.id, row.patient))
        .collect();
    let mut wrong = Wrong::default();
    for rows in history.rows.chunk_by(|a, b| a.id == b.id) {
        let id = rows[0].id;
        let Some(&now) = current.get(&id) else {
            continue;
        };
        // Each row is a step from a patient to a patient: all steps make one walk exactly if every
        // patient is left as often as it is reached, but for the first and the last.
        let mut balance: HashMap<Option<Patient>, i64> = HashMap::from([(Some(now), 1)]);
        for row in rows {
            *balance.entry(row.previous).or_default() += 1;
            *balance.entry(Some(row.patient)).or_default() -= 1;
        }
        let starts: i64 = balance.values().map(|left| left.abs()).sum();
        let is_reached = rows.iter().any(|row| row.patient == now);
        if starts != 1 || !is_reached {
            wrong.messages(facts, [id], "its rows do not lead to its patient");
        }
    }
    let name = Some(Table::MappingHistory);
    checks.none_wrong("chain", name, "reports whose changes do not join up", wrong);
}

/// A conflict is found by a report that joins two ids, and that report goes into the history.
fn conflicts(history: &Found, mapping: &Found, facts: &Facts, checks: &mut Checks) {
    let patients = Patients::of(facts, mapping.rows.iter().map(|row| row.id));
    let told: HashSet<u32> = history
        .rows
        .iter()
        .map(|row| patients.patient(facts, row.id))
        .collect();
    let mut named = HashSet::new();
    let mut wrong = Wrong::default();
    for row in &mapping.rows {
        let patient = patients.patient(facts, row.id);
        if !patients.is_consistent(patient) && !told.contains(&patient) && named.insert(patient) {
            wrong.add(|| checks::message(facts, row.id, "a conflict of its patient left no row"));
        }
    }
    let name = Some(Table::MappingHistory);
    checks.none_wrong("conflicts", name, "conflicts without a row", wrong);
}
