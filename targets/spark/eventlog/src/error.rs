//! What keeps an event log from being read at all. What is wrong inside one is a
//! [`Finding`](crate::Finding): its figures are still given, and marked.

use std::io;
use std::path::{Path, PathBuf};

/// Why an event log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EventLogError {
    /// A file or folder cannot be read.
    #[error("cannot read {path}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nothing there is an event log.
    #[error(
        "{path} holds no event log; allowed are a file that Spark wrote, a folder \
         eventlog_v2_<application>, and a folder of these"
    )]
    NoLog {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// It is compressed in a way that is not read.
    #[error(
        "{path} is compressed with {codec}, which is not read; allowed are none, zstd, lz4 and \
         snappy: set spark.eventLog.compression.codec to one of them, or decompress the file"
    )]
    Codec {
        /// The file.
        path: PathBuf,
        /// The codec.
        codec: &'static str,
    },
    /// The system gives no thread to read with.
    #[error("cannot start a thread to read {path}")]
    Thread {
        /// The log.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl EventLogError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, source }
    }
}
