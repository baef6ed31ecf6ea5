//! `events.jsonl`: appended to, one write before the effect that it announces.

use super::event::{Event, Record};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Name of the file in a run directory.
pub const EVENTS_FILE: &str = "events.jsonl";

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system says no.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line in the middle is no event.
    #[error(
        "{}:{line} is no event ({reason}); the file was written by another version or damaged, and this run cannot be read",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl JournalError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

/// Writes events.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    line: Vec<u8>,
}

impl Journal {
    /// Begins the journal of a new run.
    ///
    /// # Errors
    /// [`JournalError::Io`], also if there is one already.
    pub fn create(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(EVENTS_FILE);
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(JournalError::io("create", &path))?;
        Ok(Self {
            path,
            file,
            line: Vec::new(),
        })
    }

    /// Carries on with a journal. A last line that was not written to its end is cut off: nothing
    /// that it announced has happened.
    ///
    /// # Errors
    /// [`JournalError::Io`]
    pub fn resume(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(EVENTS_FILE);
        let content = std::fs::read(&path).map_err(JournalError::io("read", &path))?;
        let whole = content
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(JournalError::io("open", &path))?;
        file.set_len(whole as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(JournalError::io("write", &path))?;
        Ok(Self {
            path,
            file,
            line: Vec::new(),
        })
    }

    /// Writes an event of the time `t`, in seconds on the run's clock.
    ///
    /// # Errors
    /// [`JournalError::Io`]
    pub fn write(&mut self, t: f64, event: Event) -> Result<(), JournalError> {
        let record = Record {
            t: microseconds(t),
            wall: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            event,
        };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &record)
            .map_err(|error| JournalError::io("write", &self.path)(error.into()))?;
        self.line.push(b'\n');
        self.file
            .write_all(&self.line)
            .map_err(JournalError::io("write", &self.path))
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// [`JournalError::Io`]
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file
            .sync_data()
            .map_err(JournalError::io("write", &self.path))
    }
}

/// Times are kept to the microsecond.
fn microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// Reads every event of a run in order. A last line that was not written to its end is none.
///
/// # Errors
/// [`JournalError`]; those of `each`.
pub fn read_events<E: From<JournalError>>(
    folder: &Path,
    mut each: impl FnMut(Record) -> Result<(), E>,
) -> Result<(), E> {
    let path = folder.join(EVENTS_FILE);
    let file = File::open(&path).map_err(JournalError::io("read", &path))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.read_until(b'\n', &mut line);
        read.map_err(JournalError::io("read", &path))?;
        if line.pop() != Some(b'\n') {
            break;
        }
        let record = serde_json::from_slice(&line).map_err(|error| JournalError::Damaged {
            path: path.clone(),
            line: number,
            reason: error.to_string(),
        })?;
        each(record)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RunStatus;

    fn ended() -> Event {
        Event::RunEnded {
            status: RunStatus::Completed,
        }
    }

    fn times(folder: &Path) -> Result<Vec<f64>, JournalError> {
        let mut times = Vec::new();
        read_events(folder, |record| {
            times.push(record.t);
            Ok::<_, JournalError>(())
        })?;
        Ok(times)
    }

    #[test]
    fn a_line_that_was_cut_is_no_event_and_the_next_one_stands_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(folder.path()).unwrap();
        journal.write(1.0, ended()).unwrap();
        journal.write(2.000_000_4, ended()).unwrap();
        drop(journal);
        let path = folder.path().join(EVENTS_FILE);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        assert_eq!(times(folder.path()).unwrap(), [1.0]);
        let mut journal = Journal::resume(folder.path()).unwrap();
        journal.write(3.0, ended()).unwrap();
        assert_eq!(times(folder.path()).unwrap(), [1.0, 3.0]);
    }

    #[test]
    fn a_line_in_the_middle_that_is_no_event_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(EVENTS_FILE), "{}\n").unwrap();
        let error = times(folder.path()).unwrap_err().to_string();
        assert!(error.contains("events.jsonl:1 is no event"), "{error}");
    }

    #[test]
    fn a_journal_is_never_begun_over_another() {
        let folder = tempfile::tempdir().unwrap();
        Journal::create(folder.path()).unwrap();
        assert!(Journal::create(folder.path()).is_err());
    }
}
