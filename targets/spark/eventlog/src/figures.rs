//! The figures of a group of jobs, and how they are counted.

use crate::event::{TaskEnd, TaskOutcome};
use serde::{Deserialize, Serialize};

/// What marks a job of Delta's file skipping, in its description.
pub const FILTER_DESCRIPTION: &str = "Filtering files for query";

/// What "tasks per filter" means; reports print it.
pub const TASKS_PER_FILTER: &str = "tasks per filter: the tasks that succeeded in a job whose \
    description contains \"Filtering files for query\", which is how Delta marks its file skipping; \
    the median over such jobs that ended and had a task";

/// What "median Spark job" means; reports print it.
pub const MEDIAN_JOB: &str = "median Spark job: the median time from submission to completion of \
    the jobs that ended, failed ones included";

/// Which jobs belong together: the local properties `bench.workflow`, `bench.attempt` and
/// `bench.stage` of the thread that submitted them. A job without these has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Group {
    /// The workflow.
    pub workflow: Option<String>,
    /// The attempt.
    pub attempt: Option<String>,
    /// The stage: the worker's word, not a stage of Spark.
    pub stage: Option<String>,
}

impl Ord for Group {
    /// Numbers as numbers, so that workflow 10 follows 9.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        type Part<'a> = (bool, Option<u64>, &'a Option<String>);
        fn part(text: &Option<String>) -> Part<'_> {
            let number = text.as_deref().and_then(|text| text.parse().ok());
            (text.is_none(), number, text)
        }
        fn parts(group: &Group) -> [Part<'_>; 3] {
            [
                part(&group.workflow),
                part(&group.attempt),
                part(&group.stage),
            ]
        }
        parts(self).cmp(&parts(other))
    }
}

impl PartialOrd for Group {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Figures of a group of jobs. Bytes and seconds; `None` where there is nothing to take a median of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Jobs that were submitted.
    pub jobs: u64,
    /// Of these, those that failed.
    pub jobs_failed: u64,
    /// Of these, those whose end the log does not have.
    pub jobs_unfinished: u64,
    /// Median time from submission to completion of the jobs that ended ([`MEDIAN_JOB`]).
    pub job_p50_s: Option<f64>,
    /// Longest such time.
    pub job_max_s: Option<f64>,
    /// Attempts at tasks that ended.
    pub tasks: u64,
    /// Of these, those that failed, for whatever reason.
    pub tasks_failed: u64,
    /// Of these, those that were killed because nobody needed them any more.
    pub tasks_killed: u64,
    /// Of the failed ones, those whose executor was lost.
    pub tasks_executor_lost: u64,
    /// Of the failed ones, those with an `OutOfMemoryError`, or whose executor was killed at its
    /// memory limit.
    pub tasks_out_of_memory: u64,
    /// Median time from launch to finish of the tasks that succeeded.
    pub task_p50_s: Option<f64>,
    /// Longest such time.
    pub task_max_s: Option<f64>,
    /// Jobs of Delta's file skipping that ended and had a task.
    pub filter_jobs: u64,
    /// Median number of their tasks ([`TASKS_PER_FILTER`]).
    pub tasks_per_filter_p50: Option<f64>,
    /// Time that executors ran tasks, all together.
    pub task_run_s: f64,
    /// Of this, time of garbage collection.
    pub gc_s: f64,
    /// Bytes that tasks read from shuffles.
    pub shuffle_read_bytes: u64,
    /// Bytes that tasks wrote for shuffles.
    pub shuffle_written_bytes: u64,
    /// Bytes in memory of what was spilled.
    pub spilled_memory_bytes: u64,
    /// Bytes on disk of what was spilled.
    pub spilled_disk_bytes: u64,
    /// Bytes of input as tasks count them. Spark 4's Parquet reader counts too few: see
    /// `files_read_bytes`.
    pub task_input_bytes: u64,
    /// SQL executions that were started.
    pub sql_executions: u64,
    /// Of these, those that failed.
    pub sql_failed: u64,
    /// Files that scans of SQL executions chose to read ("number of files read").
    pub files_read: u64,
    /// Their sizes ("size of files read").
    pub files_read_bytes: u64,
    /// Files that SQL executions wrote.
    pub files_written: u64,
    /// Bytes that they wrote.
    pub files_written_bytes: u64,
    /// Shuffles of SQL executions that took place.
    pub shuffles: u64,
    /// Of these, those that adaptive execution read in other partitions than they were written in.
    pub shuffles_coalesced: u64,
    /// Median number of partitions that a shuffle was written in.
    pub shuffle_partitions_p50: Option<f64>,
    /// Median number of partitions that a shuffle was read in.
    pub shuffle_read_partitions_p50: Option<f64>,
}

/// What figures are made of; tallies of several logs add up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Sums; what is a median or a maximum is left at nothing.
    pub(crate) sums: Figures,
    job_milliseconds: Vec<i64>,
    task_milliseconds: Vec<i64>,
    filter_tasks: Vec<i64>,
    partitions: Vec<i64>,
    read_partitions: Vec<i64>,
    run_milliseconds: i64,
    gc_milliseconds: i64,
}

impl Tally {
    pub(crate) fn task(&mut self, task: &TaskEnd) {
        let sums = &mut self.sums;
        sums.tasks += 1;
        match task.outcome {
            TaskOutcome::Succeeded => self.task_milliseconds.push(task.milliseconds),
            TaskOutcome::Killed => sums.tasks_killed += 1,
            TaskOutcome::Failed => sums.tasks_failed += 1,
            TaskOutcome::ExecutorLost => {
                sums.tasks_failed += 1;
                sums.tasks_executor_lost += 1;
            }
            TaskOutcome::OutOfMemory => {
                sums.tasks_failed += 1;
                sums.tasks_out_of_memory += 1;
            }
        }
        let metrics = &task.metrics;
        self.run_milliseconds = self
            .run_milliseconds
            .saturating_add(metrics.run_milliseconds);
        self.gc_milliseconds = self.gc_milliseconds.saturating_add(metrics.gc_milliseconds);
        let read = &metrics.shuffle_read;
        for (sum, value) in [
            (
                &mut sums.shuffle_read_bytes,
                read.remote.saturating_add(read.local),
            ),
            (&mut sums.shuffle_written_bytes, metrics.shuffle_write.bytes),
            (&mut sums.spilled_memory_bytes, metrics.spilled_memory),
            (&mut sums.spilled_disk_bytes, metrics.spilled_disk),
            (&mut sums.task_input_bytes, metrics.input.bytes),
        ] {
            add(sum, value);
        }
    }

    /// A job: its time, if it ended; and its tasks, if it is one of Delta's file skipping.
    pub(crate) fn job(&mut self, milliseconds: Option<i64>, failed: bool, filter: Option<u64>) {
        self.sums.jobs += 1;
        self.sums.jobs_failed += u64::from(failed);
        match milliseconds {
            Some(time) => self.job_milliseconds.push(time),
            None => self.sums.jobs_unfinished += 1,
        }
        if let (Some(_), Some(tasks @ 1..)) = (milliseconds, filter) {
            self.filter_tasks
                .push(i64::try_from(tasks).unwrap_or(i64::MAX));
        }
    }

    /// A shuffle: the partitions that it was written in, and those that it was read in.
    pub(crate) fn shuffle(&mut self, written: i64, read: i64) {
        self.partitions.push(written);
        self.read_partitions.push(read);
        self.sums.shuffles_coalesced += u64::from(written != read);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let (sums, more) = (&mut self.sums, &other.sums);
        for (sum, value) in [
            (&mut sums.jobs, more.jobs),
            (&mut sums.jobs_failed, more.jobs_failed),
            (&mut sums.jobs_unfinished, more.jobs_unfinished),
            (&mut sums.tasks, more.tasks),
            (&mut sums.tasks_failed, more.tasks_failed),
            (&mut sums.tasks_killed, more.tasks_killed),
            (&mut sums.tasks_executor_lost, more.tasks_executor_lost),
            (&mut sums.tasks_out_of_memory, more.tasks_out_of_memory),
            (&mut sums.shuffle_read_bytes, more.shuffle_read_bytes),
            (&mut sums.shuffle_written_bytes, more.shuffle_written_bytes),
            (&mut sums.spilled_memory_bytes, more.spilled_memory_bytes),
            (&mut sums.spilled_disk_bytes, more.spilled_disk_bytes),
            (&mut sums.task_input_bytes, more.task_input_bytes),
            (&mut sums.sql_executions, more.sql_executions),
            (&mut sums.sql_failed, more.sql_failed),
            (&mut sums.files_read, more.files_read),
            (&mut sums.files_read_bytes, more.files_read_bytes),
            (&mut sums.files_written, more.files_written),
            (&mut sums.files_written_bytes, more.files_written_bytes),
            (&mut sums.shuffles_coalesced, more.shuffles_coalesced),
        ] {
            *sum = sum.saturating_add(value);
        }
        self.job_milliseconds.extend(&other.job_milliseconds);
        self.task_milliseconds.extend(&other.task_milliseconds);
        self.filter_tasks.extend(&other.filter_tasks);
        self.partitions.extend(&other.partitions);
        self.read_partitions.extend(&other.read_partitions);
        self.run_milliseconds = self.run_milliseconds.saturating_add(other.run_milliseconds);
        self.gc_milliseconds = self.gc_milliseconds.saturating_add(other.gc_milliseconds);
    }

    pub(crate) fn figures(&self) -> Figures {
        let second = |milliseconds: f64| milliseconds / 1e3;
        let longest = |times: &[i64]| times.iter().max().map(|time| second(*time as f64));
        let mut figures = self.sums.clone();
        figures.job_p50_s = median(&self.job_milliseconds).map(second);
        figures.job_max_s = longest(&self.job_milliseconds);
        figures.task_p50_s = median(&self.task_milliseconds).map(second);
        figures.task_max_s = longest(&self.task_milliseconds);
        figures.filter_jobs = self.filter_tasks.len() as u64;
        figures.tasks_per_filter_p50 = median(&self.filter_tasks);
        figures.task_run_s = second(self.run_milliseconds as f64);
        figures.gc_s = second(self.gc_milliseconds as f64);
        figures.shuffles = self.partitions.len() as u64;
        figures.shuffle_partitions_p50 = median(&self.partitions);
        figures.shuffle_read_partitions_p50 = median(&self.read_partitions);
        figures
    }
}

/// Adds what an event says; what is below zero is Spark's word for "not known".
pub(crate) fn add(sum: &mut u64, value: i64) {
    *sum = sum.saturating_add(u64::try_from(value).unwrap_or_default());
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &[i64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle] as f64),
        _ => Some((sorted[middle - 1] as f64 + sorted[middle] as f64) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4]), Some(4.0));
        assert_eq!(median(&[9, 1, 2]), Some(2.0));
        assert_eq!(median(&[9, 1, 2, 3]), Some(2.5));
    }

    #[test]
    fn workflows_are_ordered_as_numbers_and_those_without_come_last() {
        let group = |workflow: &str| Group {
            workflow: (!workflow.is_empty()).then(|| workflow.to_owned()),
            ..Group::default()
        };
        let mut groups = [group(""), group("10"), group("9"), group("b")];
        groups.sort();
        assert_eq!(groups, [group("b"), group("9"), group("10"), group("")]);
    }

    #[test]
    fn only_filters_that_ended_and_had_a_task_are_counted() {
        let mut tally = Tally::default();
        tally.job(Some(10), false, Some(0));
        tally.job(Some(10), false, Some(4));
        tally.job(None, false, Some(100));
        tally.job(Some(10), false, None);
        let figures = tally.figures();
        assert_eq!((figures.jobs, figures.jobs_unfinished), (4, 1));
        assert_eq!(
            (figures.filter_jobs, figures.tasks_per_filter_p50),
            (1, Some(4.0))
        );
    }
}
