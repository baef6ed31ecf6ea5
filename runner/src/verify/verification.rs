//! What came out: the content of `verification.json`.

use serde::{Deserialize, Serialize};

/// Whether a lake holds what it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every check passed.
    Passed,
    /// At least one did not: no figure of this lake may be used.
    Failed,
}

/// Every check of a lake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// What all of them come to.
    pub status: Status,
    /// How long it took.
    pub seconds: f64,
    /// The checks, those of the lake before those of the workers' accounts.
    pub checks: Vec<Check>,
}

impl Verification {
    /// Whether every check passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.status == Status::Passed
    }

    /// The checks that did not pass.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name, one of those in `docs/verification.md`.
    pub name: String,
    /// The table that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The workflow that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<u32>,
    /// What must be.
    pub expected: String,
    /// What is.
    pub found: String,
    /// Whether that agrees.
    pub passed: bool,
    /// What the check could not decide, or what it took for granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where a failure shows first, at most [`Check::POSITIONS`] places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Position>,
}

impl Check {
    /// Places that a failure names at most.
    pub const POSITIONS: usize = 10;
}

/// A place where a lake differs. It names files and numbers, never a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The log of the message whose row it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Number of the message within the log, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u32>,
    /// Number of the diagnosis within the message, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<u32>,
    /// The data file, relative to its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_file: Option<String>,
    /// What is wrong there, such as `missing` or `unexpected`.
    pub what: String,
    /// Columns that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}
