//! Finding delimiters that stand close together.
//!
//! Fields and components are a few bytes long, so that the call of a vectorised search costs more
//! than what it searches. Eight bytes at a time are compared in one word instead.

const WORD: usize = size_of::<u64>();
const LOW: u64 = u64::from_le_bytes([0x7F; WORD]);

/// The high bit of each byte of a word that is the delimiter, whose word holds it in every byte.
#[inline]
fn matches(word: u64, delimiters: u64) -> u64 {
    let zero_where_equal = word ^ delimiters;
    // Adding 0x7F to the low seven bits carries into the high bit unless they are all zero, and
    // never into the next byte.
    !(((zero_where_equal & LOW) + LOW) | zero_where_equal | LOW)
}

/// The bytes behind the last whole word, as a word that is filled up with zeros, which are no
/// delimiter. Made by shifting, since copying so few bytes is a call.
#[inline]
fn last_word(bytes: &[u8], tail: &[u8]) -> u64 {
    match bytes.last_chunk::<WORD>() {
        _ if tail.is_empty() => 0,
        Some(word) => u64::from_le_bytes(*word) >> (8 * (WORD - tail.len())),
        None => tail
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Calls `visit` with each position of any of some ASCII delimiters, until it returns `false`.
#[inline(always)]
pub(crate) fn each_position<const N: usize>(
    text: &str,
    delimiters: [u8; N],
    mut visit: impl FnMut(usize) -> bool,
) {
    let delimiters = delimiters.map(|delimiter| u64::from_le_bytes([delimiter; WORD]));
    let (words, tail) = text.as_bytes().as_chunks::<WORD>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let mut at = 0;
    for word in words.chain([last_word(text.as_bytes(), tail)]) {
        let mut found = delimiters
            .iter()
            .fold(0, |found, each| found | matches(word, *each));
        while found != 0 {
            if !visit(at + found.trailing_zeros() as usize / 8) {
                return;
            }
            found &= found - 1;
        }
        at += WORD;
    }
}

/// A text up to the first of an ASCII delimiter.
#[inline]
pub(crate) fn up_to(text: &str, delimiter: u8) -> &str {
    let mut end = text.len();
    each_position(text, [delimiter], |at| {
        end = at;
        false
    });
    &text[..end]
}

/// A part of a text split at an ASCII delimiter, counted from 1.
#[inline]
pub(crate) fn nth_part(text: &str, delimiter: u8, number: usize) -> Option<&str> {
    let (mut current, mut start, mut end) = (1, 0, text.len());
    if number == 0 {
        return None;
    }
    each_position(text, [delimiter], |at| {
        if current == number {
            end = at;
            return false;
        }
        (current, start) = (current + 1, at + 1);
        true
    });
    (current == number).then(|| &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_those_of_the_standard_library(text in "[|}{\u{7c}\u{fc}\u{17c}a\0]{0,40}") {
            let expected: Vec<&str> = text.split('|').collect();
            let mut positions = Vec::new();
            each_position(&text, [b'|', b'}'], |at| {
                positions.push(at);
                positions.len() < 7
            });
            let all = text.match_indices(['|', '}']).map(|(at, _)| at);
            prop_assert_eq!(positions, all.take(7).collect::<Vec<_>>());
            prop_assert_eq!(up_to(&text, b'|'), expected[0]);
            for number in 0..=expected.len() + 1 {
                let nth = number.checked_sub(1).and_then(|at| expected.get(at)).copied();
                prop_assert_eq!(nth_part(&text, b'|', number), nth);
            }
        }
    }

    #[test]
    fn every_byte_but_the_delimiter_is_told_from_it() {
        for byte in 0..=255 {
            for at in 0..WORD {
                let mut word = [byte ^ 1; WORD];
                word[at] = byte;
                let found = matches(u64::from_le_bytes(word), u64::from_le_bytes([byte; WORD]));
                assert_eq!(found, 0x80 << (8 * at));
            }
        }
    }
}
