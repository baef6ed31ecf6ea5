//! Edits of a table behind its engine's back, as commits that any reader takes for good.

use crate::Result;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::compute::{concat_batches, take_record_batch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A table on a local disk.
pub(crate) struct Table {
    pub(crate) folder: PathBuf,
    pub(crate) version: u64,
    /// The add actions of the live files, by path.
    pub(crate) live: BTreeMap<String, Value>,
}

impl Table {
    /// Reads a table's log from its beginning.
    pub(crate) fn open(lake: &Path, name: &str) -> Result<Self> {
        let folder = lake.join(name);
        let (mut live, mut version) = (BTreeMap::new(), 0);
        while let Ok(text) = fs::read_to_string(entry(&folder, version)) {
            for line in text.lines() {
                let action: Value = serde_json::from_str(line)?;
                if let Some(path) = action["remove"]["path"].as_str() {
                    live.remove(path);
                }
                if let Some(path) = action["add"]["path"].as_str() {
                    live.insert(path.to_owned(), action["add"].clone());
                }
            }
            version += 1;
        }
        let version = version.checked_sub(1).ok_or("the table has no log")?;
        Ok(Self {
            folder,
            version,
            live,
        })
    }

    /// The rows of every live file, in the order of the paths.
    pub(crate) fn rows(&self) -> Result<Vec<(String, RecordBatch)>> {
        self.live
            .keys()
            .map(|path| {
                let file = File::open(self.folder.join(path))?;
                let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
                let schema = Arc::clone(builder.schema());
                let batches: Vec<RecordBatch> =
                    builder.build()?.collect::<std::result::Result<_, _>>()?;
                Ok((path.clone(), concat_batches(&schema, &batches)?))
            })
            .collect()
    }

    /// Replaces a file by other rows, in a commit.
    pub(crate) fn replace(&mut self, path: &str, rows: &RecordBatch) -> Result<()> {
        let old = self.live.get(path).ok_or("the file is not live")?.clone();
        let mut actions = vec![remove(path)];
        if rows.num_rows() > 0 {
            actions.push(self.write(&old, rows)?);
        }
        self.commit(&actions)
    }

    /// Writes rows as a new file in the partition of an old one; gives its action.
    pub(crate) fn write(&self, like: &Value, rows: &RecordBatch) -> Result<Value> {
        let old = like["path"].as_str().ok_or("an action has no path")?;
        let parent = Path::new(old).parent().unwrap_or(Path::new(""));
        let path = parent.join(format!("part-edited-{}.parquet", self.version + 1));
        let file = File::create_new(self.folder.join(&path))?;
        let mut writer = ArrowWriter::try_new(file, rows.schema(), None)?;
        writer.write(rows)?;
        writer.close()?;
        let size = fs::metadata(self.folder.join(&path))?.len();
        Ok(json!({ "add": {
            "path": path.to_str().ok_or("a path is no text")?,
            "partitionValues": like["partitionValues"],
            "size": size,
            "modificationTime": like["modificationTime"],
            "dataChange": false,
            "stats": json!({ "numRecords": rows.num_rows() }).to_string(),
        }}))
    }

    /// Commits actions as the next version.
    pub(crate) fn commit(&mut self, actions: &[Value]) -> Result<()> {
        let info = json!({ "commitInfo": { "timestamp": 0, "operation": "WRITE", "tags": {} } });
        let mut text = info.to_string();
        for action in actions {
            text.push('\n');
            text.push_str(&action.to_string());
        }
        text.push('\n');
        self.version += 1;
        let path = entry(&self.folder, self.version);
        fs::write(path, text)?;
        Ok(())
    }

    /// Takes the newest entry out of the log, and with it a checkpoint of its version.
    pub(crate) fn lose_newest(&self) -> Result<()> {
        fs::remove_file(entry(&self.folder, self.version))?;
        let log = self.folder.join("_delta_log");
        let checkpoint = format!("{:020}.checkpoint", self.version);
        for found in fs::read_dir(&log)? {
            let found = found?;
            if found.file_name().to_string_lossy().starts_with(&checkpoint) {
                fs::remove_file(found.path())?;
                let _ = fs::remove_file(log.join("_last_checkpoint"));
            }
        }
        Ok(())
    }
}

impl Table {
    /// The last live file by its path.
    pub(crate) fn last_file(&self) -> Result<String> {
        let last = self.live.keys().next_back();
        Ok(last.ok_or("no file is live")?.clone())
    }

    /// Takes a live file out of the newest checkpoint; its path.
    pub(crate) fn lose_from_checkpoint(&self) -> Result<String> {
        let log = self.folder.join("_delta_log");
        let checkpoints = fs::read_dir(&log)?.filter_map(|found| {
            let path = found.ok()?.path();
            path.to_str()?
                .ends_with(".checkpoint.parquet")
                .then_some(path)
        });
        let checkpoint = checkpoints.max().ok_or("the table has no checkpoint")?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&checkpoint)?)?;
        let schema = Arc::clone(builder.schema());
        let batches: Vec<RecordBatch> = builder.build()?.collect::<std::result::Result<_, _>>()?;
        let actions = concat_batches(&schema, &batches)?;
        let add = actions["add"].as_struct();
        let paths = add
            .column_by_name("path")
            .ok_or("the checkpoint has no paths")?;
        let paths: &StringArray = paths.as_string_opt().ok_or("the paths are no text")?;
        let is_live = |&row: &usize| {
            add.is_valid(row) && paths.is_valid(row) && self.live.contains_key(paths.value(row))
        };
        let lost = (0..actions.num_rows())
            .find(is_live)
            .ok_or("no file is live")?;
        let rest: Vec<usize> = (0..actions.num_rows()).filter(|&row| row != lost).collect();
        let mut writer = ArrowWriter::try_new(File::create(&checkpoint)?, schema, None)?;
        writer.write(&pick(&actions, &rest)?)?;
        writer.close()?;
        Ok(paths.value(lost).to_owned())
    }
}

/// The action that takes a file out.
pub(crate) fn remove(path: &str) -> Value {
    json!({ "remove": { "path": path, "dataChange": false, "deletionTimestamp": 0 } })
}

fn entry(table: &Path, version: u64) -> PathBuf {
    table.join(format!("_delta_log/{version:020}.json"))
}

/// The rows with these numbers, in this order.
pub(crate) fn pick(batch: &RecordBatch, rows: &[usize]) -> Result<RecordBatch> {
    let rows: UInt64Array = rows.iter().map(|&row| row as u64).collect();
    Ok(take_record_batch(batch, &rows)?)
}

/// The batch with one column replaced.
pub(crate) fn with_column(
    batch: &RecordBatch,
    name: &str,
    column: ArrayRef,
) -> Result<RecordBatch> {
    let at = batch.schema_ref().index_of(name)?;
    let mut columns = batch.columns().to_vec();
    columns[at] = column;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// The texts of a column.
pub(crate) fn texts(batch: &RecordBatch, name: &str) -> Result<Vec<Option<String>>> {
    let column = batch
        .column_by_name(name)
        .ok_or("there is no such column")?;
    let column: &StringArray = column.as_string_opt().ok_or("the column is no text")?;
    Ok(column.iter().map(|text| text.map(str::to_owned)).collect())
}

/// The batch with other texts in a column.
pub(crate) fn with_texts(
    batch: &RecordBatch,
    name: &str,
    texts: Vec<Option<String>>,
) -> Result<RecordBatch> {
    with_column(batch, name, Arc::new(StringArray::from(texts)))
}

/// Copies a folder with everything in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
