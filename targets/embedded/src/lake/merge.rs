//! A merge, planned on keys first.
//!
//! 1. The keys of the source rule files out: by the table's partition values, then by the range of
//!    keys in each file.
//! 2. Of the files left, only the key columns (and what the decision needs) are read, and every
//!    row that a source row meets is decided upon.
//! 3. Only files with such rows are read whole and written again, together with the rows that are
//!    new.
//!
//! Memory holds the source, the decisions and the touched files, never the table. A source holds a
//! key once. A NULL in a key matches nothing.

use super::log::LiveFile;
use super::parallel;
use super::read::{self, Piece};
use super::table::Table;
use crate::error::{Error, Result};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, UInt64Array, new_null_array,
};
use arrow::compute::{filter_record_batch, interleave, take, take_record_batch};
use arrow::datatypes::{Int32Type, SchemaRef};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What becomes of a row that a source row meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matched {
    /// The stored row gets the source row's values.
    Update,
    /// The stored row goes.
    Delete,
    /// The stored row stays; its file is written again all the same, as the reference does.
    Keep,
    /// The source row says nothing new and is dropped before the merge.
    Unchanged,
}

/// A row of a batch.
pub(crate) struct Row<'a> {
    pub(crate) batch: &'a RecordBatch,
    pub(crate) row: usize,
}

impl Row<'_> {
    /// The text of a column; `None` where it is NULL or the column is missing.
    pub(crate) fn text(&self, column: &str) -> Option<&str> {
        let column = self.batch.column_by_name(column)?.as_string::<i32>();
        column.is_valid(self.row).then(|| column.value(self.row))
    }

    /// The microseconds of a time column.
    pub(crate) fn timestamp(&self, column: &str) -> Option<i64> {
        use arrow::datatypes::TimestampMicrosecondType;
        let column = self
            .batch
            .column_by_name(column)?
            .as_primitive::<TimestampMicrosecondType>();
        column.is_valid(self.row).then(|| column.value(self.row))
    }
}

type Decide<'a> = dyn Fn(Row<'_>, Row<'_>) -> Matched + Sync + 'a;

/// A merge of a source into a table.
pub(crate) struct Merge<'a> {
    /// The source's rows; columns by name, in any order.
    pub(crate) source: &'a [RecordBatch],
    /// The column whose text identifies a row.
    pub(crate) key: &'static str,
    /// A column of integers that belongs to the key, too.
    pub(crate) second_key: Option<&'static str>,
    /// Columns of the stored row that the decision needs.
    pub(crate) decide_on: &'a [&'a str],
    /// Decides on a stored row (first) and the source row that meets it.
    pub(crate) decide: &'a Decide<'a>,
    /// Whether source rows that meet nothing are inserted.
    pub(crate) insert: bool,
}

/// Rows by what becomes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) source: u64,
    pub(crate) inserted: u64,
    pub(crate) updated: u64,
    pub(crate) deleted: u64,
    pub(crate) kept: u64,
    pub(crate) unchanged: u64,
    /// Rows of touched files that are written again as they are.
    pub(crate) copied: u64,
}

/// What a merge would do to the table's files.
pub(crate) struct Plan {
    /// The table's schema afterwards.
    pub(crate) schema: SchemaRef,
    /// Metadata that says so, where columns come.
    pub(crate) metadata: Option<serde_json::Value>,
    /// Files that are replaced.
    pub(crate) touched: Vec<LiveFile>,
    /// Rows to write.
    pub(crate) output: Vec<RecordBatch>,
    /// The updated and the inserted rows among them.
    pub(crate) changed: Vec<RecordBatch>,
    pub(crate) counts: Counts,
}

impl Plan {
    /// Whether there is nothing to commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.output.is_empty()
    }
}

/// Batch and row of a source row.
type At = (usize, usize);
/// Row of a piece, the source row that meets it, and what becomes of it.
type Hit = (usize, At, Matched);

struct Source<'a> {
    rows: HashMap<(&'a str, Option<i32>), At>,
    sorted: Vec<&'a str>,
    years: HashSet<i32>,
}

impl<'a> Merge<'a> {
    /// Plans the merge on the table's current version.
    pub(crate) fn plan(&self, table: &Table, threads: usize) -> Result<Plan> {
        let name = table.name();
        let source = self.index(name)?;
        let candidates: Vec<&LiveFile> = table
            .files()
            .filter(|file| in_partitions(table, file, &source.years, self.second_key))
            .filter(|file| file.key.may_hold(&source.sorted))
            .collect();
        let pieces = read::pieces(table, &candidates)?;
        let hits = parallel::map(threads, &pieces, |piece| self.hits(table, piece, &source))?;
        let mut counts = Counts::default();
        let mut met: HashSet<At> = HashSet::new();
        for &(_, at, matched) in hits.iter().flatten() {
            met.insert(at);
            match matched {
                Matched::Update => counts.updated += 1,
                Matched::Delete => counts.deleted += 1,
                Matched::Keep => counts.kept += 1,
                Matched::Unchanged => counts.unchanged += 1,
            }
        }
        let incoming = self.source.first().map(RecordBatch::schema);
        let evolved = match &incoming {
            Some(_) if self.insert => self.evolved(table)?,
            _ => None,
        };
        let (schema, metadata) = match evolved {
            Some((schema, metadata)) => (schema, Some(metadata)),
            None => (Arc::clone(table.schema()), None),
        };
        let of_pieces = || pieces.iter().zip(&hits);
        let touched: BTreeMap<&str, &LiveFile> = of_pieces()
            .filter(|(_, hits)| hits.iter().any(|hit| hit.2 != Matched::Unchanged))
            .map(|(piece, _)| (piece.file.path.as_str(), piece.file))
            .collect();
        let to_rewrite: Vec<(&Piece<'_>, &Vec<Hit>)> = of_pieces()
            .filter(|(piece, _)| touched.contains_key(piece.file.path.as_str()))
            .collect();
        let rewritten = parallel::map(threads, &to_rewrite, |(piece, hits)| {
            self.rewrite(table, piece, hits, &schema)
        })?;
        let mut plan = Plan {
            schema: Arc::clone(&schema),
            metadata,
            touched: touched.into_values().cloned().collect(),
            output: Vec::new(),
            changed: Vec::new(),
            counts,
        };
        plan.counts.source = self
            .source
            .iter()
            .map(|batch| batch.num_rows() as u64)
            .sum();
        for (kept, updated) in rewritten {
            plan.counts.copied += kept
                .iter()
                .map(|batch| batch.num_rows() as u64)
                .sum::<u64>();
            plan.output.extend(kept);
            plan.output.extend(updated.iter().cloned());
            plan.changed.extend(updated);
        }
        if self.insert {
            for (number, batch) in self.source.iter().enumerate() {
                let new: Vec<u64> = (0..batch.num_rows())
                    .filter(|row| !met.contains(&(number, *row)))
                    .map(|row| row as u64)
                    .collect();
                if new.is_empty() {
                    continue;
                }
                plan.counts.inserted += new.len() as u64;
                let rows = if new.len() == batch.num_rows() {
                    batch.clone()
                } else {
                    take_record_batch(batch, &UInt64Array::from(new))
                        .map_err(Error::columns(name, "choosing new rows"))?
                };
                let rows = read::widen(name, &rows, &schema)?;
                plan.output.push(rows.clone());
                plan.changed.push(rows);
            }
        }
        plan.output.retain(|batch| batch.num_rows() > 0);
        Ok(plan)
    }

    fn evolved(&self, table: &Table) -> Result<Option<(SchemaRef, serde_json::Value)>> {
        let mut all: Vec<arrow::datatypes::FieldRef> = Vec::new();
        let mut seen = HashSet::new();
        for batch in self.source {
            for field in batch.schema_ref().fields() {
                if seen.insert(field.name().clone()) {
                    all.push(Arc::clone(field));
                }
            }
        }
        all.sort_by(|a, b| a.name().cmp(b.name()));
        table.evolved(&arrow::datatypes::Schema::new(all))
    }

    fn index(&self, table: &'static str) -> Result<Source<'a>> {
        let mut source = Source {
            rows: HashMap::new(),
            sorted: Vec::new(),
            years: HashSet::new(),
        };
        for (number, batch) in self.source.iter().enumerate() {
            let keys = string_column(table, batch, self.key)?;
            let years = match self.second_key {
                None => None,
                Some(column) => Some(
                    batch
                        .column_by_name(column)
                        .ok_or_else(|| missing(table, column))?
                        .as_primitive::<Int32Type>(),
                ),
            };
            for row in 0..batch.num_rows() {
                if keys.is_null(row) || years.is_some_and(|years| years.is_null(row)) {
                    continue;
                }
                let key = keys.value(row);
                let year = years.map(|years| years.value(row));
                if source.rows.insert((key, year), (number, row)).is_some() {
                    return Err(Error::DuplicateSource {
                        source_file: key.to_owned(),
                    });
                }
                source.sorted.push(key);
                source.years.extend(year);
            }
        }
        source.sorted.sort_unstable();
        Ok(source)
    }

    /// The rows of a piece that a source row meets.
    fn hits(&self, table: &Table, piece: &Piece<'_>, source: &Source<'_>) -> Result<Vec<Hit>> {
        let mut columns = self.decide_on.to_vec();
        columns.push(self.key);
        columns.extend(self.second_key);
        let mut hits = Vec::new();
        let mut offset = 0;
        for batch in read::piece_rows(table, piece, Some(&columns))? {
            let batch = batch?;
            let keys = string_column(table.name(), &batch, self.key)?;
            let years = self
                .second_key
                .and_then(|column| batch.column_by_name(column));
            let years = years.map(|column| column.as_primitive::<Int32Type>());
            for row in 0..batch.num_rows() {
                if keys.is_null(row) || years.is_some_and(|years| years.is_null(row)) {
                    continue;
                }
                let key = (keys.value(row), years.map(|years| years.value(row)));
                if let Some(&(number, at)) = source.rows.get(&key) {
                    let stored = Row { batch: &batch, row };
                    let incoming = Row {
                        batch: &self.source[number],
                        row: at,
                    };
                    hits.push((offset + row, (number, at), (self.decide)(stored, incoming)));
                }
            }
            offset += batch.num_rows();
        }
        Ok(hits)
    }

    /// The rows of a piece of a touched file after the merge: those that stay, and those that are updated.
    fn rewrite(
        &self,
        table: &Table,
        piece: &Piece<'_>,
        hits: &[Hit],
        schema: &SchemaRef,
    ) -> Result<(Vec<RecordBatch>, Vec<RecordBatch>)> {
        let name = table.name();
        let changed: Vec<&Hit> = hits
            .iter()
            .filter(|hit| matches!(hit.2, Matched::Update | Matched::Delete))
            .collect();
        let mut changed = changed.into_iter().peekable();
        let (mut kept, mut updated) = (Vec::new(), Vec::new());
        let mut offset = 0;
        for batch in read::piece_rows(table, piece, None)? {
            let batch = read::widen(name, &batch?, schema)?;
            let rows = batch.num_rows();
            let (mut stays, mut old, mut new) = (vec![true; rows], Vec::new(), Vec::new());
            while let Some((row, at, matched)) = changed.next_if(|hit| hit.0 < offset + rows) {
                stays[row - offset] = false;
                if *matched == Matched::Update {
                    old.push((row - offset) as u64);
                    new.push(*at);
                }
            }
            offset += rows;
            if !old.is_empty() {
                updated.push(self.updated(name, &batch, &old, &new)?);
            }
            if stays.contains(&false) {
                let stays = BooleanArray::from(stays);
                let rest = filter_record_batch(&batch, &stays)
                    .map_err(Error::columns(name, "choosing rows"))?;
                kept.extend((rest.num_rows() > 0).then_some(rest));
            } else {
                kept.push(batch);
            }
        }
        Ok((kept, updated))
    }

    /// Stored rows with the source's values; a column that the source does not have keeps its own.
    fn updated(
        &self,
        table: &'static str,
        stored: &RecordBatch,
        old: &[u64],
        new: &[At],
    ) -> Result<RecordBatch> {
        let old = UInt64Array::from(old.to_vec());
        let wrong = || Error::columns(table, "updating rows");
        let columns = stored
            .schema_ref()
            .fields()
            .iter()
            .zip(stored.columns())
            .map(|(field, column)| {
                let source: Vec<Option<&ArrayRef>> = self
                    .source
                    .iter()
                    .map(|batch| batch.column_by_name(field.name()))
                    .collect();
                if source.iter().all(Option::is_none) {
                    return take(column, &old, None).map_err(wrong());
                }
                let nulls = new_null_array(field.data_type(), 1);
                let arrays: Vec<&dyn Array> = source
                    .iter()
                    .map(|column| column.unwrap_or(&nulls).as_ref())
                    .collect();
                let indices: Vec<At> = new
                    .iter()
                    .map(|&(number, row)| (number, if source[number].is_some() { row } else { 0 }))
                    .collect();
                interleave(&arrays, &indices).map_err(wrong())
            })
            .collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(Arc::clone(stored.schema_ref()), columns).map_err(wrong())
    }
}

fn in_partitions(
    table: &Table,
    file: &LiveFile,
    years: &HashSet<i32>,
    second_key: Option<&'static str>,
) -> bool {
    let Some(&column) = table.table.partition_columns().first() else {
        return true;
    };
    if second_key != Some(column) {
        return true;
    }
    match file.partition.get(column).and_then(|value| value.as_ref()) {
        None => false,
        Some(value) => value.parse().map_or(true, |year| years.contains(&year)),
    }
}

fn string_column<'b>(
    table: &'static str,
    batch: &'b RecordBatch,
    column: &'static str,
) -> Result<&'b arrow::array::StringArray> {
    batch
        .column_by_name(column)
        .and_then(|column| column.as_string_opt::<i32>())
        .ok_or_else(|| missing(table, column))
}

fn missing(table: &'static str, column: &str) -> Error {
    let source = format!("column {column} is missing").into();
    Error::Columns {
        table,
        action: "merging",
        source,
    }
}
