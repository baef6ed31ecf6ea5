//! One row, as a value per column.
//!
//! A row borrows its text: from a log that was read, or from the model that made the message.
//! Filling one allocates nothing by itself.

use crate::schema::{CuratedColumn, ReportColumn};

/// The value of one column in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Value<'a> {
    /// No value.
    #[default]
    Null,
    /// UTF-8 text.
    Str(&'a str),
    /// A 32-bit integer.
    Int(i32),
    /// `true` or `false`.
    Bool(bool),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01T00:00:00Z.
    Timestamp(i64),
    /// An array of strings.
    Strings(&'a [&'a str]),
    /// An array of structs.
    Structs(StructList<'a>),
}

impl<'a> Value<'a> {
    /// Text, or NULL where there is none.
    #[must_use]
    pub fn text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Str)
    }

    /// A point in time in microseconds, or NULL where there is none.
    #[must_use]
    pub fn timestamp(micros: Option<i64>) -> Self {
        micros.map_or(Self::Null, Self::Timestamp)
    }

    /// The text of a [`Value::Str`].
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The microseconds of a [`Value::Timestamp`].
    #[must_use]
    pub fn as_timestamp(self) -> Option<i64> {
        match self {
            Self::Timestamp(micros) => Some(micros),
            _ => None,
        }
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_null(self) -> bool {
        self == Self::Null
    }
}

/// An array of structs of string members, stored flat: element *i* is
/// `cells[i * width..(i + 1) * width]`, members in the order of the column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructList<'a> {
    width: usize,
    cells: &'a [Option<&'a str>],
}

impl<'a> StructList<'a> {
    /// An array over flat cells.
    ///
    /// # Panics
    /// If `width` is 0 or `cells` is no multiple of it.
    #[must_use]
    pub fn new(width: usize, cells: &'a [Option<&'a str>]) -> Self {
        assert!(
            width > 0 && cells.len().is_multiple_of(width),
            "{} cells do not make structs of {width} members",
            cells.len()
        );
        Self { width, cells }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(self) -> usize {
        self.cells.len() / self.width
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.cells.is_empty()
    }

    /// Members of one element.
    #[must_use]
    pub fn width(self) -> usize {
        self.width
    }

    /// The elements, each a slice of its members.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [Option<&'a str>]> {
        self.cells.chunks_exact(self.width)
    }
}

/// Identifier columns of a row: name and value, sorted by name (bytes), no name twice.
/// Columns that are NULL in the row are absent.
pub type Identifiers<'a> = &'a [(&'a str, &'a str)];

macro_rules! row {
    ($(#[$doc:meta])* $row:ident, $column:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $row<'a> {
            values: [Value<'a>; $column::COUNT],
            /// Identifier columns that have a value.
            pub identifiers: Identifiers<'a>,
        }

        impl Default for $row<'_> {
            fn default() -> Self {
                Self { values: [Value::Null; $column::COUNT], identifiers: &[] }
            }
        }

        impl<'a> $row<'a> {
            /// A row of NULLs without identifiers.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// The value of a column.
            #[must_use]
            pub fn get(&self, column: $column) -> Value<'a> {
                self.values[column.index()]
            }

            /// Sets the value of a column.
            pub fn set(&mut self, column: $column, value: Value<'a>) {
                self.values[column.index()] = value;
            }

            /// The value of an identifier column.
            #[must_use]
            pub fn identifier(&self, name: &str) -> Option<&'a str> {
                self.identifiers.iter().find(|(column, _)| *column == name).map(|(_, id)| *id)
            }

            /// The values of all columns, indexed like the table's columns.
            #[must_use]
            pub fn values(&self) -> &[Value<'a>; $column::COUNT] {
                &self.values
            }
        }
    };
}

row! {
    /// A row of `reports`, without what the target adds (`updated`, `content_hash`).
    ReportRow, ReportColumn
}

row! {
    /// A row of `reports_curated` or `reports_latest`, without what the target adds (`updated`).
    CuratedRow, CuratedColumn
}
