//! How the figures of a store go, night after night: series that begin anew where the key changes, and
//! where their level changed. An alarm that says where to look, not a gate.

use super::entry::{End, Entry};
use super::key::{Difference, Key};
use super::measure::median;
use super::metric::{find, place, words};
use crate::evidence::Unit;
use crate::statistics::changes::{Change, Wanted, changes};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The version of this form.
const FORMAT: u32 = 1;
/// The seed of whatever is drawn at random: the same store gives the same trend.
const SEED: u64 = 20_251_029;

/// What a store says over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// The version of this form.
    pub format: u32,
    /// Runs that have to stand on both sides of a change.
    pub min_segment: usize,
    /// The least change of the middle that counts, as a share.
    pub min_change: f64,
    /// Where a variant's runs can no longer be compared with those before.
    pub breaks: Vec<KeyBreak>,
    /// The figures.
    pub series: Vec<Series>,
}

/// A run that cannot be compared with the one before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyBreak {
    /// `scenario/variant`.
    pub name: String,
    /// The first run behind.
    pub run: String,
    /// When it began.
    pub started: String,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// A figure of a variant over runs that may be compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// `scenario/variant`.
    pub name: String,
    /// Which stretch of comparable runs, from 1.
    pub segment: usize,
    /// The figure, for programs.
    pub figure: String,
    /// The figure, for people.
    pub words: String,
    /// What it counts.
    pub unit: Unit,
    /// Run by run.
    pub points: Vec<TrendPoint>,
    /// Where its level changed.
    pub changes: Vec<LevelChange>,
    /// Why none was looked for.
    pub not_looked_at: Option<String>,
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendPoint {
    /// The run.
    pub run: String,
    /// When it began.
    pub started: String,
    /// The middle of its arms.
    pub value: f64,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelChange {
    /// The first run behind it.
    pub run: String,
    /// When that began.
    pub started: String,
    /// The median before.
    pub before: f64,
    /// The median behind.
    pub behind: f64,
    /// How often chance alone would split the series as clearly.
    pub p: f64,
    /// Whether nothing changed since.
    pub is_last: bool,
}

/// The trend of all entries of a store. Runs whose rows do not add up are left out.
#[must_use]
pub fn trend(entries: &[Entry], wanted: Wanted) -> Trend {
    let mut by_variant: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        if matches!(entry.end, End::Verified | End::NotVerified) {
            by_variant.entry(entry.name()).or_default().push(entry);
        }
    }
    let mut trend = Trend {
        format: FORMAT,
        min_segment: wanted.min_segment.max(3),
        min_change: wanted.min_change,
        breaks: Vec::new(),
        series: Vec::new(),
    };
    for (name, mut runs) in by_variant {
        runs.sort_by(|a, b| (&a.started, &a.run).cmp(&(&b.started, &b.run)));
        for (number, segment) in (1..).zip(segments(&name, &runs, &mut trend.breaks)) {
            let figures: BTreeSet<&String> = segment
                .iter()
                .flat_map(|entry| entry.figures.keys())
                .collect();
            let mut figures: Vec<&String> = figures.into_iter().collect();
            figures.sort_by_key(|id| place(id));
            for id in figures {
                trend
                    .series
                    .extend(series(&name, number, id, &segment, wanted));
            }
        }
    }
    trend
}

/// Stretches of runs that may be compared with their neighbours.
fn segments<'e>(name: &str, runs: &[&'e Entry], breaks: &mut Vec<KeyBreak>) -> Vec<Vec<&'e Entry>> {
    let mut segments: Vec<Vec<&Entry>> = Vec::new();
    let mut key: Option<&Key> = None;
    for entry in runs {
        let differences = key.map_or(Vec::new(), |key| key.differences(&entry.key));
        if key.is_none() || !differences.is_empty() {
            segments.push(Vec::new());
        }
        if !differences.is_empty() {
            breaks.push(KeyBreak {
                name: name.to_owned(),
                run: entry.run.clone(),
                started: entry.started.clone(),
                differences,
            });
        }
        key = Some(&entry.key);
        if let Some(last) = segments.last_mut() {
            last.push(entry);
        }
    }
    segments
}

fn series(name: &str, segment: usize, id: &str, runs: &[&Entry], wanted: Wanted) -> Option<Series> {
    let kind = find(id)?;
    let points: Vec<TrendPoint> = runs
        .iter()
        .filter_map(|entry| {
            Some(TrendPoint {
                run: entry.run.clone(),
                started: entry.started.clone(),
                value: median(&entry.figures.get(id)?.values),
            })
        })
        .collect();
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let (found, not_looked_at) = match changes(&values, wanted, SEED) {
        Ok(found) => (found, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let last = found.last().map(|change| change.at);
    let told = |change: &Change| LevelChange {
        run: points[change.at].run.clone(),
        started: points[change.at].started.clone(),
        before: change.before,
        behind: change.behind,
        p: change.p,
        is_last: Some(change.at) == last,
    };
    Some(Series {
        name: name.to_owned(),
        segment,
        figure: id.to_owned(),
        words: words(id),
        unit: kind.unit,
        changes: found.iter().map(told).collect(),
        points,
        not_looked_at,
    })
}

/// A trend as JSON, with a line break at its end.
///
/// # Panics
/// Never: a trend holds nothing that JSON has no form for.
#[must_use]
pub fn trend_json(trend: &Trend) -> String {
    let mut text = serde_json::to_string_pretty(trend).expect("a trend is plain data");
    text.push('\n');
    text
}

/// A trend as Markdown: what changed, then where series begin anew, then how much was looked at.
#[must_use]
pub fn trend_markdown(trend: &Trend) -> String {
    let mut text = String::from("# Trend\n\n");
    let changed: Vec<(&Series, &LevelChange)> = trend
        .series
        .iter()
        .flat_map(|series| series.changes.iter().map(move |change| (series, change)))
        .collect();
    if changed.is_empty() {
        text.push_str("No figure changed its level.\n");
    } else {
        text.push_str("| | figure | from run | before | behind | change | p |\n");
        text.push_str("|---|---|---|---:|---:|---:|---:|\n");
        for (series, change) in changed {
            let size = match change.before == 0.0 {
                true => "from nothing".to_owned(),
                false => format!("{:+.1} %", 100.0 * (change.behind / change.before - 1.0)),
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} ({}) | {} | {} | {size} | {:.3} |",
                series.name,
                series.words,
                change.run,
                change.started,
                series.unit.show(change.before),
                series.unit.show(change.behind),
                change.p,
            );
        }
    }
    if !trend.breaks.is_empty() {
        text.push_str("\n## Where series begin anew\n\n");
        for one in &trend.breaks {
            let what: Vec<&str> = one
                .differences
                .iter()
                .map(|one| one.text.as_str())
                .collect();
            let _ = writeln!(text, "- {} from {}: {}", one.name, one.run, what.join("; "));
        }
    }
    text.push_str("\n## What was looked at\n\n");
    let mut stretches: BTreeMap<(&str, usize), (usize, usize, usize)> = BTreeMap::new();
    for series in &trend.series {
        let entry = stretches.entry((&series.name, series.segment)).or_default();
        entry.0 = entry.0.max(series.points.len());
        entry.1 += 1;
        entry.2 += usize::from(series.not_looked_at.is_some());
    }
    for ((name, segment), (runs, figures, short)) in stretches {
        let looked = match short {
            0 => String::new(),
            _ => format!(
                "; too few for changes in {short} of them, which takes {} runs",
                2 * trend.min_segment
            ),
        };
        let _ = writeln!(
            text,
            "- {name}, stretch {segment}: {figures} figures over {runs} runs{looked}"
        );
    }
    let _ = writeln!(
        text,
        "- a change has at least {} runs on both sides and moves the middle by at least {:.0} %",
        trend.min_segment,
        100.0 * trend.min_change
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::metric::Figure;
    use crate::run::Facts;
    use serde_json::json;

    fn night(number: usize, seed: u64, files: f64) -> Entry {
        let run = Facts::new(json!({
            "dataset": { "digest": format!("d{seed}") },
            "versions": { "engine": "1" },
            "host": { "cores": 2 },
        }));
        let variant = Facts::new(json!({
            "target": { "kind": "embedded" }, "sequence": { "mode": "sequential" },
        }));
        let figure = Figure {
            values: vec![files],
            ..Figure::default()
        };
        Entry {
            run: format!("night-{number:03}"),
            started: format!("2026-01-{:02}T00:00:00Z", number + 1),
            scenario: "s".to_owned(),
            variant: "v".to_owned(),
            key: Key::of(&run, &variant),
            beside: BTreeMap::new(),
            end: End::Verified,
            concurrent: false,
            prefix: 3,
            figures: BTreeMap::from([("reports.live_files".to_owned(), figure)]),
        }
    }

    const WANTED: Wanted = Wanted {
        min_segment: 5,
        min_change: 0.05,
    };

    #[test]
    fn a_series_begins_anew_where_the_key_changes_so_that_no_change_is_seen_there() {
        let nights: Vec<Entry> = (0..20)
            .map(|number| match number {
                0..10 => night(number, 1, 8.0),
                _ => night(number, 2, 80.0),
            })
            .collect();
        let found = trend(&nights, WANTED);
        assert_eq!(found.series.len(), 2);
        assert!(found.series.iter().all(|one| one.changes.is_empty()));
        assert_eq!(found.breaks.len(), 1);
        assert_eq!(found.breaks[0].run, "night-010");
        assert!(trend_markdown(&found).contains("digest d1 → d2"));
    }

    #[test]
    fn a_change_names_the_first_run_behind_it() {
        let nights: Vec<Entry> = (0..16)
            .map(|number| night(number, 1, if number < 9 { 8.0 } else { 9.0 }))
            .collect();
        let found = trend(&nights, WANTED);
        let change = &found.series[0].changes[0];
        assert_eq!((change.run.as_str(), change.is_last), ("night-009", true));
        assert!(trend_markdown(&found).contains("+12.5 %"));
    }

    #[test]
    fn runs_that_do_not_add_up_are_left_out_and_too_few_say_so() {
        let mut nights: Vec<Entry> = (0..6).map(|number| night(number, 1, 8.0)).collect();
        nights[2].end = End::Invalid;
        let found = trend(&nights, WANTED);
        assert_eq!(found.series[0].points.len(), 5);
        assert!(found.series[0].not_looked_at.is_some());
        assert!(trend_markdown(&found).contains("too few"));
    }
}
