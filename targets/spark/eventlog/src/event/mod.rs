//! One line of a log: which event it is, and of the events that matter what matters of them.
//!
//! Most lines of a log are of no use here, and of the others most bytes are. So a line's event is
//! looked up before anything is parsed, and serde passes over what has no field below. It looks at
//! every byte all the same, so that a line that is not JSON is never taken for one.

mod plan;

pub(crate) use plan::{FileMetric, Plan};

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a line says.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    Event(Event),
    /// An event that Spark writes and nothing here asks for.
    PassedOver,
    /// An event that this crate does not know.
    Unknown(String),
    /// Not JSON, at this byte from 1.
    NotJson(u64),
    /// JSON, but not what its name says, at this byte from 1.
    NotUnderstood(String, u64),
}

/// What matters of an event. Times are milliseconds of the driver's wall clock.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    LogStart {
        version: String,
    },
    ApplicationStart(ApplicationStart),
    ApplicationEnd {
        time: i64,
    },
    Environment(BTreeMap<String, String>),
    JobStart(JobStart),
    JobEnd(JobEnd),
    StageSubmitted(StageId),
    TaskEnd(Box<TaskEnd>),
    ExecutorAdded,
    ExecutorRemoved {
        reason: String,
    },
    ExecutionStart(Box<ExecutionStart>),
    ExecutionEnd(ExecutionEnd),
    Plan {
        execution: i64,
        plan: Plan,
    },
    DriverMetrics {
        execution: i64,
        values: Vec<(i64, i64)>,
    },
}

#[derive(Debug, Default, PartialEq, Deserialize)]
pub(crate) struct ApplicationStart {
    #[serde(rename = "App Name")]
    pub(crate) name: String,
    #[serde(rename = "App ID")]
    pub(crate) id: Option<String>,
    #[serde(rename = "App Attempt ID")]
    pub(crate) attempt: Option<String>,
    #[serde(rename = "Timestamp")]
    pub(crate) time: i64,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct JobStart {
    #[serde(rename = "Job ID")]
    pub(crate) job: i64,
    #[serde(rename = "Submission Time")]
    pub(crate) time: Option<i64>,
    #[serde(rename = "Stage IDs")]
    pub(crate) stages: Vec<i64>,
    #[serde(rename = "Properties", default)]
    pub(crate) properties: Option<Properties>,
}

/// The local properties of the thread that submitted a job.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Properties {
    #[serde(rename = "bench.workflow")]
    pub(crate) workflow: Option<String>,
    #[serde(rename = "bench.attempt")]
    pub(crate) attempt: Option<String>,
    #[serde(rename = "bench.stage")]
    pub(crate) stage: Option<String>,
    #[serde(rename = "spark.job.description")]
    pub(crate) description: Option<String>,
    #[serde(rename = "spark.jobGroup.id")]
    pub(crate) group: Option<String>,
    #[serde(rename = "spark.sql.execution.id")]
    pub(crate) execution: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct JobEnd {
    #[serde(rename = "Job ID")]
    pub(crate) job: i64,
    #[serde(rename = "Completion Time")]
    pub(crate) time: i64,
    #[serde(rename = "Job Result")]
    pub(crate) result: JobResult,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct JobResult {
    #[serde(rename = "Result")]
    pub(crate) result: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub(crate) struct StageId {
    #[serde(rename = "Stage ID")]
    pub(crate) stage: i64,
    #[serde(rename = "Stage Attempt ID")]
    pub(crate) attempt: i64,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskOutcome {
    Succeeded,
    Killed,
    Failed,
    /// Its executor was lost.
    ExecutorLost,
    /// It, or its executor, had no memory left.
    OutOfMemory,
}

#[derive(Debug, PartialEq)]
pub(crate) struct TaskEnd {
    pub(crate) stage: StageId,
    pub(crate) outcome: TaskOutcome,
    pub(crate) milliseconds: i64,
    pub(crate) metrics: TaskMetrics,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct TaskMetrics {
    #[serde(rename = "Executor Run Time")]
    pub(crate) run_milliseconds: i64,
    #[serde(rename = "JVM GC Time")]
    pub(crate) gc_milliseconds: i64,
    #[serde(rename = "Memory Bytes Spilled")]
    pub(crate) spilled_memory: i64,
    #[serde(rename = "Disk Bytes Spilled")]
    pub(crate) spilled_disk: i64,
    #[serde(rename = "Shuffle Read Metrics")]
    pub(crate) shuffle_read: ShuffleRead,
    #[serde(rename = "Shuffle Write Metrics")]
    pub(crate) shuffle_write: ShuffleWrite,
    #[serde(rename = "Input Metrics")]
    pub(crate) input: Input,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ShuffleRead {
    #[serde(rename = "Remote Bytes Read")]
    pub(crate) remote: i64,
    #[serde(rename = "Local Bytes Read")]
    pub(crate) local: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ShuffleWrite {
    #[serde(rename = "Shuffle Bytes Written")]
    pub(crate) bytes: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Input {
    #[serde(rename = "Bytes Read")]
    pub(crate) bytes: i64,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
pub(crate) struct ExecutionStart {
    #[serde(rename = "executionId")]
    pub(crate) execution: i64,
    #[serde(rename = "rootExecutionId", default)]
    pub(crate) root: Option<i64>,
    #[serde(skip)]
    pub(crate) plan: Plan,
    #[serde(rename = "modifiedConfigs", default)]
    pub(crate) settings: BTreeMap<String, String>,
    #[serde(rename = "jobGroupId", default)]
    pub(crate) group: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct ExecutionEnd {
    #[serde(rename = "executionId")]
    pub(crate) execution: i64,
    /// Empty where it succeeded; not kept otherwise, since it may quote data.
    #[serde(rename = "errorMessage", default, deserialize_with = "is_there")]
    pub(crate) failed: bool,
}

fn is_there<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    let text: Option<Cow<'de, str>> = Option::deserialize(from)?;
    Ok(text.is_some_and(|text| !text.is_empty()))
}

const BEGIN: &[u8] = b"{\"Event\":\"";
const SQL: &str = "org.apache.spark.sql.execution.ui.";

/// Events of Spark that nothing here asks for.
const PASSED_OVER: &[&str] = &[
    "SparkListenerTaskStart",
    "SparkListenerTaskGettingResult",
    "SparkListenerStageCompleted",
    "SparkListenerStageExecutorMetrics",
    "SparkListenerExecutorMetricsUpdate",
    "SparkListenerBlockManagerAdded",
    "SparkListenerBlockManagerRemoved",
    "SparkListenerBlockUpdated",
    "SparkListenerUnpersistRDD",
    "SparkListenerResourceProfileAdded",
    "SparkListenerSpeculativeTaskSubmitted",
    "SparkListenerMiscellaneousProcessAdded",
    "SparkListenerExecutorBlacklisted",
    "SparkListenerExecutorBlacklistedForStage",
    "SparkListenerExecutorUnblacklisted",
    "SparkListenerExecutorExcluded",
    "SparkListenerExecutorExcludedForStage",
    "SparkListenerExecutorUnexcluded",
    "SparkListenerNodeBlacklisted",
    "SparkListenerNodeBlacklistedForStage",
    "SparkListenerNodeUnblacklisted",
    "SparkListenerNodeExcluded",
    "SparkListenerNodeExcludedForStage",
    "SparkListenerNodeUnexcluded",
    "SparkListenerUnschedulableTaskSetAdded",
    "SparkListenerUnschedulableTaskSetRemoved",
    "org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded",
    "org.apache.spark.scheduler.SparkListenerUnschedulableTaskSetAdded",
    "org.apache.spark.scheduler.SparkListenerUnschedulableTaskSetRemoved",
];

/// Families of events of Spark that nothing here asks for.
const FAMILIES: &[&str] = &[
    "org.apache.spark.sql.catalyst.catalog.",
    "org.apache.spark.sql.streaming.StreamingQueryListener$",
    "org.apache.spark.sql.connect.service.SparkListenerConnect",
    "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer",
    "org.apache.spark.streaming.scheduler.",
];

/// Reads a line, which is not empty.
pub(crate) fn read(line: &[u8]) -> Line {
    let name: Cow<'_, str> = match name(line) {
        Some(name) => Cow::Borrowed(name),
        // Spark writes the name first and without blanks; others need not.
        None => match serde_json::from_slice::<Named<'_>>(line) {
            Ok(named) => named.event,
            Err(error) => return wrong(&error, String::new()),
        },
    };
    let result = match &*name {
        "SparkListenerTaskEnd" => parse(line, |raw: RawTaskEnd<'_>| task_end(&raw)),
        "SparkListenerJobStart" => parse(line, Event::JobStart),
        "SparkListenerJobEnd" => parse(line, Event::JobEnd),
        "SparkListenerStageSubmitted" => {
            parse(line, |stage: RawStage| Event::StageSubmitted(stage.stage))
        }
        "SparkListenerLogStart" => parse(line, |start: RawLogStart| Event::LogStart {
            version: start.version,
        }),
        "SparkListenerApplicationStart" => parse(line, Event::ApplicationStart),
        "SparkListenerApplicationEnd" => parse(line, |end: RawApplicationEnd| {
            Event::ApplicationEnd { time: end.time }
        }),
        "SparkListenerEnvironmentUpdate" => parse(line, |environment: RawEnvironment| {
            Event::Environment(environment.spark)
        }),
        "SparkListenerExecutorAdded" => parse(line, |_: IgnoredAny| Event::ExecutorAdded),
        "SparkListenerExecutorRemoved" => {
            parse(line, |removed: RawRemoved| Event::ExecutorRemoved {
                reason: removed.reason,
            })
        }
        other => match other.strip_prefix(SQL) {
            Some("SparkListenerSQLExecutionStart") => {
                let Some(plan) = Plan::scan(line) else {
                    return unlike_a_plan(line, other);
                };
                parse(line, |start: ExecutionStart| {
                    Event::ExecutionStart(Box::new(ExecutionStart { plan, ..start }))
                })
            }
            Some("SparkListenerSQLExecutionEnd") => parse(line, Event::ExecutionEnd),
            Some("SparkListenerSQLAdaptiveExecutionUpdate") => {
                let Some(plan) = Plan::scan(line) else {
                    return unlike_a_plan(line, other);
                };
                parse(line, |update: RawPlan| Event::Plan {
                    execution: update.execution,
                    plan,
                })
            }
            Some("SparkListenerSQLAdaptiveSQLMetricUpdates") => {
                parse(line, |update: RawMetrics| Event::Plan {
                    execution: update.execution,
                    plan: Plan::of_metrics(&update.metrics),
                })
            }
            Some("SparkListenerDriverAccumUpdates") => {
                parse(line, |update: RawValues| Event::DriverMetrics {
                    execution: update.execution,
                    values: update.values,
                })
            }
            _ => return passed_over(line, other),
        },
    };
    match result {
        Ok(event) => Line::Event(event),
        Err(error) => wrong(&error, name.into_owned()),
    }
}

/// The name of an event where Spark writes it.
fn name(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(BEGIN)?;
    let end = memchr::memchr(b'"', rest)?;
    let name = std::str::from_utf8(&rest[..end]).ok()?;
    (!name.contains('\\')).then_some(name)
}

fn parse<'de, Raw: Deserialize<'de>>(
    line: &'de [u8],
    event: impl FnOnce(Raw) -> Event,
) -> Result<Event, serde_json::Error> {
    let raw = serde_json::from_slice(line)?;
    Ok(event(raw))
}

/// A line whose plan is none: cut, mostly.
fn unlike_a_plan(line: &[u8], name: &str) -> Line {
    match serde_json::from_slice::<IgnoredAny>(line) {
        Err(error) => wrong(&error, name.to_owned()),
        Ok(_) => Line::NotUnderstood(name.to_owned(), 1),
    }
}

fn passed_over(line: &[u8], name: &str) -> Line {
    // Also what nobody asks for is looked at to its end: a line that is cut, or that runs into the
    // next one, has lost an event that may have been asked for.
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
        return wrong(&error, name.to_owned());
    }
    let known = PASSED_OVER.contains(&name) || FAMILIES.iter().any(|one| name.starts_with(one));
    if known {
        Line::PassedOver
    } else {
        Line::Unknown(name.to_owned())
    }
}

/// serde's own words may quote the line, so only the place is kept.
fn wrong(error: &serde_json::Error, name: String) -> Line {
    let column = error.column() as u64;
    if error.is_data() {
        Line::NotUnderstood(name, column)
    } else {
        Line::NotJson(column)
    }
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(rename = "Event", borrow)]
    event: Cow<'a, str>,
}

#[derive(Deserialize)]
struct RawLogStart {
    #[serde(rename = "Spark Version")]
    version: String,
}

#[derive(Deserialize)]
struct RawApplicationEnd {
    #[serde(rename = "Timestamp")]
    time: i64,
}

#[derive(Deserialize)]
struct RawEnvironment {
    #[serde(rename = "Spark Properties")]
    spark: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RawStage {
    #[serde(rename = "Stage Info")]
    stage: StageId,
}

#[derive(Deserialize)]
struct RawRemoved {
    #[serde(rename = "Removed Reason", default)]
    reason: String,
}

#[derive(Deserialize)]
struct RawPlan {
    #[serde(rename = "executionId")]
    execution: i64,
}

#[derive(Deserialize)]
struct RawMetrics {
    #[serde(rename = "executionId")]
    execution: i64,
    #[serde(rename = "sqlPlanMetrics")]
    metrics: Vec<plan::Metric>,
}

#[derive(Deserialize)]
struct RawValues {
    #[serde(rename = "executionId")]
    execution: i64,
    #[serde(rename = "accumUpdates")]
    values: Vec<(i64, i64)>,
}

#[derive(Deserialize)]
struct RawTaskEnd<'a> {
    #[serde(rename = "Stage ID")]
    stage: i64,
    #[serde(rename = "Stage Attempt ID")]
    attempt: i64,
    #[serde(rename = "Task End Reason", borrow)]
    reason: RawReason<'a>,
    #[serde(rename = "Task Info")]
    info: RawTaskInfo,
    #[serde(rename = "Task Metrics", default)]
    metrics: Option<TaskMetrics>,
}

#[derive(Deserialize)]
struct RawReason<'a> {
    #[serde(rename = "Reason", borrow)]
    reason: Cow<'a, str>,
    #[serde(rename = "Class Name", borrow, default)]
    class: Cow<'a, str>,
    #[serde(rename = "Full Stack Trace", default)]
    trace: Option<String>,
    #[serde(rename = "Loss Reason", default)]
    loss: Option<String>,
}

#[derive(Deserialize)]
struct RawTaskInfo {
    #[serde(rename = "Launch Time")]
    launched: i64,
    #[serde(rename = "Finish Time")]
    finished: i64,
}

fn task_end(raw: &RawTaskEnd<'_>) -> Event {
    let reason = &raw.reason;
    let outcome = match &*reason.reason {
        "Success" => TaskOutcome::Succeeded,
        "TaskKilled" => TaskOutcome::Killed,
        "ExecutorLostFailure" => {
            if reason.loss.as_deref().is_some_and(lost_memory) {
                TaskOutcome::OutOfMemory
            } else {
                TaskOutcome::ExecutorLost
            }
        }
        _ if out_of_memory(&reason.class)
            || reason.trace.as_deref().is_some_and(caused_by_memory) =>
        {
            TaskOutcome::OutOfMemory
        }
        _ => TaskOutcome::Failed,
    };
    Event::TaskEnd(Box::new(TaskEnd {
        stage: StageId {
            stage: raw.stage,
            attempt: raw.attempt,
        },
        outcome,
        milliseconds: raw.info.finished - raw.info.launched,
        metrics: raw.metrics.unwrap_or_default(),
    }))
}

/// Java's own error, and Spark's for its managed memory.
fn out_of_memory(class: &str) -> bool {
    class.ends_with("OutOfMemoryError")
}

/// Whether a stack trace, or a cause in it, begins with such an error. Words inside a message do not
/// count.
fn caused_by_memory(trace: &str) -> bool {
    trace.lines().any(|line| {
        let line = line.strip_prefix("Caused by: ").unwrap_or(line);
        let class = line.split([':', ' ']).next().unwrap_or_default();
        !line.starts_with(char::is_whitespace) && out_of_memory(class)
    })
}

/// Whether the words with which a cluster manager gives up an executor speak of memory: YARN and
/// Kubernetes name the limit, and exit code 137 is the kernel's kill.
pub(crate) fn lost_memory(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    [
        "memory limit",
        "out of memory",
        "outofmemory",
        "oomkilled",
        "exit code 137",
        "code: 137",
    ]
    .iter()
    .any(|words| reason.contains(words))
        || reason.contains("exit status: 137")
}

#[cfg(test)]
mod tests;
