//! Fields or columns that were asked for, in full, of one message or of all.

use super::column::ColumnView;
use super::comparison::Comparison;
use super::log::{Log, LogFacts};
use crate::error::Error;
use crate::terminal::{Terminal, Tone};
use crate::value::{visible, visible_lines};
use bench_hl7::inspect::{field, inspect};
use bench_hl7::{FieldPath, Message, Reader};
use bench_tables::ReportColumn;
use bumpalo::Bump;
use serde::Serialize;
use std::fmt;
use std::fmt::Write;
use std::str::FromStr;

/// What to show: a field of HL7, or a column of `reports`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// As in `PID-5` or `OBX[2]-5`.
    Field(FieldPath),
    /// As in `report_text`.
    Column(ReportColumn),
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(column) = ReportColumn::from_name(text) {
            return Ok(Self::Column(column));
        }
        text.parse()
            .map(Self::Field)
            .map_err(|error: bench_hl7::Error| {
                format!("{error}; a column of reports, such as `report_text`, will do too")
            })
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => path.fmt(f),
            Self::Column(column) => f.write_str(column.name()),
        }
    }
}

/// Fields of messages, as `bench inspect --field` shows them.
#[derive(Clone, Debug, Serialize)]
pub struct FieldView {
    /// Version of this format.
    pub format: u32,
    /// The log.
    #[serde(flatten)]
    pub log: LogFacts,
    /// The values, by message and in the order in which they were asked for.
    pub values: Vec<FieldValue>,
}

/// A field or column of one message.
#[derive(Clone, Debug, Serialize)]
pub struct FieldValue {
    /// Number of the message, from 0.
    pub message: u32,
    /// What was asked for.
    pub field: String,
    /// What the platform reads; null where it reads nothing.
    pub platform: serde_json::Value,
    /// What the standard reads there, where it can be told.
    pub standard: Option<Comparison>,
    /// The platform's value for a person.
    #[serde(skip)]
    shown: Option<String>,
}

impl FieldView {
    /// Looks up fields and columns in one message, or in all of a log.
    ///
    /// # Errors
    /// [`Error::NoSuchMessage`] if the log has no such message.
    pub fn of(
        log: &Log,
        number: Option<u32>,
        asked: &[Asked],
        reader: &Reader,
    ) -> Result<Self, Error> {
        let mut values = Vec::new();
        let mut look = |message: &Message<'_>| {
            for asked in asked {
                values.push(value(log, message, asked, reader));
            }
        };
        match number {
            Some(number) => look(&log.message(number)?),
            None => log.messages().for_each(|message| look(&message)),
        }
        Ok(Self {
            format: 1,
            log: log.facts(),
            values,
        })
    }

    /// The fields for a person; control characters other than line ends are shown as pictures.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let mut text = String::new();
        for value in &self.values {
            let title = format!("message {} {}", value.message, value.field);
            let _ = writeln!(text, "{}", terminal.paint(Tone::Heading, title));
            entry(&mut text, terminal, "platform", value.shown.as_deref());
            match &value.standard {
                None => {}
                Some(Comparison::Same) => {
                    let same = terminal.paint(Tone::Quiet, "the same");
                    let _ = writeln!(text, "  standard  {same}");
                }
                Some(Comparison::Different { value }) => {
                    entry(&mut text, terminal, "standard", Some(value));
                }
                Some(Comparison::Absent) => entry(&mut text, terminal, "standard", None),
                Some(Comparison::NotReached { reason }) => {
                    let reason = format!("not reached, {reason}");
                    let reason = terminal.paint(Tone::Warning, reason);
                    let _ = writeln!(text, "  standard  {reason}");
                }
            }
        }
        text
    }
}

fn entry(text: &mut String, terminal: &Terminal, name: &str, value: Option<&str>) {
    let Some(value) = value else {
        let nothing = terminal.paint(Tone::Quiet, "nothing");
        let _ = writeln!(text, "  {name:<8}  {nothing}");
        return;
    };
    if value.is_empty() || value.trim_matches(' ') != value {
        let _ = writeln!(text, "  {name:<8}  \"{}\"", visible(value));
        return;
    }
    for (at, line) in visible_lines(value).enumerate() {
        let line = format!("  {:<8}  {line}", if at == 0 { name } else { "" });
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn value(log: &Log, message: &Message<'_>, asked: &Asked, reader: &Reader) -> FieldValue {
    let arena = Bump::new();
    let (platform, standard, shown) = match asked {
        Asked::Field(path) => {
            let reading = field(message, path, &arena);
            let comparison = Comparison::of(reading.platform, &reading.standard);
            let shown = reading.platform.map(str::to_owned);
            (serde_json::json!(reading.platform), Some(comparison), shown)
        }
        Asked::Column(column) => {
            let source_file = log.source_file(message.ordinal()).unwrap_or_default();
            let inspection = inspect(reader, message, log.date(), &source_file, &arena);
            match ColumnView::of(message, &inspection, *column, &arena) {
                Some(view) => (view.platform, view.standard, Some(view.shown)),
                None => (serde_json::Value::Null, None, None),
            }
        }
    };
    FieldValue {
        message: message.ordinal(),
        field: asked.to_string(),
        platform,
        standard,
        shown,
    }
}
