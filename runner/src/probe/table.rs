//! One table, followed from version to version.

use super::TableState;
use super::disk::Disk;
use crate::delta::{Entry, LogFile, Snapshot, TableStore};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Size and rows of a live file.
#[derive(Clone, Copy)]
struct Size {
    bytes: u64,
    rows: Option<u64>,
}

/// What was seen of a table so far.
pub(super) struct TableProbe {
    store: TableStore,
    /// The version that `live` belongs to; `None` before the first commit.
    version: Option<i64>,
    live: HashMap<String, Size>,
    disk: Disk,
}

impl TableProbe {
    pub(super) fn new(store: TableStore) -> Self {
        Self {
            store,
            version: None,
            live: HashMap::new(),
            disk: Disk::default(),
        }
    }

    /// The table now; `None` where its folder holds no commit.
    pub(super) fn look(&mut self, name: &str) -> Result<Option<TableState>, String> {
        let log = self.store.log_files()?;
        let entries: BTreeSet<i64> = log
            .iter()
            .filter_map(|file| match file {
                LogFile::Entry(version) => Some(*version),
                LogFile::Checkpoint(_) => None,
            })
            .collect();
        let checkpoints: BTreeSet<i64> = log
            .iter()
            .filter_map(|file| match file {
                LogFile::Checkpoint(version) => Some(*version),
                LogFile::Entry(_) => None,
            })
            .collect();
        let newest = entries.last().max(checkpoints.last()).copied();
        let Some(newest) = newest else {
            return Ok(None);
        };
        let operations = self.follow(&entries, newest)?;
        let (disk_files, disk_bytes) = self.on_disk()?;
        let mut sizes: Vec<u64> = self.live.values().map(|file| file.bytes).collect();
        let middle = sizes.len().saturating_sub(1) / 2;
        let p50 = (!sizes.is_empty()).then(|| *sizes.select_nth_unstable(middle).1);
        Ok(Some(TableState {
            table: name.to_owned(),
            version: self.version.unwrap_or(newest),
            rows: self.live.values().map(|file| file.rows).sum(),
            live_files: sizes.len() as u64,
            live_bytes: sizes.iter().sum(),
            file_p50_bytes: p50,
            file_max_bytes: sizes.iter().max().copied(),
            disk_files,
            disk_bytes,
            log_entries: entries.len() as u64,
            checkpoints: checkpoints.len() as u64,
            operations,
        }))
    }

    /// Reads the commits up to `newest` that were not read yet, and counts them by operation.
    fn follow(
        &mut self,
        entries: &BTreeSet<i64>,
        newest: i64,
    ) -> Result<BTreeMap<String, u64>, String> {
        let mut operations = BTreeMap::new();
        let first = self.version.map_or(0, |version| version + 1);
        // A table that was made anew may have fewer versions than were seen.
        let is_whole =
            newest + 1 >= first && (first..=newest).all(|version| entries.contains(&version));
        if !is_whole {
            // The log was cut behind a checkpoint, or the table was made anew.
            let Snapshot { version, files, .. } = self.store.snapshot()?;
            let size = |file: crate::delta::Live| {
                let rows = file.rows();
                let bytes = file.size;
                (file.path, Size { bytes, rows })
            };
            self.live = files.into_iter().map(size).collect();
            self.version = Some(version);
            return Ok(operations);
        }
        for version in first..=newest {
            let bytes = self.store.entry(version)?;
            let bytes = bytes.ok_or_else(|| format!("the entry of version {version} is gone"))?;
            let mut entry =
                Entry::parse(&bytes).map_err(|reason| format!("version {version}: {reason}"))?;
            let operation = entry.operation.take();
            *operations
                .entry(operation.unwrap_or_else(|| "unknown".to_owned()))
                .or_default() += 1;
            entry.apply(&mut self.live, |file| Size {
                bytes: file.size,
                rows: file.rows(),
            });
            self.version = Some(version);
        }
        Ok(operations)
    }

    fn on_disk(&mut self) -> Result<(u64, u64), String> {
        if let Some(folder) = self.store.folder() {
            return self.disk.count(folder).map_err(|error| error.to_string());
        }
        let objects = self.store.listed_objects()?;
        Ok((objects.len() as u64, objects.values().sum()))
    }
}
