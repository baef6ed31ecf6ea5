//! Logs that a test writes, and tables read back by delta-rs and Parquet alone, without the
//! engine's own reading.
#![allow(dead_code, reason = "every test file uses its own part")]

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, TimestampMicrosecondType};
use bench_embedded::{Engine, LogBatch, Options, Settings, Silent};
use bench_tables::Table;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A folder that goes with its owner. No crate for it: its features would have all of Arrow built
/// a second time for the tests.
pub(crate) struct Temporary(PathBuf);

/// A new empty folder.
pub(crate) fn temporary() -> Temporary {
    let path = std::env::temp_dir().join(format!("bench-embedded-{}", uuid::Uuid::new_v4()));
    fs::create_dir_all(&path).expect("a folder is made");
    Temporary(path)
}

impl Temporary {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A message by what the tables make of it.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) version: &'static str,
    pub(crate) time: String,
    pub(crate) accession: String,
    pub(crate) mpi: String,
    pub(crate) ids: String,
    pub(crate) diagnoses: Vec<String>,
    pub(crate) text: String,
}

impl Message {
    pub(crate) fn new(time: &str, accession: &str) -> Self {
        Self {
            version: "2.7",
            time: time.to_owned(),
            accession: accession.to_owned(),
            mpi: String::new(),
            ids: "1^^^EPIC^MRN".to_owned(),
            diagnoses: Vec::new(),
            text: "All is well".to_owned(),
        }
    }

    pub(crate) fn ids(mut self, ids: &str) -> Self {
        ids.clone_into(&mut self.ids);
        self
    }

    pub(crate) fn text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    pub(crate) fn diagnoses(mut self, codes: &[&str]) -> Self {
        self.diagnoses = codes.iter().map(|code| (*code).to_owned()).collect();
        self
    }

    fn write(&self, out: &mut String) {
        let Self {
            version,
            time,
            accession,
            mpi,
            ids,
            diagnoses,
            text,
        } = self;
        out.push_str("2023-01-13 18:07:17.8754|INFO|Raw|\n<SB>\n");
        out.push_str(&format!(
            "MSH|^~\\&|APP|SITE|RECV|DEPT|{time}||ORU^R01|2.25.1|P|{version}<R>\n"
        ));
        out.push_str(&format!("PID|1|{mpi}|{ids}||LAST^FIRST||19500102|F<R>\n"));
        out.push_str(&format!(
            "OBR|1||{accession}|C1^CT^L||20230101000000|20230101000000<R>\n"
        ));
        for code in diagnoses {
            out.push_str(&format!("DG1|1|I10|{code}^text of {code}^I10<R>\n"));
        }
        out.push_str(&format!("OBX|2|ST|&GDT|1|{text}||||||F<R>\n<EB><R>\n\r\n"));
    }
}

/// Writes a log of messages.
pub(crate) fn write_log(dataset: &Path, relative: &str, messages: &[Message]) {
    let path = dataset.join(relative);
    fs::create_dir_all(path.parent().expect("a log lies in a folder")).expect("a folder is made");
    let mut text = String::new();
    for message in messages {
        message.write(&mut text);
    }
    fs::write(path, text).expect("a log is written");
}

/// Settings from pairs.
pub(crate) fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings::from_pairs(pairs.iter().copied()).expect("the settings are valid")
}

/// An engine with settings.
pub(crate) fn engine(lake: &Path, pairs: &[(&str, &str)]) -> Engine {
    let options = Options {
        settings: settings(pairs),
        threads: 2,
        ..Options::default()
    };
    Engine::open(lake.to_str().expect("the path is text"), options).expect("the lake opens")
}

/// All logs of a dataset as one batch.
pub(crate) fn batch(dataset: &Path) -> LogBatch {
    let logs = bench_hl7::discover(dataset).expect("the logs are found");
    LogBatch::split(&logs, logs.len().max(1)).remove(0)
}

/// Ingests a dataset as one workflow.
pub(crate) fn ingest(
    engine: &mut Engine,
    workflow: &str,
    dataset: &Path,
) -> bench_embedded::Ledger {
    engine
        .ingest(workflow, &batch(dataset), &mut Silent)
        .expect("the workflow is ingested")
}

/// A lake of one workflow: its logs, the lake, and the engine that made it.
pub(crate) fn small_lake(folder: &Path) -> (PathBuf, PathBuf, Engine) {
    let (logs, lake) = (folder.join("logs"), folder.join("lake"));
    write_log(
        &logs,
        "20230113.log",
        &[Message::new("20230113000000", "7")],
    );
    let mut engine = engine(&lake, &[]);
    ingest(&mut engine, "w1", &logs);
    (logs, lake, engine)
}

/// A folder beside the checkout, if it is there.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if folder.exists() {
        return Some(folder);
    }
    eprintln!("SKIPPED: ../shared/{path} is not there");
    None
}

/// A table's live files, relative to it, and their rows.
pub(crate) fn files(lake: &Path, table: Table) -> Vec<(String, Vec<RecordBatch>)> {
    let folder = lake.join(table.name());
    let url = url::Url::from_directory_path(folder.canonicalize().expect("the table is there"))
        .expect("the path is absolute");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let uris: Vec<String> = runtime.block_on(async {
        let table = deltalake::open_table(url).await.expect("the table opens");
        table
            .get_file_uris()
            .expect("its files are listed")
            .collect()
    });
    uris.into_iter()
        .map(|uri| {
            let path = uri.strip_prefix("file://").unwrap_or(&uri).to_owned();
            let file = File::open(&path).expect("a live file is there");
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("it is Parquet");
            let batches = reader.build().expect("it can be read");
            let batches = batches
                .map(|batch| batch.expect("it can be read"))
                .collect();
            (path, batches)
        })
        .collect()
}

pub(crate) type RowMap = BTreeMap<String, String>;

/// A table's rows as text by column; NULLs left out, the partition column taken from the path.
pub(crate) fn rows(lake: &Path, table: Table) -> Vec<RowMap> {
    let mut rows = Vec::new();
    for (path, batches) in files(lake, table) {
        let year = path
            .split("year=")
            .nth(1)
            .and_then(|rest| rest.split('/').next());
        for batch in batches {
            for row in 0..batch.num_rows() {
                let mut map = row_map(&batch, row);
                if let Some(year) = year.filter(|year| !year.starts_with("__")) {
                    map.insert("year".to_owned(), year.to_owned());
                }
                rows.push(map);
            }
        }
    }
    rows.sort();
    rows
}

/// Rows without what every ingest makes anew.
pub(crate) fn stable_rows(lake: &Path, table: Table) -> Vec<RowMap> {
    let mut rows = rows(lake, table);
    for row in &mut rows {
        row.remove("updated");
        row.remove("scout_patient_id");
        row.remove("previous_scout_patient_id");
    }
    rows.sort();
    rows
}

/// All tables' stable rows, and the mapping as a partition of reports.
pub(crate) fn contents(lake: &Path) -> Vec<(Table, Vec<RowMap>)> {
    Table::ALL
        .iter()
        .map(|&table| (table, stable_rows(lake, table)))
        .collect()
}

/// Which reports share a patient.
pub(crate) fn patients(lake: &Path) -> Vec<Vec<String>> {
    let mut patients: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(lake, Table::Mapping) {
        let report = row["primary_report_identifier"].clone();
        patients
            .entry(row["scout_patient_id"].clone())
            .or_default()
            .push(report);
    }
    let mut patients: Vec<Vec<String>> = patients.into_values().collect();
    for reports in &mut patients {
        reports.sort();
    }
    patients.sort();
    patients
}

fn row_map(batch: &RecordBatch, row: usize) -> RowMap {
    let mut map = RowMap::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if column.is_null(row) {
            continue;
        }
        let text = match field.data_type() {
            DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
            DataType::Timestamp(..) => column
                .as_primitive::<TimestampMicrosecondType>()
                .value(row)
                .to_string(),
            _ => arrow::util::display::array_value_to_string(column, row).expect("it has a text"),
        };
        map.insert(field.name().clone(), text);
    }
    map
}

/// Every version of every table.
pub(crate) fn versions(engine: &Engine) -> Vec<(String, i64)> {
    engine
        .state()
        .into_iter()
        .map(|(table, state)| (table, state.version))
        .collect()
}
