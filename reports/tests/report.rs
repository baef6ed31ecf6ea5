//! A stored run directory, and the report that is made of it.

use bench_reports::{Cell, Report, Run, csv, json, markdown, report};
use std::path::Path;

fn stored() -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-format-1");
    Run::read(&folder).unwrap()
}

fn of_stored() -> Report {
    report(&[stored()]).unwrap()
}

#[test]
fn a_stored_run_gives_the_same_report_for_ever() {
    insta::assert_snapshot!(markdown(&of_stored()));
}

#[test]
fn the_report_is_a_pure_function_of_the_files() {
    for form in [markdown, json, csv] {
        assert_eq!(form(&of_stored()), form(&of_stored()));
    }
}

#[test]
fn no_cell_is_blank_and_every_row_has_a_cell_for_each_variant() {
    let evidence = of_stored().evidence;
    assert!(evidence.rows.len() > 20);
    for row in &evidence.rows {
        assert_eq!(row.cells.len(), evidence.columns.len(), "{}", row.name);
        assert!(
            row.cells
                .iter()
                .all(|cell| !cell.show(row.unit).trim().is_empty()),
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
    let text = markdown(&of_stored());
    assert!(text.contains("n/a (cancelled at workflow 2)"), "{text}");
    assert!(text.contains("ended after workflow 2"), "{text}");
    assert!(
        text.contains("`sequence.stop_after`: baseline 2, tuned none"),
        "{text}"
    );
}

#[test]
fn a_total_of_fewer_workflows_than_another_variant_completed_says_so() {
    let evidence = of_stored().evidence;
    let shown = |id: &str| {
        let row = evidence.rows.iter().find(|row| row.id == id).unwrap();
        let cells = row.cells.iter().map(|cell| cell.show(row.unit));
        cells.collect::<Vec<String>>()
    };
    // The baseline was cancelled at workflow 2, the other variant completed all eight.
    for id in [
        "service_total",
        "wall",
        "cpu",
        "reports_live_bytes",
        "write_amplification",
    ] {
        let cells = shown(id);
        assert!(
            cells[0].ends_with(" (after 2 workflows)"),
            "{id}: {cells:?}"
        );
        assert!(!cells[1].contains("after"), "{id}: {cells:?}");
    }
    // What is taken from the same workflows of both stands without.
    for id in [
        "service_common",
        "service_slope",
        "curated_live_files_common",
    ] {
        assert!(!shown(id).concat().contains("after"), "{id}");
    }
    assert_eq!(
        shown("service_common")[0],
        shown("service_total")[0].replace(" (after 2 workflows)", "")
    );
}

#[test]
fn workflows_that_run_beside_each_other_have_no_growth() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hardship");
    let report = report(&[Run::read(&folder).unwrap()]).unwrap();
    let growth = |id: &str| {
        let row = report.evidence.rows.iter().find(|row| row.id == id);
        row.unwrap().cells[0].show(row.unwrap().unit)
    };
    for id in ["service_intercept", "service_slope", "late_slowest"] {
        let shown = growth(id);
        assert!(shown.starts_with("n/a (concurrent: "), "{id}: {shown}");
    }
}

#[test]
fn of_several_runs_each_variant_has_its_column() {
    let report = report(&[stored(), stored()]).unwrap();
    let names: Vec<&str> = report
        .evidence
        .columns
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "run-format-1:baseline",
            "run-format-1:tuned",
            "run-format-1:baseline",
            "run-format-1:tuned"
        ]
    );
    for row in &report.evidence.rows {
        assert_eq!(row.cells[..2], row.cells[2..], "{}", row.id);
    }
}

#[test]
fn repeats_are_shown_as_their_median_and_range() {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-format-1");
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = match name {
            // Each row once more, as the second repeat, with a duration twice as long.
            "workflows.csv" => {
                let (header, rows) = text.split_once('\n').unwrap();
                let again = rows.lines().map(|row| {
                    let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
                    cells[1] = "2".to_owned();
                    if let Ok(seconds) = cells[7].parse::<f64>() {
                        cells[7] = (2.0 * seconds).to_string();
                    }
                    cells.join(",")
                });
                let again: Vec<String> = again.collect();
                format!("{header}\n{rows}{}\n", again.join("\n"))
            }
            _ => text,
        };
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let report = report(&[Run::read(folder.path()).unwrap()]).unwrap();
    let first = &report.evidence.rows[0];
    assert_eq!(first.id, "duration_workflow_1");
    let Cell::Figure {
        median,
        min,
        max,
        arms,
        ..
    } = &first.cells[0]
    else {
        panic!("{first:?}");
    };
    assert_eq!(*arms, 2);
    assert!((max / min - 2.0).abs() < 1e-9 && (median / min - 1.5).abs() < 1e-9);
    assert!(markdown(&report).contains("baseline (median of 2, min to max)"));
}

/// The stored run with something else in its `run.json`.
fn changed(change: impl FnOnce(&mut serde_json::Value)) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-format-1");
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let path = folder.path().join("run.json");
    let mut facts = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut facts);
    std::fs::write(&path, facts.to_string()).unwrap();
    Run::read(folder.path()).unwrap()
}

#[test]
fn a_setting_that_had_no_effect_is_named_with_where_and_why() {
    let run = changed(|facts| {
        let entry = |workflows: &[u32], reason: &str| serde_json::json!({"repeat": 1, "workflows": workflows, "reason": reason});
        facts["without_effect"] = serde_json::json!({
            "baseline": {"adaptive": [entry(&[1, 2], "none of the 9 SQL executions was adapted")]},
            "tuned": {
                "auto_compact": [entry(&[1, 2, 3, 5], "no commit found enough small files to compact")],
                "shuffle_partitions": [entry(&[1, 3], "2 of 5"), entry(&[2], "3 of 5")],
            },
        });
    });
    let limits = report(&[run]).unwrap().limits;
    let of = |name: &str| {
        let own = limits.iter().filter(|limit| limit.starts_with(name));
        own.filter(|limit| limit.contains("no effect"))
            .map(String::as_str)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("baseline"),
        [
            "baseline: `adaptive` had no effect in any workflow: none of the 9 SQL executions was adapted."
        ]
    );
    insta::assert_snapshot!(of("tuned").join("\n"), @r"
    tuned: `auto_compact` had no effect in workflows 1 to 3, 5: no commit found enough small files to compact.
    tuned: `shuffle_partitions` had no effect in workflows 1 to 3: of workflows 1, 3, 2 of 5. `run.json` has the reasons of the others.
    ");
}

#[test]
fn a_cell_that_is_no_number_is_named_by_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.json"), "{\"format\": 1}").unwrap();
    let rows = "variant,repeat,workflow,duration_s\na,1,1,0.5\na,1,2,soon\n";
    std::fs::write(folder.path().join("workflows.csv"), rows).unwrap();
    let error = Run::read(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("workflows.csv") && error.contains("line 3, column `duration_s`"),
        "{error}"
    );
}
