//! Settings that changed nothing, as the workers that were given them found: `without_effect` of
//! `run.json`.
//!
//! A target that can tell looks after each workflow; one that cannot says nothing, so that silence
//! here is no proof of an effect.

use crate::arms::{Arm, Arms};
use serde_json::Value;

/// What an arm's settings did not do, in a sentence each.
pub(crate) fn without_effect(arms: &Arms<'_>, arm: &Arm) -> Vec<String> {
    let column = arms.column(arm);
    let path = format!("without_effect.{}", column.variant);
    let settings = arms.runs[column.run].facts.at(&path);
    let settings = settings.and_then(Value::as_object).into_iter().flatten();
    let sentences = settings.filter_map(|(setting, entries)| {
        let own = entries.as_array()?.iter();
        let own = own.filter(|entry| entry["repeat"].as_i64() == Some(arm.key.1));
        let found: Vec<(Vec<u32>, &str)> = own.filter_map(entry).collect();
        let mut workflows: Vec<u32> = found.iter().flat_map(|(of, _)| of.clone()).collect();
        workflows.sort_unstable();
        let (first, reason) = found.first()?;
        let place = match u32::try_from(workflows.len()) == Ok(arm.completed) {
            true => "in any workflow".to_owned(),
            false => format!("in {}", spans(&workflows)),
        };
        let reason = match found.len() {
            1 => format!("{reason}."),
            _ => format!(
                "of {}, {reason}. `run.json` has the reasons of the others.",
                spans(first)
            ),
        };
        let name = arms.name(arm);
        Some(format!(
            "{name}: `{setting}` had no effect {place}: {reason}"
        ))
    });
    sentences.collect()
}

/// The workflows of an entry, and its reason.
fn entry(entry: &Value) -> Option<(Vec<u32>, &str)> {
    let workflows = entry["workflows"].as_array()?.iter();
    let workflows = workflows.map(|number| u32::try_from(number.as_u64()?).ok());
    Some((workflows.collect::<Option<_>>()?, entry["reason"].as_str()?))
}

/// Workflows, those that follow one another together: `workflows 1 to 4, 6`.
fn spans(workflows: &[u32]) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for number in workflows {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    let shown: Vec<String> = spans
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        })
        .collect();
    let many = if workflows.len() == 1 { "" } else { "s" };
    format!("workflow{many} {}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::spans;

    #[test]
    fn workflows_that_follow_one_another_are_named_together() {
        let shown = [&[3][..], &[1, 2, 3, 4], &[1, 2, 4, 7, 8]].map(spans);
        assert_eq!(
            shown,
            [
                "workflow 3",
                "workflows 1 to 4",
                "workflows 1 to 2, 4, 7 to 8"
            ]
        );
    }
}
