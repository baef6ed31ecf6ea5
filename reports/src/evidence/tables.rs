//! Rows of the evidence table on what stands on disk.

use super::{Table, Unit};
use crate::arms::{Arm, is};
use crate::error::ReportError;
use polars::prelude::{col, lit};
use std::collections::BTreeSet;

/// Tables of the platform, in the order in which a workflow writes them.
pub(crate) const TABLES: [&str; 6] = [
    "reports",
    "reports_curated",
    "reports_latest",
    "reports_report_patient_mapping",
    "reports_report_patient_mapping_history",
    "reports_dx",
];

/// What people call a table.
pub(crate) fn short_name(table: &str) -> &str {
    let name = table.trim_start_matches("reports_");
    name.trim_start_matches("report_patient_")
}

impl Table<'_, '_> {
    pub(super) fn files(&mut self) -> Result<(), ReportError> {
        let arms = self.arms;
        let common = self.common;
        let looked_at = arms.looked_at()?;
        let not_there = |arm: &Arm| match looked_at.contains(&arm.key) {
            true => "no such table, or not reported".to_owned(),
            false => "tables were not looked at".to_owned(),
        };
        let further = arms.arms.iter().any(|arm| arm.prefix > common);
        let in_order = !arms.arms.iter().any(|arm| arms.concurrent(arm));
        let known: BTreeSet<String> = arms.table_names()?;
        let mut tables: Vec<&str> = TABLES.to_vec();
        tables.extend(
            known
                .iter()
                .map(String::as_str)
                .filter(|one| !TABLES.contains(one)),
        );
        for table in tables.into_iter().filter(|table| known.contains(*table)) {
            let name = short_name(table);
            let of_table = is("table", table);
            if common > 0 && further && in_order {
                let after = arms
                    .tables()
                    .filter(of_table.clone().and(col("workflow").eq(lit(common))));
                let figures = arms.figures(after, col("live_files").max())?;
                if !figures.is_empty() {
                    self.row_of_same(
                        format!("{name}_live_files_common"),
                        format!("{name}: live files after workflow {common}"),
                        Unit::Count,
                        &figures,
                        not_there,
                    );
                }
            }
            for (id, what, column, unit) in [
                ("live_files", "live files", "live_files", Unit::Count),
                ("live_bytes", "live bytes", "live_bytes", Unit::Bytes),
                ("disk_bytes", "bytes on disk", "disk_bytes", Unit::Bytes),
            ] {
                let rows = arms.last_tables().filter(of_table.clone());
                let figures = arms.figures(rows, col(column).max())?;
                self.row_if_any(
                    format!("{name}_{id}"),
                    format!("{name}: {what} at the end"),
                    unit,
                    &figures,
                    not_there,
                );
            }
        }
        let sized = arms.last_tables().filter(
            col("live_bytes")
                .gt(lit(0))
                .and(col("disk_bytes").is_not_null()),
        );
        let figures = arms.figures(
            sized,
            col("disk_bytes")
                .sum()
                .cast(polars::prelude::DataType::Float64)
                / col("live_bytes")
                    .sum()
                    .cast(polars::prelude::DataType::Float64),
        )?;
        self.row(
            "write_amplification",
            "write amplification (bytes on disk / live, all tables)",
            Unit::Ratio,
            &figures,
            not_there,
        );
        Ok(())
    }
}
