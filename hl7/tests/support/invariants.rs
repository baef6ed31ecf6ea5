//! What must hold of any log, for the property tests and the fuzz target.

use bench_hl7::inspect::{field, inspect, segment_lines};
use bench_hl7::{FieldPath, LogDate, ModalityMap, Reader, split};
use bench_tables::RowEncoder;
use bumpalo::Bump;
use std::sync::LazyLock;

/// The messages of a log, as the rules tell it: lines first, then markers.
fn naive_split(log: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut bytes = log.iter().copied().peekable();
    let mut is_open = false;
    while let Some(byte) = bytes.next() {
        is_open = true;
        if byte == b'\r' || byte == b'\n' {
            if byte == b'\r' && bytes.peek() == Some(&b'\n') {
                bytes.next();
            }
            lines.push(std::mem::take(&mut line));
            is_open = false;
        } else {
            line.push(byte);
        }
    }
    if is_open {
        lines.push(line);
    }

    let contains = |line: &[u8], marker: &[u8]| line.windows(4).any(|window| window == marker);
    let mut messages = Vec::new();
    let mut message: Option<Vec<Vec<u8>>> = None;
    for line in lines {
        let Some(collected) = &mut message else {
            if contains(&line, b"<SB>") {
                message = Some(Vec::new());
            }
            continue;
        };
        let is_last = contains(&line, b"<EB>");
        let mut kept = line;
        if kept.ends_with(b"<R>") {
            kept.truncate(kept.len() - 3);
        } else if kept.ends_with(b"<R>\x85") {
            kept.truncate(kept.len() - 4);
            kept.push(0x85);
        }
        if is_last {
            let mut rest = kept.as_slice();
            let mut without = Vec::new();
            while let Some((first, tail)) = rest.split_first() {
                if let Some(tail) = rest.strip_prefix(b"<EB>") {
                    rest = tail;
                } else {
                    without.push(*first);
                    rest = tail;
                }
            }
            kept = without;
        }
        collected.push(kept);
        if is_last {
            messages.extend(message.take());
        }
    }
    messages.extend(message);
    messages
}

static READER: LazyLock<Reader> = LazyLock::new(|| Reader::new(ModalityMap::shipped()));
static PATHS: LazyLock<Vec<FieldPath>> = LazyLock::new(|| {
    let paths = ["MSH-2", "MSH-9.1", "PID-3[2].1", "OBX[2]-5", "OBR-16.2.1"];
    paths.map(|path| path.parse().expect("a path")).to_vec()
});

/// Runs all that reads over a log, and checks what must hold of each message.
pub(crate) fn check(log: &[u8]) {
    let expected = naive_split(log);
    let messages: Vec<_> = split(log).collect();
    assert_eq!(messages.len(), expected.len());
    let date = LogDate::from_name("20230113");
    let mut encoder = RowEncoder::new();
    let mut arena = Bump::new();
    let mut end = 0;
    for ((message, expected), number) in messages.iter().zip(&expected).zip(0..) {
        assert_eq!(message.ordinal(), number);
        let (range, body) = (message.range(), message.body_range());
        assert!(end <= range.start && range.start < range.end && range.end <= log.len());
        assert!(range.start < body.start && body.start <= body.end && body.end <= range.end);
        assert!(log[range.clone()].starts_with(b"<SB>"));
        assert!(message.preamble().len() == body.start - end);
        end = range.end;
        let lines: Vec<Vec<u8>> = message.lines().map(|line| line.into_owned()).collect();
        assert_eq!(&lines, expected);
        let blank = |byte: &u8| b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f ".contains(byte);
        assert_eq!(message.is_blank(), lines.concat().iter().all(blank));

        // The text in both forms has the same lines.
        let decoded: Vec<String> = lines
            .iter()
            .map(|line| line.iter().map(|&b| char::from(b)).collect())
            .collect();
        let staged: String = decoded.iter().map(|line| format!("{line}\r")).collect();
        assert_eq!(message.staged_utf8(), staged);
        for (line, text) in segment_lines(message, &arena).zip(&decoded) {
            if line.number == 1 {
                assert_eq!(line.text, text);
            } else {
                let ends_in_nel = text.ends_with('\u{85}');
                assert!(text.starts_with(line.text) || ends_in_nel);
            }
            assert!(body.contains(&line.offset));
        }

        match READER.read(message, "s.hl7", &arena) {
            Ok(reading) => {
                encoder.report(&reading.row);
                let names: Vec<_> = reading
                    .row
                    .identifiers
                    .iter()
                    .map(|(name, _)| *name)
                    .collect();
                assert!(names.is_sorted_by(|a, b| a < b));
            }
            Err(error) => {
                let first = decoded.first().map_or("", String::as_str);
                assert_eq!(error.bars, first.matches('|').count());
                assert!(error.bars < 9);
            }
        }
        let inspection = inspect(&READER, message, date, "s.hl7", &arena);
        assert!(inspection.standard.segments_kept <= inspection.standard.segments);
        for fault in &inspection.faults {
            assert!(!fault.positions.is_empty() && fault.positions.len() <= fault.count as usize);
            assert!(fault.positions.iter().all(|p| p.offset <= log.len()));
        }
        for path in PATHS.iter() {
            field(message, path, &arena);
        }
        drop(inspection);
        arena.reset();
    }
}
