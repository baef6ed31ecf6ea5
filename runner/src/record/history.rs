//! What the events of a run add up to: arms, their workflows, attempts and workers.

use super::event::{
    ArmId, AttemptEnd, AttemptOutcome, Cause, Event, Exit, Injected, Limits, Record, RunStatus,
    WorkflowStatus,
};
use std::collections::BTreeMap;

/// A run as its events tell it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Arms in the order in which they began.
    pub arms: Vec<ArmHistory>,
    /// How many runners have worked on it.
    pub sessions: u32,
    /// How it ended.
    pub ended: Option<RunStatus>,
    /// Time of the last event, in seconds on the run's clock.
    pub last: f64,
}

/// An arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmHistory {
    /// Its name.
    pub id: ArmId,
    /// Workflows of its sequence.
    pub planned: u32,
    /// Limits of each worker.
    pub limits: Limits,
    /// When all workers were ready for the first time, on the run's clock.
    pub started: Option<f64>,
    /// Workflows that were launched, by number.
    pub workflows: BTreeMap<u32, WorkflowHistory>,
    /// Processes, in the order in which they were started.
    pub workers: Vec<WorkerHistory>,
    /// Workflows by the order in which they closed.
    pub closed: Vec<u32>,
    /// How its sequence ended.
    pub ended: Option<RunStatus>,
    /// Its verification: whether it passed, where rows are verified.
    pub verified: Option<Option<bool>>,
}

/// A workflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkflowHistory {
    /// Its launch on the run's clock.
    pub launched: f64,
    /// Its attempts in order.
    pub attempts: Vec<AttemptHistory>,
    /// When it closed, and how.
    pub closed: Option<(f64, WorkflowStatus)>,
    /// Why it did not complete.
    pub reason: Option<String>,
    /// The tables as they were found after it closed.
    pub tables: Vec<crate::probe::TableState>,
    /// When its rows came into `reports`, as far as its worker told.
    pub committed: Option<f64>,
    /// Whether it was open when a runner ended, so that its times are not those of one go.
    pub resumed: bool,
}

/// An attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptHistory {
    /// Its number, from 1.
    pub attempt: u32,
    /// The worker.
    pub worker: u32,
    /// Which of its processes.
    pub incarnation: u32,
    /// When it was sent.
    pub started: f64,
    /// Faults of the scenario.
    pub injected: Vec<Injected>,
    /// When it ended, and how.
    pub ended: Option<(f64, AttemptEnd)>,
}

/// A process of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerHistory {
    /// Number of the worker.
    pub worker: u32,
    /// How many times it was started, this one included.
    pub incarnation: u32,
    /// Process id.
    pub pid: u32,
    /// When the system started it, in its own ticks.
    pub start_ticks: u64,
    /// When it was started.
    pub started: f64,
    /// When it was ready.
    pub ready: Option<f64>,
    /// The engine.
    pub engine: Option<String>,
    /// Versions of the engine.
    pub versions: BTreeMap<String, String>,
    /// Settings in force.
    pub effective: BTreeMap<String, String>,
    /// Settings that it cannot honour.
    pub unsupported: Vec<String>,
    /// When, why and how it ended.
    pub exited: Option<(f64, Cause, Option<String>, Exit)>,
}

/// Seconds from launch to close, by what they went to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// From the launch to the first attempt.
    pub queue: f64,
    /// From the first attempt to the last one: attempts that were lost, waits, queueing again.
    pub retry: f64,
    /// The last attempt.
    pub service: f64,
}

impl WorkflowHistory {
    /// Where its time went, if it is closed.
    #[must_use]
    pub fn spent(&self) -> Option<Spent> {
        let (closed, _) = self.closed?;
        let (Some(first), Some(last)) = (self.attempts.first(), self.attempts.last()) else {
            return Some(Spent {
                queue: closed - self.launched,
                ..Spent::default()
            });
        };
        Some(Spent {
            queue: first.started - self.launched,
            retry: last.started - first.started,
            service: closed - last.started,
        })
    }

    /// The end of the attempt that completed it, and when that was.
    #[must_use]
    pub fn completed(&self) -> Option<&(f64, AttemptEnd)> {
        self.ends()
            .rfind(|(_, end)| end.outcome == AttemptOutcome::Completed)
    }

    /// The ends of its attempts, in order.
    pub fn ends(&self) -> impl DoubleEndedIterator<Item = &(f64, AttemptEnd)> {
        self.attempts.iter().filter_map(|one| one.ended.as_ref())
    }

    /// The attempt that has not ended.
    #[must_use]
    pub fn in_hand(&self) -> Option<&AttemptHistory> {
        self.attempts
            .last()
            .filter(|attempt| attempt.ended.is_none())
    }
}

impl ArmHistory {
    /// Workflows that completed.
    #[must_use]
    pub fn completed(&self) -> u32 {
        let done = |workflow: &&WorkflowHistory| {
            matches!(workflow.closed, Some((_, WorkflowStatus::Completed)))
        };
        u32::try_from(self.workflows.values().filter(done).count()).unwrap_or(u32::MAX)
    }

    fn worker(&mut self, worker: u32, incarnation: u32) -> Option<&mut WorkerHistory> {
        self.workers
            .iter_mut()
            .rev()
            .find(|one| (one.worker, one.incarnation) == (worker, incarnation))
    }

    fn attempt(&mut self, workflow: u32, attempt: u32) -> Option<&mut AttemptHistory> {
        let workflow = self.workflows.get_mut(&workflow)?;
        workflow
            .attempts
            .iter_mut()
            .rev()
            .find(|one| one.attempt == attempt)
    }
}

impl History {
    /// The arm of that name.
    #[must_use]
    pub fn arm(&self, id: &ArmId) -> Option<&ArmHistory> {
        self.arms.iter().find(|arm| arm.id == *id)
    }

    fn arm_mut(&mut self, id: &ArmId) -> Option<&mut ArmHistory> {
        self.arms.iter_mut().find(|arm| arm.id == *id)
    }

    /// Takes in the next event. One that speaks of what has not begun changes nothing.
    pub fn apply(&mut self, record: Record) {
        let t = record.t;
        self.last = self.last.max(t);
        self.take(t, record.event);
    }

    fn take(&mut self, t: f64, event: Event) -> Option<()> {
        match event {
            Event::Session { session, .. } => self.session(session),
            Event::ArmStarted {
                arm,
                workflows,
                limits,
                ..
            } => self.arms.push(ArmHistory {
                id: arm,
                planned: workflows,
                limits,
                started: None,
                workflows: BTreeMap::new(),
                workers: Vec::new(),
                closed: Vec::new(),
                ended: None,
                verified: None,
            }),
            Event::WorkerStarted {
                arm,
                worker,
                incarnation,
                pid,
                start_ticks,
            } => self.arm_mut(&arm)?.workers.push(WorkerHistory {
                worker,
                incarnation,
                pid,
                start_ticks,
                started: t,
                ready: None,
                engine: None,
                versions: BTreeMap::new(),
                effective: BTreeMap::new(),
                unsupported: Vec::new(),
                exited: None,
            }),
            Event::WorkerReady {
                arm,
                worker,
                incarnation,
                engine,
                versions,
                effective,
                unsupported,
            } => {
                let process = self.arm_mut(&arm)?.worker(worker, incarnation)?;
                process.ready = Some(t);
                process.engine = Some(engine);
                process.versions = versions;
                process.effective = effective;
                process.unsupported = unsupported;
            }
            Event::WorkerExited {
                arm,
                worker,
                incarnation,
                cause,
                detail,
                exit,
            } => {
                let process = self.arm_mut(&arm)?.worker(worker, incarnation)?;
                process.exited = Some((t, cause, detail, exit));
            }
            Event::SequenceStarted { arm } => {
                self.arm_mut(&arm)?.started.get_or_insert(t);
            }
            Event::WorkflowLaunched {
                arm,
                workflow,
                launched,
            } => {
                let workflow = self.arm_mut(&arm)?.workflows.entry(workflow).or_default();
                workflow.launched = launched;
            }
            Event::AttemptStarted {
                arm,
                workflow,
                attempt,
                worker,
                incarnation,
                injected,
            } => {
                let workflow = self.arm_mut(&arm)?.workflows.get_mut(&workflow)?;
                workflow.attempts.push(AttemptHistory {
                    attempt,
                    worker,
                    incarnation,
                    started: t,
                    injected,
                    ended: None,
                });
            }
            Event::AttemptEnded {
                arm,
                workflow,
                attempt,
                end,
            } => {
                let attempt = self.arm_mut(&arm)?.attempt(workflow, attempt)?;
                attempt.ended = Some((t, end));
            }
            Event::WorkflowClosed {
                arm,
                workflow: number,
                status,
                reason,
            } => {
                let arm = self.arm_mut(&arm)?;
                let workflow = arm.workflows.get_mut(&number)?;
                workflow.closed = Some((t, status));
                workflow.reason = reason;
                arm.closed.push(number);
            }
            Event::Probed {
                arm,
                workflow,
                probe,
                ..
            } => {
                let workflow = self.arm_mut(&arm)?.workflows.get_mut(&workflow)?;
                workflow.tables = probe.tables;
            }
            Event::ArmEnded { arm, status, .. } => self.arm_mut(&arm)?.ended = Some(status),
            Event::Verified { arm, passed, .. } => self.arm_mut(&arm)?.verified = Some(passed),
            Event::RunEnded { status } => self.ended = Some(status),
            Event::Stage {
                arm,
                workflow,
                stage,
                ..
            } => {
                let reports = stage.table.as_deref() == Some(bench_tables::Table::Reports.name());
                if reports && stage.version.is_some() {
                    let workflow = self.arm_mut(&arm)?.workflows.get_mut(&workflow)?;
                    workflow.committed.get_or_insert(t);
                }
            }
            Event::Sampled { .. } => {}
        }
        Some(())
    }

    /// Another runner carries on: what was open is so no longer in one go.
    fn session(&mut self, session: u32) {
        self.sessions = session;
        self.ended = None;
        if session < 2 {
            return;
        }
        for arm in &mut self.arms {
            if arm.ended == Some(RunStatus::Interrupted) {
                arm.ended = None;
            }
            for workflow in arm.workflows.values_mut() {
                workflow.resumed |= workflow.closed.is_none();
            }
        }
    }
}
