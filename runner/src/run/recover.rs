//! What another runner left behind: its workers are ended, and what they had in hand is written off.

use super::error::RunError;
use crate::record::{AttemptEnd, AttemptOutcome, Cause, Event, Exit, History, Journal};
use crate::worker::{Clock, proc};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// The system needs a moment to end a process that was killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends every recorded process that is still there, and records the ends that nobody saw.
pub(super) fn recover(
    history: &History,
    journal: &mut Journal,
    clock: Clock,
) -> Result<(), RunError> {
    for arm in &history.arms {
        for process in arm.workers.iter().filter(|one| one.exited.is_none()) {
            end(process.pid, process.start_ticks)?;
            let gone = Event::WorkerExited {
                arm: arm.id.clone(),
                worker: process.worker,
                incarnation: process.incarnation,
                cause: Cause::RunnerGone,
                detail: None,
                exit: Exit::default(),
            };
            journal.write(clock.now().as_secs_f64(), gone)?;
        }
        for (&number, workflow) in &arm.workflows {
            let Some(attempt) = workflow.in_hand() else {
                continue;
            };
            let lost = Event::AttemptEnded {
                arm: arm.id.clone(),
                workflow: number,
                attempt: attempt.attempt,
                end: AttemptEnd {
                    cause: Some(Cause::RunnerGone),
                    message: Some(format!("the worker {}", Cause::RunnerGone.words())),
                    ..AttemptEnd::of(AttemptOutcome::Lost)
                },
            };
            journal.write(clock.now().as_secs_f64(), lost)?;
        }
    }
    Ok(journal.sync()?)
}

/// Ends a process, and waits until it has. One that was started at another time is another one.
fn end(pid: u32, start_ticks: u64) -> Result<(), RunError> {
    let until = Instant::now() + PATIENCE;
    while proc::is_alive(pid, start_ticks) {
        proc::signal_group(pid, Signal::KILL);
        if Instant::now() > until {
            return Err(RunError::WorkerLives { pid });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
