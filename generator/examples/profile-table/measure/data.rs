//! What is taken from a data set: a record a message, and how long lines are.

use super::Error;
use bench_generator::{Dataset, MessageTruth, Outcome};
use bench_hl7::split;
use bench_tables::{ReportColumn, ReportRow, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// Names of the versions, by number in [`Clean::version`].
pub(super) const VERSIONS: [&str; 3] = ["2.3", "2.4", "2.7"];
/// Number of 2.7 in [`Clean::version`].
pub(super) const V27: usize = 2;

/// The first accession number is that of slot 0.
const FIRST_ACCESSION: u64 = 100_000_000;
/// Numbers of patients stand behind one digit that tells the kind.
const KIND: u64 = 1_000_000_000;

/// What a message is to its study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    First,
    /// Later message of the study whose first message is in the slot.
    FollowUp(u64),
    /// Copy of the message in the slot.
    Copy(u64),
}

/// Status, as any version writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Preliminary,
    Final,
    WetRead,
    Corrected,
}

/// A message that the data set holds.
pub(super) struct Message {
    pub(super) log: usize,
    pub(super) slot: u64,
    pub(super) fault: Option<&'static str>,
    /// Whether an earlier slot holds the same message.
    pub(super) is_copy: bool,
    /// What a message without fault says.
    pub(super) clean: Option<Clean>,
    control: String,
}

/// What a message without fault says.
pub(super) struct Clean {
    pub(super) kind: Kind,
    pub(super) version: usize,
    /// MSH-7 and the time of the study, in seconds since 1970.
    pub(super) message: i64,
    pub(super) begun: i64,
    /// `None` without an OBX.
    pub(super) status: Option<Status>,
    pub(super) race_unavailable: bool,
    pub(super) accented: bool,
    pub(super) patient: u64,
    /// Days of life at the study.
    pub(super) age: i64,
    pub(super) mbmc: bool,
    pub(super) second_epic: bool,
    /// The patient whose EMPI number a 2.7 message carries.
    pub(super) empi: Option<u64>,
    pub(super) diagnoses: u32,
    pub(super) icd9: bool,
    pub(super) addendum: bool,
    pub(super) note: bool,
    pub(super) text: Text,
}

/// What a message is as bytes.
#[derive(Default)]
pub(super) struct Text {
    /// Lines with one byte more for each, as they are framed by CR.
    pub(super) bytes: u32,
    pub(super) obx: u32,
    /// Lines of the body of a 2.4 report.
    pub(super) body: u32,
}

/// A log: its day since 1970, whether it is a second feed, its messages.
pub(super) struct Log {
    pub(super) day: i64,
    pub(super) second_feed: bool,
    pub(super) count: u64,
}

/// All that is taken from a data set.
pub(crate) struct Data {
    pub(super) logs: Vec<Log>,
    pub(super) messages: Vec<Message>,
    /// Number of OBX-5 of each length in bytes, in 2.3 and 2.7.
    pub(super) obx_5: Vec<u64>,
    /// Components of patients, and how many of them conflict.
    pub(super) components: (u64, u64),
    slots: HashMap<u64, usize>,
}

impl Data {
    /// Reads all logs of a data set, with the truth of every message.
    ///
    /// # Errors
    /// If only a part of the data set was made, or a log cannot be read.
    pub(crate) fn gather(dataset: &Dataset, folder: &Path) -> Result<Self, Error> {
        if dataset.info().only_files.is_some() {
            return Err("only a part of the data set was made: a share is that of a whole".into());
        }
        let mut data = Self {
            logs: Vec::new(),
            messages: Vec::new(),
            obx_5: Vec::new(),
            components: (0, 0),
            slots: HashMap::new(),
        };
        let mut components = HashMap::new();
        for (log, file) in dataset.info().files.iter().enumerate() {
            let bytes = std::fs::read(folder.join(&file.path))?;
            let mut messages = split(&bytes);
            let before = data.messages.len();
            let Self {
                messages: list,
                obx_5,
                ..
            } = &mut data;
            dataset.log(&file.path, |truth| {
                let text = truth.ordinal.and_then(|_| messages.next());
                if truth.outcome == Outcome::Joined {
                    return;
                }
                if let Some(component) = truth.component {
                    components.insert(component.label, component.consistent);
                }
                let clean = truth.row.filter(|_| truth.fault.is_none()).map(|row| {
                    let lines = text.iter().flat_map(bench_hl7::Message::lines);
                    Clean::new(truth, row, Text::of(lines, row, obx_5))
                });
                list.push(Message {
                    log,
                    slot: truth.slot,
                    fault: truth.fault,
                    is_copy: false,
                    clean,
                    control: truth.control_id.to_owned(),
                });
            })?;
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            data.logs.push(Log {
                day: day_of(&name[..8]),
                second_feed: name.contains('_'),
                count: (data.messages.len() - before) as u64,
            });
        }
        data.components = (
            components.len() as u64,
            components
                .values()
                .filter(|consistent| !**consistent)
                .count() as u64,
        );
        data.find_copies();
        Ok(data)
    }

    fn find_copies(&mut self) {
        self.slots = (self.messages.iter().enumerate())
            .map(|(at, one)| (one.slot, at))
            .collect();
        let mut firsts: HashMap<&str, u64> = HashMap::new();
        for message in &self.messages {
            let first = firsts.entry(&message.control).or_insert(message.slot);
            *first = message.slot.min(*first);
        }
        let copied: Vec<Option<u64>> = self
            .messages
            .iter()
            .map(|one| Some(firsts[one.control.as_str()]).filter(|first| *first != one.slot))
            .collect();
        for (message, copied) in self.messages.iter_mut().zip(copied) {
            message.is_copy = copied.is_some();
            if let (Some(first), Some(clean)) = (copied, &mut message.clean) {
                clean.kind = Kind::Copy(first);
            }
        }
    }

    /// The message in a slot.
    pub(super) fn at(&self, slot: u64) -> Option<&Message> {
        self.slots.get(&slot).map(|at| &self.messages[*at])
    }

    /// Messages without fault.
    pub(super) fn clean(&self) -> impl Iterator<Item = (&Message, &Clean)> + Clone {
        self.messages
            .iter()
            .filter_map(|one| Some((one, one.clean.as_ref()?)))
    }

    /// Messages without fault that are no copies.
    pub(super) fn own(&self) -> impl Iterator<Item = (&Message, &Clean)> + Clone {
        self.clean().filter(|(one, _)| !one.is_copy)
    }

    /// First messages of studies, without fault.
    pub(super) fn firsts(&self) -> impl Iterator<Item = (&Message, &Clean)> + Clone {
        self.clean().filter(|(_, clean)| clean.kind == Kind::First)
    }
}

impl Clean {
    fn new(truth: &MessageTruth<'_>, row: &ReportRow<'_>, text: Text) -> Self {
        let read = |column| row.get(column).as_str();
        let seconds = |column| {
            row.get(column)
                .as_timestamp()
                .map(|micros| micros / 1_000_000)
        };
        let number = |text: &str| {
            let digits = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
            digits
                .parse::<u64>()
                .expect("a number of a patient is a number")
        };
        let version = read(ReportColumn::VersionId).unwrap_or_default();
        let ee = row
            .identifiers
            .iter()
            .find(|(name, _)| name.ends_with("_ee"));
        let mbmc = row.identifier("mbmc_mr");
        let own = read(ReportColumn::Mpi)
            .or(ee.map(|(_, id)| *id))
            .or(row.identifier("epic_mrn"))
            .or(mbmc)
            .map(number)
            .expect("a message without fault has a number of its patient");
        let study = read(ReportColumn::Obr3FillerOrderNumber)
            .map(number)
            .expect("a message without fault has an accession number")
            - FIRST_ACCESSION;
        let systems = match row.get(ReportColumn::Diagnoses) {
            Value::Structs(list) => list.iter().map(|members| members[2]).collect(),
            _ => Vec::new(),
        };
        let filled = |column| read(column).is_some_and(|text| !text.is_empty());
        let begun = seconds(ReportColumn::RequestedDt)
            .or(seconds(ReportColumn::ObservationDt))
            .expect("a message without fault has the time of its study");
        let birth = match row.get(ReportColumn::BirthDate) {
            Value::Date(day) => i64::from(day),
            _ => panic!("a message without fault has a birth date"),
        };
        Self {
            kind: if study == truth.slot {
                Kind::First
            } else {
                Kind::FollowUp(study)
            },
            version: VERSIONS
                .iter()
                .position(|known| *known == version)
                .expect("a message without fault has one of three versions"),
            message: seconds(ReportColumn::MessageDt).expect("a message without fault has a date"),
            begun,
            // A 2.4 wet read has an empty OBX-11, which is absent at the end of its segment.
            status: read(ReportColumn::ReportText).map(|_| {
                match read(ReportColumn::ReportStatus).unwrap_or_default() {
                    "Preliminary" | "P" => Status::Preliminary,
                    "Final" | "F" => Status::Final,
                    "Wet Read" | "" => Status::WetRead,
                    _ => Status::Corrected,
                }
            }),
            race_unavailable: read(ReportColumn::Race) == Some("UNAVAILABLE"),
            accented: read(ReportColumn::PatientName).is_some_and(|name| !name.is_ascii()),
            patient: own % KIND,
            age: begun.div_euclid(86_400) - birth,
            mbmc: mbmc.is_some(),
            second_epic: own / KIND == 5,
            empi: row.identifier("empi_mr").map(|id| number(id) % KIND),
            diagnoses: systems.len() as u32,
            icd9: systems.first() == Some(&Some("I9")),
            addendum: filled(ReportColumn::ReportSectionAddendum),
            note: filled(ReportColumn::ReportSectionTechnicianNote),
            text,
        }
    }
}

impl Text {
    fn of<'a>(
        lines: impl Iterator<Item = Cow<'a, [u8]>>,
        row: &ReportRow<'_>,
        obx_5: &mut Vec<u64>,
    ) -> Self {
        let line_a_segment = row.get(ReportColumn::VersionId).as_str() != Some("2.4");
        let mut text = Self::default();
        for line in lines.filter(|line| !line.is_empty()) {
            text.bytes += line.len() as u32 + 1;
            if !line.starts_with(b"OBX|") {
                continue;
            }
            text.obx += 1;
            let field = line.split(|byte| *byte == b'|').nth(5).unwrap_or(&[]);
            if line_a_segment {
                if obx_5.len() <= field.len() {
                    obx_5.resize(field.len() + 1, 0);
                }
                obx_5[field.len()] += 1;
            } else if line.starts_with(b"OBX|2|") {
                let lines = field.split(|byte| *byte == b'~');
                // Behind the body's heading; a blank line and a heading stand between its halves.
                let behind = lines.skip_while(|line| *line != b"FINDINGS:").count();
                text.body = (behind as u32).saturating_sub(3);
            }
        }
        text
    }
}

/// Days since 1970 of a date as `YYYYMMDD`.
pub(super) fn day_of(date: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| -> u32 {
        date[range]
            .parse()
            .expect("a log's name begins with its date")
    };
    bench_tables::time::day_of(number(0..4).into(), number(4..6), number(6..8))
}
