//! The logs of an arm as rows of a CSV file. An arm has a log for each process of its workers; what
//! several of them did for one workflow, attempt and stage is one row.

use crate::error::EventLogError;
use crate::figures::{Figures, Group, Tally};
use crate::log::{EventLog, read_logs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the row that is all of an arm: medians of stages do not add up to a median of all.
pub const ALL: &str = "(all)";

/// What the logs of an arm say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// A row per workflow, attempt and stage; what no job claims is in a row without names. The last,
    /// whose stage is [`ALL`], is of all jobs of a workflow.
    pub rows: Vec<Row>,
    /// The logs, each with what is wrong with it.
    pub logs: Vec<EventLog>,
}

/// A row of `spark.csv`, without the columns that name the arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which jobs.
    #[serde(flatten)]
    pub group: Group,
    /// Whether the logs that the row is made of are complete.
    pub complete: bool,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Reads the logs in a folder, such as `<run>/spark/<variant>-<repeat>`.
///
/// # Errors
/// [`EventLogError`]: the folder holds no log, or one cannot be read.
pub fn read_arm(folder: &Path) -> Result<Arm, EventLogError> {
    let logs = read_logs(folder)?;
    let mut groups: BTreeMap<&Group, (Tally, bool)> = BTreeMap::new();
    for log in &logs {
        for (group, tally) in &log.tallies.0 {
            let (sum, complete) = groups
                .entry(group)
                .or_insert_with(|| (Tally::default(), true));
            sum.merge(tally);
            *complete &= log.complete;
        }
    }
    let row = |(group, (tally, complete)): (&Group, (Tally, bool))| Row {
        group: group.clone(),
        complete,
        figures: tally.figures(),
    };
    let mut all = (Tally::default(), true);
    for (_, (tally, complete)) in groups.iter().filter(|(group, _)| group.workflow.is_some()) {
        all.0.merge(tally);
        all.1 &= complete;
    }
    let whole = Group {
        stage: Some(ALL.to_owned()),
        ..Group::default()
    };
    let mut rows: Vec<Row> = groups.into_iter().map(row).collect();
    rows.push(row((&whole, all)));
    Ok(Arm { rows, logs })
}

/// Names of the columns that [`Row::cells`] fills.
pub const COLUMNS: &[&str] = &[
    "workflow",
    "attempt",
    "stage",
    "complete",
    "jobs",
    "jobs_failed",
    "jobs_unfinished",
    "job_p50_s",
    "job_max_s",
    "tasks",
    "tasks_failed",
    "tasks_killed",
    "tasks_executor_lost",
    "tasks_out_of_memory",
    "task_p50_s",
    "task_max_s",
    "filter_jobs",
    "tasks_per_filter_p50",
    "task_run_s",
    "gc_s",
    "shuffle_read_bytes",
    "shuffle_written_bytes",
    "spilled_memory_bytes",
    "spilled_disk_bytes",
    "task_input_bytes",
    "sql_executions",
    "sql_failed",
    "files_read",
    "files_read_bytes",
    "files_written",
    "files_written_bytes",
    "shuffles",
    "shuffles_coalesced",
    "shuffle_partitions_p50",
    "shuffle_read_partitions_p50",
];

impl Row {
    /// The cells under [`COLUMNS`]; an empty one says that there is no such number.
    #[must_use]
    pub fn cells(&self) -> Vec<String> {
        fn text<T: ToString>(value: Option<T>) -> String {
            value.map_or_else(String::new, |value| value.to_string())
        }
        // To the millisecond, which is what Spark writes.
        let seconds = |value: Option<f64>| text(value.map(|value| format!("{value:.3}")));
        // Half a millisecond: the median of two.
        let median = |value: Option<f64>| text(value.map(|value| format!("{value:.4}")));
        let figures = &self.figures;
        let mut cells = vec![
            text(self.group.workflow.clone()),
            text(self.group.attempt.clone()),
            text(self.group.stage.clone()),
            self.complete.to_string(),
        ];
        let count = |cells: &mut Vec<String>, counts: &[u64]| {
            cells.extend(counts.iter().map(ToString::to_string));
        };
        count(
            &mut cells,
            &[figures.jobs, figures.jobs_failed, figures.jobs_unfinished],
        );
        cells.extend([median(figures.job_p50_s), seconds(figures.job_max_s)]);
        count(
            &mut cells,
            &[
                figures.tasks,
                figures.tasks_failed,
                figures.tasks_killed,
                figures.tasks_executor_lost,
                figures.tasks_out_of_memory,
            ],
        );
        cells.extend([
            median(figures.task_p50_s),
            seconds(figures.task_max_s),
            figures.filter_jobs.to_string(),
            text(figures.tasks_per_filter_p50),
            seconds(Some(figures.task_run_s)),
            seconds(Some(figures.gc_s)),
        ]);
        count(
            &mut cells,
            &[
                figures.shuffle_read_bytes,
                figures.shuffle_written_bytes,
                figures.spilled_memory_bytes,
                figures.spilled_disk_bytes,
                figures.task_input_bytes,
                figures.sql_executions,
                figures.sql_failed,
                figures.files_read,
                figures.files_read_bytes,
                figures.files_written,
                figures.files_written_bytes,
                figures.shuffles,
                figures.shuffles_coalesced,
            ],
        );
        cells.extend([
            text(figures.shuffle_partitions_p50),
            text(figures.shuffle_read_partitions_p50),
        ]);
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        assert_eq!(Row::default().cells().len(), COLUMNS.len());
    }
}
