//! How many studies of a patient a data set of some length can show.
//!
//! A patient is a run of studies on a lane: a drawn number of blocks, cut where a stretch of 64
//! blocks or the data set ends, the lane's stretches beginning at any block. So short data sets
//! hold fewer studies of a patient than the weights say, and what must be found is worked out here
//! by adding up the chances of every run that a lane can have.

use super::asked::{Asked, Entries};
use super::chance::Distribution;

const STRETCH: usize = 64;

/// What is expected of the runs that the data set shows.
#[derive(Default)]
pub(super) struct Runs {
    /// Expected share of patients by their places in the data set.
    places: Vec<f64>,
    /// Expected share of all places that lie in the second half of the first run of a pair.
    pub(super) second_half_of_leaders: f64,
    /// Expected share of all places in the second run of a pair.
    pub(super) followers: f64,
}

impl Runs {
    pub(super) fn new(asked: &Asked, places: u64) -> Self {
        let lanes = ((asked.volume.a_day() * 36.0).max(16.0) as u64).next_power_of_two();
        let (blocks, rest) = (places / lanes, (places % lanes) as f64 / lanes as f64);
        let mut runs = Self {
            places: vec![0.0; STRETCH + 1],
            ..Self::default()
        };
        for (blocks, share) in [(blocks, 1.0 - rest), (blocks + 1, rest)] {
            for phase in 0..STRETCH {
                let window = (phase, phase + blocks as usize);
                runs.add(&asked.patients.studies, window, share / STRETCH as f64);
            }
        }
        let sum: f64 = (1..)
            .zip(&runs.places[1..])
            .map(|(n, share)| f64::from(n) * share)
            .sum();
        runs.second_half_of_leaders /= sum;
        runs.followers /= sum;
        runs
    }

    /// Adds the runs of a lane that a window of its blocks shows.
    fn add(&mut self, studies: &Entries, (from, until): (usize, usize), share: f64) {
        let weights: f64 = studies.iter().map(|(_, weight)| weight).sum();
        for stretch in from / STRETCH..until.div_ceil(STRETCH) {
            // Chance that a run begins at a block, for first and second runs of pairs.
            let mut begins = [[0.0; 2]; STRETCH + 1];
            begins[0][0] = 1.0;
            for start in 0..STRETCH {
                for follows in [0, 1] {
                    for &(studies, weight) in studies {
                        let chance = begins[start][follows] * weight / weights;
                        let len = (studies as usize).min(STRETCH - start);
                        begins[start + len][1 - follows] += chance;
                        let begin = stretch * STRETCH + start;
                        let seen = |first: usize| {
                            until
                                .min(begin + len)
                                .saturating_sub(from.max(begin + first))
                        };
                        if seen(0) == 0 {
                            continue;
                        }
                        self.places[seen(0)] += chance * share;
                        if follows == 0 {
                            self.second_half_of_leaders += chance * share * seen(len / 2) as f64;
                        } else {
                            self.followers += chance * share * seen(0) as f64;
                        }
                    }
                }
            }
        }
    }

    /// Studies of a patient, where each place holds one that can be seen with a chance of its own.
    pub(super) fn studies(&self, chance: f64) -> Distribution {
        let mut shares = vec![0.0; STRETCH + 1];
        for (places, share) in self.places.iter().enumerate().skip(1) {
            let mut row = vec![0.0; places + 1];
            row[0] = 1.0;
            for _ in 0..places {
                for at in (0..row.len()).rev() {
                    let below = if at == 0 { 0.0 } else { row[at - 1] };
                    row[at] = row[at] * (1.0 - chance) + below * chance;
                }
            }
            for (sum, one) in shares.iter_mut().zip(row) {
                *sum += one * share;
            }
        }
        Distribution::new(&(1..).zip(shares.into_iter().skip(1)).collect())
    }
}
