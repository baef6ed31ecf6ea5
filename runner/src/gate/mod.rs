//! Both sides of a gate, run interleaved.
//!
//! Each variant of a scenario is doubled: the old side with what `--against` names as its engine, the new
//! side as it stands, and the old side once more, which shows what the machine does by itself. One run
//! directory holds them all, made by the same code as any run, so that a repeat is a pair that saw the
//! same machine.

mod against;
mod interleave;

pub use against::{Against, AgainstError};
pub(crate) use interleave::{Asked, interleave};
