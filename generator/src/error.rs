//! What can go wrong while a data set is specified, made or looked up.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of the generator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spec is not valid TOML, has an unknown key, or a value that is not allowed.
    #[error("{place}: {what}")]
    Spec {
        /// Source, line and key, as far as known.
        place: String,
        /// What is wrong, and what is allowed.
        what: String,
    },
    /// No profile and no file of this name.
    #[error("there is no profile `{name}`: shipped are {shipped}; a file is given by its path")]
    UnknownProfile {
        /// The name asked for.
        name: String,
        /// The names of the shipped profiles.
        shipped: String,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as in "cannot …".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Something stands where the data set should be written.
    #[error("{}: {what}", path.display())]
    Target {
        /// The output folder.
        path: PathBuf,
        /// What stands there, and what to do.
        what: String,
    },
    /// A folder is no data set, or not one of this generator.
    #[error("{}: {what}", path.display())]
    Dataset {
        /// The folder.
        path: PathBuf,
        /// What is missing or different.
        what: String,
    },
    /// The data set has no such log or message.
    #[error("{what}")]
    NoSuchMessage {
        /// What was asked for and what there is.
        what: String,
    },
    /// The truth file could not be written or read.
    #[error("cannot {action} the truth in {}: {source}", path.display())]
    Truth {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: parquet::errors::ParquetError,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    pub(crate) fn spec(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Spec {
            place: place.into(),
            what: what.into(),
        }
    }
}
