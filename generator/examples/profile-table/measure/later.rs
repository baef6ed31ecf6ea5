//! Messages that depend on an earlier one, and messages that come late.

use super::asked::Asked;
use super::chance::Distribution;
use super::data::{Clean, Data, Kind, Message};
use super::table::Table;

/// How far shares of later messages may be off beyond chance: a later message that finds no first
/// one to follow (before the data set's begin, or too late in the day) becomes a first itself, and
/// chances are set so that the shares are met in the long run only.
const TOLERANCE: f64 = 0.05;

/// The same for the spread of lags.
const LAG_TOLERANCE: f64 = 0.03;

pub(super) fn measure(asked: &Asked, data: &Data, table: &mut Table) {
    let all = data.clean().count() as u64;
    let follow_ups = (asked.life_cycle.follow_ups, &asked.life_cycle.lags);
    let copies = (asked.resends.rate, &asked.resends.lags);
    for (name, (rate, lags), parent) in [
        (
            "follow-ups",
            follow_ups,
            follows as fn(&Clean) -> Option<u64>,
        ),
        ("exact copies", copies, copies_of),
    ] {
        let found: Vec<(&Message, u64)> = data
            .clean()
            .filter_map(|(message, clean)| Some((message, parent(clean)?)))
            .collect();
        table.share_about(name, rate, found.len() as u64, all, TOLERANCE);
        if rate == 0.0 {
            continue;
        }
        let lag = |(message, first): (&Message, u64)| {
            data.at(first).map(|first| (message.log - first.log) as u32)
        };
        let values: Vec<u32> = found.into_iter().filter_map(lag).collect();
        let name = format!("{name}: logs later, gap to the weights");
        table.gap(&name, &Distribution::new(lags), &values, LAG_TOLERANCE);
    }
    out_of_order(asked, data, table);
    late(asked, data, table);
}

fn follows(clean: &Clean) -> Option<u64> {
    match clean.kind {
        Kind::FollowUp(first) => Some(first),
        _ => None,
    }
}

fn copies_of(clean: &Clean) -> Option<u64> {
    match clean.kind {
        Kind::Copy(first) => Some(first),
        _ => None,
    }
}

fn out_of_order(asked: &Asked, data: &Data, table: &mut Table) {
    let (mut earlier, mut all) = (0, 0);
    for (_, clean) in data.own() {
        let first = follows(clean).and_then(|slot| data.at(slot)?.clean.as_ref());
        if let Some(first) = first {
            earlier += u64::from(clean.message < first.message);
            all += 1;
        }
    }
    table.share(
        "follow-ups dated before what they follow",
        asked.life_cycle.out_of_order,
        earlier,
        all,
    );
}

/// First messages alone can be late: a follow-up is dated by its log, a copy by what it copies.
fn late(asked: &Asked, data: &Data, table: &mut Table) {
    let days = |(message, clean): (&Message, &Clean)| {
        data.logs[message.log].day - clean.message.div_euclid(86_400)
    };
    let (mut hits, mut all, mut early) = (0, 0, 0);
    let mut found = Vec::new();
    for first in data.firsts() {
        let days = days(first);
        all += 1;
        early += u64::from(days < 0);
        if let Some(days) = u32::try_from(days).ok().filter(|days| *days > 0) {
            hits += 1;
            found.push(days);
        }
    }
    table.none("messages dated after the day of their log", early);
    table.share(
        "late, of studies' first messages",
        asked.late.rate,
        hits,
        all,
    );
    if asked.late.rate > 0.0 {
        table.gap(
            "days late, gap to the weights",
            &Distribution::new(&asked.late.days),
            &found,
            0.0,
        );
    }
}
