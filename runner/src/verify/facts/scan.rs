//! The logs themselves, split and read with this project's reader: what they hold is counted
//! apart from any truth and any ledger.

use super::curate::{curated_row, mapping_ids};
use super::{RowFacts, reader};
use crate::verify::parallel;
use bench_hl7::{LogPath, Reader, split};
use bench_tables::{
    CuratedColumn, CuratedRow, ReportColumn, ReportRow, RowEncoder, RowHash, Value,
};
use bumpalo::Bump;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// What a log holds.
#[derive(Default)]
pub(crate) struct LogScan {
    pub(crate) bytes: u64,
    /// XXH3-128 of its bytes as 32 hexadecimal digits; empty where it cannot be read.
    pub(crate) digest: String,
    pub(crate) messages: u32,
    pub(crate) empty: u32,
    pub(crate) not_parsable: Vec<u32>,
    has_date: bool,
    /// Its messages in their order, where they were asked for.
    pub(super) rows: Vec<Scanned>,
}

/// A message as it was read.
pub(super) enum Scanned {
    Empty,
    NotParsable,
    Row(Box<ScannedRow>),
}

pub(super) struct ScannedRow {
    report: RowHash,
    curated: Option<RowHash>,
    message_dt: Option<i64>,
    year: Option<i32>,
    accession: Option<String>,
    diagnoses: u32,
    mpi: Option<String>,
    epic_mrn: Option<String>,
}

impl LogScan {
    /// Whether nothing of it can be staged. Its messages do not count then.
    pub(crate) fn is_failed(&self) -> bool {
        !self.has_date || self.messages == 0
    }
}

impl ScannedRow {
    pub(super) fn facts(&self) -> RowFacts<'_> {
        RowFacts {
            report: self.report,
            curated: self.curated,
            message_dt: self.message_dt,
            year: self.year,
            accession: self.accession.as_deref(),
            diagnoses: self.diagnoses,
            mpi: self.mpi.as_deref(),
            epic_mrn: self.epic_mrn.as_deref(),
        }
    }
}

/// Reads logs, on some threads. `rows` says whether their rows are wanted. A log that cannot be
/// read is one without messages, as it is for an engine.
pub(crate) fn scan(root: &Path, logs: &[String], rows: bool, threads: usize) -> Vec<LogScan> {
    let reader = reader();
    parallel::map(threads, logs, Bump::new, |arena, _, log| {
        let log = super::log_path(root, log);
        let Ok(bytes) = std::fs::read(&log.path) else {
            return LogScan::default();
        };
        scan_bytes(&reader, &log, &bytes, rows, arena)
    })
}

fn scan_bytes(
    reader: &Reader,
    log: &LogPath,
    bytes: &[u8],
    rows: bool,
    arena: &mut Bump,
) -> LogScan {
    let mut scan = LogScan {
        bytes: bytes.len() as u64,
        digest: format!("{:032x}", xxh3_128(bytes)),
        has_date: log.date.is_some(),
        ..LogScan::default()
    };
    if log.date.is_none() {
        return scan;
    }
    let mut encoder = RowEncoder::new();
    let mut name = String::new();
    for message in split(bytes) {
        scan.messages += 1;
        let ordinal = message.ordinal();
        if message.is_blank() {
            scan.empty += 1;
            if rows {
                scan.rows.push(Scanned::Empty);
            }
            continue;
        }
        arena.reset();
        name.clear();
        log.write_source_file(ordinal, &mut name);
        match reader.read(&message, &name, arena) {
            Err(_) => {
                scan.not_parsable.push(ordinal);
                if rows {
                    scan.rows.push(Scanned::NotParsable);
                }
            }
            Ok(reading) if rows => {
                let row = scanned(&reading.row, arena, &mut encoder);
                scan.rows.push(Scanned::Row(Box::new(row)));
            }
            Ok(_) => {}
        }
    }
    scan
}

fn scanned(row: &ReportRow<'_>, arena: &Bump, encoder: &mut RowEncoder) -> ScannedRow {
    let curated = curated_row(row, arena);
    let accession = curated
        .as_ref()
        .map(|row| row.get(CuratedColumn::AccessionNumber));
    let (mpi, epic_mrn) = mapping_ids(row);
    ScannedRow {
        report: encoder.report(row),
        curated: curated.as_ref().map(|row| encoder.curated(row)),
        message_dt: row.get(ReportColumn::MessageDt).as_timestamp(),
        year: match row.get(ReportColumn::Year) {
            Value::Int(year) => Some(year),
            _ => None,
        },
        accession: accession.and_then(Value::as_str).map(str::to_owned),
        diagnoses: match row.get(ReportColumn::Diagnoses) {
            Value::Structs(list) => list.len() as u32,
            _ => 0,
        },
        mpi: mpi.map(str::to_owned),
        epic_mrn: epic_mrn.map(str::to_owned),
    }
}

/// Reads one message once more and hands its rows over.
pub(super) fn again<T>(
    reader: &Reader,
    log: &LogPath,
    ordinal: u32,
    look: impl FnOnce(&ReportRow<'_>, Option<&CuratedRow<'_>>) -> T,
) -> Result<T, String> {
    let bytes = std::fs::read(&log.path).map_err(|error| format!("{}: {error}", log.relative))?;
    let missing = || format!("message {ordinal} of {} has no row", log.relative);
    let message = split(&bytes).nth(ordinal as usize).ok_or_else(missing)?;
    let name = log.source_file(ordinal).ok_or_else(missing)?;
    let arena = Bump::new();
    let reading = reader
        .read(&message, &name, &arena)
        .map_err(|_| missing())?;
    let curated = curated_row(&reading.row, &arena);
    Ok(look(&reading.row, curated.as_ref()))
}
