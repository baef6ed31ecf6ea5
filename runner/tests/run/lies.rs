//! Lies are caught, also on the way through a run: it is invalid, and leaves with its own code.

use super::common::Bench;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The worker that lies; cargo builds it with the tests.
fn faulty() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let release = tests.parent().and_then(Path::parent).unwrap();
    release.join("examples").join("faulty")
}

/// Every lie with each table that it can be told about.
fn lies() -> Vec<(String, String)> {
    let listed = Command::new(faulty()).arg("--list").output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let mut lies = Vec::new();
    for line in text.lines() {
        let (lie, tables) = line.split_once('\t').unwrap();
        for table in tables.split(' ') {
            lies.push((lie.to_owned(), table.to_owned()));
        }
    }
    assert!(lies.len() > 50);
    lies
}

fn scenario(lie: Option<(&str, &str)>) -> String {
    let mut command = vec![faulty().to_string_lossy().into_owned()];
    if let Some((lie, table)) = lie {
        for word in ["--lie", lie, "--workflow", "3"] {
            command.push(word.to_owned());
        }
        if !table.is_empty() {
            command.extend(["--table".to_owned(), table.to_owned()]);
        }
    }
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lies.toml");
    format!(
        "format = 1\nname = \"lie\"\n[dataset]\nprofile = {profile:?}\n[sequence]\nfiles_per_workflow = 120\nretry = {{ max_attempts = 2, initial = \"10ms\" }}\n\
         [settings]\ncheckpoint_interval = 2\n[target]\nkind = \"command\"\ncommand = {}\n",
        serde_json::to_string(&command).unwrap()
    )
}

#[test]
fn an_honest_worker_of_another_program_is_believed() {
    let bench = Bench::new(&scenario(None));
    let (code, text) = bench.run(&[]);
    assert_eq!(code, Some(0), "{text}");
    bench.only_run().assert_verified(1);
}

#[test]
fn a_run_with_a_worker_that_lies_is_invalid_and_keeps_its_lake() {
    for (lie, table) in [
        ("drop-row", "reports"),
        ("change-value", "reports_latest"),
        ("missing-file", "reports_curated"),
        ("swap-ids", "reports_report_patient_mapping"),
        ("early-done", ""),
    ] {
        caught(lie, table);
    }
}

#[test]
#[ignore = "some eighty runs; `just test-lies`"]
fn every_lie_about_every_table_is_found_out() {
    for (lie, table) in lies() {
        caught(&lie, &table);
    }
}

fn caught(lie: &str, table: &str) {
    let bench = Bench::new(&scenario(Some((lie, table))));
    let (code, text) = bench.run(&[]);
    // A lie about what the worker has done may break its own next workflow: that is found out, too.
    assert!(
        matches!(code, Some(10 | 11)),
        "{lie} {table}: {code:?}: {text}"
    );
    let run = bench.only_run();
    assert!(["invalid", "failed"].contains(&&*run.status()));
    assert!(!run.failed_checks().is_empty(), "{lie} {table}: {text}");
    if code == Some(10) {
        assert!(run.text("report.md").contains("No figure"), "{lie} {table}");
        assert!(
            run.0.join("lake/default-1").exists(),
            "the evidence is kept"
        );
    }
}
