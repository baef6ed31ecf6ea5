//! `facts.toml`: what is known of a run besides its durations.
//!
//! Keys are those of a scenario where there is one of that meaning. Tables at the top hold for all
//! variants, and a variant's own replace them key by key. What is not known is left away.

use super::ImportError;
use crate::scenario::{duration, size};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Facts {
    /// Version of this form.
    format: u32,
    /// What the run is called.
    pub(super) name: String,
    /// What it shows, in a sentence.
    pub(super) about: Option<String>,
    /// Where the figures were published.
    pub(super) source: Option<String>,
    #[serde(default)]
    pub(super) dataset: Dataset,
    #[serde(default)]
    pub(super) host: Host,
    /// Versions by what they are of.
    #[serde(default)]
    pub(super) versions: BTreeMap<String, String>,
    /// Revision of the system under test.
    pub(super) revision: Option<String>,
    /// What the system's page cache held at the start.
    pub(super) cache_state: Option<String>,
    #[serde(default)]
    sequence: Sequence,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    resources: Resources,
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    initial_state: Option<String>,
    #[serde(default)]
    reported: Reported,
    pub(super) variants: BTreeMap<String, Variant>,
}

/// A variant: its own facts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    #[serde(default)]
    sequence: Sequence,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    resources: Resources,
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    /// Settings that were shipped after the measurement, where they are others.
    #[serde(default)]
    pub(super) shipped: BTreeMap<String, Value>,
    initial_state: Option<String>,
    #[serde(default)]
    reported: Reported,
    /// Files of tables that were reported.
    #[serde(default)]
    pub(super) tables: Vec<Table>,
    /// Figures that were published, to be held against the durations.
    #[serde(default)]
    pub(super) published: Vec<Published>,
}

/// The logs.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dataset {
    digest: Option<String>,
    messages: Option<u64>,
    log_files: Option<u64>,
    bytes: Option<u64>,
    seed: Option<u64>,
    profile: Option<String>,
}

/// The machine or cluster.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    name: Option<String>,
    cpu_model: Option<String>,
    cores: Option<u64>,
    #[serde(
        default,
        rename(serialize = "memory_bytes"),
        deserialize_with = "bytes"
    )]
    memory: Option<u64>,
    kernel: Option<String>,
    architecture: Option<String>,
    storage: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sequence {
    pub(super) mode: Option<Mode>,
    files_per_workflow: Option<u64>,
    passes: Option<u64>,
    /// Workflows that the run would have had if nothing had ended it.
    pub(super) workflows: Option<u32>,
    workers: Option<u32>,
    slots: Option<u32>,
    queue: Option<String>,
    /// The time within which all workflows were launched, evenly.
    #[serde(
        default,
        rename(serialize = "launched_within_s"),
        deserialize_with = "seconds"
    )]
    pub(super) launched_within: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    Sequential,
    Concurrent,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    kind: Option<String>,
    pipeline: Option<String>,
    lake: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resources {
    #[serde(default, deserialize_with = "bytes")]
    memory: Option<u64>,
    cpus: Option<u64>,
}

/// What was told of the run as a whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reported {
    /// Workflows that completed, from the first on.
    pub(super) completed: Option<u32>,
    restarts: Option<u64>,
    event_log: Option<bool>,
    /// Rows in `reports` at the end.
    rows: Option<u64>,
    /// By what they were counted.
    rows_by: Option<String>,
    /// First launch to last close.
    #[serde(default, rename(serialize = "total_s"), deserialize_with = "seconds")]
    total: Option<f64>,
    /// Median of Spark tasks per filter.
    tasks_per_filter: Option<f64>,
    /// Median duration of a Spark job.
    #[serde(
        default,
        rename(serialize = "median_job_s"),
        deserialize_with = "seconds"
    )]
    median_job: Option<f64>,
}

/// Files of a table after a workflow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) table: String,
    pub(super) after: u32,
    pub(super) rows: Option<u64>,
    pub(super) live_files: Option<u64>,
    #[serde(default, deserialize_with = "bytes")]
    pub(super) live_bytes: Option<u64>,
    #[serde(default, deserialize_with = "bytes")]
    pub(super) disk_bytes: Option<u64>,
}

/// A figure that was published.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    figure: Figure,
    #[serde(rename(serialize = "value_s"), deserialize_with = "seconds")]
    value: Option<f64>,
    /// Half a unit of the last digit that was published.
    #[serde(
        default,
        rename(serialize = "rounding_s"),
        deserialize_with = "seconds"
    )]
    rounding: Option<f64>,
    /// The workflows that it is of.
    window: Option<Window>,
}

/// What was published.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Figure {
    /// What each further workflow takes longer.
    Growth,
    /// The median of the durations.
    MedianDuration,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    from: u32,
    to: u32,
}

/// What holds of a variant: its own, and where it has none, that of all.
#[derive(Debug, Serialize)]
pub(super) struct Whole {
    pub(super) sequence: Sequence,
    target: Target,
    resources: Resources,
    settings: BTreeMap<String, Value>,
    initial_state: Option<String>,
    pub(super) reported: Reported,
}

impl Facts {
    /// Everything that holds of a variant.
    pub(super) fn whole(&self, variant: &Variant) -> Whole {
        let mut settings = self.settings.clone();
        settings.extend(variant.settings.clone());
        Whole {
            sequence: variant.sequence.over(&self.sequence),
            target: variant.target.over(&self.target),
            resources: variant.resources.over(&self.resources),
            settings,
            initial_state: variant
                .initial_state
                .clone()
                .or_else(|| self.initial_state.clone()),
            reported: variant.reported.over(&self.reported),
        }
    }
}

/// Takes each field from one, and where that has none, from another.
macro_rules! over {
    ($type:ident: $($field:ident),+) => {
        impl $type {
            fn over(&self, all: &Self) -> Self {
                Self { $($field: self.$field.clone().or_else(|| all.$field.clone())),+ }
            }
        }
    };
}

over!(Sequence: mode, files_per_workflow, passes, workflows, workers, slots, queue, launched_within);
over!(Target: kind, pipeline, lake);
over!(Resources: memory, cpus);
over!(Reported: completed, restarts, event_log, rows, rows_by, total, tasks_per_filter, median_job);

/// Reads and checks a file of facts.
pub(super) fn read(path: &Path) -> Result<Facts, ImportError> {
    let wrong = |reason: String| ImportError::Facts {
        path: path.to_path_buf(),
        reason,
    };
    let text = std::fs::read_to_string(path).map_err(|source| ImportError::Io {
        action: "read",
        path: path.to_path_buf(),
        source,
    })?;
    let facts: Facts = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if facts.format != 1 {
        return Err(wrong(format!(
            "its `format` is {}, and this bench reads 1",
            facts.format
        )));
    }
    if facts.variants.is_empty() {
        return Err(wrong(
            "it has no variant; each has a table [variants.NAME]".to_owned(),
        ));
    }
    for (name, variant) in &facts.variants {
        let sequence = facts.whole(variant).sequence;
        if sequence.launched_within.is_some() && sequence.mode != Some(Mode::Concurrent) {
            return Err(wrong(format!(
                "variant `{name}`: `launched_within` is of sequences whose `mode` is \"concurrent\""
            )));
        }
    }
    Ok(facts)
}

/// A duration in seconds, from a text such as `"6min"` or from a number of seconds.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    use serde::de::Error;
    match Value::deserialize(deserializer)? {
        Value::Number(number) => Ok(number.as_f64()),
        Value::String(text) => match duration(&text) {
            Some(duration) => Ok(Some(duration.as_secs_f64())),
            None => Err(D::Error::custom(format!(
                "`{text}` is no duration; write \"30s\", \"6min\" or \"18h 24min\", or a number of seconds"
            ))),
        },
        _ => Err(D::Error::custom(
            "a duration is a text such as \"6min\", or a number of seconds",
        )),
    }
}

/// A size in bytes, from a text such as `"32GiB"` or from a number of bytes.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    use serde::de::Error;
    match Value::deserialize(deserializer)? {
        Value::Number(number) if number.as_u64().is_some() => Ok(number.as_u64()),
        Value::String(text) => match size(&text) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(D::Error::custom(format!(
                "`{text}` is no size; write \"96MiB\", \"2GB\" or \"32GiB\", or a number of bytes"
            ))),
        },
        _ => Err(D::Error::custom(
            "a size is a text such as \"32GiB\", or a whole number of bytes",
        )),
    }
}
