//! What cannot be concluded from some runs: it stands under every evidence table.

use crate::arms::{Arm, Arms, is};
use crate::effects::without_effect;
use crate::error::ReportError;
use crate::number::counted;
use polars::prelude::{DataFrame, Expr, IntoLazy, col, lit};
use serde_json::Value;
use std::collections::BTreeSet;

/// Ends of an attempt that somebody asked for: a fault of the scenario, a person, the end of a runner.
const ASKED_FOR: [&str; 3] = ["fault", "interrupted", "runner_gone"];

/// What these runs cannot tell, in a sentence each.
pub(crate) fn limits(arms: &Arms<'_>) -> Result<Vec<String>, ReportError> {
    let mut limits = Vec::new();
    let repeats = (0..arms.columns.len()).map(|column| arms.in_column(column).count());
    if repeats.max().unwrap_or(0) < 2 && arms.columns.len() > 1 {
        limits.push(
            "One arm a variant: how much of a difference in time is noise of the machine is not known. Counts of files, \
             bytes and rows are exact."
                .to_owned(),
        );
    }
    if arms.runs.len() > 1 {
        limits.push(
            "Several runs side by side: whether they may be compared, and in what, is what `bench compare` says."
                .to_owned(),
        );
    }
    for run in arms.runs {
        if run.facts.flag("dataset.truth") == Some(false) {
            limits.push(
                "The logs are not generated: rows were checked against the logs as this project reads them, so a fault of its \
                 reader would stay unseen."
                    .to_owned(),
            );
        }
        if run.facts.imported() {
            limits.push(format!(
                "{}: measured by hand and imported. Only what was written down is known, and none of it was verified here. Service \
                 was not recorded apart from queueing and retries: growth is that of durations from launch to close.",
                run.label
            ));
        }
    }
    for (at, column) in arms.columns.iter().enumerate() {
        let limit = format!("limits.{}.memory_binding", column.variant);
        if arms.runs[column.run].facts.flag(&limit) == Some(false) {
            limits.push(format!(
                "{}: its memory limit is above what the machine has, so that it does not bind; nothing is said of memory.",
                column.name
            ));
        }
        let unsupported = format!("unsupported.{}", column.variant);
        let unsupported = arms.runs[column.run].facts.at(&unsupported);
        let unsupported = unsupported.and_then(Value::as_array).into_iter().flatten();
        let unsupported: Vec<&str> = unsupported.filter_map(Value::as_str).collect();
        if !unsupported.is_empty() {
            limits.push(format!(
                "{}: its target does not honour {}; nothing can be said of what these would do.",
                column.name,
                unsupported.join(", ")
            ));
        }
        for arm in arms.in_column(at) {
            of_arm(arms, arm, &mut limits)?;
        }
    }
    Ok(limits)
}

fn of_arm(arms: &Arms<'_>, arm: &Arm, limits: &mut Vec<String>) -> Result<(), ReportError> {
    let name = arms.name(arm);
    let imported = arms.runs[arms.column(arm).run].facts.imported();
    match &arm.verified {
        None if imported => {}
        None => limits.push(format!(
            "{name}: its rows were not verified, so its times may be those of work that was not done."
        )),
        Some(verified) if verified.failed > 0 => limits.push(format!(
            "{name}: {} of its rows failed. **No figure of it may be used.**",
            counted(verified.failed, "check")
        )),
        Some(_) => {}
    }
    if arm.planned.is_some_and(|planned| arm.prefix < planned) {
        limits.push(format!(
            "{name}: it was cancelled or ended after workflow {}; whether its growth would have levelled off cannot be told.",
            arm.prefix
        ));
    }
    limits.extend(without_effect(arms, arm));
    let own = col("column")
        .eq(lit(arm.key.0))
        .and(col("repeat").eq(lit(arm.key.1)));
    let attempts = arms.attempts().filter(own.clone()).collect()?;
    let injected = texts(&attempts, col("injected").is_not_null(), "injected")?;
    if !injected.is_empty() {
        let what: BTreeSet<&str> = injected.iter().map(String::as_str).collect();
        let what: Vec<&str> = what.into_iter().collect();
        limits.push(format!(
            "{name}: {} injected on purpose ({}); durations contain what followed.",
            counted(injected.len(), "fault"),
            what.join(", ")
        ));
    }
    let asked = ASKED_FOR.iter().fold(lit(false), |any, cause| {
        any.or(is("cause", cause).fill_null(lit(false)))
    });
    let lost = is("outcome", "completed")
        .not()
        .and(col("injected").is_null())
        .and(asked.not());
    let lost = texts(&attempts, lost, "outcome")?;
    if !lost.is_empty() {
        limits.push(format!(
            "{name}: {} did not complete without having been asked to; durations contain the retries.",
            counted(lost.len(), "attempt")
        ));
    }
    let resumed = arms.workflows().filter(own.and(col("resumed"))).collect()?;
    if resumed.height() > 0 {
        limits.push(format!(
            "{name}: the run was resumed; {} open meanwhile, whose durations are not those of one go.",
            counted(resumed.height(), "workflow")
        ));
    }
    Ok(())
}

/// The texts of a column in the rows of which a condition holds.
fn texts(rows: &DataFrame, condition: Expr, column: &str) -> Result<Vec<String>, ReportError> {
    let rows = rows.clone().lazy().filter(condition).collect()?;
    let texts = rows.column(column)?.str()?;
    Ok(texts.iter().flatten().map(str::to_owned).collect())
}
