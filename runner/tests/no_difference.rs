//! Two arms that are the same must not be told apart: real arms of the null target, in turns.

use bench_reports::statistics::paired::{FEWEST, Verdict, paired};
use std::collections::BTreeMap;
use std::process::Command;

const SCENARIO: &str = r#"
format = 1
name = "same"

[dataset]
messages = 60
log_files = 6

[sequence]
files_per_workflow = 1

[target]
kind = "null"

[verify]
rows = false

[measure]
repeats = REPEATS
probe = false

[variants.a]
[variants.b]
"#;

/// How many comparisons of six pairs tell two arms apart that are the same, and of how many.
fn told_apart(repeats: usize) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let scenario = SCENARIO.replace("REPEATS", &repeats.to_string());
    std::fs::write(folder.path().join("same.toml"), scenario).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["run", "same.toml", "--quiet", "--cache", "cache"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let runs = std::fs::read_dir(folder.path().join("runs")).unwrap();
    let run = runs.map(|run| run.unwrap().path()).next().unwrap();
    let mut service: BTreeMap<(String, usize), f64> = BTreeMap::new();
    let mut rows = csv::Reader::from_path(run.join("workflows.csv")).unwrap();
    for row in rows.deserialize::<BTreeMap<String, String>>() {
        let row = row.unwrap();
        let key = (row["variant"].clone(), row["repeat"].parse().unwrap());
        *service.entry(key).or_default() += row["service_s"].parse::<f64>().unwrap();
    }
    let pairs: Vec<(f64, f64)> = (1..=repeats)
        .map(|repeat| {
            let of = |variant: &str| service[&(variant.to_owned(), repeat)];
            (of("a"), of("b"))
        })
        .collect();
    let verdicts = pairs
        .chunks_exact(FEWEST)
        .map(|pairs| paired(pairs, 1).unwrap().verdict());
    let verdicts: Vec<Verdict> = verdicts.collect();
    let apart = |one: &&Verdict| **one != Verdict::NoDifferenceShown;
    (verdicts.iter().filter(apart).count(), verdicts.len())
}

#[test]
fn two_arms_that_are_the_same_are_seldom_told_apart() {
    // Each is told apart with a probability of 2 in 64; three of eight with less than 1 in 600.
    let (apart, all) = told_apart(8 * FEWEST);
    assert_eq!(all, 8);
    assert!(apart <= 2, "{apart} of {all}");
}

#[test]
#[ignore = "takes minutes"]
fn of_a_hundred_comparisons_of_the_same_at_most_five_in_a_hundred_see_a_difference() {
    let (apart, all) = told_apart(100 * FEWEST);
    println!("{apart} of {all} comparisons of two arms that are the same see a difference");
    // Ten of a hundred at 2 in 64 come less than once in a thousand.
    assert!(apart < 10, "{apart} of {all}");
}
