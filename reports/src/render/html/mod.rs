//! `report.html`: one file that opens from a disk, without a network, with charts.
//!
//! Everything that is said stands in the page as text, tables included; the script only draws the charts,
//! sorts tables and changes the scheme. Texts are escaped by `maud`; the policy of the page forbids every
//! request, and every script but those that were put in here, by their digest.

mod evidence;
mod panels;
mod script;
mod sheet;
mod timelines;
mod words;

use crate::charts::{Charts, Panel};
use crate::overview::Overview;
use crate::report::Report;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use words::{sentence, swatch};

/// A report as a page.
///
/// # Panics
/// Never: charts hold nothing that JSON has no form for.
#[must_use]
pub fn html(report: &Report, charts: &Charts) -> String {
    let sections = sections(report, charts);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(script::policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("bench ", env!("CARGO_PKG_VERSION")));
                title { (title(report)) " – bench report" }
                (script::early())
                style { (PreEscaped(script::STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                (header(report))
                nav aria-label="Sections" {
                    ul { @for one in &sections { li { a href=(format!("#{}", one.id)) { (one.title) } } } }
                }
                main id="main" tabindex="-1" {
                    @for one in &sections {
                        section id=(one.id) aria-labelledby=(format!("{}-heading", one.id)) {
                            h2 id=(format!("{}-heading", one.id)) { (one.title) }
                            (one.content)
                        }
                    }
                }
                footer {
                    p {
                        "Made by bench " (env!("CARGO_PKG_VERSION")) " from the run directory alone; the same files give the same page. "
                        "Charts by Apache ECharts, whose licence stands in the page's source."
                    }
                }
                (script::data(charts))
                (script::late())
            }
        }
    };
    page.into_string()
}

/// A part of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    content: Markup,
}

fn sections(report: &Report, charts: &Charts) -> Vec<Section> {
    let section = |id, title, content| Section { id, title, content };
    let mut sections = vec![
        section("evidence", "Evidence", evidence_section(report)),
        section(
            "limits",
            "What cannot be concluded",
            list(
                &report.limits,
                "No limit was found by the rules of this report.",
            ),
        ),
    ];
    if !report.growth.is_empty() {
        sections.push(section("growth", "How service grows", growth(report)));
    }
    if report.evidence.columns.len() > 1 {
        sections.push(section(
            "differences",
            "What differs",
            list(&report.differences, "Nothing."),
        ));
    }
    sections.extend([
        section(
            "durations",
            "Duration",
            grid(charts, &charts.durations, "durations"),
        ),
        section("files", "Files and bytes", files(charts)),
        section("memory", "Memory", grid(charts, &charts.memory, "memory")),
        section(
            "timeline",
            "Timeline",
            html! {
                @if !charts.timelines.is_empty() {
                    (switch("timeline", "Lanes of the timeline", &["by worker", "by workflow"]))
                }
                (timelines::timelines(charts))
            },
        ),
        section("origin", "How it was made", origin(report)),
    ]);
    sections
}

fn title(report: &Report) -> String {
    match report.runs.as_slice() {
        [run] => run.scenario.clone(),
        runs => format!("{} runs", runs.len()),
    }
}

fn header(report: &Report) -> Markup {
    html! {
        header.top {
            div.bar {
                span.product { "bench report" }
                button #scheme type="button" hidden { "Dark scheme" }
            }
            @for run in report.runs.iter().filter(|run| run.invalid) {
                div.invalid role="alert" {
                    strong { "Invalid" @if report.runs.len() > 1 { ": " (run.label) } }
                    p { (sentence(&capital(&run.rows))) }
                }
            }
            h1 { (title(report)) }
            @match report.runs.as_slice() {
                [run] => {
                    @if let Some(about) = &run.about { p.about { (about) } }
                    (end(run))
                }
                runs => {
                    ul.runs {
                        @for run in runs {
                            li { strong { (run.scenario) } " " code { (run.label) } (end(run)) }
                        }
                    }
                }
            }
        }
    }
}

/// How a run ended.
fn end(run: &Overview) -> Markup {
    let look = match run.status.as_str() {
        "completed" => "good",
        "invalid" | "failed" => "bad",
        _ => "other",
    };
    html! {
        p.end { span class=(format!("badge {look}")) { (run.end) } " " (sentence(&capital(&run.rows))) }
        @for failure in &run.failures { p.failure { (sentence(failure)) } }
    }
}

fn evidence_section(report: &Report) -> Markup {
    let is_valid = !report.runs.iter().any(|run| run.invalid);
    html! {
        @if is_valid { (evidence::first_figures(&report.evidence)) }
        (evidence::table(&report.evidence))
        p.hint.scripted { "A column's heading sorts by it, within each unit; a third time restores the order." }
    }
}

/// The names of the lines. The script makes them switches.
fn legend(charts: &Charts) -> Markup {
    let mut columns: Vec<(u32, &str)> = Vec::new();
    for arm in &charts.arms {
        if columns.last().is_none_or(|last| last.0 != arm.column) {
            let name = match arm.name.rsplit_once(" (repeat ") {
                Some((name, _)) => name,
                None => &arm.name,
            };
            columns.push((arm.column, name));
        }
    }
    html! {
        @if columns.len() > 1 {
            ul.legend aria-label="Lines" {
                @for (column, name) in columns {
                    li data-column=(column) { (swatch(column)) span { (name) } }
                }
            }
        }
    }
}

fn grid(charts: &Charts, panels: &[Panel], path: &str) -> Markup {
    let is_drawn = panels.iter().any(|panel| !panel.is_empty());
    html! {
        @if is_drawn { (legend(charts)) }
        div.grid {
            @for (at, panel) in panels.iter().enumerate() {
                (panels::panel(charts, panel, &format!("{path}.{at}")))
            }
        }
    }
}

fn files(charts: &Charts) -> Markup {
    let names: Vec<&str> = match charts.tables.first() {
        Some(panel) => panel.views.iter().map(|view| view.name.as_str()).collect(),
        None => return html! { p.missing { "n/a (no table was looked at)" } },
    };
    html! {
        (switch("files", "What the charts show", &names))
        (legend(charts))
        div.grid.thirds {
            @for (at, panel) in charts.tables.iter().enumerate() {
                (panels::panel(charts, panel, &format!("tables.{at}")))
            }
        }
    }
}

/// A choice of what the charts of a section show.
fn switch(section: &str, name: &str, choices: &[&str]) -> Markup {
    html! {
        fieldset.switch.scripted data-switch=(section) {
            legend.unseen { (name) }
            @for (at, choice) in choices.iter().enumerate() {
                label {
                    input type="radio" name=(format!("{section}-view")) value=(at) checked[at == 0];
                    span { (choice) }
                }
            }
        }
    }
}

fn origin(report: &Report) -> Markup {
    let several = report.runs.len() > 1;
    html! {
        @for run in &report.runs {
            @if several { h3 { (run.label) } }
            dl.origin {
                @for (name, value) in &run.origin {
                    div { dt { (name) } dd { (sentence(value)) } }
                }
            }
        }
    }
}

/// The shape of each arm's growth, and what it goes along with.
fn growth(report: &Report) -> Markup {
    html! {
        ul.lines {
            @for one in &report.growth {
                li {
                    strong { (one.arm) } ": " (one.text)
                    @if !one.association.is_empty() {
                        ul { @for said in &one.association { li { (sentence(said)) } } }
                    }
                }
            }
        }
    }
}

fn list(lines: &[String], nothing: &str) -> Markup {
    html! {
        ul.lines {
            @for line in lines { li { (sentence(line)) } }
            @if lines.is_empty() { li { (nothing) } }
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
