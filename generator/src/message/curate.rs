//! The row of `reports_curated` that follows from a row of `reports`.

use super::text::concat;
use crate::calendar::{DAY_SECONDS, Day, date_of, day_of};
use bench_tables::ReportColumn as Report;
use bench_tables::{CuratedColumn as Curated, CuratedRow, ReportRow, Value};
use bumpalo::Bump;

/// Ids of a report as the mapping table takes them: master and EPIC number.
pub(crate) fn mapping_ids<'b>(row: &ReportRow<'b>) -> (Option<&'b str>, Option<&'b str>) {
    match row.get(Report::VersionId).as_str() {
        Some("2.7") => (
            row.identifier("empi_mr"),
            first(row, &["epic_mrn", "mbmc_mr"]).map(|(_, id)| id),
        ),
        Some("2.4") => (first(row, &MASTERS_2_4).map(|(_, id)| id), None),
        _ => (row.get(Report::Mpi).as_str(), None),
    }
}

const MASTERS_2_4: [&str; 3] = ["bjh_ee", "bjwc_ee", "slch_ee"];

/// The first of some identifier columns that has a value.
fn first<'b>(row: &ReportRow<'b>, names: &[&'static str]) -> Option<(&'static str, &'b str)> {
    names
        .iter()
        .find_map(|&name| row.identifier(name).map(|id| (name, id)))
}

/// The accession of a report, if it has one that is not blank.
pub(crate) fn accession<'b>(row: &ReportRow<'b>) -> Option<&'b str> {
    let filler = preferred(
        row,
        Report::Obr3FillerOrderNumber,
        Report::Orc3FillerOrderNumber,
    )?;
    filler.contains(|c| c != ' ').then_some(filler)
}

/// The OBR value unless it is absent or empty, else the ORC value.
fn preferred<'b>(row: &ReportRow<'b>, obr: Report, orc: Report) -> Option<&'b str> {
    match row.get(obr).as_str() {
        None | Some("") => row.get(orc).as_str(),
        some => some,
    }
}

/// The curated row, or `None` where curation drops the report.
pub(crate) fn curated_row<'b>(row: &ReportRow<'b>, arena: &'b Bump) -> Option<&'b CuratedRow<'b>> {
    let accession = accession(row)?;
    let curated = arena.alloc(CuratedRow::new());
    for &(to, from) in CARRIED.iter() {
        curated.set(to, row.get(from));
    }
    curated.identifiers = row.identifiers;
    curated.set(
        Curated::PrimaryReportIdentifier,
        row.get(Report::SourceFile),
    );
    let placer = preferred(
        row,
        Report::Obr2PlacerOrderNumber,
        Report::Orc2PlacerOrderNumber,
    );
    curated.set(Curated::PlacerOrderNumber, Value::text(placer));
    curated.set(Curated::AccessionNumber, Value::Str(accession));
    curated.set(Curated::PrimaryStudyIdentifier, Value::Str(accession));
    let (patient, mpi) = match row.get(Report::VersionId).as_str() {
        Some("2.7") => (
            first(row, &["epic_mrn", "mbmc_mr", "empi_mr"]),
            row.identifier("empi_mr"),
        ),
        Some("2.4") => (
            first(row, &["bjh_mr", "bjwc_mr", "slch_mr"]),
            first(row, &MASTERS_2_4).map(|(_, id)| id),
        ),
        _ => {
            let mpi = row.get(Report::Mpi).as_str();
            (mpi.map(|id| ("mpi", id)), mpi)
        }
    };
    let patient = patient.map(|(column, id)| concat(arena, &[column, "_", id]));
    curated.set(Curated::PrimaryPatientIdentifier, Value::text(patient));
    curated.set(Curated::PatientMpi, Value::text(mpi));
    let scan = row
        .get(Report::ObservationDt)
        .as_timestamp()
        .or(row.get(Report::RequestedDt).as_timestamp());
    birth(row.get(Report::BirthDate), scan, curated);
    Some(curated)
}

/// Columns that keep their name and value.
static CARRIED: std::sync::LazyLock<Vec<(Curated, Report)>> = std::sync::LazyLock::new(|| {
    Curated::ALL
        .iter()
        .filter_map(|&column| column.carried_from().map(|from| (column, from)))
        .collect()
});

/// Birth date and age. A date that is not after 1905-01-01 is none, and has no age either: the platform
/// takes the age from what is left of the date. Both go where the age is 110 or more.
fn birth(birth: Value<'_>, scan_micros: Option<i64>, curated: &mut CuratedRow<'_>) {
    let Value::Date(born) = birth else {
        return;
    };
    if born <= day_of(1905, 1, 1) {
        return;
    }
    let age = scan_micros.map(|scan| age(born, scan.div_euclid(1_000_000)));
    if age.is_some_and(|age| age >= 110) {
        return;
    }
    if let Some(age) = age {
        curated.set(Curated::PatientAge, Value::Int(age));
    }
    curated.set(Curated::BirthDate, Value::Date(born));
}

/// Complete years from midnight of the day of birth to a moment, toward zero. In common years a
/// birthday of 29 February falls on 1 March.
fn age(born: Day, scan: i64) -> i32 {
    let scan_day = scan.div_euclid(DAY_SECONDS) as Day;
    let midnight = scan.rem_euclid(DAY_SECONDS) == 0;
    let (birth_year, birth_month, birth_day) = date_of(born);
    let (year, month, day) = date_of(scan_day);
    let years = year - birth_year;
    let birthday = (birth_month, birth_day);
    if scan_day >= born {
        years - i32::from((month, day) < birthday)
    } else {
        // Counted backwards from the birth: a year is complete once its anniversary is reached.
        let reached = (month, day) < birthday || ((month, day) == birthday && midnight);
        years + i32::from(!reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(year: i32, month: u32, day: u32, second: i64) -> i64 {
        i64::from(day_of(year, month, day)) * DAY_SECONDS + second
    }

    #[test]
    fn age_is_in_complete_years() {
        let born = day_of(1980, 5, 10);
        assert_eq!(age(born, at(2020, 5, 9, 86_399)), 39);
        assert_eq!(age(born, at(2020, 5, 10, 0)), 40);
        let leap = day_of(2004, 2, 29);
        assert_eq!(age(leap, at(2023, 2, 28, 80_000)), 18);
        assert_eq!(age(leap, at(2023, 3, 1, 0)), 19);
    }

    #[test]
    fn age_before_birth_is_negative_from_a_year_on() {
        let born = day_of(2020, 5, 10);
        assert_eq!(age(born, at(2020, 5, 9, 0)), 0);
        assert_eq!(age(born, at(2019, 5, 10, 1)), 0);
        assert_eq!(age(born, at(2019, 5, 10, 0)), -1);
        assert_eq!(age(born, at(2018, 5, 11, 0)), -1);
    }

    #[test]
    fn a_birth_date_that_is_not_believed_has_no_age_either() {
        let arena = Bump::new();
        let curated = |birth: Day, scan: i64| {
            let mut row = ReportRow::new();
            row.set(Report::Obr3FillerOrderNumber, Value::Str("7"));
            row.set(Report::BirthDate, Value::Date(birth));
            row.set(Report::ObservationDt, Value::Timestamp(scan * 1_000_000));
            let curated = curated_row(&row, arena.alloc(Bump::new())).map(|row| {
                (
                    row.get(Curated::BirthDate) == Value::Null,
                    row.get(Curated::PatientAge) == Value::Null,
                )
            });
            curated.expect("it has an accession")
        };
        // Ages of 109 and 108, which would be believed.
        assert_eq!(curated(day_of(1904, 6, 7), at(2014, 1, 1, 0)), (true, true));
        assert_eq!(
            curated(day_of(1905, 1, 1), at(2013, 12, 31, 0)),
            (true, true)
        );
        assert_eq!(
            curated(day_of(1905, 1, 2), at(2013, 12, 31, 0)),
            (false, false)
        );
        assert_eq!(curated(day_of(1905, 1, 2), at(2015, 1, 2, 0)), (true, true));
    }
}
