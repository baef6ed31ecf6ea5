//! Every rule of the mapping of reports to patients and of its history.

use bench_tables::RowHash;
use bench_tables::fold::{Expected, Fact, Fold, MappingRow, Range, Settings};

type Ids = (&'static str, Option<&'static str>, Option<&'static str>);

fn fact((source_file, mpi, epic_mrn): Ids) -> Fact<'static> {
    Fact {
        source_file,
        year: Some(1970),
        message_dt: Some(1),
        report: RowHash(1),
        curated: Some(RowHash(2)),
        accession: Some(source_file),
        diagnoses: 0,
        mpi,
        epic_mrn,
    }
}

fn folded(workflows: &[&[Ids]]) -> Fold {
    let mut fold = Fold::new(Settings::default());
    for reports in workflows {
        let facts: Vec<Fact<'_>> = reports.iter().map(|&ids| fact(ids)).collect();
        fold.workflow(&facts).unwrap();
    }
    fold
}

fn row<'a>(expected: Expected<'a>, source_file: &str) -> MappingRow<'a> {
    expected.mapping_of(source_file).unwrap()
}

fn same_patient(fold: &Fold, a: &str, b: &str) -> bool {
    row(fold.expected(), a).patient == row(fold.expected(), b).patient
}

fn consistent(fold: &Fold) -> Vec<bool> {
    fold.expected()
        .mapping()
        .map(|row| row.consistent)
        .collect()
}

fn history(fold: &Fold) -> Vec<(u64, u64)> {
    let rows = fold.expected().mapping();
    rows.map(|row| (row.history.least, row.history.most))
        .collect()
}

fn history_total(fold: &Fold) -> (u64, u64) {
    let Range { least, most } = fold.expected().totals().mapping_history;
    (least, most)
}

const M1: Option<&str> = Some("1");
const M2: Option<&str> = Some("2");
const E1: Option<&str> = Some("1");
const E2: Option<&str> = Some("2");

#[test]
fn reports_that_share_an_id_are_one_patient() {
    let fold = folded(&[&[("a", M1, None), ("b", M1, E1), ("c", None, E1)]]);
    assert!(same_patient(&fold, "a", "b") && same_patient(&fold, "b", "c"));
    assert_eq!(consistent(&fold), [true; 3]);
    assert_eq!(fold.expected().totals().patients, 1);
}

#[test]
fn an_mpi_and_an_mrn_of_the_same_text_are_different_ids() {
    let fold = folded(&[&[("a", M1, None), ("b", None, E1)]]);
    assert!(!same_patient(&fold, "a", "b"));
}

#[test]
fn a_later_report_bridges_two_patients() {
    let fold = folded(&[&[("a", M1, None), ("b", None, E1)], &[("c", M1, E1)]]);
    assert!(same_patient(&fold, "a", "b"));
    assert_eq!(consistent(&fold), [true; 3]);
}

#[test]
fn two_mpis_or_two_mrns_make_every_row_of_the_component_inconsistent() {
    let fold = folded(&[&[
        ("a", M1, E1),
        ("b", M1, E2),
        ("far", None, E2),
        ("other", M2, None),
    ]]);
    assert_eq!(consistent(&fold), [false, false, false, true]);
    let fold = folded(&[&[("far", M1, None)], &[("a", M1, E1)], &[("b", M2, E1)]]);
    assert_eq!(consistent(&fold), [false; 3]);
}

#[test]
fn reports_with_neither_id_share_one_patient_and_are_consistent() {
    let fold = folded(&[
        &[("a", None, None), ("b", None, None), ("c", M1, None)],
        &[("d", None, None)],
    ]);
    assert!(same_patient(&fold, "a", "b") && same_patient(&fold, "a", "d"));
    assert!(!same_patient(&fold, "a", "c"));
    assert_eq!(consistent(&fold), [true; 4]);
    assert_eq!(fold.expected().totals().patients, 2);
    assert_eq!(history_total(&fold), (0, 0));
}

#[test]
fn an_id_of_spaces_is_an_id() {
    let fold = folded(&[&[("a", Some(" "), None), ("b", None, None)]]);
    assert!(!same_patient(&fold, "a", "b"));
    assert_eq!(row(fold.expected(), "a").mpi, Some(" "));
}

#[test]
fn the_mapping_keeps_the_first_ids_seen_of_a_report() {
    let mut fold = folded(&[&[("a", M1, None), ("b", M2, None)]]);
    let changed = Fact {
        report: RowHash(9),
        ..fact(("a", M2, E2))
    };
    let counts = fold.workflow(&[changed]).unwrap();
    assert_eq!((counts.mapping.inserted, counts.mapping.skipped), (0, 1));
    let kept = row(fold.expected(), "a");
    assert_eq!((kept.mpi, kept.epic_mrn), (M1, None));
    assert!(!same_patient(&fold, "a", "b"));
}

#[test]
fn no_mapping_is_made_where_the_setting_says_so() {
    let mut fold = Fold::new(Settings {
        create_mapping: false,
    });
    fold.workflow(&[fact(("a", M1, E1)), fact(("b", M1, E2))])
        .unwrap();
    let totals = fold.expected().totals();
    assert_eq!((totals.latest, totals.mapping, totals.patients), (2, 0, 0));
    assert_eq!(totals.mapping_history, Range::exactly(0));
    assert!(fold.expected().mapping_of("a").is_none());
}

#[test]
fn a_report_that_joins_one_known_patient_leaves_no_history() {
    let fold = folded(&[&[("a", M1, None)], &[("b", M1, E1), ("c", M1, None)]]);
    assert_eq!(history_total(&fold), (0, 0));
}

#[test]
fn in_a_consistent_join_the_rows_of_all_ids_but_one_go_to_the_history() {
    let fold = folded(&[
        &[("a1", M1, None), ("a2", M1, None), ("b", None, E1)],
        &[("c", M1, E1)],
    ]);
    // The new report, and either the one row of b or the two of a.
    assert_eq!(history_total(&fold), (2, 3));
    assert_eq!(history(&fold), [(0, 1), (0, 1), (0, 1), (1, 1)]);
}

#[test]
fn rows_placed_earlier_in_the_same_workflow_count_as_existing() {
    let fold = folded(&[&[("a", M1, None), ("b", None, E1), ("c", M1, E1)]]);
    assert_eq!(history_total(&fold), (2, 2));
    assert_eq!(history(&fold), [(0, 1), (0, 1), (1, 1)]);
}

#[test]
fn in_a_conflict_every_consistent_row_goes_to_the_history() {
    let fold = folded(&[&[("a1", M1, E1), ("a2", M1, E1)], &[("b", M1, E2)]]);
    assert_eq!(history_total(&fold), (3, 3));
    assert_eq!(history(&fold), [(1, 1); 3]);
}

#[test]
fn a_conflict_among_new_reports_only_goes_to_the_history() {
    let fold = folded(&[&[("a", M1, E1), ("b", M1, E2)]]);
    assert_eq!(history_total(&fold), (2, 2));
}

#[test]
fn rows_of_a_known_conflict_go_to_the_history_again_only_if_their_id_changes() {
    let conflict: &[Ids] = &[("a", M1, E1), ("b", M1, E2)];
    // A third id, in a report that brings no other patient: only the report itself.
    let fold = folded(&[conflict, &[("c", M1, Some("3"))]]);
    assert_eq!(history(&fold), [(1, 1), (1, 1), (1, 1)]);
    // It joins a consistent patient, whose id may survive or not.
    let fold = folded(&[conflict, &[("p", M2, None)], &[("c", M2, E1)]]);
    assert_eq!(history(&fold), [(1, 2), (1, 2), (1, 1), (1, 1)]);
    assert_eq!(history_total(&fold), (2 + 2, 2 + 2 + 2));
}

#[test]
fn a_report_that_repeats_known_ids_or_has_one_known_id_leaves_no_history() {
    let conflict: &[Ids] = &[("a", M1, E1), ("b", M1, E2)];
    let fold = folded(&[conflict, &[("c", M1, E1), ("d", None, E2)]]);
    assert_eq!(history_total(&fold), (2, 2));
    assert_eq!(consistent(&fold), [false; 4]);
}

#[test]
fn of_new_reports_alike_only_one_goes_to_the_history_and_it_is_open_which() {
    let fold = folded(&[&[("a", M1, E1)], &[("b1", M1, E2), ("b2", M1, E2)]]);
    assert_eq!(history(&fold), [(1, 1), (0, 1), (0, 1)]);
    assert_eq!(history_total(&fold), (2, 2));
}

#[test]
fn a_chain_of_new_reports_is_resolved_as_one_patient() {
    let fold = folded(&[
        &[("p", M1, None), ("q", None, Some("9"))],
        &[("c", M2, E1), ("a", M1, E1), ("b", M2, Some("9"))],
    ]);
    assert_eq!(consistent(&fold), [false; 5]);
    assert_eq!(fold.expected().totals().patients, 1);
    assert_eq!(history_total(&fold), (5, 5));
}
