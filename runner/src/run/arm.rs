//! One arm: its lake, its workers, and conducting it.

use super::conductor::{Arm, Conductor};
use super::dataset::Logs;
use super::error::RunError;
use super::folder::RunFile;
use super::progress::Progress;
use super::real::{RealWorld, Workers};
use crate::doctor::{Machine, MachineFacts, Probe, cache_dir};
use crate::probe::LakeProbe;
use crate::record::{ArmHistory, ArmId, Event, Journal, RunStatus};
use crate::scenario::{FaultKind, SparkTarget, TargetKind, Variant};
use crate::spark::{self, Environment, Obstacle};
use crate::worker::{Clock, Limiter};
use bench_embedded::protocol::{Hello, Resources};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the lake of an arm is.
#[derive(Debug)]
pub(super) struct Place {
    /// Path or address.
    pub(super) lake: String,
    /// Its folder, if it is a local one.
    folder: Option<PathBuf>,
    storage: BTreeMap<String, String>,
}

impl Place {
    /// The lake of an arm: below `target.lake`, or inside the run directory.
    pub(super) fn of(id: &ArmId, variant: &Variant, run: &Path) -> Result<Self, RunError> {
        let storage = variant.target.storage.clone();
        if let Some(base) = variant.target.lake.as_deref()
            && base.contains("://")
        {
            return Ok(Self {
                lake: format!("{}/{id}", base.trim_end_matches('/')),
                folder: None,
                storage,
            });
        }
        let base = match &variant.target.lake {
            Some(base) => {
                std::path::absolute(base).map_err(RunError::at("find", Path::new(base)))?
            }
            None => run.join("lake"),
        };
        let folder = base.join(id.to_string());
        Ok(Self {
            lake: folder.to_string_lossy().into_owned(),
            folder: Some(folder),
            storage,
        })
    }

    /// Locks a lake that lies outside the run directory, which has its own lock: nobody else empties
    /// or fills it meanwhile.
    pub(super) fn lock(&self, run: &Path) -> Result<Option<fs::File>, RunError> {
        let Some(folder) = self.folder.as_ref().filter(|one| !one.starts_with(run)) else {
            return Ok(None);
        };
        let base = folder.parent().unwrap_or(folder);
        fs::create_dir_all(base).map_err(RunError::at("create", base))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        super::folder::lock(&base.join(format!(".{name}.lock")), false).map(Some)
    }

    /// Whether there is a lake; of one elsewhere it is taken for granted.
    pub(super) fn exists(&self) -> bool {
        self.folder
            .as_ref()
            .is_none_or(|folder| fs::read_dir(folder).is_ok_and(|mut one| one.next().is_some()))
    }

    /// Makes sure that the lake is empty.
    pub(super) fn make_fresh(&self, wipe: bool) -> Result<(), RunError> {
        let not_fresh = || RunError::NotFresh {
            lake: self.lake.clone(),
        };
        let Some(folder) = &self.folder else {
            let mut probe =
                LakeProbe::new(&self.lake, &self.storage).map_err(|error| not_built(&error))?;
            let empty = probe
                .tables()
                .map_err(|error| not_built(&error))?
                .is_empty();
            return if empty { Ok(()) } else { Err(not_fresh()) };
        };
        let empty = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(RunError::at("read", folder)(error)),
        };
        if !empty && !wipe {
            return Err(not_fresh());
        }
        self.drop_lake()?;
        fs::create_dir_all(folder).map_err(RunError::at("create", folder))
    }

    /// Removes a local lake; one elsewhere stays.
    pub(super) fn drop_lake(&self) -> Result<(), RunError> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(RunError::at("remove", folder)(error))
            }
            _ => Ok(()),
        }
    }
}

fn not_built(error: &crate::probe::ProbeError) -> RunError {
    RunError::NotBuilt {
        what: error.to_string(),
    }
}

/// Looks for the program of a `command` before anything starts.
pub(super) fn check_program(variant: &Variant) -> Result<(), RunError> {
    let Some(program) = variant.target.command.first() else {
        return Ok(());
    };
    let found = if program.contains('/') {
        Path::new(program).is_file()
    } else {
        Machine.find(program).is_some()
    };
    if found {
        Ok(())
    } else {
        Err(RunError::NoProgram {
            program: program.clone(),
        })
    }
}

/// Everything that an arm needs.
pub(super) struct Work<'a> {
    pub(super) id: &'a ArmId,
    pub(super) variant: &'a Variant,
    pub(super) place: &'a Place,
    pub(super) batches: &'a [Vec<String>],
    pub(super) past: Option<&'a ArmHistory>,
    pub(super) run: &'a RunFile,
    pub(super) folder: &'a Path,
    pub(super) logs: &'a Logs,
    pub(super) facts: &'a MachineFacts,
    pub(super) program: &'a Path,
}

/// Conducts an arm with real workers.
pub(super) fn conduct(
    work: &Work<'_>,
    journal: &mut Journal,
    clock: Clock,
    progress: &mut Progress<'_>,
) -> Result<RunStatus, RunError> {
    let Work { id, variant, .. } = *work;
    let log_folder = work.folder.join("logs");
    fs::create_dir_all(&log_folder).map_err(RunError::at("create", &log_folder))?;
    let lowers = |kind: &FaultKind| matches!(kind, FaultKind::Memory(_));
    let faults = variant.faults.iter().any(|fault| lowers(&fault.kind));
    let prefix = format!("bench-{}-{id}", work.run.run);
    let limiter = Limiter::new(&variant.resources, faults, work.facts, &prefix)?;
    if work.past.is_none() {
        let started = Event::ArmStarted {
            arm: id.clone(),
            lake: work.place.lake.clone(),
            workflows: u32::try_from(work.batches.len()).unwrap_or(u32::MAX),
            limits: limiter.limits(),
        };
        journal.write(clock.now().as_secs_f64(), started)?;
        journal.sync()?;
    }
    let started = Starting::of(work)?;
    let probe = work.run.scenario.measure.probe && variant.target.kind != TargetKind::Null;
    let workers = Workers {
        arm: id,
        command: started.command,
        environment: started.environment,
        launcher: work.program.to_path_buf(),
        hello: Hello {
            lake: work.place.lake.clone(),
            dataset: work.logs.root.to_string_lossy().into_owned(),
            sequence: format!("{}/{id}", work.run.run),
            settings: variant.settings.clone(),
            resources: Resources {
                cpus: variant.resources.cpus,
                slots: Some(variant.sequence.slots),
                memory_bytes: variant.resources.memory,
            },
            staging_root: None,
            storage: variant.target.storage.clone(),
            options: started.options,
        },
        limiter,
        folder: work.folder,
        sample_interval: work.run.scenario.measure.sample_interval,
        probe,
    };
    let mut world = RealWorld::new(workers, clock);
    let arm = Arm {
        id: id.clone(),
        variant,
        batches: work.batches,
        probe,
        history: work.past,
    };
    let mut watch = |event: &Event| progress.event(event);
    Ok(Conductor::new(&mut world, journal, &mut watch, arm).conduct()?)
}

/// How the workers of an arm are started.
struct Starting {
    command: Vec<String>,
    environment: Vec<(String, String)>,
    /// What they are told that is for their target alone.
    options: BTreeMap<String, Value>,
}

impl Starting {
    fn of(work: &Work<'_>) -> Result<Self, RunError> {
        let target = &work.variant.target;
        let plain = |command| Self {
            command,
            environment: Vec::new(),
            options: BTreeMap::new(),
        };
        let own = |engine: &str| {
            let program = work.program.to_string_lossy().into_owned();
            plain(vec![program, "worker".to_owned(), engine.to_owned()])
        };
        match (target.kind, &target.spark) {
            (TargetKind::Embedded, _) => Ok(own("embedded")),
            (TargetKind::Null, _) => Ok(own("null")),
            (TargetKind::Spark, Some(spark)) => Self::of_spark(work, spark),
            (TargetKind::Command | TargetKind::Spark, _) => Ok(plain(target.command.clone())),
        }
    }

    fn of_spark(work: &Work<'_>, target: &SparkTarget) -> Result<Self, RunError> {
        let environment = Environment::find(&Machine).ok_or_else(|| Obstacle::NotSetUp {
            place: spark::place(&Machine),
        })?;
        let cache = cache_dir(&Machine).unwrap_or_else(std::env::temp_dir);
        fs::create_dir_all(&cache).map_err(RunError::at("create", &cache))?;
        let package = Environment::unpack(&cache).map_err(RunError::at("unpack into", &cache))?;
        let event_log = work.folder.join("spark").join(work.id.to_string());
        Ok(Self {
            command: environment.command(),
            environment: package.environment(),
            options: environment.options(target, &package, &event_log),
        })
    }
}
