//! Whole processes, side by side in one run: `bench generate` against `cp -r` of what it made.
//!
//! Prints the median wall time of each, their ratio, and the peak memory of the generator.
//!
//! ```text
//! cargo run --release -p bench-suites --example generate-against-copy -- [FOLDER] [RUNS] [MESSAGES LOGS]
//! ```
//!
//! The folder should be on a memory file system; it defaults to `/dev/shm`. The binary is the one
//! beside this program; build it first (`cargo build --release --bin bench`).

use bench_suites::{beside, median, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, default: &str| {
        arguments
            .get(at)
            .cloned()
            .unwrap_or_else(|| default.to_owned())
    };
    let folder = PathBuf::from(argument(0, "/dev/shm")).join("generate-against-copy");
    let runs: usize = argument(1, "5").parse().expect("a number of runs");
    let (messages, logs) = (argument(2, "100000"), argument(3, "3591"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder that can be written");
    let (made, copied) = (folder.join("made"), folder.join("copied"));
    let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
    let mut peak = 0;
    for _ in 0..runs {
        for path in [&made, &copied] {
            let _ = fs::remove_dir_all(path);
        }
        let (time, memory) = generate(&made, &messages, &logs);
        times[0].push(time);
        peak = peak.max(memory);
        let start = Instant::now();
        let copy = Command::new("cp").arg("-r").args([&made, &copied]).status();
        times[1].push(start.elapsed());
        assert!(copy.is_ok_and(|status| status.success()), "cp -r failed");
    }
    let [generating, copying] = times.map(median);
    let rate = messages.parse::<f64>().expect("a number") / generating.as_secs_f64();
    println!("{messages} messages in {logs} logs, median of {runs}");
    println!(
        "generate  {generating:>8.2?}  {rate:.0} messages/s, peak memory {} MB",
        peak / 1_000_000
    );
    println!("cp -r     {copying:>8.2?}");
    println!(
        "ratio     {:>8.2}",
        generating.as_secs_f64() / copying.as_secs_f64()
    );
    let _ = fs::remove_dir_all(&folder);
}

/// Runs `bench generate`: its wall time, and its peak resident memory in bytes.
fn generate(out: &Path, messages: &str, logs: &str) -> (Duration, u64) {
    let mut command = Command::new(beside("bench"));
    command
        .args(["generate", "--profile", "varied", "--seed", "20251029"])
        .args(["--messages", messages, "--log-files", logs])
        .args(["--threads", "2", "--out"])
        .arg(out);
    run(&mut command)
}
