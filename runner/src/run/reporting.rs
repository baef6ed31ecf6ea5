//! The reports of a run directory, made of nothing but what stands in it.

use super::error::RunError;
use super::folder::{Folder, REPORT_FILE};
use bench_reports::{Run, json, markdown, report};

/// Writes the reports of a run directory anew.
pub(super) fn write_reports(folder: &Folder) -> Result<(), RunError> {
    let report = report(&[Run::read(&folder.path)?])?;
    folder.write_file(REPORT_FILE, markdown(&report).as_bytes())?;
    folder.write_file("report.json", json(&report).as_bytes())
}
