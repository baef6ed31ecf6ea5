//! The run directory: its name, its files, and that one runner at a time works on it.

use super::dataset::Identity;
use super::error::RunError as Error;
use crate::doctor::MachineFacts;
use crate::record::{Limits, RunStatus, WithoutEffect};
use crate::scenario::Scenario;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Version of the run directory's form.
pub(crate) const FORMAT: u32 = 1;

pub(crate) const RUN_FILE: &str = "run.json";
pub(crate) const SCENARIO_FILE: &str = "scenario.toml";
pub(crate) const REPORT_FILE: &str = "report.md";
pub(crate) const VERIFICATION_FILE: &str = "verification.json";

/// What `run.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunFile {
    /// Version of the run directory's form.
    pub(crate) format: u32,
    /// The run's name: that of its directory.
    pub(crate) run: String,
    /// How it stands.
    pub(crate) status: RunStatus,
    /// When it began, UTC.
    pub(crate) started: String,
    /// When it ended, UTC.
    pub(crate) ended: Option<String>,
    /// What kept it from being carried out.
    #[serde(default)]
    pub(crate) error: Option<String>,
    /// Whether lakes stay, where that was asked for beside the scenario.
    #[serde(default)]
    pub(crate) keep_lakes: Option<bool>,
    /// How many runners have worked on it.
    pub(crate) sessions: u32,
    /// The command that reproduces it.
    pub(crate) command: String,
    /// The scenario with every value.
    pub(crate) scenario: Scenario,
    /// The logs.
    pub(crate) dataset: Identity,
    /// The machine.
    pub(crate) host: Host,
    /// Limits of the workers in force, by variant.
    pub(crate) limits: BTreeMap<String, Limits>,
    /// Versions: `bench`, and what each engine says of itself.
    pub(crate) versions: BTreeMap<String, String>,
    /// Git revision of the system under test, where there is one.
    pub(crate) revision: Option<String>,
    /// Settings that were in force, by variant, as its target told.
    #[serde(default)]
    pub(crate) effective: BTreeMap<String, BTreeMap<String, String>>,
    /// Versions of each variant's target, and what it is a revision of.
    #[serde(default)]
    pub(crate) engines: BTreeMap<String, BTreeMap<String, String>>,
    /// Settings that were asked for and that the target cannot honour, by variant.
    #[serde(default)]
    pub(crate) unsupported: BTreeMap<String, BTreeSet<String>>,
    /// Settings that changed nothing, by variant and name, as its target's workers found.
    #[serde(default)]
    pub(crate) without_effect: BTreeMap<String, BTreeMap<String, Vec<WithoutEffect>>>,
}

/// The machine that a run is made on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Host {
    /// Processor model.
    pub(crate) cpu_model: Option<String>,
    /// Cores that may be used.
    pub(crate) cores: usize,
    /// Memory in bytes.
    pub(crate) memory_bytes: Option<u64>,
    /// Memory limit of the runner's own control group.
    pub(crate) memory_limit_bytes: Option<u64>,
    /// Operating system and kernel.
    pub(crate) kernel: Option<String>,
    /// Processor architecture.
    pub(crate) architecture: String,
    /// File system that the lakes are on.
    pub(crate) storage: Option<String>,
}

impl Host {
    pub(crate) fn of(facts: &MachineFacts, storage: Option<String>) -> Self {
        Self {
            cpu_model: facts.cpu_model.clone(),
            cores: facts.cores,
            memory_bytes: facts.memory_bytes,
            memory_limit_bytes: facts
                .cgroup
                .as_ref()
                .and_then(|group| group.memory_limit_bytes),
            kernel: facts.kernel.clone(),
            architecture: facts.architecture.clone(),
            storage,
        }
    }
}

/// A run directory that this process works on.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Where it is, absolute.
    pub(crate) path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes a new one below `runs`: `<UTC time>-<scenario>-<4 hex>`.
    pub(crate) fn create(runs: &Path, scenario: &str) -> Result<Self, Error> {
        Self::open(&fresh(runs, scenario)?)
    }

    /// One that exists.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let path = path.canonicalize().map_err(Error::at("read", path))?;
        let lock = lock(&path.join(".lock"), false)?;
        Ok(Self { path, _lock: lock })
    }

    /// The run's name.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Reads `run.json`.
    pub(crate) fn read(path: &Path) -> Result<RunFile, Error> {
        let path = path.join(RUN_FILE);
        let text = fs::read(&path).map_err(Error::at("read", &path))?;
        let damaged = |reason: String| Error::RunFile {
            path: path.clone(),
            reason,
        };
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        match value["format"].as_u64() {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => {
                return Err(damaged(format!(
                    "it has format {format}, and this bench reads {FORMAT}"
                )));
            }
            None => return Err(damaged("it names no format".to_owned())),
        }
        serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
    }

    /// Writes `run.json`, without passwords.
    pub(crate) fn write(&self, run: &RunFile) -> Result<(), Error> {
        let (scenario, _) = run.scenario.without_secrets();
        let run = RunFile {
            scenario,
            ..run.clone()
        };
        self.write_json(RUN_FILE, &run)
    }

    /// Writes a file of JSON that takes its name once it is complete.
    pub(crate) fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(value)
            .map_err(|error| Error::at("write", &self.path.join(name))(error.into()))?;
        text.push(b'\n');
        self.write_file(name, &text)
    }

    /// Writes a file that takes its name once it is complete.
    pub(crate) fn write_file(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        write_whole(&self.path, name, content).map_err(Error::at("write", &self.path.join(name)))
    }
}

/// Writes a file into a folder, which takes its name once it is complete.
pub(crate) fn write_whole(folder: &Path, name: &str, content: &[u8]) -> std::io::Result<()> {
    let unfinished = folder.join(format!(".{name}.unfinished"));
    let mut file = File::create(&unfinished)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&unfinished, folder.join(name))
}

/// Makes a new folder in another, named by the time and by what it is for.
pub(crate) fn fresh(within: &Path, name: &str) -> Result<PathBuf, Error> {
    fs::create_dir_all(within).map_err(Error::at("create", within))?;
    let within = within.canonicalize().map_err(Error::at("read", within))?;
    let time: String = wall().chars().filter(char::is_ascii_alphanumeric).collect();
    // Names are drawn until one is free: two runs may begin in the same second.
    loop {
        let draw = uuid::Uuid::new_v4().as_u128() as u16;
        let path = within.join(format!("{time}-{name}-{draw:04x}"));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::at("create", &path)(error)),
            Ok(()) => return Ok(path),
        }
    }
}

/// The scenario's name of a run directory, and how the run stands.
pub(crate) fn standing(path: &Path) -> Result<(String, RunStatus), Error> {
    let run = Folder::read(path)?;
    Ok((run.scenario.name, run.status))
}

/// Locks a file that is made for it; it is unlocked when the process ends, however it does.
pub(crate) fn lock(path: &Path, wait: bool) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::at("create", path))?;
    let operation = if wait {
        FlockOperation::LockExclusive
    } else {
        FlockOperation::NonBlockingLockExclusive
    };
    match flock(&file, operation) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::Busy {
            path: path.parent().unwrap_or(path).to_path_buf(),
        }),
        Err(error) => Err(Error::at("lock", path)(error.into())),
    }
}

/// The wall clock for people: `2026-11-30T07:00:00Z`.
pub(crate) fn wall() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
