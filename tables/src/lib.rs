//! What the lake's tables are, for everything that writes, reads or checks them.
//!
//! The generator says which rows it expects, a target writes them, verification reads them back:
//! all three speak of the same columns ([`schema`]), hold a row in the same shape ([`row`]), and
//! compare rows by the same hash ([`encode`]). Which rows stand in a table after some workflows is
//! a fold over facts of the messages ([`fold`]).
//!
//! This crate knows neither HL7 nor Delta, and does no I/O.

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod encode;
pub mod fold;
pub mod row;
pub mod schema;
pub mod strings;
pub mod time;

pub use encode::{RowEncoder, RowHash};
pub use row::{CuratedRow, ReportRow, StructList, Value};
pub use schema::{Column, ColumnType, CuratedColumn, ReportColumn, Table};
