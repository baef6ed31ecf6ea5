//! What completions say of service times where workflows were launched together and shared few slots.
//!
//! A duration from launch to close then holds mostly waiting. The gaps between completions of *one*
//! slot are service times by inference: nothing else can have filled the slot between two completions,
//! but idling and restarts are in them too. Whatever is made of them has to be called inferred.

use super::line::{LeastSquares, least_squares};
use super::{Point, Unusable, at_least, check};

/// A workflow from launch to close, in one unit of time from any common zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stay {
    /// When it was launched.
    pub launch: f64,
    /// When it closed.
    pub close: f64,
}

/// What the stays of a run say.
#[derive(Clone, Debug, PartialEq)]
pub struct Stays {
    /// From the first launch to the last close.
    pub makespan: f64,
    /// The sum of all durations.
    pub durations: f64,
    /// How many slots there were.
    pub slots: u32,
    /// From the first launch to the first close: the service of one workflow and whatever came before
    /// it, so not one of the gaps.
    pub first: f64,
    /// The gaps between completions in their order: (number of the completion from 2, time since the
    /// one before). Service times by inference where there is one slot.
    pub gaps: Vec<Point>,
    /// How many of the gaps come before the first disturbance: the first that is more than twice as
    /// long as any before it. All of them where there is none.
    pub undisturbed: usize,
}

impl Stays {
    /// The largest share of the durations that can be service, 0 to 1: slots × makespan over the sum of
    /// the durations. The rest is waiting for certain.
    #[must_use]
    pub fn service_share_at_most(&self) -> f64 {
        (f64::from(self.slots) * self.makespan / self.durations).min(1.0)
    }

    /// The gaps before the first disturbance.
    #[must_use]
    pub fn undisturbed_gaps(&self) -> &[Point] {
        &self.gaps[..self.undisturbed]
    }

    /// The growth of the gaps before the first disturbance, per completion.
    ///
    /// # Errors
    ///
    /// Where these are fewer than three, or there is more than one slot: then gaps are no service times.
    pub fn growth(&self) -> Result<LeastSquares, NoGrowth> {
        if self.slots != 1 {
            return Err(NoGrowth::ManySlots { slots: self.slots });
        }
        Ok(least_squares(self.undisturbed_gaps())?)
    }
}

/// Why gaps between completions say nothing of growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGrowth {
    /// Completions of several slots interleave.
    #[error(
        "gaps between completions are service times only with one slot, and there were {slots}"
    )]
    ManySlots {
        /// How many there were.
        slots: u32,
    },
    /// The gaps cannot carry a line.
    #[error(transparent)]
    Unusable(#[from] Unusable),
}

/// What the stays of a run with `slots` slots say. Their order does not matter.
///
/// # Errors
///
/// Where there are fewer than two stays or no slot, a time is not finite, or a close is not after its
/// launch.
pub fn stays(stays: &[Stay], slots: u32) -> Result<Stays, Unusable> {
    check(stays.iter().map(|stay| stay.launch))?;
    check(stays.iter().map(|stay| stay.close))?;
    at_least(2, stays.len(), "workflows")?;
    at_least(1, slots as usize, "slots")?;
    if let Some(index) = stays.iter().position(|stay| stay.close <= stay.launch) {
        return Err(Unusable::NotPositive { index });
    }
    let mut closes: Vec<f64> = stays.iter().map(|stay| stay.close).collect();
    closes.sort_by(f64::total_cmp);
    let start = stays
        .iter()
        .map(|stay| stay.launch)
        .fold(f64::INFINITY, f64::min);
    let gap = |(index, pair): (usize, &[f64])| (index as f64 + 2.0, pair[1] - pair[0]);
    let gaps: Vec<Point> = closes.windows(2).enumerate().map(gap).collect();
    Ok(Stays {
        makespan: closes[closes.len() - 1] - start,
        durations: stays.iter().map(|stay| stay.close - stay.launch).sum(),
        slots,
        first: closes[0] - start,
        undisturbed: undisturbed(&gaps),
        gaps,
    })
}

/// How many gaps come before the first that is more than twice as long as any before it. Gaps of 0
/// (closes at the same time) are no measure for the next.
fn undisturbed(gaps: &[Point]) -> usize {
    let mut longest = 0.0;
    for (index, (_, gap)) in gaps.iter().enumerate() {
        if longest > 0.0 && *gap > 2.0 * longest {
            return index;
        }
        longest = gap.max(longest);
    }
    gaps.len()
}

/// Launches spread evenly over `span`, the first at 0 and the last at `span`: for runs of which only
/// the time is known within which all were launched.
#[must_use]
pub fn even_launches(count: usize, span: f64) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|index| span * index as f64 / last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One slot serves workflows launched at once, each after the other.
    fn one_slot(services: &[f64]) -> Vec<Stay> {
        let mut now = 0.0;
        let serve = |service: &f64| {
            now += service;
            Stay {
                launch: 0.0,
                close: now,
            }
        };
        services.iter().map(serve).collect()
    }

    #[test]
    fn gaps_of_one_slot_are_the_service_times() {
        let services: Vec<f64> = (0..10).map(|n| 5.0 + 2.0 * f64::from(n)).collect();
        let found = stays(&one_slot(&services), 1).unwrap();
        assert_eq!(found.first, 5.0);
        let gaps: Vec<f64> = found.gaps.iter().map(|gap| gap.1).collect();
        assert_eq!(gaps, services[1..]);
        assert!((found.growth().unwrap().line.slope - 2.0).abs() < 1e-12);
        assert!((found.growth().unwrap().line.at(2.0) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn the_share_of_service_is_bounded_by_what_the_slots_can_do() {
        let found = stays(&one_slot(&[10.0; 10]), 1).unwrap();
        assert!((found.service_share_at_most() - 100.0 / 550.0).abs() < 1e-12);
        // As many slots as workflows: all of it may be service.
        assert_eq!(
            stays(&one_slot(&[10.0; 10]), 10)
                .unwrap()
                .service_share_at_most(),
            1.0
        );
    }

    #[test]
    fn a_gap_more_than_twice_as_long_as_any_before_ends_the_stretch() {
        let found = stays(&one_slot(&[10.0, 11.0, 12.0, 20.0, 41.0, 14.0, 90.0]), 1).unwrap();
        assert_eq!(
            found.undisturbed_gaps(),
            [(2.0, 11.0), (3.0, 12.0), (4.0, 20.0)]
        );
        let calm = stays(&one_slot(&[10.0, 11.0, 22.0, 44.0]), 1).unwrap();
        assert_eq!(calm.undisturbed, 3);
    }

    #[test]
    fn several_slots_show_no_service_times() {
        let found = stays(&one_slot(&[10.0; 10]), 2).unwrap();
        assert_eq!(found.growth(), Err(NoGrowth::ManySlots { slots: 2 }));
        let backwards = Stay {
            launch: 3.0,
            close: 2.0,
        };
        assert_eq!(
            stays(&[backwards, backwards], 1),
            Err(Unusable::NotPositive { index: 0 })
        );
    }
}
