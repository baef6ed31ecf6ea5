//! Standard mode: what the HL7 standard would read, for a person to look at.
//!
//! It honours the delimiters that MSH-1 and MSH-2 name and resolves escapes. The structure comes
//! from the `hl7-parser` crate, segment by segment, so that memory stays that of one segment and
//! a second opinion remains one: where that parser gives up, this module says so and why. Two
//! things are done here instead of there: escapes, since its `decode` panics on some text, and
//! MSH with five encoding characters, which it reads shifted by one field.
//!
//! Never used for ingest: the platform does not read this way.

mod escape;

pub(crate) use escape::{unescape, unresolved};

use crate::FieldPath;
use hl7_parser::message::{Segment, Separators};
use hl7_parser::parser::{parse_msh, parse_segment_with_separators};
use std::fmt;

/// A segment with more delimiters than this is not given to the parser, which takes several
/// hundred bytes for each.
const MAX_DELIMITERS: usize = 20_000;

/// The delimiters of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delimiters {
    /// Between fields, MSH-1.
    pub field: char,
    /// Between components, the first character of MSH-2.
    pub component: char,
    /// Between repetitions, the second.
    pub repetition: char,
    /// Around escapes, the third.
    pub escape: char,
    /// Between subcomponents, the fourth.
    pub subcomponent: char,
}

impl Delimiters {
    /// `|^~\&`
    pub const USUAL: Self = Self {
        field: '|',
        component: '^',
        repetition: '~',
        escape: '\\',
        subcomponent: '&',
    };

    fn separators(self) -> Separators {
        Separators {
            field: self.field,
            component: self.component,
            subcomponent: self.subcomponent,
            repetition: self.repetition,
            escape: self.escape,
            lenient_newlines: false,
        }
    }

    fn count(self, line: &str) -> usize {
        let all = [
            self.field,
            self.component,
            self.repetition,
            self.subcomponent,
        ];
        line.chars().filter(|c| all.contains(c)).count()
    }
}

impl fmt::Display for Delimiters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            component,
            repetition,
            escape,
            subcomponent,
        } = self;
        write!(f, "{field}{component}{repetition}{escape}{subcomponent}")
    }
}

/// Why the parser went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StopReason {
    /// The first line does not start with `MSH` and five ASCII characters.
    #[error("the first line does not start with `MSH` and five delimiters")]
    NoHeader,
    /// A blank line.
    #[error("a blank line")]
    BlankLine,
    /// The line starts with white space.
    #[error("an indented segment")]
    Indented,
    /// The line's name is not three letters or digits.
    #[error("a segment whose name is not three letters or digits")]
    Name,
    /// The line has no field delimiter.
    #[error("a line without field delimiter")]
    NoFields,
    /// The segment was too large to be given to the parser.
    #[error("a segment of more than {MAX_DELIMITERS} delimiters")]
    TooLarge,
    /// The parser left a part of the line.
    #[error("a segment that the parser reads only in part")]
    Rest,
}

/// Where the parser stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stop {
    /// Line of the message, from 1.
    pub line: u32,
    /// Why.
    pub reason: StopReason,
}

/// A message in standard mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standard {
    /// Delimiters that the message names; `None` without a header.
    pub delimiters: Option<Delimiters>,
    /// Segments that the parser kept.
    pub segments_kept: u32,
    /// Lines of the message that are not empty, which is how many segments the platform sees.
    pub segments: u32,
    /// Where the parser stopped, if it did before the end.
    pub stop: Option<Stop>,
}

/// A field in standard mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StandardValue {
    /// Its value, escapes resolved.
    Value(String),
    /// There is no such segment, field or part.
    Absent,
    /// There may be, but the parser stopped before.
    NotReached(Stop),
}

/// The delimiters that a first line names.
fn delimiters(header: &str) -> Option<Delimiters> {
    let named = header.strip_prefix("MSH")?.get(..5)?;
    let mut chars = named.chars();
    let mut next = || chars.next().filter(char::is_ascii);
    Some(Delimiters {
        field: next()?,
        component: next()?,
        repetition: next()?,
        escape: next()?,
        subcomponent: next()?,
    })
}

/// A segment as the parser reads it.
struct Parsed<'t> {
    segment: Segment<'t>,
    /// MSH-2 where it is longer than the parser takes it to be.
    long_encoding: Option<&'t str>,
    is_whole: bool,
}

fn parse_header(line: &str, delimiters: Delimiters) -> Result<Parsed<'_>, StopReason> {
    if delimiters.count(line) > MAX_DELIMITERS {
        return Err(StopReason::TooLarge);
    }
    let (_, segment) = parse_msh(line).map_err(|_| StopReason::NoHeader)?;
    let encoding = line[4..].split(delimiters.field).next().unwrap_or_default();
    Ok(Parsed {
        is_whole: segment.raw_value().len() == line.len(),
        long_encoding: (encoding.len() > 4).then_some(encoding),
        segment,
    })
}

fn parse_line(line: &str, delimiters: Delimiters) -> Result<Parsed<'_>, StopReason> {
    if delimiters.count(line) > MAX_DELIMITERS {
        return Err(StopReason::TooLarge);
    }
    match parse_segment_with_separators(line, delimiters.separators()) {
        Ok(segment) => Ok(Parsed {
            is_whole: segment.raw_value().len() == line.len(),
            long_encoding: None,
            segment,
        }),
        Err(_) if line.is_empty() => Err(StopReason::BlankLine),
        Err(_) if line.starts_with(char::is_whitespace) => Err(StopReason::Indented),
        Err(_) if !line.contains(delimiters.field) => Err(StopReason::NoFields),
        Err(_) => Err(StopReason::Name),
    }
}

/// Gives the lines of a message to the parser, one by one, until it stops; `visit` sees each
/// segment and ends the walk by returning `false`. Trailing blank lines are no reason to stop.
fn walk<'t>(
    lines: impl Iterator<Item = &'t str>,
    mut visit: impl FnMut(Parsed<'t>) -> bool,
) -> Option<Stop> {
    let mut blank = None;
    let mut known = None;
    for (line, number) in lines.zip(1..) {
        if let Some(stop) = blank.filter(|_| !line.is_empty()) {
            return Some(stop);
        }
        let stop = |reason| Stop {
            line: number,
            reason,
        };
        let parsed = match known {
            Some(delimiters) => parse_line(line, delimiters),
            None => {
                known = delimiters(line);
                match known {
                    Some(delimiters) => parse_header(line, delimiters),
                    None => Err(StopReason::NoHeader),
                }
            }
        };
        match parsed {
            Err(StopReason::BlankLine) => blank = blank.or(Some(stop(StopReason::BlankLine))),
            Err(reason) => return Some(stop(reason)),
            Ok(parsed) => {
                let is_whole = parsed.is_whole;
                if !visit(parsed) {
                    return None;
                }
                if !is_whole {
                    return Some(stop(StopReason::Rest));
                }
            }
        }
    }
    None
}

/// Reads the lines of a message, without markers, in standard mode.
pub(crate) fn read<'t>(lines: impl Iterator<Item = &'t str> + Clone) -> Standard {
    let mut segments_kept = 0;
    let stop = walk(lines.clone(), |_| {
        segments_kept += 1;
        true
    });
    Standard {
        delimiters: lines.clone().next().and_then(delimiters),
        segments_kept,
        segments: lines
            .zip(0u32..)
            .filter(|(line, _)| !line.is_empty())
            .count() as u32,
        stop,
    }
}

/// The value of a field in standard mode.
pub(crate) fn field<'t>(
    lines: impl Iterator<Item = &'t str> + Clone,
    path: &FieldPath,
) -> StandardValue {
    let Some(delimiters) = lines.clone().next().and_then(delimiters) else {
        return StandardValue::NotReached(Stop {
            line: 1,
            reason: StopReason::NoHeader,
        });
    };
    let mut seen = 0;
    let mut found = None;
    let stop = walk(lines, |parsed| {
        if parsed.segment.name != path.segment {
            return true;
        }
        seen += 1;
        if seen == path.occurrence {
            found = Some(value(&parsed, path).map(|raw| unescape(raw, &delimiters).into_owned()));
        }
        found.is_none()
    });
    match (found, stop) {
        (Some(Some(value)), _) => StandardValue::Value(value),
        (Some(None), _) | (None, None) => StandardValue::Absent,
        (None, Some(stop)) => StandardValue::NotReached(stop),
    }
}

/// The raw text of a field or of a part of it.
fn value<'t>(parsed: &Parsed<'t>, path: &FieldPath) -> Option<&'t str> {
    let mut number = path.field;
    if let Some(encoding) = parsed.long_encoding {
        match number {
            2 => return Some(encoding),
            3.. => number += 1,
            _ => {}
        }
    }
    let field = parsed.segment.fields.get(number.checked_sub(1)?)?;
    // The delimiters themselves are no repetitions of anything.
    if parsed.segment.name == "MSH" && number <= 2 {
        return Some(field.raw_value());
    }
    if path.repetition.is_none() && path.component.is_none() {
        return Some(field.raw_value());
    }
    let repetition = field
        .repeats
        .get(path.repetition.unwrap_or(1).checked_sub(1)?)?;
    let Some(component) = path.component else {
        return Some(repetition.raw_value());
    };
    let component = repetition.components.get(component.checked_sub(1)?)?;
    let Some(subcomponent) = path.subcomponent else {
        return Some(component.raw_value());
    };
    let subcomponent = component.subcomponents.get(subcomponent.checked_sub(1)?)?;
    Some(subcomponent.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r"MSH|^~\&|APP|SITE";

    fn read_lines(lines: &[&str]) -> Standard {
        read(lines.iter().copied())
    }

    fn get(lines: &[&str], path: &str) -> StandardValue {
        field(lines.iter().copied(), &path.parse().unwrap())
    }

    fn value_of(lines: &[&str], path: &str) -> Option<String> {
        match get(lines, path) {
            StandardValue::Value(value) => Some(value),
            _ => None,
        }
    }

    #[test]
    fn fields_are_counted_as_in_the_standard() {
        let lines = [HEADER, r"PID|1||7^^^A&B~8^^^C|x\T\y", "OBX|1", "OBX|2||a&b"];
        for (path, expected) in [
            ("MSH-1", Some("|")),
            ("MSH-2", Some(r"^~\&")),
            ("MSH-3", Some("APP")),
            ("MSH-4", Some("SITE")),
            ("MSH-5", None),
            ("PID-3", Some("7^^^A&B~8^^^C")),
            ("PID-3.1", Some("7")),
            ("PID-3[2].4", Some("C")),
            ("PID-3.4.2", Some("B")),
            ("PID-2", Some("")),
            ("PID-4", Some("x&y")),
            ("OBX[2]-1", Some("2")),
            ("OBX[3]-1", None),
            ("ZDS-1", None),
        ] {
            assert_eq!(value_of(&lines, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn delimiters_of_the_message_are_honoured() {
        let lines = ["MSH#@%!$#APP#SITE@X", "PID#1#a@b%c!F!d"];
        assert_eq!(read_lines(&lines).delimiters.unwrap().to_string(), "#@%!$");
        assert_eq!(value_of(&lines, "MSH-4.2").as_deref(), Some("X"));
        assert_eq!(value_of(&lines, "PID-2[2]").as_deref(), Some("c#d"));
    }

    #[test]
    fn five_encoding_characters_do_not_shift_the_header() {
        let lines = [r"MSH|^~\&#|APP|SITE", "PID|1"];
        assert_eq!(value_of(&lines, "MSH-2").as_deref(), Some(r"^~\&#"));
        assert_eq!(value_of(&lines, "MSH-3").as_deref(), Some("APP"));
        assert_eq!(value_of(&lines, "MSH-4").as_deref(), Some("SITE"));
    }

    #[test]
    fn it_is_told_where_and_why_the_parser_stopped() {
        for (line, reason) in [
            (" OBX|1", StopReason::Indented),
            ("OB|1", StopReason::Name),
            ("OBXX|1", StopReason::Name),
            ("text", StopReason::NoFields),
        ] {
            let standard = read_lines(&[HEADER, "PID|1", line, "OBX|1"]);
            assert_eq!(standard.stop, Some(Stop { line: 3, reason }), "{line}");
            assert_eq!((standard.segments_kept, standard.segments), (2, 4));
        }
        let blank = read_lines(&[HEADER, "PID|1", "", "OBX|1"]);
        assert_eq!(
            blank.stop,
            Some(Stop {
                line: 3,
                reason: StopReason::BlankLine
            })
        );
        assert_eq!((blank.segments_kept, blank.segments), (2, 3));
    }

    #[test]
    fn trailing_blank_lines_are_no_reason_to_stop() {
        let standard = read_lines(&[HEADER, "PID|1", "", ""]);
        assert_eq!(standard.stop, None);
        assert_eq!((standard.segments_kept, standard.segments), (2, 2));
    }

    #[test]
    fn a_field_beyond_the_stop_is_not_reached() {
        let lines = [HEADER, "PID|1", "", "OBX|1"];
        let stop = Stop {
            line: 3,
            reason: StopReason::BlankLine,
        };
        assert_eq!(get(&lines, "OBX-1"), StandardValue::NotReached(stop));
        assert_eq!(get(&lines, "PID-1"), StandardValue::Value("1".to_owned()));
        assert_eq!(get(&lines, "PID-9"), StandardValue::Absent);
    }

    #[test]
    fn without_a_header_nothing_is_read() {
        for header in ["", "PID|1", "MSH", "MSH|^~", "MSH|^~\\é", "msh|^~\\&|"] {
            let standard = read_lines(&[header, "PID|1"]);
            assert_eq!(
                standard.stop,
                Some(Stop {
                    line: 1,
                    reason: StopReason::NoHeader
                })
            );
            assert_eq!(standard.segments_kept, 0);
        }
        assert_eq!(read_lines(&[]).segments, 0);
    }

    #[test]
    fn a_segment_of_too_many_delimiters_is_not_given_to_the_parser() {
        let line = format!("PID|{}", "~".repeat(MAX_DELIMITERS));
        let standard = read_lines(&[HEADER, &line]);
        assert_eq!(
            standard.stop,
            Some(Stop {
                line: 2,
                reason: StopReason::TooLarge
            })
        );
    }
}
