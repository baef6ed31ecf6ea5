//! A play of workers in virtual time: engines with known durations, that die when the script says.

use super::conductor::{Arm, Conductor};
use super::world::{Cost, Happening, Sent, StartError, Started, Usage, World};
use crate::record::{
    ArmHistory, ArmId, Event, Exit, Journal, Limits, RunStatus, TableProbe, write_tables,
};
use crate::scenario::{
    Enforcement, Expect, Fault, FaultKind, Mode, Queue, Resources, Retry, Sequence, Target,
    TargetKind, Variant, When,
};
use crate::worker::{LimitError, ProcessId};
use bench_embedded::protocol::{Done, Ingest, Ready, Reply};
use bench_embedded::{Ledger, Stage};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

mod cases;
mod properties;

/// What an engine does with an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// It is done after so many seconds.
    Done(f64),
    /// It says that it failed.
    Fail { after: f64, retryable: bool },
    /// The kernel kills it at its memory limit.
    OutOfMemory(f64),
    /// It exits by itself.
    Exit { after: f64, code: i32 },
    /// It prints what is no reply.
    Breach(f64),
    /// It says nothing any more.
    Silent,
    /// It says every second that it is alive, and never ends.
    Endless,
}

/// Engines that do what a script says.
pub(super) struct Play<'a> {
    /// What becomes of an attempt of a workflow.
    script: &'a dyn Fn(u32, u32) -> Act,
    /// Seconds from a worker's start until it is ready.
    startup: f64,
    /// Seconds that looking at the tables takes.
    look: f64,
    now: Duration,
    agenda: BTreeMap<(Duration, u64), (Option<ProcessId>, Happening)>,
    order: u64,
    stopped: Vec<(ProcessId, Duration)>,
    /// Ticks: an attempt that is never done goes on no longer than this.
    pub(super) sent: Vec<(ProcessId, u32, Duration)>,
}

impl<'a> Play<'a> {
    pub(super) fn new(script: &'a dyn Fn(u32, u32) -> Act) -> Self {
        Self {
            script,
            startup: 0.5,
            look: 0.25,
            now: Duration::ZERO,
            agenda: BTreeMap::new(),
            order: 0,
            stopped: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Starts the clock where another runner's stopped.
    pub(super) fn from(mut self, now: f64) -> Self {
        self.now = Duration::from_secs_f64(now);
        self
    }

    /// A person interrupts at that time.
    pub(super) fn interrupted_at(mut self, seconds: f64) -> Self {
        self.at(Duration::from_secs_f64(seconds), None, Happening::Interrupt);
        self
    }

    fn at(&mut self, at: Duration, process: Option<ProcessId>, happening: Happening) {
        self.order += 1;
        self.agenda.insert((at, self.order), (process, happening));
    }

    fn after(
        &mut self,
        seconds: f64,
        process: ProcessId,
        make: impl FnOnce(Duration) -> Happening,
    ) {
        let at = self.now + Duration::from_secs_f64(seconds);
        self.at(at, Some(process), make(at));
    }

    fn says(&mut self, seconds: f64, process: ProcessId, reply: Reply) {
        self.after(seconds, process, |at| Happening::Reply {
            process,
            at,
            reply: Box::new(reply),
        });
    }

    /// Nothing that a process had in mind happens any more.
    fn silence(&mut self, process: ProcessId) {
        self.agenda.retain(|_, (of, _)| *of != Some(process));
    }

    fn exits(&mut self, seconds: f64, process: ProcessId, exit: Exit) {
        self.after(seconds, process, |at| Happening::Exited {
            process,
            at,
            exit,
            by_watchdog: false,
        });
    }
}

fn killed(signal: i32, oom_kills: u64) -> Exit {
    Exit {
        code: Some(128 + signal),
        signal: Some(signal),
        oom_kills: Some(oom_kills),
        peak_rss: Some(64 << 20),
        cpu_seconds: Some(2.0),
    }
}

impl World for Play<'_> {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn start(&mut self, process: ProcessId) -> Result<Started, StartError> {
        let ready = Ready {
            engine: "play".to_owned(),
            versions: BTreeMap::new(),
            effective: BTreeMap::new(),
            unsupported: Vec::new(),
        };
        self.says(self.startup, process, Reply::Ready(ready));
        Ok(Started {
            pid: 1000 + process.worker * 100 + process.incarnation,
            start_ticks: 7,
        })
    }

    fn send(&mut self, process: ProcessId, ingest: Ingest) {
        let Ingest {
            workflow, attempt, ..
        } = ingest;
        self.sent.push((process, workflow, self.now));
        let mut act = (self.script)(workflow, attempt);
        if self.stopped.iter().any(|(one, _)| *one == process) {
            act = Act::OutOfMemory(0.1);
        }
        let stage = |name: &str, seconds| Reply::Stage {
            workflow,
            attempt,
            stage: Stage {
                name: name.to_owned(),
                table: Some("reports".to_owned()),
                seconds,
                rows: 10,
                bytes: 1000,
                files: 2,
                version: Some(i64::from(workflow)),
            },
        };
        match act {
            Act::Done(after) => {
                self.says(after / 2.0, process, stage("reports", after / 2.0));
                let done = Done {
                    workflow,
                    attempt,
                    ledger: Ledger {
                        logs: 1,
                        messages: 10,
                        parsed: 10,
                        ..Ledger::default()
                    },
                    versions: BTreeMap::new(),
                    without_effect: BTreeMap::new(),
                };
                self.says(after, process, Reply::Done(done));
            }
            Act::Fail { after, retryable } => {
                let failed = Reply::Failed {
                    workflow: Some(workflow),
                    attempt: Some(attempt),
                    message: "the disk is full".to_owned(),
                    retryable,
                };
                self.says(after, process, failed);
            }
            Act::OutOfMemory(after) => self.exits(after, process, killed(9, 1)),
            Act::Exit { after, code } => {
                let exit = Exit {
                    code: Some(code),
                    ..Exit::default()
                };
                self.exits(after, process, exit);
            }
            Act::Breach(after) => self.after(after, process, |_| Happening::Breach {
                process,
                what: "a line that is no JSON object".to_owned(),
            }),
            Act::Silent => {}
            Act::Endless => {
                for second in 1..200 {
                    let alive = Reply::Heartbeat { workflow, attempt };
                    self.says(f64::from(second), process, alive);
                }
            }
        }
    }

    fn limit(
        &mut self,
        process: ProcessId,
        lowered: Option<u64>,
    ) -> Result<Option<u64>, LimitError> {
        match lowered {
            Some(_) => self.stopped.push((process, self.now)),
            None => self.stopped.retain(|(one, _)| *one != process),
        }
        Ok(lowered)
    }

    fn signal(&mut self, process: ProcessId, signal: Sent) {
        match signal {
            Sent::Stop | Sent::Continue => {}
            _ => {
                self.silence(process);
                self.exits(0.0, process, killed(9, 0));
            }
        }
    }

    fn shut_down(&mut self, process: ProcessId) {
        let exit = Exit {
            code: Some(0),
            ..Exit::default()
        };
        self.exits(0.0, process, exit);
    }

    fn mark(&mut self, _: ProcessId) -> Usage {
        Usage {
            peak_rss: None,
            cpu_seconds: Some(1.0),
        }
    }

    fn usage(&mut self, _: ProcessId) -> Usage {
        Usage {
            peak_rss: Some(32 << 20),
            cpu_seconds: Some(1.5),
        }
    }

    fn forget(&mut self, process: ProcessId) {
        self.silence(process);
    }

    fn cost(&mut self) -> Cost {
        Cost::default()
    }

    fn probe(&mut self, workflow: u32) {
        let seconds = self.look;
        let at = self.now + Duration::from_secs_f64(seconds);
        let seen = Happening::Probed {
            workflow,
            seconds,
            probe: Ok(TableProbe::default()),
        };
        self.at(at, None, seen);
    }

    fn wait(&mut self, until: Option<Duration>) -> Happening {
        let next = self.agenda.first_key_value().map(|(key, _)| *key);
        match (next, until) {
            (Some((at, _)), Some(until)) if until < at => {
                self.now = self.now.max(until);
                Happening::Timer
            }
            (Some(key), _) => {
                self.now = self.now.max(key.0);
                let (_, happening) = self.agenda.remove(&key).expect("it is the first one");
                happening
            }
            (None, Some(until)) => {
                self.now = self.now.max(until);
                Happening::Timer
            }
            (None, None) => panic!("nothing will ever happen"),
        }
    }
}

/// A variant with so many workers, that retries after a second, two, four.
pub(super) fn variant(mode: Mode, workers: u32) -> Variant {
    Variant {
        name: "play".to_owned(),
        expect: Expect::Complete,
        sequence: Sequence {
            mode,
            workers,
            slots: 1,
            files_per_workflow: 1,
            passes: 1,
            stop_after: None,
            retry: Retry {
                max_attempts: 3,
                initial: Duration::from_secs(1),
                factor: 2.0,
                max: Duration::from_secs(60),
            },
            deadline: None,
            attempt_timeout: None,
            seed: 1,
        },
        target: Target {
            kind: TargetKind::Command,
            command: Vec::new(),
            lake: None,
            storage: BTreeMap::new(),
            start_timeout: Duration::from_secs(60),
            heartbeat_timeout: Duration::from_secs(10),
            spark: None,
        },
        resources: Resources {
            memory: None,
            cpus: None,
            enforcement: Enforcement::Auto,
        },
        settings: BTreeMap::new(),
        faults: Vec::new(),
    }
}

/// Launches every so many seconds.
pub(super) fn concurrent(seconds: f64, queue: Queue) -> Mode {
    Mode::Concurrent {
        launch_interval: Duration::from_secs_f64(seconds),
        queue,
    }
}

pub(super) fn fault(workflow: u32, attempt: u32, kind: FaultKind) -> Fault {
    Fault {
        workflow,
        attempt,
        kind,
    }
}

/// Plays an arm and returns how it ended; its records are in `folder`.
pub(super) fn play(
    folder: &Path,
    variant: &Variant,
    workflows: usize,
    world: &mut Play<'_>,
    history: Option<&ArmHistory>,
) -> RunStatus {
    let id = ArmId {
        variant: variant.name.clone(),
        repeat: 1,
    };
    let batches = vec![vec!["a.log".to_owned()]; workflows];
    let mut journal = match history {
        Some(_) => Journal::resume(folder).unwrap(),
        None => {
            let mut journal = Journal::create(folder).unwrap();
            let started = Event::ArmStarted {
                arm: id.clone(),
                lake: "lake".to_owned(),
                workflows: u32::try_from(workflows).unwrap(),
                limits: Limits::default(),
            };
            journal.write(0.0, started).unwrap();
            journal
        }
    };
    let arm = Arm {
        id,
        variant,
        batches: &batches,
        probe: true,
        history,
    };
    let mut watch = |_: &Event| {};
    let status = Conductor::new(world, &mut journal, &mut watch, arm)
        .conduct()
        .unwrap();
    write_tables(folder).unwrap();
    status
}

/// A file of the records.
pub(super) fn file(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Some columns of a file of the records, as a table.
pub(super) fn columns(folder: &Path, name: &str, wanted: &[&str]) -> String {
    let text = file(folder, name);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let at: Vec<usize> = wanted
        .iter()
        .map(|name| headers.iter().position(|one| one == *name).expect(name))
        .collect();
    let mut table = wanted.join(" | ") + "\n";
    for record in reader.records() {
        let record = record.unwrap();
        let cell = |&at: &usize| Some(&record[at]).filter(|cell| !cell.is_empty());
        let cells: Vec<&str> = at.iter().map(|at| cell(at).unwrap_or("-")).collect();
        table += &(cells.join(" | ") + "\n");
    }
    table
}

/// A kill by the scenario after so many seconds.
pub(super) fn kill_after(seconds: f64) -> FaultKind {
    FaultKind::Kill {
        signal: "SIGKILL".to_owned(),
        at: When::After(Duration::from_secs_f64(seconds)),
    }
}
