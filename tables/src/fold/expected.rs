//! What the fold says of each table: rows to go through, rows by key, and totals.

use super::{Fold, Range};
use crate::encode::{RowHash, portable_source};

/// A row that must stand in `reports` or `reports_curated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionRow<'a> {
    /// `source_file` or `primary_report_identifier`, without the staging root.
    pub source_file: &'a str,
    /// The other half of the key. Of a file without a year there may be several rows, equal ones
    /// included.
    pub year: Option<i32>,
    /// Hash of the row.
    pub hash: RowHash,
}

/// The row that must stand in `reports_latest` for an accession.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LatestRow<'a> {
    /// The key.
    pub accession: &'a str,
    /// `primary_report_identifier`, without the staging root.
    pub source_file: &'a str,
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub message_dt: Option<i64>,
    /// Hash of the curated row as it was when it became the latest.
    pub hash: RowHash,
}

/// The rows that must stand in `reports_dx` for an accession; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DxRows<'a> {
    /// `accession_number` of every row.
    pub accession: &'a str,
    /// `primary_report_identifier` of every row, without the staging root.
    pub source_file: &'a str,
    /// Number of rows.
    pub diagnoses: u32,
}

impl DxRows<'_> {
    /// `diagnosis_id` of every row, without the staging root, in the order of the diagnoses.
    ///
    /// A file that moved to another accession leaves rows under the old one, so the same id may
    /// stand in the table once for each of two accessions.
    pub fn ids(&self) -> impl Iterator<Item = String> {
        (0..self.diagnoses).map(|position| format!("{}_{position}", self.source_file))
    }
}

/// The row that must stand in the mapping for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappingRow<'a> {
    /// `primary_report_identifier`, without the staging root.
    pub source_file: &'a str,
    /// `mpi`
    pub mpi: Option<&'a str>,
    /// `epic_mrn`
    pub epic_mrn: Option<&'a str>,
    /// The patient: two rows have the same number exactly if they must have the same
    /// `scout_patient_id`. The number itself means nothing and changes between workflows.
    pub patient: u32,
    /// `consistent`
    pub consistent: bool,
    /// How many rows the history holds of this report.
    pub history: Range,
}

/// Rows per table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rows of `reports`.
    pub reports: u64,
    /// Rows of `reports_curated`.
    pub curated: u64,
    /// Rows of `reports_latest`.
    pub latest: u64,
    /// Rows of `reports_dx`.
    pub dx: u64,
    /// Rows of the mapping.
    pub mapping: u64,
    /// Rows of its history.
    pub mapping_history: Range,
    /// Distinct `scout_patient_id` of the mapping.
    pub patients: u64,
}

/// What must stand in each table, after the workflows folded so far. Rows come in the order in
/// which their file or accession was first seen.
#[derive(Clone, Copy)]
pub struct Expected<'a> {
    fold: &'a Fold,
}

impl<'a> Expected<'a> {
    pub(super) fn of(fold: &'a Fold) -> Self {
        Self { fold }
    }

    /// Rows per table. Takes one pass over the patient ids.
    #[must_use]
    pub fn totals(self) -> Totals {
        Totals {
            reports: self.fold.reports.rows(),
            curated: self.fold.curated.rows(),
            latest: self.fold.latest.count,
            dx: self.fold.latest.dx_count,
            mapping: self.fold.mapping.rows(),
            mapping_history: self.fold.mapping.history_rows(),
            patients: self.fold.mapping.patients(),
        }
    }

    /// Every row of `reports`.
    pub fn reports(self) -> impl Iterator<Item = VersionRow<'a>> {
        self.sources().flat_map(move |n| self.report_versions(n))
    }

    /// The rows of `reports` of a file.
    pub fn reports_of(self, source_file: &str) -> impl Iterator<Item = VersionRow<'a>> {
        let source = self.fold.sources.find(portable_source(source_file));
        source
            .into_iter()
            .flat_map(move |n| self.report_versions(n))
    }

    /// Every row of `reports_curated`.
    pub fn curated(self) -> impl Iterator<Item = VersionRow<'a>> {
        self.sources().flat_map(move |n| self.curated_versions(n))
    }

    /// The rows of `reports_curated` of a file.
    pub fn curated_of(self, source_file: &str) -> impl Iterator<Item = VersionRow<'a>> {
        let source = self.fold.sources.find(portable_source(source_file));
        source
            .into_iter()
            .flat_map(move |n| self.curated_versions(n))
    }

    /// Every row of `reports_latest`.
    pub fn latest(self) -> impl Iterator<Item = LatestRow<'a>> {
        self.accessions().filter_map(move |n| self.latest_row(n))
    }

    /// The row of `reports_latest` of an accession.
    #[must_use]
    pub fn latest_of(self, accession: &str) -> Option<LatestRow<'a>> {
        self.latest_row(self.fold.accessions.find(accession)?)
    }

    /// Every row of `reports_dx`, by accession.
    pub fn dx(self) -> impl Iterator<Item = DxRows<'a>> {
        self.accessions().filter_map(move |n| self.dx_rows(n))
    }

    /// The rows of `reports_dx` of an accession, if there is one.
    #[must_use]
    pub fn dx_of(self, accession: &str) -> Option<DxRows<'a>> {
        self.dx_rows(self.fold.accessions.find(accession)?)
    }

    /// Every row of the mapping.
    pub fn mapping(self) -> impl Iterator<Item = MappingRow<'a>> {
        self.sources().filter_map(move |n| self.mapping_row(n))
    }

    /// The row of the mapping of a report.
    #[must_use]
    pub fn mapping_of(self, source_file: &str) -> Option<MappingRow<'a>> {
        self.mapping_row(self.fold.sources.find(portable_source(source_file))?)
    }

    fn sources(self) -> impl Iterator<Item = u32> {
        (0..).take(self.fold.sources.len())
    }

    fn accessions(self) -> impl Iterator<Item = u32> {
        (0..).take(self.fold.accessions.len())
    }

    fn report_versions(self, source: u32) -> impl Iterator<Item = VersionRow<'a>> {
        let versions = self.fold.reports.of(source);
        versions.map(move |(year, hash)| self.version_row(source, year, hash))
    }

    fn curated_versions(self, source: u32) -> impl Iterator<Item = VersionRow<'a>> {
        let versions = self.fold.curated.of(source);
        versions.map(move |(year, hash)| self.version_row(source, year, hash))
    }

    fn version_row(self, source: u32, year: Option<i32>, hash: RowHash) -> VersionRow<'a> {
        VersionRow {
            source_file: self.fold.sources.get(source),
            year,
            hash,
        }
    }

    fn latest_row(self, accession: u32) -> Option<LatestRow<'a>> {
        let row = self.fold.latest.rows.get(accession as usize)?.as_ref()?;
        Some(LatestRow {
            accession: self.fold.accessions.get(accession),
            source_file: self.fold.sources.get(row.source),
            message_dt: row.message_dt,
            hash: RowHash::from_bytes(row.hash),
        })
    }

    fn dx_rows(self, accession: u32) -> Option<DxRows<'a>> {
        let rows = self.fold.latest.dx.get(accession as usize)?;
        (rows.diagnoses > 0).then(|| DxRows {
            accession: self.fold.accessions.get(accession),
            source_file: self.fold.sources.get(rows.source),
            diagnoses: rows.diagnoses,
        })
    }

    fn mapping_row(self, source: u32) -> Option<MappingRow<'a>> {
        let row = self.fold.mapping.expected(source)?;
        Some(MappingRow {
            source_file: self.fold.sources.get(source),
            mpi: row.mpi,
            epic_mrn: row.epic_mrn,
            patient: row.patient,
            consistent: row.consistent,
            history: row.history,
        })
    }
}
