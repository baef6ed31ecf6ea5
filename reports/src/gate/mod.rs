//! The gate: whether something has become worse, beyond noise.
//!
//! ```text
//! run ──► entries ──► a store of baselines (kept by the runner)
//!           │              │
//!           └── counters ──┘ exact, with declared tolerances: one run is enough
//!
//! run of both sides, interleaved ──► times: pairs, judged by `statistics::paired`
//! ```
//!
//! Two sides are compared only where their keys are the same, or where somebody said what may differ.
//! What is judged is judged by a rule that `docs/gate.md` tells; what is only shown has no verdict.
//!
//! Left out: reading and writing stores, and running anything. That is the runner's.

mod counters;
mod entry;
mod interleaved;
mod key;
mod measure;
mod metric;
mod render;
#[cfg(test)]
mod simulations;
mod times;
mod trend;
mod verdict;

pub use counters::{Allowed, gate_entry};
pub use entry::{End, Entry};
pub use interleaved::{GateSide, confirmed, gate_interleaved, is_suspect};
pub use key::{Difference, Key, Part, memory_class};
pub use metric::{Figure, Tolerance, ToleranceError, Tolerances};
pub use render::{gate_benchmark, gate_json, gate_junit, gate_markdown, trend_html};
pub use times::Rule;
pub use trend::{
    KeyBreak, LevelChange, Series, Trend, TrendPoint, trend, trend_json, trend_markdown,
};
pub use verdict::{Compared, Gate, GateRow, PairsSay, Verdict};
