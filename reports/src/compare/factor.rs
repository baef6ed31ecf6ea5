//! What may differ between two runs besides what a claim is about, and what it spoils.

use super::claim::Claim;
use serde::Serialize;

/// Something that two runs have in common or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// The logs.
    Dataset,
    /// How logs are put into workflows.
    Batches,
    /// What ingests.
    Target,
    /// Versions of the target and of what it is made of.
    Versions,
    /// The version of this bench.
    Harness,
    /// The machine or cluster.
    Host,
    /// The operating system's kernel.
    Kernel,
    /// Processors that a worker may use.
    Cores,
    /// The memory limit, and whether it bound.
    Memory,
    /// Where the lake lies.
    Storage,
    /// Whether workflows wait for one another, and for how many slots.
    Concurrency,
    /// What the lake held before.
    InitialState,
    /// Restarts, retries and faults.
    Restarts,
    /// Whether all workflows were run.
    Cancellation,
    /// Write settings, those in force where they are known.
    Settings,
    /// Settings that were measured, against those that are shipped.
    Shipped,
    /// Whether rows were verified.
    Verification,
    /// Whether there is an event log of the distributed engine.
    EventLog,
    /// What the system's page cache held at the start.
    Cache,
    /// By which clock durations were taken.
    Clock,
    /// How often each was run.
    Repeats,
}

/// What a difference does to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    None,
    /// The claim holds with this said beside it.
    Caveat,
    /// The claim cannot be made.
    Refuse,
    /// It is what the claim is about.
    Subject,
}

use Effect::{Caveat, None, Refuse, Subject};

impl Factor {
    /// What a difference in this does to the claims, in the order of [`Claim::ALL`]: setting, growth,
    /// files, total, version, resources.
    const fn effects(self) -> [Effect; 6] {
        match self {
            Self::Dataset | Self::Verification => [Refuse; 6],
            Self::Batches | Self::Target => [Refuse, Refuse, Refuse, Caveat, Refuse, Refuse],
            Self::Versions => [Refuse, Refuse, Refuse, Caveat, Subject, Refuse],
            Self::Harness | Self::Kernel | Self::Cache => {
                [Caveat, Caveat, None, Caveat, Caveat, Caveat]
            }
            Self::Host => [Refuse, Refuse, None, Caveat, Refuse, Refuse],
            Self::Cores | Self::Memory => [Refuse, Refuse, None, Caveat, Refuse, Subject],
            Self::Storage => [Refuse, Refuse, None, Caveat, Refuse, Refuse],
            Self::Concurrency => [Refuse, Refuse, Caveat, Caveat, Refuse, Refuse],
            Self::InitialState => [Refuse, Refuse, Refuse, Caveat, Refuse, Refuse],
            Self::Restarts => [Refuse, Refuse, Caveat, Caveat, Refuse, Refuse],
            Self::Cancellation => [Caveat, Caveat, Caveat, Refuse, Caveat, Caveat],
            Self::Settings => [Subject, Subject, Subject, Subject, Refuse, Refuse],
            Self::Shipped => [Caveat, Caveat, Caveat, Caveat, None, None],
            Self::EventLog => [Caveat, Caveat, None, None, Caveat, Caveat],
            Self::Clock | Self::Repeats => [Caveat, Caveat, None, Caveat, Caveat, Caveat],
        }
    }

    /// What a difference in this does to a claim.
    #[must_use]
    pub fn effect(self, claim: Claim) -> Effect {
        let at = Claim::ALL.iter().position(|one| *one == claim);
        at.map_or(None, |at| self.effects()[at])
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dataset => "data set",
            Self::Batches => "batches",
            Self::Target => "target",
            Self::Versions => "versions",
            Self::Harness => "bench version",
            Self::Host => "host",
            Self::Kernel => "kernel",
            Self::Cores => "cores",
            Self::Memory => "memory",
            Self::Storage => "storage",
            Self::Concurrency => "concurrency",
            Self::InitialState => "initial state",
            Self::Restarts => "restarts and retries",
            Self::Cancellation => "cancellation",
            Self::Settings => "settings",
            Self::Shipped => "measured against shipped",
            Self::Verification => "verification",
            Self::EventLog => "event log",
            Self::Cache => "cache state",
            Self::Clock => "clock",
            Self::Repeats => "repeats",
        }
    }

    /// What a difference in this spoils.
    #[must_use]
    pub const fn spoils(self) -> &'static str {
        match self {
            Self::Dataset => "other messages are other work",
            Self::Batches => "workflows of other sizes are not the same workflows",
            Self::Target => "another engine does other work for the same rows",
            Self::Versions => "a difference may be the versions'",
            Self::Harness => "what is measured may be counted otherwise",
            Self::Host => "a difference may be the machine's",
            Self::Kernel => "a difference may be the kernel's",
            Self::Cores => "more processors do more at a time",
            Self::Memory => "with less memory an engine spills, collects garbage or dies",
            Self::Storage => "reading and writing cost otherwise",
            Self::Concurrency => {
                "a duration from launch to close contains queueing where workflows do not wait for one another"
            }
            Self::InitialState => "a lake that holds more is slower, and has other files",
            Self::Restarts => "durations contain the restarts and what was done again",
            Self::Cancellation => "only the workflows that both completed can be set side by side",
            Self::Settings => "a difference may be the settings'",
            Self::Shipped => "what was measured is not what people get",
            Self::Verification => "times of work that was not done, or not proved, say nothing",
            Self::EventLog => "where the time went cannot be set side by side: no jobs, no tasks",
            Self::Cache => {
                "the first reads may come from the disk in one and from memory in the other"
            }
            Self::Clock => "durations were taken in different ways",
            Self::Repeats => "how much is noise of the machine is not known",
        }
    }
}
