//! The middle and the ends of a few values, and which percentiles so few can carry.

use super::{Unusable, at_least, check, sorted};

/// The middle and the ends of values, in their unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many values there are, at least 1.
    pub count: usize,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The middle one, or the lower of the two middle ones of an even number.
    pub lower_middle: f64,
    /// The middle one, or the upper of the two middle ones of an even number.
    pub upper_middle: f64,
}

/// What a value that somebody calls the median is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Middle {
    /// It is the median.
    Median,
    /// It is the lower of the two middle values.
    Lower,
    /// It is the upper of the two middle values: what sorting and taking the one at half gives.
    Upper,
    /// It is neither.
    Other,
}

impl Summary {
    /// The middle value, or the mean of the two middle ones.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.lower_middle.midpoint(self.upper_middle)
    }

    /// What `claimed`, published as the median of these values, is. It may differ from what it is by
    /// `rounding`, half a unit of the last digit that was published.
    #[must_use]
    pub fn middle(&self, claimed: f64, rounding: f64) -> Middle {
        let is = |value: f64| (claimed - value).abs() <= rounding;
        if is(self.median()) {
            Middle::Median
        } else if is(self.upper_middle) {
            Middle::Upper
        } else if is(self.lower_middle) {
            Middle::Lower
        } else {
            Middle::Other
        }
    }
}

/// The middle and the ends of `values`.
///
/// # Errors
///
/// Where there is no value, or one that is not finite.
pub fn summary(values: &[f64]) -> Result<Summary, Unusable> {
    check(values.iter().copied())?;
    at_least(1, values.len(), "values")?;
    let sorted = sorted(values);
    let count = sorted.len();
    Ok(Summary {
        count,
        min: sorted[0],
        max: sorted[count - 1],
        lower_middle: sorted[(count - 1) / 2],
        upper_middle: sorted[count / 2],
    })
}

/// The percentiles that reports may ask for.
pub const PERCENTILES: [u8; 7] = [5, 10, 25, 50, 75, 90, 95];

/// Whether `count` independent values say something of a percentile of what they were drawn from:
/// whether the smallest and the largest of them enclose it in at least 95 of 100 repetitions, which is
/// `1 - p^n - (1 - p)^n` whatever the distribution (Wilks 1941). The median takes 6 values, the 90th
/// percentile 29, the 95th 59, the 99th 299. Percentiles outside 1 to 99 are never supported.
#[must_use]
pub fn supports(count: usize, percentile: u8) -> bool {
    if !(1..=99).contains(&percentile) {
        return false;
    }
    let share = f64::from(percentile) / 100.0;
    let count = count.min(100_000) as i32;
    1.0 - share.powi(count) - (1.0 - share).powi(count) >= 0.95
}

/// Those of [`PERCENTILES`] that `count` values support, ascending.
#[must_use]
pub fn supported_percentiles(count: usize) -> Vec<u8> {
    let supported = |percentile: &u8| supports(count, *percentile);
    PERCENTILES.into_iter().filter(supported).collect()
}

/// The smallest of the values with at least `percentile` percent of them at or below it (nearest rank):
/// always a value that was measured.
///
/// # Errors
///
/// Where so few values do not support it (see [`supports`]), or one is not finite.
pub fn percentile(values: &[f64], percentile: u8) -> Result<f64, Unusable> {
    check(values.iter().copied())?;
    let need = (1..=300).find(|count| supports(*count, percentile));
    at_least(need.unwrap_or(usize::MAX), values.len(), "values")?;
    let rank = (values.len() * usize::from(percentile)).div_ceil(100);
    Ok(sorted(values)[rank.max(1) - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_number_of_values_has_two_middle_ones() {
        let even = summary(&[4.0, 1.0, 9.0, 2.0]).unwrap();
        assert_eq!(
            (even.lower_middle, even.upper_middle, even.median()),
            (2.0, 4.0, 3.0)
        );
        assert_eq!((even.count, even.min, even.max), (4, 1.0, 9.0));
        let odd = summary(&[4.0, 1.0, 9.0]).unwrap();
        assert_eq!((odd.lower_middle, odd.median()), (4.0, 4.0));
    }

    #[test]
    fn a_published_median_that_is_a_middle_value_is_recognised() {
        let even = summary(&[1.0, 2.0, 4.0, 9.0]).unwrap();
        assert_eq!(even.middle(4.0, 0.5), Middle::Upper);
        assert_eq!(even.middle(2.0, 0.5), Middle::Lower);
        assert_eq!(even.middle(3.4, 0.5), Middle::Median);
        assert_eq!(even.middle(7.0, 0.5), Middle::Other);
    }

    #[test]
    fn a_percentile_takes_the_runs_that_support_it() {
        assert_eq!(supported_percentiles(5), [] as [u8; 0]);
        assert_eq!(supported_percentiles(6), [50]);
        assert_eq!(supported_percentiles(29), [10, 25, 50, 75, 90]);
        assert!(!supports(58, 95) && supports(59, 95));
        assert!(!supports(298, 99) && supports(299, 99));
        assert!(!supports(1_000_000, 0) && !supports(1_000_000, 100));
        let too_few = Unusable::TooFew {
            what: "values",
            have: 5,
            need: 6,
        };
        assert_eq!(percentile(&[1.0; 5], 50), Err(too_few));
        let values: Vec<f64> = (1..=40).map(f64::from).collect();
        assert_eq!(percentile(&values, 90), Ok(36.0));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!(
            summary(&[1.0, f64::NAN]),
            Err(Unusable::NotFinite { index: 1 })
        );
        assert!(summary(&[]).is_err());
    }
}
