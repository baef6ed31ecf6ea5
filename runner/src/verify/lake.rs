//! The tables of a lake, one after the other, each with what the ones before have settled.

use super::checks::Checks;
use super::committed;
use super::dx::{self, Wanted};
use super::facts::{Facts, MessageId};
use super::history::{self, Known};
use super::latest;
use super::ledger::AfterWorkflow;
use super::mapping;
use super::plan::Plan;
use super::reached::{self, Reached};
use super::read::OpenTable;
use super::versions;
use super::winners::Winners;
use super::{Outcome, Subject, files};
use crate::delta::Lake;
use bench_tables::Table;
use bench_tables::fold::{Counts, Fact, Fold, Settings};
use std::collections::BTreeSet;

/// What the lake's tables settled for the ledgers.
pub(super) struct Settled {
    pub(super) plan: Plan,
    /// What the fold says of each step, where the batches are known.
    pub(super) counts: Option<Vec<Counts>>,
}

/// Checks every table.
pub(super) fn check(
    subject: &Subject,
    lake: &Lake,
    facts: &Facts,
    checks: &mut Checks,
) -> Result<Settled, String> {
    let threads = subject.threads.max(1);
    let completed = any_completed(subject);
    let reports_table = files::open(lake, Table::Reports, completed, checks);
    let reports = reports_table
        .as_deref()
        .map(|table| versions::read(table, facts, threads));
    let is_in_reports = reached::in_reports(subject, facts, reports.as_ref());
    let plan = Plan::new(subject, facts, &is_in_reports);
    let (fold, counts) = if plan.batches_known {
        let (fold, counts) = fold(subject, facts, &plan)?;
        (Some(fold), Some(counts))
    } else {
        (None, None)
    };
    let after = counts
        .as_deref()
        .map(|counts| AfterWorkflow::of(counts, plan.ties));
    let versions_of = |table: &OpenTable, checks: &mut Checks| {
        committed::check(table, subject, &plan, after.as_ref(), checks);
    };
    if let (Some(table), Some(found)) = (reports_table.as_deref(), &reports) {
        found.check(table, facts, &|id| in_reports(facts, &plan, id), checks);
        versions_of(table, checks);
    }

    let mut reached = Reached::certain(&plan);
    let curated_table = files::open(lake, Table::Curated, completed, checks);
    let curated = curated_table
        .as_deref()
        .map(|table| versions::read(table, facts, threads));
    if let (Some(table), Some(found)) = (curated_table.as_deref(), &curated) {
        reached.curated = reached::best(&plan, plan.steps.len(), |limit| {
            let misses = |&id: &MessageId| {
                let (least, most) = in_curated(facts, &plan, id, limit);
                !(least..=most).contains(&found.counts[id as usize])
            };
            (0..facts.len() as MessageId)
                .filter(|id| misses(id))
                .count() as u64
        });
        let allowed = |id| in_curated(facts, &plan, id, reached.curated);
        found.check(table, facts, &allowed, checks);
        if let Some(source) = &reports {
            found.check_carried(table, facts, source, checks);
        }
        versions_of(table, checks);
    }
    drop(reports);

    let latest_table = files::open(lake, Table::Latest, completed, checks);
    let latest = latest_table
        .as_deref()
        .map(|table| latest::read(table, facts, threads));
    let mut winners = Winners::after(facts, &plan, reached.curated);
    if let (Some(table), Some(found)) = (latest_table.as_deref(), &latest) {
        reached.latest = reached::best(&plan, reached.curated, |limit| {
            found.misses(&Winners::after(facts, &plan, limit))
        });
        if reached.latest != reached.curated {
            winners = Winners::after(facts, &plan, reached.latest);
        }
        found.check(table, facts, &winners, curated.as_ref(), checks);
        versions_of(table, checks);
    }
    let stored = latest.map(|latest| latest.stored).unwrap_or_default();
    mapping_tables(
        subject,
        lake,
        facts,
        &plan,
        fold.as_ref(),
        &mut reached,
        checks,
        &versions_of,
    );
    drop(fold);
    let hashes = curated.map(|curated| curated.diagnoses).unwrap_or_default();

    let dx_table = files::open(lake, Table::Dx, completed, checks);
    if let Some(table) = dx_table.as_deref() {
        let found = dx::read(table, facts, threads);
        let choices = dx_choices(facts, &plan, &winners, &stored, &reached);
        let (limit, wanted) = choices
            .into_iter()
            .map(|choice| {
                (
                    found.misses(facts, &|accession| choice.wanted(accession)),
                    choice,
                )
            })
            .min_by_key(|(misses, _)| *misses)
            .map(|(_, choice)| (choice.limit, choice))
            .expect("there is always one");
        reached.dx = limit;
        reached.dx_between = wanted.between;
        found.check(
            table,
            facts,
            &|accession| wanted.wanted(accession),
            &hashes,
            checks,
        );
        versions_of(table, checks);
    }
    reached.tell(subject, &plan, &is_in_reports, checks);
    Ok(Settled { plan, counts })
}

/// Rows of a message in `reports`.
fn in_reports(facts: &Facts, plan: &Plan, id: MessageId) -> (u16, u16) {
    let times = facts.row_of(id).map_or(0, |row| {
        let times = plan.steps_of(facts.log_number(id), plan.steps.len()).len() as u16;
        if row.year().is_some() {
            times.min(1)
        } else {
            times
        }
    });
    (times, times)
}

/// Rows of a message in curated after some steps: of a file without a year that several workflows
/// brought, one in each batch.
fn in_curated(facts: &Facts, plan: &Plan, id: MessageId, limit: usize) -> (u16, u16) {
    let Some(row) = facts.row_of(id).filter(|row| row.accession().is_some()) else {
        return (0, 0);
    };
    let steps = plan.steps_of(facts.log_number(id), limit);
    if row.year().is_some() {
        let rows = u16::from(!steps.is_empty());
        return (rows, rows);
    }
    let certain = steps
        .iter()
        .map(|&step| plan.step(step))
        .filter(|step| !step.floating);
    let segments: BTreeSet<u32> = certain.map(|step| step.segment).collect();
    let least = segments.len().max(usize::from(!steps.is_empty()));
    (least as u16, steps.len() as u16)
}

/// Folds the facts over the workflows.
fn fold(subject: &Subject, facts: &Facts, plan: &Plan) -> Result<(Fold, Vec<Counts>), String> {
    let mut fold = Fold::new(Settings {
        create_mapping: subject.create_mapping,
    });
    let mut counts = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let mut names = Vec::new();
        for path in &subject.workflows[step.at].logs {
            let number = facts.log_by_path(path);
            let log = &facts.logs[number];
            let ids = facts.of_log(number as u32);
            let ids = ids.filter_map(|id| Some((id, facts.row_of(id)?)));
            names.extend(ids.map(|(id, row)| (facts.name_in(log, id), row)));
        }
        let rows: Vec<Fact<'_>> = names
            .iter()
            .map(|(name, row)| facts.texts(row).named(name))
            .collect();
        counts.push(fold.workflow(&rows).map_err(|error| error.to_string())?);
    }
    Ok((fold, counts))
}

/// Whether a workflow completed: only then must there be tables.
fn any_completed(subject: &Subject) -> bool {
    let mut workflows = subject.workflows.iter();
    workflows.any(|workflow| workflow.outcome == Outcome::Completed)
}

#[allow(clippy::too_many_arguments, reason = "it is one part of one story")]
fn mapping_tables(
    subject: &Subject,
    lake: &Lake,
    facts: &Facts,
    plan: &Plan,
    fold: Option<&Fold>,
    reached: &mut Reached,
    checks: &mut Checks,
    versions_of: &dyn Fn(&OpenTable, &mut Checks),
) {
    let threads = subject.threads.max(1);
    // A workflow that was interrupted may have left rows, but need not have made the tables.
    let needed = subject.create_mapping && any_completed(subject);
    let table = files::open(lake, Table::Mapping, needed, checks);
    let found = table
        .as_deref()
        .map(|table| mapping::read(table, facts, threads));
    if let (Some(table), Some(found)) = (table.as_deref(), &found) {
        let has = |id: MessageId, limit: usize| {
            subject.create_mapping
                && facts
                    .row_of(id)
                    .is_some_and(|row| row.accession().is_some())
                && !plan.steps_of(facts.log_number(id), limit).is_empty()
        };
        let misses = |least: usize, most: usize| {
            (0..facts.len() as MessageId)
                .filter(|&id| {
                    let is_there = found.holds(id);
                    (has(id, least) && !is_there) || (!has(id, most) && is_there)
                })
                .count() as u64
        };
        reached.mapping = reached::best(plan, reached.curated, |limit| misses(limit, limit));
        // A workflow that was interrupted within the mapping leaves some of its rows.
        let mut most = reached.mapping;
        let may_be_cut = reached.curated > plan.certain();
        if may_be_cut && misses(most, most) > 0 {
            let partial = reached::best(plan, reached.curated.saturating_sub(1), |limit| {
                misses(limit, limit + 1)
            });
            if partial < reached.curated
                && misses(partial, partial + 1) < misses(reached.mapping, reached.mapping)
            {
                reached.mapping = partial;
                most = partial + 1;
            }
        }
        reached.mapping_most = most;
        let least = reached.mapping;
        mapping::check(
            table,
            found,
            facts,
            &|id| has(id, least),
            &|id| has(id, most),
            checks,
        );
        versions_of(table, checks);
    }
    // An engine may make this table with its first row.
    let may_be_empty = fold.is_some_and(|fold| fold.expected().totals().mapping_history.least == 0);
    let history = files::open(lake, Table::MappingHistory, needed && !may_be_empty, checks);
    if let Some(history) = history {
        let rows = mapping::read(&history, facts, threads);
        let known = match fold {
            Some(fold) if plan.is_exact => Known::Exactly(fold.expected()),
            Some(fold) => Known::AtLeast(fold.expected()),
            None => Known::Open,
        };
        let is_complete = plan.trailing == 0;
        history::check(
            &history,
            &rows,
            found.as_ref(),
            facts,
            &known,
            is_complete,
            checks,
        );
        versions_of(&history, checks);
    }
}

/// One of the states that dx may be in.
struct DxChoice<'a> {
    limit: usize,
    /// Whether the rows of changed accessions were deleted and not yet appended.
    between: bool,
    winners: Option<Winners>,
    newer: &'a Winners,
    stored: &'a [MessageId],
}

impl DxChoice<'_> {
    fn wanted(&self, accession: u32) -> Wanted {
        let newer = self.choose(self.newer, accession, true);
        let Some(winners) = &self.winners else {
            return newer.map_or(Wanted::Nothing, Wanted::Of);
        };
        let older = self.choose(winners, accession, false);
        match older {
            Some(older) if !(self.between && newer != Some(older)) => Wanted::Of(older),
            _ => Wanted::Nothing,
        }
    }

    /// The report of an accession: the one that stands in latest, if it may.
    fn choose(&self, winners: &Winners, accession: u32, is_newest: bool) -> Option<MessageId> {
        let possible = winners.of(accession);
        let stored = self.stored.get(accession as usize).copied();
        let stands = stored.filter(|stored| possible.contains(stored));
        stands
            .filter(|_| is_newest || possible.len() > 1)
            .or(possible.first().copied())
    }
}

/// The states that dx may be in: that of latest, and where interrupted workflows stand last, those
/// of before.
fn dx_choices<'a>(
    facts: &Facts,
    plan: &Plan,
    winners: &'a Winners,
    stored: &'a [MessageId],
    reached: &Reached,
) -> Vec<DxChoice<'a>> {
    let mut choices = vec![DxChoice {
        limit: reached.latest,
        between: false,
        winners: None,
        newer: winners,
        stored,
    }];
    for limit in (plan.certain()..reached.latest).rev() {
        for between in [false, true] {
            choices.push(DxChoice {
                limit,
                between,
                winners: Some(Winners::after(facts, plan, limit)),
                newer: winners,
                stored,
            });
        }
    }
    choices
}
