//! Finding the faults of a message, rule by rule.

use super::fault::{Fault, FaultKind, Faults, Position, SegmentName};
use super::{SegmentLine, segment_lines};
use crate::lines::{END, Lines, SEGMENT_END, START};
use crate::read::{is_blank, leading_date, nth_part, time};
use crate::standard::{Delimiters, unresolved};
use crate::{LogDate, Message, NotParsable, Outcome, Reading};
use bench_tables::ReportColumn;
use bumpalo::Bump;
use memchr::memmem;

/// Segments of which the platform reads the first only.
const SINGLE: [&str; 5] = ["PID", "PV1", "ORC", "OBR", "ZDS"];
/// Segments without which a report says little.
const EXPECTED: [&str; 3] = ["PID", "OBR", "OBX"];

/// Names of segments that are counted. A stranger's message may hold any number of them, and
/// the list is searched for each line.
const MAX_NAMES: usize = 64;

/// All faults of a message.
pub(super) fn faults<'a>(
    message: &Message<'a>,
    date: Option<LogDate>,
    outcome: Outcome,
    platform: &Result<Reading<'a>, NotParsable>,
    arena: &'a Bump,
) -> Vec<Fault> {
    let mut faults = Faults::default();
    framing(message, &mut faults);
    if outcome == Outcome::Empty {
        faults.add(FaultKind::Empty, marker_position(message));
        return faults.finish();
    }
    let mut counts = Counts::default();
    let mut first = marker_position(message);
    for ((raw, ends_message), line) in message.raw_lines().zip(segment_lines(message, arena)) {
        let position = counts.position(&line);
        if line.number == 1 {
            first = position;
            header(&line, date, position, &mut faults);
        } else {
            let is_rest = ends_message && line.text.is_empty();
            if !is_rest {
                name(&line, position, &counts, &mut faults);
            }
        }
        markers(raw, ends_message, position, &mut faults);
        characters(raw, position, &mut faults);
        escapes(line.text, position, &mut faults);
        fields(&line, position, &mut faults);
    }
    match platform {
        Err(reason) => faults.add(FaultKind::NotParsable(*reason), first),
        Ok(reading) => {
            for segment in EXPECTED {
                faults.add_if(
                    counts.of(segment) == 0,
                    FaultKind::NoSegment(segment),
                    first,
                );
            }
            row(reading, &counts, first, &mut faults);
        }
    }
    faults.finish()
}

/// How many segments of each well-formed name were seen, and where the first is.
#[derive(Default)]
struct Counts(Vec<(SegmentName, u32, Position)>);

impl Counts {
    /// The position of a line, counting its segment.
    fn position(&mut self, line: &SegmentLine<'_>) -> Position {
        let mut position = Position {
            line: line.number,
            offset: line.offset,
            segment: line.name.and_then(SegmentName::new),
            occurrence: 1,
            field: None,
        };
        let Some(name) = position.segment else {
            return position;
        };
        if let Some((_, count, _)) = self.0.iter_mut().find(|(known, ..)| *known == name) {
            *count += 1;
            position.occurrence = *count;
        } else if self.0.len() < MAX_NAMES || is_ruled(name) {
            self.0.push((name, 1, position));
        }
        position
    }

    fn of(&self, name: &str) -> u32 {
        self.0
            .iter()
            .find(|(known, ..)| known.as_str() == name)
            .map_or(0, |(_, count, _)| *count)
    }

    fn first(&self, name: &str) -> Option<Position> {
        self.0
            .iter()
            .find(|(known, ..)| known.as_str() == name)
            .map(|(.., position)| *position)
    }
}

/// Whether a rule asks for segments of this name.
fn is_ruled(name: SegmentName) -> bool {
    SINGLE.contains(&name.as_str()) || EXPECTED.contains(&name.as_str())
}

fn marker_position(message: &Message<'_>) -> Position {
    let offset = message.range().start;
    Position {
        line: 0,
        offset,
        segment: None,
        occurrence: 1,
        field: None,
    }
}

/// Faults around the message.
fn framing(message: &Message<'_>, faults: &mut Faults) {
    let position = marker_position(message);
    let preamble = message.preamble();
    let is_filled = |line: &&[u8]| line.iter().any(|byte| !byte.is_ascii_whitespace());
    let mut lines = Lines::new(preamble)
        .map(|range| &preamble[range])
        .filter(is_filled);
    // The last of these lines is that of `<SB>`, the one before it should be the header.
    let (mut marker, mut before) = (lines.next().unwrap_or_default(), None);
    let mut has_chatter = false;
    for line in lines {
        has_chatter |= before.is_some();
        before = Some(std::mem::replace(&mut marker, line));
    }
    let has_header = before.is_some_and(is_header_line);
    has_chatter |= before.is_some() && !has_header;
    faults.add_if(marker != START, FaultKind::TextBesideStart, position);
    faults.add_if(!has_header, FaultKind::NoHeaderLine, position);
    faults.add_if(has_chatter, FaultKind::TextBefore, position);
    faults.add_if(!message.is_closed(), FaultKind::NotClosed, position);
}

/// Whether a line starts with a time: `yyyy-MM-dd HH:mm:ss.SSSS`.
fn is_header_line(line: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00 00:00:00.0000";
    line.len() >= SHAPE.len()
        && SHAPE.iter().zip(line).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

fn header(line: &SegmentLine<'_>, date: Option<LogDate>, position: Position, faults: &mut Faults) {
    if !line.text.starts_with("MSH") {
        faults.add(FaultKind::NotMsh, position);
        return;
    }
    let is_usual = line.text.starts_with(r"MSH|^~\&|");
    faults.add_if(!is_usual, FaultKind::Delimiters, position.at_field(2));
    let first_component = |number| {
        let field = nth_part(line.text, b'|', number)?;
        nth_part(field, b'^', 1)
    };
    let sent = first_component(7).unwrap_or_default();
    faults.add_if(
        time(sent).is_none(),
        FaultKind::MessageTime,
        position.at_field(7),
    );
    let is_other_day =
        time(sent).is_some() && date.is_some_and(|date| !sent.starts_with(date.digits()));
    faults.add_if(is_other_day, FaultKind::OtherDay, position.at_field(7));
    let has_no_id = first_component(10).is_some_and(is_blank);
    faults.add_if(has_no_id, FaultKind::NoControlId, position.at_field(10));
}

/// Faults of a segment's name.
fn name(line: &SegmentLine<'_>, position: Position, counts: &Counts, faults: &mut Faults) {
    let Some(name) = line.name else {
        faults.add(FaultKind::BlankLine, position);
        return;
    };
    let is_good = position.segment.is_some() && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    if line.text.starts_with(char::is_whitespace) {
        faults.add(FaultKind::Indented, position);
    } else if !line.text.contains('|') && position.segment.is_none() {
        faults.add(FaultKind::NoFields, position);
    } else {
        faults.add_if(!is_good, FaultKind::SegmentName, position);
    }
    if let Some(single) = SINGLE.into_iter().find(|single| *single == name) {
        faults.add_if(
            counts.of(single) > 1,
            FaultKind::AnotherSegment(single),
            position,
        );
    }
}

/// Faults of the log's markers on a line.
fn markers(raw: &[u8], ends_message: bool, position: Position, faults: &mut Faults) {
    let without_end = raw.strip_suffix(SEGMENT_END);
    if ends_message {
        let text = without_end.unwrap_or(raw);
        let is_alone = text.strip_prefix(END).is_some_and(<[u8]>::is_empty);
        faults.add_if(!is_alone, FaultKind::TextBesideEnd, position);
    } else {
        let is_cut = without_end.is_none() && !raw.is_empty();
        faults.add_if(is_cut, FaultKind::NoSegmentEnd, position);
    }
    let text = without_end.unwrap_or(raw);
    let holds = |marker| memmem::find(text, marker).is_some();
    faults.add_if(holds(START), FaultKind::StartInside, position);
    faults.add_if(holds(SEGMENT_END), FaultKind::SegmentEndInside, position);
}

/// Bytes that are likely not what they were meant to be.
fn characters(raw: &[u8], position: Position, faults: &mut Faults) {
    let is_control = |byte: &u8| matches!(byte, 1..=8 | 11..=31 | 127);
    faults.add_if(raw.contains(&0), FaultKind::Nul, position);
    faults.add_if(raw.iter().any(is_control), FaultKind::Control, position);
    if raw.is_ascii() {
        return;
    }
    let (mut is_utf8, mut has_c1) = (false, false);
    for chunk in raw.utf8_chunks() {
        is_utf8 |= !chunk.valid().is_ascii();
        has_c1 |= chunk
            .invalid()
            .iter()
            .any(|byte| (0x80..0xA0).contains(byte));
    }
    faults.add_if(is_utf8, FaultKind::Utf8, position);
    faults.add_if(has_c1, FaultKind::C1, position);
}

fn escapes(text: &str, position: Position, faults: &mut Faults) {
    // In the header the escape character stands for itself.
    if position.line == 1 || !text.contains(Delimiters::USUAL.escape) {
        return;
    }
    let numbers = 0..;
    for (field, number) in text
        .split('|')
        .zip(numbers)
        .filter(|(_, number)| *number > 0)
    {
        let (lone, unknown) = unresolved(field, &Delimiters::USUAL);
        faults.add_if(lone > 0, FaultKind::LoneEscape, position.at_field(number));
        faults.add_if(
            unknown > 0,
            FaultKind::UnknownEscape,
            position.at_field(number),
        );
    }
}

/// Faults of fields that columns are made of.
fn fields(line: &SegmentLine<'_>, position: Position, faults: &mut Faults) {
    let field = |number: usize| nth_part(line.text, b'|', number + 1);
    match line.name {
        Some("PID") if position.occurrence == 1 && line.number > 1 => {
            let birth = field(7)
                .and_then(|birth| nth_part(birth, b'^', 1))
                .unwrap_or_default();
            let is_wrong = !birth.is_empty() && leading_date(birth).is_none();
            faults.add_if(is_wrong, FaultKind::BirthDate, position.at_field(7));
        }
        Some("OBX") => {
            let has_type = field(2).is_some_and(|kind| !kind.is_empty());
            faults.add_if(
                !has_type,
                FaultKind::NoObservationType,
                position.at_field(2),
            );
        }
        _ => {}
    }
}

/// Faults that show in the row.
fn row(reading: &Reading<'_>, counts: &Counts, header: Position, faults: &mut Faults) {
    let text = |column| reading.row.get(column).as_str();
    let obr = text(ReportColumn::Obr3FillerOrderNumber).filter(|number| !number.is_empty());
    let accession = obr.or(text(ReportColumn::Orc3FillerOrderNumber));
    let order = counts
        .first("OBR")
        .map_or(header, |position| position.at_field(3));
    faults.add_if(
        accession.is_none_or(is_blank),
        FaultKind::NoAccession,
        order,
    );
    if let Some(invalid) = reading.invalid_identifier {
        let position = counts
            .first("PID")
            .map_or(header, |position| position.at_field(3));
        faults.add(FaultKind::InvalidIdentifier(invalid), position);
    }
}
