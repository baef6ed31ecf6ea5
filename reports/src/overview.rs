//! What a run was: its end, and what it was made with.

use crate::arms::{Arm, Arms};
use crate::number::{bytes, count, counted, memory};
use crate::run::Facts;
use serde::Serialize;
use serde_json::Value;

/// A run in a few lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// The name of its folder.
    pub label: String,
    /// The name of its scenario.
    pub scenario: String,
    /// What the scenario shows.
    pub about: Option<String>,
    /// `completed`, `invalid`, `failed`, `interrupted`, `running` or `imported`.
    pub status: String,
    /// Whether its rows do not add up: then no figure of it may be used.
    pub invalid: bool,
    /// Its end in a word.
    pub end: String,
    /// What is known of its rows, in a sentence.
    pub rows: String,
    /// Workflows that failed, a sentence an arm.
    pub failures: Vec<String>,
    /// What it was made with: name and value.
    pub origin: Vec<(String, String)>,
}

pub(crate) fn overview(arms: &Arms<'_>, run: usize) -> Overview {
    let facts = &arms.runs[run].facts;
    let own: Vec<&Arm> = arms
        .arms
        .iter()
        .filter(|arm| arms.column(arm).run == run)
        .collect();
    let status = facts.text("status").unwrap_or("unknown");
    let (end, rows) = end(facts, status, &rows(&own));
    Overview {
        label: arms.runs[run].label.clone(),
        scenario: facts.text("scenario.name").unwrap_or("unknown").to_owned(),
        about: facts.text("scenario.about").map(|about| {
            // A shipped sentence may name sizes that were set otherwise.
            let changed = facts
                .text("command")
                .is_some_and(|one| one.contains(" --set "));
            match changed {
                true => format!("{about} (As shipped; this run sets some keys otherwise.)"),
                false => about.to_owned(),
            }
        }),
        status: status.to_owned(),
        invalid: status == "invalid",
        end,
        rows,
        failures: own.iter().filter_map(|arm| failure(arms, arm)).collect(),
        origin: origin(facts),
    }
}

/// What is known of the rows of a run's arms.
fn rows(arms: &[&Arm]) -> String {
    let ingested = || arms.iter().filter(|arm| arm.completed > 0);
    let proved = |arm: &&&Arm| arm.verified.as_ref().is_some_and(|one| one.failed == 0);
    let all = ingested().count();
    let verified = ingested().filter(proved).count();
    match (verified, all) {
        (_, 0) => "no workflow completed".to_owned(),
        (0, _) => "no rows were verified".to_owned(),
        (1, 1) => "every row is there and as it must be".to_owned(),
        _ if verified == all => format!("every row of all {all} arms is there and as it must be"),
        _ => format!("the rows of {verified} of {all} arms were verified"),
    }
}

fn end(facts: &Facts, status: &str, rows: &str) -> (String, String) {
    if let Some(error) = facts.text("error") {
        return (
            "Ended by an error".to_owned(),
            format!("{error}. Of what was done, {rows}."),
        );
    }
    let (end, rows) = match status {
        "completed" => ("Completed", format!("{rows}.")),
        "invalid" => (
            "Invalid",
            "the rows do not add up. No figure below may be used; `verification.json` names what differs.".to_owned(),
        ),
        "failed" => ("Failed", format!("of what completed, {rows}.")),
        "interrupted" => ("Interrupted", format!("of what was done, {rows}.")),
        "imported" => (
            "Imported",
            "measured by hand, with what was written down of it; rows were not verified here.".to_owned(),
        ),
        other => (other, format!("{rows}.")),
    };
    (end.to_owned(), rows)
}

fn failure(arms: &Arms<'_>, arm: &Arm) -> Option<String> {
    let (workflow, reason) = arm.failed.as_ref()?;
    let more = match arm.failed_count {
        0 | 1 => String::new(),
        failed => format!(", and {} more", failed - 1),
    };
    let variant = &arms.column(arm).variant;
    Some(format!(
        "Of {variant}-{}, workflow {workflow} failed{more}: {reason}.",
        arm.key.1
    ))
}

fn origin(facts: &Facts) -> Vec<(String, String)> {
    let text = |path: &str| facts.text(path).unwrap_or("unknown").to_owned();
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String| lines.push((name.to_owned(), value));
    if let Some(source) = facts.text("source") {
        add("source", source.to_owned());
    }
    if let Some(command) = facts.text("command") {
        add("command", format!("`{command}`"));
    }
    add("data set", dataset(facts));
    add("host", host(facts));
    let limits = facts.at("limits").and_then(Value::as_object);
    for variant in limits.into_iter().flatten().map(|(name, _)| name) {
        if let Some(limit) = facts.number(&format!("limits.{variant}.memory")) {
            let by = text(&format!("limits.{variant}.memory_by"));
            let binds = facts.flag(&format!("limits.{variant}.memory_binding"));
            let binding = match binds {
                Some(false) => ", above what the machine has: not binding",
                _ => "",
            };
            add(
                "memory limit",
                format!("{variant}: {} a worker by {by}{binding}", memory(limit)),
            );
        }
    }
    let versions = facts.at("versions").and_then(Value::as_object);
    let versions: Vec<String> = versions
        .into_iter()
        .flatten()
        .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or("unknown")))
        .collect();
    if !versions.is_empty() {
        add("versions", versions.join(", "));
    }
    if facts.at("started").is_some() {
        let sessions = facts.at("sessions").and_then(Value::as_u64);
        let sessions = counted(sessions.unwrap_or_default(), "session");
        let run = text("run");
        let (started, ended) = (text("started"), text("ended"));
        add("run", format!("`{run}`, {started} to {ended}, {sessions}"));
    }
    lines
}

fn dataset(facts: &Facts) -> String {
    let number = |path: &str| facts.number(path);
    let mut parts = Vec::new();
    let messages =
        number("dataset.messages").map(|messages| format!("{} messages", count(messages)));
    let logs = number("dataset.log_files").map(|logs| format!("{} logs", count(logs)));
    match (messages, logs) {
        (Some(messages), Some(logs)) => parts.push(format!("{messages} in {logs}")),
        (one, other) => parts.extend(one.or(other)),
    }
    parts.extend(number("dataset.bytes").map(bytes));
    match facts.text("dataset.digest") {
        Some(digest) => parts.push(format!("digest `{digest}`")),
        None => parts.push("digest not known".to_owned()),
    }
    let seed = facts.at("dataset.seed").and_then(Value::as_u64);
    match (facts.text("dataset.profile"), seed) {
        (Some(profile), Some(seed)) => {
            parts.push(format!("profile {profile}"));
            parts.push(format!("seed {seed}"));
            let version = facts.at("dataset.generator_version");
            parts.extend(version.map(|version| format!("generator version {version}")));
        }
        _ if facts.imported() => {}
        _ => parts.push("not generated: rows were verified without truth".to_owned()),
    }
    parts.join(", ")
}

fn host(facts: &Facts) -> String {
    let mut parts = Vec::new();
    let text = |path: &str| facts.text(path).map(str::to_owned);
    parts.extend(text("host.name"));
    parts.extend(text("host.cpu_model"));
    parts.extend(
        facts
            .number("host.cores")
            .map(|cores| format!("{cores} cores")),
    );
    let memory = facts.number("host.memory_bytes").map(memory);
    parts.extend(memory.map(|memory| format!("{memory} memory")));
    parts.extend(text("host.storage").map(|storage| format!("{storage} storage")));
    parts.extend(text("host.kernel").map(|kernel| format!("Linux {kernel}")));
    match parts.is_empty() {
        true => "not known".to_owned(),
        false => parts.join(", "),
    }
}
