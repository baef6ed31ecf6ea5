//! The canonical encoding of a row, and its hash.
//!
//! Two rows are equal exactly if their encodings are. The encoding does not depend on the order
//! of columns, nor on columns that are NULL: a row keeps its hash when the table gains a column.
//! `docs/row-hash.md` describes it with a worked example for other languages.
//!
//! All integers are little-endian. A row is, for each column that is not NULL, in ascending order
//! of the bytes of its name:
//!
//! ```text
//! name    u32 length, UTF-8 bytes
//! value   one tag byte, then
//!           1 string     u32 length, UTF-8 bytes
//!           2 integer    i32
//!           3 date       i32, days since 1970-01-01
//!           4 timestamp  i64, microseconds since 1970-01-01T00:00:00Z
//!           5 boolean    one byte, 0 or 1
//!           6 array      u32 count, then each element as a value
//!           7 struct     u32 count of members, then each member as a value, in schema order
//!           0 NULL       (elements and members only)
//! ```
//!
//! Left out are the columns that a target adds by itself (`updated`, `content_hash`). In
//! `source_file`, `primary_report_identifier` and `diagnosis_id`, everything up to and including
//! the last `.zip/` is cut, since the staging root differs between targets.
//!
//! The hash is XXH3-128 with seed 0.

use crate::row::{CuratedRow, Identifiers, ReportRow, Value};
use crate::schema::{CuratedColumn, ReportColumn};
use std::fmt;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_128;

const NULL: u8 = 0;
const STRING: u8 = 1;
const INTEGER: u8 = 2;
const DATE: u8 = 3;
const TIMESTAMP: u8 = 4;
const BOOLEAN: u8 = 5;
const ARRAY: u8 = 6;
const STRUCT: u8 = 7;

/// Hash of a row; printed as 32 lower-case hexadecimal digits, most significant first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowHash(pub u128);

impl RowHash {
    /// The hash as 16 bytes, most significant first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The hash of 16 bytes, most significant first.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for RowHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for RowHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The part of a staged message's path that does not depend on the staging root: what follows the
/// last `.zip/`, or all of it where there is none.
#[must_use]
pub fn portable_source(path: &str) -> &str {
    path.rfind(".zip/")
        .map_or(path, |at| &path[at + ".zip/".len()..])
}

/// Room for the encoded name of a fixed column. Copying it whole and cutting it to length is a few
/// instructions, where copying its exact length is a call.
const NAME_ROOM: usize = 64;

/// A fixed column in the order of the encoding: where its value stands and its encoded name.
struct Slot {
    index: usize,
    name: &'static str,
    encoded_name: [u8; NAME_ROOM],
    encoded_len: usize,
    is_path: bool,
}

impl Slot {
    fn put_name(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.encoded_len;
        out.extend_from_slice(&self.encoded_name);
        out.truncate(end);
    }
}

fn slots(names: impl Iterator<Item = &'static str>) -> Vec<Slot> {
    let mut slots: Vec<Slot> = names
        .enumerate()
        .map(|(index, name)| {
            let mut encoded = Vec::new();
            put_bytes(&mut encoded, name.as_bytes());
            let mut encoded_name = [0; NAME_ROOM];
            encoded_name[..encoded.len()].copy_from_slice(&encoded);
            Slot {
                index,
                name,
                encoded_name,
                encoded_len: encoded.len(),
                is_path: matches!(name, "source_file" | "primary_report_identifier"),
            }
        })
        .collect();
    slots.sort_by_key(|slot| slot.name);
    slots
}

static REPORT_SLOTS: LazyLock<Vec<Slot>> =
    LazyLock::new(|| slots(ReportColumn::COLUMNS.iter().map(|column| column.name)));
static CURATED_SLOTS: LazyLock<Vec<Slot>> =
    LazyLock::new(|| slots(CuratedColumn::COLUMNS.iter().map(|column| column.name)));

/// Encodes and hashes rows; keeps its buffer between rows.
#[derive(Default)]
pub struct RowEncoder {
    buffer: Vec<u8>,
}

impl RowEncoder {
    /// An encoder with an empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The hash of a row of `reports`.
    pub fn report(&mut self, row: &ReportRow<'_>) -> RowHash {
        self.hash(&REPORT_SLOTS, row.values(), row.identifiers)
    }

    /// The hash of a row of `reports_curated` or `reports_latest`.
    pub fn curated(&mut self, row: &CuratedRow<'_>) -> RowHash {
        self.hash(&CURATED_SLOTS, row.values(), row.identifiers)
    }

    /// The hash of a row of any table, given as columns in any order; NULLs may be left out or in.
    /// Columns that a target adds by itself are skipped.
    pub fn columns<'a>(&mut self, columns: &mut [(&'a str, Value<'a>)]) -> RowHash {
        columns.sort_unstable_by_key(|(name, _)| *name);
        self.buffer.clear();
        for &(name, value) in &*columns {
            if value.is_null() || matches!(name, "updated" | "content_hash") {
                continue;
            }
            let is_path = matches!(
                name,
                "source_file" | "primary_report_identifier" | "diagnosis_id"
            );
            put_bytes(&mut self.buffer, name.as_bytes());
            put_value(&mut self.buffer, portable(value, is_path));
        }
        RowHash(xxh3_128(&self.buffer))
    }

    /// The encoding of the row that was hashed last.
    #[must_use]
    pub fn encoding(&self) -> &[u8] {
        &self.buffer
    }

    fn put_slots(&mut self, slots: &[Slot], values: &[Value<'_>]) {
        for slot in slots {
            let value = values[slot.index];
            if matches!(value, Value::Null) {
                continue;
            }
            slot.put_name(&mut self.buffer);
            match value {
                Value::Str(text) if !slot.is_path => put_text(&mut self.buffer, Some(text)),
                other => put_value(&mut self.buffer, portable(other, slot.is_path)),
            }
        }
    }

    fn hash(&mut self, slots: &[Slot], values: &[Value<'_>], ids: Identifiers<'_>) -> RowHash {
        self.buffer.clear();
        let mut from = 0;
        for &(name, id) in ids {
            let until = from + slots[from..].partition_point(|slot| slot.name < name);
            self.put_slots(&slots[from..until], values);
            put_bytes(&mut self.buffer, name.as_bytes());
            put_text(&mut self.buffer, Some(id));
            from = until;
        }
        self.put_slots(&slots[from..], values);
        RowHash(xxh3_128(&self.buffer))
    }
}

fn portable(value: Value<'_>, is_path: bool) -> Value<'_> {
    match value {
        Value::Str(path) if is_path => Value::Str(portable_source(path)),
        other => other,
    }
}

fn length(len: usize) -> [u8; 4] {
    u32::try_from(len)
        .expect("a value of a row is shorter than 4 GiB")
        .to_le_bytes()
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&length(len));
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_len(out, bytes.len());
    out.extend_from_slice(bytes);
}

#[inline]
fn put_text(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        None => out.push(NULL),
        Some(text) => {
            let [a, b, c, d] = length(text.len());
            out.extend_from_slice(&[STRING, a, b, c, d]);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

fn put_value(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Str(text) => put_text(out, Some(text)),
        Value::Int(int) => {
            out.push(INTEGER);
            out.extend_from_slice(&int.to_le_bytes());
        }
        Value::Date(days) => {
            out.push(DATE);
            out.extend_from_slice(&days.to_le_bytes());
        }
        Value::Timestamp(micros) => {
            out.push(TIMESTAMP);
            out.extend_from_slice(&micros.to_le_bytes());
        }
        Value::Bool(bool) => {
            out.push(BOOLEAN);
            out.push(u8::from(bool));
        }
        Value::Strings(strings) => {
            out.push(ARRAY);
            put_len(out, strings.len());
            for text in strings {
                put_text(out, Some(text));
            }
        }
        Value::Structs(list) => {
            out.push(ARRAY);
            put_len(out, list.len());
            for members in list.iter() {
                out.push(STRUCT);
                put_len(out, members.len());
                for member in members {
                    put_text(out, *member);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::StructList;

    fn row() -> ReportRow<'static> {
        let mut row = ReportRow::new();
        row.set(
            ReportColumn::SourceFile,
            Value::Str("s3://root/2023/20230113.zip/2023/01/13/20230113_0.hl7"),
        );
        row.set(ReportColumn::Year, Value::Int(2023));
        row.set(ReportColumn::BirthDate, Value::Date(-1));
        row.set(ReportColumn::MessageDt, Value::Timestamp(1));
        row.set(ReportColumn::Technician, Value::Strings(&["A B"]));
        row.set(
            ReportColumn::Diagnoses,
            Value::Structs(StructList::new(3, &[Some("I10"), None, Some("")])),
        );
        row.identifiers = &[("abc_mr", "1"), ("zzz_mr", "2")];
        row
    }

    #[test]
    fn the_encoding_is_the_documented_one() {
        let mut row = ReportRow::new();
        row.set(ReportColumn::Year, Value::Int(2023));
        row.set(ReportColumn::Sex, Value::Str("F"));
        let mut encoder = RowEncoder::new();
        encoder.report(&row);
        assert_eq!(
            encoder.encoding(),
            b"\x03\0\0\0sex\x01\x01\0\0\0F\x04\0\0\0year\x02\xe7\x07\0\0"
        );
    }

    #[test]
    fn both_ways_to_give_a_row_have_the_same_hash() {
        let row = row();
        let mut columns: Vec<(&str, Value<'_>)> = ReportColumn::ALL
            .iter()
            .rev()
            .map(|&column| (column.name(), row.get(column)))
            .chain(row.identifiers.iter().map(|&(n, id)| (n, Value::Str(id))))
            .chain([("updated", Value::Timestamp(9)), ("empi_mr", Value::Null)])
            .collect();
        let mut encoder = RowEncoder::new();
        assert_eq!(encoder.columns(&mut columns), encoder.report(&row));
    }

    #[test]
    fn the_staging_root_does_not_matter() {
        let mut other = row();
        other.set(
            ReportColumn::SourceFile,
            Value::Str("/tmp/x.zip/y/20230113.zip/2023/01/13/20230113_0.hl7"),
        );
        let mut encoder = RowEncoder::new();
        assert_eq!(encoder.report(&row()), encoder.report(&other));
    }

    #[test]
    fn null_and_empty_differ() {
        let mut encoder = RowEncoder::new();
        let mut empty = row();
        empty.set(ReportColumn::Sex, Value::Str(""));
        assert_ne!(encoder.report(&row()), encoder.report(&empty));
    }
}
