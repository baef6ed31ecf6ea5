//! The rules of the tables, each on a few messages.

use crate::common::{Message, RowMap, batch, engine, ingest, rows, stable_rows, write_log};
use bench_embedded::{Error, Silent};
use bench_tables::Table;
use std::path::{Path, PathBuf};

struct World {
    _folder: crate::common::Temporary,
    logs: PathBuf,
    lake: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = crate::common::temporary();
        let (logs, lake) = (folder.path().join("logs"), folder.path().join("lake"));
        std::fs::create_dir_all(&logs).expect("a folder is made");
        Self {
            _folder: folder,
            logs,
            lake,
        }
    }

    /// Replaces all logs by these.
    fn logs(&self, logs: &[(&str, Vec<Message>)]) -> &Path {
        std::fs::remove_dir_all(&self.logs).expect("the folder goes");
        for (name, messages) in logs {
            write_log(&self.logs, name, messages);
        }
        &self.logs
    }

    fn rows(&self, table: Table) -> Vec<RowMap> {
        rows(&self.lake, table)
    }
}

const A: &str = "2023/20230113.log";
const B: &str = "2023/20230114.log";

fn text_of(row: &RowMap) -> &str {
    &row["report_text"]
}

#[test]
fn a_row_of_null_year_is_inserted_again_by_a_deliberate_ingest_but_not_by_an_attempt() {
    let world = World::new();
    world.logs(&[(
        A,
        vec![
            Message::new("20231340", "1"),
            Message::new("20230113180717", "2"),
        ],
    )]);
    let mut engine = engine(&world.lake, &[]);
    ingest(&mut engine, "first", &world.logs);
    assert_eq!(world.rows(Table::Reports).len(), 2);
    let again = ingest(&mut engine, "first", &world.logs);
    assert!(again.continued);
    assert_eq!(
        (again.reports.inserted, again.reports.unchanged),
        (2, 0),
        "as it was recorded"
    );
    assert!(again.is_balanced());
    assert_eq!(world.rows(Table::Reports).len(), 2);
    assert_eq!(world.rows(Table::Curated).len(), 2);
    let second = ingest(&mut engine, "second", &world.logs);
    assert_eq!((second.reports.inserted, second.reports.unchanged), (1, 1));
    assert_eq!(world.rows(Table::Reports).len(), 3);
    assert_eq!(world.rows(Table::Curated).len(), 3);
    assert_eq!(world.rows(Table::Latest).len(), 2);
    assert_eq!(world.rows(Table::Mapping).len(), 2);
}

#[test]
fn a_report_without_an_accession_is_in_reports_alone_and_counted() {
    let world = World::new();
    let blank = [
        Message::new("20230113180717", ""),
        Message::new("20230113180717", "  "),
    ];
    world.logs(&[(
        A,
        [blank.to_vec(), vec![Message::new("20230113180717", "7")]].concat(),
    )]);
    let mut engine = engine(&world.lake, &[]);
    let ledger = ingest(&mut engine, "w", &world.logs);
    assert_eq!(ledger.table(Table::Curated).dropped, 2);
    assert_eq!(world.rows(Table::Reports).len(), 3);
    assert_eq!(world.rows(Table::Curated).len(), 1);
    assert_eq!(world.rows(Table::Mapping).len(), 1);
}

#[test]
fn latest_is_replaced_only_by_a_strictly_later_message() {
    let world = World::new();
    let mut engine = engine(&world.lake, &[]);
    let at = |time: &str, text: &str| Message::new(time, "7").text(text);
    let mut number = 0;
    let mut step = |time: &str, text: &str, expected: &str| {
        number += 1;
        let name = format!("2023/202301{number:02}.log");
        world.logs(&[(name.as_str(), vec![at(time, text)])]);
        ingest(&mut engine, &format!("w{number}"), &world.logs);
        let latest = world.rows(Table::Latest);
        assert_eq!(latest.len(), 1);
        assert_eq!(text_of(&latest[0]), expected, "after {text}");
    };
    step("20230110000000", "first", "first");
    step("20230110000000", "same time", "first");
    step("20230109000000", "earlier", "first");
    step("no time", "no time", "first");
    step("20230111000000", "later", "later");
}

#[test]
fn a_latest_row_without_a_time_stays_for_ever() {
    let world = World::new();
    let mut engine = engine(&world.lake, &[]);
    world.logs(&[(A, vec![Message::new("", "7").text("timeless")])]);
    ingest(&mut engine, "w1", &world.logs);
    world.logs(&[(B, vec![Message::new("20230113180717", "7").text("timed")])]);
    ingest(&mut engine, "w2", &world.logs);
    assert_eq!(text_of(&world.rows(Table::Latest)[0]), "timeless");
}

#[test]
fn within_a_batch_the_latest_message_wins_and_ties_go_to_the_greatest_identifier() {
    let world = World::new();
    let mut engine = engine(&world.lake, &[]);
    let at = |time: &str, text: &str| Message::new(time, "7").text(text);
    world.logs(&[
        (
            A,
            vec![
                at("", "none"),
                at("20230113000000", "tie 0"),
                at("20230113000000", "tie 1"),
            ],
        ),
        (B, vec![at("20230112000000", "earlier")]),
    ]);
    ingest(&mut engine, "w", &world.logs);
    assert_eq!(text_of(&world.rows(Table::Latest)[0]), "tie 1");
}

#[test]
fn the_diagnoses_of_an_accession_are_replaced_as_a_whole() {
    let world = World::new();
    let mut engine = engine(&world.lake, &[]);
    let with = |time: &str, codes: &[&str]| Message::new(time, "7").diagnoses(codes);
    let other = Message::new("20230113000000", "8").diagnoses(&["Z"]);
    world.logs(&[(A, vec![with("20230113000000", &["A", "B"]), other])]);
    ingest(&mut engine, "w1", &world.logs);
    let codes = |world: &World| -> Vec<(String, String)> {
        let mut codes: Vec<_> = world
            .rows(Table::Dx)
            .iter()
            .map(|row| {
                (
                    row["accession_number"].clone(),
                    row["diagnosis_code"].clone(),
                )
            })
            .collect();
        codes.sort();
        codes
    };
    let pair = |a: &str, c: &str| (a.to_owned(), c.to_owned());
    assert_eq!(
        codes(&world),
        [pair("7", "A"), pair("7", "B"), pair("8", "Z")]
    );
    world.logs(&[(B, vec![with("20230114000000", &["C"])])]);
    let ledger = ingest(&mut engine, "w2", &world.logs);
    assert_eq!(ledger.table(Table::Dx).deleted, 2);
    assert_eq!(codes(&world), [pair("7", "C"), pair("8", "Z")]);
    let id = &world.rows(Table::Dx)[0]["diagnosis_id"];
    assert!(id.ends_with("_0.hl7_0") || id.ends_with("_1.hl7_0"), "{id}");
    // A newer report without diagnoses takes the old ones away.
    world.logs(&[("2023/20230115.log", vec![with("20230115000000", &[])])]);
    ingest(&mut engine, "w3", &world.logs);
    assert_eq!(codes(&world), [pair("8", "Z")]);
}

#[test]
fn new_identifier_columns_appear_in_every_table_that_has_them() {
    let world = World::new();
    let mut engine = engine(&world.lake, &[]);
    let first = Message::new("20230113000000", "7").diagnoses(&["A"]);
    world.logs(&[(A, vec![first])]);
    ingest(&mut engine, "w1", &world.logs);
    let second = Message::new("20230114000000", "8")
        .ids("5^^^ABC^MR")
        .diagnoses(&["B"]);
    world.logs(&[(B, vec![second])]);
    ingest(&mut engine, "w2", &world.logs);
    for table in [Table::Reports, Table::Curated, Table::Latest, Table::Dx] {
        let ids: Vec<_> = world
            .rows(table)
            .iter()
            .map(|row| (row.get("epic_mrn").cloned(), row.get("abc_mr").cloned()))
            .collect();
        assert!(ids.contains(&(Some("1".into()), None)), "{table:?} {ids:?}");
        assert!(ids.contains(&(None, Some("5".into()))), "{table:?} {ids:?}");
    }
}

#[test]
fn a_changed_file_is_updated_and_what_the_batch_does_not_carry_stays() {
    let world = World::new();
    let mut engine = engine(&world.lake, &[]);
    let ids = "1^^^EPIC^MRN~2^^^ABC^MR";
    world.logs(&[(
        A,
        vec![Message::new("20230113000000", "7").ids(ids).text("old")],
    )]);
    ingest(&mut engine, "w1", &world.logs);
    world.logs(&[(A, vec![Message::new("20230113000000", "7").text("new")])]);
    let ledger = ingest(&mut engine, "w2", &world.logs);
    assert_eq!((ledger.reports.inserted, ledger.reports.updated), (0, 1));
    for table in [Table::Reports, Table::Curated] {
        let rows = world.rows(table);
        assert_eq!(rows.len(), 1, "{table:?}");
        assert_eq!(text_of(&rows[0]), "new");
        assert_eq!(
            rows[0]["abc_mr"], "2",
            "a column that no message of the batch has is kept"
        );
    }
    // Not strictly later: latest keeps the old text.
    assert_eq!(text_of(&world.rows(Table::Latest)[0]), "old");
}

#[test]
fn a_file_sent_again_in_another_year_is_a_second_row() {
    let world = World::new();
    let mut engine = engine(&world.lake, &[]);
    world.logs(&[(A, vec![Message::new("20230113000000", "7")])]);
    ingest(&mut engine, "w1", &world.logs);
    world.logs(&[(A, vec![Message::new("20240113000000", "9")])]);
    ingest(&mut engine, "w2", &world.logs);
    assert_eq!(world.rows(Table::Reports).len(), 2);
    assert_eq!(world.rows(Table::Curated).len(), 2);
    assert_eq!(world.rows(Table::Latest).len(), 2);
    assert_eq!(
        world.rows(Table::Mapping).len(),
        1,
        "the report is mapped once"
    );
}

#[test]
fn a_workflow_without_a_parsable_message_completes_and_says_so() {
    let world = World::new();
    write_log(&world.logs, A, &[]);
    std::fs::write(world.logs.join(B), "<SB>\nMSH|too short<R>\n<EB><R>\n").expect("it is written");
    let mut engine = engine(&world.lake, &[]);
    let ledger = ingest(&mut engine, "w", &world.logs);
    assert!(ledger.without_messages && ledger.is_balanced());
    assert_eq!(ledger.failed_logs.len(), 1);
    assert_eq!(ledger.unparsable.len(), 1);
    assert!(world.rows(Table::Reports).is_empty());
}

#[test]
fn an_id_that_makes_no_column_refuses_the_workflow_before_anything_is_written() {
    let world = World::new();
    let good = Message::new("20230113000000", "7");
    let bad = Message::new("20230113000000", "8").ids("5^^^A.B^MR");
    world.logs(&[(A, vec![good, bad])]);
    let mut engine = engine(&world.lake, &[]);
    let error = engine
        .ingest("w", &batch(&world.logs), &mut Silent)
        .expect_err("it is refused");
    assert!(
        matches!(&error, Error::Identifier { ordinal: 1, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("20230113.log") && !error.to_string().contains("A.B"));
    assert!(world.rows(Table::Reports).is_empty());
}

#[test]
fn a_log_that_is_gone_is_an_outcome() {
    let world = World::new();
    world.logs(&[(A, vec![Message::new("20230113000000", "7")]), (B, vec![])]);
    let listed = batch(&world.logs);
    std::fs::remove_file(world.logs.join(B)).expect("it goes");
    let mut engine = engine(&world.lake, &[]);
    let ledger = engine
        .ingest("w", &listed, &mut Silent)
        .expect("the rest is ingested");
    assert_eq!(ledger.failed_logs.len(), 1);
    assert_eq!(ledger.failed_logs[0].file, B);
    assert_eq!(ledger.parsed, 1);
}

#[test]
fn settings_change_the_files_and_not_the_rows() {
    let reference = World::new();
    let logs = |world: &World, day: u32| {
        let messages: Vec<Message> = (0..40)
            .map(|n| {
                let time = format!("20230113{:02}0000", n % 24);
                let ids = format!("{}^^^EPIC^MRN~{}^^^EMPI^MR", n % 7 + day, n % 5);
                let codes: Vec<String> = (0..n % 3).map(|c| format!("C{c}")).collect();
                let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
                Message::new(&time, &format!("{}", n % 30))
                    .ids(&ids)
                    .diagnoses(&codes)
            })
            .collect();
        let name = format!("2023/202301{day:02}.log");
        world.logs(&[(name.as_str(), messages)]);
    };
    let all: [&[(&str, &str)]; 5] = [
        &[],
        &[
            ("shuffle_partitions", "7"),
            ("adaptive", "false"),
            ("repartition_before_write", "false"),
        ],
        &[("shuffle_partitions", "16"), ("optimize_write", "true")],
        &[
            ("shuffle_partitions", "5"),
            ("adaptive", "false"),
            ("auto_compact", "true"),
            ("auto_compact_min_files", "3"),
            ("optimize_latest_after_merge", "false"),
        ],
        &[
            ("checkpoint_interval", "2"),
            ("vacuum", "1"),
            ("vacuum_retention", "0s"),
        ],
    ];
    let mut expected = None;
    for pairs in all {
        let world = World::new();
        for day in 1..=4_u32 {
            // Opened anew for every workflow, so that checkpoints are read back.
            let mut engine = engine(&world.lake, pairs);
            logs(&world, day);
            ingest(&mut engine, &format!("w{day}"), &world.logs);
            engine.after_workflow(day, None).expect("the vacuum runs");
        }
        let found: Vec<_> = [
            Table::Reports,
            Table::Curated,
            Table::Latest,
            Table::Dx,
            Table::Mapping,
        ]
        .map(|table| stable_rows(&world.lake, table))
        .to_vec();
        let found = (found, crate::common::patients(&world.lake));
        match &expected {
            None => expected = Some(found),
            Some(expected) => assert!(*expected == found, "{pairs:?} changes rows"),
        }
    }
    drop(reference);
}
