//! What is kept of a variant of a run: what it may be compared with, and its figures.
//!
//! An entry is small and whole, so that a store of many nights can be read at once, and so that a run
//! directory may go once its entry is kept.

use super::key::Key;
use super::measure::measure;
use super::metric::Figure;
use crate::arms::Arms;
use crate::error::ReportError;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is kept of a variant of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the run.
    pub run: String,
    /// When it began, UTC.
    pub started: String,
    /// Name of its scenario.
    pub scenario: String,
    /// Name of its variant.
    pub variant: String,
    /// What its figures may be compared with.
    pub key: Key,
    /// What does not keep two apart, and is told where it differs: `bench`, `revision`, `kernel`.
    pub beside: BTreeMap<String, String>,
    /// How it ended.
    pub end: End,
    /// Whether workflows were launched without waiting for one another: then their order, and with it
    /// the number of files, is not the same in every run.
    pub concurrent: bool,
    /// The last workflow that every arm completed with all before it.
    pub prefix: u32,
    /// Figures by name: `service_total`, `reports.live_files`.
    pub figures: BTreeMap<String, Figure>,
}

/// How a variant of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Every row of every arm was verified.
    Verified,
    /// It ended as it was meant to, and its rows were not verified.
    NotVerified,
    /// Rows do not add up: no figure may be used.
    Invalid,
    /// A workflow failed that was not allowed to.
    Failed,
    /// The run has not ended, or was broken off by an error.
    Unfinished,
}

impl Entry {
    /// An entry for each variant of a run, in the scenario's order.
    ///
    /// # Errors
    /// [`ReportError::Query`], which is a fault of this crate; [`ReportError::File`], where the run does
    /// not tell its scenario.
    pub fn of(run: &Run) -> Result<Vec<Self>, ReportError> {
        let runs = std::slice::from_ref(run);
        let arms = Arms::of(runs)?;
        let mut entries = Vec::new();
        for at in 0..arms.columns.len() {
            entries.push(Self::of_column(run, &arms, at)?);
        }
        Ok(entries)
    }

    fn of_column(run: &Run, arms: &Arms<'_>, at: usize) -> Result<Self, ReportError> {
        let column = &arms.columns[at];
        let facts = &run.facts;
        let text = |path: &str| facts.text(path).unwrap_or_default().to_owned();
        let beside = [
            ("bench", "versions.bench"),
            ("revision", "revision"),
            ("kernel", "host.kernel"),
        ];
        let beside = beside.into_iter().filter_map(|(name, path)| {
            let value = facts.at(path).and_then(Value::as_str)?;
            Some((name.to_owned(), value.to_owned()))
        });
        let prefix = arms.in_column(at).map(|arm| arm.prefix).min();
        Ok(Self {
            run: match facts.text("run") {
                Some(run) => run.to_owned(),
                None => run.name.clone(),
            },
            started: text("started"),
            scenario: text("scenario.name"),
            variant: column.variant.clone(),
            key: Key::of(facts, &column.facts),
            beside: beside.collect(),
            end: end(run, arms, at),
            concurrent: arms.in_column(at).any(|arm| arms.concurrent(arm)),
            prefix: prefix.unwrap_or(0),
            figures: measure(arms, at)?,
        })
    }

    /// Its name in a sentence: `quickstart/tuned`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.scenario, self.variant)
    }
}

/// Whether the run was ended by an error of its own.
fn facts_error(run: &Run) -> bool {
    run.facts.text("error").is_some()
}

fn end(run: &Run, arms: &Arms<'_>, at: usize) -> End {
    let own = || arms.in_column(at);
    let status = run.facts.text("status").unwrap_or_default();
    let failed_checks = |arm: &crate::arms::Arm| arm.verified.as_ref().map(|one| one.failed);
    if own().any(|arm| failed_checks(arm).is_some_and(|failed| failed > 0)) {
        return End::Invalid;
    }
    let may_fail = arms.columns[at].facts.text("expect") == Some("fail");
    if own().any(|arm| arm.failed_count > 0) && !may_fail {
        return End::Failed;
    }
    let broken_off = facts_error(run) || ["running", "interrupted"].contains(&status);
    if own().next().is_none() || broken_off {
        return End::Unfinished;
    }
    match own().all(|arm| failed_checks(arm) == Some(0)) {
        true => End::Verified,
        false => End::NotVerified,
    }
}
