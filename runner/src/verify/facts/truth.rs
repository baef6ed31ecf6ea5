//! Facts from the truth that the generator wrote beside its logs.

use super::{Facts, Message, RowFacts};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type, TimestampMicrosecondType};
use bench_generator::{Outcome, TRUTH_FILE};
use bench_tables::RowHash;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

const COLUMNS: [&str; 11] = [
    "file",
    "ordinal",
    "accession",
    "message_dt",
    "year",
    "outcome",
    "mpi",
    "epic_mrn",
    "diagnoses",
    "report_hash",
    "curated_hash",
];

/// Reads the truth of the logs that `facts` names. Rows stand in the order of the logs and of the
/// messages within them.
pub(super) fn read(root: &Path, facts: &mut Facts) -> Result<(), String> {
    let wanted: HashMap<String, usize> = facts
        .logs
        .iter()
        .enumerate()
        .map(|(number, log)| (log.path.clone(), number))
        .collect();
    let name = |error: &dyn std::fmt::Display| format!("{TRUTH_FILE}: {error}");
    let file = File::open(root.join(TRUTH_FILE)).map_err(|error| name(&error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| name(&error))?;
    let columns = ProjectionMask::columns(builder.parquet_schema(), COLUMNS);
    let reader = builder
        .with_projection(columns)
        .with_batch_size(8192)
        .build();
    let mut current = None;
    for batch in reader.map_err(|error| name(&error))? {
        let batch = batch.map_err(|error| name(&error))?;
        let columns = Columns::of(&batch).map_err(|error| name(&error))?;
        for row in 0..batch.num_rows() {
            let log = columns.text(&columns.file, row).unwrap_or_default();
            let Some(&number) = wanted.get(log) else {
                continue;
            };
            if current != Some(number) {
                facts.begin_log(number, false);
                current = Some(number);
            }
            let outcome = columns.text(&columns.outcome, row).unwrap_or_default();
            let message = match outcome {
                _ if outcome == Outcome::Staged.name() => {
                    let row = columns.row(row).ok_or("a staged message has no hash")?;
                    Message::Row(facts.row(&row))
                }
                _ if outcome == Outcome::Empty.name() => Message::Empty,
                _ if outcome == Outcome::NotParsable.name() => Message::NotParsable,
                _ if outcome == Outcome::LogFailed.name() => {
                    facts.logs[number].failed = true;
                    continue;
                }
                // A message that another one swallows is not read.
                _ => continue,
            };
            let ordinal = columns.ordinals().value(row);
            if i64::from(ordinal) != i64::from(facts.logs[number].messages) {
                let log = &facts.logs[number].path;
                return Err(format!("the messages of {log} are not numbered one by one"));
            }
            facts.push(number, message);
        }
    }
    Ok(())
}

struct Columns {
    file: ArrayRef,
    outcome: ArrayRef,
    accession: ArrayRef,
    mpi: ArrayRef,
    epic_mrn: ArrayRef,
    batch: RecordBatch,
}

impl Columns {
    fn of(batch: &RecordBatch) -> Result<Self, String> {
        if let Some(missing) = COLUMNS
            .iter()
            .find(|name| batch.column_by_name(name).is_none())
        {
            return Err(format!("column {missing} is missing"));
        }
        let text = |name: &str| {
            cast(&batch[name], &DataType::Utf8).map_err(|_| format!("column {name} is no text"))
        };
        Ok(Self {
            file: text("file")?,
            outcome: text("outcome")?,
            accession: text("accession")?,
            mpi: text("mpi")?,
            epic_mrn: text("epic_mrn")?,
            batch: batch.clone(),
        })
    }

    fn text<'a>(&self, column: &'a ArrayRef, row: usize) -> Option<&'a str> {
        let column = column.as_string::<i32>();
        column.is_valid(row).then(|| column.value(row))
    }

    fn ordinals(&self) -> &arrow::array::Int32Array {
        self.batch["ordinal"].as_primitive::<Int32Type>()
    }

    fn hash(&self, name: &str, row: usize) -> Option<RowHash> {
        let column = self.batch[name].as_fixed_size_binary();
        let bytes = column.is_valid(row).then(|| column.value(row))?;
        Some(RowHash::from_bytes(bytes.try_into().ok()?))
    }

    fn row(&self, row: usize) -> Option<RowFacts<'_>> {
        let time = self.batch["message_dt"].as_primitive::<TimestampMicrosecondType>();
        let year = self.batch["year"].as_primitive::<Int32Type>();
        let diagnoses = self.batch["diagnoses"].as_primitive::<Int32Type>();
        Some(RowFacts {
            report: self.hash("report_hash", row)?,
            curated: self.hash("curated_hash", row),
            message_dt: time.is_valid(row).then(|| time.value(row)),
            year: year.is_valid(row).then(|| year.value(row)),
            accession: self.text(&self.accession, row),
            diagnoses: u32::try_from(diagnoses.value(row)).ok()?,
            mpi: self.text(&self.mpi, row),
            epic_mrn: self.text(&self.epic_mrn, row),
        })
    }
}
