//! Lakes that the engine must not write to, and places where it cannot.

use crate::common::{Message, batch, engine, ingest, write_log};
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

#[test]
fn a_table_with_features_that_a_writer_must_honour_is_refused() {
    for property in [
        "delta.enableChangeDataFeed",
        "delta.appendOnly",
        "delta.enableDeletionVectors",
        "delta.constraints.x",
    ] {
        let folder = crate::common::temporary();
        let lake = lake_with(folder.path(), |text| {
            let with = format!("\"configuration\":{{\"{property}\":\"true\",");
            assert!(text.contains("\"configuration\":{"), "{text}");
            text.replace("\"configuration\":{", &with)
        });
        let error = open(&lake);
        assert!(
            matches!(
                error,
                Error::Unsupported {
                    table: "reports_curated",
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains(property), "{error}");
    }
    let folder = crate::common::temporary();
    let lake = lake_with(folder.path(), |text| {
        text.replace("\"minWriterVersion\":2", "\"minWriterVersion\":4")
    });
    assert!(matches!(open(&lake), Error::Unsupported { .. }));
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
    let (logs, lake) = (folder.path().join("logs"), folder.path().join("lake"));
    write_log(
        &logs,
        "20230113.log",
        &[Message::new("20230113000000", "7")],
    );
    let mut engine = engine(&lake, &[]);
    ingest(&mut engine, "w1", &logs);
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
