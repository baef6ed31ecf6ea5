//! Where a lake lies, on a local disk or elsewhere, and how its bytes are read.

use super::entry::rows_of;
use bytes::Bytes;
use deltalake::DeltaTableBuilder;
use deltalake::logstore::LogStoreRef;
use deltalake::logstore::object_store::path::Path as ObjectPath;
use deltalake::logstore::object_store::{Error as ObjectError, ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;
use url::Url;

const LOG: &str = "_delta_log";

/// The folder or prefix that holds the tables.
pub(crate) struct Lake {
    url: Url,
    folder: Option<PathBuf>,
    storage: HashMap<String, String>,
    runtime: Arc<Runtime>,
}

impl Lake {
    /// A lake at a path or an address; it need not exist.
    ///
    /// # Errors
    /// Says what is wrong with the address.
    pub(crate) fn open(lake: &str, storage: &BTreeMap<String, String>) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| format!("no thread can be started: {error}"))?;
        let is_elsewhere = lake.contains("://") && !lake.starts_with("file://");
        let (url, folder) = if is_elsewhere {
            let url = Url::parse(&format!("{}/", lake.trim_end_matches('/')))
                .map_err(|error| format!("it is no address: {error}"))?;
            (url, None)
        } else {
            let path = Path::new(lake.strip_prefix("file://").unwrap_or(lake));
            let path = std::path::absolute(path).map_err(|error| error.to_string())?;
            let url = Url::from_directory_path(&path)
                .map_err(|()| "its path is not absolute".to_owned())?;
            (url, Some(path))
        };
        Ok(Self {
            url,
            folder,
            storage: storage.clone().into_iter().collect(),
            runtime: Arc::new(runtime),
        })
    }

    /// The store of a table; `None` where a local lake has no such folder.
    ///
    /// # Errors
    /// Where the store cannot be made.
    pub(crate) fn table(&self, name: &str) -> Result<Option<TableStore>, String> {
        let folder = self.folder.as_ref().map(|lake| lake.join(name));
        if folder
            .as_ref()
            .is_some_and(|folder| !folder.join(LOG).is_dir())
        {
            return Ok(None);
        }
        let url = self.url.join(&format!("{name}/")).map_err(text)?;
        let builder = DeltaTableBuilder::from_url(url.clone()).map_err(text)?;
        let builder = builder.with_storage_options(self.storage.clone());
        let log = builder.build_storage().map_err(text)?;
        Ok(Some(TableStore {
            objects: log.object_store(None),
            log,
            folder,
            runtime: Arc::clone(&self.runtime),
        }))
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A file of a table's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFile {
    /// The entry of a version.
    Entry(i64),
    /// A checkpoint, or a part of one.
    Checkpoint(i64),
}

impl LogFile {
    /// What a file of the log is by its name; `None` for all others.
    fn of(name: &str) -> Option<Self> {
        let (version, rest) = name.split_at_checked(20)?;
        let version = version.parse().ok()?;
        match rest {
            ".json" => Some(Self::Entry(version)),
            _ if rest.starts_with(".checkpoint.") => Some(Self::Checkpoint(version)),
            _ => None,
        }
    }
}

/// A live file as the newest version names it.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    /// Relative to the table.
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) statistics: Option<String>,
    pub(crate) partition: HashMap<String, Option<String>>,
    pub(crate) has_deletion_vector: bool,
}

impl Live {
    /// `numRecords` of the statistics.
    pub(crate) fn rows(&self) -> Option<u64> {
        rows_of(self.statistics.as_deref()?)
    }
}

/// A table's newest version.
pub(crate) struct Snapshot {
    pub(crate) version: i64,
    pub(crate) files: Vec<Live>,
    /// Its schema in Delta's JSON.
    pub(crate) schema: Value,
    /// Reader features, each of which may change how rows are to be read.
    pub(crate) reader_features: Vec<String>,
    /// Columns that it is partitioned by.
    pub(crate) partition_columns: Vec<String>,
}

/// The files of one table.
pub(crate) struct TableStore {
    log: LogStoreRef,
    objects: Arc<dyn ObjectStore>,
    folder: Option<PathBuf>,
    runtime: Arc<Runtime>,
}

impl TableStore {
    /// The table's folder, where it has one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The entries and checkpoints of the log, in no order.
    ///
    /// # Errors
    /// Where the log cannot be listed.
    pub(crate) fn log_files(&self) -> Result<Vec<LogFile>, String> {
        if let Some(folder) = &self.folder {
            let entries = fs::read_dir(folder.join(LOG)).map_err(text)?;
            return entries
                .map(|entry| Ok(entry.map_err(text)?.file_name()))
                .filter_map(|name: Result<_, String>| match name {
                    Ok(name) => LogFile::of(name.to_str()?).map(Ok),
                    Err(error) => Some(Err(error)),
                })
                .collect();
        }
        let prefix = ObjectPath::from(LOG);
        let listed = self.objects.list(Some(&prefix)).try_collect::<Vec<_>>();
        let listed = self.runtime.block_on(listed).map_err(text)?;
        Ok(listed
            .iter()
            .filter_map(|object| LogFile::of(object.location.filename()?))
            .collect())
    }

    /// The bytes of a version's entry; `None` where there is none.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(crate) fn entry(&self, version: i64) -> Result<Option<Bytes>, String> {
        let name = format!("{LOG}/{version:020}.json");
        if let Some(folder) = &self.folder {
            return match fs::read(folder.join(&name)) {
                Ok(bytes) => Ok(Some(bytes.into())),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(format!("{name}: {error}")),
            };
        }
        let path = ObjectPath::from(name.as_str());
        self.runtime.block_on(async {
            match self.objects.get(&path).await {
                Ok(got) => got.bytes().await.map(Some).map_err(text),
                Err(ObjectError::NotFound { .. }) => Ok(None),
                Err(error) => Err(text(error)),
            }
        })
    }

    /// The newest version, read with delta-rs, checkpoints and all.
    ///
    /// # Errors
    /// What delta-rs says.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, String> {
        self.runtime.block_on(async {
            let mut table = deltalake::DeltaTable::new(Arc::clone(&self.log));
            table.load().await.map_err(text)?;
            let state = table.snapshot().map_err(text)?;
            let views: Vec<_> = state
                .snapshot()
                .file_views(self.log.as_ref(), None)
                .try_collect()
                .await
                .map_err(text)?;
            let files = views.iter().map(|view| {
                #[allow(
                    deprecated,
                    reason = "partition values as text are reachable in no other way"
                )]
                let add = view.add_action();
                Live {
                    path: add.path,
                    size: u64::try_from(add.size).unwrap_or_default(),
                    statistics: add.stats,
                    partition: add.partition_values,
                    has_deletion_vector: add.deletion_vector.is_some(),
                }
            });
            let protocol = serde_json::to_value(state.protocol()).map_err(text)?;
            let metadata = serde_json::to_value(state.metadata()).map_err(text)?;
            let schema = metadata["schemaString"].as_str().unwrap_or_default();
            Ok(Snapshot {
                version: i64::try_from(state.version()).map_err(text)?,
                files: files.collect(),
                schema: serde_json::from_str(schema)
                    .map_err(|_| "its log holds no schema".to_owned())?,
                reader_features: texts(&protocol["readerFeatures"]),
                partition_columns: texts(&metadata["partitionColumns"]),
            })
        })
    }

    /// Every Parquet file of the table outside its log with its size, for a lake elsewhere.
    ///
    /// # Errors
    /// Where the table cannot be listed.
    pub(crate) fn listed_objects(&self) -> Result<HashMap<String, u64>, String> {
        let listed = self.objects.list(None).try_collect::<Vec<_>>();
        let listed = self.runtime.block_on(listed).map_err(text)?;
        Ok(listed
            .into_iter()
            .map(|object| (object.location.to_string(), object.size))
            .filter(|(path, _)| !path.starts_with(LOG) && is_data_file(path))
            .collect())
    }

    /// Size of a data file; `None` where there is none.
    ///
    /// # Errors
    /// Where that cannot be found out.
    pub(crate) fn size_of(&self, path: &str) -> Result<Option<u64>, String> {
        if let Some(folder) = &self.folder {
            return match fs::metadata(folder.join(path)) {
                Ok(metadata) => Ok(Some(metadata.len())),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(text(error)),
            };
        }
        let path = ObjectPath::from(path);
        match self.runtime.block_on(self.objects.head(&path)) {
            Ok(object) => Ok(Some(object.size)),
            Err(ObjectError::NotFound { .. }) => Ok(None),
            Err(error) => Err(text(error)),
        }
    }

    /// Opens a data file. Of a local one only what is asked for is read; one that lies elsewhere is
    /// fetched whole.
    ///
    /// # Errors
    /// Where it is not there or cannot be read.
    pub(crate) fn open(&self, path: &str) -> Result<DataFile, String> {
        if let Some(folder) = &self.folder {
            return File::open(folder.join(path))
                .map(DataFile::Local)
                .map_err(text);
        }
        let path = ObjectPath::from(path);
        self.runtime
            .block_on(async { self.objects.get(&path).await?.bytes().await })
            .map(DataFile::Fetched)
            .map_err(text)
    }
}

/// Whether a path, by its name, is a data file.
pub(crate) fn is_data_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".parquet") && !name.starts_with('.')
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}

/// A data file that can be read.
pub(crate) enum DataFile {
    Local(File),
    Fetched(Bytes),
}

impl Length for DataFile {
    fn len(&self) -> u64 {
        match self {
            Self::Local(file) => file.len(),
            Self::Fetched(bytes) => bytes.len() as u64,
        }
    }
}

impl ChunkReader for DataFile {
    type T = Box<dyn std::io::Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(match self {
            Self::Local(file) => Box::new(file.get_read(start)?),
            Self::Fetched(bytes) => Box::new(bytes.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            Self::Local(file) => file.get_bytes(start, length),
            Self::Fetched(bytes) => bytes.get_bytes(start, length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_log_are_known_by_their_names() {
        for (name, expected) in [
            ("00000000000000000003.json", Some(LogFile::Entry(3))),
            (
                "00000000000000000010.checkpoint.parquet",
                Some(LogFile::Checkpoint(10)),
            ),
            (
                "00000000000000000010.checkpoint.0000000001.0000000002.parquet",
                Some(LogFile::Checkpoint(10)),
            ),
            ("_last_checkpoint", None),
            ("00000000000000000003.crc", None),
            ("0000000000000000000é.json", None),
        ] {
            assert_eq!(LogFile::of(name), expected, "{name}");
        }
    }

    #[test]
    fn a_lake_that_is_not_there_has_no_tables_and_is_not_made() {
        let folder = tempfile::tempdir().expect("a folder is made");
        let lake = folder.path().join("lake");
        let opened = Lake::open(lake.to_str().expect("it is text"), &BTreeMap::new());
        let opened = opened.expect("it is an address");
        assert!(opened.table("reports").expect("it can be asked").is_none());
        assert!(!lake.exists());
    }
}
