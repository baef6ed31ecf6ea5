//! A reader over blocks that are decompressed one at a time.

use super::cut;
use std::io::{self, Read};

/// Blocks of one format.
pub(super) trait Format {
    /// Reads the next block and puts its text into `out`, which is empty; says whether there was one.
    fn next(&mut self, input: &mut impl Read, out: &mut Vec<u8>) -> io::Result<bool>;
}

/// The text of blocks.
pub(super) struct Blocks<Input, Of> {
    input: Input,
    format: Of,
    block: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<Input: Read, Of: Format> Blocks<Input, Of> {
    pub(super) fn new(input: Input, format: Of) -> Self {
        Self {
            input,
            format,
            block: Vec::new(),
            at: 0,
            ended: false,
        }
    }
}

impl<Input: Read, Of: Format> Read for Blocks<Input, Of> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() && !self.ended {
            self.block.clear();
            self.at = 0;
            match self.format.next(&mut self.input, &mut self.block) {
                Ok(there) => self.ended = !there,
                Err(error) => {
                    self.ended = true;
                    self.block.clear();
                    return Err(error);
                }
            }
        }
        let left = &self.block[self.at..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }
}

/// Fills `header`; false where the input has ended before its first byte.
pub(super) fn header(input: &mut impl Read, header: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < header.len() {
        match input.read(&mut header[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(cut()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Reads `length` bytes. They are taken as they come, so that a length that lies costs no memory.
pub(super) fn payload(input: &mut impl Read, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
    out.clear();
    let read = input.take(length as u64).read_to_end(out)?;
    if read == length { Ok(()) } else { Err(cut()) }
}
