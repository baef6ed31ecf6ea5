//! Dates and times as digits, on the proleptic Gregorian calendar, in UTC.

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// The number that ASCII digits write.
fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + u32::from(byte - b'0'))
    })
}

fn days_of_month(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a real date from year 0 on.
fn days_since_epoch(year: u32, month: u32, day: u32) -> i32 {
    // Years begin in March here, so that the leap day is a year's last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year + 399, month + 9)
    };
    let (cycle, of_cycle) = (year / 400, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * of_cycle + of_cycle / 4 - of_cycle / 100 + day_of_year;
    // 719,468 days lie between 0000-03-01 and 1970-01-01. Dates of January and February were put
    // one year back and one cycle of 400 years, 146,097 days, ahead.
    let ahead = if month > 9 { 146_097 } else { 0 };
    (cycle * 146_097 + days) as i32 - 719_468 - ahead
}

/// A date by its digits: year, month, day.
fn date(digits: &[u8]) -> Option<(u32, i32)> {
    let (year, month, day) = (
        number(&digits[..4])?,
        number(&digits[4..6])?,
        number(&digits[6..8])?,
    );
    let is_real = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    is_real.then(|| (year, days_since_epoch(year, month, day)))
}

/// Days since 1970-01-01 of the date that the first 8 characters are.
pub(crate) fn leading_date(text: &str) -> Option<i32> {
    date(text.as_bytes().get(..8)?).map(|(_, days)| days)
}

/// A point in time and its year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub(crate) micros: i64,
    /// 0–9999.
    pub(crate) year: i32,
}

/// The time that 14 digits are, or 12, to which "00" is appended. Anything else is none: other
/// lengths, fractions, zones, dates and times that do not exist.
pub(crate) fn time(text: &str) -> Option<Time> {
    let digits = text.as_bytes();
    if digits.len() != 12 && digits.len() != 14 {
        return None;
    }
    let (year, days) = date(digits)?;
    let (hour, minute) = (number(&digits[8..10])?, number(&digits[10..12])?);
    let second = number(&digits[12..])?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = i64::from(days) * SECONDS_PER_DAY + i64::from(hour * 3600 + minute * 60 + second);
    Some(Time {
        micros: seconds * MICROS_PER_SECOND,
        year: year as i32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> Option<i64> {
        time(text).map(|time| time.micros)
    }

    #[test]
    fn fourteen_digits_are_a_time_in_utc() {
        assert_eq!(micros("19700101000000"), Some(0));
        assert_eq!(micros("19691231235959"), Some(-1_000_000));
        assert_eq!(micros("20230113180717"), Some(1_673_633_237_000_000));
        assert_eq!(micros("99991231235959"), Some(253_402_300_799_000_000));
    }

    #[test]
    fn twelve_digits_get_seconds_zero() {
        assert_eq!(micros("202301131807"), micros("20230113180700"));
        assert_eq!(micros("197001010000"), Some(0));
    }

    #[test]
    fn other_lengths_fractions_zones_and_text_are_no_time() {
        for text in [
            "",
            "20230113",
            "2023011318",
            "2023011318071",
            "202301131807170",
            "20230113180717.1",
            "20230113180717-0600",
            "20230113-0600",
            "202301131807Z",
            " 0230113180717",
            "20230113180717 ",
            "2023-1-13T1807",
            "+2023011318071",
            "ABCDEFGHIJKLMN",
            "２０２３01",
            "2023011318é",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }

    #[test]
    fn times_that_do_not_exist_are_none() {
        for text in [
            "20231301000000",
            "20230001000000",
            "20230100000000",
            "20230132000000",
            "20230431000000",
            "20230229000000",
            "19000229000000",
            "20230101240000",
            "20230101006000",
            "20230101000060",
            "202301012400",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
        for text in ["20240229000000", "20000229000000", "00000229000000"] {
            assert!(micros(text).is_some(), "{text}");
        }
    }

    #[test]
    fn every_day_of_ten_thousand_years_follows_the_one_before() {
        let mut expected = -719_528;
        for year in 0..10_000 {
            for month in 1..=12 {
                for day in 1..=days_of_month(year, month) {
                    let text = format!("{year:04}{month:02}{day:02}");
                    assert_eq!(leading_date(&text), Some(expected), "{text}");
                    expected += 1;
                }
                let text = format!("{year:04}{month:02}{:02}", days_of_month(year, month) + 1);
                assert_eq!(leading_date(&text), None, "{text}");
            }
        }
        assert_eq!(leading_date("19700101"), Some(0));
    }

    #[test]
    fn a_date_is_the_first_eight_characters() {
        assert_eq!(leading_date("19700102000000"), Some(1));
        assert_eq!(leading_date("19700102garbage"), Some(1));
        assert_eq!(leading_date("1970010"), None);
        assert_eq!(leading_date("1970010é2"), None);
        assert_eq!(leading_date(""), None);
    }
}
