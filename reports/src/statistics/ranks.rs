//! Whether one order follows another: whether workflows complete in the order of their launch, in an
//! order that has nothing to do with it, or neither.

use super::random::{Random, Stream};
use super::{Method, Probability, Unusable, at_least, check, mean};

/// Up to this many pairs all orders are counted (8! = 40,320).
pub const EXACT_UP_TO: usize = 8;

/// How many orders are drawn where there are too many to count.
pub const DRAWS: u64 = 99_999;

/// How far two orders agree: 1 is the same order, -1 the reverse, 0 none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankCorrelation {
    /// How many pairs there are, at least 3.
    pub pairs: usize,
    /// Spearman's: the correlation of the ranks; equal values share the mean of their ranks.
    pub spearman: f64,
    /// Kendall's tau-b: agreeing minus disagreeing pairs of pairs, over what ties leave of them.
    pub kendall: f64,
    /// How often a random order would have a Spearman at least as far from 0.
    pub p: Probability,
}

/// What an order of completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// No workflow completes before one that was launched earlier.
    FirstInFirstOut,
    /// None completes before one that was launched later.
    LastInFirstOut,
    /// It cannot be told from a random one (p above 0.05). With few workflows that says little.
    MayBeRandom,
    /// It follows the order of launch more than chance does, but not strictly.
    Neither,
    /// It follows the reverse order more than chance does, but not strictly.
    NeitherReversed,
}

impl RankCorrelation {
    /// What the order is, with `left` the launches and `right` the completions.
    #[must_use]
    pub fn order(&self) -> Order {
        // Tau-b is 1 only where no two pairs disagree and ties coincide.
        if self.kendall >= 1.0 - 1e-12 {
            Order::FirstInFirstOut
        } else if self.kendall <= -1.0 + 1e-12 {
            Order::LastInFirstOut
        } else if self.p.value > 0.05 {
            Order::MayBeRandom
        } else if self.spearman > 0.0 {
            Order::Neither
        } else {
            Order::NeitherReversed
        }
    }
}

/// How far the order of `left` and that of `right` agree. The probability is two-sided, from all orders
/// up to [`EXACT_UP_TO`] pairs, and from [`DRAWS`] drawn ones beyond.
///
/// # Errors
///
/// Where the lists have unlike lengths or fewer than three values, a value is not finite, or one side
/// does not vary.
pub fn rank_correlation(
    left: &[f64],
    right: &[f64],
    seed: u64,
) -> Result<RankCorrelation, Unusable> {
    if left.len() != right.len() {
        return Err(Unusable::UnlikeLengths {
            left: left.len(),
            right: right.len(),
        });
    }
    check(left.iter().copied())?;
    check(right.iter().copied())?;
    at_least(3, left.len(), "pairs")?;
    let (x, y) = (centred_ranks(left), centred_ranks(right));
    let (xx, yy) = (product(&x, &x), product(&y, &y));
    if xx == 0.0 || yy == 0.0 {
        return Err(Unusable::NoVariation {
            what: "values of one side",
        });
    }
    let seen = product(&x, &y);
    Ok(RankCorrelation {
        pairs: left.len(),
        spearman: (seen / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0),
        kendall: kendall(&x, &y),
        p: probability(&x, y, seen, seed),
    })
}

/// Ranks from 1, equal values at the mean of theirs.
#[must_use]
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let shared = start as f64 + (group.len() as f64 + 1.0) / 2.0;
        for index in group {
            ranks[*index] = shared;
        }
        start += group.len();
    }
    ranks
}

/// Ranks less their mean: multiples of one half, on which sums of products are exact.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let ranks = ranks(values);
    let middle = mean(&ranks);
    ranks.into_iter().map(|rank| rank - middle).collect()
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Kendall's tau-b, by looking at every pair of pairs.
fn kendall(x: &[f64], y: &[f64]) -> f64 {
    let (mut agreement, mut untied_x, mut untied_y) = (0.0, 0.0, 0.0);
    let sign = |difference: f64| {
        if difference == 0.0 {
            0.0
        } else {
            difference.signum()
        }
    };
    for first in 0..x.len() {
        for second in first + 1..x.len() {
            let (dx, dy) = (sign(x[second] - x[first]), sign(y[second] - y[first]));
            agreement += dx * dy;
            untied_x += dx.abs();
            untied_y += dy.abs();
        }
    }
    agreement / (f64::sqrt(untied_x) * f64::sqrt(untied_y))
}

/// How often another order of `y` gives a product as far from 0 as the one seen.
fn probability(x: &[f64], mut y: Vec<f64>, seen: f64, seed: u64) -> Probability {
    // Sums in another order may differ in the last bits.
    let as_far = |y: &[f64]| product(x, y).abs() >= seen.abs() - 1e-9;
    if y.len() <= EXACT_UP_TO {
        let (mut far, mut arrangements) = (0_u64, 0_u64);
        every_order(&mut y, |order| {
            arrangements += 1;
            far += u64::from(as_far(order));
        });
        let value = far as f64 / arrangements as f64;
        return Probability {
            value,
            method: Method::Exact { arrangements },
        };
    }
    let mut random = Random::new(seed, Stream::Ranks);
    let mut far = 1_u64;
    for _ in 0..DRAWS {
        random.shuffle(&mut y);
        far += u64::from(as_far(&y));
    }
    let value = far as f64 / (DRAWS + 1) as f64;
    Probability {
        value,
        method: Method::MonteCarlo { draws: DRAWS },
    }
}

/// Shows every order of the values once (Heap's algorithm).
fn every_order(values: &mut [f64], mut show: impl FnMut(&[f64])) {
    let mut turns = vec![0; values.len()];
    show(values);
    let mut at = 1;
    while at < values.len() {
        if turns[at] < at {
            values.swap(if at % 2 == 0 { 0 } else { turns[at] }, at);
            show(values);
            turns[at] += 1;
            at = 1;
        } else {
            turns[at] = 0;
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        assert_eq!(ranks(&[30.0, 10.0, 30.0, 20.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn every_order_is_shown_once() {
        let mut seen = std::collections::BTreeSet::new();
        every_order(&mut [1.0, 2.0, 3.0, 4.0, 5.0], |order| {
            assert!(seen.insert(format!("{order:?}")));
        });
        assert_eq!(seen.len(), 120);
    }

    #[test]
    fn a_small_case_with_ties_has_the_value_worked_out_by_hand() {
        // Ranks 1 2.5 2.5 4 against 1 3 2 4: Spearman 4.5 / sqrt(4.5 * 5); of six pairs of pairs five
        // agree and one is tied on the left: 5 / sqrt(5 * 6).
        let found = rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 3.0, 2.0, 4.0], 0).unwrap();
        assert!((found.spearman - 4.5 / 22.5_f64.sqrt()).abs() < 1e-12);
        assert!((found.kendall - 5.0 / 30_f64.sqrt()).abs() < 1e-12);
        // Of 24 orders the two that keep the ends, and their two mirror images, reach it.
        assert_eq!(
            found.p,
            Probability {
                value: 4.0 / 24.0,
                method: Method::Exact { arrangements: 24 }
            }
        );
    }

    #[test]
    fn drawn_orders_give_the_exact_probability_within_their_error() {
        let x = centred_ranks(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let y = centred_ranks(&[2.0, 1.0, 4.0, 6.0, 3.0, 5.0, 8.0, 7.0]);
        let seen = product(&x, &y);
        let exact = probability(&x, y.clone(), seen, 1).value;
        let mut random = Random::new(1, Stream::Ranks);
        let mut drawn = y;
        let mut far = 0;
        for _ in 0..100_000 {
            random.shuffle(&mut drawn);
            far += u32::from(product(&x, &drawn).abs() >= seen.abs() - 1e-9);
        }
        assert!(
            (exact - f64::from(far) / 1e5).abs() < 0.001,
            "{exact} {far}"
        );
    }

    #[test]
    fn orders_are_told_apart() {
        let launches: Vec<f64> = (0..12).map(f64::from).collect();
        let order = |closes: &[f64]| rank_correlation(&launches, closes, 7).unwrap().order();
        assert_eq!(order(&launches), Order::FirstInFirstOut);
        let reverse: Vec<f64> = launches.iter().map(|x| -x).collect();
        assert_eq!(order(&reverse), Order::LastInFirstOut);
        let mut nearly = launches.clone();
        nearly.swap(2, 7);
        assert_eq!(order(&nearly), Order::Neither);
        let mixed = [6.0, 1.0, 9.0, 4.0, 11.0, 0.0, 8.0, 3.0, 10.0, 2.0, 7.0, 5.0];
        assert_eq!(order(&mixed), Order::MayBeRandom);
    }
}
