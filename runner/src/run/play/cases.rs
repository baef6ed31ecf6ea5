//! Plays whose records are known to the microsecond.

use super::*;
use crate::record::{History, read_events};
use insta::assert_snapshot;

const TIMES: &[&str] = &[
    "workflow",
    "status",
    "launched_s",
    "started_s",
    "closed_s",
    "duration_s",
    "queue_s",
    "retry_s",
    "service_s",
    "attempts",
];

const ENDS: &[&str] = &[
    "workflow",
    "attempt",
    "incarnation",
    "started_s",
    "ended_s",
    "outcome",
    "cause",
    "exit_code",
    "oom_kills",
];

fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

#[test]
fn in_a_sequence_the_next_is_launched_when_the_last_was_closed_and_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let script = |workflow, _| Act::Done(f64::from(workflow) * 2.0);
    let variant = variant(Mode::Sequential, 1);
    let status = play(folder.path(), &variant, 3, &mut Play::new(&script), None);
    assert_eq!(status, RunStatus::Completed);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | completed | 0.000000 | 0.000000 | 2.000000 | 2.000000 | 0.000000 | 0.000000 | 2.000000 | 1
    2 | completed | 2.250000 | 2.250000 | 6.250000 | 4.000000 | 0.000000 | 0.000000 | 4.000000 | 1
    3 | completed | 6.500000 | 6.500000 | 12.500000 | 6.000000 | 0.000000 | 0.000000 | 6.000000 | 1
    ");
    assert_snapshot!(file(folder.path(), "stages.csv"), @r"
    variant,repeat,workflow,attempt,stage,table,seconds,rows,bytes,files,version
    play,1,1,1,reports,reports,1.000000,10,1000,2,1
    play,1,2,1,reports,reports,2.000000,10,1000,2,2
    play,1,3,1,reports,reports,3.000000,10,1000,2,3
    ");
}

#[test]
fn a_launch_is_never_delayed_by_a_slow_worker() {
    let folder = tempfile::tempdir().unwrap();
    let script = |_, _| Act::Done(3.0);
    let variant = variant(concurrent(1.0, Queue::Fifo), 1);
    play(folder.path(), &variant, 4, &mut Play::new(&script), None);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | completed | 0.000000 | 0.000000 | 3.000000 | 3.000000 | 0.000000 | 0.000000 | 3.000000 | 1
    2 | completed | 1.000000 | 3.000000 | 6.000000 | 5.000000 | 2.000000 | 0.000000 | 3.000000 | 1
    3 | completed | 2.000000 | 6.000000 | 9.000000 | 7.000000 | 4.000000 | 0.000000 | 3.000000 | 1
    4 | completed | 3.000000 | 9.000000 | 12.000000 | 9.000000 | 6.000000 | 0.000000 | 3.000000 | 1
    ");
}

#[test]
fn two_workers_share_the_queue_and_slots_multiply_them() {
    let folder = tempfile::tempdir().unwrap();
    let script = |_, _| Act::Done(4.0);
    let mut variant = variant(concurrent(0.0, Queue::Fifo), 2);
    variant.sequence.slots = 2;
    let mut world = Play::new(&script);
    play(folder.path(), &variant, 6, &mut world, None);
    let sent: Vec<(u32, u32, f64)> = world
        .sent
        .iter()
        .map(|(process, workflow, at)| (*workflow, process.worker, at.as_secs_f64()))
        .collect();
    // A worker with two free slots comes before one with one.
    let expected = [
        (1, 1, 0.5),
        (2, 2, 0.5),
        (3, 1, 0.5),
        (4, 2, 0.5),
        (5, 1, 4.5),
        (6, 2, 4.5),
    ];
    assert_eq!(sent, expected);
}

#[test]
fn a_killed_worker_is_restarted_and_its_workflow_tried_again_after_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    let script = |workflow, attempt| match (workflow, attempt) {
        (2, 1 | 2) => Act::OutOfMemory(1.0),
        _ => Act::Done(2.0),
    };
    let variant = variant(Mode::Sequential, 1);
    play(folder.path(), &variant, 3, &mut Play::new(&script), None);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | completed | 0.000000 | 0.000000 | 2.000000 | 2.000000 | 0.000000 | 0.000000 | 2.000000 | 1
    2 | completed | 2.250000 | 2.250000 | 9.250000 | 7.000000 | 0.000000 | 5.000000 | 2.000000 | 3
    3 | completed | 9.500000 | 9.500000 | 11.500000 | 2.000000 | 0.000000 | 0.000000 | 2.000000 | 1
    ");
    assert_snapshot!(columns(folder.path(), "attempts.csv", ENDS), @r"
    workflow | attempt | incarnation | started_s | ended_s | outcome | cause | exit_code | oom_kills
    1 | 1 | 1 | 0.000000 | 2.000000 | completed | - | - | -
    2 | 1 | 1 | 2.250000 | 3.250000 | lost | memory_limit | 137 | 1
    2 | 2 | 2 | 4.250000 | 5.250000 | lost | memory_limit | 137 | 1
    2 | 3 | 3 | 7.250000 | 9.250000 | completed | - | - | -
    3 | 1 | 3 | 9.500000 | 11.500000 | completed | - | - | -
    ");
    assert_snapshot!(file(folder.path(), "workers.csv"), @r"
    variant,repeat,worker,incarnation,pid,started_s,ready_s,ended_s,cause,exit_code,signal,oom_kills,peak_rss_bytes,cpu_s,detail
    play,1,1,1,1101,-0.500000,0.000000,3.250000,memory_limit,137,9,1,67108864,2.000000,
    play,1,1,2,1102,3.250000,3.750000,5.250000,memory_limit,137,9,1,67108864,2.000000,
    play,1,1,3,1103,5.250000,5.750000,11.750000,shutdown,0,,,,,
    ");
}

#[test]
fn every_way_to_die_has_its_own_cause() {
    let folder = tempfile::tempdir().unwrap();
    let script = |workflow, attempt| match (workflow, attempt) {
        (1, 1) => Act::OutOfMemory(1.0),
        (2, 1) => Act::Exit {
            after: 1.0,
            code: 70,
        },
        (3, 1) => Act::Breach(1.0),
        (4, 1) => Act::Silent,
        (5, 1) => Act::Endless,
        (6, 1) => Act::Fail {
            after: 1.0,
            retryable: true,
        },
        _ => Act::Done(2.0),
    };
    let mut variant = variant(Mode::Sequential, 1);
    variant.sequence.attempt_timeout = seconds(30);
    variant.faults = vec![fault(7, 1, kill_after(1.0))];
    play(folder.path(), &variant, 7, &mut Play::new(&script), None);
    assert_snapshot!(columns(folder.path(), "attempts.csv", ENDS), @r"
    workflow | attempt | incarnation | started_s | ended_s | outcome | cause | exit_code | oom_kills
    1 | 1 | 1 | 0.000000 | 1.000000 | lost | memory_limit | 137 | 1
    1 | 2 | 2 | 2.000000 | 4.000000 | completed | - | - | -
    2 | 1 | 2 | 4.250000 | 5.250000 | lost | crash | 70 | -
    2 | 2 | 3 | 6.250000 | 8.250000 | completed | - | - | -
    3 | 1 | 3 | 8.500000 | 9.500000 | lost | protocol | 137 | 0
    3 | 2 | 4 | 10.500000 | 12.500000 | completed | - | - | -
    4 | 1 | 4 | 12.750000 | 22.750000 | lost | silence | 137 | 0
    4 | 2 | 5 | 23.750000 | 25.750000 | completed | - | - | -
    5 | 1 | 5 | 26.000000 | 56.000000 | lost | attempt_timeout | 137 | 0
    5 | 2 | 6 | 57.000000 | 59.000000 | completed | - | - | -
    6 | 1 | 6 | 59.250000 | 60.250000 | failed | reported | - | -
    6 | 2 | 6 | 61.250000 | 63.250000 | completed | - | - | -
    7 | 1 | 6 | 63.500000 | 64.500000 | lost | fault | 137 | 0
    7 | 2 | 7 | 65.500000 | 67.500000 | completed | - | - | -
    ");
    let why = columns(
        folder.path(),
        "attempts.csv",
        &["workflow", "message", "injected"],
    );
    assert_snapshot!(why, @r"
    workflow | message | injected
    1 | the worker was killed by the kernel at its memory limit (exit code 137, signal 9, oom_kill 1) | -
    1 | - | -
    2 | the worker exited in the middle of its work (exit code 70) | -
    2 | - | -
    3 | the worker broke the protocol and was killed: it said a line that is no JSON object (exit code 137, signal 9) | -
    3 | - | -
    4 | the worker was silent for too long and was killed (exit code 137, signal 9) | -
    4 | - | -
    5 | the worker took longer than an attempt may and was killed (exit code 137, signal 9) | -
    5 | - | -
    6 | the disk is full | -
    6 | - | -
    7 | the worker was killed by a fault that the scenario declares (exit code 137, signal 9) | SIGKILL after 1s
    7 | - | -
    ");
}

#[test]
fn attempts_that_are_used_up_fail_the_workflow_and_end_a_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let script = |workflow, _| match workflow {
        2 => Act::Fail {
            after: 1.0,
            retryable: true,
        },
        _ => Act::Done(2.0),
    };
    let variant = variant(Mode::Sequential, 1);
    let status = play(folder.path(), &variant, 4, &mut Play::new(&script), None);
    assert_eq!(status, RunStatus::Failed);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | completed | 0.000000 | 0.000000 | 2.000000 | 2.000000 | 0.000000 | 0.000000 | 2.000000 | 1
    2 | failed | 2.250000 | 2.250000 | 8.250000 | 6.000000 | 0.000000 | 5.000000 | 1.000000 | 3
    ");
}

#[test]
fn a_failure_that_cannot_be_retried_is_final_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = |workflow, _| match workflow {
        1 => Act::Fail {
            after: 1.0,
            retryable: false,
        },
        _ => Act::Done(2.0),
    };
    let variant = variant(concurrent(1.0, Queue::Fifo), 1);
    let status = play(folder.path(), &variant, 3, &mut Play::new(&script), None);
    assert_eq!(status, RunStatus::Failed);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | failed | 0.000000 | 0.000000 | 1.000000 | 1.000000 | 0.000000 | 0.000000 | 1.000000 | 1
    2 | completed | 1.000000 | 1.000000 | 3.000000 | 2.000000 | 0.000000 | 0.000000 | 2.000000 | 1
    3 | completed | 2.000000 | 3.000000 | 5.000000 | 3.000000 | 1.000000 | 0.000000 | 2.000000 | 1
    ");
}

#[test]
fn a_declared_cancel_ends_the_sequence_after_that_workflow() {
    let folder = tempfile::tempdir().unwrap();
    let script = |_, _| Act::Done(2.0);
    let mut variant = variant(Mode::Sequential, 1);
    variant.sequence.stop_after = Some(2);
    let status = play(folder.path(), &variant, 5, &mut Play::new(&script), None);
    assert_eq!(status, RunStatus::Cancelled);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | completed | 0.000000 | 0.000000 | 2.000000 | 2.000000 | 0.000000 | 0.000000 | 2.000000 | 1
    2 | completed | 2.250000 | 2.250000 | 4.250000 | 2.000000 | 0.000000 | 0.000000 | 2.000000 | 1
    ");
}

#[test]
fn a_cancel_among_concurrent_workflows_lets_those_in_hand_end_and_closes_the_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let script = |_, _| Act::Done(3.0);
    let mut variant = variant(concurrent(0.0, Queue::Fifo), 2);
    variant.sequence.stop_after = Some(2);
    let status = play(folder.path(), &variant, 6, &mut Play::new(&script), None);
    assert_eq!(status, RunStatus::Cancelled);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | completed | 0.000000 | 0.000000 | 3.000000 | 3.000000 | 0.000000 | 0.000000 | 3.000000 | 1
    2 | completed | 0.000000 | 0.000000 | 3.000000 | 3.000000 | 0.000000 | 0.000000 | 3.000000 | 1
    3 | completed | 0.000000 | 3.000000 | 6.000000 | 6.000000 | 3.000000 | 0.000000 | 3.000000 | 1
    4 | cancelled | 0.000000 | - | 3.000000 | 3.000000 | 3.000000 | 0.000000 | 0.000000 | 0
    5 | cancelled | 0.000000 | - | 3.000000 | 3.000000 | 3.000000 | 0.000000 | 0.000000 | 0
    6 | cancelled | 0.000000 | - | 3.000000 | 3.000000 | 3.000000 | 0.000000 | 0.000000 | 0
    ");
}

#[test]
fn a_deadline_counts_from_the_launch_also_for_what_waits() {
    let folder = tempfile::tempdir().unwrap();
    let script = |workflow, _| match workflow {
        1 => Act::Endless,
        _ => Act::Done(2.0),
    };
    let mut variant = variant(concurrent(1.0, Queue::Fifo), 1);
    variant.sequence.deadline = seconds(10);
    play(folder.path(), &variant, 3, &mut Play::new(&script), None);
    assert_snapshot!(columns(folder.path(), "workflows.csv", TIMES), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts
    1 | failed | 0.000000 | 0.000000 | 10.000000 | 10.000000 | 0.000000 | 0.000000 | 10.000000 | 1
    2 | failed | 1.000000 | 10.500000 | 11.000000 | 10.000000 | 9.500000 | 0.000000 | 0.500000 | 1
    3 | failed | 2.000000 | 11.500000 | 12.000000 | 10.000000 | 9.500000 | 0.000000 | 0.500000 | 1
    ");
}

#[test]
fn a_shuffled_queue_takes_the_same_order_for_the_same_seed() {
    let order = |seed| {
        let folder = tempfile::tempdir().unwrap();
        let script = |_, _| Act::Done(2.0);
        let mut variant = variant(concurrent(0.0, Queue::Shuffled), 1);
        variant.sequence.seed = seed;
        let mut world = Play::new(&script);
        play(folder.path(), &variant, 12, &mut world, None);
        let sent = world.sent.iter().map(|(_, workflow, _)| *workflow);
        sent.collect::<Vec<u32>>()
    };
    assert_eq!(order(5), order(5));
    assert_ne!(order(5), order(6));
    assert_ne!(order(5), (1..=12).collect::<Vec<u32>>());
}

#[test]
fn a_lowered_limit_kills_its_attempt_and_is_back_for_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let script = |_, _| Act::Done(2.0);
    let mut variant = variant(Mode::Sequential, 1);
    variant.faults = vec![fault(2, 1, FaultKind::Memory(96 << 20))];
    play(folder.path(), &variant, 2, &mut Play::new(&script), None);
    let told = columns(
        folder.path(),
        "attempts.csv",
        &["workflow", "attempt", "outcome", "cause", "injected"],
    );
    assert_snapshot!(told, @r"
    workflow | attempt | outcome | cause | injected
    1 | 1 | completed | - | -
    2 | 1 | lost | memory_limit | memory limit lowered to 96 MiB
    2 | 2 | completed | - | -
    ");
}

#[test]
fn what_was_interrupted_is_resumed_without_the_time_between() {
    let folder = tempfile::tempdir().unwrap();
    let script = |_, _| Act::Done(4.0);
    let variant = variant(Mode::Sequential, 1);
    let mut world = Play::new(&script).interrupted_at(7.0);
    let status = play(folder.path(), &variant, 3, &mut world, None);
    assert_eq!(status, RunStatus::Interrupted);
    let mut history = History::default();
    let mut journal = Journal::resume(folder.path()).unwrap();
    let session = Event::Session {
        session: 2,
        pid: 1,
        bench: "0".to_owned(),
    };
    journal.write(7.0, session).unwrap();
    read_events(folder.path(), |record| {
        history.apply(record);
        Ok::<_, crate::record::JournalError>(())
    })
    .unwrap();
    let mut world = Play::new(&script).from(history.last);
    let status = play(folder.path(), &variant, 3, &mut world, history.arms.first());
    assert_eq!(status, RunStatus::Completed);
    let mut wanted = TIMES.to_vec();
    wanted.push("resumed");
    assert_snapshot!(columns(folder.path(), "workflows.csv", &wanted), @r"
    workflow | status | launched_s | started_s | closed_s | duration_s | queue_s | retry_s | service_s | attempts | resumed
    1 | completed | 0.000000 | 0.000000 | 4.000000 | 4.000000 | 0.000000 | 0.000000 | 4.000000 | 1 | false
    2 | completed | 4.250000 | 4.250000 | 11.000000 | 6.750000 | 0.000000 | 2.750000 | 4.000000 | 2 | true
    3 | completed | 11.250000 | 11.250000 | 15.250000 | 4.000000 | 0.000000 | 0.000000 | 4.000000 | 1 | false
    ");
    assert_snapshot!(columns(folder.path(), "attempts.csv", ENDS), @r"
    workflow | attempt | incarnation | started_s | ended_s | outcome | cause | exit_code | oom_kills
    1 | 1 | 1 | 0.000000 | 4.000000 | completed | - | - | -
    2 | 1 | 1 | 4.250000 | 6.500000 | lost | interrupted | 137 | 0
    2 | 2 | 2 | 7.000000 | 11.000000 | completed | - | - | -
    3 | 1 | 2 | 11.250000 | 15.250000 | completed | - | - | -
    ");
}
