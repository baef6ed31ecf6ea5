//! Makes the logs of a data set by several threads, and puts together what depends on their order.
//!
//! Logs are made in chunks that the plan alone decides; threads take chunks as they come, and the
//! row groups of the truth and the list of files are put together in the order of the chunks.

use crate::dataset::{DATASET_FILE, DatasetInfo, FileEntry, digest};
use crate::error::Error;
use crate::maker::{Maker, Plan, Scratch};
use crate::totals::Totals;
use crate::truth::{EncodedRows, TRUTH_FILE, TruthEncoder, TruthRows, TruthWriter};
use crate::write::{Options, Progress, UNFINISHED_FILE, put, temporary};
use bumpalo::Bump;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, mpsc};

/// Messages in a chunk, at least; also the size of a row group of the truth.
const CHUNK: u64 = 4_096;

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

pub(crate) fn write_all(
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
