//! Settings that workers found to have changed nothing, by where that was: `without_effect` of the
//! events, in a form that a report can quote.
//!
//! A worker tells it of each workflow that it completes. Most often it says the same of all of them,
//! so what it says alike is one entry.

use super::history::History;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A setting that changed nothing in some workflows of an arm, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithoutEffect {
    /// The repeat of the variant.
    pub repeat: u32,
    /// The workflows, by number.
    pub workflows: Vec<u32>,
    /// Why, in the worker's words.
    pub reason: String,
}

/// What workers found to be without effect, by variant and setting: repeats in the order in which they
/// ran, reasons in the order in which workflows had them.
#[must_use]
pub fn without_effect(history: &History) -> BTreeMap<String, BTreeMap<String, Vec<WithoutEffect>>> {
    let mut found: BTreeMap<String, BTreeMap<String, Vec<WithoutEffect>>> = BTreeMap::new();
    for arm in &history.arms {
        let repeat = arm.id.repeat;
        for (number, workflow) in &arm.workflows {
            let Some((_, end)) = workflow.completed() else {
                continue;
            };
            for (setting, reason) in &end.without_effect {
                let settings = found.entry(arm.id.variant.clone()).or_default();
                let entries = settings.entry(setting.clone()).or_default();
                let same = |one: &&mut WithoutEffect| one.repeat == repeat && one.reason == *reason;
                match entries.iter_mut().find(same) {
                    Some(entry) => entry.workflows.push(*number),
                    None => entries.push(WithoutEffect {
                        repeat,
                        workflows: vec![*number],
                        reason: reason.clone(),
                    }),
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{
        ArmHistory, ArmId, AttemptEnd, AttemptHistory, AttemptOutcome, Limits, WorkflowHistory,
    };

    fn attempt(outcome: AttemptOutcome, found: &[(&str, &str)]) -> AttemptHistory {
        let mut end = AttemptEnd::of(outcome);
        let found = found.iter();
        end.without_effect
            .extend(found.map(|(setting, reason)| ((*setting).to_owned(), (*reason).to_owned())));
        AttemptHistory {
            attempt: 1,
            worker: 1,
            incarnation: 1,
            started: 0.0,
            injected: Vec::new(),
            ended: Some((1.0, end)),
        }
    }

    fn arm(repeat: u32, workflows: Vec<Vec<AttemptHistory>>) -> ArmHistory {
        let workflows = (1..).zip(workflows).map(|(number, attempts)| {
            let workflow = WorkflowHistory {
                attempts,
                ..WorkflowHistory::default()
            };
            (number, workflow)
        });
        ArmHistory {
            id: ArmId {
                variant: "tuned".to_owned(),
                repeat,
            },
            planned: 3,
            limits: Limits::default(),
            started: None,
            workflows: workflows.collect(),
            workers: Vec::new(),
            closed: Vec::new(),
            ended: None,
            verified: None,
        }
    }

    #[test]
    fn what_is_said_alike_of_several_workflows_is_one_entry_and_a_failed_attempt_says_nothing() {
        let done = |found: &[(&str, &str)]| vec![attempt(AttemptOutcome::Completed, found)];
        let first = arm(
            1,
            vec![
                done(&[("a", "x"), ("b", "1 of 2")]),
                vec![attempt(AttemptOutcome::Failed, &[("a", "x")])],
                done(&[("b", "2 of 2"), ("a", "x")]),
            ],
        );
        let history = History {
            arms: vec![first, arm(2, vec![done(&[("a", "x")]), done(&[])])],
            ..History::default()
        };
        let entry = |repeat: u32, workflows: &[u32], reason: &str| WithoutEffect {
            repeat,
            workflows: workflows.to_vec(),
            reason: reason.to_owned(),
        };
        let a = vec![entry(1, &[1, 3], "x"), entry(2, &[1], "x")];
        let b = vec![entry(1, &[1], "1 of 2"), entry(1, &[3], "2 of 2")];
        let settings = BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
        let expected = BTreeMap::from([("tuned".to_owned(), settings)]);
        assert_eq!(without_effect(&history), expected);
    }
}
