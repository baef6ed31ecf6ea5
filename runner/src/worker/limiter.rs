//! By what the limits of a worker are enforced, and setting them.

use super::cgroup::{self, Group};
use super::monitor::Watched;
use crate::doctor::{Cgroup, MachineFacts};
use crate::record::Limits;
use crate::scenario::{Enforcement, Resources};
use std::io;

/// Why limits cannot be set.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// The scenario asks for what this machine does not offer.
    #[error(
        "resources.enforcement = \"cgroup\", but no control group for memory can be made here ({reason}); use \"auto\" or \"watchdog\", or start bench in a group that it may write (bench doctor says more)"
    )]
    NoCgroup {
        /// What is missing.
        reason: &'static str,
    },
    /// The system says no.
    #[error("cannot limit a worker: {what}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

/// What a process may still take where a limit cannot be lowered below its use.
const SLACK: u64 = 1 << 20;

/// Sets the limits of the workers of one arm.
#[derive(Clone, Debug)]
pub struct Limiter {
    resources: Resources,
    cgroup: Option<Cgroup>,
    /// Processors of this machine that the runner may use.
    processors: Vec<usize>,
    memory_bytes: Option<u64>,
    /// Makes the names of groups unlike those of other runs.
    prefix: String,
    /// Whether an attempt will need a limit though the resources name none.
    faults: bool,
}

impl Limiter {
    /// Decides by what the limits of `resources` are enforced on this machine.
    ///
    /// # Errors
    /// [`LimitError::NoCgroup`]
    pub fn new(
        resources: &Resources,
        faults: bool,
        facts: &MachineFacts,
        prefix: &str,
    ) -> Result<Self, LimitError> {
        let usable = match &facts.cgroup {
            None => Err("this machine has none"),
            Some(group) if !group.writable => Err("the one of this process is not writable"),
            Some(group) if !group.limits_memory => {
                Err("the one of this process passes on no memory controller")
            }
            Some(group) => Ok(group.clone()),
        };
        let cgroup = match (resources.enforcement, usable) {
            (Enforcement::Watchdog, _) | (Enforcement::Auto, Err(_)) => None,
            (Enforcement::Cgroup, Err(reason)) => return Err(LimitError::NoCgroup { reason }),
            (_, Ok(group)) => Some(group),
        };
        Ok(Self {
            resources: resources.clone(),
            cgroup,
            processors: processors(facts.cores),
            memory_bytes: facts.usable_memory_bytes(),
            prefix: prefix.to_owned(),
            faults,
        })
    }

    /// What is limited, and by what: what is recorded.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let by_group = self
            .cgroup
            .as_ref()
            .map(|group| cgroup::kind(group.version));
        let cpus = self.resources.cpus;
        let cores = u32::try_from(self.processors.len()).unwrap_or(u32::MAX);
        Limits {
            memory: self.resources.memory,
            memory_by: self
                .resources
                .memory
                .map(|_| by_group.unwrap_or("watchdog").to_owned()),
            memory_binding: self
                .resources
                .memory
                .map(|bytes| self.memory_bytes.is_none_or(|all| bytes < all)),
            cpus,
            cpus_by: cpus.map(|cpus| if cpus < cores { "affinity" } else { "none" }.to_owned()),
            cpus_binding: cpus.map(|cpus| cpus < cores),
        }
    }

    /// Makes the place of a worker's process: its group, and its processors.
    ///
    /// # Errors
    /// [`LimitError::Io`]
    pub fn place(
        &self,
        worker: u32,
        incarnation: u32,
    ) -> Result<(Option<Group>, Vec<usize>), LimitError> {
        let group = match &self.cgroup {
            Some(own) if self.resources.memory.is_some() || self.faults => {
                let name = format!("{}-{worker}-{incarnation}", self.prefix);
                let group = Group::create(own, &name).map_err(|source| LimitError::Io {
                    what: format!("cannot make the control group {name}"),
                    source,
                })?;
                group
                    .limit_memory(self.resources.memory)
                    .map_err(|source| LimitError::Io {
                        what: format!("cannot set the memory limit of {name}"),
                        source,
                    })?;
                Some(group)
            }
            _ => None,
        };
        let cpus = match self.resources.cpus {
            Some(cpus) if (cpus as usize) < self.processors.len() => {
                let all = self.processors.len();
                let first = (worker as usize - 1) * cpus as usize;
                (0..cpus as usize)
                    .map(|at| self.processors[(first + at) % all])
                    .collect()
            }
            _ => Vec::new(),
        };
        Ok((group, cpus))
    }

    /// Sets the memory limit of a process: that of the resources, or a lower one for an attempt.
    /// Returns the limit in force in bytes. Control groups of version 1 take no limit below what is
    /// in use: there the limit is what is in use, so that the next page is one too many.
    ///
    /// # Errors
    /// [`LimitError::Io`]
    pub fn set(
        &self,
        group: Option<&Group>,
        watched: &Watched,
        lowered: Option<u64>,
    ) -> Result<Option<u64>, LimitError> {
        let bytes = lowered.or(self.resources.memory);
        let Some(group) = group else {
            watched.limit(bytes);
            return Ok(bytes);
        };
        let failed = |source| LimitError::Io {
            what: "cannot set its memory limit".to_owned(),
            source,
        };
        match group.limit_memory(bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                let used = group.used().map(|used| used + SLACK);
                group.limit_memory(used).map_err(failed)?;
                Ok(used)
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// Numbers of the processors that this process may use.
fn processors(cores: usize) -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    let listed: Vec<usize> = allowed
        .map(|set| {
            (0..rustix::thread::CpuSet::MAX_CPU)
                .filter(|&cpu| set.is_set(cpu))
                .collect()
        })
        .unwrap_or_default();
    if listed.is_empty() {
        (0..cores).collect()
    } else {
        listed
    }
}
