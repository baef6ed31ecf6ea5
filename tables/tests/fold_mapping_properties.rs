//! What must hold of the mapping for any ids: agreement with patients found by repeated
//! relabelling, and a history within the bounds whatever an engine chooses.

use bench_tables::RowHash;
use bench_tables::fold::{Fact, Fold, Settings};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The numbers of the file, of its MPI and of its MRN.
type Report = (usize, Option<u8>, Option<u8>);

const IDS: [&str; 6] = ["0", "1", "2", "3", "4", "5"];

/// Reports over few ids, so that webs form, in any order.
fn reports() -> impl Strategy<Value = Vec<Report>> {
    let id = || prop::option::weighted(0.8, 0..6u8);
    prop::collection::vec((id(), id()), 1..24)
        .prop_map(|ids| {
            let numbered = ids.into_iter().enumerate();
            numbered
                .map(|(n, (mpi, mrn))| (n, mpi, mrn))
                .collect::<Vec<_>>()
        })
        .prop_shuffle()
}

fn folded(reports: &[Report], size: usize) -> Fold {
    let names: Vec<String> = (0..reports.len()).map(|n| n.to_string()).collect();
    let mut fold = Fold::new(Settings::default());
    for batch in reports.chunks(size) {
        let facts: Vec<Fact<'_>> = batch
            .iter()
            .map(|&(n, mpi, mrn)| Fact {
                source_file: &names[n],
                year: Some(1970),
                message_dt: Some(0),
                report: RowHash(n as u128),
                curated: Some(RowHash(n as u128)),
                accession: Some("1"),
                diagnoses: 0,
                mpi: mpi.map(|id| IDS[usize::from(id)]),
                epic_mrn: mrn.map(|id| IDS[usize::from(id)]),
            })
            .collect();
        fold.workflow(&facts).unwrap();
    }
    fold
}

/// Per report, in order of its number: which reports are the same patient, and whether consistent.
fn partition(fold: &Fold, count: usize) -> Vec<(Vec<usize>, bool)> {
    let expected = fold.expected();
    let rows: Vec<_> = (0..count)
        .map(|n| expected.mapping_of(&n.to_string()).unwrap())
        .collect();
    let same = |patient| (0..count).filter(|&n| rows[n].patient == patient).collect();
    rows.iter()
        .map(|row| (same(row.patient), row.consistent))
        .collect()
}

fn share(a: &Report, b: &Report) -> bool {
    (a.1.is_some() && a.1 == b.1) || (a.2.is_some() && a.2 == b.2)
}

fn conflicts<'a>(reports: impl Iterator<Item = &'a Report> + Clone) -> bool {
    let mpis: BTreeSet<u8> = reports.clone().filter_map(|report| report.1).collect();
    let mrns: BTreeSet<u8> = reports.filter_map(|report| report.2).collect();
    mpis.len() > 1 || mrns.len() > 1
}

/// The same, by giving every report a label and spreading the smallest until nothing changes.
fn relabelled(reports: &[Report]) -> Vec<(Vec<usize>, bool)> {
    let mut sorted = reports.to_vec();
    sorted.sort_unstable();
    let mut labels: Vec<usize> = (0..sorted.len()).collect();
    loop {
        let before = labels.clone();
        for a in 0..sorted.len() {
            for b in 0..sorted.len() {
                let neither = |n: usize| sorted[n].1.is_none() && sorted[n].2.is_none();
                if share(&sorted[a], &sorted[b]) || (neither(a) && neither(b)) {
                    labels[a] = labels[a].min(labels[b]);
                }
            }
        }
        if labels == before {
            break;
        }
    }
    let same = |label| -> Vec<usize> {
        let all = 0..sorted.len();
        all.filter(|&n| labels[n] == label).collect()
    };
    labels
        .iter()
        .map(|&label| {
            let same = same(label);
            let conflict = conflicts(same.iter().map(|&n| &sorted[n]));
            (same, !conflict)
        })
        .collect()
}

#[derive(Clone)]
struct Row {
    report: Report,
    patient: u32,
    consistent: bool,
}

/// An engine in five stages, with ids of patients, that takes any choice it is left by chance.
struct Engine {
    rows: Vec<Row>,
    /// Numbers of the reports, once per history row.
    history: Vec<usize>,
    next_patient: u32,
    chance: u64,
}

impl Engine {
    fn pick(&mut self, count: usize) -> usize {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.chance >> 33).unwrap() % count
    }

    fn new_patient(&mut self) -> u32 {
        self.next_patient += 1;
        self.next_patient
    }

    fn place(&mut self, report: Report, like: Option<Row>) {
        let (patient, consistent) = match like {
            Some(row) => (row.patient, row.consistent),
            None => (self.new_patient(), true),
        };
        self.rows.push(Row {
            report,
            patient,
            consistent,
        });
    }

    fn exact(&self, report: &Report) -> Option<Row> {
        let same = |row: &&Row| (row.report.1, row.report.2) == (report.1, report.2);
        self.rows.iter().find(same).cloned()
    }

    fn ingest(&mut self, batch: &[Report]) {
        let mut waiting = batch.to_vec();
        let mut unique: Vec<Report> = Vec::new();
        let mut deferred = Vec::new();
        while !waiting.is_empty() {
            let report = waiting.swap_remove(self.pick(waiting.len()));
            let alike = unique
                .iter()
                .any(|other| (other.1, other.2) == (report.1, report.2));
            if alike || self.exact(&report).is_some() {
                deferred.push(report);
            } else {
                unique.push(report);
            }
        }
        let touches =
            |rows: &[Row], report: &Report| rows.iter().any(|row| share(&row.report, report));
        let (known, new): (Vec<Report>, Vec<Report>) = unique
            .into_iter()
            .partition(|report| touches(&self.rows, report));
        let (disjoint, linked): (Vec<Report>, Vec<Report>) = new
            .iter()
            .partition(|a| !new.iter().any(|b| a.0 != b.0 && share(a, b)));
        for report in disjoint {
            self.place(report, None);
        }
        let rest = known.into_iter().chain(linked);
        let (single, mut double): (Vec<Report>, Vec<Report>) =
            rest.partition(|report| report.1.is_none() != report.2.is_none());
        for report in single {
            let like = self
                .rows
                .iter()
                .find(|row| share(&row.report, &report))
                .cloned();
            self.place(report, like);
        }
        while let Some(report) = double.pop() {
            self.resolve(report, &mut double);
        }
        for report in deferred {
            let like = self.exact(&report);
            self.place(report, like);
        }
    }

    fn resolve(&mut self, report: Report, double: &mut Vec<Report>) {
        let mut new = vec![report];
        let mut stored: Vec<usize> = Vec::new();
        loop {
            let size = new.len() + stored.len();
            let web: Vec<Report> = new
                .iter()
                .copied()
                .chain(stored.iter().map(|&at| self.rows[at].report))
                .collect();
            let linked = |report: &Report| web.iter().any(|other| share(other, report));
            new.extend(double.iter().copied().filter(linked));
            double.retain(|report| !linked(report));
            stored = (0..self.rows.len())
                .filter(|&at| linked(&self.rows[at].report))
                .collect();
            if new.len() + stored.len() == size {
                break;
            }
        }
        let patients: BTreeSet<u32> = stored.iter().map(|&at| self.rows[at].patient).collect();
        let choices: Vec<u32> = patients.into_iter().collect();
        let chosen = match choices.len() {
            0 => self.new_patient(),
            n => choices[self.pick(n)],
        };
        let conflict = conflicts(
            new.iter()
                .chain(stored.iter().map(|&at| &self.rows[at].report)),
        );
        let joined = choices.len() > 1;
        for at in stored {
            let row = &mut self.rows[at];
            if (conflict && row.consistent) || row.patient != chosen {
                self.history.push(row.report.0);
            }
            row.patient = chosen;
            row.consistent &= !conflict;
        }
        for report in new {
            if conflict || joined {
                self.history.push(report.0);
            }
            self.rows.push(Row {
                report,
                patient: chosen,
                consistent: !conflict,
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patients_are_those_found_by_relabelling_whatever_order_and_batches(
        reports in reports(), size in 1..24usize,
    ) {
        let fold = folded(&reports, size);
        let patients = partition(&fold, reports.len());
        prop_assert_eq!(&patients, &relabelled(&reports));
        let distinct: BTreeSet<&Vec<usize>> = patients.iter().map(|(same, _)| same).collect();
        prop_assert_eq!(fold.expected().totals().patients, distinct.len() as u64);
    }

    #[test]
    fn the_history_of_an_engine_that_chooses_by_chance_is_within_the_bounds(
        reports in reports(), size in 1..24usize, chance: u64,
    ) {
        let mut engine = Engine { rows: Vec::new(), history: Vec::new(), next_patient: 0, chance };
        for batch in reports.chunks(size) {
            engine.ingest(batch);
        }
        let fold = folded(&reports, size);
        let total = fold.expected().totals().mapping_history;
        prop_assert!(total.contains(engine.history.len() as u64), "{total:?} {:?}", engine.history);
        for row in fold.expected().mapping() {
            let rows = engine.history.iter().filter(|n| n.to_string() == row.source_file);
            let found = rows.count() as u64;
            prop_assert!(row.history.contains(found), "{row:?} {found}");
        }
        // The engine itself ends with the same patients.
        let expected = partition(&fold, reports.len());
        for row in &engine.rows {
            let same: BTreeSet<usize> = engine.rows.iter()
                .filter(|other| other.patient == row.patient)
                .map(|other| other.report.0)
                .collect();
            let (patient, consistent) = &expected[row.report.0];
            prop_assert_eq!(&same, &patient.iter().copied().collect());
            prop_assert_eq!(row.consistent, *consistent);
        }
    }
}

/// Both ends of the bounds really occur, so they are no wider than the rules leave them.
#[test]
fn both_bounds_of_the_history_are_reached() {
    let reports = [
        (0, Some(1), None),
        (1, Some(1), None),
        (2, None, Some(1)),
        (3, Some(1), Some(1)),
    ];
    let found: BTreeSet<u64> = (0..50u64)
        .map(|chance| {
            let chance = chance.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut engine = Engine {
                rows: Vec::new(),
                history: Vec::new(),
                next_patient: 0,
                chance,
            };
            engine.ingest(&reports[..3]);
            engine.ingest(&reports[3..]);
            engine.history.len() as u64
        })
        .collect();
    let total = folded(&reports, 3).expected().totals().mapping_history;
    assert_eq!(found, BTreeSet::from([total.least, total.most]));
}
