//! `bench launch`: becomes a worker.

use crate::cli::LaunchArguments;
use crate::error::Error;
use crate::worker::{Launch, launch};

/// Returns only if the worker cannot be run.
pub(crate) fn run(arguments: &LaunchArguments) -> Error {
    Error::Launch(launch(&Launch {
        parent: arguments.parent,
        cgroup_procs: &arguments.cgroup_procs,
        cpus: &arguments.cpus,
        command: &arguments.command,
    }))
}
