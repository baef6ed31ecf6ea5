//! The write settings: which exist, their defaults (those of the reference), how they are read
//! from `key=value`, and what of them is in force.
//!
//! A setting that this engine cannot honour does not exist here: asking for it is an error, so that
//! no report can show a requested setting as the effective one.

use crate::error::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// When files that no table needs any more are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuum {
    /// They stay.
    Never,
    /// After the last workflow.
    End,
    /// After every so many workflows.
    Every(u32),
}

/// What decides about the files that a workflow writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Parts that the output of a merge or append is hashed into.
    pub shuffle_partitions: u32,
    /// Whether small parts are merged before they are written.
    pub adaptive: bool,
    /// Whether parts are repacked to files of about 128 MiB before the commit.
    pub optimize_write: bool,
    /// Whether small files are compacted after a commit.
    pub auto_compact: bool,
    /// Small files in one table partition that start a compaction.
    pub auto_compact_min_files: u32,
    /// Whether a merge's output is hashed by the table's partition columns.
    pub repartition_before_write: bool,
    /// Whether `reports_latest` is compacted after every merge.
    pub optimize_latest_after_merge: bool,
    /// When dead files are deleted.
    pub vacuum: Vacuum,
    /// How long a dead file is kept before vacuum may delete it.
    pub vacuum_retention: Duration,
    /// Whether the mapping tables are derived at all.
    pub create_mapping: bool,
    /// Commits per checkpoint.
    pub checkpoint_interval: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shuffle_partitions: 200,
            adaptive: true,
            optimize_write: false,
            auto_compact: false,
            auto_compact_min_files: 50,
            repartition_before_write: true,
            optimize_latest_after_merge: true,
            vacuum: Vacuum::Never,
            vacuum_retention: Duration::from_secs(7 * 24 * 3600),
            create_mapping: true,
            checkpoint_interval: 10,
        }
    }
}

/// What a setting's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// A whole number, within [`COUNTS`].
    Count,
    /// True or false.
    Boolean,
    /// `"never"`, `"end"` or a number of workflows.
    Vacuum,
    /// A text with a whole number and its unit: s, min, h or d.
    Duration,
}

/// A setting, described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub kind: SettingKind,
    /// What it does, in a line.
    pub what: &'static str,
}

const fn key(name: &'static str, kind: SettingKind, what: &'static str) -> SettingKey {
    SettingKey { name, kind, what }
}

/// Every setting, in the order of the documentation.
pub const KEYS: &[SettingKey] = &[
    key(
        "shuffle_partitions",
        SettingKind::Count,
        "parts that the output of a merge or append is hashed into; each that is not empty is a file",
    ),
    key(
        "adaptive",
        SettingKind::Boolean,
        "merge small parts before they are written",
    ),
    key(
        "optimize_write",
        SettingKind::Boolean,
        "repack parts to files of about 128 MiB before the commit",
    ),
    key(
        "auto_compact",
        SettingKind::Boolean,
        "compact small files after a commit",
    ),
    key(
        "auto_compact_min_files",
        SettingKind::Count,
        "small files in one table partition that start a compaction",
    ),
    key(
        "repartition_before_write",
        SettingKind::Boolean,
        "hash a merge's output by the table's partition columns",
    ),
    key(
        "optimize_latest_after_merge",
        SettingKind::Boolean,
        "compact reports_latest after every merge",
    ),
    key(
        "vacuum",
        SettingKind::Vacuum,
        "when dead files are deleted: never, at the end, or after every so many workflows",
    ),
    key(
        "vacuum_retention",
        SettingKind::Duration,
        "how long a dead file is kept before vacuum may delete it",
    ),
    key(
        "create_mapping",
        SettingKind::Boolean,
        "derive the mapping tables at all",
    ),
    key(
        "checkpoint_interval",
        SettingKind::Count,
        "commits per checkpoint",
    ),
];

/// The least and the greatest value of a count.
pub const COUNTS: RangeInclusive<u32> = 1..=100_000;

const COUNT: &str = "a whole number from 1 to 100000";
const BOOL: &str = "true or false";

impl Settings {
    /// Reads settings from keys and values as they stand in a scenario or after `--set`.
    ///
    /// # Errors
    /// [`Error::UnknownSetting`], [`Error::InvalidSetting`]
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            settings.set(key, value)?;
        }
        Ok(settings)
    }

    /// Sets one setting from text.
    ///
    /// # Errors
    /// [`Error::UnknownSetting`], [`Error::InvalidSetting`]
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "shuffle_partitions" => self.shuffle_partitions = count("shuffle_partitions", value)?,
            "adaptive" => self.adaptive = boolean("adaptive", value)?,
            "optimize_write" => self.optimize_write = boolean("optimize_write", value)?,
            "auto_compact" => self.auto_compact = boolean("auto_compact", value)?,
            "auto_compact_min_files" => {
                self.auto_compact_min_files = count("auto_compact_min_files", value)?;
            }
            "repartition_before_write" => {
                self.repartition_before_write = boolean("repartition_before_write", value)?;
            }
            "optimize_latest_after_merge" => {
                self.optimize_latest_after_merge = boolean("optimize_latest_after_merge", value)?;
            }
            "vacuum" => self.vacuum = vacuum(value)?,
            "vacuum_retention" => self.vacuum_retention = duration("vacuum_retention", value)?,
            "create_mapping" => self.create_mapping = boolean("create_mapping", value)?,
            "checkpoint_interval" => {
                self.checkpoint_interval = count("checkpoint_interval", value)?;
            }
            _ => return Err(unknown(key)),
        }
        Ok(())
    }

    /// The settings in force, by key, each as text that [`Self::set`] reads.
    #[must_use]
    pub fn effective(&self) -> Effective {
        let vacuum = match self.vacuum {
            Vacuum::Never => "never".to_owned(),
            Vacuum::End => "end".to_owned(),
            Vacuum::Every(workflows) => workflows.to_string(),
        };
        Effective(BTreeMap::from([
            ("shuffle_partitions", self.shuffle_partitions.to_string()),
            ("adaptive", self.adaptive.to_string()),
            ("optimize_write", self.optimize_write.to_string()),
            ("auto_compact", self.auto_compact.to_string()),
            (
                "auto_compact_min_files",
                self.auto_compact_min_files.to_string(),
            ),
            (
                "repartition_before_write",
                self.repartition_before_write.to_string(),
            ),
            (
                "optimize_latest_after_merge",
                self.optimize_latest_after_merge.to_string(),
            ),
            ("vacuum", vacuum),
            (
                "vacuum_retention",
                format!("{}s", self.vacuum_retention.as_secs()),
            ),
            ("create_mapping", self.create_mapping.to_string()),
            ("checkpoint_interval", self.checkpoint_interval.to_string()),
        ]))
    }
}

/// Settings in force, by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Effective(pub BTreeMap<&'static str, String>);

fn count(key: &'static str, value: &str) -> Result<u32> {
    match value.parse() {
        Ok(count) if COUNTS.contains(&count) => Ok(count),
        _ => Err(Error::InvalidSetting {
            key,
            value: value.to_owned(),
            allowed: COUNT,
        }),
    }
}

fn boolean(key: &'static str, value: &str) -> Result<bool> {
    value.parse().map_err(|_| Error::InvalidSetting {
        key,
        value: value.to_owned(),
        allowed: BOOL,
    })
}

fn vacuum(value: &str) -> Result<Vacuum> {
    match value {
        "never" => Ok(Vacuum::Never),
        "end" => Ok(Vacuum::End),
        _ => match value.parse() {
            Ok(workflows @ 1..) => Ok(Vacuum::Every(workflows)),
            _ => Err(Error::InvalidSetting {
                key: "vacuum",
                value: value.to_owned(),
                allowed: "\"never\", \"end\" or a number of workflows",
            }),
        },
    }
}

/// Reads `90s`, `15min`, `168h` or `7d`.
fn duration(key: &'static str, value: &str) -> Result<Duration> {
    let units = [("min", 60), ("s", 1), ("h", 3600), ("d", 24 * 3600)];
    units
        .iter()
        .find_map(|(unit, seconds)| {
            let number: u64 = value.strip_suffix(unit)?.trim_end().parse().ok()?;
            number.checked_mul(*seconds).map(Duration::from_secs)
        })
        .ok_or_else(|| Error::InvalidSetting {
            key,
            value: value.to_owned(),
            allowed: "a number with its unit, such as 0s, 30min, 168h or 7d,",
        })
}

fn unknown(key: &str) -> Error {
    let names: Vec<&str> = KEYS.iter().map(|known| known.name).collect();
    let nearest = names
        .iter()
        .min_by_key(|known| distance(key, known))
        .copied();
    let hint = match nearest {
        Some(known) if distance(key, known) <= 3 => format!("; did you mean {known}?"),
        _ => String::new(),
    };
    Error::UnknownSetting {
        key: key.to_owned(),
        hint,
        known: names.join(", "),
    }
}

/// Edits that make one word of another.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(a != b))
                .min(above + 1)
                .min(row[j] + 1);
            diagonal = above;
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_settings_read_back_as_they_are() {
        let mut settings = Settings::default();
        for (key, value) in [
            ("shuffle_partitions", "16"),
            ("adaptive", "false"),
            ("vacuum", "3"),
            ("vacuum_retention", "2h"),
            ("create_mapping", "false"),
        ] {
            settings.set(key, value).expect(key);
        }
        let effective = settings.effective();
        let pairs = effective
            .0
            .iter()
            .map(|(key, value)| (*key, value.as_str()));
        assert_eq!(
            Settings::from_pairs(pairs).expect("they are valid"),
            settings
        );
        let mut keys: Vec<&str> = effective.0.into_keys().collect();
        let mut known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        keys.sort_unstable();
        known.sort_unstable();
        assert_eq!(keys, known);
    }

    #[test]
    fn a_misspelt_setting_names_the_nearest_one() {
        let error = Settings::from_pairs([("shufle_partitions", "3")]).expect_err("it is unknown");
        assert!(
            error
                .to_string()
                .contains("did you mean shuffle_partitions?"),
            "{error}"
        );
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (key, value) in [
            ("shuffle_partitions", "0"),
            ("shuffle_partitions", "-1"),
            ("adaptive", "yes"),
            ("vacuum", "0"),
            ("vacuum", "sometimes"),
            ("vacuum_retention", "7"),
            ("checkpoint_interval", "x"),
        ] {
            assert!(
                Settings::from_pairs([(key, value)]).is_err(),
                "{key} = {value}"
            );
        }
    }
}
