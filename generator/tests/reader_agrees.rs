//! What the reader finds in a log is what the model meant when it wrote it.

mod common;

use bench_generator::{Dataset, MessageTruth, Outcome, Overrides};
use bench_hl7::{ModalityMap, Reader, discover, split};
use bench_tables::{ReportColumn, ReportRow, RowEncoder};
use bumpalo::Bump;
use common::{make, total};
use std::collections::BTreeMap;

/// The columns in which two rows differ: their names only, since values are patients' data.
fn differing(found: &ReportRow<'_>, meant: &ReportRow<'_>) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = ReportColumn::ALL
        .iter()
        .filter(|column| **column != ReportColumn::SourceFile)
        .filter(|column| found.get(**column) != meant.get(**column))
        .map(|column| column.name())
        .collect();
    if found.identifiers != meant.identifiers {
        names.push("identifier columns");
    }
    names
}

/// Reads every log of a data set and compares each message with its truth. Gives the number of
/// compared rows by fault.
fn agree(profile: &str, overrides: &Overrides) -> BTreeMap<String, u32> {
    let folder = tempfile::tempdir().unwrap();
    let info = make(profile, overrides, folder.path());
    let dataset = Dataset::open(folder.path()).unwrap();
    let reader = Reader::new(ModalityMap::shipped());
    let mut encoder = RowEncoder::new();
    let mut compared = BTreeMap::new();
    let logs = discover(folder.path()).unwrap();
    assert_eq!(logs.len(), info.files.len());
    for (log, entry) in logs.iter().zip(&info.files) {
        let bytes = std::fs::read(&log.path).unwrap();
        let mut messages = split(&bytes);
        let mut count = 0;
        let compare = |truth: &MessageTruth<'_>| {
            let Some(ordinal) = truth.ordinal else {
                assert!(matches!(
                    truth.outcome,
                    Outcome::Joined | Outcome::LogFailed
                ));
                return;
            };
            count += 1;
            let fault = truth.fault.unwrap_or("none");
            let at = format!("{profile}: {}:{ordinal} ({fault})", entry.path);
            let message = messages
                .next()
                .unwrap_or_else(|| panic!("{at} is not there"));
            assert_eq!(message.ordinal(), ordinal, "{at}");
            let source = log.source_file(ordinal).unwrap();
            let arena = Bump::new();
            let reading = (!message.is_blank()).then(|| reader.read(&message, &source, &arena));
            match (&reading, truth.outcome) {
                (None, Outcome::Empty) | (Some(Err(_)), Outcome::NotParsable) => {}
                (Some(Ok(reading)), Outcome::Staged) => {
                    let columns = differing(&reading.row, truth.row.unwrap());
                    assert!(columns.is_empty(), "{at}: {columns:?} differ");
                    assert_eq!(
                        Some(encoder.report(&reading.row)),
                        truth.report_hash,
                        "{at}"
                    );
                }
                (reading, outcome) => panic!(
                    "{at}: meant {outcome:?}, read {}",
                    match reading {
                        None => "an empty message",
                        Some(Ok(_)) => "a row",
                        Some(Err(_)) => "an unparsable message",
                    }
                ),
            }
            *compared.entry(fault.to_owned()).or_default() += 1;
        };
        dataset.log(&entry.path, compare).unwrap();
        assert!(
            messages.next().is_none(),
            "{profile}: {} has more",
            entry.path
        );
        assert_eq!(count, entry.messages, "{profile}: {}", entry.path);
    }
    compared
}

#[test]
fn clean_messages_are_read_as_they_were_meant() {
    for profile in ["varied", "lifelike", "webs"] {
        let compared = agree(profile, &total(1_200, 60));
        assert_eq!(compared.keys().collect::<Vec<_>>(), ["none"]);
    }
}

#[test]
fn utf_8_text_is_read_as_the_platform_mangles_it() {
    let overrides = Overrides {
        encoding: Some("utf-8".to_owned()),
        ..total(1_500, 30)
    };
    agree("varied", &overrides);
    agree("dirty", &overrides);
}

#[test]
fn every_fault_is_read_as_the_rules_say() {
    let compared = agree("dirty", &total(9_000, 450));
    let missing: Vec<&str> = bench_generator::Fault::ALL
        .iter()
        .map(|fault| fault.name())
        .filter(|name| !compared.contains_key(*name) && *name != "report_1_mib")
        .collect();
    assert!(missing.is_empty(), "never made: {missing:?}");
    assert!(compared.contains_key("truncated"));
}

#[test]
fn a_report_of_a_mebibyte_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("huge.toml");
    std::fs::write(&spec, "name = \"huge\"\n[faults]\nreport_1_mib = 0.2\n").unwrap();
    let compared = agree(spec.to_str().unwrap(), &total(40, 4));
    assert!(compared["report_1_mib"] >= 2);
}
