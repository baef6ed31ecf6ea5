//! What went on when in an arm: by worker, and by workflow.
//!
//! A worker's lane holds its attempts and its restarts; what a workflow waits for is in the lane of the
//! workflow. Looking at tables and verification are in no lane, since they are in no interval.

use super::MOST_POINTS;
use super::workflows::{Cells, Workflow, of_arm, own};
use crate::arms::{Arm, Arms};
use crate::error::ReportError;
use polars::prelude::{SortMultipleOptions, col};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Lanes of workflows that a timeline has at most.
const MOST_LANES: usize = 60;

/// The timeline of an arm. Times are in seconds of its clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timeline {
    /// The arm.
    pub arm: usize,
    /// When its last span ends.
    pub end: f64,
    /// Where its axis ends: for all arms at the same time, unless some would be too short to be seen.
    pub axis: f64,
    /// A lane for each worker, and more where attempts overlap in it.
    pub workers: Vec<Lane>,
    /// A lane for each workflow.
    pub workflows: Vec<Lane>,
    /// How many workflows there were before some were left out.
    pub measured: usize,
    /// Whether neighbouring spans of the workers' lanes were put together.
    pub merged: bool,
}

/// A lane of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub spans: Vec<Span>,
}

/// A stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// What it was.
    pub kind: Kind,
    /// When it began.
    pub from: f64,
    /// When it ended.
    pub to: f64,
    /// What is to be said of it.
    pub text: String,
}

/// What a stretch of time was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A workflow that was launched waited for its first attempt.
    Queue,
    /// An attempt that completed.
    Service,
    /// An attempt that did not complete.
    Lost,
    /// A workflow waited for its next attempt.
    Wait,
    /// A process started in the place of one that had ended.
    Restart,
}

impl Kind {
    /// All, in the order of a workflow.
    pub const ALL: [Self; 5] = [
        Self::Queue,
        Self::Service,
        Self::Lost,
        Self::Wait,
        Self::Restart,
    ];

    /// As people read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Service => "service",
            Self::Lost => "attempt that did not complete",
            Self::Wait => "wait for the next attempt",
            Self::Restart => "restart of the worker",
        }
    }

    /// As programs read it.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Service => "service",
            Self::Lost => "lost",
            Self::Wait => "wait",
            Self::Restart => "restart",
        }
    }
}

/// An attempt whose times are known.
struct Attempt {
    worker: i64,
    workflow: i64,
    span: Span,
}

pub(super) fn timelines(arms: &Arms<'_>) -> Result<Vec<Timeline>, ReportError> {
    let mut timelines = Vec::new();
    for (at, arm) in arms.arms.iter().enumerate() {
        let attempts = attempts(arms, arm)?;
        if attempts.is_empty() {
            continue;
        }
        let restarts = restarts(arms, arm)?;
        let workflows = of_arm(arms, arm)?;
        let (workers, merged) = by_worker(&attempts, &restarts);
        let lanes = by_workflow(&workflows, &attempts);
        let spans = workers.iter().chain(&lanes).flat_map(|lane| &lane.spans);
        timelines.push(Timeline {
            arm: at,
            end: spans.map(|span| span.to).fold(0.0, f64::max),
            axis: 0.0,
            measured: lanes.len(),
            workers,
            workflows: longest(lanes),
            merged,
        });
    }
    set_axes(&mut timelines);
    Ok(timelines)
}

/// One axis for all, so that they compare at a glance, where even the shortest takes a tenth of it.
fn set_axes(timelines: &mut [Timeline]) {
    let ends = || timelines.iter().map(|one| one.end);
    let last = ends().fold(0.0, f64::max);
    let shared = ends().all(|end| end * 10.0 >= last);
    for timeline in timelines {
        timeline.axis = match shared {
            true => last,
            false => timeline.end,
        };
    }
}

fn attempts(arms: &Arms<'_>, arm: &Arm) -> Result<Vec<Attempt>, ReportError> {
    let rows = arms
        .attempts()
        .filter(own(arm))
        .filter(
            col("started_s")
                .is_not_null()
                .and(col("ended_s").is_not_null()),
        )
        .sort(
            ["started_s", "workflow", "attempt"],
            SortMultipleOptions::default(),
        )
        .collect()?;
    let cells = Cells(&rows);
    let mut attempts = Vec::new();
    for at in 0..rows.height() {
        let workflow = cells.count("workflow", at)?.unwrap_or_default();
        let number = cells.count("attempt", at)?.unwrap_or(1);
        let outcome = cells.text("outcome", at)?.unwrap_or("unknown");
        let mut text = format!("workflow {workflow}, attempt {number}: {outcome}");
        if let Some(cause) = cells.text("cause", at)? {
            text += &format!(" ({cause})");
        }
        if let Some(injected) = cells.text("injected", at)? {
            text += &format!("; injected on purpose: {injected}");
        }
        attempts.push(Attempt {
            worker: cells.count("worker", at)?.unwrap_or(1),
            workflow,
            span: Span {
                kind: match outcome {
                    "completed" => Kind::Service,
                    _ => Kind::Lost,
                },
                from: cells.number("started_s", at)?.unwrap_or_default(),
                to: cells.number("ended_s", at)?.unwrap_or_default(),
                text,
            },
        });
    }
    Ok(attempts)
}

/// Starts of processes in the place of others, with the number of their worker. The first start of a
/// worker is in no workflow's time and is left out.
fn restarts(arms: &Arms<'_>, arm: &Arm) -> Result<Vec<(i64, Span)>, ReportError> {
    let rows = arms
        .workers()
        .filter(own(arm))
        .sort(["worker", "incarnation"], SortMultipleOptions::default())
        .collect()?;
    let cells = Cells(&rows);
    let mut restarts = Vec::new();
    let mut before: Option<(i64, Option<&str>)> = None;
    for at in 0..rows.height() {
        let worker = cells.count("worker", at)?.unwrap_or(1);
        let times = cells
            .number("started_s", at)?
            .zip(cells.number("ready_s", at)?);
        if let (Some((_, cause)), Some((from, to))) = (before.filter(|one| one.0 == worker), times)
        {
            let cause = cause.unwrap_or("an unknown end");
            let text = format!("worker {worker} was started again after {cause}");
            let kind = Kind::Restart;
            restarts.push((
                worker,
                Span {
                    kind,
                    from,
                    to,
                    text,
                },
            ));
        }
        before = Some((worker, cells.text("cause", at)?));
    }
    Ok(restarts)
}

/// A lane for each worker, and as many more as attempts overlap in it; and whether spans were merged.
fn by_worker(attempts: &[Attempt], restarts: &[(i64, Span)]) -> (Vec<Lane>, bool) {
    let mut lanes: BTreeMap<i64, Vec<Vec<Span>>> = BTreeMap::new();
    for attempt in attempts {
        let own = lanes.entry(attempt.worker).or_default();
        let free = own.iter_mut().find(|lane| {
            let last = lane.last().map(|span| span.to);
            last.is_none_or(|end| end <= attempt.span.from)
        });
        match free {
            Some(lane) => lane.push(attempt.span.clone()),
            None => own.push(vec![attempt.span.clone()]),
        }
    }
    for (worker, span) in restarts {
        let own = lanes.entry(*worker).or_default();
        match own.first_mut() {
            Some(lane) => lane.push(span.clone()),
            None => own.push(vec![span.clone()]),
        }
    }
    let count: usize = lanes.values().flatten().map(Vec::len).sum();
    let merged = count > MOST_POINTS;
    if merged {
        merge(&mut lanes);
    }
    let mut named = Vec::new();
    for (worker, own) in lanes {
        let several = own.len() > 1;
        for (number, spans) in (1..).zip(own) {
            let name = match several {
                true => format!("worker {worker}, lane {number}"),
                false => format!("worker {worker}"),
            };
            named.push(Lane { name, spans });
        }
    }
    (named, merged)
}

/// Puts spans of a kind together that are so near to each other that no screen keeps them apart, until
/// few enough are left. Each kind by itself, so that an attempt that was lost stays to be seen.
fn merge(lanes: &mut BTreeMap<i64, Vec<Vec<Span>>>) {
    let end = lanes.values().flatten().flatten();
    let end = end.map(|span| span.to).fold(0.0, f64::max);
    let count = |lanes: &BTreeMap<i64, Vec<Vec<Span>>>| -> usize {
        lanes.values().flatten().map(Vec::len).sum()
    };
    let mut gap = end / 2_000.0;
    while count(lanes) > MOST_POINTS && gap > 0.0 && gap < end {
        for lane in lanes.values_mut().flatten() {
            *lane = merged(lane, gap);
        }
        gap *= 2.0;
    }
}

fn merged(spans: &[Span], gap: f64) -> Vec<Span> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        let mut own: Vec<Span> = Vec::new();
        for span in spans.iter().filter(|span| span.kind == kind) {
            match own.last_mut() {
                Some(last) if span.from - last.to <= gap => {
                    last.to = last.to.max(span.to);
                    last.text = format!("several spans of {}, put together", kind.name());
                }
                _ => own.push(span.clone()),
            }
        }
        all.extend(own);
    }
    all
}

/// A lane for each workflow: its queue, its attempts and the waits between them.
fn by_workflow(workflows: &[Workflow], attempts: &[Attempt]) -> Vec<Lane> {
    let mut own: BTreeMap<i64, Vec<&Span>> = BTreeMap::new();
    for attempt in attempts {
        own.entry(attempt.workflow).or_default().push(&attempt.span);
    }
    let lane = |workflow: &Workflow| {
        let mut spans = Vec::new();
        let attempts = own.get(&workflow.workflow).map(Vec::as_slice);
        let attempts = attempts.unwrap_or_default();
        let first = attempts.first().map(|span| span.from);
        if let Some((from, to)) = workflow.launched.zip(first.or(workflow.closed)) {
            spans.push(waited(Kind::Queue, from, to, workflow.workflow));
        }
        for (at, span) in attempts.iter().enumerate() {
            if let Some(before) = at.checked_sub(1).and_then(|before| attempts.get(before)) {
                spans.push(waited(Kind::Wait, before.to, span.from, workflow.workflow));
            }
            spans.push((*span).clone());
        }
        spans.retain(|span| span.to > span.from);
        Lane {
            name: workflow.workflow.to_string(),
            spans,
        }
    };
    workflows.iter().map(lane).collect()
}

fn waited(kind: Kind, from: f64, to: f64, workflow: i64) -> Span {
    let text = format!("workflow {workflow}: {}", kind.name());
    Span {
        kind,
        from,
        to,
        text,
    }
}

/// Of many lanes, the longest of each stretch of neighbours.
fn longest(lanes: Vec<Lane>) -> Vec<Lane> {
    if lanes.len() <= MOST_LANES {
        return lanes;
    }
    let length = |lane: &Lane| {
        let from = lane.spans.iter().map(|span| span.from).reduce(f64::min);
        let to = lane.spans.iter().map(|span| span.to).reduce(f64::max);
        from.zip(to).map_or(0.0, |(from, to)| to - from)
    };
    let mut kept = BTreeSet::new();
    for stretch in 0..MOST_LANES {
        let from = lanes.len() * stretch / MOST_LANES;
        let to = lanes.len() * (stretch + 1) / MOST_LANES;
        let by_length =
            |one: &usize, other: &usize| length(&lanes[*one]).total_cmp(&length(&lanes[*other]));
        kept.extend((from..to).max_by(by_length));
    }
    let mut at = 0..;
    let is_kept = |_: &Lane| at.next().is_some_and(|at| kept.contains(&at));
    lanes.into_iter().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(kind: Kind, from: f64, to: f64) -> Span {
        let text = String::new();
        Span {
            kind,
            from,
            to,
            text,
        }
    }

    fn attempt(worker: i64, from: f64, to: f64) -> Attempt {
        Attempt {
            worker,
            workflow: 1,
            span: span(Kind::Service, from, to),
        }
    }

    #[test]
    fn attempts_that_overlap_in_a_worker_have_lanes_of_their_own() {
        let attempts = [
            attempt(1, 0.0, 2.0),
            attempt(1, 1.0, 3.0),
            attempt(1, 2.0, 4.0),
        ];
        let (lanes, merged) = by_worker(&attempts, &[]);
        let names: Vec<&str> = lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["worker 1, lane 1", "worker 1, lane 2"]);
        assert_eq!(lanes[0].spans.len(), 2);
        assert!(!merged);
    }

    #[test]
    fn among_ten_thousand_spans_the_one_that_was_lost_stays_to_be_seen() {
        let mut attempts: Vec<Attempt> = (0..10_000)
            .map(|at| attempt(1, f64::from(at), f64::from(at) + 0.9))
            .collect();
        attempts[5_000].span.kind = Kind::Lost;
        let (lanes, merged) = by_worker(&attempts, &[]);
        assert!(merged);
        let spans = &lanes[0].spans;
        assert!(spans.len() <= MOST_POINTS);
        let lost: Vec<&Span> = spans.iter().filter(|one| one.kind == Kind::Lost).collect();
        assert_eq!(lost.len(), 1);
        assert!((lost[0].from - 5_000.0).abs() < 1e-9);
    }

    #[test]
    fn of_many_workflows_the_longest_of_each_stretch_has_a_lane() {
        let lane = |at: u32| Lane {
            name: at.to_string(),
            spans: vec![span(Kind::Service, 0.0, f64::from(at % 100))],
        };
        let lanes = longest((0..MOST_LANES as u32 * 100).map(lane).collect());
        assert_eq!(lanes.len(), MOST_LANES);
        assert!(lanes.iter().all(|lane| lane.name.ends_with("99")));
    }
}
