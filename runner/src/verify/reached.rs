//! How far workflows came that were interrupted: each may have committed to any first tables, so
//! what is found decides, and is told.

use super::checks::Checks;
use super::facts::{Facts, MessageId};
use super::plan::Plan;
use super::versions::Versions;
use super::{Outcome, Subject};
use std::collections::HashMap;

/// By table, the steps that it has seen.
pub(super) struct Reached {
    pub(super) curated: usize,
    pub(super) latest: usize,
    pub(super) mapping: usize,
    /// Steps of which the mapping holds some rows; more than `mapping` where its stages were cut.
    pub(super) mapping_most: usize,
    pub(super) dx: usize,
    /// Whether old diagnoses are deleted and the new ones not yet appended.
    pub(super) dx_between: bool,
}

impl Reached {
    /// What must be seen for certain.
    pub(super) fn certain(plan: &Plan) -> Self {
        let certain = plan.certain();
        Self {
            curated: certain,
            latest: certain,
            mapping: certain,
            mapping_most: certain,
            dx: certain,
            dx_between: false,
        }
    }

    /// Tells what was found of interrupted workflows.
    pub(super) fn tell(
        &self,
        subject: &Subject,
        plan: &Plan,
        is_in_reports: &[bool],
        checks: &mut Checks,
    ) {
        for (at, workflow) in subject.workflows.iter().enumerate() {
            if workflow.outcome != Outcome::Interrupted {
                continue;
            }
            let step = plan.steps.iter().position(|step| step.at == at);
            let mut seen = Vec::new();
            if let Some(step) = step.filter(|_| is_in_reports[at]) {
                seen.push("reports".to_owned());
                let tables = [
                    ("reports_curated", self.curated > step, ""),
                    ("reports_latest", self.latest > step, ""),
                    (
                        "reports_report_patient_mapping",
                        self.mapping_most > step && subject.create_mapping,
                        if self.mapping > step { "" } else { " in part" },
                    ),
                    (
                        "reports_dx",
                        self.dx > step || (self.dx_between && self.dx == step),
                        if self.dx > step {
                            ""
                        } else {
                            " with the deletion only"
                        },
                    ),
                ];
                let tables = tables.iter().filter(|(_, is_seen, _)| *is_seen);
                seen.extend(tables.map(|(name, _, how)| format!("{name}{how}")));
            }
            let found = match seen.is_empty() {
                true => "nothing".to_owned(),
                false => format!("rows in {}", seen.join(", ")),
            };
            let check = checks.add("interrupted", None, "any first tables", found, true);
            check.workflow = Some(workflow.workflow);
            check.note("a table where the workflow changes nothing counts as reached");
        }
    }
}

/// Of the possible numbers of steps, up to `most`, the greatest with the fewest misses.
pub(super) fn best(plan: &Plan, most: usize, misses: impl Fn(usize) -> u64) -> usize {
    let least = plan.certain().min(most);
    if least == most {
        return most;
    }
    (least..=most)
        .rev()
        .map(|limit| (misses(limit), limit))
        .min_by_key(|(misses, _)| *misses)
        .map_or(most, |(_, limit)| limit)
}

/// Of each workflow, whether its rows are in `reports`. A commit is whole, so one row tells.
pub(super) fn in_reports(
    subject: &Subject,
    facts: &Facts,
    reports: Option<&Versions>,
) -> Vec<bool> {
    let mut is_in: Vec<bool> = subject
        .workflows
        .iter()
        .map(|w| w.outcome == Outcome::Completed)
        .collect();
    let Some(reports) = reports else {
        return is_in;
    };
    let mut brought: HashMap<&str, u16> = HashMap::new();
    for (workflow, _) in subject
        .workflows
        .iter()
        .zip(&is_in)
        .filter(|(_, is_in)| **is_in)
    {
        for log in &workflow.logs {
            *brought.entry(log).or_default() += 1;
        }
    }
    for (at, workflow) in subject.workflows.iter().enumerate() {
        if is_in[at] {
            continue;
        }
        // A row that the workflows counted so far do not explain is this one's.
        let is_unexplained = |id: MessageId, brought: u16| {
            facts.row_of(id).is_some_and(|row| {
                let explained = if row.year().is_some() {
                    brought.min(1)
                } else {
                    brought
                };
                reports.counts[id as usize] > explained
            })
        };
        let found = workflow.logs.iter().any(|log| {
            let brought = brought.get(log.as_str()).copied().unwrap_or(0);
            let number = facts.log_by_path(log) as u32;
            facts.of_log(number).any(|id| is_unexplained(id, brought))
        });
        if found {
            is_in[at] = true;
            for log in &workflow.logs {
                *brought.entry(log).or_default() += 1;
            }
        }
    }
    is_in
}
