//! Charts of the tables: live files, live bytes and bytes on disk after each workflow.

use super::panels::view;
use super::{Along, Panel};
use crate::arms::{Arms, Points, is};
use crate::error::ReportError;
use crate::evidence::Unit;
use polars::prelude::{LazyFrame, col};

const QUANTITIES: [(&str, &str, Unit); 3] = [
    ("live files", "live_files", Unit::Count),
    ("live bytes", "live_bytes", Unit::Bytes),
    ("bytes on disk", "disk_bytes", Unit::Bytes),
];

pub(super) fn tables(arms: &Arms<'_>) -> Result<Vec<Panel>, ReportError> {
    let names = arms.table_names()?;
    let mut panels = Vec::new();
    if names.len() > 1 {
        panels.push(panel(arms, "tables", "All tables", &arms.tables(), true)?);
    }
    for name in &names {
        let rows = arms.tables().filter(is("table", name));
        panels.push(panel(arms, &format!("table-{name}"), name, &rows, false)?);
    }
    Ok(panels)
}

fn panel(
    arms: &Arms<'_>,
    id: &str,
    title: &str,
    rows: &LazyFrame,
    is_sum: bool,
) -> Result<Panel, ReportError> {
    let mut views = Vec::new();
    for (name, column, unit) in QUANTITIES {
        let known = rows.clone().filter(col(column).is_not_null());
        let summed = known
            .group_by([col("column"), col("repeat"), col("workflow")])
            .agg([col(column).sum()]);
        let mut points: Points = arms.points(summed, col(column))?;
        if is_sum {
            // Of an imported run some tables are known and others not: they have no sum.
            points.retain(|key, _| {
                let arm = arms.arms.iter().find(|arm| arm.key == *key);
                arm.is_some_and(|arm| !arms.runs[arms.column(arm).run].facts.imported())
            });
        }
        views.push(view(arms, name, unit, &points, |arm| {
            let imported = arms.runs[arms.column(arm).run].facts.imported();
            match (arm.completed, is_sum && imported) {
                (0, _) => "no workflow completed",
                (_, true) => "imported: not every table is known",
                _ => "not recorded",
            }
        }));
    }
    Ok(Panel {
        id: id.to_owned(),
        title: title.to_owned(),
        along: Along::Workflow,
        views,
    })
}
