//! What the log says of a table and its files, compared with what lies there.

use super::checks::{Checks, Wrong};
use super::read::{FileReport, Found, OpenTable};
use super::verification::Position;
use crate::delta::{Lake, LogFile};
use bench_tables::Table;
use std::collections::BTreeSet;

/// Checks whether a table can be read as a table of the platform; gives it if it can be read.
pub(super) fn open(
    lake: &Lake,
    table: Table,
    needed: bool,
    checks: &mut Checks,
) -> Option<Box<OpenTable>> {
    let expected = if needed {
        "a table"
    } else {
        "a table, or none"
    };
    let table = match Found::open(lake, table) {
        Found::Open(table) => {
            checks.add("table", Some(table.table), expected, "a table", true);
            table
        }
        Found::Absent => {
            checks.add("table", Some(table), expected, "none", !needed);
            return None;
        }
        Found::Broken(reason) => {
            let found = format!("a table that cannot be read: {reason}");
            checks.add("table", Some(table), expected, found, false);
            return None;
        }
    };
    schema(&table, checks);
    log(&table, checks);
    Some(table)
}

fn schema(table: &OpenTable, checks: &mut Checks) {
    let columns = table.wrong_columns();
    let mut wrong = Wrong::default();
    if !columns.is_empty() {
        wrong.add(|| Position {
            what: "missing, of another type, or unknown".to_owned(),
            columns: columns.clone(),
            ..Position::default()
        });
        wrong.count = columns.len() as u64;
    }
    checks.none_wrong("schema", Some(table.table), "wrong columns", wrong);
    let partitions = table.table.partition_columns().join(", ");
    let found = table.snapshot.partition_columns.join(", ");
    checks.compare("partitioned_by", Some(table.table), &partitions, &found);
    let features = &table.snapshot.reader_features;
    if !features.is_empty() {
        let check = checks.add(
            "reader_features",
            Some(table.table),
            "none that change how rows are read",
            features.join(", "),
            !features.iter().any(|feature| feature == "columnMapping"),
        );
        check.note("a file with a deletion vector counts as one that cannot be read");
    }
}

/// Whether the log leads from its beginning, or from a checkpoint, to the newest version.
fn log(table: &OpenTable, checks: &mut Checks) {
    let newest = table.snapshot.version;
    let files = match table.store.log_files() {
        Ok(files) => files,
        Err(reason) => {
            checks.add("log", Some(table.table), "a log", reason, false);
            return;
        }
    };
    let mut entries = BTreeSet::new();
    let mut first_checkpoint = None;
    for file in files {
        match file {
            LogFile::Entry(version) => {
                entries.insert(version);
            }
            LogFile::Checkpoint(version) => {
                first_checkpoint = Some(first_checkpoint.map_or(version, |v: i64| v.min(version)));
            }
        }
    }
    let first = entries.first().copied().unwrap_or(newest);
    let begins = first == 0 || first_checkpoint.is_some_and(|checkpoint| checkpoint >= first - 1);
    let missing = (first..=newest)
        .filter(|version| !entries.contains(version))
        .count();
    let beyond = entries.range(newest + 1..).count();
    let found = match (begins, missing, beyond) {
        (true, 0, 0) => "every entry".to_owned(),
        _ => format!(
            "{missing} entries missing, {beyond} beyond the newest version, beginning {}",
            if begins { "there" } else { "missing" }
        ),
    };
    checks.compare("log", Some(table.table), &"every entry", &found);
}

/// Compares live files with what the log says of them.
pub(super) fn files(table: &OpenTable, reports: &[FileReport], checks: &mut Checks) {
    let files = || table.snapshot.files.iter().zip(reports);
    let place = |path: &str, what: String| Position {
        data_file: Some(path.to_owned()),
        what,
        ..Position::default()
    };
    let mut wrong = Wrong::default();
    for (file, report) in files() {
        match report.size {
            None => wrong.add(|| place(&file.path, "missing".to_owned())),
            Some(size) if size != file.size => wrong.add(|| {
                let what = format!("{size} bytes, and the log says {}", file.size);
                place(&file.path, what)
            }),
            Some(_) => {}
        }
    }
    checks.none_wrong(
        "files_on_disk",
        Some(table.table),
        "live files missing or of another size",
        wrong,
    );

    let mut wrong = Wrong::default();
    for (file, report) in files().filter(|(_, report)| report.size.is_some()) {
        if let Some(reason) = &report.unreadable {
            wrong.add(|| place(&file.path, reason.clone()));
        }
    }
    checks.none_wrong(
        "files_readable",
        Some(table.table),
        "live files that cannot be read",
        wrong,
    );

    let mut wrong = Wrong::default();
    let mut without = 0;
    for (file, report) in files().filter(|(_, report)| report.unreadable.is_none()) {
        let footer = report.footer_rows.unwrap_or_default();
        let stated = file.rows();
        without += u64::from(stated.is_none());
        if footer != report.rows || stated.is_some_and(|stated| stated != footer) {
            wrong.add(|| {
                let stated = stated.map_or_else(|| "none".to_owned(), |rows| rows.to_string());
                let what = format!(
                    "{} rows read, {footer} in the footer, {stated} in the log",
                    report.rows
                );
                place(&file.path, what)
            });
        }
    }
    let check = checks.none_wrong(
        "file_rows",
        Some(table.table),
        "live files with another number of rows",
        wrong,
    );
    if without > 0 {
        check.note(format!("{without} live files have no statistics"));
    }

    let mut wrong = Wrong::default();
    for (file, report) in files().filter(|(_, report)| !report.wrong_statistics.is_empty()) {
        wrong.add(|| Position {
            columns: report.wrong_statistics.clone(),
            ..place(
                &file.path,
                "its statistics leave out rows that it has".to_owned(),
            )
        });
    }
    checks.none_wrong(
        "file_statistics",
        Some(table.table),
        "live files with wrong statistics",
        wrong,
    );
}
