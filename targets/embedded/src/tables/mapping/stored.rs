//! What is stored that has to do with the reports of a workflow.
//!
//! The ids of a patient lie anywhere in the table, so its id columns are read whole, once per round:
//! the first finds the rows that share an id with the reports, further ones what is linked to those
//! by ids not seen before, until nothing new appears. Only rows that are linked stay in memory.

use super::stages::{Report, Row};
use crate::error::Result;
use crate::lake::log::LiveFile;
use crate::lake::read::Piece;
use crate::lake::{Table, parallel, read};
use arrow::array::{Array, AsArray, DictionaryArray, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use std::collections::{HashMap, HashSet};

const COLUMNS: [&str; 5] = [
    "scout_patient_id",
    "primary_report_identifier",
    "mpi",
    "epic_mrn",
    "consistent",
];

/// Leaves out the reports that the table has already.
pub(crate) fn only_new(
    mapping: &Table,
    reports: Vec<Report>,
    threads: usize,
) -> Result<Vec<Report>> {
    let mut keys: Vec<&str> = reports
        .iter()
        .map(|report| report.report.as_str())
        .collect();
    keys.sort_unstable();
    let candidates: Vec<&LiveFile> = mapping
        .files()
        .filter(|file| file.key.may_hold(&keys))
        .collect();
    let wanted: HashSet<&str> = keys.into_iter().collect();
    let found = parallel::map(threads, &candidates, |file| {
        let mut found = Vec::new();
        for batch in read::rows(mapping, file, Some(&COLUMNS[1..2]))? {
            let batch = batch?;
            let reports = batch.column(0).as_string::<i32>();
            found.extend(
                reports
                    .iter()
                    .flatten()
                    .filter(|r| wanted.contains(r))
                    .map(str::to_owned),
            );
        }
        Ok(found)
    })?;
    let found: HashSet<String> = found.into_iter().flatten().collect();
    let mut seen = HashSet::new();
    Ok(reports
        .into_iter()
        .filter(|report| !found.contains(&report.report) && seen.insert(report.report.clone()))
        .collect())
}

/// The stored rows that share an id with a report and, where the report has both ids, all rows
/// that are linked to those. One row without ids stands for all of them.
pub(crate) fn linked(mapping: &Table, reports: &[Report], threads: usize) -> Result<Vec<Row>> {
    let files: Vec<&LiveFile> = mapping.files().collect();
    let pieces = read::pieces(mapping, &files)?;
    let mut search = Search::default();
    for report in reports {
        search.neither |= report.mpi.is_none() && report.epic_mrn.is_none();
        search.mpis.extend(report.mpi.clone());
        search.mrns.extend(report.epic_mrn.clone());
    }
    let mut known_mpis = search.mpis.clone();
    let mut known_mrns = search.mrns.clone();
    let mut found: HashMap<String, Row> = HashMap::new();
    // Ids that components of reports with both ids have reached.
    let mut reached: HashSet<Id> = reports
        .iter()
        .filter(|report| report.mpi.is_some() && report.epic_mrn.is_some())
        .flat_map(|report| ids(report.mpi.as_ref(), report.epic_mrn.as_ref()))
        .collect();
    while !search.is_empty() {
        let rows = parallel::map(threads, &pieces, |piece| search.piece(mapping, piece))?;
        let mut without_ids = found
            .values()
            .any(|row| row.mpi.is_none() && row.epic_mrn.is_none());
        for row in rows.into_iter().flatten() {
            let has_none = row.mpi.is_none() && row.epic_mrn.is_none();
            if has_none && std::mem::replace(&mut without_ids, true) {
                continue;
            }
            found.insert(row.report.clone(), row);
        }
        spread(&found, &mut reached);
        search = Search::default();
        for id in &reached {
            match id {
                Id::Mpi(mpi) if known_mpis.insert(mpi.clone()) => {
                    search.mpis.insert(mpi.clone());
                }
                Id::Mrn(mrn) if known_mrns.insert(mrn.clone()) => {
                    search.mrns.insert(mrn.clone());
                }
                _ => {}
            }
        }
    }
    Ok(found.into_values().collect())
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Id {
    Mpi(String),
    Mrn(String),
}

fn ids(mpi: Option<&String>, mrn: Option<&String>) -> impl Iterator<Item = Id> + use<> {
    let mpi = mpi.map(|mpi| Id::Mpi(mpi.clone()));
    mpi.into_iter().chain(mrn.map(|mrn| Id::Mrn(mrn.clone())))
}

/// Adds every id that a found row links to an id reached, until none is left.
fn spread(found: &HashMap<String, Row>, reached: &mut HashSet<Id>) {
    let edges: Vec<(Id, Id)> = found
        .values()
        .filter_map(|row| {
            let mut ids = ids(row.mpi.as_ref(), row.epic_mrn.as_ref());
            Some((ids.next()?, ids.next()?))
        })
        .collect();
    let mut neighbours: HashMap<&Id, Vec<&Id>> = HashMap::new();
    for (mpi, mrn) in &edges {
        neighbours.entry(mpi).or_default().push(mrn);
        neighbours.entry(mrn).or_default().push(mpi);
    }
    let mut queue: Vec<Id> = reached.iter().cloned().collect();
    while let Some(id) = queue.pop() {
        for &next in neighbours.get(&id).into_iter().flatten() {
            if reached.insert(next.clone()) {
                queue.push(next.clone());
            }
        }
    }
}

/// Ids that are looked for.
#[derive(Default)]
struct Search {
    mpis: HashSet<String>,
    mrns: HashSet<String>,
    neither: bool,
}

impl Search {
    fn is_empty(&self) -> bool {
        self.mpis.is_empty() && self.mrns.is_empty() && !self.neither
    }

    /// The rows of a piece that are looked for. The two ids are read of every row, the rest only of
    /// rows that have one of them.
    fn piece(&self, mapping: &Table, piece: &Piece<'_>) -> Result<Vec<Row>> {
        let mut wanted = Vec::new();
        let mut without_ids = false;
        let mut offset = 0;
        for ids in read::dictionaries(mapping, piece, ["mpi", "epic_mrn"])? {
            let [mpis, mrns] = ids?;
            let hits = [is_among(&mpis, &self.mpis), is_among(&mrns, &self.mrns)];
            for row in 0..mpis.len() {
                let is_wanted = match (mpis.key(row), mrns.key(row)) {
                    (None, None) => self.neither && !std::mem::replace(&mut without_ids, true),
                    (mpi, mrn) => {
                        mpi.is_some_and(|mpi| hits[0][mpi]) || mrn.is_some_and(|mrn| hits[1][mrn])
                    }
                };
                if is_wanted {
                    wanted.push(offset + row);
                }
            }
            offset += mpis.len();
        }
        let mut rows = Vec::with_capacity(wanted.len());
        if wanted.is_empty() {
            return Ok(rows);
        }
        for batch in read::chosen_rows(mapping, piece, &COLUMNS, &wanted)? {
            let batch = batch?;
            let consistent = batch.column(4).as_boolean();
            for row in 0..batch.num_rows() {
                rows.push(Row {
                    patient: text(&batch, 0).value(row).to_owned(),
                    report: text(&batch, 1).value(row).to_owned(),
                    mpi: at(text(&batch, 2), row).map(str::to_owned),
                    epic_mrn: at(text(&batch, 3), row).map(str::to_owned),
                    consistent: consistent.value(row),
                });
            }
        }
        Ok(rows)
    }
}

/// For every value of a column, whether it is looked for.
fn is_among(column: &DictionaryArray<Int32Type>, wanted: &HashSet<String>) -> Vec<bool> {
    let values: &StringArray = column.values().as_string();
    values
        .iter()
        .map(|value| value.is_some_and(|value| wanted.contains(value)))
        .collect()
}

fn text(batch: &RecordBatch, column: usize) -> &StringArray {
    batch.column(column).as_string()
}

fn at(column: &StringArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}
