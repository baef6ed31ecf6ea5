//! Small data sets and settings drawn at random: whatever comes, in whatever order and however
//! often, the lake is the fold of the truth.

use crate::child::{KILL_AT, Task};
use crate::common::temporary;
use crate::expected::{check, check_killed, facts, generate, read_truth};
use bench_embedded::Engine;
use bench_tables::fold::{Fold, Settings};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::path::Path;

/// What is done to one batch of logs.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// Nothing more.
    Once,
    /// A second attempt, which must change nothing.
    Attempted,
    /// A deliberate ingest of the same logs, right after.
    Again,
    /// A deliberate ingest of the same logs, after all others.
    Later,
}

#[derive(Clone, Debug)]
struct Case {
    profile: &'static str,
    messages: u64,
    logs: u64,
    seed: u64,
    batch: usize,
    /// Draws the order of the logs; `None` leaves them in the order of their paths.
    shuffle: Option<u64>,
    then: Vec<Then>,
    settings: Vec<(&'static str, String)>,
    /// Points at which the process dies, one process after the other.
    kills: Vec<u32>,
    /// Whether every workflow has an engine of its own.
    reopens: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let data = (
        prop::sample::select(vec!["varied", "lifelike", "webs", "dirty"]),
        20..=300_u64,
        1..=12_u64,
        0..1000_u64,
    );
    let then = prop_oneof![
        4 => Just(Then::Once),
        1 => Just(Then::Attempted),
        1 => Just(Then::Again),
        1 => Just(Then::Later),
    ];
    let course = (
        1..=12_usize,
        prop::option::of(any::<u64>()),
        prop::collection::vec(then, 12),
        prop_oneof![
            2 => Just(Vec::new()),
            1 => prop::collection::vec(1..120_u32, 1..3),
        ],
        any::<bool>(),
    );
    (data, course, settings()).prop_map(|(data, course, settings)| {
        let (profile, messages, logs, seed) = data;
        let (batch, shuffle, then, kills, reopens) = course;
        Case {
            profile,
            messages,
            logs,
            seed,
            batch,
            shuffle,
            then,
            settings,
            kills,
            reopens,
        }
    })
}

fn settings() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let vacuum = prop_oneof![
        2 => Just("never".to_owned()),
        1 => (1..4_u32).prop_map(|workflows| workflows.to_string()),
    ];
    let layout = (1..=24_u32, any::<[bool; 5]>(), 2..=8_u32, 1..=12_u32);
    (layout, vacuum).prop_map(|((parts, on, small, interval), vacuum)| {
        vec![
            ("shuffle_partitions", parts.to_string()),
            ("adaptive", on[0].to_string()),
            ("optimize_write", on[1].to_string()),
            ("auto_compact", on[2].to_string()),
            ("auto_compact_min_files", small.to_string()),
            ("repartition_before_write", on[3].to_string()),
            ("optimize_latest_after_merge", on[4].to_string()),
            ("checkpoint_interval", interval.to_string()),
            ("vacuum", vacuum),
            ("vacuum_retention", "0s".to_owned()),
        ]
    })
}

/// The same list in an order that a number draws.
fn shuffled(mut list: Vec<String>, draw: u64) -> Vec<String> {
    list.sort_by_cached_key(|name| {
        let mut seed = draw.to_le_bytes().to_vec();
        seed.extend(name.as_bytes());
        xxhash_rust::xxh3::xxh3_64(&seed)
    });
    list
}

/// The workflows of a case, each with its name, and how often an attempt of it is made.
fn workflows(case: &Case, logs: Vec<String>) -> Vec<(String, Vec<String>, u32)> {
    let logs = match case.shuffle {
        Some(draw) => shuffled(logs, draw),
        None => logs,
    };
    let (mut all, mut later) = (Vec::new(), Vec::new());
    for (number, logs) in logs.chunks(case.batch).enumerate() {
        let then = case.then[number % case.then.len()];
        let attempts = if matches!(then, Then::Attempted) {
            2
        } else {
            1
        };
        all.push((format!("w{number}"), logs.to_vec(), attempts));
        match then {
            Then::Again => all.push((format!("again{number}"), logs.to_vec(), 1)),
            Then::Later => later.push((format!("later{number}"), logs.to_vec(), 1)),
            Then::Once | Then::Attempted => {}
        }
    }
    all.extend(later);
    all
}

/// Ingests as the case says and compares.
fn hold(case: &Case, folder: &Path) {
    let (dataset, lake) = (folder.join("data"), folder.join("lake"));
    generate(case.profile, case.messages, case.logs, case.seed, &dataset);
    let truth = read_truth(&dataset);
    let pairs: Vec<(&str, &str)> = case
        .settings
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    let mut task = Task::new(&dataset, &lake, usize::MAX, &pairs);
    let logs = task.workflows.remove(0).1;
    let workflows = workflows(case, logs);
    task.workflows = workflows
        .iter()
        .map(|(name, logs, _)| (name.clone(), logs.clone()))
        .collect();

    for at in &case.kills {
        let mut command = task.command(folder, "");
        let output = command.env(KILL_AT, at.to_string()).output();
        let output = output.expect("it starts");
        // It ends by the kill, or completes before it comes to the point.
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let killed = told.contains("killed at point");
        assert!(killed || output.status.success(), "{told}");
    }
    let mut fold = Fold::new(Settings::default());
    let mut engine: Option<Engine> = None;
    for (number, (_, _, attempts)) in workflows.iter().enumerate() {
        for _ in 0..*attempts {
            let mut open = match engine.take() {
                Some(engine) => engine,
                None => task.open().expect("the lake opens"),
            };
            task.attempt_one(&mut open, number).expect("it is ingested");
            engine = (!case.reopens).then_some(open);
        }
        let facts = facts(&truth, &task.batch(number));
        fold.workflow(&facts).expect("the facts agree");
    }
    if case.kills.is_empty() {
        check(&lake, &fold, "the case");
    } else {
        check_killed(&lake, &fold, "the case");
    }
}

fn run(cases_to_run: u32) {
    let config = Config {
        cases: cases_to_run,
        // Failures are told with their case, which is all that is needed to repeat them.
        failure_persistence: None,
        max_shrink_iters: 40,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&cases(), |case| {
            let folder = temporary();
            hold(&case, folder.path());
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn any_data_in_any_order_under_any_settings_equals_its_truth() {
    run(12);
}

#[test]
#[ignore = "takes minutes: the same, many times"]
fn much_data_in_any_order_under_any_settings_equals_its_truth() {
    run(400);
}
