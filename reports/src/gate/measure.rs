//! The figures of a variant, from the frames of its run.

use super::metric::{Figure, OF_TABLE};
use crate::arms::{Arm, Arms, Figures, Key, is};
use crate::error::ReportError;
use crate::statistics::Point;
use crate::statistics::line::{Line, least_squares};
use polars::prelude::{Expr, LazyFrame, col, lit};
use std::collections::BTreeMap;

/// The figures of a variant by name.
pub(super) fn measure(
    arms: &Arms<'_>,
    column: usize,
) -> Result<BTreeMap<String, Figure>, ReportError> {
    let mut figures = BTreeMap::new();
    of_tables(arms, column, &mut figures)?;
    of_sequence(arms, column, &mut figures)?;
    let all: Vec<Times> = times(arms, column)?.into_values().collect();
    let prefix = arms.in_column(column).map(|arm| arm.prefix).min();
    for (name, of) in Times::SHOWN {
        let values: Vec<f64> = all
            .iter()
            .filter_map(|times| of(times, prefix.unwrap_or(0)))
            .collect();
        add(&mut figures, name, values);
    }
    let peak = arms.figures(
        own(arms.attempts(), column).filter(col("peak_rss_bytes").is_not_null()),
        col("peak_rss_bytes").max(),
    )?;
    add(&mut figures, "peak_memory", peak.into_values().collect());
    Ok(figures)
}

fn add(figures: &mut BTreeMap<String, Figure>, name: &str, values: Vec<f64>) {
    if !values.is_empty() {
        let figure = Figure {
            values,
            after: BTreeMap::new(),
        };
        figures.insert(name.to_owned(), figure);
    }
}

fn own(rows: LazyFrame, column: usize) -> LazyFrame {
    rows.filter(col("column").eq(lit(column as u32)))
}

/// What is counted in a table's rows.
fn counted(what: &str) -> Expr {
    match what {
        // The first commit makes version 0.
        "commits" => col("version") + lit(1),
        name => col(name),
    }
}

fn of_tables(
    arms: &Arms<'_>,
    column: usize,
    figures: &mut BTreeMap<String, Figure>,
) -> Result<(), ReportError> {
    let concurrent = arms.in_column(column).any(|arm| arms.concurrent(arm));
    let prefix = arms.in_column(column).map(|arm| arm.prefix).min();
    for table in arms.table_names()? {
        let of_table = is("table", &table);
        for kind in OF_TABLE {
            let last = own(arms.last_tables(), column).filter(of_table.clone());
            let values = arms.figures(last, counted(kind.what).max())?;
            let mut figure = Figure {
                values: values.into_values().collect(),
                after: BTreeMap::new(),
            };
            if figure.values.is_empty() {
                continue;
            }
            // Workflows of a concurrent sequence do not close in the order of their numbers.
            if !concurrent {
                let looks = own(arms.tables(), column).filter(of_table.clone());
                let points = arms.points(looks, counted(kind.what))?;
                figure.after = rungs(points.values(), prefix.unwrap_or(0));
            }
            figures.insert(format!("{table}.{}", kind.what), figure);
        }
    }
    Ok(())
}

/// Workflows after which a figure is kept: 1, 2, 4, 8 and so on, and the last. Two sequences of unlike
/// length have some in common, and an entry stays small.
fn rungs<'p>(arms: impl Iterator<Item = &'p Vec<(u32, f64)>>, prefix: u32) -> BTreeMap<u32, f64> {
    let mut at: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (workflow, value) in arms.flatten() {
        if *workflow <= prefix && (workflow.is_power_of_two() || *workflow == prefix) {
            at.entry(*workflow).or_default().push(*value);
        }
    }
    at.into_iter()
        .map(|(workflow, values)| (workflow, median(&values)))
        .collect()
}

fn of_sequence(
    arms: &Arms<'_>,
    column: usize,
    figures: &mut BTreeMap<String, Figure>,
) -> Result<(), ReportError> {
    let every = |found: &Figures| -> Vec<f64> {
        let keys = arms.in_column(column).map(|arm| arm.key);
        keys.map(|key| found.get(&key).copied().unwrap_or(0.0))
            .collect()
    };
    for (name, what) in [("rewritten_bytes", "bytes"), ("written_files", "files")] {
        let written = own(arms.stages(), column).filter(col(what).is_not_null());
        let written = arms.figures(written, col(what).sum())?;
        // A worker that tells of no stage has written an unknown number of bytes, not none.
        add(figures, name, written.into_values().collect());
    }
    let done = arms.in_column(column).map(|arm| f64::from(arm.completed));
    add(figures, "workflows_completed", done.collect());
    let attempts = arms.figures(own(arms.attempts(), column), lit(1.0).sum())?;
    if !attempts.is_empty() {
        let lost = own(arms.attempts(), column).filter(is("outcome", "completed").not());
        let lost = arms.figures(lost, lit(1.0).sum())?;
        add(figures, "attempts_not_completed", every(&lost));
    }
    let workers = arms.figures(own(arms.workers(), column), lit(1.0).sum())?;
    if !workers.is_empty() {
        let again = own(arms.workers(), column).filter(col("incarnation").gt(lit(1)));
        let again = arms.figures(again, lit(1.0).sum())?;
        add(figures, "restarts", every(&again));
    }
    Ok(())
}

/// The times of an arm, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// Service of each completed workflow that was timed, by number.
    pub(super) service: Vec<(u32, f64)>,
    /// First launch to last close.
    pub(super) wall: Option<f64>,
    /// CPU time of all attempts.
    pub(super) cpu: Option<f64>,
    /// Whether workflows ran one after another, so that growth over their numbers means something.
    pub(super) in_order: bool,
    /// Workflows that completed.
    pub(super) completed: u32,
}

/// A figure of an arm, over its workflows up to one.
type Of = fn(&Times, u32) -> Option<f64>;

impl Times {
    /// What is shown of an arm by itself.
    const SHOWN: [(&'static str, Of); 6] = [
        ("service_total", |times, _| times.total()),
        ("wall", |times, _| times.wall),
        ("cpu", |times, _| times.cpu),
        ("service_intercept", |times, last| {
            Some(times.line(last)?.at(1.0))
        }),
        ("service_slope", |times, last| Some(times.line(last)?.slope)),
        ("service_late", Times::late),
    ];

    /// Service of all workflows, unless some of them was not timed.
    pub(super) fn total(&self) -> Option<f64> {
        let all = self.completed > 0 && self.service.len() == self.completed as usize;
        all.then(|| self.service.iter().map(|(_, time)| time).sum())
    }

    /// The line of growth up to a workflow.
    pub(super) fn line(&self, last: u32) -> Option<Line> {
        let within = self.service.iter().filter(|(at, _)| *at <= last);
        let points: Vec<Point> = within.map(|(at, time)| (f64::from(*at), *time)).collect();
        let fit = self.in_order.then(|| least_squares(&points).ok())?;
        fit.map(|fit| fit.line)
    }

    /// Mean service of the last third of the workflows up to one: where a plateau would be.
    pub(super) fn late(&self, last: u32) -> Option<f64> {
        if !self.in_order || last < 6 {
            return None;
        }
        let from = last - last / 3 + 1;
        let late = self.service.iter();
        let late: Vec<f64> = late
            .filter(|(at, _)| (from..=last).contains(at))
            .map(|(_, time)| *time)
            .collect();
        let all = late.len() == (last - from + 1) as usize;
        all.then(|| late.iter().sum::<f64>() / late.len() as f64)
    }
}

/// The times of each arm of a variant.
pub(super) fn times(arms: &Arms<'_>, column: usize) -> Result<BTreeMap<Key, Times>, ReportError> {
    let service = arms.service()?;
    let wall = col("closed_s").max() - col("launched_s").min();
    let wall = arms.figures(arms.completed(), wall)?;
    let timed = arms.attempts().filter(col("cpu_s").is_not_null());
    let cpu = arms.figures(timed, col("cpu_s").sum())?;
    let of = |arm: &Arm| Times {
        service: service.get(&arm.key).cloned().unwrap_or_default(),
        wall: wall.get(&arm.key).copied(),
        cpu: cpu.get(&arm.key).copied(),
        in_order: !arms.concurrent(arm),
        completed: arm.completed,
    };
    Ok(arms
        .in_column(column)
        .map(|arm| (arm.key, of(arm)))
        .collect())
}

/// The middle value, or the mean of the two middle ones; 0 of none.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count => sorted[(count - 1) / 2].midpoint(sorted[count / 2]),
    }
}
