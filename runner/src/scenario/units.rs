//! Durations and sizes as people write them: `5min`, `1h30min`, `32GiB`.
//!
//! Reading is left to two crates. Writing is done here, since what is written must read back as
//! exactly the same, in the units that scenarios use.

use bytesize::ByteSize;
use std::fmt::Write;
use std::time::Duration;

/// How a duration is written.
pub(super) const DURATION: &str =
    "a text with a number and its unit, such as \"250ms\", \"30s\", \"5min\" or \"1h30min\"";
/// How a size is written.
pub(super) const SIZE: &str =
    "a text such as \"96MiB\", \"2GB\" or \"32GiB\", or a whole number of bytes";

/// More digits in a row than any duration needs; the crate that reads would overflow.
const MOST_DIGITS: usize = 12;

/// Reads a duration.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let longest = text
        .split(|char: char| !char.is_ascii_digit())
        .map(str::len)
        .max();
    if longest.is_none_or(|digits| digits > MOST_DIGITS) || text.len() > 100 {
        return None;
    }
    humantime::parse_duration(text).ok()
}

/// Writes a duration so that it reads back the same.
#[must_use]
pub fn duration_text(duration: Duration) -> String {
    if duration.is_zero() {
        return "0s".to_owned();
    }
    let seconds = duration.as_secs();
    let nanos = u64::from(duration.subsec_nanos());
    let mut text = String::new();
    for (count, unit) in [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
        (nanos / 1_000_000, "ms"),
        (nanos / 1000 % 1000, "us"),
        (nanos % 1000, "ns"),
    ] {
        if count > 0 {
            let _ = write!(text, "{count}{unit}");
        }
    }
    text
}

/// Reads a size in bytes.
pub(crate) fn size(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > 40 {
        return None;
    }
    let bytes = text.parse::<ByteSize>().ok()?.as_u64();
    // The crate takes what does not fit for the greatest number there is.
    (bytes < u64::MAX).then_some(bytes)
}

/// Writes a size so that it reads back the same: in the largest unit that leaves a whole number.
#[must_use]
pub fn size_text(bytes: u64) -> String {
    let units = [
        ("TiB", bytesize::TIB),
        ("TB", bytesize::TB),
        ("GiB", bytesize::GIB),
        ("GB", bytesize::GB),
        ("MiB", bytesize::MIB),
        ("MB", bytesize::MB),
        ("KiB", bytesize::KIB),
        ("kB", bytesize::KB),
    ];
    units
        .iter()
        .find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit))
        .map_or_else(
            || format!("{bytes}B"),
            |(name, unit)| format!("{}{name}", bytes / unit),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_the_units_that_people_write() {
        let read = |text| duration(text).map(|duration| duration.as_millis());
        assert_eq!(read("250ms"), Some(250));
        assert_eq!(read("30s"), Some(30_000));
        assert_eq!(read("5min"), Some(300_000));
        assert_eq!(read("1h30min"), Some(5_400_000));
        assert_eq!(read("1h 30min"), Some(5_400_000));
        assert_eq!(read("1.5s"), Some(1500));
        for wrong in ["", "5", "min", "-5s", "5 parsecs", "99999999999999999999s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read_in_binary_and_decimal_units() {
        assert_eq!(size("32GiB"), Some(32 << 30));
        assert_eq!(size("96MiB"), Some(96 << 20));
        assert_eq!(size("2GB"), Some(2_000_000_000));
        assert_eq!(size("1.5GiB"), Some(3 << 29));
        assert_eq!(size("1048576"), Some(1 << 20));
        for wrong in ["", "GiB", "-1GiB", "2 gigs", "99999999999EiB", "inf"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_written_reads_back_as_the_same() {
        for millis in [0, 1, 250, 999, 1000, 90_000, 5_400_000, 31_622_400_001] {
            let duration = Duration::from_millis(millis);
            assert_eq!(super::duration(&duration_text(duration)), Some(duration));
        }
        for nanos in [1, 999, 1_000_001, 123_456_789_123] {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(super::duration(&duration_text(duration)), Some(duration));
        }
        for bytes in [
            0,
            1,
            1000,
            1024,
            96 << 20,
            2_000_000_000,
            32 << 30,
            1_000_001,
        ] {
            assert_eq!(size(&size_text(bytes)), Some(bytes));
        }
        assert_eq!(size_text(32 << 30), "32GiB");
        assert_eq!(duration_text(Duration::from_secs(300)), "5min");
    }
}
