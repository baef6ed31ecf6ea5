//! The worker protocol, line by line.

use crate::common::{Message, write_log};
use bench_embedded::protocol::{Done, Hello, Ingest, Line, Manifest, Reply, Request, Resources};
use bench_embedded::worker::{AtEnd, serve};
use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn hello(folder: &Path, settings: &str) -> Request {
    let path = |name: &str| folder.join(name).to_str().expect("it is text").to_owned();
    Request::Hello(Hello {
        lake: path("lake"),
        dataset: path("logs"),
        sequence: "arm-1".into(),
        settings: serde_json::from_str(settings).expect("it is JSON"),
        resources: Resources {
            slots: None,
            cpus: Some(2),
            memory_bytes: None,
        },
        staging_root: None,
        storage: BTreeMap::new(),
        options: BTreeMap::new(),
    })
}

fn ingest(workflow: u32, attempt: u32, logs: &[&str]) -> Request {
    let logs = logs.iter().map(|log| (*log).to_owned()).collect();
    Request::Ingest(Ingest {
        workflow,
        attempt,
        manifest: Manifest { logs },
        last: false,
    })
}

fn talk(requests: &[Request]) -> (Vec<Reply>, Result<(), bench_embedded::Error>) {
    let lines: String = requests
        .iter()
        .map(|request| serde_json::to_string(&Line::new(request)).expect("it is JSON") + "\n")
        .collect();
    raw(lines)
}

fn raw(lines: String) -> (Vec<Reply>, Result<(), bench_embedded::Error>) {
    let output = Shared::default();
    let result = serve(Cursor::new(lines), output.clone(), AtEnd::Finish);
    let bytes = output.0.lock().expect("nobody panics").clone();
    let replies = String::from_utf8(bytes)
        .expect("replies are text")
        .lines()
        .map(|line| {
            let line: Line<Reply> = serde_json::from_str(line).expect("a reply is JSON");
            assert_eq!(line.protocol, 1);
            line.message
        })
        .collect();
    (replies, result)
}

fn done(replies: &[Reply]) -> Vec<&Done> {
    replies
        .iter()
        .filter_map(|reply| {
            if let Reply::Done(done) = reply {
                Some(done)
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn a_worker_ingests_what_it_is_told_and_knows_a_second_attempt() {
    let folder = crate::common::temporary();
    let logs = folder.path().join("logs");
    write_log(
        &logs,
        "2023/20230113.log",
        &[Message::new("", "7"), Message::new("20230113000000", "8")],
    );
    let list = ["2023/20230113.log"];
    let (replies, result) = talk(&[
        hello(
            folder.path(),
            r#"{"shuffle_partitions": 4, "spark.x": 1, "adaptive": false}"#,
        ),
        ingest(1, 1, &list),
        ingest(1, 2, &list),
        ingest(2, 1, &list),
        Request::Shutdown,
    ]);
    result.expect("it ends well");
    let Some(Reply::Ready(ready)) = replies.first() else {
        panic!("{:?}", replies.first())
    };
    assert_eq!(ready.engine, "embedded");
    assert_eq!(ready.effective["shuffle_partitions"], "4");
    assert_eq!(ready.effective["optimize_write"], "false");
    assert_eq!(ready.unsupported, ["spark.x"]);
    let done = done(&replies);
    assert_eq!(done.len(), 3);
    let rows: Vec<u64> = done
        .iter()
        .map(|done| done.ledger.state["reports"].rows)
        .collect();
    assert_eq!(
        rows,
        [2, 2, 3],
        "a second attempt adds nothing, a second workflow the NULL year"
    );
    assert!(done[1].ledger.continued);
    let stages: Vec<&str> = replies
        .iter()
        .filter_map(|reply| match reply {
            Reply::Stage {
                workflow: 1,
                attempt: 1,
                stage,
            } => Some(stage.name.as_str()),
            _ => None,
        })
        .collect();
    for stage in [
        "read",
        "reports",
        "curated",
        "latest",
        "mapping-1-read",
        "mapping-2-disjoint",
    ] {
        assert!(stages.contains(&stage), "{stage} in {stages:?}");
    }
}

#[test]
fn a_setting_that_cannot_be_read_is_answered_as_failed() {
    let folder = crate::common::temporary();
    let (replies, result) = talk(&[hello(folder.path(), r#"{"shuffle_partitions": 0}"#)]);
    result.expect("the worker lives");
    let [
        Reply::Failed {
            workflow: None,
            message,
            retryable: false,
            ..
        },
    ] = replies.as_slice()
    else {
        panic!("{replies:?}")
    };
    assert!(message.contains("shuffle_partitions"), "{message}");
}

#[test]
fn lines_that_are_no_requests_end_the_worker() {
    for (line, told) in [
        ("nonsense\n", "JSON"),
        ("{\"type\":\"shutdown\"}\n", "version"),
        ("{\"protocol\":2,\"type\":\"shutdown\"}\n", "version 2"),
        ("{\"protocol\":1,\"type\":\"dance\"}\n", "no request"),
        (
            "{\"protocol\":1,\"type\":\"ingest\",\"workflow\":1,\"attempt\":1,\"manifest\":{\"logs\":[]}}\n",
            "out of order",
        ),
    ] {
        let (replies, result) = raw(line.to_owned());
        assert!(replies.is_empty());
        let error = result.expect_err("it is no request").to_string();
        assert!(error.contains(told), "{error}");
    }
}
