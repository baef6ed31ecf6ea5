//! What the data set comes to: messages by outcome and fault, and rows of every table.
//!
//! Rows of `reports_latest` and `reports_dx` depend on several messages, but only on those of one
//! study. So they are counted study by study, without a table of all accessions in memory.

use crate::faults::{Fault, LOG_WITHOUT_SB, TRUNCATED};
use crate::maker::{Facts, Maker, MessageTruth, Outcome, diagnosis_count};
use bumpalo::Bump;
use std::collections::BTreeMap;

/// Logs that one workflow takes in the totals.
pub(crate) const LOGS_PER_WORKFLOW: u64 = 150;

/// Counts over some logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    outcomes: BTreeMap<Outcome, u64>,
    faults: BTreeMap<&'static str, u64>,
    pub(crate) reports: u64,
    pub(crate) curated: u64,
    pub(crate) latest: u64,
    pub(crate) dx: u64,
}

impl Totals {
    /// Counts a message. `alone` says that no other message has its accession.
    pub(crate) fn message(&mut self, truth: &MessageTruth<'_>, alone: bool) {
        *self.outcomes.entry(truth.outcome).or_default() += 1;
        if let Some(fault) = truth.fault {
            *self.faults.entry(fault).or_default() += 1;
        }
        self.reports += u64::from(truth.row.is_some());
        self.curated += u64::from(truth.curated.is_some());
        if let (true, Some(row), Some(_)) = (alone, truth.row, truth.curated) {
            self.latest += 1;
            self.dx += u64::from(diagnosis_count(row));
        }
    }

    /// Counts what all messages of a study leave in the tables of latest reports.
    pub(crate) fn study(&mut self, maker: &Maker<'_>, study: u64, arena: &Bump) {
        let mut stored: Option<Facts> = None;
        let mut members: Vec<(u64, Facts)> = maker
            .people
            .slots
            .family(study)
            .into_iter()
            .filter_map(|slot| {
                let log = maker.people.timeline.log_of(slot) as u64;
                Some((log / LOGS_PER_WORKFLOW, maker.facts(slot, arena)?))
            })
            .collect();
        // Within a workflow, in the order of preference.
        members.sort_by_key(|(workflow, facts)| {
            (
                *workflow,
                std::cmp::Reverse(facts.message_dt),
                std::cmp::Reverse(facts.edge.slot),
            )
        });
        let mut seen = None;
        for (workflow, facts) in members {
            if seen.replace(workflow) == Some(workflow) {
                continue;
            }
            let replaces = match (stored.map(|stored| stored.message_dt), facts.message_dt) {
                (None, _) => true,
                (Some(Some(old)), Some(new)) => new > old,
                _ => false,
            };
            if replaces {
                stored = Some(facts);
            }
        }
        if let Some(facts) = stored {
            self.latest += 1;
            self.dx += u64::from(facts.diagnoses);
        }
    }

    pub(crate) fn add(&mut self, other: &Totals) {
        for (outcome, count) in &other.outcomes {
            *self.outcomes.entry(*outcome).or_default() += count;
        }
        for (fault, count) in &other.faults {
            *self.faults.entry(fault).or_default() += count;
        }
        self.reports += other.reports;
        self.curated += other.curated;
        self.latest += other.latest;
        self.dx += other.dx;
    }

    /// Messages by outcome, all outcomes named.
    pub(crate) fn outcomes(&self) -> BTreeMap<String, u64> {
        Outcome::ALL
            .iter()
            .map(|outcome| {
                let count = self.outcomes.get(outcome).copied().unwrap_or(0);
                (outcome.name().to_owned(), count)
            })
            .collect()
    }

    /// Messages by fault, only faults that occur.
    pub(crate) fn faults(&self) -> BTreeMap<String, u64> {
        debug_assert!(self.faults.keys().all(|name| {
            [LOG_WITHOUT_SB, TRUNCATED].contains(name)
                || Fault::ALL.iter().any(|fault| fault.name() == *name)
        }));
        self.faults
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    /// Rows by table.
    pub(crate) fn tables(&self) -> BTreeMap<String, u64> {
        use bench_tables::Table;
        [
            (Table::Reports, self.reports),
            (Table::Curated, self.curated),
            (Table::Latest, self.latest),
            (Table::Dx, self.dx),
            // Every curated report has one row there.
            (Table::Mapping, self.curated),
        ]
        .into_iter()
        .map(|(table, rows)| (table.name().to_owned(), rows))
        .collect()
    }
}
