//! Timelines: the places where the script draws them, and what they show in a sentence and tables.

use super::sheet::{Column, Entry, Line, Sheet};
use super::words::swatch;
use crate::charts::{Charts, Kind, Lane, Span, Timeline, Workflow};
use crate::number::{count, counted, seconds};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Rows of a table at most.
const MOST_ROWS: usize = 200;
/// Arms whose timeline is open from the start.
const OPEN: usize = 4;

pub(super) fn timelines(charts: &Charts) -> Markup {
    let without = (0..charts.arms.len())
        .filter(|at| !charts.timelines.iter().any(|one| one.arm == *at))
        .map(|at| format!("{}: n/a (attempts were not recorded)", charts.arms[at].name));
    html! {
        @if !charts.timelines.is_empty() {
            ul.kinds aria-label="What the timeline shows" {
                @for kind in Kind::ALL {
                    li { span class=(format!("kind {}", kind.id())) aria-hidden="true" {} (kind.name()) }
                }
            }
        }
        @for (at, timeline) in charts.timelines.iter().enumerate() {
            (figure(charts, timeline, at))
        }
        @for missing in without { p.missing { (missing) } }
    }
}

fn figure(charts: &Charts, timeline: &Timeline, at: usize) -> Markup {
    let arm = &charts.arms[timeline.arm];
    let workflows = &charts.workflows[timeline.arm];
    let id = format!("timeline-{at}");
    let said = [summary(timeline, workflows), note(timeline)].concat();
    html! {
        figure.panel.timeline id=(id) data-column=(arm.column) {
            figcaption { h3 id=(format!("{id}-title")) { (swatch(arm.column)) (arm.name) } }
            @if charts.timelines.len() > OPEN {
                details.drawing open[at < OPEN] {
                    summary { "Timeline" span.unseen { " of " (arm.name) } }
                    (drawing(timeline, at, &id))
                }
            } @else {
                (drawing(timeline, at, &id))
            }
            div.said id=(format!("{id}-said")) { p { (said) } }
            details {
                summary { "Table of workflows" span.unseen { " of " (arm.name) } }
                (table(&arm.name, workflows))
            }
            @let odd = odd(timeline);
            @if !odd.is_empty() {
                details {
                    summary { "Table of what did not go smoothly" span.unseen { " in " (arm.name) } }
                    (events(&arm.name, &odd))
                }
            }
        }
    }
}

/// The places of both drawings; the script shows one.
fn drawing(timeline: &Timeline, at: usize, id: &str) -> Markup {
    html! {
        @for (view, lanes) in [(0, &timeline.workers), (1, &timeline.workflows)] {
            div.chart role="img" data-timeline=(at) data-view=(view) data-lanes=(lanes.len())
                aria-labelledby=(format!("{id}-title")) aria-describedby=(format!("{id}-said")) {}
        }
    }
}

fn summary(timeline: &Timeline, workflows: &[Workflow]) -> String {
    let sum = |of: fn(&Workflow) -> Option<f64>| workflows.iter().filter_map(of).sum::<f64>();
    let restarts = spans(&timeline.workers)
        .filter(|span| span.kind == Kind::Restart)
        .count();
    // Lanes of a worker stand next to each other, and are named after it.
    let names = timeline
        .workers
        .iter()
        .map(|lane| lane.name.split(',').next());
    let workers: BTreeSet<Option<&str>> = names.collect();
    format!(
        "{} on {} in {}: service {}, queue {}, retries {}, {}.",
        counted(workflows.len(), "workflow"),
        counted(workers.len(), "worker"),
        seconds(timeline.end),
        seconds(sum(|one| one.service)),
        seconds(sum(|one| one.queue)),
        seconds(sum(|one| one.retry)),
        match timeline.merged {
            true => "restarts put together where they are near".to_owned(),
            false => counted(restarts, "restart"),
        },
    )
}

/// What the drawing leaves out.
fn note(timeline: &Timeline) -> String {
    let mut note = String::new();
    if timeline.merged {
        note += " Spans of a worker that no screen keeps apart are drawn as one.";
    }
    if timeline.measured > timeline.workflows.len() {
        note += &format!(
            " Of {} workflows, {} are drawn: the longest of each stretch.",
            count(timeline.measured as f64),
            timeline.workflows.len()
        );
    }
    note
}

fn spans(lanes: &[Lane]) -> impl Iterator<Item = &Span> {
    lanes.iter().flat_map(|lane| &lane.spans)
}

/// Attempts that did not complete, and restarts.
fn odd(timeline: &Timeline) -> Vec<&Span> {
    let odd = |span: &&Span| matches!(span.kind, Kind::Lost | Kind::Restart);
    let mut odd: Vec<&Span> = spans(&timeline.workers).filter(odd).collect();
    odd.sort_by(|one, other| one.from.total_cmp(&other.from));
    odd
}

fn events(arm: &str, odd: &[&Span]) -> Markup {
    let step = odd.len().div_ceil(MOST_ROWS).max(1);
    let row = |span: &&Span| Line {
        cells: vec![
            Entry::value(seconds(span.from), span.from),
            Entry::value(seconds(span.to - span.from), span.to - span.from),
            Entry::text(span.kind.name()),
            Entry::text(&span.text),
        ],
        ..Line::default()
    };
    let columns = ["From", "Took", "What", "Of"];
    let sheet = Sheet {
        caption: format!("Attempts of {arm} that did not complete, and restarts"),
        columns: columns.map(Column::plain).into(),
        rows: odd.iter().step_by(step).map(row).collect(),
    };
    html! { (every(step, "attempts.csv")) (sheet.html()) }
}

fn table(arm: &str, workflows: &[Workflow]) -> Markup {
    let time = |value: Option<f64>| match value {
        Some(value) => Entry::value(seconds(value), value),
        None => Entry::text("n/a"),
    };
    let number = |value: Option<i64>| match value {
        Some(value) => Entry::value(count(value as f64), value as f64),
        None => Entry::text("n/a"),
    };
    let step = workflows.len().div_ceil(MOST_ROWS).max(1);
    let row = |one: &Workflow| Line {
        cells: vec![
            Entry::value(one.workflow.to_string(), one.workflow as f64),
            Entry::text(&one.status),
            time(one.launched),
            time(one.queue),
            time(one.retry),
            time(one.service),
            time(one.duration),
            number(one.attempts),
            number(one.messages),
        ],
        ..Line::default()
    };
    let columns = [
        "Workflow",
        "Status",
        "Launched at",
        "Queue",
        "Retries",
        "Service",
        "Launch to close",
        "Attempts",
        "Messages",
    ];
    let sheet = Sheet {
        caption: format!("Workflows of {arm}"),
        columns: columns.map(Column::plain).into(),
        rows: workflows.iter().step_by(step).map(row).collect(),
    };
    html! { (every(step, "workflows.csv")) (sheet.html()) }
}

fn every(step: usize, file: &str) -> Markup {
    html! {
        @if step > 1 { p { "A row of every " (step) "; all are in " code { (file) } "." } }
    }
}
