//! Synthetic HL7 log sets with the truth of what they mean: the same bytes for anyone.
//!
//! ```text
//! spec ──► timeline ──► slots ──► patients ──► identity ──► message ──► maker ──► write
//! what     logs and     what a    who it is    by which     model,      any log   threads,
//! to make  volumes      slot is   about        numbers      text, row   alone     truth, files
//! ```
//!
//! Every arrow can be followed for one message alone: all draws are keyed by seed, stream and index
//! (module `draw`). The truth comes from the model that wrote a message, never from reading it back;
//! this crate does not use the reader outside its tests, and knows no lake.

mod calendar;
mod chunks;
mod dataset;
mod draw;
mod error;
mod faults;
mod identity;
mod maker;
mod message;
mod patients;
mod pools;
mod slots;
mod spec;
mod timeline;
mod totals;
mod truth;
mod write;

pub use dataset::{DATASET_FILE, Dataset, DatasetInfo, FileEntry, GENERATOR_VERSION};
pub use error::Error;
pub use faults::Fault;
pub use identity::Component;
pub use maker::{MessageTruth, Outcome};
pub use spec::{Overrides, PROFILES, Spec, SpecFile};
pub use truth::{TRUTH_FILE, schema as truth_schema};
pub use write::{
    Options, Progress, Silent, UNFINISHED_FILE, continue_to, generate, unfinished_spec,
};
