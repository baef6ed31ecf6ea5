//! What measured numbers say, and when they say nothing. Pure functions of numbers.
//!
//! The reports, the comparison and the nightly gate share these methods, so that a claim means the
//! same wherever it is printed. No run, no file and no unit is known here: a time is whatever unit the
//! caller has, and every result is in that unit.
//!
//! ```text
//! summary      the middle and the ends of a few values
//! line         intercept and slope over a common window
//! shape        which kind of curve a whole run is, and where it breaks
//! association  what goes along with the growth
//! ranks        whether one order follows another
//! paired       whether one arm is slower than another
//! changes      where a series of nights changed its level
//! service      what completions of one slot say of service times
//! ```
//!
//! Rules of all functions: an input that cannot carry the answer is an [`Unusable`], never a number and
//! never a panic; whatever is drawn at random comes from a seed that the caller gives, so that the same
//! input gives the same answer; a p value says how it was found.
//!
//! Left out: seasonal series, many variants at once, and whatever needs more runs than a bench makes.

pub mod association;
pub mod changes;
pub mod line;
pub mod paired;
mod random;
pub mod ranks;
pub mod service;
pub mod shape;
pub mod summary;

#[cfg(test)]
mod properties;
#[cfg(test)]
pub(crate) mod simulate;

/// The largest magnitude that is computed with. No time, count or size comes near it, and below it
/// products of four values cannot overflow.
pub const LARGEST: f64 = 1e60;

/// Why numbers cannot carry the answer that was asked for. Positions count from 0, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Too few of what is counted.
    #[error("{have} {what}, of which at least {need} are needed")]
    TooFew {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        have: usize,
        /// How many it takes.
        need: usize,
    },
    /// A value is infinite or no number.
    #[error("value {index} is not a finite number")]
    NotFinite {
        /// Its position.
        index: usize,
    },
    /// A value that has to be above zero is not.
    #[error("value {index} is not above zero")]
    NotPositive {
        /// Its position.
        index: usize,
    },
    /// Two points have the same x where a curve has one value at each.
    #[error("point {index} has the x of another point; give one value for each x")]
    RepeatedX {
        /// The position of the second one.
        index: usize,
    },
    /// Lists that belong together have unlike lengths.
    #[error("{left} values on one side and {right} on the other")]
    UnlikeLengths {
        /// The length of the first.
        left: usize,
        /// The length of the second.
        right: usize,
    },
    /// All values are the same, so nothing can go along with them.
    #[error("all {what} are the same")]
    NoVariation {
        /// What does not vary.
        what: &'static str,
    },
    /// Values so large or so close together that floating point cannot carry the result.
    #[error("values beyond what can be computed with (magnitudes up to 1e60)")]
    OutOfRange,
}

/// Two ends, and how often the method that made them covers the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The share of repetitions in which such an interval is meant to hold the truth, such as 0.95.
    pub confidence: f64,
}

impl Interval {
    /// Whether the value lies inside or on an end.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// How often chance alone would give at least what was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability {
    /// Between 0 (exclusive) and 1.
    pub value: f64,
    /// How it was found.
    pub method: Method,
}

/// How a probability was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All arrangements were counted.
    Exact {
        /// How many there are.
        arrangements: u64,
    },
    /// Arrangements were drawn from a seed. The arrangement that was seen counts as one more, so the
    /// probability is never 0.
    MonteCarlo {
        /// How many were drawn.
        draws: u64,
    },
}

/// A point of a curve: x, such as the number of a workflow, and the value there.
pub type Point = (f64, f64);

/// Refuses values that are not finite, or beyond [`LARGEST`].
fn check(values: impl IntoIterator<Item = f64>) -> Result<(), Unusable> {
    for (index, value) in values.into_iter().enumerate() {
        if !value.is_finite() {
            return Err(Unusable::NotFinite { index });
        }
        if value.abs() > LARGEST {
            return Err(Unusable::OutOfRange);
        }
    }
    Ok(())
}

/// Refuses lists shorter than `need`.
fn at_least(need: usize, have: usize, what: &'static str) -> Result<(), Unusable> {
    if have < need {
        return Err(Unusable::TooFew { what, have, need });
    }
    Ok(())
}

/// The value, unless computing it overflowed.
fn finite(value: f64) -> Result<f64, Unusable> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Unusable::OutOfRange)
    }
}

/// The arithmetic mean. Not a number where there are no values.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The values in ascending order.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
