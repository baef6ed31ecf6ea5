//! `durations.csv`: a row per workflow that was reported.

use super::ImportError;
use super::facts::Facts;
use std::collections::BTreeSet;
use std::path::Path;

/// A workflow that was reported.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    pub(super) variant: String,
    pub(super) workflow: u32,
    /// From launch to close. None where the cell is empty: not reported.
    pub(super) seconds: Option<f64>,
}

/// Columns of durations, with what one of their units is in seconds.
const UNITS: [(&str, f64); 3] = [("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0)];

const COLUMNS: &str =
    "the columns are `variant`, `workflow`, and one of `seconds`, `minutes` and `hours`";

/// Reads and checks a file of durations.
pub(super) fn read(path: &Path, facts: &Facts) -> Result<Vec<Row>, ImportError> {
    let wrong = |line: Option<u64>, reason: String| ImportError::Durations {
        path: path.to_path_buf(),
        line,
        reason,
    };
    let unreadable = |error: csv::Error| {
        let line = error.position().map(csv::Position::line);
        wrong(line, error.to_string())
    };
    let file = std::fs::File::open(path).map_err(|source| ImportError::Io {
        action: "read",
        path: path.to_path_buf(),
        source,
    })?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(file);
    let header = reader.headers().map_err(unreadable)?.clone();
    let place = |name: &str| header.iter().position(|one| one == name);
    let units: Vec<(usize, f64)> = UNITS
        .iter()
        .filter_map(|(name, unit)| Some((place(name)?, *unit)))
        .collect();
    let (Some(variant_at), Some(workflow_at), [(time_at, unit)]) =
        (place("variant"), place("workflow"), units.as_slice())
    else {
        return Err(wrong(Some(1), COLUMNS.to_owned()));
    };
    if header.len() != 3 {
        return Err(wrong(
            Some(1),
            format!("it has {} columns; {COLUMNS}", header.len()),
        ));
    }
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map(csv::Position::line);
        let cell = |at: usize| record.get(at).unwrap_or_default();
        let variant = cell(variant_at).to_owned();
        if !facts.variants.contains_key(&variant) {
            let known: Vec<&str> = facts.variants.keys().map(String::as_str).collect();
            let known = known.join(", ");
            let reason = format!("there is no variant `{variant}` in the facts; there are {known}");
            return Err(wrong(line, reason));
        }
        let workflow = match cell(workflow_at).parse::<u32>() {
            Ok(workflow) if workflow > 0 => workflow,
            _ => {
                let reason = "`workflow` must be a whole number from 1".to_owned();
                return Err(wrong(line, reason));
            }
        };
        let seconds = match cell(*time_at) {
            "" => None,
            text => match text.parse::<f64>() {
                Ok(time) if time.is_finite() && time > 0.0 => Some(time * unit),
                _ => {
                    let reason =
                        "a duration must be a number above 0, or empty where it was not reported";
                    return Err(wrong(line, reason.to_owned()));
                }
            },
        };
        if !seen.insert((variant.clone(), workflow)) {
            let reason = format!("workflow {workflow} of `{variant}` stands here a second time");
            return Err(wrong(line, reason));
        }
        rows.push(Row {
            variant,
            workflow,
            seconds,
        });
    }
    Ok(rows)
}
