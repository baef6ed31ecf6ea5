//! Makes a data set in a folder: claims the folder, resumes what was stopped, adds later days.
//!
//! A log is written under a temporary name and renamed. Until `dataset.json` stands, which comes
//! last, `unfinished.json` says what is being made, so that it can be finished and never looks
//! whole.

use crate::chunks::write_all;
use crate::dataset::{DATASET_FILE, DatasetInfo, GENERATOR_VERSION, read_info};
use crate::error::Error;
use crate::maker::Plan;
use crate::spec::{Spec, SpecFile};
use crate::truth::TRUTH_FILE;
use serde::{Deserialize, Serialize};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Name of the file that stands in a data set while it is being made.
pub const UNFINISHED_FILE: &str = "unfinished.json";

/// How a data set is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder of the data set.
    pub out: PathBuf,
    /// Threads that make logs; at least 1. The bytes do not depend on it.
    pub threads: usize,
    /// Only these logs, by position in path order.
    pub only_files: Option<Range<u64>>,
    /// Finish what was begun in `out` by the same spec.
    pub resume: bool,
}

/// Is told how far the writing is. Called from several threads.
pub trait Progress: Sync {
    /// What there is to do.
    fn begin(&self, logs: u64, messages: u64);
    /// So many logs with so many messages and bytes are done since the last call.
    fn advance(&self, logs: u64, messages: u64, bytes: u64);
}

/// No progress is shown.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: u64, _: u64) {}
    fn advance(&self, _: u64, _: u64, _: u64) {}
}

/// What is being made in a folder.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Unfinished {
    generator_version: u32,
    spec: SpecFile,
    only_files: Option<(u64, u64)>,
}

/// Makes a data set.
///
/// # Errors
/// [`Error::Target`] if something else stands in the folder, [`Error::Spec`] if `only_files` is
/// out of range, [`Error::Io`] and [`Error::Truth`] if writing fails. What was written until then
/// stays, marked as unfinished.
pub fn generate(
    spec: Spec,
    options: &Options,
    progress: &dyn Progress,
) -> Result<DatasetInfo, Error> {
    let plan = Plan::new(spec);
    let logs = plan.timeline.logs.len() as u64;
    let range = options.only_files.clone().unwrap_or(0..logs);
    if range.is_empty() || range.end > logs {
        return Err(Error::spec(
            "--only-files",
            format!(
                "is {}..{}: allowed is A..B with A < B, B at most {logs}, the number of logs",
                range.start, range.end
            ),
        ));
    }
    let unfinished = Unfinished {
        generator_version: GENERATOR_VERSION,
        spec: plan.spec.file().clone(),
        only_files: options
            .only_files
            .as_ref()
            .map(|only| (only.start, only.end)),
    };
    if options.resume {
        if options.out.join(DATASET_FILE).exists() {
            let info = read_info(&options.out)?;
            if info.spec == unfinished.spec && info.only_files == unfinished.only_files {
                return Ok(info);
            }
            return Err(target(&options.out, "is complete, and of another spec"));
        }
        check_unfinished(&options.out, &unfinished)?;
    } else {
        claim(&options.out, &unfinished)?;
    }
    write_all(&plan, range, options, progress)
}

/// Adds later days to a data set that was made from a rate, so that it becomes the data set of
/// `days` days. Its logs stay; the truth is worked out again, since later messages join patients.
///
/// # Errors
/// [`Error::Dataset`] if the folder holds no data set made whole from a rate, or a log is not as it
/// was made; [`Error::Spec`] if `days` is not more than it has; otherwise as [`generate`].
pub fn continue_to(
    folder: &Path,
    days: u64,
    threads: usize,
    progress: &dyn Progress,
) -> Result<DatasetInfo, Error> {
    let info = read_info(folder)?;
    let has = info.spec.volume.days;
    let Some(has) = has.filter(|_| info.only_files.is_none()) else {
        return Err(Error::Dataset {
            path: folder.to_path_buf(),
            what: "cannot be continued: only a whole data set made from a rate (per_day, days) can"
                .to_owned(),
        });
    };
    if days <= has {
        return Err(Error::spec(
            "--days",
            format!("is {days}, but the data set has {has} days already: give more"),
        ));
    }
    let mut file = info.spec;
    file.volume.days = Some(days);
    let spec = Spec::resolved(file)?;
    let unfinished = Unfinished {
        generator_version: GENERATOR_VERSION,
        spec: spec.file().clone(),
        only_files: None,
    };
    put(&folder.join(UNFINISHED_FILE), &to_json(&unfinished))?;
    for name in [DATASET_FILE, TRUTH_FILE] {
        let path = folder.join(name);
        fs::remove_file(&path).map_err(Error::io("replace", &path))?;
    }
    let options = Options {
        out: folder.to_path_buf(),
        threads,
        only_files: None,
        resume: true,
    };
    generate(spec, &options, progress)
}

/// The spec of an unfinished data set, to go on with.
///
/// # Errors
/// [`Error::Target`] if the folder holds no unfinished data set.
pub fn unfinished_spec(folder: &Path) -> Result<(Spec, Option<Range<u64>>), Error> {
    let found = read_unfinished(folder)?;
    let only = found.only_files.map(|(from, until)| from..until);
    Ok((Spec::resolved(found.spec)?, only))
}

fn target(path: &Path, what: &str) -> Error {
    Error::Target {
        path: path.to_path_buf(),
        what: what.to_owned(),
    }
}

fn to_json(unfinished: &Unfinished) -> String {
    let mut text = serde_json::to_string_pretty(unfinished).expect("a spec is JSON");
    text.push('\n');
    text
}

/// Takes a folder that is not there or empty.
fn claim(out: &Path, unfinished: &Unfinished) -> Result<(), Error> {
    if out.join(DATASET_FILE).exists() {
        return Err(target(
            out,
            "holds a data set already: name another folder, or remove it",
        ));
    }
    if out.join(UNFINISHED_FILE).exists() {
        return Err(target(
            out,
            "holds an unfinished data set: finish it with --resume, or remove it",
        ));
    }
    if out.exists() && !out.is_dir() {
        return Err(target(out, "is a file: name a folder"));
    }
    fs::create_dir_all(out).map_err(Error::io("create the folder", out))?;
    let mut entries = fs::read_dir(out).map_err(Error::io("list the folder", out))?;
    if entries.next().is_some() {
        return Err(target(
            out,
            "is not empty: name another folder, or empty it",
        ));
    }
    put(&out.join(UNFINISHED_FILE), &to_json(unfinished))
}

fn read_unfinished(out: &Path) -> Result<Unfinished, Error> {
    let path = out.join(UNFINISHED_FILE);
    if !path.exists() {
        return Err(target(
            out,
            "holds no unfinished data set: there is nothing to resume",
        ));
    }
    let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    serde_json::from_str(&text).map_err(|error| {
        target(
            out,
            &format!("has an unfinished.json that cannot be read: {error}"),
        )
    })
}

fn check_unfinished(out: &Path, asked: &Unfinished) -> Result<(), Error> {
    if read_unfinished(out)? == *asked {
        Ok(())
    } else {
        Err(target(
            out,
            "was begun with another spec, selection or generator version: resume it with the same",
        ))
    }
}

/// Writes a file under a temporary name and renames it.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Error> {
    let temporary = temporary(path);
    fs::write(&temporary, text).map_err(|error| {
        let _ = fs::remove_file(&temporary);
        Error::io("write", path)(error)
    })?;
    fs::rename(&temporary, path).map_err(Error::io("rename into place", path))
}

/// A hidden name beside a file, which no reader takes for a log.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}
