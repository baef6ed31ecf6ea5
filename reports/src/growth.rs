//! How the service of each arm grows as the lake does: the shape of the whole curve, and what it goes
//! along with.

use crate::arms::{Arm, Arms};
use crate::error::ReportError;
use crate::number::{counted, seconds, slope};
use crate::statistics::shape::{Curve, Kind, Plateau, Shape, shape};
use crate::statistics::{Interval, Point};
use serde::Serialize;

/// The seed of whatever is drawn at random: the same runs give the same words.
const SEED: u64 = 20_251_029;

/// The growth of an arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// The arm, as the report names it.
    pub arm: String,
    /// The kind of curve, in words; nothing where none could be chosen.
    pub shape: Option<&'static str>,
    /// The first workflow behind a break, with the interval in which it lies.
    pub break_at: Option<Break>,
    /// Workflows whose service the shape is of.
    pub points: usize,
    /// In words.
    pub text: String,
}

/// Where a curve breaks, in numbers of workflows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Break {
    /// The most likely place.
    pub at: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// How often such an interval is meant to hold the true place.
    pub confidence: f64,
}

/// The growth of every arm whose workflows ran one after another.
pub(crate) fn growth(arms: &Arms<'_>) -> Result<Vec<Growth>, ReportError> {
    let service = arms.service()?;
    let in_order = arms.arms.iter().filter(|arm| !arms.concurrent(arm));
    Ok(in_order
        .filter_map(|arm| {
            let points = points(service.get(&arm.key)?);
            Some(of_arm(arms, arm, &points))
        })
        .collect())
}

fn points(times: &[(u32, f64)]) -> Vec<Point> {
    times
        .iter()
        .map(|(at, time)| (f64::from(*at), *time))
        .collect()
}

fn of_arm(arms: &Arms<'_>, arm: &Arm, points: &[Point]) -> Growth {
    let name = arms.name(arm);
    match shape(points, SEED) {
        Err(error) => Growth {
            text: format!("no shape is chosen ({error})"),
            arm: name,
            shape: None,
            break_at: None,
            points: points.len(),
        },
        Ok(shape) => Growth {
            arm: name,
            shape: Some(kind(shape.curve.kind())),
            break_at: shape.curve.break_at().zip(shape.break_interval).map(
                |(
                    at,
                    Interval {
                        low,
                        high,
                        confidence,
                    },
                )| Break {
                    at,
                    low,
                    high,
                    confidence,
                },
            ),
            points: shape.points,
            text: words(&shape, points),
        },
    }
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Constant => "constant",
        Kind::Linear => "linear",
        Kind::Step => "step",
        Kind::LinearThenPlateau => "linear, then a plateau",
        Kind::TwoSlopes => "two slopes",
    }
}

fn words(shape: &Shape, points: &[Point]) -> String {
    let first = points
        .iter()
        .map(|point| point.0)
        .fold(f64::INFINITY, f64::min);
    let began = seconds(shape.curve.at(first));
    let mut text = match shape.curve {
        Curve::Constant { level } => format!("constant, {} a workflow", seconds(level)),
        Curve::Linear { line } => format!("linear, from {began} by {}", slope(line.slope)),
        Curve::Step { at, before, after } => format!(
            "a step between workflows {:.0} and {:.0}, from {} to {}",
            at.floor(),
            at.ceil(),
            seconds(before),
            seconds(after)
        ),
        Curve::LinearThenPlateau {
            at,
            level,
            slope: rise,
        } => format!(
            "linear, from {began} by {}, then a plateau of {} from workflow {at:.1}",
            slope(rise),
            seconds(level)
        ),
        Curve::TwoSlopes {
            at, before, after, ..
        } => format!(
            "two slopes, from {began} by {}, and from workflow {at:.1} by {}",
            slope(before),
            slope(after)
        ),
    };
    if let Some(interval) = shape.break_interval {
        text += &format!(
            " (break between {:.1} and {:.1} in {:.0} of 100 resamples)",
            interval.low,
            interval.high,
            100.0 * interval.confidence
        );
    }
    text += &format!(
        ", chosen by BIC among {}",
        counted(shape.candidates.len(), "shape")
    );
    text += &format!(" over {}", counted(shape.points, "workflow"));
    match shape.plateau {
        Plateau::Observed { points, .. } => {
            text += &format!(". {} lie on the plateau", counted(points, "workflow"));
        }
        // What does not grow has nothing to level off.
        Plateau::NotShown if shape.curve.kind() == Kind::Constant => {}
        Plateau::NotShown => text += ". It does not level off",
        Plateau::NotObservable { points, needed } => {
            text += &format!(
                ". No plateau observable: {} from where one could begin, and it takes {needed}",
                counted(points, "workflow")
            );
        }
    }
    text
}
