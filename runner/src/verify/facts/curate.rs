//! The curated row that follows from a row of `reports`, where no truth says it.
//!
//! A third version besides the generator's and the engine's, on purpose: it must not share a fault
//! with what it judges.

use bench_tables::time::{civil_date, day_of};
use bench_tables::{
    CuratedColumn as Curated, CuratedRow, ReportColumn as Report, ReportRow, Value,
};
use bumpalo::Bump;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
const OLDEST: i32 = 110;

/// Which identifier columns count, the first that has a value first.
struct Eras {
    patient: &'static [&'static str],
    mpi: &'static [&'static str],
    epic_mrn: &'static [&'static str],
}

/// `None` where PID-2 is the only id that counts.
fn era(row: &ReportRow<'_>) -> Option<Eras> {
    match row.get(Report::VersionId).as_str()? {
        "2.7" => Some(Eras {
            patient: &["epic_mrn", "mbmc_mr", "empi_mr"],
            mpi: &["empi_mr"],
            epic_mrn: &["epic_mrn", "mbmc_mr"],
        }),
        "2.4" => Some(Eras {
            patient: &["bjh_mr", "bjwc_mr", "slch_mr"],
            mpi: &["bjh_ee", "bjwc_ee", "slch_ee"],
            epic_mrn: &[],
        }),
        _ => None,
    }
}

fn first<'a>(row: &ReportRow<'a>, columns: &[&'static str]) -> Option<(&'static str, &'a str)> {
    let mut values = columns.iter();
    values.find_map(|&column| Some((column, row.identifier(column)?)))
}

/// The two ids of the mapping.
pub(super) fn mapping_ids<'a>(row: &ReportRow<'a>) -> (Option<&'a str>, Option<&'a str>) {
    let Some(era) = era(row) else {
        return (row.get(Report::Mpi).as_str(), None);
    };
    let value = |columns| first(row, columns).map(|(_, id)| id);
    (value(era.mpi), value(era.epic_mrn))
}

/// The OBR's number unless it is absent or empty, else the ORC's.
fn order_number<'a>(row: &ReportRow<'a>, obr: Report, orc: Report) -> Option<&'a str> {
    let obr = row.get(obr).as_str().filter(|number| !number.is_empty());
    obr.or_else(|| row.get(orc).as_str())
}

/// The curated row; `None` where the accession is absent or blank.
pub(crate) fn curated_row<'a>(row: &ReportRow<'a>, arena: &'a Bump) -> Option<CuratedRow<'a>> {
    let filler = order_number(
        row,
        Report::Obr3FillerOrderNumber,
        Report::Orc3FillerOrderNumber,
    );
    let accession = filler.filter(|filler| filler.bytes().any(|byte| byte != b' '))?;
    let placer = order_number(
        row,
        Report::Obr2PlacerOrderNumber,
        Report::Orc2PlacerOrderNumber,
    );
    let mut curated = CuratedRow::new();
    for &column in Curated::ALL {
        if let Some(from) = column.carried_from() {
            curated.set(column, row.get(from));
        }
    }
    curated.identifiers = row.identifiers;
    let (patient, mpi) = match era(row) {
        Some(era) => (
            first(row, era.patient),
            first(row, era.mpi).map(|(_, id)| id),
        ),
        None => {
            let mpi = row.get(Report::Mpi).as_str();
            (mpi.map(|id| ("mpi", id)), mpi)
        }
    };
    let patient = patient.map(|(column, id)| &*arena.alloc_str(&format!("{column}_{id}")));
    for (column, value) in [
        (
            Curated::PrimaryReportIdentifier,
            row.get(Report::SourceFile),
        ),
        (Curated::PlacerOrderNumber, Value::text(placer)),
        (Curated::AccessionNumber, Value::Str(accession)),
        (Curated::PrimaryStudyIdentifier, Value::Str(accession)),
        (Curated::PrimaryPatientIdentifier, Value::text(patient)),
        (Curated::PatientMpi, Value::text(mpi)),
    ] {
        curated.set(column, value);
    }
    // A date that is not believed has no age either: the platform takes the age from what is left of it.
    if let Value::Date(born) = row.get(Report::BirthDate)
        && i64::from(born) > day_of(1905, 1, 1)
    {
        let observed = row.get(Report::ObservationDt).as_timestamp();
        let scan = observed.or_else(|| row.get(Report::RequestedDt).as_timestamp());
        let age = scan.map(|scan| years_between(born, scan));
        if age.is_none_or(|age| age < OLDEST) {
            curated.set(Curated::PatientAge, age.map_or(Value::Null, Value::Int));
            curated.set(Curated::BirthDate, Value::Date(born));
        }
    }
    Some(curated)
}

/// Complete years from the midnight of a day to a moment, toward zero.
fn years_between(born: i32, moment: i64) -> i32 {
    // A place within the year that grows with time; 29 February comes before 1 March.
    let place = |day: i64, micros: i64| {
        let (year, month, date) = civil_date(day);
        let within = i64::from(month * 32 + date) * MICROS_PER_DAY + micros;
        (year, within)
    };
    let (birth_year, birth) = place(born.into(), 0);
    let (year, within) = place(
        moment.div_euclid(MICROS_PER_DAY),
        moment.rem_euclid(MICROS_PER_DAY),
    );
    let mut years = year - birth_year;
    if years > 0 && within < birth {
        years -= 1;
    } else if years < 0 && within > birth {
        years += 1;
    }
    i32::try_from(years).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(year: i64, month: u32, day: u32, seconds: i64) -> i64 {
        day_of(year, month, day) * MICROS_PER_DAY + seconds * MICROS_PER_SECOND
    }

    fn born(year: i64, month: u32, day: u32) -> i32 {
        i32::try_from(day_of(year, month, day)).expect("it is a date")
    }

    #[test]
    fn an_age_is_complete_years_toward_zero() {
        for (born, moment, years) in [
            (born(1980, 5, 10), at(2020, 5, 9, 86_399), 39),
            (born(1980, 5, 10), at(2020, 5, 10, 0), 40),
            (born(2004, 2, 29), at(2023, 2, 28, 80_000), 18),
            (born(2004, 2, 29), at(2023, 3, 1, 0), 19),
            (born(2020, 5, 10), at(2020, 5, 9, 0), 0),
            (born(2020, 5, 10), at(2019, 5, 10, 1), 0),
            (born(2020, 5, 10), at(2019, 5, 10, 0), -1),
            (born(2020, 5, 10), at(2018, 5, 11, 0), -1),
        ] {
            assert_eq!(years_between(born, moment), years);
        }
    }

    #[test]
    fn a_filler_of_spaces_hides_a_good_one_and_an_empty_one_does_not() {
        let arena = Bump::new();
        let mut row = ReportRow::new();
        row.set(Report::Orc3FillerOrderNumber, Value::Str("7"));
        row.set(Report::Obr3FillerOrderNumber, Value::Str(""));
        let curated = curated_row(&row, &arena).expect("it has an accession");
        assert_eq!(curated.get(Curated::AccessionNumber), Value::Str("7"));
        row.set(Report::Obr3FillerOrderNumber, Value::Str("  "));
        assert!(curated_row(&row, &arena).is_none());
    }

    #[test]
    fn a_birth_date_that_is_not_believed_has_no_age_either() {
        let arena = Bump::new();
        for (born, moment, believed) in [
            // Ages of 109 and 108, which would be believed.
            (born(1904, 6, 7), at(2014, 1, 1, 0), false),
            (born(1905, 1, 1), at(2013, 12, 31, 0), false),
            (born(1905, 1, 2), at(2013, 12, 31, 0), true),
            (born(1905, 1, 2), at(2015, 1, 2, 0), false),
        ] {
            let mut row = ReportRow::new();
            row.set(Report::Obr3FillerOrderNumber, Value::Str("7"));
            row.set(Report::BirthDate, Value::Date(born));
            row.set(Report::ObservationDt, Value::Timestamp(moment));
            let curated = curated_row(&row, &arena).expect("it has an accession");
            for column in [Curated::BirthDate, Curated::PatientAge] {
                assert_eq!(curated.get(column) != Value::Null, believed, "{born}");
            }
        }
    }
}
