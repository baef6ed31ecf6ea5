//! The forms that a report takes.

mod csv;
mod json;
mod markdown;

pub use csv::csv;
pub use json::json;
pub use markdown::{markdown, table};
