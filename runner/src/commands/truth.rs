//! `bench truth`

use super::print_json;
use crate::cli::TruthArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};
use crate::value::{json, text, visible, visible_lines};
use bench_generator::{Component, Dataset, MessageTruth};
use bench_tables::{Column, CuratedColumn, ReportColumn, RowHash, Value};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;

/// Width of a column's name.
const NAME: usize = 34;

pub(crate) fn run(
    arguments: &TruthArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let dataset = Dataset::open(&arguments.folder)?;
    let name = &arguments.message;
    let view = dataset.message(&name.log, name.ordinal, TruthView::of)?;
    if arguments.json {
        print_json(out, &view)?;
    } else {
        out.write_all(view.text(terminal).as_bytes())
            .map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}

/// What must become of a message.
#[derive(Debug, Serialize)]
struct TruthView {
    format: u32,
    /// Where the message stands in the data set's plan.
    slot: u64,
    outcome: &'static str,
    fault: Option<&'static str>,
    control_id: String,
    source_file: Option<String>,
    patient: Option<PatientView>,
    report_hash: Option<String>,
    curated_hash: Option<String>,
    /// The row of `reports`.
    reports: Option<RowView>,
    /// The row of `reports_curated`.
    curated: Option<RowView>,
}

/// The patient whom the mapping must give to a message.
#[derive(Debug, Serialize)]
struct PatientView {
    /// Names the patient among those of the data set.
    component: u64,
    consistent: bool,
}

/// A row, in the order of its table's columns; identifier columns last.
#[derive(Debug)]
struct RowView {
    /// Name and value, for a machine.
    columns: Vec<(String, serde_json::Value)>,
    /// Name and value, for a person.
    shown: Vec<(String, String)>,
}

impl Serialize for RowView {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().map(|(name, value)| (name, value)))
    }
}

impl TruthView {
    fn of(truth: &MessageTruth<'_>) -> Self {
        let hash = |hash: Option<RowHash>| hash.map(|hash| hash.to_string());
        Self {
            format: 1,
            slot: truth.slot,
            outcome: truth.outcome.name(),
            fault: truth.fault,
            control_id: truth.control_id.to_owned(),
            source_file: truth.source_file.map(str::to_owned),
            patient: truth.component.map(
                |Component {
                     label, consistent, ..
                 }| PatientView {
                    component: label,
                    consistent,
                },
            ),
            report_hash: hash(truth.report_hash),
            curated_hash: hash(truth.curated_hash),
            reports: truth.row.as_ref().map(|row| {
                RowView::new(
                    ReportColumn::COLUMNS.into_iter().zip(*row.values()),
                    row.identifiers,
                )
            }),
            curated: truth.curated.as_ref().map(|row| {
                RowView::new(
                    CuratedColumn::COLUMNS.into_iter().zip(*row.values()),
                    row.identifiers,
                )
            }),
        }
    }

    fn text(&self, terminal: &Terminal) -> String {
        let mut text = String::new();
        let heading = |name| terminal.paint(Tone::Heading, name);
        let or_none = |value: Option<&str>| value.unwrap_or("none").to_owned();
        let patient = self.patient.as_ref().map_or("none".to_owned(), |patient| {
            let is = if patient.consistent { "" } else { "in" };
            format!("component {}, {is}consistent", patient.component)
        });
        let head = [
            ("outcome", self.outcome.to_owned()),
            ("fault", or_none(self.fault)),
            ("control id", visible(&self.control_id)),
            ("source file", or_none(self.source_file.as_deref())),
            ("patient", patient),
            ("row hash, reports", or_none(self.report_hash.as_deref())),
            (
                "row hash, reports_curated",
                or_none(self.curated_hash.as_deref()),
            ),
        ];
        let _ = writeln!(text, "{}", heading("message"));
        for (name, value) in head {
            entry(&mut text, name, &value);
        }
        let Some(reports) = &self.reports else {
            return text;
        };
        let _ = writeln!(text, "\n{}", heading("reports"));
        for (name, value) in &reports.shown {
            entry(&mut text, name, value);
        }
        let Some(curated) = &self.curated else {
            return text;
        };
        let _ = writeln!(
            text,
            "\n{}",
            heading("reports_curated, where it says other than reports")
        );
        for column in curated
            .shown
            .iter()
            .filter(|one| !reports.shown.contains(one))
        {
            entry(&mut text, &column.0, &column.1);
        }
        text
    }
}

impl RowView {
    fn new<'a>(
        values: impl Iterator<Item = (Column, Value<'a>)>,
        identifiers: &[(&str, &str)],
    ) -> Self {
        let mut columns = Vec::new();
        let mut shown = Vec::new();
        for (column, value) in values {
            let name = column.name.to_owned();
            shown.push((name.clone(), text(value, column.ty)));
            columns.push((name, json(value, column.ty)));
        }
        for (name, id) in identifiers {
            shown.push(((*name).to_owned(), (*id).to_owned()));
            columns.push(((*name).to_owned(), serde_json::json!(id)));
        }
        Self { columns, shown }
    }
}

/// A name and its value, which may have several lines.
fn entry(text: &mut String, name: &str, value: &str) {
    for (at, line) in visible_lines(value).enumerate() {
        let name = if at == 0 { name } else { "" };
        let line = format!("  {name:<NAME$}{line}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
