//! Reports of a long run: reading its directory, computing the report, and writing it in each form.
//!
//! The run directory is made by code, larger than any that is shipped makes: two variants of a thousand
//! workflows, with five tables looked at after each and a sample a second. Its `run.json` is the stored
//! one that the reports are tested with. Figures follow from counts alone, so that every machine reads
//! the same bytes.

use bench_reports::charts::charts;
use bench_reports::{Run, csv, html, json, markdown, report};
use criterion::{Criterion, criterion_group, criterion_main};
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use tempfile::TempDir;

const WORKFLOWS: u32 = 1000;
const SAMPLES: u32 = 10_000;
const VARIANTS: [&str; 2] = ["baseline", "tuned"];
const TABLES: [&str; 5] = [
    "reports",
    "reports_curated",
    "reports_latest",
    "reports_report_patient_mapping",
    "reports_dx",
];

const RUN: &str = include_str!("../../reports/tests/data/run-format-1/run.json");

/// The stored run's facts, of variants that run to the end.
fn facts() -> String {
    let mut run: serde_json::Value = serde_json::from_str(RUN).unwrap();
    for variant in run["scenario"]["variants"].as_array_mut().unwrap() {
        variant["sequence"]["stop_after"] = serde_json::Value::Null;
    }
    run.to_string()
}

/// How long a workflow takes: it grows, levels off and jitters.
fn seconds(variant: usize, workflow: u32) -> f64 {
    let grows = f64::from(workflow.min(400)) * [0.004, 0.001][variant];
    let jitters = f64::from(workflow * 7919 % 101) * 0.002;
    0.4 + grows + jitters
}

/// A run directory of a thousand workflows.
fn long_run(folder: &Path) {
    let mut workflows = String::from(
        "variant,repeat,workflow,status,launched_s,started_s,closed_s,duration_s,queue_s,retry_s,\
         service_s,attempts,resumed,logs,failed_logs,messages,empty,unparsable,rows,inserted,updated,\
         unchanged,reason\n",
    );
    let mut attempts = String::from(
        "variant,repeat,workflow,attempt,worker,incarnation,started_s,ended_s,seconds,outcome,cause,\
         exit_code,signal,oom_kills,peak_rss_bytes,cpu_s,injected,message\n",
    );
    let mut stages = String::from(
        "variant,repeat,workflow,attempt,stage,table,seconds,rows,bytes,files,version\n",
    );
    let mut tables = String::from(
        "variant,repeat,workflow,table,version,rows,live_files,live_bytes,file_p50_bytes,\
         file_max_bytes,disk_files,disk_bytes,log_entries,checkpoints\n",
    );
    let mut workers = String::from(
        "variant,repeat,worker,incarnation,pid,started_s,ready_s,ended_s,cause,exit_code,signal,\
         oom_kills,peak_rss_bytes,cpu_s,detail\n",
    );
    let mut samples = String::from(
        "variant,repeat,worker,incarnation,t_s,rss_bytes,cpu_s,read_bytes,write_bytes\n",
    );
    for (at, variant) in VARIANTS.into_iter().enumerate() {
        let mut now = 0.0;
        for n in 1..=WORKFLOWS {
            let took = seconds(at, n);
            let end = now + took;
            let _ = writeln!(
                workflows,
                "{variant},1,{n},completed,{now:.6},{now:.6},{end:.6},{took:.6},0,0,{took:.6},1,\
                 false,4,0,50,0,0,50,50,0,0,"
            );
            let rss = 40_000_000 + u64::from(n) * 1000;
            let _ = writeln!(
                attempts,
                "{variant},1,{n},1,1,1,{now:.6},{end:.6},{took:.6},completed,,,,,{rss},{:.6},,",
                took / 2.0
            );
            for (stage, table) in TABLES.into_iter().enumerate() {
                let live = u64::from(n) * [40, 4][at] + stage as u64;
                let rows = u64::from(n) * 50;
                let _ = writeln!(
                    stages,
                    "{variant},1,{n},1,{table},{table},{:.6},50,{},{},{n}",
                    took / 5.0,
                    50 * 1870,
                    [40, 4][at]
                );
                let _ = writeln!(
                    tables,
                    "{variant},1,{n},{table},{n},{rows},{live},{},{},{},{live},{},{n},{}",
                    live * 22_000,
                    21_900,
                    24_600,
                    live * 22_000,
                    n / 10
                );
            }
            now = end;
        }
        let _ = writeln!(
            workers,
            "{variant},1,1,1,7,-0.05,-0.00005,{now:.6},shutdown,0,,,60000000,{:.6},",
            now / 2.0
        );
        for n in 0..SAMPLES {
            let t = now * f64::from(n) / f64::from(SAMPLES);
            let bytes = u64::from(n) * 9000;
            let rss = 40_000_000 + u64::from(n % 977) * 20_000;
            let _ = writeln!(
                samples,
                "{variant},1,1,1,{t:.6},{rss},{:.6},{bytes},{bytes}",
                t / 2.0
            );
        }
    }
    for (name, text) in [
        ("run.json", facts()),
        ("workflows.csv", workflows),
        ("attempts.csv", attempts),
        ("stages.csv", stages),
        ("tables.csv", tables),
        ("workers.csv", workers),
        ("samples.csv", samples),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn reports(criterion: &mut Criterion) {
    let folder = TempDir::new().unwrap();
    long_run(folder.path());
    let run = Run::read(folder.path()).unwrap();
    let made = report(std::slice::from_ref(&run)).unwrap();
    let drawn = charts(std::slice::from_ref(&run)).unwrap();
    let mut group = criterion.benchmark_group("reports");
    group.sample_size(10);
    group.bench_function("read", |bencher| {
        bencher.iter(|| Run::read(folder.path()).unwrap());
    });
    group.bench_function("compute", |bencher| {
        bencher.iter(|| report(black_box(std::slice::from_ref(&run))).unwrap());
    });
    group.bench_function("markdown", |bencher| {
        bencher.iter(|| markdown(black_box(&made)));
    });
    group.bench_function("charts", |bencher| {
        bencher.iter(|| charts(black_box(std::slice::from_ref(&run))).unwrap());
    });
    group.bench_function("html", |bencher| {
        bencher.iter(|| html(black_box(&made), black_box(&drawn)));
    });
    group.bench_function("json", |bencher| bencher.iter(|| json(black_box(&made))));
    group.bench_function("csv", |bencher| bencher.iter(|| csv(black_box(&made))));
    group.finish();
}

criterion_group!(benches, reports);
criterion_main!(benches);
