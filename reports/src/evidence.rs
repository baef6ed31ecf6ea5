//! The evidence table: a row a figure, a column a variant.

use crate::growth::{Line, least_squares};
use crate::number::{bytes, count, counted, median, memory, seconds, slope};
use crate::run::{Arm, Run, TableState, Variant};
use std::collections::{BTreeMap, BTreeSet};

/// The evidence table of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Names of the variants, with how many arms each has where that is more than one.
    pub columns: Vec<String>,
    /// The figures.
    pub rows: Vec<Row>,
}

/// A figure of each variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is, with its unit where the cells have none.
    pub name: String,
    /// A cell for each variant.
    pub cells: Vec<String>,
}

/// Tables of the platform, in the order in which a workflow writes them.
const TABLES: [&str; 6] = [
    "reports",
    "reports_curated",
    "reports_latest",
    "reports_report_patient_mapping",
    "reports_report_patient_mapping_history",
    "reports_dx",
];

/// A value of an arm, or why there is none.
type Figure = Result<f64, String>;

/// Makes the evidence table of a run.
#[must_use]
pub fn evidence(run: &Run) -> Evidence {
    let mut table = Table::new(run);
    table.durations();
    table.growth();
    table.files();
    table.resources();
    table.rows();
    Evidence {
        columns: run.variants.iter().map(column).collect(),
        rows: table.rows,
    }
}

fn column(variant: &Variant) -> String {
    match variant.arms.len() {
        0 | 1 => variant.name.clone(),
        arms => format!("{} (median of {arms}, min to max)", variant.name),
    }
}

struct Table<'a> {
    run: &'a Run,
    /// The last workflow that every arm has completed, with all before it.
    common: u32,
    rows: Vec<Row>,
}

impl<'a> Table<'a> {
    fn new(run: &'a Run) -> Self {
        let arms = run.variants.iter().flat_map(|variant| &variant.arms);
        Self {
            run,
            common: arms.map(Arm::completed_prefix).min().unwrap_or(0),
            rows: Vec::new(),
        }
    }

    fn row(
        &mut self,
        name: impl Into<String>,
        of: impl Fn(&Arm) -> Figure,
        show: impl Fn(f64) -> String,
    ) {
        let variants = self.run.variants.iter();
        self.rows.push(Row {
            name: name.into(),
            cells: variants.map(|variant| cell(variant, &of, &show)).collect(),
        });
    }

    fn durations(&mut self) {
        let last = self
            .run
            .variants
            .iter()
            .flat_map(|variant| &variant.arms)
            .map(Arm::completed_prefix)
            .max()
            .unwrap_or(0);
        // The first, the last two that all have, and the last of all.
        let chosen: BTreeSet<u32> = [1, self.common.saturating_sub(1), self.common, last]
            .into_iter()
            .filter(|&workflow| workflow > 0)
            .collect();
        for workflow in chosen {
            self.row(
                format!("workflow {workflow}, launch to close"),
                |arm| duration(arm, workflow),
                seconds,
            );
        }
        self.row("service of all completed workflows", total_service, seconds);
        self.row(
            "queueing and retries of all workflows",
            total_waiting,
            seconds,
        );
    }

    fn growth(&mut self) {
        let common = self.common;
        let window = format!("workflows 1 to {common}, least squares");
        let concurrent: BTreeSet<&str> = self.run.concurrent().collect();
        let in_order = |arm: &Arm| match concurrent.contains(arm.variant.as_str()) {
            true => Err("n/a (concurrent: workflows do not run in the order of their numbers)"),
            false => Ok(()),
        };
        let line = |arm: &Arm| {
            in_order(arm)?;
            service_line(arm, common)
        };
        let late = |arm: &Arm| {
            in_order(arm)?;
            late(arm)
        };
        self.row(
            format!("service at workflow 1 ({window})"),
            |arm| line(arm).map(|line| line.at_first),
            seconds,
        );
        self.row(
            format!("growth of service ({window})"),
            |arm| line(arm).map(|line| line.slope),
            slope,
        );
        self.row(
            "slowest service in the last third",
            |arm| late(arm).map(|late| late.1),
            seconds,
        );
        self.row(
            "fastest service in the last third",
            |arm| late(arm).map(|late| late.0),
            seconds,
        );
    }

    fn files(&mut self) {
        for table in TABLES {
            let known = |arm: &Arm| arm.tables.values().any(|tables| tables.contains_key(table));
            if !self
                .run
                .variants
                .iter()
                .flat_map(|one| &one.arms)
                .any(known)
            {
                continue;
            }
            let name = table.trim_start_matches("reports_");
            let name = name.trim_start_matches("report_patient_");
            let common = self.common;
            let further = |arm: &Arm| arm.completed_prefix() > common;
            let arms = || self.run.variants.iter().flat_map(|one| &one.arms);
            if common > 0 && arms().any(further) && self.run.concurrent().next().is_none() {
                self.row(
                    format!("{name}: live files after workflow {common}"),
                    |arm| after(arm, common, table),
                    count,
                );
            }
            self.row(
                format!("{name}: live files at the end"),
                |arm| at_end(arm, table, |state| state.live_files),
                count,
            );
            self.row(
                format!("{name}: live bytes at the end"),
                |arm| at_end(arm, table, |state| state.live_bytes),
                bytes,
            );
            self.row(
                format!("{name}: bytes on disk at the end"),
                |arm| at_end(arm, table, |state| state.disk_bytes),
                bytes,
            );
        }
        self.row(
            "write amplification (bytes on disk / live, all tables)",
            amplification,
            |times| format!("{times:.2}"),
        );
    }

    fn resources(&mut self) {
        self.row("most resident memory of a worker", peak, memory);
        self.row(
            "restarts of a worker",
            |arm| Ok(f64::from(arm.restarts)),
            count,
        );
        self.row("attempts that did not complete", failed_attempts, count);
        self.row(
            "median tasks per filter, median job",
            |_| Err("n/a (no event log)".to_owned()),
            count,
        );
    }

    fn rows(&mut self) {
        let workflows = |arm: &Arm| {
            let done = arm
                .workflows
                .values()
                .filter(|one| one.status == "completed");
            done.count() as f64
        };
        self.row("workflows completed", |arm| Ok(workflows(arm)), count);
        let variants = self.run.variants.iter();
        self.rows.push(Row {
            name: "rows in reports, verified".to_owned(),
            cells: variants.map(verified).collect(),
        });
    }
}

/// The median of a variant's arms with its range, or why there is none.
fn cell(variant: &Variant, of: &impl Fn(&Arm) -> Figure, show: &impl Fn(f64) -> String) -> String {
    let mut values = Vec::new();
    for arm in &variant.arms {
        match of(arm) {
            Ok(value) => values.push(value),
            Err(reason) => return reason,
        }
    }
    let least = values.iter().copied().reduce(f64::min);
    let most = values.iter().copied().reduce(f64::max);
    match (median(&values), least, most) {
        (Some(median), Some(least), Some(most)) if values.len() > 1 => {
            format!("{} ({} to {})", show(median), show(least), show(most))
        }
        (Some(value), ..) => show(value),
        _ => "n/a (the arm did not begin)".to_owned(),
    }
}

fn duration(arm: &Arm, workflow: u32) -> Figure {
    let cancelled = || {
        let last = arm.completed_prefix();
        if last == 0 {
            "n/a (no workflow completed)".to_owned()
        } else if last < workflow {
            format!("n/a (ended after workflow {last})")
        } else {
            "n/a (did not complete)".to_owned()
        }
    };
    arm.workflows
        .get(&workflow)
        .filter(|one| one.status == "completed")
        .and_then(|one| one.duration_s)
        .ok_or_else(cancelled)
}

fn total_service(arm: &Arm) -> Figure {
    let done = arm
        .workflows
        .values()
        .filter(|one| one.status == "completed");
    let times: Vec<f64> = done.filter_map(|one| one.service_s).collect();
    match times.as_slice() {
        [] => Err("n/a (no workflow completed)".to_owned()),
        times => Ok(times.iter().sum()),
    }
}

fn total_waiting(arm: &Arm) -> Figure {
    let of = |one: &crate::run::Workflow| one.queue_s.unwrap_or(0.0) + one.retry_s.unwrap_or(0.0);
    Ok(arm
        .workflows
        .values()
        .map(of)
        .fold(0.0, |sum, time| sum + time))
}

/// The line through the service times of the first workflows.
pub(crate) fn service_line(arm: &Arm, until: u32) -> Result<Line, String> {
    let points: Vec<(u32, f64)> = arm
        .workflows
        .range(..=until)
        .filter(|(_, one)| one.status == "completed")
        .filter_map(|(workflow, one)| Some((*workflow, one.service_s?)))
        .collect();
    least_squares(&points).ok_or_else(|| {
        let count = points.len();
        match count {
            0 => "n/a (no workflow completed)".to_owned(),
            _ => format!("n/a ({} make no line)", counted(count, "workflow")),
        }
    })
}

/// Least and most service time of the last third of the workflows.
fn late(arm: &Arm) -> Result<(f64, f64), String> {
    let last = arm.completed_prefix();
    if last < 6 {
        return Err(format!(
            "n/a ({} have no thirds)",
            counted(last, "workflow")
        ));
    }
    let from = last - last / 3 + 1;
    let times = arm.workflows.range(from..=last);
    let times: Vec<f64> = times.filter_map(|(_, one)| one.service_s).collect();
    let least = times.iter().copied().reduce(f64::min);
    let most = times.iter().copied().reduce(f64::max);
    least
        .zip(most)
        .ok_or_else(|| "n/a (no service times)".to_owned())
}

fn after(arm: &Arm, workflow: u32, table: &str) -> Figure {
    let tables = arm.tables.get(&workflow);
    let tables = tables.ok_or_else(|| "n/a (tables were not looked at)".to_owned())?;
    let state = tables.get(table);
    state
        .map(|state| state.live_files as f64)
        .ok_or_else(|| "n/a (no such table)".to_owned())
}

fn at_end(arm: &Arm, table: &str, of: impl Fn(&TableState) -> u64) -> Figure {
    let (_, tables) = arm
        .last_tables()
        .ok_or_else(|| "n/a (tables were not looked at)".to_owned())?;
    tables
        .get(table)
        .map(|state| of(state) as f64)
        .ok_or_else(|| "n/a (no such table)".to_owned())
}

fn amplification(arm: &Arm) -> Figure {
    let (_, tables) = arm
        .last_tables()
        .ok_or_else(|| "n/a (tables were not looked at)".to_owned())?;
    let sum = |tables: &BTreeMap<String, TableState>, of: fn(&TableState) -> u64| {
        tables.values().map(of).sum::<u64>() as f64
    };
    let live = sum(tables, |state| state.live_bytes);
    if live == 0.0 {
        return Err("n/a (no live bytes)".to_owned());
    }
    Ok(sum(tables, |state| state.disk_bytes) / live)
}

fn peak(arm: &Arm) -> Figure {
    let most = arm
        .attempts
        .iter()
        .filter_map(|one| one.peak_rss_bytes)
        .max();
    most.map(|bytes| bytes as f64)
        .ok_or_else(|| "n/a (not measured)".to_owned())
}

fn failed_attempts(arm: &Arm) -> Figure {
    let failed = arm.attempts.iter().filter(|one| one.outcome != "completed");
    Ok(failed.count() as f64)
}

fn verified(variant: &Variant) -> String {
    let cell = |arm: &Arm| {
        let rows = arm
            .last_tables()
            .and_then(|(_, tables)| tables.get("reports")?.rows)
            .map_or("rows not counted".to_owned(), |rows| count(rows as f64));
        match arm.verified {
            None => "n/a (rows were not verified)".to_owned(),
            Some((_, 0)) => rows,
            Some((_, failed)) => format!("**invalid**: {failed} checks failed"),
        }
    };
    let cells: BTreeSet<String> = variant.arms.iter().map(cell).collect();
    if cells.is_empty() {
        return "n/a (the arm did not begin)".to_owned();
    }
    cells.into_iter().collect::<Vec<_>>().join("; ")
}
