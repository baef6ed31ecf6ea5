//! The evidence table of a page, and above it the figures that are looked for first.

use super::capital;
use super::sheet::{Column, Entry, Line, Sheet};
use super::words::swatch;
use crate::evidence::{Cell, Evidence, Row};
use maud::{Markup, html};

/// Figures that are looked for first, and as many of them as are shown.
const FIRST: [&str; 6] = [
    "wall",
    "service_slope",
    "write_amplification",
    "peak_memory",
    "service_total",
    "restarts",
];
const FIRST_SHOWN: usize = 4;
/// With more columns, only the table is readable.
const FIRST_COLUMNS: usize = 4;

pub(super) fn first_figures(evidence: &Evidence) -> Markup {
    if evidence.columns.len() > FIRST_COLUMNS {
        return html! {};
    }
    let has_figure = |row: &&Row| {
        let mut cells = row.cells.iter();
        cells.any(|cell| matches!(cell, Cell::Figure { .. }))
    };
    let rows = FIRST.iter().filter_map(|id| {
        let row = evidence.rows.iter().find(|row| row.id == *id)?;
        Some(row).filter(has_figure)
    });
    let rows: Vec<&Row> = rows.take(FIRST_SHOWN).collect();
    html! {
        @if !rows.is_empty() {
            ul.tiles {
                @for row in rows {
                    li {
                        h3 { (capital(&row.name)) }
                        dl {
                            @for ((at, column), cell) in (0..).zip(&evidence.columns).zip(&row.cells) {
                                div {
                                    dt { (swatch(at)) (column.name) }
                                    dd { (figure(row, cell)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A figure: its number large, what else is to be said of it small.
fn figure(row: &Row, cell: &Cell) -> Markup {
    let whole = cell.show(row.unit);
    let Cell::Figure { median, .. } = cell else {
        return html! { span.small { (whole) } };
    };
    let shown = row.unit.show(*median);
    let (number, unit) = shown.split_once(' ').unwrap_or((&shown, ""));
    let rest = whole.strip_prefix(&shown).unwrap_or_default().trim();
    html! {
        span.big { (number) }
        @if !unit.is_empty() { " " span.unit { (unit) } }
        @if !rest.is_empty() { " " span.small { (rest) } }
    }
}

pub(super) fn table(evidence: &Evidence) -> Markup {
    let mut columns = vec![Column::plain("Figure")];
    columns.extend((0..).zip(&evidence.columns).map(|(at, column)| Column {
        name: column.show(),
        look: (evidence.columns.len() > 1).then_some(at),
    }));
    let mut rows: Vec<Line> = Vec::new();
    let mut before = None;
    for row in &evidence.rows {
        let topic = topic(row);
        rows.push(Line {
            cells: cells(row),
            group: Some(row.unit as usize),
            begins: before.is_some_and(|before| before != topic),
        });
        before = Some(topic);
    }
    Sheet {
        caption: "Evidence table".to_owned(),
        columns,
        rows,
    }
    .html()
}

fn cells(row: &Row) -> Vec<Entry> {
    let mut cells = vec![Entry::text(&row.name)];
    cells.extend(row.cells.iter().map(|cell| Entry {
        text: cell.show(row.unit),
        value: match cell {
            Cell::Figure { median, .. } => Some(*median),
            Cell::Missing { .. } | Cell::Statement { .. } => None,
        },
        unit: None,
    }));
    cells
}

/// What a row is about: the table that it names, or what its figure was taken from.
fn topic(row: &Row) -> &str {
    if let Some((table, _)) = row.name.split_once(": ") {
        return table;
    }
    match row.id.split('_').next().unwrap_or_default() {
        "duration" | "waiting" | "wall" => "time",
        "service" if row.id == "service_total" => "time",
        "service" | "late" => "growth",
        "peak" | "cpu" | "restarts" | "attempts" => "processes",
        "tasks" | "job" => "Spark",
        "workflows" | "rows" => "rows",
        other => other,
    }
}
