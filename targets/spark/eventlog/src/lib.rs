//! Spark's event logs, read: what jobs, tasks and SQL executions did, by workflow, attempt and stage.
//!
//! Engines' own words about their work are not evidence, and Spark's user interface is gone with the
//! application; its event log stays. This crate reads it at the speed of the disk rather than of a
//! JSON parser ([`read_log`]), whatever Spark compressed it with, also where the driver was killed,
//! and adds it up for one application or for all of an arm ([`read_arm`]).
//!
//! Left out on purpose: plans as such, single tasks, executors' metrics over time. And all text that
//! may quote data: descriptions, plans and error messages are looked at and not kept.

mod application;
mod decode;
mod error;
mod event;
mod figures;
mod finding;
mod locate;
mod log;
mod read;
mod rows;

pub use decode::Codec;
pub use error::EventLogError;
pub use figures::{FILTER_DESCRIPTION, Figures, Group, MEDIAN_JOB, TASKS_PER_FILTER};
pub use finding::Finding;
pub use locate::{LogFiles, locate};
pub use log::{EventLog, GroupSummary, read_log, read_logs};
pub use rows::{ALL, Arm, COLUMNS, Row, read_arm};
