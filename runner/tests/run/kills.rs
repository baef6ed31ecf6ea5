//! Nothing is lost: workers and runners are killed at random moments, and the run is resumed.

use super::common::{Bench, Records, SMALL};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64_with_seed;

#[test]
fn a_run_whose_worker_or_runner_is_killed_loses_no_row() {
    kill_at_random(6, 1);
}

#[test]
#[ignore = "a hundred runs; `just test-kills`"]
fn a_run_that_is_killed_a_hundred_times_loses_no_row() {
    kill_at_random(100, 2);
}

fn kill_at_random(times: u64, seed: u64) {
    for time in 0..times {
        let draw = |what: u64, below: u64| {
            xxh3_64_with_seed(&[time.to_le_bytes(), what.to_le_bytes()].concat(), seed) % below
        };
        let bench = Bench::new(SMALL);
        let mut runner = bench.begin(&["--no-space-check"]);
        // A run of this size takes about a second here; most moments lie inside it.
        std::thread::sleep(Duration::from_millis(20 + draw(0, 900)));
        let whom = draw(1, 3);
        if whom != 1 {
            for pid in workers(&bench) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if whom != 0 {
            let _ = runner.kill();
        }
        let ended = runner.wait().unwrap();
        let Some(path) = bench.find() else {
            // Killed before there was a run: there is nothing to lose.
            assert_eq!(ended.code(), None);
            continue;
        };
        if ended.code() != Some(0) {
            let resumed = bench.bench(&["run", "--resume", path.to_str().unwrap()]);
            let (code, text) = super::common::told(&resumed);
            if !path.join("events.jsonl").exists() {
                // Killed before its first event: it is refused, and a new run starts afresh.
                assert_eq!(code, Some(64), "time {time}: {text}");
                continue;
            }
            assert_eq!(code, Some(0), "time {time}: {text}");
        }
        let run = Records(path);
        assert_eq!(run.status(), "completed", "time {time}");
        run.assert_verified(1);
        run.assert_complete(6);
    }
}

/// Workers that the run has started and not seen end.
fn workers(bench: &Bench) -> Vec<Pid> {
    let Some(path) = bench.find() else {
        return Vec::new();
    };
    let mut alive = Vec::new();
    for event in Records(path).events() {
        if event["event"] == "worker_started" {
            alive.push(i32::try_from(event["pid"].as_i64().unwrap()).unwrap());
        }
        if event["event"] == "worker_exited" {
            alive.clear();
        }
    }
    alive.into_iter().filter_map(Pid::from_raw).collect()
}
