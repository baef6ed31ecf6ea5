//! The rows of `reports` and of `reports_curated`: per file and year one row, per file without a
//! year as many as were inserted.

use crate::encode::RowHash;
use std::collections::HashMap;

#[derive(Clone, Copy)]
struct Version {
    year: Option<i32>,
    /// As bytes, since the alignment of a `u128` would add a third to every entry.
    hash: [u8; 16],
}

/// Rows of a table whose key is (source file, year). Nearly every file has one row, so only
/// further ones go into a map.
#[derive(Default)]
pub(super) struct Versions {
    first: Vec<Option<Version>>,
    more: HashMap<u32, Vec<Version>>,
    rows: u64,
}

impl Versions {
    /// Merges a row and returns the hash of the row that it replaced. A row without a year equals
    /// no row, so it is always inserted.
    pub(super) fn merge(
        &mut self,
        source: u32,
        year: Option<i32>,
        hash: RowHash,
    ) -> Option<RowHash> {
        let new = Version {
            year,
            hash: hash.to_bytes(),
        };
        let at = source as usize;
        if self.first.len() <= at {
            self.first.resize(at + 1, None);
        }
        let stored = self.first[at]
            .iter_mut()
            .chain(self.more.get_mut(&source).into_iter().flatten())
            .find(|stored| year.is_some() && stored.year == year);
        if let Some(stored) = stored {
            let old = std::mem::replace(stored, new);
            return Some(RowHash::from_bytes(old.hash));
        }
        self.rows += 1;
        if self.first[at].is_none() {
            self.first[at] = Some(new);
        } else {
            self.more.entry(source).or_default().push(new);
        }
        None
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Year and hash of every row of a file, in the order in which they were inserted.
    pub(super) fn of(&self, source: u32) -> impl Iterator<Item = (Option<i32>, RowHash)> {
        let first = self.first.get(source as usize).into_iter().flatten();
        first
            .chain(self.more.get(&source).into_iter().flatten())
            .map(|version| (version.year, RowHash::from_bytes(version.hash)))
    }
}
