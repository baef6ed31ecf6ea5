//! Which report may stand in `reports_latest` for each accession.
//!
//! Where the batches are known, one; where a segment holds several workflows, those that any
//! batches in any order can bring about, which differ only for missing or equal message times. Where
//! the target leaves ties open ([`Ties`]), each of some equals of a batch is possible.

use super::Ties;
use super::facts::{Facts, MessageId};
use super::plan::Plan;
use std::collections::{HashMap, HashSet};

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
                possible = after_block(facts, &possible, block, plan.ties);
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
    // Accessions of a step that may have come at another place: all of theirs is one block.
    let mut floating: HashSet<u32> = HashSet::new();
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
                    floating.insert(accession);
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
            if floating.contains(&event.accession) {
                event.block = 0;
            }
        }
    }
    events
}

/// The possible stored reports after a block; `possible` are those before, none if nothing stood.
fn after_block(
    facts: &Facts,
    possible: &[MessageId],
    block: &[Event],
    ties: Ties,
) -> Vec<MessageId> {
    let time = |id: MessageId| facts.row_of(id).and_then(|row| row.message_dt());
    // Of one step only the greatest time can win, and of its equals the greatest name, or any.
    let mut best: Vec<MessageId> = Vec::new();
    let mut without_time: Vec<MessageId> = Vec::new();
    for step in block.chunk_by(|a, b| a.step == b.step) {
        let ids = || step.iter().map(|event| event.id);
        let greatest = ids().max_by(|&a, &b| {
            time(a)
                .cmp(&time(b))
                .then_with(|| facts.name_of(a).cmp(&facts.name_of(b)))
        });
        match (greatest, ties) {
            (Some(greatest), Ties::Open) => {
                best.extend(ids().filter(|&id| time(id) == time(greatest)));
            }
            (greatest, _) => best.extend(greatest),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{Ingested, Interleaving, Outcome, Subject, Ties, Truth};
    use bench_tables::fold::{Fact, Fold, Reached, Settings};
    use std::collections::BTreeMap;
    use std::path::Path;

    /// A log of messages by accession and time; no time, no year.
    fn write(root: &Path, name: &str, messages: &[(u32, Option<u32>)]) {
        let mut text = String::new();
        for (accession, time) in messages {
            let time = time.map_or_else(String::new, |time| format!("202301010000{time:02}"));
            text.push_str(&format!(
                "<SB>\nMSH|^~\\&|A|S|R|D|{time}||ORU^R01|1|P|2.7<R>\nOBR|1||{accession}<R>\n<EB><R>\n"
            ));
        }
        std::fs::write(root.join(name), text).expect("a log is written");
    }

    fn ingested(workflow: u32, log: &str) -> Ingested {
        Ingested {
            workflow,
            logs: vec![log.to_owned()],
            outcome: Outcome::Completed,
            ledger: None,
            attempts: 1,
            versions: BTreeMap::new(),
            probed: Vec::new(),
        }
    }

    /// Logs, each ingested by a workflow of its own, and what stands in them.
    fn read(root: &Path, logs: &[String]) -> (Subject, Facts) {
        let subject = Subject {
            truth: Truth::ReadFromLogs,
            dataset_root: root.to_owned(),
            workflows: (1..).zip(logs).map(|(n, log)| ingested(n, log)).collect(),
            ..Subject::default()
        };
        let mut scans = crate::verify::facts::scan(root, logs, true, 1);
        let facts = Facts::of(&subject, logs, &mut scans).expect("the logs are read");
        (subject, facts)
    }

    /// Numbers that look like chance.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) % bound
        }
    }

    /// The fold of the workflows in some order, where some stop after `reports`.
    fn fold(facts: &Facts, order: &[(usize, Reached)]) -> Fold {
        let mut fold = Fold::new(Settings::default());
        for &(number, reached) in order {
            let log = &facts.logs[number];
            let rows: Vec<_> = facts
                .of_log(number as u32)
                .map(|id| {
                    (
                        facts.name_in(log, id),
                        *facts.row_of(id).expect("all are rows"),
                    )
                })
                .collect();
            let rows: Vec<Fact<'_>> = rows
                .iter()
                .map(|(name, row)| facts.texts(row).named(name))
                .collect();
            fold.interrupted(&rows, reached).expect("the facts agree");
        }
        fold
    }

    #[test]
    fn of_equals_of_a_batch_the_greatest_name_wins_or_any_where_ties_are_open() {
        let folder = tempfile::tempdir().expect("a folder is made");
        let logs = ["20230101.log".to_owned(), "20230102.log".to_owned()];
        // Accession 1 has equals, 2 equals without a time, 3 equals that a later batch outdates.
        let first = [
            (1, Some(5)),
            (1, Some(5)),
            (1, Some(4)),
            (2, None),
            (2, None),
            (3, Some(1)),
            (3, Some(1)),
        ];
        write(folder.path(), &logs[0], &first);
        write(
            folder.path(),
            &logs[1],
            &[(1, Some(5)), (2, Some(9)), (3, Some(2))],
        );
        let (mut subject, facts) = read(folder.path(), &logs);
        let winners = |subject: &Subject| {
            let plan = Plan::new(subject, &facts, &[true; 2]);
            let winners = Winners::after(&facts, &plan, plan.steps.len());
            ["1", "2", "3"].map(|text| {
                let accession = (0..facts.accessions.len() as u32)
                    .find(|&at| facts.accessions.get(at) == text)
                    .expect("it is there");
                winners.of(accession).to_vec()
            })
        };
        assert_eq!(winners(&subject), [vec![1], vec![4], vec![9]]);
        subject.ties = Ties::Open;
        assert_eq!(winners(&subject), [vec![0, 1], vec![3, 4], vec![9]]);
    }

    #[test]
    fn winners_are_those_of_the_fold_and_open_ones_hold_every_order_and_batch() {
        let mut chance = Chance(7);
        let mut open = 0;
        for _ in 0..60 {
            let folder = tempfile::tempdir().expect("a folder is made");
            let logs: Vec<String> = (1..=4).map(|day| format!("2023010{day}.log")).collect();
            for log in &logs {
                let messages: Vec<_> = (0..4)
                    .map(|_| {
                        let time = chance.below(4) as u32;
                        (chance.below(3) as u32 + 1, (time > 0).then_some(time))
                    })
                    .collect();
                write(folder.path(), log, &messages);
            }
            let (mut subject, facts) = read(folder.path(), &logs);
            let winners = |subject: &Subject| {
                let plan = Plan::new(subject, &facts, &[true; 4]);
                Winners::after(&facts, &plan, plan.steps.len())
            };
            let holds = |winners: &Winners, fold: &Fold, is_only: bool| {
                for accession in 0..facts.accessions.len() as u32 {
                    let text = facts.accessions.get(accession);
                    let row = fold.expected().latest_of(text).expect("it has a latest");
                    let id = facts.find(row.source_file).expect("it is a message");
                    let possible = winners.of(accession);
                    assert!(possible.contains(&id), "{possible:?} and {id}");
                    assert!(!is_only || possible.len() == 1);
                }
            };
            let path_order: Vec<_> = (0..4).map(|number| (number, Reached::Dx)).collect();
            holds(&winners(&subject), &fold(&facts, &path_order), true);

            subject.interleaving = Interleaving::Overlapping;
            let overlapping = winners(&subject);
            open += overlapping.open();
            for _ in 0..20 {
                let mut order: Vec<usize> = (0..4).collect();
                for at in (1..4).rev() {
                    order.swap(at, chance.below(at as u64 + 1) as usize);
                }
                let reached = [Reached::Reports, Reached::Curated, Reached::Dx];
                let mut order: Vec<_> = order
                    .into_iter()
                    .map(|number| (number, reached[chance.below(3) as usize]))
                    .collect();
                order[3].1 = Reached::Dx;
                holds(&overlapping, &fold(&facts, &order), false);
            }
        }
        assert!(open > 20, "only {open} accessions were open");
    }
}
