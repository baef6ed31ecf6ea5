//! `LZ4BlockOutputStream` of lz4-java: blocks of a magic, a token, two lengths and a checksum.

use super::blocks::{Format, header, payload};
use super::damaged;
use std::io::{self, Read};
use twox_hash::XxHash32;

pub(super) const MAGIC: &[u8] = b"LZ4Block";
const HEADER: usize = MAGIC.len() + 1 + 3 * 4;
const RAW: u8 = 0x10;
const LZ4: u8 = 0x20;
const SEED: u32 = 0x9747_b28c;
/// lz4-java keeps 28 bits of the checksum.
const KEPT: u32 = 0x0fff_ffff;
/// The token's lower half is the block size as a power of two, less ten.
const SMALLEST_LOG: u32 = 10;

pub(super) struct Lz4;

impl Format for Lz4 {
    fn next(&mut self, input: &mut impl Read, out: &mut Vec<u8>) -> io::Result<bool> {
        let mut head = [0; HEADER];
        loop {
            if !header(input, &mut head)? {
                return Ok(false);
            }
            let (magic, rest) = head.split_at(MAGIC.len());
            if magic != MAGIC {
                return Err(damaged("a block begins without \"LZ4Block\""));
            }
            let number = |at: usize| {
                u32::from_le_bytes(rest[at..at + 4].try_into().expect("four bytes of a header"))
            };
            let (token, stored, length, checksum) = (rest[0], number(1), number(5), number(9));
            let largest = 1_u32 << (SMALLEST_LOG + u32::from(token & 0x0f));
            if length > largest || stored > largest.saturating_mul(2) {
                return Err(damaged(
                    "a block says that it is longer than its kind may be",
                ));
            }
            // A block of nothing ends a stream; another stream may follow.
            if length == 0 && stored == 0 {
                continue;
            }
            let length = length as usize;
            match token & 0xf0 {
                RAW if stored as usize == length => payload(input, length, out)?,
                LZ4 => {
                    let mut block = Vec::new();
                    payload(input, stored as usize, &mut block)?;
                    out.resize(length, 0);
                    let written = lz4_flex::block::decompress_into(&block, out)
                        .map_err(|_| damaged("a block is not lz4"))?;
                    if written != length {
                        return Err(damaged("a block is shorter than it says"));
                    }
                }
                _ => return Err(damaged("a block is neither raw nor lz4")),
            }
            if XxHash32::oneshot(SEED, out) & KEPT != checksum {
                return Err(damaged("a block's checksum is wrong"));
            }
            return Ok(true);
        }
    }
}

#[cfg(test)]
pub(in crate::decode) mod tests {
    use super::*;

    /// As lz4-java frames text, in blocks of 32 KiB, every third of them raw.
    pub(in crate::decode) fn encode(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, block) in text.chunks(1 << 15).enumerate() {
            let (method, stored) = if number % 3 == 2 {
                (RAW, block.to_vec())
            } else {
                (LZ4, lz4_flex::block::compress(block))
            };
            out.extend(MAGIC);
            out.push(method | 5);
            for number in [
                stored.len() as u32,
                block.len() as u32,
                XxHash32::oneshot(SEED, block) & KEPT,
            ] {
                out.extend(number.to_le_bytes());
            }
            out.extend(stored);
        }
        out.extend(MAGIC);
        out.push(RAW | 5);
        out.extend([0; 12]);
        out
    }
}
