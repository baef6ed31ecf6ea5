//! The rows of `reports_dx` that follow from rows of `reports_curated`.
//!
//! A row of latest is a row of curated as it was when it won, and the content of a file is one, so
//! what a diagnosis must look like follows from curated.

use super::facts::MessageId;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::{DataType, Field, Schema};
use bench_tables::arrow::row_hash;
use bench_tables::{RowEncoder, RowHash};
use std::sync::Arc;

const MEMBERS: [&str; 3] = [
    "diagnosis_code",
    "diagnosis_code_text",
    "diagnosis_code_coding_system",
];

/// Hash that a row of `reports_dx` must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DiagnosisHash {
    pub(super) id: MessageId,
    /// Number of the diagnosis in its message.
    pub(super) number: u32,
    hash: [u8; 16],
}

impl DiagnosisHash {
    pub(super) fn hash(&self) -> RowHash {
        RowHash::from_bytes(self.hash)
    }
}

/// Sorts for [`find`]; rows of a message that was ingested again are alike and kept once.
pub(super) fn sort(hashes: &mut Vec<DiagnosisHash>) {
    hashes.sort_unstable();
    hashes.dedup();
}

/// The hash of a diagnosis; `None` where curated has no right row of its message.
pub(super) fn find(hashes: &[DiagnosisHash], id: MessageId, number: u32) -> Option<RowHash> {
    let at = hashes.binary_search_by_key(&(id, number), |hash| (hash.id, hash.number));
    at.ok().map(|at| hashes[at].hash())
}

/// Makes the rows of some rows of a batch of curated, given as message and number in the batch.
/// Columns that are not as they must be give nothing: curated's own checks tell of them.
pub(super) fn explode(
    batch: &RecordBatch,
    rows: &[(MessageId, usize)],
    encoder: &mut RowEncoder,
    hashes: &mut Vec<DiagnosisHash>,
) {
    if rows.is_empty() {
        return;
    }
    let Some(exploded) = Exploded::of(batch, rows) else {
        return;
    };
    for (row, &(id, number)) in exploded.of.iter().enumerate() {
        let hash = row_hash(encoder, &exploded.batch, row).to_bytes();
        hashes.push(DiagnosisHash { id, number, hash });
    }
}

struct Exploded {
    batch: RecordBatch,
    /// Message and number of the diagnosis, by row.
    of: Vec<(MessageId, u32)>,
}

impl Exploded {
    fn of(batch: &RecordBatch, rows: &[(MessageId, usize)]) -> Option<Self> {
        let lists = batch.column_by_name("diagnoses")?.as_list_opt::<i32>()?;
        let elements = lists.values().as_struct_opt()?;
        let reports = batch.column_by_name("primary_report_identifier")?;
        let reports = reports.as_string_opt::<i32>()?;
        let members: Vec<&StringArray> = elements
            .columns()
            .iter()
            .map(|member| member.as_string_opt::<i32>())
            .collect::<Option<_>>()?;
        let (mut of, mut source, mut element, mut ids) = (vec![], vec![], vec![], vec![]);
        for &(id, row) in rows.iter().filter(|(_, row)| lists.is_valid(*row)) {
            let offsets = lists.value_offsets();
            for (number, at) in (offsets[row]..offsets[row + 1]).enumerate() {
                of.push((id, number as u32));
                source.push(row as u64);
                element.push(at as usize);
                ids.push(format!("{}_{number}", reports.value(row)));
            }
        }
        let source = take_record_batch(batch, &UInt64Array::from(source)).ok()?;
        let mut fields = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        for (field, column) in source.schema_ref().fields().iter().zip(source.columns()) {
            if !matches!(
                field.name().as_str(),
                "diagnoses" | "diagnoses_consolidated"
            ) {
                fields.push(Arc::clone(field));
                columns.push(Arc::clone(column));
            }
        }
        let mut put = |name: &str, column: StringArray| {
            fields.push(Arc::new(Field::new(name, DataType::Utf8, true)));
            columns.push(Arc::new(column));
        };
        for (name, member) in MEMBERS.into_iter().zip(members) {
            let values = element.iter().map(|&at| {
                let is_there = elements.is_valid(at) && member.is_valid(at);
                is_there.then(|| member.value(at))
            });
            put(name, values.collect());
        }
        put("diagnosis_id", StringArray::from(ids));
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).ok()?;
        Some(Self { batch, of })
    }
}
