//! Which files are logs, and in which order they are ingested.
//!
//! The order decides which log falls into which batch, so it is a property of the names alone:
//! byte order of the path relative to the folder given, never the order of the file system.
//!
//! Links are followed, as a log folder is often put together from links; a folder that was
//! reached before, or that contains itself, is entered once.

use crate::Error;
use crate::source::{LogDate, SourceFile};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// A log that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPath {
    /// Where it is.
    pub path: PathBuf,
    /// Path relative to the folder that was searched, with `/` between its parts.
    pub relative: String,
    /// File name without `.log`; unique among the logs found together.
    pub stem: String,
    /// Day of the log by its name. Without one the log fails
    /// ([`LogFailure::NoDate`](crate::LogFailure::NoDate)).
    pub date: Option<LogDate>,
}

impl LogPath {
    /// A log by its path relative to the folder searched; `None` where the name is no log's.
    fn new(path: PathBuf, relative: String) -> Option<Self> {
        let name = relative.rsplit('/').next().unwrap_or(&relative);
        let stem = name.strip_suffix(".log")?;
        if name.starts_with('.') {
            return None;
        }
        Some(Self {
            stem: stem.to_owned(),
            date: LogDate::from_name(stem),
            path,
            relative,
        })
    }

    /// The `source_file` of one of the log's messages, relative to the staging root, by its
    /// ordinal: `YYYY/<stem>.zip/YYYY/MM/DD/<stem>_<ordinal>.hl7`. `None` for a log without a
    /// date, whose messages are staged nowhere.
    #[must_use]
    pub fn source_file(&self, ordinal: u32) -> Option<String> {
        let mut name = String::new();
        self.write_source_file(ordinal, &mut name).then_some(name)
    }

    /// Appends to `out` what [`Self::source_file`] gives, so that a caller can put a staging root
    /// before it and keep the buffer; `false`, with nothing written, for a log without a date.
    pub fn write_source_file(&self, ordinal: u32, out: &mut String) -> bool {
        use std::fmt::Write;
        let Some(date) = self.date else { return false };
        let stem = &self.stem;
        write!(
            out,
            "{}",
            SourceFile {
                stem,
                date,
                ordinal
            }
        )
        .expect("writing to a string works");
        true
    }
}

/// Every log under a folder, or the one log given: files named `*.log` that do not start with a
/// dot, at any depth, in byte order of their path relative to `root`.
///
/// # Errors
/// - [`Error::DuplicateStem`]: two logs of one stem in different folders
/// - [`Error::NotALog`]: `root` is a file whose name is no log's
/// - [`Error::Io`], [`Error::PathNotUtf8`], [`Error::NotAFile`]
pub fn discover(root: &Path) -> Result<Vec<LogPath>, Error> {
    let metadata = metadata(root)?;
    if !metadata.is_dir() {
        let name = root.file_name().unwrap_or_default();
        let name = name.to_str().ok_or_else(|| not_utf8(root))?;
        let log = LogPath::new(root.to_owned(), name.to_owned()).ok_or_else(|| Error::NotALog {
            path: root.to_owned(),
        })?;
        check_is_file(root, &metadata)?;
        return Ok(vec![log]);
    }
    let mut logs = walk(root)?;
    logs.sort_unstable_by(|a, b| a.relative.as_bytes().cmp(b.relative.as_bytes()));
    refuse_shared_stems(&logs)?;
    Ok(logs)
}

/// A folder that is yet to be entered.
struct Folder {
    path: PathBuf,
    relative: String,
}

/// The logs under a folder, in no order. Works off a queue: the depth of strangers' folders must
/// not be the depth of a call stack. Linked folders are entered last, so that a folder is found
/// at its own place before it is found through a link.
fn walk(root: &Path) -> Result<Vec<LogPath>, Error> {
    let mut logs = Vec::new();
    let mut entered = HashSet::new();
    let mut own = VecDeque::from([Folder {
        path: root.to_owned(),
        relative: String::new(),
    }]);
    let mut linked = BTreeMap::new();
    loop {
        let folder = match own.pop_front() {
            Some(folder) => folder,
            None => match linked.pop_first() {
                Some((relative, path)) => Folder { path, relative },
                None => return Ok(logs),
            },
        };
        if !entered.insert(canonical(&folder.path)?) {
            continue;
        }
        for entry in fs::read_dir(&folder.path).map_err(|source| io(&folder.path, source))? {
            let entry = entry.map_err(|source| io(&folder.path, source))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|source| io(&path, source))?;
            let is_link = kind.is_symlink();
            // A broken link is taken for a file: reading it will say what is wrong.
            let target = if is_link {
                fs::metadata(&path).ok()
            } else {
                None
            };
            let is_folder = kind.is_dir() || target.as_ref().is_some_and(Metadata::is_dir);
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                if is_folder || name.as_encoded_bytes().ends_with(b".log") {
                    return Err(not_utf8(&path));
                }
                continue;
            };
            let relative = match folder.relative.as_str() {
                "" => name.to_owned(),
                parent => format!("{parent}/{name}"),
            };
            if is_folder && is_link {
                linked.insert(relative, path);
            } else if is_folder {
                own.push_back(Folder { path, relative });
            } else if let Some(log) = LogPath::new(path, relative) {
                if !is_link || target.is_some() {
                    let known = target.map_or_else(|| metadata(&log.path), Ok)?;
                    check_is_file(&log.path, &known)?;
                }
                logs.push(log);
            }
        }
    }
}

fn refuse_shared_stems(logs: &[LogPath]) -> Result<(), Error> {
    let mut by_stem = BTreeMap::new();
    for log in logs {
        if let Some(first) = by_stem.insert(log.stem.as_str(), log) {
            return Err(Error::DuplicateStem {
                stem: log.stem.clone(),
                first: first.path.clone(),
                second: log.path.clone(),
            });
        }
    }
    Ok(())
}

fn check_is_file(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(Error::NotAFile {
        path: path.to_owned(),
    })
}

fn metadata(path: &Path) -> Result<Metadata, Error> {
    fs::metadata(path).map_err(|source| io(path, source))
}

fn canonical(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|source| io(path, source))
}

fn io(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        source,
    }
}

fn not_utf8(path: &Path) -> Error {
    Error::PathNotUtf8 {
        path: path.to_owned(),
    }
}
