//! Tables in plain text: columns as wide as what they hold, the last one as wide as is left.

use crate::terminal::{Terminal, Tone, shorten};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Blanks before each column.
const GAP: usize = 2;
/// A last column that is left less than this is not shown.
const LEAST: usize = 8;

/// To which side a column's cells are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows under headings.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        Self {
            columns: columns
                .into_iter()
                .map(|(title, align)| (title.into(), align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, which has a cell for each column.
    pub(crate) fn push(&mut self, row: impl Into<Vec<String>>) {
        let row = row.into();
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Appends the table to a text; cells of the last column are shortened to the terminal.
    pub(crate) fn render(&self, terminal: &Terminal, text: &mut String) {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, (title, _))| {
                let cells = self.rows.iter().map(|row| row[at].width());
                cells.max().unwrap_or(0).max(title.width())
            })
            .collect();
        if let Some((last, before)) = widths.split_last_mut() {
            let used: usize = before.iter().map(|width| width + GAP).sum();
            let left = terminal.width.saturating_sub(used + GAP);
            *last = (*last).min(left);
            if left < LEAST && !before.is_empty() {
                widths.pop();
            }
        }
        let titles: Vec<String> = self
            .columns
            .iter()
            .map(|(title, _)| title.clone())
            .collect();
        let heading = self.line(&titles, &widths);
        let _ = writeln!(text, "{}", terminal.paint(Tone::Heading, heading));
        for row in &self.rows {
            let _ = writeln!(text, "{}", self.line(row, &widths));
        }
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            let cell = shorten(cell, *width);
            let pad = width - cell.width();
            let (before, after) = match align {
                Align::Left => (GAP, pad),
                Align::Right => (GAP + pad, 0),
            };
            let _ = write!(line, "{:before$}{cell}{:after$}", "", "");
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        let terminal = Terminal {
            color: false,
            width: 24,
            watched: false,
        };
        let mut table = Table::new([("n", Align::Right), ("what", Align::Left)]);
        table.push(["1".to_owned(), "short".to_owned()]);
        table.push(["10".to_owned(), "much too long for a line".to_owned()]);
        let mut text = String::new();
        table.render(&terminal, &mut text);
        let expected = "   n  what\n   1  short\n  10  much too long for…\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_last_column_without_room_is_left_out() {
        let terminal = Terminal {
            color: false,
            width: 16,
            watched: false,
        };
        let mut table = Table::new([("name", Align::Left), ("what", Align::Left)]);
        table.push(["a long name".to_owned(), "x".to_owned()]);
        let mut text = String::new();
        table.render(&terminal, &mut text);
        assert_eq!(text, "  name\n  a long name\n");
    }
}
