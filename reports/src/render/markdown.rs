//! `report.md`: what is pasted into a pull request.

use crate::evidence::Evidence;
use crate::overview::Overview;
use crate::report::Report;
use std::fmt::Write;

/// A report as Markdown.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    match report.runs.as_slice() {
        [run] => {
            let _ = writeln!(text, "# {}", run.scenario);
            if let Some(about) = &run.about {
                let _ = writeln!(text, "\n{about}");
            }
            let _ = writeln!(text, "\n{}\n", end(run));
        }
        runs => {
            let _ = writeln!(text, "# {} runs\n", runs.len());
            for run in runs {
                let _ = writeln!(text, "- {} (`{}`): {}", run.scenario, run.label, end(run));
            }
            text.push('\n');
        }
    }
    text.push_str(&table(&report.evidence));
    if !report.growth.is_empty() {
        let _ = writeln!(text, "\n## How service grows\n");
        for one in &report.growth {
            let _ = writeln!(text, "- {}: {}", one.arm, one.text);
            for said in &one.association {
                let _ = writeln!(text, "  - {said}");
            }
        }
    }
    if report.evidence.columns.len() > 1 {
        let what = match report.runs.len() {
            1 => "variants",
            _ => "columns",
        };
        list(
            &mut text,
            &format!("What differs between the {what}"),
            &report.differences,
            "nothing",
        );
    }
    list(
        &mut text,
        "What cannot be concluded",
        &report.limits,
        "no limit was found by the rules of this report",
    );
    let several = report.runs.len() > 1;
    for run in &report.runs {
        let origin: Vec<String> = run
            .origin
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let title = match several {
            true => format!("How {} was made", run.label),
            false => "How it was made".to_owned(),
        };
        list(&mut text, &title, &origin, "nothing is known of it");
    }
    text
}

/// An evidence table as Markdown.
#[must_use]
pub fn table(evidence: &Evidence) -> String {
    let mut text = String::from("| |");
    for column in &evidence.columns {
        let _ = write!(text, " {} |", cell(&column.show()));
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(evidence.columns.len()));
    text.push('\n');
    for row in &evidence.rows {
        let _ = write!(text, "| {} |", cell(&row.name));
        for value in &row.cells {
            let _ = write!(text, " {} |", cell(&value.show(row.unit)));
        }
        text.push('\n');
    }
    text
}

fn end(run: &Overview) -> String {
    let mut text = format!("**{}**: {}", run.end, run.rows);
    for failure in &run.failures {
        let _ = write!(text, "\n\n{failure}");
    }
    text
}

fn list(text: &mut String, title: &str, lines: &[String], nothing: &str) {
    let _ = writeln!(text, "\n## {title}\n");
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
    if lines.is_empty() {
        let _ = writeln!(text, "- {nothing}");
    }
}

/// A cell holds no line break and no bar of its own.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
