//! All messages of a log, one line each.

use super::column::row;
use super::log::{Log, LogFacts};
use crate::table::{Align, Table};
use crate::terminal::{Terminal, Tone, counted, wrap};
use crate::value::{json, visible};
use bench_hl7::inspect::{Fault, Inspection, Position, inspect};
use bench_hl7::{Message, Outcome, Reader};
use bench_tables::ReportColumn;
use bumpalo::Bump;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Messages that a fault's line names.
const MAX_NAMED: usize = 8;

/// A log and its messages.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// Version of this format.
    pub format: u32,
    /// The log as a whole.
    #[serde(flatten)]
    pub log: LogFacts,
    /// Its messages, in order.
    pub messages: Vec<MessageSummary>,
}

/// One message in short.
#[derive(Clone, Debug, Serialize)]
pub struct MessageSummary {
    /// Number within the log, from 0.
    pub message: u32,
    /// Byte of the log where it begins, at its `<SB>`.
    pub start: usize,
    /// Byte of the log behind it.
    pub end: usize,
    /// What an ingest would make of it: `read`, `empty` or `not_parsable`.
    pub outcome: &'static str,
    /// Why there is no row, where there is none.
    pub reason: Option<String>,
    /// HL7 version as the platform reads it.
    pub version: Option<String>,
    /// Message control id as the platform reads it.
    pub control_id: Option<String>,
    /// Message time as the platform reads it.
    pub message_dt: Option<String>,
    /// Lines that are not empty.
    pub segments: u32,
    /// What is wrong with it.
    pub faults: Vec<FaultView>,
}

/// A fault and where it is.
#[derive(Clone, Debug, Serialize)]
pub struct FaultView {
    /// What is wrong, and what the platform makes of it.
    pub fault: String,
    /// How often.
    pub count: u32,
    /// The first places.
    pub positions: Vec<PositionView>,
}

/// A place in a message.
#[derive(Clone, Debug, Serialize)]
pub struct PositionView {
    /// Line and, where there is one, segment and field.
    pub place: String,
    /// Line of the message, from 1; 0 is the line of `<SB>` and what stands before it.
    pub line: u32,
    /// Byte of the log at which the line begins.
    pub offset: usize,
}

impl Overview {
    /// Looks at every message of a log.
    #[must_use]
    pub fn of(log: &Log, reader: &Reader) -> Self {
        let mut arena = Bump::new();
        let mut messages = Vec::new();
        for message in log.messages() {
            let source_file = log.source_file(message.ordinal()).unwrap_or_default();
            let inspection = inspect(reader, &message, log.date(), &source_file, &arena);
            messages.push(MessageSummary::of(&message, &inspection));
            drop(inspection);
            arena.reset();
        }
        Self {
            format: 1,
            log: log.facts(),
            messages,
        }
    }

    /// The overview for a person.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let mut text = String::new();
        let title = terminal.paint(Tone::Heading, &self.log.file);
        let _ = writeln!(text, "{title}: {}", self.summary());
        if let Some(failure) = &self.log.failure {
            let failure = terminal.paint(Tone::Bad, failure);
            let _ = writeln!(text, "an ingest would take nothing from it: {failure}");
        }
        if !self.messages.is_empty() {
            text.push('\n');
            self.table().render(terminal, &mut text);
            text.push('\n');
            self.faults(terminal, &mut text);
        }
        text
    }

    fn summary(&self) -> String {
        let mut text = counted(self.log.bytes as u64, "byte");
        if let Some(day) = &self.log.day {
            let _ = write!(text, ", day {day}");
        }
        let _ = write!(text, ", {}", counted(self.messages.len() as u64, "message"));
        let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
        for message in &self.messages {
            *outcomes.entry(message.outcome_words()).or_default() += 1;
        }
        if outcomes.len() > 1 || !outcomes.contains_key("read") {
            let parts: Vec<String> = outcomes
                .iter()
                .map(|(outcome, count)| format!("{count} {outcome}"))
                .collect();
            if !parts.is_empty() {
                let _ = write!(text, " ({})", parts.join(", "));
            }
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            ("n", Align::Right),
            ("bytes", Align::Right),
            ("outcome", Align::Left),
            ("ver", Align::Left),
            ("message time", Align::Left),
            ("segs", Align::Right),
            ("faults", Align::Right),
            ("control id", Align::Left),
        ]);
        let or_dash = |value: &Option<String>| value.as_deref().map_or("-".to_owned(), visible);
        for message in &self.messages {
            table.push([
                message.message.to_string(),
                format!("{}-{}", message.start, message.end),
                message.outcome_words().to_owned(),
                or_dash(&message.version),
                or_dash(&message.message_dt),
                message.segments.to_string(),
                message.faults.len().to_string(),
                or_dash(&message.control_id),
            ]);
        }
        table
    }

    /// Each kind of fault once, with the messages that have it.
    fn faults(&self, terminal: &Terminal, text: &mut String) {
        let mut kinds: Vec<(&str, Vec<u32>)> = Vec::new();
        for message in &self.messages {
            for fault in &message.faults {
                match kinds.iter_mut().find(|(kind, _)| *kind == fault.fault) {
                    Some((_, messages)) => messages.push(message.message),
                    None => kinds.push((&fault.fault, vec![message.message])),
                }
            }
        }
        if kinds.is_empty() {
            let _ = writeln!(text, "{}", terminal.paint(Tone::Good, "No faults."));
            return;
        }
        let _ = writeln!(text, "{}", terminal.paint(Tone::Heading, "Faults"));
        for (kind, messages) in kinds {
            fault_words(kind, terminal, text);
            let _ = writeln!(text, "      in {}", named(&messages));
        }
    }
}

/// Appends what a fault is, its second line indented.
pub(super) fn fault_words(fault: &str, terminal: &Terminal, text: &mut String) {
    for (at, line) in wrap(fault, terminal.width - 4).iter().enumerate() {
        let before = if at == 0 { "  " } else { "    " };
        let _ = writeln!(text, "{before}{}", terminal.paint(Tone::Warning, line));
    }
}

/// `message 3`, or `12 messages: 0, 1, 2, …`.
fn named(messages: &[u32]) -> String {
    if let [only] = messages {
        return format!("message {only}");
    }
    let mut names: Vec<String> = messages
        .iter()
        .take(MAX_NAMED)
        .map(ToString::to_string)
        .collect();
    if messages.len() > MAX_NAMED {
        names.push("…".to_owned());
    }
    format!(
        "{}: {}",
        counted(messages.len() as u64, "message"),
        names.join(", ")
    )
}

impl MessageSummary {
    pub(super) fn of(message: &Message<'_>, inspection: &Inspection<'_>) -> Self {
        let row = row(inspection);
        let column = |column: ReportColumn| {
            let value = json(row?.row.get(column), column.ty());
            value.as_str().map(str::to_owned)
        };
        let reason = match (&inspection.outcome, &inspection.platform) {
            (Outcome::NotParsable, Err(reason)) => Some(reason.to_string()),
            (Outcome::Empty, _) => Some("all lines are blank".to_owned()),
            _ => None,
        };
        Self {
            message: message.ordinal(),
            start: message.range().start,
            end: message.range().end,
            outcome: match inspection.outcome {
                Outcome::Read => "read",
                Outcome::Empty => "empty",
                Outcome::NotParsable => "not_parsable",
            },
            reason,
            version: column(ReportColumn::VersionId),
            control_id: column(ReportColumn::MessageControlId),
            message_dt: column(ReportColumn::MessageDt),
            segments: inspection.standard.segments,
            faults: inspection.faults.iter().map(FaultView::of).collect(),
        }
    }

    /// The outcome for a person.
    pub(super) fn outcome_words(&self) -> &'static str {
        match self.outcome {
            "not_parsable" => "not parsable",
            other => other,
        }
    }
}

impl FaultView {
    fn of(fault: &Fault) -> Self {
        Self {
            fault: fault.kind.to_string(),
            count: fault.count,
            positions: fault.positions.iter().map(PositionView::of).collect(),
        }
    }
}

impl PositionView {
    fn of(position: &Position) -> Self {
        Self {
            place: position.to_string(),
            line: position.line,
            offset: position.offset,
        }
    }
}
