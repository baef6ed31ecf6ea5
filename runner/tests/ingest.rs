//! `bench ingest` and `bench worker`: what they make, what they say, and how they leave.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

fn bench(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("bench can be started")
}

fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = bench(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = bench(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text)
}

/// Makes a data set `D` in a folder, and gives what its truth says of each table.
fn make(folder: &Path, profile: &str) -> serde_json::Value {
    let made = json(
        folder,
        &[
            "generate",
            "--profile",
            profile,
            "--messages",
            "600",
            "--log-files",
            "40",
            "--seed",
            "5",
            "--out",
            "D",
            "--json",
        ],
    );
    made["dataset"]["tables"].clone()
}

#[test]
fn a_lake_has_the_rows_that_the_truth_counts_and_a_second_ingest_commits_nothing() {
    for profile in ["varied", "webs"] {
        let folder = tempfile::tempdir().unwrap();
        let tables = make(folder.path(), profile);
        let ingest = ["ingest", "D", "--lake", "lake", "--json"];
        let first = json(folder.path(), &ingest);
        for (table, rows) in tables.as_object().unwrap() {
            assert_eq!(
                &first["ledger"]["state"][table]["rows"], rows,
                "{profile} {table}"
            );
        }
        let again = json(folder.path(), &ingest);
        assert_eq!(again["ledger"]["reports"]["unchanged"], tables["reports"]);
        assert_eq!(
            again["ledger"]["state"], first["ledger"]["state"],
            "{profile}"
        );
    }
}

#[test]
fn the_summary_accounts_for_logs_messages_and_rows() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), "varied");
    let output = bench(folder.path(), &["ingest", "D", "--lake", "lake"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "  logs      40 read, 0 failed",
        "  messages  600: 600 parsed, 0 not parsable, 0 empty",
        "  reports   600 inserted, 0 updated, 0 unchanged",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
}

#[test]
fn settings_shape_the_files() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), "varied");
    let files = |lake: &str, set: &[&str]| {
        let mut arguments = vec!["ingest", "D", "--lake", lake, "--json"];
        for pair in set {
            arguments.extend(["--set", pair]);
        }
        let made = json(folder.path(), &arguments);
        made["ledger"]["state"]["reports_curated"]["files"]
            .as_u64()
            .unwrap()
    };
    let many = files("many", &["adaptive=false", "shuffle_partitions=50"]);
    let few = files("few", &["optimize_write=true", "shuffle_partitions=50"]);
    assert!((45..=50).contains(&many), "{many}");
    assert_eq!(few, 1);
}

#[test]
fn what_cannot_be_ingested_is_a_usage_error_and_makes_no_lake() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("D")).unwrap();
    for (arguments, words) in [
        (vec!["ingest", "nowhere", "--lake", "lake"], "nowhere"),
        (
            vec![
                "ingest",
                "D",
                "--lake",
                "lake",
                "--set",
                "shuffle_partition=3",
            ],
            "did you mean shuffle_partitions?",
        ),
        (
            vec!["ingest", "D", "--lake", "lake", "--set", "adaptive=maybe"],
            "true or false",
        ),
        (
            vec!["ingest", "D", "--lake", "lake", "--set", "adaptive"],
            "KEY=VALUE",
        ),
    ] {
        let (code, text) = error(folder.path(), &arguments);
        assert_eq!(code, Some(64), "{arguments:?}: {text}");
        assert!(text.contains(words), "{words:?} is missing in {text}");
        assert!(!folder.path().join("lake").exists(), "{arguments:?}");
    }
}

#[test]
fn a_worker_answers_hello_and_leaves_on_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), "varied");
    let hello = r#"{"protocol":1,"type":"hello","lake":"lake","dataset":"D","sequence":"s","settings":{"shuffle_partitions":8}}"#;
    let shutdown = r#"{"protocol":1,"type":"shutdown"}"#;
    let requests = folder.path().join("requests");
    std::fs::write(&requests, format!("{hello}\n{shutdown}\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["worker", "embedded"])
        .current_dir(folder.path())
        .stdin(File::open(&requests).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let ready: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&ready["type"], &ready["protocol"]),
        (&"ready".into(), &1.into())
    );
    assert_eq!(ready["effective"]["shuffle_partitions"], "8", "{ready}");
}
