//! Conducts one arm: carries out what its sequence says, on workers that may die at any time, and
//! writes down everything before it happens.

mod ends;
mod replies;
mod starts;

use super::hand::{Hand, Timer};
use super::world::{Happening, Sent, StartError, World};
use crate::record::{
    ArmHistory, ArmId, Cause, Event, Journal, JournalError, RunStatus, TableProbe,
};
use crate::scenario::{Mode, Variant};
use crate::sequence::{Ended, Sequence, Step};
use crate::worker::{LimitError, ProcessId};
use std::time::Duration;

/// A worker that ends so many times in a row without becoming ready is given up.
const STARTS: u32 = 3;
/// Workers that were asked to end are killed after so long.
const FAREWELL: Duration = Duration::from_secs(30);

/// Why an arm could not be conducted to its end.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A worker cannot be started.
    #[error("cannot start worker {worker} of {arm}")]
    Start {
        /// The arm.
        arm: ArmId,
        /// The worker.
        worker: u32,
        /// Why.
        source: StartError,
    },
    /// A limit cannot be set.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A worker does not become ready.
    #[error(
        "worker {worker} of {arm} ended {STARTS} times before it was ready: the worker {why}; its log is logs/{arm}-worker-{worker}.log in the run directory"
    )]
    NeverReady {
        /// The arm.
        arm: ArmId,
        /// The worker.
        worker: u32,
        /// How it ended.
        why: String,
    },
    /// A worker refuses what it is asked to work on.
    #[error("worker {worker} of {arm} cannot work as asked: {message}")]
    Refused {
        /// The arm.
        arm: ArmId,
        /// The worker.
        worker: u32,
        /// What it said.
        message: String,
    },
}

/// What an arm is.
#[derive(Debug)]
pub struct Arm<'a> {
    /// Its name.
    pub id: ArmId,
    /// Its variant.
    pub variant: &'a Variant,
    /// The logs of each workflow, relative to the data set.
    pub batches: &'a [Vec<String>],
    /// Whether tables are looked at after every workflow.
    pub probe: bool,
    /// What another runner has done of it.
    pub history: Option<&'a ArmHistory>,
}

/// What a worker is doing.
#[derive(Debug)]
enum State {
    /// There is no process.
    Down,
    /// It was started and greeted.
    Starting { since: Duration },
    /// It is ready.
    Ready,
    /// It was told to end, or killed.
    Dying {
        cause: Cause,
        detail: Option<String>,
    },
}

#[derive(Debug)]
struct Worker {
    process: ProcessId,
    state: State,
    hands: Vec<Hand>,
    /// Ends in a row without having been ready.
    unready: u32,
    /// Whether its limit is lowered for an attempt.
    lowered: bool,
}

/// Conducts an arm.
pub struct Conductor<'a, W> {
    world: &'a mut W,
    journal: &'a mut Journal,
    watch: &'a mut dyn FnMut(&Event),
    arm: Arm<'a>,
    workers: Vec<Worker>,
    sequence: Option<Sequence>,
    timers: Vec<Timer>,
    probes: u32,
    probe_seconds: f64,
    over: Option<RunStatus>,
    interrupted: bool,
}

impl<'a, W: World> Conductor<'a, W> {
    /// A conductor for an arm whose beginning is in the journal.
    pub fn new(
        world: &'a mut W,
        journal: &'a mut Journal,
        watch: &'a mut dyn FnMut(&Event),
        arm: Arm<'a>,
    ) -> Self {
        let workers = (1..=arm.variant.sequence.workers.max(1))
            .map(|worker| Worker {
                process: ProcessId {
                    worker,
                    incarnation: arm.history.map_or(0, |history| {
                        let own = history.workers.iter().filter(|one| one.worker == worker);
                        own.map(|one| one.incarnation).max().unwrap_or(0)
                    }),
                },
                state: State::Down,
                hands: Vec::new(),
                unready: 0,
                lowered: false,
            })
            .collect();
        Self {
            world,
            journal,
            watch,
            arm,
            workers,
            sequence: None,
            timers: Vec::new(),
            probes: 0,
            probe_seconds: 0.0,
            over: None,
            interrupted: false,
        }
    }

    /// Conducts the arm until its sequence is over or a person interrupts.
    ///
    /// # Errors
    /// [`ConductError`]; all workers have been killed then.
    pub fn conduct(mut self) -> Result<RunStatus, ConductError> {
        let result = self.until_over();
        if result.is_err() {
            self.kill_all(Cause::Interrupted);
            self.wait_for_ends(FAREWELL)?;
        }
        let status = result?;
        let cost = self.world.cost();
        self.tell(Event::ArmEnded {
            arm: self.arm.id.clone(),
            status,
            probe_seconds: self.probe_seconds,
            sample_seconds: cost.sampling,
            runner_cpu_seconds: cost.runner,
        })?;
        self.journal.sync()?;
        Ok(status)
    }

    fn until_over(&mut self) -> Result<RunStatus, ConductError> {
        for at in 0..self.workers.len() {
            self.start(at)?;
        }
        loop {
            if self.sequence.is_none() {
                self.begin()?;
            }
            self.carry_out()?;
            if self.interrupted {
                self.kill_all(Cause::Interrupted);
                self.wait_for_ends(FAREWELL)?;
                return Ok(RunStatus::Interrupted);
            }
            if let Some(status) = self.over
                && self.probes == 0
            {
                for worker in &mut self.workers {
                    let (cause, detail) = (Cause::Shutdown, None);
                    match worker.state {
                        State::Ready => self.world.shut_down(worker.process),
                        State::Starting { .. } => self.world.signal(worker.process, Sent::Kill),
                        State::Dying { .. } | State::Down => continue,
                    }
                    worker.state = State::Dying { cause, detail };
                }
                self.wait_for_ends(FAREWELL)?;
                return Ok(status);
            }
            let until = self.wake();
            let happening = self.world.wait(until);
            self.take(happening)?;
            self.look_at_the_clock()?;
        }
    }

    /// The sequence begins once all workers are ready.
    fn begin(&mut self) -> Result<(), ConductError> {
        let ready = |worker: &Worker| matches!(worker.state, State::Ready);
        let continued = self.arm.history.filter(|one| one.started.is_some());
        if !self.workers.iter().all(ready) && continued.is_none() {
            return Ok(());
        }
        let plan = &self.arm.variant.sequence;
        let mut sequence = match continued {
            Some(history) => Sequence::restore(plan, history),
            None => {
                let now = self.world.now();
                self.tell_at(
                    now,
                    Event::SequenceStarted {
                        arm: self.arm.id.clone(),
                    },
                )?;
                let workflows = u32::try_from(self.arm.batches.len()).unwrap_or(u32::MAX);
                Sequence::new(plan, workflows, now)
            }
        };
        for worker in self.workers.iter().filter(|worker| ready(worker)) {
            sequence.worker_ready(worker.process.worker);
        }
        self.sequence = Some(sequence);
        Ok(())
    }

    fn carry_out(&mut self) -> Result<(), ConductError> {
        let sequential = self.arm.variant.sequence.mode == Mode::Sequential;
        // In a sequence the next workflow waits for the look at the tables: it is in no one's time.
        loop {
            let looks = sequential && self.probes > 0;
            if looks || self.interrupted {
                return Ok(());
            }
            let now = self.world.now();
            let Some(sequence) = &mut self.sequence else {
                return Ok(());
            };
            let Some(step) = sequence.next(now) else {
                return Ok(());
            };
            match step {
                Step::Launch { workflow, at } => self.tell(Event::WorkflowLaunched {
                    arm: self.arm.id.clone(),
                    workflow,
                    launched: at.as_secs_f64(),
                })?,
                Step::Start {
                    workflow,
                    attempt,
                    worker,
                } => self.send(workflow, attempt, worker)?,
                Step::Kill { worker, cause } => {
                    self.kill(worker as usize - 1, cause, None);
                }
                Step::Close {
                    workflow,
                    at,
                    status,
                    reason,
                } => {
                    self.tell_at(
                        at,
                        Event::WorkflowClosed {
                            arm: self.arm.id.clone(),
                            workflow,
                            status,
                            reason,
                        },
                    )?;
                    self.journal.sync()?;
                    if self.arm.probe {
                        self.probes += 1;
                        self.world.probe(workflow);
                    }
                }
                Step::Over { status } => self.over = Some(status),
            }
        }
    }

    fn take(&mut self, happening: Happening) -> Result<(), ConductError> {
        match happening {
            Happening::Timer => Ok(()),
            Happening::Interrupt => {
                self.interrupted = true;
                Ok(())
            }
            Happening::Reply { process, at, reply } => match self.find(process) {
                Some(worker) => self.heard(worker, at, *reply),
                None => Ok(()),
            },
            Happening::Breach { process, what } => {
                if let Some(worker) = self.find(process) {
                    self.breach(worker, &what);
                }
                Ok(())
            }
            Happening::Exited {
                process,
                at,
                exit,
                by_watchdog,
            } => match self.find(process) {
                Some(worker) => self.exited(worker, at, exit, by_watchdog),
                None => Ok(()),
            },
            Happening::Sampled(sample) => {
                let event = Event::Sampled {
                    arm: self.arm.id.clone(),
                    worker: sample.process.worker,
                    incarnation: sample.process.incarnation,
                    rss: sample.rss,
                    cpu_seconds: sample.cpu_seconds,
                    read_bytes: sample.storage.map(|(read, _)| read),
                    write_bytes: sample.storage.map(|(_, written)| written),
                };
                self.tell_at(sample.at, event)
            }
            Happening::Probed {
                workflow,
                seconds,
                probe,
            } => {
                self.probes = self.probes.saturating_sub(1);
                self.probe_seconds += seconds;
                let (probe, error) = match probe {
                    Ok(probe) => (probe, None),
                    Err(error) => (TableProbe::default(), Some(error)),
                };
                self.tell(Event::Probed {
                    arm: self.arm.id.clone(),
                    workflow,
                    seconds,
                    probe,
                    error,
                })
            }
        }
    }

    /// The worker whose present process this is.
    fn find(&self, process: ProcessId) -> Option<usize> {
        self.workers
            .iter()
            .position(|worker| worker.process == process)
    }

    fn ended(&mut self, at: Duration, workflow: u32, how: Ended) {
        if let Some(sequence) = &mut self.sequence {
            sequence.ended(at, workflow, how);
        }
    }

    fn breach(&mut self, at: usize, what: &str) {
        self.kill(at, Cause::Protocol, Some(format!("it said {what}")));
    }

    /// Kills a worker; that it ended is heard later.
    fn kill(&mut self, at: usize, cause: Cause, detail: Option<String>) {
        let worker = &mut self.workers[at];
        let process = worker.process;
        match worker.state {
            State::Down => return,
            // Whatever was to end it has not yet: the first cause stands.
            State::Dying { .. } => return self.world.signal(process, Sent::Kill),
            State::Starting { .. } | State::Ready => {}
        }
        worker.state = State::Dying { cause, detail };
        if let Some(sequence) = &mut self.sequence {
            sequence.worker_gone(process.worker);
        }
        self.world.signal(process, Sent::Kill);
    }

    fn kill_all(&mut self, cause: Cause) {
        for at in 0..self.workers.len() {
            self.kill(at, cause, None);
        }
    }

    /// Waits until every process has ended; after `patience` they are killed.
    fn wait_for_ends(&mut self, patience: Duration) -> Result<(), ConductError> {
        self.over.get_or_insert(RunStatus::Interrupted);
        let mut until = self.world.now() + patience;
        while self
            .workers
            .iter()
            .any(|worker| !matches!(worker.state, State::Down))
        {
            match self.world.wait(Some(until)) {
                Happening::Timer if self.world.now() >= until => {
                    for worker in &self.workers {
                        self.world.signal(worker.process, Sent::Kill);
                    }
                    until += patience;
                }
                // What is said at the end is no breach: nobody is asked any more.
                Happening::Reply { .. } | Happening::Breach { .. } => {}
                other => self.take(other)?,
            }
        }
        Ok(())
    }

    fn tell(&mut self, event: Event) -> Result<(), ConductError> {
        let now = self.world.now();
        self.tell_at(now, event)
    }

    fn tell_at(&mut self, at: Duration, event: Event) -> Result<(), ConductError> {
        (self.watch)(&event);
        Ok(self.journal.write(at.as_secs_f64(), event)?)
    }
}
