//! A suite carried out: each scenario in its turn and in a run directory of its own. One that fails
//! does not keep the next from running; an interrupt does.
//!
//! The run directories are the truth: `suite.json` only says which there are. So a suite whose runner
//! was killed is carried on with from the run directory that it left.

use super::record::{Entry, Record, State};
use super::{Member, SUITE_FILE, Shard, Suite};
use crate::error::{Error, chain};
use crate::record::RunStatus;
use crate::run::{self, Finished, Options, RunError};
use crate::terminal::Terminal;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Run directories of a suite, in its folder.
const RUNS: &str = "runs";

/// How a suite is carried out.
pub struct Asked<'a> {
    /// The suite's folder.
    pub folder: &'a Path,
    /// Which part of it.
    pub shard: Option<Shard>,
    /// Whether what stands in the folder is carried on with.
    pub resume: bool,
    /// Whether progress is kept quiet about.
    pub quiet: bool,
    /// How one of its scenarios is run whose run directory is made in a folder.
    pub options: &'a dyn Fn(&Member, PathBuf) -> Options,
}

/// Carries out a suite, or a part of it.
///
/// # Errors
/// A folder that cannot be used. What a scenario fails with stands in the record.
pub fn carry(suite: &Suite, asked: &Asked<'_>, terminal: &Terminal) -> Result<Record, Error> {
    let folder = asked.folder;
    std::fs::create_dir_all(folder).map_err(|source| Error::Write {
        path: folder.to_path_buf(),
        source,
    })?;
    let _lock = run::lock(&folder.join(".lock"), false)?;
    let mut record = begin(suite, asked)?;
    record.write(folder)?;
    let runs = folder.join(RUNS);
    let members = suite.in_shard(asked.shard);
    for (at, member) in members.iter().copied().enumerate() {
        if record.scenarios[at].is_done() {
            continue;
        }
        if !asked.quiet {
            let line = format!("[{}/{}] {}", at + 1, members.len(), member.name());
            // Nobody is left to be told if this fails.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        let began = matches!(
            record.scenarios[at].state,
            State::Running | State::Interrupted
        );
        let left = latest(&runs, member.name()).filter(|_| began);
        record.scenarios[at].state = State::Running;
        record.write(folder)?;
        let start = Instant::now();
        let options = (asked.options)(member, runs.clone());
        let outcome = match left {
            // Its runner was killed just before it could say so here.
            Some((run, status)) if State::from(status).is_final() => Ok(Finished {
                folder: run,
                status,
                exit: run::exit_of(status),
                findings: Vec::new(),
            }),
            Some((run, _)) => run::resume(&run, &options, terminal),
            None => run::start(&member.loaded, &options, terminal),
        };
        let entry = &mut record.scenarios[at];
        entry.seconds = Some(entry.seconds.unwrap_or(0.0) + start.elapsed().as_secs_f64());
        note(entry, outcome, &runs, asked.quiet);
        record.write(folder)?;
        if record.scenarios[at].state == State::Interrupted {
            break;
        }
    }
    record.ended = Some(run::wall());
    record.exit = Some(record.gravest().code());
    record.write(folder)?;
    Ok(record)
}

/// The record to begin with: a new one, or that of the folder.
fn begin(suite: &Suite, asked: &Asked<'_>) -> Result<Record, Error> {
    let fresh = Record::new(suite, asked.shard, run::wall());
    let wrong = |reason: &str| {
        Err(Error::SuiteFolder {
            path: asked.folder.to_path_buf(),
            reason: reason.to_owned(),
        })
    };
    let has = |name| asked.folder.join(name).exists();
    match (has(SUITE_FILE), asked.resume) {
        (false, false) if has(RUNS) => wrong("holds runs already; name another folder with --out"),
        (false, false) => Ok(fresh),
        (false, true) => wrong(
            "holds no suite that could be carried on with; name its folder with --out, or begin one \
             without --resume",
        ),
        (true, false) => wrong(
            "holds a suite already; carry on with it with --resume, or name another folder with --out",
        ),
        (true, true) => {
            let mut record = Record::read(asked.folder)?;
            if !record.is_like(&fresh) {
                return wrong(
                    "holds another suite, another part of it, or the same before its file was \
                     changed; begin a new one in another folder with --out",
                );
            }
            record.ended = None;
            record.exit = None;
            for entry in &mut record.scenarios {
                if !entry.is_done() {
                    entry.exit = None;
                    entry.findings.clear();
                }
            }
            Ok(record)
        }
    }
}

/// Notes what became of a scenario.
fn note(entry: &mut Entry, outcome: Result<Finished, RunError>, runs: &Path, quiet: bool) {
    match outcome {
        Ok(finished) => {
            entry.state = finished.status.into();
            entry.exit = Some(finished.exit.code());
            entry.run = Some(within(&finished.folder));
            entry.findings = finished.findings;
        }
        Err(error) => {
            // One that ended within its run directory has left it there.
            let left = latest(runs, &entry.name);
            entry.state = match left {
                Some(_) => State::Failed,
                None => State::Refused,
            };
            entry.run = left.map(|(run, _)| within(&run));
            entry.exit = Some(error.exit().code());
            entry.findings = vec![chain(&error)];
        }
    }
    if !quiet {
        for finding in &entry.findings {
            let _ = writeln!(std::io::stderr(), "{}: {finding}", entry.name);
        }
    }
}

/// A run directory from the suite's folder.
fn within(run: &Path) -> String {
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    format!("{RUNS}/{name}")
}

/// The latest run of a scenario, and how it stands.
fn latest(runs: &Path, scenario: &str) -> Option<(PathBuf, RunStatus)> {
    let entries = std::fs::read_dir(runs).ok()?;
    let mut found: Vec<(PathBuf, RunStatus)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let (name, status) = run::standing(&path).ok()?;
            (name == scenario).then_some((path, status))
        })
        .collect();
    // Their names begin with when they began.
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.pop()
}
