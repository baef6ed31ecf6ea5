//! Which report may stand in `reports_latest` for each accession.
//!
//! Where the batches are known, one; where a segment holds several workflows, those that any
//! batches in any order can bring about, which differ only for missing or equal message times.

use super::facts::{Facts, MessageId};
use super::plan::Plan;
use std::collections::HashMap;

/// The possible winners by accession.
pub(super) struct Winners {
    /// The only one, or one of several; `MessageId::MAX` for none.
    one: Vec<MessageId>,
    several: HashMap<u32, Vec<MessageId>>,
    /// Accessions that have one.
    pub(super) count: u64,
}

/// A report that comes to the table.
#[derive(Clone, Copy)]
struct Event {
    accession: u32,
    /// Batches of a block with one step are known.
    block: u32,
    step: u32,
    id: MessageId,
}

impl Winners {
    /// The winners after the first `limit` steps.
    pub(super) fn after(facts: &Facts, plan: &Plan, limit: usize) -> Self {
        let mut events = events(facts, plan, limit);
        events.sort_unstable_by_key(|event| (event.accession, event.block, event.step, event.id));
        let mut winners = Self {
            one: vec![MessageId::MAX; facts.accessions.len()],
            several: HashMap::new(),
            count: 0,
        };
        for of_accession in events.chunk_by(|a, b| a.accession == b.accession) {
            let mut possible = Vec::new();
            for block in of_accession.chunk_by(|a, b| a.block == b.block) {
                possible = after_block(facts, &possible, block);
            }
            let accession = of_accession[0].accession;
            winners.one[accession as usize] = possible[0];
            winners.count += 1;
            if possible.len() > 1 {
                winners.several.insert(accession, possible);
            }
        }
        winners
    }

    /// The possible winners of an accession; none where it must not stand in the table.
    pub(super) fn of(&self, accession: u32) -> &[MessageId] {
        if let Some(several) = self.several.get(&accession) {
            return several;
        }
        let one = &self.one[accession as usize];
        if *one == MessageId::MAX {
            &[]
        } else {
            std::slice::from_ref(one)
        }
    }

    /// Accessions for which several reports are possible.
    pub(super) fn open(&self) -> usize {
        self.several.len()
    }
}

fn events(facts: &Facts, plan: &Plan, limit: usize) -> Vec<Event> {
    let mut events = Vec::new();
    // The last step of an accession that may have come earlier: all before it is one block.
    let mut floating: HashMap<u32, u32> = HashMap::new();
    for number in 0..facts.logs.len() {
        let steps = plan.steps_of(number, limit);
        for id in facts.of_log(number as u32) {
            let Some(row) = facts.row_of(id) else {
                continue;
            };
            let Some(accession) = row.accession() else {
                continue;
            };
            // Content that stands already comes to no further table; a row without a year does.
            let times = if row.year().is_some() { 1 } else { steps.len() };
            for &step in steps.iter().take(times) {
                let plan_step = plan.step(step);
                if plan_step.floating {
                    let last = floating.entry(accession).or_insert(step);
                    *last = (*last).max(step);
                }
                events.push(Event {
                    accession,
                    block: plan_step.segment + 1,
                    step,
                    id,
                });
            }
        }
    }
    if !floating.is_empty() {
        for event in &mut events {
            if floating
                .get(&event.accession)
                .is_some_and(|&last| event.step <= last)
            {
                event.block = 0;
            }
        }
    }
    events
}

/// The possible stored reports after a block; `possible` are those before, none if nothing stood.
fn after_block(facts: &Facts, possible: &[MessageId], block: &[Event]) -> Vec<MessageId> {
    let time = |id: MessageId| facts.row_of(id).and_then(|row| row.message_dt());
    // Of one step only the greatest time can win, and of its equals the greatest name.
    let mut best: Vec<MessageId> = Vec::new();
    let mut without_time: Vec<MessageId> = Vec::new();
    for step in block.chunk_by(|a, b| a.step == b.step) {
        let ids = || step.iter().map(|event| event.id);
        let greatest = ids().max_by(|&a, &b| {
            time(a)
                .cmp(&time(b))
                .then_with(|| facts.name_of(a).cmp(&facts.name_of(b)))
        });
        best.extend(greatest);
    }
    if best.len() > 1 {
        // Each may have been a batch of its own, or part of a greater one.
        without_time = best
            .iter()
            .copied()
            .filter(|&id| time(id).is_none())
            .collect();
        let latest = best.iter().filter_map(|&id| time(id)).max();
        best.retain(|&id| latest.is_some() && time(id) == latest);
    }
    let mut after: Vec<MessageId> = Vec::new();
    if possible.is_empty() {
        after.extend(best.iter().chain(&without_time));
    }
    for &stored in possible {
        let replaced = best.first().is_some_and(
            |&new| matches!((time(stored), time(new)), (Some(old), Some(new)) if new > old),
        );
        if replaced {
            after.extend(&best);
        } else {
            after.push(stored);
        }
    }
    after.sort_unstable();
    after.dedup();
    after
}
