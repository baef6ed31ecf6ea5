//! Generated data sets, compared with their truth, in every order of workflows.

use crate::common::{engine, temporary};
use crate::expected::{check, facts, generate, read_truth};
use bench_embedded::{LogBatch, Silent};
use bench_tables::fold::{Fold, Settings};
use std::path::Path;

/// How the logs of a data set come.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// In path order.
    Path,
    /// The later batches first.
    Backwards,
    /// In path order, then every second batch once more, as a deliberate ingest.
    Again,
    /// Every batch attempted twice.
    Retried,
}

fn run(dataset: &Path, size: usize, order: Order, settings: &[(&str, &str)]) {
    let folder = temporary();
    let lake = folder.path().join("lake");
    let truth = read_truth(dataset);
    let logs = bench_hl7::discover(dataset).expect("the logs are found");
    let mut batches = LogBatch::split(&logs, size);
    match order {
        Order::Path | Order::Retried => {}
        Order::Backwards => batches.reverse(),
        Order::Again => {
            let again: Vec<LogBatch> = batches.iter().step_by(2).cloned().collect();
            batches.extend(again);
        }
    }
    let what = format!(
        "{} in batches of {size}, {order:?}, {settings:?}",
        dataset.display()
    );
    let mut fold = Fold::new(Settings::default());
    let mut engine = engine(&lake, settings);
    for (number, batch) in batches.iter().enumerate() {
        let name = format!("w{number}");
        let ledger = engine
            .ingest(&name, batch, &mut Silent)
            .expect("it is ingested");
        assert!(ledger.is_balanced(), "{what}: workflow {number}");
        if matches!(order, Order::Retried) {
            engine
                .ingest(&name, batch, &mut Silent)
                .expect("it is ingested");
        }
        fold.workflow(&facts(&truth, batch))
            .expect("the facts agree");
    }
    check(&lake, &fold, &what);
}

/// Settings that make many files, few, and many that are compacted.
const SETTINGS: [&[(&str, &str)]; 4] = [
    &[],
    &[
        ("shuffle_partitions", "7"),
        ("adaptive", "false"),
        ("checkpoint_interval", "4"),
    ],
    &[
        ("shuffle_partitions", "16"),
        ("optimize_write", "true"),
        ("optimize_latest_after_merge", "false"),
    ],
    &[
        ("shuffle_partitions", "5"),
        ("adaptive", "false"),
        ("auto_compact", "true"),
        ("auto_compact_min_files", "6"),
        ("repartition_before_write", "false"),
        ("optimize_latest_after_merge", "false"),
    ],
];

const ORDERS: [Order; 4] = [Order::Path, Order::Backwards, Order::Again, Order::Retried];

/// Makes a data set and compares every order, with settings and sizes in turn.
fn every_order(profile: &str) {
    let folder = temporary();
    let dataset = folder.path().join("data");
    generate(profile, 1200, 60, 7, &dataset);
    let sizes = [60, 17, 8, 23];
    for (at, order) in ORDERS.into_iter().enumerate() {
        for turn in 0..2 {
            let settings = SETTINGS[(at + turn * 2 + 1) % SETTINGS.len()];
            run(&dataset, sizes[(at + turn) % sizes.len()], order, settings);
        }
    }
}

#[test]
fn varied_data_equals_its_truth() {
    every_order("varied");
}

#[test]
fn lifelike_data_equals_its_truth() {
    every_order("lifelike");
}

#[test]
fn webs_equal_their_truth() {
    every_order("webs");
}

#[test]
fn dirty_data_equals_its_truth() {
    every_order("dirty");
}

/// Many messages in few logs.
/// Scans of 2014 and before, at which somebody born before 1905 is less than 110 years old.
#[test]
fn early_scans_of_the_very_old_equal_their_truth() {
    let folder = temporary();
    let dataset = folder.path().join("early");
    generate("dirty", 159, 1, 382, &dataset);
    run(&dataset, 1, Order::Path, &[]);
}

fn production(messages: u64, logs: u64, batch: usize) {
    let folder = temporary();
    let dataset = folder.path().join("data");
    generate("production", messages, logs, 7, &dataset);
    run(&dataset, batch, Order::Path, SETTINGS[2]);
}

#[test]
fn production_data_equals_its_truth() {
    production(4000, 3, 2);
}

#[test]
#[ignore = "takes a minute: whole logs of 10,000 messages"]
fn production_data_of_whole_logs_equals_its_truth() {
    production(100_000, 10, 4);
}
