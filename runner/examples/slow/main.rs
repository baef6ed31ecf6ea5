//! A worker that is slower than it should be, on purpose, and says nothing of it: the embedded engine
//! behind a wrapper.
//!
//! ```text
//! slow --percent 10       takes a tenth longer for each workflow
//! slow --partitions 64    cuts what it writes into so many parts, whatever was asked for
//! slow --rewrite          writes what a merge left once more, by compacting after each of them
//! ```
//!
//! It exists for the tests of the gate, which has to find the first by time and the others by counting
//! files and bytes. Without arguments it is the engine as it is. Its rows are right in any case: what it spoils is
//! speed and files alone (`faulty` lies about rows).

use bench_embedded::worker::{AtEnd, serve};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What is wrong with it.
#[derive(Clone, Default)]
struct Faults {
    /// How much longer a workflow takes, as a share.
    slower: f64,
    /// What the engine is set to, whatever was asked for.
    settings: Vec<(&'static str, Value)>,
}

impl Faults {
    fn from_arguments() -> Result<Self> {
        let mut faults = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or("a value is missing");
            match name.as_str() {
                "--percent" => faults.slower = value()?.parse::<f64>()? / 100.0,
                "--partitions" => {
                    let parts: u64 = value()?.parse()?;
                    faults.settings.push(("shuffle_partitions", json!(parts)));
                }
                "--rewrite" => faults.settings.extend([
                    ("auto_compact", json!(true)),
                    ("auto_compact_min_files", json!(2)),
                ]),
                _ => return Err("slow [--percent P] [--partitions N] [--rewrite]".into()),
            }
        }
        Ok(faults)
    }
}

fn main() -> ExitCode {
    match Faults::from_arguments().and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(faults: Faults) -> Result<()> {
    let (input, mut requests) = std::io::pipe()?;
    let (replies, output) = std::io::pipe()?;
    let begun: Arc<Mutex<HashMap<u64, Instant>>> = Arc::default();
    let asked: Arc<Mutex<Vec<(&'static str, Value)>>> = Arc::default();
    let told = (Arc::clone(&begun), Arc::clone(&asked));
    let slower = faults.slower;
    // What the runner says, on its way to the engine. At its end the pipe closes, and the engine ends
    // this process, as it would end its own.
    std::thread::spawn(move || -> std::io::Result<()> {
        for line in std::io::stdin().lines() {
            let mut message: Value = serde_json::from_str(&line?)?;
            match message["type"].as_str() {
                Some("hello") => change_settings(&mut message, &faults.settings, &told.1),
                Some("ingest") => {
                    let workflow = message["workflow"].as_u64().unwrap_or_default();
                    held(&told.0).insert(workflow, Instant::now());
                }
                _ => {}
            }
            writeln!(requests, "{message}")?;
        }
        Ok(())
    });
    // What the engine answers, on its way to the runner.
    let passing = std::thread::spawn(move || -> std::io::Result<()> {
        for line in BufReader::new(replies).lines() {
            let mut message: Value = serde_json::from_str(&line?)?;
            match message["type"].as_str() {
                Some("ready") => {
                    for (name, value) in held(&asked).drain(..) {
                        message["effective"][name] = value;
                    }
                }
                Some("done") => {
                    let workflow = message["workflow"].as_u64().unwrap_or_default();
                    if let Some(since) = held(&begun).remove(&workflow) {
                        std::thread::sleep(since.elapsed().mul_f64(slower));
                    }
                }
                _ => {}
            }
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "{message}")?;
            stdout.flush()?;
        }
        Ok(())
    });
    serve(BufReader::new(input), output, AtEnd::Exit)?;
    passing.join().map_err(|_| "a reply was lost")??;
    Ok(())
}

/// Changes what the engine is asked for, and keeps what it has to pretend.
fn change_settings(
    hello: &mut Value,
    settings: &[(&'static str, Value)],
    asked: &Mutex<Vec<(&'static str, Value)>>,
) {
    for (name, value) in settings {
        let before = std::mem::replace(&mut hello["settings"][*name], value.clone());
        let as_text = match before {
            Value::Null => continue,
            Value::String(text) => Value::String(text),
            other => Value::String(other.to_string()),
        };
        held(asked).push((name, as_text));
    }
}

fn held<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
