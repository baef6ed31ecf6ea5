//! Whatever a killed attempt leaves in the lake is accepted, and so is what the next one makes of
//! it: verification must not cry wolf.

use crate::drive::{Worker, batches, copy_folder, generate_spec, subject};
use crate::honest::assert_passes;
use bench_generator::Overrides;
use bench_runner::verify::Interleaving;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lies.toml");

fn settings() -> Value {
    json!({ "shuffle_partitions": 2, "adaptive": false, "checkpoint_interval": 3 })
}

/// Kills the worker of the second of three workflows at every `step`-th point between two effects;
/// what was told of how far it came.
fn kill_at_every(step: usize) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a folder is made");
    let dataset = folder.path().join("data");
    let overrides = Overrides {
        messages: Some(150),
        log_files: Some(135),
        ..Overrides::default()
    };
    generate_spec(SPEC, &overrides, &dataset);
    let order = batches(&dataset, 45);
    let whole = folder.path().join("whole");
    let mut worker = Worker::start(&[], &dataset, &whole, &settings());
    let first = worker.ingest(1, &order[0]);
    worker.end();

    let mut told = BTreeSet::new();
    for at in (1..).step_by(step) {
        let lake = folder.path().join(format!("lake-{at}"));
        copy_folder(&whole, &lake);
        if is_killed(&dataset, &lake, 2, &order[1], at) {
            let interrupted = Worker::interrupted(2, 1, &order[1]);
            let mut subject = subject(&dataset, &lake, vec![first.clone(), interrupted]);
            let verification = assert_passes(&subject, &format!("killed at point {at}"));
            let interrupted = verification.checks.iter().find(|c| c.name == "interrupted");
            told.insert(interrupted.expect("it is told").found.clone());

            // Another workflow goes on, and then the one that was killed.
            let mut worker = Worker::start(&[], &dataset, &lake, &settings());
            let third = worker.ingest(3, &order[2]);
            subject.workflows.push(third.clone());
            assert_passes(
                &subject,
                &format!("killed at point {at}, and another workflow"),
            );
            let again = worker.try_ingest(2, 2, &order[1]).expect("it is done");
            worker.end();
            subject.workflows = vec![first.clone(), third, again];
            subject.interleaving = Interleaving::OneAtATime;
            assert_passes(
                &subject,
                &format!("killed at point {at}, and completed later"),
            );
            // Which attempt committed may not be known.
            subject.workflows.swap(1, 2);
            assert_passes(
                &subject,
                &format!("killed at point {at}, and completed later"),
            );
        } else {
            assert!(at > 20, "only {at} points");
            return told;
        }
        std::fs::remove_dir_all(&lake).expect("the lake goes");
    }
    told
}

/// Attempts a workflow; whether it is killed at that point.
fn is_killed(dataset: &Path, lake: &Path, workflow: u32, logs: &[String], at: usize) -> bool {
    let kill_at = Some(u32::try_from(at).expect("there are fewer points"));
    let worker = Worker::try_start(&[], dataset, lake, &settings(), kill_at);
    let Some(mut worker) = worker else {
        return true;
    };
    let is_killed = worker.try_ingest(workflow, 1, logs).is_none();
    if is_killed {
        worker.wait();
    } else {
        worker.end();
    }
    is_killed
}

#[test]
fn what_a_killed_attempt_leaves_is_accepted_and_told() {
    let told = kill_at_every(9);
    assert!(told.len() > 2, "{told:?}");
}

#[test]
fn what_a_killed_attempt_leaves_is_accepted_where_no_workflow_completed() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let dataset = folder.path().join("data");
    let overrides = Overrides {
        messages: Some(50),
        log_files: Some(45),
        ..Overrides::default()
    };
    generate_spec(SPEC, &overrides, &dataset);
    let logs = batches(&dataset, 45).remove(0);
    let mut kills = 0;
    for at in (1..).step_by(7) {
        let lake = folder.path().join(format!("lake-{at}"));
        if !is_killed(&dataset, &lake, 1, &logs, at) {
            break;
        }
        kills += 1;
        // Killed before there was a lake, it left nothing to be read.
        if lake.exists() {
            let interrupted = Worker::interrupted(1, 1, &logs);
            let subject = subject(&dataset, &lake, vec![interrupted]);
            assert_passes(&subject, &format!("the first one killed at point {at}"));
        }
    }
    assert!(kills > 4, "only {kills} points");
}

#[test]
#[ignore = "kills at every point; `just test-slow` runs it"]
fn what_is_left_at_any_point_is_accepted_and_told() {
    let told = kill_at_every(1);
    eprintln!("{told:#?}");
    assert!(told.len() > 6, "{told:?}");
}
