//! `…_mapping_history`: what joins and conflicts changed, a log that follows the mapping.
//!
//! It follows as the other tables do: the rows of a commit are known in memory, or, where the
//! attempt that made it died before it wrote them, found again as the difference between the files
//! that the commit took out and those that it brought.

use super::stages::{Change, Row, Stage};
use crate::error::{Error, Result};
use crate::lake::log::{Entry, LiveFile};
use crate::lake::{Commit, Outcome, Table, read, retry};
use crate::stage::Recorder;
use crate::tables::{Step, follow};
use arrow::array::Array;
use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, StringArray};
use bench_tables::Table as Name;
use std::collections::HashMap;
use std::sync::Arc;

/// Tag of a commit of the mapping: its stage.
pub(crate) const STAGE: &str = "bench.stage";

/// Changes of a commit that this attempt made.
pub(crate) type Fresh = HashMap<i64, Vec<Change>>;

/// Brings the history up to date with the mapping; the number of rows appended.
pub(crate) fn follow(
    step: &mut Step<'_, '_>,
    log: &mut Table,
    mapping: &Table,
    fresh: &Fresh,
) -> Result<u64> {
    let mut clock = Recorder::begin();
    let rows = retry(log.name(), || {
        log.refresh()?;
        let after = follow::seen(step.root, log, mapping)?;
        let up_to = mapping.version();
        if after >= up_to {
            return Ok(Some(0));
        }
        let mut rows = Vec::new();
        for entry in mapping.entries(after, up_to)? {
            if entry
                .tags
                .get(STAGE)
                .is_some_and(|stage| stage == Stage::Components.name())
            {
                rows.extend(match fresh.get(&entry.version) {
                    Some(changes) => history(changes),
                    None => history(&difference(mapping, &entry)?),
                });
            }
        }
        if rows.is_empty() {
            follow::note(step.root, log, mapping, up_to)?;
            return Ok(Some(0));
        }
        let schema = Arc::clone(log.schema());
        let batch = batch(&schema, &rows)?;
        let mut commit = Commit::new("WRITE");
        commit.adds = step.writing.write(log, &schema, &[batch])?;
        commit.parameters = vec![
            ("mode", "Append".to_owned()),
            ("partitionBy", "[]".to_owned()),
        ];
        commit.metrics = vec![
            ("numFiles", commit.adds.len() as u64),
            ("numOutputRows", rows.len() as u64),
        ];
        follow::mark(&mut commit, mapping, up_to);
        clock.wrote(&commit.adds);
        match log.commit(&commit)? {
            Outcome::Conflict => Ok(None),
            Outcome::Committed(version) => {
                clock.version = Some(version);
                Ok(Some(rows.len() as u64))
            }
        }
    })?;
    clock.rows = rows;
    if rows > 0 {
        step.recorder
            .end("mapping-history", Some(Name::MappingHistory), &clock);
        step.after_commit(log)?;
    }
    Ok(rows)
}

/// A row of the history: the row as it is now but with `consistent` as it was, its patient before.
pub(super) type Logged = (Row, Option<String>);

/// The rows of the history that a settled set of components makes.
///
/// In a web that is inconsistent, every row that changed; in a consistent one, every row that
/// changed if two or more patients were joined; otherwise none.
pub(super) fn history(changes: &[Change]) -> Vec<Logged> {
    let mut joined: HashMap<&str, bool> = HashMap::new();
    for Change { before, after } in changes {
        let tells = !after.consistent
            || before
                .as_ref()
                .is_some_and(|(patient, _)| *patient != after.patient);
        *joined.entry(&after.patient).or_default() |= tells;
    }
    changes
        .iter()
        .filter(|change| {
            joined
                .get(change.after.patient.as_str())
                .copied()
                .unwrap_or_default()
        })
        .map(|Change { before, after }| {
            let (previous, consistent) = match before {
                Some((patient, consistent)) => (Some(patient.clone()), *consistent),
                None => (None, true),
            };
            (
                Row {
                    consistent,
                    ..after.clone()
                },
                previous,
            )
        })
        .collect()
}

/// What a commit of the mapping changed, by comparing the files that went with those that came.
fn difference(mapping: &Table, entry: &Entry) -> Result<Vec<Change>> {
    let mut before = HashMap::new();
    for remove in &entry.removes {
        let file = LiveFile {
            path: remove.path.clone(),
            size: remove.size.unwrap_or_default(),
            rows: None,
            partition: HashMap::new(),
            key: crate::lake::log::KeyRange::Unknown,
            clustered: false,
        };
        for row in rows(mapping, &file, entry.version)? {
            before.insert(row.report, (row.patient, row.consistent));
        }
    }
    let mut changes = Vec::new();
    for add in &entry.adds {
        let file = LiveFile::from_add(add.clone(), None);
        for after in rows(mapping, &file, entry.version)? {
            let before = before.get(&after.report).cloned();
            let same = before.as_ref().is_some_and(|(patient, consistent)| {
                *patient == after.patient && *consistent == after.consistent
            });
            if !same {
                changes.push(Change { before, after });
            }
        }
    }
    Ok(changes)
}

fn rows(mapping: &Table, file: &LiveFile, version: i64) -> Result<Vec<Row>> {
    let Some(batches) = read::try_rows(mapping, file, None)? else {
        let table = mapping.name();
        return Err(Error::Vacuumed {
            table,
            path: file.path.clone(),
            version,
        });
    };
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch?;
        let text = |at: usize, row: usize| {
            let column: &StringArray = batch.column(at).as_string();
            column.is_valid(row).then(|| column.value(row).to_owned())
        };
        for row in 0..batch.num_rows() {
            rows.push(Row {
                patient: text(0, row).unwrap_or_default(),
                report: text(1, row).unwrap_or_default(),
                mpi: text(2, row),
                epic_mrn: text(3, row),
                consistent: batch.column(4).as_boolean().value(row),
            });
        }
    }
    Ok(rows)
}

fn batch(schema: &arrow::datatypes::SchemaRef, rows: &[Logged]) -> Result<RecordBatch> {
    let text = |of: &dyn Fn(&Logged) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let columns = vec![
        text(&|(row, _)| Some(row.patient.clone())),
        text(&|(row, _)| Some(row.report.clone())),
        text(&|(row, _)| row.mpi.clone()),
        text(&|(row, _)| row.epic_mrn.clone()),
        Arc::new(
            rows.iter()
                .map(|(row, _)| Some(row.consistent))
                .collect::<BooleanArray>(),
        ),
        text(&|(_, previous)| previous.clone()),
    ];
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(Error::columns(
        Name::MappingHistory.name(),
        "writing history",
    ))
}
