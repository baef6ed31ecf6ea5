//! What each slot of the plan is: a study's first message, a message that follows up on one, or an
//! exact copy of one; and when it is dated.
//!
//! A later slot finds its parent, and a parent its later slots, by the same keyed permutation, so
//! either can be worked out alone, without the slots between them.

use crate::calendar::{DAY_SECONDS, Day};
use crate::draw::{Draw, Permutation, Stream, hash, scale};
use crate::spec::{Later, Spec};
use crate::timeline::Timeline;

/// What a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A study's first message.
    First,
    /// A later message about the study whose first message is `first`.
    FollowUp { first: u64 },
    /// An exact copy of the message `first`.
    Resend { first: u64 },
}

/// When a study was made and reported, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) study: i64,
    pub(crate) report: i64,
}

/// A way for a slot to be later than another: kind and lag.
#[derive(Clone, Copy, Debug)]
struct Class {
    follow_up: bool,
    /// Logs later.
    lag: u32,
    /// Upper end of the class's part of 2^32, for an even and for an odd slot.
    ends: [u64; 2],
}

pub(crate) struct Slots<'a> {
    spec: &'a Spec,
    timeline: &'a Timeline,
    classes: Vec<Class>,
}

/// Follow-ups and copies in the same log need this many seconds of the day after their parent.
const LEAST_ROOM: i64 = 120;

impl<'a> Slots<'a> {
    pub(crate) fn new(spec: &'a Spec, timeline: &'a Timeline) -> Self {
        Self {
            spec,
            timeline,
            classes: classes(&spec.follow_ups, &spec.resends),
        }
    }

    /// Whether every slot is a study's first message.
    pub(crate) fn all_first(&self) -> bool {
        self.classes.is_empty()
    }

    /// What a slot is.
    pub(crate) fn kind(&self, slot: u64) -> Kind {
        if self.classes.is_empty() {
            return Kind::First;
        }
        let log = self.timeline.log_of(slot);
        let place = slot - self.timeline.logs[log].first;
        let Some(class) = self.drawn(slot, place) else {
            return Kind::First;
        };
        match self.parent(log, place, class) {
            Some(first) if self.classes[class].follow_up => Kind::FollowUp { first },
            Some(first) => Kind::Resend { first },
            None => Kind::First,
        }
    }

    /// The study's first message of a slot.
    pub(crate) fn study(&self, slot: u64) -> u64 {
        match self.kind(slot) {
            Kind::First => slot,
            Kind::FollowUp { first } | Kind::Resend { first } => first,
        }
    }

    /// All slots of a study, its first message first, the others in the order of their slots.
    pub(crate) fn family(&self, first: u64) -> Vec<u64> {
        let mut family = vec![first];
        let parent_log = self.timeline.log_of(first);
        let parent = self.timeline.logs[parent_log];
        let place = first - parent.first;
        for (at, class) in self.classes.iter().enumerate() {
            let log = parent_log + class.lag as usize;
            let Some(plan) = self.timeline.logs.get(log) else {
                continue;
            };
            let mut consider = |place: u64| {
                let slot = plan.first + place;
                if self.drawn(slot, place) == Some(at) && self.parent(log, place, at) == Some(first)
                {
                    family.push(slot);
                }
            };
            if class.lag == 0 {
                if place.is_multiple_of(2) && place + 1 < u64::from(plan.count) {
                    consider(place + 1);
                }
            } else {
                let step = u64::from(parent.count);
                let mut child = self.permutation(parent_log, at).invert(place);
                while child < u64::from(plan.count) {
                    consider(child);
                    child += step;
                }
            }
        }
        family[1..].sort_unstable();
        family
    }

    /// When a slot's study was made and its message is dated.
    pub(crate) fn times(&self, slot: u64) -> Times {
        match self.kind(slot) {
            Kind::First => self.first_times(slot),
            Kind::Resend { first } => self.first_times(first),
            Kind::FollowUp { first } => self.follow_up_times(slot, first),
        }
    }

    /// Day of the log that holds a slot.
    pub(crate) fn log_day(&self, slot: u64) -> Day {
        self.timeline.logs[self.timeline.log_of(slot)].day
    }

    fn first_times(&self, slot: u64) -> Times {
        let mut draw = Draw::new(self.spec.seed, Stream::ReportTime, slot);
        let mut day = self.log_day(slot);
        if !self.spec.late.is_zero() && draw.chance(self.spec.late) {
            day = (day - draw.weighted(&self.spec.late_days) as Day).max(0);
        }
        let hour = i64::from(draw.weighted(&self.spec.volume.hours));
        let study = i64::from(day) * DAY_SECONDS + hour * 3600 + draw.below(3600) as i64;
        Times {
            study,
            report: study + 900 + draw.below(9900) as i64,
        }
    }

    fn follow_up_times(&self, slot: u64, first: u64) -> Times {
        let before = self.first_times(first);
        let mut draw = Draw::new(self.spec.seed, Stream::ReportTime, slot);
        let report = if draw.chance(self.spec.out_of_order) {
            before.report - 1 - draw.below(600) as i64
        } else {
            let begin = i64::from(self.log_day(slot)) * DAY_SECONDS;
            let end = begin + DAY_SECONDS;
            let earliest = (before.report + 60).max(begin + 6 * 3600);
            earliest + draw.below((end - earliest) as u64) as i64
        };
        Times {
            study: before.study,
            report,
        }
    }

    /// The class that a slot was drawn to be in, before it is known whether it finds a parent.
    fn drawn(&self, slot: u64, place: u64) -> Option<usize> {
        let point = hash(self.spec.seed, Stream::SlotKind, slot) >> 32;
        let odd = (place % 2) as usize;
        self.classes
            .iter()
            .position(|class| point < class.ends[odd])
    }

    /// The first message that a slot of a class follows, if it finds one.
    fn parent(&self, log: usize, place: u64, class: usize) -> Option<u64> {
        let lag = self.classes[class].lag as usize;
        let parent = if lag == 0 {
            (place % 2 == 1).then(|| self.timeline.logs[log].first + place - 1)?
        } else {
            let parent_log = log.checked_sub(lag)?;
            let plan = self.timeline.logs[parent_log];
            plan.first
                + self
                    .permutation(parent_log, class)
                    .apply(place % u64::from(plan.count))
        };
        if self.kind(parent) != Kind::First {
            return None;
        }
        // A follow-up is dated later on the day of its own log: there must be room left.
        let day_end = i64::from(self.timeline.logs[log].day + 1) * DAY_SECONDS;
        (self.first_times(parent).report + LEAST_ROOM < day_end).then_some(parent)
    }

    fn permutation(&self, parent_log: usize, class: usize) -> Permutation {
        let index = (class as u64) << 48 | parent_log as u64;
        Permutation::new(
            u64::from(self.timeline.logs[parent_log].count),
            hash(self.spec.seed, Stream::SlotParent, index),
        )
    }
}

/// Classes with the chances that make their found shares the asked ones: a slot that finds no first
/// message becomes one itself, so slots are drawn later in the proportion f / (1 - f).
fn classes(follow_ups: &Later, resends: &Later) -> Vec<Class> {
    let share = follow_ups.rate + resends.rate;
    let scale_up = 1.0 / (1.0 - share);
    let mut ends = [0.0f64; 2];
    let mut classes = Vec::new();
    for (follow_up, later) in [(true, follow_ups), (false, resends)] {
        let weights: f64 = later.lags.iter().map(|(_, weight)| weight).sum();
        for &(lag, weight) in &later.lags {
            let chance = later.rate * weight / weights * scale_up;
            if chance == 0.0 {
                continue;
            }
            // Within one log, odd slots follow even ones: they alone carry the chance.
            ends[0] += if lag == 0 { 0.0 } else { chance };
            ends[1] += if lag == 0 { 2.0 * chance } else { chance };
            classes.push(Class {
                follow_up,
                lag,
                ends: ends.map(|end| (end.min(1.0) * 4_294_967_296.0) as u64),
            });
        }
    }
    classes
}

/// The fraction of a second in a log's header line, in units of 100 µs.
pub(crate) fn header_fraction(seed: u64, slot: u64) -> u32 {
    scale(hash(seed, Stream::HeaderFraction, slot), 10_000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Overrides;

    fn with_slots(profile: &str, messages: u64, logs: u64, check: impl FnOnce(&Slots<'_>, u64)) {
        let spec = Spec::load(
            profile,
            &Overrides {
                messages: Some(messages),
                log_files: Some(logs),
                ..Overrides::default()
            },
        )
        .unwrap();
        let timeline = Timeline::new(&spec);
        check(&Slots::new(&spec, &timeline), messages);
    }

    #[test]
    fn parents_and_their_later_slots_find_each_other() {
        with_slots("lifelike", 6_000, 300, |slots, messages| {
            let mut later = 0;
            for slot in 0..messages {
                let study = slots.study(slot);
                assert!(slots.family(study).contains(&slot));
                later += u64::from(study != slot);
                if study == slot {
                    for member in slots.family(slot) {
                        assert_eq!(slots.study(member), slot);
                    }
                }
            }
            let share = later as f64 / messages as f64;
            assert!((0.28..0.34).contains(&share), "found {share}, asked 0.31");
        });
    }

    #[test]
    fn a_follow_up_is_dated_after_its_first_message_unless_out_of_order() {
        with_slots("lifelike", 6_000, 300, |slots, messages| {
            let (mut later, mut earlier) = (0, 0);
            for slot in 0..messages {
                if let Kind::FollowUp { first } = slots.kind(slot) {
                    let (before, after) = (slots.times(first), slots.times(slot));
                    assert_eq!(before.study, after.study);
                    if after.report > before.report {
                        let day = i64::from(slots.log_day(slot));
                        assert_eq!(after.report.div_euclid(DAY_SECONDS), day);
                        later += 1;
                    } else {
                        earlier += 1;
                    }
                }
            }
            assert!(
                later > 1000 && earlier > 20,
                "{later} later, {earlier} earlier"
            );
        });
    }
}
