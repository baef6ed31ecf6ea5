//! Every lie of the `faulty` worker is found, in the table that it is about and at its place.

use crate::drive::{Worker, batches, faulty, generate_spec, subject};
use bench_generator::Overrides;
use bench_runner::verify::{Check, Truth, Verification, verify};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A data set in which each lie can be told.
const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lies.toml");

/// What the worker told of its lie on stderr.
struct Told {
    table: Option<String>,
    sources: Vec<String>,
    files: Vec<String>,
}

impl Told {
    fn read(stderr: &str) -> Self {
        let line = stderr.lines().find_map(|line| line.strip_prefix("LIE "));
        let told: Value = serde_json::from_str(line.expect(stderr)).expect("it is JSON");
        let texts = |key: &str| {
            let all = told[key].as_array().expect("it is a list").iter();
            all.map(|text| text.as_str().expect("it is text").to_owned())
                .collect()
        };
        Self {
            table: told["table"].as_str().map(str::to_owned),
            sources: texts("sources"),
            files: texts("files"),
        }
    }

    /// Whether a check names the place of the lie.
    fn is_named_by(&self, check: &Check) -> bool {
        if self.sources.is_empty() && self.files.is_empty() {
            return true;
        }
        check.positions.iter().any(|position| {
            let log = position.log.as_deref();
            let source = log.zip(position.ordinal).is_some_and(|(log, ordinal)| {
                let stem = Path::new(log).file_stem().and_then(|stem| stem.to_str());
                let name = format!("/{}_{ordinal}.hl7", stem.expect("a log has a stem"));
                self.sources.iter().any(|source| source.ends_with(&name))
            });
            let is = |file: Option<&str>| file.is_some_and(|f| self.files.iter().any(|x| x == f));
            source || is(log) || is(position.data_file.as_deref())
        })
    }
}

/// Tells one lie and verifies.
fn tell(
    dataset: &Path,
    lie: &str,
    table: &str,
    workflow: u32,
) -> (Told, Verification, Verification) {
    let folder = tempfile::tempdir().expect("a folder is made");
    let lake = folder.path().join("lake");
    let order = batches(dataset, 120);
    let number = workflow.to_string();
    let log = order[workflow as usize - 1]
        .iter()
        .find(|log| is_good(dataset, log));
    let mut arguments = vec!["--lie", lie, "--workflow", &number];
    if !table.is_empty() {
        arguments.extend(["--table", table]);
    }
    arguments.extend(["--log", log.expect("a log is good")]);
    let settings = json!({ "shuffle_partitions": 2, "adaptive": false });
    let mut worker = Worker::start(&arguments, dataset, &lake, &settings);
    let workflows = (1..)
        .zip(&order)
        .map(|(number, logs)| worker.ingest(number, logs))
        .collect();
    let told = Told::read(&worker.end());
    let mut subject = subject(dataset, &lake, workflows);
    let verification = verify(&subject).expect("it can be verified");
    subject.truth = Truth::ReadFromLogs;
    let without_truth = verify(&subject).expect("it can be verified");
    (told, verification, without_truth)
}

/// Whether a log's first message is a row.
fn is_good(dataset: &Path, log: &str) -> bool {
    let opened = bench_generator::Dataset::open(dataset).expect("it is a data set");
    let is_row = opened.message(log, 0, |truth| truth.row.is_some());
    is_row.unwrap_or(false)
}

fn lies() -> Vec<(String, String)> {
    let output = Command::new(faulty())
        .arg("--list")
        .output()
        .expect("it can be started");
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines()
        .flat_map(|line| {
            let (lie, tables) = line.split_once('\t').expect("a lie and its tables");
            let tables: Vec<&str> = tables.split(' ').collect();
            tables
                .into_iter()
                .map(|table| (lie.to_owned(), table.to_owned()))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_lie_is_found_where_it_was_told() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let dataset = folder.path().join("data");
    generate_spec(SPEC, &Overrides::default(), &dataset);
    let lies = lies();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut wrong = Vec::new();
        while let Some((lie, table)) = lies.get(next.fetch_add(1, Ordering::Relaxed)) {
            let told = catch_unwind(AssertUnwindSafe(|| tell(&dataset, lie, table, 3)));
            let Ok((told, with, without)) = told else {
                wrong.push(format!("{lie} {table}: could not be told"));
                continue;
            };
            for (how, verification) in [("with truth", with), ("without", without)] {
                let place = |check: &&Check| {
                    told.table.is_none() || check.table == told.table || check.table.is_none()
                };
                let of_table: Vec<&Check> = verification.failures().filter(place).collect();
                if of_table.is_empty() {
                    wrong.push(format!("{lie} {table} {how}: not found"));
                } else if !of_table.iter().any(|check| told.is_named_by(check)) {
                    wrong.push(format!(
                        "{lie} {table} {how}: not at its place: {of_table:#?}"
                    ));
                }
            }
        }
        wrong
    };
    let wrong = std::thread::scope(|scope| {
        let other = scope.spawn(run);
        let mut wrong = run();
        wrong.extend(other.join().expect("no lie panics"));
        wrong
    });
    assert!(lies.len() > 70, "only {} lies", lies.len());
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        lies.len(),
        wrong.join("\n")
    );
}
