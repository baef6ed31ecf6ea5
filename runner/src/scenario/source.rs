//! A scenario's text as a tree in which everything knows its place.
//!
//! Values are those of TOML, not yet what a key makes of them. Entries of a table stand in the order
//! in which they were written.

use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the scenario's file; both numbers from 1, columns in characters.
    File {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
    },
    /// On the command line, as given.
    Flag(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { line, .. } => write!(f, "line {line}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Place,
    pub(crate) tree: Tree,
}

/// A value of TOML.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Boolean(bool),
    Integer(i128),
    Float(f64),
    String(String),
    /// A date or time, as text.
    Datetime(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table, its place, and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) at: Place,
    pub(crate) node: Node,
}

impl Tree {
    /// What it is, as an error says it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::String(value) => format!("{:?}", crate::terminal::shorten(value, 60)),
            Self::Datetime(value) => value.clone(),
            Self::Array(items) => format!("a list of {}", items.len()),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

/// From offsets in a text to places in it.
struct Places<'a> {
    text: &'a str,
    /// Offset at which each line begins.
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            lines: std::iter::once(0).chain(breaks).collect(),
        }
    }

    fn at(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|begin| *begin <= offset);
        let begin = self.lines[line - 1];
        let before = self.text.get(begin..offset).unwrap_or_default();
        Place::File {
            line,
            column: before.chars().count() + 1,
        }
    }
}

/// What is wrong with a text that is no TOML, and where.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) at: Option<Place>,
    pub(crate) what: String,
}

/// Reads a file's text.
pub(crate) fn parse(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let places = Places::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let place = |offset| places.at(offset);
        return Ok(Node {
            at: places.at(0),
            tree: Tree::Table(entries(table.get_ref(), &place)),
        });
    }
    let mut found: Vec<SyntaxError> = errors
        .iter()
        .map(|error| SyntaxError {
            at: error.span().map(|span| places.at(span.start)),
            what: error.message().replace('\n', "; "),
        })
        .collect();
    // What follows an error on its line is mostly its echo.
    let line = |error: &SyntaxError| match error.at {
        Some(Place::File { line, .. }) => line,
        _ => 0,
    };
    found.sort_by_key(line);
    found.dedup_by_key(|error| line(error));
    Err(found)
}

/// Reads the value of a `--set`: TOML where it is, else the text itself.
pub(crate) fn parse_flag(value: &str, flag: &str) -> Node {
    let at = Place::Flag(flag.to_owned());
    let place = |_| at.clone();
    match DeValue::parse(value) {
        Ok(parsed) => Node {
            at: at.clone(),
            tree: tree(parsed.get_ref(), &place),
        },
        Err(_) => Node {
            at: at.clone(),
            tree: Tree::String(value.to_owned()),
        },
    }
}

/// Splits a dotted key, in which parts may be quoted.
pub(crate) fn split_key(key: &str) -> Option<Vec<String>> {
    if key.contains(['\n', '\r', '#', '=']) {
        return None;
    }
    let text = format!("{key} = true");
    let parsed = DeTable::parse(&text).ok()?;
    let mut table = parsed.into_inner();
    let mut parts = Vec::new();
    loop {
        let (name, value) = table.into_iter().next()?;
        parts.push(name.into_inner().into_owned());
        match value.into_inner() {
            DeValue::Table(inner) => table = inner,
            DeValue::Boolean(true) => return Some(parts),
            _ => return None,
        }
    }
}

fn entries(table: &DeTable<'_>, place: &dyn Fn(usize) -> Place) -> Vec<Entry> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(name, _)| name.span().start);
    all.into_iter()
        .map(|(name, value)| Entry {
            name: name.get_ref().to_string(),
            at: place(name.span().start),
            node: node(value, place),
        })
        .collect()
}

fn node(value: &Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> Place) -> Node {
    Node {
        at: place(value.span().start),
        tree: tree(value.get_ref(), place),
    }
}

fn tree(value: &DeValue<'_>, place: &dyn Fn(usize) -> Place) -> Tree {
    match value {
        DeValue::Boolean(value) => Tree::Boolean(*value),
        DeValue::Integer(value) => Tree::Integer(
            // What does not fit is far out of every key's range.
            i128::from_str_radix(value.as_str(), value.radix()).unwrap_or(i128::MAX),
        ),
        DeValue::Float(value) => Tree::Float(value.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::String(value) => Tree::String(value.to_string()),
        DeValue::Datetime(value) => Tree::Datetime(value.to_string()),
        DeValue::Array(items) => Tree::Array(items.iter().map(|item| node(item, place)).collect()),
        DeValue::Table(inner) => Tree::Table(entries(inner, place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_the_order_and_the_place_in_which_they_were_written() {
        let root = parse("z = 1\n[b]\n  y = 'ä'\n[a]\n").expect("it is TOML");
        let Tree::Table(entries) = root.tree else {
            panic!("a document is a table")
        };
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["z", "b", "a"]);
        let Tree::Table(inner) = &entries[1].node.tree else {
            panic!("b is a table")
        };
        assert_eq!(inner[0].at, Place::File { line: 3, column: 3 });
        assert_eq!(inner[0].node.at, Place::File { line: 3, column: 7 });
    }

    #[test]
    fn every_line_that_is_no_toml_is_told() {
        let errors = parse("a = \nb = 1\nc ! 2\n").expect_err("two lines are wrong");
        let lines: Vec<_> = errors.iter().map(|error| error.at.clone()).collect();
        assert_eq!(lines.len(), 2, "{errors:?}");
    }

    #[test]
    fn a_flag_s_value_is_toml_where_it_is_and_else_a_text() {
        let tree = |value| parse_flag(value, "--set x").tree;
        assert_eq!(tree("2GiB"), Tree::String("2GiB".to_owned()));
        assert_eq!(tree("16"), Tree::Integer(16));
        assert_eq!(tree("\"16\""), Tree::String("16".to_owned()));
        assert_eq!(tree("true"), Tree::Boolean(true));
        assert_eq!(tree(""), Tree::String(String::new()));
    }

    #[test]
    fn a_dotted_key_may_have_quoted_parts() {
        let split = |key| split_key(key).unwrap_or_default();
        assert_eq!(split("a.b"), ["a", "b"]);
        assert_eq!(split("variants.\"1.5GiB\".x"), ["variants", "1.5GiB", "x"]);
        assert!(split("").is_empty());
        assert!(split("a..b").is_empty());
        assert!(split("a = 1\nb").is_empty());
    }
}
