//! What the conductor of an arm acts on: worker processes and a clock, or a play of them.

use crate::record::{Exit, TableProbe};
use crate::worker::{LimitError, ProcessId};
use bench_embedded::protocol::{Ingest, Reply};
use std::io;
use std::time::Duration;

/// Something that the conductor waits for.
#[derive(Debug)]
pub enum Happening {
    /// The time that it asked to be woken at has come.
    Timer,
    /// A worker said something.
    Reply {
        /// Which process.
        process: ProcessId,
        /// When.
        at: Duration,
        /// What.
        reply: Box<Reply>,
    },
    /// A worker said what is no reply.
    Breach {
        /// Which process.
        process: ProcessId,
        /// What is wrong, as the end of a sentence: `a line that is no JSON object`.
        what: String,
    },
    /// A process ended.
    Exited {
        /// Which process.
        process: ProcessId,
        /// When.
        at: Duration,
        /// How.
        exit: Exit,
        /// Whether the watchdog ended it.
        by_watchdog: bool,
    },
    /// A process was looked at.
    Sampled(crate::worker::Sample),
    /// The tables were looked at, as asked.
    Probed {
        /// After which workflow.
        workflow: u32,
        /// Seconds that it took.
        seconds: f64,
        /// What was seen, or why nothing was.
        probe: Result<TableProbe, String>,
    },
    /// A person interrupts.
    Interrupt,
}

/// A process that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Process id.
    pub pid: u32,
    /// When the system started it, in its own ticks.
    pub start_ticks: u64,
}

/// What an attempt has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Most resident memory in bytes since it began.
    pub peak_rss: Option<u64>,
    /// CPU seconds of the process's life so far.
    pub cpu_seconds: Option<f64>,
}

/// CPU seconds of the runner since the arm began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// For samples and the watchdog.
    pub sampling: f64,
    /// For everything.
    pub runner: f64,
}

/// Signals that are sent on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// `SIGKILL`
    Kill,
    /// `SIGTERM`
    Terminate,
    /// `SIGSEGV`
    Fault,
    /// `SIGABRT`
    Abort,
    /// `SIGSTOP`
    Stop,
    /// `SIGCONT`
    Continue,
}

impl Sent {
    /// The signal that a scenario names to end a worker.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        match name {
            "SIGTERM" => Self::Terminate,
            "SIGSEGV" => Self::Fault,
            "SIGABRT" => Self::Abort,
            _ => Self::Kill,
        }
    }
}

/// Why a worker could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its limits cannot be set.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// It cannot be run.
    #[error("cannot start a worker")]
    Io(#[from] io::Error),
}

/// Workers, tables and a clock.
pub trait World {
    /// The run's clock.
    fn now(&mut self) -> Duration;
    /// Starts a process of a worker and greets it.
    ///
    /// # Errors
    /// [`StartError`]
    fn start(&mut self, process: ProcessId) -> Result<Started, StartError>;
    /// Sends a workflow to a process, which begins an attempt.
    fn send(&mut self, process: ProcessId, ingest: Ingest);
    /// Lowers the memory limit of a process, or sets it back, and says what it is now in bytes:
    /// more than was asked for where the process uses more already.
    ///
    /// # Errors
    /// [`LimitError`]
    fn limit(
        &mut self,
        process: ProcessId,
        lowered: Option<u64>,
    ) -> Result<Option<u64>, LimitError>;
    /// Sends a signal.
    fn signal(&mut self, process: ProcessId, signal: Sent);
    /// Asks a process to end.
    fn shut_down(&mut self, process: ProcessId);
    /// An attempt begins on a process: from here on memory is counted.
    fn mark(&mut self, process: ProcessId) -> Usage;
    /// What a process has used.
    fn usage(&mut self, process: ProcessId) -> Usage;
    /// A process is gone: what was kept for it goes.
    fn forget(&mut self, process: ProcessId);
    /// What measuring has cost so far.
    fn cost(&mut self) -> Cost;
    /// Looks at the tables; the answer is a [`Happening::Probed`].
    fn probe(&mut self, workflow: u32);
    /// Waits until something happens, at most until a time on the run's clock.
    fn wait(&mut self, until: Option<Duration>) -> Happening;
}
