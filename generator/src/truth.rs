//! The truth file: one row a message, as Parquet.
//!
//! Rows stand in the order of the logs and of the messages within them. Row groups are cut by the
//! plan of the logs alone, so that the file does not depend on threads.

use crate::error::Error;
use crate::maker::{MessageTruth, diagnosis_count};
use crate::message::curate::{accession, mapping_ids};
use arrow::array::{
    ArrayRef, BooleanBuilder, FixedSizeBinaryBuilder, Int32Builder, Int64Builder, ListBuilder,
    StringBuilder, StringDictionaryBuilder, TimestampMicrosecondBuilder,
};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef, TimeUnit};
use bench_tables::{ReportColumn, RowHash, Value};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the truth file in a data set.
pub const TRUTH_FILE: &str = "truth.parquet";

/// The columns of the truth file.
#[must_use]
pub fn schema() -> SchemaRef {
    let text = || DataType::Utf8;
    let words = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let list = || DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)));
    let field = |name: &str, kind| Field::new(name, kind, true);
    Arc::new(Schema::new(vec![
        field("file", words()),
        field("ordinal", DataType::Int32),
        field("source_file", text()),
        field("slot", DataType::Int64),
        field("control_id", text()),
        field("version", words()),
        field("accession", text()),
        field(
            "message_dt",
            DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ),
        field("year", DataType::Int32),
        field("outcome", words()),
        field("fault", words()),
        field("identifiers", list()),
        field("mpi", text()),
        field("epic_mrn", text()),
        field("component", DataType::Int64),
        field("consistent", DataType::Boolean),
        field("diagnoses", DataType::Int32),
        field("report_hash", DataType::FixedSizeBinary(16)),
        field("curated_hash", DataType::FixedSizeBinary(16)),
    ]))
}

type Words = StringDictionaryBuilder<Int32Type>;

/// Collects the rows of some logs.
pub(crate) struct TruthRows {
    file: Words,
    ordinal: Int32Builder,
    source_file: StringBuilder,
    slot: Int64Builder,
    control_id: StringBuilder,
    version: Words,
    accession: StringBuilder,
    message_dt: TimestampMicrosecondBuilder,
    year: Int32Builder,
    outcome: Words,
    fault: Words,
    identifiers: ListBuilder<StringBuilder>,
    mpi: StringBuilder,
    epic_mrn: StringBuilder,
    component: Int64Builder,
    consistent: BooleanBuilder,
    diagnoses: Int32Builder,
    report_hash: FixedSizeBinaryBuilder,
    curated_hash: FixedSizeBinaryBuilder,
}

impl TruthRows {
    pub(crate) fn new() -> Self {
        Self {
            file: Words::new(),
            ordinal: Int32Builder::new(),
            source_file: StringBuilder::new(),
            slot: Int64Builder::new(),
            control_id: StringBuilder::new(),
            version: Words::new(),
            accession: StringBuilder::new(),
            message_dt: TimestampMicrosecondBuilder::new().with_timezone("UTC"),
            year: Int32Builder::new(),
            outcome: Words::new(),
            fault: Words::new(),
            identifiers: ListBuilder::new(StringBuilder::new()),
            mpi: StringBuilder::new(),
            epic_mrn: StringBuilder::new(),
            component: Int64Builder::new(),
            consistent: BooleanBuilder::new(),
            diagnoses: Int32Builder::new(),
            report_hash: FixedSizeBinaryBuilder::new(16),
            curated_hash: FixedSizeBinaryBuilder::new(16),
        }
    }

    pub(crate) fn push(&mut self, file: &str, truth: &MessageTruth<'_>) {
        self.file.append_value(file);
        self.ordinal
            .append_option(truth.ordinal.map(|ordinal| ordinal as i32));
        self.source_file.append_option(truth.source_file);
        self.slot.append_value(truth.slot as i64);
        self.control_id.append_value(truth.control_id);
        self.outcome.append_value(truth.outcome.name());
        self.fault.append_option(truth.fault);
        let row = truth.row;
        let text = |column| row.and_then(|row| row.get(column).as_str());
        self.version.append_option(text(ReportColumn::VersionId));
        self.accession.append_option(row.and_then(accession));
        let time = row.map_or(Value::Null, |row| row.get(ReportColumn::MessageDt));
        self.message_dt.append_option(time.as_timestamp());
        self.year
            .append_option(row.and_then(|row| match row.get(ReportColumn::Year) {
                Value::Int(year) => Some(year),
                _ => None,
            }));
        match row {
            Some(row) => {
                for (name, id) in row.identifiers {
                    let values = self.identifiers.values();
                    // Writing in parts spares building the text first.
                    let pair = [*name, "=", *id].concat();
                    values.append_value(pair);
                }
                self.identifiers.append(true);
            }
            None => self.identifiers.append(false),
        }
        let (mpi, epic) = row.map_or((None, None), mapping_ids);
        self.mpi.append_option(mpi);
        self.epic_mrn.append_option(epic);
        self.component
            .append_option(truth.component.map(|component| component.label as i64));
        self.consistent
            .append_option(truth.component.map(|component| component.consistent));
        self.diagnoses
            .append_option(row.map(|row| diagnosis_count(row) as i32));
        append_hash(&mut self.report_hash, truth.report_hash);
        append_hash(&mut self.curated_hash, truth.curated_hash);
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.file.finish()),
            Arc::new(self.ordinal.finish()),
            Arc::new(self.source_file.finish()),
            Arc::new(self.slot.finish()),
            Arc::new(self.control_id.finish()),
            Arc::new(self.version.finish()),
            Arc::new(self.accession.finish()),
            Arc::new(self.message_dt.finish()),
            Arc::new(self.year.finish()),
            Arc::new(self.outcome.finish()),
            Arc::new(self.fault.finish()),
            Arc::new(self.identifiers.finish()),
            Arc::new(self.mpi.finish()),
            Arc::new(self.epic_mrn.finish()),
            Arc::new(self.component.finish()),
            Arc::new(self.consistent.finish()),
            Arc::new(self.diagnoses.finish()),
            Arc::new(self.report_hash.finish()),
            Arc::new(self.curated_hash.finish()),
        ]
    }
}

fn append_hash(builder: &mut FixedSizeBinaryBuilder, hash: Option<RowHash>) {
    match hash {
        Some(hash) => builder
            .append_value(hash.to_bytes())
            .expect("a hash has 16 bytes"),
        None => builder.append_null(),
    }
}

/// Encodes rows into column chunks, on any thread.
pub(crate) struct TruthEncoder {
    schema: SchemaRef,
    factory: ArrowRowGroupWriterFactory,
    path: PathBuf,
}

/// Encoded rows of some logs: one row group.
pub(crate) type EncodedRows = Vec<ArrowColumnChunk>;

impl TruthEncoder {
    /// Encodes collected rows as row group number `group`.
    pub(crate) fn encode(&self, group: usize, rows: TruthRows) -> Result<EncodedRows, Error> {
        let encode = || -> Result<EncodedRows, ParquetError> {
            let mut writers = self.factory.create_column_writers(group)?.into_iter();
            let mut chunks = Vec::with_capacity(writers.len());
            for (field, column) in self.schema.fields().iter().zip(rows.finish()) {
                for leaf in compute_leaves(field, &column)? {
                    let mut writer = writers.next().expect("one writer a leaf");
                    writer.write(&leaf)?;
                    chunks.push(writer.close()?);
                }
            }
            Ok(chunks)
        };
        encode().map_err(|source| self.error("encode", source))
    }

    fn error(&self, action: &'static str, source: ParquetError) -> Error {
        Error::Truth {
            action,
            path: self.path.clone(),
            source,
        }
    }
}

/// Writes the truth file; row groups come in order.
pub(crate) struct TruthWriter {
    writer: SerializedFileWriter<File>,
    path: PathBuf,
}

impl TruthWriter {
    pub(crate) fn create(path: &Path) -> Result<(Self, TruthEncoder), Error> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        let schema = schema();
        let make = || {
            let parquet = ArrowSchemaConverter::new().convert(&schema)?;
            let properties = Arc::new(properties());
            SerializedFileWriter::new(file, parquet.root_schema_ptr(), properties)
        };
        let writer = make().map_err(|source| Error::Truth {
            action: "begin",
            path: path.to_path_buf(),
            source,
        })?;
        let encoder = TruthEncoder {
            factory: ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&schema)),
            schema,
            path: path.to_path_buf(),
        };
        let path = path.to_path_buf();
        Ok((Self { writer, path }, encoder))
    }

    pub(crate) fn append(&mut self, rows: EncodedRows) -> Result<(), Error> {
        let append = || -> Result<(), ParquetError> {
            let mut group = self.writer.next_row_group()?;
            for chunk in rows {
                chunk.append_to_row_group(&mut group)?;
            }
            group.close()?;
            Ok(())
        };
        append().map_err(|source| self.error(source))
    }

    pub(crate) fn finish(mut self) -> Result<(), Error> {
        match self.writer.finish() {
            Ok(_) => Ok(()),
            Err(source) => Err(self.error(source)),
        }
    }

    fn error(&self, source: ParquetError) -> Error {
        Error::Truth {
            action: "write",
            path: self.path.clone(),
            source,
        }
    }
}

/// Columns of distinct values gain nothing from a dictionary, and most of the file is numbers that
/// no compression makes smaller: digits of UUIDs and hashes.
fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::UNCOMPRESSED)
        .set_created_by("hl7-ingest-bench".to_owned())
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::Chunk);
    for column in [
        "source_file",
        "slot",
        "control_id",
        "accession",
        "mpi",
        "epic_mrn",
        "component",
        "report_hash",
        "curated_hash",
    ] {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
    }
    properties.build()
}
