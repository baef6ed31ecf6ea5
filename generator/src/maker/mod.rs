//! Makes any message, or any log, of a data set from its index alone.

mod log;

use crate::draw::{Draw, Stream};
use crate::faults::{Fault, LOG_WITHOUT_SB, TRUNCATED, Torn, Victim, truncate};
use crate::identity::{Component, Edge, People, component};
use crate::message::curate::{accession, mapping_ids};
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
    pub row: Option<&'b ReportRow<'b>>,
    /// Its row of `reports_curated`.
    pub curated: Option<&'b CuratedRow<'b>>,
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
    row: Option<&'b ReportRow<'b>>,
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
        if !self.may_be_torn() {
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
        accession(row)?;
        let (mpi, epic) = mapping_ids(row);
        Some(Facts {
            message_dt: row.get(ReportColumn::MessageDt).as_timestamp(),
            edge: Edge::from_text(slot, mpi, epic),
            diagnoses: diagnosis_count(row),
        })
    }

    fn is_last(&self, log: usize, slot: u64) -> bool {
        let order = self.order(&self.plan.timeline.logs[log]);
        order.last().is_some_and(|(.., last)| *last == slot)
    }

    /// The component of a message's identity within the whole data set.
    fn component(&self, study: u64, own: &Edge) -> Option<Component> {
        let patient = self.people.lanes.patient(study);
        let may_be_torn = self.may_be_torn();
        if !may_be_torn && !self.people.has_webs() {
            return self.people.plain_component(&patient, own);
        }
        let mut edges = Vec::with_capacity(64);
        let arena = Bump::new();
        for patient in self.people.neighbours(&patient) {
            for edge in self.people.edges(&patient) {
                if !may_be_torn {
                    // All messages of a study show the same numbers; the first is the earliest.
                    edges.push(edge);
                    continue;
                }
                for slot in self.people.slots.family(edge.slot) {
                    if self.is_clean(slot) {
                        edges.push(Edge { slot, ..edge });
                    } else {
                        edges.extend(self.facts(slot, &arena).map(|facts| facts.edge));
                    }
                }
            }
        }
        component(&edges, own)
    }

    /// Whether the data set has any fault at all.
    fn may_be_torn(&self) -> bool {
        let spec = &self.plan.spec;
        !(spec.faults.is_empty() && spec.log_without_sb.is_zero() && spec.truncated.is_zero())
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
            self.decode_names(row, &model, arena);
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
    ) -> (Outcome, Option<&'b ReportRow<'b>>) {
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
            Some(row) => (Outcome::Staged, Some(arena.alloc(row))),
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
        log::put_header(
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

    /// Makes the names in a row what the platform decodes them to.
    fn decode_names<'b>(&self, row: &mut ReportRow<'b>, model: &Model<'b>, arena: &'b Bump) {
        // Names of patients are the only text of a clean message that may be beyond ASCII.
        let plain = model.family.is_ascii() && model.given.is_ascii() && model.middle.is_ascii();
        if self.plan.spec.encoding == Encoding::Latin1 || plain {
            return;
        }
        for column in [ReportColumn::PatientName, ReportColumn::FullPatientName] {
            let value = match row.get(column) {
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
            row.set(column, value);
        }
    }
}

/// Elements of `diagnoses` in a row.
pub(crate) fn diagnosis_count(row: &ReportRow<'_>) -> u32 {
    match row.get(ReportColumn::Diagnoses) {
        Value::Structs(list) => list.len() as u32,
        _ => 0,
    }
}
