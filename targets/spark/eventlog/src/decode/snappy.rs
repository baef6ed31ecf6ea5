//! `SnappyOutputStream` of snappy-java: a header, then chunks of a length and a raw snappy block.
//! They hold no checksum.

use super::blocks::{Format, header, payload};
use super::damaged;
use std::io::{self, Read};

pub(super) const MAGIC: &[u8] = b"\x82SNAPPY\0";
/// Behind the magic: version and the oldest version that reads it.
const VERSIONS: usize = 8;
/// Spark's blocks have 32 KiB; snappy-java allows up to 512 MiB, which no log has.
const LARGEST: usize = 64 << 20;

#[derive(Default)]
pub(super) struct Snappy {
    decoder: snap::raw::Decoder,
    began: bool,
}

impl Format for Snappy {
    fn next(&mut self, input: &mut impl Read, out: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let mut length = [0; 4];
            if !header(input, &mut length)? {
                return Ok(false);
            }
            // A stream that follows another one begins with a header, where a length would be.
            if length == MAGIC[..4] {
                let mut rest = [0; MAGIC.len() - 4 + VERSIONS];
                if !header(input, &mut rest)? {
                    return Err(super::cut());
                }
                if rest[..4] != MAGIC[4..] {
                    return Err(damaged("a stream begins without \"SNAPPY\""));
                }
                self.began = true;
                continue;
            }
            let stored = u32::from_be_bytes(length) as usize;
            if !self.began || stored > LARGEST {
                return Err(damaged("a chunk says that it is longer than any is"));
            }
            if stored == 0 {
                continue;
            }
            let mut block = Vec::new();
            payload(input, stored, &mut block)?;
            let length = snap::raw::decompress_len(&block)
                .ok()
                .filter(|length| *length <= LARGEST)
                .ok_or_else(|| damaged("a chunk is not snappy"))?;
            out.resize(length, 0);
            let written = self
                .decoder
                .decompress(&block, out)
                .map_err(|_| damaged("a chunk is not snappy"))?;
            out.truncate(written);
            return Ok(true);
        }
    }
}

#[cfg(test)]
pub(in crate::decode) mod tests {
    use super::*;

    /// As snappy-java frames text, in blocks of 32 KiB.
    pub(in crate::decode) fn encode(text: &[u8]) -> Vec<u8> {
        let mut out = [MAGIC, &[0, 0, 0, 1, 0, 0, 0, 1]].concat();
        for block in text.chunks(1 << 15) {
            let stored = snap::raw::Encoder::new().compress_vec(block).unwrap();
            out.extend((stored.len() as u32).to_be_bytes());
            out.extend(stored);
        }
        out
    }
}
