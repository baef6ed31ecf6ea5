//! What a table has not yet seen of the table it follows.
//!
//! A table that follows another records, in the commit that brings it up to date, the source version
//! it has seen (a `txn` action). Where there was nothing to commit, a note beside the tables says
//! the same; losing the note costs work, not rows. What lies behind is derived from what this
//! attempt still holds in memory, or, where the attempt that committed it died, read again from the
//! files that the commits added. Every merge that follows is idempotent, so reading too much does
//! no harm; and commits say which `updated` stamps they brought, so that little too much is read.

use crate::error::{Error, Result};
use crate::lake::log::{Entry, LiveFile};
use crate::lake::{Commit, Root, Table, read};
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, UInt64Array};
use arrow::compute::{filter_record_batch, take_record_batch};
use arrow::datatypes::TimestampMicrosecondType;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Tag of a commit: the `updated` stamps of the rows that it brought.
const STAMPS: &str = "bench.updated";
/// More stamps than this are not recorded: all rows are read again then.
const MOST_STAMPS: usize = 64;

/// Rows that came or changed in a table after one version up to another.
#[derive(Clone)]
pub(crate) struct Changes {
    pub(crate) after: i64,
    pub(crate) up_to: i64,
    pub(crate) batches: Vec<RecordBatch>,
}

/// The name under which a table records what it has seen of its source.
fn application(source: &Table) -> String {
    format!("bench:seen:{}", source.id())
}

/// The source version that a table has seen; -1 where it has seen none.
pub(crate) fn seen(root: &Root, target: &mut Table, source: &Table) -> Result<i64> {
    let recorded = target.transaction(&application(source))?.unwrap_or(-1);
    let note = root.read_note(target.name())?;
    let noted = note
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
        .filter(|note| note["source"] == source.id())
        .and_then(|note| note["seen"].as_i64())
        .unwrap_or(-1);
    Ok(recorded.max(noted))
}

/// Records with a commit that the source has been seen up to a version.
pub(crate) fn mark(commit: &mut Commit, source: &Table, up_to: i64) {
    commit.transactions.push((application(source), up_to));
}

/// Records the same where there is nothing to commit.
pub(crate) fn note(root: &Root, target: &Table, source: &Table, up_to: i64) -> Result<()> {
    let text = json!({ "source": source.id(), "seen": up_to }).to_string();
    root.write_note(target.name(), text)?;
    crate::kill::point("note written");
    Ok(())
}

/// Records in a commit which stamps its changed rows have.
pub(crate) fn stamp(commit: &mut Commit, changed: &[RecordBatch]) {
    let mut stamps = HashSet::new();
    for batch in changed {
        let Some(updated) = batch.column_by_name("updated") else {
            return;
        };
        stamps.extend(
            updated
                .as_primitive::<TimestampMicrosecondType>()
                .iter()
                .flatten(),
        );
        if stamps.len() > MOST_STAMPS {
            return;
        }
    }
    let mut stamps: Vec<i64> = stamps.into_iter().collect();
    stamps.sort_unstable();
    let text: Vec<String> = stamps.iter().map(i64::to_string).collect();
    commit.tags.push((STAMPS, text.join(",")));
}

/// What `target` has not yet seen of `source`'s current version; `None` where it has seen it.
/// `fresh` is what this attempt itself changed there.
pub(crate) fn behind(
    root: &Root,
    target: &mut Table,
    source: &Table,
    fresh: Option<&Changes>,
) -> Result<Option<Changes>> {
    let (after, up_to) = (seen(root, target, source)?, source.version());
    if after >= up_to {
        return Ok(None);
    }
    if let Some(fresh) = fresh
        && fresh.after == after
        && fresh.up_to == up_to
    {
        return Ok(Some(fresh.clone()));
    }
    let entries: Vec<Entry> = source
        .entries(after, up_to)?
        .into_iter()
        .filter(Entry::changes_data)
        .collect();
    if let (Some(fresh), [entry]) = (fresh, entries.as_slice())
        && entry.version == fresh.up_to
    {
        return Ok(Some(Changes {
            after,
            up_to,
            batches: fresh.batches.clone(),
        }));
    }
    let batches = read_added(source, &entries)?;
    Ok(Some(Changes {
        after,
        up_to,
        batches,
    }))
}

/// Files of `source` that bringing `target` up to date may have to read, live or not.
pub(crate) fn unread(root: &Root, target: &mut Table, source: &Table) -> Result<HashSet<String>> {
    let after = seen(root, target, source)?;
    let entries = source.entries(after, source.version())?.into_iter();
    Ok(entries
        .filter(Entry::changes_data)
        .flat_map(|entry| {
            let added = entry.adds.into_iter().map(|add| add.path);
            added.chain(entry.removes.into_iter().map(|remove| remove.path))
        })
        .collect())
}

/// The rows that commits brought, the newest of every key.
fn read_added(source: &Table, entries: &[Entry]) -> Result<Vec<RecordBatch>> {
    let name = source.name();
    let stamps = stamps(entries);
    let mut batches: Vec<RecordBatch> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        for add in entry.adds.iter().filter(|add| add.data_change) {
            let file = LiveFile::from_add(add.clone(), None);
            let Some(rows) = read::try_rows(source, &file, None)? else {
                // Where a later merge wrote the file again, its rows come with that one.
                let rewritten = entries[at + 1..].iter().any(|later| {
                    later
                        .removes
                        .iter()
                        .any(|r| r.path == file.path && r.data_change)
                });
                if rewritten {
                    continue;
                }
                return Err(Error::Vacuumed {
                    table: name,
                    path: file.path,
                    version: entry.version,
                });
            };
            for batch in rows {
                let batch = batch?;
                let batch = match &stamps {
                    None => batch,
                    Some(stamps) => only_stamped(name, &batch, stamps)?,
                };
                if batch.num_rows() > 0 {
                    batches.push(batch);
                }
            }
        }
    }
    let key = source.key_column().unwrap_or("primary_report_identifier");
    newest(name, &batches, key)
}

/// All stamps that the commits recorded; `None` where one of them did not.
fn stamps(entries: &[Entry]) -> Option<HashSet<i64>> {
    let mut all = HashSet::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.adds.iter().any(|add| add.data_change))
    {
        let text = entry.tags.get(STAMPS)?;
        for stamp in text.split(',').filter(|stamp| !stamp.is_empty()) {
            all.insert(stamp.parse().ok()?);
        }
    }
    Some(all)
}

fn only_stamped(
    table: &'static str,
    batch: &RecordBatch,
    stamps: &HashSet<i64>,
) -> Result<RecordBatch> {
    let Some(updated) = batch.column_by_name("updated") else {
        return Ok(batch.clone());
    };
    let updated = updated.as_primitive::<TimestampMicrosecondType>();
    let chosen: BooleanArray = updated
        .iter()
        .map(|stamp| Some(stamp.is_some_and(|s| stamps.contains(&s))))
        .collect();
    filter_record_batch(batch, &chosen).map_err(Error::columns(table, "choosing rows"))
}

/// Of rows that share a key, the one that comes last.
fn newest(table: &'static str, batches: &[RecordBatch], key: &str) -> Result<Vec<RecordBatch>> {
    let mut last: HashMap<&str, (usize, usize)> = HashMap::new();
    for (number, batch) in batches.iter().enumerate() {
        let Some(keys) = batch.column_by_name(key) else {
            continue;
        };
        let keys = keys.as_string::<i32>();
        for row in 0..batch.num_rows() {
            if keys.is_valid(row) {
                last.insert(keys.value(row), (number, row));
            }
        }
    }
    let mut rows: Vec<Vec<u64>> = vec![Vec::new(); batches.len()];
    for (number, row) in last.into_values() {
        rows[number].push(row as u64);
    }
    let mut chosen = Vec::new();
    for (batch, mut rows) in batches.iter().zip(rows) {
        if rows.is_empty() {
            continue;
        }
        rows.sort_unstable();
        let rows = take_record_batch(batch, &UInt64Array::from(rows))
            .map_err(Error::columns(table, "choosing the newest rows"))?;
        chosen.push(rows);
    }
    Ok(chosen)
}
