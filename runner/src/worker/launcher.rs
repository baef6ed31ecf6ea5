//! `bench launch`: puts itself into the place that a worker shall have, then becomes the worker.
//!
//! A process of its own does this, so that the worker is inside its limits from its first page on,
//! and nothing has to be done between fork and exec.

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The place of a worker.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The runner: when it is gone, so is the worker.
    pub parent: u32,
    /// Files of control groups that take the id of a process.
    pub cgroup_procs: &'a [PathBuf],
    /// Processors that it may use; all where it is empty.
    pub cpus: &'a [usize],
    /// Program and arguments.
    pub command: &'a [String],
}

/// Becomes the worker. Returns only if that is impossible.
///
/// # Errors
/// What the system says.
pub fn launch(launch: &Launch<'_>) -> io::Error {
    become_worker(launch).unwrap_or_else(|error| error)
}

fn become_worker(launch: &Launch<'_>) -> io::Result<io::Error> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A runner that ended before the signal was set gives none.
    let parent = getppid().map(Pid::as_raw_nonzero);
    if parent.and_then(|pid| u32::try_from(pid.get()).ok()) != Some(launch.parent) {
        return Err(io::Error::other("the runner is gone"));
    }
    for file in launch.cgroup_procs {
        std::fs::write(file, std::process::id().to_string())
            .map_err(|error| named(&error, &format!("cannot enter {}", file.display())))?;
    }
    if !launch.cpus.is_empty() {
        let mut set = CpuSet::new();
        for &cpu in launch.cpus {
            set.set(cpu);
        }
        sched_setaffinity(None, &set)?;
    }
    let (program, arguments) = launch
        .command
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let error = Command::new(program).args(arguments).exec();
    Err(named(&error, &format!("cannot run {program}")))
}

fn named(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
