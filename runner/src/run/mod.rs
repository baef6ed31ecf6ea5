//! `bench run`: a scenario carried out.
//!
//! ```text
//! scenario ──► dataset ──► for each arm: conductor ──► verify ──► report
//!              cache or      world: worker processes,    from
//!              folder        clock, probe; journal       outside
//! ```
//!
//! Everything that happens is in the journal before anything follows from it, so that a run whose
//! runner was killed is resumed from there.

mod again;
mod arm;
mod conductor;
mod dataset;
mod error;
mod folder;
mod hand;
mod progress;
mod real;
mod recover;
mod reporting;
mod session;
mod spark;
mod verifying;
mod world;

#[cfg(test)]
mod play;

use crate::doctor::{Machine, cache_dir};
use crate::error::Error;
use std::path::{Path, PathBuf};

pub use again::verify_again;
pub use conductor::{Arm, ConductError, Conductor};
pub use error::RunError;
pub(crate) use folder::{REPORT_FILE, fresh, lock, standing, wall, write_whole};
pub(crate) use session::exit_of;
pub use session::{Finished, Options, resume, start};
pub use world::{Cost, Happening, Sent, StartError, Started, Usage, World};

/// Where generated data sets are kept: in the folder that was asked for, or in the user's cache.
///
/// # Errors
/// [`Error::NoCache`]
pub(crate) fn datasets(asked: Option<&Path>) -> Result<PathBuf, Error> {
    match asked {
        Some(folder) => Ok(folder.to_path_buf()),
        None => Ok(cache_dir(&Machine).ok_or(Error::NoCache)?.join("datasets")),
    }
}

/// The program `bench`, which is its own worker and launcher.
///
/// # Errors
/// [`Error::Launch`]
pub(crate) fn program() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(Error::Launch)
}
