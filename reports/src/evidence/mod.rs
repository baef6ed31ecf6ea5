//! The evidence table: a row a figure, a column a variant.
//!
//! A figure is a query over the frames of all arms, so a row is the same sum for each of them. Where
//! an arm has no such figure, the cell says why.

mod durations;
mod resources;
mod tables;

pub(crate) use tables::{TABLES, short_name};

use crate::arms::{Arm, Arms, Figures};
use crate::error::ReportError;
use crate::number::{self, counted};
use crate::statistics::summary::summary;
use serde::Serialize;
use std::collections::BTreeSet;

/// The evidence table of some runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The variants.
    pub columns: Vec<Heading>,
    /// The figures.
    pub rows: Vec<Row>,
}

/// A variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heading {
    /// Its name, with its run's where there are several.
    pub name: String,
    /// Its arms.
    pub arms: usize,
}

/// A figure of each variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What it is, the same in every version: for programs.
    pub id: String,
    /// What it is, for people.
    pub name: String,
    /// What its figures count.
    pub unit: Unit,
    /// A cell for each variant.
    pub cells: Vec<Cell>,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Seconds that each further workflow takes longer.
    SecondsPerWorkflow,
    /// Bytes of storage.
    Bytes,
    /// Bytes of memory.
    Memory,
    /// A number of things.
    Count,
    /// How many times as much.
    Ratio,
}

/// A figure of a variant, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cell {
    /// A figure.
    Figure {
        /// The middle of its arms; the figure itself where there is one.
        median: f64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
        /// Arms that have it.
        arms: usize,
        /// Why the other arms of the variant have none.
        missing: Option<String>,
        /// After how many workflows it was taken, where an arm of another variant completed more: a total
        /// of 6 workflows beside one of 24 would be read as the smaller one.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// There is no figure.
    Missing {
        /// Why.
        reason: String,
    },
    /// A statement.
    Statement {
        /// Its words.
        text: String,
    },
}

impl Heading {
    /// As it stands above a column.
    #[must_use]
    pub fn show(&self) -> String {
        match self.arms {
            0 | 1 => self.name.clone(),
            arms => format!("{} (median of {arms}, min to max)", self.name),
        }
    }
}

impl Unit {
    /// A value with its unit.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Seconds => number::seconds(value),
            Self::SecondsPerWorkflow => number::slope(value),
            Self::Bytes => number::bytes(value),
            Self::Memory => number::memory(value),
            Self::Count => number::count(value),
            Self::Ratio => format!("{value:.2}"),
        }
    }
}

impl Cell {
    /// As people read it.
    #[must_use]
    pub fn show(&self, unit: Unit) -> String {
        match self {
            Self::Missing { reason } => format!("n/a ({reason})"),
            Self::Statement { text } => text.clone(),
            Self::Figure {
                median,
                min,
                max,
                arms,
                missing,
                after,
            } => {
                let mut text = unit.show(*median);
                if *arms > 1 {
                    text += &format!(" ({} to {})", unit.show(*min), unit.show(*max));
                }
                if let Some(after) = after {
                    text += &format!(" (after {after})");
                }
                if let Some(reason) = missing {
                    text += &format!(" of {}; others n/a ({reason})", counted(*arms, "arm"));
                }
                text
            }
        }
    }
}

/// Makes the evidence table of some runs.
pub(crate) fn evidence(arms: &Arms<'_>) -> Result<Evidence, ReportError> {
    let mut table = Table {
        arms,
        common: arms.common(),
        most: arms.arms.iter().map(|arm| arm.completed).max().unwrap_or(0),
        rows: Vec::new(),
    };
    table.durations()?;
    table.growth()?;
    table.files()?;
    table.resources()?;
    table.verified()?;
    Ok(Evidence {
        columns: (0..)
            .zip(&arms.columns)
            .map(|(at, column)| Heading {
                name: column.name.clone(),
                arms: arms.in_column(at).count(),
            })
            .collect(),
        rows: table.rows,
    })
}

/// A table in the making.
struct Table<'a, 'b> {
    arms: &'a Arms<'b>,
    /// The last workflow that every arm has completed with all before it.
    common: u32,
    /// The most workflows that an arm has completed.
    most: u32,
    rows: Vec<Row>,
}

/// What the figures of a row were taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Span {
    /// The same workflows of every arm.
    Same,
    /// All that an arm completed, which may be more in one than in another.
    Whole,
}

impl Table<'_, '_> {
    /// Adds a row of figures of whole arms; `missing` says why an arm has none.
    fn row(
        &mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        unit: Unit,
        figures: &Figures,
        missing: impl Fn(&Arm) -> String,
    ) {
        self.push(
            id.into(),
            name.into(),
            (unit, Span::Whole),
            figures,
            missing,
        );
    }

    /// Adds a row of figures of the same workflows of all arms.
    fn row_of_same(
        &mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        unit: Unit,
        figures: &Figures,
        missing: impl Fn(&Arm) -> String,
    ) {
        self.push(id.into(), name.into(), (unit, Span::Same), figures, missing);
    }

    fn push(
        &mut self,
        id: String,
        name: String,
        (unit, span): (Unit, Span),
        figures: &Figures,
        missing: impl Fn(&Arm) -> String,
    ) {
        let cells = (0..self.arms.columns.len())
            .map(|column| self.cell(column, span, figures, &missing))
            .collect();
        self.rows.push(Row {
            id,
            name,
            unit,
            cells,
        });
    }

    /// Adds a row where any arm has its figure: a table of which nobody told the size needs no row that
    /// says so for each.
    fn row_if_any(
        &mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        unit: Unit,
        figures: &Figures,
        missing: impl Fn(&Arm) -> String,
    ) {
        if !figures.is_empty() {
            self.row(id, name, unit, figures, missing);
        }
    }

    fn cell(
        &self,
        column: usize,
        span: Span,
        figures: &Figures,
        missing: &impl Fn(&Arm) -> String,
    ) -> Cell {
        let mut values = Vec::new();
        let mut completed = BTreeSet::new();
        let mut reason = None;
        for arm in self.arms.in_column(column) {
            match figures.get(&arm.key) {
                Some(value) => {
                    values.push(*value);
                    completed.insert(arm.completed);
                }
                None => reason = reason.or_else(|| Some(missing(arm))),
            }
        }
        let after = match (completed.first(), completed.last()) {
            (Some(&least), Some(_)) if span == Span::Same || least == self.most => None,
            (Some(&least), Some(&most)) if least == most => Some(counted(least, "workflow")),
            (Some(least), Some(most)) => Some(format!("{least} to {most} workflows")),
            _ => None,
        };
        match summary(&values) {
            Ok(summary) => Cell::Figure {
                median: summary.median(),
                min: summary.min,
                max: summary.max,
                arms: values.len(),
                missing: reason,
                after,
            },
            Err(_) => Cell::Missing {
                reason: reason.unwrap_or_else(|| "the arm did not begin".to_owned()),
            },
        }
    }
}
