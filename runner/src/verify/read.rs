//! Reading a table's rows, file by file, without the engine that wrote them.
//!
//! Statistics are not trusted: every row is read, and what the log says of a file is compared with
//! the file.

use super::parallel;
use super::statistics::Bounds;
use crate::delta::{Lake, Live, Snapshot, TableStore};
use arrow::array::{Array, ArrayRef, Int32Array, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use bench_tables::Table;
use bench_tables::arrow::data_type;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use std::sync::Arc;

const BATCH_ROWS: usize = 1024;

/// A table as it was found.
pub(super) enum Found {
    /// There is none.
    Absent,
    /// Its log cannot be read.
    Broken(String),
    /// It can be read.
    Open(Box<OpenTable>),
}

/// A table that can be read.
pub(super) struct OpenTable {
    pub(super) table: Table,
    pub(super) store: TableStore,
    pub(super) snapshot: Snapshot,
    columns: Vec<(&'static str, DataType)>,
}

impl Found {
    /// Opens a table of a lake.
    pub(super) fn open(lake: &Lake, table: Table) -> Self {
        let store = match lake.table(table.name()) {
            Ok(Some(store)) => store,
            Ok(None) => return Self::Absent,
            Err(reason) => return Self::Broken(reason),
        };
        match store.log_files() {
            Ok(files) if files.is_empty() => return Self::Absent,
            Ok(_) => {}
            Err(reason) => return Self::Broken(reason),
        }
        match store.snapshot() {
            Ok(mut snapshot) => {
                snapshot.files.sort_by(|a, b| a.path.cmp(&b.path));
                let columns = table.columns().into_iter();
                Self::Open(Box::new(OpenTable {
                    table,
                    store,
                    snapshot,
                    columns: columns.map(|c| (c.name, data_type(c.ty))).collect(),
                }))
            }
            Err(reason) => Self::Broken(reason),
        }
    }
}

/// What a live file is, beside what the log says of it.
#[derive(Debug, Default)]
pub(super) struct FileReport {
    /// Its size; `None` where it is missing.
    pub(super) size: Option<u64>,
    /// Rows by its footer.
    pub(super) footer_rows: Option<u64>,
    /// Rows that were read.
    pub(super) rows: u64,
    /// Why it could not be read to its end.
    pub(super) unreadable: Option<String>,
    /// Columns of which the statistics are wrong.
    pub(super) wrong_statistics: Vec<String>,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Number of the live file, in the order of their paths.
    pub(super) file: u32,
    /// Number of the row in it.
    pub(super) row: u32,
}

impl OpenTable {
    /// Reads every live file. `take` gets the batches of a file with the number of the first row,
    /// the partition column included, in the types of the platform's schema.
    pub(super) fn read<T: Default + Send>(
        &self,
        threads: usize,
        take: impl Fn(&mut T, At, &RecordBatch) + Sync,
    ) -> (Vec<FileReport>, Vec<T>) {
        let files = &self.snapshot.files;
        let done = parallel::map(
            threads,
            files,
            || (),
            |(), number, file| {
                let mut taken = T::default();
                let report = self.read_file(number, file, |at, batch| take(&mut taken, at, batch));
                (report, taken)
            },
        );
        done.into_iter().unzip()
    }

    /// Reads one live file.
    pub(super) fn read_file(
        &self,
        number: usize,
        file: &Live,
        mut take: impl FnMut(At, &RecordBatch),
    ) -> FileReport {
        let mut report = FileReport::default();
        if let Err(reason) = self.try_read_file(number, file, &mut report, &mut take) {
            report.unreadable = Some(reason);
        }
        report
    }

    fn try_read_file(
        &self,
        number: usize,
        file: &Live,
        report: &mut FileReport,
        take: &mut dyn FnMut(At, &RecordBatch),
    ) -> Result<(), String> {
        report.size = self.store.size_of(&file.path)?;
        if report.size.is_none() {
            return Err("it is missing".to_owned());
        }
        if file.has_deletion_vector {
            return Err("it has a deletion vector, which is not read here".to_owned());
        }
        // What Parquet and Arrow say themselves can quote a value.
        let opened = self.store.open(&file.path)?;
        let footer = |_| "its footer cannot be read".to_owned();
        let metadata =
            ArrowReaderMetadata::load(&opened, ArrowReaderOptions::new()).map_err(footer)?;
        let metadata = in_microseconds(metadata).map_err(footer)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(opened, metadata);
        let rows = builder.metadata().file_metadata().num_rows();
        report.footer_rows = u64::try_from(rows).ok();
        let reader = builder
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|_| "its columns cannot be read".to_owned())?;
        let mut bounds = Bounds::new(file.statistics.as_deref());
        for batch in reader {
            let batch = batch.map_err(|_| "its rows cannot be read".to_owned())?;
            let batch = self.conform(&batch, file)?;
            bounds.add(&batch);
            let at = At {
                file: number as u32,
                row: report.rows as u32,
            };
            take(at, &batch);
            report.rows += batch.num_rows() as u64;
        }
        report.wrong_statistics = bounds.wrong(&self.snapshot.partition_columns);
        Ok(())
    }

    /// The batch in the types of the platform's schema, with the partition column.
    fn conform(&self, batch: &RecordBatch, file: &Live) -> Result<RecordBatch, String> {
        let rows = batch.num_rows();
        let mut fields = Vec::with_capacity(batch.num_columns() + 1);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns() + 1);
        let mut put = |name: &str, column: ArrayRef| {
            fields.push(Field::new(name, column.data_type().clone(), true));
            columns.push(column);
        };
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let name = field.name();
            if self.snapshot.partition_columns.contains(name) {
                continue;
            }
            let Some(ty) = self.type_of(name) else {
                // The schema's own check tells of it.
                continue;
            };
            let column = if column.data_type() == &ty {
                Arc::clone(column)
            } else {
                // An overflow must not become NULL, as `cast` has it.
                let cast = cast(column, &ty).ok();
                cast.filter(|cast| cast.null_count() == column.null_count())
                    .ok_or_else(|| format!("column {name} is of another type"))?
            };
            put(name, column);
        }
        for name in &self.snapshot.partition_columns {
            let value = file.partition.get(name).and_then(Option::as_deref);
            let column: ArrayRef = match value {
                None => new_null_array(&DataType::Int32, rows),
                Some(year) => {
                    let year: i32 = year
                        .parse()
                        .map_err(|_| format!("its partition value of {name} is no number"))?;
                    Arc::new(Int32Array::from(vec![year; rows]))
                }
            };
            put(name, column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
            .map_err(|_| "its columns do not make rows".to_owned())
    }

    /// Type of a column by its name; `None` for one that the table does not have.
    fn type_of(&self, name: &str) -> Option<DataType> {
        let known = self.columns.iter().find(|(known, _)| *known == name);
        match known {
            Some((_, ty)) => Some(ty.clone()),
            None if self.table.has_identifier_columns() => Some(DataType::Utf8),
            None => None,
        }
    }

    /// Columns that are missing, of another type, or none of the platform's; empty if the schema
    /// is right.
    pub(super) fn wrong_columns(&self) -> Vec<String> {
        let fields = self.snapshot.schema["fields"].as_array();
        let mut missing: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let mut wrong = Vec::new();
        for field in fields.into_iter().flatten() {
            let name = field["name"].as_str().unwrap_or_default();
            missing.retain(|missing| *missing != name);
            let is_right = self
                .type_of(name)
                .is_some_and(|ty| is_type(&field["type"], &ty));
            if !is_right {
                wrong.push(name.to_owned());
            }
        }
        wrong.extend(missing.into_iter().map(str::to_owned));
        wrong
    }
}

/// Has times in Spark's twelve bytes read as microseconds. As nanoseconds, which is how Arrow has them
/// otherwise, a time before 1678 or after 2261 would silently become another one.
fn in_microseconds(metadata: ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ParquetError> {
    let fields = metadata.schema().fields().iter();
    let descriptor = metadata.parquet_schema();
    let mut is_changed = false;
    let fields: Vec<_> = fields
        .enumerate()
        .map(|(at, field)| {
            let column = descriptor.root_schema().get_fields().get(at);
            let is_wide = column.is_some_and(|column| {
                column.is_primitive() && column.get_physical_type() == PhysicalType::INT96
            });
            match field.data_type() {
                DataType::Timestamp(TimeUnit::Nanosecond, zone) if is_wide => {
                    is_changed = true;
                    let ty = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
                    Arc::new(field.as_ref().clone().with_data_type(ty))
                }
                _ => Arc::clone(field),
            }
        })
        .collect();
    if !is_changed {
        return Ok(metadata);
    }
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

/// Whether Delta's JSON for a type says this one.
fn is_type(json: &serde_json::Value, ty: &DataType) -> bool {
    match ty {
        DataType::Utf8 => json == "string",
        DataType::Int32 => json == "integer",
        DataType::Boolean => json == "boolean",
        DataType::Date32 => json == "date",
        DataType::Timestamp(..) => json == "timestamp",
        DataType::List(element) => {
            json["type"] == "array" && is_type(&json["elementType"], element.data_type())
        }
        DataType::Struct(members) => {
            let fields = json["fields"].as_array();
            let fields = fields.map(Vec::as_slice).unwrap_or_default();
            json["type"] == "struct"
                && fields.len() == members.len()
                && fields.iter().zip(members).all(|(field, member)| {
                    field["name"] == member.name().as_str()
                        && is_type(&field["type"], member.data_type())
                })
        }
        _ => false,
    }
}
