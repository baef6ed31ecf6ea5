//! Time and memory stay linear in the message, whatever it holds.

use bench_hl7::inspect::{field, inspect};
use bench_hl7::{ModalityMap, Reader, split};
use bumpalo::Bump;
use std::time::{Duration, Instant};

const HEADER: &str = r"MSH|^~\&|A|B|||20230113180717|||id|P|2.7";
/// Bytes of a message. Anything quadratic takes much longer than allowed.
const BYTES: usize = 1 << 19;
/// Far more than any of these takes, but for a busy machine.
const PATIENCE: Duration = Duration::from_secs(8);
/// A column that is an array takes up to 112 bytes for a repetition of one byte, and the arena
/// sets aside twice what it needs.
const MEMORY: usize = 400;

fn repeated(start: &str, piece: &str) -> String {
    format!("{start}{}", piece.repeat(BYTES / piece.len()))
}

/// Numbered pieces, so that no two are the same.
fn numbered(start: &str, piece: impl Fn(usize) -> String) -> String {
    let mut text = start.to_owned();
    for number in 0.. {
        if text.len() >= BYTES {
            break;
        }
        text.push_str(&piece(number));
    }
    text
}

#[test]
fn no_message_takes_more_than_linear_time_or_memory() {
    let obr = |field: usize| format!("OBR{}", "|".repeat(field));
    for (name, body) in [
        ("one long line", repeated("PID|", "x")),
        ("bars", repeated("PID", "|")),
        ("bars before NEL", repeated("", "PID||||||||\u{85}\n")),
        ("empty names", repeated("PID|1||||", "~")),
        ("empty identifiers", repeated("PID|1||", "~")),
        (
            "identifiers",
            numbered("PID|1||", |n| format!("{n}^^^A{n}^MR~")),
        ),
        (
            "identifiers of one column",
            numbered("PID|1||", |n| format!("{n}^^^A^MR~")),
        ),
        ("assistants", numbered(&obr(33), |n| format!("1^F{n}^G~"))),
        ("technicians without name", repeated(&obr(34), "~")),
        ("components", repeated(&obr(16), "^")),
        ("observations", repeated("", "OBX\n")),
        (
            "scattered sections",
            repeated("", "OBX|||&GDT||a\nOBX|||&IMP||b\n"),
        ),
        ("repetitions of text", repeated("OBX|1|TX|&GDT|1|", "~")),
        ("diagnoses", repeated("", "DG1|||^^\n")),
        ("patients", repeated("", "PID|1|x\n")),
        (
            "segment names",
            numbered("", |n| format!("{:03}|1\n", n % 1000)),
        ),
        ("blank lines", repeated("", "\n")),
        ("carriage returns", repeated("", "\r")),
        ("starts", repeated("", "<SB>")),
        ("segment ends", repeated("", "<R>\u{85}\n")),
        ("escapes", repeated("OBX|1|ST|x|1|", "\\")),
        ("unknown escapes", repeated("OBX|1|ST|x|1|", "\\Q\\ ")),
        (
            "hexadecimal escapes",
            format!("OBX|1|ST|x|1|\\X{}\\", "0".repeat(BYTES)),
        ),
        (
            "odd characters",
            repeated("OBX|1|ST|x|1|", "\u{e9}\0\u{80}"),
        ),
    ] {
        for end in ["", "\n<EB><R>\n"] {
            let log = format!("<SB>\n{HEADER}<R>\n{body}{end}");
            check(name, log.as_bytes());
        }
    }
    check(
        "end markers",
        format!("<SB>\n{HEADER}\n{}", repeated("x", "<EB>y")).as_bytes(),
    );
    check(
        "end markers alone",
        format!("<SB>\n{HEADER}\n{}", repeated("x", "<EB>")).as_bytes(),
    );
    check(
        "a long first line",
        format!("<SB>\n{}", repeated("MSH", "|")).as_bytes(),
    );
    check("a long preamble", repeated("", "x\n").as_bytes());
    check("many messages", repeated("", "<SB>\n<EB>\n").as_bytes());
    check("many starts", repeated("", "<SB>\n").as_bytes());
}

fn check(name: &str, log: &[u8]) {
    let reader = Reader::new(ModalityMap::shipped());
    let paths = ["PID-3[7].1", "OBX[1000]-5", "OBR-33"].map(|path| path.parse().expect("a path"));
    let start = Instant::now();
    let mut arena = Bump::new();
    for message in split(log) {
        let _ = message.is_blank();
        // Its error is as good as its row here.
        let _ = reader.read(&message, "s.hl7", &arena);
        let allowed = MEMORY * message.body().len() + (1 << 16);
        assert!(
            arena.allocated_bytes() <= allowed,
            "{name}: {} bytes",
            arena.allocated_bytes()
        );
        inspect(&reader, &message, None, "s.hl7", &arena);
        for path in &paths {
            field(&message, path, &arena);
        }
        arena.reset();
    }
    assert!(start.elapsed() < PATIENCE, "{name}: {:?}", start.elapsed());
}
