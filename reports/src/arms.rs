//! The arms of some runs, side by side: what every table of a report is computed on.
//!
//! A *column* is a variant of a run. The frames of all runs are put together with the number of
//! their column, so that a figure is one query for all arms, however many runs, variants and repeats
//! there are.

use crate::error::ReportError;
use crate::run::{Facts, Run, Verified};
use polars::prelude::{
    DataFrame, DataType, Expr, IntoLazy, JoinArgs, JoinType, LazyFrame, SortMultipleOptions,
    UnionArgs, coalesce, col, concat, lit, when,
};
use std::collections::{BTreeMap, BTreeSet};

/// An arm: the number of its column, and of its repeat.
pub(crate) type Key = (u32, i64);

/// A value of each arm that has one.
pub(crate) type Figures = BTreeMap<Key, f64>;

/// Points of each arm: workflow and value, by the workflow's number.
pub(crate) type Points = BTreeMap<Key, Vec<(u32, f64)>>;

/// A variant of a run.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// The place of its run among the runs.
    pub(crate) run: usize,
    /// Its name in its run.
    pub(crate) variant: String,
    /// Its name in the report: with its run's, where there are several runs.
    pub(crate) name: String,
    /// What its run's scenario says of it.
    pub(crate) facts: Facts,
}

/// What is known of an arm as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) key: Key,
    /// Workflows that it would have if nothing ended it.
    pub(crate) planned: Option<u32>,
    /// The last workflow that completed with all before it.
    pub(crate) prefix: u32,
    /// Workflows that completed.
    pub(crate) completed: u32,
    /// The workflow that failed first, with its reason; and how many failed.
    pub(crate) failed: Option<(u32, String)>,
    pub(crate) failed_count: u32,
    pub(crate) verified: Option<Verified>,
}

pub(crate) struct Arms<'a> {
    pub(crate) runs: &'a [Run],
    pub(crate) columns: Vec<Column>,
    /// By key.
    pub(crate) arms: Vec<Arm>,
    workflows: DataFrame,
    attempts: DataFrame,
    stages: DataFrame,
    tables: DataFrame,
    workers: DataFrame,
    spark: DataFrame,
    samples: DataFrame,
}

impl<'a> Arms<'a> {
    pub(crate) fn of(runs: &'a [Run]) -> Result<Self, ReportError> {
        let columns = columns(runs);
        let together = |of: fn(&Run) -> &DataFrame| together(runs, &columns, of);
        let mut arms = Self {
            workflows: together(|run| &run.frames.workflows)?,
            attempts: together(|run| &run.frames.attempts)?,
            stages: together(|run| &run.frames.stages)?,
            tables: together(|run| &run.frames.tables)?,
            workers: together(|run| &run.frames.workers)?,
            spark: together(|run| &run.frames.spark)?,
            samples: together(|run| &run.frames.samples)?,
            runs,
            columns,
            arms: Vec::new(),
        };
        arms.arms = arms.facts()?;
        Ok(arms)
    }

    pub(crate) fn workflows(&self) -> LazyFrame {
        self.workflows.clone().lazy()
    }

    pub(crate) fn completed(&self) -> LazyFrame {
        self.workflows().filter(is("status", "completed"))
    }

    pub(crate) fn attempts(&self) -> LazyFrame {
        self.attempts.clone().lazy()
    }

    pub(crate) fn stages(&self) -> LazyFrame {
        self.stages.clone().lazy()
    }

    pub(crate) fn tables(&self) -> LazyFrame {
        self.tables.clone().lazy()
    }

    pub(crate) fn workers(&self) -> LazyFrame {
        self.workers.clone().lazy()
    }

    /// What Spark's event logs say of all jobs of an arm's workflows together.
    pub(crate) fn spark(&self) -> LazyFrame {
        self.spark.clone().lazy().filter(is("stage", "(all)"))
    }

    pub(crate) fn samples(&self) -> LazyFrame {
        self.samples.clone().lazy()
    }

    /// The arms of a column.
    pub(crate) fn in_column(&self, column: usize) -> impl Iterator<Item = &Arm> {
        self.arms
            .iter()
            .filter(move |arm| arm.key.0 as usize == column)
    }

    /// The column of an arm.
    pub(crate) fn column(&self, arm: &Arm) -> &Column {
        &self.columns[arm.key.0 as usize]
    }

    /// Whether the arm's workflows are launched without waiting for one another.
    pub(crate) fn concurrent(&self, arm: &Arm) -> bool {
        // `"sequential"`, or `concurrent` with how it launches.
        let mode = self.column(arm).facts.at("sequence.mode");
        mode.is_some_and(|mode| mode.as_str() != Some("sequential"))
    }

    /// The name of an arm in a sentence.
    pub(crate) fn name(&self, arm: &Arm) -> String {
        let name = &self.column(arm).name;
        match self.in_column(arm.key.0 as usize).count() {
            1 => name.clone(),
            _ => format!("{name} (repeat {})", arm.key.1),
        }
    }

    /// The last workflow that every arm has completed with all before it.
    pub(crate) fn common(&self) -> u32 {
        self.arms.iter().map(|arm| arm.prefix).min().unwrap_or(0)
    }

    /// A value of each arm: an aggregate over the rows that a frame has of it.
    pub(crate) fn figures(&self, rows: LazyFrame, value: Expr) -> Result<Figures, ReportError> {
        let rows = rows
            .group_by([col("column"), col("repeat")])
            .agg([number(value)])
            .collect()?;
        let mut figures = Figures::new();
        for at in 0..rows.height() {
            if let (Some(key), Some(value)) =
                (key(&rows, at)?, rows.column("value")?.f64()?.get(at))
            {
                figures.insert(key, value);
            }
        }
        Ok(figures)
    }

    /// A value of each arm's workflow.
    pub(crate) fn points(&self, rows: LazyFrame, value: Expr) -> Result<Points, ReportError> {
        let rows = rows
            .select([col("column"), col("repeat"), col("workflow"), number(value)])
            .sort(
                ["column", "repeat", "workflow"],
                SortMultipleOptions::default(),
            )
            .collect()?;
        let mut points = Points::new();
        let workflows = rows.column("workflow")?.i64()?;
        let values = rows.column("value")?.f64()?;
        for at in 0..rows.height() {
            let workflow = workflows.get(at).and_then(|one| u32::try_from(one).ok());
            if let (Some(key), Some(workflow), Some(value)) =
                (key(&rows, at)?, workflow, values.get(at))
            {
                points.entry(key).or_default().push((workflow, value));
            }
        }
        Ok(points)
    }

    /// Time in the engine of each completed workflow, in seconds: the service, or where only the time
    /// from launch to close was reported, that.
    pub(crate) fn service(&self) -> Result<Points, ReportError> {
        let service = coalesce(&[col("service_s"), col("duration_s")]);
        self.points(self.completed(), service)
    }

    /// The tables as they were looked at last. The last look is after the workflow that closed last,
    /// which need not have the greatest number: it is the one with the most rows in `reports`.
    pub(crate) fn last_tables(&self) -> LazyFrame {
        let arm = ["column", "repeat"].map(col);
        let reports = when(is("table", "reports"))
            .then(col("rows"))
            .otherwise(lit(0));
        let last = self
            .tables()
            .group_by([col("column"), col("repeat"), col("workflow")])
            .agg([reports.fill_null(lit(0)).max().alias("reports_rows")])
            .sort(["reports_rows", "workflow"], SortMultipleOptions::default())
            .group_by(arm)
            .agg([col("workflow").last()]);
        let keys = ["column", "repeat", "workflow"].map(col);
        self.tables()
            .join(last, &keys, &keys, JoinArgs::new(JoinType::Inner))
    }

    /// The arms whose tables were looked at.
    pub(crate) fn looked_at(&self) -> Result<BTreeSet<Key>, ReportError> {
        let mut keys = BTreeSet::new();
        for at in 0..self.tables.height() {
            keys.extend(key(&self.tables, at)?);
        }
        Ok(keys)
    }

    /// Names of all tables that were looked at.
    pub(crate) fn table_names(&self) -> Result<BTreeSet<String>, ReportError> {
        let names = self.tables.column("table")?.str()?;
        Ok(names.iter().flatten().map(str::to_owned).collect())
    }

    fn facts(&self) -> Result<Vec<Arm>, ReportError> {
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        for frame in [&self.workflows, &self.tables, &self.workers] {
            for at in 0..frame.height() {
                keys.extend(key(frame, at)?);
            }
        }
        let completed = self.points(self.completed(), lit(1.0))?;
        let failed = self.failed()?;
        let none = Vec::new();
        Ok(keys
            .into_iter()
            .map(|key| {
                let column = &self.columns[key.0 as usize];
                let run = &self.runs[column.run];
                let done = completed.get(&key).unwrap_or(&none);
                let failed = failed.get(&key).map(Vec::as_slice).unwrap_or_default();
                Arm {
                    key,
                    planned: planned(&run.facts, &column.facts),
                    prefix: prefix(done),
                    completed: count(done.len()),
                    failed: failed.first().cloned(),
                    failed_count: count(failed.len()),
                    verified: run
                        .verified
                        .iter()
                        .find(|one| one.variant == column.variant && one.repeat == key.1)
                        .cloned(),
                }
            })
            .collect())
    }

    /// The workflows of each arm that failed, in order, with what was told of it.
    fn failed(&self) -> Result<BTreeMap<Key, Vec<(u32, String)>>, ReportError> {
        let rows = self
            .workflows()
            .filter(is("status", "failed"))
            .sort(["workflow"], SortMultipleOptions::default())
            .collect()?;
        let mut failed: BTreeMap<Key, Vec<(u32, String)>> = BTreeMap::new();
        let workflows = rows.column("workflow")?.i64()?;
        let reasons = rows.column("reason")?.str()?;
        for at in 0..rows.height() {
            let workflow = workflows.get(at).and_then(|one| u32::try_from(one).ok());
            if let (Some(key), Some(workflow)) = (key(&rows, at)?, workflow) {
                let reason = reasons.get(at).unwrap_or("no reason was told").to_owned();
                failed.entry(key).or_default().push((workflow, reason));
            }
        }
        Ok(failed)
    }
}

/// A condition: a column of text has that value.
pub(crate) fn is(column: &str, value: &str) -> Expr {
    col(column).eq(lit(value))
}

fn number(value: Expr) -> Expr {
    value.cast(DataType::Float64).alias("value")
}

pub(crate) fn key(rows: &DataFrame, at: usize) -> Result<Option<Key>, ReportError> {
    let column = rows.column("column")?.u32()?.get(at);
    let repeat = rows.column("repeat")?.i64()?.get(at);
    Ok(column.zip(repeat))
}

fn columns(runs: &[Run]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        for facts in run.facts.variants() {
            let variant = facts.text("name").unwrap_or_default().to_owned();
            let name = match runs.len() {
                1 => variant.clone(),
                _ => format!("{}:{variant}", run.label),
            };
            columns.push(Column {
                run: at,
                variant,
                name,
                facts,
            });
        }
    }
    columns
}

/// The frames of all runs as one, with the number of the column that a row belongs to.
fn together(
    runs: &[Run],
    columns: &[Column],
    of: fn(&Run) -> &DataFrame,
) -> Result<DataFrame, ReportError> {
    let parts: Vec<LazyFrame> = (0_u32..)
        .zip(columns)
        .map(|(number, column)| {
            of(&runs[column.run])
                .clone()
                .lazy()
                .filter(is("variant", &column.variant))
                .with_column(place(number))
        })
        .collect();
    if parts.is_empty() {
        let none = runs.first().map(|run| of(run).clone()).unwrap_or_default();
        return Ok(none.lazy().with_column(place(0)).collect()?);
    }
    Ok(concat(&parts, UnionArgs::default())?.collect()?)
}

/// The number of a column, as a column of a frame: a literal by itself takes whatever type fits.
fn place(number: u32) -> Expr {
    lit(number).cast(DataType::UInt32).alias("column")
}

/// Workflows that an arm of a variant would have if nothing ended it.
fn planned(run: &Facts, variant: &Facts) -> Option<u32> {
    let whole = |facts: &Facts, path: &str| facts.at(path)?.as_u64();
    if let Some(workflows) = whole(variant, "sequence.workflows") {
        return u32::try_from(workflows).ok();
    }
    let size = whole(variant, "sequence.files_per_workflow")?.max(1);
    let passes = whole(variant, "sequence.passes").unwrap_or(1);
    let logs = whole(run, "dataset.log_files")?;
    u32::try_from(logs.div_ceil(size) * passes).ok()
}

fn prefix(completed: &[(u32, f64)]) -> u32 {
    let run = (1_u32..).zip(completed);
    count(
        run.take_while(|(expected, (workflow, _))| expected == workflow)
            .count(),
    )
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
