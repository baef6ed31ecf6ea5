//! From resolved values to the typed [`Scenario`].

use super::kind::Value;
use super::layer::Layer;
use super::model::{
    DatasetSource, Enforcement, Expect, Fault, FaultKind, Measure, Mode, Pipeline, Queue,
    Resources, Retry, Scenario, Sequence, SparkTarget, Target, TargetKind, Variant, Verify, When,
};
use super::resolve::Values;
use bench_generator::Overrides;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Values by key, for a kind that the table of keys has made sure of.
#[derive(Clone, Copy)]
pub(super) struct Get<'a>(pub(super) &'a Layer);

impl<'a> Get<'a> {
    pub(super) fn value(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).map(|given| &given.value)
    }

    pub(super) fn count(&self, key: &str) -> Option<u64> {
        match self.value(key)? {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// A count whose bounds fit.
    fn small(&self, key: &str) -> Option<u32> {
        u32::try_from(self.count(key)?).ok()
    }

    fn number(&self, key: &str) -> Option<f64> {
        match self.value(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        match self.value(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn boolean(&self, key: &str) -> Option<bool> {
        match self.value(key)? {
            Value::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn duration(&self, key: &str) -> Option<Duration> {
        match self.value(key)? {
            Value::Duration(duration) => Some(*duration),
            _ => None,
        }
    }

    pub(super) fn size(&self, key: &str) -> Option<u64> {
        match self.value(key)? {
            Value::Size(bytes) => Some(*bytes),
            _ => None,
        }
    }

    pub(super) fn words(&self, key: &str) -> Option<&'a [String]> {
        match self.value(key)? {
            Value::Words(words) => Some(words),
            _ => None,
        }
    }

    fn below(&self, section: &'static str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.0
            .iter()
            .filter_map(move |(key, given)| Some((key.strip_prefix(section)?, &given.value)))
    }
}

/// The logs.
pub(super) fn dataset(scenario: &Layer) -> DatasetSource {
    let get = Get(scenario);
    let text = |key| get.text(key).map(str::to_owned);
    match text("dataset.path") {
        Some(path) => DatasetSource::Folder(PathBuf::from(path)),
        None => DatasetSource::Generated {
            profile: text("dataset.profile").unwrap_or_default(),
            overrides: Overrides {
                seed: get.count("dataset.seed"),
                messages: get.count("dataset.messages"),
                log_files: get.count("dataset.log_files"),
                per_day: get.number("dataset.per_day"),
                days: get.count("dataset.days"),
                start: text("dataset.start"),
                encoding: text("dataset.encoding"),
            },
        },
    }
}

/// A variant without its faults.
pub(super) fn variant(name: &str, layer: &Layer) -> Option<Variant> {
    let get = Get(layer);
    Some(Variant {
        name: name.to_owned(),
        expect: match get.text("expect")? {
            "fail" => Expect::Fail,
            _ => Expect::Complete,
        },
        sequence: sequence(get)?,
        target: target(get)?,
        resources: Resources {
            memory: get.size("resources.memory"),
            cpus: get.small("resources.cpus"),
            enforcement: match get.text("resources.enforcement")? {
                "cgroup" => Enforcement::Cgroup,
                "watchdog" => Enforcement::Watchdog,
                _ => Enforcement::Auto,
            },
        },
        settings: get
            .below("settings.")
            .map(|(key, value)| (key.to_owned(), value.json()))
            .collect(),
        faults: Vec::new(),
    })
}

fn sequence(get: Get<'_>) -> Option<Sequence> {
    let is_concurrent = get.text("sequence.mode")? == "concurrent";
    // What a base says of concurrency does not reach a variant that is sequential.
    let many = |key| match is_concurrent {
        true => get.small(key),
        false => Some(1),
    };
    Some(Sequence {
        mode: match is_concurrent {
            true => Mode::Concurrent {
                launch_interval: get.duration("sequence.launch_interval").unwrap_or_default(),
                queue: match get.text("sequence.queue")? {
                    "shuffled" => Queue::Shuffled,
                    _ => Queue::Fifo,
                },
            },
            false => Mode::Sequential,
        },
        workers: many("sequence.workers")?,
        slots: many("sequence.slots")?,
        files_per_workflow: get.small("sequence.files_per_workflow")?,
        passes: get.small("sequence.passes")?,
        stop_after: get.small("sequence.stop_after"),
        retry: Retry {
            max_attempts: get.small("sequence.retry.max_attempts")?,
            initial: get.duration("sequence.retry.initial")?,
            factor: get.number("sequence.retry.factor")?,
            max: get.duration("sequence.retry.max")?,
        },
        deadline: get.duration("sequence.deadline"),
        attempt_timeout: get.duration("sequence.attempt_timeout"),
        seed: get.count("sequence.seed")?,
    })
}

fn target(get: Get<'_>) -> Option<Target> {
    let storage: BTreeMap<String, String> = get
        .below("target.storage.")
        .filter_map(|(key, value)| match value {
            Value::Text(text) => Some((key.to_owned(), text.clone())),
            _ => None,
        })
        .collect();
    let kind = match get.text("target.kind")? {
        "spark" => TargetKind::Spark,
        "null" => TargetKind::Null,
        "command" => TargetKind::Command,
        _ => TargetKind::Embedded,
    };
    Some(Target {
        kind,
        // A base's program is not that of a variant with another kind of target.
        command: match kind {
            TargetKind::Command => get.words("target.command")?.to_vec(),
            _ => Vec::new(),
        },
        lake: get.text("target.lake").map(str::to_owned),
        storage,
        start_timeout: get.duration("target.start_timeout")?,
        heartbeat_timeout: get.duration("target.heartbeat_timeout")?,
        spark: match kind {
            TargetKind::Spark => Some(spark(get)?),
            _ => None,
        },
    })
}

fn spark(get: Get<'_>) -> Option<SparkTarget> {
    let conf = get.below("target.conf.").map(|(key, value)| {
        let text = match value {
            Value::Text(text) => text.clone(),
            other => other.toml(),
        };
        (key.to_owned(), text)
    });
    Some(SparkTarget {
        pipeline: match get.text("target.pipeline")? {
            "scout" => Pipeline::Scout,
            _ => Pipeline::Builtin,
        },
        transformer: get.text("target.transformer").map(PathBuf::from),
        master: get.text("target.master").map(str::to_owned),
        conf: conf.collect(),
        packages: get.words("target.packages")?.to_vec(),
    })
}

/// A fault whose keys are whole.
pub(super) fn fault(layer: &Layer) -> Option<Fault> {
    let get = Get(layer);
    let at = || match get.text("stage") {
        Some(stage) => Some(When::Stage(stage.to_owned())),
        None => get.duration("after").map(When::After),
    };
    let kind = if let Some(bytes) = get.size("memory") {
        FaultKind::Memory(bytes)
    } else if let Some(signal) = get.text("kill") {
        FaultKind::Kill {
            signal: signal.to_owned(),
            at: at()?,
        }
    } else {
        FaultKind::Pause {
            for_: get.duration("pause")?,
            at: at()?,
        }
    };
    Some(Fault {
        workflow: get.small("workflow")?,
        attempt: match get.0.contains_key("attempt") {
            true => get.small("attempt")?,
            false => 1,
        },
        kind,
    })
}

/// The whole; `None` where a value is missing that was complained about.
pub(super) fn scenario(values: &Values, variants: Vec<Variant>) -> Option<Scenario> {
    let get = Get(&values.scenario);
    Some(Scenario {
        name: get.text("name")?.to_owned(),
        about: get.text("about").map(str::to_owned),
        dataset: dataset(&values.scenario),
        measure: Measure {
            repeats: get.small("measure.repeats")?,
            sample_interval: get.duration("measure.sample_interval")?,
            probe: get.boolean("measure.probe")?,
            keep_lake: get.boolean("measure.keep_lake")?,
        },
        verify: Verify {
            rows: get.boolean("verify.rows")?,
        },
        variants,
    })
}
