//! The test of flipped signs.

use super::super::random::{Random, Stream};
use super::super::{Method, Probability};
use super::median;

/// Up to this many pairs all patterns of signs are counted (about a million).
pub const EXACT_UP_TO: usize = 20;

/// How many patterns are drawn where there are too many to count.
const DRAWS: u64 = 9_999;

/// How often patterns of signs reach what was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Test {
    /// As far from 0, on either side.
    pub(super) either: Probability,
    /// As far above.
    pub(super) above: Probability,
    /// As far below.
    pub(super) below: Probability,
}

/// Flips the signs of the values, each cut off at their median magnitude.
///
/// The cut depends on magnitudes alone, which flipping leaves as they are, so the test stays exact.
pub(super) fn test(values: &[f64], seed: u64) -> Test {
    let weights = weights(values);
    let seen: f64 = weights.iter().sum();
    // Sums of the same values in another order may differ in the last bits.
    let close = 1e-9 * weights.len() as f64;
    let (mut either, mut above, mut below) = (0_u64, 0_u64, 0_u64);
    let mut count = |sum: f64| {
        either += u64::from(sum.abs() >= seen.abs() - close);
        above += u64::from(sum >= seen - close);
        below += u64::from(sum <= seen + close);
    };
    let (seen_too, of, method) = if weights.len() <= EXACT_UP_TO {
        let arrangements = 1_u64 << weights.len();
        every_sum(&weights, count);
        (0, arrangements, Method::Exact { arrangements })
    } else {
        let mut random = Random::new(seed, Stream::SignFlip);
        for _ in 0..DRAWS {
            count(random_sum(&weights, &mut random));
        }
        (1, DRAWS + 1, Method::MonteCarlo { draws: DRAWS })
    };
    let probability = |count: u64| {
        let value = (count + seen_too) as f64 / of as f64;
        Probability { value, method }
    };
    Test {
        either: probability(either),
        above: probability(above),
        below: probability(below),
    }
}

/// The values in units of their median magnitude, cut off at 1.
fn weights(values: &[f64]) -> Vec<f64> {
    let magnitudes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let unit = median(&magnitudes);
    // Where more than half are 0, the others count as 1 each.
    let weight = |value: &f64| {
        if *value == 0.0 {
            0.0
        } else {
            (value / unit).clamp(-1.0, 1.0)
        }
    };
    values.iter().map(weight).collect()
}

/// Shows the sum of every pattern of signs once: half of them by flipping one sign of the one before
/// (Gray), the others as their mirror images.
fn every_sum(weights: &[f64], mut show: impl FnMut(f64)) {
    let mut signed = weights.to_vec();
    let mut sum: f64 = signed.iter().sum();
    for pattern in 1_u64..=1 << (weights.len() - 1) {
        show(sum);
        show(-sum);
        let flipped = pattern.trailing_zeros() as usize;
        signed[flipped] = -signed[flipped];
        sum += 2.0 * signed[flipped];
    }
}

/// The sum of one pattern of signs.
fn random_sum(weights: &[f64], random: &mut Random) -> f64 {
    let mut sum = 0.0;
    for chunk in weights.chunks(64) {
        let bits = random.bits();
        for (at, weight) in chunk.iter().enumerate() {
            sum += if bits >> at & 1 == 1 {
                *weight
            } else {
                -weight
            };
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_signs_is_shown_once() {
        let mut sums = Vec::new();
        every_sum(&[1.0, 2.0, 4.0], |sum| sums.push(sum));
        sums.sort_by(f64::total_cmp);
        assert_eq!(sums, [-7.0, -5.0, -3.0, -1.0, 1.0, 3.0, 5.0, 7.0]);
    }

    #[test]
    fn values_are_cut_off_at_the_median_magnitude() {
        assert_eq!(weights(&[1.0, -2.0, 4.0]), [0.5, -1.0, 1.0]);
        assert_eq!(weights(&[0.0, 0.0, -3.0]), [0.0, 0.0, -1.0]);
    }

    #[test]
    fn a_small_case_has_the_probability_worked_out_by_hand() {
        // Weights 1 1 1 -0.5: of 16 sums, 2.5 is reached by +++- and ++++ only, and so below.
        let found = test(&[1.0, 1.0, 1.0, -0.5], 0);
        assert_eq!(found.either.value, 4.0 / 16.0);
        assert_eq!(
            (found.above.value, found.below.value),
            (2.0 / 16.0, 15.0 / 16.0)
        );
    }

    #[test]
    fn drawn_patterns_give_the_exact_probability_within_their_error() {
        let values: Vec<f64> = (0..20).map(|n| f64::from(n % 7) - 2.2).collect();
        let exact = test(&values, 0).either.value;
        let weights = weights(&values);
        let seen: f64 = weights.iter().sum();
        let mut random = Random::new(3, Stream::SignFlip);
        let as_far = |_: &i32| random_sum(&weights, &mut random).abs() >= seen.abs() - 1e-9;
        let drawn = (0..100_000).filter(as_far).count() as f64 / 1e5;
        assert!((exact - drawn).abs() < 0.006, "{exact} {drawn}");
    }
}
