//! `bench import`: what somebody measured by hand, as a run directory.
//!
//! ```text
//! durations.csv ──┐
//!                 ├──► workflows.csv, tables.csv, run.json with status `imported`
//! facts.toml ─────┘
//! ```
//!
//! Old evidence is then read, shown and compared like a run of this bench. What was not written down
//! stays unknown: nothing is filled in, and such a run never counts as verified.

mod durations;
mod facts;
mod write;

use std::path::{Path, PathBuf};

/// What keeps figures from being imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The facts are not written as they must be.
    #[error("{} cannot be used: {reason}", path.display())]
    Facts {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// The durations are not written as they must be.
    #[error("{}{}: {reason}", path.display(), line.map_or(String::new(), |line| format!(", line {line}")))]
    Durations {
        /// The file.
        path: PathBuf,
        /// Its line, where one is at fault.
        line: Option<u64>,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// The place of the run directory is taken.
    #[error("{} is there already; name a folder that is not", .0.display())]
    Taken(PathBuf),
}

/// Makes a run directory of durations and facts, and hands over how many workflows have a duration.
///
/// # Errors
/// [`ImportError`]; nothing is left behind.
pub fn import(durations: &Path, facts: &Path, out: &Path) -> Result<usize, ImportError> {
    let facts = facts::read(facts)?;
    let rows = durations::read(durations, &facts)?;
    write::write(&facts, &rows, out)?;
    Ok(rows.iter().filter(|row| row.seconds.is_some()).count())
}
