//! From run directories to what people read. Reads files and runs nothing.
//!
//! ```text
//! run directory ──► Run ────► Arms ─────► Report ──► Markdown, HTML, JSON, CSV
//! run.json, *.csv   facts,    all arms    figures
//!                   frames    side by     and what cannot
//!                             side        be concluded
//! ```
//!
//! Every function is pure: the same files give the same bytes. A number that does not exist is shown
//! as `n/a` with its reason, never as a blank or a zero.

mod arms;
pub mod charts;
mod compare;
mod differences;
mod effects;
mod error;
mod evidence;
pub mod gate;
mod growth;
mod limits;
mod number;
mod overview;
mod render;
mod report;
mod run;
pub mod statistics;

pub use charts::charts;
pub use compare::{
    Basis, Claim, Comparison, Effect, Factor, Finding, Judgement, Observed, Reason, State, Verdict,
    compare, comparison_markdown,
};
pub use error::ReportError;
pub use evidence::{Cell, Evidence, Heading, Row, Unit};
pub use growth::{Break, Growth};
pub use overview::Overview;
pub use render::{csv, html, json, markdown, table};
pub use report::{Report, report};
pub use run::{Facts, Frames, Run, Verified};
