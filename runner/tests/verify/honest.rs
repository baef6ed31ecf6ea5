//! Lakes that are right pass, whatever profile, settings, order and interruptions made them.

use crate::drive::{Worker, batches, generate, subject};
use bench_runner::verify::{Interleaving, Subject, Truth, Verification, verify};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn assert_passes(subject: &Subject, what: &str) -> Verification {
    let verification = verify(subject).expect("the lake can be verified");
    let failures: Vec<_> = verification.failures().collect();
    assert!(failures.is_empty(), "{what}: {failures:#?}");
    assert!(verification.passed());
    verification
}

fn ingest(dataset: &Path, lake: &Path, order: &[Vec<String>], settings: &Value) -> Subject {
    let mut worker = Worker::start(&[], dataset, lake, settings);
    let workflows = (1..)
        .zip(order)
        .map(|(number, logs)| worker.ingest(number, logs))
        .collect();
    worker.end();
    subject(dataset, lake, workflows)
}

#[test]
fn an_honest_worker_passes_with_every_profile() {
    for profile in ["varied", "lifelike", "webs", "dirty"] {
        let folder = tempfile::tempdir().expect("a folder is made");
        let (dataset, lake) = (folder.path().join("data"), folder.path().join("lake"));
        generate(profile, 300, 24, &dataset);
        let mut order = batches(&dataset, 9);
        // A deliberate second ingest, which inserts rows without a year again.
        order.push(order[1].clone());
        let settings =
            json!({ "shuffle_partitions": 3, "adaptive": false, "checkpoint_interval": 2 });
        let mut subject = ingest(&dataset, &lake, &order, &settings);
        assert_passes(&subject, profile);
        subject.truth = Truth::ReadFromLogs;
        assert_passes(&subject, &format!("{profile} without truth"));
        for interleaving in [Interleaving::OneAtATime, Interleaving::Overlapping] {
            subject.interleaving = interleaving;
            assert_passes(&subject, &format!("{profile} {interleaving:?}"));
        }
        subject.interleaving = Interleaving::OneAtATime;
        subject.workflows[1].attempts = 3;
        assert_passes(&subject, &format!("{profile} with a retry"));
    }
}

#[test]
fn a_workflow_that_was_interrupted_may_have_left_nothing() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let (dataset, lake) = (folder.path().join("data"), folder.path().join("lake"));
    generate("dirty", 200, 12, &dataset);
    let order = batches(&dataset, 6);
    let mut subject = ingest(&dataset, &lake, &order[..1], &json!({}));
    let interrupted = Worker::interrupted(2, 2, &order[1]);
    subject.workflows.push(interrupted);
    let verification = assert_passes(&subject, "an interrupted workflow");
    let told = verification
        .checks
        .iter()
        .find(|check| check.name == "interrupted");
    assert_eq!(told.expect("it is told").found, "nothing");
}

#[test]
fn a_workflow_that_is_not_there_is_found_missing() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let (dataset, lake) = (folder.path().join("data"), folder.path().join("lake"));
    generate("varied", 100, 8, &dataset);
    let order = batches(&dataset, 4);
    let mut subject = ingest(&dataset, &lake, &order[..1], &json!({}));
    let mut missing = subject.workflows[0].clone();
    missing.logs.clone_from(&order[1]);
    missing.ledger = None;
    subject.workflows.push(missing);
    let verification = verify(&subject).expect("it can be verified");
    assert!(!verification.passed());
    let keys = verification
        .failures()
        .find(|check| check.name == "keys")
        .expect("keys fail");
    assert_eq!(keys.positions[0].log.as_ref(), order[1].first());
}
