//! One runner's work on a run, from its beginning or from where another one ended.

use super::again::{read, reveal, same_logs};
use super::arm::{self, Place};
use super::dataset::{self, Logs};
use super::error::RunError;
use super::folder::{FORMAT, Folder, Host, RunFile, SCENARIO_FILE, VERIFICATION_FILE, wall};
use super::progress::Progress;
use super::reporting::write_reports;
use super::spark::SparkLogs;
use super::verifying::{Verifications, verify};
use crate::doctor::{Machine, MachineFacts, Place as Disk};
use crate::exit::Exit;
use crate::interrupt;
use crate::plan::{self, Plan};
use crate::record::{
    ArmId, Event, History, Journal, RunStatus, WorkflowHistory, WorkflowStatus, without_effect,
    write_tables,
};
use crate::scenario::{DatasetSource, Expect, HIDDEN, Loaded, Scenario, TargetKind, Variant};
use crate::spark;
use crate::terminal::{Terminal, counted};
use crate::worker::Clock;
use bench_generator::Progress as Making;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Of how many workflows of an arm it is told why they failed.
const FAILURES_TOLD: usize = 5;
/// What a worker calls the platform's transformer among its versions.
const TRANSFORMER: &str = "transformer";

/// How a run is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder of run directories.
    pub runs: PathBuf,
    /// Where generated data sets are kept.
    pub cache: PathBuf,
    /// Whether lakes stay, where that is not left to the scenario.
    pub keep_lakes: Option<bool>,
    /// Whether a lake that is not empty is emptied.
    pub wipe: bool,
    /// Whether room on the disk is looked at first.
    pub space_check: bool,
    /// Whether progress is kept quiet about.
    pub quiet: bool,
    /// The command that reproduces the run.
    pub command: String,
    /// The program `bench`, which is its own worker and launcher.
    pub program: PathBuf,
}

/// What became of a run.
#[derive(Debug)]
pub struct Finished {
    /// The run directory.
    pub folder: PathBuf,
    /// How it ended.
    pub status: RunStatus,
    /// The exit code that this means.
    pub exit: Exit,
    /// What is wrong, in a sentence each.
    pub findings: Vec<String>,
}

/// Makes a run.
///
/// # Errors
/// [`RunError`]: nothing was measured, or the run directory says how far it came.
pub fn start(
    loaded: &Loaded,
    options: &Options,
    terminal: &Terminal,
) -> Result<Finished, RunError> {
    let facts = MachineFacts::gather(&Machine);
    let scenario = &loaded.scenario;
    for variant in &scenario.variants {
        arm::check_program(variant)?;
    }
    if let Some(obstacle) = spark::obstacle(scenario, &Machine) {
        return Err(obstacle.into());
    }
    let logs = prepare(&scenario.dataset, options, terminal)?;
    let runs = std::path::absolute(&options.runs).map_err(RunError::at("find", &options.runs))?;
    let disk = Disk::at(&Machine, runs);
    if let Some(disk) = disk.as_ref().filter(|_| options.space_check) {
        check_space(scenario, disk)?;
    }
    let folder = Folder::create(&options.runs, &scenario.name)?;
    let hide = |text: &str| {
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), HIDDEN);
        loaded.secrets.iter().fold(text.to_owned(), hide)
    };
    folder.write_file(SCENARIO_FILE, hide(&loaded.text).as_bytes())?;
    let run = RunFile {
        format: FORMAT,
        run: folder.name(),
        status: RunStatus::Running,
        started: wall(),
        ended: None,
        sessions: 1,
        command: hide(&options.command),
        scenario: scenario.clone(),
        dataset: logs.identity.clone(),
        host: Host::of(&facts, disk.and_then(|disk| disk.file_system)),
        error: None,
        keep_lakes: options.keep_lakes,
        limits: BTreeMap::new(),
        versions: BTreeMap::from([("bench".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]),
        revision: None,
        effective: BTreeMap::new(),
        unsupported: BTreeMap::new(),
        without_effect: BTreeMap::new(),
        engines: BTreeMap::new(),
    };
    folder.write(&run)?;
    let journal = Journal::create(&folder.path)?;
    Session {
        folder,
        run,
        journal,
        clock: Clock::starting_at(Duration::ZERO),
        logs,
        facts,
        options,
        terminal,
        history: History::default(),
        verifications: Verifications::default(),
        spark: SparkLogs::default(),
    }
    .work()
}

/// Carries on with a run whose runner ended before it did.
///
/// # Errors
/// [`RunError`]
pub fn resume(path: &Path, options: &Options, terminal: &Terminal) -> Result<Finished, RunError> {
    let folder = Folder::open(path)?;
    let mut run = Folder::read(&folder.path)?;
    reveal(&mut run)?;
    let facts = MachineFacts::gather(&Machine);
    let source = DatasetSource::Folder(run.dataset.path.clone());
    // A generated data set that has gone from the cache is made again.
    let generated = &run.scenario.dataset;
    let source = if run.dataset.path.exists() {
        &source
    } else {
        generated
    };
    let logs = prepare(source, options, terminal)?;
    same_logs(&logs, &run)?;
    let journal = Journal::resume(&folder.path)?;
    let history = read(&folder.path)?;
    run.sessions = history.sessions + 1;
    run.status = RunStatus::Running;
    run.ended = None;
    run.error = None;
    run.keep_lakes = options.keep_lakes.or(run.keep_lakes);
    folder.write(&run)?;
    let verifications = Verifications::read(&folder.path.join(VERIFICATION_FILE));
    Session {
        clock: Clock::starting_at(Duration::from_secs_f64(history.last)),
        folder,
        run,
        journal,
        logs,
        facts,
        options,
        terminal,
        history,
        verifications,
        spark: SparkLogs::default(),
    }
    .work()
}

fn prepare(
    source: &DatasetSource,
    options: &Options,
    terminal: &Terminal,
) -> Result<Logs, RunError> {
    let bar = Bar::new(terminal, options.quiet);
    let logs = dataset::prepare(source, &options.cache, &bar);
    bar.0.finish_and_clear();
    logs
}

/// A bar over the messages of a data set that is being made.
struct Bar(ProgressBar);

impl Bar {
    fn new(terminal: &Terminal, quiet: bool) -> Self {
        let bar =
            terminal.bar("data set     {bar:24} {human_pos} of {human_len} messages, {eta} left");
        if quiet {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        Self(bar)
    }
}

impl Making for Bar {
    fn begin(&self, _: u64, messages: u64) {
        self.0.set_length(messages);
    }

    fn advance(&self, _: u64, messages: u64, _: u64) {
        self.0.inc(messages);
    }
}

/// Refuses to begin where the disk is too small for what the plan estimates.
fn check_space(scenario: &Scenario, disk: &Disk) -> Result<(), RunError> {
    let elsewhere = |variant: &Variant| variant.target.lake.is_some();
    if scenario.variants.iter().any(elsewhere) {
        return Ok(());
    }
    let logs = plan::Logs::foresee(&scenario.dataset).map_err(Box::new)?;
    match Plan::of(scenario, &logs).disk_bytes {
        Some(needed) if disk.free_bytes < needed => Err(RunError::Space {
            path: disk.path.clone(),
            free: disk.free_bytes,
            needed,
        }),
        _ => Ok(()),
    }
}

/// The exit code of a run that ended so.
pub(crate) fn exit_of(status: RunStatus) -> Exit {
    match status {
        RunStatus::Completed | RunStatus::Cancelled | RunStatus::Running => Exit::Ok,
        RunStatus::Invalid => Exit::Invalid,
        RunStatus::Failed => Exit::WorkflowFailed,
        RunStatus::Interrupted => Exit::Interrupted,
    }
}

/// A runner's work.
struct Session<'a> {
    folder: Folder,
    run: RunFile,
    journal: Journal,
    clock: Clock,
    logs: Logs,
    facts: MachineFacts,
    options: &'a Options,
    terminal: &'a Terminal,
    /// What earlier runners have done.
    history: History,
    verifications: Verifications,
    spark: SparkLogs,
}

impl Session<'_> {
    fn tell(&mut self, event: Event) -> Result<(), RunError> {
        let now = self.clock.now().as_secs_f64();
        Ok(self.journal.write(now, event)?)
    }

    fn work(mut self) -> Result<Finished, RunError> {
        self.tell(Event::Session {
            session: self.run.sessions,
            pid: std::process::id(),
            bench: env!("CARGO_PKG_VERSION").to_owned(),
        })?;
        if self.run.sessions > 1 {
            super::recover::recover(&self.history, &mut self.journal, self.clock)?;
            self.history = read(&self.folder.path)?;
        }
        let mut progress = Progress::new(self.terminal, self.options.quiet);
        let outcome = self.arms(&mut progress);
        progress.end();
        let (mut status, mut findings) = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.run.error = Some(crate::error::chain(&error));
                self.close(RunStatus::Failed)?;
                return Err(error);
            }
        };
        if status != RunStatus::Interrupted && !self.verifications.passed() {
            status = RunStatus::Invalid;
        }
        self.close(status)?;
        findings.extend(self.verifications.findings());
        findings.extend(self.spark.findings());
        Ok(Finished {
            folder: self.folder.path,
            status,
            exit: exit_of(status),
            findings,
        })
    }

    /// Writes everything that is told of the run.
    fn close(&mut self, status: RunStatus) -> Result<(), RunError> {
        self.tell(Event::RunEnded { status })?;
        self.journal.sync()?;
        let history = write_tables(&self.folder.path)?;
        self.run.without_effect = without_effect(&history);
        for arm in &history.arms {
            let limits = self.run.limits.entry(arm.id.variant.clone());
            limits.or_insert_with(|| arm.limits.clone());
            for process in &arm.workers {
                let variant = || arm.id.variant.clone();
                let effective = self.run.effective.entry(variant());
                effective.or_default().extend(process.effective.clone());
                let unsupported = self.run.unsupported.entry(variant());
                unsupported.or_default().extend(process.unsupported.clone());
                let engines = self.run.engines.entry(variant());
                engines.or_default().extend(process.versions.clone());
                let mut versions = process.versions.clone();
                // What it is a revision of is under test, and no part of the bench.
                if let Some(revision) = versions.remove(TRANSFORMER) {
                    self.run.revision = Some(revision);
                }
                self.run.versions.extend(versions);
            }
        }
        let arms = history.arms.iter().map(|arm| &arm.id);
        self.spark.look(&self.folder.path, arms)?;
        self.folder
            .write_json(VERIFICATION_FILE, &self.verifications)?;
        self.run.status = status;
        self.run.ended = Some(wall());
        self.folder.write(&self.run)?;
        write_reports(&self.folder)
    }

    /// Works on every arm that is not done, in order: A B, then B A, and so on.
    fn arms(&mut self, progress: &mut Progress<'_>) -> Result<(RunStatus, Vec<String>), RunError> {
        let scenario = self.run.scenario.clone();
        let mut status = RunStatus::Completed;
        let mut findings = Vec::new();
        for (variant, repeat) in plan::order(&scenario) {
            let id = ArmId {
                variant: variant.name.clone(),
                repeat,
            };
            match self.arm(&id, variant, progress)? {
                RunStatus::Interrupted => return Ok((RunStatus::Interrupted, findings)),
                RunStatus::Failed => {
                    let allowed = variant.expect == Expect::Fail;
                    findings.extend(self.failures(&id, allowed)?);
                    if !allowed {
                        status = RunStatus::Failed;
                    }
                }
                _ => {}
            }
        }
        Ok((status, findings))
    }

    /// The workflows of an arm that failed, with their reasons.
    fn failures(&self, id: &ArmId, allowed: bool) -> Result<Vec<String>, RunError> {
        let history = read(&self.folder.path)?;
        let workflows = history.arm(id).map(|arm| &arm.workflows);
        let told = |(number, workflow): (&u32, &WorkflowHistory)| {
            let failed = workflow.closed?.1 == WorkflowStatus::Failed;
            let reason = workflow.reason.as_deref().unwrap_or("no reason was told");
            let allowed = if allowed {
                ", as it was allowed to"
            } else {
                ""
            };
            failed.then(|| format!("{id}: workflow {number} failed{allowed}: {reason}"))
        };
        let mut all: Vec<String> = workflows.into_iter().flatten().filter_map(told).collect();
        if all.len() > FAILURES_TOLD {
            let more = counted((all.len() - FAILURES_TOLD) as u64, "more workflow");
            all.truncate(FAILURES_TOLD);
            all.push(format!("{id}: {more} failed; workflows.csv has them"));
        }
        Ok(all)
    }

    fn arm(
        &mut self,
        id: &ArmId,
        variant: &Variant,
        progress: &mut Progress<'_>,
    ) -> Result<RunStatus, RunError> {
        let past = self.history.arm(id).cloned();
        let ended = past.as_ref().and_then(|arm| arm.ended);
        let verified = past.as_ref().and_then(|arm| arm.verified);
        if let (Some(status), Some(passed)) = (ended, verified)
            && (passed.is_none() || self.verifications.has(id))
        {
            return Ok(status);
        }
        let batches = dataset::batches(
            &self.logs.paths,
            variant.sequence.files_per_workflow,
            variant.sequence.passes,
        );
        let place = Place::of(id, variant, &self.folder.path)?;
        let _lock = place.lock(&self.folder.path)?;
        let began = past.as_ref().is_some_and(|arm| arm.completed() > 0);
        if began && variant.target.kind != TargetKind::Null && !place.exists() {
            return Err(RunError::LakeGone {
                lake: place.lake,
                arm: id.clone(),
            });
        }
        let status = match ended {
            Some(status) => status,
            None => {
                if past.is_none() {
                    place.make_fresh(self.options.wipe)?;
                }
                let past = past.as_ref();
                let closed = past.map_or(0, |arm| arm.closed.len());
                let workflows = u32::try_from(batches.len()).unwrap_or(u32::MAX);
                progress.arm(id, workflows, u32::try_from(closed).unwrap_or(u32::MAX));
                let status = arm::conduct(
                    &arm::Work {
                        id,
                        variant,
                        place: &place,
                        batches: &batches,
                        past,
                        run: &self.run,
                        folder: &self.folder.path,
                        logs: &self.logs,
                        facts: &self.facts,
                        program: &self.options.program,
                    },
                    &mut self.journal,
                    self.clock,
                    progress,
                );
                progress.end();
                status?
            }
        };
        if status == RunStatus::Interrupted {
            return Ok(status);
        }
        let history = write_tables(&self.folder.path)?;
        self.spark.look(&self.folder.path, [id])?;
        let Some(arm) = history.arm(id) else {
            return Ok(status);
        };
        let rows = self.run.scenario.verify.rows && variant.target.kind != TargetKind::Null;
        let passed = if rows {
            progress.line(&format!("{id}: verifying"));
            let interrupted = Arc::new(AtomicBool::new(false));
            let told = Arc::clone(&interrupted);
            let _listening = interrupt::listen(move || told.store(true, Ordering::Release));
            let verification = verify(arm, &place.lake, variant, &self.logs, &batches)?;
            let passed = verification.passed();
            let event = Event::Verified {
                arm: id.clone(),
                passed: Some(passed),
                failed: verification.failures().count() as u64,
                seconds: verification.seconds,
            };
            self.verifications.push(id.clone(), verification);
            self.folder
                .write_json(VERIFICATION_FILE, &self.verifications)?;
            self.tell(event)?;
            if interrupted.load(Ordering::Acquire) {
                return Ok(RunStatus::Interrupted);
            }
            Some(passed)
        } else {
            self.tell(Event::Verified {
                arm: id.clone(),
                passed: None,
                failed: 0,
                seconds: 0.0,
            })?;
            None
        };
        let keep = self
            .run
            .keep_lakes
            .unwrap_or(self.run.scenario.measure.keep_lake);
        // A lake that is wrong is kept: it is the evidence.
        if !keep && passed != Some(false) {
            place.drop_lake()?;
        }
        Ok(status)
    }
}
