//! Workflows that wait for a slot.

use crate::scenario::{self, Mode, Queue};
use std::collections::VecDeque;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The waiting workflows, in the order in which they came.
#[derive(Debug)]
pub(super) struct Waiting {
    workflows: VecDeque<u32>,
    /// Seed of the draws, where they are drawn.
    seed: Option<u64>,
    /// How many were drawn so far: with the seed it decides the next draw.
    drawn: u64,
}

impl Waiting {
    pub(super) fn new(plan: &scenario::Sequence) -> Self {
        let shuffled = matches!(
            plan.mode,
            Mode::Concurrent {
                queue: Queue::Shuffled,
                ..
            }
        );
        Self {
            workflows: VecDeque::new(),
            seed: shuffled.then_some(plan.seed),
            drawn: 0,
        }
    }

    /// Continues the draws of another runner.
    pub(super) fn drawn(&mut self, drawn: u64) {
        self.drawn = drawn;
    }

    pub(super) fn push(&mut self, workflow: u32) {
        self.workflows.push_back(workflow);
    }

    pub(super) fn remove(&mut self, workflow: u32) {
        self.workflows.retain(|other| *other != workflow);
    }

    pub(super) fn clear(&mut self) {
        self.workflows.clear();
    }

    /// The one whose turn it is.
    pub(super) fn take(&mut self) -> Option<u32> {
        let Some(seed) = self.seed else {
            return self.workflows.pop_front();
        };
        let count = self.workflows.len() as u64;
        if count == 0 {
            return None;
        }
        let draw = xxh3_64_with_seed(&self.drawn.to_le_bytes(), seed) % count;
        self.drawn += 1;
        self.workflows.remove(usize::try_from(draw).ok()?)
    }
}
