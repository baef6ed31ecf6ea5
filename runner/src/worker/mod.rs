//! Workers: engines as processes that talk the protocol of `docs/worker-protocol.md`, within limits
//! that really end them.

mod cgroup;
mod launcher;
mod limiter;
mod monitor;
mod null;
pub(crate) mod proc;
mod process;

pub use cgroup::Group;
pub use launcher::{Launch, launch};
pub use limiter::{LimitError, Limiter};
pub use monitor::{Monitor, Sample, Watched};
pub use null::serve as serve_null;
pub use process::{Listener, News, Process, ProcessId, Start, Told, log_path};

use std::time::{Duration, Instant};

/// The run's clock: monotonic, and without the time between a runner's end and its resumption.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: Instant,
    before: Duration,
}

impl Clock {
    /// A clock that shows `before` now.
    #[must_use]
    pub fn starting_at(before: Duration) -> Self {
        Self {
            zero: Instant::now(),
            before,
        }
    }

    /// What it shows.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.before + self.zero.elapsed()
    }
}
