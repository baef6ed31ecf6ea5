//! The reports of a run directory, made of nothing but what stands in it.

use super::error::RunError;
use super::folder::{Folder, REPORT_FILE};
use bench_reports::{Run, charts, html, json, markdown, report};

/// Writes the reports of a run directory anew.
pub(super) fn write_reports(folder: &Folder) -> Result<(), RunError> {
    let runs = [Run::read(&folder.path)?];
    let report = report(&runs)?;
    folder.write_file(REPORT_FILE, markdown(&report).as_bytes())?;
    let page = html(&report, &charts(&runs)?);
    folder.write_file("report.html", page.as_bytes())?;
    folder.write_file("report.json", json(&report).as_bytes())
}
