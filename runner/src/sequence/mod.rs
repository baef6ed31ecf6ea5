//! The order of things in one arm: when workflows are launched, which one a free slot takes, what
//! follows an attempt that failed, and when the sequence is over.
//!
//! Pure: it is told the time and what happened, and says what is to be done next. It knows no
//! process and no clock, so that hours of it are tested in milliseconds.

mod queue;

use crate::record::{ArmHistory, AttemptEnd, AttemptOutcome, Cause, RunStatus, WorkflowStatus};
use crate::scenario;
use crate::scenario::Mode;
use queue::Waiting;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// What is to be done next. Times are on the run's clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A workflow is launched.
    Launch {
        /// Its number, from 1.
        workflow: u32,
        /// When it was due.
        at: Duration,
    },
    /// An attempt is to be sent to a worker that has a free slot.
    Start {
        /// The workflow.
        workflow: u32,
        /// The attempt, from 1.
        attempt: u32,
        /// The worker, from 1.
        worker: u32,
    },
    /// A worker is to be killed, since what it has in hand took too long.
    Kill {
        /// The worker.
        worker: u32,
        /// Which limit was passed.
        cause: Cause,
    },
    /// A workflow is over.
    Close {
        /// The workflow.
        workflow: u32,
        /// When.
        at: Duration,
        /// How.
        status: WorkflowStatus,
        /// Why, where it did not complete.
        reason: Option<String>,
    },
    /// Nothing is left to do.
    Over {
        /// How it ended.
        status: RunStatus,
    },
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// It is complete.
    Completed,
    /// It failed, or its worker is gone.
    Failed {
        /// Whether another attempt may succeed.
        retryable: bool,
        /// Why.
        reason: String,
    },
    /// Its runner took it away: it is as if it had not been.
    TakenAway,
}

/// A workflow in a slot.
#[derive(Clone, Copy, Debug)]
struct Running {
    worker: u32,
    since: Duration,
    /// Its worker was told to die for this.
    killed_for: Option<Cause>,
}

/// What is known of an open workflow.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    launched: Duration,
    attempts: u32,
    failures: u32,
}

/// The sequence of one arm.
#[derive(Debug)]
pub struct Sequence {
    plan: scenario::Sequence,
    workflows: u32,
    start: Duration,
    /// The workflow that is launched next.
    next: u32,
    open: BTreeMap<u32, Open>,
    /// Failed attempts that wait for their retry.
    delayed: BTreeSet<(Duration, u32)>,
    waiting: Waiting,
    running: BTreeMap<u32, Running>,
    /// Free slots by worker; a worker that is not ready is absent.
    free: BTreeMap<u32, u32>,
    closing: VecDeque<Step>,
    closed: u32,
    failed: bool,
    cancelled: bool,
    over: bool,
}

impl Sequence {
    /// A sequence that begins at `start`, when its workers are ready.
    #[must_use]
    pub fn new(plan: &scenario::Sequence, workflows: u32, start: Duration) -> Self {
        Self {
            waiting: Waiting::new(plan),
            plan: plan.clone(),
            workflows,
            start,
            next: 1,
            open: BTreeMap::new(),
            delayed: BTreeSet::new(),
            running: BTreeMap::new(),
            free: BTreeMap::new(),
            closing: VecDeque::new(),
            closed: 0,
            failed: false,
            cancelled: false,
            over: false,
        }
    }

    /// A sequence that another runner has begun. What was in hand waits for its next attempt; what
    /// was complete and not yet closed is closed.
    #[must_use]
    pub fn restore(plan: &scenario::Sequence, history: &ArmHistory) -> Self {
        let time = |seconds: f64| Duration::from_secs_f64(seconds.max(0.0));
        let start = time(history.started.unwrap_or_default());
        let mut sequence = Self::new(plan, history.planned, start);
        let mut attempts = 0;
        for (&number, workflow) in &history.workflows {
            sequence.next = sequence.next.max(number + 1);
            attempts += workflow.attempts.len() as u64;
            if let Some((_, status)) = workflow.closed {
                sequence.count_closed(status);
                continue;
            }
            let counts = |(_, end): &&(f64, AttemptEnd)| {
                let taken_away = matches!(end.cause, Some(Cause::RunnerGone | Cause::Interrupted));
                end.outcome != AttemptOutcome::Completed && !taken_away
            };
            let open = Open {
                launched: time(workflow.launched),
                attempts: workflow.attempts.last().map_or(0, |last| last.attempt),
                failures: workflow.ends().filter(counts).count() as u32,
            };
            sequence.open.insert(number, open);
            let last = workflow.ends().next_back();
            match workflow.completed() {
                Some((at, _)) => {
                    sequence.close(number, time(*at), WorkflowStatus::Completed, None);
                }
                None if open.failures >= plan.retry.max_attempts => {
                    let at = time(last.map_or(history.started.unwrap_or_default(), |(at, _)| *at));
                    let reason = last.and_then(|(_, end)| end.message.clone());
                    sequence.close(number, at, WorkflowStatus::Failed, reason);
                }
                None => sequence.waiting.push(number),
            }
        }
        sequence.waiting.drawn(attempts);
        sequence
    }

    /// A worker is ready for work.
    pub fn worker_ready(&mut self, worker: u32) {
        self.free.insert(worker, self.plan.slots);
    }

    /// A worker is gone or about to be: it gets no more work. What it had in hand ends by
    /// [`Self::ended`].
    pub fn worker_gone(&mut self, worker: u32) {
        self.free.remove(&worker);
    }

    /// The attempt in hand of a workflow ended.
    pub fn ended(&mut self, at: Duration, workflow: u32, how: Ended) {
        let (Some(running), Some(open)) =
            (self.running.remove(&workflow), self.open.get_mut(&workflow))
        else {
            return;
        };
        if let Some(slots) = self.free.get_mut(&running.worker) {
            *slots += 1;
        }
        match how {
            Ended::Completed => self.close(workflow, at, WorkflowStatus::Completed, None),
            Ended::TakenAway => self.waiting.push(workflow),
            Ended::Failed { retryable, reason } => {
                open.failures += 1;
                let used_up = open.failures >= self.plan.retry.max_attempts;
                if used_up || !retryable || running.killed_for == Some(Cause::Deadline) {
                    self.close(workflow, at, WorkflowStatus::Failed, Some(reason));
                } else if self.cancelled {
                    let why = Some(self.why_cancelled());
                    self.close(workflow, at, WorkflowStatus::Cancelled, why);
                } else {
                    let until = at + self.plan.retry.wait(open.failures);
                    self.delayed.insert((until, workflow));
                }
            }
        }
    }

    /// What is to be done now; to be asked until there is nothing.
    pub fn next(&mut self, now: Duration) -> Option<Step> {
        if self.over {
            return None;
        }
        self.closing
            .pop_front()
            .or_else(|| self.launch(now))
            .or_else(|| self.overdue(now))
            .or_else(|| self.start(now))
            .or_else(|| self.finish())
    }

    /// When something is to be done even if nothing happens.
    #[must_use]
    pub fn wake(&self) -> Option<Duration> {
        if self.over {
            return None;
        }
        let launch = self.due_launch();
        let delayed = self.delayed.first().map(|(until, _)| *until);
        let deadlines = self.plan.deadline.and_then(|limit| {
            let open = self.open.iter().filter(|(workflow, _)| {
                let killed = self
                    .running
                    .get(workflow)
                    .map(|one| one.killed_for.is_some());
                !killed.unwrap_or(false)
            });
            open.map(|(_, open)| open.launched + limit).min()
        });
        let timeouts = self.plan.attempt_timeout.and_then(|limit| {
            let running = self.running.values().filter(|one| one.killed_for.is_none());
            running.map(|one| one.since + limit).min()
        });
        [launch, delayed, deadlines, timeouts]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether no further workflow will be started but those in hand again.
    #[must_use]
    pub fn is_last(&self) -> bool {
        let launched = self.next > self.workflows
            || (self.plan.mode == Mode::Sequential
                && self
                    .plan
                    .stop_after
                    .is_some_and(|stop| self.closed + 1 >= stop));
        launched && self.open.len() == self.running.len()
    }

    /// When the next launch is due, if there is one whatever else happens.
    fn due_launch(&self) -> Option<Duration> {
        if self.next > self.workflows || self.stops_launching() {
            return None;
        }
        match &self.plan.mode {
            Mode::Concurrent {
                launch_interval, ..
            } => Some(self.start + *launch_interval * (self.next - 1)),
            Mode::Sequential => None,
        }
    }

    fn stops_launching(&self) -> bool {
        self.cancelled || (self.failed && self.plan.mode == Mode::Sequential)
    }

    fn launch(&mut self, now: Duration) -> Option<Step> {
        if self.next > self.workflows || self.stops_launching() {
            return None;
        }
        let at = match &self.plan.mode {
            // The next one starts when the last one closed, and with a worker to start on.
            Mode::Sequential => (self.open.is_empty() && !self.free.is_empty()).then_some(now),
            Mode::Concurrent { .. } => self.due_launch().filter(|due| *due <= now),
        }?;
        let workflow = self.next;
        self.next += 1;
        let open = Open {
            launched: at,
            ..Open::default()
        };
        self.open.insert(workflow, open);
        self.waiting.push(workflow);
        Some(Step::Launch { workflow, at })
    }

    /// Whatever took too long.
    fn overdue(&mut self, now: Duration) -> Option<Step> {
        if let Some(limit) = self.plan.deadline {
            let late = self.open.iter().find(|(workflow, open)| {
                let killed = self
                    .running
                    .get(workflow)
                    .map(|one| one.killed_for.is_some());
                open.launched + limit <= now && !killed.unwrap_or(false)
            });
            if let Some((&workflow, open)) = late {
                let at = open.launched + limit;
                if let Some(running) = self.running.get_mut(&workflow) {
                    running.killed_for = Some(Cause::Deadline);
                    let worker = running.worker;
                    return Some(Step::Kill {
                        worker,
                        cause: Cause::Deadline,
                    });
                }
                let reason = format!(
                    "its deadline of {} passed while it waited",
                    scenario::duration_text(limit)
                );
                self.waiting.remove(workflow);
                self.delayed.retain(|(_, other)| *other != workflow);
                self.close(workflow, at, WorkflowStatus::Failed, Some(reason));
                return self.closing.pop_front();
            }
        }
        let limit = self.plan.attempt_timeout?;
        let late = self
            .running
            .values_mut()
            .find(|one| one.since + limit <= now && one.killed_for.is_none())?;
        late.killed_for = Some(Cause::AttemptTimeout);
        Some(Step::Kill {
            worker: late.worker,
            cause: Cause::AttemptTimeout,
        })
    }

    fn start(&mut self, now: Duration) -> Option<Step> {
        while let Some(&(until, workflow)) = self.delayed.first()
            && until <= now
        {
            self.delayed.pop_first();
            self.waiting.push(workflow);
        }
        // The one with the most room; of equals the first.
        let (&worker, slots) = self
            .free
            .iter_mut()
            .filter(|(_, slots)| **slots > 0)
            .max_by_key(|(worker, slots)| (**slots, std::cmp::Reverse(**worker)))?;
        let workflow = self.waiting.take()?;
        *slots -= 1;
        let running = Running {
            worker,
            since: now,
            killed_for: None,
        };
        self.running.insert(workflow, running);
        let open = self.open.get_mut(&workflow)?;
        open.attempts += 1;
        Some(Step::Start {
            workflow,
            attempt: open.attempts,
            worker,
        })
    }

    fn close(
        &mut self,
        workflow: u32,
        at: Duration,
        status: WorkflowStatus,
        reason: Option<String>,
    ) {
        self.open.remove(&workflow);
        self.count_closed(status);
        self.closing.push_back(Step::Close {
            workflow,
            at,
            status,
            reason,
        });
        if self.cancelled && status != WorkflowStatus::Cancelled {
            self.cancel_waiting(at);
        }
    }

    fn count_closed(&mut self, status: WorkflowStatus) {
        if status == WorkflowStatus::Cancelled {
            return;
        }
        self.closed += 1;
        self.failed |= status == WorkflowStatus::Failed;
        let stop = self.plan.stop_after.is_some_and(|stop| self.closed >= stop);
        self.cancelled |= stop && self.closed < self.workflows;
    }

    /// Whatever is not in a slot is cancelled with the sequence.
    fn cancel_waiting(&mut self, at: Duration) {
        let waiting: Vec<u32> = self
            .open
            .keys()
            .filter(|workflow| !self.running.contains_key(workflow))
            .copied()
            .collect();
        self.waiting.clear();
        self.delayed.clear();
        for workflow in waiting {
            self.close(
                workflow,
                at,
                WorkflowStatus::Cancelled,
                Some(self.why_cancelled()),
            );
        }
    }

    fn why_cancelled(&self) -> String {
        format!("the sequence was cancelled after {} workflows", self.closed)
    }

    fn finish(&mut self) -> Option<Step> {
        let launches = self.next <= self.workflows && !self.stops_launching();
        if launches || !self.open.is_empty() {
            return None;
        }
        self.over = true;
        let status = if self.failed {
            RunStatus::Failed
        } else if self.cancelled {
            RunStatus::Cancelled
        } else {
            RunStatus::Completed
        };
        Some(Step::Over { status })
    }
}
