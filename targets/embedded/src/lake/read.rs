//! Rows out of data files, in the columns of the table.
//!
//! A file may lack identifier columns that came later, never holds the partition column, and may
//! have been written by another engine; what comes out here always has the table's names and types.

use super::log::LiveFile;
use super::store::DataFile;
use super::table::Table;
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, AsArray, DictionaryArray, Int32Array, RecordBatch, new_null_array};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use std::sync::Arc;

/// Rows read at once.
const BATCH_ROWS: usize = 8192;
/// A file with more rows is read row group by row group.
const PIECE_ROWS: i64 = 16 * 1024;
/// Rows read at once where a row is two small numbers.
const DICTIONARY_ROWS: usize = 64 * 1024;

/// A reader over one file.
pub(crate) struct FileRows {
    table: &'static str,
    path: String,
    reader: parquet::arrow::arrow_reader::ParquetRecordBatchReader,
    schema: SchemaRef,
    partition: Option<i32>,
    partition_column: Option<&'static str>,
}

/// A file, or one row group of a large one, so that several threads can share a file.
pub(crate) struct Piece<'f> {
    pub(crate) file: &'f LiveFile,
    group: Option<usize>,
}

impl Piece<'_> {
    fn restrict(
        &self,
        builder: ParquetRecordBatchReaderBuilder<DataFile>,
    ) -> ParquetRecordBatchReaderBuilder<DataFile> {
        match self.group {
            Some(group) => builder.with_row_groups(vec![group]),
            None => builder,
        }
    }
}

/// The pieces of some files, in their order. The footer is looked at only where the statistics
/// tell of many rows.
pub(crate) fn pieces<'f>(table: &Table, files: &[&'f LiveFile]) -> Result<Vec<Piece<'f>>> {
    let mut pieces = Vec::with_capacity(files.len());
    for &file in files {
        if file.rows.is_none_or(|rows| rows <= PIECE_ROWS) {
            pieces.push(Piece { file, group: None });
            continue;
        }
        let data = table
            .store
            .open(&file.path, file.size)?
            .ok_or_else(|| gone(table, file))?;
        let metadata = ArrowReaderMetadata::load(&data, Default::default())
            .map_err(|source| Error::storage(table.name(), "reading", &file.path, source))?;
        let groups = 0..metadata.metadata().num_row_groups();
        pieces.extend(groups.map(|group| Piece {
            file,
            group: Some(group),
        }));
    }
    Ok(pieces)
}

/// The given columns of a piece, or all of the table's.
pub(crate) fn piece_rows(
    table: &Table,
    piece: &Piece<'_>,
    columns: Option<&[&str]>,
) -> Result<FileRows> {
    select(table, piece, columns, None)?.ok_or_else(|| gone(table, piece.file))
}

/// The given columns of a file, or all of the table's; `None` where the file does not exist.
pub(crate) fn try_rows(
    table: &Table,
    file: &LiveFile,
    columns: Option<&[&str]>,
) -> Result<Option<FileRows>> {
    let whole = Piece { file, group: None };
    select(table, &whole, columns, None)
}

/// The given columns of some rows of a piece, by their position in it, ascending.
pub(crate) fn chosen_rows(
    table: &Table,
    piece: &Piece<'_>,
    columns: &[&str],
    rows: &[usize],
) -> Result<FileRows> {
    let total = rows.last().map_or(0, |last| last + 1);
    let ranges = rows.iter().map(|&row| row..row + 1);
    let selection = RowSelection::from_consecutive_ranges(ranges, total);
    let selected = select(table, piece, Some(columns), Some(selection))?;
    selected.ok_or_else(|| gone(table, piece.file))
}

/// Two columns of text of every row of a piece, each as the dictionary that it is stored with:
/// who looks for few values among many rows compares every value once.
pub(crate) fn dictionaries(
    table: &Table,
    piece: &Piece<'_>,
    columns: [&str; 2],
) -> Result<impl Iterator<Item = Result<[DictionaryArray<Int32Type>; 2]>>> {
    let (name, file) = (table.name(), piece.file);
    let data = table
        .store
        .open(&file.path, file.size)?
        .ok_or_else(|| gone(table, file))?;
    let wrong = |source| Error::storage(name, "reading", &file.path, source);
    let plain = ArrowReaderMetadata::load(&data, Default::default()).map_err(wrong)?;
    let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields: Vec<FieldRef> = plain
        .schema()
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::Utf8 if columns.contains(&field.name().as_str()) => {
                Arc::new(field.as_ref().clone().with_data_type(kind.clone()))
            }
            _ => Arc::clone(field),
        })
        .collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    let metadata =
        ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options).map_err(wrong)?;
    let mask = ProjectionMask::columns(metadata.parquet_schema(), columns);
    let builder = ParquetRecordBatchReaderBuilder::<DataFile>::new_with_metadata(data, metadata)
        .with_projection(mask)
        .with_batch_size(DICTIONARY_ROWS);
    let reader = piece.restrict(builder).build().map_err(wrong)?;
    let path = &file.path;
    Ok(reader.map(move |batch| {
        let batch = batch.map_err(|source| Error::storage(name, "reading", path, source))?;
        let column = |column: &str| -> Result<DictionaryArray<Int32Type>> {
            let array = batch.column_by_name(column).ok_or_else(|| Error::Columns {
                table: name,
                action: "reading",
                source: format!("column {column} is missing").into(),
            })?;
            let array = cast(array, &kind).map_err(Error::columns(name, "reading"))?;
            Ok(array.as_dictionary::<Int32Type>().clone())
        };
        Ok([column(columns[0])?, column(columns[1])?])
    }))
}

fn gone(table: &Table, file: &LiveFile) -> Error {
    let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
    Error::storage(table.name(), "opening", &file.path, missing)
}

fn select(
    table: &Table,
    piece: &Piece<'_>,
    columns: Option<&[&str]>,
    selection: Option<RowSelection>,
) -> Result<Option<FileRows>> {
    let (name, file) = (table.name(), piece.file);
    let Some(data) = table.store.open(&file.path, file.size)? else {
        return Ok(None);
    };
    let schema = match columns {
        None => Arc::clone(table.schema()),
        Some(columns) => {
            let fields: Vec<FieldRef> = table
                .schema()
                .fields()
                .iter()
                .filter(|field| columns.contains(&field.name().as_str()))
                .cloned()
                .collect();
            Arc::new(Schema::new(fields))
        }
    };
    let wrong = |source| Error::storage(name, "reading", &file.path, source);
    let metadata = ArrowReaderMetadata::load(&data, Default::default()).map_err(wrong)?;
    let roots: Vec<usize> = metadata
        .schema()
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| schema.index_of(field.name()).is_ok())
        .map(|(at, _)| at)
        .collect();
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
    let mut builder =
        ParquetRecordBatchReaderBuilder::<DataFile>::new_with_metadata(data, metadata)
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS);
    builder = piece.restrict(builder);
    if let Some(selection) = selection {
        builder = builder.with_row_selection(selection);
    }
    let reader = builder.build().map_err(wrong)?;
    let partition_column = table.table.partition_columns().first().copied();
    let partition = partition_column
        .and_then(|column| file.partition.get(column).cloned().flatten())
        .and_then(|value| value.parse().ok());
    Ok(Some(FileRows {
        table: name,
        path: file.path.clone(),
        reader,
        schema,
        partition,
        partition_column,
    }))
}

/// The given columns of a live file, or all of the table's.
pub(crate) fn rows(table: &Table, file: &LiveFile, columns: Option<&[&str]>) -> Result<FileRows> {
    try_rows(table, file, columns)?.ok_or_else(|| gone(table, file))
}

impl Iterator for FileRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let wrong = |source| Error::storage(self.table, "reading", &self.path, source);
        let batch = self.reader.next()?.map_err(wrong);
        Some(batch.and_then(|batch| self.align(&batch)))
    }
}

impl FileRows {
    fn align(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let columns: Vec<ArrayRef> = self
            .schema
            .fields()
            .iter()
            .map(|field| {
                if self.partition_column == Some(field.name().as_str()) {
                    let year = Int32Array::from_iter(std::iter::repeat_n(self.partition, rows));
                    return Ok(Arc::new(year) as ArrayRef);
                }
                match batch.column_by_name(field.name()) {
                    None => Ok(new_null_array(field.data_type(), rows)),
                    Some(column) if column.data_type() == field.data_type() => {
                        Ok(Arc::clone(column))
                    }
                    Some(column) => self.converted(column, field),
                }
            })
            .collect::<Result<_>>()?;
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(Error::columns(self.table, "reading"))
    }

    /// A column in the table's type, where another engine stored the same values otherwise. A value
    /// that does not fit is an error and never NULL; the error does not quote it.
    fn converted(&self, column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
        let strict = CastOptions {
            safe: false,
            ..CastOptions::default()
        };
        cast_with_options(column, field.data_type(), &strict).map_err(|_| {
            let reason = format!(
                "column {} holds {}, which cannot be read as {}",
                field.name(),
                column.data_type(),
                field.data_type()
            );
            Error::storage(self.table, "reading", &self.path, reason)
        })
    }
}

/// The batch in the columns of a schema that has all of its columns: what it lacks is NULL.
pub(crate) fn widen(
    table: &'static str,
    batch: &RecordBatch,
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch.clone());
    }
    let columns = schema
        .fields()
        .iter()
        .map(|field| match batch.column_by_name(field.name()) {
            Some(column) => Arc::clone(column),
            None => new_null_array(field.data_type(), batch.num_rows()),
        })
        .collect();
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(Error::columns(table, "widening rows"))
}
