//! Every lie of the `faulty` worker is found, in the table that it is about and at its place.

use crate::drive::{Worker, batches, copy_folder, faulty, generate_spec, subject};
use bench_generator::Overrides;
use bench_runner::verify::{Check, Ingested, Truth, Verification, verify};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
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

/// A data set, and a lake with all workflows but the one that is lied about.
struct World {
    folder: tempfile::TempDir,
    order: Vec<Vec<String>>,
    before: Vec<Ingested>,
    /// A log of the last workflow whose first message is a row.
    good_log: String,
}

/// The workflow that is lied about, which is the last.
const LAST: u32 = 3;

impl World {
    fn make() -> Self {
        let folder = tempfile::tempdir().expect("a folder is made");
        let dataset = folder.path().join("data");
        generate_spec(SPEC, &Overrides::default(), &dataset);
        let order = batches(&dataset, 120);
        assert_eq!(order.len(), LAST as usize);
        let mut worker = Worker::start(&[], &dataset, &folder.path().join("lake"), &settings());
        let before = (1..LAST).zip(&order);
        let before = before
            .map(|(number, logs)| worker.ingest(number, logs))
            .collect();
        worker.end();
        let opened = bench_generator::Dataset::open(&dataset).expect("it is a data set");
        let is_good = |log: &&String| {
            let is_row = opened.message(log, 0, |truth| truth.row.is_some());
            is_row.unwrap_or(false)
        };
        let good_log = order[LAST as usize - 1].iter().find(is_good);
        Self {
            good_log: good_log.expect("a log is good").clone(),
            folder,
            order,
            before,
        }
    }

    fn dataset(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Tells one lie and verifies, with a truth or without.
    fn tell(&self, lie: &str, table: &str, truth: Truth) -> (Told, Verification) {
        let dataset = self.dataset();
        let folder = tempfile::tempdir().expect("a folder is made");
        let lake = folder.path().join("lake");
        copy_folder(&self.folder.path().join("lake"), &lake);
        let logs = &self.order[LAST as usize - 1];
        let number = LAST.to_string();
        let mut arguments = vec!["--lie", lie, "--workflow", &number];
        arguments.extend(["--log", &self.good_log]);
        if !table.is_empty() {
            arguments.extend(["--table", table]);
        }
        let mut worker = Worker::start(&arguments, &dataset, &lake, &settings());
        let mut workflows = self.before.clone();
        workflows.push(worker.ingest(LAST, logs));
        let told = Told::read(&worker.end());
        let mut subject = subject(&dataset, &lake, workflows);
        subject.truth = truth;
        (told, verify(&subject).expect("it can be verified"))
    }
}

fn settings() -> Value {
    json!({ "shuffle_partitions": 2, "adaptive": false, "checkpoint_interval": 2 })
}

/// Every lie with every table that it is told about, or with one of them.
fn lies(every_table: bool) -> Vec<(String, String)> {
    let output = Command::new(faulty())
        .arg("--list")
        .output()
        .expect("it can be started");
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines()
        .enumerate()
        .flat_map(|(number, line)| {
            let (lie, tables) = line.split_once('\t').expect("a lie and its tables");
            let mut tables: Vec<&str> = tables.split(' ').collect();
            if !every_table {
                tables = vec![tables[number % tables.len()]];
            }
            let pair = |table: &str| (lie.to_owned(), table.to_owned());
            tables.into_iter().map(pair).collect::<Vec<_>>()
        })
        .collect()
}

/// Tells every lie; those that are not found at their place.
fn not_found(truth: Truth, every_table: bool) -> Vec<String> {
    let world = World::make();
    let lies = lies(every_table);
    assert!(
        lies.len() >= if every_table { 90 } else { 40 },
        "only {} lies",
        lies.len()
    );
    let next = AtomicUsize::new(0);
    let run = || {
        let mut wrong = Vec::new();
        while let Some((lie, table)) = lies.get(next.fetch_add(1, Ordering::Relaxed)) {
            let told = catch_unwind(AssertUnwindSafe(|| world.tell(lie, table, truth)));
            let Ok((told, verification)) = told else {
                wrong.push(format!("{lie} {table}: could not be told"));
                continue;
            };
            let is_about = |check: &&Check| {
                told.table.is_none() || check.table == told.table || check.table.is_none()
            };
            let failures: Vec<&Check> = verification.failures().filter(is_about).collect();
            if failures.is_empty() {
                wrong.push(format!("{lie} {table}: not found"));
            } else if !failures.iter().any(|check| told.is_named_by(check)) {
                wrong.push(format!("{lie} {table}: not at its place: {failures:#?}"));
            }
        }
        wrong
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(run);
        let mut wrong = run();
        wrong.extend(other.join().expect("no lie panics"));
        wrong
    })
}

#[test]
fn every_lie_is_found_where_it_was_told() {
    let wrong = not_found(Truth::Generated, false);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "tells every lie about every table; `just test-slow` runs it"]
fn every_lie_is_found_in_every_table_with_a_truth_and_without() {
    for truth in [Truth::Generated, Truth::ReadFromLogs] {
        let wrong = not_found(truth, true);
        assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    }
}
