//! Attempts in hand, what is done to them on purpose, and how their end is put into words.

use super::world::Sent;
use crate::record::{Cause, Exit, Injected};
use crate::scenario::{FaultKind, When, duration_text};
use crate::terminal::binary_size;
use crate::worker::ProcessId;
use std::time::Duration;

/// An attempt that a worker has in hand.
#[derive(Debug)]
pub(super) struct Hand {
    pub(super) workflow: u32,
    pub(super) attempt: u32,
    /// When the worker last spoke of it.
    pub(super) heard: Duration,
    /// CPU seconds of the process when it began.
    pub(super) cpu_before: Option<f64>,
    /// Faults that it meets.
    pub(super) faults: Vec<FaultKind>,
}

impl Hand {
    /// CPU seconds that it took.
    pub(super) fn cpu(&self, now: Option<f64>) -> Option<f64> {
        Some(now? - self.cpu_before?)
    }

    /// Faults that are due when a stage is done; each is due once.
    pub(super) fn at_stage(&mut self, stage: &str) -> Vec<TimerAction> {
        let due = |fault: &mut FaultKind| match fault {
            FaultKind::Kill { at, .. } | FaultKind::Pause { at, .. } => {
                matches!(at, When::Stage(name) if name == stage)
            }
            FaultKind::Memory(_) => false,
        };
        let due: Vec<FaultKind> = self.faults.extract_if(.., due).collect();
        due.iter().filter_map(TimerAction::of).collect()
    }
}

/// Something that is done at a time.
#[derive(Clone, Debug)]
pub(super) struct Timer {
    pub(super) at: Duration,
    pub(super) process: ProcessId,
    /// The attempt that it is meant for; whatever the process does where there is none.
    pub(super) hand: Option<(u32, u32)>,
    pub(super) action: TimerAction,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerAction {
    Kill(Sent),
    Pause(Duration),
    Continue,
    /// What was to end it has not: SIGKILL does.
    Finish,
}

impl TimerAction {
    /// What a fault does at its moment; a lowered limit has none.
    pub(super) fn of(fault: &FaultKind) -> Option<Self> {
        match fault {
            FaultKind::Kill { signal, .. } => Some(Self::Kill(Sent::of_name(signal))),
            FaultKind::Pause { for_, .. } => Some(Self::Pause(*for_)),
            FaultKind::Memory(_) => None,
        }
    }
}

/// A fault as it is recorded. Of a lowered memory limit, `in_force` is what the limit really is.
pub(super) fn injected(fault: &FaultKind, in_force: Option<u64>) -> Injected {
    let when = |at: &When| match at {
        When::Stage(stage) => format!("once stage {stage} is done"),
        When::After(wait) => format!("after {}", duration_text(*wait)),
    };
    let (kind, what) = match fault {
        FaultKind::Memory(bytes) => {
            let limit = in_force.unwrap_or(*bytes);
            let mut what = format!("memory limit lowered to {}", binary_size(limit));
            if limit > *bytes {
                what += &format!(", as more than {} was in use", binary_size(*bytes));
            }
            ("memory", what)
        }
        FaultKind::Kill { signal, at } => ("kill", format!("{signal} {}", when(at))),
        FaultKind::Pause { for_, at } => (
            "pause",
            format!("paused for {} {}", duration_text(*for_), when(at)),
        ),
    };
    Injected {
        kind: kind.to_owned(),
        what,
    }
}

/// How a process ended, as the end of a sentence that begins with "the worker".
pub(super) fn ending(cause: Cause, detail: Option<&str>, exit: &Exit) -> String {
    let mut words = cause.words().to_owned();
    if let Some(detail) = detail {
        words += &format!(": {detail}");
    }
    let mut facts = Vec::new();
    if let Some(code) = exit.code {
        facts.push(format!("exit code {code}"));
    }
    if let Some(signal) = exit.signal {
        facts.push(format!("signal {signal}"));
    }
    if let Some(kills) = exit.oom_kills.filter(|&kills| kills > 0) {
        facts.push(format!("oom_kill {kills}"));
    }
    if !facts.is_empty() {
        words += &format!(" ({})", facts.join(", "));
    }
    words
}
