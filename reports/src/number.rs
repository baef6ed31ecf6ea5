//! Numbers as people read them.

/// A number with so many decimals, half a unit of the last one away from zero: 1.855 is 1.86, also
/// where its nearest binary number is below that.
fn fixed(value: f64, decimals: usize) -> String {
    let nudged = value * (1.0 + 4.0 * f64::EPSILON);
    format!("{nudged:.decimals$}")
}

/// Seconds: `1.23 ms`, `0.123 s`, `4.56 s`, `89.1 s`, `12.3 min`, `18.4 h`.
pub(crate) fn seconds(seconds: f64) -> String {
    let size = seconds.abs();
    if size == 0.0 {
        "0 s".to_owned()
    } else if size < 0.01 {
        format!("{:.2} ms", 1000.0 * seconds)
    } else if size < 1.0 {
        format!("{seconds:.3} s")
    } else if size < 10.0 {
        format!("{seconds:.2} s")
    } else if size < 120.0 {
        format!("{seconds:.1} s")
    } else if size < 7200.0 {
        format!("{:.1} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

/// Seconds a workflow, with the sign: `+0.012 s/workflow`.
pub(crate) fn slope(seconds: f64) -> String {
    if seconds.abs() < 0.01 {
        let millis = fixed(1000.0 * seconds.abs(), 2);
        format!("{}{millis} ms/workflow", sign(seconds))
    } else if seconds.abs() < 60.0 {
        format!("{}{} s/workflow", sign(seconds), fixed(seconds.abs(), 3))
    } else {
        let minutes = fixed(seconds.abs() / 60.0, 2);
        format!("{}{minutes} min/workflow", sign(seconds))
    }
}

const fn sign(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "+" }
}

/// Bytes in decimal units, as storage is sold: `1.04 GB`.
pub(crate) fn bytes(bytes: f64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.2} {name}", bytes / unit),
        None => format!("{bytes:.0} B"),
    }
}

/// Memory in binary units: `96.0 MiB`.
pub(crate) fn memory(bytes: f64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (name, shift) in units {
        let unit = f64::from(1_u32 << shift);
        if bytes >= unit {
            return format!("{:.1} {name}", bytes / unit);
        }
    }
    format!("{bytes:.0} B")
}

/// A whole number with its thousands set apart: `100,000`.
pub(crate) fn count(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digit.is_ascii_digit() {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A number of things: `1 fault`, `2 faults`.
pub(crate) fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {thing}"),
        many => format!("{many} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let shown = [0.0, 0.00123, 0.1234, 4.561, 89.12, 738.0, 66_240.0].map(seconds);
        assert_eq!(
            shown,
            [
                "0 s", "1.23 ms", "0.123 s", "4.56 s", "89.1 s", "12.3 min", "18.4 h"
            ]
        );
        assert_eq!(
            [slope(0.0123), slope(-163.8)],
            ["+0.012 s/workflow", "-2.73 min/workflow"]
        );
        // What was published as 1.86 is 1.855, whose nearest binary number is below.
        assert_eq!(slope(60.0 * 1.855), "+1.86 min/workflow");
        assert_eq!([bytes(1.04e9), bytes(12.0)], ["1.04 GB", "12 B"]);
        assert_eq!(memory(96.0 * 1_048_576.0), "96.0 MiB");
        assert_eq!(
            [count(100_000.0), count(999.0), count(1_348.0)],
            ["100,000", "999", "1,348"]
        );
    }
}
