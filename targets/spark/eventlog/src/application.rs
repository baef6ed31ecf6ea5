//! One application: its events added up by workflow, attempt and stage.
//!
//! What belongs to which group follows from the jobs, which carry it as local properties; a task
//! belongs to the job that ran its stage, an SQL execution to the group of its jobs.

use crate::event::{
    Event, ExecutionStart, FileMetric, JobEnd, JobStart, Plan, StageId, TaskEnd, TaskOutcome,
    lost_memory,
};
use crate::figures::{FILTER_DESCRIPTION, Group, Tally, add};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Settings that Spark was started with, or that executions ran with: value by key.
pub(crate) type Settings = BTreeMap<String, String>;
/// How many executions ran with which value of a setting.
pub(crate) type SettingCounts = BTreeMap<String, BTreeMap<String, u64>>;

/// What the events of an application add up to.
#[derive(Debug, Default)]
pub(crate) struct Application {
    pub(crate) spark_version: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) attempt: Option<String>,
    pub(crate) started: Option<i64>,
    pub(crate) ended: Option<i64>,
    pub(crate) settings: Settings,
    pub(crate) executors_added: u64,
    pub(crate) executors_lost: u64,
    pub(crate) executors_out_of_memory: u64,
    jobs: HashMap<i64, Job>,
    /// Jobs that list a stage, in the order of their submission.
    stage_jobs: HashMap<i64, Vec<i64>>,
    /// The job that runs an attempt of a stage.
    runs: HashMap<StageId, Option<i64>>,
    executions: BTreeMap<i64, Execution>,
    files: HashMap<i64, FileMetric>,
    accumulators: HashSet<i64>,
    tallies: BTreeMap<Group, Tally>,
}

#[derive(Debug)]
struct Job {
    group: Group,
    filter: bool,
    submitted: Option<i64>,
    ended: Option<(i64, bool)>,
    succeeded: u64,
}

#[derive(Debug, Default)]
struct Execution {
    root: Option<i64>,
    job_group: Option<String>,
    group: Option<Group>,
    settings: Settings,
    failed: bool,
    /// Values that the driver gave accumulators, by update.
    values: Vec<Vec<(i64, i64)>>,
    shuffles: BTreeMap<i64, Option<i64>>,
}

impl Application {
    pub(crate) fn take(&mut self, event: Event) {
        match event {
            Event::LogStart { version } => self.spark_version = Some(version),
            Event::ApplicationStart(start) => {
                self.id = start.id;
                self.name = Some(start.name);
                self.attempt = start.attempt;
                self.started = Some(start.time);
            }
            Event::ApplicationEnd { time } => self.ended = Some(time),
            // It is repeated when jars are added: the last one is in force.
            Event::Environment(settings) => {
                self.settings = settings.into_iter().map(redacted).collect();
            }
            Event::JobStart(start) => self.job_start(start),
            Event::JobEnd(end) => self.job_end(&end),
            Event::StageSubmitted(stage) => {
                let job = self.runner(stage.stage);
                self.runs.insert(stage, job);
            }
            Event::TaskEnd(task) => self.task_end(&task),
            Event::ExecutorAdded => self.executors_added += 1,
            Event::ExecutorRemoved { reason } => {
                if lost_memory(&reason) {
                    self.executors_out_of_memory += 1;
                }
                if !given_back(&reason) {
                    self.executors_lost += 1;
                }
            }
            Event::ExecutionStart(start) => self.execution_start(*start),
            Event::ExecutionEnd(end) => {
                let execution = self.executions.entry(end.execution).or_default();
                execution.failed = end.failed;
            }
            Event::Plan { execution, plan } => self.plan(execution, plan),
            Event::DriverMetrics { execution, values } => {
                let execution = self.executions.entry(execution).or_default();
                execution.values.push(values);
            }
        }
    }

    fn job_start(&mut self, start: JobStart) {
        let properties = start.properties.unwrap_or_default();
        let there = |text: Option<String>| text.filter(|text| !text.is_empty());
        let group = Group {
            workflow: there(properties.workflow),
            attempt: there(properties.attempt),
            stage: there(properties.stage),
        };
        let execution = properties.execution.and_then(|id| id.parse().ok());
        if let Some(execution) = execution {
            let execution = self.executions.entry(execution).or_default();
            execution.group.get_or_insert_with(|| group.clone());
            execution.job_group = execution.job_group.take().or(properties.group);
        }
        for stage in start.stages {
            self.stage_jobs.entry(stage).or_default().push(start.job);
        }
        let filter = properties
            .description
            .is_some_and(|text| text.contains(FILTER_DESCRIPTION));
        let job = Job {
            group,
            filter,
            submitted: start.time,
            ended: None,
            succeeded: 0,
        };
        self.jobs.insert(start.job, job);
    }

    fn job_end(&mut self, end: &JobEnd) {
        if let Some(job) = self.jobs.get_mut(&end.job) {
            job.ended = Some((end.time, end.result.result == "JobSucceeded"));
        }
    }

    /// The job that runs a stage which several jobs list: as Spark has it, the first that is active.
    fn runner(&self, stage: i64) -> Option<i64> {
        let listing = self.stage_jobs.get(&stage)?;
        let active = |job: &&i64| self.jobs.get(job).is_some_and(|job| job.ended.is_none());
        listing.iter().find(active).or(listing.last()).copied()
    }

    fn task_end(&mut self, task: &TaskEnd) {
        let job = match self.runs.get(&task.stage) {
            Some(job) => *job,
            None => self.runner(task.stage.stage),
        };
        let job = job.and_then(|job| self.jobs.get_mut(&job));
        let tally = match job {
            Some(job) => {
                job.succeeded += u64::from(task.outcome == TaskOutcome::Succeeded);
                // The group is there already more often than not.
                match self.tallies.get_mut(&job.group) {
                    Some(tally) => tally,
                    None => self.tallies.entry(job.group.clone()).or_default(),
                }
            }
            None => self.tallies.entry(Group::default()).or_default(),
        };
        tally.task(task);
    }

    fn execution_start(&mut self, start: ExecutionStart) {
        let execution = self.executions.entry(start.execution).or_default();
        execution.root = start.root;
        execution.job_group = start.group.or(execution.job_group.take());
        execution.settings = start.settings.into_iter().map(redacted).collect();
        self.plan(start.execution, start.plan);
    }

    fn plan(&mut self, execution: i64, plan: Plan) {
        self.files.extend(plan.files);
        self.accumulators.extend(plan.accumulators);
        let execution = self.executions.entry(execution).or_default();
        for (written, read) in plan.shuffles {
            let known = execution.shuffles.entry(written).or_default();
            *known = read.or(*known);
        }
    }

    /// The tallies and settings of each group, once the log has ended.
    pub(crate) fn finish(&mut self) -> BTreeMap<Group, (Tally, SettingCounts)> {
        for job in std::mem::take(&mut self.jobs).into_values() {
            let time = job.ended.map(|(at, _)| at - job.submitted.unwrap_or(at));
            let failed = job.ended.is_some_and(|(_, succeeded)| !succeeded);
            let filter = job.filter.then_some(job.succeeded);
            let tally = self.tallies.entry(job.group).or_default();
            tally.job(time, failed, filter);
        }
        let executions = std::mem::take(&mut self.executions);
        let groups = groups(&executions);
        let mut settings: BTreeMap<Group, SettingCounts> = BTreeMap::new();
        for (id, execution) in executions {
            let group = groups.get(&id).cloned().unwrap_or_default();
            for (key, value) in &execution.settings {
                let values = settings.entry(group.clone()).or_default();
                let count = values.entry(key.clone()).or_default();
                *count.entry(value.clone()).or_default() += 1;
            }
            let tally = self.tallies.entry(group).or_default();
            execution.count(&self.files, &self.accumulators, tally);
        }
        std::mem::take(&mut self.tallies)
            .into_iter()
            .map(|(group, tally)| {
                let settings = settings.remove(&group).unwrap_or_default();
                (group, (tally, settings))
            })
            .collect()
    }
}

/// The group of each execution: that of its own jobs, else of those that were started for the same
/// root, else of those with the same job group.
fn groups(executions: &BTreeMap<i64, Execution>) -> HashMap<i64, Group> {
    let mut of_root: HashMap<i64, &Group> = HashMap::new();
    let mut of_job_group: HashMap<&str, &Group> = HashMap::new();
    for (id, execution) in executions {
        if let Some(group) = &execution.group {
            of_root
                .entry(execution.root.unwrap_or(*id))
                .or_insert(group);
            if let Some(job_group) = &execution.job_group {
                of_job_group.entry(job_group).or_insert(group);
            }
        }
    }
    let find = |(id, execution): (&i64, &Execution)| {
        let root = execution.root.unwrap_or(*id);
        let job_group = execution.job_group.as_deref();
        let group = execution
            .group
            .as_ref()
            .or_else(|| of_root.get(&root).copied())
            .or_else(|| of_job_group.get(job_group?).copied())?;
        Some((*id, group.clone()))
    };
    executions.iter().filter_map(find).collect()
}

impl Execution {
    fn count(&self, files: &HashMap<i64, FileMetric>, known: &HashSet<i64>, tally: &mut Tally) {
        tally.sums.sql_executions += 1;
        tally.sums.sql_failed += u64::from(self.failed);
        let mut last = HashMap::new();
        for update in &self.values {
            last.extend(update.iter().copied());
            if let Some((count, bytes)) = unnamed_write(update, known) {
                add(&mut tally.sums.files_written, count);
                add(&mut tally.sums.files_written_bytes, bytes);
            }
            for (accumulator, value) in update {
                let sum = match files.get(accumulator) {
                    Some(FileMetric::FilesRead) => &mut tally.sums.files_read,
                    Some(FileMetric::BytesRead) => &mut tally.sums.files_read_bytes,
                    Some(FileMetric::FilesWritten) => &mut tally.sums.files_written,
                    Some(FileMetric::BytesWritten) => &mut tally.sums.files_written_bytes,
                    None => continue,
                };
                add(sum, *value);
            }
        }
        for (written, read) in &self.shuffles {
            // An exchange that was planned and never took place has no value.
            let Some(written) = last.get(written) else {
                continue;
            };
            let read = read.and_then(|read| last.get(&read)).unwrap_or(written);
            tally.shuffle(*written, *read);
        }
    }
}

/// Files and bytes of a write whose metrics stand in no plan, as those of Delta's writes do.
///
/// Spark's statistics of a write make six accumulators one after the other: files, bytes, rows,
/// partitions, time of tasks' commits, time of the job's commit. The driver posts all but the fifth in
/// one update. No accumulator of an operator is taken for one of these.
fn unnamed_write(update: &[(i64, i64)], known: &HashSet<i64>) -> Option<(i64, i64)> {
    let mut update: Vec<(i64, i64)> = update.to_vec();
    update.sort_unstable();
    let first = update.first()?.0;
    let offsets: Vec<i64> = update.iter().map(|(id, _)| id - first).collect();
    let named = update.iter().any(|(id, _)| known.contains(id));
    (offsets == [0, 1, 2, 3, 5] && !named).then(|| (update[0].1, update[1].1))
}

/// Whether an executor went because nobody needed it any more.
fn given_back(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    reason.contains("killed by driver") || reason.contains("decommission")
}

/// Spark hides secrets by the names of their keys; what a cluster's own pattern lets through is hidden
/// here.
fn redacted((key, value): (String, String)) -> (String, String) {
    let lower = key.to_ascii_lowercase();
    let secret = [
        "secret",
        "password",
        "token",
        "credential",
        "access.key",
        "accesskey",
    ];
    if secret.iter().any(|word| lower.contains(word)) {
        return (key, "(redacted)".to_owned());
    }
    (key, value)
}

#[cfg(test)]
mod tests;
