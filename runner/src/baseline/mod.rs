//! The store of baselines: what runs measured, kept as plain files for later nights.
//!
//! ```text
//! STORE/store.json                            what this folder is, and its form
//! STORE/entries/<scenario>/<variant>/<run>.json   an entry, with its checksum
//! ```
//!
//! A folder that CI may cache or a repository may hold. Two jobs may save at the same time: a file is
//! written beside its place, synced, and given its name only where that is free, so that nobody
//! overwrites anybody and a name never stands for half a file.
//!
//! What is not as it must be is an error that names the file, never "no baseline": a gate that finds
//! nothing to compare with because a cache was damaged would pass for ever.

mod file;
mod store;

pub use store::{Saved, Store, StoreError};
