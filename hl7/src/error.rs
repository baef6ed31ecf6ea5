//! What can go wrong before a message is reached.

use std::path::PathBuf;

/// An error of finding logs or loading a modality map. What is wrong *inside* a log is no error
/// but an outcome ([`crate::LogFailure`], [`crate::Outcome`]).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be looked at or read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The path given is a file, but not a log.
    #[error(
        "{} is not a log: give a folder, or a file whose name ends in `.log` and does not start with a dot",
        path.display()
    )]
    NotALog {
        /// The path given.
        path: PathBuf,
    },
    /// A log is something that cannot be read to its end, such as a pipe.
    #[error("{} is neither a file nor a folder: move it out of the log folder", path.display())]
    NotAFile {
        /// The path found.
        path: PathBuf,
    },
    /// A log's path is not UTF-8, so that no row key can be made of it.
    #[error("the path {} is not UTF-8: rename it, since row keys are made of it", path.display())]
    PathNotUtf8 {
        /// The path found.
        path: PathBuf,
    },
    /// Two logs of the same stem would share row keys.
    #[error(
        "the logs {} and {} have the same stem `{stem}`, so their messages would share row keys: \
         rename one, or ingest them in different batches",
        first.display(),
        second.display()
    )]
    DuplicateStem {
        /// File name without `.log`.
        stem: String,
        /// The log that comes first in byte order of the path.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A modality map is not CSV.
    #[error("the modality map {name} is not CSV: {source}")]
    ModalityCsv {
        /// File or name of the map.
        name: String,
        /// What is wrong, with the line.
        source: csv::Error,
    },
    /// A modality map has no such column.
    #[error(
        "the modality map {name} has no column `{column}`: its header must be `Exam Code,Modality`"
    )]
    ModalityColumn {
        /// File or name of the map.
        name: String,
        /// The missing column.
        column: &'static str,
    },
    /// A modality map lists a code twice, which would double the rows of its messages.
    #[error(
        "the modality map {name} lists the code `{code}` twice, again in line {line}: remove one"
    )]
    ModalityTwice {
        /// File or name of the map.
        name: String,
        /// The code.
        code: String,
        /// Line of its second mention, from 1.
        line: u64,
    },
    /// A field is not named in the way that fields are.
    #[error(
        "`{given}` names no field: write it as `PID-5`, `PID-3.4`, `OBX[2]-5` or `PID-3[2].4.1`, \
         with numbers from 1"
    )]
    FieldPath {
        /// What was given.
        given: String,
    },
}
