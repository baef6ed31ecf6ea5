//! Logs ingested by the engine, compared with what the platform's own transformer made of them.
//!
//! Its tables are stored small, as keys and hashes (`tests/data/reference/README.md`). Rows, keys,
//! every column, patients as a partition, the history and diagnoses are compared; what every run
//! makes anew, and which of several tied messages or patient ids wins, is open there.

use crate::common::{files, settings, shared, temporary};
use crate::expected;
use arrow::array::{Array, AsArray, BinaryArray, RecordBatch};
use arrow::datatypes::Int32Type;
use bench_embedded::{LogBatch, Options, Silent, ingest_folder};
use bench_generator::{Overrides, Spec};
use bench_tables::arrow::row_hash;
use bench_tables::encode::portable_source;
use bench_tables::fold::{Fold, MappingRow, Settings};
use bench_tables::{RowEncoder, Table, Value};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What names a row: its file and year, its accession, the position of its diagnosis.
type Key = (String, Option<i32>, Option<Vec<u8>>, Option<i32>);

/// A row of either lake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: Key,
    hash: Vec<u8>,
    /// Two bytes a column, by [`Rows::columns`].
    columns: Vec<u8>,
    /// The patient, where the table has one: any number of its own.
    patient: Option<usize>,
    /// In the history: whether the report was new.
    new: Option<bool>,
}

/// A table of either lake, in the order of its keys and hashes.
struct Rows {
    columns: Vec<String>,
    rows: Vec<Row>,
}

fn data(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/reference")).join(path)
}

/// A table of the reference.
fn stored(set: &str, table: Table) -> Rows {
    let path = data(set).join(format!("{}.parquet", table.name()));
    let file = File::open(&path).expect("the reference's table is stored");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("it is Parquet");
    let columns = reader.schema().metadata()["columns"]
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let mut rows = Vec::new();
    for batch in reader.build().expect("it can be read") {
        let batch = batch.expect("it can be read");
        let column = |name: &str| batch.column_by_name(name).cloned();
        let integer = |name: &str, row: usize| {
            let array = column(name)?;
            let array = array.as_primitive::<Int32Type>();
            array.is_valid(row).then(|| array.value(row))
        };
        let fixed =
            |name: &str, row: usize| Some(column(name)?.as_fixed_size_binary().value(row).to_vec());
        for row in 0..batch.num_rows() {
            let file = column("file").expect("every row names its file");
            let parts = column("columns").expect("every row has its columns' hashes");
            let parts: &BinaryArray = parts.as_binary();
            let patient = integer("patient", row);
            rows.push(Row {
                key: (
                    file.as_string::<i32>().value(row).to_owned(),
                    integer("year", row),
                    fixed("accession", row),
                    integer("position", row),
                ),
                hash: fixed("row", row).expect("every row has a hash"),
                columns: parts.value(row).to_vec(),
                patient: patient.map(|number| usize::try_from(number).expect("it is a count")),
                new: column("new").map(|new| new.as_boolean().value(row)),
            });
        }
    }
    rows.sort();
    Rows { columns, rows }
}

/// A table of the engine's lake, with the hashes of the given columns.
fn found(lake: &Path, table: Table, columns: &[String]) -> Rows {
    let mut patients: HashMap<String, usize> = HashMap::new();
    let mut rows = Vec::new();
    for (path, batches) in files(lake, table) {
        for batch in batches {
            let batch = match path.split("year=").nth(1) {
                None => batch,
                Some(rest) => {
                    let year = rest.split('/').next().and_then(|year| year.parse().ok());
                    expected::with_year(&batch, year)
                }
            };
            for row in 0..batch.num_rows() {
                rows.push(found_row(&batch, row, table, columns, &mut patients));
            }
        }
    }
    rows.sort();
    let columns = columns.to_vec();
    Rows { columns, rows }
}

const PATIENTS: [&str; 2] = ["scout_patient_id", "previous_scout_patient_id"];

fn found_row(
    batch: &RecordBatch,
    row: usize,
    table: Table,
    columns: &[String],
    patients: &mut HashMap<String, usize>,
) -> Row {
    let mut encoder = RowEncoder::new();
    let schema = batch.schema();
    let column = |name: &str| batch.column_by_name(name);
    let text = |name: &str| {
        let array = column(name)?.as_string::<i32>();
        array.is_valid(row).then(|| array.value(row).to_owned())
    };
    let file = text("source_file").or_else(|| text("primary_report_identifier"));
    let file = portable_source(&file.expect("every row has its file")).to_owned();
    let accession = text("accession_number").map(|accession| {
        let value = Value::Str(&accession);
        let hash = encoder.columns(&mut [("accession_number", value)]);
        hash.to_bytes()[..8].to_vec()
    });
    let year = || {
        let years = column("year")?.as_primitive::<Int32Type>();
        years.is_valid(row).then(|| years.value(row))
    };
    let position = || {
        let id = text("diagnosis_id").expect("every diagnosis has its id");
        let (_, position) = id.rsplit_once('_').expect("an id ends in its position");
        position.parse::<i32>().expect("a position is a number")
    };
    let key = match table {
        Table::Reports | Table::Curated => (file, year(), None, None),
        Table::Latest => (file, None, accession, None),
        Table::Dx => (file, None, accession, Some(position())),
        Table::Mapping | Table::MappingHistory => (file, None, None, None),
    };
    let kept: Vec<usize> = (0..batch.num_columns())
        .filter(|&at| !PATIENTS.contains(&schema.field(at).name().as_str()))
        .collect();
    let kept = batch.project(&kept).expect("the columns are there");
    let mut parts = Vec::new();
    for name in columns {
        parts.extend(match schema.index_of(name) {
            Ok(at) if batch.column(at).is_valid(row) => {
                let one = batch.project(&[at]).expect("the column is there");
                row_hash(&mut encoder, &one, row).to_bytes()[..2].to_vec()
            }
            _ => vec![0, 0],
        });
    }
    let number = patients.len();
    Row {
        key,
        hash: row_hash(&mut encoder, &kept, row).to_bytes().to_vec(),
        columns: parts,
        patient: (table == Table::Mapping).then(|| {
            let patient = text("scout_patient_id").expect("every report has a patient");
            *patients.entry(patient).or_insert(number)
        }),
        new: (table == Table::MappingHistory).then(|| text("previous_scout_patient_id").is_none()),
    }
}

/// Where rows differ: table, file, and the columns that do.
fn differences(table: Table, found: &Rows, expected: &[Row]) -> Vec<String> {
    let mut by_key: BTreeMap<&Key, (Vec<&Row>, Vec<&Row>)> = BTreeMap::new();
    for row in &found.rows {
        by_key.entry(&row.key).or_default().0.push(row);
    }
    for row in expected {
        by_key.entry(&row.key).or_default().1.push(row);
    }
    let mut differences = Vec::new();
    for (key, (found_rows, expected)) in by_key {
        let place = format!("{}: {}", table.name(), key.0);
        if found_rows.len() != expected.len() {
            let (here, there) = (found_rows.len(), expected.len());
            differences.push(format!("{place} stands {here} times, not {there}"));
            continue;
        }
        for (row, wanted) in found_rows.iter().zip(&expected) {
            if row.hash != wanted.hash {
                let names = differing(&found.columns, row, wanted);
                differences.push(format!("{place} differs in {names:?}"));
            }
        }
    }
    differences
}

/// Names of the columns that differ; none where it is one that the reference does not have.
fn differing<'a>(columns: &'a [String], row: &Row, wanted: &Row) -> Vec<&'a str> {
    let parts = row.columns.chunks(2).zip(wanted.columns.chunks(2));
    columns
        .iter()
        .zip(parts)
        .filter(|(_, (here, there))| here != there)
        .map(|(name, _)| name.as_str())
        .collect()
}

/// A lake that is compared with what the reference made of the same logs.
struct Comparison<'a> {
    set: &'a str,
    lake: &'a Path,
    differences: Vec<String>,
}

impl Comparison<'_> {
    /// Compares a table whose keys leave nothing open.
    fn table(&mut self, table: Table) -> (Rows, Rows) {
        let expected = stored(self.set, table);
        let found = found(self.lake, table, &expected.columns);
        self.differences
            .extend(differences(table, &found, &expected.rows));
        (found, expected)
    }

    /// A row of latest is one of curated, and stored without its columns.
    fn latest(&mut self, curated: &Rows) {
        let columns: HashMap<&str, &Vec<u8>> = curated
            .rows
            .iter()
            .map(|row| (row.key.0.as_str(), &row.columns))
            .collect();
        let mut expected = stored(self.set, Table::Latest);
        for row in &mut expected.rows {
            row.columns.clone_from(columns[row.key.0.as_str()]);
        }
        let found = found(self.lake, Table::Latest, &curated.columns);
        self.differences
            .extend(differences(Table::Latest, &found, &expected.rows));
    }

    fn patients(&mut self, found: &Rows, expected: &Rows) {
        let (mut there, mut here) = (HashMap::new(), HashMap::new());
        for (row, wanted) in found.rows.iter().zip(&expected.rows) {
            let wanted = (wanted.patient, row.patient);
            let one = *there.entry(wanted.0).or_insert(wanted.1) == wanted.1;
            if !(one && *here.entry(wanted.1).or_insert(wanted.0) == wanted.0) {
                let place = format!("{}: {}", Table::Mapping.name(), row.key.0);
                self.differences
                    .push(format!("{place} has another patient"));
            }
        }
    }
}

/// Ingests logs and compares all tables but the history.
fn compare(set: &str, logs: &Path, batch: usize, lake: &Path) {
    let options = Options {
        settings: settings(&[]),
        threads: 2,
        ..Options::default()
    };
    let to = lake.to_str().expect("the path is text");
    let ledger = ingest_folder(logs, to, batch, options, &mut Silent).expect("it is ingested");
    assert!(ledger.is_balanced(), "{set}: {ledger:?}");
    let mut comparison = Comparison {
        set,
        lake,
        differences: Vec::new(),
    };
    comparison.table(Table::Reports);
    let (_, curated) = comparison.table(Table::Curated);
    comparison.latest(&curated);
    comparison.table(Table::Dx);
    let (mapping, wanted) = comparison.table(Table::Mapping);
    comparison.patients(&mapping, &wanted);
    let differences = &comparison.differences;
    let shown = &differences[..differences.len().min(10)];
    assert!(
        differences.is_empty(),
        "{set}: {} differences from the reference, the first of them: {shown:#?}",
        differences.len()
    );
}

fn history(set: &str, lake: &Path) -> (Rows, Rows) {
    let expected = stored(set, Table::MappingHistory);
    let found = found(lake, Table::MappingHistory, &expected.columns);
    (found, expected)
}

#[test]
fn the_staging_logs_give_the_rows_of_the_reference() {
    let Some(logs) = shared("data/scout-staging") else {
        return;
    };
    for folder in ["postgres", "extraction"] {
        let temporary = temporary();
        let lake = temporary.path().join("lake");
        compare(folder, &logs.join(folder), 150, &lake);
        let (found, expected) = history(folder, &lake);
        assert_eq!((found.rows.len(), expected.rows.len()), (0, 0), "{folder}");
    }
}

/// Logs a workflow of the generated set.
const BATCH: usize = 180;

/// What the stored tables were made of.
const DIGEST: &str = "8c1acabcee194318f2fbab422f9680d2";

#[test]
fn the_generated_logs_give_the_rows_of_the_reference() {
    let temporary = temporary();
    let (logs, lake) = (temporary.path().join("logs"), temporary.path().join("lake"));
    let spec = data("generated.toml");
    let spec = Spec::load(
        spec.to_str().expect("the path is text"),
        &Overrides::default(),
    )
    .expect("the spec is valid");
    let made = expected::generate_spec(spec, &logs);
    assert_eq!(
        made, DIGEST,
        "the generator makes other logs than the reference read: make its tables again \
         (tests/data/reference/README.md)"
    );
    compare("generated", &logs, BATCH, &lake);

    // Which patient id survives a join is open, and so is which rows move: the fold says how many
    // there may be of each report, and where that is one number, the rows must be the same.
    let messages = expected::read_truth(&logs);
    let found = bench_hl7::discover(&logs).expect("the logs are found");
    let mut fold = Fold::new(Settings::default());
    for batch in LogBatch::split(&found, BATCH) {
        fold.workflow(&expected::facts(&messages, &batch))
            .expect("the facts agree");
    }
    let (found, expected) = history("generated", &lake);
    assert_history(&fold, &found, "the engine");
    assert_history(&fold, &expected, "the reference");
    let exact = |rows: &Rows| -> Vec<Row> {
        let is_exact = |row: &&Row| {
            let range = mapped(&fold, row).history;
            range.least == range.most
        };
        rows.rows.iter().filter(is_exact).cloned().collect()
    };
    let (found, expected) = (exact(&found), exact(&expected));
    assert!(expected.len() > 50, "{} rows are exact", expected.len());
    assert!(
        found == expected,
        "rows of the history that leave nothing open"
    );
}

fn mapped<'f>(fold: &'f Fold, row: &Row) -> MappingRow<'f> {
    let mapped = fold.expected().mapping_of(&row.key.0);
    mapped.expect("a report with a history is mapped")
}

fn assert_history(fold: &Fold, rows: &Rows, of: &str) {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for row in &rows.rows {
        *counts.entry(&row.key.0).or_default() += 1;
    }
    for row in fold.expected().mapping() {
        let count = counts.get(row.source_file).copied().unwrap_or_default();
        let (file, range) = (row.source_file, row.history);
        assert!(
            range.contains(count),
            "{of}: {file} has {count} rows, not {range:?}"
        );
    }
    let (count, range) = (
        rows.rows.len() as u64,
        fold.expected().totals().mapping_history,
    );
    assert!(range.contains(count), "{of}: {count} rows, not {range:?}");
}
