//! Every key of a scenario, once: the strict reader, `--set`, `bench show`, the schema for editors and
//! the reference page are all made from this table.

use super::kind::{Kind, WHOLE, Word, planned, word};
use std::sync::LazyLock;
use std::time::Duration;

/// A key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// Dotted, as it stands at the top of a file. `*` at the end stands for any name.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// Its value where it is left out, as TOML; empty where it then has none.
    pub(super) default: &'static str,
    /// What it is, in a line.
    pub(super) what: &'static str,
    pub(super) scope: Scope,
}

/// Where a key may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// At the top only: it is the same for all variants.
    Scenario,
    /// At the top, in a variant, or in the matrix.
    Variant,
    /// In an entry of `faults`, without the prefix `faults.`.
    Fault,
}

impl Key {
    /// Whether `"none"` lifts what the base has set.
    pub(super) fn is_liftable(&self) -> bool {
        let is_limit = matches!(
            self.kind,
            Kind::Count { .. } | Kind::Duration { .. } | Kind::Size { .. }
        );
        self.scope == Scope::Variant && self.default.is_empty() && is_limit
    }

    /// The section that it stands in: `sequence.retry` of `sequence.retry.max`.
    pub(super) fn section(&self) -> &'static str {
        self.path
            .rsplit_once('.')
            .map_or("", |(section, _)| section)
    }

    /// Its last part.
    pub(super) fn name(&self) -> &'static str {
        self.path
            .rsplit_once('.')
            .map_or(self.path, |(_, name)| name)
    }
}

/// Sections in the order of the documentation, and what each is about.
pub(super) const SECTIONS: &[(&str, &str)] = &[
    ("", "What the scenario is called and says of itself."),
    (
        "dataset",
        "The logs: made by the generator, or a folder that exists.",
    ),
    ("sequence", "In which order and how workflows run."),
    (
        "sequence.retry",
        "What follows an attempt that failed. An inline table does as well.",
    ),
    ("target", "What ingests."),
    (
        "target.conf",
        "Further settings of Spark by Spark's own names, which hold dots and are quoted: `\"spark.sql.ui.retainedExecutions\" = 100`. They come after those that the bench makes itself.",
    ),
    (
        "target.storage",
        "What the store of a lake elsewhere needs, by the store's own names.",
    ),
    ("resources", "What a worker may use."),
    (
        "settings",
        "Write settings. The engine has its own defaults, which are named here. A target of kind `command` takes further settings, which are passed on as they are; so does `null`, which uses none.",
    ),
    ("measure", "How often, and what is looked at meanwhile."),
    ("verify", "How rows are checked."),
    (
        "faults",
        "What is done to the run on purpose: a list of tables, `[[faults]]`. Each has exactly one of `memory`, `kill` and `pause`; the latter two have exactly one of `stage` and `after`.",
    ),
];

const EXPECT: &[Word] = &[word("complete"), word("fail")];
const ENCODING: &[Word] = &[word("latin-1"), word("utf-8")];
const MODE: &[Word] = &[word("sequential"), word("concurrent")];
const QUEUE: &[Word] = &[word("fifo"), word("shuffled")];
const TARGET: &[Word] = &[
    word("embedded"),
    word("spark"),
    word("null"),
    word("command"),
    planned("temporal"),
];
const PIPELINE: &[Word] = &[word("builtin"), word("scout")];
const ENFORCEMENT: &[Word] = &[word("auto"), word("cgroup"), word("watchdog")];
const SIGNAL: &[Word] = &[
    word("SIGKILL"),
    word("SIGTERM"),
    word("SIGSEGV"),
    word("SIGABRT"),
];

const MEMORY: Kind = Kind::Size { least: 1 << 20 };
const ANY_TIME: Kind = Kind::Duration {
    least: Duration::ZERO,
};
const SOME_TIME: Kind = Kind::Duration {
    least: Duration::from_millis(1),
};

const fn count(least: u64, most: u64) -> Kind {
    Kind::Count { least, most }
}

const fn key(
    scope: Scope,
    path: &'static str,
    kind: Kind,
    default: &'static str,
    what: &'static str,
) -> Key {
    Key {
        path,
        kind,
        default,
        what,
        scope,
    }
}

use Scope::{Fault, Scenario, Variant};

/// All keys but the settings.
#[rustfmt::skip]
const FIXED: &[Key] = &[
    key(Scenario, "format", count(1, 1), "", "version of this format; required"),
    key(Scenario, "name", Kind::Name, "", "name, part of the run directory's name; required"),
    key(Scenario, "about", Kind::Text, "", "what the scenario shows; `bench list` prints the first line"),
    key(Variant, "expect", Kind::Choice(EXPECT), "\"complete\"", "`fail` allows a variant to die: that is then a finding, not a fault of the run"),

    key(Scenario, "dataset.path", Kind::Text, "", "a folder of logs that exists, instead of all other keys here; beside the file, or, after `--set`, in the current folder. Nothing is known of what its messages must become"),
    key(Scenario, "dataset.profile", Kind::Text, "\"varied\"", "a shipped profile of the generator, or the path of one"),
    key(Scenario, "dataset.messages", count(1, 900_000_000), "", "messages in all; without it, the profile's"),
    key(Scenario, "dataset.log_files", count(1, 900_000_000), "", "logs in all; without it, as many messages a log as in the profile"),
    key(Scenario, "dataset.per_day", Kind::Number { least: 0.001, most: 10_000_000.0 }, "", "messages a day on average, instead of `messages`"),
    key(Scenario, "dataset.days", count(1, 10_000_000), "", "days, instead of `log_files`"),
    key(Scenario, "dataset.start", Kind::Day, "", "first day; without it, the profile's"),
    key(Scenario, "dataset.seed", count(WHOLE.0, WHOLE.1), "", "seed of all draws of the generator; without it, the profile's"),
    key(Scenario, "dataset.encoding", Kind::Choice(ENCODING), "", "encoding of the logs; without it, the profile's"),

    key(Variant, "sequence.mode", Kind::Choice(MODE), "\"sequential\"", "`sequential`: a workflow is launched when the one before it closed. `concurrent`: all are launched on a schedule, whatever the workers do"),
    key(Variant, "sequence.launch_interval", ANY_TIME, "", "time between two launches; required where concurrent, and only there"),
    key(Variant, "sequence.workers", count(1, 1024), "1", "worker processes; more than 1 only where concurrent"),
    key(Variant, "sequence.slots", count(1, 1024), "1", "workflows that a worker executes at a time; more than 1 only where concurrent"),
    key(Variant, "sequence.queue", Kind::Choice(QUEUE), "\"fifo\"", "which of the waiting workflows a free slot takes: the one that waits longest, or any, drawn from the seed; only where concurrent"),
    key(Variant, "sequence.files_per_workflow", count(1, 10_000_000), "150", "logs in a workflow, in path order"),
    key(Variant, "sequence.passes", count(1, 1000), "1", "how many times the logs are ingested from the first to the last, as further workflows of the same sequence"),
    key(Variant, "sequence.stop_after", count(1, u32::MAX as u64), "", "the sequence is cancelled once this workflow closed: a person's cancel, declared"),
    key(Variant, "sequence.deadline", SOME_TIME, "", "a workflow that is not closed so long after its launch is failed"),
    key(Variant, "sequence.attempt_timeout", SOME_TIME, "", "an attempt that takes longer is killed"),
    key(Variant, "sequence.seed", count(WHOLE.0, WHOLE.1), "1", "seed of the order of a shuffled queue"),
    key(Variant, "sequence.retry.max_attempts", count(1, 1000), "5", "attempts in all"),
    key(Variant, "sequence.retry.initial", ANY_TIME, "\"30s\"", "wait before the second attempt"),
    key(Variant, "sequence.retry.factor", Kind::Number { least: 1.0, most: 1000.0 }, "2.0", "each further wait is so many times the one before"),
    key(Variant, "sequence.retry.max", ANY_TIME, "\"5min\"", "no wait is longer"),

    key(Variant, "target.kind", Kind::Choice(TARGET), "\"embedded\"", "`embedded`: the engine that is part of bench. `spark`: Spark, see target.pipeline. `null`: only answers, and so measures the harness. `command`: any program that speaks the worker protocol"),
    key(Variant, "target.command", Kind::Words, "[]", "program and arguments; required for `command`, and only there"),
    key(Variant, "target.pipeline", Kind::Choice(PIPELINE), "\"builtin\"", "what ingests within `spark`: `builtin`, this project's own pipeline, or `scout`, the platform's own transformer from a checkout"),
    key(Variant, "target.transformer", Kind::Text, "", "folder of the platform's transformer, which holds the package `hl7scout`; needed by `scout`; a scenario may leave it to `--set`"),
    key(Variant, "target.master", Kind::Text, "", "Spark's master, such as `spark://host:7077`, `yarn` or `k8s://…`; without it `local[N]` with N the worker's processors"),
    key(Variant, "target.packages", Kind::Words, "[]", "packages that Spark fetches, each `group:artifact:version`"),
    key(Variant, "target.lake", Kind::Text, "", "where lakes are made, each in a folder `VARIANT-REPEAT`: a folder, or an address such as `s3://bucket/prefix`; without it, inside the run directory"),
    key(Variant, "target.start_timeout", SOME_TIME, "\"60s\"", "a worker that is not ready by then is killed"),
    key(Variant, "target.heartbeat_timeout", SOME_TIME, "\"30s\"", "a worker that is silent for longer while a workflow is in hand is killed; the embedded engine speaks every 5 s"),
    key(Variant, "target.conf.*", Kind::Scalar, "", "a setting of Spark; only for `spark`"),
    key(Variant, "target.storage.*", Kind::Text, "", "an option of the lake's store, such as `aws_region`; only with `lake`"),

    key(Variant, "resources.memory", MEMORY, "", "memory of a worker; without it, no limit. More than the machine has is recorded as not binding"),
    key(Variant, "resources.cpus", count(1, 65_536), "", "processors of a worker; without it, all"),
    key(Variant, "resources.enforcement", Kind::Choice(ENFORCEMENT), "\"auto\"", "by what memory is limited. `auto`: a control group where one may be made, else a watchdog. `cgroup`: a control group, or the run does not start. `watchdog`: the runner looks at the worker's resident memory and kills it"),

    key(Variant, "settings.*", Kind::Scalar, "", "a further setting, for a target of kind `command`"),

    key(Scenario, "measure.repeats", count(1, 1000), "1", "arms of each variant; they interleave: A B, then B A, …"),
    key(Scenario, "measure.sample_interval", Kind::Duration { least: Duration::from_millis(10) }, "\"1s\"", "time between two samples of a worker's memory, processor time and I/O"),
    key(Scenario, "measure.probe", Kind::Boolean, "true", "look at the tables after every workflow, outside of the timed intervals"),
    key(Scenario, "measure.keep_lake", Kind::Boolean, "false", "keep each lake after its rows were verified; a lake whose rows do not add up is always kept"),

    key(Scenario, "verify.rows", Kind::Boolean, "true", "verify all rows of every arm"),
    key(Scenario, "verify.trino", Kind::NotBuilt, "", "address of a Trino that counts the rows as a second opinion; not built yet"),

    key(Fault, "workflow", count(1, u32::MAX as u64), "", "number of the workflow, from 1; required"),
    key(Fault, "attempt", count(1, 1000), "1", "number of the attempt, from 1"),
    key(Fault, "memory", MEMORY, "", "the worker's memory limit while the attempt runs"),
    key(Fault, "kill", Kind::Choice(SIGNAL), "", "signal that the worker gets"),
    key(Fault, "pause", SOME_TIME, "", "the worker is stopped for so long, then continued"),
    key(Fault, "stage", Kind::Text, "", "when: once the worker has told of this stage"),
    key(Fault, "after", ANY_TIME, "", "when: so long after the attempt was sent"),
    key(Fault, "variants", Kind::Words, "", "the variants that it is done to; without it, all"),
];

/// All keys, in the order of the documentation.
pub(super) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = Vec::with_capacity(FIXED.len() + bench_embedded::KEYS.len());
    for fixed in FIXED {
        if fixed.path == "settings.*" {
            keys.extend(bench_embedded::KEYS.iter().map(|setting| Key {
                // Made once for the life of the process.
                path: Box::leak(format!("settings.{}", setting.name).into_boxed_str()),
                kind: Kind::Setting(setting.name, setting.kind),
                default: "",
                what: setting.what,
                scope: Variant,
            }));
        }
        keys.push(*fixed);
    }
    keys
});

/// Keys that mean nothing where workflows are sequential.
pub(super) const CONCURRENT: [&str; 4] = [
    "sequence.launch_interval",
    "sequence.queue",
    "sequence.workers",
    "sequence.slots",
];

/// Keys that mean nothing where the target is not Spark.
pub(super) const SPARK: [&str; 4] = [
    "target.pipeline",
    "target.transformer",
    "target.master",
    "target.packages",
];

/// What the settings of Spark begin with.
pub(super) const SPARK_CONF: &str = "target.conf.";

/// Whether the value of a dotted key, of the base or of a variant, may be a password.
pub(super) fn is_secret(path: &str) -> bool {
    [SPARK_CONF, "target.storage."].iter().any(|section| {
        path.split_once(section)
            .is_some_and(|(_, name)| is_secret_option(name))
    })
}

/// Whether an option of a store may be a password.
pub(super) fn is_secret_option(name: &str) -> bool {
    let marks = ["key", "secret", "token", "password", "credential"];
    let name = name.to_lowercase();
    marks.iter().any(|mark| name.contains(mark))
}

/// What a dotted key is.
pub(super) enum Found {
    Key(&'static Key),
    /// A table with keys in it.
    Section,
    /// A key that may not stand here.
    Misplaced,
    Unknown,
}

/// Looks up a dotted key. `scope` is [`Scope::Scenario`] at the top of a file, where the keys that
/// variants override stand too.
pub(super) fn find(path: &str, scope: Scope) -> Found {
    let allowed = |key: &Key| match scope {
        Fault => key.scope == Fault,
        Variant => key.scope == Variant,
        Scenario => key.scope != Fault,
    };
    let mut is_misplaced = false;
    for key in KEYS.iter().filter(|key| matches(key.path, path)) {
        if allowed(key) {
            return Found::Key(key);
        }
        is_misplaced |= key.scope != Fault && scope != Fault;
    }
    let mut section = KEYS.iter().filter(|key| is_below(key.path, path));
    match section.next() {
        Some(first) if allowed(first) || section.any(allowed) => Found::Section,
        Some(first) if first.scope != Fault && scope != Fault => Found::Misplaced,
        _ if is_misplaced => Found::Misplaced,
        _ => Found::Unknown,
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(section) => path.len() > section.len() && path.starts_with(section),
        None => pattern == path,
    }
}

fn is_below(key: &str, section: &str) -> bool {
    key.strip_prefix(section)
        .is_some_and(|rest| rest.starts_with('.'))
}

/// The nearest of some words, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .min()
        .filter(|(distance, name)| *distance <= 2.max(name.len() / 3) && *distance < name.len())
        .map(|(_, name)| name)
}

/// What to say of a key that does not exist: the nearest one, or those that stand beside it.
pub(super) fn unknown(path: &str, scope: Scope) -> String {
    let is_allowed = |key: &&Key| match scope {
        Fault => key.scope == Fault,
        Variant => key.scope == Variant,
        Scenario => key.scope != Fault,
    };
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut beside: Vec<&str> = Vec::new();
    let mut put = |name: &'static str| {
        if name != "*" && !beside.contains(&name) {
            beside.push(name);
        }
    };
    for key in KEYS.iter().filter(is_allowed) {
        let below = match section {
            "" => Some(key.path),
            _ => key
                .path
                .strip_prefix(section)
                .and_then(|rest| rest.strip_prefix('.')),
        };
        if let Some(below) = below {
            put(below.split('.').next().unwrap_or(below));
        }
    }
    if section.is_empty() && scope == Scenario {
        for name in ["variants", "matrix", "faults"] {
            put(name);
        }
    }
    let full = |name: &str| match section {
        "" => name.to_owned(),
        _ => format!("{section}.{name}"),
    };
    // The same word elsewhere is a key in the wrong section; one that is near here is a slip.
    let elsewhere = KEYS
        .iter()
        .filter(is_allowed)
        .find(|key| key.path != path && key.name() == name && name != "*")
        .map(|key| key.path.to_owned());
    let here = nearest(name, beside.iter().copied()).map(full);
    let anywhere = || {
        let names = KEYS.iter().filter(is_allowed).map(Key::name);
        let name = nearest(name, names.filter(|name| *name != "*"))?;
        let key = KEYS
            .iter()
            .filter(is_allowed)
            .find(|key| key.name() == name)?;
        Some(key.path.to_owned())
    };
    let hint = elsewhere
        .filter(|_| here.is_none())
        .or(here)
        .or_else(anywhere);
    match hint {
        Some(near) => format!("is no key; the nearest is `{near}`"),
        None => format!("is no key; known here are {}", beside.join(", ")),
    }
}
