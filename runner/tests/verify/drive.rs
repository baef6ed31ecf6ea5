//! Drives a worker by its protocol, as a runner does, and keeps what verification asks for.

use bench_generator::{Options, Overrides, Silent, Spec};
use bench_runner::probe::LakeProbe;
use bench_runner::verify::{Ingested, Interleaving, Ledger, Outcome, Subject, Ties, Truth};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program `faulty`, which cargo builds beside the tests.
pub(crate) fn faulty() -> PathBuf {
    let test = std::env::current_exe().expect("this program has a path");
    let deps = test.parent().expect("it lies in a folder");
    let program = deps.with_file_name("examples").join("faulty");
    assert!(
        program.exists(),
        "{} is missing: cargo test without --test builds it, or cargo build --examples",
        program.display()
    );
    program
}

/// A data set of a profile; small, and the same for everyone.
pub(crate) fn generate(profile: &str, messages: u64, logs: u64, out: &Path) {
    let overrides = Overrides {
        messages: Some(messages),
        log_files: Some(logs),
        seed: Some(11),
        ..Overrides::default()
    };
    generate_spec(profile, &overrides, out);
}

/// A data set of a profile or a spec's file.
pub(crate) fn generate_spec(profile: &str, overrides: &Overrides, out: &Path) {
    let spec = Spec::load(profile, overrides).expect("the spec is valid");
    let options = Options {
        out: out.to_owned(),
        threads: 2,
        only_files: None,
        resume: false,
    };
    bench_generator::generate(spec, &options, &Silent).expect("it is made");
}

/// The logs of a folder in batches.
pub(crate) fn batches(dataset: &Path, size: usize) -> Vec<Vec<String>> {
    let logs = bench_hl7::discover(dataset).expect("the logs are found");
    let names: Vec<String> = logs.into_iter().map(|log| log.relative).collect();
    names.chunks(size).map(<[String]>::to_vec).collect()
}

/// A worker and its lake.
pub(crate) struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    probe: LakeProbe,
}

impl Worker {
    /// Starts a worker and greets it.
    pub(crate) fn start(arguments: &[&str], dataset: &Path, lake: &Path, settings: &Value) -> Self {
        Self::try_start(arguments, dataset, lake, settings, None).expect("it is ready")
    }

    /// Starts a worker that is to be killed at some point between two effects; `None` if it died
    /// before it was ready.
    pub(crate) fn try_start(
        arguments: &[&str],
        dataset: &Path,
        lake: &Path,
        settings: &Value,
        kill_at: Option<u32>,
    ) -> Option<Self> {
        let mut child = Command::new(faulty())
            .args(arguments)
            .envs(kill_at.map(|at| ("BENCH_EMBEDDED_KILL_AT", at.to_string())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the worker starts");
        let path = lake.to_str().expect("it is text");
        let mut worker = Self {
            input: child.stdin.take().expect("it is piped"),
            output: BufReader::new(child.stdout.take().expect("it is piped")),
            child,
            probe: LakeProbe::new(path, &BTreeMap::new()).expect("it is an address"),
        };
        worker.say(&json!({
            "type": "hello", "lake": path, "dataset": dataset, "sequence": "arm-1",
            "settings": settings, "resources": { "cpus": 1 },
        }));
        let reply = worker.hear()?;
        assert_eq!(reply["type"], "ready");
        Some(worker)
    }

    fn say(&mut self, request: &Value) {
        let mut request = request.clone();
        request["protocol"] = json!(1);
        writeln!(self.input, "{request}").expect("the worker listens");
    }

    /// The next line that is no stage and no heartbeat; `None` if the worker is gone.
    fn hear(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            self.output
                .read_line(&mut line)
                .expect("the worker can be heard");
            if line.is_empty() {
                return None;
            }
            let reply: Value = serde_json::from_str(&line).expect("it speaks JSON");
            assert_eq!(reply["protocol"], 1);
            if reply["type"] != "stage" && reply["type"] != "heartbeat" {
                return Some(reply);
            }
        }
    }

    fn last_words(&mut self) -> String {
        let mut words = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut words);
        }
        words
    }

    /// Has a workflow ingested, and probes the lake.
    pub(crate) fn ingest(&mut self, workflow: u32, logs: &[String]) -> Ingested {
        let done = self.try_ingest(workflow, 1, logs);
        done.unwrap_or_else(|| panic!("the worker is gone: {}", self.last_words()))
    }

    /// The same; `None` if the worker dies.
    pub(crate) fn try_ingest(
        &mut self,
        workflow: u32,
        attempt: u32,
        logs: &[String],
    ) -> Option<Ingested> {
        self.say(&json!({
            "type": "ingest", "workflow": workflow, "attempt": attempt, "manifest": { "logs": logs },
        }));
        let reply = self.hear()?;
        assert_eq!(reply["type"], "done", "{reply}");
        let ledger: Ledger = serde_json::from_value(reply["ledger"].clone()).expect("a ledger");
        let probed = self.probe.tables();
        Some(Ingested {
            workflow,
            logs: logs.to_vec(),
            outcome: Outcome::Completed,
            ledger: Some(ledger),
            attempts: attempt,
            versions: serde_json::from_value(reply["versions"].clone()).expect("versions"),
            // A lake that was spoilt may not be readable.
            probed: probed.unwrap_or_default(),
        })
    }

    /// What is known of a workflow that was interrupted.
    pub(crate) fn interrupted(workflow: u32, attempts: u32, logs: &[String]) -> Ingested {
        Ingested {
            workflow,
            logs: logs.to_vec(),
            outcome: Outcome::Interrupted,
            ledger: None,
            attempts,
            versions: BTreeMap::new(),
            probed: Vec::new(),
        }
    }

    /// Waits for a worker that was killed.
    pub(crate) fn wait(mut self) {
        let status = self.child.wait().expect("it ends");
        assert!(!status.success(), "{}", self.last_words());
    }

    /// Lets the worker go; what it said on stderr.
    pub(crate) fn end(mut self) -> String {
        self.say(&json!({ "type": "shutdown" }));
        drop(self.input);
        let output = self.child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        told
    }
}

/// What is verified.
pub(crate) fn subject(dataset: &Path, lake: &Path, workflows: Vec<Ingested>) -> Subject {
    Subject {
        lake: lake.to_str().expect("it is text").to_owned(),
        storage: BTreeMap::new(),
        truth: Truth::Generated,
        dataset_root: dataset.to_owned(),
        workflows,
        interleaving: Interleaving::Sequential,
        ties: Ties::GreatestName,
        create_mapping: true,
        threads: 2,
    }
}

/// Copies a folder with everything in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder is made");
    for entry in std::fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("it can be listed");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("it has one").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("it is copied");
        }
    }
}
