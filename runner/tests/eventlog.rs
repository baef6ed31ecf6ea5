//! `bench eventlog` on logs that Spark wrote.

use std::process::{Command, Output};

const BENCH: &str = env!("CARGO_BIN_EXE_bench");
const DATA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../targets/spark/eventlog/tests/data"
);

fn eventlog(arguments: &[&str]) -> Output {
    Command::new(BENCH)
        .arg("eventlog")
        .args(arguments)
        .current_dir(DATA)
        .env("COLUMNS", "100")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("bench can be started")
}

fn text(arguments: &[&str]) -> String {
    let output = eventlog(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_log_is_shown_by_workflow_attempt_and_stage() {
    insta::assert_snapshot!(text(&["zstd"]));
}

#[test]
fn the_log_of_a_killed_driver_says_so() {
    let text = text(&["killed"]);
    assert!(
        text.contains("unfinished: its application has not ended or was killed"),
        "{text}"
    );
}

#[test]
fn json_has_every_log_with_the_definitions_of_its_figures() {
    let json: serde_json::Value = serde_json::from_str(&text(&[".", "--json"])).unwrap();
    assert_eq!(json["format"], 1);
    let logs: Vec<&str> = json["logs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|log| log["log"].as_str().unwrap())
        .collect();
    assert_eq!(logs, ["plain.log", "single.lz4", "single.snappy"]);
    assert!(
        json["definitions"][0]
            .as_str()
            .unwrap()
            .starts_with("tasks per filter: ")
    );
}

#[test]
fn what_is_no_log_is_a_usage_error() {
    for path in ["README.md", "absent"] {
        let output = eventlog(&[path]);
        assert_eq!(output.status.code(), Some(64), "{path}");
        assert!(output.stdout.is_empty());
    }
}
