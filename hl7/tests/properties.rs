//! What must hold for any bytes: nothing panics, positions are right, and a second splitter,
//! written without a care for speed, finds the same messages.

use bench_hl7::inspect::{field, inspect, segment_lines};
use bench_hl7::{FieldPath, LogDate, ModalityMap, Reader, split};
use bench_tables::RowEncoder;
use bumpalo::Bump;
use proptest::prelude::*;

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

/// Bytes in which markers, delimiters and odd characters are frequent.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    const TOKENS: &[&[u8]] = &[
        b"<SB>",
        b"<SB>\n",
        b"<EB>",
        b"<EB><R>\n",
        b"<R>",
        b"<R>\n",
        b"<R>\r\n",
        b"<R>\x85\n",
        b"<E",
        b"B>",
        b"\r",
        b"\n",
        b"\r\n",
        b"\x85",
        b"\xa0",
        b"\xc2\x85",
        b"\xc3\xa9",
        b"\xe9",
        b"\0",
        b"\x1c",
        b" ",
        b"\t",
        b"|",
        b"||",
        b"|||||||||",
        b"^",
        b"^^^^",
        b"~",
        b"&",
        b"\\",
        b"\\F\\",
        b"\\X0D\\",
        b"\\.br\\",
        b"text",
        b"TX",
        b"SS",
        b"&GDT",
        b"&IMP",
        b"A^B",
        b"20230113180717",
        b"202301131807",
        b"20230229",
        b"MSH|^~\\&|a|b|||20230113180717|||id|P|2.7<R>\n",
        b"MSH|^~\\&",
        b"PID|1||",
        b"\nPID|1|m|7^^^EPIC^MRN~8^^^A^MR",
        b"\nPV1|1|O",
        b"\nORC|1|2|3",
        b"\nOBR|1|2|3|BHC76140^b^c",
        b"\nOBX|1|TX|&IMP|1|a~b",
        b"\nOBX|2|ST|&GDT|1|c",
        b"\nOBX|1|ST|||",
        b"\nDG1|1||a^b^c",
        b"\nZDS|1",
        b"OBR||||||||||||||||1^F^G",
        b"2023-01-13 18:07:17.8754|INFO|\n",
    ];
    let token = prop_oneof![
        8 => proptest::sample::select(TOKENS).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

/// Runs all that reads over a log, and checks what must hold of each message.
fn check(log: &[u8]) -> Result<(), TestCaseError> {
    let expected = naive_split(log);
    let messages: Vec<_> = split(log).collect();
    prop_assert_eq!(messages.len(), expected.len());
    let reader = Reader::new(ModalityMap::shipped());
    let paths: Vec<FieldPath> = ["MSH-2", "MSH-9.1", "PID-3[2].1", "OBX[2]-5", "OBR-16.2.1"]
        .map(|path| path.parse().expect("a path"))
        .to_vec();
    let date = LogDate::from_name("20230113");
    let mut encoder = RowEncoder::new();
    let mut arena = Bump::new();
    let mut end = 0;
    for ((message, expected), number) in messages.iter().zip(&expected).zip(0..) {
        prop_assert_eq!(message.ordinal(), number);
        let (range, body) = (message.range(), message.body_range());
        prop_assert!(end <= range.start && range.start < range.end && range.end <= log.len());
        prop_assert!(range.start < body.start && body.start <= body.end && body.end <= range.end);
        prop_assert!(log[range.clone()].starts_with(b"<SB>"));
        prop_assert!(message.preamble().len() == body.start - end);
        end = range.end;
        let lines: Vec<Vec<u8>> = message.lines().map(|line| line.into_owned()).collect();
        prop_assert_eq!(&lines, expected);
        let blank = |byte: &u8| b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f ".contains(byte);
        prop_assert_eq!(message.is_blank(), lines.concat().iter().all(blank));

        // The text in both forms has the same lines.
        let decoded: Vec<String> = lines
            .iter()
            .map(|line| line.iter().map(|&b| char::from(b)).collect())
            .collect();
        let staged: String = decoded.iter().map(|line| format!("{line}\r")).collect();
        prop_assert_eq!(message.staged_utf8(), staged);
        for (line, text) in segment_lines(message, &arena).zip(&decoded) {
            if line.number == 1 {
                prop_assert_eq!(line.text, text);
            } else {
                let ends_in_nel = text.ends_with('\u{85}');
                prop_assert!(text.starts_with(line.text) || ends_in_nel);
            }
            prop_assert!(body.contains(&line.offset));
        }

        match reader.read(message, "s.hl7", &arena) {
            Ok(reading) => {
                encoder.report(&reading.row);
                let names: Vec<_> = reading
                    .row
                    .identifiers
                    .iter()
                    .map(|(name, _)| *name)
                    .collect();
                prop_assert!(names.is_sorted_by(|a, b| a < b));
            }
            Err(error) => {
                let first = decoded.first().map_or("", String::as_str);
                prop_assert_eq!(error.bars, first.matches('|').count());
                prop_assert!(error.bars < 9);
            }
        }
        let inspection = inspect(&reader, message, date, "s.hl7", &arena);
        prop_assert!(inspection.standard.segments_kept <= inspection.standard.segments);
        for fault in &inspection.faults {
            prop_assert!(
                !fault.positions.is_empty() && fault.positions.len() <= fault.count as usize
            );
            prop_assert!(fault.positions.iter().all(|p| p.offset <= log.len()));
        }
        for path in &paths {
            field(message, path, &arena);
        }
        drop(inspection);
        arena.reset();
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_naive_splitter_agrees_and_nothing_panics_on_any_tokens(log in soup()) {
        check(&log)?;
    }

    #[test]
    fn nothing_panics_on_a_message_of_any_tokens(body in soup()) {
        check(&[b"<SB>\nMSH|^~\\&|a|b|||20230113180717|||id|P|2.7<R>\n", body.as_slice()].concat())?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn nothing_panics_on_any_bytes(log in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&log)?;
        check(&[b"<SB>\n", log.as_slice()].concat())?;
    }

    #[test]
    fn the_parser_of_the_standard_stops_where_its_own_reading_of_the_whole_message_does(
        lines in proptest::collection::vec("(PID|OBX|OB|OBXX| OBX|||x)[|^~&\\\\a]{0,6}", 0..8),
    ) {
        let lines: Vec<String> = std::iter::once("MSH|^~\\&|a".to_owned()).chain(lines).collect();
        let staged: String = lines.iter().map(|line| format!("{line}\r")).collect();
        let log: String = lines.iter().map(|line| format!("{line}<R>\n")).collect();
        let log = format!("<SB>\n{log}");
        let whole = hl7_parser::Message::parse(&staged).expect("the header is good");
        let arena = Bump::new();
        let reader = Reader::new(ModalityMap::shipped());
        let message = split(log.as_bytes()).next().expect("a message");
        let inspection = inspect(&reader, &message, None, "s.hl7", &arena);
        prop_assert_eq!(inspection.standard.segments_kept as usize, whole.segments.len());
    }
}
