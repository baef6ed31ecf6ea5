//! What stands in a table's log, as far as this engine needs it: live files with the range of
//! their keys, and what single commits changed.
//!
//! delta-rs reads a table when it is opened, checkpoints and all. From then on the few commits that
//! follow are read here, one entry each: a snapshot library that looks at every live file after
//! every commit would make the engine itself slow down with the lake.

use crate::error::{Error, Result};
use bytes::Bytes;
use deltalake::kernel::{Action, Add, LogicalFileView, Metadata, Protocol, Remove};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Tag of a file that a clustering compaction wrote.
pub(crate) const CLUSTERED: &str = "bench.clustered";

/// The least and the greatest key in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyRange {
    /// Unknown: the file must be looked at.
    Unknown,
    /// Every key of the file is NULL.
    Null,
    /// All keys that are not NULL lie between the two.
    Between(String, String),
}

impl KeyRange {
    /// Whether one of these keys, sorted, may be in the file.
    pub(crate) fn may_hold(&self, sorted: &[&str]) -> bool {
        match self {
            Self::Unknown => !sorted.is_empty(),
            Self::Null => false,
            Self::Between(min, max) => {
                let at = sorted.partition_point(|key| *key < min.as_str());
                sorted.get(at).is_some_and(|key| *key <= max.as_str())
            }
        }
    }
}

/// A data file of the current version.
#[derive(Clone, Debug)]
pub(crate) struct LiveFile {
    pub(crate) path: String,
    pub(crate) size: i64,
    pub(crate) rows: Option<i64>,
    pub(crate) partition: HashMap<String, Option<String>>,
    pub(crate) key: KeyRange,
    pub(crate) clustered: bool,
}

impl LiveFile {
    pub(crate) fn from_add(add: Add, key_column: Option<&str>) -> Self {
        let (rows, key) = read_stats(add.stats.as_deref(), key_column);
        let clustered = add.tags.is_some_and(|tags| tags.contains_key(CLUSTERED));
        Self {
            path: add.path,
            size: add.size,
            rows,
            partition: add.partition_values,
            key,
            clustered,
        }
    }

    pub(crate) fn from_view(view: &LogicalFileView, key_column: Option<&str>) -> Self {
        #[allow(
            deprecated,
            reason = "the tags of a file are reachable in no other way"
        )]
        Self::from_add(view.add_action(), key_column)
    }

    /// The action that takes the file out of the table.
    pub(crate) fn remove(&self, data_change: bool, now: i64) -> Remove {
        Remove {
            path: self.path.clone(),
            data_change,
            deletion_timestamp: Some(now),
            extended_file_metadata: Some(true),
            partition_values: Some(self.partition.clone()),
            size: Some(self.size),
            ..Remove::default()
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    num_records: Option<i64>,
    #[serde(default)]
    min_values: HashMap<String, Value>,
    #[serde(default)]
    max_values: HashMap<String, Value>,
    #[serde(default)]
    null_count: HashMap<String, Value>,
}

fn read_stats(stats: Option<&str>, key_column: Option<&str>) -> (Option<i64>, KeyRange) {
    let Some(stats) = stats.and_then(|text| serde_json::from_str::<Stats>(text).ok()) else {
        return (None, KeyRange::Unknown);
    };
    let rows = stats.num_records;
    let Some(key) = key_column else {
        return (rows, KeyRange::Unknown);
    };
    let text = |values: &HashMap<String, Value>| match values.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let range = match (text(&stats.min_values), text(&stats.max_values)) {
        (Some(min), Some(max)) => KeyRange::Between(min, max),
        _ if rows.is_some() && stats.null_count.get(key).and_then(Value::as_i64) == rows => {
            KeyRange::Null
        }
        _ => KeyRange::Unknown,
    };
    (rows, range)
}

/// One commit, read from its log entry.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) version: i64,
    pub(crate) adds: Vec<Add>,
    pub(crate) removes: Vec<Remove>,
    pub(crate) txns: Vec<(String, i64)>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) protocol: Option<Protocol>,
    /// `commitInfo.tags`, which the engine writes to know its own commits again.
    pub(crate) tags: HashMap<String, String>,
}

impl Entry {
    pub(crate) fn parse(table: &'static str, version: i64, bytes: &Bytes) -> Result<Self> {
        let number = u64::try_from(version).expect("versions are not negative");
        let actions =
            deltalake::logstore::get_actions(number, bytes).map_err(|_| Error::Commit {
                table,
                version,
                // The library's own words quote the entry, and with it the statistics of rows.
                reason: "it is no list of actions in JSON".to_owned(),
            })?;
        let mut entry = Self {
            version,
            ..Self::default()
        };
        for action in actions {
            match action {
                Action::Add(add) => {
                    if add.deletion_vector.is_some() {
                        let features = "deletion vectors".to_owned();
                        return Err(Error::Unsupported { table, features });
                    }
                    entry.adds.push(add);
                }
                Action::Remove(remove) => entry.removes.push(remove),
                Action::Txn(txn) => entry.txns.push((txn.app_id, txn.version)),
                Action::Metadata(metadata) => entry.metadata = Some(metadata),
                Action::Protocol(protocol) => entry.protocol = Some(protocol),
                Action::CommitInfo(info) => {
                    if let Some(Value::Object(tags)) = info.info.get("tags") {
                        entry.tags = tags
                            .iter()
                            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.into())))
                            .collect();
                    }
                }
                _ => {}
            }
        }
        Ok(entry)
    }

    /// Whether the commit changed rows, and not only the files that hold them.
    pub(crate) fn changes_data(&self) -> bool {
        self.adds.iter().any(|add| add.data_change)
            || self.removes.iter().any(|remove| remove.data_change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_ruled_out_where_no_key_lies_in_its_range() {
        let range = KeyRange::Between("b".into(), "d".into());
        assert!(range.may_hold(&["a", "c"]));
        assert!(range.may_hold(&["d"]));
        assert!(!range.may_hold(&["a", "e"]));
        assert!(!range.may_hold(&[]));
        assert!(!KeyRange::Null.may_hold(&["a"]));
        assert!(KeyRange::Unknown.may_hold(&["a"]));
    }

    #[test]
    fn keys_that_are_all_null_are_told_from_missing_statistics() {
        let null = r#"{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{"k":2}}"#;
        assert_eq!(read_stats(Some(null), Some("k")), (Some(2), KeyRange::Null));
        let missing = r#"{"numRecords":2}"#;
        assert_eq!(
            read_stats(Some(missing), Some("k")),
            (Some(2), KeyRange::Unknown)
        );
        assert_eq!(read_stats(Some("{"), Some("k")), (None, KeyRange::Unknown));
        let both = r#"{"numRecords":1,"minValues":{"k":"a"},"maxValues":{"k":"b"}}"#;
        let range = KeyRange::Between("a".into(), "b".into());
        assert_eq!(read_stats(Some(both), Some("k")), (Some(1), range));
    }
}
