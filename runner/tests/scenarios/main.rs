//! Scenario files: how they are read, laid over each other, shown, described to editors, and planned.

mod commands;
mod errors;
mod layers;
mod plan;
mod properties;
mod schema;
mod shipped;
mod suites;

use bench_runner::scenario::{self, Loaded, ScenarioErrors};
use std::path::Path;

/// The least that a scenario needs.
const LEAST: &str = "format = 1\nname = \"x\"\n";

fn sets(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn parse(text: &str, pairs: &[(&str, &str)]) -> Result<Loaded, ScenarioErrors> {
    scenario::parse(text, Path::new("x.toml"), Path::new(""), &sets(pairs))
}

/// Reads what must be right.
fn read(rest: &str, pairs: &[(&str, &str)]) -> Loaded {
    parse(&format!("{LEAST}{rest}"), pairs).unwrap_or_else(|errors| panic!("{errors}"))
}
