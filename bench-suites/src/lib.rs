//! Shared parts of the benches: whole processes, with their time and their memory.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that was built beside the running example: `bench`, or `examples/NAME`.
///
/// # Panics
/// Where it is not there; build it first.
#[must_use]
pub fn beside(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a program knows its place");
    let folder = here.ancestors().nth(2);
    let path = folder.expect("examples/ stands beside").join(name);
    assert!(
        path.exists(),
        "{} is not there: build it first",
        path.display()
    );
    path
}

/// Runs a process to its end, its output thrown away: its wall time, and its peak resident memory
/// in bytes, 0 where the system does not tell.
///
/// # Panics
/// Where it cannot be started or fails.
pub fn run(command: &mut Command) -> (Duration, u64) {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let exit = loop {
        // The high-water mark is the kernel's own; a look now and then finds its last value.
        if let Ok(text) = fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
            let kilobytes = kilobytes.and_then(|text| text.parse::<u64>().ok());
            peak = kilobytes.map_or(peak, |now| peak.max(now * 1024));
        }
        match child.try_wait().expect("a child can be waited for") {
            Some(exit) => break exit,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let time = start.elapsed();
    assert!(exit.success(), "{command:?} failed");
    (time, peak)
}

/// The time in the middle.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
