//! Ages, and times as statistics write them.

use bench_tables::time::{civil_date, date_text};

const DAY_MICROS: i64 = 86_400_000_000;

/// A time in microseconds since 1970 as `YYYY-MM-DDTHH:MM:SS.ssssssZ`.
pub(crate) fn time_text(micros: i64) -> String {
    let (day, micros) = (micros.div_euclid(DAY_MICROS), micros.rem_euclid(DAY_MICROS));
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "{}T{hours:02}:{minutes:02}:{seconds:02}.{micros:06}Z",
        date_text(day)
    )
}

/// Complete years from the midnight of a birth date to a time, truncated toward zero; negative
/// where the time is a year or more before the birth. Who is born on a 29 February has the
/// birthday on 1 March of common years.
pub(crate) fn complete_years(birth: i64, at_micros: i64) -> i64 {
    let (mut day, time) = (
        at_micros.div_euclid(DAY_MICROS),
        at_micros.rem_euclid(DAY_MICROS),
    );
    if day < birth && time > 0 {
        // The rest of that day is not a whole day before the birth.
        day += 1;
    }
    let months = |days: i64| {
        let (year, month, day) = civil_date(days);
        ((year * 12 + i64::from(month) - 1) * 32) + i64::from(day)
    };
    (months(day) - months(birth)) / 32 / 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_six_digits_behind_its_seconds() {
        assert_eq!(time_text(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(time_text(-1), "1969-12-31T23:59:59.999999Z");
    }

    #[test]
    fn an_age_is_complete_years() {
        let day = |days: i64| days * DAY_MICROS;
        let leap_birth = 19_782; // 2024-02-29
        assert_eq!(complete_years(leap_birth, day(leap_birth)), 0);
        assert_eq!(complete_years(leap_birth, day(20_147)), 0); // 2025-02-28
        assert_eq!(complete_years(leap_birth, day(20_148) - 1), 0);
        assert_eq!(complete_years(leap_birth, day(20_148)), 1); // 2025-03-01
        let birth = 0; // 1970-01-01
        assert_eq!(complete_years(birth, day(365) - 1), 0);
        assert_eq!(complete_years(birth, day(365)), 1);
        assert_eq!(complete_years(birth, day(-365) + 1), 0); // not quite a year before
        assert_eq!(complete_years(birth, day(-365)), -1); // 1969-01-01
    }
}
