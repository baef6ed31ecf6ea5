//! What happened in a run, and what is told of it.
//!
//! ```text
//! Event ──► Journal (events.jsonl) ──► History ──► *.csv
//! ```
//!
//! The journal is the truth and is written first; everything else here is a function of its events.

mod effects;
mod event;
mod files;
mod history;
mod journal;
mod spark;

pub use effects::{WithoutEffect, without_effect};
pub use event::{
    ArmId, AttemptEnd, AttemptOutcome, Cause, Event, Exit, Injected, Limits, Record, RunStatus,
    TableProbe, WorkflowStatus,
};
pub use files::write_tables;
pub use history::{ArmHistory, AttemptHistory, History, Spent, WorkerHistory, WorkflowHistory};
pub use journal::{EVENTS_FILE, Journal, JournalError, read_events};
pub use spark::{SPARK_FILE, write_spark};
