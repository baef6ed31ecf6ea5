//! The engine as a process of its own, driven over stdin and stdout.
//!
//! One workflow at a time. While one is in hand, another thread says every few seconds that the
//! worker is alive, and another reads on, so that the end of the input (the runner is gone) is
//! noticed at once.

use crate::batch::LogBatch;
use crate::error::{Error, Result};
use crate::ingest::{Engine, Options};
use crate::protocol::{Done, Hello, Ingest, Line, Ready, Reply, Request, VERSION};
use crate::settings::{KEYS, Settings};
use crate::stage::{Progress, Stage};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often a worker that works says so.
pub const HEARTBEAT: Duration = Duration::from_secs(5);

/// What happens when the input ends while a workflow is in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// The process ends at once: its runner is gone. What it committed stays, as after a kill.
    Exit,
    /// The workflow is finished first.
    Finish,
}

type Output<W> = Arc<Mutex<W>>;

/// Serves requests until `shutdown` or the end of the input.
///
/// # Errors
/// [`Error::Protocol`] for a line that is no request, or one out of order; what cannot be written.
/// A workflow that fails is answered and is no error here.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    at_end: AtEnd,
) -> Result<()> {
    let output = Arc::new(Mutex::new(output));
    let requests = read_requests(input, at_end);
    let mut served: Option<Served> = None;
    for request in requests {
        match (request?, &mut served) {
            (Request::Shutdown, _) => return Ok(()),
            (Request::Hello(hello), None) => match Served::new(hello) {
                Ok((new, ready)) => {
                    say(&output, Reply::Ready(ready))?;
                    served = Some(new);
                }
                Err(error) => say(&output, failed(None, &error))?,
            },
            (Request::Hello(_), Some(_)) => return Err(out_of_order("a second hello")),
            (Request::Ingest(_), None) => return Err(out_of_order("ingest before hello")),
            (Request::Ingest(ingest), Some(served)) => {
                let reply = match served.ingest(&ingest, &output) {
                    Ok(done) => Reply::Done(done),
                    Err(error) => failed(Some(&ingest), &error),
                };
                say(&output, reply)?;
            }
        }
    }
    Ok(())
}

fn out_of_order(what: &str) -> Error {
    Error::Protocol(format!("{what} came out of order"))
}

fn failed(ingest: Option<&Ingest>, error: &Error) -> Reply {
    Reply::Failed {
        workflow: ingest.map(|ingest| ingest.workflow),
        attempt: ingest.map(|ingest| ingest.attempt),
        message: error.to_string(),
        retryable: error.is_retryable(),
    }
}

fn say<W: Write>(output: &Output<W>, reply: Reply) -> Result<()> {
    let mut line = serde_json::to_vec(&Line::new(reply))
        .map_err(|error| Error::Protocol(format!("a reply cannot be written: {error}")))?;
    line.push(b'\n');
    let io = |source| Error::Io {
        action: "writing",
        path: PathBuf::from("stdout"),
        source,
    };
    let mut output = output
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    output.write_all(&line).map_err(io)?;
    output.flush().map_err(io)
}

/// Requests as they come, read on a thread of its own.
fn read_requests(input: impl BufRead + Send + 'static, at_end: AtEnd) -> Receiver<Result<Request>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in input.lines() {
            let request = match line {
                Ok(line) if line.trim().is_empty() => continue,
                Ok(line) => parse(&line),
                Err(source) => Err(Error::Io {
                    action: "reading",
                    path: PathBuf::from("stdin"),
                    source,
                }),
            };
            let last = matches!(request, Ok(Request::Shutdown) | Err(_));
            if sender.send(request).is_err() || last {
                return;
            }
        }
        if at_end == AtEnd::Exit {
            std::process::exit(0);
        }
    });
    receiver
}

fn parse(line: &str) -> Result<Request> {
    // The version is looked at first: a later one may hold messages that are unknown here.
    let value: Value = serde_json::from_str(line)
        .map_err(|error| Error::Protocol(format!("a line is no JSON object: {error}")))?;
    match value["protocol"].as_u64() {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => {
            return Err(Error::Protocol(format!(
                "version {version} is asked for, this worker speaks {VERSION}"
            )));
        }
        None => {
            return Err(Error::Protocol(
                "a line has no version: it needs \"protocol\": 1".into(),
            ));
        }
    }
    serde_json::from_value(value)
        .map_err(|error| Error::Protocol(format!("a line is no request: {error}")))
}

/// An engine that was greeted.
struct Served {
    engine: Engine,
    dataset: PathBuf,
    sequence: String,
}

impl Served {
    fn new(hello: Hello) -> Result<(Self, Ready)> {
        let mut settings = Settings::default();
        let mut unsupported = Vec::new();
        for (key, value) in &hello.settings {
            if KEYS.iter().any(|known| known.name == key) {
                settings.set(key, &text(value))?;
            } else {
                unsupported.push(key.clone());
            }
        }
        let mut options = Options {
            settings,
            ..Options::default()
        };
        if let Some(cpus) = hello.resources.cpus {
            options.threads = cpus.max(1) as usize;
        }
        if let Some(root) = hello.staging_root {
            options.staging_root = root;
        }
        options.storage.extend(hello.storage);
        let engine = Engine::open(&hello.lake, options)?;
        let effective = engine.settings().effective().0;
        let ready = Ready {
            engine: "embedded".to_owned(),
            versions: versions(),
            effective: effective
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
            unsupported,
        };
        let dataset = PathBuf::from(hello.dataset);
        Ok((
            Self {
                engine,
                dataset,
                sequence: hello.sequence,
            },
            ready,
        ))
    }

    fn ingest<W: Write + Send + 'static>(
        &mut self,
        ingest: &Ingest,
        output: &Output<W>,
    ) -> Result<Done> {
        let batch = LogBatch::of_manifest(&self.dataset, &ingest.manifest.logs)?;
        let workflow = format!("{}/{}", self.sequence, ingest.workflow);
        let alive = Heartbeats::start(ingest, output);
        let mut teller = Teller { ingest, output };
        let ledger = self.engine.ingest(&workflow, &batch, &mut teller)?;
        self.engine
            .after_workflow(ingest.workflow, ingest.last.then_some(ingest.workflow))?;
        drop(alive);
        let versions = ledger
            .state
            .iter()
            .map(|(table, state)| (table.clone(), state.version))
            .collect();
        Ok(Done {
            workflow: ingest.workflow,
            attempt: ingest.attempt,
            ledger,
            versions,
        })
    }
}

/// A setting's value as [`Settings::set`] reads it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn versions() -> BTreeMap<String, String> {
    BTreeMap::from([
        (
            "bench-embedded".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        (
            "deltalake".to_owned(),
            deltalake::crate_version().to_owned(),
        ),
    ])
}

/// Passes stages on as they are done.
struct Teller<'a, W> {
    ingest: &'a Ingest,
    output: &'a Output<W>,
}

impl<W: Write> Progress for Teller<'_, W> {
    fn stage(&mut self, stage: &Stage) {
        let Ingest {
            workflow, attempt, ..
        } = *self.ingest;
        // A runner that no longer listens is noticed at the answer.
        let _ = say(
            self.output,
            Reply::Stage {
                workflow,
                attempt,
                stage: stage.clone(),
            },
        );
    }
}

/// Says that the worker is alive until it is dropped.
struct Heartbeats {
    stop: Option<std::sync::mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Heartbeats {
    fn start<W: Write + Send + 'static>(ingest: &Ingest, output: &Output<W>) -> Self {
        let (stop, stopped) = channel();
        let output = Arc::clone(output);
        let Ingest {
            workflow, attempt, ..
        } = *ingest;
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                if say(&output, Reply::Heartbeat { workflow, attempt }).is_err() {
                    return;
                }
            }
        });
        Self {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Heartbeats {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
