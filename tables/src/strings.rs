//! Texts that occur again and again, each kept once under a small number.
//!
//! The fold and verification hold millions of file names, accessions and patient ids for the length of a run. One
//! text buffer with an open-addressed index costs the text plus 19 to 30 bytes an entry, where a
//! map of owned strings costs about 80. Nothing is ever removed.

use xxhash_rust::xxh3::xxh3_64;

/// An entry of the index: a text's number, and half of its hash, so that neither a search nor
/// growing has to look at other texts.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    number: u32,
}

const FREE: Slot = Slot {
    hash: 0,
    number: u32::MAX,
};

impl Slot {
    fn is_free(self) -> bool {
        self.number == FREE.number
    }
}

/// An interner: texts get the numbers 0, 1, 2 … in the order in which they are first seen.
#[derive(Default)]
pub struct Strings {
    text: String,
    /// Where each text ends in `text`; it begins where the one before ends.
    ends: Vec<usize>,
    /// By hash, linear probing; the length is a power of two, at most 3/4 used.
    slots: Vec<Slot>,
}

impl Strings {
    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of a number.
    ///
    /// # Panics
    /// If no text has the number.
    #[must_use]
    pub fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }

    /// The number of a text; `None` for one that was never seen.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.slot(hash(text), text)];
        (!slot.is_free()).then_some(slot.number)
    }

    /// The number of a text, which it gets if it has none.
    ///
    /// # Panics
    /// On more than four billion texts.
    pub fn intern(&mut self, text: &str) -> u32 {
        if (self.len() + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let hash = hash(text);
        let at = self.slot(hash, text);
        if self.slots[at].is_free() {
            let number = u32::try_from(self.len()).ok();
            let number = number.filter(|&number| number != FREE.number);
            let number = number.expect("fewer than 2^32 - 1 texts");
            self.slots[at] = Slot { hash, number };
            self.text.push_str(text);
            self.ends.push(self.text.len());
        }
        self.slots[at].number
    }

    /// The slot that holds the text, or the free one where it belongs.
    fn slot(&self, hash: u32, text: &str) -> usize {
        self.probe(hash, |slot| {
            slot.hash == hash && self.get(slot.number) == text
        })
    }

    /// The first slot that is free or that `found` accepts.
    fn probe(&self, hash: u32, found: impl Fn(Slot) -> bool) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while !self.slots[at].is_free() && !found(self.slots[at]) {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        let old = std::mem::replace(&mut self.slots, vec![FREE; size]);
        for slot in old.into_iter().filter(|slot| !slot.is_free()) {
            let at = self.probe(slot.hash, |_| false);
            self.slots[at] = slot;
        }
    }
}

fn hash(text: &str) -> u32 {
    (xxh3_64(text.as_bytes()) >> 32) as u32
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
