//! From run directories to what people read. Reads files and runs nothing.
//!
//! ```text
//! run directory ──► Run ──► Evidence ──► markdown
//! run.json, *.csv   typed   rows and     report.md
//!                           notes
//! ```
//!
//! Every function is pure: the same files give the same bytes. A number that does not exist is shown
//! as `n/a` with its reason, never as a blank or a zero.

mod evidence;
mod growth;
mod markdown;
mod notes;
mod number;
mod run;
pub mod statistics;

pub use evidence::{Evidence, Row, evidence};
pub use growth::{Line, least_squares};
pub use markdown::{markdown, table};
pub use notes::{differences, limits_of_knowledge};
pub use run::{Arm, Attempt, ReportError, Run, TableState, Variant, Workflow};
