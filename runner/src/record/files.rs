//! The CSV files of a run directory, made from its events: the same bytes for the same events.
//!
//! Times are seconds from the start of the arm's sequence, when its workers were ready; sizes are
//! bytes. An empty cell says that there is no such number.

use super::event::{ArmId, Event, Record, TableProbe};
use super::history::{ArmHistory, History, WorkflowHistory};
use super::journal::{JournalError, read_events};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const WORKFLOWS: &[&str] = &[
    "variant",
    "repeat",
    "workflow",
    "status",
    "launched_s",
    "started_s",
    "closed_s",
    "duration_s",
    "queue_s",
    "retry_s",
    "service_s",
    "attempts",
    "resumed",
    "logs",
    "failed_logs",
    "messages",
    "empty",
    "unparsable",
    "rows",
    "inserted",
    "updated",
    "unchanged",
    "reason",
];

const ATTEMPTS: &[&str] = &[
    "variant",
    "repeat",
    "workflow",
    "attempt",
    "worker",
    "incarnation",
    "started_s",
    "ended_s",
    "seconds",
    "outcome",
    "cause",
    "exit_code",
    "signal",
    "oom_kills",
    "peak_rss_bytes",
    "cpu_s",
    "injected",
    "message",
];

const STAGES: &[&str] = &[
    "variant", "repeat", "workflow", "attempt", "stage", "table", "seconds", "rows", "bytes",
    "files", "version",
];

const TABLES: &[&str] = &[
    "variant",
    "repeat",
    "workflow",
    "table",
    "version",
    "rows",
    "live_files",
    "live_bytes",
    "file_p50_bytes",
    "file_max_bytes",
    "disk_files",
    "disk_bytes",
    "log_entries",
    "checkpoints",
];

const WORKERS: &[&str] = &[
    "variant",
    "repeat",
    "worker",
    "incarnation",
    "pid",
    "started_s",
    "ready_s",
    "ended_s",
    "cause",
    "exit_code",
    "signal",
    "oom_kills",
    "peak_rss_bytes",
    "cpu_s",
    "detail",
];

const SAMPLES: &[&str] = &[
    "variant",
    "repeat",
    "worker",
    "incarnation",
    "t_s",
    "rss_bytes",
    "cpu_s",
    "read_bytes",
    "write_bytes",
];

/// Writes all CSV files of a run directory from its `events.jsonl`, and hands over what the events
/// add up to.
///
/// # Errors
/// [`JournalError`]; a file that is there is replaced only once its successor is complete.
pub fn write_tables(folder: &Path) -> Result<History, JournalError> {
    let mut history = History::default();
    let mut stages = Csv::create(folder, "stages.csv", STAGES)?;
    let mut tables = Csv::create(folder, "tables.csv", TABLES)?;
    let mut samples = Csv::create(folder, "samples.csv", SAMPLES)?;
    // Samples are told before the clock of the arm starts, too: they wait for it.
    let mut early: HashMap<ArmId, Vec<Record>> = HashMap::new();
    read_events(folder, |record| {
        match &record.event {
            Event::Stage {
                arm,
                workflow,
                attempt,
                stage,
            } => stages.stage(arm, *workflow, *attempt, stage)?,
            Event::Probed {
                arm,
                workflow,
                probe,
                ..
            } => tables.probed(arm, *workflow, probe)?,
            Event::Sampled { arm, .. } => match history.arm(arm).and_then(|arm| arm.started) {
                Some(start) => samples.sampled(&record, start)?,
                None => {
                    let waiting = early.entry(arm.clone()).or_default();
                    waiting.push(record);
                    return Ok(());
                }
            },
            Event::SequenceStarted { arm } => {
                for waiting in early.remove(arm).unwrap_or_default() {
                    samples.sampled(&waiting, record.t)?;
                }
            }
            _ => {}
        }
        history.apply(record);
        Ok::<_, JournalError>(())
    })?;
    stages.finish()?;
    tables.finish()?;
    samples.finish()?;
    let mut workflows = Csv::create(folder, "workflows.csv", WORKFLOWS)?;
    let mut attempts = Csv::create(folder, "attempts.csv", ATTEMPTS)?;
    let mut workers = Csv::create(folder, "workers.csv", WORKERS)?;
    for arm in &history.arms {
        for (number, workflow) in &arm.workflows {
            workflows.workflow(arm, *number, workflow)?;
            attempts.attempts(arm, *number, workflow)?;
        }
        workers.workers(arm)?;
    }
    workflows.finish()?;
    attempts.finish()?;
    workers.finish()?;
    Ok(history)
}

/// A CSV file that takes its name once it is complete.
pub(super) struct Csv {
    path: PathBuf,
    unfinished: PathBuf,
    writer: csv::Writer<File>,
    columns: usize,
}

impl Csv {
    pub(super) fn create(
        folder: &Path,
        name: &str,
        columns: &[&str],
    ) -> Result<Self, JournalError> {
        let path = folder.join(name);
        let unfinished = folder.join(format!(".{name}.unfinished"));
        let file = File::create(&unfinished).map_err(|source| JournalError::Io {
            action: "create",
            path: unfinished.clone(),
            source,
        })?;
        let mut csv = Self {
            path,
            unfinished,
            writer: csv::Writer::from_writer(file),
            columns: columns.len(),
        };
        csv.row(columns.iter().map(ToString::to_string).collect())?;
        Ok(csv)
    }

    pub(super) fn row(&mut self, cells: Vec<String>) -> Result<(), JournalError> {
        debug_assert_eq!(cells.len(), self.columns);
        self.writer
            .write_record(cells)
            .map_err(|error| self.failed(error.into()))
    }

    fn failed(&self, source: io::Error) -> JournalError {
        JournalError::Io {
            action: "write",
            path: self.path.clone(),
            source,
        }
    }

    pub(super) fn finish(mut self) -> Result<(), JournalError> {
        let flushed = self.writer.flush();
        flushed.map_err(|source| self.failed(source))?;
        std::fs::rename(&self.unfinished, &self.path).map_err(|source| self.failed(source))
    }

    fn stage(
        &mut self,
        arm: &ArmId,
        workflow: u32,
        attempt: u32,
        stage: &bench_embedded::Stage,
    ) -> Result<(), JournalError> {
        let mut cells = names(arm);
        cells.extend([
            workflow.to_string(),
            attempt.to_string(),
            stage.name.clone(),
            stage.table.clone().unwrap_or_default(),
            seconds(stage.seconds),
            stage.rows.to_string(),
            stage.bytes.to_string(),
            stage.files.to_string(),
            text(stage.version),
        ]);
        self.row(cells)
    }

    fn probed(
        &mut self,
        arm: &ArmId,
        workflow: u32,
        probe: &TableProbe,
    ) -> Result<(), JournalError> {
        for table in &probe.tables {
            let mut cells = names(arm);
            cells.extend([
                workflow.to_string(),
                table.table.clone(),
                table.version.to_string(),
                text(table.rows),
                table.live_files.to_string(),
                table.live_bytes.to_string(),
                text(table.file_p50_bytes),
                text(table.file_max_bytes),
                table.disk_files.to_string(),
                table.disk_bytes.to_string(),
                table.log_entries.to_string(),
                table.checkpoints.to_string(),
            ]);
            self.row(cells)?;
        }
        Ok(())
    }

    fn sampled(&mut self, record: &Record, start: f64) -> Result<(), JournalError> {
        let Event::Sampled {
            arm,
            worker,
            incarnation,
            rss,
            cpu_seconds,
            read_bytes,
            write_bytes,
        } = &record.event
        else {
            return Ok(());
        };
        let mut cells = names(arm);
        cells.extend([
            worker.to_string(),
            incarnation.to_string(),
            seconds(record.t - start),
            rss.to_string(),
            seconds(*cpu_seconds),
            text(*read_bytes),
            text(*write_bytes),
        ]);
        self.row(cells)
    }

    fn workflow(
        &mut self,
        arm: &ArmHistory,
        number: u32,
        workflow: &WorkflowHistory,
    ) -> Result<(), JournalError> {
        let start = arm.started.unwrap_or_default();
        let offset = |t: f64| seconds(t - start);
        let spent = workflow.spent();
        let ledger = workflow
            .completed()
            .and_then(|(_, end)| end.ledger.as_deref());
        let count = |of: fn(&bench_embedded::Ledger) -> u64| text(ledger.map(of));
        let part =
            |of: fn(&super::history::Spent) -> f64| text(spent.as_ref().map(of).map(seconds));
        let mut cells = names(&arm.id);
        cells.extend([
            number.to_string(),
            workflow
                .closed
                .map_or("open", |(_, status)| status.name())
                .to_owned(),
            offset(workflow.launched),
            text(workflow.attempts.first().map(|one| offset(one.started))),
            text(workflow.closed.map(|(at, _)| offset(at))),
            text(
                workflow
                    .closed
                    .map(|(at, _)| seconds(at - workflow.launched)),
            ),
            part(|spent| spent.queue),
            part(|spent| spent.retry),
            part(|spent| spent.service),
            workflow.attempts.len().to_string(),
            workflow.resumed.to_string(),
            count(|ledger| ledger.logs),
            count(|ledger| ledger.failed_logs.len() as u64),
            count(|ledger| ledger.messages),
            count(|ledger| ledger.empty),
            count(|ledger| ledger.unparsable.len() as u64),
            count(|ledger| ledger.parsed),
            count(|ledger| ledger.reports.inserted),
            count(|ledger| ledger.reports.updated),
            count(|ledger| ledger.reports.unchanged),
            workflow.reason.clone().unwrap_or_default(),
        ]);
        self.row(cells)
    }

    fn attempts(
        &mut self,
        arm: &ArmHistory,
        number: u32,
        workflow: &WorkflowHistory,
    ) -> Result<(), JournalError> {
        let start = arm.started.unwrap_or_default();
        for attempt in &workflow.attempts {
            let (at, end) = attempt.ended.as_ref().map(|(at, end)| (*at, end)).unzip();
            let exit = end.and_then(|end| end.exit).unwrap_or_default();
            let injected: Vec<&str> = attempt.injected.iter().map(|one| &*one.what).collect();
            let mut cells = names(&arm.id);
            cells.extend([
                number.to_string(),
                attempt.attempt.to_string(),
                attempt.worker.to_string(),
                attempt.incarnation.to_string(),
                seconds(attempt.started - start),
                text(at.map(|at: f64| seconds(at - start))),
                text(at.map(|at| seconds(at - attempt.started))),
                end.map_or("open", |end| end.outcome.name()).to_owned(),
                text(end.and_then(|end| end.cause).map(|cause| cause.name())),
                text(exit.code),
                text(exit.signal),
                text(exit.oom_kills),
                text(end.and_then(|end| end.peak_rss)),
                text(end.and_then(|end| end.cpu_seconds).map(seconds)),
                injected.join("; "),
                text(end.and_then(|end| end.message.clone())),
            ]);
            self.row(cells)?;
        }
        Ok(())
    }

    fn workers(&mut self, arm: &ArmHistory) -> Result<(), JournalError> {
        let start = arm.started.unwrap_or_default();
        for process in &arm.workers {
            let exited = process.exited.as_ref();
            let exit = exited.map(|(.., exit)| *exit).unwrap_or_default();
            let mut cells = names(&arm.id);
            cells.extend([
                process.worker.to_string(),
                process.incarnation.to_string(),
                process.pid.to_string(),
                seconds(process.started - start),
                text(process.ready.map(|ready| seconds(ready - start))),
                text(exited.map(|(at, ..)| seconds(at - start))),
                text(exited.map(|(_, cause, ..)| cause.name())),
                text(exit.code),
                text(exit.signal),
                text(exit.oom_kills),
                text(exit.peak_rss),
                text(exit.cpu_seconds.map(seconds)),
                text(exited.and_then(|(_, _, detail, _)| detail.clone())),
            ]);
            self.row(cells)?;
        }
        Ok(())
    }
}

pub(super) fn names(arm: &ArmId) -> Vec<String> {
    vec![arm.variant.clone(), arm.repeat.to_string()]
}

/// To the microsecond, as the journal keeps times.
fn seconds(seconds: f64) -> String {
    // Adding zero leaves no "-0.000000".
    format!("{:.6}", (seconds * 1e6).round() / 1e6 + 0.0)
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
