//! Statistics of a data file, as they stand in its add action.
//!
//! As in the reference, the first 32 columns have them; so has the column whose range rules files
//! out in a merge. Text is cut to 32 characters, except in that column: its values share a long
//! prefix (the staging root), and a cut range would rule nothing out.

use crate::calendar::time_text;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{max, max_string, min, min_string};
use arrow::datatypes::{DataType, Date32Type, Int32Type, SchemaRef, TimestampMicrosecondType};
use bench_tables::time::date_text;
use serde_json::{Map, Value, json};

const INDEXED_COLUMNS: usize = 32;
const TEXT_CHARACTERS: usize = 32;

/// Collects over the batches of one file.
pub(crate) struct Collector {
    schema: SchemaRef,
    key: Option<&'static str>,
    rows: usize,
    columns: Vec<Option<Column>>,
}

#[derive(Default)]
struct Column {
    nulls: usize,
    range: Option<Range>,
}

enum Range {
    Text(String, String),
    Number(i64, i64),
}

impl Collector {
    pub(crate) fn new(schema: SchemaRef, key: Option<&'static str>) -> Self {
        let columns = schema
            .fields()
            .iter()
            .enumerate()
            .map(|(at, field)| {
                let indexed = at < INDEXED_COLUMNS || key == Some(field.name().as_str());
                (indexed && !field.data_type().is_nested()).then(Column::default)
            })
            .collect();
        Self {
            schema,
            key,
            rows: 0,
            columns,
        }
    }

    pub(crate) fn add(&mut self, batch: &RecordBatch) {
        self.rows += batch.num_rows();
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            if let Some(column) = column {
                column.nulls += array.null_count();
                column.widen(range(array));
            }
        }
    }

    /// The statistics as JSON text.
    pub(crate) fn finish(&self) -> String {
        let (mut least, mut greatest, mut nulls) = (Map::new(), Map::new(), Map::new());
        for (field, column) in self.schema.fields().iter().zip(&self.columns) {
            let Some(column) = column else { continue };
            let name = field.name();
            nulls.insert(name.clone(), json!(column.nulls));
            let Some(range) = &column.range else { continue };
            let (low, high) = match range {
                Range::Text(low, high) if self.key == Some(name.as_str()) => {
                    (json!(low), Some(json!(high)))
                }
                Range::Text(low, high) => (json!(prefix(low)), upper(high).map(Value::String)),
                Range::Number(low, high) => (
                    number(field.data_type(), *low),
                    Some(number(field.data_type(), *high)),
                ),
            };
            least.insert(name.clone(), low);
            if let Some(high) = high {
                greatest.insert(name.clone(), high);
            }
        }
        json!({
            "numRecords": self.rows,
            "minValues": least,
            "maxValues": greatest,
            "nullCount": nulls,
        })
        .to_string()
    }
}

impl Column {
    fn widen(&mut self, with: Option<Range>) {
        let Some(with) = with else { return };
        self.range = Some(match (self.range.take(), with) {
            (None, with) => with,
            (Some(Range::Text(low, high)), Range::Text(other_low, other_high)) => {
                Range::Text(low.min(other_low), high.max(other_high))
            }
            (Some(Range::Number(low, high)), Range::Number(other_low, other_high)) => {
                Range::Number(low.min(other_low), high.max(other_high))
            }
            (Some(_), other) => other,
        });
    }
}

fn range(array: &ArrayRef) -> Option<Range> {
    match array.data_type() {
        DataType::Utf8 => {
            let strings = array.as_string::<i32>();
            Some(Range::Text(
                min_string(strings)?.to_owned(),
                max_string(strings)?.to_owned(),
            ))
        }
        DataType::Int32 => {
            let values = array.as_primitive::<Int32Type>();
            Some(Range::Number(min(values)?.into(), max(values)?.into()))
        }
        DataType::Date32 => {
            let values = array.as_primitive::<Date32Type>();
            Some(Range::Number(min(values)?.into(), max(values)?.into()))
        }
        DataType::Timestamp(..) => {
            let values = array.as_primitive::<TimestampMicrosecondType>();
            Some(Range::Number(min(values)?, max(values)?))
        }
        _ => None,
    }
}

fn number(ty: &DataType, value: i64) -> Value {
    match ty {
        DataType::Date32 => json!(date_text(value)),
        DataType::Timestamp(..) => json!(time_text(value)),
        _ => json!(value),
    }
}

fn prefix(text: &str) -> &str {
    match text.char_indices().nth(TEXT_CHARACTERS) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// A short text that is not less than this one; `None` where there is none.
fn upper(text: &str) -> Option<String> {
    let cut = prefix(text);
    if cut.len() == text.len() {
        return Some(text.to_owned());
    }
    (!text[cut.len()..].starts_with(char::MAX)).then(|| format!("{cut}{}", char::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Date32Array, StringArray, TimestampMicrosecondArray};
    use arrow::datatypes::{Field, Schema, TimeUnit};
    use std::sync::Arc;

    #[test]
    fn long_text_is_cut_but_never_to_a_smaller_greatest_value() {
        let long = "b".repeat(40);
        let schema = Arc::new(Schema::new(vec![
            Field::new("text", DataType::Utf8, true),
            Field::new("key", DataType::Utf8, true),
            Field::new("day", DataType::Date32, true),
            Field::new(
                "at",
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
                true,
            ),
        ]));
        let mut collector = Collector::new(Arc::clone(&schema), Some("key"));
        for text in [Some(long.as_str()), None] {
            let batch = RecordBatch::try_new(
                Arc::clone(&schema),
                vec![
                    Arc::new(StringArray::from(vec![text])) as ArrayRef,
                    Arc::new(StringArray::from(vec![text])),
                    Arc::new(Date32Array::from(vec![1])),
                    Arc::new(TimestampMicrosecondArray::from(vec![-1]).with_timezone("UTC")),
                ],
            )
            .expect("the columns fit");
            collector.add(&batch);
        }
        let stats: Value = serde_json::from_str(&collector.finish()).expect("it is JSON");
        assert_eq!(stats["numRecords"], 2);
        assert_eq!(stats["minValues"]["text"], "b".repeat(32));
        let greatest = stats["maxValues"]["text"].as_str().expect("there is one");
        assert!(greatest > long.as_str());
        assert_eq!(stats["maxValues"]["key"], long.as_str());
        assert_eq!(stats["nullCount"]["text"], 1);
        assert_eq!(stats["minValues"]["day"], "1970-01-02");
        assert_eq!(stats["minValues"]["at"], "1969-12-31T23:59:59.999999Z");
    }
}
