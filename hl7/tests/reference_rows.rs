//! Logs that the platform was asked about: its own test logs, of which a few are shipped here and
//! the rest used where they are, and a log of broken messages.
//!
//! The hashes were made from the rows that the platform's own transformer wrote for these logs,
//! not from rows read by this crate.

mod support;

use bench_hl7::{ModalityMap, Outcome, Reader, discover, split};
use bench_tables::{RowEncoder, RowHash};
use bumpalo::Bump;
use std::path::Path;

/// What became of the logs under a folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    logs: usize,
    messages: usize,
    read: Vec<(String, RowHash)>,
    /// Relative paths of logs without messages.
    failed: Vec<String>,
    empty: Vec<String>,
    not_parsable: Vec<String>,
}

impl Tally {
    /// Sum of all row hashes, which does not depend on their order.
    fn digest(&self) -> RowHash {
        RowHash(
            self.read
                .iter()
                .fold(0, |sum, (_, hash)| sum.wrapping_add(hash.0)),
        )
    }
}

fn tally(root: &Path) -> Tally {
    let reader = Reader::new(ModalityMap::shipped());
    let mut encoder = RowEncoder::new();
    let mut arena = Bump::new();
    let mut tally = Tally::default();
    for log in discover(root).expect("the folder can be searched") {
        tally.logs += 1;
        let bytes = std::fs::read(&log.path).expect("the log can be read");
        let before = tally.messages;
        for message in split(&bytes) {
            tally.messages += 1;
            let source = log
                .source_file(message.ordinal())
                .expect("the log has a date");
            let outcome = if message.is_blank() {
                Outcome::Empty
            } else {
                match reader.read(&message, &source, &arena) {
                    Err(_) => Outcome::NotParsable,
                    Ok(reading) => {
                        tally
                            .read
                            .push((source.clone(), encoder.report(&reading.row)));
                        Outcome::Read
                    }
                }
            };
            match outcome {
                Outcome::Read => {}
                Outcome::Empty => tally.empty.push(source),
                Outcome::NotParsable => tally.not_parsable.push(source),
            }
            arena.reset();
        }
        if tally.messages == before {
            tally.failed.push(log.relative);
        }
    }
    tally
}

fn shipped() -> Tally {
    tally(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/staging"))
}

const EMPTY: &str = "2019/20190106.zip/2019/01/06/20190106_0.hl7";
const NOT_PARSABLE: [&str; 2] = [
    "2016/20160829.zip/2016/08/29/20160829_0.hl7",
    "2023/20230113.zip/2023/01/13/20230113_0.hl7",
];

#[test]
fn the_shipped_logs_have_the_outcomes_of_the_rules() {
    let tally = shipped();
    assert_eq!(tally.logs, 7);
    assert_eq!(tally.messages, 9);
    assert_eq!(tally.failed, ["2024/20240102.log"]);
    assert_eq!(tally.empty, [EMPTY]);
    assert_eq!(tally.not_parsable, NOT_PARSABLE);
}

#[test]
fn the_rows_of_the_shipped_logs_are_those_of_the_platform() {
    // Hashes of the rows that the platform's own transformer made of these logs.
    let expected = [
        (
            "2000/20000216_PORU.zip/2000/02/16/20000216_PORU_0.hl7",
            "f66ffafe7da6a66a9bed2a4bc6866750",
        ),
        (
            "2007/20071021.zip/2007/10/21/20071021_0.hl7",
            "34d015bba25fab119da07915e39ff7c0",
        ),
        (
            "2007/20071021.zip/2007/10/21/20071021_1.hl7",
            "02d58e5cbac6679f6c520f409e0eeaf4",
        ),
        (
            "2019/20190513.zip/2019/05/13/20190513_0.hl7",
            "3f3635be74cdd5dadab4ae8829751f69",
        ),
        (
            "2023/20230113.zip/2023/01/13/20230113_1.hl7",
            "2201d2b562d756b7f7161229987c03c5",
        ),
        (
            "2023/20230113.zip/2023/01/13/20230113_2.hl7",
            "125436bbffee6ff411090e9751f6d0df",
        ),
    ];
    let found: Vec<(String, String)> = shipped()
        .read
        .into_iter()
        .map(|(source, hash)| (source, hash.to_string()))
        .collect();
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(s, h)| (s.as_str(), h.as_str()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn broken_messages_give_the_rows_that_the_platform_makes_of_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/broken");
    let expected =
        std::fs::read_to_string(folder.join("rows.txt")).expect("the hashes are shipped");
    let tally = tally(&folder);
    let number = |source: &str| {
        let number = source.rsplit(['_', '.']).nth(1).map(str::parse::<u32>);
        number.expect("a number").expect("a number")
    };
    let found: Vec<String> = tally
        .read
        .iter()
        .map(|(source, hash)| format!("{} {hash}", number(source)))
        .collect();
    assert_eq!(found, expected.lines().collect::<Vec<_>>());
    assert_eq!(
        (tally.messages, tally.not_parsable.len(), tally.empty.len()),
        (71, 6, 0)
    );
}

/// Sums of the hashes of all rows that the platform's own transformer made of its test logs.
const POSTGRES: &str = "cb62ac1ec404cc3586f0e21d6c26a8b6";
const EXTRACTION: &str = "95827ff2a3c641527cd37cdda82d83c1";

#[test]
fn all_test_logs_of_the_platform_are_read_as_the_platform_reads_them() {
    let Some(logs) = support::shared_logs("postgres") else {
        return;
    };
    let tally = tally(&logs);
    assert_eq!(
        (tally.logs, tally.messages, tally.read.len()),
        (773, 805, 802)
    );
    assert_eq!(tally.failed, ["2024/20240102.log"]);
    assert_eq!(tally.empty, [EMPTY]);
    assert_eq!(tally.not_parsable, NOT_PARSABLE);
    assert_eq!(tally.digest().to_string(), POSTGRES);
}

#[test]
fn a_second_feed_of_a_day_is_a_log_of_its_own() {
    let Some(logs) = support::shared_logs("extraction") else {
        return;
    };
    let tally = tally(&logs);
    assert_eq!((tally.logs, tally.messages, tally.read.len()), (2, 61, 61));
    assert_eq!(tally.digest().to_string(), EXTRACTION);
}
