//! Writes a data set: logs by several threads, the truth in order, `dataset.json` last.
//!
//! Logs are made in chunks that the plan alone decides; threads take chunks as they come, and what
//! depends on order (row groups of the truth, the list of files) is put together in the order of
//! the chunks. A log is written under a temporary name and renamed. Until `dataset.json` stands,
//! `unfinished.json` says what is being made, so that it can be finished and never looks whole.

use crate::dataset::{DATASET_FILE, DatasetInfo, FileEntry, GENERATOR_VERSION, digest, read_info};
use crate::error::Error;
use crate::maker::{Maker, Plan, Scratch};
use crate::spec::{Spec, SpecFile};
use crate::totals::Totals;
use crate::truth::{EncodedRows, TRUTH_FILE, TruthEncoder, TruthRows, TruthWriter};
use bumpalo::Bump;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, mpsc};

/// Name of the file that stands in a data set while it is being made.
pub const UNFINISHED_FILE: &str = "unfinished.json";

/// Messages in a chunk, at least; also the size of a row group of the truth.
const CHUNK: u64 = 8_192;

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
fn put(path: &Path, text: &str) -> Result<(), Error> {
    let temporary = temporary(path);
    fs::write(&temporary, text).map_err(|error| {
        let _ = fs::remove_file(&temporary);
        Error::io("write", path)(error)
    })?;
    fs::rename(&temporary, path).map_err(Error::io("rename into place", path))
}

/// A hidden name beside a file, which no reader takes for a log.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// What a chunk of logs comes to.
struct Chunk {
    files: Vec<FileEntry>,
    totals: Totals,
    rows: EncodedRows,
}

/// Hands out chunks, and keeps threads from running far ahead of what is written.
struct Desk {
    state: Mutex<DeskState>,
    moved: Condvar,
    window: usize,
}

struct DeskState {
    next: usize,
    written: usize,
    stopped: bool,
}

impl Desk {
    fn take(&self, chunks: usize) -> Option<usize> {
        let mut state = self.state.lock().expect("no thread panics at the desk");
        while !state.stopped && state.next < chunks && state.next >= state.written + self.window {
            state = self
                .moved
                .wait(state)
                .expect("no thread panics at the desk");
        }
        if state.stopped || state.next >= chunks {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn change(&self, change: impl FnOnce(&mut DeskState)) {
        change(&mut self.state.lock().expect("no thread panics at the desk"));
        self.moved.notify_all();
    }
}

fn write_all(
    plan: &Plan,
    range: Range<u64>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<DatasetInfo, Error> {
    let chunks = chunks(plan, &range);
    let messages = plan.timeline.logs[range.start as usize..range.end as usize]
        .iter()
        .map(|log| u64::from(log.count))
        .sum();
    progress.begin(range.end - range.start, messages);
    let truth_path = options.out.join(TRUTH_FILE);
    let truth_temporary = temporary(&truth_path);
    let (mut truth, encoder) = TruthWriter::create(&truth_temporary)?;
    let mut files = Vec::new();
    let mut totals = Totals::default();
    let threads = options.threads.max(1);
    let desk = Desk {
        state: Mutex::new(DeskState {
            next: 0,
            written: 0,
            stopped: false,
        }),
        moved: Condvar::new(),
        window: threads * 2,
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads {
            let sender = sender.clone();
            let (desk, chunks, encoder) = (&desk, &chunks, &encoder);
            scope.spawn(move || {
                let mut worker = Worker::new(plan, options, encoder, progress);
                while let Some(at) = desk.take(chunks.len()) {
                    let made = worker.chunk(at, chunks[at].clone());
                    let failed = made.is_err();
                    if sender.send((at, made)).is_err() || failed {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (at, made) in receiver {
            let stop = |error| {
                desk.change(|state| state.stopped = true);
                Err(error)
            };
            match made {
                Ok(chunk) => waiting.insert(at, chunk),
                Err(error) => return stop(error),
            };
            while let Some(chunk) = waiting.remove(&next) {
                if let Err(error) = truth.append(chunk.rows) {
                    return stop(error);
                }
                totals.add(&chunk.totals);
                files.extend(chunk.files);
                next += 1;
                desk.change(|state| state.written = next);
            }
        }
        Ok(())
    })?;
    truth.finish()?;
    fs::rename(&truth_temporary, &truth_path).map_err(Error::io("rename", &truth_path))?;
    let info = DatasetInfo::new(&plan.spec, options.only_files.as_ref(), &totals, files);
    put(&options.out.join(DATASET_FILE), &info.to_json())?;
    let unfinished = options.out.join(UNFINISHED_FILE);
    fs::remove_file(&unfinished).map_err(Error::io("remove", &unfinished))?;
    Ok(info)
}

/// Cuts the logs into runs of at least [`CHUNK`] messages.
fn chunks(plan: &Plan, range: &Range<u64>) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut from = range.start as usize;
    let mut messages = 0;
    for log in range.start as usize..range.end as usize {
        messages += u64::from(plan.timeline.logs[log].count);
        if messages >= CHUNK {
            chunks.push(from..log + 1);
            from = log + 1;
            messages = 0;
        }
    }
    if from < range.end as usize {
        chunks.push(from..range.end as usize);
    }
    chunks
}

/// One thread's tools.
struct Worker<'a> {
    maker: Maker<'a>,
    plan: &'a Plan,
    options: &'a Options,
    encoder: &'a TruthEncoder,
    progress: &'a dyn Progress,
    scratch: Scratch,
    families: Bump,
    folders: HashSet<PathBuf>,
    bytes: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn new(
        plan: &'a Plan,
        options: &'a Options,
        encoder: &'a TruthEncoder,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            maker: Maker::new(plan),
            plan,
            options,
            encoder,
            progress,
            scratch: Scratch::default(),
            families: Bump::new(),
            folders: HashSet::new(),
            bytes: Vec::new(),
        }
    }

    fn chunk(&mut self, group: usize, logs: Range<usize>) -> Result<Chunk, Error> {
        let mut files = Vec::with_capacity(logs.len());
        let mut totals = Totals::default();
        let mut rows = TruthRows::new();
        for log in logs {
            files.push(self.log(log, &mut totals, &mut rows)?);
        }
        Ok(Chunk {
            files,
            totals,
            rows: self.encoder.encode(group, rows)?,
        })
    }

    fn log(
        &mut self,
        log: usize,
        totals: &mut Totals,
        rows: &mut TruthRows,
    ) -> Result<FileEntry, Error> {
        let plan = &self.plan.timeline.logs[log];
        let path = plan.path();
        self.bytes.clear();
        let mut messages = 0;
        let alone = self.maker.people.slots.all_first();
        let Self {
            maker,
            scratch,
            bytes,
            ..
        } = self;
        maker.log(log, bytes, scratch, |truth| {
            messages += u32::from(truth.ordinal.is_some());
            totals.message(truth, alone);
            rows.push(&path, truth);
        });
        if !alone {
            for slot in plan.first..plan.first + u64::from(plan.count) {
                if maker.people.slots.study(slot) == slot {
                    self.families.reset();
                    totals.study(maker, slot, &self.families);
                }
            }
        }
        self.put_log(&path)?;
        let bytes = self.bytes.len() as u64;
        self.progress.advance(1, u64::from(plan.count), bytes);
        Ok(FileEntry {
            path,
            bytes,
            digest: digest(&self.bytes),
            messages,
            failed: messages == 0,
        })
    }

    fn put_log(&mut self, path: &str) -> Result<(), Error> {
        let path = self.options.out.join(path);
        let folder = path
            .parent()
            .expect("a log stands in the folder of its year");
        if !self.folders.contains(folder) {
            fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
            self.folders.insert(folder.to_path_buf());
        }
        if self.options.resume && path.exists() {
            let found = fs::read(&path).map_err(Error::io("read", &path))?;
            if found == self.bytes {
                return Ok(());
            }
            return Err(Error::Dataset {
                path,
                what: "is not the log that the spec makes: remove it, and resume".to_owned(),
            });
        }
        let temporary = temporary(&path);
        fs::write(&temporary, &self.bytes).map_err(|error| {
            let _ = fs::remove_file(&temporary);
            Error::io("write", &path)(error)
        })?;
        fs::rename(&temporary, &path).map_err(Error::io("rename into place", &path))
    }
}
