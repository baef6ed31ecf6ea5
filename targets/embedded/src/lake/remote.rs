//! Lakes in an object store that speaks S3.
//!
//! delta-rs has a crate of its own for this, with a lock in DynamoDB for stores that cannot put an
//! object only if it is absent, and with most of the AWS SDK behind it. Every S3 of today can
//! (`If-None-Match: *`), the client for it is compiled with delta-rs's kernel anyway, and so all
//! that is needed is to make that client known to delta-rs: [`register`].
//!
//! Data files are read by ranges and written in parts, so that neither stands in memory as a whole.

use bytes::{Bytes, BytesMut};
use deltalake::logstore::object_store::aws::{
    AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut,
};
use deltalake::logstore::object_store::path::Path as ObjectPath;
use deltalake::logstore::object_store::{
    self, MultipartUpload, ObjectStore, ObjectStoreExt, RetryConfig,
};
use deltalake::logstore::{
    LogStore, LogStoreFactory, ObjectStoreFactory, ObjectStoreRef, StorageConfig, default_logstore,
    logstore_factories, object_store_factories,
};
use deltalake::{DeltaResult, DeltaTableError};
use parquet::errors::ParquetError;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use url::Url;

const SCHEMES: [&str; 2] = ["s3", "s3a"];
/// Seconds after which a request is not tried again; an option of this engine.
const RETRY_SECONDS: &str = "retry_timeout_seconds";

/// Makes `s3://` and `s3a://` known to delta-rs in this process. A lake that the engine opens does
/// it; who opens such a table through delta-rs alone calls it once before.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for scheme in SCHEMES {
            let url = Url::parse(&format!("{scheme}://")).expect("it is a scheme");
            object_store_factories().insert(url.clone(), Arc::new(S3));
            logstore_factories().insert(url, Arc::new(S3));
        }
    });
}

/// Whether an address and its options can be opened; why not, in words.
pub(super) fn check(scheme: &str, options: &HashMap<String, String>) -> Result<(), String> {
    if !SCHEMES.contains(&scheme) {
        return Err(format!(
            "{scheme}:// is not supported; give a local path or an s3:// address"
        ));
    }
    for (key, value) in options {
        if key.eq_ignore_ascii_case(RETRY_SECONDS) {
            value.parse::<u64>().map_err(|_| {
                format!("the storage option {key} must be a whole number of seconds")
            })?;
            continue;
        }
        let known: Option<AmazonS3ConfigKey> = key.to_ascii_lowercase().parse().ok();
        match known {
            None => {
                return Err(format!(
                    "the storage option {key} is unknown; the options are those of the S3 client, \
                     such as AWS_ENDPOINT, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_ALLOW_HTTP, and \
                     {RETRY_SECONDS}"
                ));
            }
            Some(AmazonS3ConfigKey::ConditionalPut) if !value.eq_ignore_ascii_case("etag") => {
                return Err(format!(
                    "the storage option {key} must be etag: without it two writers could make the \
                     same version"
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// What delta-rs asks for a store and for a log.
struct S3;

impl ObjectStoreFactory for S3 {
    fn parse_url_opts(
        &self,
        url: &Url,
        config: &StorageConfig,
    ) -> DeltaResult<(ObjectStoreRef, ObjectPath)> {
        let mut builder = AmazonS3Builder::from_env().with_url(url.as_str());
        let mut retry = RetryConfig::default();
        for (key, value) in config.raw() {
            if key.eq_ignore_ascii_case(RETRY_SECONDS) {
                let seconds = value
                    .parse()
                    .map_err(|e: std::num::ParseIntError| DeltaTableError::generic(e))?;
                retry.retry_timeout = Duration::from_secs(seconds);
            } else if let Ok(key) = key.to_ascii_lowercase().parse() {
                builder = builder.with_config(key, value);
            }
        }
        let store = builder
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_retry(retry)
            .build()?;
        Ok((Arc::new(store), ObjectPath::from_url_path(url.path())?))
    }
}

impl LogStoreFactory for S3 {
    fn with_options(
        &self,
        prefixed: ObjectStoreRef,
        root: ObjectStoreRef,
        location: &Url,
        options: &StorageConfig,
    ) -> DeltaResult<Arc<dyn LogStore>> {
        Ok(default_logstore(prefixed, root, location, options))
    }
}

/// Bytes that are fetched at once.
const BLOCK_BYTES: u64 = 1024 * 1024;
/// Blocks of a file that are kept: more than a table has columns, which are read side by side.
const MOST_BLOCKS: usize = 96;

/// A data file that is read by ranges. Parquet asks for many small ones, mostly one after the
/// other, so whole blocks are fetched and the last ones kept.
pub(crate) struct RemoteFile {
    objects: Arc<dyn ObjectStore>,
    path: ObjectPath,
    size: u64,
    runtime: Handle,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    /// Every block with the time it was last used.
    held: HashMap<u64, (Bytes, u64)>,
    clock: u64,
}

impl RemoteFile {
    /// Opens a file by fetching its end, where Parquet has its footer.
    pub(super) fn open(
        objects: Arc<dyn ObjectStore>,
        path: ObjectPath,
        size: u64,
        runtime: Handle,
    ) -> object_store::Result<Self> {
        let file = Self {
            objects,
            path,
            size,
            runtime,
            blocks: Mutex::default(),
        };
        let last = size.saturating_sub(1) / BLOCK_BYTES;
        file.fetch(&mut Blocks::lock(&file.blocks), last, last)?;
        Ok(file)
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Some bytes of the file.
    pub(super) fn bytes(&self, start: u64, length: usize) -> object_store::Result<Bytes> {
        let end = start + length as u64;
        if length == 0 {
            return Ok(Bytes::new());
        }
        let (first, last) = (start / BLOCK_BYTES, (end - 1) / BLOCK_BYTES);
        if last - first >= MOST_BLOCKS as u64 {
            return self.range(start, end);
        }
        let mut blocks = Blocks::lock(&self.blocks);
        let mut next = first;
        while next <= last {
            if blocks.held.contains_key(&next) {
                next += 1;
                continue;
            }
            let run = (next..=last).take_while(|at| !blocks.held.contains_key(at));
            let to = run.last().unwrap_or(next);
            self.fetch(&mut blocks, next, to)?;
            next = to + 1;
        }
        let pieces: Vec<Bytes> = (first..=last)
            .map(|at| {
                let block = blocks.used(at);
                let from = start.saturating_sub(at * BLOCK_BYTES);
                let to = (end - at * BLOCK_BYTES).min(block.len() as u64);
                block.slice(index(from.min(to))..index(to))
            })
            .collect();
        blocks.shrink();
        if let [piece] = pieces.as_slice() {
            return Ok(piece.clone());
        }
        let mut all = BytesMut::with_capacity(length);
        for piece in pieces {
            all.extend_from_slice(&piece);
        }
        Ok(all.freeze())
    }

    fn range(&self, start: u64, end: u64) -> object_store::Result<Bytes> {
        self.runtime
            .block_on(self.objects.get_range(&self.path, start..end))
    }

    /// Fetches neighbouring blocks with one request.
    fn fetch(&self, blocks: &mut Blocks, first: u64, last: u64) -> object_store::Result<()> {
        let start = first * BLOCK_BYTES;
        let bytes = self.range(start, ((last + 1) * BLOCK_BYTES).min(self.size))?;
        for at in first..=last {
            let from = index((at - first) * BLOCK_BYTES).min(bytes.len());
            let to = (from + index(BLOCK_BYTES)).min(bytes.len());
            blocks.hold(at, bytes.slice(from..to));
        }
        Ok(())
    }
}

impl Blocks {
    fn lock(blocks: &Mutex<Self>) -> std::sync::MutexGuard<'_, Self> {
        blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&mut self, at: u64, block: Bytes) {
        self.clock += 1;
        self.held.insert(at, (block, self.clock));
    }

    /// A block that is held.
    fn used(&mut self, at: u64) -> Bytes {
        self.clock += 1;
        match self.held.get_mut(&at) {
            Some((block, used)) => {
                *used = self.clock;
                block.clone()
            }
            None => Bytes::new(),
        }
    }

    /// Lets go of the blocks that were not used for longest.
    fn shrink(&mut self) {
        while self.held.len() > MOST_BLOCKS {
            let oldest = self.held.iter().min_by_key(|(_, (_, used))| *used);
            let Some((&oldest, _)) = oldest else { return };
            self.held.remove(&oldest);
        }
    }
}

fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("a block fits into memory")
}

/// Reads a file on from somewhere.
pub(super) struct RemoteRead {
    file: Arc<RemoteFile>,
    at: u64,
}

impl RemoteRead {
    pub(super) fn new(file: &Arc<RemoteFile>, at: u64) -> Self {
        let file = Arc::clone(file);
        Self { file, at }
    }
}

impl Read for RemoteRead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Not beyond the block, whose end may be the end of what anybody wants.
        let left = BLOCK_BYTES - self.at % BLOCK_BYTES;
        let length = left
            .min(self.file.size.saturating_sub(self.at))
            .min(into.len() as u64);
        let bytes = self
            .file
            .bytes(self.at, index(length))
            .map_err(io::Error::other)?;
        into[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

/// An error of the store as Parquet passes it on.
pub(super) fn parquet_error(error: object_store::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// Bytes of a part; a file that is smaller is put at once.
const PART_BYTES: usize = 16 * 1024 * 1024;

/// A data file that is written in parts. It exists when [`Self::finish`] returns, and not before;
/// what is dropped without it is taken back.
pub(crate) struct Upload {
    objects: Arc<dyn ObjectStore>,
    path: ObjectPath,
    runtime: Handle,
    buffer: Vec<u8>,
    written: u64,
    parts: Option<Box<dyn MultipartUpload>>,
}

impl Upload {
    pub(super) fn new(objects: Arc<dyn ObjectStore>, path: ObjectPath, runtime: Handle) -> Self {
        Self {
            objects,
            path,
            runtime,
            buffer: Vec::new(),
            written: 0,
            parts: None,
        }
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn finish(mut self) -> object_store::Result<()> {
        let rest = std::mem::take(&mut self.buffer);
        match self.parts.take() {
            None => self
                .runtime
                .block_on(self.objects.put(&self.path, rest.into()))
                .map(|_| ()),
            Some(mut parts) => {
                let done = self.runtime.block_on(async {
                    if !rest.is_empty() {
                        parts.put_part(rest.into()).await?;
                    }
                    parts.complete().await.map(|_| ())
                });
                if done.is_err() {
                    self.parts = Some(parts);
                }
                done
            }
        }
    }

    fn put_part(&mut self) -> object_store::Result<()> {
        let part = std::mem::take(&mut self.buffer);
        if self.parts.is_none() {
            let begun = self.objects.put_multipart(&self.path);
            self.parts = Some(self.runtime.block_on(begun)?);
        }
        match &mut self.parts {
            Some(parts) => self.runtime.block_on(parts.put_part(part.into())),
            None => Ok(()),
        }
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
        if self.buffer.len() >= PART_BYTES {
            self.put_part().map_err(io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(mut parts) = self.parts.take() {
            // A store keeps parts that nobody completes; who cannot be reached now keeps them too.
            let _ = self.runtime.block_on(parts.abort());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltalake::logstore::object_store::memory::InMemory;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Runtime::new().expect("a runtime starts")
    }

    fn content(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at * 31 % 251) as u8).collect()
    }

    #[test]
    fn every_range_of_a_file_is_read_as_it_was_written() {
        let runtime = runtime();
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let all = content(BLOCK_BYTES as usize * 3 + 17);
        let mut upload = Upload::new(Arc::clone(&objects), "f".into(), runtime.handle().clone());
        upload.write_all(&all).expect("it is written");
        assert_eq!(upload.written(), all.len() as u64);
        upload.finish().expect("it is put");
        let size = all.len() as u64;
        let file = RemoteFile::open(objects, "f".into(), size, runtime.handle().clone());
        let file = Arc::new(file.expect("it is there"));
        let block = BLOCK_BYTES;
        for (start, length) in [
            (0, 1),
            (size - 8, 8),
            (block - 3, 6),
            (1, block * 2),
            (block * 2, block + 17),
            (0, size),
            (5, 0),
        ] {
            let found = file.bytes(start, length as usize).expect("it is read");
            let (start, end) = (start as usize, (start + length) as usize);
            assert!(found == all[start..end], "{start}..{end}");
        }
        let mut rest = Vec::new();
        let from = block - 1;
        let mut reader = RemoteRead::new(&file, from);
        reader.read_to_end(&mut rest).expect("it is read");
        assert!(rest == all[from as usize..]);
    }

    #[test]
    fn a_large_file_is_written_in_parts_and_one_given_up_does_not_exist() {
        let runtime = runtime();
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let all = content(PART_BYTES + 5);
        for finished in [false, true] {
            let handle = runtime.handle().clone();
            let mut upload = Upload::new(Arc::clone(&objects), "f".into(), handle);
            upload.write_all(&all).expect("it is written");
            assert!(upload.parts.is_some(), "a part is on its way");
            if finished {
                upload.finish().expect("it is put");
            }
            let found = runtime.block_on(objects.head(&"f".into()));
            assert_eq!(
                found.map(|meta| meta.size).ok(),
                finished.then_some(all.len() as u64)
            );
        }
    }

    #[test]
    fn blocks_not_used_for_longest_go_first() {
        let mut blocks = Blocks::default();
        for at in 0..=MOST_BLOCKS as u64 {
            blocks.hold(at, Bytes::new());
        }
        blocks.used(0);
        blocks.shrink();
        assert_eq!(blocks.held.len(), MOST_BLOCKS);
        assert!(blocks.held.contains_key(&0) && !blocks.held.contains_key(&1));
    }

    #[test]
    fn an_option_that_the_client_does_not_know_is_named() {
        let options = |key: &str, value: &str| HashMap::from([(key.to_owned(), value.to_owned())]);
        check("s3", &options("AWS_ENDPOINT", "http://127.0.0.1:1")).expect("it is known");
        check("s3a", &options("retry_timeout_seconds", "3")).expect("it is known");
        for (key, value, told) in [
            ("AWS_ENDPONT", "x", "AWS_ENDPONT is unknown"),
            ("AWS_CONDITIONAL_PUT", "disabled", "must be etag"),
            ("retry_timeout_seconds", "3s", "whole number"),
        ] {
            let error = check("s3", &options(key, value)).expect_err("it is refused");
            assert!(error.contains(told), "{error}");
        }
        assert!(check("gs", &HashMap::new()).is_err());
    }
}
