//! `report.md`: what is pasted into a pull request.

use crate::evidence::{Evidence, evidence};
use crate::notes::{differences, limits_of_knowledge};
use crate::number::{bytes, count, counted, memory};
use crate::run::{Arm, Run};
use serde_json::Value;
use std::fmt::Write;

/// The report of a run as Markdown.
#[must_use]
pub fn markdown(run: &Run) -> String {
    let facts = &run.facts;
    let mut text = String::new();
    let _ = writeln!(text, "# {}", string(&facts["scenario"]["name"]));
    if let Some(about) = facts["scenario"]["about"].as_str() {
        // A shipped sentence may name sizes that were set otherwise.
        let changed = facts["command"]
            .as_str()
            .is_some_and(|one| one.contains(" --set "));
        let note = if changed {
            " (As shipped; this run sets some keys otherwise.)"
        } else {
            ""
        };
        let _ = writeln!(text, "\n{about}{note}");
    }
    let _ = writeln!(text, "\n{}\n", verdict(run));
    text.push_str(&table(&evidence(run)));
    let differences = differences(run);
    if run.variants.len() > 1 {
        let _ = writeln!(text, "\n## What differs between the variants\n");
        for line in &differences {
            let _ = writeln!(text, "- {line}");
        }
        if differences.is_empty() {
            let _ = writeln!(text, "- nothing");
        }
    }
    let _ = writeln!(text, "\n## What cannot be concluded\n");
    let limits = limits_of_knowledge(run);
    for line in &limits {
        let _ = writeln!(text, "- {line}");
    }
    if limits.is_empty() {
        let _ = writeln!(text, "- no limit was found by the rules of this report");
    }
    let _ = writeln!(text, "\n## How it was made\n");
    for (name, value) in origin(run) {
        let _ = writeln!(text, "- {name}: {value}");
    }
    text
}

/// An evidence table as Markdown.
#[must_use]
pub fn table(evidence: &Evidence) -> String {
    let mut text = String::from("| |");
    for column in &evidence.columns {
        let _ = write!(text, " {} |", cell(column));
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(evidence.columns.len()));
    text.push('\n');
    for row in &evidence.rows {
        let _ = write!(text, "| {} |", cell(&row.name));
        for value in &row.cells {
            let _ = write!(text, " {} |", cell(value));
        }
        text.push('\n');
    }
    text
}

/// A cell holds no line break and no bar of its own.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn verdict(run: &Run) -> String {
    let arms = || run.variants.iter().flat_map(|variant| &variant.arms);
    let ingested = |arm: &&Arm| arm.workflows.values().any(|one| one.status == "completed");
    let all = arms().filter(ingested).count();
    let proved = |arm: &&Arm| ingested(arm) && matches!(arm.verified, Some((_, 0)));
    let verified = arms().filter(proved).count();
    let rows = match (verified, all) {
        (_, 0) => "no workflow completed".to_owned(),
        (0, _) => "no rows were verified".to_owned(),
        (1, 1) => "every row is there and as it must be".to_owned(),
        _ if verified == all => format!("every row of all {all} arms is there and as it must be"),
        _ => format!("the rows of {verified} of {all} arms were verified"),
    };
    if let Some(error) = run.facts["error"].as_str() {
        return format!("**Ended by an error**: {error}. Of what was done, {rows}.");
    }
    let mut text = match string(&run.facts["status"]).as_str() {
        "completed" => format!("**Completed**: {rows}."),
        "invalid" => "**Invalid**: the rows do not add up. No figure below may be used; `verification.json` names what differs.".to_owned(),
        "failed" => format!("**Failed**: of what completed, {rows}."),
        "interrupted" => format!("**Interrupted**: of what was done, {rows}."),
        other => format!("**{other}**: {rows}."),
    };
    for arm in arms() {
        let mut failed = arm
            .workflows
            .iter()
            .filter(|(_, one)| one.status == "failed");
        if let Some((number, first)) = failed.next() {
            let more = match failed.count() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let reason = first.reason.as_deref().unwrap_or("no reason was told");
            let _ = write!(
                text,
                "\n\nOf {}-{}, workflow {number} failed{more}: {reason}.",
                arm.variant, arm.repeat
            );
        }
    }
    text
}

fn origin(run: &Run) -> Vec<(&'static str, String)> {
    let facts = &run.facts;
    let dataset = &facts["dataset"];
    let host = &facts["host"];
    let number = |value: &Value| value.as_f64();
    let mut lines = vec![("command", format!("`{}`", string(&facts["command"])))];
    let messages = number(&dataset["messages"]).map_or(String::new(), |messages| {
        format!("{} messages in ", count(messages))
    });
    let made = match (dataset["profile"].as_str(), dataset["seed"].as_u64()) {
        (Some(profile), Some(seed)) => format!(
            ", profile {profile}, seed {seed}, generator version {}",
            dataset["generator_version"]
        ),
        _ => ", not generated: rows were verified without truth".to_owned(),
    };
    lines.push((
        "data set",
        format!(
            "{messages}{} logs, {}, digest `{}`{made}",
            count(number(&dataset["log_files"]).unwrap_or_default()),
            bytes(number(&dataset["bytes"]).unwrap_or_default()),
            string(&dataset["digest"]),
        ),
    ));
    lines.push((
        "host",
        format!(
            "{}, {} cores, {} memory, {} storage, Linux {}",
            string(&host["cpu_model"]),
            host["cores"],
            number(&host["memory_bytes"]).map_or("unknown".to_owned(), memory),
            string(&host["storage"]),
            string(&host["kernel"]),
        ),
    ));
    let limits = facts["limits"].as_object();
    for (variant, limit) in limits.into_iter().flatten() {
        if let Some(bytes) = limit["memory"].as_f64() {
            let binding = if limit["memory_binding"] == false {
                ", above what the machine has: not binding"
            } else {
                ""
            };
            lines.push((
                "memory limit",
                format!(
                    "{variant}: {} a worker by {}{binding}",
                    memory(bytes),
                    string(&limit["memory_by"])
                ),
            ));
        }
    }
    let versions = facts["versions"].as_object();
    let versions: Vec<String> = versions
        .into_iter()
        .flatten()
        .map(|(name, version)| format!("{name} {}", string(version)))
        .collect();
    lines.push(("versions", versions.join(", ")));
    lines.push((
        "run",
        format!(
            "`{}`, {} to {}, {}",
            string(&facts["run"]),
            string(&facts["started"]),
            string(&facts["ended"]),
            counted(facts["sessions"].as_u64().unwrap_or_default(), "session"),
        ),
    ));
    lines
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or("unknown").to_owned()
}
