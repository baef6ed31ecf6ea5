//! The versions that workers named: each must be in the log and hold the rows of its workflow, and a
//! probe that looked after `done` must have seen it. So a worker that says done too early is found.

use super::checks::{Checks, Wrong};
use super::ledger::AfterWorkflow;
use super::plan::Plan;
use super::read::OpenTable;
use super::verification::Position;
use super::{Ingested, Outcome, Subject};
use crate::delta::{Entry, LogFile};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A table at a version, by its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AtVersion {
    /// `None` where a live file has no statistics.
    rows: Option<u64>,
    files: u64,
    bytes: u64,
}

/// Checks the versions of a table. `after` has the rows that must stand after each step, where the
/// batches are known.
pub(super) fn check(
    table: &OpenTable,
    subject: &Subject,
    plan: &Plan,
    after: Option<&AfterWorkflow>,
    checks: &mut Checks,
) {
    let name = table.table.name();
    let newest = table.snapshot.version;
    let step_of: HashMap<usize, usize> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(step, s)| (s.at, step))
        .collect();
    let done: Vec<(usize, &Ingested, i64)> = subject
        .workflows
        .iter()
        .enumerate()
        .filter(|(_, workflow)| workflow.outcome == Outcome::Completed)
        .filter_map(|(at, workflow)| Some((at, workflow, *workflow.versions.get(name)?)))
        .collect();
    let wanted: BTreeSet<i64> = done.iter().map(|(_, _, version)| *version).collect();
    let known = match replay(table, &wanted) {
        Ok(Some(replayed)) => {
            let live: BTreeSet<&str> = replayed.live.keys().map(String::as_str).collect();
            let files = table.snapshot.files.iter().map(|file| file.path.as_str());
            let mut wrong = Wrong::default();
            for path in live.symmetric_difference(&files.collect()) {
                wrong.add(|| Position {
                    data_file: Some((*path).to_owned()),
                    what: "it is live by the entries or by the checkpoint alone".to_owned(),
                    ..Position::default()
                });
            }
            let what = "files of which entries and checkpoint differ";
            checks.none_wrong("checkpoint", Some(table.table), what, wrong);
            replayed.known
        }
        Ok(None) => BTreeMap::new(),
        Err(reason) => {
            checks.add(
                "versions",
                Some(table.table),
                "a log that can be read",
                reason,
                false,
            );
            return;
        }
    };
    let mut wrong = Wrong::default();
    let mut unknown = 0;
    let mut before = None;
    for &(at, workflow, version) in &done {
        let number = workflow.workflow;
        let mut tell = |what: String| {
            wrong.add(|| Position {
                what: format!("workflow {number}: {what}"),
                ..Position::default()
            });
        };
        if !(0..=newest).contains(&version) {
            tell(format!(
                "version {version} is named, and the newest is {newest}"
            ));
            continue;
        }
        let expected = step_of
            .get(&at)
            .and_then(|&step| after?.rows(table.table, step));
        if after.is_some() {
            if before.is_some_and(|before| version < before) {
                tell(format!(
                    "version {version} is named, which is older than the one before"
                ));
            }
            before = Some(version);
        }
        let state = workflow
            .ledger
            .as_ref()
            .and_then(|ledger| ledger.state.get(name));
        let probed = workflow.probed.iter().find(|state| state.table == name);
        match known.get(&version) {
            Some(at_version) => {
                if let (Some(rows), Some(expected)) = (at_version.rows, expected)
                    && rows != expected
                {
                    tell(format!(
                        "{rows} rows at version {version}, expected {expected}"
                    ));
                }
                if let Some(state) = state {
                    let stated = (state.version, Some(state.rows), state.files, state.bytes);
                    let AtVersion { rows, files, bytes } = *at_version;
                    if stated != (version, rows.or(Some(state.rows)), files, bytes) {
                        let what = "its account of version, rows, files or bytes is not the log's";
                        tell(what.to_owned());
                    }
                }
            }
            None => unknown += 1,
        }
        if let Some(probed) = probed {
            if probed.version < version {
                let seen = probed.version;
                tell(format!(
                    "version {version} is named, and after `done` there was {seen}"
                ));
            } else if let (Some(rows), Some(expected)) = (probed.rows, expected)
                && rows != expected
            {
                tell(format!("{rows} rows after `done`, expected {expected}"));
            }
        }
    }
    let check = checks.none_wrong(
        "versions",
        Some(table.table),
        "wrong versions or states",
        wrong,
    );
    if unknown > 0 {
        check.note(format!(
            "for {unknown} workflows the log is cut and was not replayed"
        ));
    }
    if done
        .iter()
        .any(|(_, workflow, _)| workflow.probed.is_empty())
    {
        check.note("not every workflow was probed after `done`");
    }
    if after.is_none() {
        check.note("rows after each workflow depend on batches that are not known");
    }
}

/// The log, read entry by entry and without checkpoints.
struct Replayed {
    /// The table at the versions that were asked for.
    known: BTreeMap<i64, AtVersion>,
    /// Rows and bytes of the live files of the newest version.
    live: HashMap<String, (Option<u64>, u64)>,
}

/// Replays the log; `None` where it does not reach back to its beginning.
fn replay(table: &OpenTable, wanted: &BTreeSet<i64>) -> Result<Option<Replayed>, String> {
    let entries: BTreeSet<i64> = table
        .store
        .log_files()?
        .into_iter()
        .filter_map(|file| match file {
            LogFile::Entry(version) => Some(version),
            LogFile::Checkpoint(_) => None,
        })
        .collect();
    let newest = table.snapshot.version;
    if !(0..=newest).all(|version| entries.contains(&version)) {
        return Ok(None);
    }
    let mut known = BTreeMap::new();
    let mut live: HashMap<String, (Option<u64>, u64)> = HashMap::new();
    for version in 0..=newest {
        let bytes = table.store.entry(version)?;
        let bytes = bytes.ok_or_else(|| format!("the entry of version {version} is gone"))?;
        let entry =
            Entry::parse(&bytes).map_err(|reason| format!("version {version}: {reason}"))?;
        entry.apply(&mut live, |file| (file.rows(), file.size));
        if wanted.contains(&version) {
            let at_version = AtVersion {
                rows: live.values().map(|(rows, _)| *rows).sum(),
                files: live.len() as u64,
                bytes: live.values().map(|(_, bytes)| bytes).sum(),
            };
            known.insert(version, at_version);
        }
    }
    Ok(Some(Replayed { known, live }))
}
