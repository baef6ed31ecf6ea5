//! What is wrong with an event log, beside its figures: said by file and line, without content.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How many findings of a log are told one by one; the others are counted.
pub(crate) const TOLD: usize = 20;

/// Something that a reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// The log does not say that its application ended: it still runs, or was killed. What it had
    /// not written is in no figure.
    Unfinished,
    /// A file ends inside a line or a compressed block.
    Cut {
        /// Name of the file.
        file: String,
        /// The line that is not whole, from 1.
        line: u64,
    },
    /// The compressed bytes of a file are damaged; nothing behind that place is read.
    Damaged {
        /// Name of the file.
        file: String,
        /// The last line that could be begun, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A line is not JSON.
    NotJson {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The byte of the line, from 1.
        column: u64,
    },
    /// A line is JSON, but not the event that it says it is.
    NotUnderstood {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The event's name.
        event: String,
        /// The byte of the line, from 1.
        column: u64,
    },
    /// Files of a rolling log are missing.
    Missing {
        /// Number of the first one.
        first: u64,
        /// Number of the last one.
        last: u64,
    },
    /// Spark has compacted the first files of a rolling log: events of finished jobs are gone.
    Compacted {
        /// Number of the last file that was.
        until: u64,
    },
    /// Further lines that are not JSON or not understood.
    More {
        /// How many.
        lines: u64,
    },
    /// No event is in the log.
    Empty,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished => write!(
                f,
                "unfinished: its application has not ended or was killed, and what it had not \
                 written is in no figure"
            ),
            Self::Cut { file, line } => write!(f, "{file} ends inside line {line}"),
            Self::Damaged { file, line, reason } => write!(
                f,
                "{file} is damaged at line {line}: {reason}; nothing behind it was read"
            ),
            Self::NotJson { file, line, column } => {
                write!(
                    f,
                    "{file}:{line}:{column}: the line is not JSON; it is in no figure"
                )
            }
            Self::NotUnderstood {
                file,
                line,
                event,
                column,
            } => write!(
                f,
                "{file}:{line}:{column}: the line is not a {event} as Spark writes it; it is in no \
                 figure"
            ),
            Self::Missing { first, last } if first == last => {
                write!(f, "file {first} of the rolling log is missing")
            }
            Self::Missing { first, last } => {
                write!(f, "files {first} to {last} of the rolling log are missing")
            }
            Self::Compacted { until } => write!(
                f,
                "files 1 to {until} were compacted by Spark: the events of jobs that had ended are gone"
            ),
            Self::More { lines } => write!(f, "{lines} more lines could not be read"),
            Self::Empty => write!(f, "it holds no event"),
        }
    }
}
