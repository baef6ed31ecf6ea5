//! Whether a data set is what its spec asks for: every quantity, asked and found.
//!
//! A finished data set is looked at from outside: what it asks is read from `dataset.json`, what
//! each message says comes from the truth, and sizes from the logs through the reader. No draw of
//! the generator is repeated, so that a quantity that is wired to the wrong draw shows; only how
//! patients are laid out over time is known here ([`runs`]). The example prints the table, a test
//! holds every shipped profile to it. It is no part of the library, which does not know the reader.
//!
//! Contents are measured on messages without a fault: a fault is drawn independently of them.
//! Left out: whether a message is read as it was meant, and what the tables of the lake come to,
//! which have tests of their own.

mod asked;
mod chance;
mod data;
mod faults;
mod later;
mod patients;
mod reports;
mod runs;
mod sizes;
mod table;
mod volume;

pub(crate) use data::Data;
pub(crate) use table::Table;

use asked::Asked;
use bench_generator::{Dataset, SpecFile};
use std::path::Path;

/// Any error on the way to a table.
pub(crate) type Error = Box<dyn std::error::Error>;

/// Measures a finished data set against its own spec.
///
/// # Errors
/// As [`Data::gather`].
pub(crate) fn measure(folder: &Path) -> Result<Table, Error> {
    let dataset = Dataset::open(folder)?;
    let data = Data::gather(&dataset, folder)?;
    judge(&data, &dataset.info().spec)
}

/// Holds a data set to what some spec asks, be it the one that made it or not.
///
/// # Errors
/// If the shipped profile, against which sizes are judged, cannot be read.
pub(crate) fn judge(data: &Data, spec: &SpecFile) -> Result<Table, Error> {
    let asked = Asked::of(spec)?;
    let mut table = Table::new();
    volume::measure(&asked, data, &mut table);
    reports::measure(&asked, data, &mut table);
    patients::measure(&asked, data, &mut table);
    sizes::measure(&asked, data, &mut table)?;
    later::measure(&asked, data, &mut table);
    faults::measure(&asked, data, &mut table);
    Ok(table)
}
