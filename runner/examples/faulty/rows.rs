//! Lies about single rows of a table.

use crate::Result;
use crate::edit::{Table, pick, texts, with_column, with_texts};
use crate::lies::{Lie, tell};
use arrow::array::{AsArray, BooleanArray, RecordBatch, TimestampMicrosecondArray};
use arrow::compute::concat_batches;
use arrow::datatypes::TimestampMicrosecondType;
use std::sync::Arc;

/// The column that names the staged file.
fn source_column(batch: &RecordBatch) -> &'static str {
    if batch.column_by_name("source_file").is_some() {
        "source_file"
    } else {
        "primary_report_identifier"
    }
}

pub(crate) fn sources_of(batch: &RecordBatch) -> Result<Vec<String>> {
    Ok(texts(batch, source_column(batch))?
        .into_iter()
        .flatten()
        .collect())
}

/// Lies about single rows of a file.
pub(crate) fn spoil(lie: &Lie, table: &mut Table) -> Result<()> {
    let name = lie.table.as_str();
    // The file with the most rows: some lies need two of them.
    let (path, batch) = table
        .rows()?
        .into_iter()
        .max_by_key(|(_, batch)| batch.num_rows())
        .ok_or("the table has no rows")?;
    let count = batch.num_rows();
    let row = count / 2;
    let source = |row: usize| -> Result<String> {
        Ok(texts(&batch, source_column(&batch))?[row]
            .clone()
            .unwrap_or_default())
    };
    let one = || pick(&batch, &[row]);
    let append = |more: &RecordBatch| concat_batches(&batch.schema(), [&batch, more]);
    let others: Vec<usize> = (0..count).filter(|&other| other != row).collect();
    let with_row = |changed: &RecordBatch| -> Result<RecordBatch> {
        Ok(concat_batches(
            &batch.schema(),
            [&pick(&batch, &others)?, changed],
        )?)
    };
    let value_column = if name == "reports_dx" {
        "diagnosis_code_text"
    } else {
        "report_text"
    };
    let mut told = vec![source(row)?];
    let changed = match lie.name.as_str() {
        "drop-row" => pick(&batch, &others)?,
        "double-row" => append(&one()?)?,
        "double-row-with-other-values" => append(&lengthen(&one()?, value_column)?)?,
        "made-up-row" => {
            let column = source_column(&batch);
            let made_up = "staging/1999/19990101.zip/1999/01/01/19990101_0.hl7".to_owned();
            told.clear();
            append(&with_texts(&one()?, column, vec![Some(made_up)])?)?
        }
        "change-value" => with_row(&lengthen(&one()?, value_column)?)?,
        "null-value" => with_row(&with_texts(&one()?, "sex", vec![None])?)?,
        "change-updated" => {
            let row = one()?;
            let updated = row["updated"]
                .as_primitive::<TimestampMicrosecondType>()
                .value(0)
                + 1;
            let updated = TimestampMicrosecondArray::from(vec![updated]).with_timezone("UTC");
            with_row(&with_column(&row, "updated", Arc::new(updated))?)?
        }
        "change-key" if name == "reports_dx" => {
            let row = one()?;
            let id = texts(&row, "diagnosis_id")?[0].clone().unwrap_or_default();
            with_row(&with_texts(
                &row,
                "diagnosis_id",
                vec![Some(format!("{id}7"))],
            )?)?
        }
        "change-key" => {
            let unheard = Some("no such accession".to_owned());
            with_row(&with_texts(&one()?, "accession_number", vec![unheard])?)?
        }
        "diagnosis-of-another" => {
            let accessions = texts(&batch, "accession_number")?;
            let other = accessions.iter().find(|other| **other != accessions[row]);
            let other = other.ok_or("all rows have one accession")?.clone();
            with_row(&with_texts(&one()?, "accession_number", vec![other])?)?
        }
        "flip-consistent" => {
            let row = one()?;
            let flipped = !row["consistent"].as_boolean().value(0);
            let flipped = Arc::new(BooleanArray::from(vec![flipped]));
            with_row(&with_column(&row, "consistent", flipped)?)?
        }
        "swap-ids" => {
            let (changed, other) = swap(&batch, row, &["mpi", "epic_mrn"])?;
            told.push(source(other)?);
            changed
        }
        "swap-patients" => {
            let (changed, other) = swap(&batch, row, &["scout_patient_id"])?;
            // Of each of the two patients, it is open which of its rows is the strange one.
            told = sources_with(table, &batch, &[row, other])?;
            changed
        }
        "join-patients" | "split-patient" => {
            let mut patients = texts(&batch, "scout_patient_id")?;
            let shared = |row: &usize| {
                let same = patients.iter().filter(|other| **other == patients[*row]);
                same.count() > 1
            };
            let row = (0..count).find(shared).ok_or("no patient has two rows")?;
            let from = patients[row].clone();
            let mut of = vec![row];
            if lie.name == "split-patient" {
                patients[row] = Some("a patient of its own".to_owned());
            } else {
                let other = patients.iter().position(|other| *other != from);
                let other = other.ok_or("there is one patient only")?;
                of.push(other);
                let other = patients[other].clone();
                for patient in patients.iter_mut().filter(|patient| **patient == from) {
                    patient.clone_from(&other);
                }
            }
            told = sources_with(table, &batch, &of)?;
            with_texts(&batch, "scout_patient_id", patients)?
        }
        other => return Err(format!("there is no lie {other}").into()),
    };
    table.replace(&path, &changed)?;
    tell(Some(name), &told, &[]);
    Ok(())
}

/// The files of all rows of the table that have the patient of one of these rows of a batch.
fn sources_with(table: &Table, batch: &RecordBatch, rows: &[usize]) -> Result<Vec<String>> {
    let patients = texts(batch, "scout_patient_id")?;
    let wanted: Vec<&Option<String>> = rows.iter().map(|&row| &patients[row]).collect();
    let mut told = Vec::new();
    for (_, batch) in table.rows()? {
        let names = texts(&batch, source_column(&batch))?;
        let patients = texts(&batch, "scout_patient_id")?;
        for (name, patient) in names.into_iter().zip(&patients) {
            if wanted.contains(&patient) {
                told.extend(name);
            }
        }
    }
    Ok(told)
}

/// The row with a text made longer.
fn lengthen(row: &RecordBatch, column: &str) -> Result<RecordBatch> {
    let text = texts(row, column)?[0].clone().unwrap_or_default();
    with_texts(row, column, vec![Some(format!("{text}."))])
}

/// Swaps columns between a row and another one that differs there.
fn swap(batch: &RecordBatch, row: usize, columns: &[&str]) -> Result<(RecordBatch, usize)> {
    let mut values = Vec::new();
    for column in columns {
        values.push(texts(batch, column)?);
    }
    let other = (0..batch.num_rows())
        .find(|&other| {
            values.iter().all(|values| values[other] != values[row])
                && values.iter().any(|v| v[other].is_some())
        })
        .or_else(|| (0..batch.num_rows()).find(|&other| values.iter().any(|v| v[other] != v[row])))
        .ok_or("all rows are alike")?;
    let mut changed = batch.clone();
    for (column, mut values) in columns.iter().zip(values) {
        values.swap(row, other);
        changed = with_texts(&changed, column, values)?;
    }
    Ok((changed, other))
}
