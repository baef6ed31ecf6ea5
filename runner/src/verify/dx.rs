//! `reports_dx`: the diagnoses of the report that stands in latest, and no others.

use super::checks::{self, Checks, Wrong};
use super::columns::{self, Differing};
use super::diagnoses::{self, DiagnosisHash};
use super::facts::{Facts, MessageId};
use super::files;
use super::read::{At, FileReport, OpenTable};
use super::verification::Position;
use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use bench_tables::encode::portable_source;
use bench_tables::{RowEncoder, RowHash, Table, arrow::row_hash};
use std::collections::HashSet;

/// What was found.
pub(super) struct Dx {
    /// By accession, report and number.
    rows: Vec<FoundRow>,
    strange: Vec<At>,
    files: Vec<FileReport>,
}

struct FoundRow {
    accession: u32,
    id: MessageId,
    number: u32,
    at: At,
    hash: RowHash,
}

#[derive(Default)]
struct OfFile {
    encoder: RowEncoder,
    rows: Vec<FoundRow>,
    strange: Vec<At>,
}

/// What must stand for an accession.
pub(super) enum Wanted {
    /// The diagnoses of this report.
    Of(MessageId),
    /// None.
    Nothing,
}

/// Reads the table.
pub(super) fn read(table: &OpenTable, facts: &Facts, threads: usize) -> Dx {
    let (files, found) = table.read(threads, |of_file: &mut OfFile, first, batch| {
        take(facts, of_file, first, batch);
    });
    let mut dx = Dx {
        rows: Vec::new(),
        strange: Vec::new(),
        files,
    };
    for of_file in found {
        dx.rows.extend(of_file.rows);
        dx.strange.extend(of_file.strange);
    }
    dx.rows
        .sort_by_key(|row| (row.accession, row.id, row.number, row.at));
    dx
}

fn take(facts: &Facts, of_file: &mut OfFile, first: At, batch: &RecordBatch) {
    let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
    let (accessions, reports) = (text("accession_number"), text("primary_report_identifier"));
    let diagnoses = text("diagnosis_id");
    for row in 0..batch.num_rows() {
        let at = At {
            row: first.row + row as u32,
            ..first
        };
        let value = |column: Option<&StringArray>| {
            let column = column.filter(|column| column.is_valid(row))?;
            Some(column.value(row).to_owned())
        };
        let accession = value(accessions).and_then(|text| facts.accessions.find(&text));
        let report = value(reports);
        let id = report.as_deref().and_then(|report| facts.find(report));
        let number = report
            .zip(value(diagnoses))
            .and_then(|(report, diagnosis)| {
                let rest = portable_source(&diagnosis).strip_prefix(portable_source(&report))?;
                rest.strip_prefix('_')?.parse::<u32>().ok()
            });
        let (Some(accession), Some(id), Some(number)) = (accession, id, number) else {
            of_file.strange.push(at);
            continue;
        };
        let hash = row_hash(&mut of_file.encoder, batch, row);
        of_file.rows.push(FoundRow {
            accession,
            id,
            number,
            at,
            hash,
        });
    }
}

impl Dx {
    /// Accessions of which the rows are not, by number, those that are wanted.
    pub(super) fn misses(&self, facts: &Facts, wanted: &dyn Fn(u32) -> Wanted) -> u64 {
        let mut misses = 0;
        let mut rows = self.rows.as_slice();
        for accession in 0..facts.accessions.len() as u32 {
            let until = rows.partition_point(|row| row.accession <= accession);
            let (of_accession, rest) = rows.split_at(until);
            rows = rest;
            let is_right = match wanted(accession) {
                Wanted::Nothing => of_accession.is_empty(),
                Wanted::Of(id) => {
                    of_accession.len() as u32 == count(facts, id)
                        && of_accession.iter().all(|row| row.id == id)
                }
            };
            misses += u64::from(!is_right);
        }
        misses
    }

    /// Compares the table with what is wanted for each accession.
    pub(super) fn check(
        &self,
        table: &OpenTable,
        facts: &Facts,
        wanted: &dyn Fn(u32) -> Wanted,
        hashes: &[DiagnosisHash],
        checks: &mut Checks,
    ) {
        let name = Some(Table::Dx);
        let diagnosis = |id: MessageId, number: u32, what: &str| Position {
            diagnosis: Some(number),
            ..checks::message(facts, id, what)
        };
        let (mut rows, mut unknown) = (0, 0);
        let (mut keys, mut unique) = (Wrong::default(), Wrong::default());
        let mut differing = Vec::new();
        let mut left = self.rows.as_slice();
        for accession in 0..facts.accessions.len() as u32 {
            let until = left.partition_point(|row| row.accession <= accession);
            let (of_accession, rest) = left.split_at(until);
            left = rest;
            let (expected, diagnoses) = match wanted(accession) {
                Wanted::Nothing => (None, 0),
                Wanted::Of(id) => (Some(id), count(facts, id)),
            };
            rows += u64::from(diagnoses);
            let mut found = HashSet::new();
            for row in of_accession {
                let is_expected = expected == Some(row.id) && row.number < diagnoses;
                if !is_expected {
                    keys.add(|| diagnosis(row.id, row.number, "unexpected"));
                } else if !found.insert(row.number) {
                    unique.add(|| diagnosis(row.id, row.number, "a second row"));
                }
                match diagnoses::find(hashes, row.id, row.number) {
                    Some(hash) if hash == row.hash => {}
                    Some(_) => differing.push(Differing {
                        id: row.id,
                        at: row.at,
                        diagnosis: row.number,
                    }),
                    None if is_expected => unknown += 1,
                    None => {}
                }
            }
            for number in (0..diagnoses).filter(|number| !found.contains(number)) {
                let id = expected.expect("a report has the diagnoses");
                keys.add(|| diagnosis(id, number, "missing"));
            }
        }
        for &at in &self.strange {
            keys.add(|| {
                checks::row(
                    table,
                    at,
                    "its accession, report or id is none of the logs'",
                )
            });
        }
        let found = self.rows.len() + self.strange.len();
        checks.compare("rows", name, &rows, &found);
        checks.none_wrong("keys", name, "keys missing or unexpected", keys);
        checks.none_wrong(
            "keys_unique",
            name,
            "keys that stand more than once",
            unique,
        );
        let check = columns::check(table, facts, &differing, checks);
        if unknown > 0 {
            check.note(format!(
                "{unknown} rows were not compared, since their rows in reports_curated are wrong"
            ));
        }
        files::files(table, &self.files, checks);
    }
}

fn count(facts: &Facts, id: MessageId) -> u32 {
    facts.row_of(id).map_or(0, |row| row.diagnoses)
}
