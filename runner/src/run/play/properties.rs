//! What holds for every play.

use super::*;
use crate::record::{History, WorkflowStatus};
use proptest::prelude::*;
use std::collections::HashMap;

fn act() -> impl Strategy<Value = Act> {
    let seconds = || (1_u32..40).prop_map(|tenths| f64::from(tenths) / 10.0);
    prop_oneof![
        6 => seconds().prop_map(Act::Done),
        1 => (seconds(), any::<bool>()).prop_map(|(after, retryable)| Act::Fail { after, retryable }),
        1 => seconds().prop_map(Act::OutOfMemory),
        1 => seconds().prop_map(|after| Act::Exit { after, code: 1 }),
        1 => seconds().prop_map(Act::Breach),
        1 => Just(Act::Silent),
        1 => Just(Act::Endless),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    let queue = prop_oneof![Just(Queue::Fifo), Just(Queue::Shuffled)];
    prop_oneof![
        Just(Mode::Sequential),
        (0_u32..30, queue).prop_map(|(tenths, queue)| concurrent(f64::from(tenths) / 10.0, queue)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_workflow_ends_once_and_its_time_adds_up(
        mode in mode(),
        workers in 1_u32..4,
        slots in 1_u32..3,
        acts in prop::collection::vec(act(), 1..40),
        workflows in 1_usize..12,
        stop_after in prop::option::of(1_u32..12),
        deadline in prop::option::of(5_u64..60),
        kill in prop::option::of((1_u32..12, 1_u32..3, 0_u32..30)),
    ) {
        let sequential = mode == Mode::Sequential;
        let mut variant = variant(mode.clone(), if sequential { 1 } else { workers });
        variant.sequence.slots = if sequential { 1 } else { slots };
        variant.sequence.stop_after = stop_after;
        variant.sequence.deadline = deadline.map(Duration::from_secs);
        variant.sequence.attempt_timeout = Some(Duration::from_secs(20));
        if let Some((workflow, attempt, tenths)) = kill {
            variant.faults = vec![fault(workflow, attempt, kill_after(f64::from(tenths) / 10.0))];
        }
        let script = |workflow: u32, attempt: u32| {
            acts[(workflow as usize * 7 + attempt as usize * 3) % acts.len()]
        };
        let folder = tempfile::tempdir().unwrap();
        let mut world = Play::new(&script);
        let status = play(folder.path(), &variant, workflows, &mut world, None);
        let history: History = write_tables(folder.path()).unwrap();
        let arm = &history.arms[0];

        let mut busy: HashMap<(u32, u32), Vec<(f64, f64)>> = HashMap::new();
        for (&number, workflow) in &arm.workflows {
            let (closed, how) = workflow.closed.expect("every workflow that was launched is closed");
            prop_assert_eq!(arm.closed.iter().filter(|one| **one == number).count(), 1);
            let spent = workflow.spent().unwrap();
            let sum = spent.queue + spent.retry + spent.service;
            prop_assert!((sum - (closed - workflow.launched)).abs() < 1e-9);
            prop_assert!(spent.queue >= 0.0 && spent.retry >= 0.0 && spent.service >= 0.0);
            prop_assert!(workflow.attempts.len() <= 3);
            prop_assert_eq!(how == WorkflowStatus::Completed, workflow.completed().is_some());
            if let Mode::Concurrent { launch_interval, .. } = &mode {
                let due = arm.started.unwrap() + launch_interval.as_secs_f64() * f64::from(number - 1);
                prop_assert!((workflow.launched - due).abs() < 1e-9);
            }
            for attempt in &workflow.attempts {
                let (ended, _) = attempt.ended.as_ref().expect("every attempt ends");
                let worker = (attempt.worker, attempt.incarnation);
                busy.entry(worker).or_default().push((attempt.started, *ended));
            }
        }
        for spans in busy.values() {
            for (start, _) in spans {
                let at_once = spans.iter().filter(|(from, to)| from <= start && start < to).count();
                prop_assert!(at_once <= variant.sequence.slots as usize);
            }
        }
        let failed = arm.workflows.values().any(|one| {
            matches!(one.closed, Some((_, WorkflowStatus::Failed)))
        });
        prop_assert_eq!(status == RunStatus::Failed, failed);
        if status == RunStatus::Completed {
            prop_assert_eq!(arm.completed() as usize, workflows);
        }
        prop_assert!(arm.workers.iter().all(|process| process.exited.is_some()));
    }
}
