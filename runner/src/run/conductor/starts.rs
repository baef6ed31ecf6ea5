//! Starting workers, and sending them attempts with the faults that the scenario declares.

use super::{ConductError, Conductor, State};
use crate::record::Event;
use crate::run::hand::{Hand, Timer, TimerAction, injected as as_recorded};
use crate::run::world::World;
use crate::scenario::{FaultKind, When};
use crate::sequence::Sequence;
use bench_embedded::protocol::{Ingest, Manifest};

impl<W: World> Conductor<'_, W> {
    pub(super) fn start(&mut self, at: usize) -> Result<(), ConductError> {
        let worker = &mut self.workers[at];
        worker.process.incarnation += 1;
        worker.lowered = false;
        let process = worker.process;
        let started = self
            .world
            .start(process)
            .map_err(|source| ConductError::Start {
                arm: self.arm.id.clone(),
                worker: process.worker,
                source,
            })?;
        let since = self.world.now();
        self.workers[at].state = State::Starting { since };
        self.tell_at(
            since,
            Event::WorkerStarted {
                arm: self.arm.id.clone(),
                worker: process.worker,
                incarnation: process.incarnation,
                pid: started.pid,
                start_ticks: started.start_ticks,
            },
        )
    }

    /// Sends a workflow to a worker.
    pub(super) fn send(
        &mut self,
        workflow: u32,
        attempt: u32,
        worker: u32,
    ) -> Result<(), ConductError> {
        let at = worker as usize - 1;
        let process = self.workers[at].process;
        let faults: Vec<FaultKind> = self
            .arm
            .variant
            .faults
            .iter()
            .filter(|fault| (fault.workflow, fault.attempt) == (workflow, attempt))
            .map(|fault| fault.kind.clone())
            .collect();
        let mut injected = Vec::new();
        for fault in &faults {
            let in_force = match fault {
                FaultKind::Memory(bytes) => {
                    self.workers[at].lowered = true;
                    self.world.limit(process, Some(*bytes))?
                }
                FaultKind::Kill { .. } | FaultKind::Pause { .. } => None,
            };
            injected.push(as_recorded(fault, in_force));
        }
        let before = self.world.mark(process);
        let now = self.world.now();
        self.tell_at(
            now,
            Event::AttemptStarted {
                arm: self.arm.id.clone(),
                workflow,
                attempt,
                worker,
                incarnation: process.incarnation,
                injected,
            },
        )?;
        for fault in &faults {
            if let FaultKind::Kill { at, .. } | FaultKind::Pause { at, .. } = fault
                && let When::After(wait) = at
                && let Some(action) = TimerAction::of(fault)
            {
                self.timers.push(Timer {
                    at: now + *wait,
                    process,
                    hand: Some((workflow, attempt)),
                    action,
                });
            }
        }
        self.workers[at].hands.push(Hand {
            workflow,
            attempt,
            heard: now,
            cpu_before: before.cpu_seconds,
            faults,
        });
        let logs = self.arm.batches[workflow as usize - 1].clone();
        let last = self.sequence.as_ref().is_some_and(Sequence::is_last);
        self.world.send(
            process,
            Ingest {
                workflow,
                attempt,
                manifest: Manifest { logs },
                last,
            },
        );
        Ok(())
    }
}
