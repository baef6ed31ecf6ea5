//! Times of two sides that ran interleaved, judged pair by pair.
//!
//! A time is *worse* only if three things hold: arms that are alike would hardly differ as much
//! (p < 0.05), the whole interval lies above the band that is left alone, and the middle of the pairs is
//! up by what matters. It is the *same* where the interval rules out a rise that matters. What lies between is
//! *unstable*: the machine was too noisy to tell.
//!
//! Where a third arm ran, the old side once more, its pairs with the old side show what the machine does
//! by itself. If that alone makes a difference, or its interval is wider than a rise that matters, a
//! verdict of *worse* or *better* stands only where the middle of the new side's pairs lies beyond that
//! whole interval: beyond what the machine did, as far as that can be known. To ask that the two intervals
//! be apart would ask for more than that, and hide slowdowns that are sure (`docs/statistics.md`).
//!
//! Left out: a correction for looking at several figures at once. They are not independent, and the
//! simulations (`docs/statistics.md`) count the gate as a whole.

use super::measure::{Times, median};
use super::metric::{find, words};
use super::verdict::{GateRow, PairsSay, Verdict};
use crate::number::counted;
use crate::statistics::paired::{FEWEST, Paired, paired};

/// The seed of whatever is drawn at random: the same run gives the same verdict.
const SEED: u64 = 20_251_029;

/// How often arms that are alike may differ as much.
const PROBABILITY: f64 = 0.05;

/// When a time is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The interval has to lie above 1 by more than this share. Below it lies what is left alone.
    pub band: f64,
    /// The middle of the pairs has to be up by at least this share.
    pub least: f64,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            band: 0.02,
            least: 0.05,
        }
    }
}

/// The times of one repeat, on all sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    pub(super) base: Times,
    pub(super) new: Times,
    /// The old side once more.
    pub(super) again: Option<Times>,
}

/// A figure of a pair: what it is on the old side, and on the new one. All are times above zero.
type OfPair = fn(&Times, &Times, u32) -> Option<(f64, f64)>;

/// The figures that gate. A slope may be next to nothing, so that ratios of slopes mean nothing: it is
/// gated by the service of the last workflow as it would be *if only the slope had changed*.
const GATED: [(&str, OfPair); 6] = [
    ("service_total", |a, b, _| Some((a.total()?, b.total()?))),
    ("wall", |a, b, _| Some((a.wall?, b.wall?))),
    ("cpu", |a, b, _| Some((a.cpu?, b.cpu?))),
    ("service_intercept", |a, b, last| {
        Some((a.line(last)?.at(1.0), b.line(last)?.at(1.0)))
    }),
    ("service_slope", |a, b, last| {
        let (a, b) = (a.line(last)?, b.line(last)?);
        let end = a.at(f64::from(last));
        Some((end, end + (b.slope - a.slope) * f64::from(last - 1)))
    }),
    ("service_late", |a, b, last| {
        Some((a.late(last)?, b.late(last)?))
    }),
];

/// A row for each figure that both sides have, judged by its pairs. `last` is the last workflow that all
/// arms completed with all before it.
pub(super) fn judge(turns: &[Turn], last: u32, rule: Rule) -> Vec<GateRow> {
    let row = |(id, of): (&str, OfPair)| {
        let pairs: Vec<(f64, f64)> = turns
            .iter()
            .filter_map(|turn| of(&turn.base, &turn.new, last))
            .collect();
        if pairs.is_empty() {
            return None;
        }
        let alike: Vec<(f64, f64)> = turns
            .iter()
            .filter_map(|turn| of(&turn.base, turn.again.as_ref()?, last))
            .collect();
        let judged = judge_pairs(&pairs, &alike, rule);
        let side = |of: fn(&(f64, f64)) -> f64| median(&pairs.iter().map(of).collect::<Vec<_>>());
        let seconds = |verb: &str| match id {
            // What is shown of a slope is a time here, not a slope.
            "service_slope" => format!("service of workflow {last}, {verb} only the slope"),
            _ => words(id),
        };
        Some(GateRow {
            id: id.to_owned(),
            name: seconds("changing"),
            unit: match id {
                "service_slope" => crate::evidence::Unit::Seconds,
                _ => find(id)?.unit,
            },
            base: Some(side(|pair| pair.0)),
            new: Some(side(|pair| pair.1)),
            ratio: judged.say.map(|say| say.median),
            verdict: judged.verdict,
            why: judged.why,
            tolerance: None,
            pairs: judged.say,
        })
    };
    GATED.into_iter().filter_map(row).collect()
}

/// What is said of a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    /// Nothing for too few pairs.
    pub(super) verdict: Option<Verdict>,
    pub(super) why: String,
    pub(super) say: Option<PairsSay>,
}

/// Judges pairs of (old, new), beside pairs of (old, old once more) where there are any.
pub(super) fn judge_pairs(pairs: &[(f64, f64)], alike: &[(f64, f64)], rule: Rule) -> Judged {
    let found = match paired(pairs, SEED) {
        Ok(found) => found,
        Err(error) => {
            return Judged {
                verdict: Some(Verdict::Unstable),
                why: format!("no ratio of times can be taken: {error}"),
                say: None,
            };
        }
    };
    let say = Some(PairsSay {
        pairs: pairs.len(),
        median: found.median_ratio,
        low: found.interval.map(|one| one.low),
        high: found.interval.map(|one| one.high),
        p: found.p.value,
    });
    if pairs.len() < FEWEST {
        let why = format!(
            "not gated: {}, and a time gates from {FEWEST} on",
            counted(pairs.len(), "pair")
        );
        return Judged {
            verdict: None,
            why,
            say,
        };
    }
    let verdict = by_rule(&found, rule);
    let machine = paired(alike, SEED).ok();
    let machine = machine.filter(|_| alike.len() >= FEWEST);
    let disturbed = machine
        .as_ref()
        .and_then(|machine| Some((machine.interval?, disturbance(machine, rule)?)));
    let (verdict, why) = match (verdict, disturbed) {
        (Verdict::Worse, Some((alone, what))) if found.median_ratio <= alone.high => {
            (Verdict::Unstable, format!("looked worse, but {what}"))
        }
        (Verdict::Better, Some((alone, what))) if found.median_ratio >= alone.low => {
            (Verdict::Unstable, format!("looked better, but {what}"))
        }
        (Verdict::Unstable, _) => (
            Verdict::Unstable,
            format!(
                "neither a rise of {} nor its absence is shown",
                percent(rule.least)
            ),
        ),
        (Verdict::Same, _) => (
            Verdict::Same,
            format!("a rise of {} is ruled out", percent(rule.least)),
        ),
        (verdict, _) => (verdict, String::new()),
    };
    Judged {
        verdict: Some(verdict),
        why,
        say,
    }
}

/// The verdict of pairs by themselves.
fn by_rule(found: &Paired, rule: Rule) -> Verdict {
    let Some(interval) = found.interval else {
        return Verdict::Unstable;
    };
    let significant = found.p.value < PROBABILITY;
    let up = 1.0 + rule.least;
    if significant && interval.low > 1.0 + rule.band && found.median_ratio >= up {
        Verdict::Worse
    } else if significant && interval.high < 1.0 - rule.band && found.median_ratio <= 1.0 / up {
        Verdict::Better
    } else if interval.high < up {
        Verdict::Same
    } else {
        Verdict::Unstable
    }
}

/// In what the machine by itself was too noisy, if it was.
fn disturbance(machine: &Paired, rule: Rule) -> Option<String> {
    let interval = machine.interval?;
    let up = 1.0 + rule.least;
    let differs = machine.p.value < PROBABILITY
        && (machine.median_ratio > 1.0 + rule.band || machine.median_ratio < 1.0 - rule.band);
    if differs {
        Some(format!(
            "so did the old side against itself ({:+.1} %)",
            100.0 * (machine.median_ratio - 1.0)
        ))
    } else if interval.high > up || interval.low < 1.0 / up {
        Some(format!(
            "the old side differs from itself by {:+.1} % to {:+.1} %",
            100.0 * (interval.low - 1.0),
            100.0 * (interval.high - 1.0)
        ))
    } else {
        None
    }
}

/// Whether a time looked worse, however sure that is: what a second stage looks at again.
pub(super) fn looked_worse(row: &GateRow, rule: Rule) -> bool {
    row.pairs
        .is_some_and(|pairs| pairs.median >= 1.0 + rule.least)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ratios: &[f64]) -> Vec<(f64, f64)> {
        ratios.iter().map(|ratio| (10.0, 10.0 * ratio)).collect()
    }

    fn verdict(ratios: &[f64], alike: &[f64]) -> Option<Verdict> {
        judge_pairs(&pairs(ratios), &pairs(alike), Rule::default()).verdict
    }

    const UP: [f64; 8] = [1.09, 1.11, 1.10, 1.08, 1.12, 1.10, 1.09, 1.11];
    const CALM: [f64; 8] = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99];

    #[test]
    fn a_time_is_worse_only_if_all_three_conditions_hold() {
        assert_eq!(verdict(&UP, &CALM), Some(Verdict::Worse));
        // Sure, but less than what matters.
        let small: Vec<f64> = UP.iter().map(|one| one - 0.07).collect();
        assert_eq!(verdict(&small, &CALM), Some(Verdict::Same));
        // Sure, and perhaps as much as what matters: the interval ends above it.
        let between: Vec<f64> = UP.iter().map(|one| one - 0.06).collect();
        assert_eq!(verdict(&between, &CALM), Some(Verdict::Unstable));
        // Much, but not sure.
        let wild = [1.3, 0.8, 1.25, 0.9, 1.2, 0.85, 1.3, 1.1];
        assert_eq!(verdict(&wild, &CALM), Some(Verdict::Unstable));
        // Sure and much, but part of the interval is left alone.
        let wide = [1.005, 1.012, 1.13, 1.08, 1.10, 1.009, 1.2, 1.07];
        assert_eq!(verdict(&wide, &CALM), Some(Verdict::Unstable));
    }

    #[test]
    fn fewer_than_six_pairs_say_so_and_give_no_verdict() {
        let judged = judge_pairs(&pairs(&UP[..5]), &[], Rule::default());
        assert_eq!(judged.verdict, None);
        assert!(judged.why.contains("5 pairs"), "{}", judged.why);
        assert!((judged.say.unwrap().median - 1.10).abs() < 1e-9);
    }

    #[test]
    fn a_machine_that_differs_from_itself_as_much_makes_a_night_unstable() {
        assert_eq!(verdict(&UP, &UP), Some(Verdict::Unstable));
        let down: Vec<f64> = UP.iter().map(|one| 1.0 / one).collect();
        assert_eq!(verdict(&down, &down), Some(Verdict::Unstable));
        // What lies beyond what the machine does by itself stays, either way.
        let twice: Vec<f64> = UP.iter().map(|one| 2.0 * one).collect();
        assert_eq!(verdict(&twice, &UP), Some(Verdict::Worse));
        assert_eq!(verdict(&down, &UP), Some(Verdict::Better));
    }

    #[test]
    fn on_a_noisy_machine_the_middle_of_the_pairs_has_to_lie_beyond_what_the_machine_does() {
        // No difference of its own, but an interval from about -6 % to +6 %.
        let noisy = [0.93, 1.07, 0.95, 1.06, 0.94, 1.05, 0.96, 1.04];
        let alone = paired(&pairs(&noisy), SEED).unwrap();
        let high = alone.interval.unwrap().high;
        assert!(high > 1.05 && alone.p.value > 0.05, "{alone:?}");
        let about = |middle: f64| UP.map(|one| one - 1.1 + middle);
        assert_eq!(verdict(&about(high + 0.01), &noisy), Some(Verdict::Worse));
        assert_eq!(
            verdict(&about(high - 0.005), &noisy),
            Some(Verdict::Unstable)
        );
        assert_eq!(verdict(&about(high - 0.005), &CALM), Some(Verdict::Worse));
    }

    #[test]
    fn faster_is_better_only_where_it_is_shown() {
        let down: Vec<f64> = UP.iter().map(|one| 1.0 / one).collect();
        assert_eq!(verdict(&down, &CALM), Some(Verdict::Better));
        assert_eq!(verdict(&CALM, &CALM), Some(Verdict::Same));
    }

    fn times(first: f64, slope: f64, count: u32) -> Times {
        let service = (1..=count).map(|at| (at, first + slope * f64::from(at - 1)));
        Times {
            service: service.collect(),
            wall: None,
            cpu: None,
            in_order: true,
            completed: count,
        }
    }

    fn verdict_of(rows: &[GateRow], id: &str) -> Option<Verdict> {
        rows.iter().find(|row| row.id == id).unwrap().verdict
    }

    #[test]
    fn growth_gates_as_well_as_totals_and_a_slope_of_nothing_is_no_ratio() {
        let turn = |base: Times, new: Times| Turn {
            base,
            new,
            again: None,
        };
        let noisy = |turn: u32, first: f64, slope: f64| {
            times(first * (1.0 + 0.002 * f64::from(turn % 3)), slope, 12)
        };
        // Nothing grows on either side: a slope that is a hundred times another is still nothing.
        let flat: Vec<Turn> = (0..8)
            .map(|at| turn(noisy(at, 1.0, 1e-7), noisy(at + 1, 1.0, 1e-5)))
            .collect();
        let rows = judge(&flat, 12, Rule::default());
        assert_eq!(verdict_of(&rows, "service_slope"), Some(Verdict::Same));
        // The new side starts faster and grows: the totals are alike, the growth is not.
        let steep: Vec<Turn> = (0..8)
            .map(|at| turn(noisy(at, 1.0, 0.0), noisy(at + 1, 0.89, 0.02)))
            .collect();
        let rows = judge(&steep, 12, Rule::default());
        assert_eq!(verdict_of(&rows, "service_total"), Some(Verdict::Same));
        assert_eq!(verdict_of(&rows, "service_slope"), Some(Verdict::Worse));
        assert_eq!(verdict_of(&rows, "service_late"), Some(Verdict::Worse));
        assert_eq!(
            verdict_of(&rows, "service_intercept"),
            Some(Verdict::Better)
        );
    }

    #[test]
    fn a_sequence_too_short_to_have_thirds_has_no_late_band() {
        let turns: Vec<Turn> = (0..6)
            .map(|_| Turn {
                base: times(1.0, 0.1, 4),
                new: times(1.0, 0.1, 4),
                again: None,
            })
            .collect();
        let rows = judge(&turns, 4, Rule::default());
        assert!(rows.iter().all(|row| row.id != "service_late"));
        assert_eq!(rows.len(), 3, "total, intercept and slope");
    }
}
