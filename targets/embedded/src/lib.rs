//! The embedded engine: one process that takes logs through the platform's tables on Delta.
//!
//! A workflow takes a batch of logs through `reports`, `reports_curated`, `reports_latest`, the
//! mapping of reports to patients and `reports_dx`, with the rows of the real platform and with
//! files that answer to the same write settings. It is written for speed, so that what remains
//! slow is the layout of the lake and not the engine, and for being killed: every table's commit
//! says how far it has seen the table before it, and an attempt continues where the last one died.
//!
//! ```text
//! batch ──► tables::reports ──► curated ──► latest ──► dx
//!   │                              └──► mapping ──► history
//!   └ rows of the logs                (each over `lake`: plan, files, commit)
//! ingest   one workflow as one story        folder   many, by hand
//! worker   the same behind `protocol`       ledger, stage   what it tells
//! ```
//!
//! Left out: deciding when a workflow runs, retrying one, and judging the result. Who does that
//! drives this engine ([`Engine`], [`worker::serve`]) and reads the tables for itself.

mod batch;
mod calendar;
mod error;
mod folder;
mod ingest;
mod kill;
mod lake;
mod ledger;
pub mod protocol;
mod settings;
mod stage;
mod tables;
pub mod worker;

pub use batch::LogBatch;
pub use error::{Error, Result};
pub use folder::{FolderProgress, ingest_folder};
pub use ingest::{Engine, Options};
pub use lake::remote::register as register_s3;
pub use ledger::{FailedLog, Ledger, LostMessage, TableCounts, TableState};
pub use settings::{COUNTS, Effective, KEYS, SettingKey, SettingKind, Settings, Vacuum};
pub use stage::{Progress, STAGES, Silent, Stage};
pub use tables::reports::ReportCounts;
