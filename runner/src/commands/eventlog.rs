//! `bench eventlog`

use super::print_json;
use crate::cli::EventlogArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::table::{Align, Table};
use crate::terminal::{Terminal, Tone, binary_size, counted, wrap};
use crate::value::visible;
use bench_eventlog::{EventLog, Figures, GroupSummary, MEDIAN_JOB, TASKS_PER_FILTER, read_logs};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

/// What is printed as JSON.
#[derive(Serialize)]
struct View<'a> {
    /// Version of this format.
    format: u32,
    definitions: [&'static str; 2],
    logs: &'a [EventLog],
}

pub(crate) fn run(
    arguments: &EventlogArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let logs = read_logs(&arguments.path)?;
    if arguments.json {
        let view = View {
            format: 1,
            definitions: [TASKS_PER_FILTER, MEDIAN_JOB],
            logs: &logs,
        };
        print_json(out, &view)?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for log in &logs {
        show(log, terminal, &mut text);
    }
    for definition in [TASKS_PER_FILTER, MEDIAN_JOB] {
        for line in wrap(definition, terminal.width) {
            let _ = writeln!(text, "{}", terminal.paint(Tone::Quiet, line));
        }
    }
    out.write_all(text.as_bytes()).map_err(Error::Output)?;
    Ok(Exit::Ok)
}

fn show(log: &EventLog, terminal: &Terminal, text: &mut String) {
    let title = terminal.paint(Tone::Heading, visible(&log.log));
    let _ = writeln!(text, "{title}: {}", summary(log));
    for finding in &log.findings {
        let finding = visible(&finding.to_string());
        let paint = |line: &str| terminal.paint(Tone::Warning, line).to_string();
        indented(&finding, terminal, text, paint);
    }
    if log.executors_lost > 0 {
        let lost = format!(
            "  {} of {} lost, {} of them killed for their memory",
            log.executors_lost,
            counted(log.executors_added, "executor"),
            log.executors_out_of_memory
        );
        let _ = writeln!(text, "{}", terminal.paint(Tone::Bad, lost));
    }
    for (name, count) in &log.unknown_events {
        let times = counted(*count, "event");
        let _ = writeln!(text, "  not known here: {times} {}", visible(name));
    }
    if log.groups.is_empty() {
        text.push('\n');
        return;
    }
    text.push('\n');
    work(log).render(terminal, text);
    text.push('\n');
    data(log).render(terminal, text);
    text.push('\n');
    settings(log, terminal, text);
}

/// Appends words below a heading, further lines below their beginning.
fn indented(words: &str, terminal: &Terminal, text: &mut String, paint: impl Fn(&str) -> String) {
    for (at, line) in wrap(words, terminal.width - 4).iter().enumerate() {
        let before = if at == 0 { "  " } else { "    " };
        let _ = writeln!(text, "{before}{}", paint(line));
    }
}

fn summary(log: &EventLog) -> String {
    let mut parts = Vec::new();
    if let Some(application) = &log.application {
        parts.push(format!("application {}", visible(application)));
    }
    if let Some(version) = &log.spark_version {
        parts.push(format!("Spark {}", visible(version)));
    }
    if let (Some(started), Some(ended)) = (log.started_ms, log.ended_ms) {
        parts.push(format!("{:.1} s", (ended - started) as f64 / 1e3));
    }
    parts.push(counted(log.files as u64, "file"));
    parts.push(format!("{} of text", binary_size(log.text_bytes)));
    parts.push(counted(log.lines, "line"));
    parts.join(", ")
}

/// All groups, and their sum where there are several.
fn rows(log: &EventLog) -> Vec<([String; 2], String, &Figures)> {
    let name = |part: &Option<String>| part.as_deref().map_or("-".to_owned(), visible);
    let mut rows: Vec<_> = log
        .groups
        .iter()
        .map(|GroupSummary { group, figures, .. }| {
            let names = [name(&group.workflow), name(&group.attempt)];
            (names, name(&group.stage), figures)
        })
        .collect();
    if rows.len() > 1 {
        rows.push((["all".to_owned(), String::new()], String::new(), &log.total));
    }
    rows
}

fn seconds(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

fn median(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

/// Jobs and tasks, times in seconds.
fn work(log: &EventLog) -> Table {
    let mut table = Table::new([
        ("wf", Align::Right),
        ("try", Align::Right),
        ("stage", Align::Left),
        ("jobs", Align::Right),
        ("failed", Align::Right),
        ("p50 s", Align::Right),
        ("tasks", Align::Right),
        ("failed", Align::Right),
        ("p50 s", Align::Right),
        ("max s", Align::Right),
        ("/filter", Align::Right),
    ]);
    for ([workflow, attempt], stage, figures) in rows(log) {
        table.push([
            workflow,
            attempt,
            stage,
            figures.jobs.to_string(),
            (figures.jobs_failed + figures.jobs_unfinished).to_string(),
            seconds(figures.job_p50_s),
            figures.tasks.to_string(),
            figures.tasks_failed.to_string(),
            seconds(figures.task_p50_s),
            seconds(figures.task_max_s),
            median(figures.tasks_per_filter_p50),
        ]);
    }
    table
}

/// Files, shuffles and memory.
fn data(log: &EventLog) -> Table {
    let mut table = Table::new([
        ("wf", Align::Right),
        ("try", Align::Right),
        ("stage", Align::Left),
        ("in", Align::Right),
        ("size", Align::Right),
        ("out", Align::Right),
        ("size", Align::Right),
        ("shuffled", Align::Right),
        ("parts", Align::Right),
        ("spilled", Align::Right),
        ("GC s", Align::Right),
    ]);
    for ([workflow, attempt], stage, figures) in rows(log) {
        let partitions = match (
            figures.shuffle_partitions_p50,
            figures.shuffle_read_partitions_p50,
        ) {
            (Some(written), Some(read)) if written != read => format!("{written}>{read}"),
            (Some(written), _) => written.to_string(),
            (None, _) => "-".to_owned(),
        };
        table.push([
            workflow,
            attempt,
            stage,
            figures.files_read.to_string(),
            binary_size(figures.files_read_bytes),
            figures.files_written.to_string(),
            binary_size(figures.files_written_bytes),
            binary_size(figures.shuffle_written_bytes),
            partitions,
            binary_size(figures.spilled_disk_bytes),
            format!("{:.1}", figures.gc_s),
        ]);
    }
    table
}

/// Settings that SQL executions ran with, where these are not those of the application.
fn settings(log: &EventLog, terminal: &Terminal, text: &mut String) {
    let mut counts: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for group in &log.groups {
        for (key, values) in &group.settings {
            for (value, count) in values {
                *counts.entry(key).or_default().entry(value).or_default() += count;
            }
        }
    }
    if counts.is_empty() {
        return;
    }
    let executions = counted(log.total.sql_executions, "SQL execution");
    let heading = format!("Settings changed by the session, of {executions}");
    let _ = writeln!(text, "{}", terminal.paint(Tone::Heading, heading));
    for (key, values) in counts {
        let values: Vec<String> = values
            .into_iter()
            .map(|(value, count)| format!("{} in {count}", visible(value)))
            .collect();
        let setting = format!("{}: {}", visible(key), values.join(", "));
        indented(&setting, terminal, text, str::to_owned);
    }
    text.push('\n');
}
