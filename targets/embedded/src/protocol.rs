//! The messages between a runner and a worker, one JSON object a line.
//!
//! `docs/worker-protocol.md` shows an example of each. Every line carries `"protocol": 1` and the
//! name of its message in `"type"`; fields that a reader does not know are ignored, so that a field
//! can be added without a new version.

use crate::ledger::Ledger;
use crate::stage::Stage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version that this engine speaks.
pub const VERSION: u32 = 1;

/// A message with its version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line<M> {
    /// Version of the protocol.
    pub protocol: u32,
    /// The message.
    #[serde(flatten)]
    pub message: M,
}

impl<M> Line<M> {
    /// A message in the version that this engine speaks.
    pub const fn new(message: M) -> Self {
        Self {
            protocol: VERSION,
            message,
        }
    }
}

/// What a runner says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// The first message: what to work on, and how. Answered by `ready` or `failed`.
    Hello(Hello),
    /// A workflow to ingest. Answered by `done` or `failed`.
    Ingest(Ingest),
    /// The last message: end with exit code 0.
    Shutdown,
}

/// What a worker works on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Path or address of the lake.
    pub lake: String,
    /// Folder of the logs.
    pub dataset: String,
    /// Names the sequence of workflows in this lake for ever: with it and a workflow's number a
    /// second attempt is known from a deliberate ingest of the same logs.
    pub sequence: String,
    /// Write settings by name.
    #[serde(default)]
    pub settings: BTreeMap<String, Value>,
    /// What the worker may use.
    #[serde(default)]
    pub resources: Resources,
    /// Prefix of staged names; the engine's own where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging_root: Option<String>,
    /// What the store of a lake elsewhere needs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub storage: BTreeMap<String, String>,
    /// What one target alone understands; this engine nothing of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Value>,
}

/// What a worker may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Processors; all of the machine's where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Workflows that it is to execute at a time; one where it is missing. Further ones wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Bytes of memory; whoever starts the worker enforces them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// A workflow to ingest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ingest {
    /// Number of the workflow in its sequence, from 1.
    pub workflow: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The logs.
    pub manifest: Manifest,
    /// Whether no workflow follows.
    #[serde(default)]
    pub last: bool,
}

/// The logs of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Paths relative to the dataset.
    pub logs: Vec<String>,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    /// Answer to `hello`.
    Ready(Ready),
    /// A stage of the workflow in hand was done.
    Stage {
        /// Number of the workflow.
        workflow: u32,
        /// Number of the attempt.
        attempt: u32,
        /// What was done.
        #[serde(flatten)]
        stage: Stage,
    },
    /// The worker is alive and works on this.
    Heartbeat {
        /// Number of the workflow.
        workflow: u32,
        /// Number of the attempt.
        attempt: u32,
    },
    /// The workflow is complete.
    Done(Done),
    /// What was asked could not be done.
    Failed {
        /// Number of the workflow; missing where it was `hello` that failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<u32>,
        /// Number of the attempt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// What went wrong.
        message: String,
        /// Whether another attempt may succeed.
        retryable: bool,
    },
}

/// What a worker is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Name of the engine.
    pub engine: String,
    /// Versions of what it is made of.
    pub versions: BTreeMap<String, String>,
    /// The settings in force, all of them.
    pub effective: BTreeMap<String, String>,
    /// Settings that were asked for and that it cannot honour.
    pub unsupported: Vec<String>,
}

/// A workflow that was completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Number of the workflow.
    pub workflow: u32,
    /// Number of the attempt.
    pub attempt: u32,
    /// Its account.
    pub ledger: Ledger,
    /// Versions of the tables afterwards.
    pub versions: BTreeMap<String, i64>,
    /// Settings that changed nothing in this workflow, and why, where the engine can tell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub without_effect: BTreeMap<String, String>,
}
