//! Dates and times of a row as text, for people and for JSON.
//!
//! Values count from 1970-01-01 in UTC, in the proleptic Gregorian calendar.

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// The day, counted from 1970-01-01, of a year, a month from 1 and a day of the month; the inverse
/// of [`civil_date`]. A day that the month does not have runs over into the next month.
#[must_use]
pub const fn day_of(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month = (month as i64 + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day as i64 - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of the month of a day counted from 1970-01-01.
#[must_use]
pub const fn civil_date(days: i64) -> (i64, u32, u32) {
    // Counted from 0000-03-01, so that a leap day ends its year; 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (
        year + era * 400 + next_year,
        month as u32,
        day_of_month as u32,
    )
}

/// A day counted from 1970-01-01 as `YYYY-MM-DD`.
#[must_use]
pub fn date_text(days: i64) -> String {
    let (year, month, day) = civil_date(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Microseconds since 1970-01-01T00:00:00Z as `YYYY-MM-DD HH:MM:SS`, with a fraction only where
/// there is one.
#[must_use]
pub fn timestamp_text(micros: i64) -> String {
    let (seconds, fraction) = (
        micros.div_euclid(MICROS_PER_SECOND),
        micros.rem_euclid(MICROS_PER_SECOND),
    );
    let date = date_text(seconds.div_euclid(SECONDS_PER_DAY));
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = format!("{date} {hour:02}:{minute:02}:{second:02}");
    if fraction != 0 {
        text.push_str(&format!(".{fraction:06}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_ten_thousand_years_follows_the_one_before() {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let mut expected = (0, 1, 1);
        for day in -719_528..=2_932_896 {
            assert_eq!(civil_date(day), expected);
            let (year, month, date) = expected;
            assert_eq!(day_of(year, month, date), day);
            let last = match month {
                2 if is_leap(year) => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (month, date == last) {
                (_, false) => (year, month, date + 1),
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
            };
        }
        assert_eq!(expected, (10_000, 1, 1));
    }

    #[test]
    fn a_time_is_printed_to_the_second_unless_it_has_a_fraction() {
        assert_eq!(timestamp_text(0), "1970-01-01 00:00:00");
        assert_eq!(timestamp_text(1_673_633_237_000_000), "2023-01-13 18:07:17");
        assert_eq!(timestamp_text(-1), "1969-12-31 23:59:59.999999");
    }
}
