//! `docs/row-hash.md` is a contract with other languages: its example is what the code gives, and
//! a version in Python, written from the page, gives the same hashes.

use bench_tables::schema::{DIAGNOSIS, PATIENT_ID};
use bench_tables::{ReportColumn, ReportRow, RowEncoder, RowHash, StructList, Value};
use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The fenced block of this language in the page.
fn block(page: &str, language: &str) -> String {
    let start = page
        .split_once(&format!("```{language}\n"))
        .unwrap_or_else(|| panic!("docs/row-hash.md has a block of {language}"))
        .1;
    start.split_once("```").unwrap().0.trim().to_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const EXAMPLE_ID: &[(&str, &str)] = &[("epic_mrn", "E1")];

fn example() -> ReportRow<'static> {
    let mut row = ReportRow::new();
    let path = "s3://lake/2023/20230113.zip/2023/01/13/20230113_0.hl7";
    row.set(ReportColumn::SourceFile, Value::Str(path));
    row.set(ReportColumn::Sex, Value::Str("F"));
    row.set(ReportColumn::BirthDate, Value::Date(-1));
    let time = Value::Timestamp(1_673_633_237_000_000);
    row.set(ReportColumn::MessageDt, time);
    row.set(ReportColumn::Technician, Value::Strings(&["Ana Ñu"]));
    let diagnosis = StructList::new(3, &[Some("I10"), None, Some("")]);
    row.set(ReportColumn::Diagnoses, Value::Structs(diagnosis));
    row.set(ReportColumn::Year, Value::Int(2023));
    row.identifiers = EXAMPLE_ID;
    row
}

#[test]
fn the_worked_example_of_the_page_is_what_the_code_gives() {
    let page = std::fs::read_to_string(here("../docs/row-hash.md")).unwrap();
    let mut encoder = RowEncoder::new();
    let hash = encoder.report(&example());
    let printed: String = block(&page, "hex").split_whitespace().collect();
    assert_eq!(hex(encoder.encoding()), printed);
    assert_eq!(hash.to_string(), block(&page, "hash"));
}

/// Numbers that look random and are the same everywhere (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap() % limit
    }

    fn text(&mut self) -> &'static str {
        const TEXTS: [&str; 10] = [
            "",
            " ",
            "F",
            "Ñandú\u{85}",
            "\u{a0}\u{0}\t",
            "a\nb\"c\\d",
            "x.zip/y.zip/z",
            "\u{1f9ea}",
            "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
            // Longer than the 240 bytes from which XXH3 works in stripes.
            include_str!("row_hash.rs"),
        ];
        TEXTS[self.below(TEXTS.len())]
    }

    fn cell(&mut self) -> Option<&'static str> {
        (self.below(3) > 0).then(|| self.text())
    }

    fn cells(&mut self, count: usize) -> Vec<Option<&'static str>> {
        (0..count).map(|_| self.cell()).collect()
    }
}

fn as_json(value: Value<'_>) -> Json {
    let cell = |text: Option<&str>| match text {
        Some(text) => json!(["string", text]),
        None => json!(["null", null]),
    };
    match value {
        Value::Null => json!(["null", null]),
        Value::Str(text) => json!(["string", text]),
        Value::Int(int) => json!(["integer", int]),
        Value::Bool(bool) => json!(["boolean", bool]),
        Value::Date(days) => json!(["date", days]),
        Value::Timestamp(micros) => json!(["timestamp", micros]),
        Value::Strings(texts) => {
            let items: Vec<Json> = texts.iter().map(|text| cell(Some(text))).collect();
            json!(["array", items])
        }
        Value::Structs(list) => {
            let item = |members: &[Option<&str>]| {
                let members: Vec<Json> = members.iter().map(|text| cell(*text)).collect();
                json!(["struct", members])
            };
            json!(["array", list.iter().map(item).collect::<Vec<Json>>()])
        }
    }
}

/// Rows of every type of column, as a line of JSON each, with the hash that the code gives.
fn rows() -> Vec<(String, RowHash)> {
    let mut encoder = RowEncoder::new();
    (0..300)
        .map(|seed| {
            let mut n = Numbers(seed);
            let texts: Vec<&str> = (0..n.below(4)).map(|_| n.text()).collect();
            let diagnoses = n.below(4);
            let diagnoses = n.cells(diagnoses * DIAGNOSIS.len());
            let ids = n.below(3);
            let ids = n.cells(ids * PATIENT_ID.len());
            let mut columns = vec![
                (
                    "year",
                    Value::Int(i32::try_from(n.below(9999)).unwrap() - 5000),
                ),
                ("source_file", Value::Str(n.text())),
                ("primary_report_identifier", Value::Str(n.text())),
                ("diagnosis_id", Value::text(n.cell())),
                (
                    "birth_date",
                    Value::Date(i32::try_from(n.below(90_000)).unwrap() - 40_000),
                ),
                (
                    "message_dt",
                    Value::Timestamp(n.below(1 << 40) as i64 * 1_000 - (1 << 45)),
                ),
                ("requested_dt", Value::Null),
                ("updated", Value::Timestamp(1)),
                ("content_hash", Value::Str("x")),
                ("consistent", Value::Bool(n.below(2) == 0)),
                ("technician", Value::Strings(&texts)),
                (
                    "diagnoses",
                    Value::Structs(StructList::new(DIAGNOSIS.len(), &diagnoses)),
                ),
                (
                    "patient_ids",
                    Value::Structs(StructList::new(PATIENT_ID.len(), &ids)),
                ),
                ("report_text", Value::text(n.cell())),
                ("epic_mrn", Value::text(n.cell())),
                ("ñ_mr", Value::text(n.cell())),
                ("z_mr", Value::text(n.cell())),
            ];
            let columns_json: Vec<Json> = columns
                .iter()
                .map(|&(name, value)| {
                    let typed = as_json(value);
                    json!([name, typed[0], typed[1]])
                })
                .collect();
            (
                json!(columns_json).to_string(),
                encoder.columns(&mut columns),
            )
        })
        .collect()
}

#[test]
fn a_version_in_python_written_from_the_page_gives_the_same_hashes() {
    let python = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.args(arguments);
        command
    };
    let has_xxhash = python(&["-c", "import xxhash"])
        .stderr(Stdio::null())
        .status();
    if !has_xxhash.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no python3 with the package xxhash (pip install xxhash)");
        return;
    }
    let script = here("tests/row_hash.py");
    let mut child = python(&[script.to_str().unwrap()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let rows = rows();
    let mut input = child.stdin.take().unwrap();
    let lines: String = rows.iter().map(|(line, _)| format!("{line}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let theirs = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<&str> = theirs.lines().collect();
    assert_eq!(theirs.len(), rows.len());
    for (line, (row, ours)) in theirs.iter().zip(&rows) {
        assert_eq!(*line, ours.to_string(), "{row}");
    }
}
