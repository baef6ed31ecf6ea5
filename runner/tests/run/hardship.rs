//! Faults that a scenario declares, refusals, and interrupts.

use super::common::{Bench, Records, SMALL, told};
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

#[test]
fn a_declared_kill_costs_an_attempt_and_no_row() {
    let faults = "
[[faults]]
workflow = 2
kill = \"SIGKILL\"
stage = \"curated\"
[[faults]]
workflow = 3
kill = \"SIGTERM\"
after = \"1ms\"
";
    let bench = Bench::new(&format!("{SMALL}{faults}"));
    let (code, text) = bench.run(&[]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    run.assert_complete(6);
    let attempts = run.rows("attempts.csv");
    let killed: Vec<_> = attempts
        .iter()
        .filter(|row| row["cause"] == "fault")
        .collect();
    assert!(
        killed
            .iter()
            .any(|row| row["workflow"] == "2" && row["exit_code"] == "137")
    );
    assert!(killed.iter().all(|row| !row["injected"].is_empty()));
    assert!(run.text("report.md").contains("injected on purpose"));
}

/// The kernel or the watchdog, by what this machine offers.
fn memory(enforcement: &str, causes: &[&str]) {
    let faults = format!(
        "[resources]\nmemory = \"1GiB\"\nenforcement = \"{enforcement}\"\n\
         [[faults]]\nworkflow = 2\nmemory = \"16MiB\"\n"
    );
    // More rows, so that a worker needs more than its limit.
    let scenario = SMALL.replace("messages = 300", "messages = 6000");
    let bench = Bench::new(&format!("{scenario}{faults}"));
    let (code, text) = bench.run(&[]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    run.assert_complete(6);
    let attempts = run.rows("attempts.csv");
    let lost = attempts
        .iter()
        .find(|row| row["outcome"] == "lost")
        .expect("a lost attempt");
    assert_eq!(lost["workflow"], "2");
    assert!(causes.contains(&&*lost["cause"]), "{lost:?}");
    assert_eq!((&*lost["exit_code"], &*lost["signal"]), ("137", "9"));
    if lost["cause"] == "memory_limit" {
        assert_ne!(lost["oom_kills"], "0");
    }
}

#[test]
fn a_worker_above_its_limit_is_killed_by_the_kernel_where_groups_can_be_made() {
    let bench = Bench::new(SMALL);
    let doctor = bench.bench(&["doctor", "--json"]);
    let doctor: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let group = &doctor["facts"]["cgroup"];
    if group["writable"] == true && group["limits_memory"] == true {
        memory("cgroup", &["memory_limit"]);
    } else {
        println!("SKIPPED: no control group for memory can be made here");
    }
}

#[test]
fn a_worker_above_its_limit_is_killed_by_the_watchdog_elsewhere() {
    memory("watchdog", &["watchdog"]);
}

#[test]
fn an_interrupt_ends_the_workers_and_the_run_is_resumed_to_its_end() {
    let bench = Bench::new(&SMALL.replace("messages = 300", "messages = 3000"));
    let mut child = bench.begin(&[]);
    wait_until(|| closed(&bench) >= 1);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let run = bench.only_run();
    assert_eq!(run.status(), "interrupted");
    let path = run.0.to_str().unwrap().to_owned();
    let (code, text) = told(&bench.bench(&["run", "--resume", &path]));
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    assert_eq!(run.status(), "completed");
    assert_eq!(run.json("run.json")["sessions"], 2);
    run.assert_verified(1);
    run.assert_complete(6);
    assert!(run.text("report.md").contains("the run was resumed") || closed(&bench) == 6);
}

fn closed(bench: &Bench) -> usize {
    bench.find().map_or(0, |path| {
        let events = super::common::Records(path).events();
        let closed = events
            .iter()
            .filter(|event| event["event"] == "workflow_closed");
        closed.count()
    })
}

fn wait_until(holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "nothing happened for a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_lake_that_is_not_empty_is_refused_unless_it_may_be_emptied() {
    let bench = Bench::new(SMALL);
    std::fs::create_dir_all(bench.path().join("lakes/default-1/reports")).unwrap();
    let lake = ["--set", "target.lake=lakes", "--keep-lakes"];
    let (code, text) = bench.run(&lake);
    assert_eq!(code, Some(64));
    assert!(text.contains("is not empty"), "{text}");
    std::fs::remove_dir_all(bench.path().join("runs")).unwrap();
    let (code, text) = bench.run(&[&lake[..], &["--wipe"]].concat());
    assert_eq!(code, Some(0), "{text}");
    bench.only_run().assert_verified(1);
    assert!(
        bench
            .path()
            .join("lakes/default-1/reports/_delta_log")
            .exists()
    );
}

#[test]
fn a_program_that_is_not_there_is_found_before_anything_starts() {
    let bench = Bench::new(&format!(
        "{SMALL}\n[target]\nkind = \"command\"\ncommand = [\"no-such-program\"]\n"
    ));
    let (code, text) = bench.run(&[]);
    assert_eq!(code, Some(69), "{text}");
    assert!(text.contains("no-such-program"), "{text}");
    assert!(bench.find().is_none());
}

#[test]
fn a_worker_that_never_gets_ready_ends_the_run_with_its_words() {
    let bench = Bench::new(&format!(
        "{SMALL}\n[target]\nkind = \"command\"\ncommand = [\"false\"]\n"
    ));
    let (code, text) = bench.run(&[]);
    assert_eq!(code, Some(11), "{text}");
    assert!(text.contains("before it was ready"), "{text}");
    assert_eq!(bench.only_run().status(), "failed");
}

#[test]
fn a_worker_that_speaks_another_language_has_failed_its_attempt() {
    let script = r#"read hello; echo '{"protocol":1,"type":"ready","engine":"x","versions":{},"effective":{},"unsupported":[]}'; read work; echo nonsense; sleep 60"#;
    let command = serde_json::to_string(&["sh", "-c", script]).unwrap();
    let bench = Bench::new(&format!(
        "{SMALL}\n[target]\nkind = \"command\"\ncommand = {command}\n"
    ));
    let (code, text) = bench.run(&["--set", "sequence.retry.max_attempts=2"]);
    assert_eq!(code, Some(11), "{text}");
    let run = bench.only_run();
    let attempts = run.rows("attempts.csv");
    assert_eq!(attempts.len(), 2);
    assert!(attempts.iter().all(|row| row["cause"] == "protocol"));
    assert!(
        !text.contains("nonsense"),
        "what a worker prints may quote a log"
    );
}

#[test]
fn a_variant_that_may_die_does_not_fail_the_run() {
    let variants = "
[variants.dies]
expect = \"fail\"
[variants.dies.target]
kind = \"command\"
command = [\"sh\", \"-c\", \"read hello; echo '{\\\"protocol\\\":1,\\\"type\\\":\\\"ready\\\",\\\"engine\\\":\\\"x\\\",\\\"versions\\\":{},\\\"effective\\\":{},\\\"unsupported\\\":[]}'; read work; exit 3\"]
[variants.lives]
";
    let bench = Bench::new(&format!("{SMALL}{variants}"));
    let (code, text) = bench.run(&["--set", "sequence.stop_after=2"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("as it was allowed to"), "{text}");
    let run = bench.only_run();
    let dead = run.rows("attempts.csv");
    assert!(
        dead.iter()
            .any(|row| row["cause"] == "crash" && row["exit_code"] == "3")
    );
}

fn assert_tells_no_password(run: &Records) {
    for entry in std::fs::read_dir(&run.0).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let content = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!content.contains("hunter"), "{}", path.display());
        }
    }
}

#[test]
fn a_password_of_a_variant_that_is_left_out_stands_in_no_file_either() {
    let variants = "\n[target]\nlake = \"lakes\"\n[variants.run.settings]\nshuffle_partitions = 2\n\
        [variants.left.target.storage]\nAWS_SECRET_ACCESS_KEY = \"hunter22\"\n";
    let bench = Bench::new(&format!("{SMALL}{variants}"));
    let (code, text) = bench.run(&[
        "--variant",
        "run",
        "--set",
        "variants.left.target.storage.SESSION_TOKEN=hunter33",
        "--set",
        "sequence.stop_after=1",
    ]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    assert_tells_no_password(&run);
}

#[test]
fn a_password_of_a_store_stands_in_no_file_of_the_run() {
    let storage =
        "\n[target]\nlake = \"lakes\"\n[target.storage]\nAWS_SECRET_ACCESS_KEY = \"hunter22\"\n";
    let bench = Bench::new(&format!("{SMALL}{storage}"));
    let (code, text) = bench.run(&[
        "--set",
        "target.storage.SESSION_TOKEN=hunter33",
        "--set",
        "sequence.stop_after=1",
        "--keep-lakes",
    ]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    assert_tells_no_password(&run);
    let again = bench
        .command(&["verify", run.0.to_str().unwrap()])
        .env("AWS_SECRET_ACCESS_KEY", "hunter22")
        .env("SESSION_TOKEN", "hunter33")
        .output()
        .unwrap();
    assert_eq!(told(&again).0, Some(0), "{}", told(&again).1);
    let (code, text) = told(&bench.bench(&["verify", run.0.to_str().unwrap()]));
    assert_eq!(code, Some(64));
    assert!(
        text.contains("environment variable AWS_SECRET_ACCESS_KEY"),
        "{text}"
    );
}

#[test]
fn every_declared_signal_ends_the_worker_also_one_that_is_caught() {
    let mut scenario = SMALL.to_owned();
    for (workflow, signal) in (1..).zip(["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT"]) {
        scenario += &format!(
            "[[faults]]\nworkflow = {workflow}\nkill = \"{signal}\"\nstage = \"reports\"\n"
        );
    }
    let bench = Bench::new(&scenario);
    let (code, text) = bench.run(&[]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    run.assert_verified(1);
    run.assert_complete(6);
    let workers = run.rows("workers.csv");
    let killed = workers.iter().filter(|row| row["cause"] == "fault");
    assert_eq!(killed.count(), 4);
}

#[test]
fn a_run_directory_that_was_copied_is_verified_where_it_is() {
    let bench = Bench::new(SMALL);
    let (code, text) = bench.run(&["--keep-lakes"]);
    assert_eq!(code, Some(0), "{text}");
    let run = bench.only_run();
    let moved = bench.path().join("moved");
    std::fs::rename(&run.0, &moved).unwrap();
    let verify = ["verify", moved.to_str().unwrap()];
    let (code, text) = told(&bench.bench(&verify));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("checks passed"), "{text}");
    let table = moved.join("lake/default-1/reports_latest");
    let data = std::fs::read_dir(&table)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|one| one == "parquet"));
    for file in data {
        std::fs::write(file, "spoiled").unwrap();
    }
    let (code, text) = told(&bench.bench(&verify));
    assert_eq!(code, Some(10), "{text}");
    let moved = super::common::Records(moved);
    assert_eq!(moved.status(), "invalid");
    assert!(moved.text("report.md").contains("**Invalid**"));
}

#[test]
fn a_lake_that_is_gone_is_no_fault_of_the_engine() {
    let bench = Bench::new(&SMALL.replace("messages = 300", "messages = 3000"));
    let mut child = bench.begin(&[]);
    wait_until(|| closed(&bench) >= 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let run = bench.find().unwrap();
    std::fs::remove_dir_all(run.join("lake")).unwrap();
    let (code, text) = told(&bench.bench(&["run", "--resume", run.to_str().unwrap()]));
    assert_eq!(code, Some(64), "{text}");
    assert!(text.contains("is gone"), "{text}");
}

#[test]
fn a_lake_is_not_emptied_while_another_run_fills_it() {
    let pause = "[[faults]]\nworkflow = 2\npause = \"8s\"\nstage = \"reports\"\n";
    let bench = Bench::new(&format!("{SMALL}{pause}"));
    let lake = ["--set", "target.lake=lakes", "--wipe"];
    let mut child = bench.begin(&lake);
    wait_until(|| closed(&bench) >= 1);
    let mut second = vec!["run", "s.toml", "--out", "others"];
    second.extend(lake);
    let (code, text) = told(&bench.bench(&second));
    assert_eq!(code, Some(64), "{text}");
    assert!(text.contains("another bench works on"), "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    bench.only_run().assert_verified(1);
}
