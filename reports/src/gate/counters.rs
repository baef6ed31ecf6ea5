//! Counters of two entries. They are exact, so one run of each is enough.

use super::entry::{End, Entry};
use super::key::{Difference, Part};
use super::measure::median;
use super::metric::{Figure, Kind, Sort, Tolerance, Tolerances, find, place, words};
use super::verdict::{Compared, GateRow, Verdict, of_rows};
use crate::evidence::Unit;
use crate::number::counted;
use std::collections::{BTreeMap, BTreeSet};

/// Figures that keep what an attempt wrote before something was done to its worker.
const LEFT_BY_FAULTS: [&str; 7] = [
    "disk_files",
    "disk_bytes",
    "commits",
    "log_entries",
    "checkpoints",
    "rewritten_bytes",
    "written_files",
];

/// What may differ although two entries are compared, and by how much.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Parts of the key.
    pub across: BTreeSet<Part>,
    /// Tolerances that were declared.
    pub tolerances: Tolerances,
}

/// Gates an entry against the newest one in a store that it may be compared with. `stored` are all
/// entries of the store for its scenario and variant.
#[must_use]
pub fn gate_entry(new: &Entry, stored: &[Entry], allowed: &Allowed) -> Compared {
    if let Some(ended) = ended_badly(new) {
        return ended;
    }
    let names = [
        new.scenario.as_str(),
        new.variant.as_str(),
        new.run.as_str(),
    ];
    let mut others: Vec<&Entry> = stored.iter().filter(|one| one.run != new.run).collect();
    others.sort_by(|a, b| (&a.started, &a.run).cmp(&(&b.started, &b.run)));
    let Some(newest) = others.last() else {
        let only_itself = stored.iter().any(|one| one.run == new.run);
        let reason = match only_itself {
            true => format!("the store has {} from this run only", new.name()),
            false => format!("the store has nothing for {}", new.name()),
        };
        return Compared::without_figures(names, None, Verdict::NoBaseline, vec![reason]);
    };
    let allows = |differences: &[Difference]| {
        let mut parts = differences.iter().map(|one| one.part);
        parts.all(|part| allowed.across.contains(&part))
    };
    let comparable = others.iter().rev().find_map(|base| {
        let differences = base.key.differences(&new.key);
        allows(&differences).then_some((*base, differences))
    });
    let Some((base, across)) = comparable else {
        let differences = newest.key.differences(&new.key);
        let refused = differences
            .iter()
            .filter(|one| !allowed.across.contains(&one.part));
        let mut reasons: Vec<String> = Vec::new();
        let mut flags = String::new();
        for one in refused {
            reasons.push(one.text.clone());
            flags += &format!(" --across {}", one.part.name());
        }
        reasons.push(format!(
            "of {} none may be compared; to do so all the same, say{flags}",
            counted(others.len(), "entry in the store").replace("entrys", "entries")
        ));
        let base = Some(newest.run.clone());
        return Compared::without_figures(names, base, Verdict::NotComparable, reasons);
    };
    let rows = rows(base, new, &allowed.tolerances);
    let mut notes = beside(base, new);
    if base.end == End::NotVerified || new.end == End::NotVerified {
        notes.push("rows were not verified on both sides".to_owned());
    }
    let exact = rows.iter().any(|row| row.verdict.is_some());
    let (verdict, reasons) = match exact {
        true => (of_rows(&rows), Vec::new()),
        false => (
            Verdict::NotComparable,
            vec![
                "the two have no exact figure in common: were tables looked at (`measure.probe`)?"
                    .to_owned(),
            ],
        ),
    };
    Compared {
        base: Some(base.run.clone()),
        reasons,
        across,
        notes,
        rows,
        ..Compared::without_figures(names, None, verdict, Vec::new())
    }
}

/// A verdict that no figure changes: rows that do not add up, a workflow that failed.
pub(super) fn ended_badly(new: &Entry) -> Option<Compared> {
    let (verdict, reason) = match new.end {
        End::Verified | End::NotVerified => return None,
        End::Invalid => (
            Verdict::Invalid,
            "rows do not add up; `verification.json` names what differs. No figure of it counts",
        ),
        End::Failed => (Verdict::Failed, "a workflow failed; `report.md` says why"),
        End::Unfinished => (
            Verdict::NotComparable,
            "the run has not ended, or an error broke it off; `bench run --resume` carries on with it",
        ),
    };
    let names = [
        new.scenario.as_str(),
        new.variant.as_str(),
        new.run.as_str(),
    ];
    Some(Compared::without_figures(
        names,
        None,
        verdict,
        vec![reason.to_owned()],
    ))
}

/// What differs beside the key.
pub(super) fn beside(base: &Entry, new: &Entry) -> Vec<String> {
    let names: BTreeSet<&String> = base.beside.keys().chain(new.beside.keys()).collect();
    let show = |one: Option<&String>| one.map_or("not told", String::as_str).to_owned();
    names
        .into_iter()
        .filter(|name| base.beside.get(*name) != new.beside.get(*name))
        .map(|name| {
            let (old, new) = (base.beside.get(name), new.beside.get(name));
            format!("{name}: {} → {}", show(old), show(new))
        })
        .collect()
}

/// Every figure of two entries, judged where it is exact.
pub(super) fn rows(base: &Entry, new: &Entry, tolerances: &Tolerances) -> Vec<GateRow> {
    let names: BTreeSet<&String> = base.figures.keys().chain(new.figures.keys()).collect();
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort_by_key(|name| place(name));
    let mut rows = Vec::new();
    for id in names {
        let Some(kind) = find(id) else { continue };
        let side = |entry: &Entry| entry.figures.get(id).map(|one| median(&one.values));
        let (old, now) = (side(base), side(new));
        let row = GateRow {
            id: id.clone(),
            name: words(id),
            unit: kind.unit,
            base: old,
            new: now,
            // Of slopes, which may be next to nothing, a ratio says nothing.
            ratio: match kind.unit {
                Unit::SecondsPerWorkflow => None,
                _ => ratio(old, now),
            },
            verdict: None,
            why: String::new(),
            tolerance: None,
            pairs: None,
        };
        let declared = tolerances.declared(id);
        rows.push(judged(row, kind, declared, base, new));
        rows.extend(at_common(id, base, new, tolerances));
    }
    rows
}

fn ratio(old: Option<f64>, new: Option<f64>) -> Option<f64> {
    let ratio = new? / old?;
    ratio.is_finite().then_some(ratio)
}

fn judged(
    mut row: GateRow,
    kind: Kind,
    declared: Option<Tolerance>,
    base: &Entry,
    new: &Entry,
) -> GateRow {
    let sort = kind.sort;
    if sort == Sort::Time {
        row.why = "not gated: the two sides were not interleaved".to_owned();
        return row;
    }
    let (Some(old), Some(now)) = (row.base, row.new) else {
        let side = match row.base {
            None => "the baseline does not have it",
            Some(_) => "the run does not have it",
        };
        row.verdict = Some(Verdict::NotComparable);
        row.why = side.to_owned();
        return row;
    };
    if declared.is_none()
        && let Some(why) = why_inexact(&row.id, kind, base, new)
    {
        let advice = match sort {
            Sort::Counter { .. } => "; declare a --tolerance to gate it",
            _ => "",
        };
        row.why = format!("not gated: {why}{advice}");
        return row;
    }
    let (verdict, why) = match sort {
        Sort::Time => unreachable!("told above"),
        Sort::Fact => match old == now {
            true => (Verdict::Same, String::new()),
            false => (Verdict::Worse, "rows are not the same".to_owned()),
        },
        Sort::Done => more_is_better(old, now),
        Sort::Checkpoints => checkpoints(old, now, commits(&row.id, base), commits(&row.id, new)),
        Sort::Counter { tolerance } => {
            let tolerance = declared.unwrap_or(tolerance);
            row.tolerance = Some(tolerance.show());
            fewer_is_better(old, now, tolerance)
        }
    };
    row.verdict = Some(verdict);
    row.why = why;
    row
}

/// Why a figure may differ between two runs that are alike.
fn why_inexact(id: &str, kind: Kind, base: &Entry, new: &Entry) -> Option<&'static str> {
    if matches!(kind.sort, Sort::Done) || id == "reports.rows" {
        return None;
    }
    // Which workflow commits first is not the same in two concurrent runs, and files follow from that.
    if base.concurrent || new.concurrent {
        return Some("concurrent workflows commit in an order of their own");
    }
    let struck = base.key.has_faults() || new.key.has_faults();
    (struck && LEFT_BY_FAULTS.contains(&kind.what))
        .then_some("how much was written when a fault struck differs from run to run")
}

fn fewer_is_better(old: f64, new: f64, tolerance: Tolerance) -> (Verdict, String) {
    let allowed = tolerance.of(old);
    let tolerated = match allowed > 0.0 {
        true => format!("within {}", tolerance.show()),
        false => String::new(),
    };
    if new > old + allowed {
        (
            Verdict::Worse,
            format!("more than {} above", tolerance.show()),
        )
    } else if new < old - allowed {
        (Verdict::Better, "fewer".to_owned())
    } else if new == old {
        (Verdict::Same, String::new())
    } else {
        (Verdict::Same, tolerated)
    }
}

fn more_is_better(old: f64, new: f64) -> (Verdict, String) {
    match new.total_cmp(&old) {
        std::cmp::Ordering::Less => (Verdict::Worse, "fewer".to_owned()),
        std::cmp::Ordering::Equal => (Verdict::Same, String::new()),
        std::cmp::Ordering::Greater => (Verdict::Better, "more".to_owned()),
    }
}

/// Commits of the table whose checkpoints these are.
fn commits(id: &str, entry: &Entry) -> Option<f64> {
    let (table, _) = id.split_once('.')?;
    let commits = entry.figures.get(&format!("{table}.commits"))?;
    Some(median(&commits.values))
}

fn checkpoints(
    old: f64,
    new: f64,
    old_commits: Option<f64>,
    new_commits: Option<f64>,
) -> (Verdict, String) {
    let shorter = matches!((old_commits, new_commits), (Some(old), Some(new)) if new < old);
    if new > old {
        (Verdict::Worse, "more".to_owned())
    } else if new == old {
        (Verdict::Same, String::new())
    } else if shorter {
        (
            Verdict::Same,
            "fewer, as there are fewer commits".to_owned(),
        )
    } else {
        let why = "fewer for as many commits: readers replay more of the log";
        (Verdict::Worse, why.to_owned())
    }
}

/// A table's figure after the last workflow that both sides have kept, where the two did not end with
/// the same one. What stood there at the end is then about unlike work.
fn at_common(id: &str, base: &Entry, new: &Entry, tolerances: &Tolerances) -> Option<GateRow> {
    if base.prefix == new.prefix {
        return None;
    }
    let kind = find(id)?;
    let after = |entry: &Entry| entry.figures.get(id).map(|one: &Figure| one.after.clone());
    let (old, now): (BTreeMap<u32, f64>, BTreeMap<u32, f64>) = (after(base)?, after(new)?);
    let (workflow, old) = old.iter().rev().find(|(at, _)| now.contains_key(at))?;
    let row = GateRow {
        id: format!("{id}@{workflow}"),
        name: format!("{} after workflow {workflow}", words(id)),
        unit: kind.unit,
        base: Some(*old),
        new: now.get(workflow).copied(),
        ratio: ratio(Some(*old), now.get(workflow).copied()),
        verdict: None,
        why: String::new(),
        tolerance: None,
        pairs: None,
    };
    // Commits at the end say nothing of how many there were here.
    let sort = match kind.sort {
        Sort::Checkpoints => Sort::Counter {
            tolerance: Tolerance::Absolute(0.0),
        },
        other => other,
    };
    let kind = Kind { sort, ..kind };
    Some(judged(row, kind, tolerances.declared(id), base, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An entry with files on disk and live files of reports.
    fn entry(faults: bool, concurrent: bool, disk: f64, live: f64) -> Entry {
        let scenario = match faults {
            true => json!({ "sequence.passes": "1", "faults": "{\"kill\":…}" }),
            false => json!({ "sequence.passes": "1" }),
        };
        serde_json::from_value(json!({
            "run": "night", "started": "2025-10-29T01:00:00Z", "scenario": "s", "variant": "v",
            "key": { "scenario": scenario }, "beside": {}, "end": "verified",
            "concurrent": concurrent, "prefix": 1,
            "figures": {
                "reports.disk_files": { "values": [disk] },
                "reports.live_files": { "values": [live] },
            },
        }))
        .unwrap()
    }

    fn verdicts(base: &Entry, new: &Entry, tolerances: &Tolerances) -> Vec<Option<Verdict>> {
        let rows = rows(base, new, tolerances);
        let of = |id: &str| rows.iter().find(|row| row.id == id).unwrap().verdict;
        vec![of("reports.disk_files"), of("reports.live_files")]
    }

    #[test]
    fn what_a_killed_attempt_left_behind_is_not_gated_and_what_counts_is() {
        let none = Tolerances::default();
        let worse = Some(Verdict::Worse);
        let same = Some(Verdict::Same);
        let of = |faults, concurrent, disk, live| entry(faults, concurrent, disk, live);
        let base = of(false, false, 8.0, 8.0);
        assert_eq!(
            verdicts(&base, &of(false, false, 9.0, 8.0), &none),
            [worse, same]
        );
        let base = of(true, false, 8.0, 8.0);
        assert_eq!(
            verdicts(&base, &of(true, false, 9.0, 8.0), &none),
            [None, same]
        );
        assert_eq!(
            verdicts(&base, &of(true, false, 8.0, 9.0), &none),
            [None, worse]
        );
        let mut declared = Tolerances::default();
        declared.declare("disk_files=0").unwrap();
        assert_eq!(
            verdicts(&base, &of(true, false, 9.0, 8.0), &declared),
            [worse, same]
        );
        let base = of(false, true, 8.0, 8.0);
        assert_eq!(
            verdicts(&base, &of(false, true, 9.0, 9.0), &none),
            [None, None]
        );
    }
}
