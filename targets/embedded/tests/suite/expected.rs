//! What must stand in a lake after some workflows: the truth of a generated data set, folded.
//!
//! The truth comes from the model that wrote the messages; the fold says what must stand in each
//! table after the workflows. Whole rows are compared, by their canonical hash.

use crate::common::{files, rows};
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int32Type, Schema, TimestampMicrosecondType};
use bench_embedded::LogBatch;
use bench_generator::{Options, Overrides, Spec};
use bench_tables::arrow::row_hash;
use bench_tables::encode::portable_source;
use bench_tables::fold::{Fact, Fold};
use bench_tables::{RowEncoder, RowHash, Table};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Makes a data set.
pub(crate) fn generate(profile: &str, messages: u64, logs: u64, seed: u64, out: &Path) {
    let overrides = Overrides {
        messages: Some(messages),
        log_files: Some(logs),
        seed: Some(seed),
        ..Overrides::default()
    };
    let spec = Spec::load(profile, &overrides).expect("the profile is shipped");
    generate_spec(spec, out);
}

/// Makes a data set; its digest.
pub(crate) fn generate_spec(spec: Spec, out: &Path) -> String {
    let options = Options {
        out: out.to_owned(),
        threads: 2,
        only_files: None,
        resume: false,
    };
    let made = bench_generator::generate(spec, &options, &bench_generator::Silent);
    made.expect("it is made").digest
}

/// What the truth says of a parsable message.
pub(crate) struct Message {
    source_file: String,
    year: Option<i32>,
    message_dt: Option<i64>,
    report: RowHash,
    curated: Option<RowHash>,
    accession: Option<String>,
    diagnoses: u32,
    mpi: Option<String>,
    epic_mrn: Option<String>,
}

/// Parsable messages by log.
pub(crate) type Truth = HashMap<String, Vec<Message>>;

pub(crate) fn read_truth(dataset: &Path) -> Truth {
    let file = File::open(dataset.join("truth.parquet")).expect("the truth is there");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("it is Parquet");
    let mut truth = Truth::new();
    for batch in reader.build().expect("it can be read") {
        let batch = batch.expect("it can be read");
        let column = |name: &str| batch.column_by_name(name).expect("the column is there");
        let texts = |name: &str| cast(column(name), &DataType::Utf8).expect("it is text");
        let (file, source) = (texts("file"), texts("source_file"));
        let (accession, mpi, mrn) = (texts("accession"), texts("mpi"), texts("epic_mrn"));
        let text = |array: &ArrayRef, row: usize| {
            let array = array.as_string::<i32>();
            array.is_valid(row).then(|| array.value(row).to_owned())
        };
        let hash = |name: &str, row: usize| {
            let array = column(name).as_fixed_size_binary();
            let bytes = array.is_valid(row).then(|| array.value(row))?;
            Some(RowHash::from_bytes(
                bytes.try_into().expect("a hash has 16 bytes"),
            ))
        };
        for row in 0..batch.num_rows() {
            let Some(report) = hash("report_hash", row) else {
                continue;
            };
            let years = column("year").as_primitive::<Int32Type>();
            let times = column("message_dt").as_primitive::<TimestampMicrosecondType>();
            let diagnoses = column("diagnoses").as_primitive::<Int32Type>();
            let message = Message {
                source_file: text(&source, row).expect("a parsable message is staged"),
                year: years.is_valid(row).then(|| years.value(row)),
                message_dt: times.is_valid(row).then(|| times.value(row)),
                report,
                curated: hash("curated_hash", row),
                accession: text(&accession, row),
                diagnoses: u32::try_from(diagnoses.value(row)).expect("it is a count"),
                mpi: text(&mpi, row),
                epic_mrn: text(&mrn, row),
            };
            let log = text(&file, row).expect("every message has its log");
            truth.entry(log).or_default().push(message);
        }
    }
    truth
}

pub(crate) fn facts<'t>(truth: &'t Truth, logs: &LogBatch) -> Vec<Fact<'t>> {
    let messages = logs
        .logs()
        .iter()
        .flat_map(|log| truth.get(&log.relative).into_iter().flatten());
    messages
        .map(|message| Fact {
            source_file: &message.source_file,
            year: message.year,
            message_dt: message.message_dt,
            report: message.report,
            curated: message.curated,
            accession: message.curated.and(message.accession.as_deref()),
            diagnoses: message.diagnoses,
            mpi: message.mpi.as_deref(),
            epic_mrn: message.epic_mrn.as_deref(),
        })
        .collect()
}

/// Key (portable file, or accession), year and hash of every row.
fn hashes(lake: &Path, table: Table, key: &str) -> Vec<(String, Option<i32>, RowHash)> {
    let mut encoder = RowEncoder::new();
    let mut found = Vec::new();
    for (path, batches) in files(lake, table) {
        for batch in batches {
            let batch = match path.split("year=").nth(1) {
                None => batch,
                Some(rest) => {
                    with_year(&batch, rest.split('/').next().and_then(|y| y.parse().ok()))
                }
            };
            let years = batch
                .column_by_name("year")
                .expect("there is a year")
                .clone();
            let years = years.as_primitive::<Int32Type>();
            let keys = batch.column_by_name(key).expect("there is a key").clone();
            for row in 0..batch.num_rows() {
                let key = keys.as_string::<i32>().value(row);
                let year = years.is_valid(row).then(|| years.value(row));
                let hash = row_hash(&mut encoder, &batch, row);
                found.push((portable_source(key).to_owned(), year, hash));
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn with_year(batch: &RecordBatch, year: Option<i32>) -> RecordBatch {
    let mut fields = batch.schema().fields().to_vec();
    fields.push(Arc::new(Field::new("year", DataType::Int32, true)));
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(Int32Array::from(vec![year; batch.num_rows()])));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("the column fits")
}

/// Compares a lake with what the fold expects.
pub(crate) fn check(lake: &Path, fold: &Fold, what: &str) {
    check_rows(lake, fold, what);
    let history = rows(lake, Table::MappingHistory).len() as u64;
    let range = fold.expected().totals().mapping_history;
    assert!(
        range.contains(history),
        "{what}: {history} rows of history, not {range:?}"
    );
}

/// The same where attempts were killed: a report that was placed by a stage before the kill may
/// then bring more rows of its web into the history than the fold's upper bound knows of.
pub(crate) fn check_killed(lake: &Path, fold: &Fold, what: &str) {
    check_rows(lake, fold, what);
    let history = rows(lake, Table::MappingHistory).len() as u64;
    let least = fold.expected().totals().mapping_history.least;
    assert!(
        history >= least,
        "{what}: {history} rows of history, not {least} at least"
    );
}

fn check_rows(lake: &Path, fold: &Fold, what: &str) {
    let expected = fold.expected();
    let mut reports: Vec<_> = expected
        .reports()
        .map(|row| (row.source_file.to_owned(), row.year, row.hash))
        .collect();
    reports.sort();
    assert_rows(
        &hashes(lake, Table::Reports, "source_file"),
        &reports,
        what,
        "reports",
    );
    let mut curated: Vec<_> = expected
        .curated()
        .map(|row| (row.source_file.to_owned(), row.year, row.hash))
        .collect();
    curated.sort();
    let key = "primary_report_identifier";
    assert_rows(
        &hashes(lake, Table::Curated, key),
        &curated,
        what,
        "curated",
    );

    let latest: BTreeMap<String, RowHash> = expected
        .latest()
        .map(|row| (row.accession.to_owned(), row.hash))
        .collect();
    let found = hashes(lake, Table::Latest, "accession_number");
    let count = found.len();
    let found: BTreeMap<String, RowHash> = found
        .into_iter()
        .map(|(key, _, hash)| (key, hash))
        .collect();
    assert_eq!(
        count,
        found.len(),
        "{what}: an accession stands twice in latest"
    );
    assert!(
        found == latest,
        "{what}: latest differs: {:?}",
        found
            .iter()
            .filter(|(key, hash)| latest.get(*key) != Some(hash))
            .map(|(k, _)| k)
            .take(5)
            .collect::<Vec<_>>()
    );

    let dx: BTreeSet<(String, String)> = expected
        .dx()
        .flat_map(|rows| {
            let accession = rows.accession.to_owned();
            rows.ids()
                .map(move |id| (accession.clone(), id))
                .collect::<Vec<_>>()
        })
        .collect();
    let found: Vec<(String, String)> = rows(lake, Table::Dx)
        .into_iter()
        .map(|row| {
            (
                row["accession_number"].clone(),
                portable_source(&row["diagnosis_id"]).to_owned(),
            )
        })
        .collect();
    assert_eq!(found.len(), dx.len(), "{what}: rows of dx");
    assert!(
        found.into_iter().collect::<BTreeSet<_>>() == dx,
        "{what}: dx differs"
    );
    check_mapping(lake, fold, what);
}

fn check_mapping(lake: &Path, fold: &Fold, what: &str) {
    let expected = fold.expected();
    let found = rows(lake, Table::Mapping);
    let mut patients: HashMap<String, u32> = HashMap::new();
    let mut names: HashMap<u32, String> = HashMap::new();
    let count = found.len();
    for row in &found {
        let report = portable_source(&row["primary_report_identifier"]);
        let Some(wanted) = expected.mapping_of(report) else {
            panic!("{what}: {report} is mapped and should not be");
        };
        let ids = (
            row.get("mpi").map(String::as_str),
            row.get("epic_mrn").map(String::as_str),
        );
        assert!(
            ids == (wanted.mpi, wanted.epic_mrn),
            "{what}: ids of {report}"
        );
        assert_eq!(
            row["consistent"] == "true",
            wanted.consistent,
            "{what}: {report}"
        );
        let patient = row["scout_patient_id"].clone();
        let number = *patients.entry(patient.clone()).or_insert(wanted.patient);
        assert_eq!(
            number, wanted.patient,
            "{what}: {report} shares a patient that is not its own"
        );
        let name = names
            .entry(wanted.patient)
            .or_insert_with(|| patient.clone());
        assert_eq!(*name, patient, "{what}: a patient has two ids, at {report}");
    }
    assert_eq!(
        count,
        expected.mapping().count(),
        "{what}: rows of the mapping"
    );
}

fn assert_rows(
    found: &[(String, Option<i32>, RowHash)],
    expected: &[(String, Option<i32>, RowHash)],
    what: &str,
    table: &str,
) {
    let differ = found
        .iter()
        .zip(expected)
        .find(|(found, expected)| found != expected);
    assert!(
        differ.is_none(),
        "{what}: {table}: found and expected {differ:?}"
    );
    assert_eq!(found.len(), expected.len(), "{what}: rows of {table}");
}
