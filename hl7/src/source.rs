//! The names and dates that a log's messages get from the log's own name, and the outcomes.

use std::fmt;

/// The day that a log's name tells: its first 8 consecutive digits.
///
/// Month and day are within 1–12 and 1–31, no more is checked: `20230231` is a date here, as it
/// is a folder of the staging area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogDate {
    digits: [u8; 8],
}

impl LogDate {
    /// The date in a log's file name or stem; `None` where there are no 8 consecutive digits, or
    /// where the first 8 are no month or day.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let window = name
            .as_bytes()
            .windows(8)
            .find(|window| window.iter().all(u8::is_ascii_digit))?;
        let date = Self {
            digits: window.try_into().ok()?,
        };
        let possible = (1..=12).contains(&date.month()) && (1..=31).contains(&date.day());
        possible.then_some(date)
    }

    /// Year, 0–9999.
    #[must_use]
    pub fn year(self) -> u16 {
        self.digits[..4]
            .iter()
            .fold(0, |year, digit| year * 10 + u16::from(digit - b'0'))
    }

    /// Month, 1–12.
    #[must_use]
    pub fn month(self) -> u8 {
        (self.digits[4] - b'0') * 10 + (self.digits[5] - b'0')
    }

    /// Day, 1–31, possibly one that its month does not have.
    #[must_use]
    pub fn day(self) -> u8 {
        (self.digits[6] - b'0') * 10 + (self.digits[7] - b'0')
    }

    /// The 8 digits.
    #[must_use]
    pub fn digits(&self) -> &str {
        std::str::from_utf8(&self.digits).expect("eight ASCII digits")
    }
}

impl fmt::Display for LogDate {
    /// `YYYY/MM/DD`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits();
        write!(f, "{}/{}/{}", &digits[..4], &digits[4..6], &digits[6..])
    }
}

/// Name under which a message is staged, relative to the staging root:
/// `YYYY/<stem>.zip/YYYY/MM/DD/<stem>_<ordinal>.hl7`. It is the message's `source_file`.
pub(crate) struct SourceFile<'a> {
    pub(crate) stem: &'a str,
    pub(crate) date: LogDate,
    pub(crate) ordinal: u32,
}

impl fmt::Display for SourceFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stem,
            date,
            ordinal,
        } = self;
        write!(
            f,
            "{}/{stem}.zip/{date}/{stem}_{ordinal}.hl7",
            &date.digits()[..4]
        )
    }
}

/// Why a whole log has no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LogFailure {
    /// The log's name holds no date.
    #[error(
        "its name has no date: the first 8 consecutive digits must be YYYYMMDD with month 01-12 and day 01-31"
    )]
    NoDate,
    /// No `<SB>` in the log.
    #[error("did not contain any HL7 messages")]
    NoMessages,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It is a row of `reports`.
    Read,
    /// All its lines are blank: it is staged nowhere, but keeps its number.
    Empty,
    /// Its first line has fewer than nine `|`.
    NotParsable,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Empty => "empty",
            Self::NotParsable => "not parsable as HL7",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(name: &str) -> Option<String> {
        LogDate::from_name(name).map(|date| date.digits().to_owned())
    }

    #[test]
    fn the_date_is_the_first_eight_consecutive_digits_of_the_name() {
        assert_eq!(digits("20230113.log").as_deref(), Some("20230113"));
        assert_eq!(digits("20000216_PORU.log").as_deref(), Some("20000216"));
        assert_eq!(digits("a1_2023011399.log").as_deref(), Some("20230113"));
        assert_eq!(digits("1234567_20230113").as_deref(), Some("20230113"));
        assert_eq!(digits("00000101").as_deref(), Some("00000101"));
    }

    #[test]
    fn a_name_without_digits_or_with_an_impossible_month_or_day_has_no_date() {
        for name in [
            "",
            "log",
            "2023011.log",
            "2023_0113.log",
            "20230013.log",
            "20231313.log",
            "20230100.log",
            "20230132.log",
            "２０２３０１１３.log",
        ] {
            assert_eq!(digits(name), None, "{name}");
        }
    }

    #[test]
    fn only_the_first_eight_digits_count() {
        assert_eq!(digits("99999999_20230113"), None);
        assert_eq!(digits("20230231").as_deref(), Some("20230231"));
    }

    #[test]
    fn a_message_is_named_after_its_log() {
        let source = SourceFile {
            stem: "20000216_PORU",
            date: LogDate::from_name("20000216_PORU").unwrap(),
            ordinal: 3,
        };
        assert_eq!(
            source.to_string(),
            "2000/20000216_PORU.zip/2000/02/16/20000216_PORU_3.hl7"
        );
    }
}
