//! The forms that a verdict takes: for people, for CI, for programs.

mod benchmark;
mod junit;
mod markdown;
mod trend_html;

pub use benchmark::gate_benchmark;
pub use junit::gate_junit;
pub use markdown::gate_markdown;
pub use trend_html::trend_html;

use super::verdict::Gate;

/// `verdict.json`, with a line break at its end.
///
/// # Panics
/// Never: a verdict holds nothing that JSON has no form for.
#[must_use]
pub fn gate_json(gate: &Gate) -> String {
    let mut text = serde_json::to_string_pretty(gate).expect("a verdict is plain data");
    text.push('\n');
    text
}
