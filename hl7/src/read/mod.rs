//! Platform mode: a message as a row of `reports`.
//!
//! The platform reads HL7 with a handful of splits and no more: the delimiters are always `|`,
//! `^`, `~` and `&`, whatever MSH says; nothing is unescaped or trimmed; a segment is known by the
//! exact text before its first `|`. What a broken message gives follows from that, and this module
//! follows it to the letter. It repairs nothing and warns of nothing: [`crate::inspect`]
//! does.
//!
//! The text of a message is decoded once (borrowed where it is ASCII) and every value is a piece
//! of it, unless it has to be built.

mod dates;
mod identifiers;
mod people;
mod report;
mod scan;
mod segment;

pub use identifiers::{InvalidIdentifier, InvalidName};

pub(crate) use dates::{leading_date, time};
pub(crate) use identifiers::is_blank;
pub(crate) use scan::nth_part;
pub(crate) use segment::{TextLines, segment};

use crate::{Message, ModalityMap};
use bench_tables::{ReportColumn, ReportRow, Value};
use bumpalo::Bump;
use encoding_rs::mem::decode_latin1;
use identifiers::PatientIds;
use people::People;
use report::{Diagnoses, Report};
use segment::Fields;
use std::borrow::Cow;

/// Fields that are needed of each segment, its name included.
type Msh<'a> = Fields<'a, 12>;
type Pid<'a> = Fields<'a, 23>;
type Pv1<'a> = Fields<'a, 3>;
type Orc<'a> = Fields<'a, 4>;
type Obr<'a> = Fields<'a, 35>;
type Zds<'a> = Fields<'a, 2>;

/// `|` that the first line must have at least, so that there is an MSH-10.
const HEADER_BARS: usize = 9;

/// A message whose first line is no header, so that there is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("not parsable as HL7: its first line has {bars} `|`, at least {HEADER_BARS} are needed")]
pub struct NotParsable {
    /// How many `|` the first line has.
    pub bars: usize,
}

/// A message that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The row of `reports`.
    pub row: ReportRow<'a>,
    /// An identifier whose column cannot exist. An ingest must refuse the whole workflow then,
    /// naming file and ordinal; `row.identifiers` holds the name all the same.
    pub invalid_identifier: Option<InvalidIdentifier>,
}

/// Reads messages in platform mode.
#[derive(Clone, Debug)]
pub struct Reader {
    modalities: ModalityMap,
}

impl Reader {
    /// A reader that finds modalities in this map.
    #[must_use]
    pub fn new(modalities: ModalityMap) -> Self {
        Self { modalities }
    }

    /// The map that modalities are found in.
    #[must_use]
    pub fn modalities(&self) -> &ModalityMap {
        &self.modalities
    }

    /// Reads a message. What has to be built is put into `arena`, a small multiple of the message;
    /// the caller resets it when it is done with the row.
    ///
    /// A blank message ([`Message::is_blank`]) has no row either; ask for that first.
    ///
    /// # Errors
    /// [`NotParsable`] if the first line has fewer than nine `|`.
    pub fn read<'a>(
        &'a self,
        message: &Message<'a>,
        source_file: &'a str,
        arena: &'a Bump,
    ) -> Result<Reading<'a>, NotParsable> {
        let segments = Segments::new(text(message, arena), message.is_closed(), arena)?;
        let mut row = ReportRow::new();
        row.set(ReportColumn::SourceFile, Value::Str(source_file));
        segments.header(&mut row);
        let invalid_identifier = segments.patient(&mut row, arena);
        segments.order(&mut row);
        self.service(&segments.obr, &mut row);
        segments.staff(&mut row, arena);
        segments.report.finish(&mut row);
        segments.diagnoses.finish(&mut row);
        Ok(Reading {
            row,
            invalid_identifier,
        })
    }

    fn service<'a>(&'a self, obr: &Obr<'a>, row: &mut ReportRow<'a>) {
        let code = obr.component(4, 1);
        let modality = code.and_then(|code| self.modalities.get(code));
        row.set(ReportColumn::ServiceIdentifier, Value::text(code));
        row.set(ReportColumn::ServiceName, Value::text(obr.component(4, 2)));
        row.set(
            ReportColumn::ServiceCodingSystem,
            Value::text(obr.component(4, 3)),
        );
        row.set(ReportColumn::Modality, Value::text(modality));
    }
}

/// The text of a message's lines, markers included: borrowed if it is ASCII, else decoded from
/// Latin-1 into the arena.
pub(crate) fn text<'a>(message: &Message<'a>, arena: &'a Bump) -> &'a str {
    match decode_latin1(message.body()) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_str(&text),
    }
}

/// The segments of a message that columns are made of, in one pass over its lines.
struct Segments<'a> {
    msh: Msh<'a>,
    pid: Pid<'a>,
    pv1: Pv1<'a>,
    orc: Orc<'a>,
    obr: Obr<'a>,
    zds: Zds<'a>,
    report: Report<'a>,
    diagnoses: Diagnoses<'a>,
}

impl<'a> Segments<'a> {
    fn new(text: &'a str, is_closed: bool, arena: &'a Bump) -> Result<Self, NotParsable> {
        let mut lines = TextLines::new(text, is_closed, arena);
        let header = lines.next().unwrap_or_default();
        let msh = Msh::new(header);
        if msh.whole(HEADER_BARS).is_none() {
            let bars = memchr::memchr_iter(b'|', header.as_bytes()).count();
            return Err(NotParsable { bars });
        }
        let mut segments = Self {
            msh,
            pid: Pid::ABSENT,
            pv1: Pv1::ABSENT,
            orc: Orc::ABSENT,
            obr: Obr::ABSENT,
            zds: Zds::ABSENT,
            report: Report::new(text.len(), arena),
            diagnoses: Diagnoses::new(arena),
        };
        for line in lines {
            segments.take(line, arena);
        }
        Ok(segments)
    }

    /// Takes a line's segment if a column is made of it.
    #[inline]
    fn take(&mut self, line: &'a str, arena: &'a Bump) {
        let segment = segment(line, arena);
        let Some((name, rest)) = segment.as_bytes().split_first_chunk::<3>() else {
            return;
        };
        if rest.first().is_some_and(|&byte| byte != b'|') {
            return;
        }
        match name {
            b"OBX" => self.report.add(segment),
            b"DG1" => self.diagnoses.add(segment),
            b"PID" => self.pid.fill_if_absent(segment),
            b"PV1" => self.pv1.fill_if_absent(segment),
            b"ORC" => self.orc.fill_if_absent(segment),
            b"OBR" => self.obr.fill_if_absent(segment),
            b"ZDS" => self.zds.fill_if_absent(segment),
            _ => {}
        }
    }

    fn header(&self, row: &mut ReportRow<'a>) {
        // MSH-1 is the first `|` itself, so MSH-n is the text behind the (n-1)th.
        let field = |number: usize| self.msh.first(number - 1);
        let time = field(7).and_then(time);
        row.set(ReportColumn::SendingFacility, Value::text(field(4)));
        row.set(ReportColumn::MessageControlId, Value::text(field(10)));
        row.set(ReportColumn::VersionId, Value::text(field(12)));
        row.set(
            ReportColumn::MessageDt,
            Value::timestamp(time.map(|time| time.micros)),
        );
        row.set(
            ReportColumn::Year,
            time.map_or(Value::Null, |time| Value::Int(time.year)),
        );
    }

    fn patient(&self, row: &mut ReportRow<'a>, arena: &'a Bump) -> Option<InvalidIdentifier> {
        let pid = &self.pid;
        let birth_date = pid.first(7).and_then(leading_date);
        let name = People::patient(pid.whole(5), arena);
        let ids = PatientIds::new(pid.whole(3), arena);
        row.set(
            ReportColumn::Mpi,
            Value::text(pid.first(2).filter(|mpi| !mpi.is_empty())),
        );
        row.set(
            ReportColumn::BirthDate,
            birth_date.map_or(Value::Null, Value::Date),
        );
        row.set(ReportColumn::Sex, Value::text(pid.first(8)));
        row.set(ReportColumn::Race, Value::text(pid.first(10)));
        row.set(
            ReportColumn::ZipOrPostalCode,
            Value::text(pid.component(11, 5)),
        );
        row.set(ReportColumn::Country, Value::text(pid.component(11, 6)));
        row.set(ReportColumn::EthnicGroup, Value::text(pid.first(22)));
        row.set(ReportColumn::FullPatientName, name.array());
        row.set(
            ReportColumn::PatientName,
            Value::Str(name.first_name(arena)),
        );
        row.set(ReportColumn::PatientIds, ids.array);
        row.set(ReportColumn::PatientClass, Value::text(self.pv1.first(2)));
        row.identifiers = ids.columns;
        ids.invalid
    }

    fn order(&self, row: &mut ReportRow<'a>) {
        let (orc, obr) = (&self.orc, &self.obr);
        row.set(
            ReportColumn::Orc2PlacerOrderNumber,
            Value::text(orc.first(2)),
        );
        row.set(
            ReportColumn::Orc3FillerOrderNumber,
            Value::text(orc.first(3)),
        );
        row.set(
            ReportColumn::Obr2PlacerOrderNumber,
            Value::text(obr.first(2)),
        );
        row.set(
            ReportColumn::Obr3FillerOrderNumber,
            Value::text(obr.first(3)),
        );
        for (column, number) in [
            (ReportColumn::RequestedDt, 6),
            (ReportColumn::ObservationDt, 7),
            (ReportColumn::ObservationEndDt, 8),
            (ReportColumn::ResultsReportStatusChangeDt, 22),
        ] {
            let micros = obr.first(number).and_then(time).map(|time| time.micros);
            row.set(column, Value::timestamp(micros));
        }
        row.set(
            ReportColumn::DiagnosticServiceId,
            Value::text(obr.first(24)),
        );
        row.set(
            ReportColumn::StudyInstanceUid,
            Value::text(self.zds.first(1)),
        );
    }

    fn staff(&self, row: &mut ReportRow<'a>, arena: &'a Bump) {
        let provider = People::provider(self.obr.whole(16), arena);
        let principal = People::interpreter(self.obr.whole(32), arena);
        let assistants = People::interpreter(self.obr.whole(33), arena);
        let technicians = People::interpreter(self.obr.whole(34), arena);
        row.set(ReportColumn::FullOrderingProvider, provider.array());
        row.set(
            ReportColumn::OrderingProvider,
            Value::Str(provider.first_name(arena)),
        );
        row.set(
            ReportColumn::FullPrincipalResultInterpreter,
            principal.array(),
        );
        row.set(
            ReportColumn::PrincipalResultInterpreter,
            Value::Str(principal.first_name(arena)),
        );
        row.set(
            ReportColumn::FullAssistantResultInterpreter,
            assistants.array(),
        );
        row.set(
            ReportColumn::AssistantResultInterpreter,
            assistants.all_names(arena),
        );
        row.set(ReportColumn::FullTechnician, technicians.array());
        row.set(ReportColumn::Technician, technicians.all_names(arena));
    }
}
