//! From a row of `reports` to a row of `reports_curated`, column by column.
//!
//! Written from the rules alone, without a look at how the generator's truth is made: the two are
//! compared. Carried columns are shared with the source, not copied.

use crate::calendar::complete_years;
use crate::error::{Error, Result};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Int32Array, RecordBatch, StringArray,
};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Date32Type, Field, Schema, TimestampMicrosecondType};
use bench_tables::{CuratedColumn, ReportColumn, Table as Name, arrow as columns};
use std::sync::Arc;

/// 1905-01-01: a birth date must be later to be believed.
const EARLIEST_BIRTH: i32 = -23_741;
/// An age of so many years or more is not believed, nor is the birth date that it comes from.
const GREATEST_AGE: i64 = 109;

/// Curated rows, and how many reports have no accession and were dropped.
pub(crate) fn curate(reports: &RecordBatch) -> Result<(RecordBatch, u64)> {
    let filler = first_filled(
        reports,
        ReportColumn::Obr3FillerOrderNumber,
        ReportColumn::Orc3FillerOrderNumber,
    )?;
    let kept: Vec<bool> = filler
        .iter()
        .map(|text| text.is_some_and(|text| text.bytes().any(|b| b != b' ')))
        .collect();
    let dropped = kept.iter().filter(|kept| !**kept).count();
    let wrong = || Error::columns(Name::Curated.name(), "curating rows");
    let (reports, filler) = if dropped == 0 {
        (reports.clone(), filler)
    } else {
        let kept = BooleanArray::from(kept);
        let filler = arrow::compute::filter(&filler, &kept).map_err(wrong())?;
        let reports = filter_record_batch(reports, &kept).map_err(wrong())?;
        (reports, filler.as_string::<i32>().clone())
    };
    let identifiers: Vec<&str> = reports
        .schema_ref()
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .filter(|name| is_identifier(name))
        .collect();
    let schema = columns::schema(Name::Curated, identifiers.iter().copied());
    let filler: ArrayRef = Arc::new(filler);
    let (birth_date, age) = birth_and_age(&reports)?;
    let arrays = schema
        .fields()
        .iter()
        .map(|field| column(&reports, field, &filler, &birth_date, &age))
        .collect::<Result<Vec<_>>>()?;
    let curated = RecordBatch::try_new(Arc::new(Schema::new(schema.fields().clone())), arrays)
        .map_err(wrong())?;
    Ok((curated, dropped as u64))
}

fn column(
    reports: &RecordBatch,
    field: &Field,
    filler: &ArrayRef,
    birth_date: &ArrayRef,
    age: &ArrayRef,
) -> Result<ArrayRef> {
    let name = field.name().as_str();
    Ok(match CuratedColumn::from_name(name) {
        Some(CuratedColumn::PrimaryReportIdentifier) => {
            Arc::clone(named(reports, ReportColumn::SourceFile.name())?)
        }
        Some(CuratedColumn::PlacerOrderNumber) => Arc::new(first_filled(
            reports,
            ReportColumn::Obr2PlacerOrderNumber,
            ReportColumn::Orc2PlacerOrderNumber,
        )?),
        Some(CuratedColumn::AccessionNumber | CuratedColumn::PrimaryStudyIdentifier) => {
            Arc::clone(filler)
        }
        Some(CuratedColumn::PrimaryPatientIdentifier) => Arc::new(primary_patient(reports)?),
        Some(CuratedColumn::PatientMpi) => Arc::new(patient_mpi(reports)?),
        Some(CuratedColumn::BirthDate) => Arc::clone(birth_date),
        Some(CuratedColumn::PatientAge) => Arc::clone(age),
        // Carried over: the rest of reports, `updated` and the identifier columns.
        Some(_) | None => Arc::clone(named(reports, name)?),
    })
}

/// Whether a column of a table is an identifier column.
pub(crate) fn is_identifier(name: &str) -> bool {
    ReportColumn::from_name(name).is_none()
        && CuratedColumn::from_name(name).is_none()
        && !matches!(name, "updated" | "content_hash")
}

fn named<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(|| Error::Columns {
        table: Name::Reports.name(),
        action: "curating rows",
        source: format!("column {name} is missing").into(),
    })
}

fn strings(batch: &RecordBatch, column: ReportColumn) -> Result<&StringArray> {
    Ok(named(batch, column.name())?.as_string::<i32>())
}

/// The first column's value unless it is absent or "", else the second's.
fn first_filled(
    batch: &RecordBatch,
    first: ReportColumn,
    second: ReportColumn,
) -> Result<StringArray> {
    let (first, second) = (strings(batch, first)?, strings(batch, second)?);
    Ok(first
        .iter()
        .zip(second)
        .map(|(first, second)| first.filter(|text| !text.is_empty()).or(second))
        .collect())
}

/// An identifier column of the batch, if it has it.
fn identifier<'a>(batch: &'a RecordBatch, name: &str) -> Option<&'a StringArray> {
    batch
        .column_by_name(name)
        .map(|column| column.as_string::<i32>())
}

/// The identifier columns that speak for a patient in an HL7 version, in the order of their rank.
struct ByVersion<'a> {
    newest: Vec<(&'static str, Option<&'a StringArray>)>,
    middle: Vec<(&'static str, Option<&'a StringArray>)>,
    mpi: &'a StringArray,
    version: &'a StringArray,
}

impl<'a> ByVersion<'a> {
    fn new(
        batch: &'a RecordBatch,
        newest: &[&'static str],
        middle: &[&'static str],
    ) -> Result<Self> {
        let of = |names: &[&'static str]| {
            names
                .iter()
                .map(|&name| (name, identifier(batch, name)))
                .collect()
        };
        Ok(Self {
            newest: of(newest),
            middle: of(middle),
            mpi: strings(batch, ReportColumn::Mpi)?,
            version: strings(batch, ReportColumn::VersionId)?,
        })
    }

    /// Column and value that speak for a row's patient.
    fn at(&self, row: usize) -> Option<(&'static str, &'a str)> {
        let version = self.version.is_valid(row).then(|| self.version.value(row));
        let ranked = match version {
            Some("2.7") => &self.newest,
            Some("2.4") => &self.middle,
            _ => return self.mpi.is_valid(row).then(|| ("mpi", self.mpi.value(row))),
        };
        ranked.iter().find_map(|&(name, column)| {
            let column = column?;
            column.is_valid(row).then(|| (name, column.value(row)))
        })
    }
}

fn primary_patient(batch: &RecordBatch) -> Result<StringArray> {
    let ids = ByVersion::new(
        batch,
        &["epic_mrn", "mbmc_mr", "empi_mr"],
        &["bjh_mr", "bjwc_mr", "slch_mr"],
    )?;
    Ok((0..batch.num_rows())
        .map(|row| {
            ids.at(row)
                .map(|(column, value)| format!("{column}_{value}"))
        })
        .collect())
}

fn patient_mpi(batch: &RecordBatch) -> Result<StringArray> {
    let ids = ByVersion::new(batch, &["empi_mr"], &["bjh_ee", "bjwc_ee", "slch_ee"])?;
    Ok((0..batch.num_rows())
        .map(|row| ids.at(row).map(|(_, value)| value))
        .collect())
}

/// A report's ids as the mapping of patients takes them: MPI and Epic MRN.
pub(crate) fn mapping_ids(curated: &RecordBatch) -> Result<Vec<(Option<String>, Option<String>)>> {
    let mpi = ByVersion::new(curated, &["empi_mr"], &["bjh_ee", "bjwc_ee", "slch_ee"])?;
    let mrn: Vec<Option<&StringArray>> = ["epic_mrn", "mbmc_mr"]
        .map(|name| identifier(curated, name))
        .to_vec();
    Ok((0..curated.num_rows())
        .map(|row| {
            let newest = mpi.version.is_valid(row) && mpi.version.value(row) == "2.7";
            let epic = mrn
                .iter()
                .flatten()
                .find(|column| newest && column.is_valid(row));
            (
                mpi.at(row).map(|(_, value)| value.to_owned()),
                epic.map(|column| column.value(row).to_owned()),
            )
        })
        .collect())
}

/// The cleaned birth date and the age at the scan.
fn birth_and_age(batch: &RecordBatch) -> Result<(ArrayRef, ArrayRef)> {
    let birth = named(batch, ReportColumn::BirthDate.name())?.as_primitive::<Date32Type>();
    let time = |column: ReportColumn| -> Result<_> {
        Ok(named(batch, column.name())?.as_primitive::<TimestampMicrosecondType>())
    };
    let (observed, requested) = (
        time(ReportColumn::ObservationDt)?,
        time(ReportColumn::RequestedDt)?,
    );
    let mut births = Vec::with_capacity(batch.num_rows());
    let mut ages = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        let born = birth
            .is_valid(row)
            .then(|| birth.value(row))
            .filter(|day| *day > EARLIEST_BIRTH);
        let scanned = [observed, requested]
            .into_iter()
            .find(|column| column.is_valid(row))
            .map(|column| column.value(row));
        let age = born
            .zip(scanned)
            .map(|(born, at)| complete_years(born.into(), at));
        if age.is_some_and(|age| age > GREATEST_AGE) {
            births.push(None);
            ages.push(None);
        } else {
            births.push(born);
            ages.push(age.and_then(|age| i32::try_from(age).ok()));
        }
    }
    Ok((
        Arc::new(Date32Array::from(births)),
        Arc::new(Int32Array::from(ages)),
    ))
}
