//! Figures in the form `customSmallerIsBetter` of github-action-benchmark: a list of name, unit, value.
//!
//! Left out: figures of which more is better, or any difference worse (rows, workflows): that tool knows
//! smaller or bigger only.

use crate::evidence::Unit;
use crate::gate::metric::{Sort, find};
use crate::gate::verdict::{Compared, Gate, GateRow};
use serde::Serialize;

#[derive(Serialize)]
struct Benchmark {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<String>,
}

/// The new figures of a gate, for tools that track benchmarks.
///
/// # Panics
/// Never: these are names and numbers.
#[must_use]
pub fn gate_benchmark(gate: &Gate) -> String {
    let of = |compared: &Compared| -> Vec<Benchmark> {
        let rows = compared.rows.iter();
        rows.filter_map(|row| benchmark(compared, row)).collect()
    };
    let all: Vec<Benchmark> = gate.variants.iter().flat_map(of).collect();
    let mut text = serde_json::to_string_pretty(&all).expect("names and numbers");
    text.push('\n');
    text
}

fn benchmark(compared: &Compared, row: &GateRow) -> Option<Benchmark> {
    let smaller_is_better = match find(&row.id)?.sort {
        Sort::Counter { .. } | Sort::Time => true,
        Sort::Fact | Sort::Done | Sort::Checkpoints => false,
    };
    let value = row.new.filter(|_| smaller_is_better)?;
    Some(Benchmark {
        name: format!("{}: {}", compared.name(), row.id),
        unit: match row.unit {
            Unit::Seconds => "s",
            Unit::SecondsPerWorkflow => "s/workflow",
            Unit::Bytes | Unit::Memory => "bytes",
            Unit::Count => "count",
            Unit::Ratio => "ratio",
        },
        value,
        extra: row.verdict.map(|verdict| verdict.words().to_owned()),
    })
}
