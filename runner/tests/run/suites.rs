//! Suites carried out: what becomes of one whose scenarios fail, and of one that is interrupted.

use super::common::{Bench, Records, SMALL, told};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Three scenarios of one file: the first never gets a worker, the second does all, the third names a
/// program that is not there.
const THREE: &str = r#"
format = 1
name = "three"

[[scenarios]]
scenario = "s.toml"
name = "broken"
time = "2s"
set.target = { kind = "command", command = ["false"] }

[[scenarios]]
scenario = "s.toml"
name = "whole"
time = "9s"
set.sequence.stop_after = 2

[[scenarios]]
scenario = "s.toml"
name = "missing"
time = "1s"
set.target = { kind = "command", command = ["no-such-program"] }
"#;

fn suite(scenario: &str, text: &str) -> Bench {
    let bench = Bench::new(scenario);
    std::fs::write(bench.path().join("suite.toml"), text).unwrap();
    bench
}

fn record(bench: &Bench, folder: &str) -> Value {
    let path = bench.path().join(folder).join("suite.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A column of `suite.json`.
fn each<'a>(record: &'a Value, key: &str) -> Vec<&'a str> {
    let entries = record["scenarios"].as_array().unwrap();
    let text = |entry: &'a Value| entry[key].as_str().unwrap_or("-");
    entries.iter().map(text).collect()
}

fn runs(bench: &Bench, folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(bench.path().join(folder).join("runs"));
    let entries = entries.into_iter().flatten();
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    runs.sort();
    runs
}

#[test]
fn a_scenario_that_fails_does_not_keep_the_next_from_running() {
    let bench = suite(SMALL, THREE);
    let run = ["suite", "run", "suite.toml", "--out", "night"];
    let (code, text) = told(&bench.bench(&run));
    assert_eq!(code, Some(11), "the gravest of 11, 0 and 69: {text}");
    let record = record(&bench, "night");
    assert_eq!(each(&record, "name"), ["broken", "whole", "missing"]);
    assert_eq!(each(&record, "state"), ["failed", "completed", "refused"]);
    assert_eq!(record["exit"], 11);
    let exits: Vec<u64> = (0..3)
        .map(|at| record["scenarios"][at]["exit"].as_u64().unwrap())
        .collect();
    assert_eq!(exits, [11, 0, 69]);
    assert!(text.contains("1 of 3 scenarios as expected"), "{text}");
    assert!(text.contains("no-such-program"), "{text}");

    // Each run stands in its own directory, by the name that the suite gave it.
    assert_eq!(runs(&bench, "night").len(), 2);
    for (at, name) in [(0, "broken"), (1, "whole")] {
        let folder = record["scenarios"][at]["run"].as_str().unwrap();
        let run = Records(bench.path().join("night").join(folder));
        assert_eq!(run.json("run.json")["scenario"]["name"], name);
        let command = run.json("run.json")["command"].as_str().unwrap().to_owned();
        assert!(command.starts_with("bench run s.toml --set"), "{command}");
    }
    let whole = record["scenarios"][1]["run"].as_str().unwrap();
    Records(bench.path().join("night").join(whole)).assert_verified(1);

    // The folder is taken, and what ended stays as it was when it is carried on with.
    let (code, text) = told(&bench.bench(&run));
    assert_eq!(code, Some(64), "{text}");
    assert!(text.contains("--resume"), "{text}");
    let resume = [&run[..], &["--resume"]].concat();
    assert_eq!(told(&bench.bench(&resume)).0, Some(11));
    assert_eq!(runs(&bench, "night").len(), 2);
    let other = [&resume[..], &["--shard", "1/2"]].concat();
    let (code, text) = told(&bench.bench(&other));
    assert_eq!(code, Some(64), "{text}");
}

#[test]
fn shards_together_do_what_the_suite_does() {
    let text = THREE.replace("\"false\"", "\"no-such-program\"");
    let bench = suite(SMALL, &text);
    let mut names = Vec::new();
    for (shard, code) in [("1/2", Some(0)), ("2/2", Some(69))] {
        let out = shard.replace('/', "-of-");
        let run = [
            "suite",
            "run",
            "suite.toml",
            "--shard",
            shard,
            "--out",
            &out,
        ];
        assert_eq!(told(&bench.bench(&run)).0, code, "{shard}");
        let record = record(&bench, &out);
        assert_eq!(record["shard"], shard);
        names.extend(each(&record, "name").into_iter().map(str::to_owned));
    }
    assert_eq!(names, ["whole", "broken", "missing"]);
    let empty = [
        "suite",
        "run",
        "suite.toml",
        "--shard",
        "4/4",
        "--out",
        "none",
    ];
    let (code, text) = told(&bench.bench(&empty));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("no scenario of the suite"), "{text}");
}

#[test]
fn an_interrupted_suite_is_carried_on_with_where_it_was() {
    let two = "format = 1\nname = \"two\"\n\
               [[scenarios]]\nscenario = \"s.toml\"\nname = \"first\"\ntime = \"5s\"\n\
               [[scenarios]]\nscenario = \"s.toml\"\nname = \"second\"\ntime = \"5s\"\n\
               set.sequence.stop_after = 1\n";
    let bench = suite(&SMALL.replace("messages = 300", "messages = 3000"), two);
    let run = ["suite", "run", "suite.toml", "--out", "night"];
    let mut command = bench.command(&run);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    let has_begun = || {
        runs(&bench, "night").first().is_some_and(|run| {
            let events = Records(run.clone()).events();
            events
                .iter()
                .any(|event| event["event"] == "workflow_closed")
        })
    };
    while !has_begun() {
        assert!(Instant::now() < until, "nothing happened for two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let before = record(&bench, "night");
    assert_eq!(each(&before, "state"), ["interrupted", "waiting"]);
    assert_eq!(before["exit"], 130);

    let resume = [&run[..], &["--resume"]].concat();
    let (code, text) = told(&bench.bench(&resume));
    assert_eq!(code, Some(0), "{text}");
    let after = record(&bench, "night");
    assert_eq!(each(&after, "state"), ["completed", "completed"]);
    assert_eq!(each(&after, "run")[0], each(&before, "run")[0]);
    let runs = runs(&bench, "night");
    assert_eq!(runs.len(), 2);
    let first = runs.iter().map(|run| Records(run.clone()));
    let sessions: Vec<Value> = first
        .map(|run| run.json("run.json")["sessions"].clone())
        .collect();
    assert_eq!(sessions, [2, 1]);
}
