//! What a run will do, before it does anything: arms in their order, workflows, messages, and what it
//! will take. `bench run --dry-run` shows it.
//!
//! Nothing is made here. What is counted is exact; room and time are estimates and say so.

mod estimate;
mod text;

pub use text::text;
pub(crate) use text::time;

use crate::error::Error;
use crate::scenario::{DatasetSource, Enforcement, Scenario, Sequence, Variant};
use bench_generator::Spec;
use estimate::Cost;
use serde::Serialize;

/// The logs of a data set, as far as they are known without making or reading them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logs {
    /// How many.
    pub count: u64,
    /// Messages of each, in path order, where they are known.
    pub messages: Option<Vec<u64>>,
    /// Their bytes, where they exist.
    pub bytes: Option<u64>,
}

impl Logs {
    /// Looks at the generator's plan, or into the folder.
    ///
    /// # Errors
    /// A spec that is not allowed, or a folder that cannot be read.
    pub fn foresee(dataset: &DatasetSource) -> Result<Self, Error> {
        match dataset {
            DatasetSource::Generated { profile, overrides } => {
                let messages = Spec::load(profile, overrides)?.messages_per_log();
                Ok(Self {
                    count: messages.len() as u64,
                    messages: Some(messages),
                    bytes: None,
                })
            }
            DatasetSource::Folder(folder) => {
                let logs = bench_hl7::discover(folder)?;
                let mut bytes = 0;
                for log in &logs {
                    let path = &log.path;
                    let read = |source| Error::Read {
                        path: path.clone(),
                        source,
                    };
                    bytes += std::fs::metadata(path).map_err(read)?.len();
                }
                Ok(Self {
                    count: logs.len() as u64,
                    messages: None,
                    bytes: Some(bytes),
                })
            }
        }
    }
}

/// What a run will do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Version of this form.
    pub format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// The logs.
    pub dataset: PlannedDataset,
    /// Arms, in the order in which they run.
    pub arms: Vec<Arm>,
    /// Bytes on disk at the worst moment, estimated: the data set, and the lakes that stand then.
    pub disk_bytes: Option<u64>,
    /// Seconds of the whole, estimated.
    pub seconds: Option<f64>,
    /// What the estimates rest on, and what they leave out.
    pub notes: Vec<String>,
}

/// The logs of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedDataset {
    /// The profile, or the folder.
    pub source: String,
    /// Whether the generator makes it, where it is not in the cache.
    pub is_generated: bool,
    /// Logs.
    pub logs: u64,
    /// Messages, where they are known.
    pub messages: Option<u64>,
    /// Bytes: found in a folder, estimated for the generator.
    pub bytes: Option<u64>,
    /// Seconds to make it, estimated.
    pub seconds: Option<f64>,
}

/// One variant's sequence on a fresh lake.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// Its place in the run, from 1.
    pub number: u32,
    /// The variant.
    pub variant: String,
    /// Which repeat of it, from 1.
    pub repeat: u32,
    /// Whether its workflows wait for each other.
    pub is_concurrent: bool,
    /// Workflows that it runs.
    pub workflows: u64,
    /// Workflows of the whole sequence; more than `workflows` where it is cancelled.
    pub workflows_in_all: u64,
    /// Logs that it ingests, those of a second pass counted again.
    pub logs: u64,
    /// Messages that it ingests, where they are known.
    pub messages: Option<u64>,
    /// What is done to it on purpose.
    pub faults: Vec<String>,
    /// Memory of a worker, in bytes.
    pub memory: Option<u64>,
    /// Processors of a worker.
    pub cpus: Option<u32>,
    /// By what memory is limited.
    pub enforcement: Option<Enforcement>,
    /// Bytes of its lake at the end, dead files included, estimated.
    pub lake_bytes: Option<u64>,
    /// Seconds, estimated.
    pub seconds: Option<f64>,
}

impl Plan {
    /// Plans a scenario over its logs.
    #[must_use]
    pub fn of(scenario: &Scenario, logs: &Logs) -> Self {
        let dataset = dataset(scenario, logs);
        let arms: Vec<Arm> = order(scenario)
            .zip(1..)
            .map(|((variant, repeat), number)| arm(variant, repeat, number, logs))
            .collect();
        let all = |of: fn(&Arm) -> Option<u64>| arms.iter().map(of).collect::<Option<Vec<u64>>>();
        let lakes = all(|arm| arm.lake_bytes).map(|lakes| match scenario.measure.keep_lake {
            true => lakes.iter().sum::<u64>(),
            false => lakes.iter().copied().max().unwrap_or(0),
        });
        let disk_bytes = match (lakes, dataset.bytes) {
            (Some(lakes), Some(logs)) if dataset.is_generated => Some(lakes + logs),
            (lakes, _) => lakes,
        };
        let seconds: Option<f64> = arms.iter().map(|arm| arm.seconds).sum();
        Self {
            format: 1,
            scenario: scenario.name.clone(),
            disk_bytes,
            seconds: seconds.map(|seconds| seconds + dataset.seconds.unwrap_or(0.0)),
            notes: estimate::notes(scenario),
            dataset,
            arms,
        }
    }
}

/// Variants and repeats in the order in which they run: A B, then B A, and so on, so that what drifts
/// on the machine meets all alike.
pub fn order(scenario: &Scenario) -> impl Iterator<Item = (&Variant, u32)> {
    (1..=scenario.measure.repeats).flat_map(|repeat| {
        let variants = &scenario.variants;
        let count = variants.len();
        (0..count).map(move |at| match repeat % 2 {
            1 => (&variants[at], repeat),
            _ => (&variants[count - 1 - at], repeat),
        })
    })
}

fn dataset(scenario: &Scenario, logs: &Logs) -> PlannedDataset {
    let messages = logs.messages.as_ref().map(|all| all.iter().sum());
    let (source, is_generated, profile) = match &scenario.dataset {
        DatasetSource::Generated { profile, .. } => {
            (format!("profile {profile}"), true, profile.as_str())
        }
        DatasetSource::Folder(path) => (path.display().to_string(), false, ""),
    };
    PlannedDataset {
        source,
        is_generated,
        logs: logs.count,
        messages,
        bytes: logs
            .bytes
            .or_else(|| Some(estimate::dataset_bytes(profile, messages?))),
        seconds: messages
            .filter(|_| is_generated)
            .map(|messages| estimate::making(profile, messages)),
    }
}

/// The batches of a sequence: how many logs and messages each has.
fn batches(sequence: &Sequence, logs: &Logs) -> Vec<(u64, Option<u64>)> {
    let size = u64::from(sequence.files_per_workflow);
    let mut pass = Vec::new();
    let mut first = 0;
    while first < logs.count {
        let end = (first + size).min(logs.count);
        let messages = logs.messages.as_ref().map(|all| {
            let range = first as usize..end as usize;
            all.get(range).unwrap_or_default().iter().sum()
        });
        pass.push((end - first, messages));
        first = end;
    }
    let all = pass.len() * sequence.passes as usize;
    let until = sequence
        .stop_after
        .map_or(all, |stop| all.min(stop as usize));
    pass.into_iter().cycle().take(until).collect()
}

fn arm(variant: &Variant, repeat: u32, number: u32, logs: &Logs) -> Arm {
    let sequence = &variant.sequence;
    let batches = batches(sequence, logs);
    let of_a_pass = logs.count.div_ceil(u64::from(sequence.files_per_workflow));
    let messages: Option<Vec<u64>> = batches.iter().map(|(_, messages)| *messages).collect();
    let known = messages.as_ref().map(|messages| messages.iter().sum());
    let cost = messages.and_then(|messages| {
        let first_pass = (of_a_pass as usize).min(messages.len());
        Cost::of(variant, &messages, first_pass)
    });
    Arm {
        number,
        variant: variant.name.clone(),
        repeat,
        is_concurrent: sequence.mode != crate::scenario::Mode::Sequential,
        workflows: batches.len() as u64,
        workflows_in_all: of_a_pass * u64::from(sequence.passes),
        logs: batches.iter().map(|(logs, _)| logs).sum(),
        messages: known,
        faults: variant
            .faults
            .iter()
            .map(crate::scenario::Fault::describe)
            .collect(),
        memory: variant.resources.memory,
        cpus: variant.resources.cpus,
        enforcement: variant
            .resources
            .memory
            .map(|_| variant.resources.enforcement),
        lake_bytes: cost.map(|cost| cost.lake_bytes),
        seconds: cost.map(|cost| cost.seconds),
    }
}
