//! A store: what it holds, and how that is added, found and dropped.

use super::file::{self, is_unfinished};
use bench_reports::gate::Entry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const STORE_FILE: &str = "store.json";
const ENTRIES: &str = "entries";
/// Keeps `entries` in a repository, which would leave out an empty folder.
const KEEP: &str = ".gitkeep";
/// What `store.json` says that the folder is.
const WHAT: &str = "baselines of bench";

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder cannot be used.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder holds something else.
    #[error("{} is no store of baselines: it is not empty and has no {STORE_FILE}; name another folder, or an empty one", .0.display())]
    NotAStore(PathBuf),
    /// Its entries are gone.
    #[error("{} has lost its folder {ENTRIES}, and with it every baseline; restore it, or remove {STORE_FILE} to begin anew", .0.display())]
    NoEntries(PathBuf),
    /// It was written by another version.
    #[error("{} has format {found}, and this bench knows {known}; use the version of bench that wrote it, or begin a new store", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The one that is known.
        known: u64,
    },
    /// A file is not what it must be.
    #[error("{} is damaged: {reason}; restore it, or remove it to go on without this baseline", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Somebody was writing there.
    #[error("{} was never finished: a job is saving, or was killed while it did; wait for it, or remove the file", .0.display())]
    Unfinished(PathBuf),
    /// A name that cannot be one of a file.
    #[error(
        "the {what} {name:?} cannot be kept under its name: allowed are letters, digits, `-`, `_` and `.`, not at the beginning or end"
    )]
    Name {
        /// What is called so.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Another run of the same name is kept.
    #[error("{} is there already, with other content: another run has the same name; rename the run directory, or drop that one", .0.display())]
    Taken(PathBuf),
    /// Nothing of that name is kept.
    #[error("the store has no {0}; `bench baseline list` shows what it has")]
    Nothing(String),
    /// An entry could not be put into text: a fault of bench.
    #[error("an entry cannot be written: {0}")]
    Text(String),
}

/// What became of saving an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It was added.
    Added,
    /// The same was there already.
    AlreadyThere,
}

/// What `store.json` holds.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct About {
    what: String,
}

/// A store of baselines. Where there is none yet, it is empty.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    exists: bool,
}

impl Store {
    /// Opens a store to read it. A folder that is empty or not there is an empty store.
    ///
    /// # Errors
    /// [`StoreError`]: a folder that holds something else, a store of another version, a damaged one.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let about = folder.join(STORE_FILE);
        let mut exists = about.exists();
        if !exists {
            let mut inside = file::list(folder)?;
            // A store is begun with this one.
            if file::list(&folder.join(ENTRIES))?.is_empty() {
                inside.retain(|(name, _)| name != ENTRIES);
            }
            if let Some((_, path)) = inside.iter().find(|(name, _)| is_unfinished(name))
                && inside.iter().all(|(name, _)| is_unfinished(name))
            {
                return Err(StoreError::Unfinished(path.clone()));
            }
            // Somebody may have begun it just now.
            exists = about.exists();
            if !exists && !inside.is_empty() {
                return Err(StoreError::NotAStore(folder.to_path_buf()));
            }
        }
        if exists {
            let told: About = file::read(&about)?;
            if told.what != WHAT {
                return Err(StoreError::NotAStore(folder.to_path_buf()));
            }
            if !folder.join(ENTRIES).is_dir() {
                return Err(StoreError::NoEntries(folder.to_path_buf()));
            }
        }
        Ok(Self {
            folder: folder.to_path_buf(),
            exists,
        })
    }

    /// Opens a store to add to it, and makes it where there is none.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn open_or_begin(folder: &Path) -> Result<Self, StoreError> {
        match Self::open(folder) {
            Ok(store) if store.exists => return Ok(store),
            // What somebody else left half written does not keep us from beginning.
            Ok(_) | Err(StoreError::Unfinished(_)) => {}
            Err(error) => return Err(error),
        }
        let entries = folder.join(ENTRIES);
        create(&entries)?;
        let keep = entries.join(KEEP);
        // Hidden, so nobody takes it for an entry, and empty, so it cannot be half written.
        fs::File::create(&keep).map_err(|source| StoreError::Io {
            action: "create",
            path: keep,
            source,
        })?;
        let about = About {
            what: WHAT.to_owned(),
        };
        file::write_new(&folder.join(STORE_FILE), &file::text(&about)?)?;
        Self::open(folder)
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds an entry. Nothing is ever overwritten.
    ///
    /// # Errors
    /// [`StoreError`]: among others, another entry of the same run and variant.
    pub fn save(&self, entry: &Entry) -> Result<Saved, StoreError> {
        let path = self.place(&entry.scenario, &entry.variant, &entry.run)?;
        create(path.parent().unwrap_or(&path))?;
        let text = file::text(entry)?;
        if file::write_new(&path, &text)? {
            return Ok(Saved::Added);
        }
        // Read for what may be wrong with it. What is compared is the text: a fraction that is read may
        // differ in its last bit from the one that was written.
        file::read::<Entry>(&path)?;
        match file::holds(&path, &text)? {
            true => Ok(Saved::AlreadyThere),
            false => Err(StoreError::Taken(path)),
        }
    }

    /// All entries of a variant of a scenario.
    ///
    /// # Errors
    /// [`StoreError`]: a file that is damaged; or only such that were never finished.
    pub fn entries(&self, scenario: &str, variant: &str) -> Result<Vec<Entry>, StoreError> {
        let folder = self.variant(scenario, variant)?;
        let mut entries = Vec::new();
        let mut unfinished = None;
        for (name, path) in file::list(&folder)? {
            if is_unfinished(&name) {
                unfinished = Some(path);
                continue;
            }
            let entry: Entry = file::read(&path)?;
            let named = entry.scenario == scenario && entry.variant == variant;
            if !named || format!("{}.json", entry.run) != name {
                return Err(StoreError::Damaged {
                    path,
                    reason: "it holds the entry of another run or variant".to_owned(),
                });
            }
            entries.push(entry);
        }
        match (entries.is_empty(), unfinished) {
            (true, Some(path)) => Err(StoreError::Unfinished(path)),
            _ => Ok(entries),
        }
    }

    /// All entries, by scenario, variant and time.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn all(&self) -> Result<Vec<Entry>, StoreError> {
        let mut all = Vec::new();
        for (scenario, variants) in self.names()? {
            for variant in variants {
                all.extend(self.entries(&scenario, &variant)?);
            }
        }
        let order = |one: &Entry| {
            (
                one.scenario.clone(),
                one.variant.clone(),
                one.started.clone(),
                one.run.clone(),
            )
        };
        all.sort_by_key(order);
        Ok(all)
    }

    /// Names of the variants of each scenario.
    fn names(&self) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
        let mut names = BTreeMap::new();
        for (scenario, folder) in file::list(&self.folder.join(ENTRIES))? {
            let variants = file::list(&folder)?.into_iter().map(|(name, _)| name);
            names.insert(scenario, variants.collect());
        }
        Ok(names)
    }

    /// Drops the entries that a name is of: a run, `SCENARIO`, or `SCENARIO/VARIANT`. Gives back how many.
    /// A damaged file is dropped by the run that it is named by.
    ///
    /// # Errors
    /// [`StoreError::Nothing`] where nothing has that name.
    pub fn drop(&self, name: &str) -> Result<usize, StoreError> {
        let mut dropped = 0;
        for (scenario, variants) in self.names()? {
            for variant in variants {
                let folder = self.variant(&scenario, &variant)?;
                for (file_name, path) in file::list(&folder)? {
                    let run = file_name.strip_suffix(".json");
                    let named = run == Some(name)
                        || scenario == name
                        || name == format!("{scenario}/{variant}");
                    if named && !is_unfinished(&file_name) {
                        fs::remove_file(&path).map_err(|source| StoreError::Io {
                            action: "remove",
                            path: path.clone(),
                            source,
                        })?;
                        dropped += 1;
                    }
                }
                // Only where nothing is left in it, and nobody is saving.
                let _ = fs::remove_dir(&folder);
            }
            let _ = fs::remove_dir(self.folder.join(ENTRIES).join(&scenario));
        }
        match dropped {
            0 => Err(StoreError::Nothing(name.to_owned())),
            some => Ok(some),
        }
    }

    fn variant(&self, scenario: &str, variant: &str) -> Result<PathBuf, StoreError> {
        named("scenario", scenario)?;
        named("variant", variant)?;
        Ok(self.folder.join(ENTRIES).join(scenario).join(variant))
    }

    fn place(&self, scenario: &str, variant: &str, run: &str) -> Result<PathBuf, StoreError> {
        named("run", run)?;
        let folder = self.variant(scenario, variant)?;
        Ok(folder.join(format!("{run}.json")))
    }
}

/// A name becomes a part of a path, and comes from a file that somebody else may have written.
fn named(what: &'static str, name: &str) -> Result<(), StoreError> {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let usable = !name.is_empty()
        && name.len() <= 200
        && name.chars().all(plain)
        && !name.starts_with('.')
        && !name.ends_with('.');
    match usable {
        true => Ok(()),
        false => Err(StoreError::Name {
            what,
            name: name.to_owned(),
        }),
    }
}

/// Makes a folder, unless it is there.
fn create(folder: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(folder).map_err(|source| StoreError::Io {
        action: "create",
        path: folder.to_path_buf(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(values: &[f64]) -> Entry {
        serde_json::from_value(json!({
            "run": "night", "started": "2025-10-29T01:00:00Z", "scenario": "s", "variant": "v",
            "key": {}, "beside": {}, "end": "verified", "concurrent": false, "prefix": 1,
            "figures": { "wall": { "values": values } },
        }))
        .unwrap()
    }

    #[test]
    fn a_store_whose_beginning_was_broken_off_is_empty_and_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(ENTRIES)).unwrap();
        fs::write(folder.path().join(ENTRIES).join(KEEP), "").unwrap();
        assert!(
            Store::open(folder.path())
                .unwrap()
                .all()
                .unwrap()
                .is_empty()
        );
        let store = Store::open_or_begin(folder.path()).unwrap();
        assert_eq!(store.save(&entry(&[1.0])).unwrap(), Saved::Added);
        assert_eq!(store.all().unwrap().len(), 1);
    }

    #[test]
    fn what_is_saved_twice_is_there_already_whatever_its_fractions() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_begin(folder.path()).unwrap();
        let mut values: Vec<f64> = (1..2_000).map(|at| f64::from(at).sqrt() / 1e3).collect();
        assert_eq!(store.save(&entry(&values)).unwrap(), Saved::Added);
        assert_eq!(store.save(&entry(&values)).unwrap(), Saved::AlreadyThere);
        // Other content of the same name is refused, however little differs.
        values[7] = values[7].next_up();
        let refused = store.save(&entry(&values));
        assert!(matches!(refused, Err(StoreError::Taken(_))), "{refused:?}");
    }
}
