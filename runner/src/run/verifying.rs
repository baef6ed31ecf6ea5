//! Verifying the lake of an arm: what is known of it, put before the verification.

use super::dataset::Logs;
use super::error::RunError;
use crate::record::{
    ArmHistory, ArmId, AttemptEnd, AttemptOutcome, WorkflowHistory, WorkflowStatus,
};
use crate::scenario::{Mode, Pipeline, Sequence, Variant};
use crate::verify::{Ingested, Interleaving, Outcome, Subject, Ties, Truth, Verification};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::Path;

/// The verifications of a run: the content of `verification.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verifications {
    /// Version of the file's form.
    pub format: u32,
    /// Every arm that was verified.
    pub arms: Vec<VerifiedArm>,
}

/// The verification of an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerifiedArm {
    /// The arm.
    #[serde(flatten)]
    pub arm: ArmId,
    /// What came out.
    #[serde(flatten)]
    pub verification: Verification,
}

impl Default for Verifications {
    fn default() -> Self {
        Self {
            format: 1,
            arms: Vec::new(),
        }
    }
}

impl Verifications {
    /// Those of an earlier runner; none where there is no file that can be read: they are made again.
    pub(super) fn read(path: &Path) -> Self {
        let text = std::fs::read(path).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(super) fn push(&mut self, arm: ArmId, verification: Verification) {
        self.arms.retain(|one| one.arm != arm);
        self.arms.push(VerifiedArm { arm, verification });
    }

    pub(super) fn has(&self, arm: &ArmId) -> bool {
        self.arms.iter().any(|one| one.arm == *arm)
    }

    /// Whether all of them passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.arms.iter().all(|one| one.verification.passed())
    }

    /// Every check that failed, in a sentence.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for VerifiedArm { arm, verification } in &self.arms {
            for check in verification.failures() {
                let table = check
                    .table
                    .as_deref()
                    .map_or(String::new(), |table| format!(" of {table}"));
                let workflow = check
                    .workflow
                    .map_or(String::new(), |workflow| format!(", workflow {workflow}"));
                let places: Vec<String> = check
                    .positions
                    .iter()
                    .take(3)
                    .filter_map(|place| {
                        let log = place.log.as_ref()?;
                        let ordinal = place.ordinal.map_or(String::new(), |n| format!(":{n}"));
                        Some(format!("{log}{ordinal} {}", place.what))
                    })
                    .collect();
                let places = if places.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", places.join("; "))
                };
                findings.push(format!(
                    "{arm}: {}{table}{workflow}: expected {}, found {}{places}",
                    check.name, check.expected, check.found
                ));
            }
        }
        findings
    }
}

/// Verifies the lake of an arm from outside.
pub(super) fn verify(
    arm: &ArmHistory,
    lake: &str,
    variant: &Variant,
    logs: &Logs,
    batches: &[Vec<String>],
) -> Result<Verification, RunError> {
    let subject = Subject {
        lake: lake.to_owned(),
        storage: variant.target.storage.clone(),
        truth: if logs.truth.is_some() {
            Truth::Generated
        } else {
            Truth::ReadFromLogs
        },
        dataset_root: logs.root.clone(),
        workflows: ingested(arm, batches),
        interleaving: interleaving(&variant.sequence),
        ties: match &variant.target.spark {
            Some(spark) if spark.pipeline == Pipeline::Scout => Ties::Open,
            _ => Ties::GreatestName,
        },
        create_mapping: variant
            .settings
            .get("create_mapping")
            .and_then(serde_json::Value::as_bool)
            .unwrap_or(true),
        threads: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    Ok(crate::verify::verify(&subject)?)
}

fn interleaving(sequence: &Sequence) -> Interleaving {
    match sequence.mode {
        Mode::Sequential => Interleaving::Sequential,
        Mode::Concurrent { .. } if sequence.workers * sequence.slots == 1 => {
            Interleaving::OneAtATime
        }
        Mode::Concurrent { .. } => Interleaving::Overlapping,
    }
}

/// Every workflow that was attempted, in the order in which they committed to `reports`.
fn ingested(arm: &ArmHistory, batches: &[Vec<String>]) -> Vec<Ingested> {
    let mut attempted: Vec<(f64, u32, &WorkflowHistory)> = arm
        .workflows
        .iter()
        .filter(|(_, workflow)| !workflow.attempts.is_empty())
        .map(|(&number, workflow)| (committed(workflow), number, workflow))
        .collect();
    attempted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    attempted
        .into_iter()
        .map(|(_, number, workflow)| {
            let done = workflow.completed();
            let completed = matches!(workflow.closed, Some((_, WorkflowStatus::Completed)));
            Ingested {
                workflow: number,
                logs: batches[number as usize - 1].clone(),
                outcome: if completed {
                    Outcome::Completed
                } else {
                    Outcome::Interrupted
                },
                ledger: done
                    .and_then(|(_, end)| end.ledger.as_deref())
                    .and_then(|ledger| serde_json::to_value(ledger).ok())
                    .and_then(|ledger| serde_json::from_value(ledger).ok()),
                attempts: u32::try_from(workflow.attempts.len()).unwrap_or(u32::MAX),
                versions: done
                    .map(|(_, end)| end.versions.clone())
                    .unwrap_or_default(),
                probed: workflow.tables.clone(),
            }
        })
        .collect()
}

/// When a workflow's rows came into `reports`: as its worker told; else by the end of the first
/// attempt that was lost, which may have committed them; else by its end.
fn committed(workflow: &WorkflowHistory) -> f64 {
    let continued = workflow
        .completed()
        .is_none_or(|(_, end)| end.ledger.as_ref().is_some_and(|ledger| ledger.continued));
    let mut ends = workflow.ends();
    let lost = ends.find(|(_, end)| continued && end.outcome == AttemptOutcome::Lost);
    let last = || workflow.ends().next_back();
    let at = |end: &(f64, AttemptEnd)| end.0;
    workflow
        .committed
        .or_else(|| lost.or_else(last).map(at))
        .unwrap_or(f64::MAX)
}
