//! Rows of the evidence table on time: durations, and how they grow.

use super::{Table, Unit};
use crate::arms::{Arm, Arms, Figures, Points};
use crate::error::ReportError;
use crate::number::counted;
use crate::statistics::Point;
use crate::statistics::line::{Line, end_to_end, least_squares};
use polars::prelude::{col, lit};
use std::collections::BTreeSet;

impl Table<'_, '_> {
    pub(super) fn durations(&mut self) -> Result<(), ReportError> {
        let arms = self.arms;
        let last = arms.arms.iter().map(|arm| arm.prefix).max().unwrap_or(0);
        // The first, the last two that all have, and the last of all.
        let chosen: BTreeSet<u32> = [1, self.common.saturating_sub(1), self.common, last]
            .into_iter()
            .filter(|&workflow| workflow > 0)
            .collect();
        for workflow in chosen {
            let rows = arms.completed().filter(col("workflow").eq(lit(workflow)));
            let figures = arms.figures(rows, col("duration_s").max())?;
            self.row_of_same(
                format!("duration_workflow_{workflow}"),
                format!("workflow {workflow}, launch to close"),
                Unit::Seconds,
                &figures,
                |arm| ended_before(arms, arm, workflow),
            );
        }
        let timed = arms.completed().filter(col("service_s").is_not_null());
        let no_service = |arm: &Arm| match arm.completed {
            0 => "no workflow completed".to_owned(),
            _ => "service was not recorded".to_owned(),
        };
        let common = self.common;
        if common > 0 && arms.arms.iter().any(|arm| arm.completed > common) {
            let same = timed.clone().filter(col("workflow").lt_eq(lit(common)));
            let service = arms.figures(same, col("service_s").sum())?;
            self.row_of_same(
                "service_common",
                format!("service of workflows 1 to {common}"),
                Unit::Seconds,
                &service,
                no_service,
            );
        }
        let service = arms.figures(timed, col("service_s").sum())?;
        self.row(
            "service_total",
            "service of all completed workflows",
            Unit::Seconds,
            &service,
            no_service,
        );
        let kept = arms.workflows().filter(col("queue_s").is_not_null());
        let waiting = col("queue_s") + col("retry_s").fill_null(lit(0.0));
        let waiting = arms.figures(kept, waiting.sum())?;
        self.row(
            "waiting_total",
            "queueing and retries of all workflows",
            Unit::Seconds,
            &waiting,
            |_| "queueing was not recorded".to_owned(),
        );
        let wall = col("closed_s").max() - col("launched_s").min();
        let wall = arms.figures(arms.completed(), wall)?;
        self.row(
            "wall",
            "first launch to last close",
            Unit::Seconds,
            &wall,
            |_| "launch and close were not recorded".to_owned(),
        );
        Ok(())
    }

    pub(super) fn growth(&mut self) -> Result<(), ReportError> {
        let service = self.arms.service()?;
        let window = format!("workflows 1 to {}", self.common);
        let common = self.common;
        let in_order: Points = service
            .into_iter()
            .filter(|(key, _)| {
                let arm = self.arms.arms.iter().find(|arm| arm.key == *key);
                arm.is_some_and(|arm| !self.arms.concurrent(arm))
            })
            .collect();
        let arms = self.arms;
        let line = |of: fn(&[Point]) -> Option<Line>, value: fn(&Line) -> f64| -> Figures {
            let figures = in_order.iter().filter_map(|(key, points)| {
                let points = within(points, common);
                Some((*key, value(&of(&points)?)))
            });
            figures.collect()
        };
        let no_line = |arm: &Arm| match arms.concurrent(arm) {
            true => CONCURRENT.to_owned(),
            false => match in_order
                .get(&arm.key)
                .map(|points| within(points, common).len())
            {
                None | Some(0) => "no workflow completed".to_owned(),
                Some(points) => format!("{} make no line", counted(points, "workflow")),
            },
        };
        let fitted = |points: &[Point]| least_squares(points).ok().map(|fit| fit.line);
        self.row_of_same(
            "service_intercept",
            format!("service at workflow 1 ({window}, least squares)"),
            Unit::Seconds,
            &line(fitted, |line| line.at(1.0)),
            no_line,
        );
        self.row_of_same(
            "service_slope",
            format!("growth of service ({window}, least squares)"),
            Unit::SecondsPerWorkflow,
            &line(fitted, |line| line.slope),
            no_line,
        );
        self.row_of_same(
            "service_slope_ends",
            format!("growth of service ({window}, end to end)"),
            Unit::SecondsPerWorkflow,
            &line(|points| end_to_end(points).ok(), |line| line.slope),
            no_line,
        );
        let late = |of: fn(f64, f64) -> f64| -> Figures {
            let figures = arms.arms.iter().filter_map(|arm| {
                let points = in_order.get(&arm.key)?;
                let from = last_third(arm)?;
                let times = points
                    .iter()
                    .filter(|(at, _)| (from..=arm.prefix).contains(at));
                let times: Vec<f64> = times.map(|(_, time)| *time).collect();
                // The band of some of them is not the band of all.
                let all = times.len() == (arm.prefix - from + 1) as usize;
                let time = times.into_iter().reduce(of).filter(|_| all)?;
                Some((arm.key, time))
            });
            figures.collect()
        };
        let no_thirds = |arm: &Arm| match arms.concurrent(arm) {
            true => CONCURRENT.to_owned(),
            false if arm.prefix < 6 => {
                format!("{} have no thirds", counted(arm.prefix, "workflow"))
            }
            false => "not all times of it were reported".to_owned(),
        };
        self.row(
            "late_slowest",
            "slowest service in the last third",
            Unit::Seconds,
            &late(f64::max),
            no_thirds,
        );
        self.row(
            "late_fastest",
            "fastest service in the last third",
            Unit::Seconds,
            &late(f64::min),
            no_thirds,
        );
        Ok(())
    }
}

const CONCURRENT: &str = "concurrent: workflows do not run in the order of their numbers";

/// Points up to a workflow, as numbers.
fn within(points: &[(u32, f64)], last: u32) -> Vec<Point> {
    let points = points.iter().filter(|(workflow, _)| *workflow <= last);
    points.map(|(at, value)| (f64::from(*at), *value)).collect()
}

/// The first workflow of an arm's last third.
fn last_third(arm: &Arm) -> Option<u32> {
    (arm.prefix >= 6).then(|| arm.prefix - arm.prefix / 3 + 1)
}

/// Why an arm has no duration of a workflow.
fn ended_before(arms: &Arms<'_>, arm: &Arm, workflow: u32) -> String {
    let cancelled = arms.column(arm).facts.at("sequence.stop_after").is_some();
    match (arm.prefix, &arm.failed) {
        (_, Some((failed, _))) if *failed <= workflow => format!("workflow {failed} failed"),
        (0, _) => "no workflow completed".to_owned(),
        (last, _) if last >= workflow => "not reported".to_owned(),
        (last, _) if cancelled => format!("cancelled at workflow {last}"),
        (last, _) => format!("ended after workflow {last}"),
    }
}
