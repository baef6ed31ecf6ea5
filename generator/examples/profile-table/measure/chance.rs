//! How far chance alone lets a quantity be from what was asked.
//!
//! Bounds are those of 4.5 standard deviations: 3.4 in a million on each side. A table has about a
//! hundred quantities, so a false alarm is rarer than one table in a thousand.

use super::asked::Entries;

/// Standard deviations that are allowed.
pub(super) const SIGMA: f64 = 4.5;

/// The share beyond [`SIGMA`] standard deviations of a normal distribution, on one side.
const TAIL: f64 = 3.4e-6;

/// Fewest and most hits among `n` at a chance of `p`, exactly: fewer or more are rarer than the
/// tail.
pub(super) fn binomial(n: u64, p: f64) -> (u64, u64) {
    if p <= 0.0 || n == 0 {
        return (0, 0);
    }
    if p >= 1.0 {
        return (n, n);
    }
    let odds = p / (1.0 - p);
    let mode = (((n + 1) as f64 * p) as u64).min(n);
    // Chances relative to that of the mode, downwards and upwards from it.
    let mut down = vec![1.0];
    for k in (1..=mode).rev() {
        let next = down[down.len() - 1] * k as f64 / ((n - k + 1) as f64 * odds);
        if next < 1e-15 {
            break;
        }
        down.push(next);
    }
    let mut up = vec![1.0];
    for k in mode..n {
        let next = up[up.len() - 1] * (n - k) as f64 * odds / (k + 1) as f64;
        if next < 1e-15 {
            break;
        }
        up.push(next);
    }
    let sum = down.iter().sum::<f64>() + up.iter().sum::<f64>() - 1.0;
    let reach = |side: &[f64]| {
        let mut tail = 0.0;
        let cut = side.iter().rev().take_while(|chance| {
            tail += **chance / sum;
            tail < TAIL
        });
        (side.len() - 1 - cut.count().min(side.len() - 1)) as u64
    };
    (mode - reach(&down), mode + reach(&up))
}

/// The largest gap between the distribution of `n` draws and the one that they are drawn from
/// (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant).
pub(super) fn gap(n: u64) -> f64 {
    ((1.0 / TAIL).ln() / (2.0 * n as f64)).sqrt()
}

/// A distribution over whole numbers: value and share, rising.
#[derive(Clone)]
pub(super) struct Distribution(Vec<(u32, f64)>);

impl Distribution {
    pub(super) fn new(entries: &Entries) -> Self {
        let sum: f64 = entries.iter().map(|(_, weight)| weight).sum();
        let mut shares = entries.clone();
        shares.retain(|(_, weight)| *weight > 0.0);
        shares.sort_by_key(|(value, _)| *value);
        for (_, share) in &mut shares {
            *share /= sum;
        }
        Self(shares)
    }

    pub(super) fn mean(&self) -> f64 {
        self.0
            .iter()
            .map(|(value, share)| f64::from(*value) * share)
            .sum()
    }

    pub(super) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let square = |value: u32| (f64::from(value) - mean).powi(2);
        let variance: f64 = self
            .0
            .iter()
            .map(|(value, share)| square(*value) * share)
            .sum();
        variance.sqrt()
    }

    /// The smallest value up to which at least this share lies.
    pub(super) fn quantile(&self, at: f64) -> u32 {
        let mut sum = 0.0;
        let reaches = |(_, share): &&(u32, f64)| {
            sum += share;
            sum >= at - 1e-12
        };
        self.0
            .iter()
            .find(reaches)
            .or(self.0.last())
            .map_or(0, |(value, _)| *value)
    }

    pub(super) fn max(&self) -> u32 {
        self.0.last().map_or(0, |(value, _)| *value)
    }

    /// The largest gap to the distribution of some values.
    pub(super) fn gap(&self, values: &[u32]) -> f64 {
        let mut found = values.to_vec();
        found.sort_unstable();
        let up_to = |value: u32| found.partition_point(|v| *v <= value) as f64 / found.len() as f64;
        let share_up_to = |value: u32| -> f64 {
            self.0
                .iter()
                .take_while(|(v, _)| *v <= value)
                .map(|(_, share)| share)
                .sum()
        };
        self.0
            .iter()
            .map(|(value, _)| *value)
            .chain(found.iter().copied())
            .map(|value| (up_to(value) - share_up_to(value)).abs())
            .fold(0.0, f64::max)
    }
}

/// Mean of some numbers.
pub(super) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The value at a share of sorted values.
pub(super) fn quantile<T: Copy>(sorted: &[T], at: f64) -> T {
    let place = (at * sorted.len() as f64).ceil().max(1.0) as usize - 1;
    sorted[place.min(sorted.len() - 1)]
}

/// How far the share below a quantile may be off among `n`.
pub(super) fn quantile_slack(n: usize, at: f64) -> f64 {
    SIGMA * (at * (1.0 - at) / n as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binomial_bound_is_that_of_the_normal_where_there_are_many() {
        let (least, most) = binomial(100_000, 0.4);
        let reach = SIGMA * (100_000.0f64 * 0.4 * 0.6).sqrt();
        assert!((least as f64 - (40_000.0 - reach)).abs() < 5.0, "{least}");
        assert!((most as f64 - (40_000.0 + reach)).abs() < 5.0, "{most}");
    }

    #[test]
    fn a_binomial_bound_of_few_is_that_of_poisson() {
        // P(X >= 5) is 1.6e-5 for a mean of 0.3, P(X >= 6) is 7.7e-7.
        assert_eq!(binomial(3_000, 0.0001), (0, 5));
        assert_eq!(binomial(10, 0.0), (0, 0));
        assert_eq!(binomial(10, 1.0), (10, 10));
    }

    #[test]
    fn a_distribution_knows_its_quantiles_and_the_gap_to_values() {
        let asked = Distribution::new(&vec![(5, 1.0), (1, 3.0)]);
        assert_eq!((asked.quantile(0.75), asked.quantile(0.76)), (1, 5));
        assert!(asked.gap(&[1, 1, 1, 5]) < 1e-12);
        assert!((asked.gap(&[1, 5, 5, 5]) - 0.5).abs() < 1e-12);
        assert!((asked.gap(&[1, 1, 1, 6]) - 0.25).abs() < 1e-12);
    }
}
