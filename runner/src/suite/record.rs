//! `suite.json`: what became of each scenario of a suite, written anew after each of them, so that it
//! is whole whenever somebody looks.

use super::{Shard, Suite};
use crate::error::Error;
use crate::exit::Exit;
use crate::record::RunStatus;
use crate::run::write_whole;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file in a suite's folder.
pub const SUITE_FILE: &str = "suite.json";
/// Version of its form.
const FORMAT: u32 = 1;

/// What became of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this form.
    pub format: u32,
    /// The suite's name.
    pub suite: String,
    /// Its file, as it was named.
    pub file: String,
    /// The part of it that is carried out here, as `2/3`, where it is shared out.
    pub shard: Option<String>,
    /// When it began, UTC.
    pub started: String,
    /// When it ended, UTC.
    pub ended: Option<String>,
    /// Its exit code: the gravest of its scenarios.
    pub exit: Option<u8>,
    /// Each scenario, in the order in which they run.
    pub scenarios: Vec<Entry>,
}

/// What became of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The name by which the suite and the run know it.
    pub name: String,
    /// The scenario's name or file, as `bench run` takes it.
    pub scenario: String,
    /// How it stands.
    pub state: State,
    /// The exit code that it alone would have.
    pub exit: Option<u8>,
    /// Seconds that it was expected to take.
    pub expected_seconds: f64,
    /// Seconds that it took here, the making of its data set and its verification included.
    pub seconds: Option<f64>,
    /// The run directory, from the suite's folder.
    pub run: Option<String>,
    /// What is wrong, in a sentence each.
    pub findings: Vec<String>,
}

impl Entry {
    /// Whether a run says what became of it. One that lacked something, or was asked wrongly, may do
    /// better another time.
    pub(super) fn is_done(&self) -> bool {
        let exit = self.exit.and_then(Exit::of_code);
        self.state.is_final()
            && matches!(exit, Some(Exit::Ok | Exit::Invalid | Exit::WorkflowFailed))
    }
}

/// How a scenario of a suite stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its turn has not come.
    Waiting,
    /// It runs; or its runner ended without saying so.
    Running,
    /// It could not begin, and there is no run directory.
    Refused,
    /// It was interrupted and may be carried on.
    Interrupted,
    /// All was done, and the rows add up.
    Completed,
    /// The rows do not add up.
    Invalid,
    /// A workflow failed, or the run could not go on.
    Failed,
    /// It was cancelled, as declared.
    Cancelled,
}

impl State {
    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether a run stands that says what became of it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Invalid | Self::Failed | Self::Cancelled
        )
    }
}

impl From<RunStatus> for State {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Running => Self::Running,
            RunStatus::Interrupted => Self::Interrupted,
            RunStatus::Completed => Self::Completed,
            RunStatus::Invalid => Self::Invalid,
            RunStatus::Failed => Self::Failed,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl Record {
    /// That of a suite of which nothing is done yet.
    pub(super) fn new(suite: &Suite, shard: Option<Shard>, started: String) -> Self {
        let entries = suite.in_shard(shard).into_iter().map(|member| Entry {
            name: member.name().to_owned(),
            scenario: member.named.clone(),
            state: State::Waiting,
            exit: None,
            expected_seconds: member.seconds,
            seconds: None,
            run: None,
            findings: Vec::new(),
        });
        Self {
            format: FORMAT,
            suite: suite.name.clone(),
            file: suite.path.display().to_string(),
            shard: shard.map(|shard| shard.to_string()),
            started,
            ended: None,
            exit: None,
            scenarios: entries.collect(),
        }
    }

    /// Reads the file of a suite's folder.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(SUITE_FILE);
        let text = std::fs::read(&path).map_err(|source| Error::Read {
            path: path.clone(),
            source,
        })?;
        let unusable = |reason: String| Error::SuiteFolder {
            path: path.clone(),
            reason,
        };
        let record: Self = serde_json::from_slice(&text)
            .map_err(|error| unusable(format!("cannot be used: {error}")))?;
        match record.format {
            FORMAT => Ok(record),
            other => Err(unusable(format!(
                "has format {other}, and this bench reads {FORMAT}"
            ))),
        }
    }

    /// Writes the file, which takes its name once it is complete.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        let written = serde_json::to_vec_pretty(self)
            .map_err(std::io::Error::from)
            .and_then(|mut text| {
                text.push(b'\n');
                write_whole(folder, SUITE_FILE, &text)
            });
        written.map_err(|source| Error::Write {
            path: folder.join(SUITE_FILE),
            source,
        })
    }

    /// Whether it is of the same suite and part, so that it can be carried on with.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let names = |record: &Self| -> Vec<(String, String)> {
            let each = record.scenarios.iter();
            each.map(|entry| (entry.name.clone(), entry.scenario.clone()))
                .collect()
        };
        self.suite == other.suite && self.shard == other.shard && names(self) == names(other)
    }

    /// The gravest exit of its scenarios.
    #[must_use]
    pub fn gravest(&self) -> Exit {
        let exits = self.scenarios.iter().filter_map(|entry| entry.exit);
        Exit::gravest(exits.filter_map(Exit::of_code))
    }
}
