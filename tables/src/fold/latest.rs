//! `reports_latest`, and `reports_dx` that follows it.

use super::{Curated, DxCounts, LatestCounts};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What stands in latest for one accession: the content of a report as it was when it won.
#[derive(Clone, Copy)]
pub(super) struct LatestRow {
    pub(super) source: u32,
    pub(super) diagnoses: u32,
    pub(super) message_dt: Option<i64>,
    pub(super) hash: [u8; 16],
}

/// What stands in dx for one accession.
#[derive(Clone, Copy, Default)]
pub(super) struct DxRows {
    pub(super) source: u32,
    pub(super) diagnoses: u32,
}

/// Both tables, by number of the accession.
#[derive(Default)]
pub(super) struct Latest {
    pub(super) rows: Vec<Option<LatestRow>>,
    pub(super) count: u64,
    pub(super) dx: Vec<DxRows>,
    pub(super) dx_count: u64,
}

impl Latest {
    /// Merges one batch and returns the accessions that changed. `greater` says whether the first
    /// file's name is the greater one.
    pub(super) fn merge(
        &mut self,
        batch: &[Curated],
        greater: impl Fn(u32, u32) -> bool,
    ) -> (LatestCounts, Vec<u32>) {
        let mut winners: HashMap<u32, Curated> = HashMap::new();
        for &report in batch {
            match winners.entry(report.accession) {
                Entry::Vacant(vacant) => {
                    vacant.insert(report);
                }
                Entry::Occupied(mut best) => {
                    // None is less than any time, so that NULL sorts last.
                    let wins = match report.message_dt.cmp(&best.get().message_dt) {
                        Ordering::Less => false,
                        Ordering::Equal => greater(report.source, best.get().source),
                        Ordering::Greater => true,
                    };
                    if wins {
                        best.insert(report);
                    }
                }
            }
        }

        let mut counts = LatestCounts::default();
        let mut changed = Vec::new();
        for (accession, report) in winners {
            let at = accession as usize;
            if self.rows.len() <= at {
                self.rows.resize(at + 1, None);
            }
            match &self.rows[at] {
                None => counts.inserted += 1,
                Some(stored) if is_later(report.message_dt, stored.message_dt) => {
                    counts.replaced += 1;
                }
                Some(_) => continue,
            }
            self.rows[at] = Some(LatestRow {
                source: report.source,
                diagnoses: report.diagnoses,
                message_dt: report.message_dt,
                hash: report.hash.to_bytes(),
            });
            changed.push(accession);
        }
        counts.passed_over = batch.len() as u64 - counts.inserted - counts.replaced;
        self.count += counts.inserted;
        (counts, changed)
    }

    /// Replaces the diagnoses of these accessions by those of their latest report.
    pub(super) fn explode(&mut self, accessions: &[u32]) -> DxCounts {
        let mut counts = DxCounts::default();
        self.dx.resize(self.rows.len(), DxRows::default());
        for &accession in accessions {
            let Some(latest) = self.rows[accession as usize] else {
                continue;
            };
            let dx = &mut self.dx[accession as usize];
            counts.deleted += u64::from(dx.diagnoses);
            counts.appended += u64::from(latest.diagnoses);
            *dx = DxRows {
                source: latest.source,
                diagnoses: latest.diagnoses,
            };
        }
        self.dx_count = self.dx_count + counts.appended - counts.deleted;
        counts
    }
}

/// Both known and strictly later: a missing time neither replaces nor is replaced.
fn is_later(new: Option<i64>, stored: Option<i64>) -> bool {
    matches!((new, stored), (Some(new), Some(stored)) if new > stored)
}
