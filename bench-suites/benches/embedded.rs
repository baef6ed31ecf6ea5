//! What the layout of a lake costs the embedded engine: a workflow's merges by the number of live
//! files that they meet, the same rows in small files and in large ones, and a log that is replayed
//! from its beginning or from a checkpoint.
//!
//! Every measured workflow goes into a fresh copy of a lake; copying is outside the measured time.

use bench_embedded::{Engine, LogBatch, Options, Settings, Silent};
use bench_generator::{Overrides, Spec};
use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Logs of 20 messages.
const LOGS: u64 = 45;
/// Logs of a workflow where one is measured: all but the last make the lake.
const LOGS_PER_WORKFLOW: usize = 5;

/// A data set, and lakes made from it.
struct Bench {
    folder: TempDir,
    batches: Vec<LogBatch>,
}

impl Bench {
    /// Workflows of so many logs.
    fn new(logs_per_workflow: usize) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let folder = folder.unwrap();
        let overrides = Overrides {
            messages: Some(LOGS * 20),
            log_files: Some(LOGS),
            ..Overrides::default()
        };
        let options = bench_generator::Options {
            out: folder.path().join("data"),
            threads: 2,
            only_files: None,
            resume: false,
        };
        let spec = Spec::load("varied", &overrides).unwrap();
        bench_generator::generate(spec, &options, &bench_generator::Silent).unwrap();
        let logs = bench_hl7::discover(&options.out).unwrap();
        let batches = LogBatch::split(&logs, logs_per_workflow);
        Self { folder, batches }
    }

    /// A lake of all workflows but the last; its live files, and the folder.
    fn lake(&self, name: &str, settings: &Settings) -> (u64, PathBuf) {
        let lake = self.folder.path().join(name);
        let mut engine = open(&lake, settings);
        let (_, before) = self.batches.split_last().unwrap();
        for (number, batch) in before.iter().enumerate() {
            let name = number.to_string();
            engine.ingest(&name, batch, &mut Silent).unwrap();
        }
        let files = engine.state().values().map(|table| table.files).sum();
        (files, lake)
    }

    /// A copy of a lake, which goes with its owner.
    fn copy(&self, lake: &Path) -> TempDir {
        let copy = tempfile::tempdir_in(self.folder.path()).unwrap();
        copy_folder(lake, copy.path());
        copy
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn open(lake: &Path, settings: &Settings) -> Engine {
    let options = Options {
        settings: settings.clone(),
        threads: 2,
        ..Options::default()
    };
    Engine::open(lake.to_str().unwrap(), options).unwrap()
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let always = [
        ("adaptive", "false"),
        ("optimize_latest_after_merge", "false"),
    ];
    Settings::from_pairs(always.iter().chain(pairs).copied()).unwrap()
}

/// Measures the last workflow on a lake that other settings made.
fn last_workflow(
    criterion: &mut Criterion,
    group: &str,
    bench: &Bench,
    lakes: &[(u64, PathBuf)],
    settings: &Settings,
) {
    let last = bench.batches.last().unwrap();
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10);
    for (files, lake) in lakes {
        group.bench_function(BenchmarkId::from_parameter(files), |bencher| {
            bencher.iter_batched(
                || {
                    let copy = bench.copy(lake);
                    let engine = open(copy.path(), settings);
                    (copy, engine)
                },
                |(copy, mut engine)| {
                    engine.ingest("last", last, &mut Silent).unwrap();
                    (copy, engine)
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn layout(criterion: &mut Criterion) {
    let bench = Bench::new(LOGS_PER_WORKFLOW);
    let parts = |parts: u32| {
        let parts = parts.to_string();
        bench.lake(
            &format!("parts-{parts}"),
            &settings(&[("shuffle_partitions", &parts)]),
        )
    };
    let lakes = [parts(1), parts(10), parts(100)];
    // The workflow itself writes few files, so that what differs is what it finds.
    let few = settings(&[("shuffle_partitions", "1")]);
    last_workflow(
        criterion,
        "embedded/merge by live files",
        &bench,
        &lakes,
        &few,
    );

    let small = settings(&[("shuffle_partitions", "50")]);
    let compacted = settings(&[
        ("shuffle_partitions", "50"),
        ("auto_compact", "true"),
        ("auto_compact_min_files", "20"),
    ]);
    let lakes = [
        bench.lake("small", &small),
        bench.lake("compacted", &compacted),
    ];
    let group = "embedded/small files against compacted";
    last_workflow(criterion, group, &bench, &lakes, &few);
}

fn replay(criterion: &mut Criterion) {
    let bench = Bench::new(1);
    let mut group = criterion.benchmark_group("embedded/open a lake");
    group.sample_size(20);
    for (name, interval) in [("all commits", "100000"), ("checkpoint every 10", "10")] {
        let settings = settings(&[
            ("shuffle_partitions", "50"),
            ("checkpoint_interval", interval),
        ]);
        let (_, lake) = bench.lake(name, &settings);
        group.bench_function(name, |bencher| {
            bencher.iter_with_large_drop(|| open(&lake, &settings));
        });
    }
    group.finish();
}

criterion_group!(benches, layout, replay);
criterion_main!(benches);
