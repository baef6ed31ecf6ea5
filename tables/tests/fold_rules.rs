//! Every rule of the tables, one by one, for reports, curated, latest and dx.
//! The mapping has its own file.

use bench_tables::RowHash;
use bench_tables::fold::{
    CuratedCounts, DxCounts, Fact, Fold, FoldError, LatestCounts, MappingCounts, Reached,
    ReportsCounts, Settings,
};

/// A report of 1970 with one diagnosis; the time is in microseconds.
fn fact(source_file: &'static str, accession: &'static str, time: i64) -> Fact<'static> {
    Fact {
        source_file,
        year: Some(1970),
        message_dt: Some(time),
        report: RowHash(10),
        curated: Some(RowHash(20)),
        accession: Some(accession),
        diagnoses: 1,
        mpi: Some("m"),
        epic_mrn: None,
    }
}

fn timeless(source_file: &'static str, accession: &'static str) -> Fact<'static> {
    Fact {
        year: None,
        message_dt: None,
        ..fact(source_file, accession, 0)
    }
}

fn with_content(content: u128, fact: Fact<'static>) -> Fact<'static> {
    Fact {
        report: RowHash(content),
        curated: fact.curated.map(|_| RowHash(content * 2)),
        ..fact
    }
}

fn without_accession(accession: Option<&'static str>, fact: Fact<'static>) -> Fact<'static> {
    Fact {
        curated: None,
        accession,
        ..fact
    }
}

fn folded(workflows: &[&[Fact<'_>]]) -> Fold {
    let mut fold = Fold::new(Settings::default());
    for facts in workflows {
        fold.workflow(facts).unwrap();
    }
    fold
}

fn reports(fold: &Fold) -> Vec<(&str, Option<i32>, u128)> {
    let rows = fold.expected().reports();
    rows.map(|r| (r.source_file, r.year, r.hash.0)).collect()
}

fn curated(fold: &Fold) -> Vec<(&str, Option<i32>, u128)> {
    let rows = fold.expected().curated();
    rows.map(|r| (r.source_file, r.year, r.hash.0)).collect()
}

fn latest(fold: &Fold) -> Vec<(&str, &str, u128)> {
    let rows = fold.expected().latest();
    rows.map(|r| (r.accession, r.source_file, r.hash.0))
        .collect()
}

fn dx(fold: &Fold) -> Vec<(&str, String)> {
    let rows = fold.expected().dx();
    rows.flat_map(|r| r.ids().map(move |id| (r.accession, id)).collect::<Vec<_>>())
        .collect()
}

#[test]
fn content_that_stands_already_is_no_work() {
    let mut fold = folded(&[&[fact("a", "1", 5)]]);
    let before = fold.expected().totals();
    let counts = fold.workflow(&[fact("a", "1", 5)]).unwrap();
    assert_eq!(counts.reports.unchanged, 1);
    assert_eq!(counts.curated, CuratedCounts::default());
    assert_eq!(counts.latest, LatestCounts::default());
    assert_eq!(counts.dx, DxCounts::default());
    assert_eq!(counts.mapping, MappingCounts::default());
    assert_eq!(fold.expected().totals(), before);
}

#[test]
fn the_staging_root_is_no_part_of_a_key() {
    let fold = folded(&[
        &[fact("s3://x/1970/19700101.zip/a", "1", 5)],
        &[fact("/y/1970/19700101.zip/a", "1", 5)],
    ]);
    assert_eq!(reports(&fold), [("a", Some(1970), 10)]);
    assert_eq!(fold.expected().reports_of("/z.zip/a").count(), 1);
    assert_eq!(fold.expected().curated_of("a").count(), 1);
    assert!(fold.expected().mapping_of("/z.zip/a").is_some());
}

#[test]
fn other_content_in_the_same_year_updates_reports_and_curated() {
    let mut fold = folded(&[&[fact("a", "1", 5)]]);
    let counts = fold
        .workflow(&[with_content(11, fact("a", "1", 5))])
        .unwrap();
    assert_eq!(counts.reports.updated, 1);
    assert_eq!(counts.curated.updated, 1);
    assert_eq!(reports(&fold), [("a", Some(1970), 11)]);
    assert_eq!(curated(&fold), [("a", Some(1970), 22)]);
}

#[test]
fn other_content_changes_latest_and_dx_only_if_its_time_is_strictly_later() {
    for (time, replaces) in [(4, false), (5, false), (6, true)] {
        let mut fold = folded(&[&[fact("a", "1", 5)]]);
        let new = Fact {
            diagnoses: 3,
            ..with_content(11, fact("a", "1", time))
        };
        let counts = fold.workflow(&[new]).unwrap();
        assert_eq!(counts.latest.replaced, u64::from(replaces));
        assert_eq!(counts.latest.passed_over, u64::from(!replaces));
        let hash = if replaces { 22 } else { 20 };
        assert_eq!(latest(&fold), [("1", "a", hash)]);
        assert_eq!(dx(&fold).len(), if replaces { 3 } else { 1 });
    }
}

#[test]
fn another_year_makes_a_second_row_in_reports_and_curated() {
    let next_year = Fact {
        year: Some(1971),
        ..with_content(11, fact("a", "1", 40_000_000_000_000))
    };
    let fold = folded(&[&[fact("a", "1", 5)], &[next_year]]);
    assert_eq!(
        reports(&fold),
        [("a", Some(1970), 10), ("a", Some(1971), 11)]
    );
    assert_eq!(
        curated(&fold),
        [("a", Some(1970), 20), ("a", Some(1971), 22)]
    );
    assert_eq!(latest(&fold), [("1", "a", 22)]);
    let totals = fold.expected().totals();
    assert_eq!((totals.dx, totals.mapping), (1, 1));
}

#[test]
fn the_old_year_again_is_an_unchanged_row() {
    let next_year = Fact {
        year: Some(1971),
        ..with_content(11, fact("a", "1", 40_000_000_000_000))
    };
    let mut fold = folded(&[&[fact("a", "1", 5)], &[next_year]]);
    let counts = fold.workflow(&[fact("a", "1", 5)]).unwrap();
    assert_eq!(counts.reports.unchanged, 1);
    assert_eq!(fold.expected().totals().reports, 2);
}

#[test]
fn a_row_without_a_year_is_inserted_at_every_ingest_and_changes_nothing_else() {
    let mut fold = folded(&[&[timeless("a", "1")]]);
    let before = fold.expected().totals();
    let counts = fold.workflow(&[timeless("a", "1")]).unwrap();
    assert_eq!(counts.reports.inserted, 1);
    assert_eq!(counts.curated.inserted, 1);
    assert_eq!(counts.latest.passed_over, 1);
    assert_eq!(counts.mapping.skipped, 1);
    assert_eq!(counts.dx, DxCounts::default());
    assert_eq!(reports(&fold), [("a", None, 10), ("a", None, 10)]);
    assert_eq!(curated(&fold), [("a", None, 20), ("a", None, 20)]);
    let after = fold.expected().totals();
    assert_eq!(
        (after.latest, after.dx, after.mapping),
        (before.latest, before.dx, before.mapping)
    );
}

#[test]
fn of_a_file_without_a_year_every_content_stands() {
    let fold = folded(&[
        &[timeless("a", "1")],
        &[with_content(11, timeless("a", "1"))],
        &[fact("a", "1", 5)],
    ]);
    assert_eq!(
        reports(&fold),
        [("a", None, 10), ("a", None, 11), ("a", Some(1970), 10)]
    );
}

#[test]
fn a_missing_or_blank_accession_is_dropped_and_other_white_space_is_content() {
    let facts = [
        without_accession(None, fact("a", "", 5)),
        without_accession(Some(""), fact("b", "", 5)),
        without_accession(Some("   "), fact("c", "", 5)),
        fact("d", "\t", 5),
        fact("e", "\u{a0}", 5),
        fact("f", " 1", 5),
        fact("g", "1", 5),
    ];
    let mut fold = Fold::new(Settings::default());
    let counts = fold.workflow(&facts).unwrap();
    assert_eq!((counts.reports.inserted, counts.curated.dropped), (7, 3));
    let totals = fold.expected().totals();
    assert_eq!((totals.reports, totals.curated, totals.latest), (7, 4, 4));
    assert_eq!((totals.dx, totals.mapping), (4, 4));
}

#[test]
fn a_new_version_without_an_accession_leaves_the_old_one_everywhere_but_in_reports() {
    let new = without_accession(Some(" "), with_content(11, fact("a", "1", 9)));
    let mut fold = folded(&[&[fact("a", "1", 5)]]);
    let counts = fold.workflow(&[new]).unwrap();
    assert_eq!((counts.reports.updated, counts.curated.dropped), (1, 1));
    assert_eq!(reports(&fold), [("a", Some(1970), 11)]);
    assert_eq!(curated(&fold), [("a", Some(1970), 20)]);
    assert_eq!(latest(&fold), [("1", "a", 20)]);
    assert_eq!(dx(&fold), [("1", "a_0".to_owned())]);
    assert_eq!(fold.expected().totals().mapping, 1);
}

#[test]
fn within_a_batch_the_greatest_time_wins_and_a_missing_one_comes_last() {
    let fold = folded(&[&[fact("c", "1", -3), fact("a", "1", 5), timeless("z", "1")]]);
    assert_eq!(latest(&fold), [("1", "a", 20)]);
    let fold = folded(&[&[timeless("z", "1"), fact("c", "1", -3)]]);
    assert_eq!(latest(&fold), [("1", "c", 20)]);
}

#[test]
fn within_a_batch_equal_or_missing_times_go_to_the_greatest_file_name() {
    for batch in [
        [fact("b_10", "1", 5), fact("b_9", "1", 5), fact("a", "1", 5)],
        [
            timeless("b_9", "1"),
            timeless("b_10", "1"),
            timeless("a", "1"),
        ],
    ] {
        assert_eq!(latest(&folded(&[&batch])), [("1", "b_9", 20)]);
    }
}

#[test]
fn a_stored_row_is_replaced_only_by_a_strictly_later_time() {
    let fold = folded(&[&[fact("a", "1", 5)], &[fact("b", "1", 5)]]);
    assert_eq!(latest(&fold), [("1", "a", 20)]);
    let fold = folded(&[&[fact("a", "1", 5)], &[fact("b", "1", 6)]]);
    assert_eq!(latest(&fold), [("1", "b", 20)]);
}

#[test]
fn a_missing_time_neither_replaces_nor_is_replaced() {
    let fold = folded(&[&[fact("a", "1", 5)], &[timeless("b", "1")]]);
    assert_eq!(latest(&fold), [("1", "a", 20)]);
    let fold = folded(&[&[timeless("b", "1")], &[fact("a", "1", 5)]]);
    assert_eq!(latest(&fold), [("1", "b", 20)]);
}

#[test]
fn a_file_that_moves_to_another_accession_stays_latest_of_the_old_one() {
    let moved = Fact {
        diagnoses: 2,
        ..with_content(11, fact("a", "2", 5))
    };
    let fold = folded(&[&[fact("a", "1", 5)], &[moved]]);
    assert_eq!(curated(&fold), [("a", Some(1970), 22)]);
    assert_eq!(latest(&fold), [("1", "a", 20), ("2", "a", 22)]);
    let ids = [("1", "a_0"), ("2", "a_0"), ("2", "a_1")];
    assert_eq!(dx(&fold), ids.map(|(a, id)| (a, id.to_owned())));
}

#[test]
fn accessions_are_compared_untrimmed() {
    let fold = folded(&[&[fact("a", "1", 5), fact("b", "1 ", 6)]]);
    assert_eq!(fold.expected().totals().latest, 2);
    assert_eq!(fold.expected().latest_of("1 ").unwrap().source_file, "b");
}

#[test]
fn diagnoses_are_replaced_with_the_latest_report_and_go_with_one_that_has_none() {
    let mut fold = folded(&[&[Fact {
        diagnoses: 3,
        ..fact("a", "1", 5)
    }]]);
    let counts = fold.workflow(&[fact("b", "1", 6)]).unwrap();
    assert_eq!((counts.dx.deleted, counts.dx.appended), (3, 1));
    assert_eq!(dx(&fold), [("1", "b_0".to_owned())]);
    let none = Fact {
        diagnoses: 0,
        ..fact("c", "1", 7)
    };
    let counts = fold.workflow(&[none]).unwrap();
    assert_eq!((counts.dx.deleted, counts.dx.appended), (1, 0));
    assert_eq!(fold.expected().dx_of("1"), None);
    assert_eq!(fold.expected().totals().dx, 0);
}

#[test]
fn counts_account_for_every_fact() {
    let mut fold = folded(&[&[fact("a", "1", 5), fact("b", "2", 5), timeless("n", "3")]]);
    let batch = [
        fact("a", "1", 5),
        with_content(11, fact("b", "2", 9)),
        timeless("n", "3"),
        fact("c", "1", 3),
        without_accession(None, fact("d", "", 3)),
    ];
    let counts = fold.workflow(&batch).unwrap();
    assert_eq!(
        counts.reports,
        ReportsCounts {
            inserted: 3,
            updated: 1,
            unchanged: 1
        }
    );
    assert_eq!(
        counts.curated,
        CuratedCounts {
            inserted: 2,
            updated: 1,
            dropped: 1
        }
    );
    assert_eq!(
        counts.latest,
        LatestCounts {
            inserted: 0,
            replaced: 1,
            passed_over: 2
        }
    );
    assert_eq!((counts.mapping.inserted, counts.mapping.skipped), (1, 2));
}

#[test]
fn a_workflow_without_a_message_changes_nothing() {
    let mut fold = folded(&[&[fact("a", "1", 5)]]);
    let before = fold.expected().totals();
    fold.workflow(&[]).unwrap();
    assert_eq!(fold.expected().totals(), before);
}

#[test]
fn the_workflow_after_an_interrupted_one_does_what_it_left() {
    let all = folded(&[&[fact("a", "1", 5)], &[fact("b", "1", 6)]]);
    for reached in [
        Reached::Reports,
        Reached::Curated,
        Reached::Latest,
        Reached::Mapping,
        Reached::Dx,
    ] {
        let mut fold = Fold::new(Settings::default());
        fold.interrupted(&[fact("a", "1", 5)], reached).unwrap();
        let totals = fold.expected().totals();
        assert_eq!(totals.reports, 1);
        assert_eq!(totals.curated, u64::from(reached >= Reached::Curated));
        assert_eq!(totals.latest, u64::from(reached >= Reached::Latest));
        assert_eq!(totals.mapping, u64::from(reached >= Reached::Mapping));
        assert_eq!(totals.dx, u64::from(reached >= Reached::Dx));
        fold.workflow(&[fact("b", "1", 6)]).unwrap();
        assert_eq!(fold.expected().totals(), all.expected().totals());
        assert_eq!(latest(&fold), latest(&all));
        assert_eq!(dx(&fold), dx(&all));
    }
}

#[test]
fn what_was_left_is_done_although_the_next_workflow_brings_nothing_new() {
    let mut fold = Fold::new(Settings::default());
    fold.interrupted(&[fact("a", "1", 5)], Reached::Reports)
        .unwrap();
    let counts = fold.workflow(&[fact("a", "1", 5)]).unwrap();
    assert_eq!((counts.reports.unchanged, counts.curated.inserted), (1, 1));
}

#[test]
fn of_a_file_that_was_left_twice_only_the_newest_version_is_derived() {
    let mut fold = Fold::new(Settings::default());
    fold.interrupted(&[timeless("a", "1")], Reached::Reports)
        .unwrap();
    fold.workflow(&[with_content(11, timeless("a", "1"))])
        .unwrap();
    assert_eq!(reports(&fold), [("a", None, 10), ("a", None, 11)]);
    assert_eq!(curated(&fold), [("a", None, 22)]);
    assert_eq!(latest(&fold), [("1", "a", 22)]);
}

#[test]
fn a_newest_version_without_an_accession_hides_the_one_left_before() {
    let mut fold = Fold::new(Settings::default());
    fold.interrupted(&[fact("a", "1", 5)], Reached::Reports)
        .unwrap();
    let new = without_accession(None, with_content(11, fact("a", "1", 5)));
    fold.workflow(&[new]).unwrap();
    let totals = fold.expected().totals();
    assert_eq!((totals.reports, totals.curated, totals.latest), (1, 0, 0));
}

#[test]
fn a_file_twice_in_one_workflow_is_refused() {
    let mut fold = Fold::new(Settings::default());
    let twice = [fact("x.zip/a", "1", 5), fact("y.zip/a", "1", 6)];
    let source_file = "a".to_owned();
    assert_eq!(fold.workflow(&twice), Err(FoldError::Twice { source_file }));
    assert_eq!(fold.expected().totals().reports, 0);
}

#[test]
fn facts_that_contradict_themselves_are_refused_without_naming_a_patient() {
    let year_only = Fact {
        message_dt: None,
        ..fact("a", "secret", 5)
    };
    let row_without_accession = Fact {
        accession: Some(" "),
        ..fact("a", "", 5)
    };
    let accession_without_row = Fact {
        curated: None,
        ..fact("a", "secret", 5)
    };
    for wrong in [year_only, row_without_accession, accession_without_row] {
        let mut fold = Fold::new(Settings::default());
        let error = fold.workflow(&[fact("b", "1", 5), wrong]).unwrap_err();
        assert!(error.to_string().starts_with("a has only one of"));
        assert!(!error.to_string().contains("secret"));
        assert_eq!(fold.expected().totals().reports, 0);
    }
}
