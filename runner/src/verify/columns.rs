//! Which columns of a row differ from what they must be: the row is made again and compared column
//! by column, each by a hash of its own, so that no value leaves this module.

use super::checks::{self, Checks, Wrong};
use super::facts::{Facts, MessageId};
use super::read::{At, OpenTable};
use super::verification::{Check, Position};
use arrow::array::RecordBatch;
use bench_tables::arrow::row_hash;
use bench_tables::{
    CuratedColumn, CuratedRow, ReportColumn, ReportRow, RowEncoder, RowHash, StructList, Table,
    Value,
};
use std::collections::BTreeMap;

/// A row that differs.
#[derive(Clone, Copy)]
pub(super) struct Differing {
    pub(super) id: MessageId,
    pub(super) at: At,
    /// Number of the diagnosis, for a row of `reports_dx`.
    pub(super) diagnosis: u32,
}

/// The differing columns of each of some rows, in their order.
pub(super) fn of(table: &OpenTable, facts: &Facts, rows: &[Differing]) -> Vec<Vec<String>> {
    rows.iter()
        .map(|row| {
            of_row(table, facts, *row)
                .unwrap_or_else(|reason| vec![format!("unknown, since {reason}")])
        })
        .collect()
}

fn of_row(table: &OpenTable, facts: &Facts, row: Differing) -> Result<Vec<String>, String> {
    let expected = facts.regenerate(row.id, |report, curated| match (table.table, curated) {
        (Table::Reports, _) => report_hashes(report),
        (Table::Dx, Some(curated)) => dx_hashes(curated, row.diagnosis),
        (_, Some(curated)) => curated_hashes(curated),
        (_, None) => BTreeMap::new(),
    })?;
    let mut differing = None;
    let number = row.at.file as usize;
    let file = &table.snapshot.files[number];
    table.read_file(number, file, |first, batch| {
        let within = row.at.row.checked_sub(first.row).map(|row| row as usize);
        if let Some(within) = within.filter(|&within| within < batch.num_rows()) {
            differing = Some(compare(&expected, batch, within));
        }
    });
    differing.ok_or_else(|| "its file cannot be read again".to_owned())
}

type Hashes = BTreeMap<String, RowHash>;

fn compare(expected: &Hashes, batch: &RecordBatch, row: usize) -> Vec<String> {
    let mut encoder = RowEncoder::new();
    let null = encoder.columns(&mut []);
    let mut found = Hashes::new();
    for (number, field) in batch.schema_ref().fields().iter().enumerate() {
        let Ok(column) = batch.project(&[number]) else {
            continue;
        };
        let hash = row_hash(&mut encoder, &column, row);
        if hash != null {
            found.insert(field.name().clone(), hash);
        }
    }
    let mut names: Vec<&String> = expected.keys().chain(found.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter(|name| expected.get(*name) != found.get(*name))
        .cloned()
        .collect()
}

/// The hash of each column that is not NULL.
fn hashes<'a>(columns: impl Iterator<Item = (&'a str, Value<'a>)>) -> Hashes {
    let mut encoder = RowEncoder::new();
    columns
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), encoder.columns(&mut [(name, value)])))
        .collect()
}

fn report_hashes(row: &ReportRow<'_>) -> Hashes {
    let fixed = ReportColumn::ALL.iter();
    let fixed = fixed.map(|&column| (column.name(), row.get(column)));
    hashes(fixed.chain(identifiers(row.identifiers)))
}

fn curated_hashes(row: &CuratedRow<'_>) -> Hashes {
    let fixed = CuratedColumn::ALL.iter();
    let fixed = fixed.map(|&column| (column.name(), row.get(column)));
    hashes(fixed.chain(identifiers(row.identifiers)))
}

fn identifiers<'a>(
    identifiers: &'a [(&'a str, &'a str)],
) -> impl Iterator<Item = (&'a str, Value<'a>)> {
    identifiers.iter().map(|&(name, id)| (name, Value::Str(id)))
}

fn dx_hashes(row: &CuratedRow<'_>, diagnosis: u32) -> Hashes {
    let mut all = curated_hashes(row);
    all.remove(CuratedColumn::Diagnoses.name());
    all.remove(CuratedColumn::DiagnosesConsolidated.name());
    let report = row.get(CuratedColumn::PrimaryReportIdentifier).as_str();
    let id = format!("{}_{diagnosis}", report.unwrap_or_default());
    let list = match row.get(CuratedColumn::Diagnoses) {
        Value::Structs(list) => list,
        _ => StructList::new(1, &[]),
    };
    let members = list.iter().nth(diagnosis as usize).unwrap_or_default();
    let names = [
        "diagnosis_code",
        "diagnosis_code_text",
        "diagnosis_code_coding_system",
    ];
    let members = names
        .into_iter()
        .zip(members)
        .map(|(name, member)| (name, Value::text(*member)));
    all.extend(hashes(members.chain([("diagnosis_id", Value::Str(&id))])));
    all
}

/// The check that every row is as it must be, with the columns of the first that are not.
pub(super) fn check<'c>(
    table: &OpenTable,
    facts: &Facts,
    differing: &[Differing],
    checks: &'c mut Checks,
) -> &'c mut Check {
    let named = &differing[..differing.len().min(Check::POSITIONS)];
    let columns = of(table, facts, named);
    let mut wrong = Wrong::default();
    for (row, columns) in named.iter().zip(columns) {
        wrong.add(|| Position {
            diagnosis: (table.table == Table::Dx).then_some(row.diagnosis),
            columns,
            ..checks::message(facts, row.id, "its values differ")
        });
    }
    wrong.count = differing.len() as u64;
    checks.none_wrong(
        "row_hashes",
        Some(table.table),
        "rows with other values",
        wrong,
    )
}
