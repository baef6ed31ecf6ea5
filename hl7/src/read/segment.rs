//! A segment's text and its fields, in platform mode.

use super::scan::{each_position, nth_part, up_to};
use crate::lines::{Kept, Lines, NEL_UTF8, keep};
use bumpalo::Bump;
use bumpalo::collections::String as BumpString;

const NEL: &str = "\u{85}";

/// The lines of a message's text as they are staged, without markers. A line is built in the
/// arena where what is kept of it does not lie together.
#[derive(Clone)]
pub(crate) struct TextLines<'a> {
    text: &'a str,
    lines: Lines<'a>,
    is_closed: bool,
    arena: &'a Bump,
}

impl<'a> TextLines<'a> {
    pub(crate) fn new(text: &'a str, is_closed: bool, arena: &'a Bump) -> Self {
        Self {
            text,
            lines: Lines::new(text.as_bytes()),
            is_closed,
            arena,
        }
    }
}

impl<'a> Iterator for TextLines<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let line = &self.text[self.lines.next()?];
        let ends_message = self.is_closed && self.lines.is_done();
        Some(match keep(line.as_bytes(), NEL_UTF8, ends_message) {
            Kept::Piece(range) => &line[range],
            Kept::Joined(bytes) => {
                let text =
                    std::str::from_utf8(&bytes).expect("markers are ASCII, so text stays text");
                self.arena.alloc_str(text)
            }
        })
    }
}

/// A line other than the first as a segment: its trailing `|` are removed, also those directly
/// before a single final U+0085, which then belongs to the last field left.
#[inline]
pub(crate) fn segment<'a>(line: &'a str, arena: &'a Bump) -> &'a str {
    match line.as_bytes().last() {
        Some(b'|') => line.trim_end_matches('|'),
        Some(0x85) => match line.strip_suffix(NEL) {
            Some(head) if head.ends_with('|') => {
                let mut joined = BumpString::with_capacity_in(line.len(), arena);
                joined.push_str(head.trim_end_matches('|'));
                joined.push_str(NEL);
                joined.into_bump_str()
            }
            _ => line,
        },
        _ => line,
    }
}

/// The first fields of a segment; number 0 is its name. Only where they end is kept, since many
/// are never asked for.
pub(crate) struct Fields<'a, const N: usize> {
    segment: &'a str,
    ends: [usize; N],
    count: usize,
}

impl<'a, const N: usize> Fields<'a, N> {
    /// Fields of a segment that is not there: all absent.
    pub(crate) const ABSENT: Self = Self {
        segment: "",
        ends: [0; N],
        count: 0,
    };

    /// The first `N` fields of a segment, its name included.
    #[inline]
    pub(crate) fn new(segment: &'a str) -> Self {
        Self::with_rest(segment).0
    }

    /// The first `N` fields of a segment, and what follows them, if anything does.
    #[inline]
    pub(crate) fn with_rest(segment: &'a str) -> (Self, Option<&'a str>) {
        let mut ends = [0; N];
        let mut count = 0;
        each_position(segment, [b'|'], |end| {
            ends[count] = end;
            count += 1;
            count < N
        });
        let rest = match ends.get_mut(count) {
            Some(last) => {
                *last = segment.len();
                count += 1;
                None
            }
            None => ends.last().map(|end| &segment[end + 1..]),
        };
        let fields = Self {
            segment,
            ends,
            count,
        };
        (fields, rest)
    }

    /// Takes a segment, unless an earlier one of its name was taken.
    #[inline]
    pub(crate) fn fill_if_absent(&mut self, segment: &'a str) {
        if self.count == 0 {
            *self = Self::new(segment);
        }
    }

    /// A whole field; `None` where the segment ends before it.
    #[inline]
    pub(crate) fn whole(&self, number: usize) -> Option<&'a str> {
        if number >= self.count {
            return None;
        }
        let start = number
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] + 1);
        Some(&self.segment[start..self.ends[number]])
    }

    /// Component 1 of a field.
    #[inline]
    pub(crate) fn first(&self, number: usize) -> Option<&'a str> {
        self.whole(number).map(|field| up_to(field, b'^'))
    }

    /// A component of a field, counted from 1.
    #[inline]
    pub(crate) fn component(&self, number: usize, component: usize) -> Option<&'a str> {
        nth_part(self.whole(number)?, b'^', component)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_bars_of_a_segment_are_removed() {
        let arena = Bump::new();
        for (line, expected) in [
            ("PID|1||", "PID|1"),
            ("PID||1", "PID||1"),
            ("PID|||", "PID"),
            ("|||", ""),
            ("PID|1|| ", "PID|1|| "),
            ("PID|1||\u{85}", "PID|1\u{85}"),
            ("PID|1||\u{85}|", "PID|1||\u{85}"),
            ("PID|1||\u{85}\u{85}", "PID|1||\u{85}\u{85}"),
            ("PID||\u{85}", "PID\u{85}"),
            ("PID|1|\u{c5}", "PID|1|\u{c5}"),
        ] {
            assert_eq!(segment(line, &arena), expected);
        }
    }

    #[test]
    fn an_empty_field_is_there_and_one_past_the_end_is_not() {
        let fields = Fields::<5>::new("PID|1||^x");
        assert_eq!(fields.whole(0), Some("PID"));
        assert_eq!(fields.whole(2), Some(""));
        assert_eq!(fields.first(3), Some(""));
        assert_eq!(fields.component(3, 2), Some("x"));
        assert_eq!(fields.component(3, 3), None);
        assert_eq!(fields.whole(4), None);
        assert_eq!(fields.first(4), None);
    }

    #[test]
    fn fields_beyond_the_wanted_ones_are_left_alone() {
        let fields = Fields::<2>::new("PID|1|2|3");
        assert_eq!(fields.whole(1), Some("1"));
    }
}
