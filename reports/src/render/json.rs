//! `report.json`: a report for programs.

use crate::report::Report;

/// A report as JSON, with a line break at its end.
///
/// # Panics
/// Never: a report holds nothing that JSON has no form for.
#[must_use]
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report is plain data");
    text.push('\n');
    text
}
