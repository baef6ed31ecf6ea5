//! A stored run directory, and the report that is made of it.

use bench_reports::{Run, evidence, markdown};
use std::path::Path;

fn stored() -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-format-1");
    Run::read(&folder).unwrap()
}

#[test]
fn a_stored_run_gives_the_same_report_for_ever() {
    insta::assert_snapshot!(markdown(&stored()));
}

#[test]
fn the_report_is_a_pure_function_of_the_files() {
    assert_eq!(markdown(&stored()), markdown(&stored()));
}

#[test]
fn no_cell_is_blank_and_every_row_has_a_cell_for_each_variant() {
    let evidence = evidence(&stored());
    assert!(evidence.rows.len() > 20);
    for row in &evidence.rows {
        assert_eq!(row.cells.len(), evidence.columns.len(), "{}", row.name);
        assert!(
            row.cells.iter().all(|cell| !cell.trim().is_empty()),
            "{}",
            row.name
        );
    }
}

#[test]
fn a_run_of_another_format_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.json"), "{\"format\": 2}").unwrap();
    let error = Run::read(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("run.json") && error.contains("format is 2"),
        "{error}"
    );
}

#[test]
fn what_did_not_happen_is_said_and_not_left_blank() {
    let text = markdown(&stored());
    assert!(text.contains("n/a (ended after workflow 2)"), "{text}");
    assert!(text.contains("it ended after workflow 2"), "{text}");
    assert!(
        text.contains("`sequence.stop_after`: baseline 2, tuned none"),
        "{text}"
    );
}
