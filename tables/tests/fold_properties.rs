//! What must hold of the fold for any facts, and its agreement with a model that is too slow and
//! too plain to be wrong in the same way: rows in lists, searched from end to end.

use bench_tables::RowHash;
use bench_tables::fold::{Fact, Fold, Reached, Settings};
use proptest::prelude::*;

const SOURCES: [&str; 6] = ["a_9", "a_10", "b_0", "c_0", "c_1", "d_0"];
const ACCESSIONS: [Option<&str>; 5] = [None, Some("  "), Some("1"), Some("2"), Some("3")];
const TIMES: [Option<(i32, i64)>; 5] = [
    None,
    Some((1969, -1)),
    Some((1970, 1)),
    Some((1970, 2)),
    Some((1971, 40_000_000_000_000)),
];

/// A message out of small worlds, so that keys, times and contents meet often.
fn message() -> impl Strategy<Value = Fact<'static>> {
    (0..6usize, 0..5usize, 0..5usize, 0..3u32).prop_map(|(source, time, accession, diagnoses)| {
        let content = ((source * 5 + time) * 5 + accession) * 3 + diagnoses as usize;
        Fact {
            source_file: SOURCES[source],
            year: TIMES[time].map(|(year, _)| year),
            message_dt: TIMES[time].map(|(_, micros)| micros),
            report: RowHash(content as u128),
            curated: (accession > 1).then_some(RowHash(content as u128 + 1000)),
            accession: ACCESSIONS[accession],
            diagnoses,
            mpi: None,
            epic_mrn: None,
        }
    })
}

fn workflow() -> impl Strategy<Value = Vec<Fact<'static>>> {
    prop::collection::vec(message(), 0..6).prop_map(|mut facts| {
        let mut seen = Vec::new();
        facts.retain(|fact| {
            let new = !seen.contains(&fact.source_file);
            seen.push(fact.source_file);
            new
        });
        facts
    })
}

fn workflows() -> impl Strategy<Value = Vec<Vec<Fact<'static>>>> {
    prop::collection::vec(workflow(), 1..7)
}

/// Messages of different files, each with an accession and a time of its own, in any order.
fn well_timed() -> impl Strategy<Value = Vec<Fact<'static>>> {
    prop::collection::vec((2..5usize, 0..3u32), 1..=SOURCES.len())
        .prop_map(|choices| {
            let facts = choices.into_iter().enumerate();
            facts
                .map(|(n, (accession, diagnoses))| Fact {
                    source_file: SOURCES[n],
                    year: Some(1970),
                    message_dt: Some(i64::try_from(n).unwrap()),
                    report: RowHash(n as u128),
                    curated: Some(RowHash(n as u128 + 1000)),
                    accession: ACCESSIONS[accession],
                    diagnoses,
                    mpi: None,
                    epic_mrn: None,
                })
                .collect::<Vec<_>>()
        })
        .prop_shuffle()
}

fn folded(workflows: &[Vec<Fact<'_>>]) -> Fold {
    let mut fold = Fold::new(Settings::default());
    for facts in workflows {
        fold.workflow(facts).unwrap();
    }
    fold
}

fn by_size<'a>(facts: &[Fact<'a>], size: usize) -> Vec<Vec<Fact<'a>>> {
    facts.chunks(size).map(<[Fact<'a>]>::to_vec).collect()
}

/// All tables but the mapping, each sorted, as text.
fn tables(fold: &Fold) -> [Vec<String>; 4] {
    let expected = fold.expected();
    let version = |r: bench_tables::fold::VersionRow<'_>| {
        format!("{} {:?} {}", r.source_file, r.year, r.hash.0)
    };
    let mut tables = [
        expected.reports().map(version).collect(),
        expected.curated().map(version).collect(),
        expected
            .latest()
            .map(|r| {
                let (source, time) = (r.source_file, r.message_dt);
                format!("{} {source} {time:?} {}", r.accession, r.hash.0)
            })
            .collect(),
        expected
            .dx()
            .flat_map(|r| {
                r.ids()
                    .map(move |id| format!("{} {id}", r.accession))
                    .collect::<Vec<_>>()
            })
            .collect::<Vec<String>>(),
    ];
    for table in &mut tables {
        table.sort();
    }
    tables
}

#[derive(Default)]
struct Model {
    reports: Vec<Fact<'static>>,
    curated: Vec<Fact<'static>>,
    latest: Vec<Fact<'static>>,
    dx: Vec<(&'static str, String)>,
}

impl Model {
    fn workflow(&mut self, facts: &[Fact<'static>]) {
        let mut changed = Vec::new();
        for fact in facts {
            if fact.year.is_some() && self.reports.contains(fact) {
                continue;
            }
            upsert(&mut self.reports, *fact);
            changed.push(*fact);
        }
        changed.retain(|fact| {
            fact.accession
                .is_some_and(|text| !text.trim_matches(' ').is_empty())
        });
        for fact in &changed {
            upsert(&mut self.curated, *fact);
        }
        changed.sort_by_key(|fact| (fact.message_dt, fact.source_file));
        while let Some(winner) = changed.pop() {
            changed.retain(|fact| fact.accession != winner.accession);
            let stored = self
                .latest
                .iter()
                .position(|row| row.accession == winner.accession);
            match stored {
                None => self.latest.push(winner),
                Some(at) => {
                    let old = self.latest[at].message_dt;
                    if old.is_none() || winner.message_dt.is_none() || winner.message_dt <= old {
                        continue;
                    }
                    self.latest[at] = winner;
                }
            }
            let accession = winner.accession.unwrap();
            self.dx.retain(|(other, _)| *other != accession);
            for n in 0..winner.diagnoses {
                self.dx
                    .push((accession, format!("{}_{n}", winner.source_file)));
            }
        }
    }

    fn tables(&self) -> [Vec<String>; 4] {
        let reports = self.reports.iter();
        let curated = self.curated.iter();
        let latest = self.latest.iter();
        let mut tables = [
            reports
                .map(|f| format!("{} {:?} {}", f.source_file, f.year, f.report.0))
                .collect(),
            curated
                .map(|f| format!("{} {:?} {}", f.source_file, f.year, f.curated.unwrap().0))
                .collect(),
            latest
                .map(|f| {
                    let (accession, hash) = (f.accession.unwrap(), f.curated.unwrap().0);
                    format!("{accession} {} {:?} {hash}", f.source_file, f.message_dt)
                })
                .collect(),
            self.dx
                .iter()
                .map(|(accession, id)| format!("{accession} {id}"))
                .collect::<Vec<_>>(),
        ];
        for table in &mut tables {
            table.sort();
        }
        tables
    }
}

fn upsert(table: &mut Vec<Fact<'static>>, fact: Fact<'static>) {
    let same_key = |row: &Fact<'_>| {
        row.year.is_some() && (row.source_file, row.year) == (fact.source_file, fact.year)
    };
    table.retain(|row| !same_key(row));
    table.push(fact);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fold_agrees_with_a_naive_model(workflows in workflows()) {
        let mut model = Model::default();
        let mut fold = Fold::new(Settings::default());
        for facts in &workflows {
            model.workflow(facts);
            fold.workflow(facts).unwrap();
            prop_assert_eq!(tables(&fold), model.tables());
        }
        let totals = fold.expected().totals();
        let rows = tables(&fold).map(|table| table.len() as u64);
        prop_assert_eq!([totals.reports, totals.curated, totals.latest, totals.dx], rows);
    }

    #[test]
    fn with_distinct_times_neither_order_nor_batches_matter(
        facts in well_timed(), size in 1..7usize,
    ) {
        let mut in_order = facts.clone();
        in_order.sort_by_key(|fact| fact.source_file);
        prop_assert_eq!(
            tables(&folded(&by_size(&facts, size))),
            tables(&folded(&[in_order]))
        );
    }

    #[test]
    fn ingesting_the_last_workflow_again_only_adds_rows_without_a_year(workflows in workflows()) {
        let again = workflows.last().unwrap();
        let mut fold = folded(&workflows);
        let before = tables(&fold);
        let counts = fold.workflow(again).unwrap();
        let timeless = again.iter().filter(|fact| fact.year.is_none());
        let with_accession = timeless.clone().filter(|fact| fact.curated.is_some());
        prop_assert_eq!(counts.reports.inserted, timeless.count() as u64);
        prop_assert_eq!(counts.reports.updated, 0);
        prop_assert_eq!(counts.curated.inserted, with_accession.count() as u64);
        let after = tables(&fold);
        for table in [0, 1] {
            let mut distinct = after[table].clone();
            distinct.dedup();
            let mut distinct_before = before[table].clone();
            distinct_before.dedup();
            prop_assert_eq!(distinct, distinct_before);
        }
        prop_assert_eq!(&after[2..], &before[2..]);
    }

    #[test]
    fn ingesting_everything_again_adds_rows_without_a_year_and_nothing_else(
        facts in well_timed(), timeless in workflow(), size in 1..7usize,
    ) {
        let timeless: Vec<_> = timeless.into_iter().filter(|fact| fact.year.is_none()).collect();
        let mut workflows = by_size(&facts, size);
        workflows.push(timeless.clone());
        let once = folded(&workflows);
        workflows.extend(workflows.clone());
        let twice = folded(&workflows);
        let (before, after) = (once.expected().totals(), twice.expected().totals());
        prop_assert_eq!(after.reports - before.reports, timeless.len() as u64);
        prop_assert_eq!(&tables(&twice)[2..], &tables(&once)[2..]);
        prop_assert_eq!(after.mapping, before.mapping);
        prop_assert_eq!(after.mapping_history, before.mapping_history);
    }

    #[test]
    fn an_interruption_anywhere_is_made_good_by_the_next_workflow(
        facts in well_timed(), size in 1..7usize, stop in 0..6usize, reached in 0..5usize,
    ) {
        let reached = [
            Reached::Reports, Reached::Curated, Reached::Latest, Reached::Mapping, Reached::Dx,
        ][reached];
        let workflows = by_size(&facts, size);
        let mut fold = Fold::new(Settings::default());
        for (n, facts) in workflows.iter().enumerate() {
            let reached = if n == stop { reached } else { Reached::Dx };
            fold.interrupted(facts, reached).unwrap();
        }
        fold.workflow(&[]).unwrap();
        prop_assert_eq!(tables(&fold), tables(&folded(&workflows)));
        prop_assert_eq!(fold.expected().totals().mapping, facts.len() as u64);
    }
}
