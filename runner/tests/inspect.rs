//! `bench inspect` on logs that are shipped with the tests, and on whatever else it may be given.

use bench_hl7::{ModalityMap, Reader};
use bench_runner::inspect::{Log, MessageView, Overview};
use bench_runner::terminal::Terminal;
use std::path::Path;
use std::process::{Command, Output};

const BENCH: &str = env!("CARGO_BIN_EXE_bench");
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
const DIRTY: &str = "20240305.log";
const PLATFORM: &str = "20250814_PORU.log";

/// `bench inspect` in the folder of the shipped logs, on a terminal of 80 columns.
fn inspect(arguments: &[&str]) -> Output {
    Command::new(BENCH)
        .arg("inspect")
        .args(arguments)
        .current_dir(DATA)
        .env("COLUMNS", "80")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("bench can be started")
}

fn text(arguments: &[&str]) -> String {
    let output = inspect(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&text(&[arguments, &["--json"]].concat())).unwrap()
}

fn error(arguments: &[&str]) -> (Option<i32>, String) {
    let output = inspect(arguments);
    assert!(output.stdout.is_empty(), "data is printed beside an error");
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

#[test]
fn a_log_is_shown_as_a_table_of_its_messages_with_every_fault_named() {
    insta::assert_snapshot!(text(&[DIRTY]));
}

#[test]
fn a_log_of_the_platform_is_read() {
    insta::assert_snapshot!(text(&[PLATFORM, "--message", "0"]));
}

#[test]
fn where_the_standard_reads_otherwise_both_readings_stand_together() {
    insta::assert_snapshot!("escapes_and_characters", text(&[DIRTY, "-m", "0"]));
    insta::assert_snapshot!("other_delimiters", text(&[DIRTY, "-m", "1"]));
    insta::assert_snapshot!("parser_stops", text(&[DIRTY, "-m", "2"]));
}

#[test]
fn a_message_without_a_row_says_why() {
    insta::assert_snapshot!("empty", text(&[DIRTY, "-m", "3"]));
    insta::assert_snapshot!("not_parsable", text(&[DIRTY, "-m", "4"]));
}

#[test]
fn a_field_that_is_asked_for_is_shown_in_full() {
    insta::assert_snapshot!(text(&[
        DIRTY,
        "--message",
        "0",
        "--field",
        "PID-5",
        "--field",
        "OBR-4.2",
        "--field",
        "report_text"
    ]));
}

#[test]
fn without_a_message_a_field_is_shown_of_all() {
    let values = json(&[DIRTY, "--field", "MSH-10"]);
    let ids: Vec<_> = values["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|value| value["platform"].as_str())
        .collect();
    let expected = [
        Some("2.25.1"),
        Some("2.25.2"),
        Some("2.25.3"),
        None,
        None,
        Some("2.25.6"),
        Some(" "),
    ];
    assert_eq!(ids, expected);
}

#[test]
fn json_tells_what_the_text_tells() {
    insta::assert_snapshot!("overview_json", text(&[DIRTY, "--json"]));
    let message = json(&[DIRTY, "--message", "1"]);
    assert_eq!(
        message["source_file"],
        "2024/20240305.zip/2024/03/05/20240305_1.hl7"
    );
    assert_eq!(message["standard"]["delimiters"], r"|@~\&");
    let columns = message["columns"].as_array().unwrap();
    let column = |name: &str| {
        columns
            .iter()
            .find(|column| column["column"] == name)
            .unwrap()
    };
    assert_eq!(column("message_dt")["platform"], "2024-03-05 08:02:00");
    assert_eq!(column("service_name")["platform"], serde_json::Value::Null);
    assert_eq!(column("service_name")["standard"]["value"], "MR KNEE");
    assert_eq!(
        column("patient_ids")["standard"]["value"],
        "100002^^^AAA^MR"
    );
    assert_eq!(column("year")["standard"], serde_json::Value::Null);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let terminal = Terminal {
        color: false,
        width: 80,
        watched: false,
    };
    let reader = Reader::new(ModalityMap::shipped());
    for name in [DIRTY, PLATFORM] {
        let log = Log::read(&Path::new(DATA).join(name)).unwrap();
        let mut texts = vec![Overview::of(&log, &reader).text(&terminal)];
        for number in 0..log.messages().count() as u32 {
            let view = MessageView::of(&log, number, &reader).unwrap();
            texts.push(view.text(&terminal));
        }
        // The first line names the file, which may be longer.
        for line in texts.iter().flat_map(|text| text.lines().skip(1)) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn any_file_that_can_be_read_is_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let all_bytes: Vec<u8> = (0..=255).collect();
    let cases: [(&str, &[u8]); 5] = [
        ("empty.log", b""),
        ("no date.log", b"<SB>\nMSH|^~\\&||||||||x|\n<EB>"),
        ("noise.bin", &all_bytes),
        ("20240101.log", b"no marker"),
        (
            "20240102.log",
            &[b"<SB>\n", &all_bytes[..], b"\n<EB>"].concat(),
        ),
    ];
    for (name, content) in cases {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let shown = text(&[file.to_str().unwrap()]);
        let is_shown = |char: char| char == '\n' || !char.is_control();
        assert!(shown.chars().all(is_shown), "{name} reaches the terminal");
    }
}

#[test]
fn a_log_that_an_ingest_would_not_take_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let failure = |name: &str, content: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let overview = json(&[file.to_str().unwrap()]);
        overview["failure"].as_str().map(str::to_owned)
    };
    let message = "<SB>\nMSH|1<R>\n<EB>";
    assert_eq!(failure("20240101.log", message), None);
    let reasons = [
        failure("20240102.log", "text"),
        failure("20241301.log", message),
        failure("20240103.txt", message),
    ];
    insta::assert_debug_snapshot!(reasons);
}

#[test]
fn what_cannot_be_inspected_is_a_usage_error() {
    let cases: [&[&str]; 5] = [
        &["missing.log"],
        &["."],
        &[DIRTY, "--message", "7"],
        &[DIRTY, "--message", "-1"],
        &[DIRTY, "--field", "PID"],
    ];
    let mut errors = String::new();
    for arguments in cases {
        let (code, error) = error(arguments);
        assert_eq!(code, Some(64), "{arguments:?}");
        errors.push_str(&format!(
            "$ bench inspect {}\n{error}\n",
            arguments.join(" ")
        ));
    }
    insta::assert_snapshot!(errors);
}

#[test]
fn another_map_of_modalities_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.csv");
    std::fs::write(&map, "Exam Code,Modality\nIMG1,CT\n").unwrap();
    let map = map.to_str().unwrap();
    let modality = ["-m", "0", "--field", "modality"];
    let shown = |extra: &[&str]| {
        json(&[&[DIRTY], &modality[..], extra].concat())["values"][0]["platform"].clone()
    };
    assert_eq!(shown(&[]), serde_json::Value::Null);
    assert_eq!(shown(&["--modalities", map]), "CT");
    std::fs::write(map, "Exam Code,Modality\nIMG1,CT\nIMG1,MR\n").unwrap();
    let (code, error) = error(&[DIRTY, "--modalities", map]);
    assert_eq!(code, Some(64));
    assert!(error.contains("`IMG1` twice"), "{error}");
}

#[test]
fn every_log_of_the_platform_s_tests_can_be_inspected() {
    let root = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/scout-staging"
    ));
    if !root.exists() {
        eprintln!("SKIPPED: {} is not there", root.display());
        return;
    }
    let reader = Reader::new(ModalityMap::shipped());
    let terminal = Terminal {
        color: false,
        width: 100,
        watched: false,
    };
    let mut logs = 0;
    for folder in ["postgres", "extraction"] {
        for found in bench_hl7::discover(&root.join(folder)).unwrap() {
            let log = Log::read(&found.path).unwrap();
            let overview = Overview::of(&log, &reader);
            assert_eq!(overview.messages.len(), log.messages().count());
            for message in &overview.messages {
                let view = MessageView::of(&log, message.message, &reader).unwrap();
                assert_eq!(view.columns.is_empty(), message.outcome != "read");
                assert!(!view.text(&terminal).is_empty());
            }
            logs += 1;
        }
    }
    assert_eq!(logs, 775);
}
