//! A small scenario, and what a run of it left behind.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Six workflows of four logs, all on one lake.
pub(crate) const SMALL: &str = r#"
format = 1
name = "small"

[dataset]
messages = 300
log_files = 24
seed = 7
profile = "webs"

[sequence]
files_per_workflow = 4
retry = { max_attempts = 5, initial = "10ms", factor = 1, max = "10ms" }

[settings]
adaptive = false
shuffle_partitions = 4
"#;

/// A folder in which runs are made. The data sets of all tests are kept in one cache.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

impl Bench {
    /// A folder with a scenario `s.toml`.
    pub(crate) fn new(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("COLUMNS", "120")
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn bench(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the scenario with further arguments; the exit code and what was said.
    pub(crate) fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut all = vec!["run", "s.toml"];
        all.extend(arguments);
        told(&self.bench(&all))
    }

    /// Begins to run the scenario.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(&["run", "s.toml"]);
        command.args(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// The run directory, if there is one.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.path().join("runs")).ok()?;
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        assert!(found.len() <= 1, "one run is made in a test's folder");
        found.pop()
    }

    pub(crate) fn only_run(&self) -> Records {
        Records(self.find().expect("a run directory"))
    }
}

/// Exit code, and standard output after standard error.
pub(crate) fn told(output: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    (output.status.code(), text.into_owned())
}

/// A run directory.
pub(crate) struct Records(pub(crate) PathBuf);

pub(crate) type Row = BTreeMap<String, String>;

impl Records {
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    pub(crate) fn rows(&self, name: &str) -> Vec<Row> {
        let text = self.text(name);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.deserialize().map(Result::unwrap).collect()
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.0.join("events.jsonl")).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(crate) fn status(&self) -> String {
        self.json("run.json")["status"].as_str().unwrap().to_owned()
    }

    /// Names of the checks that failed, with their tables.
    pub(crate) fn failed_checks(&self) -> Vec<String> {
        let verification = self.json("verification.json");
        let arms = verification["arms"].as_array().unwrap();
        let checks = arms
            .iter()
            .flat_map(|arm| arm["checks"].as_array().unwrap());
        checks
            .filter(|check| check["passed"] == false)
            .map(|check| format!("{} {}", check["name"], check["table"]))
            .collect()
    }

    /// Every arm was verified and passed.
    pub(crate) fn assert_verified(&self, arms: usize) {
        let verification = self.json("verification.json");
        assert_eq!(verification["arms"].as_array().unwrap().len(), arms);
        assert_eq!(self.failed_checks(), Vec::<String>::new());
    }

    /// Every attempt stands in the records, and each workflow has exactly one that completed.
    pub(crate) fn assert_complete(&self, workflows: usize) {
        let attempts = self.rows("attempts.csv");
        let rows = self.rows("workflows.csv");
        assert_eq!(rows.len(), workflows);
        for row in rows {
            assert_eq!(row["status"], "completed", "workflow {}", row["workflow"]);
            let own: Vec<&Row> = attempts
                .iter()
                .filter(|one| {
                    one["workflow"] == row["workflow"] && one["variant"] == row["variant"]
                })
                .collect();
            assert_eq!(own.len().to_string(), row["attempts"]);
            let numbers: Vec<usize> = own
                .iter()
                .map(|one| one["attempt"].parse().unwrap())
                .collect();
            assert_eq!(numbers, (1..=own.len()).collect::<Vec<_>>());
            let (last, before) = own.split_last().unwrap();
            assert_eq!(last["outcome"], "completed");
            assert!(
                before
                    .iter()
                    .all(|one| one["outcome"] == "lost" || one["outcome"] == "failed")
            );
        }
    }
}
