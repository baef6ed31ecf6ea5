//! One message: what it means ([`model`]), how it is written ([`render`]), and which rows it must
//! become ([`expect`], [`curate`]).
//!
//! Meaning comes first and both others follow from it; neither is derived from the other. Where a
//! fault tears the lines of a message, the rows follow from the torn lines by the rules of the
//! format ([`lines`]), in code that shares nothing with the reader.

pub(crate) mod curate;
pub(crate) mod expect;
pub(crate) mod lines;
pub(crate) mod model;
pub(crate) mod render;
mod report;
pub(crate) mod text;
