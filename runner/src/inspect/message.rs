//! One message in full: its faults, its columns, its lines.

use super::column::{self, ColumnView};
use super::log::{Log, LogFacts};
use super::overview::{MessageSummary, fault_words};
use crate::error::Error;
use crate::table::{Align, Table};
use crate::terminal::{Terminal, Tone, counted, hang, thousands};
use crate::value::visible;
use bench_hl7::inspect::{inspect, segment_lines};
use bench_hl7::{Reader, Standard};
use bumpalo::Bump;
use serde::Serialize;
use std::fmt::Write;

/// A message as `bench inspect --message` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct MessageView {
    /// Version of this format.
    pub format: u32,
    /// The log.
    #[serde(flatten)]
    pub log: LogFacts,
    /// The message in short, with its faults.
    #[serde(flatten)]
    pub summary: MessageSummary,
    /// The name under which it would be staged.
    pub source_file: Option<String>,
    /// How a parser by the standard fares.
    pub standard: StandardView,
    /// The row of `reports`; none where there is no row.
    pub columns: Vec<ColumnView>,
    /// The lines as they are staged.
    pub lines: Vec<LineView>,
}

/// How far a parser by the standard comes.
#[derive(Clone, Debug, Serialize)]
pub struct StandardView {
    /// Delimiters that the message names.
    pub delimiters: Option<String>,
    /// Segments that were read.
    pub segments_kept: u32,
    /// Line at which the parser stopped, if it did.
    pub stopped_at_line: Option<u32>,
    /// Why.
    pub stopped_by: Option<String>,
}

/// A line of a message.
#[derive(Clone, Debug, Serialize)]
pub struct LineView {
    /// Number of the line, from 1.
    pub line: u32,
    /// Byte of the log at which it begins.
    pub offset: usize,
    /// Its text, without markers.
    pub text: String,
}

impl MessageView {
    /// Looks at one message of a log.
    ///
    /// # Errors
    /// [`Error::NoSuchMessage`] if the log has fewer.
    pub fn of(log: &Log, number: u32, reader: &Reader) -> Result<Self, Error> {
        let message = log.message(number)?;
        let arena = Bump::new();
        let source_file = log.source_file(number);
        let key = source_file.as_deref().unwrap_or_default();
        let inspection = inspect(reader, &message, log.date(), key, &arena);
        Ok(Self {
            format: 1,
            log: log.facts(),
            summary: MessageSummary::of(&message, &inspection),
            standard: StandardView::of(&inspection.standard),
            columns: column::all(&message, &inspection, &arena),
            lines: segment_lines(&message, &arena)
                .map(|line| LineView {
                    line: line.number,
                    offset: line.offset,
                    text: line.text.to_owned(),
                })
                .collect(),
            source_file,
        })
    }

    /// The message for a person.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let mut text = String::new();
        self.head(terminal, &mut text);
        self.faults(terminal, &mut text);
        if !self.columns.is_empty() {
            let heading = terminal.paint(Tone::Heading, column::heading());
            let _ = writeln!(text, "\n{heading}");
            for column in &self.columns {
                column.text(terminal, &mut text);
            }
        }
        text.push('\n');
        let mut lines = Table::new([
            ("line", Align::Right),
            ("offset", Align::Right),
            ("text", Align::Left),
        ]);
        // What is left of the line of `<EB>` is no news where it is nothing.
        let shown = match self.lines.split_last() {
            Some((last, before)) if last.text.is_empty() => before,
            _ => &self.lines,
        };
        for line in shown {
            lines.push([
                line.line.to_string(),
                line.offset.to_string(),
                visible(&line.text),
            ]);
        }
        lines.render(terminal, &mut text);
        text
    }

    fn head(&self, terminal: &Terminal, text: &mut String) {
        let MessageSummary {
            message,
            start,
            end,
            segments,
            ..
        } = self.summary;
        let title = format!("{} message {message}", self.log.file);
        let _ = writeln!(
            text,
            "{}: bytes {start} to {end}, {}",
            terminal.paint(Tone::Heading, title),
            counted(segments.into(), "segment")
        );
        let platform = match (&self.summary.reason, &self.source_file, &self.log.failure) {
            (Some(reason), _, _) => format!("no row: {reason}"),
            (None, Some(source_file), None) => format!("a row, {source_file}"),
            (None, _, failure) => {
                format!("no row: the log {}", failure.as_deref().unwrap_or("failed"))
            }
        };
        let standard = match (&self.standard.stopped_at_line, &self.standard.stopped_by) {
            (Some(line), Some(reason)) => format!(
                "{} of {segments} segments, then it stopped at line {line}: {reason}",
                self.standard.segments_kept
            ),
            _ => format!(
                "all segments, by the delimiters {}",
                self.standard.delimiters.as_deref().unwrap_or("none")
            ),
        };
        for (name, line) in [("platform", platform), ("standard", standard)] {
            hang(text, &format!("  {name:<8}  "), &line, terminal.width);
        }
    }

    fn faults(&self, terminal: &Terminal, text: &mut String) {
        text.push('\n');
        if self.summary.faults.is_empty() {
            let _ = writeln!(text, "{}", terminal.paint(Tone::Good, "No faults."));
            return;
        }
        let _ = writeln!(text, "{}", terminal.paint(Tone::Heading, "Faults"));
        for fault in &self.summary.faults {
            fault_words(&fault.fault, terminal, text);
            let mut places: Vec<&str> = fault
                .positions
                .iter()
                .map(|position| position.place.as_str())
                .collect();
            if fault.count as usize > places.len() {
                places.push("…");
            }
            let times = match fault.count {
                1 => String::new(),
                count => format!("{} times: ", thousands(count.into())),
            };
            let places = format!("{times}{}", places.join("; "));
            hang(text, "      ", &places, terminal.width);
        }
    }
}

impl StandardView {
    fn of(standard: &Standard) -> Self {
        Self {
            delimiters: standard.delimiters.map(|delimiters| delimiters.to_string()),
            segments_kept: standard.segments_kept,
            stopped_at_line: standard.stop.map(|stop| stop.line),
            stopped_by: standard.stop.map(|stop| stop.reason.to_string()),
        }
    }
}
