//! Charts of memory: what each process held over time, and the most that each workflow took.

use super::panels::{joined, view};
use super::thin::thin;
use super::{Along, Limit, MOST_POINTS, Panel, Series, View};
use crate::arms::{Arms, Key, key};
use crate::error::ReportError;
use crate::evidence::Unit;
use crate::number::memory as shown;
use polars::prelude::{SortMultipleOptions, col};
use std::collections::BTreeMap;

/// What one worker held, by the number of its process: its time and bytes.
type Held = BTreeMap<i64, Vec<(f64, f64)>>;

pub(super) fn memory(arms: &Arms<'_>) -> Result<Vec<Panel>, ReportError> {
    let title = "Resident memory over time";
    let mut over_time = View {
        name: "resident memory".to_owned(),
        unit: Unit::Memory,
        series: Vec::new(),
        limits: limits(arms),
        missing: Vec::new(),
    };
    let held = held(arms)?;
    for (at, arm) in arms.arms.iter().enumerate() {
        let name = arms.name(arm);
        let workers = held.get(&arm.key);
        let several = workers.is_some_and(|workers| workers.len() > 1);
        for (worker, processes) in workers.into_iter().flatten() {
            over_time.series.push(Series {
                arm: at,
                name: match several {
                    true => format!("{name}, worker {worker}"),
                    false => name.clone(),
                },
                joined: true,
                points: parted(processes),
                measured: processes.values().map(Vec::len).sum(),
            });
        }
        if workers.is_none() {
            over_time
                .missing
                .push(format!("{name}: n/a (no sample was taken)"));
        }
    }
    let peaks = arms
        .attempts()
        .filter(col("peak_rss_bytes").is_not_null())
        .group_by([col("column"), col("repeat"), col("workflow")])
        .agg([col("peak_rss_bytes").max()]);
    let peaks = arms.points(peaks, col("peak_rss_bytes"))?;
    let mut most = view(
        arms,
        "most resident memory",
        Unit::Memory,
        &peaks,
        |_| "not measured",
    );
    most.limits = limits(arms);
    let panel = |id: &str, title: &str, along, view| Panel {
        id: id.to_owned(),
        title: title.to_owned(),
        along,
        views: vec![view],
    };
    Ok(vec![
        panel("memory", title, Along::Time, over_time),
        panel(
            "memory-peak",
            "Most resident memory during each workflow",
            Along::Workflow,
            most,
        ),
    ])
}

/// What each worker of each arm held.
fn held(arms: &Arms<'_>) -> Result<BTreeMap<Key, BTreeMap<i64, Held>>, ReportError> {
    let rows = arms
        .samples()
        .filter(col("rss_bytes").is_not_null().and(col("t_s").is_not_null()))
        .sort(
            ["t_s"],
            SortMultipleOptions::default().with_maintain_order(true),
        )
        .collect()?;
    let workers = rows.column("worker")?.i64()?;
    let incarnations = rows.column("incarnation")?.i64()?;
    let times = rows.column("t_s")?.f64()?;
    let bytes = rows.column("rss_bytes")?.i64()?;
    let mut held: BTreeMap<Key, BTreeMap<i64, Held>> = BTreeMap::new();
    for at in 0..rows.height() {
        if let (Some(key), Some(time), Some(bytes)) =
            (key(&rows, at)?, times.get(at), bytes.get(at))
        {
            let worker = held.entry(key).or_default();
            let worker = worker.entry(workers.get(at).unwrap_or(1)).or_default();
            let process = worker.entry(incarnations.get(at).unwrap_or(1)).or_default();
            // Exact up to 2^53 bytes, which is more than any memory.
            process.push((time, bytes as f64));
        }
    }
    Ok(held)
}

/// One line of all processes of a worker, parted where one ended and the next began.
fn parted(processes: &Held) -> Vec<(f64, Option<f64>)> {
    let most = MOST_POINTS / processes.len().max(1);
    let mut points: Vec<(f64, Option<f64>)> = Vec::new();
    for process in processes.values() {
        if let Some((last, _)) = points.last() {
            points.push((*last, None));
        }
        points.extend(joined(&thin(process, most)));
    }
    points
}

/// The memory limits that bind.
fn limits(arms: &Arms<'_>) -> Vec<Limit> {
    let mut limits = Vec::new();
    for (number, column) in (0_u32..).zip(&arms.columns) {
        let facts = &arms.runs[column.run].facts;
        let at = |what: &str| format!("limits.{}.{what}", column.variant);
        let binding = facts.flag(&at("memory_binding")) != Some(false);
        if let Some(value) = facts.number(&at("memory")).filter(|_| binding) {
            limits.push(Limit {
                column: number,
                name: format!("limit of {}: {} a worker", column.name, shown(value)),
                value,
            });
        }
    }
    limits
}
