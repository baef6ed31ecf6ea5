//! Scenarios: what a run does, as a person writes it and as it is carried out.
//!
//! A scenario file is read strictly and as a whole; what comes out is a [`Scenario`] in which every
//! value stands, defaults included, so that it can be stored, shown and carried out without the file.

mod model;

pub use model::{
    DatasetSource, Enforcement, Expect, Fault, FaultKind, Measure, Mode, Queue, Resources, Retry,
    Scenario, Sequence, Target, TargetKind, Variant, Verify, When,
};
