//! One module a command: from its arguments to its output.

pub(crate) mod baseline;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod eventlog;
pub(crate) mod gate;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod ingest;
pub(crate) mod inspect;
pub(crate) mod launch;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod suite;
pub(crate) mod trend;
pub(crate) mod truth;
pub(crate) mod verify;
pub(crate) mod worker;

use crate::error::Error;
use serde::Serialize;
use std::io::Write;

/// Prints a value as JSON, for people too: indented, with a line end.
fn print_json(out: &mut dyn Write, value: &impl Serialize) -> Result<(), Error> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(|error| Error::Output(error.into()))?;
    writeln!(out).map_err(Error::Output)
}
