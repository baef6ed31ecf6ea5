//! Suites: several scenarios, carried out one after the other, or shared out among machines.
//!
//! ```text
//! file ──► read ──► shard ──► carry ──► suite.json
//!          keys,    which     one run   what became
//!          the      are done  directory of each
//!          scenarios here     each
//! ```
//!
//! A suite says only what is carried out and how it is shared out: everything about a run is its
//! scenario's. It is read as strictly as one, its scenarios with it, so that a night does not fail at
//! its last hour for a word. What a suite leaves out: order between scenarios that depend on each
//! other, and any judgement of their figures; that is the gate's.

mod carry;
mod read;
mod record;
mod shard;

pub use carry::{Asked, carry};
pub use read::parse;
pub use record::{Entry, Record, SUITE_FILE, State};
pub use shard::{Shard, share};

use crate::error::Error;
use crate::scenario::{Loaded, ScenarioError, write_faults};
use std::fmt;
use std::path::{Path, PathBuf};

/// Version of a suite file's form.
const FORMAT: u64 = 1;

/// A suite with its scenarios, read and checked.
#[derive(Clone, Debug)]
pub struct Suite {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub about: Option<String>,
    /// Its file.
    pub path: PathBuf,
    /// What is carried out, in the order of the file; at least one, each with a name of its own.
    pub scenarios: Vec<Member>,
}

impl Suite {
    /// The scenarios of a part of it, or all, in the order of the file.
    #[must_use]
    pub fn in_shard(&self, shard: Option<Shard>) -> Vec<&Member> {
        let Some(shard) = shard else {
            return self.scenarios.iter().collect();
        };
        let seconds: Vec<f64> = self.scenarios.iter().map(|member| member.seconds).collect();
        let places = shard.of(&seconds);
        places.into_iter().map(|at| &self.scenarios[at]).collect()
    }
}

/// A scenario of a suite.
#[derive(Clone, Debug)]
pub struct Member {
    /// The scenario's name or file, as `bench run` takes it.
    pub named: String,
    /// What the suite, and then the command line, lays over it: dotted keys and values.
    pub sets: Vec<(String, String)>,
    /// The scenario.
    pub loaded: Loaded,
    /// Seconds that it is expected to take: as the suite says, or as the plan estimates.
    pub seconds: f64,
}

impl Member {
    /// The name by which the suite, its runs and its baselines know it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.loaded.scenario.name
    }
}

/// Reads a suite's file, with `sets` (dotted key and value) laid over each of its scenarios.
///
/// # Errors
/// A file that cannot be read; everything that is wrong with it and with its scenarios, at once.
pub fn load(path: &Path, sets: &[(String, String)]) -> Result<Suite, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_path_buf(),
        source,
    })?;
    parse(&text, path, sets)
}

/// Everything that is wrong with a suite, at least one thing, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteErrors(Vec<ScenarioError>);

impl SuiteErrors {
    /// Each of them.
    #[must_use]
    pub fn all(&self) -> &[ScenarioError] {
        &self.0
    }
}

impl fmt::Display for SuiteErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_faults(f, "suite", &self.0)
    }
}

impl std::error::Error for SuiteErrors {}
