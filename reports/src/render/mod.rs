//! The forms that a report takes.

mod csv;
mod html;
mod json;
mod markdown;

pub use csv::csv;
pub use html::html;
pub use json::json;
pub use markdown::{markdown, table};
