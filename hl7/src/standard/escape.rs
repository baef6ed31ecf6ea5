//! Resolving escapes, in standard mode.

use super::Delimiters;
use std::borrow::Cow;

/// What an escape sequence, given without its two escape characters, stands for.
enum Escape {
    /// A delimiter.
    Char(char),
    /// Characters given in hexadecimal, as Latin-1.
    Hex,
    /// A command to a formatter, such as `.br`, or a change of the character set.
    Command,
    /// Nothing known.
    Unknown,
}

fn meaning(sequence: &str, delimiters: &Delimiters) -> Escape {
    let is_hex = |digits: &str| {
        !digits.is_empty()
            && digits.len().is_multiple_of(2)
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    match sequence {
        "F" => Escape::Char(delimiters.field),
        "S" => Escape::Char(delimiters.component),
        "R" => Escape::Char(delimiters.repetition),
        "E" => Escape::Char(delimiters.escape),
        "T" => Escape::Char(delimiters.subcomponent),
        "H" | "N" => Escape::Command,
        _ => match (sequence.chars().next(), sequence.get(1..)) {
            (Some('X'), Some(digits)) if is_hex(digits) => Escape::Hex,
            (Some('C' | 'M'), Some(digits)) if is_hex(digits) => Escape::Command,
            (Some('.' | 'Z'), Some(_)) if !sequence.contains(char::is_whitespace) => {
                Escape::Command
            }
            _ => Escape::Unknown,
        },
    }
}

/// An escape sequence, or a lone escape character, at the start of a text.
enum Token<'t> {
    Sequence(Escape, &'t str),
    Lone,
}

/// Reads what stands behind an escape character. An unknown sequence leaves that character lone,
/// so that its closing one may open the next sequence.
fn token<'t>(rest: &'t str, delimiters: &Delimiters) -> Token<'t> {
    match rest.split_once(delimiters.escape) {
        None => Token::Lone,
        Some((sequence, _)) => Token::Sequence(meaning(sequence, delimiters), sequence),
    }
}

/// A text with its escapes resolved: `\F\`, `\S\`, `\R\`, `\E\`, `\T\` and `\X..\`. Commands to a
/// formatter such as `\.br\` stay visible, and so does what is unknown or not closed.
pub(crate) fn unescape<'t>(text: &'t str, delimiters: &Delimiters) -> Cow<'t, str> {
    let Some(first) = text.find(delimiters.escape) else {
        return Cow::Borrowed(text);
    };
    let width = delimiters.escape.len_utf8();
    let mut out = String::with_capacity(text.len());
    let (plain, mut rest) = text.split_at(first);
    out.push_str(plain);
    while let Some(behind) = rest
        .get(width..)
        .filter(|_| rest.starts_with(delimiters.escape))
    {
        let taken = match token(behind, delimiters) {
            Token::Sequence(Escape::Char(c), sequence) => {
                out.push(c);
                2 * width + sequence.len()
            }
            Token::Sequence(Escape::Hex, sequence) => {
                for pair in sequence.as_bytes()[1..].chunks(2) {
                    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
                    out.push(char::from(digit(pair[0]) * 16 + digit(pair[1])));
                }
                2 * width + sequence.len()
            }
            Token::Sequence(Escape::Command, sequence) => {
                let taken = 2 * width + sequence.len();
                out.push_str(&rest[..taken]);
                taken
            }
            Token::Sequence(Escape::Unknown, _) | Token::Lone => {
                out.push(delimiters.escape);
                width
            }
        };
        rest = &rest[taken..];
        let next = rest.find(delimiters.escape).unwrap_or(rest.len());
        let (plain, behind) = rest.split_at(next);
        out.push_str(plain);
        rest = behind;
    }
    Cow::Owned(out)
}

/// Escapes of a text that do not resolve: how many are not closed, and how many are unknown.
pub(crate) fn unresolved(text: &str, delimiters: &Delimiters) -> (usize, usize) {
    let width = delimiters.escape.len_utf8();
    let (mut lone, mut unknown) = (0, 0);
    let mut rest = text;
    while let Some(at) = rest.find(delimiters.escape) {
        let behind = &rest[at + width..];
        let Token::Sequence(escape, sequence) = token(behind, delimiters) else {
            lone += 1;
            rest = behind;
            continue;
        };
        rest = &behind[sequence.len() + width..];
        if matches!(escape, Escape::Unknown) {
            unknown += 1;
            // Its closing escape character may as well open a known sequence.
            if matches!(token(rest, delimiters), Token::Sequence(known, _) if !matches!(known, Escape::Unknown))
            {
                rest = &behind[sequence.len()..];
            }
        }
    }
    (lone, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        unescape(text, &Delimiters::USUAL).into_owned()
    }

    #[test]
    fn delimiters_and_hexadecimal_are_resolved() {
        assert_eq!(plain(r"a\F\b\S\c\R\d\T\e\E\f"), r"a|b^c~d&e\f");
        assert_eq!(plain(r"\X0D\\X41e9\"), "\rA\u{e9}");
        assert_eq!(plain("none"), "none");
        let other = Delimiters {
            escape: '!',
            component: '@',
            ..Delimiters::USUAL
        };
        assert_eq!(unescape(r"a!S!\F\", &other), r"a@\F\");
    }

    #[test]
    fn commands_to_a_formatter_stay_visible() {
        assert_eq!(plain(r"a\.br\b\F\"), r"a\.br\b|");
        assert_eq!(plain(r"\.br\F\"), r"\.br\F\");
        assert_eq!(
            plain(r"\H\bold\N\ \.sp+2\ \C2842\ \Zx\"),
            r"\H\bold\N\ \.sp+2\ \C2842\ \Zx\"
        );
    }

    #[test]
    fn unknown_and_lone_escapes_stay_and_hide_no_other() {
        for text in [
            r"\", r"a\b", r"\Q\", r"\X0\", r"\X\", r"\XG0\", r"\f\", r"\\", r"\. br\",
        ] {
            assert_eq!(plain(text), text);
        }
        assert_eq!(plain(r"5\2 \T\ 6"), r"5\2 & 6");
        assert_eq!(plain(r"\é\T\"), r"\é&");
    }

    #[test]
    fn what_does_not_resolve_is_counted() {
        let count = |text| unresolved(text, &Delimiters::USUAL);
        assert_eq!(count(r"a\F\b\.br\"), (0, 0));
        assert_eq!(count(r"a\b"), (1, 0));
        assert_eq!(count(r"\Q\F\"), (0, 1));
        assert_eq!(count(r"\Q\ \"), (1, 1));
    }
}
