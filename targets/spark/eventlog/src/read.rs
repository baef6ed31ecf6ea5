//! From the files of a log to its events, in order, on several threads.
//!
//! One thread decompresses and cuts the text at line ends, others read lines, and the caller's thread
//! takes what they found in the order of the log: what an event means depends on those before it. How
//! many pieces are on their way is bounded, and with it memory.

use crate::decode::{self, Codec};
use crate::error::EventLogError;
use crate::event::{self, Event, Line};
use crate::finding::Finding;
use crate::locate::LogFiles;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Text that is handed over at once, more where a line is longer.
const PIECE: usize = 1 << 20;
/// No event is as long; what is would have to be held in memory.
const LONGEST_LINE: usize = 512 << 20;

/// What is known of the text of a log beside its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// How the files are compressed; the last one's, should they differ.
    pub(crate) codec: Option<Codec>,
    pub(crate) stored_bytes: u64,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// Events that this crate does not know, by name.
    pub(crate) unknown: BTreeMap<String, u64>,
    pub(crate) findings: Vec<Finding>,
}

/// Some whole lines of a file, or its last bytes.
struct Piece {
    number: u64,
    file: usize,
    text: Vec<u8>,
    /// Where the file ends behind them.
    end: Option<End>,
}

/// How a file ends.
enum End {
    Whole,
    /// Inside a compressed block.
    Cut,
    Damaged(String),
    Failed(EventLogError),
}

/// What was read in a piece.
struct Found {
    number: u64,
    file: usize,
    bytes: u64,
    lines: u64,
    events: Vec<Event>,
    unknown: BTreeMap<String, u64>,
    /// Lines that could not be read, by their number in the piece from 0.
    wrong: Vec<(u64, Line)>,
    /// Whether the last line has no end and is not whole.
    tail: bool,
    end: Option<End>,
}

/// Reads a log, and gives each of its events to `take`, in order.
///
/// # Errors
/// [`EventLogError`]: a file cannot be read.
pub(crate) fn read(
    log: &LogFiles,
    threads: usize,
    mut take: impl FnMut(Event),
) -> Result<Text, EventLogError> {
    let paths: Vec<PathBuf> = log.files.iter().map(|(_, path)| path.clone()).collect();
    let mut text = Text::default();
    for path in &paths {
        let size = std::fs::metadata(path).map_err(EventLogError::io(path))?;
        text.stored_bytes += size.len();
        text.codec = decode::sniff(path)?.or(text.codec);
    }
    // Threads are for logs that take a while.
    let useful = 1 + usize::try_from(text.stored_bytes >> 20).unwrap_or(usize::MAX - 1);
    let threads = threads.clamp(1, useful);
    let (pieces, waiting) = sync_channel::<Piece>(2 * threads);
    let (results, found) = sync_channel::<Found>(2 * threads);
    let (used, unused) = sync_channel::<Vec<u8>>(8 * threads);
    // Owned by those who take from it alone: when they are gone, nobody waits to hand over.
    let waiting = Arc::new(Mutex::new(waiting));
    let failed = |source| EventLogError::Thread {
        path: paths.first().cloned().unwrap_or_default(),
        source,
    };
    thread::scope(|scope| {
        let files = &paths;
        thread::Builder::new()
            .spawn_scoped(scope, move || cut(files, &pieces, &unused))
            .map_err(failed)?;
        for _ in 0..threads {
            let (results, used, waiting) = (results.clone(), used.clone(), waiting.clone());
            thread::Builder::new()
                .spawn_scoped(scope, move || {
                    loop {
                        let piece = waiting
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .recv();
                        let Ok(piece) = piece else { return };
                        let (found, buffer) = look(piece);
                        let _ = used.try_send(buffer);
                        if results.send(found).is_err() {
                            return;
                        }
                    }
                })
                .map_err(failed)?;
        }
        drop((results, used, waiting));
        let mut order = Order::new(&paths, &mut text);
        for found in found {
            order.take(found, &mut take)?;
        }
        order.end();
        Ok(())
    })?;
    Ok(text)
}

/// Cuts the text of all files into pieces, until nobody wants more.
fn cut(paths: &[PathBuf], pieces: &SyncSender<Piece>, unused: &Receiver<Vec<u8>>) {
    let mut number = 0;
    for (file, path) in paths.iter().enumerate() {
        let mut give = |text: Vec<u8>, end: Option<End>| {
            let piece = Piece {
                number,
                file,
                text,
                end,
            };
            number += 1;
            pieces.send(piece).is_ok()
        };
        if !cut_file(path, &mut give, unused) {
            return;
        }
    }
}

/// Cuts the text of one file; says whether more is wanted.
fn cut_file(
    path: &Path,
    give: &mut impl FnMut(Vec<u8>, Option<End>) -> bool,
    unused: &Receiver<Vec<u8>>,
) -> bool {
    let mut reader = match decode::open(path) {
        Ok((_, reader)) => reader,
        Err(error) => return give(Vec::new(), Some(End::Failed(error))),
    };
    let fresh = || {
        let mut buffer = unused.try_recv().unwrap_or_default();
        buffer.clear();
        buffer
    };
    let mut text = fresh();
    loop {
        let before = text.len();
        let result = fill(&mut *reader, &mut text, before + PIECE);
        let end = match result {
            Ok(true) => None,
            Ok(false) => Some(End::Whole),
            Err(error) => Some(match error.kind() {
                _ if error.raw_os_error().is_some() => End::Failed(EventLogError::io(path)(error)),
                io::ErrorKind::UnexpectedEof => End::Cut,
                _ => End::Damaged(error.to_string()),
            }),
        };
        if end.is_some() {
            return give(text, end);
        }
        if let Some(at) = memchr::memrchr(b'\n', &text[before..]) {
            let mut rest = fresh();
            rest.extend_from_slice(&text[before + at + 1..]);
            text.truncate(before + at + 1);
            if !give(text, None) {
                return false;
            }
            text = rest;
        } else if text.len() > LONGEST_LINE {
            let reason = format!("a line is longer than {LONGEST_LINE} bytes");
            return give(Vec::new(), Some(End::Damaged(reason)));
        }
    }
}

/// Reads until `text` has `length` bytes; false where the input ended before.
fn fill(reader: &mut dyn Read, text: &mut Vec<u8>, length: usize) -> io::Result<bool> {
    let mut at = text.len();
    text.resize(length, 0);
    let result = loop {
        if at == length {
            break Ok(true);
        }
        match reader.read(&mut text[at..]) {
            Ok(0) => break Ok(false),
            Ok(count) => at += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    text.truncate(at);
    result
}

/// Reads the lines of a piece; hands its buffer back.
fn look(piece: Piece) -> (Found, Vec<u8>) {
    let mut found = Found {
        number: piece.number,
        file: piece.file,
        bytes: piece.text.len() as u64,
        lines: 0,
        events: Vec::new(),
        unknown: BTreeMap::new(),
        wrong: Vec::new(),
        tail: false,
        end: piece.end,
    };
    let mut rest = &*piece.text;
    while !rest.is_empty() {
        let (line, whole) = match memchr::memchr(b'\n', rest) {
            Some(at) => {
                let line = &rest[..at];
                rest = &rest[at + 1..];
                (line, true)
            }
            None => (std::mem::take(&mut rest), false),
        };
        let number = found.lines;
        found.lines += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        match event::read(line) {
            Line::Event(event) => found.events.push(event),
            Line::PassedOver => {}
            Line::Unknown(name) => *found.unknown.entry(name).or_default() += 1,
            // The last line of a file that was being written: whole if it can be read.
            Line::NotJson(_) | Line::NotUnderstood(..) if !whole => found.tail = true,
            wrong => found.wrong.push((number, wrong)),
        }
    }
    (found, piece.text)
}

/// Puts what the threads found into the order of the log.
struct Order<'a> {
    paths: &'a [PathBuf],
    text: &'a mut Text,
    next: u64,
    early: BTreeMap<u64, Found>,
    /// Lines of the present file so far.
    lines: u64,
    told: usize,
    more: u64,
}

impl<'a> Order<'a> {
    fn new(paths: &'a [PathBuf], text: &'a mut Text) -> Self {
        Self {
            paths,
            text,
            next: 0,
            early: BTreeMap::new(),
            lines: 0,
            told: 0,
            more: 0,
        }
    }

    fn take(&mut self, found: Found, take: &mut impl FnMut(Event)) -> Result<(), EventLogError> {
        self.early.insert(found.number, found);
        while let Some(found) = self.early.remove(&self.next) {
            self.next += 1;
            self.one(found, take)?;
        }
        Ok(())
    }

    fn one(&mut self, found: Found, take: &mut impl FnMut(Event)) -> Result<(), EventLogError> {
        let name = || {
            let name = self.paths[found.file].file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        self.text.bytes += found.bytes;
        for (name, count) in found.unknown {
            *self.text.unknown.entry(name).or_default() += count;
        }
        found.events.into_iter().for_each(take);
        for (number, line) in found.wrong {
            if self.told == crate::finding::TOLD {
                self.more += 1;
                continue;
            }
            self.told += 1;
            let (file, line_number) = (name(), self.lines + number + 1);
            self.text.findings.push(match line {
                Line::NotUnderstood(event, column) => Finding::NotUnderstood {
                    file,
                    line: line_number,
                    event,
                    column,
                },
                Line::NotJson(column) => Finding::NotJson {
                    file,
                    line: line_number,
                    column,
                },
                Line::Event(_) | Line::PassedOver | Line::Unknown(_) => continue,
            });
        }
        self.lines += found.lines;
        self.text.lines += found.lines;
        let line = self.lines + u64::from(!found.tail);
        match found.end {
            None => return Ok(()),
            Some(End::Whole) if !found.tail => {}
            Some(End::Whole) | Some(End::Cut) => {
                let finding = Finding::Cut { file: name(), line };
                self.text.findings.push(finding);
            }
            Some(End::Damaged(reason)) => self.text.findings.push(Finding::Damaged {
                file: name(),
                line,
                reason,
            }),
            Some(End::Failed(error)) => return Err(error),
        }
        self.lines = 0;
        Ok(())
    }

    fn end(self) {
        if self.more > 0 {
            self.text.findings.push(Finding::More { lines: self.more });
        }
    }
}
