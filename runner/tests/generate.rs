//! `bench generate` and `bench truth`: what they say, and how they leave.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const BENCH: &str = env!("CARGO_BIN_EXE_bench");

/// Runs bench in a folder.
fn bench(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BENCH)
        .args(arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("bench can be started")
}

fn text(folder: &Path, arguments: &[&str]) -> String {
    let output = bench(folder, arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&text(folder, arguments)).unwrap()
}

/// Every file below a folder, by its relative path.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (contents(one), contents(other));
    assert!(one.keys().eq(other.keys()), "the files differ");
    let differing: Vec<_> = one
        .iter()
        .filter(|(name, bytes)| other[*name] != **bytes)
        .collect();
    let names: Vec<_> = differing.iter().map(|(name, _)| name).collect();
    assert!(names.is_empty(), "{names:?} differ");
}

/// The summary without what differs from run to run and from version to version.
fn steady(summary: &str) -> String {
    summary
        .lines()
        .map(|line| match line.split_whitespace().next() {
            Some("time") => "  time      [time]\n".to_owned(),
            Some("digest") => "  digest    [digest]\n".to_owned(),
            _ => format!("{line}\n"),
        })
        .collect()
}

/// Lines of the shipped profiles move when something is added to them.
fn without_line_numbers(errors: &str) -> String {
    let mut words: Vec<&str> = errors.split(' ').collect();
    for at in 1..words.len() {
        if words[at - 1] == "line" && words[at].ends_with(',') {
            words[at] = "[line],";
        }
    }
    words.join(" ")
}

const SMALL: [&str; 6] = ["generate", "--messages", "60", "--log-files", "3", "--out"];

/// Starts a data set that takes a while, and waits until it has begun.
fn begin_a_long_one(folder: &Path) -> std::process::Child {
    let child = Command::new(BENCH)
        .args(LONG)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.join("D/2015").exists() {
        assert!(
            Instant::now() < deadline,
            "nothing was written for a minute"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

const LONG: [&str; 7] = [
    "generate",
    "--messages",
    "60000",
    "--log-files",
    "2000",
    "--out",
    "D",
];

#[test]
fn a_summary_closes_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let varied = text(folder.path(), &[&SMALL[..], &["D"]].concat());
    insta::assert_snapshot!("summary", steady(&varied));
}

#[test]
fn json_tells_the_same_to_a_machine() {
    let folder = tempfile::tempdir().unwrap();
    let made = json(folder.path(), &[&SMALL[..], &["D", "--json"]].concat());
    assert_eq!(made["out"], "D");
    assert_eq!(made["dataset"]["log_files"], 3);
    assert_eq!(made["dataset"]["tables"]["reports"], 60);
    let written = std::fs::read(folder.path().join("D/dataset.json")).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(made["dataset"]["digest"], written["digest"]);
}

#[test]
fn flags_lie_over_a_profile_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(
        at.join("mine.toml"),
        "base = \"varied\"\nseed = 7\n[volume]\nmessages = 40\nlog_files = 4\n",
    )
    .unwrap();
    let spec = |arguments: &[&str]| {
        json(at, &[&["generate", "--json"], arguments].concat())["dataset"]["spec"].clone()
    };
    let from_file = spec(&["--spec", "mine.toml", "--out", "A"]);
    assert_eq!(
        (&from_file["seed"], &from_file["volume"]["messages"]),
        (&7.into(), &40.into())
    );
    let from_profile = spec(&["--profile", "./mine.toml", "--seed", "8", "--out", "B"]);
    assert_eq!(from_profile["seed"], 8);
    let flags = [
        "--start",
        "2020-02-28",
        "--encoding",
        "utf-8",
        "--messages",
        "20",
        "--log-files",
        "2",
    ];
    let from_flags = spec(&[&["--out", "C"], &flags[..]].concat());
    assert_eq!(from_flags["volume"]["start"], "2020-02-28");
    assert_eq!(from_flags["encoding"], "utf-8");
    assert!(at.join("C/2020/20200228.log").exists());
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let make = |out, threads| {
        let size = ["generate", "--messages", "20000", "--log-files", "700"];
        text(
            at,
            &[
                &size[..],
                &["--profile", "dirty", "--out", out, "--threads", threads],
            ]
            .concat(),
        );
    };
    make("A", "1");
    make("B", "3");
    assert_same(&at.join("A"), &at.join("B"));
}

#[test]
fn a_part_is_exactly_those_logs_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let size = [
        "generate",
        "--messages",
        "200",
        "--log-files",
        "10",
        "--out",
    ];
    text(at, &[&size[..], &["whole"]].concat());
    text(at, &[&size[..], &["part", "--only-files", "3..5"]].concat());
    let whole = contents(&at.join("whole/2015"));
    let part = contents(&at.join("part/2015"));
    let names: Vec<_> = part.keys().map(|name| name.to_str().unwrap()).collect();
    assert_eq!(names, ["20150104.log", "20150105.log"]);
    assert!(part.iter().all(|(name, bytes)| whole[name] == *bytes));
}

#[test]
fn a_killed_data_set_is_unfinished_and_can_be_finished() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut child = begin_a_long_one(at);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!at.join("D/dataset.json").exists(), "it looks whole");
    let again = bench(at, &LONG);
    assert_eq!(again.status.code(), Some(64));
    let told = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(told.contains("--resume"), "{told}");
    text(at, &["generate", "--resume", "--out", "D"]);
    let whole = [&LONG[..6], &["whole"]].concat();
    text(at, &whole);
    assert_same(&at.join("D"), &at.join("whole"));
}

#[test]
fn an_interrupt_leaves_with_130() {
    let folder = tempfile::tempdir().unwrap();
    let child = begin_a_long_one(folder.path());
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(told.trim(), "error: interrupted");
    assert!(!folder.path().join("D/dataset.json").exists());
}

#[test]
fn a_continued_data_set_equals_the_longer_one_made_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let rate = [
        "generate",
        "--profile",
        "lifelike",
        "--per-day",
        "20",
        "--days",
    ];
    text(at, &[&rate[..], &["8", "--out", "grown"]].concat());
    text(at, &["generate", "--continue", "grown", "--days", "15"]);
    text(at, &[&rate[..], &["15", "--out", "whole"]].concat());
    assert_same(&at.join("grown"), &at.join("whole"));
}

#[test]
fn what_cannot_be_made_is_a_usage_error_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("file"), "in the way").unwrap();
    std::fs::create_dir(at.join("full")).unwrap();
    std::fs::write(at.join("full/x"), "in the way").unwrap();
    std::fs::write(at.join("odd.toml"), "base = \"varied\"\nsead = 3\n").unwrap();
    let cases = [
        "--messages 60 --log-files 3",
        "--messages 60 --log-files 3 --out file",
        "--messages 60 --log-files 3 --out full",
        "--messages 0 --log-files 3 --out D",
        "--messages 60 --log-files 61 --out D",
        "--messages 60 --log-files 3 --out D --start 1969-12-31",
        "--messages 60 --log-files 3 --out D --start 9998-12-31",
        "--messages 60 --log-files 3 --out D --start 2023-02-29",
        "--messages 60 --log-files 3 --out D --encoding utf-16",
        "--messages 60 --log-files 3 --out D --profile variet",
        "--messages 60 --log-files 3 --out D --only-files 2..9",
        "--messages 60 --log-files 3 --out D --only-files 2..2",
        "--messages 60 --per-day 3 --out D",
        "--messages 60 --log-files 3 --out D --threads 0",
        "--spec odd.toml --out D",
        "--spec missing.toml --out D",
        "--resume --out D",
        "--continue D --days 4",
    ];
    let mut errors = String::new();
    for case in cases {
        let mut arguments = vec!["generate"];
        arguments.extend(case.split(' '));
        let output = bench(at, &arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{case}: {error}");
        assert!(output.stdout.is_empty(), "{case}");
        errors.push_str(&format!("$ bench generate {case}\n{error}\n"));
    }
    assert!(!at.join("D").exists(), "something was left behind");
    insta::assert_snapshot!(without_line_numbers(&errors));
}

#[test]
fn the_truth_of_a_message_is_what_the_platform_reads() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    text(at, &[&SMALL[..], &["D", "--profile", "lifelike"]].concat());
    let log = at.join("D/2014/20140102.log");
    let log = log.to_str().unwrap();
    let count = json(at, &["inspect", log, "--json"])["messages"]
        .as_array()
        .unwrap()
        .len();
    assert!(count > 5);
    for number in 0..count.min(10) {
        let truth = json(at, &["truth", "D", &format!("20140102:{number}"), "--json"]);
        let message = number.to_string();
        let read = json(at, &["inspect", log, "--message", &message, "--json"]);
        let mut compared = 0;
        for column in read["columns"].as_array().unwrap() {
            let name = column["column"].as_str().unwrap();
            if name != "source_file" {
                assert_eq!(
                    truth["reports"][name], column["platform"],
                    "{name} of {number}"
                );
                compared += 1;
            }
        }
        assert!(compared > 40);
    }
}

#[test]
fn the_truth_is_printed_for_people_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    text(at, &[&SMALL[..], &["D"]].concat());
    let shown = text(at, &["truth", "D", "2015/20150101.log:0"]);
    for heading in ["message\n", "\nreports\n", "\nreports_curated"] {
        assert!(shown.contains(heading), "{heading:?} is missing:\n{shown}");
    }
    assert!(shown.contains("outcome                           staged"));
}

#[test]
fn a_message_that_is_not_there_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    text(at, &[&SMALL[..], &["D"]].concat());
    let mut errors = String::new();
    for case in [
        "D 20150101.log:999",
        "D 19990101.log:0",
        "D 20150101.log",
        "D :0",
        "E 20150101.log:0",
    ] {
        let mut arguments = vec!["truth"];
        arguments.extend(case.split(' '));
        let output = bench(at, &arguments);
        assert_eq!(output.status.code(), Some(64), "{case}");
        let error = String::from_utf8(output.stderr).unwrap();
        errors.push_str(&format!("$ bench truth {case}\n{error}\n"));
    }
    insta::assert_snapshot!(errors);
}
