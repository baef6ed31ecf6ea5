//! Makes any message, or any log, of a data set from its index alone.

use crate::calendar::{DAY_SECONDS, Day, date_of, put_digits};
use crate::draw::{Draw, Stream};
use crate::faults::{Fault, LOG_WITHOUT_SB, TRUNCATED, Torn, Victim, truncate};
use crate::identity::{Component, Edge, People, component};
use crate::message::curate::{accession, curated_row, mapping_ids};
use crate::message::expect::report_row;
use crate::message::lines;
use crate::message::model::{Model, Modeller};
use crate::message::render::{END, render};
use crate::pools::Pools;
use crate::slots::{Kind, header_fraction};
use crate::spec::{Encoding, Spec};
use crate::timeline::{LogPlan, Timeline};
use bench_tables::{CuratedRow, ReportColumn, ReportRow, RowEncoder, RowHash, StructList, Value};
use bumpalo::Bump;
use std::collections::HashMap;

/// What is worked out once for a data set.
pub(crate) struct Plan {
    pub(crate) spec: Spec,
    pub(crate) timeline: Timeline,
    pub(crate) pools: Pools,
    modalities: HashMap<String, String>,
}

impl Plan {
    pub(crate) fn new(spec: Spec) -> Self {
        let timeline = Timeline::new(&spec);
        let pools = Pools::new(spec.seed);
        let modalities = pools
            .procedures
            .iter()
            .filter_map(|procedure| Some((procedure.code.clone(), procedure.modality.clone()?)))
            .collect();
        Self {
            spec,
            timeline,
            pools,
            modalities,
        }
    }
}

/// What the platform makes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Staged and read: a row of `reports`.
    Staged,
    /// Only blank lines: staged nowhere, but numbered.
    Empty,
    /// Staged, but its first line is no MSH: no row.
    NotParsable,
    /// Written, but read as part of the message before it.
    Joined,
    /// In a log without any `<SB>`: not read.
    LogFailed,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 5] = [
        Outcome::Staged,
        Outcome::Empty,
        Outcome::NotParsable,
        Outcome::Joined,
        Outcome::LogFailed,
    ];

    /// The outcome's name in the truth.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Empty => "empty",
            Self::NotParsable => "not_parsable",
            Self::Joined => "joined",
            Self::LogFailed => "log_failed",
        }
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) arena: Bump,
    pub(crate) encoder: RowEncoder,
}

/// The truth of one message, as one row of the truth file.
pub struct MessageTruth<'b> {
    /// Index of the message in the data set's plan, from which it is made.
    pub slot: u64,
    /// Number within the log as the platform counts; `None` where it reads no message.
    pub ordinal: Option<u32>,
    /// What the platform makes of it.
    pub outcome: Outcome,
    /// The fault that was put in, by the name of its key in a spec.
    pub fault: Option<&'static str>,
    /// MSH-10 as it was meant, also where a fault hides it.
    pub control_id: &'b str,
    /// Path of the staged message behind the staging root; `None` where it is not staged.
    pub source_file: Option<&'b str>,
    /// Its row of `reports`.
    pub row: Option<ReportRow<'b>>,
    /// Its row of `reports_curated`.
    pub curated: Option<CuratedRow<'b>>,
    /// Its patient among all messages of the data set; `None` without a curated row or any id.
    pub component: Option<Component>,
    /// Hash of `row`.
    pub report_hash: Option<RowHash>,
    /// Hash of `curated`.
    pub curated_hash: Option<RowHash>,
}

/// What a message adds to tables that depend on other messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// MSH-7 in microseconds, if it is valid.
    pub(crate) message_dt: Option<i64>,
    pub(crate) edge: Edge,
    pub(crate) diagnoses: u32,
}

/// A message as it will stand in the log and in the tables.
struct Made<'b> {
    model: Model<'b>,
    outcome: Outcome,
    fault: Option<&'static str>,
    torn: Option<Torn>,
    row: Option<ReportRow<'b>>,
}

pub(crate) struct Maker<'p> {
    plan: &'p Plan,
    pub(crate) people: People<'p>,
}

impl<'p> Maker<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            people: People::new(&plan.spec, &plan.timeline),
        }
    }

    fn modeller(&self) -> Modeller<'_> {
        Modeller {
            people: &self.people,
            pools: &self.plan.pools,
        }
    }

    fn seed(&self) -> u64 {
        self.plan.spec.seed
    }

    /// The fault of a slot's message. A copy has the fault of what it copies.
    fn fault(&self, slot: u64) -> Option<Fault> {
        let faults = &self.plan.spec.faults;
        if faults.is_empty() {
            return None;
        }
        let point = Draw::new(self.seed(), Stream::Faults, self.source(slot)).bits() >> 32;
        faults
            .iter()
            .find(|(_, end)| point < *end)
            .map(|(fault, _)| *fault)
    }

    /// The slot whose draws made the message of a slot.
    fn source(&self, slot: u64) -> u64 {
        match self.people.slots.kind(slot) {
            Kind::Resend { first } => first,
            _ => slot,
        }
    }

    /// The fault of a whole log: none, [`LOG_WITHOUT_SB`] or [`TRUNCATED`].
    fn log_fault(&self, log: usize) -> Option<&'static str> {
        let spec = &self.plan.spec;
        if spec.log_without_sb.is_zero() && spec.truncated.is_zero() {
            return None;
        }
        let mut draw = Draw::new(self.seed(), Stream::LogFault, log as u64);
        if draw.chance(spec.log_without_sb) {
            return Some(LOG_WITHOUT_SB);
        }
        draw.chance(spec.truncated).then_some(TRUNCATED)
    }

    /// The slots of a log in the order of their header lines.
    fn order(&self, plan: &LogPlan) -> Vec<(i64, u32, u64)> {
        let mut order: Vec<(i64, u32, u64)> = (plan.first..plan.first + u64::from(plan.count))
            .map(|slot| {
                let report = self.people.slots.times(slot).report;
                (report, header_fraction(self.seed(), slot), slot)
            })
            .collect();
        order.sort_unstable();
        order
    }

    /// Whether nothing but its slot decides what becomes of a message.
    fn is_clean(&self, slot: u64) -> bool {
        let spec = &self.plan.spec;
        if spec.faults.is_empty() && spec.log_without_sb.is_zero() && spec.truncated.is_zero() {
            return true;
        }
        self.fault(slot).is_none() && self.log_fault(self.plan.timeline.log_of(slot)).is_none()
    }

    /// What a message adds to the tables beyond `reports`; `None` if it has no curated row.
    pub(crate) fn facts(&self, slot: u64, arena: &Bump) -> Option<Facts> {
        let log = self.plan.timeline.log_of(slot);
        let truncated = match self.log_fault(log) {
            Some(LOG_WITHOUT_SB) => return None,
            Some(_) => self.is_last(log, slot),
            None => false,
        };
        let made = self.make(slot, truncated, "", arena);
        let row = made.row?;
        accession(&row)?;
        let (mpi, epic) = mapping_ids(&row);
        Some(Facts {
            message_dt: row.get(ReportColumn::MessageDt).as_timestamp(),
            edge: Edge::from_text(slot, mpi, epic),
            diagnoses: diagnosis_count(&row),
        })
    }

    fn is_last(&self, log: usize, slot: u64) -> bool {
        let order = self.order(&self.plan.timeline.logs[log]);
        order.last().is_some_and(|(.., last)| *last == slot)
    }

    /// The component of a message's identity within the whole data set.
    fn component(&self, study: u64, own: &Edge) -> Option<Component> {
        let patient = self.people.lanes.patient(study);
        let mut edges = Vec::new();
        let may_be_torn = !self.plan.spec.faults.is_empty()
            || !self.plan.spec.log_without_sb.is_zero()
            || !self.plan.spec.truncated.is_zero();
        let arena = Bump::new();
        for (study, patient) in self.people.neighbours(&patient) {
            if !may_be_torn {
                // All messages of a study show the same numbers, and the first is the earliest.
                let version = self.people.version(study);
                let identity = self.people.identity(study, version, &patient);
                edges.push(Edge::of(study, version, &identity));
                continue;
            }
            for member in self.people.slots.family(study) {
                if self.is_clean(member) {
                    let version = self.people.version(study);
                    let identity = self.people.identity(study, version, &patient);
                    edges.push(Edge::of(member, version, &identity));
                } else {
                    edges.extend(self.facts(member, &arena).map(|facts| facts.edge));
                }
            }
        }
        component(&edges, own)
    }

    /// Makes the message of a slot: what it means, what is written, and its row of `reports`.
    fn make<'b>(
        &'b self,
        slot: u64,
        truncated: bool,
        source_file: &'b str,
        arena: &'b Bump,
    ) -> Made<'b> {
        let model = self.modeller().model(slot, arena);
        let fault = self.fault(slot).filter(|_| !truncated);
        if fault.is_none() && !truncated {
            let row = report_row(&model, source_file, arena);
            let row = self.as_decoded(row, &model, arena);
            return Made {
                model,
                outcome: Outcome::Staged,
                fault: None,
                torn: None,
                row: Some(row),
            };
        }
        let clean = self.lines(&model);
        let source = self.source(slot);
        let mut draw = Draw::new(self.seed(), Stream::FaultDetail, source);
        let (name, torn) = match fault {
            Some(fault) => {
                let victim = || self.victim(source, arena);
                let torn = fault.tear(clean, model.times.study, &mut draw, victim);
                (fault.name(), torn)
            }
            None => (TRUNCATED, truncate(clean, &mut draw)),
        };
        let (outcome, row) = self.read(&torn, source_file, arena);
        Made {
            model,
            outcome,
            fault: Some(name),
            torn: Some(torn),
            row,
        }
    }

    /// Outcome and row of collected lines.
    fn read<'b>(
        &'b self,
        torn: &Torn,
        source_file: &'b str,
        arena: &'b Bump,
    ) -> (Outcome, Option<ReportRow<'b>>) {
        let blank = |line: &String| {
            line.chars()
                .all(|c| matches!(c, '\t'..='\r' | '\u{1c}'..=' '))
        };
        if torn.collected.iter().all(blank) {
            return (Outcome::Empty, None);
        }
        let lines: Vec<&'b str> = torn
            .collected
            .iter()
            .map(|line| &*arena.alloc_str(line))
            .collect();
        let modality = |code: &str| self.plan.modalities.get(code).map(String::as_str);
        match lines::report_row(&lines, source_file, &modality, arena) {
            Some(row) => (Outcome::Staged, Some(row)),
            None => (Outcome::NotParsable, None),
        }
    }

    /// The lines of a message as the platform decodes them.
    fn lines(&self, model: &Model<'_>) -> Vec<String> {
        let mut bytes = Vec::with_capacity(4096);
        render(model, &mut bytes);
        let text = String::from_utf8(bytes).expect("a message is written as text");
        self.decoded(&text)
            .split_terminator(END)
            .map(str::to_owned)
            .collect()
    }

    /// What the platform makes of text, given how the data set encodes it.
    fn decoded(&self, text: &str) -> String {
        match self.plan.spec.encoding {
            Encoding::Latin1 => text.to_owned(),
            Encoding::Utf8 => text.bytes().map(char::from).collect(),
        }
    }

    /// The message that a message without end swallows: that of the slot before it, which exists
    /// however long the data set is, in its clean form.
    fn victim(&self, source: u64, arena: &Bump) -> Victim {
        let other = source.saturating_sub(1);
        let model = self.modeller().model(other, arena);
        let mut header = Vec::new();
        put_header(
            &mut header,
            model.times.report,
            header_fraction(self.seed(), other),
        );
        header.pop();
        Victim {
            header: String::from_utf8(header).expect("a header is ASCII"),
            lines: self.lines(&model),
        }
    }

    /// A row with its texts as the platform decodes them.
    fn as_decoded<'b>(
        &self,
        row: ReportRow<'b>,
        model: &Model<'b>,
        arena: &'b Bump,
    ) -> ReportRow<'b> {
        // Names of patients are the only text of a clean message that may be beyond ASCII.
        let plain = model.family.is_ascii() && model.given.is_ascii() && model.middle.is_ascii();
        if self.plan.spec.encoding == Encoding::Latin1 || plain {
            return row;
        }
        let mut decoded = row;
        for column in [ReportColumn::PatientName, ReportColumn::FullPatientName] {
            let value = match decoded.get(column) {
                Value::Str(text) => Value::Str(arena.alloc_str(&self.decoded(text))),
                Value::Structs(list) => {
                    let cells: Vec<Option<&'b str>> = list
                        .iter()
                        .flatten()
                        .map(|cell| cell.map(|text| &*arena.alloc_str(&self.decoded(text))))
                        .collect();
                    Value::Structs(StructList::new(
                        list.width(),
                        arena.alloc_slice_copy(&cells),
                    ))
                }
                other => other,
            };
            decoded.set(column, value);
        }
        decoded
    }

    /// Writes a log and hands over the truth of every message in it, in the order of the log.
    pub(crate) fn log(
        &self,
        log: usize,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
        mut sink: impl FnMut(&MessageTruth<'_>),
    ) {
        let plan = &self.plan.timeline.logs[log];
        let log_fault = self.log_fault(log);
        let mut form = Draw::new(self.seed(), Stream::LogForm, log as u64);
        let separator: &[u8] = if form.below(10) == 0 { b"\n" } else { b"\r\n" };
        let bare_end = form.below(2) == 0;
        let stem = plan.stem();
        let order = self.order(plan);
        let mut ordinal = 0;
        for (at, &(report, fraction, slot)) in order.iter().enumerate() {
            scratch.arena.reset();
            let last = at + 1 == order.len();
            let start = out.len();
            let arena = &scratch.arena;
            let source_file = portable_source(plan, &stem, ordinal, arena);
            let truncated = last && log_fault == Some(TRUNCATED);
            let made = self.make(slot, truncated, source_file, arena);
            self.write(
                &made,
                report,
                fraction,
                log_fault == Some(LOG_WITHOUT_SB),
                out,
            );
            if !last {
                out.extend_from_slice(separator);
            } else if bare_end && made.torn.is_none() {
                // The last end mark of a log often stands alone, without `<R>` and line end.
                out.truncate(out.len() - END.len());
            }
            if self.plan.spec.encoding == Encoding::Latin1 && made.torn.is_none() {
                to_latin1(out, start);
            }
            if log_fault == Some(LOG_WITHOUT_SB) {
                sink(&unread(
                    slot,
                    Outcome::LogFailed,
                    LOG_WITHOUT_SB,
                    made.model.control_id,
                ));
                continue;
            }
            let joined = made.fault == Some(Fault::MissingEb.name());
            let truth = self.truth(
                made,
                slot,
                ordinal,
                source_file,
                arena,
                &mut scratch.encoder,
            );
            sink(&truth);
            if joined {
                let victim = self
                    .modeller()
                    .model(self.source(slot).saturating_sub(1), arena);
                sink(&unread(
                    slot,
                    Outcome::Joined,
                    Fault::MissingEb.name(),
                    victim.control_id,
                ));
            }
            ordinal += 1;
        }
    }

    /// Appends one message with its header line and marks.
    fn write(&self, made: &Made<'_>, report: i64, fraction: u32, no_sb: bool, out: &mut Vec<u8>) {
        let Some(torn) = &made.torn else {
            put_header(out, report, fraction);
            if !no_sb {
                out.extend_from_slice(b"<SB>\n");
            }
            render(&made.model, out);
            out.extend_from_slice(b"<EB>");
            out.extend_from_slice(END.as_bytes());
            return;
        };
        out.extend(torn.chatter.chars().map(to_byte));
        if torn.header {
            put_header(out, report, fraction);
        }
        let body = if no_sb {
            torn.body.replace("<SB>", "")
        } else {
            torn.body.clone()
        };
        out.extend(body.chars().map(to_byte));
    }

    fn truth<'b>(
        &self,
        made: Made<'b>,
        slot: u64,
        ordinal: u32,
        source_file: &'b str,
        arena: &'b Bump,
        encoder: &mut RowEncoder,
    ) -> MessageTruth<'b> {
        let curated = made.row.as_ref().and_then(|row| curated_row(row, arena));
        let component = match (&made.row, &curated) {
            (Some(row), Some(_)) => {
                let edge = if made.torn.is_some() {
                    let (mpi, epic) = mapping_ids(row);
                    Edge::from_text(slot, mpi, epic)
                } else {
                    made.model.edge
                };
                self.component(self.people.slots.study(slot), &edge)
            }
            _ => None,
        };
        MessageTruth {
            slot,
            ordinal: Some(ordinal),
            outcome: made.outcome,
            fault: made.fault,
            control_id: made.model.control_id,
            source_file: (made.outcome != Outcome::Empty).then_some(source_file),
            report_hash: made.row.as_ref().map(|row| encoder.report(row)),
            curated_hash: curated.as_ref().map(|row| encoder.curated(row)),
            row: made.row,
            curated,
            component,
        }
    }
}

/// The truth of a message that the platform does not read as one.
fn unread<'b>(
    slot: u64,
    outcome: Outcome,
    fault: &'static str,
    control_id: &'b str,
) -> MessageTruth<'b> {
    MessageTruth {
        slot,
        ordinal: None,
        outcome,
        fault: Some(fault),
        control_id,
        source_file: None,
        row: None,
        curated: None,
        component: None,
        report_hash: None,
        curated_hash: None,
    }
}

pub(crate) fn diagnosis_count(row: &ReportRow<'_>) -> u32 {
    match row.get(ReportColumn::Diagnoses) {
        Value::Structs(list) => list.len() as u32,
        _ => 0,
    }
}

/// A header line.
fn put_header(out: &mut Vec<u8>, seconds: i64, fraction: u32) {
    let (year, month, day) = date_of(seconds.div_euclid(DAY_SECONDS) as Day);
    let second = seconds.rem_euclid(DAY_SECONDS) as u64;
    let parts = [
        (year as u64, 4, b'-'),
        (u64::from(month), 2, b'-'),
        (u64::from(day), 2, b' '),
        (second / 3600, 2, b':'),
        (second / 60 % 60, 2, b':'),
        (second % 60, 2, b'.'),
        (u64::from(fraction), 4, b'|'),
    ];
    for (number, width, after) in parts {
        put_digits(out, number, width);
        out.push(after);
    }
    out.extend_from_slice(b"INFO|Raw.Application.TcpServer.TcpServer|\n");
}

/// The part of a staged message's path that does not depend on the staging root.
fn portable_source<'b>(plan: &LogPlan, stem: &str, ordinal: u32, arena: &'b Bump) -> &'b str {
    let (year, rest) = stem.split_at(4);
    let (month, rest) = rest.split_at(2);
    debug_assert_eq!(year, format!("{:04}", date_of(plan.day).0));
    crate::message::text::concat(
        arena,
        &[
            year,
            "/",
            month,
            "/",
            &rest[..2],
            "/",
            stem,
            "_",
            itoa::Buffer::new().format(ordinal),
            ".hl7",
        ],
    )
}

fn to_byte(c: char) -> u8 {
    u8::try_from(u32::from(c)).expect("decoded text has one byte a character")
}

/// Rewrites UTF-8 text from `start` on as Latin-1.
fn to_latin1(out: &mut Vec<u8>, start: usize) {
    if out[start..].is_ascii() {
        return;
    }
    let text = String::from_utf8(out.split_off(start)).expect("a message is written as text");
    out.extend(text.chars().map(to_byte));
}
