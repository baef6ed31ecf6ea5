//! `bench run`: a scenario carried out.
//!
//! ```text
//! scenario ──► dataset ──► for each arm: conductor ──► verify ──► report
//!              cache or      world: worker processes,    from
//!              folder        clock, probe; journal       outside
//! ```
//!
//! Everything that happens is in the journal before anything follows from it, so that a run whose
//! runner was killed is resumed from there.

mod again;
mod arm;
mod conductor;
mod dataset;
mod error;
mod folder;
mod hand;
mod progress;
mod real;
mod recover;
mod reporting;
mod session;
mod spark;
mod verifying;
mod world;

#[cfg(test)]
mod play;

pub use again::verify_again;
pub use conductor::{Arm, ConductError, Conductor};
pub use error::RunError;
pub(crate) use folder::{REPORT_FILE, fresh, lock, standing, wall};
pub(crate) use session::exit_of;
pub use session::{Finished, Options, resume, start};
pub use world::{Cost, Happening, Sent, StartError, Started, Usage, World};
