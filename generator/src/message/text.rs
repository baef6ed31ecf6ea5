//! Small pieces of text in the arena of the message that is being made.

use bumpalo::Bump;

/// The concatenation of some texts.
pub(crate) fn concat<'a>(arena: &'a Bump, parts: &[&str]) -> &'a str {
    let len = parts.iter().map(|part| part.len()).sum();
    let mut text = bumpalo::collections::String::with_capacity_in(len, arena);
    for part in parts {
        text.push_str(part);
    }
    text.into_bump_str()
}

/// A prefix and a whole number.
pub(crate) fn numbered<'a>(arena: &'a Bump, prefix: &str, number: u64) -> &'a str {
    concat(arena, &[prefix, itoa::Buffer::new().format(number)])
}

/// Bytes that are ASCII, as text.
pub(crate) fn ascii<'a>(arena: &'a Bump, bytes: &[u8]) -> &'a str {
    arena.alloc_str(std::str::from_utf8(bytes).expect("digits are ASCII"))
}
