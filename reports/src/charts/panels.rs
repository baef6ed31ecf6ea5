//! Charts along the workflows, and the making of lines from points.

use super::thin::thin;
use super::{Along, MOST_POINTS, Panel, Series, View};
use crate::arms::{Arm, Arms, Points};
use crate::error::ReportError;
use crate::evidence::Unit;
use polars::prelude::col;

/// Time of each workflow that completed: in the engine, and from launch to close.
pub(super) fn durations(arms: &Arms<'_>) -> Result<Vec<Panel>, ReportError> {
    let quantities = [
        ("service", "Service", "service_s"),
        ("duration", "Launch to close", "duration_s"),
    ];
    let panels = quantities.map(|(id, title, column)| {
        let points = arms.points(arms.completed(), col(column))?;
        let view = view(arms, title, Unit::Seconds, &points, |arm| {
            match arm.completed {
                0 => "no workflow completed",
                _ => "not recorded",
            }
        });
        Ok(Panel {
            id: id.to_owned(),
            title: title.to_owned(),
            along: Along::Workflow,
            views: vec![view],
        })
    });
    panels.into_iter().collect()
}

/// A quantity that each arm has along its workflows.
pub(super) fn view(
    arms: &Arms<'_>,
    name: &str,
    unit: Unit,
    points: &Points,
    missing: impl Fn(&Arm) -> &'static str,
) -> View {
    let mut view = View {
        name: name.to_owned(),
        unit,
        series: Vec::new(),
        limits: Vec::new(),
        missing: Vec::new(),
    };
    for (at, arm) in arms.arms.iter().enumerate() {
        let name = arms.name(arm);
        match points.get(&arm.key).filter(|points| !points.is_empty()) {
            Some(points) => {
                let measured = points.len();
                let points: Vec<(f64, f64)> = points
                    .iter()
                    .map(|(workflow, value)| (f64::from(*workflow), *value))
                    .collect();
                view.series.push(Series {
                    arm: at,
                    name,
                    // Workflows that run beside each other have no order from which a line follows.
                    joined: !arms.concurrent(arm),
                    points: joined(&thin(&points, MOST_POINTS)),
                    measured,
                });
            }
            None => view.missing.push(format!("{name}: n/a ({})", missing(arm))),
        }
    }
    view
}

/// Points of a line without a gap.
pub(super) fn joined(points: &[(f64, f64)]) -> Vec<(f64, Option<f64>)> {
    points.iter().map(|(x, y)| (*x, Some(*y))).collect()
}
