//! What the platform's rules make of lines, word for word.
//!
//! Only messages that a fault has touched come here, with the lines as the fault left them. The
//! code is deliberately plain, and shares nothing with the reader that the tests and the targets
//! use: the two must agree because both follow the format, not because they are the same.

use bench_tables::ReportColumn as Column;
use bench_tables::{ReportRow, StructList, Value};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::calendar::{DAY_SECONDS, date_of, day_of};

/// A segment: its fields, the name first.
type Fields<'b> = Vec<&'b str>;

/// The row of collected lines, or `None` where the platform cannot parse them.
pub(crate) fn report_row<'b>(
    lines: &[&'b str],
    source_file: &'b str,
    modality: &dyn Fn(&str) -> Option<&'b str>,
    arena: &'b Bump,
) -> Option<ReportRow<'b>> {
    let msh: Fields<'b> = lines.first()?.split('|').collect();
    if msh.len() < 10 {
        return None;
    }
    let segments: Vec<Fields<'b>> = lines[1..]
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| without_trailing_bars(line, arena).split('|').collect())
        .collect();
    let page = Page {
        msh,
        segments,
        arena,
    };
    let mut row = ReportRow::new();
    row.set(Column::SourceFile, Value::Str(source_file));
    page.header(&mut row);
    page.patient(&mut row);
    page.orders(&mut row);
    page.people(&mut row);
    page.diagnoses(&mut row);
    page.texts(&mut row);
    if let Some(code) = row.get(Column::ServiceIdentifier).as_str() {
        row.set(Column::Modality, Value::text(modality(code)));
    }
    Some(row)
}

/// Bars at the end go, also those before a single final NEL, which stays.
fn without_trailing_bars<'b>(line: &'b str, arena: &'b Bump) -> &'b str {
    match line.strip_suffix('\u{85}') {
        Some(rest) if rest.ends_with('|') => {
            arena.alloc_str(&format!("{}\u{85}", rest.trim_end_matches('|')))
        }
        _ => line.trim_end_matches('|'),
    }
}

struct Page<'b> {
    msh: Fields<'b>,
    segments: Vec<Fields<'b>>,
    arena: &'b Bump,
}

impl<'b> Page<'b> {
    /// A whole field of the first segment of a name.
    fn field(&self, segment: &str, number: usize) -> Option<&'b str> {
        let fields = self.segments.iter().find(|fields| fields[0] == segment)?;
        fields.get(number).copied()
    }

    /// A component, counted from 1.
    fn component(&self, segment: &str, field: usize, component: usize) -> Option<&'b str> {
        self.field(segment, field)?.split('^').nth(component - 1)
    }

    fn header(&self, row: &mut ReportRow<'b>) {
        // MSH-1 is the bar itself, so MSH-n is the piece n - 1.
        let msh = |number: usize| {
            self.msh
                .get(number - 1)
                .and_then(|field| field.split('^').next())
        };
        row.set(Column::SendingFacility, Value::text(msh(4)));
        row.set(Column::MessageControlId, Value::text(msh(10)));
        row.set(Column::VersionId, Value::text(msh(12)));
        let time = msh(7).and_then(moment);
        row.set(Column::MessageDt, Value::timestamp(time));
        if let Some(micros) = time {
            let day = micros.div_euclid(1_000_000 * DAY_SECONDS);
            row.set(Column::Year, Value::Int(date_of(day as i32).0));
        }
    }

    fn patient(&self, row: &mut ReportRow<'b>) {
        let mut set = |column, text: Option<&'b str>| row.set(column, Value::text(text));
        set(
            Column::Mpi,
            self.component("PID", 2, 1).filter(|id| !id.is_empty()),
        );
        set(Column::Sex, self.component("PID", 8, 1));
        set(Column::Race, self.component("PID", 10, 1));
        set(Column::ZipOrPostalCode, self.component("PID", 11, 5));
        set(Column::Country, self.component("PID", 11, 6));
        set(Column::EthnicGroup, self.component("PID", 22, 1));
        set(Column::PatientClass, self.component("PV1", 2, 1));
        let birth = self.component("PID", 7, 1).and_then(|text| {
            let digits: String = text.chars().take(8).collect();
            date(&digits)
        });
        row.set(Column::BirthDate, birth.map_or(Value::Null, Value::Date));
        let Some(ids) = self.field("PID", 3) else {
            return;
        };
        let mut cells = BumpVec::new_in(self.arena);
        let mut columns: Vec<(String, &'b str)> = Vec::new();
        for id in ids.split('~') {
            let [number, authority, kind, facility] = [1, 4, 5, 6].map(|at| member(id, at));
            if kind == Some("SS") {
                continue;
            }
            cells.extend([number, authority, kind, facility]);
            let Some(number) = number else { continue };
            let name = match (authority, kind, facility) {
                (Some(authority), Some(kind), _) => {
                    format!("{}_{}", authority.to_lowercase(), kind.to_lowercase())
                }
                (_, _, Some(facility)) => {
                    format!("legacy_patient_id_{}", facility.to_lowercase())
                }
                _ => continue,
            };
            match columns.iter_mut().find(|(known, _)| *known == name) {
                Some((_, smallest)) => *smallest = number.min(smallest),
                None => columns.push((name, number)),
            }
        }
        columns.sort();
        row.set(
            Column::PatientIds,
            Value::Structs(StructList::new(4, cells.into_bump_slice())),
        );
        row.identifiers = self.arena.alloc_slice_fill_iter(
            columns
                .into_iter()
                .map(|(name, id)| (&*self.arena.alloc_str(&name), id)),
        );
    }

    fn orders(&self, row: &mut ReportRow<'b>) {
        for (column, segment, field, component) in [
            (Column::Orc2PlacerOrderNumber, "ORC", 2, 1),
            (Column::Obr2PlacerOrderNumber, "OBR", 2, 1),
            (Column::Orc3FillerOrderNumber, "ORC", 3, 1),
            (Column::Obr3FillerOrderNumber, "OBR", 3, 1),
            (Column::ServiceIdentifier, "OBR", 4, 1),
            (Column::ServiceName, "OBR", 4, 2),
            (Column::ServiceCodingSystem, "OBR", 4, 3),
            (Column::DiagnosticServiceId, "OBR", 24, 1),
            (Column::StudyInstanceUid, "ZDS", 1, 1),
        ] {
            row.set(
                column,
                Value::text(self.component(segment, field, component)),
            );
        }
        for (column, field) in [
            (Column::RequestedDt, 6),
            (Column::ObservationDt, 7),
            (Column::ObservationEndDt, 8),
            (Column::ResultsReportStatusChangeDt, 22),
        ] {
            let time = self.component("OBR", field, 1).and_then(moment);
            row.set(column, Value::timestamp(time));
        }
    }

    fn people(&self, row: &mut ReportRow<'b>) {
        let mut cells = BumpVec::new_in(self.arena);
        if let Some(field) = self.field("PID", 5) {
            for name in field.split('~') {
                cells.extend((1..=7).map(|at| member(name, at)));
            }
            let list = StructList::new(7, cells.into_bump_slice());
            row.set(Column::FullPatientName, Value::Structs(list));
            let first = list.iter().next().map(|name| (name[1], name[0]));
            row.set(Column::PatientName, Value::Str(self.spoken(first)));
        } else {
            row.set(Column::PatientName, Value::Str(""));
        }
        let ordering = self.staff(16, true);
        let principal = self.staff(32, false);
        let assistants = self.staff(33, false);
        let technicians = self.staff(34, false);
        for (column, list) in [
            (Column::FullOrderingProvider, ordering),
            (Column::FullPrincipalResultInterpreter, principal),
            (Column::FullAssistantResultInterpreter, assistants),
            (Column::FullTechnician, technicians),
        ] {
            row.set(column, list.map_or(Value::Null, Value::Structs));
        }
        for (column, list) in [
            (Column::OrderingProvider, ordering),
            (Column::PrincipalResultInterpreter, principal),
        ] {
            let first = list.and_then(|list| list.iter().next().map(|p| (p[2], p[1])));
            row.set(column, Value::Str(self.spoken(first)));
        }
        for (column, list) in [
            (Column::AssistantResultInterpreter, assistants),
            (Column::Technician, technicians),
        ] {
            let Some(list) = list else { continue };
            let mut names: Vec<&'b str> = Vec::new();
            for person in list.iter() {
                let name = self.spoken(Some((person[2], person[1])));
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            row.set(column, Value::Strings(self.arena.alloc_slice_copy(&names)));
        }
    }

    /// The people of an OBR field who have a family name.
    fn staff(&self, field: usize, with_types: bool) -> Option<StructList<'b>> {
        let field = self.field("OBR", field)?;
        let mut cells = BumpVec::new_in(self.arena);
        for person in field.split('~') {
            if member(person, 2).is_none() {
                continue;
            }
            cells.extend((1..=7).map(|at| member(person, at)));
            cells.push(member(person, 10).filter(|_| with_types));
            cells.push(member(person, 9));
            cells.push(member(person, 13).filter(|_| with_types));
            cells.push(member(person, 14).filter(|_| with_types));
        }
        Some(StructList::new(11, cells.into_bump_slice()))
    }

    /// Given and family name, as far as there are any.
    fn spoken(&self, name: Option<(Option<&'b str>, Option<&'b str>)>) -> &'b str {
        match name {
            Some((Some(given), Some(family))) => self.arena.alloc_str(&format!("{given} {family}")),
            Some((Some(only), None) | (None, Some(only))) => only,
            _ => "",
        }
    }

    fn diagnoses(&self, row: &mut ReportRow<'b>) {
        let mut cells = BumpVec::new_in(self.arena);
        let mut texts = Vec::new();
        for fields in self.segments.iter().filter(|fields| fields[0] == "DG1") {
            let part = |at: usize| fields.get(3).and_then(|field| field.split('^').nth(at));
            cells.extend([part(0), part(1), part(2)]);
            texts.extend(part(1));
        }
        row.set(
            Column::Diagnoses,
            Value::Structs(StructList::new(3, cells.into_bump_slice())),
        );
        let all = self.arena.alloc_str(&texts.join("; "));
        row.set(Column::DiagnosesConsolidated, Value::Str(all));
    }

    fn texts(&self, row: &mut ReportRow<'b>) {
        let obx: Vec<&Fields<'b>> = self
            .segments
            .iter()
            .filter(|fields| fields[0] == "OBX")
            .collect();
        let Some(first) = obx.first() else {
            return;
        };
        row.set(Column::ReportStatus, Value::text(first.get(11).copied()));
        let join = |sections: Option<&[&str]>| {
            let texts: Vec<String> = obx
                .iter()
                .filter(|fields| {
                    sections.is_none_or(|sections| {
                        let name = fields.get(3).and_then(|field| field.split('&').nth(1));
                        name.is_some_and(|name| sections.contains(&name))
                    })
                })
                .filter_map(|fields| {
                    let text = fields.get(5)?;
                    Some(if fields.get(2) == Some(&"TX") {
                        text.replace('~', "\n")
                    } else {
                        (*text).to_owned()
                    })
                })
                .collect();
            Value::Str(self.arena.alloc_str(&texts.join("\n")))
        };
        row.set(Column::ReportText, join(None));
        row.set(Column::ReportSectionFindings, join(Some(&["GDT"])));
        row.set(Column::ReportSectionImpression, join(Some(&["IMP"])));
        row.set(Column::ReportSectionAddendum, join(Some(&["ADT", "ADN"])));
        row.set(Column::ReportSectionTechnicianNote, join(Some(&["TCM"])));
    }
}

/// A component of an element; absent, empty and all-space ones are no value.
fn member(element: &str, at: usize) -> Option<&str> {
    let text = element.split('^').nth(at - 1)?;
    text.contains(|c| c != ' ').then_some(text)
}

/// A date of eight digits.
fn date(text: &str) -> Option<i32> {
    if text.len() != 8 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| text[range].parse::<u32>().ok();
    let (year, month, day) = (part(0..4)? as i32, part(4..6)?, part(6..8)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = day_of(year, month, day);
    (date_of(days) == (year, month, day)).then_some(days)
}

/// A date-time of twelve or fourteen digits, in microseconds.
fn moment(text: &str) -> Option<i64> {
    let whole = if text.chars().count() == 12 {
        format!("{text}00")
    } else {
        text.to_owned()
    };
    if whole.len() != 14 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let day = date(&whole[..8])?;
    let part = |range: std::ops::Range<usize>| whole[range].parse::<i64>().ok();
    let (hour, minute, second) = (part(8..10)?, part(10..12)?, part(12..14)?);
    (hour < 24 && minute < 60 && second < 60)
        .then(|| (i64::from(day) * DAY_SECONDS + hour * 3600 + minute * 60 + second) * 1_000_000)
}
