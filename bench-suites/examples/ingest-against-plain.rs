//! Whole processes, in turns in one run: an ingest into the platform's tables against the least
//! that an ingest could do, which is to parse the same logs and write the rows of `reports` once.
//!
//! Prints the median wall time of each, the multiple, and the peak memory of the ingest.
//!
//! ```text
//! cargo build --release --bin bench && cargo build --release -p bench-embedded --example plain
//! cargo run --release -p bench-suites --example ingest-against-plain -- [FOLDER] [RUNS] [MESSAGES LOGS] [KEY=VALUE…]
//! ```
//!
//! The folder should lie on a local disk; it defaults to the one for temporary files. Without
//! settings those are taken that make few files. Both work on two threads.

use bench_suites::{beside, median, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a person sets who wants a fast ingest.
const TUNED: [&str; 4] = [
    "shuffle_partitions=16",
    "optimize_write=true",
    "auto_compact=true",
    "optimize_latest_after_merge=false",
];

fn main() {
    let (settings, arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.contains('='));
    let argument = |at: usize, default: &str| {
        let given = arguments.get(at).cloned();
        given.unwrap_or_else(|| default.to_owned())
    };
    let temporary = std::env::temp_dir().display().to_string();
    let folder = PathBuf::from(argument(0, &temporary)).join("ingest-against-plain");
    let runs: usize = argument(1, "5").parse().expect("a number of runs");
    let (messages, logs) = (argument(2, "100000"), argument(3, "3591"));
    let settings = if settings.is_empty() {
        TUNED.map(str::to_owned).to_vec()
    } else {
        settings
    };
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder that can be written");
    let data = folder.join("data");
    let mut generate = Command::new(beside("bench"));
    generate
        .args(["generate", "--profile", "varied", "--seed", "20251029"])
        .args(["--messages", &messages, "--log-files", &logs, "--out"])
        .arg(&data);
    run(&mut generate);
    let (lake, plain) = (folder.join("lake"), folder.join("plain"));
    let (mut ingesting, mut writing, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        for path in [&lake, &plain] {
            let _ = fs::remove_dir_all(path);
        }
        let (time, _) = run(Command::new(beside("examples/plain"))
            .arg(&data)
            .arg(&plain));
        writing.push(time);
        let (time, peak) = run(&mut ingest(&data, &lake, &settings));
        ingesting.push(time);
        peaks.push(peak);
    }
    let (ingesting, writing) = (median(ingesting), median(writing));
    peaks.sort_unstable();
    println!("{messages} messages in {logs} logs, {}", settings.join(" "));
    println!(
        "ingest    {ingesting:>8.2?}  peak memory {} to {} MB",
        peaks.first().map_or(0, |peak| peak / 1_000_000),
        peaks.last().map_or(0, |peak| peak / 1_000_000),
    );
    println!("plain     {writing:>8.2?}");
    println!(
        "multiple  {:>8.2}",
        ingesting.as_secs_f64() / writing.as_secs_f64()
    );
    println!("medians of {runs}");
    let _ = fs::remove_dir_all(&folder);
}

fn ingest(data: &Path, lake: &Path, settings: &[String]) -> Command {
    let mut command = Command::new(beside("bench"));
    command.arg("ingest").arg(data).arg("--lake").arg(lake);
    command.args(["--threads", "2"]);
    for setting in settings {
        command.arg("--set").arg(setting);
    }
    command
}
