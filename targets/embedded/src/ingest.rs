//! One workflow, from its logs to all tables.

use crate::batch::{self, LogBatch, Reading};
use crate::error::Result;
use crate::lake::{Root, Table, Writing};
use crate::ledger::{Ledger, TableCounts, TableState};
use crate::settings::{Settings, Vacuum};
use crate::stage::{Progress, Recorder};
use crate::tables::{Step, curated, dx, follow, latest, mapping, reports};
use bench_hl7::{ModalityMap, Reader};
use bench_tables::Table as Name;
use std::collections::{HashMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// The write settings.
    pub settings: Settings,
    /// Threads that work at once.
    pub threads: usize,
    /// Prefix of the staged names that become `source_file`.
    pub staging_root: String,
    /// Which code is which modality.
    pub modalities: ModalityMap,
    /// What the store of a lake elsewhere needs, as `AWS_…` keys.
    pub storage: HashMap<String, String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            threads: std::thread::available_parallelism().map_or(1, Into::into),
            staging_root: "staging".to_owned(),
            modalities: ModalityMap::shipped(),
            storage: HashMap::new(),
        }
    }
}

/// A lake that workflows are ingested into.
pub struct Engine {
    root: Root,
    writing: Writing,
    reader: Reader,
    staging_root: String,
    tables: Tables,
}

struct Tables {
    reports: Table,
    curated: Table,
    latest: Table,
    mapping: Table,
    history: Table,
    dx: Table,
}

impl Engine {
    /// Opens a lake, making tables that are missing.
    ///
    /// # Errors
    /// Where the lake cannot be reached, or holds a table that this engine cannot write.
    pub fn open(lake: &str, options: Options) -> Result<Self> {
        let root = Root::open(lake, options.storage)?;
        let interval = options.settings.checkpoint_interval;
        let open = |table| Table::open(&root, table, interval);
        let tables = Tables {
            reports: open(Name::Reports)?,
            curated: open(Name::Curated)?,
            latest: open(Name::Latest)?,
            mapping: open(Name::Mapping)?,
            history: open(Name::MappingHistory)?,
            dx: open(Name::Dx)?,
        };
        let mut staging_root = options.staging_root;
        if !staging_root.is_empty() && !staging_root.ends_with('/') {
            staging_root.push('/');
        }
        Ok(Self {
            root,
            writing: Writing {
                settings: options.settings,
                threads: options.threads.max(1),
            },
            reader: Reader::new(options.modalities),
            staging_root,
            tables,
        })
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.writing.settings
    }

    /// Ingests a workflow's logs into all tables.
    ///
    /// `workflow` names the workflow in this lake for ever: a second call with the same name is a
    /// new attempt of it and inserts nothing twice; a call with another name is a deliberate
    /// ingest of its own, also of logs that are there already.
    ///
    /// # Errors
    /// What an attempt committed before it failed stays, and the next one continues from it. What
    /// it wrote without committing is deleted.
    pub fn ingest(
        &mut self,
        workflow: &str,
        logs: &LogBatch,
        progress: &mut dyn Progress,
    ) -> Result<Ledger> {
        let done = self.attempt(workflow, logs, progress);
        if done.is_err() {
            for table in self.tables.all() {
                table.store.discard_uncommitted();
            }
        }
        done
    }

    fn attempt(
        &mut self,
        workflow: &str,
        logs: &LogBatch,
        progress: &mut dyn Progress,
    ) -> Result<Ledger> {
        // What another writer made of any of the tables is known before anything is written.
        for table in self.tables.all_mut() {
            table.refresh()?;
        }
        let mut recorder = Recorder::new(progress);
        let mut clock = Recorder::begin();
        let reading = Reading {
            reader: &self.reader,
            staging_root: &self.staging_root,
            updated: now_micros(),
            threads: self.writing.threads,
        };
        let (rows, mut ledger) = batch::read(logs, &reading)?;
        clock.rows = ledger.parsed;
        recorder.end("read", None, &clock);

        let mut step = Step {
            root: &self.root,
            writing: &self.writing,
            recorder: &mut recorder,
        };
        let Tables {
            reports,
            curated,
            latest,
            mapping,
            history,
            dx,
        } = &mut self.tables;

        let merged = reports::merge(&mut step, reports, &rows, workflow)?;
        drop(rows);
        ledger.reports = merged.counts;
        ledger.continued = merged.before;

        let done = curated::follow(&mut step, curated, reports, merged.changes.as_ref())?;
        drop(merged);
        let mut counted = |table: Name, counts: TableCounts| {
            ledger.tables.insert(table.name().to_owned(), counts);
        };
        counted(
            Name::Curated,
            TableCounts {
                inserted: done.inserted,
                updated: done.updated,
                dropped: done.dropped,
                ..TableCounts::default()
            },
        );
        let changed = done.changes.as_ref();

        let newest = latest::follow(&mut step, latest, curated, changed)?;
        counted(
            Name::Latest,
            TableCounts {
                inserted: newest.inserted,
                updated: newest.updated,
                kept: newest.kept,
                ..TableCounts::default()
            },
        );

        if self.writing.settings.create_mapping {
            let mapped = mapping::follow(&mut step, (mapping, history), curated, changed)?;
            counted(
                Name::Mapping,
                TableCounts {
                    inserted: mapped.inserted,
                    updated: mapped.updated,
                    ..TableCounts::default()
                },
            );
            counted(
                Name::MappingHistory,
                TableCounts {
                    inserted: mapped.history,
                    ..TableCounts::default()
                },
            );
        }
        drop(done);

        let diagnoses = dx::follow(&mut step, dx, latest, newest.changes.as_ref())?;
        counted(
            Name::Dx,
            TableCounts {
                inserted: diagnoses.inserted,
                deleted: diagnoses.deleted,
                ..TableCounts::default()
            },
        );
        ledger.state = self.state();
        Ok(ledger)
    }

    /// What the settings ask for after workflow number `done` (from 1) of `all`; the number of
    /// files deleted. `all` is `None` where it is not known.
    ///
    /// # Errors
    /// Where a file cannot be listed or deleted.
    pub fn after_workflow(&mut self, done: u32, all: Option<u32>) -> Result<usize> {
        let due = match self.writing.settings.vacuum {
            Vacuum::Never => false,
            Vacuum::End => all == Some(done),
            Vacuum::Every(workflows) => done.is_multiple_of(workflows),
        };
        if due { self.vacuum() } else { Ok(0) }
    }

    /// Deletes the files that are dead for longer than the retention, and those that killed
    /// attempts left as long ago; how many there were. Whatever the retention is, a file stays that
    /// the next attempt of an unfinished workflow needs to bring the other tables up to date.
    ///
    /// # Errors
    /// Where a file cannot be listed or deleted.
    pub fn vacuum(&mut self) -> Result<usize> {
        let Settings {
            vacuum_retention,
            create_mapping,
            ..
        } = self.writing.settings;
        for table in self.tables.all_mut() {
            table.refresh()?;
        }
        let Tables {
            reports,
            curated,
            latest,
            mapping,
            history,
            dx,
        } = &mut self.tables;
        let mut unread = HashSet::new();
        let root = &self.root;
        unread.extend(follow::unread(root, curated, reports)?);
        unread.extend(follow::unread(root, latest, curated)?);
        unread.extend(follow::unread(root, dx, latest)?);
        if create_mapping {
            unread.extend(follow::unread(root, mapping, curated)?);
            unread.extend(follow::unread(root, history, mapping)?);
        }
        let mut deleted = 0;
        for table in self.tables.all() {
            deleted += table.vacuum(vacuum_retention, &unread)?;
        }
        Ok(deleted)
    }

    /// The tables as this engine last saw them.
    #[must_use]
    pub fn state(&self) -> std::collections::BTreeMap<String, TableState> {
        let of = |table: &Table| {
            let mut state = TableState {
                version: table.version(),
                ..TableState::default()
            };
            for file in table.files() {
                state.files += 1;
                state.bytes += u64::try_from(file.size).unwrap_or_default();
                state.rows += file
                    .rows
                    .and_then(|rows| u64::try_from(rows).ok())
                    .unwrap_or_default();
            }
            (table.name().to_owned(), state)
        };
        self.tables.all().into_iter().map(of).collect()
    }
}

impl Tables {
    fn all(&self) -> [&Table; 6] {
        let Self {
            reports,
            curated,
            latest,
            mapping,
            history,
            dx,
        } = self;
        [reports, curated, latest, mapping, history, dx]
    }

    fn all_mut(&mut self) -> [&mut Table; 6] {
        let Self {
            reports,
            curated,
            latest,
            mapping,
            history,
            dx,
        } = self;
        [reports, curated, latest, mapping, history, dx]
    }
}

fn now_micros() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
