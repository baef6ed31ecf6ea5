//! Where a series of nights changed its level.
//!
//! Values are replaced by their ranks, and the place is looked for at which the ranks before differ most
//! from those behind, among the places that leave enough values on both sides. How far chance alone
//! comes is counted by putting the ranks in random order and looking for the best place again, so the
//! looking itself is paid for, and noise may have any distribution. Where a place holds, both sides are
//! looked at in the same way.
//!
//! A change must also be large enough to matter: the medians before and behind, up to the neighbouring
//! changes, differ by at least a share. That is asked of the places found, not used to find them.
//!
//! Left out: slow drift, which is cut into steps; seasons; and more than one series at a time. This is an
//! alarm that says where to look, not a test to act on.

use super::random::{Random, Stream};
use super::ranks::ranks;
use super::{Unusable, at_least, check, sorted};

/// Orders that are drawn.
const DRAWS: u32 = 999;
/// How often chance may come as far.
const SIGNIFICANT: f64 = 0.02;

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
    /// How often chance alone would split the stretch that was looked at as clearly.
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
    let mut random = Random::new(seed, Stream::Changes);
    let mut found = Vec::new();
    search(values, 0, segment, &mut random, &mut found);
    found.sort_by_key(|(at, _)| *at);
    Ok(matter(values, &found, wanted.min_change))
}

/// Looks for changes in a stretch of values that begins at `from`.
fn search(
    values: &[f64],
    from: usize,
    segment: usize,
    random: &mut Random,
    found: &mut Vec<(usize, f64)>,
) {
    if values.len() < 2 * segment || values.iter().all(|value| *value == values[0]) {
        return;
    }
    let mut ranks = ranks(values);
    let (seen, at) = best(&ranks, segment);
    let mut as_far = 1;
    for _ in 0..DRAWS {
        random.shuffle(&mut ranks);
        if best(&ranks, segment).0 >= seen - 1e-9 {
            as_far += 1;
        }
    }
    let p = f64::from(as_far) / f64::from(DRAWS + 1);
    if p > SIGNIFICANT {
        return;
    }
    found.push((from + at, p));
    let (before, behind) = values.split_at(at);
    search(before, from, segment, random, found);
    search(behind, from + at, segment, random, found);
}

/// How clearly the best place splits the ranks, in standard deviations of a sum of ranks, and the place.
fn best(ranks: &[f64], segment: usize) -> (f64, usize) {
    let count = ranks.len() as f64;
    let mean = (count + 1.0) / 2.0;
    let mut sum = 0.0;
    let mut best = (f64::NEG_INFINITY, segment);
    for (index, rank) in ranks.iter().enumerate() {
        sum += rank - mean;
        let before = index + 1;
        if before < segment || ranks.len() - before < segment {
            continue;
        }
        let before_count = before as f64;
        let clear = sum.abs() / (before_count * (count - before_count)).sqrt();
        if clear > best.0 {
            best = (clear, before);
        }
    }
    best
}

/// The changes that are large enough, with the medians of the segments that they make. The smallest is
/// given up first, since its two segments are then one.
fn matter(values: &[f64], found: &[(usize, f64)], least: f64) -> Vec<Change> {
    let mut places = found.to_vec();
    loop {
        let changes: Vec<Change> = places
            .iter()
            .enumerate()
            .map(|(index, (at, p))| {
                let from = index.checked_sub(1).map_or(0, |before| places[before].0);
                let until = places.get(index + 1).map_or(values.len(), |next| next.0);
                Change {
                    at: *at,
                    before: median(&values[from..*at]),
                    behind: median(&values[*at..until]),
                    p: *p,
                }
            })
            .collect();
        let smallest = changes
            .iter()
            .enumerate()
            .map(|(index, change)| (index, share(change)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match smallest {
            Some((index, share)) if share < least => {
                places.remove(index);
            }
            _ => return changes,
        }
    }
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
