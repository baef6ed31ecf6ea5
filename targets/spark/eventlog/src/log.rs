//! The log of one application as it is handed to others.

use crate::application::Application;
use crate::decode::Codec;
use crate::error::EventLogError;
use crate::figures::{Figures, Group, Tally};
use crate::finding::Finding;
use crate::locate::{LogFiles, locate};
use crate::read;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What the log of an application says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventLog {
    /// Name of its file or folder.
    pub log: String,
    /// The application's id.
    pub application: Option<String>,
    /// Its attempt, where a cluster manager counts them.
    pub application_attempt: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Spark's version.
    pub spark_version: Option<String>,
    /// When it started, milliseconds since 1970 on the driver's clock.
    pub started_ms: Option<i64>,
    /// When it ended; nothing where the log does not say so.
    pub ended_ms: Option<i64>,
    /// Whether every event is in the figures: the log has its end, and nothing in it is damaged or
    /// missing.
    pub complete: bool,
    /// How its files are compressed.
    pub codec: Option<Codec>,
    /// How many files it has.
    pub files: usize,
    /// Bytes of the files.
    pub stored_bytes: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Lines of the text.
    pub lines: u64,
    /// Executors that came.
    pub executors_added: u64,
    /// Executors that were lost, not given back.
    pub executors_lost: u64,
    /// Executors of which the cluster manager says that they were killed for their memory.
    pub executors_out_of_memory: u64,
    /// Figures of all jobs.
    pub total: Figures,
    /// Figures by workflow, attempt and stage; what no job claims is in a group without names.
    pub groups: Vec<GroupSummary>,
    /// `spark.*` settings in force when the application started, or when jars were last added.
    /// Secrets are hidden.
    pub settings: BTreeMap<String, String>,
    /// Events that this reader does not know, by name.
    pub unknown_events: BTreeMap<String, u64>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// What the figures are made of, for adding up several logs.
    #[serde(skip)]
    pub(crate) tallies: Tallies,
}

/// A group of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// Which.
    #[serde(flatten)]
    pub group: Group,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Settings that its SQL executions ran with and that differ from those of the application: how
    /// many executions by value, by key. Secrets are hidden.
    pub settings: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Tallies by group. They are no part of what two logs say, so all are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(pub(crate) BTreeMap<Group, Tally>);

impl PartialEq for Tallies {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Reads the log of an application on as many threads as there are cores.
///
/// # Errors
/// [`EventLogError`]: a file cannot be read. What is wrong inside one is a [`Finding`].
pub fn read_log(files: &LogFiles) -> Result<EventLog, EventLogError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut application = Application::default();
    let text = read::read(files, cores, |event| application.take(event))?;
    let mut total = Tally::default();
    let mut tallies = Tallies::default();
    let mut groups = Vec::new();
    for (group, (tally, settings)) in application.finish() {
        total.merge(&tally);
        groups.push(GroupSummary {
            group: group.clone(),
            figures: tally.figures(),
            settings,
        });
        tallies.0.insert(group, tally);
    }
    let mut findings = files.findings.clone();
    findings.extend(text.findings);
    if text.lines == 0 {
        findings.push(Finding::Empty);
    }
    if application.ended.is_none() {
        findings.push(Finding::Unfinished);
    }
    Ok(EventLog {
        log: files.name.clone(),
        application: application.id,
        application_attempt: application.attempt,
        name: application.name,
        spark_version: application.spark_version,
        started_ms: application.started,
        ended_ms: application.ended,
        complete: findings.is_empty(),
        codec: text.codec,
        files: files.files.len(),
        stored_bytes: text.stored_bytes,
        text_bytes: text.bytes,
        lines: text.lines,
        executors_added: application.executors_added,
        executors_lost: application.executors_lost,
        executors_out_of_memory: application.executors_out_of_memory,
        total: total.figures(),
        groups,
        settings: application.settings,
        unknown_events: text.unknown,
        findings,
        tallies,
    })
}

/// Reads all logs at a path, one after the other, in the order of their names.
///
/// # Errors
/// [`EventLogError`]: nothing there is a log, or it cannot be read.
pub fn read_logs(path: &Path) -> Result<Vec<EventLog>, EventLogError> {
    locate(path)?.iter().map(read_log).collect()
}
