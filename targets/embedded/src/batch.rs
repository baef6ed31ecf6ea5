//! Log batches: which logs make a workflow, and the rows that their messages make.
//!
//! A log that is gone, may not be read, or holds no message is an outcome and no error; a message
//! whose ids would make a column that no table can hold is an error before anything is written.

use crate::error::{Error, Result};
use crate::lake::parallel;
use crate::ledger::{FailedLog, Ledger, LostMessage};
use arrow::array::{ArrayRef, RecordBatch, StringBuilder, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use bench_hl7::{LogDate, LogFailure, LogPath, Reader, split};
use bench_tables::arrow::ReportBatchBuilder;
use bench_tables::{RowEncoder, Table as Name};
use bumpalo::Bump;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Rows of one batch in memory; text columns address less than 2 GiB.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 256 * 1024 * 1024;

/// The logs of one workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogBatch {
    logs: Vec<LogPath>,
}

impl LogBatch {
    /// Batches of up to `size` logs in the order given.
    ///
    /// # Panics
    /// If `size` is 0.
    #[must_use]
    pub fn split(logs: &[LogPath], size: usize) -> Vec<Self> {
        logs.chunks(size)
            .map(|logs| Self {
                logs: logs.to_vec(),
            })
            .collect()
    }

    /// The batch that a manifest lists, each log by its path relative to the dataset.
    ///
    /// # Errors
    /// [`Error::Protocol`] for a path that is no log's.
    pub fn of_manifest(dataset: &Path, logs: &[String]) -> Result<Self> {
        let logs = logs
            .iter()
            .map(|relative| {
                let name = relative.rsplit('/').next().unwrap_or_default();
                let stem = name
                    .strip_suffix(".log")
                    .filter(|stem| !stem.starts_with('.'));
                let stem = stem.ok_or_else(|| {
                    Error::Protocol(format!("manifest entry {relative:?} is no *.log"))
                })?;
                Ok(LogPath {
                    path: dataset.join(relative),
                    relative: relative.clone(),
                    stem: stem.to_owned(),
                    date: LogDate::from_name(stem),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self { logs })
    }

    /// The logs.
    #[must_use]
    pub fn logs(&self) -> &[LogPath] {
        &self.logs
    }
}

/// What reading a batch needs to know.
pub(crate) struct Reading<'a> {
    pub(crate) reader: &'a Reader,
    /// Prefix of every staged name, with `/` at its end.
    pub(crate) staging_root: &'a str,
    /// `updated` of every row, in microseconds since 1970.
    pub(crate) updated: i64,
    pub(crate) threads: usize,
}

/// The rows of a batch, and the account of its logs and messages.
pub(crate) fn read(batch: &LogBatch, reading: &Reading<'_>) -> Result<(Vec<RecordBatch>, Ledger)> {
    refuse_shared_stems(batch)?;
    // Neighbouring logs share a record batch; some more pieces than threads even out their sizes.
    let pieces = reading.threads * 4;
    let size = batch.logs.len().div_ceil(pieces).max(1);
    let pieces: Vec<&[LogPath]> = batch.logs.chunks(size).collect();
    let read = parallel::map(reading.threads, &pieces, |logs| {
        let mut rows = Rows::new(reading);
        for log in *logs {
            rows.log(log)?;
        }
        rows.finish()
    })?;
    let mut ledger = Ledger::default();
    let mut batches = Vec::new();
    for (of_piece, piece) in read {
        batches.extend(of_piece);
        ledger.add(piece);
    }
    ledger.without_messages = ledger.parsed == 0;
    Ok((batches, ledger))
}

fn refuse_shared_stems(batch: &LogBatch) -> Result<()> {
    let mut seen: HashMap<&str, &LogPath> = HashMap::new();
    for log in &batch.logs {
        if let Some(first) = seen.insert(&log.stem, log) {
            return Err(Error::Logs(bench_hl7::Error::DuplicateStem {
                stem: log.stem.clone(),
                first: first.path.clone(),
                second: log.path.clone(),
            }));
        }
    }
    Ok(())
}

/// Whether an error tells of the log, which is then an outcome, and not of the process or of the
/// machine: without memory or free file handles every log would seem to have failed, and the
/// workflow would complete without its rows.
fn is_of_the_log(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidFilename
    )
}

/// Rows and account of some logs.
struct Rows<'a> {
    reading: &'a Reading<'a>,
    builder: ReportBatchBuilder,
    hashes: StringBuilder,
    encoder: RowEncoder,
    arena: Bump,
    bytes: usize,
    batches: Vec<RecordBatch>,
    ledger: Ledger,
}

impl<'a> Rows<'a> {
    fn new(reading: &'a Reading<'a>) -> Self {
        Self {
            reading,
            builder: ReportBatchBuilder::new(),
            hashes: StringBuilder::new(),
            encoder: RowEncoder::new(),
            arena: Bump::new(),
            bytes: 0,
            batches: Vec::new(),
            ledger: Ledger::default(),
        }
    }

    fn log(&mut self, log: &LogPath) -> Result<()> {
        self.ledger.logs += 1;
        let bytes = match std::fs::read(&log.path) {
            Ok(bytes) => bytes,
            Err(error) if is_of_the_log(&error) => {
                self.failed(log, format!("cannot be read: {error}"));
                return Ok(());
            }
            Err(source) => {
                return Err(Error::Io {
                    action: "reading the log",
                    path: log.path.clone(),
                    source,
                });
            }
        };
        let mut messages = 0;
        for message in split(&bytes) {
            messages += 1;
            let ordinal = message.ordinal();
            let mut source = self.reading.staging_root.to_owned();
            if !log.write_source_file(ordinal, &mut source) {
                self.failed(log, LogFailure::NoDate.to_string());
                return Ok(());
            }
            self.ledger.messages += 1;
            if message.is_blank() {
                self.ledger.empty += 1;
                continue;
            }
            self.arena.reset();
            match self.reading.reader.read(&message, &source, &self.arena) {
                Err(_) => {
                    let file = log.relative.clone();
                    self.ledger.unparsable.push(LostMessage { file, ordinal });
                }
                Ok(read) => {
                    if let Some(wrong) = read.invalid_identifier {
                        return Err(Error::Identifier {
                            file: log.relative.clone(),
                            ordinal,
                            reason: wrong.to_string(),
                        });
                    }
                    self.encoder.report(&read.row);
                    let encoding = self.encoder.encoding();
                    self.bytes += encoding.len();
                    self.hashes.append_value(hex(&Sha256::digest(encoding)));
                    self.builder.append(&read.row);
                    self.ledger.parsed += 1;
                }
            }
            if self.builder.rows() >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
                self.close()?;
            }
        }
        if messages == 0 {
            self.failed(log, LogFailure::NoMessages.to_string());
        }
        Ok(())
    }

    fn failed(&mut self, log: &LogPath, reason: String) {
        let file = log.relative.clone();
        self.ledger.failed_logs.push(FailedLog { file, reason });
    }

    fn close(&mut self) -> Result<()> {
        if self.builder.rows() == 0 {
            return Ok(());
        }
        self.bytes = 0;
        let wrong = || Error::columns(Name::Reports.name(), "building rows");
        let batch = self.builder.finish().map_err(wrong())?;
        let updated = TimestampMicrosecondArray::from_value(self.reading.updated, batch.num_rows())
            .with_timezone("UTC");
        let mut fields = batch.schema_ref().fields().to_vec();
        let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        fields.push(Arc::new(Field::new("updated", time, true)));
        fields.push(Arc::new(Field::new("content_hash", DataType::Utf8, true)));
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(updated) as ArrayRef);
        columns.push(Arc::new(self.hashes.finish()));
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(wrong())?;
        self.batches.push(batch);
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<RecordBatch>, Ledger)> {
        self.close()?;
        Ok((self.batches, self.ledger))
    }
}

fn hex(digest: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}
