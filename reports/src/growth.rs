//! How the service of each arm grows as the lake does: the shape of the whole curve, and what it goes
//! along with.

use crate::arms::{Arm, Arms, is};
use crate::error::ReportError;
use crate::number::{counted, seconds, slope};
use crate::statistics::association::{self, Observation, Reading, association};
use crate::statistics::shape::{Curve, Kind, Plateau, Shape, shape};
use crate::statistics::{Interval, Point};
use polars::prelude::col;
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
    /// What it goes along with, in words: an association, never a cause.
    pub association: Vec<String>,
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
    let rows = arms.points(arms.tables().filter(is("table", "reports")), col("rows"))?;
    let files = arms
        .tables()
        .group_by(["column", "repeat", "workflow"].map(col));
    let files = arms.points(files.agg([col("live_files").sum()]), col("live_files"))?;
    let in_order = arms.arms.iter().filter(|arm| !arms.concurrent(arm));
    Ok(in_order
        .filter_map(|arm| {
            let times = service.get(&arm.key)?;
            let met = met(times, rows.get(&arm.key), files.get(&arm.key));
            Some(Growth {
                association: associated(&met),
                ..of_arm(arms, arm, &points(times))
            })
        })
        .collect())
}

/// The lake that each workflow met: what stood there when the one before had closed.
fn met(
    times: &[(u32, f64)],
    rows: Option<&Vec<(u32, f64)>>,
    files: Option<&Vec<(u32, f64)>>,
) -> Vec<Observation> {
    let (Some(rows), Some(files)) = (rows, files) else {
        return Vec::new();
    };
    let before = |of: &[(u32, f64)], workflow: u32| match workflow {
        1 => Some(0.0),
        _ => of
            .iter()
            .find(|(at, _)| *at == workflow - 1)
            .map(|(_, value)| *value),
    };
    times
        .iter()
        .filter_map(|(workflow, duration)| {
            Some(Observation {
                workflow: f64::from(*workflow),
                rows: before(rows, *workflow)?,
                live_files: before(files, *workflow)?,
                duration: *duration,
            })
        })
        .collect()
}

/// What service goes along with. Silent where too few workflows can say anything.
fn associated(met: &[Observation]) -> Vec<String> {
    if met.len() < association::FEWEST {
        return Vec::new();
    }
    let found = association(met);
    let mut said = Vec::new();
    if let (Ok(row), Ok(file)) = (&found.per_row, &found.per_live_file) {
        said.push(format!(
            "service goes along with the lake: {} for each 1,000 rows that were there before, {} for each 100 live files (straight lines, \
             each by itself)",
            each(1000.0 * row.line.slope),
            each(100.0 * file.line.slope)
        ));
    }
    if let Ok(explained) = &found.files_or_workflows {
        let shares = format!(
            "live files alone take up {:.0} % of its variance, the number of the workflow alone {:.0} %, both {:.0} %",
            100.0 * explained.first_alone,
            100.0 * explained.second_alone,
            100.0 * explained.together
        );
        let reading = match explained.reading() {
            Reading::CannotBeToldApart => {
                "files and workflows grow too closely together to be told apart"
            }
            Reading::First => "beyond the number of the workflow, it goes along with files",
            Reading::Second => {
                "beyond the number of files, it goes along with whatever else grows with each workflow"
            }
            Reading::Both => "it goes along with each of them beyond the other",
            Reading::Neither => {
                "with neither of them beyond the other: too few workflows, too much scatter, or no growth"
            }
        };
        said.push(format!(
            "{shares}: {reading}. That is an association, not a cause"
        ));
    }
    said
}

/// Seconds with their sign, short.
fn each(time: f64) -> String {
    format!(
        "{}{}",
        if time < 0.0 { "-" } else { "+" },
        seconds(time.abs())
    )
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
            association: Vec::new(),
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
            association: Vec::new(),
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
