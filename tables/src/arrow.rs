//! Rows in Arrow: the schema of a table, a builder that takes rows of `reports`, and the canonical
//! hash of a row that stands in a record batch.
//!
//! The engine that writes the tables and the verification that reads them share this, so that both
//! mean the same by a column. Nothing here knows files.

use crate::encode::{RowEncoder, RowHash};
use crate::row::{ReportRow, StructList, Value};
use crate::schema::{ColumnType, ReportColumn, Table};
use arrow::array::{
    Array, ArrayBuilder, ArrayRef, AsArray, BooleanBufferBuilder, Date32Builder, Int32Builder,
    ListArray, RecordBatch, StringArray, StringBuilder, StructArray, TimestampMicrosecondBuilder,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields, Int32Type, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Arrow's type for a column.
#[must_use]
pub fn data_type(ty: ColumnType) -> DataType {
    match ty {
        ColumnType::String => DataType::Utf8,
        ColumnType::Integer => DataType::Int32,
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Date => DataType::Date32,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ColumnType::Strings => DataType::List(element(DataType::Utf8)),
        ColumnType::Structs(members) => {
            DataType::List(element(DataType::Struct(member_fields(members))))
        }
    }
}

fn element(ty: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", ty, true))
}

fn member_fields(members: &[&str]) -> Fields {
    members
        .iter()
        .map(|name| Field::new(*name, DataType::Utf8, true))
        .collect()
}

/// Schema of a table with the given identifier columns, which stand after `patient_ids`.
///
/// A table without identifier columns ignores them.
#[must_use]
pub fn schema<'a>(table: Table, identifiers: impl IntoIterator<Item = &'a str>) -> Schema {
    let mut fields: Vec<Field> = table
        .columns()
        .into_iter()
        .map(|column| Field::new(column.name, data_type(column.ty), true))
        .collect();
    if table.has_identifier_columns() {
        let at = fields
            .iter()
            .position(|field| field.name() == ReportColumn::PatientIds.name())
            .map_or(fields.len(), |at| at + 1);
        let identifiers = identifiers
            .into_iter()
            .map(|name| Field::new(name, DataType::Utf8, true));
        fields.splice(at..at, identifiers);
    }
    Schema::new(fields)
}

/// Builds record batches of `reports` out of rows, without the columns that a target adds.
///
/// Columns stand in the table's order; identifier columns follow `patient_ids`, sorted by name.
#[derive(Default)]
pub struct ReportBatchBuilder {
    columns: Vec<ColumnBuilder>,
    identifiers: BTreeMap<String, StringBuilder>,
    rows: usize,
}

impl ReportBatchBuilder {
    /// A builder without rows.
    #[must_use]
    pub fn new() -> Self {
        let columns = ReportColumn::COLUMNS
            .iter()
            .map(|column| ColumnBuilder::new(column.ty))
            .collect();
        Self {
            columns,
            identifiers: BTreeMap::new(),
            rows: 0,
        }
    }

    /// Rows taken since the last [`Self::finish`].
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Takes a row.
    ///
    /// # Panics
    /// If a value is not of its column's type.
    pub fn append(&mut self, row: &ReportRow<'_>) {
        for (builder, &value) in self.columns.iter_mut().zip(row.values()) {
            builder.append(value);
        }
        for &(name, id) in row.identifiers {
            if !self.identifiers.contains_key(name) {
                self.identifiers
                    .insert(name.to_owned(), StringBuilder::new());
            }
            let builder = self
                .identifiers
                .get_mut(name)
                .expect("it was inserted above");
            fill(builder, self.rows);
            builder.append_value(id);
        }
        self.rows += 1;
    }

    /// The rows taken so far as a batch; the builder is empty afterwards.
    ///
    /// # Errors
    /// If the columns do not make a batch, which would be a defect of this builder.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut identifiers = std::mem::take(&mut self.identifiers);
        let schema = schema_without_added(identifiers.keys().map(String::as_str));
        let mut arrays: Vec<ArrayRef> =
            self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let at = ReportColumn::PatientIds.index() + 1;
        let rows = std::mem::take(&mut self.rows);
        let ids = identifiers.values_mut().map(|builder| {
            fill(builder, rows);
            Arc::new(builder.finish()) as ArrayRef
        });
        arrays.splice(at..at, ids);
        RecordBatch::try_new(schema, arrays)
    }
}

fn fill(builder: &mut StringBuilder, rows: usize) {
    let missing = rows - builder.len();
    builder.append_nulls(missing);
}

fn schema_without_added<'a>(identifiers: impl IntoIterator<Item = &'a str>) -> SchemaRef {
    let fields: Vec<Arc<Field>> = schema(Table::Reports, identifiers)
        .fields()
        .iter()
        .filter(|field| !matches!(field.name().as_str(), "updated" | "content_hash"))
        .cloned()
        .collect();
    Arc::new(Schema::new(fields))
}

enum ColumnBuilder {
    String(StringBuilder),
    Integer(Int32Builder),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    Strings(ListParts),
    Structs(ListParts),
}

/// Offsets and validity of a list column, and its members as columns of strings.
struct ListParts {
    offsets: Vec<i32>,
    valid: BooleanBufferBuilder,
    members: Vec<StringBuilder>,
    element: Arc<Field>,
}

impl ListParts {
    fn new(members: usize, element: Arc<Field>) -> Self {
        Self {
            offsets: vec![0],
            valid: BooleanBufferBuilder::new(0),
            members: (0..members).map(|_| StringBuilder::new()).collect(),
            element,
        }
    }

    fn close_list(&mut self, valid: bool) {
        let len =
            i32::try_from(self.members[0].len()).expect("a batch has less than 2^31 elements");
        self.offsets.push(len);
        self.valid.append(valid);
    }

    fn finish(&mut self) -> ArrayRef {
        let mut members: Vec<ArrayRef> = self
            .members
            .iter_mut()
            .map(|member| Arc::new(member.finish()) as ArrayRef)
            .collect();
        let values = match self.element.data_type() {
            DataType::Struct(fields) => {
                Arc::new(StructArray::new(fields.clone(), members, None)) as ArrayRef
            }
            _ => members.remove(0),
        };
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let nulls = NullBuffer::new(self.valid.finish());
        Arc::new(ListArray::new(
            Arc::clone(&self.element),
            offsets,
            values,
            Some(nulls),
        ))
    }
}

impl ColumnBuilder {
    fn new(ty: ColumnType) -> Self {
        match ty {
            ColumnType::String => Self::String(StringBuilder::new()),
            ColumnType::Integer => Self::Integer(Int32Builder::new()),
            ColumnType::Boolean => unreachable!("reports has no boolean column"),
            ColumnType::Date => Self::Date(Date32Builder::new()),
            ColumnType::Timestamp => {
                Self::Timestamp(TimestampMicrosecondBuilder::new().with_timezone("UTC"))
            }
            ColumnType::Strings => Self::Strings(ListParts::new(1, element(DataType::Utf8))),
            ColumnType::Structs(members) => {
                let ty = DataType::Struct(member_fields(members));
                Self::Structs(ListParts::new(members.len(), element(ty)))
            }
        }
    }

    fn append(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::String(builder), Value::Str(text)) => builder.append_value(text),
            (Self::String(builder), Value::Null) => builder.append_null(),
            (Self::Integer(builder), Value::Int(int)) => builder.append_value(int),
            (Self::Integer(builder), Value::Null) => builder.append_null(),
            (Self::Date(builder), Value::Date(days)) => builder.append_value(days),
            (Self::Date(builder), Value::Null) => builder.append_null(),
            (Self::Timestamp(builder), Value::Timestamp(micros)) => builder.append_value(micros),
            (Self::Timestamp(builder), Value::Null) => builder.append_null(),
            (Self::Strings(parts), Value::Strings(strings)) => {
                for text in strings {
                    parts.members[0].append_value(text);
                }
                parts.close_list(true);
            }
            (Self::Structs(parts), Value::Structs(list)) => {
                for members in list.iter() {
                    for (builder, member) in parts.members.iter_mut().zip(members) {
                        builder.append_option(*member);
                    }
                }
                parts.close_list(true);
            }
            (Self::Strings(parts) | Self::Structs(parts), Value::Null) => parts.close_list(false),
            (_, value) => unreachable!("a row holds {value:?} in a column of another type"),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::String(builder) => Arc::new(builder.finish()),
            Self::Integer(builder) => Arc::new(builder.finish()),
            Self::Date(builder) => Arc::new(builder.finish()),
            Self::Timestamp(builder) => Arc::new(builder.finish()),
            Self::Strings(parts) | Self::Structs(parts) => parts.finish(),
        }
    }
}

/// The canonical hash of one row of a batch; see [`RowEncoder::columns`] for what it leaves out.
///
/// # Panics
/// If a column's type is none that a table of the lake has.
pub fn row_hash(encoder: &mut RowEncoder, batch: &RecordBatch, row: usize) -> RowHash {
    let schema = batch.schema_ref();
    let lists: Vec<Cells<'_>> = batch
        .columns()
        .iter()
        .map(|column| Cells::of(column.as_ref(), row))
        .collect();
    let mut columns: Vec<(&str, Value<'_>)> = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .zip(&lists)
        .map(|((field, column), cells)| (field.name().as_str(), value(column, row, cells)))
        .collect();
    encoder.columns(&mut columns)
}

/// Text of one row's list, gathered so that a [`Value`] can borrow it.
enum Cells<'a> {
    None,
    Strings(Vec<&'a str>),
    Structs(usize, Vec<Option<&'a str>>),
}

impl<'a> Cells<'a> {
    fn of(column: &'a dyn Array, row: usize) -> Self {
        let Some(list) = column.as_list_opt::<i32>() else {
            return Self::None;
        };
        if list.is_null(row) {
            return Self::None;
        }
        let from = usize::try_from(list.value_offsets()[row]).expect("offsets are not negative");
        let range = from..from + usize::try_from(list.value_length(row)).expect("nor are lengths");
        match list.values().as_struct_opt() {
            None => {
                let strings: &StringArray = list.values().as_string();
                Self::Strings(range.map(|at| strings.value(at)).collect())
            }
            Some(elements) => {
                let members: Vec<&StringArray> = elements
                    .columns()
                    .iter()
                    .map(|member| member.as_string())
                    .collect();
                let cells = range
                    .flat_map(|at| {
                        members.iter().map(move |member| {
                            let valid = elements.is_valid(at) && member.is_valid(at);
                            valid.then(|| member.value(at))
                        })
                    })
                    .collect();
                Self::Structs(members.len(), cells)
            }
        }
    }
}

fn value<'a>(column: &'a ArrayRef, row: usize, cells: &'a Cells<'_>) -> Value<'a> {
    if column.is_null(row) {
        return Value::Null;
    }
    match (column.data_type(), cells) {
        (_, Cells::Strings(strings)) => Value::Strings(strings),
        (_, Cells::Structs(width, cells)) => Value::Structs(StructList::new(*width, cells)),
        (DataType::Utf8, _) => Value::Str(column.as_string::<i32>().value(row)),
        (DataType::Int32, _) => Value::Int(column.as_primitive::<Int32Type>().value(row)),
        (DataType::Boolean, _) => Value::Bool(column.as_boolean().value(row)),
        (DataType::Date32, _) => Value::Date(
            column
                .as_primitive::<arrow::datatypes::Date32Type>()
                .value(row),
        ),
        (DataType::Timestamp(TimeUnit::Microsecond, _), _) => Value::Timestamp(
            column
                .as_primitive::<arrow::datatypes::TimestampMicrosecondType>()
                .value(row),
        ),
        (other, _) => unreachable!("no table of the lake has a column of type {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<'a>(source: &'a str, ids: &'a [(&'a str, &'a str)]) -> ReportRow<'a> {
        let mut row = ReportRow::new();
        row.set(ReportColumn::SourceFile, Value::Str(source));
        row.set(ReportColumn::Year, Value::Int(2023));
        row.set(ReportColumn::BirthDate, Value::Date(-1));
        row.set(ReportColumn::MessageDt, Value::Timestamp(1));
        row.set(ReportColumn::Technician, Value::Strings(&["A B", ""]));
        row.set(
            ReportColumn::AssistantResultInterpreter,
            Value::Strings(&[]),
        );
        row.set(
            ReportColumn::Diagnoses,
            Value::Structs(StructList::new(
                3,
                &[Some("I10"), None, Some(""), None, None, None],
            )),
        );
        row.identifiers = ids;
        row
    }

    #[test]
    fn a_row_has_the_same_hash_in_arrow() {
        let rows = [
            row("a_0.hl7", &[("abc_mr", "1")]),
            row("a_1.hl7", &[]),
            row("a_2.hl7", &[("abc_mr", "2"), ("zzz_mr", "")]),
            ReportRow::new(),
        ];
        let mut builder = ReportBatchBuilder::new();
        for row in &rows {
            builder.append(row);
        }
        let batch = builder.finish().expect("the columns fit");
        let mut encoder = RowEncoder::new();
        for (at, row) in rows.iter().enumerate() {
            let expected = encoder.report(row);
            assert_eq!(row_hash(&mut encoder, &batch, at), expected, "row {at}");
        }
    }

    #[test]
    fn a_builder_starts_anew_after_a_batch() {
        let mut builder = ReportBatchBuilder::new();
        builder.append(&row("a_0.hl7", &[("abc_mr", "1")]));
        builder.finish().expect("the columns fit");
        builder.append(&row("a_1.hl7", &[]));
        let batch = builder.finish().expect("the columns fit");
        assert_eq!(batch.num_rows(), 1);
        assert!(batch.column_by_name("abc_mr").is_none());
    }

    #[test]
    fn identifier_columns_stand_after_the_patient_ids() {
        let schema = schema(Table::Curated, ["abc_mr", "epic_mrn"]);
        let at = schema
            .index_of("patient_ids")
            .expect("curated has patient ids");
        assert_eq!(schema.field(at + 1).name(), "abc_mr");
        assert_eq!(schema.field(at + 2).name(), "epic_mrn");
        assert!(
            super::schema(Table::Mapping, ["abc_mr"])
                .index_of("abc_mr")
                .is_err()
        );
    }
}
