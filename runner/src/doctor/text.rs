//! A diagnosis as text.

use super::checks::{Check, State, bytes};
use super::facts::{Facts, Place};
use super::{Cgroup, Diagnosis};
use crate::terminal::{Terminal, Tone, wrap};
use std::fmt::Write;

/// Columns of the state, and of the name beside it.
const STATE: usize = 9;
const NAME: usize = 20;

/// The diagnosis for a person, in lines of at most `terminal.width` columns where paths allow it.
#[must_use]
pub fn render(diagnosis: &Diagnosis, terminal: &Terminal) -> String {
    let mut text = String::new();
    heading(&mut text, terminal, "This machine");
    for (name, value) in machine(&diagnosis.facts) {
        entry(&mut text, terminal, 2, name, &value);
    }
    text.push('\n');
    heading(&mut text, terminal, "What it has");
    for check in &diagnosis.checks {
        show(&mut text, terminal, check);
    }
    text.push('\n');
    text.push_str(&summary(&diagnosis.checks));
    text
}

fn machine(facts: &Facts) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("bench", facts.machine.bench.clone()),
        (
            "system",
            format!(
                "{} {}, {}",
                facts.machine.system,
                facts
                    .machine
                    .kernel
                    .as_deref()
                    .unwrap_or("of unknown release"),
                facts.machine.architecture
            ),
        ),
        ("cores", cores(facts)),
        ("memory", memory(facts)),
    ];
    let places = [
        ("current folder", &facts.machine.current_dir),
        ("cache folder", &facts.machine.cache_dir),
    ];
    for (name, place) in places {
        rows.push((
            name,
            place
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), self::place),
        ));
    }
    rows
}

fn cores(facts: &Facts) -> String {
    let mut text = facts.machine.cores.to_string();
    if let Some(model) = &facts.machine.cpu_model {
        let _ = write!(text, " of {model}");
    }
    let limit = |group: &Cgroup| group.cpu_limit_cores;
    if let Some(limit) = facts.machine.cgroup.as_ref().and_then(limit) {
        let _ = write!(text, "; a control group allows {limit:.1} cores of time");
    }
    text
}

fn memory(facts: &Facts) -> String {
    let known = |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), bytes);
    let mut text = format!(
        "{}, {} of it available",
        known(facts.machine.memory_bytes),
        known(facts.machine.memory_available_bytes)
    );
    if let (Some(usable), Some(all)) = (
        facts.machine.usable_memory_bytes(),
        facts.machine.memory_bytes,
    ) && usable < all
    {
        let _ = write!(text, "; a control group allows {}", bytes(usable));
    }
    text
}

fn place(place: &Place) -> String {
    format!(
        "{}: {}, {} free of {}",
        place.path.display(),
        place
            .file_system
            .as_deref()
            .unwrap_or("file system unknown"),
        bytes(place.free_bytes),
        bytes(place.total_bytes)
    )
}

fn show(text: &mut String, terminal: &Terminal, check: &Check) {
    let (word, tone) = match check.state {
        State::Ok => ("ok", Tone::Good),
        State::Limited => ("limited", Tone::Warning),
        State::Missing => ("missing", Tone::Warning),
    };
    let _ = write!(text, "  {:<STATE$}", terminal.paint(tone, word));
    entry(text, terminal, 0, check.name, &check.found);
    let Some(advice) = check.advice else { return };
    let indent = 2 + STATE + NAME;
    for line in [
        format!("would enable: {}", check.enables),
        format!("to get it: {advice}"),
    ] {
        for line in wrap(&line, terminal.width - indent) {
            let line = terminal.paint(Tone::Quiet, line);
            let _ = writeln!(text, "{:indent$}{line}", "");
        }
    }
}

/// A name and its value; what does not fit beside the name goes on below the value.
fn entry(text: &mut String, terminal: &Terminal, indent: usize, name: &str, value: &str) {
    let _ = write!(text, "{:indent$}{name:<NAME$}", "");
    let column = if indent == 0 { 2 + STATE } else { indent } + NAME;
    for (number, line) in wrap(value, terminal.width - column).iter().enumerate() {
        let before = if number == 0 { 0 } else { column };
        let _ = writeln!(text, "{:before$}{line}", "");
    }
}

fn heading(text: &mut String, terminal: &Terminal, heading: &str) {
    let _ = writeln!(text, "{}", terminal.paint(Tone::Heading, heading));
}

fn summary(checks: &[Check]) -> String {
    let missing = checks.iter().filter(|check| check.state != State::Ok);
    match missing.count() {
        0 => "Everything that the harness can use is here.\n".to_owned(),
        _ => "What is limited or missing is needed for no more than what stands beside it.\n"
            .to_owned(),
    }
}
