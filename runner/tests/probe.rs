//! The state of tables, read from a log and a folder that are written here by hand.

use bench_runner::probe::{LakeProbe, TableState};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

fn commit(table: &Path, version: u64, operation: &str, actions: &[Value]) {
    let log = table.join("_delta_log");
    fs::create_dir_all(&log).expect("a folder is made");
    let info = json!({ "commitInfo": { "operation": operation } });
    let lines: Vec<String> = std::iter::once(&info)
        .chain(actions)
        .map(Value::to_string)
        .collect();
    fs::write(log.join(format!("{version:020}.json")), lines.join("\n")).expect("it is written");
}

/// Writes a data file of some bytes; the action that adds it.
fn add(table: &Path, path: &str, bytes: usize, rows: Option<u64>) -> Value {
    let full = table.join(path);
    fs::create_dir_all(full.parent().expect("it has one")).expect("a folder is made");
    fs::write(full, vec![0; bytes]).expect("it is written");
    let stats = rows.map(|rows| json!({ "numRecords": rows }).to_string());
    json!({ "add": { "path": path, "partitionValues": {}, "size": bytes, "modificationTime": 1,
        "dataChange": true, "stats": stats } })
}

fn remove(path: &str) -> Value {
    json!({ "remove": { "path": path, "dataChange": true } })
}

fn probe(lake: &Path) -> LakeProbe {
    LakeProbe::new(lake.to_str().expect("it is text"), &BTreeMap::new()).expect("it is an address")
}

fn only(probe: &mut LakeProbe) -> TableState {
    let mut tables = probe.tables().expect("the lake is probed");
    assert_eq!(tables.len(), 1, "a table that is not there is absent");
    tables.remove(0)
}

#[test]
fn a_probe_follows_a_table_from_look_to_look() {
    let lake = tempfile::tempdir().expect("a folder is made");
    let mut probe = probe(lake.path());
    assert_eq!(probe.tables().expect("an empty lake is probed"), []);
    let table = lake.path().join("reports");
    commit(&table, 0, "CREATE TABLE", &[]);
    commit(
        &table,
        1,
        "MERGE",
        &[
            add(&table, "year=2023/a.parquet", 10, Some(1)),
            add(&table, "year=2023/b.parquet", 30, Some(2)),
            add(&table, "year=2024/c.parquet", 20, Some(3)),
        ],
    );
    let first = only(&mut probe);
    let expected = TableState {
        table: "reports".to_owned(),
        version: 1,
        rows: Some(6),
        live_files: 3,
        live_bytes: 60,
        file_p50_bytes: Some(20),
        file_max_bytes: Some(30),
        disk_files: 3,
        disk_bytes: 60,
        log_entries: 2,
        checkpoints: 0,
        operations: BTreeMap::from([("CREATE TABLE".to_owned(), 1), ("MERGE".to_owned(), 1)]),
    };
    assert_eq!(first, expected);

    commit(
        &table,
        2,
        "OPTIMIZE",
        &[
            remove("year=2023/a.parquet"),
            remove("year=2023/b.parquet"),
            add(&table, "year=2023/d%20e.parquet", 35, None),
        ],
    );
    fs::write(
        table.join("_delta_log/00000000000000000002.checkpoint.parquet"),
        "",
    )
    .expect("it is written");
    let second = only(&mut probe);
    let expected = TableState {
        version: 2,
        rows: None,
        live_files: 2,
        live_bytes: 55,
        file_p50_bytes: Some(20),
        file_max_bytes: Some(35),
        disk_files: 4,
        disk_bytes: 95,
        log_entries: 3,
        checkpoints: 1,
        operations: BTreeMap::from([("OPTIMIZE".to_owned(), 1)]),
        ..first
    };
    assert_eq!(second, expected);
    let again = only(&mut probe);
    assert_eq!(
        again,
        TableState {
            operations: BTreeMap::new(),
            ..second
        }
    );
    let text = serde_json::to_string(&again).expect("it is JSON");
    assert_eq!(
        serde_json::from_str::<TableState>(&text).expect("it reads back"),
        again
    );
}

#[test]
fn a_look_reads_only_what_is_new() {
    let lake = tempfile::tempdir().expect("a folder is made");
    let table = lake.path().join("reports_curated");
    commit(&table, 0, "CREATE TABLE", &[]);
    for version in 1..=25 {
        let adds: Vec<Value> = (0..200)
            .map(|number| {
                add(
                    &table,
                    &format!("part-{version}-{number}.parquet"),
                    100,
                    Some(1),
                )
            })
            .collect();
        commit(&table, version, "MERGE", &adds);
    }
    let mut probe = probe(lake.path());
    assert_eq!(only(&mut probe).live_files, 5000);
    // An entry that was read is not looked at again, so what it says now does not matter.
    for version in 1..=25 {
        fs::write(
            table.join(format!("_delta_log/{version:020}.json")),
            "nonsense",
        )
        .expect("it is written");
    }
    commit(
        &table,
        26,
        "MERGE",
        &[add(&table, "part-26.parquet", 100, Some(1))],
    );
    let begin = Instant::now();
    let state = only(&mut probe);
    eprintln!(
        "a look at {} live files took {:?}",
        state.live_files,
        begin.elapsed()
    );
    assert_eq!(
        (state.live_files, state.rows, state.disk_files),
        (5001, Some(5001), 5001)
    );
}
