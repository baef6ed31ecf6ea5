//! What can go wrong in a command, and which exit code it leaves with.

use crate::exit::Exit;
use std::error::Error as _;
use std::io;
use std::path::PathBuf;

/// Why a command could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output could not be written.
    #[error("failed to write the output")]
    Output(#[source] io::Error),
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A modality map cannot be used.
    #[error(transparent)]
    Hl7(#[from] bench_hl7::Error),
    /// A log has fewer messages.
    #[error("{} has {count} messages, numbered from 0: there is no message {number}", path.display())]
    NoSuchMessage {
        /// The log.
        path: PathBuf,
        /// What was asked for.
        number: u32,
        /// How many there are.
        count: usize,
    },
    /// There is no such command.
    #[error("there is no command `{name}`; the commands are {known}")]
    UnknownCommand {
        /// What was asked for.
        name: String,
        /// What could be asked for.
        known: String,
    },
}

impl Error {
    /// The exit code that this error leads to.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Output(_) => Exit::Unavailable,
            Self::Read { .. }
            | Self::Hl7(_)
            | Self::NoSuchMessage { .. }
            | Self::UnknownCommand { .. } => Exit::Usage,
        }
    }

    /// Whether the reader of our output has left.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The error and what caused it, on one line.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}
