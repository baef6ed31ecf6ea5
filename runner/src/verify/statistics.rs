//! Whether a file's statistics are true: a reader skips files by them, so a wrong bound loses rows
//! that are there.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{max, max_string, min, min_string};
use arrow::datatypes::{DataType, Date32Type, Int32Type, TimestampMicrosecondType};
use bench_tables::time::day_of;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Delta's times are cut to milliseconds, so a true value may lie this much outside.
const TIME_SLACK_MICROS: i64 = 1000;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stated {
    min_values: BTreeMap<String, Value>,
    max_values: BTreeMap<String, Value>,
    null_count: BTreeMap<String, Value>,
}

/// The statistics of a file, held against its rows.
pub(super) struct Bounds {
    stated: Stated,
    nulls: BTreeMap<String, u64>,
    wrong: BTreeSet<String>,
}

impl Bounds {
    pub(super) fn new(statistics: Option<&str>) -> Self {
        let stated = statistics.and_then(|text| serde_json::from_str(text).ok());
        Self {
            stated: stated.unwrap_or_default(),
            nulls: BTreeMap::new(),
            wrong: BTreeSet::new(),
        }
    }

    pub(super) fn add(&mut self, batch: &RecordBatch) {
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let name = field.name();
            if self.stated.null_count.get(name).is_some_and(Value::is_u64) {
                *self.nulls.entry(name.clone()).or_default() += column.null_count() as u64;
            }
            let least = self.stated.min_values.get(name);
            let most = self.stated.max_values.get(name);
            let holds = least.is_none_or(|least| holds(column, least, Side::Least))
                && most.is_none_or(|most| holds(column, most, Side::Most));
            if !holds {
                self.wrong.insert(name.clone());
            }
        }
    }

    /// The columns of which a bound or a number of NULLs is wrong, partition columns left out.
    pub(super) fn wrong(mut self, partition_columns: &[String]) -> Vec<String> {
        for (name, stated) in &self.stated.null_count {
            if let (Some(stated), Some(found)) = (stated.as_u64(), self.nulls.get(name))
                && stated != *found
            {
                self.wrong.insert(name.clone());
            }
        }
        let wrong = self.wrong.into_iter();
        wrong
            .filter(|name| !partition_columns.contains(name))
            .collect()
    }
}

#[derive(Clone, Copy)]
enum Side {
    Least,
    Most,
}

/// Whether no value lies beyond the stated bound. A bound that is not understood holds.
fn holds(column: &ArrayRef, stated: &Value, side: Side) -> bool {
    let number = |least: Option<i64>, most: Option<i64>, stated: Option<i64>, slack: i64| match (
        side, stated,
    ) {
        (_, None) => true,
        (Side::Least, Some(stated)) => least.is_none_or(|least| stated <= least),
        (Side::Most, Some(stated)) => most.is_none_or(|most| stated.saturating_add(slack) >= most),
    };
    match column.data_type() {
        DataType::Utf8 => {
            let texts = column.as_string::<i32>();
            match (side, stated.as_str()) {
                (_, None) => true,
                (Side::Least, Some(stated)) => {
                    min_string(texts).is_none_or(|least| stated <= least)
                }
                (Side::Most, Some(stated)) => max_string(texts).is_none_or(|most| stated >= most),
            }
        }
        DataType::Int32 => {
            let values = column.as_primitive::<Int32Type>();
            number(
                min(values).map(i64::from),
                max(values).map(i64::from),
                stated.as_i64(),
                0,
            )
        }
        DataType::Date32 => {
            let values = column.as_primitive::<Date32Type>();
            let stated = stated.as_str().and_then(date);
            number(
                min(values).map(i64::from),
                max(values).map(i64::from),
                stated,
                0,
            )
        }
        DataType::Timestamp(..) => {
            let values = column.as_primitive::<TimestampMicrosecondType>();
            let stated = stated.as_str().and_then(time);
            number(min(values), max(values), stated, TIME_SLACK_MICROS)
        }
        _ => true,
    }
}

/// `YYYY-MM-DD` as days since 1970.
fn date(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let has_widths = (year.len(), month.len(), day.len()) == (4, 2, 2);
    let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    has_widths.then(|| day_of(year, month, day))
}

/// `YYYY-MM-DDTHH:MM:SS[.fraction]Z` as microseconds since 1970.
fn time(text: &str) -> Option<i64> {
    let (day, rest) = text.split_once('T')?;
    let rest = rest
        .strip_suffix('Z')
        .or_else(|| rest.strip_suffix("+00:00"))?;
    let (clock, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let mut parts = clock.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let micros: i64 = match fraction {
        "" => 0,
        _ => format!("{fraction:0<6}").get(..6)?.parse().ok()?,
    };
    let seconds = ((date(day)? * 24 + hours) * 60 + minutes) * 60 + seconds;
    Some(seconds * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Date32Array, Int32Array, StringArray, TimestampMicrosecondArray};
    use std::sync::Arc;

    fn wrong(statistics: &str) -> Vec<String> {
        let times = TimestampMicrosecondArray::from(vec![Some(1_500), None]).with_timezone("UTC");
        let batch = RecordBatch::try_from_iter([
            (
                "text",
                Arc::new(StringArray::from(vec!["b", "d"])) as ArrayRef,
            ),
            ("number", Arc::new(Int32Array::from(vec![3, 5]))),
            ("day", Arc::new(Date32Array::from(vec![0, 1]))),
            ("time", Arc::new(times)),
        ]);
        let mut bounds = Bounds::new(Some(statistics));
        bounds.add(&batch.expect("the columns fit"));
        bounds.wrong(&[])
    }

    #[test]
    fn bounds_that_hold_every_value_are_right_and_cut_times_and_texts_are_too() {
        let statistics = r#"{"numRecords":2,
            "minValues":{"text":"a","number":3,"day":"1970-01-01","time":"1970-01-01T00:00:00.001Z"},
            "maxValues":{"text":"d","number":5,"day":"1970-01-02","time":"1970-01-01T00:00:00.001Z"},
            "nullCount":{"text":0,"time":1}}"#;
        assert_eq!(wrong(statistics), Vec::<String>::new());
        assert_eq!(wrong("{"), Vec::<String>::new());
    }

    #[test]
    fn a_bound_that_leaves_a_value_out_and_a_wrong_number_of_nulls_name_their_column() {
        for (statistics, column) in [
            (r#"{"minValues":{"text":"c"}}"#, "text"),
            (r#"{"maxValues":{"number":4}}"#, "number"),
            (r#"{"maxValues":{"day":"1970-01-01"}}"#, "day"),
            (r#"{"maxValues":{"time":"1970-01-01T00:00:00Z"}}"#, "time"),
            (
                r#"{"minValues":{"time":"1970-01-01T00:00:00.002Z"}}"#,
                "time",
            ),
            (r#"{"nullCount":{"time":0}}"#, "time"),
        ] {
            assert_eq!(wrong(statistics), [column], "{statistics}");
        }
    }
}
