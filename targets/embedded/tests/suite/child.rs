//! An ingest in a process of its own, which can be killed or started with too little of something.
//!
//! The process is this test program, started again with one of its tests and told by a file what
//! to do.

use crate::common::settings;
use bench_embedded::{Engine, Error, Ledger, LogBatch, Options, Silent};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const TASK: &str = "BENCH_EMBEDDED_TEST_TASK";
pub(crate) const KILL_AT: &str = "BENCH_EMBEDDED_KILL_AT";
/// Exit code of a process whose ingest failed with an error.
pub(crate) const FAILED: i32 = 3;

/// Far more than an attempt takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Workflows that are ingested one after the other.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) dataset: PathBuf,
    pub(crate) lake: String,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) storage: HashMap<String, String>,
    /// Name and logs of each workflow.
    pub(crate) workflows: Vec<(String, Vec<String>)>,
}

impl Task {
    /// Every log of a data set, in workflows of so many.
    pub(crate) fn new(dataset: &Path, lake: &Path, size: usize, settings: &[(&str, &str)]) -> Self {
        let logs = bench_hl7::discover(dataset).expect("the logs are found");
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Self {
            dataset: dataset.to_owned(),
            lake: lake.to_str().expect("the path is text").to_owned(),
            settings: settings.iter().map(owned).collect(),
            storage: HashMap::new(),
            workflows: LogBatch::split(&logs, size)
                .iter()
                .enumerate()
                .map(|(number, batch)| (format!("w{number}"), names(batch)))
                .collect(),
        }
    }

    /// The same into another lake.
    pub(crate) fn for_lake(&self, lake: &Path) -> Self {
        let lake = lake.to_str().expect("the path is text").to_owned();
        Self {
            lake,
            ..self.clone()
        }
    }

    pub(crate) fn open(&self) -> Result<Engine, Error> {
        let pairs: Vec<(&str, &str)> = self
            .settings
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let options = Options {
            settings: settings(&pairs),
            threads: 2,
            storage: self.storage.clone(),
            ..Options::default()
        };
        Engine::open(&self.lake, options)
    }

    pub(crate) fn batch(&self, number: usize) -> LogBatch {
        LogBatch::of_manifest(&self.dataset, &self.workflows[number].1).expect("they are logs")
    }

    /// One attempt of every workflow, in this process.
    pub(crate) fn attempt(&self) -> Result<Vec<Ledger>, Error> {
        let mut engine = self.open()?;
        (0..self.workflows.len())
            .map(|number| self.attempt_one(&mut engine, number))
            .collect()
    }

    /// One attempt of one workflow.
    pub(crate) fn attempt_one(&self, engine: &mut Engine, number: usize) -> Result<Ledger, Error> {
        let ledger = engine.ingest(&self.workflows[number].0, &self.batch(number), &mut Silent)?;
        assert!(ledger.is_balanced(), "workflow {number}");
        let done = u32::try_from(number + 1).expect("few workflows");
        engine.after_workflow(done, None)?;
        Ok(ledger)
    }

    /// The process, through a shell that first runs a line, for instance one that sets a limit.
    pub(crate) fn command(&self, folder: &Path, first: &str) -> Command {
        let file = folder.join(format!("task-{}.json", uuid::Uuid::new_v4()));
        let text = serde_json::to_string(self).expect("a task is JSON");
        std::fs::write(&file, text).expect("the task is written");
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{first}\nexec \"$0\" \"$@\"")])
            .arg(program)
            .args(["--exact", "child::child", "--ignored", "--nocapture"])
            .arg("--test-threads=1")
            .env(TASK, file)
            .env_remove(KILL_AT)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null());
        command
    }

    /// One attempt of every workflow under what a line of shell sets. A process that hangs is no
    /// end that anybody could act upon.
    pub(crate) fn attempt_under(&self, folder: &Path, first: &str) -> Output {
        let mut command = self.command(folder, first);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let began = Instant::now();
        while child.try_wait().expect("it can be waited for").is_none() {
            if began.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("a process hangs under {first:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().expect("it has ended")
    }
}

fn names(batch: &LogBatch) -> Vec<String> {
    let logs = batch.logs().iter();
    logs.map(|log| log.relative.clone()).collect()
}

#[test]
#[ignore = "the process that other tests start"]
fn child() {
    // Who runs all ignored tests starts this one, too, and has nothing to do for it.
    let Ok(path) = std::env::var(TASK) else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("the task is there");
    let task: Task = serde_json::from_str(&text).expect("it is a task");
    if let Err(error) = task.attempt() {
        eprintln!("attempt failed: {error}");
        std::process::exit(FAILED);
    }
}
