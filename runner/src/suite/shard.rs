//! Which scenarios of a suite a machine carries out, where several share it.
//!
//! The longest goes first, to the shard that has least: every shard finds the same, from the file
//! alone, and no two differ by more than the longest scenario. What is left out: a better packing,
//! which would save minutes of estimates that are wrong by more.

use std::fmt;
use std::str::FromStr;

/// One of several parts of a suite: `2/3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// The part `index` of `count`, from 1; `None` where there is no such part.
    #[must_use]
    pub fn new(index: usize, count: usize) -> Option<Self> {
        (1..=count)
            .contains(&index)
            .then_some(Self { index, count })
    }

    /// Its number, from 1.
    #[must_use]
    pub fn index(self) -> usize {
        self.index
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> usize {
        self.count
    }

    /// Which of the scenarios that take so many seconds each are in it, in ascending order.
    #[must_use]
    pub fn of(self, seconds: &[f64]) -> Vec<usize> {
        share(seconds, self.count).swap_remove(self.index - 1)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_once('/')
            .and_then(|(index, count)| Self::new(index.parse().ok()?, count.parse().ok()?))
            .ok_or("write it as I/N, as in 2/3, with I from 1 to N")
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// Shares out scenarios that take so many seconds each: for each of `count` shards the places of its
/// scenarios, in ascending order.
#[must_use]
pub fn share(seconds: &[f64], count: usize) -> Vec<Vec<usize>> {
    let mut longest_first: Vec<usize> = (0..seconds.len()).collect();
    // Stable: of two that take as long, the one that stands first in the file goes first.
    longest_first.sort_by(|a, b| seconds[*b].total_cmp(&seconds[*a]));
    let mut shards = vec![(0.0_f64, Vec::new()); count];
    for at in longest_first {
        let least = shards
            .iter_mut()
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())));
        if let Some((sum, members)) = least {
            *sum += seconds[at];
            members.push(at);
        }
    }
    shards
        .into_iter()
        .map(|(_, mut members)| {
            members.sort_unstable();
            members
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_scenario_is_in_exactly_one_shard(
            seconds in prop::collection::vec(0.0..10_000.0f64, 0..40),
            count in 1..12usize,
        ) {
            let mut all: Vec<usize> = (1..=count)
                .flat_map(|index| Shard::new(index, count).unwrap().of(&seconds))
                .collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..seconds.len()).collect::<Vec<_>>());
        }

        #[test]
        fn no_two_shards_differ_by_more_than_the_longest_scenario(
            seconds in prop::collection::vec(0.0..10_000.0f64, 1..40),
            count in 1..12usize,
        ) {
            let sums: Vec<f64> = share(&seconds, count)
                .iter()
                .map(|shard| shard.iter().map(|at| seconds[*at]).sum())
                .collect();
            let longest = seconds.iter().copied().fold(0.0, f64::max);
            let most = sums.iter().copied().fold(0.0, f64::max);
            let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(most - least <= longest + 1e-6);
        }

        #[test]
        fn no_shard_is_empty_while_there_are_scenarios_enough(
            seconds in prop::collection::vec(0.0..10.0f64, 12..40),
            count in 1..12usize,
        ) {
            prop_assert!(share(&seconds, count).iter().all(|shard| !shard.is_empty()));
        }

        #[test]
        fn sharing_out_again_finds_the_same(
            seconds in prop::collection::vec(0.0..4.0f64, 0..40),
            count in 1..12usize,
        ) {
            // Many of the same length, so that ties decide.
            let seconds: Vec<f64> = seconds.iter().map(|one| one.floor()).collect();
            prop_assert_eq!(share(&seconds, count), share(&seconds, count));
        }
    }

    #[test]
    fn the_longest_goes_first_to_the_shard_that_has_least() {
        let seconds = [10.0, 60.0, 20.0, 30.0];
        assert_eq!(share(&seconds, 2), [vec![1], vec![0, 2, 3]]);
        assert_eq!(share(&seconds, 1), [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn scenarios_of_which_nothing_is_known_are_dealt_out_in_turn() {
        assert_eq!(share(&[0.0; 4], 2), [vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn a_shard_is_written_as_one_of_several() {
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
        for wrong in ["", "0/3", "4/3", "3", "1/0", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
