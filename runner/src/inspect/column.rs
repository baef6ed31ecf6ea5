//! The columns of a message's row, each in both readings.

use super::comparison::Comparison;
use super::origin::Origin;
use crate::terminal::{Terminal, Tone, shorten, thousands};
use crate::value::{json, text, visible};
use bench_hl7::inspect::{Inspection, field};
use bench_hl7::{FieldPath, Message, Outcome, Reading};
use bench_tables::{ColumnType, ReportColumn, Value};
use bumpalo::Bump;
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Characters from which on a value that is cut says how many it has.
const LONG: usize = 200;
/// Widths of a column's name and of where it is read.
const NAME: usize = 34;
const FROM: usize = 9;

/// A column in both readings.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnView {
    /// Name of the column.
    pub column: String,
    /// The field that it is read from.
    pub from: String,
    /// The value that the platform stores.
    pub platform: serde_json::Value,
    /// What the standard reads in that field; nothing where another column shows it.
    pub standard: Option<Comparison>,
    /// The platform's value for a person.
    #[serde(skip)]
    pub(super) shown: String,
}

/// The row of a message, or nothing where there is no row.
pub(super) fn row<'i, 'a>(inspection: &'i Inspection<'a>) -> Option<&'i Reading<'a>> {
    match &inspection.platform {
        Ok(reading) if inspection.outcome == Outcome::Read => Some(reading),
        _ => None,
    }
}

/// Every column of a message's row, identifier columns behind `patient_ids`.
pub(super) fn all(
    message: &Message<'_>,
    inspection: &Inspection<'_>,
    arena: &Bump,
) -> Vec<ColumnView> {
    let mut columns = Vec::new();
    for &column in ReportColumn::ALL {
        columns.extend(ColumnView::of(message, inspection, column, arena));
        let reading = row(inspection).filter(|_| column == ReportColumn::PatientIds);
        for (name, id) in reading.map_or(&[][..], |reading| reading.row.identifiers) {
            columns.push(ColumnView {
                column: (*name).to_owned(),
                from: Origin::of(column).name(),
                platform: serde_json::json!(id),
                standard: None,
                shown: (*id).to_owned(),
            });
        }
    }
    columns
}

/// The line above columns.
pub(super) fn heading() -> String {
    format!("{:<NAME$}  {:<FROM$} platform reads", "Columns", "from")
}

impl ColumnView {
    /// A column of a message; nothing where there is no row.
    pub(super) fn of(
        message: &Message<'_>,
        inspection: &Inspection<'_>,
        column: ReportColumn,
        arena: &Bump,
    ) -> Option<Self> {
        let value = row(inspection)?.row.get(column);
        let origin = Origin::of(column);
        let standard = match (column.ty(), value, origin) {
            // The field's text tells why there is no value.
            (ColumnType::Date | ColumnType::Timestamp, Value::Null, Origin::Field(path)) => {
                Some(unread(message, path, arena))
            }
            _ => Comparison::at(origin, message, inspection.standard.delimiters, arena),
        };
        Some(Self {
            column: column.name().to_owned(),
            from: origin.name(),
            platform: json(value, column.ty()),
            standard,
            shown: text(value, column.ty()),
        })
    }

    /// Appends the column to a text, on one line or two.
    pub(super) fn text(&self, terminal: &Terminal, text: &mut String) {
        let width = terminal.width - 2 - NAME - FROM - 1;
        let tone = self.platform.is_null().then_some(Tone::Quiet);
        let value = on_one_line(&self.shown, width);
        let value = match tone {
            Some(tone) => terminal.paint(tone, value).to_string(),
            None => value,
        };
        let name = visible(&self.column);
        let _ = writeln!(text, "  {name:<NAME$}{:<FROM$} {value}", self.from);
        let standard = match &self.standard {
            None | Some(Comparison::Same) => return,
            // What is NULL anyway is not missed.
            Some(Comparison::NotReached { .. }) if self.platform.is_null() => return,
            Some(Comparison::NotReached { .. }) => "not reached".to_owned(),
            Some(Comparison::Absent) => "absent".to_owned(),
            Some(Comparison::Different { value }) => on_one_line(value, width),
        };
        let standard = terminal.paint(Tone::Warning, standard);
        let _ = writeln!(text, "  {:NAME$}{:<FROM$} {standard}", "", "standard");
    }
}

/// What the standard reads in a field of which the platform makes no date or time.
fn unread(message: &Message<'_>, path: &str, arena: &Bump) -> Comparison {
    let path: FieldPath = path.parse().expect("origins are tested to be paths");
    let reading = field(message, &path, arena);
    Comparison::of(
        reading.platform.filter(|text| text.is_empty()),
        &reading.standard,
    )
}

/// A value on one line. Blanks at its ends are shown by quotes, and a long one that is cut says
/// how long it is.
fn on_one_line(value: &str, width: usize) -> String {
    let shown = if value.trim_matches(' ') == value {
        visible(value)
    } else {
        format!("\"{}\"", visible(value))
    };
    if shown.width() <= width {
        return shown;
    }
    let count = shown.chars().count();
    if count < LONG {
        return shorten(&shown, width);
    }
    let length = format!(" ({} characters)", thousands(count as u64));
    format!("{}{length}", shorten(&shown, width - length.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_the_ends_of_a_value_can_be_seen() {
        assert_eq!(on_one_line("  ", 10), "\"  \"");
        assert_eq!(on_one_line("a b", 10), "a b");
    }

    #[test]
    fn a_long_value_that_is_cut_says_how_long_it_is() {
        let shown = on_one_line(&"x".repeat(1500), 40);
        assert_eq!(shown.width(), 40);
        assert!(shown.ends_with("x… (1,500 characters)"), "{shown}");
    }
}
