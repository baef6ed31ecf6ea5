//! The rows of `reports` and `reports_curated`, each found row beside the message it comes from.

use super::checks::{self, Checks, Wrong};
use super::columns::{self, Differing};
use super::facts::{Facts, MessageId, Row};
use super::files;
use super::read::{At, FileReport, OpenTable};
use super::{diagnoses, diagnoses::DiagnosisHash};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::TimestampMicrosecondType;
use bench_tables::arrow::row_hash;
use bench_tables::{RowEncoder, RowHash, Table};

/// Stands for a row without `updated`.
const NEVER: i64 = i64::MIN;

/// What was found in one of the tables.
pub(super) struct Versions {
    /// Rows by message.
    pub(super) counts: Vec<u16>,
    pub(super) rows: u64,
    /// Rows whose hash is not that of their message.
    pub(super) differing: Vec<(MessageId, At)>,
    /// Rows of no message that could have one.
    pub(super) strange: Vec<At>,
    /// Rows without `updated`, or in `reports` without `content_hash`.
    pub(super) unstamped: Vec<(MessageId, At)>,
    /// `updated` by message, of its last row.
    updated: Vec<i64>,
    pub(super) files: Vec<FileReport>,
    /// What must stand in `reports_dx` for the rows of curated that are right.
    pub(super) diagnoses: Vec<DiagnosisHash>,
}

#[derive(Default)]
struct OfFile {
    encoder: RowEncoder,
    rows: Vec<FoundRow>,
    strange: Vec<At>,
    diagnoses: Vec<DiagnosisHash>,
}

struct FoundRow {
    id: MessageId,
    at: At,
    is_right: bool,
    is_stamped: bool,
    updated: i64,
}

/// The column that names the message.
fn key(table: Table) -> &'static str {
    if table == Table::Reports {
        "source_file"
    } else {
        "primary_report_identifier"
    }
}

fn expected(table: Table, row: &Row) -> Option<RowHash> {
    if table == Table::Reports {
        Some(row.report())
    } else {
        row.curated()
    }
}

/// Reads the table.
pub(super) fn read(table: &OpenTable, facts: &Facts, threads: usize) -> Versions {
    let (files, found) = table.read(threads, |of_file: &mut OfFile, first, batch| {
        take(table.table, facts, of_file, first, batch);
    });
    let mut versions = Versions {
        counts: vec![0; facts.len()],
        rows: 0,
        differing: Vec::new(),
        strange: Vec::new(),
        unstamped: Vec::new(),
        updated: vec![NEVER; facts.len()],
        files,
        diagnoses: Vec::new(),
    };
    for of_file in found {
        versions.rows += (of_file.rows.len() + of_file.strange.len()) as u64;
        for row in of_file.rows {
            let id = row.id as usize;
            versions.counts[id] = versions.counts[id].saturating_add(1);
            versions.updated[id] = row.updated;
            if !row.is_right {
                versions.differing.push((row.id, row.at));
            }
            if !row.is_stamped {
                versions.unstamped.push((row.id, row.at));
            }
        }
        versions.strange.extend(of_file.strange);
        versions.diagnoses.extend(of_file.diagnoses);
    }
    diagnoses::sort(&mut versions.diagnoses);
    versions.differing.sort_unstable();
    versions
}

fn take(table: Table, facts: &Facts, of_file: &mut OfFile, first: At, batch: &RecordBatch) {
    let keys = batch.column_by_name(key(table));
    let keys = keys.and_then(|column| column.as_string_opt::<i32>());
    let updated = updated_of(batch);
    let hashes = batch.column_by_name("content_hash");
    let mut with_diagnoses = Vec::new();
    for number in 0..batch.num_rows() {
        let at = At {
            row: first.row + number as u32,
            ..first
        };
        let name = keys.filter(|keys| keys.is_valid(number));
        let Some(id) = name.and_then(|keys| facts.find(keys.value(number))) else {
            of_file.strange.push(at);
            continue;
        };
        let row = facts
            .row_of(id)
            .expect("only messages with a row are found");
        let hash = row_hash(&mut of_file.encoder, batch, number);
        let is_right = expected(table, row) == Some(hash);
        let updated = updated.filter(|column| column.is_valid(number));
        let updated = updated.map_or(NEVER, |column| column.value(number));
        let has_hash = table != Table::Reports || hashes.is_some_and(|c| c.is_valid(number));
        of_file.rows.push(FoundRow {
            id,
            at,
            is_right,
            is_stamped: has_hash && updated != NEVER,
            updated,
        });
        if table == Table::Curated && is_right && row.diagnoses > 0 {
            with_diagnoses.push((id, number));
        }
    }
    diagnoses::explode(
        batch,
        &with_diagnoses,
        &mut of_file.encoder,
        &mut of_file.diagnoses,
    );
}

/// The column `updated` of a batch.
pub(super) fn updated_of(batch: &RecordBatch) -> Option<&arrow::array::TimestampMicrosecondArray> {
    batch
        .column_by_name("updated")?
        .as_primitive_opt::<TimestampMicrosecondType>()
}

impl Versions {
    /// `updated` of a message that has one row; `None` where it is missing.
    pub(super) fn updated(&self, id: MessageId) -> Option<i64> {
        let is_one = self.counts[id as usize] == 1;
        let updated = self.updated[id as usize];
        (is_one && updated != NEVER).then_some(updated)
    }
}

/// Rows that a message may have.
pub(super) type Allowed<'a> = dyn Fn(MessageId) -> (u16, u16) + 'a;

impl Versions {
    /// Compares the table with how many rows each message may have.
    pub(super) fn check(
        &self,
        table: &OpenTable,
        facts: &Facts,
        allowed: &Allowed<'_>,
        checks: &mut Checks,
    ) {
        let name = Some(table.table);
        let (mut least, mut most) = (0_u64, 0_u64);
        let (mut keys, mut unique) = (Wrong::default(), Wrong::default());
        for log in &facts.logs {
            for id in log.first..log.first + log.messages {
                let (at_least, at_most) = allowed(id);
                least += u64::from(at_least);
                most += u64::from(at_most);
                let found = self.counts[id as usize];
                if found == 0 && at_least > 0 {
                    keys.messages(facts, [id], "missing");
                } else if found > 0 && at_most == 0 {
                    keys.messages(facts, [id], "unexpected");
                } else if !(at_least..=at_most).contains(&found) {
                    let expected = match at_least == at_most {
                        true => at_least.to_string(),
                        false => format!("{at_least} to {at_most}"),
                    };
                    let what = format!("{found} rows, expected {expected}");
                    unique.messages(facts, [id], &what);
                }
            }
        }
        for &at in &self.strange {
            keys.add(|| checks::row(table, at, "its message is none of the logs'"));
        }
        if least == most {
            checks.compare("rows", name, &least, &self.rows);
        } else {
            let passed = (least..=most).contains(&self.rows);
            let expected = format!("{least} to {most}");
            let check = checks.add("rows", name, expected, self.rows.to_string(), passed);
            check.note("files without a year were ingested again, perhaps within one batch");
        }
        checks.none_wrong("keys", name, "keys missing or unexpected", keys);
        checks.none_wrong(
            "keys_unique",
            name,
            "keys with another number of rows",
            unique,
        );
        let differing: Vec<Differing> = self
            .differing
            .iter()
            .filter(|(id, _)| allowed(*id).1 > 0)
            .map(|&(id, at)| Differing {
                id,
                at,
                diagnosis: 0,
            })
            .collect();
        columns::check(table, facts, &differing, checks);
        let mut wrong = Wrong::default();
        let unstamped = self.unstamped.iter().map(|(id, _)| *id);
        wrong.messages(facts, unstamped, "it lacks what the engine adds");
        let what = "rows without `updated` or `content_hash`";
        checks.none_wrong("stamps", name, what, wrong);
        files::files(table, &self.files, checks);
    }

    /// Compares `updated` with that of the table that this one follows.
    pub(super) fn check_carried(
        &self,
        table: &OpenTable,
        facts: &Facts,
        source: &Self,
        checks: &mut Checks,
    ) {
        let mut wrong = Wrong::default();
        for log in &facts.logs {
            let other = (log.first..log.first + log.messages).filter(|&id| {
                let pair = self.updated(id).zip(source.updated(id));
                pair.is_some_and(|(here, there)| here != there)
            });
            wrong.messages(facts, other, "another time than in reports");
        }
        let what = "rows with another `updated`";
        checks.none_wrong("updated_carried", Some(table.table), what, wrong);
    }
}
