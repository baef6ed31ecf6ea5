//! Spark as a target. All but the first tests start it, take minutes each, and are run by
//! `just spark-truth`, one at a time.

use crate::common::{Bench, Records, told};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Two small workflows of three, on a Spark that is set up for small data.
const SMALL: &str = r#"
format = 1
name = "spark"

[dataset]
messages = 240
log_files = 12
seed = 7
profile = "varied"

[sequence]
files_per_workflow = 4
retry = { max_attempts = 4, initial = "1s", max = "5s" }

[target]
kind = "spark"
start_timeout = "15min"
heartbeat_timeout = "5min"

[target.conf]
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1"
"spark.databricks.delta.snapshotPartitions" = 2
"spark.sql.codegen.wholeStage" = false
"spark.sql.codegen.factoryMode" = "NO_CODEGEN"

[resources]
memory = "2GiB"
cpus = 2

[settings]
adaptive = false
shuffle_partitions = 4
"#;

fn shared(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    root.join(path)
}

/// The folder of the platform's transformer; a test that needs it is skipped, visibly, where it is
/// not at hand.
fn transformer() -> Option<PathBuf> {
    let folder = shared("peers/scout-hl7-transformer").canonicalize().ok();
    if folder.is_none() {
        println!("SKIPPED: the platform's transformer is not in ../shared/peers");
    }
    folder
}

/// Where Spark is set up on this machine.
fn environment() -> String {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../targets/spark/environment/prepare.py"
    );
    let made = Command::new("python3").arg(script).output().unwrap();
    assert!(made.status.success(), "{}", told(&made).1);
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// Runs a scenario, which must end with an exit code.
fn ends(scenario: &str, arguments: &[&str], expected: i32) -> (Bench, Records) {
    let bench = Bench::new(scenario);
    let mut all = vec!["run", "s.toml", "--quiet", "--no-space-check"];
    all.extend(arguments);
    let mut command = bench.command(&all);
    command.env("BENCH_SPARK", environment());
    let (code, text) = told(&command.output().unwrap());
    println!("{text}");
    if code != Some(expected) {
        // The folder goes with the test.
        println!("{}", what_workers_said(&bench));
    }
    assert_eq!(code, Some(expected), "{text}");
    let records = bench.only_run();
    (bench, records)
}

/// The attempts of a run, and the last lines of its workers' logs.
fn what_workers_said(bench: &Bench) -> String {
    let Some(run) = bench.find() else {
        return String::new();
    };
    let mut said = std::fs::read_to_string(run.join("attempts.csv")).unwrap_or_default();
    for log in std::fs::read_dir(run.join("logs")).into_iter().flatten() {
        let path = log.unwrap().path();
        let text = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(60)..].join("\n");
        said += &format!("{}\n{last}\n", path.display());
    }
    said
}

/// Runs a scenario, which must complete with every row verified.
fn completes(scenario: &str, arguments: &[&str], arms: usize) -> (Bench, Records) {
    let (bench, records) = ends(scenario, arguments, 0);
    records.assert_verified(arms);
    (bench, records)
}

/// A data set of one log with these messages.
fn one_log(messages: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let year = folder.path().join("2023");
    std::fs::create_dir(&year).unwrap();
    let one = |message: &&str| {
        let segments = message.replace('\n', "<R>\n");
        format!("2023-01-13 12:00:00.0000|INFO|Test|\n<SB>\n{segments}<R>\n<EB>\n")
    };
    let text: String = messages.iter().map(one).collect();
    std::fs::write(year.join("20230113.log"), text).unwrap();
    folder
}

fn set(key: &str, value: &str) -> Vec<String> {
    vec!["--set".to_owned(), format!("{key}={value}")]
}

fn scout(transformer: &Path) -> Vec<String> {
    let path = transformer.display().to_string();
    let mut all = set("target.pipeline", "scout");
    all.extend(set("target.transformer", &path));
    all
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

#[test]
fn a_machine_without_spark_is_told_before_anything_starts() {
    let bench = Bench::new(SMALL);
    let mut command = bench.command(&["run", "s.toml"]);
    command.env("BENCH_SPARK", bench.path());
    let (code, text) = told(&command.output().unwrap());
    assert_eq!(code, Some(69), "{text}");
    assert!(text.contains("just spark-setup"), "{text}");
    assert!(bench.find().is_none());

    let mut command = bench.command(&["run", "s.toml", "--dry-run"]);
    command.env("BENCH_SPARK", bench.path());
    let (code, text) = told(&command.output().unwrap());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("This cannot be run yet"), "{text}");
}

#[test]
fn a_transformer_that_is_not_there_or_not_named_is_told_before_anything_starts() {
    let bench = Bench::new(SMALL);
    std::fs::write(bench.path().join("whole"), "").unwrap();
    for (arguments, expected) in [
        (scout(Path::new("nowhere")), "holds no package hl7scout"),
        (set("target.pipeline", "scout"), "nothing says where it is"),
    ] {
        let mut command = bench.command(&["run", "s.toml"]);
        command.args(&arguments).env("BENCH_SPARK", bench.path());
        let (code, text) = told(&command.output().unwrap());
        assert_eq!(code, Some(64), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
#[ignore = "starts Spark for every profile: the better part of an hour"]
fn the_own_pipeline_gives_the_truth_of_every_profile() {
    for profile in ["varied", "lifelike", "webs", "dirty"] {
        println!("builtin, {profile}");
        completes(SMALL, &words(&set("dataset.profile", profile)), 1);
    }
}

#[test]
#[ignore = "starts Spark for every profile: the better part of an hour"]
fn the_platforms_transformer_gives_the_truth_of_every_profile() {
    let Some(transformer) = transformer() else {
        return;
    };
    for profile in ["varied", "lifelike", "webs", "dirty"] {
        println!("scout, {profile}");
        let mut arguments = scout(&transformer);
        arguments.extend(set("dataset.profile", profile));
        completes(SMALL, &words(&arguments), 1);
    }
}

#[test]
#[ignore = "starts Spark several times: minutes"]
fn a_worker_killed_between_two_tables_is_restarted_and_the_lake_completed() {
    let mut scenario = SMALL.replace("\"varied\"", "\"webs\"");
    for (workflow, attempt, stage) in [
        (1, 1, "reports"),
        (1, 2, "curated"),
        (2, 1, "latest"),
        (2, 2, "mapping-4-components"),
        (3, 1, "dx-delete"),
    ] {
        scenario += &format!(
            "[[faults]]\nworkflow = {workflow}\nattempt = {attempt}\nkill = \"SIGKILL\"\nstage = \"{stage}\"\n"
        );
    }
    let (_bench, records) = completes(&scenario, &[], 1);
    let attempts = records.rows("attempts.csv");
    let lost = attempts.iter().filter(|row| row["outcome"] == "lost");
    assert!(lost.count() >= 4, "{attempts:?}");
}

#[test]
#[ignore = "starts Spark several times: minutes"]
fn a_worker_that_outgrows_its_memory_is_killed_with_its_jvm_and_goes_on() {
    let scenario = format!("{SMALL}[[faults]]\nworkflow = 2\nmemory = \"256MiB\"\n");
    let (_bench, records) = completes(&scenario, &[], 1);
    let causes: Vec<String> = records
        .rows("attempts.csv")
        .iter()
        .map(|row| row["cause"].clone())
        .collect();
    assert!(
        causes.iter().any(|cause| cause == "memory_limit"),
        "{causes:?}"
    );
}

#[test]
#[ignore = "ingests 780 logs with both pipelines: half an hour"]
fn both_pipelines_make_the_platforms_rows_of_its_own_logs() {
    let logs = shared("data/scout-staging/postgres");
    if !logs.is_dir() {
        println!("SKIPPED: the platform's logs are not in ../shared/data");
        return;
    }
    let Some(transformer) = transformer() else {
        return;
    };
    let mut base = set("dataset.path", &logs.display().to_string());
    base.extend(set("sequence.files_per_workflow", "150"));
    for pipeline in [Vec::new(), scout(&transformer)] {
        let mut arguments = base.clone();
        arguments.extend(pipeline);
        let (_bench, records) = completes(SMALL, &words(&arguments), 1);
        let tables = records.rows("tables.csv");
        let rows = |table: &str| {
            let of_table = tables.iter().rfind(|row| row["table"] == table);
            of_table.map_or_else(String::new, |row| row["rows"].clone())
        };
        let found = [
            "reports",
            "reports_curated",
            "reports_latest",
            "reports_dx",
            "reports_report_patient_mapping",
        ]
        .map(rows);
        assert_eq!(found, ["802", "802", "800", "0", "802"]);
    }
}

/// What `scenarios/spark-adaptive.toml` asks, of one small workflow.
#[test]
#[ignore = "starts Spark twice: minutes"]
fn adaptive_execution_decides_the_number_of_files_and_its_switch_for_streams_does_not() {
    let scenario = SMALL
        .replace("messages = 240", "messages = 60")
        .replace("log_files = 12", "log_files = 3")
        .replace("shuffle_partitions = 4", "shuffle_partitions = 32")
        .replace("adaptive = false\n", "");
    let variants = r#"
[variants.merges]
settings.adaptive = true
target.conf."spark.sql.adaptive.streaming.stateless.enabled" = false
[variants.streams]
settings.adaptive = false
target.conf."spark.sql.adaptive.streaming.stateless.enabled" = true
"#;
    let (_bench, records) = completes(&format!("{scenario}{variants}"), &[], 2);
    let tables = records.rows("tables.csv");
    let files = |variant: &str, table: &str| -> u32 {
        let of_table = tables
            .iter()
            .rfind(|row| row["variant"] == variant && row["table"] == table);
        of_table.unwrap()["live_files"].parse().unwrap()
    };
    for table in ["reports_curated", "reports_report_patient_mapping"] {
        assert_eq!(files("merges", table), 1, "{table}");
        assert!(files("streams", table) > 10, "{table}");
    }
    // The setting that adaptive execution overrode is told, and no other.
    let told = &records.json("run.json")["without_effect"];
    assert!(told["merges"]["shuffle_partitions"].is_array(), "{told}");
    assert!(told["streams"].is_null(), "{told}");
}

/// The smallest messages of which the transformer makes something else than the rules say.
#[test]
#[ignore = "starts Spark several times: minutes"]
fn the_transformer_departs_from_the_rules_where_the_documentation_says_so() {
    let Some(transformer) = transformer() else {
        return;
    };
    let on = |logs: &TempDir| {
        let mut all = scout(&transformer);
        all.extend(set("dataset.path", &logs.path().display().to_string()));
        all.extend(set("sequence.retry.max_attempts", "2"));
        all
    };

    println!("a workflow without a message that can be read");
    let (_bench, records) = ends(SMALL, &words(&on(&one_log(&["MSH|no"]))), 11);
    let outcomes: Vec<String> = records
        .rows("attempts.csv")
        .iter()
        .map(|attempt| attempt["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["failed", "failed"]);
    assert!(records.text("report.md").contains("can read no message"));

    println!("a second attempt at rows of NULL year");
    let undated = "MSH|^~\\&|A|B|C|D|x||ORU^R01|1|P|2.7\nPID|1||7^^^EPIC^MRN\nOBR|1|2|3";
    let killed =
        format!("{SMALL}[[faults]]\nworkflow = 1\nkill = \"SIGKILL\"\nstage = \"reports\"\n");
    let (_bench, records) = ends(&killed, &words(&on(&one_log(&[undated]))), 10);
    assert_eq!(
        records.failed_checks(),
        [
            r#""rows" "reports""#,
            r#""keys_unique" "reports""#,
            r#""versions" "reports""#
        ]
    );

    println!("two messages of one accession and one time");
    let of = |id: &str| {
        format!(
            "MSH|^~\\&|A|B|C|D|20230113120000||ORU^R01|{id}|P|2.7\nPID|1||7^^^EPIC^MRN\nOBR|1|2|3"
        )
    };
    let (one, two) = (of("1"), of("2"));
    let logs = one_log(&[&one, &two]);
    let (_bench, records) = completes(SMALL, &words(&on(&logs)), 1);
    let verification = records.text("verification.json");
    assert!(verification.contains("1 accession"), "{verification}");
}
