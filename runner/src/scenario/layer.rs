//! Values with where they came from, in layers that are laid over each other.

use super::kind::Value;
use super::source::Place;
use std::collections::BTreeMap;
use std::fmt;

/// Where a value came from. A later one lies over an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// No one gave it.
    Default,
    /// The part of the file that holds for all variants.
    Base(Place),
    /// The variant of this name in the file.
    Variant(String, Place),
    /// The matrix.
    Matrix(Place),
    /// `--set`.
    Set(Place),
}

impl Origin {
    /// Where it was written.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Default => None,
            Self::Base(at) | Self::Variant(_, at) | Self::Matrix(at) | Self::Set(at) => Some(at),
        }
    }

    /// One word for it: `default`, `file`, `variant`, `matrix` or `set`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Base(_) => "file",
            Self::Variant(..) => "variant",
            Self::Matrix(_) => "matrix",
            Self::Set(_) => "set",
        }
    }

    /// Its layer, from the lowest.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Base(_) => 1,
            Self::Variant(..) => 2,
            Self::Matrix(_) => 3,
            Self::Set(_) => 4,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Base(at) | Self::Set(at) => at.fmt(f),
            Self::Variant(name, at) => write!(f, "variant {name}, {at}"),
            Self::Matrix(at) => write!(f, "matrix, {at}"),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The value.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

/// Values by dotted key.
pub type Layer = BTreeMap<String, Given>;

/// Lays one layer over another.
pub(super) fn lay(under: &mut Layer, over: &Layer) {
    for (key, given) in over {
        under.insert(key.clone(), given.clone());
    }
}
