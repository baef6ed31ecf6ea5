//! Rows into one Parquet file, its columns encoded on several threads.
//!
//! A file is written in row groups, so that a compaction holds one row group and not the file.

use super::commit;
use super::stats::Collector;
use super::store::Sink;
use super::table::Table;
use crate::error::{Error, Result};
use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use bench_tables::Table as Name;
use deltalake::kernel::Add;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const ROW_GROUP_ROWS: usize = 128 * 1024;
/// The mapping is read whole by every workflow, and its rows are short: smaller row groups let
/// several threads share a file.
const MAPPING_ROW_GROUP_ROWS: usize = 16 * 1024;
const ROW_GROUP_BYTES: usize = 256 * 1024 * 1024;

/// Columns whose values hardly ever repeat within a file: a dictionary would be as long as they.
const UNIQUE: &[&str] = &[
    "source_file",
    "primary_report_identifier",
    "message_control_id",
    "study_instance_uid",
    "orc_2_placer_order_number",
    "obr_2_placer_order_number",
    "orc_3_filler_order_number",
    "obr_3_filler_order_number",
    "placer_order_number",
    "accession_number",
    "primary_study_identifier",
    "primary_patient_identifier",
    "patient_mpi",
    "patient_name",
    "message_dt",
    "requested_dt",
    "observation_dt",
    "observation_end_dt",
    "results_report_status_change_dt",
    "report_text",
    "report_section_addendum",
    "report_section_findings",
    "report_section_impression",
    "report_section_technician_note",
    "content_hash",
    "diagnosis_id",
    "scout_patient_id",
    "previous_scout_patient_id",
];

/// One data file while it is written.
pub(crate) struct FileWriter<'a> {
    table: &'a Table,
    path: String,
    partition: HashMap<String, Option<String>>,
    schema: SchemaRef,
    writer: SerializedFileWriter<Sink>,
    factory: ArrowRowGroupWriterFactory,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    pending_bytes: usize,
    stats: Collector,
    threads: usize,
}

impl<'a> FileWriter<'a> {
    /// A new file for rows of the given schema (the partition column may be among them), in the
    /// table partition of the given value.
    pub(crate) fn new(
        table: &'a Table,
        schema: &SchemaRef,
        partition: Option<i32>,
        part: usize,
        threads: usize,
    ) -> Result<Self> {
        let name = table.name();
        let partition_column = table.table.partition_columns().first().copied();
        let fields: Vec<FieldRef> = schema
            .fields()
            .iter()
            .filter(|field| partition_column != Some(field.name().as_str()))
            .cloned()
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let id = uuid::Uuid::new_v4();
        let file = format!("part-{part:05}-{id}.c000.snappy.parquet");
        let (path, partition) = match partition_column {
            None => (file, HashMap::new()),
            Some(column) => {
                let value = partition.map(|value| value.to_string());
                let folder = value.as_deref().unwrap_or("__HIVE_DEFAULT_PARTITION__");
                (
                    format!("{column}={folder}/{file}"),
                    HashMap::from([(column.to_owned(), value)]),
                )
            }
        };
        let sink = table.store.create(&path)?;
        let parquet = ArrowSchemaConverter::new()
            .convert(&schema)
            .map_err(Error::parquet(name, "making a schema"))?;
        let writer = SerializedFileWriter::new(sink, parquet.root_schema_ptr(), properties())
            .map_err(|source| Error::storage(name, "writing", &path, source))?;
        let factory = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&schema));
        let stats = Collector::new(Arc::clone(&schema), table.key_column());
        Ok(Self {
            table,
            path,
            partition,
            schema,
            writer,
            factory,
            pending: Vec::new(),
            pending_rows: 0,
            pending_bytes: 0,
            stats,
            threads,
        })
    }

    /// Takes rows; columns that the file does not hold are left out.
    pub(crate) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns: Vec<usize> = self
            .schema
            .fields()
            .iter()
            .map(|field| batch.schema_ref().index_of(field.name()))
            .collect::<std::result::Result<_, _>>()
            .map_err(Error::columns(self.table.name(), "writing rows"))?;
        let batch = batch
            .project(&columns)
            .map_err(Error::columns(self.table.name(), "writing rows"))?;
        self.stats.add(&batch);
        self.pending_rows += batch.num_rows();
        self.pending_bytes += batch_bytes(&batch);
        self.pending.push(batch);
        let most = match self.table.table {
            Name::Mapping => MAPPING_ROW_GROUP_ROWS,
            _ => ROW_GROUP_ROWS,
        };
        if self.pending_rows >= most || self.pending_bytes >= ROW_GROUP_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let batches = std::mem::take(&mut self.pending);
        (self.pending_rows, self.pending_bytes) = (0, 0);
        let name = self.table.name();
        let group = self.writer.flushed_row_groups().len();
        let writers = self
            .factory
            .create_column_writers(group)
            .map_err(Error::parquet(name, "encoding rows"))?;
        let chunks = encode(&self.schema, &batches, writers, self.threads)
            .map_err(Error::parquet(name, "encoding rows"))?;
        let wrong = |source| Error::storage(name, "writing", &self.path, source);
        let mut row_group = self.writer.next_row_group().map_err(wrong)?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut row_group).map_err(wrong)?;
        }
        row_group.close().map_err(wrong)?;
        Ok(())
    }

    /// Completes the file; its add action.
    pub(crate) fn finish(mut self) -> Result<Add> {
        if !self.pending.is_empty() {
            self.flush()?;
        }
        let wrong = |source| Error::storage(self.table.name(), "writing", &self.path, source);
        self.writer.finish().map_err(wrong)?;
        // Not `into_inner`, which forgets what the system said of a failure.
        let sink = std::mem::replace(self.writer.inner_mut(), Sink::Complete);
        let size = sink.bytes().map_err(|error| wrong(error.into()))?;
        self.table.store.finish(&self.path, sink)?;
        crate::kill::point("file written");
        Ok(commit::add(
            self.path,
            self.partition,
            size,
            self.stats.finish(),
        ))
    }
}

/// Bytes of a batch's values in memory.
pub(crate) fn batch_bytes(batch: &RecordBatch) -> usize {
    batch
        .columns()
        .iter()
        .map(|column| column.to_data().get_slice_memory_size().unwrap_or_default())
        .sum()
}

fn properties() -> Arc<WriterProperties> {
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for &column in UNIQUE {
        let path = ColumnPath::from(column);
        builder = builder.set_column_dictionary_enabled(path.clone(), false);
        if column.starts_with("report_") {
            builder = builder.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    Arc::new(builder.build())
}

/// A column of the table, the writers of its leaves, and where their chunks belong.
struct Task {
    field: usize,
    first: usize,
    writers: Vec<ArrowColumnWriter>,
    weight: usize,
}

fn encode(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    writers: Vec<ArrowColumnWriter>,
    threads: usize,
) -> parquet::errors::Result<Vec<ArrowColumnChunk>> {
    let mut writers = writers.into_iter();
    let mut first = 0;
    let mut tasks: Vec<Task> = schema
        .fields()
        .iter()
        .enumerate()
        .map(|(field, of)| {
            let count = leaves(of.data_type());
            let weight = batches
                .iter()
                .map(|batch| {
                    batch
                        .column(field)
                        .to_data()
                        .get_slice_memory_size()
                        .unwrap_or_default()
                })
                .sum();
            let task = Task {
                field,
                first,
                writers: writers.by_ref().take(count).collect(),
                weight,
            };
            first += count;
            task
        })
        .collect();
    // The heaviest last, since threads take from the end: the long texts are begun first.
    tasks.sort_by_key(|task| task.weight);
    let total = first;
    let tasks = Mutex::new(tasks);
    let done = Mutex::new(Vec::with_capacity(total));
    let work = || {
        loop {
            let task = tasks
                .lock()
                .expect("no thread panics while it holds this")
                .pop();
            let Some(task) = task else { break };
            let (at, result) = (task.first, run(schema, batches, task));
            done.lock()
                .expect("no thread panics while it holds this")
                .push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done
        .into_inner()
        .expect("no thread panics while it holds this");
    done.sort_unstable_by_key(|(at, _)| *at);
    let mut chunks = Vec::with_capacity(total);
    for (_, result) in done {
        chunks.extend(result?);
    }
    Ok(chunks)
}

fn run(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    mut task: Task,
) -> parquet::errors::Result<Vec<ArrowColumnChunk>> {
    let field = &schema.fields()[task.field];
    for batch in batches {
        let leaves = compute_leaves(field, batch.column(task.field))?;
        for (writer, leaf) in task.writers.iter_mut().zip(leaves) {
            writer.write(&leaf)?;
        }
    }
    task.writers
        .into_iter()
        .map(ArrowColumnWriter::close)
        .collect()
}

fn leaves(ty: &arrow::datatypes::DataType) -> usize {
    use arrow::datatypes::DataType;
    match ty {
        DataType::List(element) => leaves(element.data_type()),
        DataType::Struct(fields) => fields.iter().map(|field| leaves(field.data_type())).sum(),
        _ => 1,
    }
}
