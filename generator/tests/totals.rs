//! The counts in `dataset.json` and the components in the truth are those of the fold, which knows
//! nothing of how the messages were made.

mod common;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type, TimestampMicrosecondType};
use bench_generator::{DatasetInfo, TRUTH_FILE};
use bench_tables::RowHash;
use bench_tables::fold::{Fact, Fold, Settings};
use common::{make, rate, total};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::path::Path;

/// The truth of a data set as one batch.
fn truth(folder: &Path) -> RecordBatch {
    let file = std::fs::File::open(folder.join(TRUTH_FILE)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

struct Columns<'a>(&'a RecordBatch);

impl<'a> Columns<'a> {
    fn text(&self, name: &str, row: usize) -> Option<&'a str> {
        let column = self.0.column_by_name(name).unwrap();
        if let Some(words) = column.as_dictionary_opt::<Int32Type>() {
            let values = words.values().as_string::<i32>();
            return words.key(row).map(|key| values.value(key));
        }
        let texts = column.as_string::<i32>();
        texts.is_valid(row).then(|| texts.value(row))
    }

    fn hash(&self, name: &str, row: usize) -> Option<RowHash> {
        let hashes = self.0.column_by_name(name).unwrap().as_fixed_size_binary();
        hashes
            .is_valid(row)
            .then(|| RowHash::from_bytes(hashes.value(row).try_into().unwrap()))
    }

    fn int(&self, name: &str, row: usize) -> Option<i32> {
        let ints = self
            .0
            .column_by_name(name)
            .unwrap()
            .as_primitive::<Int32Type>();
        ints.is_valid(row).then(|| ints.value(row))
    }
}

/// Folds the truth in path order and compares totals and components with what the data set says.
fn fold_agrees(info: &DatasetInfo, folder: &Path) {
    let batch = truth(folder);
    let columns = Columns(&batch);
    let log_of: BTreeMap<&str, usize> = info
        .files
        .iter()
        .enumerate()
        .map(|(at, file)| (file.path.as_str(), at))
        .collect();
    let times = batch
        .column_by_name("message_dt")
        .unwrap()
        .as_primitive::<TimestampMicrosecondType>();
    let mut fold = Fold::new(Settings::default());
    let mut facts: Vec<Fact<'_>> = Vec::new();
    let mut workflow = 0;
    for row in 0..batch.num_rows() {
        let at = log_of[columns.text("file", row).unwrap()] / info.logs_per_workflow as usize;
        if at != workflow {
            fold.workflow(&facts).unwrap();
            facts.clear();
            workflow = at;
        }
        let Some(report) = columns.hash("report_hash", row) else {
            continue;
        };
        facts.push(Fact {
            source_file: columns.text("source_file", row).unwrap(),
            year: columns.int("year", row),
            message_dt: times.is_valid(row).then(|| times.value(row)),
            report,
            curated: columns.hash("curated_hash", row),
            accession: columns.text("accession", row),
            diagnoses: columns.int("diagnoses", row).unwrap() as u32,
            mpi: columns.text("mpi", row),
            epic_mrn: columns.text("epic_mrn", row),
        });
    }
    fold.workflow(&facts).unwrap();
    let totals = fold.expected().totals();
    let tables = info.tables.as_ref().unwrap();
    for (table, rows) in [
        ("reports", totals.reports),
        ("reports_curated", totals.curated),
        ("reports_latest", totals.latest),
        ("reports_dx", totals.dx),
        ("reports_report_patient_mapping", totals.mapping),
    ] {
        assert_eq!(tables[table], rows, "{table}");
    }
    // Components are the fold's patients: each of one is each of the other.
    let labels = batch
        .column_by_name("component")
        .unwrap()
        .as_primitive::<Int64Type>();
    let consistent = batch.column_by_name("consistent").unwrap().as_boolean();
    let mut patient_of = BTreeMap::new();
    let mut label_of = BTreeMap::new();
    for row in 0..batch.num_rows() {
        let Some(source) = columns.text("source_file", row) else {
            continue;
        };
        let Some(mapped) = fold.expected().mapping_of(source) else {
            assert!(
                labels.is_null(row),
                "{source} has a component but is not mapped"
            );
            continue;
        };
        if labels.is_null(row) {
            assert_eq!((mapped.mpi, mapped.epic_mrn), (None, None), "{source}");
            continue;
        }
        let label = labels.value(row);
        assert_eq!(
            *patient_of.entry(label).or_insert(mapped.patient),
            mapped.patient,
            "{source}"
        );
        assert_eq!(
            *label_of.entry(mapped.patient).or_insert(label),
            label,
            "{source}"
        );
        assert_eq!(consistent.value(row), mapped.consistent, "{source}");
    }
}

#[test]
fn totals_and_components_are_those_of_the_fold() {
    for (profile, overrides) in [
        ("varied", total(4_000, 400)),
        ("lifelike", total(4_000, 400)),
        ("webs", total(6_000, 320)),
        ("dirty", total(6_000, 400)),
        ("dirty", rate(11.0, 200)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let info = make(profile, &overrides, folder.path());
        fold_agrees(&info, folder.path());
    }
}

#[test]
fn varied_gives_a_row_a_message_in_reports_curated_and_latest() {
    let folder = tempfile::tempdir().unwrap();
    let info = make("varied", &total(2_000, 72), folder.path());
    let tables = info.tables.unwrap();
    for table in ["reports", "reports_curated", "reports_latest"] {
        assert_eq!(tables[table], 2_000, "{table}");
    }
    assert!(info.faults.is_empty());
    assert_eq!(info.outcomes["staged"], 2_000);
    let batch = truth(folder.path());
    let consistent = batch.column_by_name("consistent").unwrap().as_boolean();
    assert_eq!(consistent.true_count(), 2_000, "identifiers never conflict");
}

#[test]
fn webs_has_components_that_conflict_and_that_join_within_and_across_patients() {
    let folder = tempfile::tempdir().unwrap();
    make("webs", &total(6_000, 240), folder.path());
    let batch = truth(folder.path());
    let consistent = batch.column_by_name("consistent").unwrap().as_boolean();
    let conflicting = consistent.false_count() as f64 / 6_000.0;
    assert!((0.05..0.6).contains(&conflicting), "{conflicting}");
}
