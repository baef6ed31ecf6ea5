//! The five tables, each brought up to date with the one it follows.
//!
//! ```text
//! reports ─► curated ─┬─► latest ─► dx
//!                     └─► mapping ─► mapping history
//! ```
//!
//! A step reads what its source changed since it last looked ([`follow`]), plans a merge, commits
//! it together with the mark that says how far it has seen, and hands what it changed to the next.
//! If another writer was faster, it looks again and plans anew.

pub(crate) mod curate;
pub(crate) mod curated;
pub(crate) mod dx;
pub(crate) mod follow;
pub(crate) mod latest;
pub(crate) mod mapping;
pub(crate) mod reports;

use crate::error::Result;
use crate::lake::{Outcome, Plan, Root, Table, Writing, compact};
use crate::stage::{Clock, Recorder};
use bench_tables::Table as Name;
use follow::Changes;

/// What every step needs.
pub(crate) struct Step<'a, 'p> {
    pub(crate) root: &'a Root,
    pub(crate) writing: &'a Writing,
    pub(crate) recorder: &'a mut Recorder<'p>,
}

impl Step<'_, '_> {
    /// Commits a merge with the mark of how far its source has been seen; gives what changed, or
    /// `None` where another writer was faster.
    pub(crate) fn commit_merge(
        &self,
        table: &mut Table,
        plan: Plan,
        source: &Table,
        seen: i64,
        clock: &mut Clock,
    ) -> Result<Option<Changes>> {
        let mut commit = self.writing.prepare(table, &plan)?;
        follow::mark(&mut commit, source, seen);
        follow::stamp(&mut commit, &plan.changed);
        let after = table.version();
        clock.wrote(&commit.adds);
        clock.rows = plan.counts.inserted + plan.counts.updated;
        match table.commit(&commit)? {
            Outcome::Conflict => Ok(None),
            Outcome::Committed(up_to) => {
                clock.version = Some(up_to);
                Ok(Some(Changes {
                    after,
                    up_to,
                    batches: plan.changed,
                }))
            }
        }
    }

    /// Compacts a table after a commit, where that is set.
    pub(crate) fn after_commit(&mut self, table: &mut Table) -> Result<()> {
        let mut clock = Recorder::begin();
        let done = compact::auto(table, &self.writing.settings, self.writing.threads)?;
        if let Some(done) = done {
            clock.compacted(&done, table.version());
            self.recorder.end("auto-compact", Some(table.table), &clock);
        }
        Ok(())
    }

    /// Clusters the table of latest reports, where that is set.
    pub(crate) fn optimize_latest(&mut self, table: &mut Table) -> Result<()> {
        if !self.writing.settings.optimize_latest_after_merge {
            return Ok(());
        }
        let mut clock = Recorder::begin();
        if let Some(done) = compact::cluster(table, self.writing.threads)? {
            clock.compacted(&done, table.version());
            self.recorder
                .end("latest-optimize", Some(Name::Latest), &clock);
        }
        Ok(())
    }
}
