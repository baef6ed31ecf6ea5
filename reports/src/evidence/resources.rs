//! Rows of the evidence table on memory, processes and rows.

use super::{Cell, Row, Table, Unit};
use crate::arms::{Arm, is};
use crate::error::ReportError;
use crate::number::count;
use polars::prelude::{col, lit};
use std::collections::BTreeSet;

impl Table<'_, '_> {
    pub(super) fn resources(&mut self) -> Result<(), ReportError> {
        let arms = self.arms;
        let measured = arms.attempts().filter(col("peak_rss_bytes").is_not_null());
        let peak = arms.figures(measured, col("peak_rss_bytes").max())?;
        self.row(
            "peak_memory",
            "most resident memory of a worker",
            Unit::Memory,
            &peak,
            |_| "not measured".to_owned(),
        );
        let timed = arms.attempts().filter(col("cpu_s").is_not_null());
        let cpu = arms.figures(timed, col("cpu_s").sum())?;
        self.row(
            "cpu",
            "CPU time of all attempts",
            Unit::Seconds,
            &cpu,
            |_| "not measured".to_owned(),
        );
        let restarted = col("incarnation").gt(lit(1));
        let mut restarts = arms.figures(arms.workers(), restarted.sum())?;
        for arm in &arms.arms {
            // Of a run that was imported, somebody counted them.
            if let Some(known) = arms.column(arm).facts.number("reported.restarts") {
                restarts.entry(arm.key).or_insert(known);
            }
        }
        self.row(
            "restarts",
            "restarts of a worker",
            Unit::Count,
            &restarts,
            |_| "not reported".to_owned(),
        );
        let lost = is("outcome", "completed").not();
        let lost = arms.figures(arms.attempts(), lost.sum())?;
        self.row(
            "attempts_not_completed",
            "attempts that did not complete",
            Unit::Count,
            &lost,
            |_| "attempts were not recorded".to_owned(),
        );
        self.spark()?;
        let completed = arms.arms.iter();
        let completed = completed.map(|arm| (arm.key, f64::from(arm.completed)));
        self.row(
            "workflows_completed",
            "workflows completed",
            Unit::Count,
            &completed.collect(),
            |_| "not reported".to_owned(),
        );
        Ok(())
    }

    /// What the event logs of the distributed engine say, or somebody who read them.
    fn spark(&mut self) -> Result<(), ReportError> {
        let arms = self.arms;
        for (id, name, unit, column, fact) in [
            (
                "tasks_per_filter",
                "median Spark tasks per filter",
                Unit::Count,
                "tasks_per_filter_p50",
                "reported.tasks_per_filter",
            ),
            (
                "job_median",
                "median Spark job",
                Unit::Seconds,
                "job_p50_s",
                "reported.median_job_s",
            ),
        ] {
            let known = arms.spark().filter(col(column).is_not_null());
            let mut figures = arms.figures(known, col(column).max())?;
            for arm in &arms.arms {
                if let Some(value) = arms.column(arm).facts.number(fact) {
                    figures.entry(arm.key).or_insert(value);
                }
            }
            self.row(id, name, unit, &figures, |_| "no event log".to_owned());
        }
        for (id, name, unit, column) in [
            ("spark_jobs", "Spark jobs", Unit::Count, "jobs"),
            ("spark_tasks", "Spark tasks", Unit::Count, "tasks"),
            (
                "task_time",
                "time of all Spark tasks",
                Unit::Seconds,
                "task_run_s",
            ),
            (
                "garbage_collection",
                "of this, garbage collection",
                Unit::Seconds,
                "gc_s",
            ),
            (
                "shuffle_written",
                "shuffle bytes written",
                Unit::Bytes,
                "shuffle_written_bytes",
            ),
            (
                "spilled",
                "bytes spilled to disk",
                Unit::Bytes,
                "spilled_disk_bytes",
            ),
        ] {
            let figures = arms.figures(arms.spark(), col(column).max())?;
            self.row_if_any(id, name, unit, &figures, |_| "no event log".to_owned());
        }
        Ok(())
    }

    pub(super) fn verified(&mut self) -> Result<(), ReportError> {
        let arms = self.arms;
        let reports = arms.last_tables().filter(is("table", "reports"));
        let rows = arms.figures(reports, col("rows").max())?;
        let say = |arm: &Arm| match (&arm.verified, rows.get(&arm.key)) {
            (Some(verified), _) if verified.failed > 0 => {
                format!("**invalid**: {} checks failed", verified.failed)
            }
            (Some(_), Some(rows)) => count(*rows),
            (Some(_), None) => "rows not counted".to_owned(),
            (None, _) => {
                let facts = &arms.column(arm).facts;
                match (
                    facts.number("reported.rows"),
                    facts.text("reported.rows_by"),
                ) {
                    (Some(rows), Some(by)) => {
                        format!("{} reported (by {by}), not verified", count(rows))
                    }
                    _ => "n/a (rows were not verified)".to_owned(),
                }
            }
        };
        let cells = (0..arms.columns.len()).map(|column| {
            let said: BTreeSet<String> = arms.in_column(column).map(say).collect();
            match said.is_empty() {
                true => Cell::Missing {
                    reason: "the arm did not begin".to_owned(),
                },
                false => Cell::Statement {
                    text: said.into_iter().collect::<Vec<_>>().join("; "),
                },
            }
        });
        self.rows.push(Row {
            id: "rows_verified".to_owned(),
            name: "rows in reports, verified".to_owned(),
            unit: Unit::Count,
            cells: cells.collect(),
        });
        Ok(())
    }
}
