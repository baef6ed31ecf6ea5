//! Which workflows reached the lake, in which order, and where a batch of the derived tables
//! certainly ended.
//!
//! A derived table takes all changes that it has not seen as one batch. After a workflow that
//! completed while nothing else ran, every table has seen everything: there a *segment* ends. A
//! segment with one workflow is one batch; in a longer one the batches are open.

use super::facts::Facts;
use super::{Ingested, Interleaving, Outcome, Subject, Ties};
use std::collections::BTreeSet;

/// A workflow whose rows are in `reports`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Place of the workflow in the subject.
    pub(super) at: usize,
    pub(super) segment: u32,
    /// Whether it may have committed to `reports` at another place: in an earlier attempt than the
    /// last, with other workflows between them.
    pub(super) floating: bool,
}

/// The steps, and how far certainty goes.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// The last steps, which were interrupted and which no completed workflow followed: each
    /// derived table may have seen any first of them.
    pub(super) trailing: usize,
    /// Whether every segment has one step and every attempt is known: then all is determined.
    pub(super) is_exact: bool,
    /// Whether the batches are known, and only the attempts within a workflow are not.
    pub(super) batches_known: bool,
    /// Which of equals becomes the latest.
    pub(super) ties: Ties,
    /// By log, the steps that brought it.
    of_log: Vec<Vec<u32>>,
}

impl Plan {
    /// `is_in_reports` says of a workflow that was interrupted whether its rows are there.
    pub(super) fn new(subject: &Subject, facts: &Facts, is_in_reports: &[bool]) -> Self {
        let workflows = &subject.workflows;
        let places: Vec<usize> = (0..workflows.len())
            .filter(|&at| workflows[at].outcome == Outcome::Completed || is_in_reports[at])
            .collect();
        let mut steps = Vec::with_capacity(places.len());
        let mut segment = 0;
        for at in places {
            let workflow = &workflows[at];
            let retried = workflow.attempts > 1;
            steps.push(Step {
                at,
                segment,
                floating: retried && subject.interleaving == Interleaving::OneAtATime,
            });
            segment += u32::from(ends_segment(subject.interleaving, workflow));
        }
        let completed = |step: &Step| workflows[step.at].outcome == Outcome::Completed;
        let trailing = steps
            .iter()
            .rev()
            .take_while(|step| !completed(step))
            .count();
        let segments: BTreeSet<u32> = steps.iter().map(|step| step.segment).collect();
        let batches_known = trailing == 0
            && segments.len() == steps.len()
            && steps.iter().all(|step| !step.floating && completed(step));
        let is_exact = batches_known
            && workflows
                .iter()
                .all(|w| w.attempts <= 1 && w.outcome == Outcome::Completed);
        let mut of_log = vec![Vec::new(); facts.logs.len()];
        for (number, step) in steps.iter().enumerate() {
            for log in &workflows[step.at].logs {
                of_log[facts.log_by_path(log)].push(number as u32);
            }
        }
        Self {
            steps,
            trailing,
            is_exact,
            batches_known,
            ties: subject.ties,
            of_log,
        }
    }

    /// Steps that every derived table has seen for certain.
    pub(super) fn certain(&self) -> usize {
        self.steps.len() - self.trailing
    }

    /// The steps below `limit` that brought a log, in their order.
    pub(super) fn steps_of(&self, log: usize, limit: usize) -> &[u32] {
        let steps = &self.of_log[log];
        &steps[..steps.partition_point(|&step| (step as usize) < limit)]
    }

    /// The segment of a step; all that may have come in any order are one.
    pub(super) fn step(&self, number: u32) -> &Step {
        &self.steps[number as usize]
    }
}

/// Whether everything is seen by every table before the next workflow commits to `reports`.
fn ends_segment(interleaving: Interleaving, workflow: &Ingested) -> bool {
    workflow.outcome == Outcome::Completed
        && match interleaving {
            Interleaving::Sequential => true,
            Interleaving::OneAtATime => workflow.attempts <= 1,
            Interleaving::Overlapping => false,
        }
}
