//! What is known about where the output goes: colour, width, and whether a person watches.
//!
//! Decided once, at the start, so that rendering is a pure function of its data and this.

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::{self, Write};
use std::io::IsTerminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width used where standard output is no terminal.
const PIPED_WIDTH: usize = 100;
/// Texts are laid out for at least and at most this many columns.
const WIDTH_LIMITS: (usize, usize) = (80, 120);

/// Where standard output goes.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether to colour.
    pub color: bool,
    /// Columns to lay text out for, 80 to 120.
    pub width: usize,
    /// Whether a person watches standard error, so that progress may be drawn there.
    pub watched: bool,
}

impl Terminal {
    /// Looks at standard output, standard error and the environment (`NO_COLOR`,
    /// `CLICOLOR_FORCE`, `COLUMNS`).
    #[must_use]
    pub fn detect(color: clap::ColorChoice) -> Self {
        let color = match color {
            clap::ColorChoice::Always => true,
            clap::ColorChoice::Never => false,
            clap::ColorChoice::Auto => {
                anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
            }
        };
        let columns = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok())
            .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
            .unwrap_or(PIPED_WIDTH);
        Self {
            color,
            width: columns.clamp(WIDTH_LIMITS.0, WIDTH_LIMITS.1),
            watched: std::io::stderr().is_terminal(),
        }
    }

    /// A progress bar, drawn only where a person watches. The length is set once it is known.
    ///
    /// # Panics
    /// If `template` is none of indicatif's: the caller's fault, and tested.
    #[must_use]
    pub fn bar(&self, template: &str) -> ProgressBar {
        let target = if self.watched {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template(template).expect("the template is tested");
        ProgressBar::with_draw_target(Some(0), target).with_style(style)
    }

    /// Shows `text` in a tone, where colour is wanted.
    pub fn paint<T: fmt::Display>(&self, tone: Tone, text: T) -> Painted<T> {
        let style = if self.color {
            tone.style()
        } else {
            Style::new()
        };
        Painted { style, text }
    }
}

/// What a coloured text means to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All is well.
    Good,
    /// Look here.
    Warning,
    /// Something is wrong.
    Bad,
    /// A heading.
    Heading,
    /// Of less interest than what stands around it.
    Quiet,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Heading => Style::new().bold(),
            Self::Quiet => Style::new().dimmed(),
        }
    }
}

/// A text with its style; padding in a format string counts the text only.
pub struct Painted<T> {
    style: Style,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.style.fmt(f)?;
        self.text.fmt(f)?;
        write!(f, "{:#}", self.style)
    }
}

/// `text` in at most `width` columns of a terminal, with `…` where something was cut off.
#[must_use]
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for char in text.chars() {
        used += char.width().unwrap_or(0);
        if used > width {
            break;
        }
        shown.push(char);
    }
    shown.push('…');
    shown
}

/// A number with its thousands set apart.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 message`, `2,000 messages`.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// Breaks `text` at spaces into lines of at most `width` columns; a longer word gets its own line.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a last line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Appends `label` and, beside it, `text`; what does not fit goes on below its beginning.
pub fn hang(out: &mut String, label: &str, text: &str, width: usize) {
    let indent = label.width();
    for (number, line) in wrap(text, width - indent).iter().enumerate() {
        let label = if number == 0 { label } else { "" };
        let _ = writeln!(out, "{label:<indent$}{line}");
    }
}

/// Bytes in the greatest binary unit that leaves at least one of it: `96 MiB`, `1.5 GiB`.
#[must_use]
pub fn binary_size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let Some((unit, shift)) = units.into_iter().find(|(_, shift)| bytes >> shift > 0) else {
        return format!("{bytes} B");
    };
    let count = bytes as f64 / f64::from(1_u32 << shift);
    if bytes.trailing_zeros() >= shift {
        format!("{count:.0} {unit}")
    } else {
        format!("{count:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Terminal = Terminal {
        color: false,
        width: 80,
        watched: false,
    };
    const COLOURED: Terminal = Terminal {
        color: true,
        ..PLAIN
    };

    #[test]
    fn nothing_is_coloured_where_colour_is_not_wanted() {
        assert_eq!(PLAIN.paint(Tone::Bad, "x").to_string(), "x");
        assert_ne!(COLOURED.paint(Tone::Bad, "x").to_string(), "x");
    }

    #[test]
    fn padding_counts_the_text_and_not_its_colour() {
        let padded = format!("{:<4}|", COLOURED.paint(Tone::Good, "ok"));
        assert_eq!(anstream::adapter::strip_str(&padded).to_string(), "ok  |");
    }

    #[test]
    fn a_shortened_text_never_exceeds_its_width() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdef", 5), "abcd…");
        assert_eq!(shorten("日本語", 4), "日…");
    }

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1000, 1_234_567].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "message"), "1 message");
        assert_eq!(counted(2000, "message"), "2,000 messages");
    }

    #[test]
    fn sizes_are_told_in_binary_units() {
        let shown = [0, 1023, 96 << 20, 3 << 29, (1 << 30) + 1].map(binary_size);
        assert_eq!(shown, ["0 B", "1023 B", "96 MiB", "1.5 GiB", "1.0 GiB"]);
    }

    #[test]
    fn a_text_is_broken_at_spaces_only() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a-very-long-word b", 4), ["a-very-long-word", "b"]);
    }

    #[test]
    fn a_text_hangs_beside_its_label() {
        let mut text = String::new();
        hang(&mut text, "a: ", "one two three", 10);
        assert_eq!(text, "a: one two\n   three\n");
    }
}
