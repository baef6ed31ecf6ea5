//! `reports_dx`: one row per diagnosis of a latest report, replaced as a whole.
//!
//! Two commits at most, as in the reference: one takes out the old diagnoses of every accession that
//! latest changed, one appends the new ones. The mark stands in the second, or in the first where
//! nothing is appended; an attempt that died between the two does both again.

use super::Step;
use super::follow::{self, Changes};
use super::latest::newest_per_accession;
use crate::error::{Error, Result};
use crate::lake::{Commit, Matched, Merge, Outcome, Table, retry};
use crate::stage::Recorder;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{Field, Schema};
use bench_tables::{CuratedColumn, Table as Name, schema::DIAGNOSIS};
use std::sync::Arc;

/// What following `reports_latest` did.
#[derive(Default)]
pub(crate) struct Dx {
    pub(crate) inserted: u64,
    pub(crate) deleted: u64,
}

/// Brings `reports_dx` up to date with `reports_latest`.
pub(crate) fn follow(
    step: &mut Step<'_, '_>,
    dx: &mut Table,
    latest: &mut Table,
    fresh: Option<&Changes>,
) -> Result<Dx> {
    let mut done = Dx::default();
    retry(dx.name(), || {
        dx.refresh()?;
        let Some(changes) = follow::behind(step.root, dx, latest, fresh)? else {
            return Ok(Some(()));
        };
        // One row per accession already, unless it was read again from several versions.
        let reports = newest_per_accession(&changes.batches)?;
        let rows = reports.iter().map(explode).collect::<Result<Vec<_>>>()?;
        let rows: Vec<RecordBatch> = rows.into_iter().filter(|b| b.num_rows() > 0).collect();
        let Some(deleted) = delete(step, dx, latest, &reports, (rows.is_empty(), changes.up_to))?
        else {
            return Ok(None);
        };
        done.deleted += deleted;
        if rows.is_empty() {
            if deleted == 0 {
                follow::note(step.root, dx, latest, changes.up_to)?;
            }
            return Ok(Some(()));
        }
        let Some(inserted) = append(step, dx, latest, &rows, changes.up_to)? else {
            return Ok(None);
        };
        done.inserted += inserted;
        Ok(Some(()))
    })?;
    if done.inserted + done.deleted > 0 {
        step.after_commit(dx)?;
    }
    Ok(done)
}

/// Takes out the diagnoses of the reports' accessions; `None` for a conflict.
fn delete(
    step: &mut Step<'_, '_>,
    dx: &mut Table,
    latest: &Table,
    reports: &[RecordBatch],
    (is_last, up_to): (bool, i64),
) -> Result<Option<u64>> {
    let mut clock = Recorder::begin();
    let plan = Merge {
        source: reports,
        key: "accession_number",
        second_key: None,
        decide_on: &[],
        decide: &|_, _| Matched::Delete,
        insert: false,
    }
    .plan(dx, step.writing.threads)?;
    if plan.is_empty() {
        step.recorder.end("dx-delete", Some(Name::Dx), &clock);
        return Ok(Some(0));
    }
    let mut commit = step.writing.prepare(dx, &plan)?;
    if is_last {
        follow::mark(&mut commit, latest, up_to);
    }
    clock.wrote(&commit.adds);
    clock.rows = plan.counts.deleted;
    let Outcome::Committed(version) = dx.commit(&commit)? else {
        return Ok(None);
    };
    clock.version = Some(version);
    step.recorder.end("dx-delete", Some(Name::Dx), &clock);
    Ok(Some(plan.counts.deleted))
}

/// Appends diagnoses; `None` for a conflict.
fn append(
    step: &mut Step<'_, '_>,
    dx: &mut Table,
    latest: &Table,
    rows: &[RecordBatch],
    up_to: i64,
) -> Result<Option<u64>> {
    let mut clock = Recorder::begin();
    clock.rows = rows.iter().map(|batch| batch.num_rows() as u64).sum();
    let incoming = Schema::new(rows[0].schema_ref().fields().clone());
    let (schema, metadata) = match dx.evolved(&incoming)? {
        Some((schema, metadata)) => (schema, Some(metadata)),
        None => (Arc::clone(dx.schema()), None),
    };
    let rows = rows
        .iter()
        .map(|batch| crate::lake::read::widen(Name::Dx.name(), batch, &schema))
        .collect::<Result<Vec<_>>>()?;
    let mut commit = Commit::new("WRITE");
    commit.adds = step.writing.write(dx, &schema, &rows)?;
    commit.metadata = metadata;
    commit.parameters = vec![
        ("mode", "Append".to_owned()),
        ("partitionBy", "[]".to_owned()),
    ];
    clock.wrote(&commit.adds);
    let bytes: i64 = commit.adds.iter().map(|add| add.size).sum();
    commit.metrics = vec![
        ("numFiles", commit.adds.len() as u64),
        ("numOutputRows", clock.rows),
        ("numOutputBytes", u64::try_from(bytes).unwrap_or_default()),
    ];
    follow::mark(&mut commit, latest, up_to);
    let Outcome::Committed(version) = dx.commit(&commit)? else {
        return Ok(None);
    };
    clock.version = Some(version);
    step.recorder.end("dx-append", Some(Name::Dx), &clock);
    Ok(Some(clock.rows))
}

/// One row per diagnosis of each report, all-NULL diagnoses included.
fn explode(reports: &RecordBatch) -> Result<RecordBatch> {
    let wrong = || Error::columns(Name::Dx.name(), "listing diagnoses");
    let missing = |column: CuratedColumn| Error::Columns {
        table: Name::Dx.name(),
        action: "listing diagnoses",
        source: format!("column {} is missing", column.name()).into(),
    };
    let named = |column: CuratedColumn| {
        reports
            .column_by_name(column.name())
            .ok_or_else(|| missing(column))
    };
    let lists = named(CuratedColumn::Diagnoses)?.as_list::<i32>();
    let identifiers = named(CuratedColumn::PrimaryReportIdentifier)?.as_string::<i32>();
    let (mut of, mut elements, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..reports.num_rows() {
        if lists.is_null(row) {
            continue;
        }
        let first = u64::try_from(lists.value_offsets()[row]).unwrap_or_default();
        for position in 0..u64::try_from(lists.value_length(row)).unwrap_or_default() {
            of.push(row as u64);
            elements.push(first + position);
            ids.push(format!("{}_{position}", identifiers.value(row)));
        }
    }
    let of = UInt64Array::from(of);
    let elements = UInt64Array::from(elements);
    let left_out = [
        CuratedColumn::Diagnoses,
        CuratedColumn::DiagnosesConsolidated,
    ];
    let (mut fields, mut columns): (Vec<Arc<Field>>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (field, column) in reports.schema_ref().fields().iter().zip(reports.columns()) {
        if left_out.iter().any(|column| column.name() == field.name()) {
            continue;
        }
        fields.push(Arc::clone(field));
        columns.push(take(column, &of, None).map_err(wrong())?);
    }
    let values = lists.values().as_struct();
    for (member, &name) in DIAGNOSIS.iter().enumerate() {
        let column = take(values.column(member), &elements, None).map_err(wrong())?;
        fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
        columns.push(column);
    }
    let ids: ArrayRef = Arc::new(StringArray::from(ids));
    fields.push(Arc::new(Field::new(
        "diagnosis_id",
        ids.data_type().clone(),
        true,
    )));
    columns.push(ids);
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(wrong())
}
