//! Worker processes, a monotonic clock and the tables of a lake.

use super::world::{Cost, Happening, Sent, StartError, Started, Usage, World};
use crate::interrupt;
use crate::probe::LakeProbe;
use crate::record::{ArmId, TableProbe};
use crate::worker::{
    Clock, LimitError, Limiter, Listener, Monitor, News, Process, ProcessId, Sample, Start, Told,
    log_path,
};
use bench_embedded::protocol::{Hello, Ingest, Request};
use rustix::process::Signal;
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

enum Message {
    News(News),
    Sample(Sample),
    Probed {
        workflow: u32,
        seconds: f64,
        probe: Result<TableProbe, String>,
    },
    Interrupt,
}

/// What the workers of an arm are.
pub(super) struct Workers<'a> {
    /// The arm.
    pub(super) arm: &'a ArmId,
    /// Program and arguments.
    pub(super) command: Vec<String>,
    /// What their environment has beside the runner's own.
    pub(super) environment: Vec<(String, String)>,
    /// `bench` itself.
    pub(super) launcher: PathBuf,
    /// What each is greeted with.
    pub(super) hello: Hello,
    /// Their limits.
    pub(super) limiter: Limiter,
    /// The run directory.
    pub(super) folder: &'a Path,
    /// Time between two samples.
    pub(super) sample_interval: Duration,
    /// Whether tables will be looked at.
    pub(super) probe: bool,
}

/// The world of one arm.
pub(super) struct RealWorld<'a> {
    workers: Workers<'a>,
    clock: Clock,
    listener: Listener,
    messages: Receiver<Message>,
    monitor: Monitor,
    prober: Option<Sender<u32>>,
    processes: HashMap<ProcessId, Process>,
    cpu_at_start: Duration,
    _interrupts: interrupt::Listening,
}

impl<'a> RealWorld<'a> {
    pub(super) fn new(workers: Workers<'a>, clock: Clock) -> Self {
        let (sender, messages) = channel();
        let told = sender.clone();
        let sampled = sender.clone();
        let interrupted = sender.clone();
        let monitor = Monitor::start(workers.sample_interval, clock, move |sample| {
            let _ = sampled.send(Message::Sample(sample));
        });
        let prober = workers.probe.then(|| {
            let (ask, asked) = channel();
            let lake = workers.hello.lake.clone();
            let storage = workers.hello.storage.clone();
            std::thread::spawn(move || {
                let mut probe = LakeProbe::new(&lake, &storage).map_err(|error| error.to_string());
                for workflow in asked {
                    let began = Instant::now();
                    // A table that makes the probe panic is one that cannot be seen.
                    let look = || match &mut probe {
                        Ok(probe) => probe.tables().map_err(|error| error.to_string()),
                        Err(error) => Err(error.clone()),
                    };
                    let seen = catch_unwind(AssertUnwindSafe(look))
                        .unwrap_or_else(|_| Err("an internal error".to_owned()));
                    let message = Message::Probed {
                        workflow,
                        seconds: began.elapsed().as_secs_f64(),
                        probe: seen.map(|tables| TableProbe { tables }),
                    };
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            });
            ask
        });
        Self {
            workers,
            clock,
            listener: Arc::new(move |news| {
                // A runner that no longer listens is about to end.
                let _ = told.send(Message::News(news));
            }),
            messages,
            monitor,
            prober,
            processes: HashMap::new(),
            cpu_at_start: cpu(),
            _interrupts: interrupt::listen(move || {
                let _ = interrupted.send(Message::Interrupt);
            }),
        }
    }

    fn happening(&self, message: Message) -> Happening {
        match message {
            Message::Sample(sample) => Happening::Sampled(sample),
            Message::Interrupt => Happening::Interrupt,
            Message::Probed {
                workflow,
                seconds,
                probe,
            } => Happening::Probed {
                workflow,
                seconds,
                probe,
            },
            Message::News(News { process, at, told }) => match told {
                Told::Reply(reply) => Happening::Reply { process, at, reply },
                Told::Breach(what) => Happening::Breach { process, what },
                Told::Exited(exit) => Happening::Exited {
                    process,
                    at,
                    exit,
                    by_watchdog: self
                        .processes
                        .get(&process)
                        .is_some_and(|process| process.watched.was_killed()),
                },
            },
        }
    }
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let nanoseconds = u32::try_from(used.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(used.tv_sec).unwrap_or(0), nanoseconds)
}

impl World for RealWorld<'_> {
    fn now(&mut self) -> Duration {
        self.clock.now()
    }

    fn start(&mut self, id: ProcessId) -> Result<Started, StartError> {
        let workers = &self.workers;
        let (group, cpus) = workers.limiter.place(id.worker, id.incarnation)?;
        let start = Start {
            id,
            command: &workers.command,
            environment: &workers.environment,
            launcher: &workers.launcher,
            cpus: &cpus,
            group,
            log: &log_path(workers.folder, workers.arm, id.worker),
        };
        let process = Process::start(start, self.clock, &self.listener)?;
        workers
            .limiter
            .set(process.group.as_ref(), &process.watched, None)?;
        self.monitor.watch(&process.watched);
        process.send(Request::Hello(workers.hello.clone()));
        let started = Started {
            pid: process.pid,
            start_ticks: process.start_ticks,
        };
        self.processes.insert(id, process);
        Ok(started)
    }

    fn send(&mut self, id: ProcessId, ingest: Ingest) {
        if let Some(process) = self.processes.get(&id) {
            process.send(Request::Ingest(ingest));
        }
    }

    fn limit(&mut self, id: ProcessId, lowered: Option<u64>) -> Result<Option<u64>, LimitError> {
        match self.processes.get(&id) {
            Some(process) => {
                let group = process.group.as_ref();
                self.workers.limiter.set(group, &process.watched, lowered)
            }
            None => Ok(None),
        }
    }

    fn signal(&mut self, id: ProcessId, signal: Sent) {
        let signal = match signal {
            Sent::Kill => Signal::KILL,
            Sent::Terminate => Signal::TERM,
            Sent::Fault => Signal::SEGV,
            Sent::Abort => Signal::ABORT,
            Sent::Stop => Signal::STOP,
            Sent::Continue => Signal::CONT,
        };
        if let Some(process) = self.processes.get(&id) {
            process.signal(signal);
        }
    }

    fn shut_down(&mut self, id: ProcessId) {
        if let Some(process) = self.processes.get_mut(&id) {
            process.shut_down();
        }
    }

    fn mark(&mut self, id: ProcessId) -> Usage {
        let Some(process) = self.processes.get(&id) else {
            return Usage::default();
        };
        process.watched.mark();
        Usage {
            peak_rss: None,
            cpu_seconds: process.watched.cpu_seconds(),
        }
    }

    fn usage(&mut self, id: ProcessId) -> Usage {
        let Some(process) = self.processes.get(&id) else {
            return Usage::default();
        };
        Usage {
            peak_rss: process.watched.peak_since_mark(),
            cpu_seconds: process.watched.cpu_seconds(),
        }
    }

    fn forget(&mut self, id: ProcessId) {
        if let Some(group) = self.processes.remove(&id).and_then(|process| process.group) {
            group.remove();
        }
    }

    fn cost(&mut self) -> Cost {
        Cost {
            sampling: self.monitor.cost(),
            runner: cpu().saturating_sub(self.cpu_at_start).as_secs_f64(),
        }
    }

    fn probe(&mut self, workflow: u32) {
        if let Some(prober) = &self.prober {
            // The prober lives as long as this.
            let _ = prober.send(workflow);
        }
    }

    fn wait(&mut self, until: Option<Duration>) -> Happening {
        let message = match until {
            None => self
                .messages
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => {
                let left = until.saturating_sub(self.clock.now());
                self.messages.recv_timeout(left)
            }
        };
        match message {
            Ok(message) => self.happening(message),
            // The sender of interrupts lives as long as this.
            Err(_) => Happening::Timer,
        }
    }
}

impl Drop for RealWorld<'_> {
    fn drop(&mut self) {
        for (_, process) in self.processes.drain() {
            process.signal(Signal::KILL);
            if let Some(group) = &process.group {
                group.remove();
            }
        }
    }
}
