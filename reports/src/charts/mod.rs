//! What the charts of `report.html` show: frames made into plain points and spans.
//!
//! Everything that is drawn is decided here, so that the page's script only draws, and so that the
//! table and the sentence beside a chart say what the chart shows. What is left out for length is
//! left out here (`thin`), and said. Colours, axes and texts of the page are not made here.

mod memory;
mod panels;
mod tables;
mod thin;
mod timeline;
mod workflows;

pub use timeline::{Kind, Lane, Span, Timeline};
pub use workflows::Workflow;

use crate::arms::Arms;
use crate::error::ReportError;
use crate::evidence::Unit;
use crate::run::Run;
use serde::Serialize;

/// Points that a line has at most.
pub const MOST_POINTS: usize = 1_000;

/// What the charts of some runs show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Charts {
    /// The arms; everything else names them by their place here.
    pub arms: Vec<Strand>,
    /// Time of each workflow.
    pub durations: Vec<Panel>,
    /// Files and bytes after each workflow: all tables together, then each.
    pub tables: Vec<Panel>,
    /// Memory of the workers.
    pub memory: Vec<Panel>,
    /// What went on when, arm by arm, for the arms of which that is known.
    pub timelines: Vec<Timeline>,
    /// Every workflow, arm by arm.
    #[serde(skip)]
    pub workflows: Vec<Vec<Workflow>>,
}

/// An arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Strand {
    /// Its name.
    pub name: String,
    /// Its column in the evidence table.
    pub column: u32,
    /// The number of its repeat, from 1.
    pub repeat: i64,
}

/// A chart of lines, in one or several quantities of which one is shown at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// What it is, the same in every version.
    pub id: String,
    /// What it is, for people.
    pub title: String,
    /// What is along it.
    pub along: Along,
    /// Its quantities.
    pub views: Vec<View>,
}

/// What a chart's horizontal axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Numbers of workflows.
    Workflow,
    /// Seconds of the arm's clock.
    Time,
}

/// A quantity of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its lines.
    pub series: Vec<Series>,
    /// Levels that must not be passed.
    pub limits: Vec<Limit>,
    /// The arms that have no line, and why.
    pub missing: Vec<String>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Its arm.
    pub arm: usize,
    /// Its name.
    pub name: String,
    /// Whether a point follows from the one before, so that a line joins them.
    pub joined: bool,
    /// Its points; one without a value parts the line.
    pub points: Vec<(f64, Option<f64>)>,
    /// How many points there were before some were left out.
    pub measured: usize,
}

/// A level that must not be passed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// The column whose level it is.
    pub column: u32,
    /// Its name.
    pub name: String,
    /// The level, in the unit of its quantity.
    pub value: f64,
}

/// Makes the charts of some runs.
///
/// # Errors
/// [`ReportError::Query`], which is a fault of this crate.
pub fn charts(runs: &[Run]) -> Result<Charts, ReportError> {
    let arms = Arms::of(runs)?;
    let mut strands = Vec::new();
    for arm in &arms.arms {
        strands.push(Strand {
            name: arms.name(arm),
            column: arm.key.0,
            repeat: arm.key.1,
        });
    }
    Ok(Charts {
        durations: panels::durations(&arms)?,
        tables: tables::tables(&arms)?,
        memory: memory::memory(&arms)?,
        timelines: timeline::timelines(&arms)?,
        workflows: workflows::workflows(&arms)?,
        arms: strands,
    })
}

impl Panel {
    /// Whether there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.views.iter().all(|view| view.series.is_empty())
    }
}

impl View {
    /// Lines of which points were left out.
    pub fn thinned(&self) -> impl Iterator<Item = &Series> {
        let shown = |one: &&Series| one.points.iter().filter(|point| point.1.is_some()).count();
        self.series
            .iter()
            .filter(move |one| shown(one) < one.measured)
    }
}

impl Series {
    /// The least, the greatest and the last value.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64, f64)> {
        let values = || self.points.iter().filter_map(|point| point.1);
        let min = values().reduce(f64::min)?;
        let max = values().reduce(f64::max)?;
        Some((min, max, values().next_back()?))
    }
}
