//! CSV files of a run directory as frames.
//!
//! A file is read by the columns that this version knows: one that an older run has not is a column
//! of nulls, one that a newer run has besides is left. A cell that is not of its column's kind is an
//! error with its line, never a null.

use crate::error::ReportError;
use polars::prelude::{Column, DataFrame};
use std::path::Path;

/// What the cells of a column are. An empty cell is null in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A whole number: `Int64`.
    Count,
    /// `Float64`.
    Number,
    /// `true` or `false`.
    Flag,
}

/// A file: its name, and its columns by name and kind.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, Kind)],
}

use Kind::{Count, Flag, Number, Text};

pub(super) const WORKFLOWS: Form = Form {
    name: "workflows.csv",
    columns: &[
        ("variant", Text),
        ("repeat", Count),
        ("workflow", Count),
        ("status", Text),
        ("launched_s", Number),
        ("started_s", Number),
        ("closed_s", Number),
        ("duration_s", Number),
        ("queue_s", Number),
        ("retry_s", Number),
        ("service_s", Number),
        ("attempts", Count),
        ("resumed", Flag),
        ("logs", Count),
        ("messages", Count),
        ("rows", Count),
        ("reason", Text),
    ],
};

pub(super) const ATTEMPTS: Form = Form {
    name: "attempts.csv",
    columns: &[
        ("variant", Text),
        ("repeat", Count),
        ("workflow", Count),
        ("attempt", Count),
        ("worker", Count),
        ("incarnation", Count),
        ("started_s", Number),
        ("ended_s", Number),
        ("outcome", Text),
        ("cause", Text),
        ("peak_rss_bytes", Count),
        ("cpu_s", Number),
        ("injected", Text),
    ],
};

pub(super) const STAGES: Form = Form {
    name: "stages.csv",
    columns: &[
        ("variant", Text),
        ("repeat", Count),
        ("workflow", Count),
        ("attempt", Count),
        ("stage", Text),
        ("table", Text),
        ("seconds", Number),
        ("rows", Count),
        ("bytes", Count),
        ("files", Count),
        ("version", Count),
    ],
};

pub(super) const TABLES: Form = Form {
    name: "tables.csv",
    columns: &[
        ("variant", Text),
        ("repeat", Count),
        ("workflow", Count),
        ("table", Text),
        ("version", Count),
        ("rows", Count),
        ("live_files", Count),
        ("live_bytes", Count),
        ("file_p50_bytes", Count),
        ("file_max_bytes", Count),
        ("disk_files", Count),
        ("disk_bytes", Count),
        ("log_entries", Count),
        ("checkpoints", Count),
    ],
};

pub(super) const WORKERS: Form = Form {
    name: "workers.csv",
    columns: &[
        ("variant", Text),
        ("repeat", Count),
        ("worker", Count),
        ("incarnation", Count),
        ("started_s", Number),
        ("ready_s", Number),
        ("ended_s", Number),
        ("cause", Text),
        ("exit_code", Count),
        ("oom_kills", Count),
        ("peak_rss_bytes", Count),
    ],
};

pub(super) const SAMPLES: Form = Form {
    name: "samples.csv",
    columns: &[
        ("variant", Text),
        ("repeat", Count),
        ("worker", Count),
        ("incarnation", Count),
        ("t_s", Number),
        ("rss_bytes", Count),
        ("cpu_s", Number),
        ("read_bytes", Count),
        ("write_bytes", Count),
    ],
};

pub(super) const SPARK: Form = Form {
    name: "spark.csv",
    columns: &[
        ("variant", Text),
        ("repeat", Count),
        ("workflow", Text),
        ("attempt", Text),
        ("stage", Text),
        ("complete", Flag),
        ("jobs", Count),
        ("job_p50_s", Number),
        ("tasks", Count),
        ("tasks_failed", Count),
        ("task_p50_s", Number),
        ("task_max_s", Number),
        ("tasks_per_filter_p50", Number),
        ("task_run_s", Number),
        ("gc_s", Number),
        ("shuffle_written_bytes", Count),
        ("spilled_disk_bytes", Count),
        ("files_read", Count),
        ("files_written", Count),
    ],
};

/// The cells of one column.
enum Cells {
    Text(Vec<Option<String>>),
    Count(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
}

impl Cells {
    fn of(kind: Kind) -> Self {
        match kind {
            Text => Self::Text(Vec::new()),
            Count => Self::Count(Vec::new()),
            Number => Self::Number(Vec::new()),
            Flag => Self::Flag(Vec::new()),
        }
    }

    /// Takes a cell, or hands back what it should have been.
    fn push(&mut self, cell: &str) -> Result<(), &'static str> {
        let empty = cell.is_empty();
        match self {
            Self::Text(cells) => cells.push((!empty).then(|| cell.to_owned())),
            Self::Count(cells) if empty => cells.push(None),
            Self::Count(cells) => cells.push(Some(cell.parse().map_err(|_| "a whole number")?)),
            Self::Number(cells) if empty => cells.push(None),
            Self::Number(cells) => {
                let number: f64 = cell.parse().map_err(|_| "a number")?;
                if !number.is_finite() {
                    return Err("a finite number");
                }
                cells.push(Some(number));
            }
            Self::Flag(cells) if empty => cells.push(None),
            Self::Flag(cells) => {
                cells.push(Some(cell.parse().map_err(|_| "`true` or `false`")?));
            }
        }
        Ok(())
    }

    fn column(self, name: &str) -> Column {
        match self {
            Self::Text(cells) => Column::new(name.into(), cells),
            Self::Count(cells) => Column::new(name.into(), cells),
            Self::Number(cells) => Column::new(name.into(), cells),
            Self::Flag(cells) => Column::new(name.into(), cells),
        }
    }
}

/// Reads a file of a run directory. A file that is not there is an empty frame: a run that was
/// imported has only what somebody wrote down.
pub(super) fn read(folder: &Path, form: &Form) -> Result<DataFrame, ReportError> {
    let path = folder.join(form.name);
    let mut columns: Vec<Cells> = form.columns.iter().map(|one| Cells::of(one.1)).collect();
    if path.exists() {
        let wrong = |error: csv::Error| ReportError::file(&path, error);
        let mut reader = csv::Reader::from_path(&path).map_err(wrong)?;
        let header = reader.headers().map_err(wrong)?.clone();
        let places: Vec<Option<usize>> = form
            .columns
            .iter()
            .map(|(name, _)| header.iter().position(|one| one == *name))
            .collect();
        if let Some((name, _)) = form.columns.iter().zip(&places).find_map(|(column, at)| {
            let key = ["variant", "repeat"].contains(&column.0);
            (key && at.is_none()).then_some(*column)
        }) {
            return Err(ReportError::file(
                &path,
                format!("it has no column `{name}`"),
            ));
        }
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(wrong)? {
            for ((cells, place), (name, _)) in columns.iter_mut().zip(&places).zip(form.columns) {
                let cell = place.and_then(|at| record.get(at)).unwrap_or("");
                cells.push(cell).map_err(|allowed| {
                    let line = record.position().map_or(0, csv::Position::line);
                    ReportError::file(
                        &path,
                        format!("line {line}, column `{name}`: the cell must be {allowed}"),
                    )
                })?;
            }
        }
    }
    let columns: Vec<Column> = columns
        .into_iter()
        .zip(form.columns)
        .map(|(cells, (name, _))| cells.column(name))
        .collect();
    Ok(DataFrame::new_infer_height(columns)?)
}
