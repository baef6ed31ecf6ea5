//! What workers say.

use super::{ConductError, Conductor, State};
use crate::record::{AttemptEnd, AttemptOutcome, Cause, Event};
use crate::run::hand::Hand;
use crate::run::world::World;
use crate::sequence::Ended;
use bench_embedded::protocol::{Done, Reply};
use std::time::Duration;

impl<W: World> Conductor<'_, W> {
    pub(super) fn heard(
        &mut self,
        at: usize,
        when: Duration,
        reply: Reply,
    ) -> Result<(), ConductError> {
        match reply {
            Reply::Ready(ready) => {
                let State::Starting { .. } = self.workers[at].state else {
                    self.breach(at, "a second \"ready\"");
                    return Ok(());
                };
                let worker = &mut self.workers[at];
                worker.state = State::Ready;
                worker.unready = 0;
                let process = worker.process;
                if let Some(sequence) = &mut self.sequence {
                    sequence.worker_ready(process.worker);
                }
                self.tell_at(
                    when,
                    Event::WorkerReady {
                        arm: self.arm.id.clone(),
                        worker: process.worker,
                        incarnation: process.incarnation,
                        engine: ready.engine,
                        versions: ready.versions,
                        effective: ready.effective,
                        unsupported: ready.unsupported,
                    },
                )
            }
            Reply::Failed { workflow: None, .. }
                if !matches!(self.workers[at].state, State::Starting { .. }) =>
            {
                self.breach(at, "\"failed\" without a workflow");
                Ok(())
            }
            Reply::Failed {
                workflow: None,
                message,
                ..
            } => Err(ConductError::Refused {
                arm: self.arm.id.clone(),
                worker: self.workers[at].process.worker,
                message,
            }),
            Reply::Heartbeat { workflow, attempt } => {
                if self.hand(at, workflow, attempt, when).is_none() {
                    self.breach(at, "a heartbeat for what it has not in hand");
                }
                Ok(())
            }
            Reply::Stage {
                workflow,
                attempt,
                stage,
            } => {
                let Some(hand) = self.hand(at, workflow, attempt, when) else {
                    self.breach(at, "a stage of what it has not in hand");
                    return Ok(());
                };
                let faults = hand.at_stage(&stage.name);
                self.tell_at(
                    when,
                    Event::Stage {
                        arm: self.arm.id.clone(),
                        workflow,
                        attempt,
                        stage,
                    },
                )?;
                for action in faults {
                    self.act(at, &action, when);
                }
                Ok(())
            }
            Reply::Done(Done {
                workflow,
                attempt,
                ledger,
                versions,
                without_effect,
            }) => {
                let Some(hand) = self.let_go(at, workflow, attempt)? else {
                    self.breach(at, "\"done\" for what it has not in hand");
                    return Ok(());
                };
                let end = AttemptEnd {
                    ledger: Some(Box::new(ledger)),
                    versions,
                    without_effect,
                    ..AttemptEnd::of(AttemptOutcome::Completed)
                };
                let usage = self.world.usage(self.workers[at].process);
                self.attempt_ended(when, &hand, usage, end)?;
                self.ended(when, workflow, Ended::Completed);
                Ok(())
            }
            Reply::Failed {
                workflow: Some(workflow),
                attempt,
                message,
                retryable,
            } => {
                let attempt = attempt.unwrap_or_default();
                let Some(hand) = self.let_go(at, workflow, attempt)? else {
                    self.breach(at, "\"failed\" for what it has not in hand");
                    return Ok(());
                };
                let end = AttemptEnd {
                    cause: Some(Cause::Reported),
                    message: Some(message.clone()),
                    ..AttemptEnd::of(AttemptOutcome::Failed)
                };
                let usage = self.world.usage(self.workers[at].process);
                self.attempt_ended(when, &hand, usage, end)?;
                let reason = message;
                self.ended(when, workflow, Ended::Failed { retryable, reason });
                Ok(())
            }
        }
    }

    /// The attempt that a worker speaks of; it is alive.
    fn hand(
        &mut self,
        at: usize,
        workflow: u32,
        attempt: u32,
        when: Duration,
    ) -> Option<&mut Hand> {
        let hand = self.workers[at]
            .hands
            .iter_mut()
            .find(|hand| (hand.workflow, hand.attempt) == (workflow, attempt))?;
        hand.heard = when;
        Some(hand)
    }

    /// An attempt is no longer in hand; a limit that was lowered for it is set back.
    fn let_go(
        &mut self,
        at: usize,
        workflow: u32,
        attempt: u32,
    ) -> Result<Option<Hand>, ConductError> {
        let worker = &mut self.workers[at];
        let Some(found) = worker
            .hands
            .iter()
            .position(|hand| (hand.workflow, hand.attempt) == (workflow, attempt))
        else {
            return Ok(None);
        };
        let hand = worker.hands.remove(found);
        if std::mem::take(&mut worker.lowered) {
            let process = worker.process;
            self.world.limit(process, None)?;
        }
        Ok(Some(hand))
    }
}
