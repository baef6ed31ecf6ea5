//! Charts of lines: the place where the script draws, and what they show in a sentence and a table.

use super::capital;
use super::sheet::{Column, Entry, Line, Sheet};
use crate::charts::{Along, Charts, Panel, Series, View};
use crate::evidence::Unit;
use crate::number::{count, seconds};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Rows of a chart's table at most.
const MOST_ROWS: usize = 200;
/// Stretches of time in the table of a chart over time.
const STRETCHES: u32 = 24;
/// A limit that is so many times above all values would leave nothing of them to be seen; the script draws
/// the others.
const OFF_AXIS: f64 = 3.0;
/// Lines of which a sentence speaks one by one.
const MOST_NAMED: usize = 4;

/// A chart. `path` is its place in the page's data.
pub(super) fn panel(charts: &Charts, panel: &Panel, path: &str) -> Markup {
    let is_empty = panel.is_empty();
    let heading = format!("{}-title", panel.id);
    html! {
        figure.panel id=(panel.id) {
            figcaption { h3 id=(heading) { (panel.title) } }
            @if !is_empty {
                div.chart role="img" data-panel=(path) aria-labelledby=(heading)
                    aria-describedby=(format!("{}-0", panel.id)) {}
            }
            @for (at, view) in panel.views.iter().enumerate() {
                div.said id=(format!("{}-{at}", panel.id)) data-view=(at) {
                    (said(panel, view))
                }
            }
            @if !is_empty {
                details {
                    summary { "Table of this chart" span.unseen { ": " (panel.title) } }
                    (table(charts, panel))
                }
            }
        }
    }
}

/// What a chart shows, in sentences.
fn said(panel: &Panel, view: &View) -> Markup {
    let named = panel.views.len() > 1;
    html! {
        @if !view.series.is_empty() {
            p {
                @if named { (capital(&view.name)) ": " }
                (summary(view))
            }
        }
        @if !view.limits.is_empty() {
            @let most = view.series.iter().filter_map(Series::range).map(|one| one.1).fold(0.0, f64::max);
            p {
                @for limit in &view.limits {
                    (capital(&limit.name))
                    @if limit.value > OFF_AXIS * most { ", above the axis" }
                    ". "
                }
            }
        }
        @if let Some(line) = view.thinned().next() {
            p {
                "Of long lines, not all points are drawn (of " (line.name) ", " (count(line.points.len() as f64)) " of "
                (count(line.measured as f64)) "): the first, the last, and the least and the greatest of each stretch."
            }
        }
        @for missing in &view.missing {
            p.missing { (missing) }
        }
    }
}

fn summary(view: &View) -> Markup {
    let show = |value| view.unit.show(value);
    let ranges = view
        .series
        .iter()
        .filter_map(|one| Some((one, one.range()?)));
    let ranges: Vec<_> = ranges.collect();
    if ranges.len() > MOST_NAMED {
        let min = ranges
            .iter()
            .map(|one| one.1.0)
            .fold(f64::INFINITY, f64::min);
        let max = ranges.iter().map(|one| one.1.1).fold(0.0, f64::max);
        return html! { (ranges.len()) " lines, " (show(min)) " to " (show(max)) "." };
    }
    let of_one = |one: &Series, (min, max, last): (f64, f64, f64)| match one.measured {
        1 => format!("{} once.", show(last)),
        _ if min.total_cmp(&max).is_eq() => format!("{} throughout.", show(last)),
        // What has no order has no end.
        _ if !one.joined => format!("{} to {}.", show(min), show(max)),
        _ => format!("{} to {}, at the end {}.", show(min), show(max), show(last)),
    };
    html! {
        @for (one, range) in ranges {
            span.name { (one.name) } ": " (of_one(one, range)) " "
        }
    }
}

fn table(charts: &Charts, panel: &Panel) -> Markup {
    let mut columns = vec![Column::plain(match panel.along {
        Along::Workflow => "Workflow",
        Along::Time => "Time",
    })];
    let several = panel.views.len() > 1;
    for view in &panel.views {
        columns.extend(view.series.iter().map(|one| Column {
            name: match several {
                true => format!("{}, {}", one.name, view.name),
                false => one.name.clone(),
            },
            look: Some(charts.arms[one.arm].column),
        }));
    }
    let (rows, note) = match panel.along {
        Along::Workflow => by_workflow(panel),
        Along::Time => (
            by_time(panel),
            Some("The most in each stretch of time.".to_owned()),
        ),
    };
    let sheet = Sheet {
        caption: format!("{}: what the chart shows", panel.title),
        columns,
        rows,
    };
    html! {
        @if let Some(note) = note { p { (note) } }
        (sheet.html())
    }
}

fn by_workflow(panel: &Panel) -> (Vec<Line>, Option<String>) {
    let lines = || panel.views.iter().flat_map(|view| &view.series);
    let workflows: BTreeSet<u64> = lines()
        .flat_map(|one| &one.points)
        .map(|point| point.0 as u64)
        .collect();
    let step = workflows.len().div_ceil(MOST_ROWS).max(1);
    let note = (step > 1).then(|| {
        format!("A row of every {step} that are drawn; all are in the files of the run directory.")
    });
    let rows = workflows.into_iter().step_by(step).map(|workflow| {
        let mut cells = vec![Entry::value(workflow.to_string(), workflow as f64)];
        for view in &panel.views {
            for one in &view.series {
                let at = one
                    .points
                    .binary_search_by(|point| point.0.total_cmp(&(workflow as f64)));
                let value = at.ok().and_then(|at| one.points[at].1);
                cells.push(entry(view.unit, value));
            }
        }
        Line {
            cells,
            ..Line::default()
        }
    });
    (rows.collect(), note)
}

fn by_time(panel: &Panel) -> Vec<Line> {
    let lines = || panel.views.iter().flat_map(|view| &view.series);
    let times = || lines().flat_map(|one| &one.points).map(|point| point.0);
    let (from, to) = (
        times().fold(f64::INFINITY, f64::min),
        times().fold(0.0, f64::max),
    );
    let edge = |at: u32| from + (to - from) * f64::from(at) / f64::from(STRETCHES);
    let rows = (0..STRETCHES).map(|stretch| {
        let (from, to) = (edge(stretch), edge(stretch + 1));
        let is_last = stretch + 1 == STRETCHES;
        let mut cells = vec![Entry::value(
            format!("{} to {}", seconds(from), seconds(to)),
            from,
        )];
        for view in &panel.views {
            for one in &view.series {
                let inside = one
                    .points
                    .iter()
                    .filter(|point| point.0 >= from && (point.0 < to || is_last));
                let most = inside.filter_map(|point| point.1).reduce(f64::max);
                cells.push(entry(view.unit, most));
            }
        }
        Line {
            cells,
            ..Line::default()
        }
    });
    rows.collect()
}

fn entry(unit: Unit, value: Option<f64>) -> Entry {
    match value {
        Some(value) => Entry {
            unit: Some(unit_id(unit)),
            ..Entry::value(unit.show(value), value)
        },
        None => Entry::text("n/a"),
    }
}

/// The name of a unit in the page's data, as serde writes it.
fn unit_id(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::SecondsPerWorkflow => "seconds_per_workflow",
        Unit::Bytes => "bytes",
        Unit::Memory => "memory",
        Unit::Count => "count",
        Unit::Ratio => "ratio",
    }
}
