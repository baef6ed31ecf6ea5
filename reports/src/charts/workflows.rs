//! Every workflow of an arm, for the table and the timeline.

use crate::arms::{Arm, Arms};
use crate::error::ReportError;
use polars::prelude::{DataFrame, SortMultipleOptions, col, lit};

/// A workflow. Times are in seconds of the arm's clock; what was not recorded is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workflow {
    /// Its number, from 1.
    pub workflow: i64,
    /// `completed`, `failed` or `cancelled`.
    pub status: String,
    /// When it was launched.
    pub launched: Option<f64>,
    /// When its first attempt began.
    pub started: Option<f64>,
    /// When it closed.
    pub closed: Option<f64>,
    /// From launch to close.
    pub duration: Option<f64>,
    /// Seconds of it before the first attempt.
    pub queue: Option<f64>,
    /// Seconds of it in attempts that did not complete, and between attempts.
    pub retry: Option<f64>,
    /// Seconds of it in the attempt that completed.
    pub service: Option<f64>,
    /// Its attempts.
    pub attempts: Option<i64>,
    /// Messages in its logs.
    pub messages: Option<i64>,
}

pub(super) fn workflows(arms: &Arms<'_>) -> Result<Vec<Vec<Workflow>>, ReportError> {
    arms.arms.iter().map(|arm| of_arm(arms, arm)).collect()
}

pub(super) fn of_arm(arms: &Arms<'_>, arm: &Arm) -> Result<Vec<Workflow>, ReportError> {
    let rows = arms
        .workflows()
        .filter(own(arm))
        .sort(["workflow"], SortMultipleOptions::default())
        .collect()?;
    let cells = Cells(&rows);
    (0..rows.height())
        .map(|at| {
            Ok(Workflow {
                workflow: cells.count("workflow", at)?.unwrap_or_default(),
                status: cells.text("status", at)?.unwrap_or_default().to_owned(),
                launched: cells.number("launched_s", at)?,
                started: cells.number("started_s", at)?,
                closed: cells.number("closed_s", at)?,
                duration: cells.number("duration_s", at)?,
                queue: cells.number("queue_s", at)?,
                retry: cells.number("retry_s", at)?,
                service: cells.number("service_s", at)?,
                attempts: cells.count("attempts", at)?,
                messages: cells.count("messages", at)?,
            })
        })
        .collect()
}

/// The rows of an arm.
pub(super) fn own(arm: &Arm) -> polars::prelude::Expr {
    col("column")
        .eq(lit(arm.key.0))
        .and(col("repeat").eq(lit(arm.key.1)))
}

/// The cells of a frame, one by one.
pub(super) struct Cells<'a>(pub(super) &'a DataFrame);

impl<'a> Cells<'a> {
    pub(super) fn count(&self, column: &str, at: usize) -> Result<Option<i64>, ReportError> {
        Ok(self.0.column(column)?.i64()?.get(at))
    }

    pub(super) fn number(&self, column: &str, at: usize) -> Result<Option<f64>, ReportError> {
        Ok(self.0.column(column)?.f64()?.get(at))
    }

    pub(super) fn text(&self, column: &str, at: usize) -> Result<Option<&'a str>, ReportError> {
        Ok(self.0.column(column)?.str()?.get(at))
    }
}
