//! Where a series of nights changed its level.
//!
//! Values are replaced by their ranks, and the stretch is looked for whose ranks differ most from all
//! others, among those that leave enough values on both sides of an end (circular binary segmentation,
//! Olshen and others 2004). It may lie in the middle, so that a level that comes and goes is seen as well
//! as one that stays: a single place hardly splits a series that ends as it began. How far chance alone
//! comes is counted by putting the ranks in random order and looking for the best stretch again, so the
//! looking itself is paid for, and noise may have any distribution. Where a stretch holds, its parts are
//! looked at in the same way.
//!
//! An end that was found while another change lay in what was looked at may be off. So each is looked for
//! again between its neighbours, until none moves: at the place from whose two medians the values differ
//! least, since ranks draw a place to the middle. Its probability is how clearly chance would split the
//! ranks there, wherever it liked. Where one moved, there may be more beside it, so parts are looked at
//! again. A place that does not hold between its neighbours is given up, the weakest first.
//!
//! A change must also be large enough to matter: the medians before and behind, up to the neighbouring
//! changes, differ by at least a share. That is asked of the places found, not used to find them.
//!
//! Left out: slow drift, which is cut into steps; a level on a staircase that lasts less than two segments,
//! which may be cut in half and taken into its neighbours; seasons; and more than one series at a time. This is an
//! alarm that says where to look, not a test to act on.

use super::random::{Random, Stream};
use super::ranks::ranks;
use super::{Unusable, at_least, check, sorted};

/// Orders that are drawn.
const DRAWS: u32 = 999;
/// How often chance may come as far.
const SIGNIFICANT: f64 = 0.02;

/// Sums of the same ranks in another order may differ in the last bits.
const CLOSE: f64 = 1e-9;

/// What counts as a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Values that stand before it, and behind it, at least; 3 where it is less.
    pub min_segment: usize,
    /// The least change of the median, as a share of the median before.
    pub min_change: f64,
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The position of the first value behind it.
    pub at: usize,
    /// The median before, from the change before.
    pub before: f64,
    /// The median behind, up to the next change.
    pub behind: f64,
    /// How often chance alone would split the stretch between the neighbouring changes as clearly.
    pub p: f64,
}

/// The changes of level of a series, in its order.
///
/// # Errors
///
/// Where a value is not finite, or the series is too short to hold one: twice `min_segment`.
pub fn changes(values: &[f64], wanted: Wanted, seed: u64) -> Result<Vec<Change>, Unusable> {
    check(values.iter().copied())?;
    let segment = wanted.min_segment.max(3);
    at_least(2 * segment, values.len(), "values")?;
    let mut looking = Looking {
        values,
        segment,
        random: Random::new(seed, Stream::Changes),
    };
    let mut found = looking.places();
    loop {
        looking.place_anew(&mut found);
        let weakest = (0..found.len()).max_by(|a, b| found[*a].p.total_cmp(&found[*b].p));
        if let Some(weakest) = weakest.filter(|index| found[*index].p > SIGNIFICANT) {
            found.remove(weakest);
            continue;
        }
        let changes = with_medians(values, &found);
        // The smallest first, since its two segments are then one.
        let shares = changes.iter().map(share).enumerate();
        match shares.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((index, share)) if share < wanted.min_change => {
                found.remove(index);
            }
            _ => return Ok(changes),
        }
    }
}

/// How often places are looked for again at most. They settle in two or three rounds; two that move each
/// other to and fro would never.
const ROUNDS: usize = 20;

/// A place at which the values between two positions are split.
#[derive(Clone, Copy)]
struct Place {
    from: usize,
    at: usize,
    until: usize,
    p: f64,
    /// Whether it was found as the one place between its neighbours.
    split: bool,
}

struct Looking<'a> {
    values: &'a [f64],
    segment: usize,
    random: Random,
}

impl Looking<'_> {
    /// All places, before any is given up. Where one has moved, what is next to it is another stretch than
    /// was looked at, so that there may be more.
    fn places(&mut self) -> Vec<Place> {
        let mut found: Vec<Place> = Vec::new();
        for _ in 0..ROUNDS {
            let places = found.iter().map(|place| place.at);
            let ends: Vec<usize> = std::iter::once(0)
                .chain(places)
                .chain([self.values.len()])
                .collect();
            let before = found.len();
            for part in ends.windows(2) {
                self.search(part[0], part[1], &mut found);
            }
            if found.len() == before {
                break;
            }
            found.sort_by_key(|place| place.at);
            self.place_anew(&mut found);
        }
        found
    }

    /// Looks for changes between two positions.
    fn search(&mut self, from: usize, until: usize, found: &mut Vec<Place>) {
        let Some(mut ranks) = self.ranks(from, until) else {
            return;
        };
        let (seen, begin, end) = best_stretch(&ranks, self.segment);
        // Enough to know that chance comes as far too often.
        let enough = (SIGNIFICANT * f64::from(DRAWS + 1)).floor() as u32;
        let mut as_far = 1;
        for _ in 0..DRAWS {
            self.random.shuffle(&mut ranks);
            if best_stretch(&ranks, self.segment).0 >= seen - CLOSE {
                as_far += 1;
            }
            if as_far > enough {
                return;
            }
        }
        let p = f64::from(as_far) / f64::from(DRAWS + 1);
        let ends = [from, from + begin, from + end, until];
        for at in [from + begin, from + end] {
            if at > from && at < until {
                found.push(Place {
                    from,
                    at,
                    until,
                    p,
                    split: false,
                });
            }
        }
        for part in ends.windows(2) {
            self.search(part[0], part[1], found);
        }
    }

    /// The ranks of the values between two positions, unless those are too few, or all the same.
    fn ranks(&self, from: usize, until: usize) -> Option<Vec<f64>> {
        let values = &self.values[from..until];
        let changing = values.iter().any(|value| *value != values[0]);
        (values.len() >= 2 * self.segment && changing).then(|| ranks(values))
    }

    /// The best single place between two positions; where nothing changes there, the place that it was.
    fn split(&mut self, from: usize, until: usize, before: Place) -> Place {
        let Some(mut ranks) = self.ranks(from, until) else {
            return Place {
                from,
                until,
                p: 1.0,
                split: true,
                ..before
            };
        };
        let seen = best_split(&ranks, self.segment);
        let mut as_far = 1;
        for _ in 0..DRAWS {
            self.random.shuffle(&mut ranks);
            if best_split(&ranks, self.segment) >= seen - CLOSE {
                as_far += 1;
            }
        }
        Place {
            from,
            at: from + closest(&self.values[from..until], self.segment),
            until,
            p: f64::from(as_far) / f64::from(DRAWS + 1),
            split: true,
        }
    }

    /// Looks for each place again in the stretch between its neighbours, until none moves.
    fn place_anew(&mut self, found: &mut [Place]) {
        for _ in 0..ROUNDS {
            let mut moved = false;
            for index in 0..found.len() {
                let from = index.checked_sub(1).map_or(0, |before| found[before].at);
                let until = found.get(index + 1);
                let until = until.map_or(self.values.len(), |next| next.at);
                let place = found[index];
                if (place.from, place.until, place.split) == (from, until, true) {
                    continue;
                }
                let anew = self.split(from, until, place);
                moved |= anew.at != place.at;
                found[index] = anew;
            }
            if !moved {
                return;
            }
        }
    }
}

/// How clearly the ranks are split where they are split best, in standard deviations of a sum of ranks.
fn best_split(ranks: &[f64], segment: usize) -> f64 {
    let sums = sums(ranks);
    let places = segment..=ranks.len() - segment;
    let clear = places.map(|at| clarity(sums[at], at, ranks.len()));
    clear.fold(0.0, f64::max)
}

/// The place with the least differences of values from the medians on their sides.
fn closest(values: &[f64], segment: usize) -> usize {
    let off = |side: &[f64]| {
        let middle = median(side);
        side.iter().map(|value| (value - middle).abs()).sum::<f64>()
    };
    let places = segment..=values.len() - segment;
    let of = |at: usize| (off(&values[..at]) + off(&values[at..]), at);
    let best = places.map(of).min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(segment, |(_, at)| at)
}

/// How clearly the best stretch stands out of the ranks, and where it begins and ends. An end that is none
/// of the series leaves enough values beyond it.
fn best_stretch(ranks: &[f64], segment: usize) -> (f64, usize, usize) {
    let (sums, count) = (sums(ranks), ranks.len());
    let mut best = (0.0, 0, segment);
    // A stretch from the beginning is what is left over of one to the end.
    for begin in std::iter::once(0).chain(segment..=count - segment) {
        for end in begin + segment..=count - segment {
            let clear = clarity(sums[end] - sums[begin], end - begin, count);
            if clear > best.0 {
                best = (clear, begin, end);
            }
        }
    }
    best
}

/// Sums of the ranks before each position, less what they are on average.
fn sums(ranks: &[f64]) -> Vec<f64> {
    let middle = f64::midpoint(ranks.len() as f64, 1.0);
    let mut sum = 0.0;
    let before = ranks.iter().map(|rank| {
        sum += rank - middle;
        sum
    });
    std::iter::once(0.0).chain(before).collect()
}

/// How far a sum of some ranks of all is from its mean, in units of its scatter.
fn clarity(sum: f64, some: usize, all: usize) -> f64 {
    sum.abs() / ((some * (all - some)) as f64).sqrt()
}

/// Changes with the medians of the segments that they make.
fn with_medians(values: &[f64], found: &[Place]) -> Vec<Change> {
    let change = |(index, place): (usize, &Place)| {
        let from = index.checked_sub(1).map_or(0, |before| found[before].at);
        let until = found.get(index + 1).map_or(values.len(), |next| next.at);
        Change {
            at: place.at,
            before: median(&values[from..place.at]),
            behind: median(&values[place.at..until]),
            p: place.p,
        }
    };
    found.iter().enumerate().map(change).collect()
}

/// The size of a change as a share of what was before; infinite where that was nothing.
fn share(change: &Change) -> f64 {
    let size = (change.behind - change.before).abs();
    if size == 0.0 {
        return 0.0;
    }
    size / change.before.abs()
}

/// The middle value, or the mean of the two middle ones. Not for an empty list.
fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let count = sorted.len();
    sorted[(count - 1) / 2].midpoint(sorted[count / 2])
}

#[cfg(test)]
mod tests {
    use super::super::simulate::{Draws, Noise};
    use super::*;

    const WANTED: Wanted = Wanted {
        min_segment: 5,
        min_change: 0.05,
    };

    fn series(levels: &[(usize, f64)], noise: f64, seed: u64) -> Vec<f64> {
        let mut draws = Draws::new(seed);
        let mut values = Vec::new();
        for (count, level) in levels {
            for _ in 0..*count {
                values.push(level * (1.0 + noise * draws.noise(Noise::Normal)));
            }
        }
        values
    }

    #[test]
    fn a_step_is_found_where_it_is_and_nothing_else() {
        let found = changes(&series(&[(20, 10.0), (20, 12.0)], 0.03, 1), WANTED, 1).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].at.abs_diff(20) <= 1, "{found:?}");
        assert!((found[0].behind / found[0].before - 1.2).abs() < 0.03);
    }

    #[test]
    fn a_step_there_and_back_is_two_changes() {
        let values = series(&[(15, 10.0), (12, 13.0), (15, 10.0)], 0.02, 2);
        let places: Vec<usize> = changes(&values, WANTED, 1)
            .unwrap()
            .iter()
            .map(|one| one.at)
            .collect();
        assert_eq!(places, [15, 27]);
    }

    #[test]
    fn places_are_right_although_other_changes_lay_in_the_stretch_where_they_were_found() {
        let back: &[(usize, f64)] = &[(15, 10.0), (12, 13.0), (15, 10.0)];
        let stairs = &[(12, 10.0), (10, 12.0), (14, 15.0), (10, 18.0), (12, 21.0)];
        let to_and_fro = &[(12, 10.0), (10, 12.0), (14, 15.0), (10, 11.0), (12, 14.0)];
        let at = [12, 22, 36, 46];
        for seed in 0..20 {
            for (levels, expected) in [(back, &[15, 27][..]), (stairs, &at), (to_and_fro, &at)] {
                let found = changes(&series(levels, 0.01, seed), WANTED, seed).unwrap();
                let places: Vec<usize> = found.iter().map(|one| one.at).collect();
                assert_eq!(places, expected, "seed {seed}");
                assert!(found.iter().all(|one| one.p <= SIGNIFICANT), "{found:?}");
            }
        }
    }

    #[test]
    fn a_change_that_is_sure_and_too_small_to_matter_is_left_alone() {
        let values = series(&[(30, 10.0), (30, 10.3)], 0.002, 3);
        assert_eq!(changes(&values, WANTED, 1).unwrap(), []);
        let any = Wanted {
            min_change: 0.0,
            ..WANTED
        };
        assert_eq!(changes(&values, any, 1).unwrap().len(), 1);
    }

    #[test]
    fn counters_that_never_change_have_no_change_and_a_step_of_one_is_exact() {
        assert_eq!(changes(&[8.0; 30], WANTED, 1).unwrap(), []);
        let mut values = vec![8.0; 10];
        values.extend([9.0; 5]);
        let found = changes(&values, WANTED, 1).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].at, found[0].before, found[0].behind),
            (10, 8.0, 9.0)
        );
    }

    #[test]
    fn a_change_from_nothing_matters() {
        let mut values = vec![0.0; 8];
        values.extend([1.0; 8]);
        assert_eq!(changes(&values, WANTED, 1).unwrap().len(), 1);
    }

    #[test]
    fn quiet_nights_and_nights_with_bursts_hardly_ever_alarm() {
        for noise in [Noise::Normal, Noise::HeavyTailed, Noise::Bursts] {
            let mut draws = Draws::new(9);
            let alarms = (0..200)
                .filter(|seed| {
                    let values: Vec<f64> = (0..60)
                        .map(|_| 10.0 * (0.04 * draws.noise(noise)).exp())
                        .collect();
                    !changes(&values, WANTED, *seed).unwrap().is_empty()
                })
                .count();
            assert!(alarms <= 6, "{noise:?}: {alarms} of 200");
        }
    }

    #[test]
    fn a_series_too_short_for_two_segments_says_so() {
        assert_eq!(
            changes(&[1.0; 9], WANTED, 1),
            Err(Unusable::TooFew {
                what: "values",
                have: 9,
                need: 10
            })
        );
        assert!(changes(&[f64::NAN; 12], WANTED, 1).is_err());
    }
}
