//! What keeps a report from being made.

use std::path::{Path, PathBuf};

/// What keeps a report from being made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not what it must be.
    #[error("{} cannot be used: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// A query over frames failed: a fault of this crate, never of a run directory.
    #[error(
        "a query over the run's frames failed; this is a fault of the report, please report it"
    )]
    Query(#[from] polars::error::PolarsError),
}

impl ReportError {
    pub(crate) fn file(path: &Path, reason: impl Into<String>) -> Self {
        Self::File {
            path: path.to_path_buf(),
            reason: reason.into(),
        }
    }
}
