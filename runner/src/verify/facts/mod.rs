//! What the logs must give: for every message its outcome, and for every row the facts that
//! decide where it stands.
//!
//! They come from the generator's truth, or, where there is none, from reading the logs with this
//! project's reader. From here on the two are the same.

mod curate;
mod scan;
mod truth;

pub(super) use scan::{LogScan, scan};

use super::{Subject, Truth, VerifyError};
use bench_generator::{Dataset, FileEntry};
use bench_hl7::{LogDate, LogPath, ModalityMap, Reader};
use bench_tables::encode::portable_source;
use bench_tables::fold::Fact;
use bench_tables::strings::Strings;
use bench_tables::{CuratedRow, ReportRow, RowHash};
use std::collections::HashMap;
use std::path::Path;

/// Number of a message among all messages of the logs.
pub(super) type MessageId = u32;

/// Stands for no text.
const NONE: u32 = u32::MAX;

/// What a message gives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Message {
    /// No content.
    Empty,
    /// No HL7.
    NotParsable,
    /// A row.
    Row(Row),
}

/// A row of `reports` and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    report: [u8; 16],
    curated: [u8; 16],
    /// `i64::MIN` where there is none.
    message_dt: i64,
    accession: u32,
    mpi: u32,
    epic_mrn: u32,
    pub(super) diagnoses: u32,
    /// `i32::MIN` where there is none.
    year: i32,
}

/// A row's facts with the texts that they borrow.
pub(super) struct RowFacts<'a> {
    pub(super) report: RowHash,
    pub(super) curated: Option<RowHash>,
    pub(super) message_dt: Option<i64>,
    pub(super) year: Option<i32>,
    pub(super) accession: Option<&'a str>,
    pub(super) diagnoses: u32,
    pub(super) mpi: Option<&'a str>,
    pub(super) epic_mrn: Option<&'a str>,
}

impl<'a> RowFacts<'a> {
    /// What the fold takes in: the facts under the name that the message has.
    pub(super) fn named(&self, source_file: &'a str) -> Fact<'a> {
        Fact {
            source_file,
            year: self.year,
            message_dt: self.message_dt,
            report: self.report,
            curated: self.curated,
            accession: self.accession,
            diagnoses: self.diagnoses,
            mpi: self.mpi,
            epic_mrn: self.epic_mrn,
        }
    }
}

impl Row {
    pub(super) fn report(&self) -> RowHash {
        RowHash::from_bytes(self.report)
    }

    /// Hash of the curated row; `None` where curation drops the report.
    pub(super) fn curated(&self) -> Option<RowHash> {
        self.accession().map(|_| RowHash::from_bytes(self.curated))
    }

    /// Number of the accession; `None` where curation drops the report.
    pub(super) fn accession(&self) -> Option<u32> {
        (self.accession != NONE).then_some(self.accession)
    }

    pub(super) fn message_dt(&self) -> Option<i64> {
        (self.message_dt != i64::MIN).then_some(self.message_dt)
    }

    pub(super) fn year(&self) -> Option<i32> {
        (self.year != i32::MIN).then_some(self.year)
    }

    /// Numbers of the mapping's two ids.
    pub(super) fn ids(&self) -> (Option<u32>, Option<u32>) {
        let some = |id| (id != NONE).then_some(id);
        (some(self.mpi), some(self.epic_mrn))
    }
}

/// A log of the workflows.
pub(super) struct Log {
    /// Relative to the data set.
    pub(super) path: String,
    stem: String,
    date: Option<LogDate>,
    /// The first of its messages, which are numbered one after the other.
    pub(super) first: MessageId,
    /// Messages in it, those without a row included.
    pub(super) messages: u32,
    /// Whether it has no message that can be staged.
    pub(super) failed: bool,
}

/// Everything that the logs must give.
pub(super) struct Facts {
    source: Source,
    pub(super) logs: Vec<Log>,
    messages: Vec<Message>,
    by_stem: HashMap<String, u32>,
    by_path: HashMap<String, u32>,
    /// First message and number of the logs that have messages, by the first message.
    by_first: Vec<(MessageId, u32)>,
    pub(super) accessions: Strings,
    pub(super) mpis: Strings,
    pub(super) epic_mrns: Strings,
}

/// Where a row can be had again.
enum Source {
    Dataset(Box<Dataset>),
    Logs(Reader, std::path::PathBuf),
}

impl Facts {
    /// The facts of the logs of all workflows. `scans` are those of the same logs, in their order.
    pub(super) fn of(
        subject: &Subject,
        logs: &[String],
        scans: &mut [LogScan],
    ) -> Result<Self, VerifyError> {
        let wrong = |reason: String| VerifyError::Dataset {
            folder: subject.dataset_root.display().to_string(),
            reason,
        };
        let source = match subject.truth {
            Truth::Generated => {
                let dataset = Dataset::open(&subject.dataset_root);
                Source::Dataset(Box::new(dataset.map_err(|error| wrong(error.to_string()))?))
            }
            Truth::ReadFromLogs => Source::Logs(reader(), subject.dataset_root.clone()),
        };
        let mut facts = Self {
            source,
            logs: Vec::with_capacity(logs.len()),
            messages: Vec::new(),
            by_stem: HashMap::new(),
            by_path: HashMap::new(),
            by_first: Vec::new(),
            accessions: Strings::default(),
            mpis: Strings::default(),
            epic_mrns: Strings::default(),
        };
        for path in logs {
            let log = log_path(&subject.dataset_root, path);
            let number = facts.logs.len() as u32;
            if let Some(other) = facts.by_stem.insert(log.stem.clone(), number) {
                let other = &facts.logs[other as usize].path;
                return Err(wrong(format!(
                    "{path} and {other} have the same stem, so their messages cannot be told apart"
                )));
            }
            facts.by_path.insert(path.clone(), number);
            facts.logs.push(Log {
                path: log.relative,
                stem: log.stem,
                date: log.date,
                first: 0,
                messages: 0,
                failed: true,
            });
        }
        match subject.truth {
            Truth::Generated => truth::read(&subject.dataset_root, &mut facts).map_err(wrong)?,
            Truth::ReadFromLogs => facts.take_scans(scans),
        }
        let with_messages = facts
            .logs
            .iter()
            .zip(0..)
            .filter(|(log, _)| log.messages > 0);
        facts.by_first = with_messages
            .map(|(log, number)| (log.first, number))
            .collect();
        facts.by_first.sort_unstable();
        Ok(facts)
    }

    fn take_scans(&mut self, scans: &mut [LogScan]) {
        for (number, scan) in scans.iter_mut().enumerate() {
            self.begin_log(number, scan.is_failed());
            for message in std::mem::take(&mut scan.rows) {
                let message = match message {
                    scan::Scanned::Empty => Message::Empty,
                    scan::Scanned::NotParsable => Message::NotParsable,
                    scan::Scanned::Row(row) => Message::Row(self.row(&row.facts())),
                };
                self.push(number, message);
            }
        }
    }

    /// The messages that are pushed from now on are those of this log.
    fn begin_log(&mut self, number: usize, failed: bool) {
        let first = MessageId::try_from(self.messages.len()).expect("fewer than 2^32 messages");
        let log = &mut self.logs[number];
        log.first = first;
        log.failed = failed;
    }

    fn push(&mut self, log: usize, message: Message) {
        self.messages.push(message);
        self.logs[log].messages += 1;
    }

    fn row(&mut self, facts: &RowFacts<'_>) -> Row {
        let number = |strings: &mut Strings, text: Option<&str>| {
            text.map_or(NONE, |text| strings.intern(text))
        };
        let curated = facts.curated.map(RowHash::to_bytes);
        Row {
            report: facts.report.to_bytes(),
            curated: curated.unwrap_or_default(),
            message_dt: facts.message_dt.unwrap_or(i64::MIN),
            accession: number(&mut self.accessions, curated.and(facts.accession)),
            mpi: number(&mut self.mpis, facts.mpi),
            epic_mrn: number(&mut self.epic_mrns, facts.epic_mrn),
            diagnoses: facts.diagnoses,
            year: facts.year.unwrap_or(i32::MIN),
        }
    }

    /// Every log as the data set was made; empty without a truth.
    pub(super) fn as_made(&self) -> HashMap<&str, &FileEntry> {
        match &self.source {
            Source::Dataset(dataset) => {
                let files = dataset.info().files.iter();
                files.map(|file| (file.path.as_str(), file)).collect()
            }
            Source::Logs(..) => HashMap::new(),
        }
    }

    /// Messages of all logs.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// What a message gives.
    pub(super) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id as usize]
    }

    /// The row of a message; `None` where it has none.
    pub(super) fn row_of(&self, id: MessageId) -> Option<&Row> {
        match self.messages.get(id as usize)? {
            Message::Row(row) => Some(row),
            Message::Empty | Message::NotParsable => None,
        }
    }

    /// The messages of a log.
    pub(super) fn of_log(&self, log: u32) -> std::ops::Range<MessageId> {
        let log = &self.logs[log as usize];
        log.first..log.first + log.messages
    }

    /// The facts of a row with their texts.
    pub(super) fn texts(&self, row: &Row) -> RowFacts<'_> {
        let (mpi, epic_mrn) = row.ids();
        RowFacts {
            report: row.report(),
            curated: row.curated(),
            message_dt: row.message_dt(),
            year: row.year(),
            accession: row.accession().map(|number| self.accessions.get(number)),
            diagnoses: row.diagnoses,
            mpi: mpi.map(|number| self.mpis.get(number)),
            epic_mrn: epic_mrn.map(|number| self.epic_mrns.get(number)),
        }
    }

    /// The message with a row of which this is `source_file`; `None` where there is none.
    pub(super) fn find(&self, source_file: &str) -> Option<MessageId> {
        let portable = portable_source(source_file);
        let (folder, name) = portable.rsplit_once('/')?;
        let (stem, ordinal) = name.strip_suffix(".hl7")?.rsplit_once('_')?;
        let log = &self.logs[*self.by_stem.get(stem)? as usize];
        // `007` and `+7` are other names than `7`.
        let is_number = ordinal == "0"
            || (!ordinal.starts_with('0') && ordinal.bytes().all(|byte| byte.is_ascii_digit()));
        let ordinal: u32 = ordinal.parse().ok().filter(|_| is_number)?;
        let in_folder = log.date.is_some_and(|date| date_is(&date, folder));
        if !in_folder || ordinal >= log.messages {
            return None;
        }
        let id = log.first + ordinal;
        self.row_of(id).map(|_| id)
    }

    /// Number of the log of a message.
    pub(super) fn log_number(&self, id: MessageId) -> usize {
        let at = self.by_first.partition_point(|(first, _)| *first <= id);
        self.by_first[at - 1].1 as usize
    }

    fn log_of(&self, id: MessageId) -> &Log {
        &self.logs[self.log_number(id)]
    }

    /// Number of a log by its path.
    ///
    /// # Panics
    /// If it is none of the workflows' logs.
    pub(super) fn log_by_path(&self, path: &str) -> usize {
        self.by_path[path] as usize
    }

    /// The log and ordinal of a message.
    pub(super) fn place(&self, id: MessageId) -> (&str, u32) {
        let log = self.log_of(id);
        (log.path.as_str(), id - log.first)
    }

    /// `source_file` of a message without the staging root.
    pub(super) fn name_of(&self, id: MessageId) -> String {
        self.name_in(self.log_of(id), id)
    }

    /// The same, of a message in a log that is known.
    pub(super) fn name_in(&self, log: &Log, id: MessageId) -> String {
        let date = log.date.map_or_else(String::new, |date| date.to_string());
        format!("{date}/{}_{}.hl7", log.stem, id - log.first)
    }

    /// Makes the rows of a message once more and hands them over.
    ///
    /// # Errors
    /// Where the message cannot be had again.
    pub(super) fn regenerate<T>(
        &self,
        id: MessageId,
        look: impl FnOnce(&ReportRow<'_>, Option<&CuratedRow<'_>>) -> T,
    ) -> Result<T, String> {
        let (log, ordinal) = self.place(id);
        let missing = || format!("message {ordinal} of {log} has no row");
        match &self.source {
            Source::Dataset(dataset) => dataset
                .message(log, ordinal, |truth| {
                    truth.row.map(|row| look(row, truth.curated))
                })
                .map_err(|error| error.to_string())?
                .ok_or_else(missing),
            Source::Logs(reader, root) => scan::again(reader, &log_path(root, log), ordinal, look),
        }
    }
}

fn date_is(date: &LogDate, folder: &str) -> bool {
    let digits = date.digits();
    let parts = [&digits[..4], "/", &digits[4..6], "/", &digits[6..]];
    let mut rest = folder;
    parts.iter().all(|part| match rest.strip_prefix(part) {
        Some(after) => {
            rest = after;
            true
        }
        None => false,
    }) && rest.is_empty()
}

/// The reader that real logs are read with.
fn reader() -> Reader {
    Reader::new(ModalityMap::shipped())
}

/// A log by its path relative to the data set.
fn log_path(root: &Path, relative: &str) -> LogPath {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let stem = name.strip_suffix(".log").unwrap_or(name);
    LogPath {
        path: root.join(relative),
        relative: relative.to_owned(),
        stem: stem.to_owned(),
        date: LogDate::from_name(stem),
    }
}
