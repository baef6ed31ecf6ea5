//! Which mapping rows the reports of a workflow make and change, in the five stages of the
//! reference. No I/O: what is stored and linked to the reports is given.
//!
//! A row is an edge between the vertex of its MPI and the vertex of its Epic MRN; a patient is a
//! connected component. Every stage's rows become one merge, so that the number of commits is the
//! reference's:
//!
//! 1. reports whose pair of ids is known already, stored or earlier in the batch, are put aside
//! 2. reports that share no id with a stored row nor with another new one
//! 3. reports with one id only: those that meet a row take over its patient, the others begin one
//! 4. reports with both ids: their components over the whole table are settled
//! 5. those put aside take over what the row of the same pair says now

use super::components::components;
use std::collections::HashMap;

/// A mapping row, stored or about to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) patient: String,
    pub(crate) report: String,
    pub(crate) mpi: Option<String>,
    pub(crate) epic_mrn: Option<String>,
    pub(crate) consistent: bool,
}

/// A report that is to be mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) report: String,
    pub(crate) mpi: Option<String>,
    pub(crate) epic_mrn: Option<String>,
}

/// A row as it was, if it was, and as it is afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) before: Option<(String, bool)>,
    pub(crate) after: Row,
}

/// Rows that one stage merges; stages without rows are left out.
pub(crate) struct StageRows {
    pub(crate) stage: Stage,
    pub(crate) rows: Vec<Change>,
}

/// A stage that merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Disjoint,
    OneIdKnown,
    OneIdNew,
    Components,
    Deferred,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Disjoint => "mapping-2-disjoint",
            Self::OneIdKnown => "mapping-3-known",
            Self::OneIdNew => "mapping-3-new",
            Self::Components => "mapping-4-components",
            Self::Deferred => "mapping-5-deferred",
        }
    }
}

type Pair<'a> = (Option<&'a str>, Option<&'a str>);

fn pair_of(row: &Row) -> Pair<'_> {
    (row.mpi.as_deref(), row.epic_mrn.as_deref())
}

/// Rows known so far, found by their ids.
pub(super) struct Known {
    pub(super) rows: Vec<Row>,
    pub(super) stored: usize,
    by_mpi: HashMap<String, Vec<usize>>,
    by_mrn: HashMap<String, Vec<usize>>,
}

impl Known {
    fn new(stored: Vec<Row>) -> Self {
        let count = stored.len();
        let mut known = Self {
            rows: Vec::new(),
            stored: count,
            by_mpi: HashMap::new(),
            by_mrn: HashMap::new(),
        };
        for row in stored {
            known.insert(row);
        }
        known
    }

    pub(super) fn insert(&mut self, row: Row) {
        let at = self.rows.len();
        if let Some(mpi) = &row.mpi {
            self.by_mpi.entry(mpi.clone()).or_default().push(at);
        }
        if let Some(mrn) = &row.epic_mrn {
            self.by_mrn.entry(mrn.clone()).or_default().push(at);
        }
        self.rows.push(row);
    }

    pub(super) fn of_mpi(&self, mpi: Option<&str>) -> &[usize] {
        mpi.and_then(|mpi| self.by_mpi.get(mpi))
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_mrn(&self, mrn: Option<&str>) -> &[usize] {
        mrn.and_then(|mrn| self.by_mrn.get(mrn))
            .map_or(&[], Vec::as_slice)
    }

    fn meets(&self, report: &Report) -> Option<usize> {
        let mpi = self.of_mpi(report.mpi.as_deref());
        mpi.iter()
            .chain(self.of_mrn(report.epic_mrn.as_deref()))
            .next()
            .copied()
    }
}

/// The rows that each stage merges. `stored` holds at least every stored row that is linked to the
/// reports, over any number of steps where the report has both ids; `new_patient` names patients.
pub(crate) fn plan(
    stored: Vec<Row>,
    reports: Vec<Report>,
    mut new_patient: impl FnMut() -> String,
) -> Vec<StageRows> {
    let mut known = Known::new(stored);
    let (unique, deferred) = put_aside(&known, reports);
    let mut stages = Vec::new();

    let (met, unmet): (Vec<Report>, Vec<Report>) = unique
        .into_iter()
        .partition(|report| known.meets(report).is_some());
    let (disjoint, linked) = split_disjoint(unmet);
    let begin = |report: Report, new_patient: &mut dyn FnMut() -> String| Row {
        patient: new_patient(),
        report: report.report,
        mpi: report.mpi,
        epic_mrn: report.epic_mrn,
        consistent: true,
    };
    let rows = disjoint
        .into_iter()
        .map(|report| begin(report, &mut new_patient))
        .collect();
    insert(&mut known, &mut stages, Stage::Disjoint, rows);

    let (both, one): (Vec<Report>, Vec<Report>) = linked
        .into_iter()
        .chain(met)
        .partition(|report| report.mpi.is_some() && report.epic_mrn.is_some());
    let (joined, alone): (Vec<Report>, Vec<Report>) = one
        .into_iter()
        .partition(|report| known.meets(report).is_some());
    let rows = joined
        .into_iter()
        .filter_map(|report| {
            let row = &known.rows[known.meets(&report)?];
            let (patient, consistent) = (row.patient.clone(), row.consistent);
            let Report {
                report,
                mpi,
                epic_mrn,
            } = report;
            Some(Row {
                patient,
                report,
                mpi,
                epic_mrn,
                consistent,
            })
        })
        .collect();
    let alone: Vec<Row> = alone
        .into_iter()
        .map(|report| begin(report, &mut new_patient))
        .collect();
    insert(&mut known, &mut stages, Stage::OneIdKnown, rows);
    insert(&mut known, &mut stages, Stage::OneIdNew, alone);

    components(&mut known, &mut stages, both, &mut new_patient);

    let by_pair: HashMap<Pair<'_>, &Row> =
        known.rows.iter().map(|row| (pair_of(row), row)).collect();
    let rows: Vec<Row> = deferred
        .into_iter()
        .filter_map(|report| {
            let row = by_pair.get(&(report.mpi.as_deref(), report.epic_mrn.as_deref()))?;
            Some(Row {
                report: report.report,
                ..(*row).clone()
            })
        })
        .collect();
    insert(&mut known, &mut stages, Stage::Deferred, rows);
    stages
}

fn insert(known: &mut Known, stages: &mut Vec<StageRows>, stage: Stage, rows: Vec<Row>) {
    if rows.is_empty() {
        return;
    }
    for row in &rows {
        known.insert(row.clone());
    }
    let rows = rows
        .into_iter()
        .map(|after| Change {
            before: None,
            after,
        })
        .collect();
    stages.push(StageRows { stage, rows });
}

/// Reports with a pair of ids that is new and comes first, and the others.
fn put_aside(known: &Known, reports: Vec<Report>) -> (Vec<Report>, Vec<Report>) {
    let mut pairs: std::collections::HashSet<(Option<String>, Option<String>)> = known
        .rows
        .iter()
        .map(|row| (row.mpi.clone(), row.epic_mrn.clone()))
        .collect();
    reports
        .into_iter()
        .partition(|report| pairs.insert((report.mpi.clone(), report.epic_mrn.clone())))
}

/// Reports that share no id with another of them, and those that do.
fn split_disjoint(reports: Vec<Report>) -> (Vec<Report>, Vec<Report>) {
    let (mut mpis, mut mrns) = (HashMap::new(), HashMap::new());
    for report in &reports {
        if let Some(mpi) = &report.mpi {
            *mpis.entry(mpi.clone()).or_insert(0_usize) += 1;
        }
        if let Some(mrn) = &report.epic_mrn {
            *mrns.entry(mrn.clone()).or_insert(0_usize) += 1;
        }
    }
    let once = |counts: &HashMap<String, usize>, id: Option<&String>| {
        id.is_none_or(|id| counts.get(id).is_none_or(|count| *count == 1))
    };
    reports.into_iter().partition(|report| {
        once(&mpis, report.mpi.as_ref()) && once(&mrns, report.epic_mrn.as_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::super::history::{Logged, history};
    use super::*;

    fn report(name: &str, mpi: &str, mrn: &str) -> Report {
        let id = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Report {
            report: name.to_owned(),
            mpi: id(mpi),
            epic_mrn: id(mrn),
        }
    }

    /// Runs batches one after the other on an empty table; the table and all history.
    fn run(batches: &[&[Report]]) -> (HashMap<String, Row>, Vec<Logged>) {
        let mut table: HashMap<String, Row> = HashMap::new();
        let mut log = Vec::new();
        let mut next = 0;
        for batch in batches {
            let stored: Vec<Row> = table.values().cloned().collect();
            let stages = plan(stored, batch.to_vec(), || {
                next += 1;
                format!("p{next:03}")
            });
            for stage in stages {
                if stage.stage == Stage::Components {
                    log.extend(history(&stage.rows));
                }
                for change in stage.rows {
                    table.insert(change.after.report.clone(), change.after);
                }
            }
        }
        (table, log)
    }

    fn patients(table: &HashMap<String, Row>) -> Vec<(Vec<String>, bool)> {
        let mut by: HashMap<&str, (Vec<String>, bool)> = HashMap::new();
        for row in table.values() {
            let patient = by
                .entry(&row.patient)
                .or_insert((Vec::new(), row.consistent));
            assert_eq!(patient.1, row.consistent, "rows of a patient agree");
            patient.0.push(row.report.clone());
        }
        let mut all: Vec<_> = by.into_values().collect();
        for (reports, _) in &mut all {
            reports.sort();
        }
        all.sort();
        all
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn reports_without_ids_share_one_patient() {
        let (table, log) = run(&[
            &[report("a", "", ""), report("b", "", "")],
            &[report("c", "", "")],
        ]);
        assert_eq!(patients(&table), [(names(&["a", "b", "c"]), true)]);
        assert!(log.is_empty());
    }

    #[test]
    fn a_bridge_joins_two_patients_and_the_history_tells_whom() {
        let (table, log) = run(&[
            &[report("a", "1", ""), report("b", "", "x")],
            &[report("c", "1", "x")],
        ]);
        assert_eq!(patients(&table), [(names(&["a", "b", "c"]), true)]);
        // Two patients joined: the row that lost its patient, and the new one.
        assert_eq!(log.len(), 2);
        assert!(log.iter().all(|(row, _)| row.consistent));
        assert!(
            log.iter()
                .any(|(row, previous)| row.report == "c" && previous.is_none())
        );
    }

    #[test]
    fn a_conflict_marks_every_row_of_the_web() {
        let (table, log) = run(&[
            &[
                report("a", "1", "x"),
                report("b", "1", ""),
                report("far", "2", ""),
            ],
            &[report("c", "2", "x")],
        ]);
        assert_eq!(patients(&table), [(names(&["a", "b", "c", "far"]), false)]);
        assert_eq!(log.len(), 4);
        // A later report of the web inherits, without a word in the history.
        let (table, log) = run(&[
            &[report("a", "1", "x"), report("c", "2", "x")],
            &[report("d", "1", ""), report("e", "2", "x")],
        ]);
        assert_eq!(patients(&table), [(names(&["a", "c", "d", "e"]), false)]);
        assert_eq!(log.len(), 2);
    }

    #[test]
    fn the_end_state_does_not_depend_on_batches() {
        let all = [
            report("a", "1", "x"),
            report("b", "1", ""),
            report("c", "", "x"),
            report("d", "2", "y"),
            report("e", "3", "y"),
            report("f", "2", ""),
            report("g", "4", ""),
            report("h", "", ""),
            report("i", "", ""),
            report("j", "1", "x"),
        ];
        let (at_once, _) = run(&[&all]);
        for size in [1, 2, 3, 5] {
            let batches: Vec<&[Report]> = all.chunks(size).collect();
            let (table, _) = run(&batches);
            assert_eq!(patients(&table), patients(&at_once), "batches of {size}");
            let mut backwards = all.to_vec();
            backwards.reverse();
            let batches: Vec<&[Report]> = backwards.chunks(size).collect();
            let (table, _) = run(&batches);
            assert_eq!(
                patients(&table),
                patients(&at_once),
                "backwards, batches of {size}"
            );
        }
    }
}
