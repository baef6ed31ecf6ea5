//! From a file's bytes to the text of its lines, whatever Spark compressed it with.
//!
//! Spark frames lz4 and snappy by the streams of lz4-java and snappy-java, which are not the formats
//! of the tools `lz4` and `snzip`; no library here reads them, so the frames are read by hand and
//! their blocks by the libraries. LZF is not read: Spark has not used it by default since 1.1.
//!
//! A stream that ends inside a block gives [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) behind all
//! that could be read, one that is damaged [`InvalidData`](io::ErrorKind::InvalidData).

mod blocks;
mod lz4;
mod snappy;

use crate::error::EventLogError;
use blocks::Blocks;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// How a log is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Not at all.
    None,
    /// Frames of zstd, one or more.
    Zstd,
    /// Blocks of lz4-java.
    Lz4,
    /// Chunks of snappy-java.
    Snappy,
}

const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const GZIP: &[u8] = &[0x1f, 0x8b];
const LZF: &[u8] = b"ZV";
const EVENT: &[u8] = b"{\"Event\"";

/// How a file is compressed, by its first bytes; nothing where it is no event log. A file that ends
/// inside these bytes passes for what it began as.
pub(crate) fn sniff(path: &Path) -> Result<Option<Codec>, EventLogError> {
    let io = || EventLogError::io(path);
    let mut start = Vec::new();
    let file = File::open(path).map_err(io())?;
    file.take(EVENT.len() as u64)
        .read_to_end(&mut start)
        .map_err(io())?;
    let begins =
        |magic: &[u8]| !start.is_empty() && (start.starts_with(magic) || magic.starts_with(&start));
    let known = [
        (ZSTD, Codec::Zstd),
        (lz4::MAGIC, Codec::Lz4),
        (snappy::MAGIC, Codec::Snappy),
        (EVENT, Codec::None),
    ];
    if let Some((_, codec)) = known.iter().find(|(magic, _)| begins(magic)) {
        return Ok(Some(*codec));
    }
    for (magic, codec) in [(GZIP, "gzip"), (LZF, "lzf")] {
        if start.starts_with(magic) {
            return Err(EventLogError::Codec {
                path: path.to_path_buf(),
                codec,
            });
        }
    }
    Ok(None)
}

/// Opens a file for its text. What does not begin like an event log is taken as text, so that its
/// first line is found not to be JSON.
pub(crate) fn open(path: &Path) -> Result<(Codec, Box<dyn Read + Send>), EventLogError> {
    let codec = sniff(path)?.unwrap_or(Codec::None);
    let file = File::open(path).map_err(EventLogError::io(path))?;
    Ok((codec, reader(codec, file).map_err(EventLogError::io(path))?))
}

fn reader(codec: Codec, file: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    Ok(match codec {
        Codec::None => Box::new(file),
        Codec::Zstd => Box::new(zstd::stream::read::Decoder::new(file)?),
        Codec::Lz4 => Box::new(Blocks::new(
            BufReader::with_capacity(1 << 17, file),
            lz4::Lz4,
        )),
        Codec::Snappy => Box::new(Blocks::new(
            BufReader::with_capacity(1 << 17, file),
            snappy::Snappy::default(),
        )),
    })
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends inside a block")
}

fn damaged(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Text of many lines, more than several blocks hold.
    fn text() -> Vec<u8> {
        (0..3_000)
            .flat_map(|n: u32| {
                format!("{{\"Event\":\"SparkListenerTaskStart\",\"n\":{n}}}\n").into_bytes()
            })
            .collect()
    }

    fn read(codec: Codec, bytes: &[u8]) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut out = Vec::new();
        let mut reader = reader(codec, io::Cursor::new(bytes.to_vec())).unwrap();
        let error = reader.read_to_end(&mut out).err().map(|error| error.kind());
        (out, error)
    }

    fn compressed() -> Vec<(Codec, Vec<u8>)> {
        let text = text();
        vec![
            (Codec::Zstd, zstd::encode_all(&*text, 1).unwrap()),
            (Codec::Lz4, lz4::tests::encode(&text)),
            (Codec::Snappy, snappy::tests::encode(&text)),
        ]
    }

    #[test]
    fn what_was_compressed_comes_back() {
        for (codec, bytes) in compressed() {
            assert!(read(codec, &bytes) == (text(), None), "{codec:?}");
        }
    }

    #[test]
    fn streams_one_after_the_other_are_one() {
        for (codec, mut bytes) in compressed() {
            bytes.extend(bytes.clone());
            let twice = [text(), text()].concat();
            assert!(read(codec, &bytes) == (twice, None), "{codec:?}");
        }
    }

    #[test]
    fn a_stream_cut_anywhere_gives_a_beginning_of_its_text_and_says_so() {
        for (codec, bytes) in compressed() {
            let whole = text();
            let mut cuts = 0;
            for end in (0..bytes.len()).step_by(37) {
                let (text, error) = read(codec, &bytes[..end]);
                assert!(whole.starts_with(&text), "{codec:?} {end}");
                assert!(
                    matches!(error, None | Some(io::ErrorKind::UnexpectedEof)),
                    "{codec:?} {end} {error:?}"
                );
                cuts += usize::from(error.is_some());
            }
            assert!(cuts > 10, "{codec:?} {cuts}");
        }
    }

    #[test]
    fn a_block_changed_on_its_way_is_not_read() {
        let text = text();
        let mut bytes = lz4::tests::encode(&text);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let (read, error) = read(Codec::Lz4, &bytes);
        assert_eq!(error, Some(io::ErrorKind::InvalidData));
        assert!(read.len() < text.len() && text.starts_with(&read));
    }
}
