//! Commits: put a version if it is still free, or say that it is not.
//!
//! Actions are never carried over to a later version: a plan that lost is made again from what the
//! winner left. The caller does that ([`crate::lake::retry`]).

use super::log::{Entry, LiveFile};
use super::table::Table;
use crate::error::{Error, Result};
use deltalake::kernel::{Action, Add, Transaction};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Name and version of the engine, as it signs its commits.
pub(crate) const ENGINE: &str = concat!("hl7-ingest-bench-embedded/", env!("CARGO_PKG_VERSION"));

/// What a commit does.
pub(crate) struct Commit {
    /// Delta's name for the operation.
    pub(crate) operation: &'static str,
    /// Its parameters.
    pub(crate) parameters: Vec<(&'static str, String)>,
    /// Its metrics, as Delta names them.
    pub(crate) metrics: Vec<(&'static str, u64)>,
    /// Files that come.
    pub(crate) adds: Vec<Add>,
    /// Files that go.
    pub(crate) removes: Vec<LiveFile>,
    /// Whether rows change, and not only the files that hold them.
    pub(crate) data_change: bool,
    /// What applications record with it.
    pub(crate) transactions: Vec<(String, i64)>,
    /// New metadata, where the schema changes.
    pub(crate) metadata: Option<Value>,
    /// What the engine wants to know again about its own commit.
    pub(crate) tags: Vec<(&'static str, String)>,
}

impl Commit {
    pub(crate) fn new(operation: &'static str) -> Self {
        Self {
            operation,
            parameters: Vec::new(),
            metrics: Vec::new(),
            adds: Vec::new(),
            removes: Vec::new(),
            data_change: true,
            transactions: Vec::new(),
            metadata: None,
            tags: Vec::new(),
        }
    }
}

/// Whether a commit was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Outcome {
    /// As this version.
    Committed(i64),
    /// Another writer had the version; the files that were written for it are deleted and the
    /// table is up to date.
    Conflict,
}

/// Milliseconds since 1970.
pub(crate) fn now_millis() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Table {
    /// Commits on top of the version that the plan was made on.
    pub(crate) fn commit(&mut self, commit: &Commit) -> Result<Outcome> {
        let version = self.version() + 1;
        let bytes = entry_bytes(self, commit)?.into();
        crate::kill::point("files written");
        if !self.store.put_commit(version, &bytes)? {
            self.store.discard_uncommitted();
            self.refresh()?;
            return Ok(Outcome::Conflict);
        }
        self.store
            .committed(commit.adds.iter().map(|add| add.path.as_str()));
        crate::kill::point("committed");
        let entry = Entry::parse(self.name(), version, &bytes)?;
        self.apply(entry)?;
        self.checkpoint_if_due()?;
        Ok(Outcome::Committed(version))
    }

    fn checkpoint_if_due(&self) -> Result<()> {
        let version = self.version();
        if version == 0 || version % i64::from(self.checkpoint_interval) != 0 {
            return Ok(());
        }
        let number = u64::try_from(version).expect("versions are not negative");
        let builder = self.store.builder()?.with_version(number);
        self.store
            .handle()
            .block_on(async {
                let table = builder.load().await?;
                deltalake::checkpoints::create_checkpoint(&table, None).await
            })
            .map_err(Error::delta(self.store.name))?;
        crate::kill::point("checkpoint written");
        Ok(())
    }
}

fn entry_bytes(table: &Table, commit: &Commit) -> Result<Vec<u8>> {
    let now = now_millis();
    let strings = |pairs: &[(&'static str, String)]| -> Map<String, Value> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect()
    };
    let metrics: Map<String, Value> = commit
        .metrics
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value.to_string())))
        .collect();
    let mut lines = vec![json!({ "commitInfo": {
        "timestamp": now,
        "operation": commit.operation,
        "operationParameters": strings(&commit.parameters),
        "readVersion": table.version(),
        "isolationLevel": if commit.data_change { "Serializable" } else { "SnapshotIsolation" },
        "isBlindAppend": false,
        "operationMetrics": metrics,
        "tags": strings(&commit.tags),
        "engineInfo": ENGINE,
        "txnId": uuid::Uuid::new_v4().to_string(),
    }})];
    if let Some(metadata) = &commit.metadata {
        lines.push(json!({ "metaData": metadata }));
    }
    let mut actions = Vec::new();
    for (app_id, version) in &commit.transactions {
        actions.push(Action::Txn(Transaction {
            app_id: app_id.clone(),
            version: *version,
            last_updated: Some(now),
        }));
    }
    for file in &commit.removes {
        actions.push(Action::Remove(file.remove(commit.data_change, now)));
    }
    for add in &commit.adds {
        let add = Add {
            data_change: commit.data_change,
            ..add.clone()
        };
        actions.push(Action::Add(add));
    }
    for action in &actions {
        lines.push(serde_json::to_value(action).map_err(|error| Error::Commit {
            table: table.name(),
            version: table.version() + 1,
            reason: error.to_string(),
        })?);
    }
    let mut bytes = Vec::new();
    for line in lines {
        bytes.extend_from_slice(line.to_string().as_bytes());
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// An add action without statistics.
pub(crate) fn add(
    path: String,
    partition_values: HashMap<String, Option<String>>,
    size: u64,
    stats: String,
) -> Add {
    Add {
        path,
        partition_values,
        size: i64::try_from(size).unwrap_or(i64::MAX),
        modification_time: now_millis(),
        data_change: true,
        stats: Some(stats),
        ..Add::default()
    }
}
