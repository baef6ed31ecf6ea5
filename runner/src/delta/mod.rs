//! Lakes read from outside: where the tables of a lake lie, their logs and their files.
//!
//! Shared by [`crate::probe`] and [`crate::verify`]. Nothing here writes, makes a folder, or knows
//! which engine wrote a table.

mod entry;
mod store;

pub(crate) use entry::Entry;
pub(crate) use store::{Lake, Live, LogFile, Snapshot, TableStore, is_data_file};
