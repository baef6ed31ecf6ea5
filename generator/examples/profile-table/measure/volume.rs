//! How many messages stand in which logs, and when studies are made and reported.

use super::asked::{Asked, Volume};
use super::chance::{Distribution, SIGMA};
use super::data::{Data, Kind};
use super::table::Table;
use std::collections::BTreeMap;

const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// The weight of a second feed against the day's first, in a total.
const SECOND_FEED: f64 = 0.25;

/// A log, or in a rate a day: what is expected in it, and what stands in it.
struct Cell {
    index: i64,
    weekday: usize,
    /// Weight without growth, and with.
    flat: f64,
    weight: f64,
    expected: f64,
    variance: f64,
    found: f64,
}

pub(super) fn measure(asked: &Asked, data: &Data, table: &mut Table) {
    let volume = &asked.volume;
    let cells = cells(volume, data);
    amount(volume, data, &cells, table);
    scatter(data, &cells, table);
    weekdays(volume, &cells, table);
    growth(volume, &cells, table);
    second_feeds(volume, data, table);
    times(volume, data, table);
}

fn cells(volume: &Volume, data: &Data) -> Vec<Cell> {
    let start = volume.first_day();
    let mean = volume.weekdays.iter().sum::<f64>() / 7.0;
    let mut cells: Vec<Cell> = Vec::new();
    let mut cell = |index: i64, share: f64, found: f64| {
        // 1970-01-01 was a Thursday.
        let weekday = (start + index + 3).rem_euclid(7) as usize;
        let flat = volume.weekdays[weekday] / mean * share;
        let weight = flat * (1.0 + volume.growth_per_year).powi((index / 365) as i32);
        cells.push(Cell {
            index,
            weekday,
            flat,
            weight,
            expected: 0.0,
            variance: 0.0,
            found,
        });
    };
    match (volume.per_day, volume.days) {
        (Some(_), Some(days)) => {
            let mut found: BTreeMap<i64, u64> = BTreeMap::new();
            for log in &data.logs {
                *found.entry(log.day - start).or_default() += log.count;
            }
            for index in 0..days as i64 {
                cell(index, 1.0, found.get(&index).copied().unwrap_or(0) as f64);
            }
        }
        // In a total every log has one message, and the others are thrown at the logs.
        _ => {
            for log in &data.logs {
                let share = if log.second_feed { SECOND_FEED } else { 1.0 };
                cell(log.day - start, share, log.count as f64 - 1.0);
            }
        }
    }
    let sum: f64 = cells.iter().map(|cell| cell.weight).sum();
    let thrown: f64 = cells.iter().map(|cell| cell.found).sum();
    for cell in &mut cells {
        let (expected, chance) = match volume.per_day {
            Some(per_day) => (per_day * cell.weight, 1.0),
            None => (thrown * cell.weight / sum, 1.0 - cell.weight / sum),
        };
        // The variance of a triangle of half-width d is d²/6.
        let beyond = volume.dispersion.powi(2) / 6.0;
        cell.expected = expected;
        cell.variance = expected * chance + expected.powi(2) * beyond;
    }
    cells
}

fn amount(volume: &Volume, data: &Data, cells: &[Cell], table: &mut Table) {
    let (messages, logs) = (data.messages.len(), data.logs.len());
    if let (Some(asked), Some(asked_logs)) = (volume.messages, volume.log_files) {
        let same = |name: &str, asked: u64, found: usize, table: &mut Table| {
            let [asked, found] = [asked.to_string(), found.to_string()];
            let within = asked == found;
            table.push(name, asked.clone(), found, asked, within);
        };
        same("messages", asked, messages, table);
        same("logs", asked_logs, logs, table);
    } else {
        let expected: f64 = cells.iter().map(|cell| cell.expected).sum();
        let reach = SIGMA * cells.iter().map(|cell| cell.variance).sum::<f64>().sqrt();
        table.number(
            "messages",
            expected,
            messages as f64,
            (expected - reach, expected + reach),
        );
    }
}

/// Whether a log's volume scatters around what is expected as chance and `dispersion` say.
fn scatter(data: &Data, cells: &[Cell], table: &mut Table) {
    let judged: Vec<&Cell> = cells.iter().filter(|cell| cell.variance > 1e-9).collect();
    let count = judged.len() as f64;
    if count < 2.0 {
        return;
    }
    let mean = cells.iter().map(|cell| cell.expected).sum::<f64>() / count;
    let squares = |cell: &&Cell| (cell.found - cell.expected).powi(2) / cell.variance;
    let found = judged.iter().map(squares).sum::<f64>() / count;
    let reach = SIGMA * ((2.0 + 1.0 / mean.max(0.1)) / count).sqrt();
    table.number(
        "volume of a log: variance against the expected",
        1.0,
        found,
        (1.0 - reach, 1.0 + reach),
    );
    let logs = data.logs.len() as f64;
    let mean = data.logs.iter().map(|log| log.count as f64).sum::<f64>() / logs;
    let variance = data
        .logs
        .iter()
        .map(|log| (log.count as f64 - mean).powi(2))
        .sum::<f64>()
        / logs;
    table.push(
        "volume of a log: mean, variance / mean",
        "1 is Poisson",
        format!("{mean:.2}, {:.3}", variance / mean),
        "judged above, by log",
        None,
    );
}

fn weekdays(volume: &Volume, cells: &[Cell], table: &mut Table) {
    let mean = volume.weekdays.iter().sum::<f64>() / 7.0;
    for (weekday, name) in WEEKDAYS.iter().enumerate() {
        let of = || cells.iter().filter(|cell| cell.weekday == weekday);
        let expected: f64 = of().map(|cell| cell.expected).sum();
        if expected == 0.0 {
            continue;
        }
        let asked = volume.weekdays[weekday] / mean;
        let ratio = of().map(|cell| cell.found).sum::<f64>() / expected;
        let reach = SIGMA * of().map(|cell| cell.variance).sum::<f64>().sqrt() / expected;
        let bounds = (asked * (1.0 - reach).max(0.0), asked * (1.0 + reach));
        table.number(
            format!("weight of a {name} (1 is even)"),
            asked,
            asked * ratio,
            bounds,
        );
    }
}

/// Growth between the first and the last whole year.
fn growth(volume: &Volume, cells: &[Cell], table: &mut Table) {
    let days = cells.last().map_or(0, |cell| cell.index + 1);
    let last = days / 365 - 1;
    if last < 1 {
        let asked = format!("{:.3}", volume.growth_per_year);
        table.push(
            "growth by the year",
            asked,
            "–",
            "the data set has no two whole years",
            None,
        );
        return;
    }
    let level = |year: i64| {
        let of = || cells.iter().filter(|cell| cell.index / 365 == year);
        let found: f64 = of().map(|cell| cell.found).sum();
        let variance: f64 = of().map(|cell| cell.variance).sum();
        (
            found / of().map(|cell| cell.flat).sum::<f64>(),
            variance / found.powi(2),
        )
    };
    let ((before, spread), (after, other)) = (level(0), level(last));
    let found = (after / before).powf(1.0 / last as f64) - 1.0;
    let reach = SIGMA * (1.0 + found) * (spread + other).sqrt() / last as f64;
    let asked = volume.growth_per_year;
    table.number(
        "growth by the year",
        asked,
        found,
        (asked - reach, asked + reach),
    );
}

/// Days with a second feed. The last day may have been cut before it; a rate gives none to days
/// of fewer than five messages.
fn second_feeds(volume: &Volume, data: &Data, table: &mut Table) {
    let mut days: BTreeMap<i64, (u64, bool)> = BTreeMap::new();
    for log in &data.logs {
        let day = days.entry(log.day).or_default();
        day.0 += log.count;
        day.1 |= log.second_feed;
    }
    if volume.per_day.is_none() {
        days.pop_last();
    } else {
        days.retain(|_, (count, _)| *count >= 5);
    }
    let hits = days.values().filter(|(_, second)| *second).count();
    table.share(
        "days with a second feed",
        volume.second_feed,
        hits as u64,
        days.len() as u64,
    );
}

fn times(volume: &Volume, data: &Data, table: &mut Table) {
    let mut hours = Vec::new();
    let mut delays = Vec::new();
    for (_, clean) in data.firsts() {
        hours.push((clean.begun.rem_euclid(86_400) / 3600) as u32);
        // An error in the wrong direction must not wrap into the right one.
        delays.push(u32::try_from(clean.message - clean.begun).unwrap_or(0));
    }
    let outside = hours
        .iter()
        .filter(|hour| !(6..=20).contains(*hour))
        .count();
    table.none("studies outside 06:00 to 20:59", outside as u64);
    let weights = (6..).zip(volume.hours.iter().copied()).collect();
    table.gap(
        "hours of studies, gap to the weights",
        &Distribution::new(&weights),
        &hours,
        0.0,
    );
    let outside = delays
        .iter()
        .filter(|delay| !(900..10_800).contains(*delay))
        .count();
    table.none(
        "reports outside 900 to 10,799 s after the study",
        outside as u64,
    );
    // Every second is as likely as any other.
    let deviation = ((9900.0f64.powi(2) - 1.0) / 12.0).sqrt();
    table.mean(
        "seconds from study to report, mean",
        (5849.5, deviation),
        &delays,
    );
    let odd = data
        .own()
        .filter(|(_, clean)| matches!(clean.kind, Kind::FollowUp(_)))
        .filter(|(_, clean)| clean.begun > clean.message)
        .count();
    table.none("follow-ups dated before their study", odd as u64);
}
