//! A plan as text.

use super::{Arm, Plan};
use crate::scenario::{Enforcement, size_text};
use crate::table::{Align, Table};
use crate::terminal::{Terminal, Tone, counted, hang, thousands, wrap};
use std::fmt::Write;

/// The plan for a person.
#[must_use]
pub fn text(plan: &Plan, terminal: &Terminal) -> String {
    let mut text = String::new();
    let title = terminal.paint(Tone::Heading, &plan.scenario);
    let _ = writeln!(
        text,
        "{title}: {}; nothing was done",
        counted(plan.arms.len() as u64, "arm")
    );
    let dataset = &plan.dataset;
    let mut logs = format!("{}, {}", dataset.source, counted(dataset.logs, "log"));
    if let Some(messages) = dataset.messages {
        let _ = write!(logs, ", {}", counted(messages, "message"));
    }
    let about = if dataset.is_generated { "about " } else { "" };
    if let Some(bytes) = dataset.bytes {
        let _ = write!(logs, ", {about}{}", room(bytes));
    }
    if let Some(seconds) = dataset.seconds {
        let _ = write!(
            logs,
            "; about {} to make it where it is not kept yet",
            time(seconds)
        );
    }
    let or_unknown = |value: Option<String>| value.unwrap_or_else(|| "not known".to_owned());
    for (name, value) in [
        ("data set", logs),
        (
            "time",
            or_unknown(
                plan.seconds
                    .map(|seconds| format!("about {}", time(seconds))),
            ),
        ),
        (
            "disk",
            or_unknown(
                plan.disk_bytes
                    .map(|bytes| format!("about {} at the most", room(bytes))),
            ),
        ),
    ] {
        hang(&mut text, &format!("  {name:<8}  "), &value, terminal.width);
    }
    let _ = writeln!(text, "\n{}", terminal.paint(Tone::Heading, "Arms"));
    arms(plan, terminal, &mut text);
    faults(plan, terminal, &mut text);
    text.push('\n');
    for note in &plan.notes {
        for line in wrap(note, terminal.width) {
            let _ = writeln!(text, "{}", terminal.paint(Tone::Quiet, line));
        }
    }
    text
}

fn arms(plan: &Plan, terminal: &Terminal, text: &mut String) {
    let mut table = Table::new([
        ("n", Align::Right),
        ("variant", Align::Left),
        ("repeat", Align::Right),
        ("workflows", Align::Right),
        ("messages", Align::Right),
        ("memory", Align::Right),
        ("cpus", Align::Right),
        ("time", Align::Right),
        ("lake", Align::Right),
    ]);
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    for arm in &plan.arms {
        table.push([
            arm.number.to_string(),
            arm.variant.clone(),
            arm.repeat.to_string(),
            workflows(arm),
            or_dash(arm.messages.map(thousands)),
            or_dash(arm.memory.map(size_text)),
            or_dash(arm.cpus.map(|cpus| cpus.to_string())),
            or_dash(arm.seconds.map(time)),
            or_dash(arm.lake_bytes.map(room)),
        ]);
    }
    table.render(terminal, text);
    let notes: Vec<&str> = [
        plan.arms
            .iter()
            .any(|arm| arm.is_concurrent)
            .then_some("concurrent workflows are launched on a schedule, whatever the workers do"),
        plan.arms
            .iter()
            .any(|arm| arm.enforcement == Some(Enforcement::Auto))
            .then_some(
                "memory is limited by a control group where one may be made, else by a watchdog",
            ),
    ]
    .into_iter()
    .flatten()
    .collect();
    for note in notes {
        let _ = writeln!(text, "  {}", terminal.paint(Tone::Quiet, note));
    }
}

/// `24`, or `6 of 24` where the sequence is cancelled.
fn workflows(arm: &Arm) -> String {
    match arm.workflows == arm.workflows_in_all {
        true => thousands(arm.workflows),
        false => format!(
            "{} of {}",
            thousands(arm.workflows),
            thousands(arm.workflows_in_all)
        ),
    }
}

fn faults(plan: &Plan, terminal: &Terminal, text: &mut String) {
    // Every repeat of a variant has the same.
    let first = |arm: &&Arm| arm.repeat == 1 && !arm.faults.is_empty();
    let mut told: Vec<(&[String], Vec<&str>)> = Vec::new();
    for arm in plan.arms.iter().filter(first) {
        match told.iter_mut().find(|(faults, _)| *faults == arm.faults) {
            Some((_, variants)) => variants.push(&arm.variant),
            None => told.push((&arm.faults, vec![&arm.variant])),
        }
    }
    if told.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{}",
        terminal.paint(Tone::Heading, "Done on purpose")
    );
    for (faults, variants) in told {
        let mut indent = "  ";
        // Where there is one variant, nobody needs to be told which.
        if plan
            .arms
            .iter()
            .any(|arm| arm.variant != plan.arms[0].variant)
        {
            let _ = writeln!(text, "  to {}", variants.join(", "));
            indent = "    ";
        }
        for fault in faults {
            let _ = writeln!(text, "{indent}{fault}");
        }
    }
}

/// A size with two figures.
fn room(bytes: u64) -> String {
    let (size, unit) = match bytes as f64 {
        size if size >= 1e9 => (size / 1e9, "GB"),
        size => (size / 1e6, "MB"),
    };
    match size >= 10.0 {
        true => format!("{size:.0} {unit}"),
        false => format!("{size:.1} {unit}"),
    }
}

/// A time as roughly as it is known.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => "1 s".to_owned(),
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 6000.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}
