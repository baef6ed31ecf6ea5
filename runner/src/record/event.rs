//! The events of a run, as they stand in `events.jsonl`.

use crate::probe::TableState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Seconds on the run's own clock: from its start, without the time between a runner's end and
    /// its resumption. The clock is monotonic.
    pub t: f64,
    /// The wall clock, UTC, for people: `2026-11-30T07:00:00.123Z`.
    pub wall: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Names an arm: a variant and the number of its repeat, from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ArmId {
    /// The variant.
    pub variant: String,
    /// The repeat.
    pub repeat: u32,
}

impl std::fmt::Display for ArmId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.variant, self.repeat)
    }
}

/// How a run or an arm ended, or that it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It has not ended; or its runner ended without saying so.
    Running,
    /// It was interrupted and may be resumed.
    Interrupted,
    /// All that was asked for was done, and the rows add up.
    Completed,
    /// The rows do not add up.
    Invalid,
    /// A workflow failed that was not allowed to.
    Failed,
    /// It was cancelled, as declared.
    Cancelled,
}

impl RunStatus {
    /// As it stands in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How a workflow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowStatus {
    /// An attempt completed it.
    Completed,
    /// Its attempts are used up, or its deadline passed.
    Failed,
    /// The sequence was cancelled before it could.
    Cancelled,
}

impl WorkflowStatus {
    /// As it stands in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// The worker said that it is done.
    Completed,
    /// The worker said that it failed.
    Failed,
    /// The worker is gone.
    Lost,
}

impl AttemptOutcome {
    /// As it stands in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }
}

/// Why an attempt did not complete, or a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The worker said so itself.
    Reported,
    /// The kernel killed it at its memory limit.
    MemoryLimit,
    /// The watchdog of the runner killed it at its memory limit.
    Watchdog,
    /// A declared fault of the scenario killed it.
    Fault,
    /// It was ended by a signal that the runner did not send.
    Signal,
    /// It exited by itself in the middle of its work.
    Crash,
    /// It said what the protocol does not know, or out of order.
    Protocol,
    /// It was silent for longer than its heartbeat limit.
    Silence,
    /// The attempt took longer than it may.
    AttemptTimeout,
    /// The workflow took longer than it may.
    Deadline,
    /// The worker did not become ready in time.
    StartTimeout,
    /// The run was interrupted.
    Interrupted,
    /// The runner ended; another one carried on.
    RunnerGone,
    /// The sequence is over, and the worker was asked to end.
    Shutdown,
}

impl Cause {
    /// As it stands in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::MemoryLimit => "memory_limit",
            Self::Watchdog => "watchdog",
            Self::Fault => "fault",
            Self::Signal => "signal",
            Self::Crash => "crash",
            Self::Protocol => "protocol",
            Self::Silence => "silence",
            Self::AttemptTimeout => "attempt_timeout",
            Self::Deadline => "deadline",
            Self::StartTimeout => "start_timeout",
            Self::Interrupted => "interrupted",
            Self::RunnerGone => "runner_gone",
            Self::Shutdown => "shutdown",
        }
    }

    /// The cause in words, as the end of a sentence that begins with "the worker".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Reported => "said that it failed",
            Self::MemoryLimit => "was killed by the kernel at its memory limit",
            Self::Watchdog => "was killed by the watchdog at its memory limit",
            Self::Fault => "was killed by a fault that the scenario declares",
            Self::Signal => "was ended by a signal from outside",
            Self::Crash => "exited in the middle of its work",
            Self::Protocol => "broke the protocol and was killed",
            Self::Silence => "was silent for too long and was killed",
            Self::AttemptTimeout => "took longer than an attempt may and was killed",
            Self::Deadline => "was killed since its workflow took longer than it may",
            Self::StartTimeout => "was not ready in time and was killed",
            Self::Interrupted => "was stopped since the run was interrupted",
            Self::RunnerGone => "ended with its runner",
            Self::Shutdown => "ended as asked",
        }
    }
}

/// How a worker process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exit {
    /// Exit code; 128 and the signal where a signal ended it, as a shell and a container say.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Processes that the kernel killed in its control group for want of memory, since it began.
    pub oom_kills: Option<u64>,
    /// Most resident memory in bytes of its life: from its control group where it has one, else the
    /// greatest that was seen.
    pub peak_rss: Option<u64>,
    /// CPU time of its life in seconds.
    pub cpu_seconds: Option<f64>,
}

/// What a worker may use, and by what that is enforced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// `cgroup-v1`, `cgroup-v2` or `watchdog`; nothing where memory is not limited.
    pub memory_by: Option<String>,
    /// Whether the machine has more memory than that.
    pub memory_binding: Option<bool>,
    /// Processors.
    pub cpus: Option<u32>,
    /// `cgroup-v1`, `cgroup-v2` or `affinity`; nothing where processors are not limited.
    pub cpus_by: Option<String>,
    /// Whether the machine has more processors than that.
    pub cpus_binding: Option<bool>,
}

/// A fault of the scenario that was injected into an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injected {
    /// `memory`, `kill` or `pause`.
    pub kind: String,
    /// What was done, in words: `limit lowered to 96 MiB`.
    pub what: String,
}

/// The state of the tables after a workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableProbe {
    /// The tables that exist.
    pub tables: Vec<TableState>,
}

/// How an attempt ended, and what it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// How.
    pub outcome: AttemptOutcome,
    /// Why it did not complete.
    pub cause: Option<Cause>,
    /// What the worker said, or what is known beyond the cause.
    pub message: Option<String>,
    /// How the process ended, where it did.
    pub exit: Option<Exit>,
    /// Most resident memory in bytes during the attempt.
    pub peak_rss: Option<u64>,
    /// CPU seconds of the attempt.
    pub cpu_seconds: Option<f64>,
    /// The account of a completed one.
    pub ledger: Option<Box<bench_embedded::Ledger>>,
    /// Versions of the tables after a completed one.
    pub versions: BTreeMap<String, i64>,
    /// Settings that changed nothing in it, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub without_effect: BTreeMap<String, String>,
}

impl AttemptEnd {
    /// An end of which nothing is known but how it came about.
    #[must_use]
    pub const fn of(outcome: AttemptOutcome) -> Self {
        Self {
            outcome,
            cause: None,
            message: None,
            exit: None,
            peak_rss: None,
            cpu_seconds: None,
            ledger: None,
            versions: BTreeMap::new(),
            without_effect: BTreeMap::new(),
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A runner begins, or carries on with, a run.
    Session {
        /// Number of the session, from 1.
        session: u32,
        /// Process id of the runner.
        pid: u32,
        /// Version of `bench`.
        bench: String,
    },
    /// An arm begins.
    ArmStarted {
        /// The arm.
        arm: ArmId,
        /// Its lake.
        lake: String,
        /// Workflows of its sequence.
        workflows: u32,
        /// Limits of each worker.
        limits: Limits,
    },
    /// A worker process was started.
    WorkerStarted {
        /// The arm.
        arm: ArmId,
        /// Number of the worker, from 1.
        worker: u32,
        /// How many times it was started, this one included.
        incarnation: u32,
        /// Process id.
        pid: u32,
        /// When the system started it, in its own ticks: with the id, it names a process for ever.
        start_ticks: u64,
    },
    /// A worker is ready.
    WorkerReady {
        /// The arm.
        arm: ArmId,
        /// Number of the worker.
        worker: u32,
        /// Which of its processes.
        incarnation: u32,
        /// The engine.
        engine: String,
        /// Versions of what it is made of.
        versions: BTreeMap<String, String>,
        /// Settings in force.
        effective: BTreeMap<String, String>,
        /// Settings that it cannot honour.
        unsupported: Vec<String>,
    },
    /// A worker process ended.
    WorkerExited {
        /// The arm.
        arm: ArmId,
        /// Number of the worker.
        worker: u32,
        /// Which of its processes.
        incarnation: u32,
        /// Why.
        cause: Cause,
        /// What is known of its end beyond that.
        detail: Option<String>,
        /// How.
        exit: Exit,
    },
    /// All workers are ready: the arm's clock starts.
    SequenceStarted {
        /// The arm.
        arm: ArmId,
    },
    /// A workflow was launched.
    WorkflowLaunched {
        /// The arm.
        arm: ArmId,
        /// Number of the workflow, from 1.
        workflow: u32,
        /// Its launch on the run's clock: as scheduled, however late the runner noticed.
        launched: f64,
    },
    /// An attempt was sent to a worker.
    AttemptStarted {
        /// The arm.
        arm: ArmId,
        /// Number of the workflow.
        workflow: u32,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// The worker.
        worker: u32,
        /// Which of its processes.
        incarnation: u32,
        /// Faults of the scenario that it will meet.
        injected: Vec<Injected>,
    },
    /// A stage of an attempt was done.
    Stage {
        /// The arm.
        arm: ArmId,
        /// Number of the workflow.
        workflow: u32,
        /// Number of the attempt.
        attempt: u32,
        /// The stage, as the worker told it.
        stage: bench_embedded::Stage,
    },
    /// An attempt ended.
    AttemptEnded {
        /// The arm.
        arm: ArmId,
        /// Number of the workflow.
        workflow: u32,
        /// Number of the attempt.
        attempt: u32,
        /// How.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// A workflow ended.
    WorkflowClosed {
        /// The arm.
        arm: ArmId,
        /// Number of the workflow.
        workflow: u32,
        /// How.
        status: WorkflowStatus,
        /// Why, where it did not complete.
        reason: Option<String>,
    },
    /// The tables were looked at after a workflow.
    Probed {
        /// The arm.
        arm: ArmId,
        /// The workflow that had closed.
        workflow: u32,
        /// Seconds that the look took.
        seconds: f64,
        /// What was seen.
        probe: TableProbe,
        /// What could not be seen.
        error: Option<String>,
    },
    /// A worker was looked at.
    Sampled {
        /// The arm.
        arm: ArmId,
        /// Number of the worker.
        worker: u32,
        /// Which of its processes.
        incarnation: u32,
        /// Resident memory in bytes.
        rss: u64,
        /// CPU seconds so far.
        cpu_seconds: f64,
        /// Bytes read from storage so far.
        read_bytes: Option<u64>,
        /// Bytes written to storage so far.
        write_bytes: Option<u64>,
    },
    /// The sequence of an arm is over.
    ArmEnded {
        /// The arm.
        arm: ArmId,
        /// How.
        status: RunStatus,
        /// Seconds that the harness spent on looking from outside.
        probe_seconds: f64,
        /// Seconds of CPU that sampling cost.
        sample_seconds: f64,
        /// Seconds of CPU of the runner itself while the sequence ran.
        runner_cpu_seconds: f64,
    },
    /// An arm was verified.
    Verified {
        /// The arm.
        arm: ArmId,
        /// Whether all checks passed; nothing where rows are not verified.
        passed: Option<bool>,
        /// Checks that failed.
        failed: u64,
        /// Seconds that it took.
        seconds: f64,
    },
    /// The run is over.
    RunEnded {
        /// How.
        status: RunStatus,
    },
}
