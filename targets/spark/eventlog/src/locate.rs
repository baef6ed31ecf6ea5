//! Finds the files of event logs: one application is one log, in one file or in a folder of files
//! that roll.
//!
//! File contents decide what is compressed how; names decide only what belongs together.

use crate::decode::{self, Codec};
use crate::error::EventLogError;
use crate::finding::Finding;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of one application's log, in the order in which Spark wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFiles {
    /// Name of the file or folder.
    pub name: String,
    /// The files, with the number that Spark gave them: 0 where the log is one file.
    pub files: Vec<(u64, PathBuf)>,
    /// What is wrong with them.
    pub findings: Vec<Finding>,
}

/// Finds the logs at a path: a file, a folder of one application's files, or a folder of logs, in the
/// order of their names.
///
/// # Errors
/// [`EventLogError`]: nothing there is a log, or it cannot be read.
pub fn locate(path: &Path) -> Result<Vec<LogFiles>, EventLogError> {
    if fs::metadata(path)
        .map_err(EventLogError::io(path))?
        .is_file()
    {
        let codec = decode::sniff(path)?;
        if codec.is_none() && fs::metadata(path).map_err(EventLogError::io(path))?.len() > 0 {
            return Err(EventLogError::NoLog {
                path: path.to_path_buf(),
            });
        }
        return Ok(vec![single(path)]);
    }
    if let Some(log) = rolling(path)? {
        return Ok(vec![log]);
    }
    let mut logs = Vec::new();
    for entry in entries(path)? {
        if entry.is_dir() {
            logs.extend(rolling(&entry)?);
        } else if sniffed(&entry)?.is_some() {
            logs.push(single(&entry));
        }
    }
    if logs.is_empty() {
        return Err(EventLogError::NoLog {
            path: path.to_path_buf(),
        });
    }
    Ok(logs)
}

/// What a file that lies beside logs is compressed with; a kind that is not read is an error there
/// too, since it may be a log.
fn sniffed(path: &Path) -> Result<Option<Codec>, EventLogError> {
    decode::sniff(path)
}

/// Everything in a folder that is not hidden: Hadoop keeps checksums in hidden files.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, EventLogError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(EventLogError::io(folder))? {
        let path = entry.map_err(EventLogError::io(folder))?.path();
        if !name(&path).starts_with('.') {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn single(path: &Path) -> LogFiles {
    LogFiles {
        name: name(path),
        files: vec![(0, path.to_path_buf())],
        findings: Vec::new(),
    }
}

/// The log in a folder, if it is that of one application.
fn rolling(folder: &Path) -> Result<Option<LogFiles>, EventLogError> {
    let mut log = LogFiles {
        name: name(folder),
        ..LogFiles::default()
    };
    let mut is_log = log.name.starts_with("eventlog_v2_");
    let mut compacted: Option<u64> = None;
    for path in entries(folder)? {
        let name = name(&path);
        is_log |= name.starts_with("appstatus_");
        if let Some(number) = number(&name) {
            is_log = true;
            if name.ends_with(".compact") {
                compacted = compacted.max(Some(number));
            }
            log.files.push((number, path));
        }
    }
    if !is_log {
        return Ok(None);
    }
    // Order of names would put 10 before 2. A compacted file stands for all up to its number.
    log.files.sort();
    if let Some(until) = compacted {
        let compact = |path: &Path| name(path).ends_with(".compact");
        log.files
            .retain(|(number, path)| *number > until || (*number == until && compact(path)));
        log.findings.push(Finding::Compacted { until });
    }
    let first = compacted.unwrap_or(1);
    let last = log.files.last().map_or(0, |(number, _)| *number);
    let there = |number: &u64| log.files.iter().any(|(one, _)| one == number);
    let missing: Vec<u64> = (first..=last.min(first + 10_000))
        .filter(|number| !there(number))
        .collect();
    if let (Some(first), Some(last)) = (missing.first(), missing.last()) {
        log.findings.push(Finding::Missing {
            first: *first,
            last: *last,
        });
    }
    Ok(Some(log))
}

/// The number in `events_<number>_<application>`.
fn number(name: &str) -> Option<u64> {
    let (number, _) = name.strip_prefix("events_")?.split_once('_')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(log: &LogFiles) -> Vec<u64> {
        log.files.iter().map(|(number, _)| *number).collect()
    }

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"{\"Event\":\"SparkListenerLogStart\"}\n").unwrap();
        }
        folder
    }

    #[test]
    fn rolling_files_are_ordered_by_number_not_by_name() {
        let files: Vec<String> = (1..=12).map(|n| format!("events_{n}_app-1.zstd")).collect();
        let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
        files.push("appstatus_app-1.inprogress");
        let folder = folder(&files);
        let logs = locate(folder.path()).unwrap();
        assert_eq!(numbers(&logs[0]), (1..=12).collect::<Vec<_>>());
        assert_eq!(logs[0].findings, []);
    }

    #[test]
    fn a_rolling_file_that_is_missing_is_named() {
        let folder = folder(&["events_1_a", "events_2_a", "events_5_a"]);
        let logs = locate(folder.path()).unwrap();
        assert_eq!(logs[0].findings, [Finding::Missing { first: 3, last: 4 }]);
    }

    #[test]
    fn a_compacted_file_stands_for_those_up_to_its_number() {
        let folder = folder(&[
            "events_1_a",
            "events_2_a",
            "events_2_a.compact",
            "events_3_a",
        ]);
        let logs = locate(folder.path()).unwrap();
        assert_eq!(numbers(&logs[0]), [2, 3]);
        assert!(logs[0].files[0].1.to_string_lossy().ends_with(".compact"));
        assert_eq!(logs[0].findings, [Finding::Compacted { until: 2 }]);
    }

    #[test]
    fn a_folder_of_logs_gives_each_application_and_passes_over_what_is_none() {
        let folder = folder(&[
            "eventlog_v2_app-2/events_1_app-2.zstd",
            "app-1",
            ".app-1.crc",
            "app-3.inprogress",
        ]);
        fs::write(folder.path().join("README"), "notes").unwrap();
        let logs = locate(folder.path()).unwrap();
        let names: Vec<&str> = logs.iter().map(|log| &*log.name).collect();
        assert_eq!(names, ["app-1", "app-3.inprogress", "eventlog_v2_app-2"]);
    }

    #[test]
    fn a_folder_without_a_log_says_what_is_allowed() {
        let folder = folder(&[]);
        let error = locate(folder.path()).unwrap_err().to_string();
        assert!(error.contains("eventlog_v2_<application>"), "{error}");
    }
}
