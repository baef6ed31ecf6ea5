//! What a workflow tells while it runs: stages, each with its time and what it wrote.

use bench_tables::Table as Name;
use deltalake::kernel::Add;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The names of the stages that a workflow may tell of, in their order. Not every workflow has all.
pub const STAGES: &[&str] = &[
    "read",
    "reports",
    "curated",
    "latest",
    "latest-optimize",
    "mapping-1-read",
    "mapping-2-disjoint",
    "mapping-3-known",
    "mapping-3-new",
    "mapping-4-components",
    "mapping-5-deferred",
    "mapping-history",
    "dx-delete",
    "dx-append",
    "auto-compact",
];

/// A part of a workflow that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Name of the stage; the five of the mapping are apart.
    pub name: String,
    /// The table that it concerns; `None` for reading the logs.
    pub table: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// Rows that it inserted, updated, deleted or read.
    pub rows: u64,
    /// Bytes of the data files that it wrote.
    pub bytes: u64,
    /// Data files that it wrote.
    pub files: u64,
    /// The version that it committed, if it did.
    pub version: Option<i64>,
}

/// Listens to a workflow.
pub trait Progress {
    /// A stage was done.
    fn stage(&mut self, stage: &Stage);
}

/// Listens to nothing.
pub struct Silent;

impl Progress for Silent {
    fn stage(&mut self, _: &Stage) {}
}

/// Collects stages and passes them on.
pub(crate) struct Recorder<'a> {
    progress: &'a mut dyn Progress,
    pub(crate) stages: Vec<Stage>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(progress: &'a mut dyn Progress) -> Self {
        Self {
            progress,
            stages: Vec::new(),
        }
    }

    pub(crate) fn begin() -> Clock {
        Clock {
            since: Instant::now(),
            rows: 0,
            bytes: 0,
            files: 0,
            version: None,
        }
    }

    pub(crate) fn end(&mut self, name: &str, table: Option<Name>, clock: &Clock) {
        let stage = Stage {
            name: name.to_owned(),
            table: table.map(|table| table.name().to_owned()),
            seconds: clock.since.elapsed().as_secs_f64(),
            rows: clock.rows,
            bytes: clock.bytes,
            files: clock.files,
            version: clock.version,
        };
        self.progress.stage(&stage);
        self.stages.push(stage);
    }
}

/// Measures one stage.
pub(crate) struct Clock {
    since: Instant,
    pub(crate) rows: u64,
    bytes: u64,
    files: u64,
    pub(crate) version: Option<i64>,
}

impl Clock {
    /// Counts the files of a commit.
    pub(crate) fn wrote(&mut self, adds: &[Add]) {
        self.files += adds.len() as u64;
        self.bytes += adds
            .iter()
            .map(|add| u64::try_from(add.size).unwrap_or_default())
            .sum::<u64>();
    }
}

impl Clock {
    /// Counts what a compaction wrote.
    pub(crate) fn compacted(&mut self, done: &crate::lake::compact::Compacted, version: i64) {
        self.files += done.added as u64;
        self.bytes += u64::try_from(done.bytes).unwrap_or_default();
        self.version = Some(version);
    }
}
