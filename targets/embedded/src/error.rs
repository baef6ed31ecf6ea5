//! What can go wrong, in words for the person who runs the ingest.
//!
//! Messages name files, tables, versions and positions, never what a message says of a patient.

mod trouble;

use std::path::PathBuf;

/// Why the engine could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that does not exist.
    #[error("unknown setting {key:?}{hint}; the settings are {known}")]
    UnknownSetting {
        /// The key as it was given.
        key: String,
        /// `; did you mean …?`, or nothing.
        hint: String,
        /// All keys.
        known: String,
    },
    /// A setting's value that cannot be read or is out of range.
    #[error("setting {key} = {value:?}: {allowed} is allowed")]
    InvalidSetting {
        /// The setting.
        key: &'static str,
        /// The value as it was given.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A lake location that is neither a path nor an `s3://` address this build can open.
    #[error("lake {location:?} cannot be opened: {reason}")]
    Location {
        /// The location as it was given.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Two messages of one workflow would have the same row key.
    #[error(
        "message {source_file} is listed twice in one workflow; give every log a stem of its own"
    )]
    DuplicateSource {
        /// The staged name.
        source_file: String,
    },
    /// An identifier column whose name cannot be a column of the tables.
    #[error(
        "message {ordinal} of {file}: a patient id makes a column whose name the tables cannot \
         hold ({reason}); the workflow is refused as the platform refuses it, remove the message"
    )]
    Identifier {
        /// The log.
        file: String,
        /// Number of the message within the log, from 0.
        ordinal: u32,
        /// What is wrong with the name, without the name.
        reason: String,
    },
    /// Logs could not be listed.
    #[error(transparent)]
    Logs(#[from] bench_hl7::Error),
    /// A table whose features this engine cannot write.
    #[error(
        "table {table} cannot be written: it needs {features}, which this engine does not honour; \
         use another lake or a target that does"
    )]
    Unsupported {
        /// The table.
        table: &'static str,
        /// The features, properties or versions in its way.
        features: String,
    },
    /// A table whose columns are not those of the platform.
    #[error("table {table} has another schema: {reason}; use another lake")]
    Schema {
        /// The table.
        table: &'static str,
        /// Which column, and how it differs.
        reason: String,
    },
    /// Other writers were faster too many times.
    #[error(
        "table {table}: other writers committed first {attempts} times in a row; \
         run fewer workers on this lake or try again"
    )]
    Contention {
        /// The table.
        table: &'static str,
        /// Attempts made.
        attempts: u32,
    },
    /// A file that the derivation of a table needs is gone.
    #[error(
        "table {table}: {path} of version {version} is needed to bring its followers up to date \
         and is gone; it was vacuumed before the workflow that wrote it was completed"
    )]
    Vacuumed {
        /// The source table.
        table: &'static str,
        /// The data file.
        path: String,
        /// The version that added it.
        version: i64,
    },
    /// A log entry that cannot be understood.
    #[error("table {table}: commit {version} cannot be read: {reason}")]
    Commit {
        /// The table.
        table: &'static str,
        /// Its version.
        version: i64,
        /// What is wrong.
        reason: String,
    },
    /// Reading or writing the lake failed.
    #[error("table {table}: {action} {path}: {source}{hint}", hint = trouble::hint(source.as_ref()))]
    Storage {
        /// The table.
        table: &'static str,
        /// What was tried.
        action: &'static str,
        /// The file within the table.
        path: String,
        /// What the store said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A local file outside the tables.
    #[error("{action} {path}: {source}{hint}", path = path.display(), hint = trouble::hint(source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A log or a checkpoint that the Delta library cannot make a table of.
    #[error(
        "table {table}: its log cannot be used: {reason}; repair the table or use another lake"
    )]
    Log {
        /// The table.
        table: &'static str,
        /// What is wrong, without anything that the log says of rows.
        reason: String,
    },
    /// The Delta library could not reach the table's files.
    #[error("table {table}: {source}{hint}", hint = trouble::hint(source.as_ref()))]
    Delta {
        /// The table.
        table: &'static str,
        /// What the library said.
        source: Box<deltalake::DeltaTableError>,
    },
    /// Arrow or Parquet failed.
    #[error("table {table}: {action}: {source}")]
    Columns {
        /// The table.
        table: &'static str,
        /// What was tried.
        action: &'static str,
        /// What the library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The worker was told something that it cannot follow.
    #[error("protocol: {0}")]
    Protocol(String),
}

/// Result of the engine.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether a new attempt may succeed without anybody changing this lake or its access: a disk
    /// may have room by then and a store may answer, but a folder that is read-only stays so.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Contention { .. } => true,
            Self::Storage { source, .. } => !trouble::lasts(source.as_ref()),
            Self::Delta { source, .. } => !trouble::lasts(source.as_ref()),
            Self::Io { source, .. } => !trouble::lasts(source),
            _ => false,
        }
    }

    pub(crate) fn columns(
        table: &'static str,
        action: &'static str,
    ) -> impl FnOnce(arrow::error::ArrowError) -> Self {
        move |source| Self::Columns {
            table,
            action,
            source: Box::new(source),
        }
    }

    pub(crate) fn parquet(
        table: &'static str,
        action: &'static str,
    ) -> impl FnOnce(parquet::errors::ParquetError) -> Self {
        move |source| Self::Columns {
            table,
            action,
            source: Box::new(source),
        }
    }

    /// What the Delta library said. Log entries hold the least and the greatest values of a file's
    /// columns, and some of the library's errors quote the log, so those are told in other words.
    pub(crate) fn delta(table: &'static str) -> impl FnOnce(deltalake::DeltaTableError) -> Self {
        move |source| match source {
            source if trouble::is_of_the_store(&source) => Self::Delta {
                table,
                source: Box::new(source),
            },
            source => Self::Log {
                table,
                reason: trouble::told(&source),
            },
        }
    }

    pub(crate) fn storage(
        table: &'static str,
        action: &'static str,
        path: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Storage {
            table,
            action,
            path: path.into(),
            source: source.into(),
        }
    }
}
