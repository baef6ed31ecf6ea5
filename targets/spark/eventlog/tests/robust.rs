//! Logs that are cut, damaged, split or strange: never a panic, never a hang, never a line dropped
//! without a word.

use bench_eventlog::{EventLog, Finding, read_logs};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// The lines of a sample, without the ends of lines.
fn lines() -> Vec<String> {
    let text = fs::read_to_string(sample("plain.log")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn read(content: &[u8]) -> EventLog {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, content).unwrap();
    read_logs(&path).unwrap().remove(0)
}

/// The first of the events that are shortest, with the end: a log of some kilobytes.
fn small() -> Vec<u8> {
    let wanted = [
        "LogStart",
        "ApplicationStart",
        "JobEnd",
        "TaskStart",
        "DriverAccum",
        "SQLExecutionEnd",
        "ApplicationEnd",
    ];
    let name = |line: &str| line.split('"').nth(3).unwrap_or_default().to_owned();
    let lines = lines();
    let small: Vec<&String> = lines
        .iter()
        .filter(|line| wanted.iter().any(|one| name(line).contains(one)))
        .collect();
    let (last, small) = small.split_last().unwrap();
    let small = small.iter().take(11).chain([last]);
    small
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}

#[test]
fn a_plain_log_cut_at_any_byte_is_read_as_far_as_it_goes() {
    let log = small();
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &log).collect();
    for end in 8..log.len() {
        let found = read(&log[..end]);
        let whole = ends.iter().filter(|at| **at < end).count() as u64;
        // A line without its end counts: whole, or named as cut.
        assert!((whole..=whole + 1).contains(&found.lines), "{end}");
        let cut = found
            .findings
            .iter()
            .any(|one| matches!(one, Finding::Cut { .. }));
        let at_end = log[end - 1] == b'\n' || log[end] == b'\n';
        assert_eq!(cut, !at_end, "{end}: {:?}", found.findings);
    }
}

#[test]
fn a_compressed_log_cut_at_any_byte_is_read_as_far_as_it_goes() {
    let log = small();
    let packed = zstd::encode_all(&*log, 3).unwrap();
    let whole = read(&packed);
    assert!(whole.complete, "{:?}", whole.findings);
    for end in 1..packed.len() {
        let found = read(&packed[..end]);
        assert!(!found.complete && found.lines <= whole.lines, "{end}");
    }
    for name in ["single.lz4", "single.snappy"] {
        let bytes = fs::read(sample(name)).unwrap();
        let lines = read(&bytes).lines;
        for end in (1..bytes.len()).step_by(1_009).chain(1..40) {
            let found = read(&bytes[..end]);
            assert!(found.lines <= lines, "{name} {end}");
            assert!(!found.complete || end + 21 >= bytes.len(), "{name} {end}");
        }
    }
}

#[test]
fn a_log_with_any_byte_changed_is_read_without_a_panic() {
    let log = small();
    let packed = zstd::encode_all(&*log, 3).unwrap();
    let original = [log, packed];
    for bytes in original {
        for at in (0..bytes.len()).step_by(7) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x41;
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            fs::write(&path, &bytes).unwrap();
            // A changed magic is another format, or none.
            let _ = read_logs(&path);
        }
    }
}

#[test]
fn a_line_in_the_middle_that_is_not_json_is_named_by_file_and_line() {
    let mut lines = lines();
    lines.insert(
        10,
        "java.io.IOException: no space left on device".to_owned(),
    );
    let half = lines[20][..lines[20].len() / 2].to_owned();
    lines.insert(20, half);
    let found = read(lines.join("\n").as_bytes());
    let named: Vec<u64> = found
        .findings
        .iter()
        .filter_map(|finding| match finding {
            Finding::NotJson { file, line, .. } if file == "log" => Some(*line),
            _ => None,
        })
        .collect();
    assert_eq!(named, [11, 21]);
    assert!(!found.complete);
    assert_eq!(
        found.total.jobs,
        read(&fs::read(sample("plain.log")).unwrap()).total.jobs
    );
}

#[test]
fn many_lines_that_are_not_json_are_counted() {
    let mut lines = lines();
    for _ in 0..50 {
        lines.insert(1, "nonsense".to_owned());
    }
    let found = read(lines.join("\n").as_bytes());
    assert_eq!(found.findings.len(), 21);
    assert_eq!(found.findings[20], Finding::More { lines: 30 });
}

#[test]
fn no_finding_quotes_the_log() {
    let line = r#"{"Event":"SparkListenerJobEnd","Job ID":"DOE^JANE","Completion Time":1}"#;
    let found = read(format!("{line}\n").as_bytes());
    let said: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("log:1:"), "{said:?}");
    assert!(!said.join(" ").contains("DOE"), "{said:?}");
}

/// A log that rolls after each few lines, with every file in several frames of zstd.
fn rolled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("eventlog_v2_app-1");
    fs::create_dir(&log).unwrap();
    fs::write(log.join("appstatus_app-1"), "").unwrap();
    for (number, lines) in lines().chunks(5).enumerate() {
        let name = format!("events_{}_app-1.zstd", number + 1);
        let mut file = fs::File::create(log.join(name)).unwrap();
        for line in lines {
            let frame = zstd::encode_all(format!("{line}\n").as_bytes(), 1).unwrap();
            file.write_all(&frame).unwrap();
        }
    }
    folder
}

#[test]
fn a_log_that_rolls_is_the_log_that_does_not() {
    let folder = rolled();
    let mut rolled = read_logs(folder.path()).unwrap().remove(0);
    let single = read(&fs::read(sample("plain.log")).unwrap());
    assert_eq!(rolled.files, 15);
    rolled.log.clone_from(&single.log);
    rolled.codec = single.codec;
    rolled.files = single.files;
    rolled.stored_bytes = single.stored_bytes;
    assert_eq!(rolled, single);
}

#[test]
fn a_rolled_file_that_is_missing_makes_the_log_incomplete() {
    let folder = rolled();
    fs::remove_file(folder.path().join("eventlog_v2_app-1/events_7_app-1.zstd")).unwrap();
    let log = read_logs(folder.path()).unwrap().remove(0);
    assert_eq!(log.findings, [Finding::Missing { first: 7, last: 7 }]);
    assert!(!log.complete);
}

#[test]
fn an_application_that_wrote_nothing_is_empty_and_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("eventlog_v2_app-1")).unwrap();
    let log = read_logs(folder.path()).unwrap().remove(0);
    assert_eq!(log.findings, [Finding::Empty, Finding::Unfinished]);
    assert_eq!(read(b"").findings, log.findings);
}

#[test]
fn a_codec_that_is_not_read_is_an_error_that_names_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app-1.lzf");
    fs::write(&path, b"ZV\x01\0\x10rest").unwrap();
    let error = read_logs(&path).unwrap_err().to_string();
    assert!(
        error.contains("lzf") && error.contains("zstd, lz4 and snappy"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_no_log_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, b"not a log").unwrap();
    assert!(
        read_logs(&path)
            .unwrap_err()
            .to_string()
            .contains("holds no event log")
    );
}

#[test]
fn unknown_events_are_counted_and_no_fault() {
    let mut lines = lines();
    for _ in 0..3 {
        lines.insert(4, r#"{"Event":"com.example.Audit","n":1}"#.to_owned());
    }
    let found = read((lines.join("\n") + "\n").as_bytes());
    assert!(found.complete, "{:?}", found.findings);
    assert_eq!(found.unknown_events["com.example.Audit"], 3);
}
