//! One table: opened or made, kept up to date with its log, and refused where it holds what this
//! engine cannot honour.

use super::log::{Entry, LiveFile};
use super::store::{Root, Store};
use crate::error::{Error, Result};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bench_tables::{Table as Name, arrow as columns};
use deltalake::DeltaTable;
use deltalake::kernel::{Metadata, Protocol};
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A table of the lake at its newest known version.
pub(crate) struct Table {
    pub(crate) table: Name,
    pub(crate) store: Store,
    pub(crate) checkpoint_interval: u32,
    state: State,
    /// The table as it was opened; knows the transactions of before.
    opened: Option<DeltaTable>,
    transactions: HashMap<String, Option<i64>>,
}

/// What a version consists of.
struct State {
    version: i64,
    schema: SchemaRef,
    metadata: Value,
    files: BTreeMap<String, LiveFile>,
}

impl Table {
    /// Opens a table, or makes it with the columns it has before any data.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Schema`], and what the store says.
    pub(crate) fn open(root: &Root, table: Name, checkpoint_interval: u32) -> Result<Self> {
        let store = root.table(table.name())?;
        let exists = store
            .handle()
            .block_on(store.log().is_delta_table_location())
            .map_err(Error::delta(store.name))?;
        if !exists {
            let entry = create_entry(table, checkpoint_interval);
            // Where another worker makes the table at the same time, its entry is as good.
            store.put_commit(0, &entry.into())?;
            crate::kill::point("table made");
        }
        let builder = store.builder()?;
        let (opened, files) = store
            .handle()
            .block_on(async {
                let opened = builder.load().await?;
                let views: Vec<_> = opened
                    .snapshot()?
                    .snapshot()
                    .file_views(opened.log_store().as_ref(), None)
                    .try_collect()
                    .await?;
                Ok((opened, views))
            })
            .map_err(Error::delta(store.name))?;
        let snapshot = opened.snapshot().map_err(Error::delta(store.name))?;
        check_protocol(table, snapshot.protocol())?;
        let metadata = metadata_value(table, snapshot.metadata())?;
        let schema = check_metadata(table, snapshot.metadata())?;
        if files
            .iter()
            .any(|view| view.deletion_vector_descriptor().is_some())
        {
            return Err(unsupported(table, "deletion vectors"));
        }
        let key = key_column(table);
        let files = files
            .iter()
            .map(|view| LiveFile::from_view(view, key))
            .map(|file| (file.path.clone(), file))
            .collect();
        let version = i64::try_from(snapshot.version()).expect("versions fit");
        Ok(Self {
            table,
            store,
            checkpoint_interval,
            state: State {
                version,
                schema,
                metadata,
                files,
            },
            opened: Some(opened),
            transactions: HashMap::new(),
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.table.name()
    }

    /// The identity that the table was made with.
    pub(crate) fn id(&self) -> &str {
        self.state.metadata["id"].as_str().unwrap_or_default()
    }

    pub(crate) fn version(&self) -> i64 {
        self.state.version
    }

    /// Columns of the table, the partition column included, in its order.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.state.schema
    }

    /// Live files in the order of their paths.
    pub(crate) fn files(&self) -> impl ExactSizeIterator<Item = &LiveFile> {
        self.state.files.values()
    }

    pub(crate) fn file(&self, path: &str) -> Option<&LiveFile> {
        self.state.files.get(path)
    }

    /// The column whose range is kept per file, if the table has one.
    pub(crate) fn key_column(&self) -> Option<&'static str> {
        key_column(self.table)
    }

    /// Reads the commits that were made since the table was last looked at.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        while let Some(bytes) = self.store.read_commit(self.state.version + 1)? {
            let entry = Entry::parse(self.name(), self.state.version + 1, &bytes)?;
            self.apply(entry)?;
        }
        Ok(())
    }

    /// Takes over a commit that follows on the current version.
    pub(crate) fn apply(&mut self, entry: Entry) -> Result<()> {
        if let Some(protocol) = &entry.protocol {
            check_protocol(self.table, protocol)?;
        }
        if let Some(metadata) = &entry.metadata {
            self.state.schema = check_metadata(self.table, metadata)?;
            self.state.metadata = metadata_value(self.table, metadata)?;
        }
        for remove in &entry.removes {
            self.state.files.remove(&remove.path);
        }
        let key = self.key_column();
        for add in entry.adds {
            let file = LiveFile::from_add(add, key);
            self.state.files.insert(file.path.clone(), file);
        }
        for (app, version) in entry.txns {
            self.transactions.insert(app, Some(version));
        }
        self.state.version = entry.version;
        Ok(())
    }

    /// The version that an application last recorded in this table.
    pub(crate) fn transaction(&mut self, app: &str) -> Result<Option<i64>> {
        if let Some(known) = self.transactions.get(app) {
            return Ok(*known);
        }
        let found = match &self.opened {
            None => None,
            Some(opened) => {
                let snapshot = opened.snapshot().map_err(Error::delta(self.store.name))?;
                self.store
                    .handle()
                    .block_on(snapshot.transaction_version(opened.log_store().as_ref(), app))
                    .map_err(Error::delta(self.store.name))?
            }
        };
        self.transactions.insert(app.to_owned(), found);
        Ok(found)
    }

    /// The commits after one version up to another, oldest first.
    ///
    /// # Errors
    /// [`Error::Commit`] where one of them is no longer in the log.
    pub(crate) fn entries(&self, after: i64, up_to: i64) -> Result<Vec<Entry>> {
        (after + 1..=up_to)
            .map(|version| match self.store.read_commit(version)? {
                Some(bytes) => Entry::parse(self.name(), version, &bytes),
                None => Err(Error::Commit {
                    table: self.name(),
                    version,
                    reason: "it is gone, and a table that follows has not seen it; \
                             the log was cleaned up too early"
                        .to_owned(),
                }),
            })
            .collect()
    }

    /// The schema with the identifier columns of `incoming` that the table does not have yet
    /// behind its own, and the metadata that says so; `None` where there are none.
    pub(crate) fn evolved(&self, incoming: &Schema) -> Result<Option<(SchemaRef, Value)>> {
        let new: Vec<&Field> = incoming
            .fields()
            .iter()
            .filter(|field| self.state.schema.index_of(field.name()).is_err())
            .map(AsRef::as_ref)
            .collect();
        if new.is_empty() {
            return Ok(None);
        }
        let mut fields: Vec<Arc<Field>> = self.state.schema.fields().to_vec();
        let mut metadata = self.state.metadata.clone();
        let mut schema = stored_schema(self.table, &metadata)?;
        for field in new {
            fields.push(Arc::new(Field::new(field.name(), DataType::Utf8, true)));
            if let Some(Value::Array(stored)) = schema.get_mut("fields") {
                stored.push(field_json(field.name(), &json!("string")));
            }
        }
        metadata["schemaString"] = Value::String(schema.to_string());
        Ok(Some((Arc::new(Schema::new(fields)), metadata)))
    }
}

/// The column whose values decide which rows meet in a merge.
fn key_column(table: Name) -> Option<&'static str> {
    match table {
        // Diagnoses are replaced by the accession of their report.
        Name::Dx => Some("accession_number"),
        other => other.key().first().copied(),
    }
}

fn unsupported(table: Name, features: impl Into<String>) -> Error {
    Error::Unsupported {
        table: table.name(),
        features: features.into(),
    }
}

/// Refuses tables whose features or versions ask for more than adding and removing files.
fn check_protocol(table: Name, protocol: &Protocol) -> Result<()> {
    let value = serde_json::to_value(protocol)
        .map_err(|error| unsupported(table, format!("a protocol it cannot read ({error})")))?;
    let number = |key: &str| value[key].as_i64().unwrap_or_default();
    let list = |key: &str| -> Vec<String> {
        value[key]
            .as_array()
            .map(|all| {
                all.iter()
                    .filter_map(|f| f.as_str().map(str::to_owned))
                    .collect()
            })
            .unwrap_or_default()
    };
    // What writers up to version 2 know, and what makes no demand while unused.
    const HONOURED: &[&str] = &["appendOnly", "invariants"];
    let mut wrong: Vec<String> = list("readerFeatures");
    wrong.extend(list("writerFeatures"));
    wrong.retain(|feature| !HONOURED.contains(&feature.as_str()));
    wrong.sort();
    wrong.dedup();
    let (reader, writer) = (number("minReaderVersion"), number("minWriterVersion"));
    if wrong.is_empty() && (reader == 2 || (writer > 2 && writer < 7) || reader > 3 || writer > 7) {
        wrong.push(format!(
            "reader version {reader} and writer version {writer}"
        ));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(unsupported(table, wrong.join(", ")))
    }
}

/// Whether a table property asks for nothing that this engine does not do. One that is not known
/// here may ask for anything, so it is refused; who names properties without `delta.` in front has
/// to look after them.
fn is_honoured(key: &str, value: &str) -> bool {
    /// Properties that say when and where something is done that every writer may leave out, or
    /// that this engine does in the strictest way.
    const HARMLESS: &[&str] = &[
        "delta.autoOptimize.autoCompact",
        "delta.autoOptimize.optimizeWrite",
        "delta.checkpoint.writeStatsAsJson",
        "delta.checkpoint.writeStatsAsStruct",
        "delta.checkpointInterval",
        "delta.columnMapping.maxColumnId",
        "delta.dataSkippingNumIndexedCols",
        "delta.dataSkippingStatsColumns",
        "delta.deletedFileRetentionDuration",
        "delta.enableExpiredLogCleanup",
        "delta.enableFullRetentionRollback",
        "delta.isolationLevel",
        "delta.logRetentionDuration",
        "delta.minReaderVersion",
        "delta.minWriterVersion",
        "delta.parquet.compression.codec",
        "delta.sampleRetentionDuration",
        "delta.targetFileSize",
        "delta.tuneFileSizesForRewrites",
    ];
    if !key.starts_with("delta.") || HARMLESS.contains(&key) {
        return true;
    }
    // Off, by whichever word the property has for it.
    ["false", "none", "classic"]
        .iter()
        .any(|off| value.eq_ignore_ascii_case(off))
}

fn metadata_value(table: Name, metadata: &Metadata) -> Result<Value> {
    serde_json::to_value(metadata).map_err(|error| Error::Schema {
        table: table.name(),
        reason: error.to_string(),
    })
}

fn stored_schema(table: Name, metadata: &Value) -> Result<Value> {
    metadata["schemaString"]
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or_else(|| Error::Schema {
            table: table.name(),
            reason: "its log holds no schema".to_owned(),
        })
}

/// The table's columns, after making sure that they are the platform's and that nothing is asked
/// of a writer that this one would not do.
fn check_metadata(table: Name, metadata: &Metadata) -> Result<SchemaRef> {
    let value = metadata_value(table, metadata)?;
    let schema = stored_schema(table, &value)?;
    let wrong = |reason: String| Error::Schema {
        table: table.name(),
        reason,
    };
    let partitions: Vec<&str> = value["partitionColumns"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if partitions != table.partition_columns() {
        return Err(wrong(format!(
            "it is partitioned by [{}], not by [{}]",
            partitions.join(", "),
            table.partition_columns().join(", ")
        )));
    }
    for (key, setting) in value["configuration"].as_object().into_iter().flatten() {
        if !is_honoured(key, setting.as_str().unwrap_or_default()) {
            return Err(unsupported(table, format!("the property {key}")));
        }
    }
    let expected: HashMap<&str, DataType> = table
        .columns()
        .into_iter()
        .map(|c| (c.name, columns::data_type(c.ty)))
        .collect();
    let mut found = 0;
    let mut fields = Vec::new();
    for field in schema["fields"].as_array().into_iter().flatten() {
        let name = field["name"].as_str().unwrap_or_default();
        let demands = field["metadata"]
            .as_object()
            .is_some_and(|metadata| metadata.keys().any(|key| key.starts_with("delta.")));
        if demands || field["nullable"].as_bool() == Some(false) {
            return Err(unsupported(table, format!("a constraint on column {name}")));
        }
        let ty = match expected.get(name) {
            Some(ty) => {
                found += 1;
                if field["type"] != type_json(ty) {
                    return Err(wrong(format!("column {name} is of another type")));
                }
                ty.clone()
            }
            None if table.has_identifier_columns() && field["type"] == "string" => DataType::Utf8,
            None => return Err(wrong(format!("column {name} is none of the platform's"))),
        };
        fields.push(Field::new(name, ty, true));
    }
    if found != expected.len() {
        let missing = table
            .columns()
            .into_iter()
            .find(|column| !fields.iter().any(|field| field.name() == column.name));
        let name = missing.map_or("", |column| column.name);
        return Err(wrong(format!("column {name} is missing")));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Delta's name for a type.
fn type_json(ty: &DataType) -> Value {
    match ty {
        DataType::Utf8 => json!("string"),
        DataType::Int32 => json!("integer"),
        DataType::Boolean => json!("boolean"),
        DataType::Date32 => json!("date"),
        DataType::Timestamp(..) => json!("timestamp"),
        DataType::List(element) => json!({
            "type": "array", "elementType": type_json(element.data_type()), "containsNull": true,
        }),
        DataType::Struct(fields) => json!({
            "type": "struct",
            "fields": fields.iter().map(|f| field_json(f.name(), &type_json(f.data_type())))
                .collect::<Vec<_>>(),
        }),
        other => unreachable!("no table of the lake has a column of type {other}"),
    }
}

fn field_json(name: &str, ty: &Value) -> Value {
    json!({ "name": name, "type": ty, "nullable": true, "metadata": {} })
}

/// The entry of version 0.
fn create_entry(table: Name, checkpoint_interval: u32) -> String {
    let schema = columns::schema(table, []);
    let fields: Vec<Value> = schema
        .fields()
        .iter()
        .map(|field| field_json(field.name(), &type_json(field.data_type())))
        .collect();
    let now = super::commit::now_millis();
    let mut configuration = serde_json::Map::new();
    configuration.insert(
        "delta.checkpointInterval".into(),
        Value::String(checkpoint_interval.to_string()),
    );
    let lines = [
        json!({ "commitInfo": {
            "timestamp": now,
            "operation": "CREATE TABLE",
            "operationParameters": {
                "isManaged": "false",
                "partitionBy": Value::from(table.partition_columns()).to_string(),
            },
            "isolationLevel": "Serializable",
            "isBlindAppend": true,
            "operationMetrics": {},
            "engineInfo": super::commit::ENGINE,
        }}),
        json!({ "protocol": { "minReaderVersion": 1, "minWriterVersion": 2 }}),
        json!({ "metaData": {
            "id": uuid::Uuid::new_v4().to_string(),
            "format": { "provider": "parquet", "options": {} },
            "schemaString": json!({ "type": "struct", "fields": fields }).to_string(),
            "partitionColumns": table.partition_columns(),
            "configuration": configuration,
            "createdTime": now,
        }}),
    ];
    lines.map(|line| line.to_string()).join("\n")
}
