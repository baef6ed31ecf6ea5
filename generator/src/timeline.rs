//! Which logs there are, on which days, and how many messages each holds.
//!
//! A message's global index is its place in this plan: logs in path order, slots within a log. The
//! plan is the only thing that is worked out for the whole data set beforehand; it takes some tens
//! of bytes a log.

use crate::calendar::{self, Day};
use crate::draw::{Draw, Rate, Stream, hash, scale};
use crate::spec::{Amount, Spec, Volume};

/// A log: its day, whether it is the day's second feed, and the messages that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPlan {
    pub(crate) day: Day,
    pub(crate) second_feed: bool,
    /// Global index of its first slot.
    pub(crate) first: u64,
    /// Number of slots.
    pub(crate) count: u32,
}

impl LogPlan {
    /// File name without ending: `YYYYMMDD` or `YYYYMMDD_PORU`.
    pub(crate) fn stem(&self) -> String {
        let (year, month, day) = calendar::date_of(self.day);
        let feed = if self.second_feed { "_PORU" } else { "" };
        format!("{year:04}{month:02}{day:02}{feed}")
    }

    /// Path within the data set: `YYYY/<stem>.log`.
    pub(crate) fn path(&self) -> String {
        format!("{:04}/{}.log", calendar::date_of(self.day).0, self.stem())
    }
}

/// All logs of a data set, in path order.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) logs: Vec<LogPlan>,
    pub(crate) messages: u64,
}

/// The weight of a second feed against the day's first.
const SECOND_FEED_SHARE: f64 = 0.25;

impl Timeline {
    pub(crate) fn new(spec: &Spec) -> Self {
        let logs = match spec.volume.amount {
            Amount::Total { messages, logs } => total(spec, messages, logs),
            Amount::Rate { per_day, days } => rate(spec, per_day, days),
        };
        let messages = logs
            .last()
            .map_or(0, |log| log.first + u64::from(log.count));
        Self { logs, messages }
    }

    /// Position of the log that holds a message.
    pub(crate) fn log_of(&self, message: u64) -> usize {
        // Volume is nearly even in most plans: start at the proportional place and walk.
        let guess =
            (u128::from(message) * self.logs.len() as u128 / u128::from(self.messages)) as usize;
        let near = |at: usize| {
            let log = &self.logs[at];
            message >= log.first && message < log.first + u64::from(log.count)
        };
        let from = guess.saturating_sub(4);
        let until = (guess + 5).min(self.logs.len());
        if let Some(found) = (from..until).find(|&at| near(at)) {
            return found;
        }
        self.logs.partition_point(|log| log.first <= message) - 1
    }
}

/// Weight of the `index`-th day: weekday, growth by the year, and scatter.
fn day_weight(seed: u64, volume: &Volume, index: u64) -> f64 {
    let day = volume.start + index as Day;
    let mean = volume.weekdays.iter().sum::<f64>() / 7.0;
    let mut weight = volume.weekdays[calendar::weekday(day)] / mean;
    if volume.growth_per_year != 0.0 {
        for _ in 0..index / 365 {
            weight *= 1.0 + volume.growth_per_year;
        }
    }
    if volume.dispersion > 0.0 {
        // The mean of two uniform draws lies around 0.5 like a triangle.
        let bits = hash(seed, Stream::LogWeight, index);
        let sum = (bits >> 32) + (bits & 0xffff_ffff);
        let around = sum as f64 / 4_294_967_296.0 - 1.0;
        weight *= 1.0 + volume.dispersion * around;
    }
    weight
}

fn second_feed(seed: u64, rate: Rate, index: u64) -> bool {
    rate.hit(hash(seed, Stream::SecondFeed, index))
}

/// Logs of a rate: a day's volume follows from the seed and the day alone.
fn rate(spec: &Spec, per_day: f64, days: u64) -> Vec<LogPlan> {
    let volume = &spec.volume;
    let mut logs = Vec::new();
    let mut first = 0;
    for index in 0..days {
        let mean = per_day * day_weight(spec.seed, volume, index);
        let count = poisson(&mut Draw::new(spec.seed, Stream::LogVolume, index), mean);
        let second = if second_feed(spec.seed, volume.second_feed, index) {
            count / 5
        } else {
            0
        };
        for (second_feed, count) in [(false, count - second), (true, second)] {
            if count > 0 {
                logs.push(LogPlan {
                    day: volume.start + index as Day,
                    second_feed,
                    first,
                    count,
                });
                first += u64::from(count);
            }
        }
    }
    logs
}

/// Logs of a total: one message each, and the rest thrown at them by weight, each message by a draw
/// of its own. That is what Poisson volumes are, given their sum.
fn total(spec: &Spec, messages: u64, logs: u64) -> Vec<LogPlan> {
    let volume = &spec.volume;
    let mut plan: Vec<LogPlan> = Vec::with_capacity(logs as usize);
    let mut ends: Vec<u64> = Vec::with_capacity(logs as usize);
    let mut sum = 0;
    let mut index = 0;
    for _ in 0..logs {
        let second = plan.last().is_some_and(|log| {
            !log.second_feed && second_feed(spec.seed, volume.second_feed, index - 1)
        });
        if second {
            index -= 1;
        }
        let share = if second { SECOND_FEED_SHARE } else { 1.0 };
        let weight = day_weight(spec.seed, volume, index) * share;
        sum += (weight * 1_048_576.0) as u64 + 1;
        ends.push(sum);
        plan.push(LogPlan {
            day: volume.start + index as Day,
            second_feed: second,
            first: 0,
            count: 1,
        });
        index += 1;
    }
    // Where to begin looking for the log of a throw, by its proportional place.
    let mut guide = Vec::with_capacity(plan.len());
    let mut log = 0;
    for place in 0..logs {
        let point = (u128::from(sum) * u128::from(place) / u128::from(logs)) as u64;
        while ends[log] <= point {
            log += 1;
        }
        guide.push(log as u32);
    }
    for message in logs..messages {
        let bits = hash(spec.seed, Stream::LogChoice, message);
        let point = scale(bits, sum);
        let mut log = guide[scale(bits, logs) as usize] as usize;
        while ends[log] <= point {
            log += 1;
        }
        plan[log].count += 1;
    }
    let mut first = 0;
    for log in &mut plan {
        log.first = first;
        first += u64::from(log.count);
    }
    plan
}

/// A Poisson draw by Knuth's product of uniform draws, in parts of at most 16 so that the
/// exponential stays far from zero. The exponential is computed in software: the same everywhere.
fn poisson(draw: &mut Draw, mean: f64) -> u32 {
    let mut left = mean;
    let mut count = 0;
    while left > 0.0 {
        let part = left.min(16.0);
        left -= part;
        let limit = libm::exp(-part);
        let mut product = 1.0;
        loop {
            product *= (draw.bits() >> 11) as f64 / 9_007_199_254_740_992.0;
            if product <= limit {
                break;
            }
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Overrides;

    fn plan(overrides: &Overrides, profile: &str) -> Timeline {
        Timeline::new(&Spec::load(profile, overrides).unwrap())
    }

    #[test]
    fn a_total_is_met_exactly_and_no_log_is_empty() {
        let plan = plan(
            &Overrides {
                messages: Some(5_000),
                log_files: Some(700),
                ..Overrides::default()
            },
            "lifelike",
        );
        assert_eq!(plan.logs.len(), 700);
        assert_eq!(plan.messages, 5_000);
        assert!(plan.logs.iter().all(|log| log.count > 0));
        assert!(plan.logs.iter().any(|log| log.second_feed));
        let paths: Vec<String> = plan.logs.iter().map(LogPlan::path).collect();
        assert!(paths.is_sorted(), "path order is the order of the plan");
        let distinct: std::collections::BTreeSet<_> = paths.iter().collect();
        assert_eq!(distinct.len(), 700);
    }

    #[test]
    fn a_longer_rate_begins_with_the_shorter_one() {
        let days = |days| Overrides {
            per_day: Some(9.5),
            days: Some(days),
            ..Overrides::default()
        };
        let (short, long) = (plan(&days(40), "lifelike"), plan(&days(400), "lifelike"));
        assert_eq!(short.logs[..], long.logs[..short.logs.len()]);
    }

    #[test]
    fn a_poisson_draw_has_its_mean_and_variance() {
        let draws: Vec<f64> = (0..4000)
            .map(|index| f64::from(poisson(&mut Draw::new(3, Stream::LogVolume, index), 27.8)))
            .collect();
        let mean = draws.iter().sum::<f64>() / 4000.0;
        let variance = draws.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / 4000.0;
        assert!((27.4..28.2).contains(&mean), "{mean}");
        assert!((25.5..30.5).contains(&variance), "{variance}");
    }

    #[test]
    fn every_message_is_found_in_its_log() {
        let plan = plan(
            &Overrides {
                messages: Some(3_000),
                log_files: Some(90),
                ..Overrides::default()
            },
            "lifelike",
        );
        for (at, log) in plan.logs.iter().enumerate() {
            for message in log.first..log.first + u64::from(log.count) {
                assert_eq!(plan.log_of(message), at);
            }
        }
    }
}
