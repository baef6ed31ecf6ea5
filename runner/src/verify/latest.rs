//! `reports_latest`: one report per accession, and the right one.

use super::checks::{self, Checks, Wrong};
use super::columns::{self, Differing};
use super::facts::{Facts, MessageId};
use super::files;
use super::read::{At, FileReport, OpenTable};
use super::versions::{Versions, updated_of};
use super::winners::Winners;
use crate::terminal::counted;
use arrow::array::{Array, AsArray, RecordBatch};
use bench_tables::{RowEncoder, Table, arrow::row_hash};

/// What was found.
pub(super) struct Latest {
    rows: Vec<FoundRow>,
    strange: Vec<At>,
    files: Vec<FileReport>,
    /// By accession, the report that stands there; `MessageId::MAX` for none.
    pub(super) stored: Vec<MessageId>,
}

struct FoundRow {
    accession: u32,
    id: MessageId,
    at: At,
    is_right: bool,
    updated: Option<i64>,
}

#[derive(Default)]
struct OfFile {
    encoder: RowEncoder,
    rows: Vec<FoundRow>,
    strange: Vec<At>,
}

/// Reads the table.
pub(super) fn read(table: &OpenTable, facts: &Facts, threads: usize) -> Latest {
    let (files, found) = table.read(threads, |of_file: &mut OfFile, first, batch| {
        take(facts, of_file, first, batch);
    });
    let mut latest = Latest {
        rows: Vec::new(),
        strange: Vec::new(),
        files,
        stored: vec![MessageId::MAX; facts.accessions.len()],
    };
    for of_file in found {
        latest.rows.extend(of_file.rows);
        latest.strange.extend(of_file.strange);
    }
    latest
        .rows
        .sort_by_key(|row| (row.accession, row.id, row.at));
    for row in &latest.rows {
        latest.stored[row.accession as usize] = row.id;
    }
    latest
}

fn take(facts: &Facts, of_file: &mut OfFile, first: At, batch: &RecordBatch) {
    let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
    let (accessions, reports) = (text("accession_number"), text("primary_report_identifier"));
    let updated = updated_of(batch);
    for number in 0..batch.num_rows() {
        let at = At {
            row: first.row + number as u32,
            ..first
        };
        let value = |column: Option<&arrow::array::StringArray>| {
            let column = column.filter(|column| column.is_valid(number))?;
            Some(column.value(number).to_owned())
        };
        let accession = value(accessions).and_then(|text| facts.accessions.find(&text));
        let id = value(reports).and_then(|text| facts.find(&text));
        let (Some(accession), Some(id)) = (accession, id) else {
            of_file.strange.push(at);
            continue;
        };
        let hash = row_hash(&mut of_file.encoder, batch, number);
        let expected = facts.row_of(id).and_then(|row| row.curated());
        let updated = updated.filter(|column| column.is_valid(number));
        of_file.rows.push(FoundRow {
            accession,
            id,
            at,
            is_right: expected == Some(hash),
            updated: updated.map(|column| column.value(number)),
        });
    }
}

impl Latest {
    /// Accessions of which the stored report is none of the possible ones.
    pub(super) fn misses(&self, winners: &Winners) -> u64 {
        let accessions = 0..self.stored.len() as u32;
        accessions
            .filter(|&accession| {
                let stored = self.stored[accession as usize];
                let possible = winners.of(accession);
                !(possible.contains(&stored) || (possible.is_empty() && stored == MessageId::MAX))
            })
            .count() as u64
    }

    /// Compares the table with the reports that may stand in it.
    pub(super) fn check(
        &self,
        table: &OpenTable,
        facts: &Facts,
        winners: &Winners,
        curated: Option<&Versions>,
        checks: &mut Checks,
    ) {
        let name = Some(Table::Latest);
        let rows = self.rows.len() + self.strange.len();
        checks.compare("rows", name, &winners.count, &rows);

        let mut wrong = Wrong::default();
        for (accession, &stored) in self.stored.iter().enumerate() {
            let possible = winners.of(accession as u32);
            if let Some(&expected) = possible.first().filter(|_| stored == MessageId::MAX) {
                wrong.messages(facts, [expected], "missing");
            }
        }
        for row in &self.rows {
            let possible = winners.of(row.accession);
            if possible.is_empty() {
                wrong.messages(facts, [row.id], "unexpected");
            } else if !possible.contains(&row.id) {
                wrong.add(|| {
                    let what = "it stands where another report is the latest";
                    checks::message(facts, row.id, what)
                });
                if !self
                    .rows_of(row.accession)
                    .any(|other| possible.contains(&other.id))
                {
                    wrong.messages(facts, [possible[0]], "missing: it is the latest");
                }
            }
        }
        for &at in &self.strange {
            wrong.add(|| checks::row(table, at, "its accession or report is none of the logs'"));
        }
        let check = checks.none_wrong("keys", name, "keys missing or unexpected", wrong);
        if winners.open() > 0 {
            check.note(format!(
                "for {} the order of the workflows, or an equal time, leaves open which report is the latest",
                counted(winners.open() as u64, "accession")
            ));
        }

        let mut wrong = Wrong::default();
        for pair in self.rows.windows(2) {
            if pair[0].accession == pair[1].accession {
                wrong.messages(facts, [pair[1].id], "a second row of its accession");
            }
        }
        checks.none_wrong("keys_unique", name, "keys that stand more than once", wrong);

        let differing: Vec<Differing> = self
            .rows
            .iter()
            .filter(|row| !row.is_right)
            .map(|row| Differing {
                id: row.id,
                at: row.at,
                diagnosis: 0,
            })
            .collect();
        columns::check(table, facts, &differing, checks);
        if let Some(curated) = curated {
            let other = self.rows.iter().filter(|row| {
                curated
                    .updated(row.id)
                    .is_some_and(|updated| row.updated != Some(updated))
            });
            let mut wrong = Wrong::default();
            wrong.messages(
                facts,
                other.map(|row| row.id),
                "another time than in reports_curated",
            );
            checks.none_wrong(
                "updated_carried",
                name,
                "rows with another `updated`",
                wrong,
            );
        }
        files::files(table, &self.files, checks);
    }

    fn rows_of(&self, accession: u32) -> impl Iterator<Item = &FoundRow> {
        let from = self.rows.partition_point(|row| row.accession < accession);
        self.rows[from..]
            .iter()
            .take_while(move |row| row.accession == accession)
    }
}
