//! What the figures of two sides say of a claim that was not refused.

use super::claim::Claim;
use super::observe::Sides;
use crate::arms::{Figures, is};
use crate::error::ReportError;
use crate::evidence::short_name;
use crate::number::{bytes, count, seconds, slope};
use crate::statistics::line::{end_to_end, least_squares};
use crate::statistics::paired::{Paired, Verdict as Shown, paired};
use crate::statistics::summary::summary;
use crate::statistics::{Method, Point};
use polars::prelude::{col, lit};

/// The seed of whatever a statement draws at random: the same runs give the same words.
const SEED: u64 = 20_251_029;

/// A sentence, or why there is none.
type Statement = Result<String, String>;

pub(super) fn statement(claim: Claim, sides: &Sides<'_, '_>) -> Result<Statement, ReportError> {
    match claim {
        Claim::Setting | Claim::Version | Claim::Resources => time(sides),
        Claim::Growth => growth(sides),
        Claim::Files => files(sides),
        Claim::Total => total(sides),
    }
}

/// Time of the workflows that both completed.
fn time(sides: &Sides<'_, '_>) -> Result<Statement, ReportError> {
    let arms = sides.arms;
    let common = arms.common();
    let service = arms.service()?;
    let sums: Figures = service
        .iter()
        .filter_map(|(key, points)| {
            let within = points.iter().filter(|(workflow, _)| *workflow <= common);
            let within: Vec<f64> = within.map(|(_, time)| *time).collect();
            (!within.is_empty()).then(|| (*key, within.iter().sum()))
        })
        .collect();
    let points = |side: u32| {
        let own = service.iter().filter(|(key, _)| key.0 == side);
        own.map(|(_, points)| points.iter().filter(|(at, _)| *at <= common).count())
            .min()
            .unwrap_or(0)
    };
    if points(0) != points(1) || points(0) == 0 {
        return Ok(Err(
            "times of the same workflows were not reported on both sides".to_owned(),
        ));
    }
    let what = match points(0) as u32 == common {
        true => format!("workflows 1 to {common}"),
        false => format!("the {} reported workflows up to {common}", points(0)),
    };
    Ok(two(sides, &sums, &what, seconds))
}

/// A figure of both sides, and how far apart it is: by pairs where there are enough, else as it is.
fn two(sides: &Sides<'_, '_>, figures: &Figures, what: &str, show: fn(f64) -> String) -> Statement {
    let of = |side: u32| -> Vec<f64> {
        let own = figures.iter().filter(|(key, _)| key.0 == side);
        own.map(|(_, value)| *value).collect()
    };
    let (Ok(a), Ok(b)) = (summary(&of(0)), summary(&of(1))) else {
        return Err(format!("{what}: not reported on both sides"));
    };
    let ratio = b.median() / a.median();
    let text = format!(
        "{what}: A {}, B {}; B / A = {ratio:.2}",
        show(a.median()),
        show(b.median()),
    );
    let pairs: Vec<(f64, f64)> = figures
        .iter()
        .filter(|(key, _)| key.0 == 0)
        .filter_map(|((_, repeat), a)| Some((*a, *figures.get(&(1, *repeat))?)))
        .collect();
    // Only arms that ran in turns are pairs.
    if sides.pairs < 2 || pairs.len() != sides.pairs {
        return Ok(text);
    }
    Ok(match paired(&pairs, SEED) {
        Ok(found) => format!("{text}. {}", words(&found)),
        Err(_) => text,
    })
}

fn growth(sides: &Sides<'_, '_>) -> Result<Statement, ReportError> {
    let arms = sides.arms;
    let common = arms.common();
    let service = arms.service()?;
    let slopes = |side: u32| -> Option<(f64, Option<f64>)> {
        let own = service.iter().filter(|(key, _)| key.0 == side);
        let mut ends = Vec::new();
        let mut fits = Vec::new();
        for (_, points) in own {
            let points: Vec<Point> = points
                .iter()
                .filter(|(at, _)| *at <= common)
                .map(|(at, time)| (f64::from(*at), *time))
                .collect();
            ends.extend(end_to_end(&points).ok().map(|line| line.slope));
            fits.extend(least_squares(&points).ok().map(|fit| fit.line.slope));
        }
        let ends = summary(&ends).ok()?.median();
        Some((ends, summary(&fits).ok().map(|fits| fits.median())))
    };
    let (Some(a), Some(b)) = (slopes(0), slopes(1)) else {
        return Ok(Err(
            "fewer than two times of common workflows on a side make no slope".to_owned(),
        ));
    };
    let mut text = format!(
        "over workflows 1 to {common}, end to end: A {}, B {}",
        slope(a.0),
        slope(b.0)
    );
    if let (Some(a), Some(b)) = (a.1, b.1) {
        text += &format!("; by least squares: A {}, B {}", slope(a), slope(b));
    }
    Ok(Ok(text))
}

fn files(sides: &Sides<'_, '_>) -> Result<Statement, ReportError> {
    let arms = sides.arms;
    let common = arms.common();
    let ended_together = arms.arms.iter().all(|arm| arm.prefix == common);
    let mut parts = Vec::new();
    for table in arms.table_names()? {
        let rows = match ended_together {
            true => arms.last_tables(),
            false => arms.tables().filter(col("workflow").eq(lit(common))),
        };
        let rows = rows.filter(is("table", &table));
        let files = arms.figures(rows.clone(), col("live_files").max())?;
        let size = arms.figures(rows.clone(), col("live_bytes").max())?;
        let of = |figures: &Figures, side: u32| -> Option<f64> {
            let own = figures.iter().filter(|(key, _)| key.0 == side);
            let own: Vec<f64> = own.map(|(_, value)| *value).collect();
            Some(summary(&own).ok()?.median())
        };
        if let (Some(a), Some(b)) = (of(&files, 0), of(&files, 1)) {
            let mut part = format!("{} {} against {}", short_name(&table), count(a), count(b));
            if let (Some(a), Some(b)) = (of(&size, 0), of(&size, 1)) {
                part += &format!(" ({} against {})", bytes(a), bytes(b));
            }
            parts.push(part);
        }
    }
    Ok(match parts.is_empty() {
        true => Err("files after the same workflow were not reported on both sides".to_owned()),
        false => Ok(format!(
            "live files after workflow {common}, A against B: {}. Counts are exact",
            parts.join("; ")
        )),
    })
}

fn total(sides: &Sides<'_, '_>) -> Result<Statement, ReportError> {
    let arms = sides.arms;
    let wall = col("closed_s").max() - col("launched_s").min();
    let mut wall = arms.figures(arms.completed(), wall)?;
    for arm in &arms.arms {
        if let Some(reported) = arms.column(arm).facts.number("reported.total_s") {
            wall.insert(arm.key, reported);
        }
    }
    Ok(two(sides, &wall, "first launch to last close", seconds))
}

/// What pairs say, in words.
fn words(found: &Paired) -> String {
    let pairs = found.log_ratios.len();
    let percent = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    let verdict = match found.verdict() {
        Shown::TooFewPairs { have, need } => {
            return format!(
                "Of {have} pairs no difference can be shown, however large: it takes {need}"
            );
        }
        Shown::NoDifferenceShown => "no difference is shown",
        Shown::Slower => "B is slower",
        Shown::Faster => "B is faster",
    };
    let interval = found.interval.map_or(String::new(), |interval| {
        format!(
            ", between {} and {} with {:.0} % confidence",
            percent(interval.low),
            percent(interval.high),
            100.0 * interval.confidence
        )
    });
    let method = match found.p.method {
        Method::Exact { .. } => "exact",
        Method::MonteCarlo { .. } => "drawn",
    };
    format!(
        "Of {pairs} interleaved pairs, {verdict}: B is {} in the median{interval} (sign-flip test, p {:.4}, {method})",
        percent(found.median_ratio),
        found.p.value
    )
}
