//! `bench report`

use crate::cli::{ReportArguments, ReportFormat};
use crate::error::Error;
use crate::exit::Exit;
use bench_reports::{Run, charts, csv, html, json, markdown, report};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(arguments: &ReportArguments, out: &mut dyn Write) -> Result<Exit, Error> {
    let format = match (arguments.format, &arguments.out) {
        (Some(format), _) => format,
        (None, Some(file)) => by_name(file)?,
        (None, None) => ReportFormat::Md,
    };
    let runs = arguments.runs.iter().map(|run| Run::read(run));
    let runs: Vec<Run> = runs.collect::<Result<_, _>>()?;
    let report = report(&runs)?;
    let text = match format {
        ReportFormat::Md => markdown(&report),
        ReportFormat::Html => html(&report, &charts(&runs)?),
        ReportFormat::Json => json(&report),
        ReportFormat::Csv => csv(&report),
    };
    match &arguments.out {
        None => out.write_all(text.as_bytes()).map_err(Error::Output)?,
        Some(path) => std::fs::write(path, text).map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })?,
    }
    Ok(Exit::Ok)
}

/// The format that a file's name asks for.
fn by_name(file: &Path) -> Result<ReportFormat, Error> {
    let extension = file.extension().and_then(|name| name.to_str());
    match extension {
        Some("md" | "markdown") => Ok(ReportFormat::Md),
        Some("html" | "htm") => Ok(ReportFormat::Html),
        Some("json") => Ok(ReportFormat::Json),
        Some("csv") => Ok(ReportFormat::Csv),
        _ => Err(Error::UnknownFormat(file.to_path_buf())),
    }
}
