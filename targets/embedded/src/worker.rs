//! The engine as a process of its own, driven over stdin and stdout.
//!
//! A runner that gives it several workflows at a time has them ingested at a time, each by an engine
//! of its own on the same lake, as other writers are. While one is in hand, another thread says every
//! few seconds that the worker is alive, and another reads on, so that the end of the input (the
//! runner is gone) is noticed at once.

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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
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
    let mut served: Option<Arc<Served>> = None;
    let mut in_hand: Vec<JoinHandle<Result<()>>> = Vec::new();
    for request in requests {
        match (request?, &mut served) {
            (Request::Shutdown, _) => break,
            (Request::Hello(hello), None) => match Served::new(hello) {
                Ok((new, ready)) => {
                    say(&output, Reply::Ready(ready))?;
                    served = Some(Arc::new(new));
                }
                Err(error) => say(&output, failed(None, &error))?,
            },
            (Request::Hello(_), Some(_)) => return Err(out_of_order("a second hello")),
            (Request::Ingest(_), None) => return Err(out_of_order("ingest before hello")),
            (Request::Ingest(ingest), Some(served)) => {
                let (served, output) = (Arc::clone(served), Arc::clone(&output));
                wait_for_a_slot(&mut in_hand, served.slots)?;
                in_hand.push(std::thread::spawn(move || {
                    let _end = EndOnPanic;
                    let reply = match served.ingest(&ingest, &output) {
                        Ok(done) => Reply::Done(done),
                        Err(error) => failed(Some(&ingest), &error),
                    };
                    say(&output, reply)
                }));
            }
        }
    }
    in_hand.into_iter().try_for_each(wait_for)
}

/// Lets go of what is done, and waits while every slot has something in hand.
fn wait_for_a_slot(in_hand: &mut Vec<JoinHandle<Result<()>>>, slots: usize) -> Result<()> {
    loop {
        for done in in_hand.extract_if(.., |one| one.is_finished()) {
            wait_for(done)?;
        }
        match in_hand.pop_if(|_| slots == 1) {
            Some(only) => wait_for(only)?,
            None if in_hand.len() < slots => return Ok(()),
            // An answer is told a moment before its slot is free.
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn wait_for(in_hand: JoinHandle<Result<()>>) -> Result<()> {
    in_hand
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A panic in a workflow's thread is one of the worker: it ends at once, with the exit code of an
/// internal error, so that the runner does not wait for an answer.
struct EndOnPanic;

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::exit(70);
        }
    }
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
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
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

/// A worker that was greeted.
struct Served {
    /// Engines that have nothing in hand. There are as many as there were ever workflows at a time.
    idle: Mutex<Vec<Engine>>,
    lake: String,
    options: Options,
    /// Workflows at a time.
    slots: usize,
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
        let engine = Engine::open(&hello.lake, options.clone())?;
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
                idle: Mutex::new(vec![engine]),
                lake: hello.lake,
                options,
                slots: hello.resources.slots.unwrap_or(1).max(1) as usize,
                dataset,
                sequence: hello.sequence,
            },
            ready,
        ))
    }

    fn ingest<W: Write + Send + 'static>(
        &self,
        ingest: &Ingest,
        output: &Output<W>,
    ) -> Result<Done> {
        let idle = self.idle().pop();
        let mut engine = match idle {
            Some(engine) => engine,
            None => Engine::open(&self.lake, self.options.clone())?,
        };
        let done = self.ingest_with(&mut engine, ingest, output);
        self.idle().push(engine);
        done
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Engine>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ingest_with<W: Write + Send + 'static>(
        &self,
        engine: &mut Engine,
        ingest: &Ingest,
        output: &Output<W>,
    ) -> Result<Done> {
        let batch = LogBatch::of_manifest(&self.dataset, &ingest.manifest.logs)?;
        let workflow = format!("{}/{}", self.sequence, ingest.workflow);
        let alive = Heartbeats::start(ingest, output);
        let mut teller = Teller { ingest, output };
        let ledger = engine.ingest(&workflow, &batch, &mut teller)?;
        engine.after_workflow(ingest.workflow, ingest.last.then_some(ingest.workflow))?;
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
            without_effect: BTreeMap::new(),
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
