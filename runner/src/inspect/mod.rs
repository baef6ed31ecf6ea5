//! `bench inspect`: what the platform would read, beside what the standard says.
//!
//! Three views of a log, each a plain structure that is made from the log and then shown as text
//! or JSON: [`Overview`] of all its messages, [`MessageView`] of one, and [`FieldView`] of the
//! fields that were asked for. Reading itself is the crate `bench-hl7`'s; this module only
//! arranges, and repairs nothing.
//!
//! This is the one place of `bench` that shows the content of messages.

mod column;
mod comparison;
mod field;
mod log;
mod message;
mod origin;
mod overview;

pub use column::ColumnView;
pub use comparison::Comparison;
pub use field::{Asked, FieldValue, FieldView};
pub use log::{Log, LogFacts};
pub use message::{LineView, MessageView, StandardView};
pub use overview::{FaultView, MessageSummary, Overview, PositionView};
