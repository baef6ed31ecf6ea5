//! What the figures of two sides say, whatever may be claimed of both together.
//!
//! Each finding is a method that looks for what it needs and is silent where that is not there: it
//! knows no run. What is computed from figures that were measured is *measured*; what follows only
//! under an assumption is *inferred*, and says which; what somebody published is *checked*.

use super::observe::Sides;
use crate::arms::{Arm, Key, Points, is};
use crate::error::ReportError;
use crate::number::{count, seconds, slope};
use crate::run::Facts;
use crate::statistics::line::{common_window, end_to_end, gap, least_squares, within};
use crate::statistics::ranks::{Order, rank_correlation};
use crate::statistics::service::{Stay, Stays, stays};
use crate::statistics::shape::{ON_PLATEAU, Plateau, shape};
use crate::statistics::summary::{Middle, summary};
use crate::statistics::{Method, Point};
use polars::prelude::col;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The seed of whatever a finding draws at random.
const SEED: u64 = 20_251_029;

/// Something that figures say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What kind it is, the same in every version.
    pub id: &'static str,
    /// Of which side: `A`, `B` or `A and B`.
    pub of: &'static str,
    /// What it rests on.
    pub basis: Basis,
    /// In words.
    pub text: String,
    /// Its numbers, by name with the unit: for programs.
    pub values: BTreeMap<&'static str, f64>,
}

/// What a finding rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Figures that were measured.
    Measured,
    /// Figures that were measured, and an assumption that the text names.
    Inferred,
    /// What somebody published, against the figures.
    Checked,
}

const NAMES: [&str; 2] = ["A", "B"];

pub(super) fn findings(sides: &Sides<'_, '_>) -> Result<Vec<Finding>, ReportError> {
    let times = sides.arms.service()?;
    let stays = stays_of(sides)?;
    let mut found = Vec::new();
    for side in 0..2 {
        for arm in sides.arms.in_column(side) {
            let points = curve(&times, arm.key);
            if sides.arms.concurrent(arm) {
                if let Some(own) = stays.get(&arm.key) {
                    queue(side, sides.variant(side), own, &mut found);
                }
            } else {
                plateau(side, arm, &points, &mut found);
            }
        }
        published_median(side, sides, &mut found)?;
        published_growth(side, sides, &times, &mut found);
        shipped(side, sides.variant(side), &mut found);
    }
    common_growth(sides, &times, &mut found);
    Ok(found)
}

fn curve(times: &Points, key: Key) -> Vec<Point> {
    let points = times.get(&key).map(Vec::as_slice).unwrap_or_default();
    points
        .iter()
        .map(|(at, time)| (f64::from(*at), *time))
        .collect()
}

/// Launch and close of each arm's workflows, in the order of launch.
fn stays_of(sides: &Sides<'_, '_>) -> Result<BTreeMap<Key, Vec<Stay>>, ReportError> {
    let arms = sides.arms;
    let launched = arms.points(arms.completed(), col("launched_s"))?;
    let closed = arms.points(arms.completed(), col("closed_s"))?;
    let mut all = BTreeMap::new();
    for (key, launches) in launched {
        let closes: BTreeMap<u32, f64> = closed.get(&key).into_iter().flatten().copied().collect();
        let own: Vec<Stay> = launches
            .iter()
            .filter_map(|(workflow, launch)| {
                Some(Stay {
                    launch: *launch,
                    close: *closes.get(workflow)?,
                })
            })
            .collect();
        all.insert(key, own);
    }
    Ok(all)
}

/// What launches and closes of concurrent workflows say of the queue and of the service in it.
fn queue(side: usize, facts: &Facts, own: &[Stay], found: &mut Vec<Finding>) {
    let launches: Vec<f64> = own.iter().map(|stay| stay.launch).collect();
    let closes: Vec<f64> = own.iter().map(|stay| stay.close).collect();
    if let Ok(order) = rank_correlation(&launches, &closes, SEED) {
        let what = match order.order() {
            Order::FirstInFirstOut => "first in, first out".to_owned(),
            Order::LastInFirstOut => "last in, first out".to_owned(),
            Order::MayBeRandom => {
                "not to be told from a random one".to_owned()
            }
            Order::Neither => "neither first in, first out nor random: it follows the order of launch, but not strictly".to_owned(),
            Order::NeitherReversed => "neither last in, first out nor random: it runs against the order of launch, but not strictly".to_owned(),
        };
        let method = match order.p.method {
            Method::Exact { arrangements } => format!("all {} orders", count(arrangements as f64)),
            Method::MonteCarlo { draws } => format!("{} drawn orders", count(draws as f64)),
        };
        found.push(Finding {
            id: "completion_order",
            of: NAMES[side],
            basis: Basis::Measured,
            text: format!(
                "The order of completion is {what} (Spearman {:.2}, Kendall {:.2}, p {:.4} by {method}).",
                order.spearman, order.kendall, order.p.value
            ),
            values: BTreeMap::from([
                ("spearman", order.spearman),
                ("kendall", order.kendall),
                ("p", order.p.value),
            ]),
        });
    }
    let whole = |path: &str| facts.number(path).unwrap_or(1.0);
    let slots = (whole("sequence.workers") * whole("sequence.slots")) as u32;
    let Ok(stays) = stays(own, slots) else {
        return;
    };
    let share = stays.service_share_at_most();
    if share < 1.0 {
        found.push(Finding {
            id: "service_share",
            of: NAMES[side],
            basis: Basis::Measured,
            text: format!(
                "Durations are mostly waiting: {} of durations in {} of {}, so at most {:.1} % of them can be service.",
                seconds(stays.durations),
                seconds(stays.makespan),
                match slots {
                    1 => "one slot".to_owned(),
                    slots => format!("{slots} slots"),
                },
                100.0 * share
            ),
            values: BTreeMap::from([
                ("durations_s", stays.durations),
                ("makespan_s", stays.makespan),
                ("slots", f64::from(slots)),
                ("service_share_at_most", share),
            ]),
        });
    }
    inferred_growth(side, &stays, found);
}

/// Growth of the gaps between completions: with one slot, they are service times by inference.
fn inferred_growth(side: usize, stays: &Stays, found: &mut Vec<Finding>) {
    let Ok(fit) = stays.growth() else {
        return;
    };
    let gaps = stays.undisturbed_gaps();
    let (Some(first), Some(last)) = (gaps.first(), gaps.last()) else {
        return;
    };
    let later = &stays.gaps[gaps.len()..];
    let disturbed: Vec<String> = later
        .iter()
        .filter(|(_, gap)| *gap > 2.0 * last.1)
        .map(|(_, gap)| seconds(*gap))
        .collect();
    let disturbed = match disturbed.is_empty() {
        true => String::new(),
        false => format!(
            " Later gaps of {} have something else than service in them.",
            disturbed.join(", ")
        ),
    };
    found.push(Finding {
        id: "inferred_service_growth",
        of: NAMES[side],
        basis: Basis::Inferred,
        text: format!(
            "Inferred, as one slot serves one workflow at a time: the gaps between completions {} to {} are service times, from {} to {}, and grow by {} (least squares).{disturbed}",
            first.0,
            last.0,
            seconds(first.1),
            seconds(last.1),
            slope(fit.line.slope),
        ),
        values: BTreeMap::from([
            ("from_completion", first.0),
            ("to_completion", last.0),
            ("slope_s", fit.line.slope),
            ("first_gap_s", first.1),
            ("last_gap_s", last.1),
        ]),
    });
}

/// Whether the curve of a sequential arm shows that growth levels off, or could have shown it.
fn plateau(side: usize, arm: &Arm, points: &[Point], found: &mut Vec<Finding>) {
    if points.is_empty() {
        return;
    }
    let cannot = "It can neither support nor refute that growth levels off";
    let text = match shape(points, SEED).map(|shape| shape.plateau) {
        Err(error) => format!(
            "{cannot}: {} of its {} workflows have a time, and a shape is not chosen ({error}). A plateau takes {ON_PLATEAU} points behind its break.",
            points.len(),
            arm.completed
        ),
        Ok(Plateau::NotObservable { points, needed }) => format!(
            "{cannot}: no plateau is observable, as {points} points lie behind where one could begin, and it takes {needed}."
        ),
        Ok(Plateau::Observed { .. } | Plateau::NotShown) => return,
    };
    found.push(Finding {
        id: "plateau_not_observable",
        of: NAMES[side],
        basis: Basis::Measured,
        text,
        values: BTreeMap::from([
            ("points", points.len() as f64),
            ("completed", f64::from(arm.completed)),
        ]),
    });
}

/// Growth of both over the workflows that both reported, and where their gap comes from.
fn common_growth(sides: &Sides<'_, '_>, times: &Points, found: &mut Vec<Finding>) {
    let arms: Vec<&Arm> = (0..2)
        .filter_map(|side| sides.arms.in_column(side).next())
        .collect();
    let [a, b] = arms.as_slice() else {
        return;
    };
    if sides.arms.concurrent(a) || sides.arms.concurrent(b) {
        return;
    }
    let curves = [curve(times, a.key), curve(times, b.key)];
    let window = common_window(&[&curves[0], &curves[1]]);
    let common = curves.each_ref().map(|points| within(points, &window));
    let ends = common.each_ref().map(|points| end_to_end(points));
    let (Ok(a), Ok(b)) = (&ends[0], &ends[1]) else {
        return;
    };
    let (first, last) = (window[0], window[window.len() - 1]);
    let mut text = format!(
        "Over the workflows that both reported ({} of {first} to {last}), growth end to end is {} and {}",
        count(window.len() as f64),
        slope(a.slope),
        slope(b.slope)
    );
    let mut values = BTreeMap::from([
        ("from_workflow", first),
        ("to_workflow", last),
        ("a_end_to_end_s", a.slope),
        ("b_end_to_end_s", b.slope),
    ]);
    let fits = common.each_ref().map(|points| least_squares(points));
    if let (Ok(a), Ok(b)) = (&fits[0], &fits[1]) {
        text += &format!(
            ", and by least squares {} and {}",
            slope(a.line.slope),
            slope(b.line.slope)
        );
        values.insert("a_least_squares_s", a.line.slope);
        values.insert("b_least_squares_s", b.line.slope);
    }
    found.push(Finding {
        id: "growth_on_common_window",
        of: "A and B",
        basis: Basis::Measured,
        text: text + ".",
        values,
    });
    let Ok(gap) = gap(&curves[0], &curves[1]) else {
        return;
    };
    if let Some(share) = gap.share_at_first() {
        found.push(Finding {
            id: "gap_at_first",
            of: "A and B",
            basis: Basis::Measured,
            text: format!(
                "Of the gap of {} at workflow {}, {:.0} % is there at workflow {} already: that part is no growth.",
                seconds(gap.last.1.abs()),
                gap.last.0,
                100.0 * share,
                gap.first.0
            ),
            values: BTreeMap::from([
                ("share_at_first", share),
                ("gap_first_s", gap.first.1),
                ("gap_last_s", gap.last.1),
            ]),
        });
    }
}

/// What was published of a side, by the figure that it is of.
fn published<'a>(facts: &'a Facts, figure: &str) -> impl Iterator<Item = Facts> + use<'a> {
    let all = facts.at("published").and_then(Value::as_array);
    let figure = figure.to_owned();
    all.into_iter()
        .flatten()
        .cloned()
        .map(Facts::new)
        .filter(move |one| one.text("figure") == Some(&figure))
}

/// A published growth over another window than the other side's, and over what was reported itself.
fn published_growth(side: usize, sides: &Sides<'_, '_>, times: &Points, found: &mut Vec<Finding>) {
    let other = sides.variant(1 - side);
    for own in published(sides.variant(side), "growth") {
        let window =
            |facts: &Facts| Some((facts.number("window.from")?, facts.number("window.to")?));
        let (Some(value), Some(mine)) = (own.number("value_s"), window(&own)) else {
            continue;
        };
        let theirs: Vec<(f64, f64)> = published(other, "growth")
            .filter_map(|one| window(&one))
            .collect();
        // Each pair is said once, at its first side.
        let apart = theirs.iter().find(|one| **one != mine && side == 0);
        if let Some(theirs) = apart {
            found.push(Finding {
                id: "published_windows_differ",
                of: "A and B",
                basis: Basis::Checked,
                text: format!(
                    "The published slopes are of different windows (workflows {} to {} and {} to {}): they cannot be set side by side.",
                    mine.0, mine.1, theirs.0, theirs.1
                ),
                values: BTreeMap::from([
                    ("a_from", mine.0),
                    ("a_to", mine.1),
                    ("b_from", theirs.0),
                    ("b_to", theirs.1),
                ]),
            });
        }
        let arm = sides.arms.in_column(side).next();
        let points = arm.map(|arm| curve(times, arm.key)).unwrap_or_default();
        let reported: Vec<Point> = points
            .into_iter()
            .filter(|(at, _)| (mine.0..=mine.1).contains(at))
            .collect();
        let covered = reported.last().is_some_and(|last| last.0 >= mine.1);
        if !covered {
            found.push(Finding {
                id: "published_growth_not_checkable",
                of: NAMES[side],
                basis: Basis::Checked,
                text: format!(
                    "The published growth of {} over workflows {} to {} cannot be checked: {} of these were reported.",
                    slope(value),
                    mine.0,
                    mine.1,
                    reported.len()
                ),
                values: BTreeMap::from([("published_s", value), ("reported", reported.len() as f64)]),
            });
        }
    }
}

/// A published median against the durations.
fn published_median(
    side: usize,
    sides: &Sides<'_, '_>,
    found: &mut Vec<Finding>,
) -> Result<(), ReportError> {
    let arms = sides.arms;
    let durations = arms.points(
        arms.workflows().filter(is("status", "completed")),
        col("duration_s"),
    )?;
    for own in published(sides.variant(side), "median_duration") {
        let Some(claimed) = own.number("value_s") else {
            continue;
        };
        let rounding = own.number("rounding_s").unwrap_or(0.0);
        let all: Vec<f64> = durations
            .iter()
            .filter(|(key, _)| key.0 as usize == side)
            .flat_map(|(_, points)| points.iter().map(|(_, time)| *time))
            .collect();
        let Ok(summary) = summary(&all) else {
            continue;
        };
        let what = match summary.middle(claimed, rounding) {
            Middle::Median => continue,
            Middle::Lower => "is the lower of the two middle values",
            Middle::Upper => "is the upper of the two middle values",
            Middle::Other => "is no middle value of these durations",
        };
        found.push(Finding {
            id: "published_median",
            of: NAMES[side],
            basis: Basis::Checked,
            text: format!(
                "The published median of {} {what}; the median of the {} is {}.",
                minutes(claimed),
                summary.count,
                minutes(summary.median())
            ),
            values: BTreeMap::from([("published_s", claimed), ("median_s", summary.median())]),
        });
    }
    Ok(())
}

/// Minutes, whole where they are: what was published in minutes is read again in minutes.
fn minutes(time: f64) -> String {
    format!("{} min", count(time / 60.0))
}

/// Settings that were measured and others that were shipped.
fn shipped(side: usize, facts: &Facts, found: &mut Vec<Finding>) {
    for (key, shipped) in facts.leaves("shipped") {
        let name = key.trim_start_matches("shipped.");
        let Some(measured) = facts.at(&format!("settings.{name}")) else {
            continue;
        };
        if *measured != shipped {
            found.push(Finding {
                id: "measured_not_shipped",
                of: NAMES[side],
                basis: Basis::Checked,
                text: format!(
                    "`{name}` = {measured} was measured and {shipped} shipped: nothing was measured of what people get."
                ),
                values: BTreeMap::new(),
            });
        }
    }
}
