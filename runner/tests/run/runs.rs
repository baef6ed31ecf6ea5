//! Runs in which nothing goes wrong.

use super::common::{Bench, Records, Row, SMALL};
use std::collections::BTreeMap;

const TWO: &str = r"
[variants.many.settings]
shuffle_partitions = 8
[variants.few.settings]
shuffle_partitions = 2
";

fn two() -> String {
    format!("{SMALL}{TWO}")
}

#[test]
fn a_run_ends_verified_with_a_report_and_every_file_of_its_directory() {
    let bench = Bench::new(&two());
    let (code, text) = bench.run(&["--set", "measure.sample_interval=10ms"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("completed"), "{text}");
    let run = bench.only_run();
    run.assert_verified(2);
    run.assert_complete(12);
    assert_eq!(run.status(), "completed");
    assert_eq!(run.text("scenario.toml"), two());
    let report = run.text("report.md");
    assert!(
        report.contains("every row of all 2 arms is there"),
        "{report}"
    );
    assert!(
        report.contains("`settings.shuffle_partitions`: many 8, few 2"),
        "{report}"
    );
    // Lakes are dropped once they are proven, unless they are asked for.
    assert!(!run.0.join("lake/many-1").exists());
    assert!(!run.rows("samples.csv").is_empty());
    let stages = run.rows("stages.csv");
    assert!(stages.iter().any(|stage| stage["table"] == "reports_dx"));
}

#[test]
fn a_variant_may_be_run_by_itself() {
    let bench = Bench::new(&two());
    let (code, text) = bench.run(&["--variant", "few", "--variant", "fewer"]);
    assert_eq!(code, Some(64), "{text}");
    assert!(
        text.contains("--variant fewer: is no variant of this scenario, which has many, few"),
        "{text}"
    );
    assert!(bench.find().is_none());
    let (code, text) = bench.run(&["--variant", "few"]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    run.assert_complete(6);
    assert_eq!(
        run.json("run.json")["command"],
        "bench run s.toml --variant few"
    );
    assert!(
        run.rows("workflows.csv")
            .iter()
            .all(|row| row["variant"] == "few")
    );
}

#[test]
fn files_are_counted_from_outside_after_every_workflow() {
    let bench = Bench::new(&two());
    bench.run(&["--keep-lakes"]);
    let run = bench.only_run();
    let tables = run.rows("tables.csv");
    let files = |variant: &str, workflow: &str| -> u64 {
        tables
            .iter()
            .find(|row| {
                row["variant"] == variant
                    && row["workflow"] == workflow
                    && row["table"] == "reports_curated"
            })
            .map(|row| row["live_files"].parse().unwrap())
            .unwrap()
    };
    assert!(files("many", "1") > files("few", "1"));
    assert!(files("many", "6") > files("many", "1"));
    let again = bench.bench(&["verify", run.0.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(0));
}

#[test]
fn repeats_interleave() {
    let bench = Bench::new(&two());
    let (code, text) = bench.run(&[
        "--set",
        "measure.repeats=2",
        "--set",
        "sequence.stop_after=2",
    ]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(4);
    let arms: Vec<String> = run
        .events()
        .iter()
        .filter(|event| event["event"] == "arm_started")
        .map(|event| {
            format!(
                "{}-{}",
                event["arm"]["variant"].as_str().unwrap(),
                event["arm"]["repeat"]
            )
        })
        .collect();
    assert_eq!(arms, ["many-1", "few-1", "few-2", "many-2"]);
    assert!(run.text("report.md").contains("median of 2, min to max"));
}

#[test]
fn two_runs_of_one_seed_differ_in_times_and_names_alone() {
    let exact = |run: &Records| {
        let pick = |file: &str, columns: &[&str]| -> Vec<Vec<String>> {
            let rows: Vec<Row> = run.rows(file);
            rows.iter()
                .map(|row| columns.iter().map(|&column| row[column].clone()).collect())
                .collect()
        };
        let counts = [
            "variant",
            "workflow",
            "status",
            "attempts",
            "logs",
            "messages",
            "empty",
            "unparsable",
            "rows",
            "inserted",
            "updated",
            "unchanged",
        ];
        let tables = [
            "variant",
            "workflow",
            "table",
            "version",
            "rows",
            "live_files",
            "disk_files",
            "log_entries",
            "checkpoints",
        ];
        let stages = [
            "variant", "workflow", "stage", "table", "rows", "files", "version",
        ];
        (
            pick("workflows.csv", &counts),
            pick("tables.csv", &tables),
            pick("stages.csv", &stages),
            run.json("run.json")["dataset"]["digest"].clone(),
        )
    };
    let runs = [(); 2].map(|()| {
        let bench = Bench::new(&two());
        bench.run(&[]);
        exact(&bench.only_run())
    });
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn the_same_logs_again_commit_nothing() {
    let bench = Bench::new(SMALL);
    let (code, text) = bench.run(&[
        "--set",
        "sequence.passes=2",
        "--set",
        "dataset.profile=varied",
    ]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    let rows = run.rows("workflows.csv");
    assert_eq!(rows.len(), 12);
    for row in &rows[6..] {
        assert_eq!((&*row["inserted"], &*row["updated"]), ("0", "0"));
        assert_eq!(row["unchanged"], row["rows"]);
    }
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in run.rows("tables.csv") {
        if row["workflow"].parse::<u32>().unwrap() >= 6 {
            versions
                .entry(row["table"].clone())
                .or_default()
                .push(row["version"].clone());
        }
    }
    for (table, seen) in versions {
        assert!(
            seen.windows(2).all(|pair| pair[0] == pair[1]),
            "{table} has new commits"
        );
    }
}

#[test]
fn concurrent_workflows_on_two_workers_with_two_slots_are_verified_too() {
    let bench = Bench::new(SMALL);
    let (code, text) = bench.run(&[
        "--set",
        "sequence.mode=concurrent",
        "--set",
        "sequence.launch_interval=5ms",
        "--set",
        "sequence.workers=2",
        "--set",
        "sequence.slots=2",
        "--set",
        "sequence.queue=shuffled",
    ]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    run.assert_complete(6);
    let launched: Vec<f64> = run
        .rows("workflows.csv")
        .iter()
        .map(|row| row["launched_s"].parse().unwrap())
        .collect();
    let due: Vec<f64> = (0..6).map(|number| f64::from(number) * 0.005).collect();
    assert!(
        launched
            .iter()
            .zip(&due)
            .all(|(at, due)| (at - due).abs() < 2e-6),
        "{launched:?}"
    );
}

#[test]
fn a_folder_without_truth_is_checked_for_what_needs_none() {
    let bench = Bench::new(SMALL);
    let made = bench.bench(&[
        "generate",
        "--messages",
        "120",
        "--log-files",
        "8",
        "--out",
        "D",
    ]);
    assert_eq!(made.status.code(), Some(0));
    std::fs::remove_file(bench.path().join("D/dataset.json")).unwrap();
    let (code, text) = bench.run(&["--set", "dataset.path=D"]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    assert_eq!(run.json("run.json")["dataset"]["truth"], false);
}

#[test]
fn a_data_set_in_the_cache_is_reused_only_with_its_digest() {
    let bench = Bench::new(SMALL);
    let cache = bench.path().join("cache");
    let one = ["--cache", "cache", "--set", "sequence.stop_after=1"];
    assert_eq!(bench.run(&one).0, Some(0));
    let digest = bench.only_run().json("run.json")["dataset"]["digest"].clone();
    std::fs::remove_dir_all(bench.path().join("runs")).unwrap();
    let folder = std::fs::read_dir(&cache)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    let log = bench_hl7::discover(&folder).unwrap()[0].path.clone();
    std::fs::write(&log, "not what was made").unwrap();
    assert_eq!(bench.run(&one).0, Some(0));
    assert_eq!(
        bench.only_run().json("run.json")["dataset"]["digest"],
        digest
    );
    assert_ne!(std::fs::read(&log).unwrap(), b"not what was made");
}

#[test]
fn a_null_worker_is_driven_through_thousands_of_workflows_by_64_workers() {
    let bench = Bench::new(
        "format = 1\nname = \"null\"\n[dataset]\nmessages = 2000\nlog_files = 1000\n\
         [sequence]\nmode = \"concurrent\"\nlaunch_interval = \"0s\"\nworkers = 64\nfiles_per_workflow = 1\npasses = 2\n\
         [target]\nkind = \"null\"\n",
    );
    let (code, text) = bench.run(&[]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_complete(2000);
    assert!(
        run.text("report.md")
            .contains("n/a (rows were not verified)")
    );
}

/// The text of the first block of code in a language after a line that holds `marker`.
fn block(page: &str, marker: &str, language: &str) -> String {
    let after = &page[page.find(marker).expect(marker)..];
    let fence = format!("```{language}\n");
    let start = after.find(&fence).unwrap() + fence.len();
    let end = after[start..].find("```").unwrap();
    after[start..start + end].to_owned()
}

#[test]
fn the_worker_of_the_documentation_works() {
    if std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("SKIPPED: there is no python3");
        return;
    }
    let page = include_str!("../../../docs/worker-protocol.md");
    let scenario = format!("{SMALL}\n{}", block(page, "into a scenario", "toml"));
    let bench = Bench::new(&scenario);
    let script = block(page, "a test runs this worker", "python");
    assert!(script.lines().count() <= 32, "it is said to be short");
    std::fs::write(bench.path().join("count.py"), script).unwrap();
    let (code, text) = bench.run(&["--set", "dataset.profile=varied"]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_complete(6);
    let rows = run.rows("workflows.csv");
    let messages: u32 = rows
        .iter()
        .map(|row| row["messages"].parse::<u32>().unwrap())
        .sum();
    assert_eq!(messages, 300);
}

#[test]
fn a_setting_that_a_worker_found_without_effect_is_in_the_report() {
    let bench = env!("CARGO_BIN_EXE_bench");
    let told = r#""without_effect":{"auto_compact":"no commit compacted"}"#;
    let script = format!("{bench:?} worker embedded | sed -u 's/\"type\":\"done\"/&,{told}/'");
    let command = serde_json::to_string(&["sh", "-c", &script]).unwrap();
    let bench = Bench::new(&format!(
        "{SMALL}\n[target]\nkind = \"command\"\ncommand = {command}\n"
    ));
    let (code, text) = bench.run(&["--set", "sequence.stop_after=2"]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    let entry =
        serde_json::json!([{"repeat": 1, "workflows": [1, 2], "reason": "no commit compacted"}]);
    assert_eq!(
        run.json("run.json")["without_effect"]["default"]["auto_compact"],
        entry
    );
    let report = run.text("report.md");
    assert!(
        report
            .contains("default: `auto_compact` had no effect in any workflow: no commit compacted"),
        "{report}"
    );
}
