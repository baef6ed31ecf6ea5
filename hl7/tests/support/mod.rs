//! Making messages and looking at their rows.
#![allow(dead_code, reason = "each test file uses a part of this")]

use bench_hl7::{ModalityMap, NotParsable, Reader, split};
use bench_tables::{ReportColumn, ReportRow, Value};
use bumpalo::Bump;
use std::path::PathBuf;

/// A header with all that is needed.
pub(crate) const MSH: &str = r"MSH|^~\&|APP|SITE|RECV|DEPT|20230113180717||ORU^R01|2.25.1|P|2.7";

/// A log of one message: each line with `<R>` and LF, then `<EB>`.
pub(crate) fn log(lines: &[&str]) -> Vec<u8> {
    let body: String = lines.iter().map(|line| format!("{line}<R>\n")).collect();
    format!("2023-01-13 18:07:17.8754|INFO|\n<SB>\n{body}<EB><R>\n").into_bytes()
}

/// Reads the first message of a log.
pub(crate) fn read_log<T>(
    log: &[u8],
    look: impl FnOnce(Result<&ReportRow<'_>, NotParsable>) -> T,
) -> T {
    let reader = Reader::new(ModalityMap::shipped());
    let arena = Bump::new();
    let message = split(log).next().expect("the log has a message");
    match reader.read(&message, "s.hl7", &arena) {
        Ok(reading) => look(Ok(&reading.row)),
        Err(error) => look(Err(error)),
    }
}

/// Reads a message of these lines.
pub(crate) fn with_row<T>(lines: &[&str], look: impl FnOnce(&ReportRow<'_>) -> T) -> T {
    read_log(&log(lines), |row| {
        look(row.expect("the message is parsable"))
    })
}

/// Reads a message of a usual header and one more segment.
pub(crate) fn with_segment<T>(segment: &str, look: impl FnOnce(&ReportRow<'_>) -> T) -> T {
    with_row(&[MSH, segment], look)
}

/// A text column of a message of a usual header and one more segment.
pub(crate) fn text(segment: &str, column: ReportColumn) -> Option<String> {
    with_segment(segment, |row| row_text(row, column))
}

/// A text column of a row.
pub(crate) fn row_text(row: &ReportRow<'_>, column: ReportColumn) -> Option<String> {
    match row.get(column) {
        Value::Null => None,
        Value::Str(text) => Some(text.to_owned()),
        other => panic!("{} is no text: {other:?}", column.name()),
    }
}

/// Elements of an array of structs.
pub(crate) fn structs(
    row: &ReportRow<'_>,
    column: ReportColumn,
) -> Option<Vec<Vec<Option<String>>>> {
    match row.get(column) {
        Value::Null => None,
        Value::Structs(list) => {
            let owned =
                |members: &[Option<&str>]| members.iter().map(|m| m.map(str::to_owned)).collect();
            Some(list.iter().map(owned).collect())
        }
        other => panic!("{} is no array of structs: {other:?}", column.name()),
    }
}

/// The logs handed out with the project's material, or `None` with a line that says so.
pub(crate) fn shared_logs(folder: &str) -> Option<PathBuf> {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/scout-staging"
    );
    let path = PathBuf::from(data).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: ../shared/data/scout-staging/{folder} is not there");
    None
}
