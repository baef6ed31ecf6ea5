//! The evidence table as CSV, a line a cell: for spreadsheets and notebooks.

use crate::evidence::Cell;
use crate::report::Report;

/// The evidence table of a report as CSV. Values are in the base unit of `unit`; a figure that does
/// not exist has its reason in `note`.
///
/// # Panics
/// Never: it writes to memory.
#[must_use]
pub fn csv(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |fields: [&str; 9]| writer.write_record(fields).expect("memory takes it");
    write([
        "figure", "name", "column", "unit", "median", "min", "max", "arms", "note",
    ]);
    for row in &report.evidence.rows {
        let unit = serde_json::to_value(row.unit).expect("a word");
        let unit = unit.as_str().unwrap_or_default();
        for (column, cell) in report.evidence.columns.iter().zip(&row.cells) {
            let (median, min, max, arms, note) = match cell {
                Cell::Figure {
                    median,
                    min,
                    max,
                    arms,
                    missing,
                    after,
                } => (
                    median.to_string(),
                    min.to_string(),
                    max.to_string(),
                    arms.to_string(),
                    note(missing.as_ref(), after.as_ref()),
                ),
                Cell::Missing { reason: note } | Cell::Statement { text: note } => {
                    let none = String::new;
                    (none(), none(), none(), none(), note.clone())
                }
            };
            write([
                &row.id,
                &row.name,
                &column.name,
                unit,
                &median,
                &min,
                &max,
                &arms,
                &note,
            ]);
        }
    }
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("it was made of text")
}

/// What else is to be said of a figure.
fn note(missing: Option<&String>, after: Option<&String>) -> String {
    let after = after.map(|after| format!("after {after}"));
    let parts = [after, missing.cloned()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
