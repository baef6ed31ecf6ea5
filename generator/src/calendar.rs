//! Days and seconds of the proleptic Gregorian calendar, in UTC, as integers.
//!
//! The data set needs a handful of conversions on a hot path, with exact digits and no time zone.

use bench_tables::time;

/// Days since 1970-01-01.
pub(crate) type Day = i32;

/// Seconds of a day.
pub(crate) const DAY_SECONDS: i64 = 86_400;

/// 1970-01-01, the first day that a data set may begin on.
pub(crate) const FIRST_DAY: Day = 0;
/// 9998-12-31, the last day that a data set may reach.
pub(crate) const LAST_DAY: Day = day_of(9998, 12, 31);

/// Day of a date.
pub(crate) const fn day_of(year: i32, month: u32, day: u32) -> Day {
    time::day_of(year as i64, month, day) as Day
}

/// Year, month and day of the month. The inverse of [`day_of`].
pub(crate) const fn date_of(day: Day) -> (i32, u32, u32) {
    let (year, month, day) = time::civil_date(day as i64);
    (year as i32, month, day)
}

/// Weekday of a day, Monday = 0.
pub(crate) const fn weekday(day: Day) -> usize {
    (day + 3).rem_euclid(7) as usize
}

/// A day written `YYYY-MM-DD`; `None` if it is no real date.
pub(crate) fn parse_day(text: &str) -> Option<Day> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let number = |part: &str| part.parse::<u32>().ok();
    let (year, month, day) = (number(year)? as i32, number(month)?, number(day)?);
    let parsed = day_of(year, month, day);
    (month != 0 && month <= 12 && date_of(parsed) == (year, month, day)).then_some(parsed)
}

/// The last N decimal digits of a number, with leading zeros.
pub(crate) fn digits<const N: usize>(mut number: u64) -> [u8; N] {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    digits
}

/// A day as `YYYYMMDD`.
pub(crate) fn day_digits(day: Day) -> [u8; 8] {
    let (year, month, day) = date_of(day);
    digits(year as u64 * 10_000 + u64::from(month * 100 + day))
}

/// A point in time, in seconds since 1970, as `YYYYMMDDHHMMSS`.
pub(crate) fn time_digits(seconds: i64) -> [u8; 14] {
    let (year, month, day) = date_of(seconds.div_euclid(DAY_SECONDS) as Day);
    let second = seconds.rem_euclid(DAY_SECONDS) as u64;
    let date = year as u64 * 10_000 + u64::from(month * 100 + day);
    let time = second / 3600 * 10_000 + second / 60 % 60 * 100 + second % 60;
    digits(date * 1_000_000 + time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_range_comes_back_from_its_date() {
        let mut before = date_of(FIRST_DAY - 1);
        for day in (FIRST_DAY..=LAST_DAY).step_by(1) {
            let date = date_of(day);
            assert_eq!(day_of(date.0, date.1, date.2), day);
            assert!(date > before);
            before = date;
        }
        assert_eq!(before, (9998, 12, 31));
    }

    #[test]
    fn known_days_have_their_weekday() {
        assert_eq!(weekday(day_of(1970, 1, 1)), 3, "a Thursday");
        assert_eq!(weekday(day_of(2025, 10, 29)), 2, "a Wednesday");
    }

    #[test]
    fn only_real_dates_are_read() {
        assert_eq!(parse_day("2015-01-01"), Some(16_436));
        for bad in ["2023-02-29", "2023-13-01", "2023-1-01", "20230101", "x"] {
            assert_eq!(parse_day(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_have_fourteen_digits() {
        assert_eq!(
            &time_digits(16_436 * DAY_SECONDS + 3_723),
            b"20150101010203"
        );
    }
}
