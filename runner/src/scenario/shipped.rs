//! The scenarios that come with bench, and how one is named.

use super::error::ScenarioErrors;
use super::keys::nearest;
use std::path::{Path, PathBuf};

/// Name and text of each shipped scenario, in the order in which they are listed.
pub const SHIPPED: &[(&str, &str)] = &[
    (
        "quickstart",
        include_str!("../../../scenarios/quickstart.toml"),
    ),
    (
        "dev04-sequential",
        include_str!("../../../scenarios/dev04-sequential.toml"),
    ),
    (
        "dev04-full",
        include_str!("../../../scenarios/dev04-full.toml"),
    ),
    (
        "dev05-concurrent",
        include_str!("../../../scenarios/dev05-concurrent.toml"),
    ),
    (
        "dev04-matched",
        include_str!("../../../scenarios/dev04-matched.toml"),
    ),
    (
        "memory-partitions-sweep",
        include_str!("../../../scenarios/memory-partitions-sweep.toml"),
    ),
    ("reingest", include_str!("../../../scenarios/reingest.toml")),
    (
        "late-and-dirty",
        include_str!("../../../scenarios/late-and-dirty.toml"),
    ),
    (
        "growth-10x",
        include_str!("../../../scenarios/growth-10x.toml"),
    ),
    (
        "spark-quick",
        include_str!("../../../scenarios/spark-quick.toml"),
    ),
    (
        "spark-dev04",
        include_str!("../../../scenarios/spark-dev04.toml"),
    ),
    (
        "spark-adaptive",
        include_str!("../../../scenarios/spark-adaptive.toml"),
    ),
    (
        "scout-dev04",
        include_str!("../../../scenarios/scout-dev04.toml"),
    ),
    ("parity", include_str!("../../../scenarios/parity.toml")),
];

/// A scenario's text and its place.
pub(super) struct Source {
    pub(super) text: String,
    pub(super) path: PathBuf,
    /// Where relative paths in it begin.
    pub(super) folder: PathBuf,
}

/// Finds a scenario by its name or path.
pub(super) fn open(name_or_path: &str) -> Result<Source, ScenarioErrors> {
    if let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == name_or_path) {
        return Ok(Source {
            text: (*text).to_owned(),
            path: Path::new("scenarios").join(format!("{name}.toml")),
            folder: PathBuf::new(),
        });
    }
    let path = PathBuf::from(name_or_path);
    let fail = |what: String| Err(ScenarioErrors::one(name_or_path, what));
    match std::fs::read(&path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Source {
                text,
                folder: path.parent().unwrap_or(Path::new("")).to_owned(),
                path,
            }),
            Err(error) => {
                let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                fail(format!("is no UTF-8 in line {line}, which TOML must be"))
            }
        },
        Err(error) => {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let names = || SHIPPED.iter().map(|(name, _)| *name);
            let hint = match stem.and_then(|stem| nearest(stem, names())) {
                Some(near) => format!("the nearest that is shipped is `{near}`"),
                None => format!("shipped are {}", names().collect::<Vec<_>>().join(", ")),
            };
            fail(format!(
                "cannot be read: {error}; name a file, or a scenario that is shipped: {hint}"
            ))
        }
    }
}
