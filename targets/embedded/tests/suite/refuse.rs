//! Lakes that the engine must not write to, and places where it cannot.

use crate::common::{Message, batch, engine, write_log};
use bench_embedded::{Engine, Error, Options, Silent};
use std::fs;
use std::path::{Path, PathBuf};

fn lake_with(folder: &Path, edit: impl Fn(&str) -> String) -> PathBuf {
    let lake = folder.join("lake");
    drop(engine(&lake, &[]));
    let entry = lake.join("reports_curated/_delta_log/00000000000000000000.json");
    let text = fs::read_to_string(&entry).expect("the table is there");
    fs::write(&entry, edit(&text)).expect("it is written");
    lake
}

fn open(lake: &Path) -> Error {
    let lake = lake.to_str().expect("the path is text");
    Engine::open(lake, Options::default())
        .err()
        .expect("it is refused")
}

/// A lake whose table of curated reports has a property.
fn lake_with_property(folder: &Path, key: &str, value: &str) -> PathBuf {
    lake_with(folder, |text| {
        assert!(text.contains("\"configuration\":{"), "{text}");
        let with = format!("\"configuration\":{{\"{key}\":\"{value}\",");
        text.replace("\"configuration\":{", &with)
    })
}

fn assert_unsupported(error: &Error, told: &str) {
    let of = matches!(error, Error::Unsupported { table, .. } if *table == "reports_curated");
    assert!(of, "{error}");
    assert!(error.to_string().contains(told), "{error}");
    assert!(!error.is_retryable(), "{error}");
}

#[test]
fn a_table_with_properties_that_a_writer_must_honour_is_refused() {
    for (property, value) in [
        ("delta.enableChangeDataFeed", "true"),
        ("delta.appendOnly", "TRUE"),
        ("delta.enableDeletionVectors", "true"),
        ("delta.enableRowTracking", "true"),
        ("delta.enableInCommitTimestamps", "true"),
        ("delta.enableTypeWidening", "true"),
        ("delta.enableIcebergCompatV2", "true"),
        ("delta.universalFormat.enabledFormats", "iceberg"),
        ("delta.columnMapping.mode", "name"),
        ("delta.checkpointPolicy", "v2"),
        ("delta.constraints.x", "sex IS NOT NULL"),
        // The engine knows a repeated attempt by its transaction, which would be forgotten.
        ("delta.setTransactionRetentionDuration", "interval 1 day"),
        ("delta.randomizeFilePrefixes", "true"),
        ("delta.nobodyKnowsThis", "1"),
    ] {
        let folder = crate::common::temporary();
        let lake = lake_with_property(folder.path(), property, value);
        assert_unsupported(&open(&lake), property);
    }
}

#[test]
fn a_table_with_properties_that_ask_for_nothing_is_taken() {
    for (property, value) in [
        ("delta.enableChangeDataFeed", "false"),
        ("delta.columnMapping.mode", "none"),
        ("delta.checkpointPolicy", "classic"),
        ("delta.logRetentionDuration", "interval 30 days"),
        ("delta.autoOptimize.optimizeWrite", "true"),
        ("owner", "somebody"),
    ] {
        let folder = crate::common::temporary();
        let lake = lake_with_property(folder.path(), property, value);
        drop(engine(&lake, &[]));
    }
}

#[test]
fn a_table_with_features_that_a_writer_must_honour_is_refused_and_they_are_named() {
    let protocol = |reader: &[&str], writer: &[&str]| {
        format!(
            "{{\"protocol\":{{\"minReaderVersion\":3,\"minWriterVersion\":7,\
             \"readerFeatures\":{},\"writerFeatures\":{}}}}}",
            serde_json::json!(reader),
            serde_json::json!(writer)
        )
    };
    let lake = |folder: &Path, protocol: &str| {
        lake_with(folder, |text| {
            let lines = text.lines();
            let replaced: Vec<&str> = lines
                .map(|line| {
                    if line.contains("minReaderVersion") {
                        protocol
                    } else {
                        line
                    }
                })
                .collect();
            replaced.join("\n")
        })
    };
    for (reader, writer) in [
        (&["deletionVectors"][..], &["deletionVectors"][..]),
        (&["columnMapping"], &["columnMapping"]),
        (&["v2Checkpoint"], &["v2Checkpoint"]),
        (&["typeWidening"], &["typeWidening"]),
        (&[], &["clustering", "domainMetadata"]),
        (&[], &["changeDataFeed"]),
        (&[], &["checkConstraints"]),
        (&[], &["generatedColumns"]),
        (&[], &["identityColumns"]),
        (&[], &["rowTracking", "domainMetadata"]),
        (&[], &["inCommitTimestamp"]),
        (&[], &["icebergCompatV1", "columnMapping"]),
        (&[], &["nobodyKnowsThis"]),
    ] {
        let folder = crate::common::temporary();
        let error = open(&lake(folder.path(), &protocol(reader, writer)));
        let told = error.to_string();
        assert!(told.contains("reports_curated"), "{told}");
        assert!(
            writer.iter().any(|feature| told.contains(feature)),
            "{told}"
        );
        assert!(!error.is_retryable(), "{told}");
    }
    let folder = crate::common::temporary();
    let taken = protocol(&[], &["appendOnly", "invariants"]);
    drop(engine(&lake(folder.path(), &taken), &[]));

    for (reader, writer) in [(1, 4), (2, 5), (1, 3), (4, 7), (3, 8)] {
        let folder = crate::common::temporary();
        let line = format!(
            "{{\"protocol\":{{\"minReaderVersion\":{reader},\"minWriterVersion\":{writer}}}}}"
        );
        let error = open(&lake(folder.path(), &line));
        let told = error.to_string();
        assert!(told.contains("reports_curated"), "{told}");
        assert!(!error.is_retryable(), "{told}");
    }
}

#[test]
fn a_column_with_a_constraint_is_refused_and_named() {
    let null = r#"\"name\":\"sex\",\"nullable\":true"#;
    for (from, to) in [
        (null, r#"\"name\":\"sex\",\"nullable\":false"#),
        (
            r#"\"metadata\":{},\"name\":\"sex\""#,
            r#"\"metadata\":{\"delta.invariants\":\"{}\"},\"name\":\"sex\""#,
        ),
    ] {
        let folder = crate::common::temporary();
        let lake = lake_with(folder.path(), |text| {
            let edited = text.replace(from, to);
            assert!(edited != text, "{text}");
            edited
        });
        assert_unsupported(&open(&lake), "a constraint on column sex");
    }
}

#[test]
fn a_table_that_is_partitioned_otherwise_is_refused() {
    let folder = crate::common::temporary();
    let lake = lake_with(folder.path(), |text| {
        let edited = text.replace(
            "\"partitionColumns\":[\"year\"]",
            "\"partitionColumns\":[\"sex\"]",
        );
        edited.replace("\"partitionColumns\":[]", "\"partitionColumns\":[\"sex\"]")
    });
    let error = open(&lake);
    assert!(matches!(error, Error::Schema { .. }), "{error}");
    assert!(
        error.to_string().contains("partitioned by [sex]"),
        "{error}"
    );
}

#[test]
fn what_another_writer_turns_on_later_stops_the_workflow_before_it_writes() {
    let folder = crate::common::temporary();
    let (logs, lake, mut engine) = crate::common::small_lake(folder.path());
    let before = crate::common::versions(&engine);
    let curated = engine.state()["reports_curated"].version;
    let log = lake.join("reports_curated/_delta_log");
    let entry = log.join(format!("{:020}.json", curated + 1));
    let upgrade = concat!(
        r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"#,
        r#""readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors"]}}"#
    );
    fs::write(&entry, upgrade).expect("it is written");
    write_log(
        &logs,
        "20230113.log",
        &[Message::new("20230113000000", "8")],
    );
    let error = engine
        .ingest("w2", &batch(&logs), &mut Silent)
        .expect_err("it is refused");
    assert_unsupported(&error, "deletionVectors");
    assert_eq!(crate::common::versions(&engine), before);
}

#[test]
fn a_table_of_other_columns_is_refused_and_the_column_named() {
    let edits: [(&[(&str, &str)], &str); 2] = [
        (&[(r#"\"name\":\"sex\""#, r#"\"name\":\"gender\""#)], "sex"),
        // Whichever order the keys of a field stand in.
        (
            &[
                (r#"\"type\":\"date\""#, r#"\"type\":\"string\""#),
                (r#"\"type\": \"date\""#, r#"\"type\": \"string\""#),
            ],
            "birth_date",
        ),
    ];
    for (edits, told) in edits {
        let folder = crate::common::temporary();
        let lake = lake_with(folder.path(), |text| {
            let edited = edits
                .iter()
                .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
            assert!(edited != text, "{text}");
            edited
        });
        let error = open(&lake);
        assert!(matches!(error, Error::Schema { .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = crate::common::temporary();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").expect("it is written");
    let error = open(&file.join("lake"));
    assert!(error.to_string().contains("file/lake"), "{error}");
    let error = Engine::open("gs://bucket/lake", Options::default())
        .err()
        .expect("it is refused");
    assert!(matches!(error, Error::Location { .. }), "{error}");
}

#[test]
fn a_data_file_that_is_gone_fails_the_workflow_and_changes_nothing() {
    let folder = crate::common::temporary();
    let (logs, lake, mut engine) = crate::common::small_lake(folder.path());
    let (path, _) = crate::common::files(&lake, bench_tables::Table::Reports).remove(0);
    fs::remove_file(&path).expect("it goes");
    let before = crate::common::versions(&engine);
    write_log(
        &logs,
        "20230113.log",
        &[Message::new("20230113000000", "7").text("new")],
    );
    let error = engine
        .ingest("w2", &batch(&logs), &mut Silent)
        .expect_err("it cannot be merged");
    assert!(error.to_string().contains("part-"), "{error}");
    assert_eq!(crate::common::versions(&engine), before);
}
