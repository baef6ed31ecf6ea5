//! A report: everything that is said of some runs, before it takes a form.

use crate::arms::Arms;
use crate::differences::differences;
use crate::error::ReportError;
use crate::evidence::{Evidence, evidence};
use crate::growth::{Growth, growth};
use crate::limits::limits;
use crate::overview::{Overview, overview};
use crate::run::Run;
use serde::Serialize;

/// The form of `report.json`.
const FORMAT: u32 = 1;

/// What is said of some runs. The same runs give the same report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The version of this form.
    pub format: u32,
    /// The runs.
    pub runs: Vec<Overview>,
    /// Their figures.
    pub evidence: Evidence,
    /// How service grows, arm by arm.
    pub growth: Vec<Growth>,
    /// What differs between the columns, in a line each.
    pub differences: Vec<String>,
    /// What cannot be concluded, in a sentence each.
    pub limits: Vec<String>,
}

/// Makes the report of some runs, with a column for each of their variants.
///
/// # Errors
/// [`ReportError::Query`], which is a fault of this crate.
pub fn report(runs: &[Run]) -> Result<Report, ReportError> {
    let arms = Arms::of(runs)?;
    Ok(Report {
        format: FORMAT,
        runs: (0..runs.len()).map(|run| overview(&arms, run)).collect(),
        evidence: evidence(&arms)?,
        growth: growth(&arms)?,
        differences: differences(&arms),
        limits: limits(&arms)?,
    })
}
