//! A scenario with every value in its place.

use bench_generator::Overrides;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What a run does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name: part of the run directory's name.
    pub name: String,
    /// What it shows, in a sentence or a few.
    pub about: Option<String>,
    /// The logs.
    pub dataset: DatasetSource,
    /// How often it is measured, and what is sampled meanwhile.
    pub measure: Measure,
    /// Second opinions on the rows.
    pub verify: Verify,
    /// What is compared; at least one, in the order of the file.
    pub variants: Vec<Variant>,
}

/// Where the logs come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatasetSource {
    /// Made by the generator, and kept by digest in a cache.
    Generated {
        /// A shipped profile, or the path of one.
        profile: String,
        /// What differs from it.
        overrides: Overrides,
    },
    /// A folder of logs that exists. Nothing is known of what they must become.
    Folder(PathBuf),
}

/// How it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Arms per variant, interleaved: A B, then B A, …
    pub repeats: u32,
    /// Time between two samples of a worker's memory, CPU and I/O.
    pub sample_interval: Duration,
    /// Whether tables are probed after every workflow.
    pub probe: bool,
    /// Whether lakes stay in the run directory after their verification.
    pub keep_lake: bool,
}

/// Second opinions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verify {
    /// Whether rows are verified at all.
    pub rows: bool,
}

/// One of the things that are compared: a named set of overrides, resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// Whether it may die.
    pub expect: Expect,
    /// The order of things.
    pub sequence: Sequence,
    /// What ingests.
    pub target: Target,
    /// What a worker may use.
    pub resources: Resources,
    /// Write settings by name: booleans, whole numbers and strings.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// What is done to it on purpose.
    pub faults: Vec<Fault>,
}

/// How a variant is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// Every workflow completes, or is cancelled as declared.
    Complete,
    /// A workflow may fail: that is a finding, not a fault of the run.
    Fail,
}

/// In which order and how workflows run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sequence {
    /// Sequential or concurrent.
    pub mode: Mode,
    /// Worker processes.
    pub workers: u32,
    /// Workflows that a worker executes at a time.
    pub slots: u32,
    /// Logs in a workflow.
    pub files_per_workflow: u32,
    /// How many times the logs are ingested from the first to the last, as further workflows of
    /// the same sequence.
    pub passes: u32,
    /// The sequence is cancelled once this workflow closed.
    pub stop_after: Option<u32>,
    /// What follows an attempt that failed.
    pub retry: Retry,
    /// A workflow that is not closed this long after its launch is failed.
    pub deadline: Option<Duration>,
    /// An attempt that takes longer is killed.
    pub attempt_timeout: Option<Duration>,
    /// Seed of what is drawn: the order of a shuffled queue.
    pub seed: u64,
}

/// How workflows follow each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The next one is launched when the last one closed.
    Sequential,
    /// All are launched on a schedule, whatever the workers do.
    Concurrent {
        /// Time between two launches.
        launch_interval: Duration,
        /// Which one a free slot takes.
        queue: Queue,
    },
}

/// Which of the waiting workflows a free slot takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// The one that waits longest.
    Fifo,
    /// Any of them, drawn from the seed.
    Shuffled,
}

/// What follows an attempt that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// Attempts in all.
    pub max_attempts: u32,
    /// Wait before the second attempt.
    pub initial: Duration,
    /// Each further wait is so many times the one before.
    pub factor: f64,
    /// No wait is longer.
    pub max: Duration,
}

impl Retry {
    /// The wait after `failed` attempts, at least 1, have failed.
    #[must_use]
    pub fn wait(&self, failed: u32) -> Duration {
        let times = self
            .factor
            .powi(i32::try_from(failed.saturating_sub(1)).unwrap_or(i32::MAX));
        let seconds = self.initial.as_secs_f64() * times;
        if seconds < self.max.as_secs_f64() {
            Duration::from_secs_f64(seconds)
        } else {
            self.max
        }
    }
}

/// What ingests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Which engine.
    pub kind: TargetKind,
    /// Program and arguments of a `command`.
    pub command: Vec<String>,
    /// Where lakes are made, each in a folder `<variant>-<repeat>`; inside the run directory where
    /// it is missing.
    pub lake: Option<String>,
    /// What the store of a lake elsewhere needs.
    pub storage: BTreeMap<String, String>,
    /// A worker that is not ready by then is killed.
    pub start_timeout: Duration,
    /// A worker that is silent for longer while a workflow is in hand is killed.
    pub heartbeat_timeout: Duration,
    /// What Spark is to be; of a target of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spark: Option<SparkTarget>,
}

/// What the Spark target is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkTarget {
    /// What ingests within it.
    pub pipeline: Pipeline,
    /// Folder of the platform's transformer, which holds the package `hl7scout`.
    pub transformer: Option<PathBuf>,
    /// Spark's master; `local[<cpus>]` where it is missing.
    pub master: Option<String>,
    /// Further settings, by Spark's names.
    pub conf: BTreeMap<String, String>,
    /// Packages that Spark fetches.
    pub packages: Vec<String>,
}

/// What ingests within Spark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pipeline {
    /// This project's own.
    Builtin,
    /// The platform's own transformer, from a checkout.
    Scout,
}

impl Pipeline {
    /// As a scenario has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Scout => "scout",
        }
    }
}

/// Which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// The engine that is part of `bench`.
    Embedded,
    /// Spark, with one of its pipelines.
    Spark,
    /// Only answers: measures the harness.
    Null,
    /// Any program that speaks the worker protocol.
    Command,
}

/// What a worker may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processors.
    pub cpus: Option<u32>,
    /// By what memory is limited.
    pub enforcement: Enforcement,
}

/// By what a memory limit is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// A control group where one may be made, else the watchdog.
    Auto,
    /// A control group, or the run does not start.
    Cgroup,
    /// The runner looks at the worker's resident memory and kills it.
    Watchdog,
}

/// Something that is done to an attempt on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Number of the workflow, from 1.
    pub workflow: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// What is done.
    pub kind: FaultKind,
}

/// What is done to an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The worker's limit is this many bytes while the attempt runs.
    Memory(u64),
    /// The worker gets a signal that ends it.
    Kill {
        /// Its name: `SIGKILL`, `SIGTERM`, `SIGSEGV`, `SIGABRT`.
        signal: String,
        /// When.
        at: When,
    },
    /// The worker is stopped for a time, then continued.
    Pause {
        /// How long.
        for_: Duration,
        /// When.
        at: When,
    },
}

/// A moment of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Once the worker has told of this stage.
    Stage(String),
    /// So long after the attempt was sent.
    After(Duration),
}
