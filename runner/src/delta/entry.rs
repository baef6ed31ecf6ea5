//! One entry of a Delta log, as far as files are concerned.

use serde::{Deserialize, Deserializer};
use std::collections::HashMap;

/// A file that a commit added.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileAdded {
    /// Relative to the table.
    #[serde(deserialize_with = "decoded")]
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) size: u64,
    #[serde(default)]
    pub(crate) stats: Option<String>,
    #[serde(default)]
    pub(crate) deletion_vector: Option<DeletionVector>,
}

/// Rows of a file that count as deleted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct DeletionVector {
    #[serde(default)]
    cardinality: u64,
}

#[derive(Deserialize)]
struct FileRemoved {
    #[serde(deserialize_with = "decoded")]
    path: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitInfo {
    operation: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    add: Option<FileAdded>,
    remove: Option<FileRemoved>,
    commit_info: Option<CommitInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    num_records: Option<u64>,
}

impl FileAdded {
    /// Rows by the file's statistics.
    pub(crate) fn rows(&self) -> Option<u64> {
        let rows = rows_of(self.stats.as_deref()?)?;
        let deleted = self.deletion_vector.as_ref().map_or(0, |v| v.cardinality);
        rows.checked_sub(deleted)
    }
}

/// `numRecords` of statistics.
pub(crate) fn rows_of(statistics: &str) -> Option<u64> {
    serde_json::from_str::<Statistics>(statistics)
        .ok()?
        .num_records
}

fn decoded<'de, D: Deserializer<'de>>(path: D) -> Result<String, D::Error> {
    Ok(percent_decoded(&String::deserialize(path)?))
}

/// Undoes the percent-encoding of paths in the log. What is no encoding stays as it is.
fn percent_decoded(path: &str) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (
            bytes[at],
            digit(bytes.get(at + 1)),
            digit(bytes.get(at + 2)),
        ) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| path.to_owned())
}

/// What a commit did to the files.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) added: Vec<FileAdded>,
    pub(crate) removed: Vec<String>,
    pub(crate) operation: Option<String>,
}

impl Entry {
    /// Reads an entry.
    ///
    /// # Errors
    /// Says which line is no action.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut entry = Self::default();
        let lines = bytes.split(|&byte| byte == b'\n').enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
            // The error's own words may quote the line, and statistics hold values.
            let line: Line = serde_json::from_slice(line).map_err(|error| {
                format!(
                    "line {} is no action ({:?} error)",
                    number + 1,
                    error.classify()
                )
            })?;
            entry.added.extend(line.add);
            entry.removed.extend(line.remove.map(|file| file.path));
            if let Some(info) = line.commit_info {
                entry.operation = info.operation;
            }
        }
        Ok(entry)
    }

    /// Takes the commit's files in and out of those that were live before.
    pub(crate) fn apply<T>(self, live: &mut HashMap<String, T>, make: impl Fn(FileAdded) -> T) {
        for path in &self.removed {
            live.remove(path);
        }
        for file in self.added {
            live.insert(file.path.clone(), make(file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_adds_and_removes_files_and_names_its_operation() {
        let text = br#"{"commitInfo":{"timestamp":1,"operation":"MERGE"}}
{"txn":{"appId":"a","version":1}}
{"add":{"path":"b","partitionValues":{},"size":7,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":3}"}}
{"remove":{"path":"a","dataChange":true}}
"#;
        let entry = Entry::parse(text).expect("it is an entry");
        assert_eq!(entry.operation.as_deref(), Some("MERGE"));
        let mut live = HashMap::from([("a".to_owned(), Some(1))]);
        entry.apply(&mut live, |file| file.rows());
        assert_eq!(live, HashMap::from([("b".to_owned(), Some(3))]));
    }

    #[test]
    fn rows_that_a_deletion_vector_takes_out_do_not_count() {
        let text = br#"{"add":{"path":"b","size":7,"stats":"{\"numRecords\":3}","deletionVector":{"cardinality":1}}}"#;
        let entry = Entry::parse(text).expect("it is an entry");
        assert_eq!(entry.added[0].rows(), Some(2));
    }

    #[test]
    fn an_encoded_path_is_decoded_and_anything_else_stays() {
        assert_eq!(
            percent_decoded("year=2023/a%20b%3Dc.parquet"),
            "year=2023/a b=c.parquet"
        );
        assert_eq!(percent_decoded("100%/a%zz"), "100%/a%zz");
    }

    #[test]
    fn a_broken_line_is_named_by_its_number_and_not_quoted() {
        let error = Entry::parse(b"{}\n{\"add\":{\"path\":secret").expect_err("it is broken");
        assert!(
            error.contains("line 2") && !error.contains("secret"),
            "{error}"
        );
    }
}
