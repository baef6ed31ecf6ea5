//! The proleptic Gregorian calendar, as far as ages and statistics need it.

/// Year, month and day of a day counted from 1970-01-01.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    // Counted from 0000-03-01, so that a leap day ends its year.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// A day counted from 1970-01-01 as `YYYY-MM-DD`.
pub(crate) fn date_text(days: i64) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

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
        let (year, month, day) = civil(days);
        ((year * 12 + month - 1) * 32) + day
    };
    (months(day) - months(birth)) / 32 / 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (-23_741, "1905-01-01"),
            (19_417, "2023-03-01"),
            (19_782, "2024-02-29"),
            (-719_528, "0000-01-01"),
            (2_932_896, "9999-12-31"),
        ] {
            assert_eq!(date_text(days), expected);
        }
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
