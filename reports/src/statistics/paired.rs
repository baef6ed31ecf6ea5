//! Whether one of two interleaved arms is slower than the other.
//!
//! Times of arms A and B are compared pair by pair, as the logarithm of B / A, so that drift of the
//! machine cancels as far as it is the same within a pair, and a slowdown of 10 % weighs the same in a
//! short scenario and a long one.
//!
//! The test flips signs: if the arms are alike, each pair could as well have come the other way round,
//! so every pattern of signs is as likely as the one seen. That is exact for noise of any distribution,
//! as long as A and B of a pair are treated alike: they have to be interleaved A B B A, not A B A B,
//! where drift makes B look slower. What is added up is not the logarithms themselves but each of them
//! cut off at the median magnitude. With ordinary noise that costs next to nothing. Where something else
//! ran on the machine now and then, it finds a slowdown of 10 % by ten pairs in 74 of 100 cases where the
//! mean finds it in 41 (`docs/statistics.md`).
//!
//! Left out: corrections for looking at many scenarios at once; who gates on a suite confirms first.

mod interval;
mod signs;
#[cfg(test)]
mod simulations;

pub use signs::EXACT_UP_TO;

use super::{Interval, Probability, Unusable, at_least, check, finite, mean, sorted};

/// The fewest pairs for a verdict of difference: of five, even all one way happens to one in sixteen.
pub const FEWEST: usize = 6;

/// A difference counts as shown where chance alone would give it with at most this probability. Below
/// 5 %, so that what simulations with drift and bursts find stays below it too.
pub const SIGNIFICANT: f64 = 0.04;

/// What pairs say. All ratios are B / A.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// The logarithm of B / A of each pair, in the order given.
    pub log_ratios: Vec<f64>,
    /// The median of the ratios (of an even number, the geometric mean of the two middle ones).
    pub median_ratio: f64,
    /// The geometric mean of the ratios.
    pub mean_ratio: f64,
    /// The ratios that the two-sided test does not contradict, with confidence 0.96: the interval that
    /// agrees with the verdict. Nothing for fewer than [`FEWEST`] pairs.
    pub interval: Option<Interval>,
    /// The geometric mean of the ratios, by studentised bootstrap, with confidence 0.95. Bursts of the
    /// machine widen it.
    /// Nothing for fewer than [`FEWEST`] pairs, or where too many are equal.
    pub mean_interval: Option<Interval>,
    /// How often arms that are alike differ as much, either way.
    pub p: Probability,
    /// How often arms that are alike show B as slow as this, or slower.
    pub p_slower: Probability,
    /// How often arms that are alike show B as fast as this, or faster.
    pub p_faster: Probability,
}

/// What pairs allow to be said of arm B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Fewer than [`FEWEST`] pairs: no difference could be shown, however large.
    TooFewPairs {
        /// How many there are.
        have: usize,
        /// How many it takes.
        need: usize,
    },
    /// No difference is shown. That is not to say that there is none: the interval says how large one
    /// may still be.
    NoDifferenceShown,
    /// B is slower.
    Slower,
    /// B is faster.
    Faster,
}

impl Paired {
    /// What may be said of arm B: a difference where the two-sided probability is at most
    /// [`SIGNIFICANT`].
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let have = self.log_ratios.len();
        if have < FEWEST {
            Verdict::TooFewPairs { have, need: FEWEST }
        } else if self.p.value > SIGNIFICANT {
            Verdict::NoDifferenceShown
        } else if self.p_slower.value < self.p_faster.value {
            Verdict::Slower
        } else {
            Verdict::Faster
        }
    }
}

/// What pairs of (A, B), two times in one unit, say of B against A. All patterns of signs are counted
/// up to [`EXACT_UP_TO`] pairs, and drawn from the seed beyond.
///
/// # Errors
///
/// Where there is no pair, or a time is not finite or not above zero.
pub fn paired(pairs: &[(f64, f64)], seed: u64) -> Result<Paired, Unusable> {
    check(pairs.iter().map(|pair| pair.0))?;
    check(pairs.iter().map(|pair| pair.1))?;
    at_least(1, pairs.len(), "pairs")?;
    if let Some(index) = pairs.iter().position(|(a, b)| *a <= 0.0 || *b <= 0.0) {
        return Err(Unusable::NotPositive { index });
    }
    // Logarithms apart, so that no quotient overflows.
    let log_ratios: Vec<f64> = pairs.iter().map(|(a, b)| b.ln() - a.ln()).collect();
    let test = signs::test(&log_ratios, seed);
    Ok(Paired {
        median_ratio: finite(median(&log_ratios).exp())?,
        mean_ratio: finite(mean(&log_ratios).exp())?,
        interval: interval::not_contradicted(&log_ratios, seed),
        mean_interval: interval::of_mean(&log_ratios, seed),
        p: test.either,
        p_slower: test.above,
        p_faster: test.below,
        log_ratios,
    })
}

/// The middle value, or the mean of the two middle ones. Not for an empty list.
fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let count = sorted.len();
    sorted[(count - 1) / 2].midpoint(sorted[count / 2])
}

#[cfg(test)]
mod tests {
    use super::super::Method;
    use super::*;

    /// Pairs with the given ratios.
    fn ratios(ratios: &[f64]) -> Vec<(f64, f64)> {
        ratios
            .iter()
            .enumerate()
            .map(|(n, ratio)| (10.0 + n as f64, (10.0 + n as f64) * ratio))
            .collect()
    }

    #[test]
    fn six_pairs_all_one_way_are_the_fewest_that_show_a_difference() {
        let six = paired(&ratios(&[1.1, 1.12, 1.09, 1.11, 1.13, 1.08]), 1).unwrap();
        assert_eq!(
            six.p,
            Probability {
                value: 2.0 / 64.0,
                method: Method::Exact { arrangements: 64 }
            }
        );
        assert_eq!((six.p_slower.value, six.p_faster.value), (1.0 / 64.0, 1.0));
        assert_eq!(six.verdict(), Verdict::Slower);
        assert!(six.interval.unwrap().low > 1.07 && six.interval.unwrap().high < 1.14);
        let five = paired(&ratios(&[1.1, 1.12, 1.09, 1.11, 1.13]), 1).unwrap();
        assert_eq!(five.verdict(), Verdict::TooFewPairs { have: 5, need: 6 });
        assert_eq!((five.interval, five.mean_interval), (None, None));
    }

    #[test]
    fn arms_change_places_with_their_verdict() {
        let pairs = ratios(&[1.1, 1.2, 0.99, 1.15, 1.3, 1.12, 1.07]);
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let (one, other) = (paired(&pairs, 1).unwrap(), paired(&swapped, 1).unwrap());
        assert_eq!(
            (one.verdict(), other.verdict()),
            (Verdict::Slower, Verdict::Faster)
        );
        assert!((one.median_ratio * other.median_ratio - 1.0).abs() < 1e-12);
        assert_eq!(one.p, other.p);
        assert_eq!(one.p_slower, other.p_faster);
    }

    #[test]
    fn identical_times_show_no_difference() {
        let same = paired(&ratios(&[1.0; 8]), 1).unwrap();
        assert_eq!(
            (same.p.value, same.verdict()),
            (1.0, Verdict::NoDifferenceShown)
        );
        assert_eq!((same.median_ratio, same.mean_ratio), (1.0, 1.0));
        assert_eq!(
            same.interval,
            Some(Interval {
                low: 1.0,
                high: 1.0,
                confidence: 0.96
            })
        );
    }

    #[test]
    fn the_interval_agrees_with_the_verdict() {
        let mut draws = super::super::simulate::Draws::new(5);
        for count in [6, 7, 9, 12, 24] {
            for _ in 0..20 {
                let list: Vec<f64> = (0..count).map(|_| 1.05 + 0.08 * draws.normal()).collect();
                let found = paired(&ratios(&list), 1).unwrap();
                let interval = found.interval.unwrap();
                let excludes = interval.low > 1.0 || interval.high < 1.0;
                assert_eq!(
                    excludes,
                    found.verdict() != Verdict::NoDifferenceShown,
                    "{found:?}"
                );
                assert!(interval.contains(found.median_ratio), "{found:?}");
            }
        }
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        assert_eq!(
            paired(&[(1.0, 0.0)], 1),
            Err(Unusable::NotPositive { index: 0 })
        );
        assert_eq!(
            paired(&[(1.0, 1.0), (f64::NAN, 1.0)], 1),
            Err(Unusable::NotFinite { index: 1 })
        );
        assert!(paired(&[], 1).is_err());
    }
}
