//! A comparison as Markdown, which is also what a terminal shows.

use super::judge::sentence;
use super::{Comparison, Effect, Judgement, State, Verdict};
use std::fmt::Write;

/// A comparison as Markdown.
#[must_use]
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# {} against {}\n", comparison.a, comparison.b);
    let _ = writeln!(text, "A is {}, B is {}.\n", comparison.a, comparison.b);
    let _ = writeln!(text, "## What may be claimed\n");
    for one in &comparison.claims {
        claim(one, &mut text);
    }
    let _ = writeln!(text, "\n## What the figures say by themselves\n");
    for one in &comparison.findings {
        let _ = writeln!(text, "- {}: {}", one.of, one.text);
    }
    if comparison.findings.is_empty() {
        let _ = writeln!(text, "- nothing that a rule of this bench looks for");
    }
    let _ = writeln!(text, "\n## What they have in common\n");
    let _ = writeln!(
        text,
        "| factor | | A | B | a difference matters, as |\n|---|---|---|---|---|"
    );
    for one in &comparison.factors {
        let state = match one.state {
            State::Same => "same",
            State::Mild => "with a caveat",
            State::Differs => "**differs**",
            State::Unknown => "not known",
        };
        let (a, b) = (cell(&one.a), cell(&one.b));
        let (name, spoils) = (one.factor.name(), one.factor.spoils());
        let _ = writeln!(text, "| {name} | {state} | {a} | {b} | {spoils} |");
    }
    text
}

/// A claim: its verdict, what refuses it in full, and the names of its caveats, which the table explains.
fn claim(one: &Judgement, text: &mut String) {
    let (claim, words, verdict) = (one.claim, one.claim.words(), one.verdict.words());
    let _ = write!(text, "- **{claim}** ({words}): **{verdict}**");
    match &one.statement {
        Some(statement) => {
            let _ = writeln!(text, ". {}.", sentence(statement));
        }
        None => text.push('\n'),
    }
    let mut caveats: Vec<&str> = Vec::new();
    for reason in &one.reasons {
        match (reason.effect, reason.factor) {
            (Effect::Caveat, Some(factor)) => caveats.push(factor.name()),
            _ => {
                let _ = writeln!(text, "  - {}", reason.text);
            }
        }
    }
    if !caveats.is_empty() && one.verdict != Verdict::Refused {
        let _ = writeln!(text, "  - caveats: {}", caveats.join(", "));
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
