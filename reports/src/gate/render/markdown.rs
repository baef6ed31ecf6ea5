//! A verdict as Markdown, for the summary of a CI job and for a comment on a pull request: what became
//! worse first, everything else folded away.

use crate::gate::verdict::{Compared, Gate, GateRow, Verdict};
use std::fmt::Write;

/// A verdict as Markdown.
#[must_use]
pub fn gate_markdown(gate: &Gate) -> String {
    let mut text = format!("# Gate: {}\n\n", gate.verdict.words());
    overview(gate, &mut text);
    for compared in &gate.variants {
        section(compared, &mut text);
    }
    if !gate.how.is_empty() {
        text.push_str("\n## How this was found\n\n");
        for line in &gate.how {
            let _ = writeln!(text, "- {line}");
        }
    }
    text
}

fn overview(gate: &Gate, text: &mut String) {
    text.push_str("| | verdict | worse | better | unstable | same | compared with |\n");
    text.push_str("|---|---|---:|---:|---:|---:|---|\n");
    for one in &gate.variants {
        let count = |verdict| one.rows_that_are(verdict).count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            cell(&one.name()),
            emphasis(one.verdict),
            count(Verdict::Worse),
            count(Verdict::Better),
            count(Verdict::Unstable),
            count(Verdict::Same),
            cell(one.base.as_deref().unwrap_or("nothing")),
        );
    }
}

fn emphasis(verdict: Verdict) -> String {
    match verdict {
        Verdict::Same => verdict.words().to_owned(),
        other => format!("**{}**", other.words()),
    }
}

fn section(compared: &Compared, text: &mut String) {
    let quiet = compared.verdict == Verdict::Same
        && compared.reasons.is_empty()
        && compared.across.is_empty();
    if !quiet {
        let _ = writeln!(
            text,
            "\n## {}: {}\n",
            compared.name(),
            compared.verdict.words()
        );
    }
    for reason in &compared.reasons {
        let _ = writeln!(text, "- {reason}");
    }
    for across in &compared.across {
        let _ = writeln!(
            text,
            "- compared **across** what is not the same, as was asked: {}",
            across.text
        );
    }
    if !quiet {
        for note in &compared.notes {
            let _ = writeln!(text, "- {note}");
        }
    }
    let told = |row: &&GateRow| !matches!(row.verdict, None | Some(Verdict::Same));
    let mut changed: Vec<&GateRow> = compared.rows.iter().filter(told).collect();
    changed.sort_by_key(|row| std::cmp::Reverse(row.verdict));
    if !changed.is_empty() {
        text.push('\n');
        table(&changed, text);
    }
    if !compared.rows.is_empty() {
        let _ = writeln!(
            text,
            "\n<details><summary>All figures of {}</summary>\n",
            compared.name()
        );
        table(&compared.rows.iter().collect::<Vec<_>>(), text);
        text.push_str("\n</details>\n");
    }
}

fn table(rows: &[&GateRow], text: &mut String) {
    text.push_str("| figure | before | now | change | verdict | |\n");
    text.push_str("|---|---:|---:|---:|---|---|\n");
    for row in rows {
        let show =
            |value: Option<f64>| value.map_or("n/a".to_owned(), |value| row.unit.show(value));
        let verdict = row.verdict.map_or("shown".to_owned(), emphasis);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {verdict} | {} |",
            cell(&row.name),
            show(row.base),
            show(row.new),
            change(row),
            cell(&row.why),
        );
    }
}

/// The change in percent; where arms were interleaved with its interval.
fn change(row: &GateRow) -> String {
    let percent = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    match (row.pairs, row.ratio) {
        (Some(say), _) => match (say.low, say.high) {
            (Some(low), Some(high)) => format!(
                "{} ({} to {}, p {:.3})",
                percent(say.median),
                percent(low),
                percent(high),
                say.p
            ),
            _ => percent(say.median),
        },
        (None, Some(ratio)) => percent(ratio),
        (None, None) => "n/a".to_owned(),
    }
}

/// A cell holds no line break and no bar of its own.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
