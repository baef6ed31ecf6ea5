//! Texts that occur again and again, each kept once under a small number.
//!
//! The fold holds millions of file names, accessions and patient ids for the length of a run. One
//! text buffer with an open-addressed index costs the text plus 12 to 19 bytes an entry, where a
//! map of owned strings costs about 80. Nothing is ever removed.

use xxhash_rust::xxh3::xxh3_64;

const FREE: u32 = u32::MAX;

/// An interner: texts get the numbers 0, 1, 2 … in the order in which they are first seen.
#[derive(Default)]
pub(super) struct Strings {
    text: String,
    /// Where each text ends in `text`; it begins where the one before ends.
    ends: Vec<usize>,
    /// Numbers by hash, linear probing; the length is a power of two, at most 3/4 used.
    slots: Vec<u32>,
}

impl Strings {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }

    pub(super) fn find(&self, text: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let number = self.slots[self.slot(text)];
        (number != FREE).then_some(number)
    }

    /// # Panics
    /// On more than four billion texts.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if (self.len() + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let slot = self.slot(text);
        if self.slots[slot] == FREE {
            let number = u32::try_from(self.len()).ok().filter(|&n| n != FREE);
            self.slots[slot] = number.expect("fewer than 2^32 - 1 texts");
            self.text.push_str(text);
            self.ends.push(self.text.len());
        }
        self.slots[slot]
    }

    /// The slot that holds the text, or the free one where it belongs.
    fn slot(&self, text: &str) -> usize {
        let mask = self.slots.len() - 1;
        // The low bits choose the slot, so cutting the hash on a 32-bit machine is harmless.
        let mut slot = xxh3_64(text.as_bytes()) as usize & mask;
        while self.slots[slot] != FREE && self.get(self.slots[slot]) != text {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.slots.clear();
        self.slots.resize(size, FREE);
        for number in 0..self.len() {
            let number = u32::try_from(number).expect("numbers are u32");
            let slot = self.slot(self.get(number));
            self.slots[slot] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_number_while_the_index_grows() {
        let mut strings = Strings::default();
        assert_eq!(strings.find(""), None);
        let texts: Vec<String> = (0..1000).map(|n| format!("text {n}")).collect();
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(strings.intern(text) as usize, number);
        }
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(strings.intern(text) as usize, number);
            assert_eq!(strings.find(text), Some(u32::try_from(number).unwrap()));
            assert_eq!(strings.get(u32::try_from(number).unwrap()), text);
        }
        assert_eq!(strings.find("text 1000"), None);
        assert_eq!(strings.len(), 1000);
        let empty = strings.intern("");
        assert_eq!(strings.get(empty), "");
    }
}
