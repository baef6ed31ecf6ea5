//! `bench doctor`: what this machine can do, and what each missing thing would enable.
//!
//! Three steps, apart so that each can be tested without the machine: a [`Probe`] looks, [`Facts`]
//! are what was found, [`checks`] judge them. Nothing is installed or changed, and a missing thing
//! is an answer, not a failure.

mod cgroup;
mod checks;
mod facts;
mod probe;
mod text;

pub use cgroup::{Cgroup, CgroupVersion};
pub use checks::{Check, State, checks};
pub use facts::{Facts, Found, Java, MachineFacts, Place, cache_dir};
pub use probe::{Machine, Probe, Space};
pub use text::render;

use serde::Serialize;

/// What `bench doctor --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// Version of this format.
    pub format: u32,
    /// What was found.
    pub facts: Facts,
    /// What it means.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// Looks at a machine and judges it.
    #[must_use]
    pub fn of(probe: &dyn Probe) -> Self {
        let facts = Facts::gather(probe);
        let checks = checks(&facts);
        Self {
            format: 1,
            facts,
            checks,
        }
    }
}
