//! The report: text, sections and status from all OBX, and diagnoses from all DG1.

use super::scan::{nth_part, up_to};
use super::segment::Fields;
use bench_tables::schema::DIAGNOSIS;
use bench_tables::{ReportColumn, ReportRow, StructList, Value};
use bumpalo::Bump;
use bumpalo::collections::{String as BumpString, Vec as BumpVec};
use memchr::{memchr, memchr_iter};

/// Parts of the report by the suffix of OBX-3.
const SECTIONS: [ReportColumn; 4] = [
    ReportColumn::ReportSectionFindings,
    ReportColumn::ReportSectionImpression,
    ReportColumn::ReportSectionAddendum,
    ReportColumn::ReportSectionTechnicianNote,
];

/// Position in [`SECTIONS`] of the section that an observation's identifier names: by what stands
/// between the first and the second `&` of the whole OBX-3.
fn section(identifier: &str) -> Option<u8> {
    // An identifier is a few bytes long: a plain loop is faster than any search.
    let first = identifier.bytes().position(|byte| byte == b'&')?;
    match up_to(&identifier[first + 1..], b'&') {
        "GDT" => Some(0),
        "IMP" => Some(1),
        "ADT" | "ADN" => Some(2),
        "TCM" => Some(3),
        _ => None,
    }
}

/// A section while it grows. Its lines mostly follow each other in the report text, so that the
/// section is a piece of it; only otherwise is it built apart.
#[derive(Clone, Copy, Default)]
struct Section {
    /// Bytes of the report text from the first to the last line.
    span: Option<(usize, usize)>,
    /// Number of the last line.
    last: usize,
    is_scattered: bool,
}

impl Section {
    fn add(&mut self, line: usize, start: usize, end: usize) {
        match &mut self.span {
            None => self.span = Some((start, end)),
            Some(span) => {
                self.is_scattered |= self.last + 1 != line;
                span.1 = end;
            }
        }
        self.last = line;
    }
}

/// The report text while it grows, OBX by OBX.
pub(crate) struct Report<'a> {
    arena: &'a Bump,
    text: BumpString<'a>,
    /// End of each line in the text, and its section.
    lines: BumpVec<'a, (usize, Option<u8>)>,
    sections: [Section; SECTIONS.len()],
    status: Option<&'a str>,
    has_observations: bool,
}

impl<'a> Report<'a> {
    /// A report without observations. `longest` bounds the bytes that its text can reach.
    pub(crate) fn new(longest: usize, arena: &'a Bump) -> Self {
        Self {
            arena,
            text: BumpString::with_capacity_in(longest, arena),
            lines: BumpVec::with_capacity_in(64, arena),
            sections: [Section::default(); SECTIONS.len()],
            status: None,
            has_observations: false,
        }
    }

    /// Adds an OBX segment.
    #[inline]
    pub(crate) fn add(&mut self, observation: &'a str) {
        if !self.has_observations {
            self.has_observations = true;
            self.status = Fields::<12>::new(observation).whole(11);
        }
        // Name, number, type, identifier and sub-identifier; what follows may be long.
        let (head, rest) = Fields::<5>::with_rest(observation);
        let Some(rest) = rest else { return };
        let value = memchr(b'|', rest.as_bytes()).map_or(rest, |end| &rest[..end]);
        if !self.lines.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        if head.whole(2) == Some("TX") {
            let mut from = 0;
            for at in memchr_iter(b'~', value.as_bytes()) {
                self.text.push_str(&value[from..at]);
                self.text.push('\n');
                from = at + 1;
            }
            self.text.push_str(&value[from..]);
        } else {
            self.text.push_str(value);
        }
        let section = head.whole(3).and_then(section);
        if let Some(section) = section {
            let number = self.lines.len();
            self.sections[usize::from(section)].add(number, start, self.text.len());
        }
        self.lines.push((self.text.len(), section));
    }

    /// Puts the report's columns into a row. Without any OBX they stay NULL.
    pub(crate) fn finish(self, row: &mut ReportRow<'a>) {
        if !self.has_observations {
            return;
        }
        let text = self.text.into_bump_str();
        for (number, (section, column)) in (0..).zip(self.sections.iter().zip(SECTIONS)) {
            let of_section = match section.span {
                None => "",
                Some((start, end)) if !section.is_scattered => &text[start..end],
                Some((start, end)) => gather(text, start..end, &self.lines, number, self.arena),
            };
            row.set(column, Value::Str(of_section));
        }
        row.set(ReportColumn::ReportText, Value::Str(text));
        row.set(ReportColumn::ReportStatus, Value::text(self.status));
    }
}

/// The lines of one section, joined by LF.
fn gather<'a>(
    text: &str,
    span: std::ops::Range<usize>,
    lines: &[(usize, Option<u8>)],
    section: u8,
    arena: &'a Bump,
) -> &'a str {
    let mut gathered = BumpString::with_capacity_in(span.len(), arena);
    let mut start = 0;
    let mut is_first = true;
    for &(end, of_line) in lines {
        if of_line == Some(section) {
            if !std::mem::take(&mut is_first) {
                gathered.push('\n');
            }
            gathered.push_str(&text[start..end]);
        }
        start = end + 1;
    }
    gathered.into_bump_str()
}

/// Diagnoses while they are collected, DG1 by DG1.
pub(crate) struct Diagnoses<'a> {
    arena: &'a Bump,
    cells: BumpVec<'a, Option<&'a str>>,
}

impl<'a> Diagnoses<'a> {
    pub(crate) fn new(arena: &'a Bump) -> Self {
        Self {
            arena,
            cells: BumpVec::new_in(arena),
        }
    }

    /// Adds a DG1 segment.
    pub(crate) fn add(&mut self, segment: &'a str) {
        let code = Fields::<4>::new(segment).whole(3);
        for component in 1..=DIAGNOSIS.len() {
            self.cells
                .push(code.and_then(|code| nth_part(code, b'^', component)));
        }
    }

    /// Puts the diagnoses into a row.
    pub(crate) fn finish(self, row: &mut ReportRow<'a>) {
        let list = StructList::new(DIAGNOSIS.len(), self.cells.into_bump_slice());
        let texts = || list.iter().filter_map(|members| members[1]);
        let length = texts().map(|text| text.len() + 2).sum();
        let mut consolidated = BumpString::with_capacity_in(length, self.arena);
        for (number, text) in texts().enumerate() {
            if number > 0 {
                consolidated.push_str("; ");
            }
            consolidated.push_str(text);
        }
        row.set(ReportColumn::Diagnoses, Value::Structs(list));
        row.set(
            ReportColumn::DiagnosesConsolidated,
            Value::Str(consolidated.into_bump_str()),
        );
    }
}
