//! Lines of a message, and what is kept of each.
//!
//! The same rules are needed on a log's bytes and on text decoded from them, where U+0085 takes
//! two bytes; they are written once, on bytes, with that one difference as a parameter.

use memchr::{memchr2, memmem};
use std::ops::Range;

/// U+0085 in Latin-1.
pub(crate) const NEL_LATIN1: &[u8] = b"\x85";
/// U+0085 in UTF-8.
pub(crate) const NEL_UTF8: &[u8] = "\u{85}".as_bytes();

/// The end of a segment, as the log writes it.
pub(crate) const SEGMENT_END: &[u8] = b"<R>";
/// The first line of a message holds this.
pub(crate) const START: &[u8] = b"<SB>";
/// The last line of a message holds this.
pub(crate) const END: &[u8] = b"<EB>";

/// Where the line that `from` lies in ends, and where the next begins: behind LF, CR or CRLF.
#[inline]
pub(crate) fn line_end(bytes: &[u8], from: usize) -> (usize, usize) {
    match memchr2(b'\n', b'\r', &bytes[from..]) {
        None => (bytes.len(), bytes.len()),
        Some(at) => {
            let end = from + at;
            let crlf = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            (end, end + 1 + usize::from(crlf))
        }
    }
}

/// The lines of some bytes, as ranges without line ends. A line end at the very end starts no
/// further line.
#[derive(Clone)]
pub(crate) struct Lines<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Whether no line follows.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        if self.is_done() {
            return None;
        }
        let start = self.at;
        let (end, next) = line_end(self.bytes, start);
        self.at = next;
        Some(start..end)
    }
}

/// What is kept of a line.
pub(crate) enum Kept {
    /// One piece of it.
    Piece(Range<usize>),
    /// Pieces that were not next to each other.
    Joined(Vec<u8>),
}

/// What is kept of a line of a message: without one `<R>` at its very end, or directly before a
/// single final U+0085; then, if it is the line that ends the message, without any `<EB>`.
#[inline]
pub(crate) fn keep(line: &[u8], nel: &[u8], ends_message: bool) -> Kept {
    if let Some(head) = line.strip_suffix(SEGMENT_END)
        && !ends_message
    {
        return Kept::Piece(0..head.len());
    }
    if ends_message
        && line
            .strip_prefix(END)
            .is_some_and(|rest| rest.is_empty() || rest == SEGMENT_END)
    {
        return Kept::Piece(0..0);
    }
    keep_rare(line, nel, ends_message)
}

fn keep_rare(line: &[u8], nel: &[u8], ends_message: bool) -> Kept {
    let kept = match line.strip_suffix(SEGMENT_END) {
        Some(head) => Kept::Piece(0..head.len()),
        None => match line
            .strip_suffix(nel)
            .and_then(|l| l.strip_suffix(SEGMENT_END))
        {
            Some(head) => Kept::Joined([head, nel].concat()),
            None => Kept::Piece(0..line.len()),
        },
    };
    if !ends_message {
        return kept;
    }
    match kept {
        Kept::Piece(range) => match without_end(&line[range.clone()]) {
            Kept::Piece(inner) => Kept::Piece(range.start + inner.start..range.start + inner.end),
            joined @ Kept::Joined(_) => joined,
        },
        Kept::Joined(bytes) => match without_end(&bytes) {
            Kept::Piece(range) => Kept::Joined(bytes[range].to_vec()),
            joined @ Kept::Joined(_) => joined,
        },
    }
}

/// A text without any `<EB>`. The text is gone through once: one that only appears by deleting
/// another stays.
fn without_end(text: &[u8]) -> Kept {
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in memmem::find_iter(text, END).chain([text.len()]) {
        if at > from {
            pieces.push(from..at);
        }
        from = at + END.len();
    }
    match pieces.as_slice() {
        [] => Kept::Piece(0..0),
        [piece] => Kept::Piece(piece.clone()),
        _ => Kept::Joined(
            pieces
                .into_iter()
                .flat_map(|piece| &text[piece])
                .copied()
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(line: &[u8], ends_message: bool) -> Vec<u8> {
        match keep(line, NEL_LATIN1, ends_message) {
            Kept::Piece(range) => line[range].to_vec(),
            Kept::Joined(bytes) => bytes,
        }
    }

    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        Lines::new(bytes).map(|range| &bytes[range]).collect()
    }

    #[test]
    fn a_line_ends_at_lf_cr_or_crlf() {
        assert_eq!(lines(b"a\nb\rc\r\nd"), [b"a", b"b", b"c", b"d"]);
        assert_eq!(lines(b"a\n\rb\r\r\nc"), [&b"a"[..], b"", b"b", b"", b"c"]);
    }

    #[test]
    fn a_line_end_at_the_very_end_starts_no_further_line() {
        assert_eq!(lines(b""), [b""; 0]);
        assert_eq!(lines(b"a\r\n"), [b"a"]);
        assert_eq!(lines(b"\n"), [b""]);
        assert_eq!(lines(b"a\r\n\n"), [&b"a"[..], b""]);
    }

    #[test]
    fn nothing_else_ends_a_line_or_gets_lost() {
        let odd = b"a\x85b\x0bc\x0cd\x1ce\x1df\x1eg\x1fh\0i\xa0j";
        assert_eq!(lines(odd), [odd]);
    }

    #[test]
    fn one_segment_end_is_stripped_at_the_very_end() {
        assert_eq!(kept(b"PID|1<R>", false), b"PID|1");
        assert_eq!(kept(b"PID|1<R><R>", false), b"PID|1<R>");
        assert_eq!(kept(b"PID|<R>1", false), b"PID|<R>1");
        assert_eq!(kept(b"PID|1<R> ", false), b"PID|1<R> ");
        assert_eq!(kept(b"PID|1<r>", false), b"PID|1<r>");
        assert_eq!(kept(b"<R>", false), b"");
    }

    #[test]
    fn one_segment_end_is_stripped_before_a_single_final_0x85() {
        assert_eq!(kept(b"PID|1<R>\x85", false), b"PID|1\x85");
        assert_eq!(kept(b"PID|1<R>\x85\x85", false), b"PID|1<R>\x85\x85");
        assert_eq!(kept(b"PID|1<R><R>\x85", false), b"PID|1<R>\x85");
        assert_eq!(kept(b"PID|1<R>\x85<R>", false), b"PID|1<R>\x85");
    }

    #[test]
    fn every_end_marker_of_the_last_line_is_deleted_and_other_text_kept() {
        assert_eq!(kept(b"<EB>", true), b"");
        assert_eq!(kept(b"<EB><R>", true), b"");
        assert_eq!(kept(b"tail<EB>", true), b"tail");
        assert_eq!(kept(b"<EB>tail", true), b"tail");
        assert_eq!(kept(b"a<EB>b<EB><EB>c<EB>", true), b"abc");
        assert_eq!(kept(b"a<EB>b<R>", true), b"ab");
        assert_eq!(kept(b"a<EB>b<R>\x85", true), b"ab\x85");
    }

    #[test]
    fn the_segment_end_is_stripped_before_the_end_marker_is_deleted() {
        assert_eq!(kept(b"tail<R><EB>", true), b"tail<R>");
        assert_eq!(kept(b"tail<R><EB><R>", true), b"tail<R>");
        assert_eq!(kept(b"<R<EB>>", true), b"<R>");
    }

    #[test]
    fn an_end_marker_that_appears_by_deleting_another_stays() {
        assert_eq!(kept(b"<E<EB>B>", true), b"<EB>");
    }
}
