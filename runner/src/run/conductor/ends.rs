//! Workers that end, and what is done to them and when.

use super::{ConductError, Conductor, STARTS, State};
use crate::record::{AttemptEnd, AttemptOutcome, Cause, Event, Exit};
use crate::run::hand::{Hand, Timer, TimerAction, ending};
use crate::run::world::{Sent, Usage, World};
use crate::scenario::Mode;
use crate::sequence::{Ended, Sequence};
use std::time::Duration;

/// A process that a declared signal was to end is killed after so long.
const GRACE: Duration = Duration::from_secs(2);

impl<W: World> Conductor<'_, W> {
    pub(super) fn exited(
        &mut self,
        at: usize,
        when: Duration,
        exit: Exit,
        by_watchdog: bool,
    ) -> Result<(), ConductError> {
        let worker = &mut self.workers[at];
        let process = worker.process;
        let was = std::mem::replace(&mut worker.state, State::Down);
        let was_ready = !matches!(was, State::Starting { .. });
        let (cause, detail) = match was {
            State::Dying { cause, detail } => (cause, detail),
            _ if by_watchdog => (Cause::Watchdog, None),
            _ if exit.signal == Some(9) && exit.oom_kills.is_some_and(|kills| kills > 0) => {
                (Cause::MemoryLimit, None)
            }
            _ if exit.signal.is_some() => (Cause::Signal, None),
            _ => (Cause::Crash, None),
        };
        worker.unready = if was_ready { 0 } else { worker.unready + 1 };
        let unready = worker.unready;
        let hands = std::mem::take(&mut worker.hands);
        self.timers.retain(|timer| timer.process != process);
        if let Some(sequence) = &mut self.sequence {
            sequence.worker_gone(process.worker);
        }
        let why = ending(cause, detail.as_deref(), &exit);
        let usage = Usage {
            peak_rss: exit.peak_rss,
            cpu_seconds: exit.cpu_seconds,
        };
        for hand in hands {
            let end = AttemptEnd {
                cause: Some(cause),
                message: Some(format!("the worker {why}")),
                exit: Some(exit),
                ..AttemptEnd::of(AttemptOutcome::Lost)
            };
            self.attempt_ended(when, &hand, usage, end)?;
            let how = if cause == Cause::Interrupted {
                Ended::TakenAway
            } else {
                Ended::Failed {
                    retryable: true,
                    reason: format!("the worker {why}"),
                }
            };
            self.ended(when, hand.workflow, how);
        }
        self.tell_at(
            when,
            Event::WorkerExited {
                arm: self.arm.id.clone(),
                worker: process.worker,
                incarnation: process.incarnation,
                cause,
                detail,
                exit,
            },
        )?;
        self.world.forget(process);
        if self.interrupted || self.over.is_some() || cause == Cause::Interrupted {
            return Ok(());
        }
        if unready >= STARTS {
            return Err(ConductError::NeverReady {
                arm: self.arm.id.clone(),
                worker: process.worker,
                why,
            });
        }
        self.start(at)
    }

    /// Records the end of an attempt, with what its process has used.
    pub(super) fn attempt_ended(
        &mut self,
        when: Duration,
        hand: &Hand,
        usage: Usage,
        end: AttemptEnd,
    ) -> Result<(), ConductError> {
        let event = Event::AttemptEnded {
            arm: self.arm.id.clone(),
            workflow: hand.workflow,
            attempt: hand.attempt,
            end: AttemptEnd {
                peak_rss: usage.peak_rss,
                cpu_seconds: hand.cpu(usage.cpu_seconds),
                ..end
            },
        };
        self.tell_at(when, event)
    }

    /// A fault of the scenario takes effect.
    pub(super) fn act(&mut self, at: usize, action: &TimerAction, now: Duration) {
        let process = self.workers[at].process;
        match action {
            TimerAction::Kill(signal) => {
                let worker = &mut self.workers[at];
                if let State::Ready = worker.state {
                    worker.state = State::Dying {
                        cause: Cause::Fault,
                        detail: None,
                    };
                    if let Some(sequence) = &mut self.sequence {
                        sequence.worker_gone(process.worker);
                    }
                    self.world.signal(process, *signal);
                    // A process may catch what is to end it.
                    self.timers.push(Timer {
                        at: now + GRACE,
                        process,
                        hand: None,
                        action: TimerAction::Finish,
                    });
                }
            }
            TimerAction::Pause(time) => {
                self.world.signal(process, Sent::Stop);
                self.timers.push(Timer {
                    at: now + *time,
                    process,
                    hand: None,
                    action: TimerAction::Continue,
                });
            }
            TimerAction::Continue => self.world.signal(process, Sent::Continue),
            TimerAction::Finish => self.world.signal(process, Sent::Kill),
        }
    }

    /// When something is to be done even if nothing happens.
    pub(super) fn wake(&self) -> Option<Duration> {
        let target = &self.arm.variant.target;
        let workers = self.workers.iter().filter_map(|worker| match worker.state {
            State::Starting { since } => Some(since + target.start_timeout),
            State::Ready => worker
                .hands
                .iter()
                .map(|hand| hand.heard + target.heartbeat_timeout)
                .min(),
            State::Down | State::Dying { .. } => None,
        });
        let timers = self.timers.iter().map(|timer| timer.at);
        let holds = self.arm.variant.sequence.mode == Mode::Sequential && self.probes > 0;
        let sequence = self.sequence.as_ref().filter(|_| !holds);
        workers
            .chain(timers)
            .chain(sequence.and_then(Sequence::wake))
            .min()
    }

    /// Acts on limits that have passed.
    pub(super) fn look_at_the_clock(&mut self) -> Result<(), ConductError> {
        let now = self.world.now();
        let target = &self.arm.variant.target;
        let (starting, silent) = (target.start_timeout, target.heartbeat_timeout);
        for at in 0..self.workers.len() {
            let worker = &self.workers[at];
            match worker.state {
                State::Starting { since } if since + starting <= now => {
                    self.kill(at, Cause::StartTimeout, None);
                }
                State::Ready if worker.hands.iter().any(|hand| hand.heard + silent <= now) => {
                    self.kill(at, Cause::Silence, None);
                }
                _ => {}
            }
        }
        let due = |timer: &mut Timer| timer.at <= now;
        let timers: Vec<Timer> = self.timers.extract_if(.., due).collect();
        for timer in timers {
            let Some(at) = self.find(timer.process) else {
                continue;
            };
            let in_hand = |(workflow, attempt)| {
                self.workers[at]
                    .hands
                    .iter()
                    .any(|hand| (hand.workflow, hand.attempt) == (workflow, attempt))
            };
            if timer.hand.is_none_or(in_hand) {
                self.act(at, &timer.action, now);
            }
        }
        Ok(())
    }
}
