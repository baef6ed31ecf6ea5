//! `spark.csv`: what the event logs of a run say. Unlike the other files it is not made from the
//! events of the journal, but from what Spark wrote of itself.

use super::event::ArmId;
use super::files::{Csv, names};
use super::journal::JournalError;
use bench_eventlog::{COLUMNS, Row};
use std::path::Path;

/// Name of the file.
pub const SPARK_FILE: &str = "spark.csv";

/// Writes the rows of each arm.
///
/// # Errors
/// [`JournalError`]; a file that is there is replaced only once its successor is complete.
pub fn write_spark<'a>(
    folder: &Path,
    arms: impl IntoIterator<Item = (&'a ArmId, &'a [Row])>,
) -> Result<(), JournalError> {
    let columns = [&["variant", "repeat"], COLUMNS].concat();
    let mut csv = Csv::create(folder, SPARK_FILE, &columns)?;
    for (arm, rows) in arms {
        for row in rows {
            let mut cells = names(arm);
            cells.extend(row.cells());
            csv.row(cells)?;
        }
    }
    csv.finish()
}
