//! What can be wrong with a message, and where it is.

use crate::{InvalidIdentifier, NotParsable};
use std::fmt;

/// Positions that are kept of one kind of fault; the rest is only counted.
const MAX_POSITIONS: usize = 8;

/// Something about a message that a person should know: what the platform then does is part of
/// its text. Most are no errors, as the platform reads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The log ends before the message does.
    #[error(
        "no `<EB>` before the end of the log: the message may be cut short, and is read all the same"
    )]
    NotClosed,
    /// `<SB>` inside the message.
    #[error(
        "`<SB>` inside the message is text: an `<EB>` may be missing before it, and two messages are read as one"
    )]
    StartInside,
    /// No header line before `<SB>`.
    #[error(
        "no header line with date and time directly before `<SB>`: the platform does not need it"
    )]
    NoHeaderLine,
    /// Text between two messages.
    #[error("text before the message, which is skipped")]
    TextBefore,
    /// Text beside `<SB>`.
    #[error("text beside `<SB>` on its line is lost")]
    TextBesideStart,
    /// Text beside `<EB>`.
    #[error("text beside `<EB>` on its line is read as a segment")]
    TextBesideEnd,
    /// A segment without `<R>`.
    #[error("a line that does not end in `<R>`: CR or LF inside a segment cuts it here")]
    NoSegmentEnd,
    /// `<R>` inside a segment.
    #[error("`<R>` inside a segment is text")]
    SegmentEndInside,
    /// A blank line.
    #[error("a blank line inside the message")]
    BlankLine,
    /// All lines are blank.
    #[error("all lines are blank: the message is staged nowhere, but keeps its number")]
    Empty,
    /// The first line is not MSH.
    #[error("the first line does not start with `MSH`, and is read as MSH all the same")]
    NotMsh,
    /// The first line has too few fields.
    #[error("{0}")]
    NotParsable(NotParsable),
    /// Unusual delimiters.
    #[error(
        "MSH-1 and MSH-2 name other delimiters than `|^~\\&`: the platform reads with those all the same"
    )]
    Delimiters,
    /// MSH-7 is no time.
    #[error("MSH-7 is not a time of 12 or 14 digits: message_dt and year are NULL")]
    MessageTime,
    /// Another day than the log's.
    #[error("MSH-7 is on another day than the log's name says: the year follows MSH-7")]
    OtherDay,
    /// MSH-10 is blank.
    #[error("the message control id (MSH-10) is blank")]
    NoControlId,
    /// A segment is missing.
    #[error("no {0} segment: its columns are NULL")]
    NoSegment(&'static str),
    /// A second segment of its name.
    #[error("another {0} segment, of which only the first is read")]
    AnotherSegment(&'static str),
    /// White space before a segment's name.
    #[error("a segment that starts with white space is not known by its name")]
    Indented,
    /// A name that is no segment's.
    #[error("a segment name that is not three upper-case letters or digits")]
    SegmentName,
    /// A line without `|`.
    #[error("a line without `|` is no segment")]
    NoFields,
    /// OBX-2 is absent or empty.
    #[error("OBX-2 is missing: `~` in the text is not made a line end")]
    NoObservationType,
    /// No order number.
    #[error("the accession (OBR-3, else ORC-3) is missing or blank: the report is not curated")]
    NoAccession,
    /// PID-7 is no date.
    #[error("PID-7 does not start with a date of 8 digits: birth_date is NULL")]
    BirthDate,
    /// A column that cannot exist.
    #[error("{0}: the whole workflow is refused")]
    InvalidIdentifier(InvalidIdentifier),
    /// NUL.
    #[error("the character NUL, which is kept")]
    Nul,
    /// Other control characters.
    #[error("a control character other than tab, which is kept")]
    Control,
    /// 0x80–0x9F.
    #[error("a byte 0x80-0x9F, which is kept as a C1 control character")]
    C1,
    /// UTF-8 text.
    #[error("text in UTF-8, which is read as Latin-1 and comes out garbled")]
    Utf8,
    /// An escape that is not closed.
    #[error("an escape character without its closing one, which is kept")]
    LoneEscape,
    /// An escape that nobody knows.
    #[error("an unknown escape sequence, which is kept")]
    UnknownEscape,
}

/// A segment's name of three letters or digits. Anything longer might be a patient's text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentName([u8; 3]);

impl SegmentName {
    /// The name, if it is three ASCII letters or digits.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let bytes: [u8; 3] = name.as_bytes().try_into().ok()?;
        bytes
            .iter()
            .all(u8::is_ascii_alphanumeric)
            .then_some(Self(bytes))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("three ASCII characters")
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Where a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Line of the message, from 1; 0 is the line of `<SB>` and what stands before it.
    pub line: u32,
    /// Byte of the log at which that line begins.
    pub offset: usize,
    /// The segment on that line, where it has a name.
    pub segment: Option<SegmentName>,
    /// Which of the message's segments of that name, from 1.
    pub occurrence: u32,
    /// The field, from 1.
    pub field: Option<u32>,
}

impl Position {
    /// The same place, narrowed to a field.
    pub(crate) fn at_field(self, field: u32) -> Self {
        Self {
            field: Some(field),
            ..self
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        let Some(segment) = self.segment else {
            return Ok(());
        };
        write!(f, ", {segment}")?;
        if self.occurrence > 1 {
            write!(f, "[{}]", self.occurrence)?;
        }
        self.field.map_or(Ok(()), |field| write!(f, "-{field}"))
    }
}

/// A kind of fault that a message has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// How often.
    pub count: u32,
    /// The first places, in the order of the message; at least one, at most eight.
    pub positions: Vec<Position>,
}

/// Faults while they are collected: one entry a kind, so that their memory does not depend on
/// the message.
#[derive(Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, kind: FaultKind, position: Position) {
        let known = self.0.iter().position(|fault| fault.kind == kind);
        let at = known.unwrap_or_else(|| {
            self.0.push(Fault {
                kind,
                count: 0,
                positions: Vec::new(),
            });
            self.0.len() - 1
        });
        let fault = &mut self.0[at];
        fault.count += 1;
        if fault.positions.len() < MAX_POSITIONS {
            fault.positions.push(position);
        }
    }

    pub(crate) fn add_if(&mut self, is_so: bool, kind: FaultKind, position: Position) {
        if is_so {
            self.add(kind, position);
        }
    }

    /// The faults, by their first line.
    pub(crate) fn finish(mut self) -> Vec<Fault> {
        self.0
            .sort_by_key(|fault| fault.positions.first().map(|first| first.line));
        self.0
    }
}
