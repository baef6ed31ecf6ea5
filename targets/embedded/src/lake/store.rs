//! Where the tables lie, and how bytes get there and back.
//!
//! Log entries go through delta-rs's log store, whose `write_commit_entry` puts a version only if
//! it is absent. Data files are written and read directly: on a local disk with plain files, so
//! that only the columns asked for are read and a large file never stands in memory; elsewhere
//! through the object store.

use super::remote::{self, RemoteFile, RemoteRead, Upload};
use crate::error::{Error, Result};
use bytes::Bytes;
use deltalake::DeltaTableBuilder;
use deltalake::logstore::object_store::path::Path as ObjectPath;
use deltalake::logstore::object_store::{self, ObjectStore, ObjectStoreExt};
use deltalake::logstore::{CommitOrBytes, LogStoreRef};
use futures::TryStreamExt;
use parquet::file::reader::{ChunkReader, Length};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::runtime::{Handle, Runtime};
use url::Url;

/// The folder or prefix that holds the tables.
pub(crate) struct Root {
    url: Url,
    folder: Option<PathBuf>,
    options: HashMap<String, String>,
    runtime: Arc<Runtime>,
}

impl Root {
    /// Opens a lake at a path or an `s3://` address; a local folder is made if it is missing.
    ///
    /// # Errors
    /// [`Error::Location`], [`Error::Io`]
    pub(crate) fn open(location: &str, options: HashMap<String, String>) -> Result<Self> {
        let wrong = |reason: String| Error::Location {
            location: location.to_owned(),
            reason,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|source| wrong(source.to_string()))?;
        let runtime = Arc::new(runtime);
        if let Some((scheme, _)) = location
            .split_once("://")
            .filter(|(scheme, _)| *scheme != "file")
        {
            remote::check(scheme, &options).map_err(wrong)?;
            remote::register();
            let with_slash = format!("{}/", location.trim_end_matches('/'));
            let url = Url::parse(&with_slash).map_err(|source| wrong(source.to_string()))?;
            return Ok(Self {
                url,
                folder: None,
                options,
                runtime,
            });
        }
        let path = Path::new(location.strip_prefix("file://").unwrap_or(location));
        let io = |source| Error::Io {
            action: "making the folder",
            path: path.to_owned(),
            source,
        };
        fs::create_dir_all(path).map_err(io)?;
        let folder = fs::canonicalize(path).map_err(io)?;
        let url = Url::from_directory_path(&folder)
            .map_err(|()| wrong("the path is not absolute".to_owned()))?;
        Ok(Self {
            url,
            folder: Some(folder),
            options,
            runtime,
        })
    }

    /// The store of one table.
    pub(crate) fn table(&self, name: &'static str) -> Result<Store> {
        let folder = self.folder.as_ref().map(|root| root.join(name));
        if let Some(folder) = &folder {
            fs::create_dir_all(folder.join("_delta_log"))
                .map_err(|source| Error::storage(name, "making", "_delta_log", source))?;
        }
        let url = self
            .url
            .join(&format!("{name}/"))
            .map_err(|source| Error::storage(name, "naming", name, source))?;
        let log = DeltaTableBuilder::from_url(url.clone())
            .and_then(|builder| {
                builder
                    .with_storage_options(self.options.clone())
                    .build_storage()
            })
            .map_err(Error::delta(name))?;
        Ok(Store {
            name,
            url,
            objects: log.object_store(None),
            log,
            folder,
            options: self.options.clone(),
            runtime: Arc::clone(&self.runtime),
            uncommitted: Mutex::default(),
        })
    }

    /// The text of a small file beside the tables; `None` where there is none.
    pub(crate) fn read_note(&self, name: &'static str) -> Result<Option<String>> {
        let store = self.notes()?;
        store.read_small(&format!("{name}.json"))
    }

    /// Writes a small file beside the tables, replacing it at once.
    pub(crate) fn write_note(&self, name: &'static str, text: String) -> Result<()> {
        let store = self.notes()?;
        store.write_small(&format!("{name}.json"), text.into())
    }

    fn notes(&self) -> Result<Notes> {
        const NAME: &str = "_progress";
        match &self.folder {
            Some(root) => Ok(Notes::Local(root.join(NAME))),
            None => Ok(Notes::Remote(Box::new(self.table(NAME)?))),
        }
    }
}

enum Notes {
    Local(PathBuf),
    Remote(Box<Store>),
}

impl Notes {
    fn read_small(&self, name: &str) -> Result<Option<String>> {
        match self {
            Self::Local(folder) => match fs::read_to_string(folder.join(name)) {
                Ok(text) => Ok(Some(text)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(Error::Io {
                    action: "reading",
                    path: folder.join(name),
                    source,
                }),
            },
            Self::Remote(store) => {
                let path = ObjectPath::from(name);
                let got = store.runtime.block_on(async {
                    match store.objects.get(&path).await {
                        Ok(got) => got.bytes().await.map(Some),
                        Err(object_store::Error::NotFound { .. }) => Ok(None),
                        Err(error) => Err(error),
                    }
                });
                let bytes = got.map_err(|e| Error::storage(store.name, "reading", name, e))?;
                Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }

    fn write_small(&self, name: &str, bytes: Bytes) -> Result<()> {
        match self {
            Self::Local(folder) => {
                let path = folder.join(name);
                let io = |source| Error::Io {
                    action: "writing",
                    path: path.clone(),
                    source,
                };
                fs::create_dir_all(folder).map_err(io)?;
                let temporary = folder.join(format!(".{name}.{}", uuid::Uuid::new_v4()));
                fs::write(&temporary, &bytes).map_err(io)?;
                fs::rename(&temporary, &path).map_err(io)
            }
            Self::Remote(store) => {
                let path = ObjectPath::from(name);
                store
                    .runtime
                    .block_on(store.objects.put(&path, bytes.into()))
                    .map(|_| ())
                    .map_err(|e| Error::storage(store.name, "writing", name, e))
            }
        }
    }
}

/// One table's files and log.
pub(crate) struct Store {
    pub(crate) name: &'static str,
    url: Url,
    log: LogStoreRef,
    objects: Arc<dyn ObjectStore>,
    folder: Option<PathBuf>,
    options: HashMap<String, String>,
    runtime: Arc<Runtime>,
    /// Data files that this process has begun and that no version names yet.
    uncommitted: Mutex<BTreeSet<String>>,
}

/// A file under the table's folder.
pub(crate) struct Listed {
    pub(crate) path: String,
    pub(crate) modified: SystemTime,
}

impl Store {
    pub(crate) fn log(&self) -> &LogStoreRef {
        &self.log
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// A builder that opens the table as delta-rs does.
    pub(crate) fn builder(&self) -> Result<DeltaTableBuilder> {
        DeltaTableBuilder::from_url(self.url.clone())
            .map(|builder| builder.with_storage_options(self.options.clone()))
            .map_err(Error::delta(self.name))
    }

    /// The bytes of a log entry; `None` where the version does not exist.
    pub(crate) fn read_commit(&self, version: i64) -> Result<Option<Bytes>> {
        let number = u64::try_from(version).expect("versions are not negative");
        if let Some(folder) = &self.folder {
            let path = folder.join(format!("_delta_log/{version:020}.json"));
            return match fs::read(&path) {
                Ok(bytes) => Ok(Some(bytes.into())),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(Error::Io {
                    action: "reading",
                    path,
                    source,
                }),
            };
        }
        self.runtime
            .block_on(self.log.read_commit_entry(number))
            .map_err(Error::delta(self.name))
    }

    /// Puts a log entry if its version is still free; `false` where another writer has it.
    ///
    /// An answer says less than the log: a store that put the entry and whose answer was lost is
    /// asked again by its client, and then says that the version is taken. So what stands in the
    /// log decides. Entries of two writers are never equal, since each carries an id of its own.
    pub(crate) fn put_commit(&self, version: i64, bytes: &Bytes) -> Result<bool> {
        use deltalake::kernel::transaction::TransactionError;
        let number = u64::try_from(version).expect("versions are not negative");
        let entry = CommitOrBytes::LogBytes(bytes.clone());
        let answer = self.runtime.block_on(self.log.write_commit_entry(
            number,
            entry,
            uuid::Uuid::new_v4(),
        ));
        let Err(error) = answer else { return Ok(true) };
        match self.read_commit(version) {
            Ok(Some(stored)) => return Ok(stored == *bytes),
            Ok(None) if matches!(error, TransactionError::VersionAlreadyExists(_)) => {
                return Ok(false);
            }
            Ok(None) if self.folder.is_some() => {}
            // The entry may still come: whoever deleted its files would break the table.
            Ok(None) | Err(_) => self.uncommitted().clear(),
        }
        Err(Error::storage(
            self.name,
            "committing",
            format!("version {version}"),
            error,
        ))
    }

    /// A new data file to write to.
    pub(crate) fn create(&self, path: &str) -> Result<Sink> {
        self.uncommitted().insert(path.to_owned());
        let Some(folder) = &self.folder else {
            let objects = Arc::clone(&self.objects);
            let handle = self.handle().clone();
            return Ok(Sink::Upload(Upload::new(objects, path.into(), handle)));
        };
        let full = folder.join(path);
        let wrong = |source| Error::storage(self.name, "creating", path, source);
        if let Some(parent) = full.parent() {
            fs::create_dir_all(parent).map_err(wrong)?;
        }
        File::create_new(&full).map(Sink::File).map_err(wrong)
    }

    /// Completes a data file.
    pub(crate) fn finish(&self, path: &str, sink: Sink) -> Result<()> {
        match sink {
            Sink::File(_) | Sink::Complete => Ok(()),
            Sink::Upload(upload) => upload
                .finish()
                .map_err(|source| Error::storage(self.name, "writing", path, source)),
        }
    }

    /// Takes note that a version names these files now.
    pub(crate) fn committed<'p>(&self, paths: impl IntoIterator<Item = &'p str>) {
        let mut uncommitted = self.uncommitted();
        for path in paths {
            uncommitted.remove(path);
        }
    }

    /// Deletes the data files that were begun and that no version names, as far as that is
    /// possible: after a failure they would only take up room, and on a full disk the room that the
    /// next attempt needs.
    pub(crate) fn discard_uncommitted(&self) {
        let paths = std::mem::take(&mut *self.uncommitted());
        for path in paths {
            // What cannot be deleted now is an orphan as after a kill, and vacuum's.
            let _ = self.delete(&path);
        }
    }

    fn uncommitted(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.uncommitted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A data file to read from; `None` where it does not exist.
    pub(crate) fn open(&self, path: &str, size: i64) -> Result<Option<DataFile>> {
        if let Some(folder) = &self.folder {
            return match File::open(folder.join(path)) {
                Ok(file) => Ok(Some(DataFile::Local(file))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(Error::storage(self.name, "opening", path, source)),
            };
        }
        let objects = Arc::clone(&self.objects);
        let size = u64::try_from(size).unwrap_or_default();
        match RemoteFile::open(objects, path.into(), size, self.handle().clone()) {
            Ok(file) => Ok(Some(DataFile::Remote(Arc::new(file)))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(Error::storage(self.name, "opening", path, source)),
        }
    }

    /// Deletes a data file; one that is gone already is no error.
    pub(crate) fn delete(&self, path: &str) -> Result<()> {
        match self
            .runtime
            .block_on(self.objects.delete(&ObjectPath::from(path)))
        {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(Error::storage(self.name, "deleting", path, source)),
        }
    }

    /// Every file of the table outside its log.
    pub(crate) fn list_data(&self) -> Result<Vec<Listed>> {
        let listed = self
            .runtime
            .block_on(self.objects.list(None).try_collect::<Vec<_>>())
            .map_err(|source| Error::storage(self.name, "listing", "", source))?;
        Ok(listed
            .into_iter()
            .map(|meta| Listed {
                path: meta.location.to_string(),
                modified: meta.last_modified.into(),
            })
            .filter(|file| !file.path.starts_with("_delta_log"))
            .collect())
    }
}

/// Where a data file's bytes go.
pub(crate) enum Sink {
    /// A file on a local disk.
    File(File),
    /// An object store.
    Upload(Upload),
    /// Nowhere any more: the file is complete.
    Complete,
}

impl Sink {
    /// Bytes written.
    pub(crate) fn bytes(&self) -> std::io::Result<u64> {
        match self {
            Self::File(file) => file.metadata().map(|metadata| metadata.len()),
            Self::Upload(upload) => Ok(upload.written()),
            Self::Complete => Ok(0),
        }
    }
}

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Upload(upload) => upload.write(bytes),
            Self::Complete => Err(std::io::Error::other("the file is complete")),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Upload(upload) => upload.flush(),
            Self::Complete => Ok(()),
        }
    }
}

/// A data file that Parquet can read pieces of.
pub(crate) enum DataFile {
    /// On a local disk.
    Local(File),
    /// In an object store.
    Remote(Arc<RemoteFile>),
}

impl Length for DataFile {
    fn len(&self) -> u64 {
        match self {
            Self::Local(file) => file.len(),
            Self::Remote(file) => file.size(),
        }
    }
}

impl ChunkReader for DataFile {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        match self {
            Self::Local(file) => Ok(Box::new(BufReader::new(file.get_read(start)?))),
            Self::Remote(file) => Ok(Box::new(RemoteRead::new(file, start))),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        match self {
            Self::Local(file) => file.get_bytes(start, length),
            Self::Remote(file) => file.bytes(start, length).map_err(remote::parquet_error),
        }
    }
}
