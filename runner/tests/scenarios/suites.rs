//! Suites: those that are shipped, and what a faulty one is told.

use bench_runner::suite::{Shard, Suite, load, parse};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench-suites");

/// Each suite that is shipped. Scenarios live in the folder, too; a suite has `[[scenarios]]`.
fn shipped() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).unwrap();
    let mut suites: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|one| one == "toml"))
        .filter(|path| {
            std::fs::read_to_string(path)
                .unwrap()
                .contains("[[scenarios]]")
        })
        .collect();
    suites.sort();
    suites
}

fn names(suite: &Suite, shard: Option<Shard>) -> Vec<String> {
    let members = suite.in_shard(shard);
    members.iter().map(|one| one.name().to_owned()).collect()
}

fn told(text: &str, sets: &[(&str, &str)]) -> String {
    let sets: Vec<(String, String)> = sets
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    parse(text, Path::new("s.toml"), &sets)
        .unwrap_err()
        .to_string()
}

const LEAST: &str = "format = 1\nname = \"s\"\n[[scenarios]]\nscenario = \"quickstart\"\n";

#[test]
fn every_suite_that_is_shipped_loads_and_is_called_like_its_file() {
    let suites = shipped();
    assert_eq!(suites.len(), 2, "smoke and nightly");
    for path in suites {
        let suite = load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(suite.name, path.file_stem().unwrap().to_string_lossy());
        assert!(suite.about.is_some(), "{} says what it is for", suite.name);
    }
}

#[test]
fn a_suite_that_is_shared_out_does_each_scenario_once() {
    for path in shipped() {
        let suite = load(&path, &[]).unwrap();
        for count in 1..=suite.scenarios.len() + 1 {
            let parts = (1..=count).map(|index| names(&suite, Shard::new(index, count)));
            let all: Vec<String> = parts.flatten().collect();
            assert_eq!(all.len(), suite.scenarios.len());
            let all: BTreeSet<String> = all.into_iter().collect();
            assert_eq!(all.len(), suite.scenarios.len(), "{count} shards");
        }
    }
}

#[test]
fn the_shards_of_the_night_are_even() {
    let suite = load(&Path::new(FOLDER).join("nightly.toml"), &[]).unwrap();
    let sums: Vec<f64> = (1..=3)
        .map(|index| suite.in_shard(Shard::new(index, 3)))
        .map(|members| members.iter().map(|one| one.seconds).sum())
        .collect();
    let most = sums.iter().copied().fold(0.0, f64::max);
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(most <= 1.25 * least, "{sums:?}");
}

#[test]
fn what_a_suite_sets_lies_over_the_scenario_and_under_the_command_line() {
    let text = format!(
        "{LEAST}name = \"mine\"\nrepeats = 3\ntime = \"2min\"\n\
         set.settings.shuffle_partitions = 7\nset.variants.tuned.resources.memory = \"1GiB\"\n\
         set.faults = [{{ workflow = 2, kill = \"SIGKILL\", stage = \"curated\" }}]\n"
    );
    let sets = [("measure.repeats".to_owned(), "2".to_owned())];
    let suite = parse(&text, Path::new("s.toml"), &sets).unwrap_or_else(|error| panic!("{error}"));
    let [member] = suite.scenarios.as_slice() else {
        panic!("one scenario")
    };
    assert_eq!(member.name(), "mine");
    assert!((member.seconds - 120.0).abs() < 1e-9);
    let scenario = &member.loaded.scenario;
    assert_eq!(scenario.measure.repeats, 2);
    let tuned = scenario
        .variants
        .iter()
        .find(|one| one.name == "tuned")
        .unwrap();
    assert_eq!(tuned.resources.memory, Some(1 << 30));
    assert_eq!(tuned.faults.len(), 1);
    assert_eq!(tuned.settings["shuffle_partitions"], 7);
}

#[test]
fn a_scenario_without_a_time_is_estimated_and_one_that_cannot_be_needs_it() {
    let suite = parse(LEAST, Path::new("s.toml"), &[]).unwrap();
    assert!(suite.scenarios[0].seconds > 1.0);
    let command = "set.target = { kind = \"command\", command = [\"true\"] }\n";
    let error = told(&format!("{LEAST}{command}"), &[]);
    assert!(error.contains("time = \"5min\""), "{error}");
    let text = format!("{LEAST}{command}time = \"5min\"\n");
    assert!(parse(&text, Path::new("s.toml"), &[]).is_ok());
}

#[test]
fn everything_that_is_wrong_with_a_suite_is_told_at_once_with_its_place() {
    let mut all = String::new();
    for (what, text) in [
        ("an empty file", String::new()),
        ("no toml", "format = \n[[scenarios]\n".to_owned()),
        (
            "no scenarios",
            "format = 1\nname = \"s\"\nscenarios = []\n".to_owned(),
        ),
        (
            "wrong keys and values",
            "format = 2\nname = \"a b\"\nabuot = \"x\"\n\
             [[scenarios]]\nscenaro = \"quickstart\"\n\
             [[scenarios]]\nscenario = \"quickstart\"\nrepeats = 0\ntime = \"soon\"\nset = 3\nweight = 2\n"
                .to_owned(),
        ),
        (
            "a scenario that is not there",
            "format = 1\nname = \"s\"\n[[scenarios]]\nscenario = \"quickstrat\"\n\
             [[scenarios]]\nscenario = \"gone/away.toml\"\n"
                .to_owned(),
        ),
        (
            "two of a name",
            format!("{LEAST}[[scenarios]]\nscenario = \"quickstart\"\n"),
        ),
        (
            "a key of a scenario that is none",
            format!("{LEAST}set.settings.shufle_partitions = 3\nset.measure.repeats = \"many\"\n"),
        ),
    ] {
        let _ = writeln!(all, "## {what}\n{}\n", told(&text, &[]));
    }
    let by_hand = told(LEAST, &[("settings.shufle_partitions", "3")]);
    let _ = writeln!(all, "## set by hand\n{by_hand}");
    insta::assert_snapshot!("wrong_suites", all);
}
