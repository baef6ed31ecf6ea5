//! Deleting files that no reader of the last days needs: dead ones, and what killed attempts left.
//!
//! A file goes if the current version does not hold it, no commit took it out within the retention,
//! it was not written within the retention either, and no table that follows still has to read it. With a retention of zero that is only safe
//! while nothing else writes to the table.

use super::table::Table;
use crate::error::{Error, Result};
use futures::TryStreamExt;
use std::collections::HashSet;
use std::time::{Duration, SystemTime};

impl Table {
    /// Deletes what is dead for longer than the retention and not among the files to be kept; the
    /// number of files deleted. The table is up to date.
    pub(crate) fn vacuum(&self, retention: Duration, keep: &HashSet<String>) -> Result<usize> {
        let now = SystemTime::now();
        let dead_since = i64::try_from(retention.as_millis())
            .ok()
            .and_then(|retention| super::commit::now_millis().checked_sub(retention));
        let kept = self.kept_tombstones(dead_since)?;
        let mut deleted = 0;
        for listed in self.store.list_data()? {
            // The modification time may be ahead of this machine's clock: such a file is young.
            let age = now.duration_since(listed.modified).unwrap_or_default();
            let young = age < retention;
            let live = self.file(&listed.path).is_some()
                || kept.contains(&listed.path)
                || keep.contains(&listed.path);
            if live || young || !listed.path.ends_with(".parquet") {
                continue;
            }
            self.store.delete(&listed.path)?;
            deleted += 1;
            crate::kill::point("dead file deleted");
        }
        Ok(deleted)
    }

    /// Files taken out since a time (milliseconds since 1970; `None`: since ever).
    fn kept_tombstones(&self, since: Option<i64>) -> Result<HashSet<String>> {
        let name = self.store.name;
        let builder = self.store.builder()?;
        let removed: Vec<(String, Option<i64>)> = self
            .store
            .handle()
            .block_on(async {
                let table = builder.load().await?;
                let log = table.log_store();
                table
                    .snapshot()?
                    .all_tombstones(log.as_ref())
                    .map_ok(|dead| (dead.path().into_owned(), dead.deletion_timestamp()))
                    .try_collect()
                    .await
            })
            .map_err(Error::delta(name))?;
        Ok(removed
            .into_iter()
            .filter(|(_, at)| match (since, at) {
                (Some(since), Some(at)) => *at > since,
                (None, _) => true,
                (_, None) => false,
            })
            .map(|(path, _)| path)
            .collect())
    }
}
