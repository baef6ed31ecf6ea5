//! Finding the messages of a log.
//!
//! Only markers and line ends are looked for, so splitting runs at the speed of a search; a
//! message's lines are derived when asked for. A log is a byte string: nothing is decoded here.

use crate::lines::{END, Kept, Lines, NEL_LATIN1, START, keep, line_end};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::ops::Range;

/// The messages of a log, in order. None at all means that the log failed
/// ([`LogFailure::NoMessages`](crate::LogFailure::NoMessages)).
///
/// A message begins behind a line that contains `<SB>` and ends with the next line that contains
/// `<EB>`, or with the log. Text outside is skipped, a second `<SB>` inside is text.
#[must_use]
pub fn split(log: &[u8]) -> Messages<'_> {
    Messages {
        log,
        at: 0,
        ordinal: 0,
        start: Finder::new(START),
        end: Finder::new(END),
    }
}

/// Iterator over the messages of a log; see [`split`].
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    log: &'a [u8],
    at: usize,
    ordinal: u32,
    start: Finder<'static>,
    end: Finder<'static>,
}

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let marker = self.at + self.start.find(&self.log[self.at..])?;
        let (marker_end, body) = line_end(self.log, marker);
        let (body_end, next, is_closed) = match self.end.find(&self.log[body..]) {
            Some(at) => {
                let (end, next) = line_end(self.log, body + at);
                (end, next, true)
            }
            None => (self.log.len(), self.log.len(), false),
        };
        let message = Message {
            log: self.log,
            ordinal: self.ordinal,
            searched: self.at,
            marker: marker..marker_end,
            body: body..body_end,
            end: next,
            is_closed,
        };
        self.at = next;
        // A log of 2^32 messages is larger than 32 GiB; it fails loudly in its arithmetic.
        self.ordinal += 1;
        Some(message)
    }
}

/// One message of a log: where it stands, and its lines.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    log: &'a [u8],
    ordinal: u32,
    /// Where the search for this message began.
    searched: usize,
    /// From `<SB>` to the end of its line.
    marker: Range<usize>,
    /// The lines between, with the one that holds `<EB>`, without its line end.
    body: Range<usize>,
    /// Where the line after the message begins.
    end: usize,
    is_closed: bool,
}

impl<'a> Message<'a> {
    /// Number of the message within its log, from 0; empty and unparsable ones count.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Bytes of the log from the message's `<SB>` to the end of its last line, line end included.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.marker.start..self.end
    }

    /// Bytes of the log that hold the message's lines, markers included, without the last line's
    /// end.
    #[must_use]
    pub fn body_range(&self) -> Range<usize> {
        self.body.clone()
    }

    /// The bytes of [`Self::body_range`].
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        &self.log[self.body.clone()]
    }

    /// Whether a line with `<EB>` ended the message, rather than the end of the log.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Everything between the message before and this one's lines: chatter, the header line, and
    /// the line with `<SB>`.
    #[must_use]
    pub fn preamble(&self) -> &'a [u8] {
        &self.log[self.searched..self.body.start]
    }

    /// The lines as they are staged: markers stripped, no line ends, bytes as in the log.
    /// Borrowed unless something was cut out of a line's middle.
    pub fn lines(&self) -> impl Iterator<Item = Cow<'a, [u8]>> + use<'a> {
        self.raw_lines().map(
            |(line, ends_message)| match keep(line, NEL_LATIN1, ends_message) {
                Kept::Piece(range) => Cow::Borrowed(&line[range]),
                Kept::Joined(bytes) => Cow::Owned(bytes),
            },
        )
    }

    /// The lines as they stand in the log, and whether it is the one that ends the message.
    pub(crate) fn raw_lines(&self) -> impl Iterator<Item = (&'a [u8], bool)> + use<'a> {
        let body = self.body();
        let is_closed = self.is_closed;
        let mut lines = Lines::new(body);
        std::iter::from_fn(move || {
            let range = lines.next()?;
            Some((&body[range], is_closed && lines.is_done()))
        })
    }

    /// Where each line begins, counted from the start of the body.
    pub(crate) fn line_offsets(&self) -> impl Iterator<Item = usize> + use<'a> {
        Lines::new(self.body()).map(|range| range.start)
    }

    /// Whether all lines are blank: nothing in them but 0x09–0x0D and 0x1C–0x20. Such a message
    /// is staged nowhere ([`Outcome::Empty`](crate::Outcome::Empty)) but keeps its ordinal.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let is_blank = |byte: &u8| matches!(byte, 0x09..=0x0D | 0x1C..=0x20);
        self.lines().all(|line| line.iter().all(is_blank))
    }

    /// The staged form in Latin-1: every line followed by CR. The platform stages it as UTF-8,
    /// see [`Self::staged_utf8`].
    #[must_use]
    pub fn staged(&self) -> Vec<u8> {
        let mut staged = Vec::with_capacity(self.body.len() + 1);
        for line in self.lines() {
            staged.extend_from_slice(&line);
            staged.push(b'\r');
        }
        staged
    }

    /// The staged form as the platform writes it to its `.hl7` files: every line followed by CR,
    /// decoded from Latin-1.
    #[must_use]
    pub fn staged_utf8(&self) -> String {
        encoding_rs::mem::decode_latin1(&self.staged()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Staged lines of every message.
    fn staged(log: &[u8]) -> Vec<Vec<String>> {
        split(log)
            .map(|message| {
                message
                    .lines()
                    .map(|line| encoding_rs::mem::decode_latin1(&line).into_owned())
                    .collect()
            })
            .collect()
    }

    fn blank(log: &[u8]) -> Vec<bool> {
        split(log).map(|message| message.is_blank()).collect()
    }

    #[test]
    fn a_message_stands_between_the_two_markers() {
        let log = b"2023-01-13 18:07:17.8754|INFO|\n<SB>\nMSH|1<R>\nPID|2<R>\n<EB><R>\n\r\n\
            2023-01-13 18:08:17.8754|INFO|\n<SB>\nMSH|3<R>\n<EB>";
        assert_eq!(staged(log), [vec!["MSH|1", "PID|2", ""], vec!["MSH|3", ""]]);
        let messages: Vec<_> = split(log).collect();
        assert_eq!(messages[0].ordinal(), 0);
        assert_eq!(messages[1].ordinal(), 1);
        assert!(log[messages[0].range()].starts_with(b"<SB>\nMSH|1"));
        assert!(log[messages[0].range()].ends_with(b"<EB><R>\n"));
        assert_eq!(&log[messages[1].range()], b"<SB>\nMSH|3<R>\n<EB>");
        assert_eq!(
            messages[1].preamble(),
            b"\r\n2023-01-13 18:08:17.8754|INFO|\n<SB>\n"
        );
    }

    #[test]
    fn a_log_without_sb_has_no_messages() {
        for log in [
            &b""[..],
            b"\n",
            b"MSH|\n<EB>\n",
            b"<sb>\nMSH|\n<EB>\n",
            b"<SB\n>",
            b"< SB>",
        ] {
            assert_eq!(split(log).count(), 0, "{log:?}");
        }
    }

    #[test]
    fn other_text_on_the_line_of_sb_is_lost() {
        assert_eq!(staged(b"x<SB>MSH|0\nMSH|1\n<EB>"), [["MSH|1", ""]]);
        assert_eq!(staged(b"<SB><EB>\nMSH|1\n<EB>"), [["MSH|1", ""]]);
        assert_eq!(staged(b"<SB><SB>\rMSH|1\r<EB>"), [["MSH|1", ""]]);
    }

    #[test]
    fn the_header_line_is_optional() {
        assert_eq!(
            staged(b"<SB>\nA\n<EB>\n<SB>\nB\n<EB>\n"),
            [["A", ""], ["B", ""]]
        );
    }

    #[test]
    fn chatter_between_messages_is_skipped() {
        assert_eq!(
            staged(b"hello\nMSH|x\n<EB>\n<SB>\nA\n<EB>\nMSH|y<R>\n<EB>\n<SB>\nB\n<EB>\nbye"),
            [["A", ""], ["B", ""]]
        );
    }

    #[test]
    fn text_behind_eb_on_its_line_belongs_to_the_message() {
        assert_eq!(
            staged(b"<SB>\nA\n<EB>tail<SB>\nB\n<SB>\nC\n<EB>"),
            [["A", "tail<SB>"], ["C", ""]]
        );
    }

    #[test]
    fn a_second_sb_inside_a_message_is_text() {
        assert_eq!(
            staged(b"<SB>\nA\n<SB>\nB<SB>\n<EB>"),
            [["A", "<SB>", "B<SB>", ""]]
        );
    }

    #[test]
    fn a_missing_eb_swallows_the_next_header_sb_and_message() {
        assert_eq!(
            staged(b"<SB>\nA<R>\n\n2023-01-13 18:07:17.8754|INFO|\n<SB>\nB<R>\n<EB><R>\n"),
            [["A", "", "2023-01-13 18:07:17.8754|INFO|", "<SB>", "B", ""]]
        );
    }

    #[test]
    fn a_truncated_tail_is_still_a_message() {
        assert_eq!(staged(b"<SB>\nA<R>\nB|<R"), [["A", "B|<R"]]);
        assert_eq!(staged(b"<SB>\nA<R>\n"), [["A"]]);
        let message = split(b"<SB>\nA<R>\n").next().unwrap();
        assert!(!message.is_closed());
        assert_eq!(message.range(), 0..10);
    }

    #[test]
    fn sb_as_the_last_line_is_an_empty_message() {
        for log in [&b"<SB>"[..], b"<SB>\n", b"text\r\n<SB>\r\n", b"<SB>more"] {
            assert_eq!(staged(log), [[""; 0]]);
            assert_eq!(blank(log), [true]);
        }
    }

    #[test]
    fn the_last_message_may_end_in_a_bare_eb() {
        assert_eq!(staged(b"<SB>\nA<R>\n<EB>"), [["A", ""]]);
    }

    #[test]
    fn an_embedded_cr_or_lf_cuts_a_segment() {
        assert_eq!(
            staged(b"<SB>\nA|x\ry<R>\nB|x\ny<R>\n<EB>"),
            [["A|x", "y", "B|x", "y", ""]]
        );
    }

    #[test]
    fn crlf_is_one_line_end() {
        assert_eq!(
            staged(b"<SB>\r\nA<R>\r\nB<R>\r\n<EB><R>\r\n"),
            [["A", "B", ""]]
        );
    }

    #[test]
    fn a_blank_line_right_after_sb_is_line_one() {
        assert_eq!(staged(b"<SB>\n\nMSH|<R>\n<EB>"), [["", "MSH|", ""]]);
        assert_eq!(staged(b"<SB>\r\n\r\nMSH|<R>\n<EB>"), [["", "MSH|", ""]]);
    }

    #[test]
    fn eb_may_stand_on_a_text_line() {
        assert_eq!(
            staged(b"<SB>\nA<R>\nB|tail<EB>\n<SB>\nC<EB><R>"),
            [vec!["A", "B|tail"], vec!["C"]]
        );
        assert_eq!(staged(b"<SB>\nA\ntail<R><EB>"), [["A", "tail<R>"]]);
    }

    #[test]
    fn sb_and_eb_are_case_sensitive() {
        assert_eq!(
            staged(b"<SB>\nA\n<eb>\n<Eb>\nB<EB>"),
            [["A", "<eb>", "<Eb>", "B"]]
        );
    }

    #[test]
    fn blank_lines_make_an_empty_message_that_keeps_its_number() {
        let log = b"<SB>\n<EB><R>\n<SB>\n \t\x0b\x0c\x1c\x1d\x1e\x1f\r\n<R>\n<EB>\n<SB>\nMSH\n<EB>";
        assert_eq!(blank(log), [true, true, false]);
        assert_eq!(
            split(log).map(|m| m.ordinal()).collect::<Vec<_>>(),
            [0, 1, 2]
        );
    }

    #[test]
    fn nel_nbsp_and_nul_are_content() {
        for byte in [0x85, 0xA0, 0x00, 0x08, 0x0E, 0x1B, 0x21, 0x7F] {
            assert_eq!(
                blank(&[b"<SB>\n", &[byte][..], b"\n<EB>"].concat()),
                [false],
                "{byte:#x}"
            );
        }
        assert_eq!(blank(b"<SB>\n<R>\x85\n<EB>"), [false]);
        assert_eq!(blank(b"<SB>\n<R><R>\n<EB>"), [false]);
        assert_eq!(blank(b"<SB>\n<R><EB>"), [false]);
    }

    #[test]
    fn the_staged_form_ends_every_line_with_cr() {
        let message = split(b"<SB>\nA\xe9<R>\n\nB\n<EB>").next().unwrap();
        assert_eq!(message.staged(), b"A\xe9\r\rB\r\r");
        assert_eq!(message.staged_utf8(), "Aé\r\rB\r\r");
    }
}
