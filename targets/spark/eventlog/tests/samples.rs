//! Logs that Spark wrote, as tests/data/README.md says, and what Delta itself says of the same work.

use bench_eventlog::{ALL, Codec, EventLog, Figures, Finding, read_arm, read_logs};
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

fn one(name: &str) -> EventLog {
    let mut logs = read_logs(&sample(name)).unwrap();
    assert_eq!(logs.len(), 1);
    logs.remove(0)
}

fn group<'a>(log: &'a EventLog, workflow: &str, attempt: &str, stage: &str) -> &'a Figures {
    let same = |one: &Option<String>, name: &str| one.as_deref().unwrap_or_default() == name;
    let found = log.groups.iter().find(|one| {
        let group = &one.group;
        same(&group.workflow, workflow)
            && same(&group.attempt, attempt)
            && same(&group.stage, stage)
    });
    &found.unwrap().figures
}

/// Files and bytes of each commit, in the words of Delta's history.
fn written() -> Vec<(u64, u64)> {
    let text = std::fs::read(sample("written.json")).unwrap();
    let commits: Vec<serde_json::Value> = serde_json::from_slice(&text).unwrap();
    let number = |commit: &serde_json::Value, key: &str| commit[key].as_u64().unwrap();
    commits
        .iter()
        .map(|commit| (number(commit, "files"), number(commit, "bytes")))
        .collect()
}

#[test]
fn files_and_bytes_written_are_those_of_deltas_history() {
    let log = one("zstd");
    let found = ["1", "2"].map(|workflow| {
        let figures = group(&log, workflow, "1", "reports");
        (figures.files_written, figures.files_written_bytes)
    });
    assert_eq!(written(), found);
}

#[test]
fn a_log_is_the_same_however_spark_compressed_it() {
    let logs = [
        ("plain.log", Codec::None),
        ("single.lz4", Codec::Lz4),
        ("single.snappy", Codec::Snappy),
    ];
    for (name, codec) in logs {
        let log = one(name);
        assert_eq!(log.codec, Some(codec));
        assert_eq!((log.complete, &*log.findings), (true, &[][..]), "{name}");
        assert_eq!(
            (log.lines, log.total.jobs, log.total.tasks),
            (71, 6, 8),
            "{name}"
        );
        let read = (log.total.files_read, log.total.files_read_bytes);
        assert_eq!(read, (3, 4_709), "{name}");
        assert_eq!(log.unknown_events.len(), 0, "{name}");
    }
}

#[test]
fn a_rolling_log_gives_figures_by_workflow_attempt_and_stage() {
    let log = one("zstd");
    assert_eq!(log.codec, Some(Codec::Zstd));
    assert_eq!(log.spark_version.as_deref(), Some("4.1.1"));
    assert_eq!(log.findings, []);
    let groups: Vec<String> = log
        .groups
        .iter()
        .map(|one| {
            let part = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            let group = &one.group;
            format!(
                "{} {} {}",
                part(&group.workflow),
                part(&group.attempt),
                part(&group.stage)
            )
        })
        .collect();
    assert_eq!(
        groups,
        [
            "1 1 latest",
            "1 1 reports",
            "2 1 latest",
            "2 1 reports",
            "2 2 fails",
            "- - -"
        ]
    );
    let jobs: u64 = log.groups.iter().map(|one| one.figures.jobs).sum();
    assert_eq!(jobs, log.total.jobs);
}

#[test]
fn a_failed_job_and_its_failed_tasks_are_counted() {
    let log = one("zstd");
    let failed = group(&log, "2", "2", "fails");
    assert_eq!(
        (failed.jobs, failed.jobs_failed, failed.sql_failed),
        (1, 1, 1)
    );
    assert!(failed.tasks_failed > 0);
    assert_eq!(failed.task_p50_s, None);
}

#[test]
fn adaptive_execution_is_seen_in_the_partitions_that_shuffles_are_read_in() {
    let log = one("zstd");
    let (on, off) = (
        group(&log, "1", "1", "latest"),
        group(&log, "2", "1", "latest"),
    );
    assert_eq!(on.shuffles_coalesced, 1);
    assert_eq!(on.shuffle_partitions_p50, Some(3.0));
    assert_eq!(on.shuffle_read_partitions_p50, Some(1.5));
    assert_eq!(off.shuffles_coalesced, 0);
    assert_eq!(off.shuffle_partitions_p50, off.shuffle_read_partitions_p50);
    let settings = |workflow: &str| {
        let same = |one: &&bench_eventlog::GroupSummary| {
            one.group.workflow.as_deref() == Some(workflow)
                && one.group.stage.as_deref() == Some("latest")
        };
        let found = log.groups.iter().find(same).unwrap();
        found.settings["spark.sql.adaptive.enabled"].clone()
    };
    assert_eq!(settings("1").into_keys().collect::<Vec<_>>(), ["true"]);
    assert_eq!(settings("2").into_keys().collect::<Vec<_>>(), ["false"]);
}

#[test]
fn the_filters_of_delta_are_found_by_their_description() {
    let log = one("plain.log");
    let latest = group(&log, "1", "1", "latest");
    assert_eq!(
        (latest.filter_jobs, latest.tasks_per_filter_p50),
        (2, Some(1.5))
    );
    assert_eq!(group(&log, "1", "1", "reports").filter_jobs, 0);
}

#[test]
fn the_log_of_a_killed_driver_is_read_as_far_as_it_goes_and_flagged() {
    let log = one("killed");
    assert!(!log.complete);
    assert!(
        log.findings.contains(&Finding::Unfinished),
        "{:?}",
        log.findings
    );
    assert_eq!(log.ended_ms, None);
    assert!(group(&log, "1", "1", "reports").files_written > 0);
}

#[test]
fn settings_are_those_that_spark_was_started_with() {
    let log = one("plain.log");
    assert_eq!(log.settings["spark.sql.shuffle.partitions"], "4");
    assert_eq!(log.settings["spark.master"], "local[2]");
}

#[test]
fn no_sample_names_the_machine_that_it_was_made_on() {
    for name in ["zstd", "killed", "plain.log", "single.lz4", "single.snappy"] {
        let log = one(name);
        assert_eq!(log.settings["spark.driver.host"], "localhost", "{name}");
        let jars = &log.settings["spark.jars"];
        assert!(
            jars.split(',').all(|jar| jar.contains("/opt/jars/")),
            "{name}: {jars}"
        );
    }
}

#[test]
fn logs_of_an_arm_add_up_by_workflow_attempt_and_stage() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["plain.log", "single.lz4"] {
        std::fs::copy(sample(name), folder.path().join(name)).unwrap();
    }
    let arm = read_arm(folder.path()).unwrap();
    let stages: Vec<&str> = arm
        .rows
        .iter()
        .filter_map(|row| row.group.stage.as_deref())
        .collect();
    assert_eq!(stages, ["latest", "reports", ALL]);
    assert_eq!(arm.rows[0].figures.jobs, 8);
    let jobs = |at: usize| arm.rows[at].figures.jobs;
    assert_eq!(jobs(2), jobs(0) + jobs(1));
    assert_eq!(arm.rows[0].figures.tasks_per_filter_p50, Some(1.5));
    assert!(arm.rows.iter().all(|row| row.complete));
}
