//! What the workers said of their workflows, compared with the logs and the tables.

use super::checks::{Checks, Wrong};
use super::facts::{Facts, LogScan, Message};
use super::plan::Plan;
use super::verification::Position;
use super::{Ingested, Ledger, LostMessage, Outcome, ReportCounts, Subject, TableCounts, Ties};
use bench_tables::Table;
use bench_tables::fold::Counts;
use std::collections::{BTreeMap, BTreeSet};

/// What the logs of a workflow hold.
struct Held {
    messages: u64,
    empty: u64,
    unparsable: BTreeSet<LostMessage>,
    parsed: u64,
    failed: BTreeSet<String>,
}

/// Compares the ledger of every completed workflow. `folded` has what the fold says that each step
/// did, where the batches are known.
pub(super) fn check(
    subject: &Subject,
    facts: &Facts,
    plan: &Plan,
    folded: Option<&[Counts]>,
    checks: &mut Checks,
) {
    let mut undetermined = 0;
    for (at, workflow) in subject.workflows.iter().enumerate() {
        if workflow.outcome != Outcome::Completed {
            continue;
        }
        let Some(ledger) = &workflow.ledger else {
            of(
                workflow,
                checks.add("ledger", None, "a ledger", "none", false),
            );
            continue;
        };
        let held = held(workflow, facts);
        let mut wrong = differences(workflow, ledger, &held);
        let step = plan.steps.iter().position(|step| step.at == at);
        let counts = step.and_then(|step| folded?.get(step));
        match (counts, workflow.attempts <= 1) {
            (Some(counts), is_single) => {
                wrong.extend(reports(ledger, counts, is_single));
                if is_single {
                    wrong.extend(tables(ledger, counts, plan.ties));
                } else {
                    undetermined += 1;
                }
            }
            (None, _) => undetermined += 1,
        }
        let expected = "an account of every log, message and row";
        let found = match wrong.count {
            0 => expected.to_owned(),
            count => format!("{count} numbers that do not add up"),
        };
        let check = checks.add("ledger", None, expected, found, wrong.count == 0);
        check.positions = wrong.positions;
        of(workflow, check);
    }
    if undetermined > 0 {
        let found = format!("{undetermined} of {} workflows", subject.workflows.len());
        let check = checks.add("ledger_tables", None, "what each attempt did", found, true);
        check.note(
            "rows per derived table were not compared for these: a killed attempt or another \
             workflow may have done a part of it",
        );
    }
}

fn of(workflow: &Ingested, check: &mut super::Check) {
    check.workflow = Some(workflow.workflow);
}

fn held(workflow: &Ingested, facts: &Facts) -> Held {
    let mut held = Held {
        messages: 0,
        empty: 0,
        unparsable: BTreeSet::new(),
        parsed: 0,
        failed: BTreeSet::new(),
    };
    for path in &workflow.logs {
        let number = facts.log_by_path(path);
        let log = &facts.logs[number];
        if log.failed {
            held.failed.insert(path.clone());
        }
        held.messages += u64::from(log.messages);
        for id in facts.of_log(number as u32) {
            match facts.message(id) {
                Message::Empty => held.empty += 1,
                Message::NotParsable => {
                    held.unparsable.insert(LostMessage {
                        file: path.clone(),
                        ordinal: id - log.first,
                    });
                }
                Message::Row(_) => held.parsed += 1,
            }
        }
    }
    held
}

impl Wrong {
    fn number(&mut self, what: &str, expected: u64, found: u64) {
        if expected != found {
            self.add(|| Position {
                what: format!("{what}: {found}, expected {expected}"),
                ..Position::default()
            });
        }
    }

    fn extend(&mut self, other: Self) {
        self.count += other.count;
        self.positions.extend(other.positions);
        self.positions.truncate(super::Check::POSITIONS);
    }
}

/// The logs and messages of a ledger, and whether its sums agree.
fn differences(workflow: &Ingested, ledger: &Ledger, held: &Held) -> Wrong {
    let mut wrong = Wrong::default();
    let ReportCounts {
        inserted,
        updated,
        unchanged,
    } = ledger.reports;
    let lost = ledger.unparsable.len() as u64;
    wrong.number(
        "messages, by their sum",
        ledger.empty + lost + ledger.parsed,
        ledger.messages,
    );
    wrong.number(
        "parsed, by what became of them",
        inserted + updated + unchanged,
        ledger.parsed,
    );
    wrong.number("logs", workflow.logs.len() as u64, ledger.logs);
    wrong.number("messages", held.messages, ledger.messages);
    wrong.number("empty", held.empty, ledger.empty);
    wrong.number("parsed", held.parsed, ledger.parsed);

    let place = |file: &str, ordinal: Option<u32>, what: &str| Position {
        log: Some(file.to_owned()),
        ordinal,
        what: what.to_owned(),
        ..Position::default()
    };
    let named: BTreeSet<String> = ledger
        .failed_logs
        .iter()
        .map(|log| log.file.clone())
        .collect();
    wrong.number(
        "failed logs that are named",
        named.len() as u64,
        ledger.failed_logs.len() as u64,
    );
    for log in held.failed.difference(&named) {
        wrong.add(|| place(log, None, "a failed log that is not named"));
    }
    for log in named.difference(&held.failed) {
        wrong.add(|| place(log, None, "named as failed, but it has messages"));
    }
    let named: BTreeSet<LostMessage> = ledger.unparsable.iter().cloned().collect();
    wrong.number(
        "unparsable messages that are named",
        named.len() as u64,
        lost,
    );
    for lost in held.unparsable.difference(&named) {
        wrong.add(|| place(&lost.file, Some(lost.ordinal), "unparsable, but not named"));
    }
    for lost in named.difference(&held.unparsable) {
        let what = "named as unparsable, but it is not";
        wrong.add(|| place(&lost.file, Some(lost.ordinal), what));
    }
    wrong
}

/// What became of the rows in `reports`. A second attempt may find what the first committed.
fn reports(ledger: &Ledger, counts: &Counts, is_single: bool) -> Wrong {
    let mut wrong = Wrong::default();
    let found = ledger.reports;
    let all_unchanged = ReportCounts {
        unchanged: ledger.parsed,
        ..ReportCounts::default()
    };
    if !is_single && found == all_unchanged {
        return wrong;
    }
    wrong.number("reports inserted", counts.reports.inserted, found.inserted);
    wrong.number("reports updated", counts.reports.updated, found.updated);
    wrong.number(
        "reports unchanged",
        counts.reports.unchanged,
        found.unchanged,
    );
    wrong
}

/// What a workflow of one attempt did to the tables that it reports on.
fn tables(ledger: &Ledger, counts: &Counts, ties: Ties) -> Wrong {
    let mut wrong = Wrong::default();
    let mut compare =
        |table: Table, numbers: &dyn Fn(TableCounts) -> Vec<(&'static str, u64, u64)>| {
            if let Some(found) = ledger.tables.get(table.name()) {
                for (what, expected, found) in numbers(*found) {
                    wrong.number(&format!("{} {what}", table.name()), expected, found);
                }
            }
        };
    compare(Table::Curated, &|found| {
        vec![
            ("inserted", counts.curated.inserted, found.inserted),
            ("updated", counts.curated.updated, found.updated),
            ("dropped", counts.curated.dropped, found.dropped),
        ]
    });
    compare(Table::Latest, &|found| {
        vec![
            ("inserted", counts.latest.inserted, found.inserted),
            ("updated", counts.latest.replaced, found.updated),
        ]
    });
    compare(Table::Mapping, &|found| {
        vec![("inserted", counts.mapping.inserted, found.inserted)]
    });
    // Equals may have another number of diagnoses each.
    if ties == Ties::GreatestName {
        compare(Table::Dx, &|found| {
            vec![
                ("inserted", counts.dx.appended, found.inserted),
                ("deleted", counts.dx.deleted, found.deleted),
            ]
        });
    }
    let range = counts.mapping.history;
    if let Some(found) = ledger.tables.get(Table::MappingHistory.name())
        && !range.contains(found.inserted)
    {
        wrong.add(|| Position {
            what: format!(
                "{} inserted: {}, expected {} to {}",
                Table::MappingHistory.name(),
                found.inserted,
                range.least,
                range.most
            ),
            ..Position::default()
        });
    }
    wrong
}

/// Compares the logs, as they lie there, with the facts: nobody is to verify against other logs
/// than were ingested.
pub(super) fn logs(facts: &Facts, scans: &[LogScan], checks: &mut Checks) {
    let made = facts.as_made();
    let mut changed = Wrong::default();
    let mut counted = Wrong::default();
    for (number, (log, scan)) in facts.logs.iter().zip(scans).enumerate() {
        let place = |what: String| Position {
            log: Some(log.path.clone()),
            what,
            ..Position::default()
        };
        if let Some(made) = made.get(log.path.as_str())
            && (made.bytes, &made.digest) != (scan.bytes, &scan.digest)
        {
            changed.add(|| place("it is not as it was made".to_owned()));
        }
        let ids = facts.of_log(number as u32);
        let empty = ids
            .clone()
            .filter(|&id| matches!(facts.message(id), Message::Empty));
        let not_parsable: Vec<u32> = ids
            .filter(|&id| matches!(facts.message(id), Message::NotParsable))
            .map(|id| id - log.first)
            .collect();
        let is_same = log.failed == scan.is_failed()
            && (log.failed
                || (u64::from(log.messages), empty.count() as u64, &not_parsable)
                    == (
                        u64::from(scan.messages),
                        u64::from(scan.empty),
                        &scan.not_parsable,
                    ));
        if !is_same {
            let messages = log.messages;
            counted.add(|| {
                place(format!(
                    "{} messages are counted in it, expected {messages}",
                    scan.messages
                ))
            });
        }
    }
    if !made.is_empty() {
        checks.none_wrong("logs_as_made", None, "logs that were changed", changed);
    }
    checks.none_wrong(
        "messages_counted",
        None,
        "logs with other messages",
        counted,
    );
}

/// Whether rows of a table at the versions that workers named, and as probes saw it, are those that
/// the fold has after the workflow.
pub(super) struct AfterWorkflow {
    /// By table, the rows after each step.
    rows: BTreeMap<Table, Vec<u64>>,
}

impl AfterWorkflow {
    /// Adds up what each step did. The history is left out: its rows are a range. So is dx where ties are
    /// open: equals may have another number of diagnoses each.
    pub(super) fn of(counts: &[Counts], ties: Ties) -> Self {
        let mut rows: BTreeMap<Table, Vec<u64>> = BTreeMap::new();
        let sum = |change: &dyn Fn(&Counts) -> (u64, u64)| {
            let mut rows = 0;
            counts
                .iter()
                .map(|counts| {
                    let (more, less) = change(counts);
                    rows = rows + more - less;
                    rows
                })
                .collect::<Vec<u64>>()
        };
        rows.insert(Table::Reports, sum(&|c| (c.reports.inserted, 0)));
        rows.insert(Table::Curated, sum(&|c| (c.curated.inserted, 0)));
        rows.insert(Table::Latest, sum(&|c| (c.latest.inserted, 0)));
        rows.insert(Table::Mapping, sum(&|c| (c.mapping.inserted, 0)));
        if ties == Ties::GreatestName {
            rows.insert(Table::Dx, sum(&|c| (c.dx.appended, c.dx.deleted)));
        }
        Self { rows }
    }

    /// Rows of a table after a step.
    pub(super) fn rows(&self, table: Table, step: usize) -> Option<u64> {
        self.rows.get(&table)?.get(step).copied()
    }
}
