//! A spec that cannot be met says where it is wrong, what is allowed, and what is near.

mod common;

use bench_generator::{Dataset, Overrides, PROFILES, Spec};
use common::{make, total};
use std::fmt::Write as _;

/// The error of a spec, with the folder of the test cut out.
fn error(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, text).unwrap();
    match Spec::load(path.to_str().unwrap(), &Overrides::default()) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error
            .to_string()
            .replace(folder.path().to_str().unwrap(), "…"),
    }
}

#[test]
fn every_mistake_in_a_spec_names_its_place_and_what_is_allowed() {
    let mut page = String::new();
    for text in [
        "nam = \"x\"",
        "[volume]\nmesages = 5",
        "[faults]\nmissing_eb = 0.1\nblank_acession = 0.2",
        "[volume]\nmessages = 0\nlog_files = 1",
        "[volume]\nmessages = 5\nlog_files = 6",
        "[volume]\nmessages = 5",
        "[volume]\nper_day = 5.0",
        "[volume]\nper_day = -1.0\ndays = 3",
        "[volume]\nmessages = 10\nlog_files = 2\nper_day = 5.0\ndays = 3",
        "[volume]\nstart = \"1969-12-31\"",
        "[volume]\nstart = \"2023-02-29\"",
        "[volume]\nstart = \"9998-01-01\"",
        "[volume]\nhours = [1.0, 2.0]",
        "[volume]\nweekdays = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]",
        "[volume]\nmessages = \"many\"",
        "encoding = \"utf8\"",
        "seed = -1",
        "[versions]\nera = \"modern\"",
        "[patients]\nstudies = [[65, 1]]",
        "[patients]\nempi = 1.5",
        "[life_cycle]\nfollow_ups = 0.5",
        "[faults]\nmissing_eb = 0.6\nshort_msh = 0.6",
        "base = \"nowhere\"",
        "base = 3",
        "name = ",
    ] {
        writeln!(page, "{}\n    {}\n", text.replace('\n', " ⏎ "), error(text)).unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn an_unknown_profile_is_told_the_shipped_ones() {
    let error = Spec::load("variad", &Overrides::default()).err().unwrap();
    insta::assert_snapshot!(error, @"there is no profile `variad`: shipped are varied, lifelike, webs, dirty, production; a file is given by its path");
}

#[test]
fn every_shipped_profile_is_valid_and_named_after_its_file() {
    for (name, _) in PROFILES {
        let spec = Spec::load(name, &Overrides::default()).unwrap();
        let file = serde_json::to_value(spec.file()).unwrap();
        assert_eq!(file["name"], name);
    }
}

#[test]
fn a_rate_by_hand_replaces_the_total_of_the_profile() {
    let overrides = Overrides {
        per_day: Some(5.0),
        days: Some(10),
        ..Overrides::default()
    };
    let spec = Spec::load("varied", &overrides).unwrap();
    let file = serde_json::to_value(spec.file()).unwrap();
    assert_eq!(file["volume"]["days"], 10);
    assert!(file["volume"].get("messages").is_none());
}

#[test]
fn messages_alone_keep_the_volume_of_a_log() {
    let overrides = Overrides {
        messages: Some(1_000),
        ..Overrides::default()
    };
    let spec = Spec::load("varied", &overrides).unwrap();
    let file = serde_json::to_value(spec.file()).unwrap();
    assert_eq!(file["volume"]["log_files"], 35);
}

#[test]
fn the_spec_in_a_data_set_makes_the_same_data_set() {
    let (first, again) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let made = make("dirty", &total(700, 30), first.path());
    let spec = Spec::resolved(made.spec.clone()).unwrap();
    let options = common::options(again.path(), 1);
    let remade = bench_generator::generate(spec, &options, &bench_generator::Silent).unwrap();
    assert_eq!(made, remade);
}

#[test]
fn a_message_is_looked_up_by_any_name_of_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let info = make("varied", &total(120, 6), folder.path());
    let dataset = Dataset::open(folder.path()).unwrap();
    let path = &info.files[2].path;
    let (_, name) = path.split_once('/').unwrap();
    let stem = name.strip_suffix(".log").unwrap();
    let whole = folder.path().join(path);
    let slots: Vec<u64> = [path, name, stem, whole.to_str().unwrap()]
        .iter()
        .map(|log| dataset.message(log, 1, |truth| truth.slot).unwrap())
        .collect();
    assert!(slots.windows(2).all(|pair| pair[0] == pair[1]));
    let none = dataset
        .message(name, 99_999, |_| ())
        .unwrap_err()
        .to_string();
    assert!(none.contains("messages 0 to"), "{none}");
    let none = dataset
        .message("20990101.log", 0, |_| ())
        .unwrap_err()
        .to_string();
    assert!(none.contains("no log 20990101.log"), "{none}");
}
