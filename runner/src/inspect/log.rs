//! A log in memory, and what is to be said of it as a whole.

use crate::error::Error;
use bench_hl7::{LogDate, LogFailure, LogPath, Message, split};
use serde::Serialize;
use std::path::Path;

/// A file read as a log, whatever its name.
#[derive(Debug)]
pub struct Log {
    file: LogPath,
    is_named_log: bool,
    bytes: Vec<u8>,
}

/// What a view says of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogFacts {
    /// The file as it was named.
    pub file: String,
    /// Its size.
    pub bytes: usize,
    /// Its day by its name, `YYYY-MM-DD`.
    pub day: Option<String>,
    /// Why an ingest would take nothing from it, if so.
    pub failure: Option<String>,
}

impl Log {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Read`] if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::new(path, bytes))
    }

    /// A log of this name and content.
    #[must_use]
    pub fn new(path: &Path, bytes: Vec<u8>) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix(".log");
        Self {
            is_named_log: stem.is_some() && !name.starts_with('.'),
            file: LogPath {
                path: path.to_owned(),
                relative: name.to_string(),
                stem: stem.unwrap_or(&name).to_owned(),
                date: LogDate::from_name(&name),
            },
            bytes,
        }
    }

    /// Its messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        split(&self.bytes)
    }

    /// The message of this number.
    ///
    /// # Errors
    /// [`Error::NoSuchMessage`] if there are not as many.
    pub fn message(&self, number: u32) -> Result<Message<'_>, Error> {
        self.messages()
            .nth(number as usize)
            .ok_or_else(|| Error::NoSuchMessage {
                path: self.file.path.clone(),
                number,
                count: self.messages().count(),
            })
    }

    /// Its day, if the name has one.
    #[must_use]
    pub fn date(&self) -> Option<LogDate> {
        self.file.date
    }

    /// Under which name a message would be staged.
    #[must_use]
    pub fn source_file(&self, number: u32) -> Option<String> {
        self.file.source_file(number)
    }

    /// What is to be said of the log as a whole.
    #[must_use]
    pub fn facts(&self) -> LogFacts {
        let failure = if self.messages().next().is_none() {
            Some(LogFailure::NoMessages.to_string())
        } else if self.date().is_none() {
            Some(LogFailure::NoDate.to_string())
        } else if !self.is_named_log {
            Some("is not named `*.log`, or starts with a dot: an ingest passes it by".to_owned())
        } else {
            None
        };
        LogFacts {
            file: self.file.path.display().to_string(),
            bytes: self.bytes.len(),
            day: self.date().map(|date| date.to_string().replace('/', "-")),
            failure,
        }
    }
}
