//! The fold: from facts about messages, workflow after workflow, to what must stand in each table.
//!
//! Which rows `reports_latest`, `reports_dx` and the mapping hold depends on the order in which
//! workflows completed and on how far a sequence came, so no dataset can say it once and for all.
//! It gives facts per message instead, and this module applies the rules of the tables to them.
//! `docs/fold.md` has the rules where they left something open, and what was decided.
//!
//! Verification compares a lake with it, so it shares nothing with any engine: rows in memory,
//! merged one table after the other, no I/O. It does not read messages and does not compute rows:
//! hashes and ids arrive as facts. Nor does it name patients: see [`MappingRow::patient`].
//!
//! ```
//! use bench_tables::RowHash;
//! use bench_tables::fold::{Fact, Fold, Settings};
//!
//! let mut fold = Fold::new(Settings::default());
//! fold.workflow(&[Fact {
//!     source_file: "2023/01/13/20230113_0.hl7",
//!     year: Some(2023),
//!     message_dt: Some(1_673_633_237_000_000),
//!     report: RowHash(1),
//!     curated: Some(RowHash(2)),
//!     accession: Some("123456789"),
//!     diagnoses: 2,
//!     mpi: Some("4711"),
//!     epic_mrn: None,
//! }])?;
//! let totals = fold.expected().totals();
//! assert_eq!((totals.reports, totals.latest, totals.dx), (1, 1, 2));
//! # Ok::<(), bench_tables::fold::FoldError>(())
//! ```

mod expected;
mod latest;
mod mapping;
mod versions;

pub use expected::{DxRows, Expected, LatestRow, MappingRow, Totals, VersionRow};

use crate::encode::{RowHash, portable_source};
use crate::strings::Strings;
use mapping::Ids;
use std::collections::HashSet;

/// What the fold must know of one parsable message. Other messages have no row in any table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'a> {
    /// `source_file` of the message; what precedes the last `.zip/`, and that itself, is cut.
    pub source_file: &'a str,
    /// Year of `message_dt`, the partition; `None` exactly where that is.
    pub year: Option<i32>,
    /// MSH-7 in microseconds since 1970-01-01T00:00:00Z.
    pub message_dt: Option<i64>,
    /// Hash of the expected row of `reports`. Two ingests of a file with the same hash have the
    /// same content.
    pub report: RowHash,
    /// Hash of the expected row of `reports_curated`; `None` exactly where curation drops the
    /// report, which is where the accession is absent or blank.
    pub curated: Option<RowHash>,
    /// The filler order number that curation finds, untrimmed.
    pub accession: Option<&'a str>,
    /// Number of elements of `diagnoses`, those that are all NULL included.
    pub diagnoses: u32,
    /// MPI of the mapping, that is after the consolidation by `version_id`.
    pub mpi: Option<&'a str>,
    /// Epic MRN of the mapping, likewise.
    pub epic_mrn: Option<&'a str>,
}

/// Settings of a target that change which rows stand in the lake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether the mapping and its history are derived at all.
    pub create_mapping: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            create_mapping: true,
        }
    }
}

/// How far a workflow came: the last table into which it committed all that it had for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Only `reports`.
    Reports,
    /// `reports_curated`.
    Curated,
    /// `reports_latest`.
    Latest,
    /// The mapping and its history.
    Mapping,
    /// `reports_dx`, so everything.
    Dx,
}

/// A count that the rules leave open between two bounds, both of which can really occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The smallest possible count.
    pub least: u64,
    /// The greatest possible count.
    pub most: u64,
}

impl Range {
    /// A count that is not open.
    #[must_use]
    pub fn exactly(count: u64) -> Self {
        Self {
            least: count,
            most: count,
        }
    }

    /// Whether this count is possible.
    #[must_use]
    pub fn contains(self, count: u64) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

/// What a workflow does to `reports`; the three add up to its facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportsCounts {
    /// Rows with a new key, or without a year.
    pub inserted: u64,
    /// Rows whose content changed.
    pub updated: u64,
    /// Messages whose row stands already, with the same content.
    pub unchanged: u64,
}

/// What a workflow does to `reports_curated`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CuratedCounts {
    /// Rows with a new key, or without a year.
    pub inserted: u64,
    /// Rows that were written again.
    pub updated: u64,
    /// Reports without an accession.
    pub dropped: u64,
}

/// What a workflow does to `reports_latest`; the three add up to the curated rows that it saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatestCounts {
    /// Accessions that are new.
    pub inserted: u64,
    /// Accessions whose report was replaced by a later one.
    pub replaced: u64,
    /// Reports that did not become the latest of their accession.
    pub passed_over: u64,
}

/// What a workflow does to `reports_dx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DxCounts {
    /// Rows of accessions that latest changed.
    pub deleted: u64,
    /// Rows of their new latest reports.
    pub appended: u64,
}

/// What a workflow does to the mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappingCounts {
    /// Reports that are new to the table.
    pub inserted: u64,
    /// Reports that stand in the table already.
    pub skipped: u64,
    /// Rows that go to the history.
    pub history: Range,
}

/// What one workflow does to every table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `reports`
    pub reports: ReportsCounts,
    /// `reports_curated`
    pub curated: CuratedCounts,
    /// `reports_latest`
    pub latest: LatestCounts,
    /// `reports_dx`
    pub dx: DxCounts,
    /// The mapping and its history.
    pub mapping: MappingCounts,
}

/// Facts that cannot be true. The fold is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// A file stands twice in one workflow.
    #[error(
        "{source_file} stands twice in one workflow: a manifest names a message once, \
         so give a second ingest as a workflow of its own"
    )]
    Twice {
        /// The file.
        source_file: String,
    },
    /// Year and time do not go together.
    #[error(
        "{source_file} has only one of year and message_dt: give both or neither, \
         since the year is that of message_dt"
    )]
    YearWithoutTime {
        /// The file.
        source_file: String,
    },
    /// Accession and curated row do not go together.
    #[error(
        "{source_file} has only one of accession and curated hash: give both, or no hash \
         where the accession is absent or blank, since curation drops such a report"
    )]
    AccessionWithoutRow {
        /// The file.
        source_file: String,
    },
}

/// An inserted or updated row of `reports` that curated has not seen.
#[derive(Clone, Copy)]
struct Report {
    source: u32,
    /// What curation makes of it.
    curated: Option<Curated>,
}

/// An inserted or updated row of `reports_curated` that latest or the mapping has not seen.
#[derive(Clone, Copy)]
struct Curated {
    source: u32,
    accession: u32,
    year: Option<i32>,
    message_dt: Option<i64>,
    hash: RowHash,
    diagnoses: u32,
    ids: Ids,
}

/// The tables after the workflows given so far.
pub struct Fold {
    settings: Settings,
    sources: Strings,
    accessions: Strings,
    reports: versions::Versions,
    curated: versions::Versions,
    latest: latest::Latest,
    mapping: mapping::Mapping,
    // Changes that the next table has not seen; empty unless a workflow was interrupted.
    to_curated: Vec<Report>,
    to_latest: Vec<Curated>,
    to_mapping: Vec<Curated>,
    to_dx: Vec<u32>,
}

impl Fold {
    /// The fold of an empty lake.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            sources: Strings::default(),
            accessions: Strings::default(),
            reports: versions::Versions::default(),
            curated: versions::Versions::default(),
            latest: latest::Latest::default(),
            mapping: mapping::Mapping::new(),
            to_curated: Vec::new(),
            to_latest: Vec::new(),
            to_mapping: Vec::new(),
            to_dx: Vec::new(),
        }
    }

    /// Folds in a workflow that completed. Workflows come in the order in which they committed.
    /// Files that were deliberately ingested again come again; a retried attempt does not.
    ///
    /// # Errors
    /// If the facts contradict the format.
    pub fn workflow(&mut self, facts: &[Fact<'_>]) -> Result<Counts, FoldError> {
        self.interrupted(facts, Reached::Dx)
    }

    /// Folds in a workflow that failed for good after it had committed to some tables. The next
    /// workflow does for the others what this one left. One that committed nothing is not given.
    ///
    /// # Errors
    /// If the facts contradict the format.
    pub fn interrupted(
        &mut self,
        facts: &[Fact<'_>],
        reached: Reached,
    ) -> Result<Counts, FoldError> {
        check(facts)?;
        let mut counts = Counts {
            reports: self.merge_reports(facts),
            ..Counts::default()
        };
        if reached >= Reached::Curated {
            counts.curated = self.curate();
        }
        if reached >= Reached::Latest {
            counts.latest = self.update_latest();
        }
        if reached >= Reached::Mapping && self.settings.create_mapping {
            counts.mapping = self.map_patients();
        }
        if reached >= Reached::Dx {
            counts.dx = self.explode_diagnoses();
        }
        Ok(counts)
    }

    /// What must stand in each table now.
    #[must_use]
    pub fn expected(&self) -> Expected<'_> {
        Expected::of(self)
    }

    fn merge_reports(&mut self, facts: &[Fact<'_>]) -> ReportsCounts {
        let mut counts = ReportsCounts::default();
        for fact in facts {
            let source = self.sources.intern(portable_source(fact.source_file));
            match self.reports.merge(source, fact.year, fact.report) {
                None => counts.inserted += 1,
                Some(hash) if hash == fact.report => {
                    counts.unchanged += 1;
                    continue;
                }
                Some(_) => counts.updated += 1,
            }
            let curated = self.curated_row(source, fact);
            self.to_curated.push(Report { source, curated });
        }
        counts
    }

    fn curated_row(&mut self, source: u32, fact: &Fact<'_>) -> Option<Curated> {
        let hash = fact.curated?;
        let accession = self.accessions.intern(fact.accession?);
        let mut vertex = |kind, id: Option<&str>| id.map(|id| self.mapping.vertex(kind, id));
        Some(Curated {
            source,
            accession,
            year: fact.year,
            message_dt: fact.message_dt,
            hash,
            diagnoses: fact.diagnoses,
            ids: Ids {
                mpi: vertex(mapping::MPI, fact.mpi),
                epic_mrn: vertex(mapping::EPIC_MRN, fact.epic_mrn),
            },
        })
    }

    fn curate(&mut self) -> CuratedCounts {
        let mut counts = CuratedCounts::default();
        let batch = newest(std::mem::take(&mut self.to_curated), |report| report.source);
        for report in batch {
            let Some(row) = report.curated else {
                counts.dropped += 1;
                continue;
            };
            match self.curated.merge(row.source, row.year, row.hash) {
                None => counts.inserted += 1,
                Some(_) => counts.updated += 1,
            }
            self.to_latest.push(row);
            if self.settings.create_mapping {
                self.to_mapping.push(row);
            }
        }
        counts
    }

    fn update_latest(&mut self) -> LatestCounts {
        let batch = newest(std::mem::take(&mut self.to_latest), |row| row.source);
        let sources = &self.sources;
        let (counts, changed) = self
            .latest
            .merge(&batch, |a, b| sources.get(a) > sources.get(b));
        self.to_dx.extend(changed);
        counts
    }

    fn map_patients(&mut self) -> MappingCounts {
        let batch = newest(std::mem::take(&mut self.to_mapping), |row| row.source);
        self.mapping
            .add(batch.into_iter().map(|row| (row.source, row.ids)))
    }

    fn explode_diagnoses(&mut self) -> DxCounts {
        let mut changed = std::mem::take(&mut self.to_dx);
        changed.sort_unstable();
        changed.dedup();
        self.latest.explode(&changed)
    }
}

/// Refuses facts before anything is changed.
fn check(facts: &[Fact<'_>]) -> Result<(), FoldError> {
    let mut seen = HashSet::with_capacity(facts.len());
    for fact in facts {
        let source_file = portable_source(fact.source_file);
        let named = || source_file.to_owned();
        if !seen.insert(source_file) {
            return Err(FoldError::Twice {
                source_file: named(),
            });
        }
        if fact.year.is_some() != fact.message_dt.is_some() {
            return Err(FoldError::YearWithoutTime {
                source_file: named(),
            });
        }
        if fact.accession.is_some_and(|text| !is_blank(text)) != fact.curated.is_some() {
            return Err(FoldError::AccessionWithoutRow {
                source_file: named(),
            });
        }
    }
    Ok(())
}

/// Empty or only spaces; other white space is content.
fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ')
}

/// The newest change of each file, in no particular order. Only after an interrupted workflow can
/// a file have several.
fn newest<T>(changes: Vec<T>, source: impl Fn(&T) -> u32) -> Vec<T> {
    let mut seen = HashSet::with_capacity(changes.len());
    let newest_first = changes.into_iter().rev();
    newest_first
        .filter(|change| seen.insert(source(change)))
        .collect()
}
