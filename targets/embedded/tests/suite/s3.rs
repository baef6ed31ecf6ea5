//! Lakes in an object store: the same rows, the same safety.
//!
//! The tests run against a server in this process ([`crate::s3_server`]); `just test-s3` runs
//! those that need no faults against another server as well, named by the environment.

use crate::child::{KILL_AT, Task};
use crate::common::{Message, Temporary, contents, patients, temporary, write_log};
use crate::expected::{check, facts, generate, read_truth};
use crate::s3_server::{Fault, Server};
use bench_embedded::{Engine, Error, Options};
use bench_tables::fold::{Fold, Settings};
use deltalake::logstore::object_store::aws::AmazonS3Builder;
use deltalake::logstore::object_store::{ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Address of a server outside, which has the bucket.
const ENDPOINT: &str = "BENCH_TEST_S3_ENDPOINT";
const BUCKET: &str = "lakes";

/// Settings under which a workflow writes, compacts and deletes, and makes checkpoints.
const SETTINGS: &[(&str, &str)] = &[
    ("shuffle_partitions", "4"),
    ("adaptive", "false"),
    ("auto_compact", "true"),
    ("auto_compact_min_files", "4"),
    ("checkpoint_interval", "3"),
    ("vacuum", "2"),
    ("vacuum_retention", "0s"),
];

fn storage(endpoint: &str) -> HashMap<String, String> {
    [
        ("AWS_ENDPOINT", endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("retry_timeout_seconds", "20"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

/// A task whose lake is in the store; every lake has a prefix of its own.
fn on_s3(mut task: Task, endpoint: &str) -> Task {
    task.lake = format!("s3://{BUCKET}/{}", uuid::Uuid::new_v4());
    task.storage = storage(endpoint);
    task
}

/// The objects of a task's lake as files.
fn download(task: &Task) -> (Temporary, PathBuf) {
    let folder = temporary();
    let lake = folder.path().join("lake");
    let mut builder = AmazonS3Builder::new().with_url(&task.lake);
    for (key, value) in &task.storage {
        if let Ok(key) = key.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    let store = builder.build().expect("the store is known");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        let prefix = task.lake.rsplit('/').next().expect("a lake has a prefix");
        let prefix = prefix.into();
        let listed = store.list(Some(&prefix)).try_collect::<Vec<_>>().await;
        for object in listed.expect("it is listed") {
            let got = store.get(&object.location).await.expect("it is there");
            let bytes = got.bytes().await.expect("it is read");
            let relative: PathBuf = object
                .location
                .parts()
                .skip(1)
                .collect::<Vec<_>>()
                .iter()
                .map(|part| part.as_ref().to_owned())
                .collect();
            let path = lake.join(relative);
            std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("it is made");
            std::fs::write(path, bytes).expect("it is written");
        }
    });
    (folder, lake)
}

fn a_lake_equals_the_truth(endpoint: &str) {
    let folder = temporary();
    let dataset = folder.path().join("data");
    generate("lifelike", 400, 8, 11, &dataset);
    let task = on_s3(Task::new(&dataset, Path::new("-"), 2, SETTINGS), endpoint);
    let truth = read_truth(&dataset);
    let mut fold = Fold::new(Settings::default());
    for number in 0..task.workflows.len() {
        // Opened anew for every workflow, so that logs and checkpoints are read back.
        let mut engine = task.open().expect("the lake opens");
        task.attempt_one(&mut engine, number)
            .expect("it is ingested");
        let facts = facts(&truth, &task.batch(number));
        fold.workflow(&facts).expect("the facts agree");
    }
    let (_folder, lake) = download(&task);
    check(&lake, &fold, "on S3");
}

fn a_killed_worker_is_completed(endpoint: &str, step: usize) {
    let folder = temporary();
    let dataset = folder.path().join("logs");
    crate::kill::write_dataset(&dataset);
    let whole = folder.path().join("whole");
    let task = Task::new(&dataset, &whole, 1, SETTINGS);
    task.attempt().expect("nothing is in the way");
    let expected = (contents(&whole), patients(&whole));
    let mut killed = 0;
    for at in (1..).step_by(step) {
        let task = on_s3(task.clone(), endpoint);
        let mut command = task.command(folder.path(), "");
        let output = command.env(KILL_AT, at.to_string()).output();
        if output.expect("it starts").status.success() {
            break;
        }
        killed += 1;
        task.attempt().expect("the next attempt completes");
        let (_folder, lake) = download(&task);
        let found = (contents(&lake), patients(&lake));
        assert!(found == expected, "rows differ after point {at}");
    }
    assert!(killed > 3, "{killed}");
}

fn writers_lose_and_double_nothing(endpoint: &str, writers: usize) {
    let folder = temporary();
    let dataset = folder.path().join("logs");
    crate::writers::write_dataset(&dataset, 6);
    let whole = folder.path().join("whole");
    // Without vacuum: with a retention of nothing it is for lone writers.
    let settings: Vec<(&str, &str)> = SETTINGS
        .iter()
        .filter(|(key, _)| !key.starts_with("vacuum"))
        .copied()
        .collect();
    let task = Task::new(&dataset, &whole, 1, &settings);
    task.attempt().expect("nothing is in the way");
    let task = on_s3(task, endpoint);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let task = &task;
            scope.spawn(move || {
                let mut engine = task.open().expect("the lake opens");
                for number in (writer..task.workflows.len()).step_by(writers) {
                    task.attempt_one(&mut engine, number)
                        .expect("it is ingested");
                }
            });
        }
    });
    let (_folder, lake) = download(&task);
    crate::writers::assert_same(&lake, &whole);
}

#[test]
fn a_lake_on_s3_equals_the_truth() {
    a_lake_equals_the_truth(&Server::start().endpoint);
}

#[test]
fn a_worker_killed_on_s3_is_completed_by_the_next_attempt() {
    a_killed_worker_is_completed(&Server::start().endpoint, 17);
}

#[test]
fn two_writers_on_s3_lose_and_double_nothing() {
    writers_lose_and_double_nothing(&Server::start().endpoint, 2);
}

#[test]
#[ignore = "needs another S3 server: just test-s3"]
fn on_another_server_a_lake_equals_the_truth_kills_are_made_good_and_writers_lose_nothing() {
    let Ok(endpoint) = std::env::var(ENDPOINT) else {
        eprintln!("SKIPPED: {ENDPOINT} names no S3 server; `just test-s3` starts one");
        return;
    };
    a_lake_equals_the_truth(&endpoint);
    a_killed_worker_is_completed(&endpoint, 31);
    writers_lose_and_double_nothing(&endpoint, 2);
}

/// Two workflows into a lake of a server, and the lake that they should make.
fn small_task(folder: &Path, server: &Server) -> (Task, PathBuf) {
    let (dataset, whole) = (folder.join("logs"), folder.join("whole"));
    for day in 1..=2 {
        let messages = [
            Message::new(&format!("2023010{day}000000"), "7"),
            Message::new("", "8"),
        ];
        write_log(&dataset, &format!("2023010{day}.log"), &messages);
    }
    let task = Task::new(&dataset, &whole, 1, SETTINGS);
    task.attempt().expect("nothing is in the way");
    (on_s3(task, &server.endpoint), whole)
}

#[test]
fn a_commit_whose_answer_was_lost_is_known_as_ones_own() {
    let folder = temporary();
    let server = Server::start();
    let (task, whole) = small_task(folder.path(), &server);
    // The client asks again and is told that the version is taken: by itself.
    for (table, version) in [
        ("reports", 0),
        ("reports", 1),
        ("reports_curated", 1),
        ("reports_latest", 2),
        ("reports_report_patient_mapping", 1),
    ] {
        let end = format!("/{table}/_delta_log/{version:020}.json");
        server.fail("PUT", &end, Fault::AnswerLost);
    }
    task.attempt().expect("the client asks again");
    assert_eq!(server.failed(), 5);
    let (_folder, lake) = download(&task);
    assert!(contents(&lake) == contents(&whole), "rows differ");
    assert!(patients(&lake) == patients(&whole));
}

#[test]
fn a_busy_store_is_asked_again() {
    let folder = temporary();
    let server = Server::start();
    let (task, whole) = small_task(folder.path(), &server);
    for (method, end) in [
        ("PUT", ".parquet"),
        ("PUT", ".json"),
        ("GET", ".parquet"),
        ("GET", ".json"),
        ("GET", BUCKET),
    ] {
        server.fail(method, end, Fault::Busy);
        server.fail(method, end, Fault::Busy);
    }
    task.attempt().expect("the client asks again");
    assert_eq!(server.failed(), 10);
    let (_folder, lake) = download(&task);
    assert!(contents(&lake) == contents(&whole), "rows differ");
}

#[test]
fn a_store_that_fails_for_long_fails_the_attempt_and_the_next_one_completes() {
    let folder = temporary();
    let server = Server::start();
    let (mut task, whole) = small_task(folder.path(), &server);
    // Not asked again: what fails once has failed.
    task.storage
        .insert("retry_timeout_seconds".into(), "0".into());
    let mut engine = task.open().expect("the lake opens");
    let ends = [".parquet", "/reports/_delta_log/00000000000000000001.json"];
    for (end, fault) in [
        (ends[0], Fault::Busy),
        (ends[1], Fault::Busy),
        (ends[1], Fault::Busy),
    ] {
        server.fail("PUT", end, fault);
        let error = task.attempt_one(&mut engine, 0).expect_err("it is busy");
        assert!(error.is_retryable(), "{error}");
        assert!(error.to_string().contains("table reports"), "{error}");
    }
    // The answer is lost: the attempt goes on, since the log says that it committed.
    server.fail("PUT", ends[1], Fault::AnswerLost);
    let ledger = task.attempt_one(&mut engine, 0).expect("it committed");
    assert!(!ledger.continued);
    task.attempt_one(&mut engine, 1).expect("it is well");
    assert_eq!(server.failed(), 4);
    let (_folder, lake) = download(&task);
    assert!(contents(&lake) == contents(&whole), "rows differ");
}

#[test]
fn a_store_that_is_not_there_is_told_and_may_be_tried_again() {
    let mut storage = storage("http://127.0.0.1:1");
    storage.insert("retry_timeout_seconds".into(), "0".into());
    let error = open("s3://lakes/lake", storage);
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    assert!(error.is_retryable(), "{error}");
}

#[test]
fn an_option_that_is_misspelt_is_named() {
    let mut storage = storage("http://127.0.0.1:1");
    storage.insert("AWS_REGIN".into(), "x".into());
    let error = open("s3://lakes/lake", storage);
    assert!(matches!(error, Error::Location { .. }), "{error}");
    assert!(
        error.to_string().contains("AWS_REGIN is unknown"),
        "{error}"
    );
    assert!(!error.is_retryable());
}

#[test]
fn no_secret_is_in_an_error() {
    let mut storage = storage("http://127.0.0.1:1");
    storage.insert("retry_timeout_seconds".into(), "0".into());
    storage.insert("AWS_SECRET_ACCESS_KEY".into(), "hush-hush".into());
    let error = open("s3://lakes/lake", storage.clone());
    assert!(!format!("{error} {error:?}").contains("hush-hush"));
    storage.insert("AWS_CONDITIONAL_PUT".into(), "hush-hush".into());
    let error = open("s3://lakes/lake", storage);
    assert!(!format!("{error} {error:?}").contains("hush-hush"));
}

fn open(lake: &str, storage: HashMap<String, String>) -> Error {
    let options = Options {
        storage,
        ..Options::default()
    };
    Engine::open(lake, options)
        .err()
        .expect("it cannot be opened")
}

#[test]
fn every_object_lies_under_the_lake() {
    let folder = temporary();
    let server = Server::start();
    let (task, _) = small_task(folder.path(), &server);
    task.attempt().expect("nothing is in the way");
    let names = server.names();
    let prefix = task.lake.strip_prefix("s3://").expect("it is on S3");
    assert!(
        names.iter().all(|name| name.starts_with(prefix)),
        "{names:?}"
    );
    assert!(
        names.iter().any(|name| name.contains(".checkpoint")),
        "{names:?}"
    );
}
