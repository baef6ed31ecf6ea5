//! How long it will take and how much room, from figures that were measured once.
//!
//! A model of the embedded engine with four parts: a message costs time and room once; every file has
//! a footer and a cost of its own; `OPTIMIZE` of latest rewrites a table that grows; a row that is
//! verified is read again. It leaves out what else grows, waiting for a shared machine, and limits that
//! bind. What other programs cost is not known, and is not guessed.

use crate::scenario::{Mode, Scenario, Sequence, TargetKind, Variant};
use bench_embedded::{Settings, Vacuum};
use serde_json::Value;
use std::time::Duration;

/// Bytes of a message in its log and in the truth, by profile.
const DATASET_BYTES: &[(&str, f64)] = &[
    ("lifelike", 2350.0),
    ("dirty", 2390.0),
    ("varied", 2560.0),
    ("webs", 2560.0),
    ("production", 2560.0),
];
/// Profiles in which a message's whole family is worked out.
const SLOW_PROFILES: &[&str] = &["lifelike", "dirty"];
/// Seconds to make a message, of the others and of these.
const MAKING: (f64, f64) = (12e-6, 100e-6);

/// Bytes that a message adds to the five tables, in large files.
const MESSAGE_BYTES: f64 = 1870.0;
/// Bytes that a message adds to `reports_latest` alone.
const LATEST_BYTES: f64 = 450.0;
/// Bytes that a file has beyond its rows.
const FILE_BYTES: f64 = 15_000.0;
/// Files that a workflow writes for each shuffle partition: one a merge, of which the mapping has
/// several.
const FILES_PER_PARTITION: f64 = 7.5;
/// Files that a workflow writes where small parts are put together first.
const FEW_FILES: f64 = 12.0;

/// Seconds of a message, when it is new and when all of it is there already.
const MESSAGE_SECONDS: (f64, f64) = (65e-6, 20e-6);
/// Seconds of a file.
const FILE_SECONDS: f64 = 1.2e-3;
/// Seconds of a byte that `OPTIMIZE` rewrites.
const REWRITE_SECONDS: f64 = 30e-9;
/// Seconds to verify a message's rows.
const VERIFY_SECONDS: f64 = 50e-6;
/// Seconds to start a worker and make the tables.
const START_SECONDS: f64 = 0.3;

/// Bytes of a data set.
pub(super) fn dataset_bytes(profile: &str, messages: u64) -> u64 {
    let each = DATASET_BYTES
        .iter()
        .find(|(name, _)| *name == profile)
        .map_or(2560.0, |(_, bytes)| *bytes);
    (messages as f64 * each) as u64
}

/// Seconds to make a data set.
pub(super) fn making(profile: &str, messages: u64) -> f64 {
    let each = match SLOW_PROFILES.contains(&profile) {
        true => MAKING.1,
        false => MAKING.0,
    };
    messages as f64 * each
}

/// What the figures rest on.
pub(super) fn notes(scenario: &Scenario) -> Vec<String> {
    let is = |kind| scenario.variants.iter().any(|one| one.target.kind == kind);
    let mut notes = Vec::new();
    if is(TargetKind::Embedded) {
        notes.push(
            "Room and time are estimates, from the embedded engine on 2 cores of a virtual machine \
             (docs/performance.md): expect them to be wrong by a factor of 2 or 3."
                .to_owned(),
        );
        notes.push(
            "They leave out what limits cost where they bind, and retries beyond those declared."
                .to_owned(),
        );
    }
    if is(TargetKind::Spark) {
        notes.push(
            "What Spark takes is not estimated: on 2 cores a small workflow is half a minute to a \
             minute and a half (docs/spark.md)."
                .to_owned(),
        );
    }
    if is(TargetKind::Command) {
        notes.push("What a command takes is not known.".to_owned());
    }
    notes
}

/// What one arm takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) lake_bytes: u64,
}

impl Cost {
    /// The cost of workflows by their messages, of which the first `first_pass` are new; `None` where
    /// nothing is known of the engine.
    pub(super) fn of(variant: &Variant, workflows: &[u64], first_pass: usize) -> Option<Self> {
        match variant.target.kind {
            TargetKind::Null => Some(Self {
                seconds: START_SECONDS + launches(&variant.sequence, workflows.len()),
                lake_bytes: 0,
            }),
            TargetKind::Command | TargetKind::Spark => None,
            TargetKind::Embedded => Some(embedded(variant, workflows, first_pass)),
        }
    }
}

fn embedded(variant: &Variant, workflows: &[u64], first_pass: usize) -> Cost {
    let settings = settings(variant);
    let mut stored = 0.0;
    let mut written = Vec::with_capacity(workflows.len());
    let mut service = START_SECONDS;
    let mut live_files = 0.0;
    for (at, messages) in workflows.iter().enumerate() {
        let messages = *messages as f64;
        if at >= first_pass {
            service += messages * MESSAGE_SECONDS.1;
            written.push(0.0);
            continue;
        }
        stored += messages;
        let files = files(&settings, messages);
        let rewritten = match settings.optimize_latest_after_merge {
            true => stored * LATEST_BYTES,
            false => 0.0,
        };
        live_files += files;
        service +=
            messages * MESSAGE_SECONDS.0 + files * FILE_SECONDS + rewritten * REWRITE_SECONDS;
        written.push(messages * MESSAGE_BYTES + files * FILE_BYTES + rewritten);
    }
    let all: f64 = written.iter().sum();
    let lake = match settings.vacuum {
        Vacuum::Every(every) if settings.vacuum_retention.is_zero() => {
            let dead = written.iter().rev().take(every as usize).sum::<f64>();
            all.min(stored * MESSAGE_BYTES + live_files * FILE_BYTES + dead)
        }
        _ => all,
    };
    let sequence = &variant.sequence;
    let workers = f64::from(sequence.workers * sequence.slots);
    let running = match sequence.mode {
        Mode::Sequential => service + waits(variant).as_secs_f64(),
        // Waits for a retry are spent on other workflows.
        Mode::Concurrent { .. } => {
            let attempts = (workflows.len() + variant.faults.len()) as f64;
            let again = attempts / (workflows.len().max(1)) as f64;
            (service * again / workers).max(launches(sequence, workflows.len()))
        }
    };
    let verifying = stored * VERIFY_SECONDS;
    Cost {
        seconds: running + verifying,
        lake_bytes: lake as u64,
    }
}

/// Files that a workflow writes.
fn files(settings: &Settings, messages: f64) -> f64 {
    if settings.optimize_write || settings.adaptive {
        return FEW_FILES;
    }
    // Parts that get a row, where rows fall into them by chance.
    let parts = f64::from(settings.shuffle_partitions);
    let parts = parts * (1.0 - (-messages / parts).exp());
    parts * FILES_PER_PARTITION + FEW_FILES
}

/// The settings as the engine will have them.
fn settings(variant: &Variant) -> Settings {
    let mut settings = Settings::default();
    for (key, value) in &variant.settings {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // What is not known was refused when the scenario was read.
        let _ = settings.set(key, &text);
    }
    settings
}

/// From the first launch to the last.
fn launches(sequence: &Sequence, workflows: usize) -> f64 {
    match &sequence.mode {
        Mode::Sequential => 0.0,
        Mode::Concurrent {
            launch_interval, ..
        } => launch_interval.as_secs_f64() * workflows.saturating_sub(1) as f64,
    }
}

/// The waits after attempts that are made to fail.
fn waits(variant: &Variant) -> Duration {
    variant
        .faults
        .iter()
        .map(|fault| variant.sequence.retry.wait(fault.attempt))
        .sum()
}
