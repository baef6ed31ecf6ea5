//! What somebody may want to say of two runs.

use serde::Serialize;
use std::fmt;

/// A claim about two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Another setting makes ingest faster or slower.
    Setting,
    /// One grows slower than the other as the lake grows.
    Growth,
    /// One leaves other files than the other.
    Files,
    /// One took longer than the other, first launch to last close.
    Total,
    /// Another version of the target makes ingest faster or slower.
    Version,
    /// Other memory or processors make ingest faster or slower.
    Resources,
}

impl Claim {
    /// Every claim.
    pub const ALL: [Self; 6] = [
        Self::Setting,
        Self::Growth,
        Self::Files,
        Self::Total,
        Self::Version,
        Self::Resources,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Growth => "growth",
            Self::Files => "files",
            Self::Total => "total",
            Self::Version => "version",
            Self::Resources => "resources",
        }
    }

    /// What it says, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Setting => "the settings that differ make ingest faster or slower",
            Self::Growth => "ingest slows down less in one as the lake grows",
            Self::Files => "one leaves fewer or smaller files",
            Self::Total => "one took less time in all",
            Self::Version => "another version of the target makes ingest faster or slower",
            Self::Resources => "other memory or processors make ingest faster or slower",
        }
    }

    /// Whether it is about time, which is noisy, and not about counts, which are exact.
    #[must_use]
    pub const fn about_time(self) -> bool {
        !matches!(self, Self::Files)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
