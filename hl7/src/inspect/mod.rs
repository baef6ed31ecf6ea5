//! Looking at one message: what the platform reads, what the standard would, and what is wrong.
//!
//! This is for people and may take its time; nothing here is used for ingest. All of it works on
//! any bytes, in time and memory linear in the message.

mod checks;
mod fault;

pub use fault::{Fault, FaultKind, Position, SegmentName};

use crate::read::{TextLines, nth_part, segment, text};
use crate::standard::{self, Standard, StandardValue};
use crate::{FieldPath, LogDate, Message, NotParsable, Outcome, Reader, Reading};
use bumpalo::Bump;

/// Everything about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection<'a> {
    /// What an ingest would make of it.
    pub outcome: Outcome,
    /// The row that the platform reads, or why there is none. A blank message is never staged
    /// and has no row whatever this says.
    pub platform: Result<Reading<'a>, NotParsable>,
    /// What a parser by the standard keeps, and where it stops.
    pub standard: Standard,
    /// What is wrong, by line.
    pub faults: Vec<Fault>,
}

/// Looks at a message. `date` is that of its log, for comparison with MSH-7.
pub fn inspect<'a>(
    reader: &'a Reader,
    message: &Message<'a>,
    date: Option<LogDate>,
    source_file: &'a str,
    arena: &'a Bump,
) -> Inspection<'a> {
    let platform = reader.read(message, source_file, arena);
    let outcome = match &platform {
        _ if message.is_blank() => Outcome::Empty,
        Ok(_) => Outcome::Read,
        Err(_) => Outcome::NotParsable,
    };
    Inspection {
        faults: checks::faults(message, date, outcome, &platform, arena),
        standard: standard::read(staged_lines(message, arena)),
        platform,
        outcome,
    }
}

/// A line of a message, as the platform sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLine<'a> {
    /// Number of the line, from 1.
    pub number: u32,
    /// Byte of the log at which it begins.
    pub offset: usize,
    /// Its text without markers. For lines other than the first also without trailing `|`.
    pub text: &'a str,
    /// The segment's name: `MSH` for the first line, else the text before the first `|`. An empty
    /// line is no segment.
    pub name: Option<&'a str>,
}

/// The lines of a message, in platform mode.
pub fn segment_lines<'a>(
    message: &Message<'a>,
    arena: &'a Bump,
) -> impl Iterator<Item = SegmentLine<'a>> + use<'a> {
    let start = message.body_range().start;
    let offsets = message.line_offsets().map(move |offset| start + offset);
    staged_lines(message, arena)
        .zip(offsets)
        .zip(1..)
        .map(|((line, offset), number)| {
            let is_header = number == 1;
            let text = if is_header {
                line
            } else {
                segment(line, arena)
            };
            let name = match text.split('|').next() {
                _ if is_header => Some("MSH"),
                // A line of bars only is a segment without a name.
                Some("") if line.is_empty() => None,
                name => name,
            };
            SegmentLine {
                number,
                offset,
                text,
                name,
            }
        })
}

/// A field as both modes read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldReading<'a> {
    /// In platform mode, nothing unescaped; `None` where there is no such field or part.
    pub platform: Option<&'a str>,
    /// In standard mode.
    pub standard: StandardValue,
}

/// Looks up a field. In platform mode the delimiters are fixed, the first line is `MSH`, and
/// repetitions are not split unless the path names one.
pub fn field<'a>(message: &Message<'a>, path: &FieldPath, arena: &'a Bump) -> FieldReading<'a> {
    FieldReading {
        platform: platform_field(message, path, arena),
        standard: standard::field(staged_lines(message, arena), path),
    }
}

fn platform_field<'a>(message: &Message<'a>, path: &FieldPath, arena: &'a Bump) -> Option<&'a str> {
    let line = segment_lines(message, arena)
        .filter(|line| line.name == Some(path.segment.as_str()))
        .nth(path.occurrence.checked_sub(1)?)?;
    let field = match (line.number, path.field) {
        (1, 1) => return line.text.contains('|').then_some("|"),
        (1, number) => nth_part(line.text, b'|', number)?,
        (_, number) => nth_part(line.text, b'|', number.checked_add(1)?)?,
    };
    [
        (b'~', path.repetition),
        (b'^', path.component),
        (b'&', path.subcomponent),
    ]
    .into_iter()
    .filter_map(|(delimiter, number)| Some((delimiter, number?)))
    .try_fold(field, |text, (delimiter, number)| {
        nth_part(text, delimiter, number)
    })
}

fn staged_lines<'a>(message: &Message<'a>, arena: &'a Bump) -> TextLines<'a> {
    TextLines::new(text(message, arena), message.is_closed(), arena)
}
