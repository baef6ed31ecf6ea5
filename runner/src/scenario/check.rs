//! What must hold between the values of a scenario.
//!
//! What could not be read is not judged: one slip is one error.

use super::build::{self, Get};
use super::error::Errors;
use super::keys::{self, nearest};
use super::layer::{Given, Layer, Origin};
use super::model::{DatasetSource, Fault, FaultKind, Pipeline, TargetKind, Variant, When};
use super::read::{Raw, RawFault};
use super::resolve::{GENERATED, Values, no_variant};
use bench_generator::{Error as GeneratorError, Spec};
use std::collections::BTreeSet;

/// Checks everything, and gives the variants with their faults.
pub(super) fn check(raw: &Raw, values: &mut Values, errors: &mut Errors) -> Vec<Variant> {
    required(values, errors);
    let logs = logs(values, errors);
    let mut variants = Vec::new();
    let mut done_to: Vec<(Fault, Vec<String>)> = Vec::new();
    // Every fault once, in the order of the file.
    let entries: Vec<&RawFault> = raw
        .faults
        .iter()
        .filter(|entry| entry.is_whole && shape(entry, errors))
        .collect();
    for entry in &entries {
        done_to.extend(build::fault(&entry.layer).map(|fault| (fault, Vec::new())));
    }
    for (name, layer) in &values.variants {
        let Some(mut variant) = build::variant(name, layer) else {
            continue;
        };
        let check = Check {
            layer,
            variant: &variant,
            logs,
        };
        check.sequence(errors);
        check.target(errors);
        check.settings(errors);
        let mut faults: Vec<Fault> = Vec::new();
        for (entry, (fault, of)) in entries.iter().zip(&mut done_to) {
            if check.is_done_to(entry) {
                check.fault(entry, fault, &faults, errors);
                of.push(name.clone());
                faults.push(fault.clone());
            }
        }
        variant.faults = faults;
        variants.push(variant);
    }
    names_of_faults(raw, values, errors);
    values.faults = done_to;
    variants
}

fn required(values: &Values, errors: &mut Errors) {
    for (key, how) in [("format", "format = 1"), ("name", "name = \"a-name\"")] {
        if !values.scenario.contains_key(key) && errors.could_read(&[key]) {
            errors.plain(None, format!("has no `{key}`: begin it with {how}"));
        }
    }
}

/// Checks the data set, and gives the number of its logs where that is known without making it.
fn logs(values: &Values, errors: &mut Errors) -> Option<u64> {
    if !errors.could_read(&GENERATED) || !errors.could_read(&["dataset.path"]) {
        return None;
    }
    let (profile, overrides) = match build::dataset(&values.scenario) {
        DatasetSource::Generated { profile, overrides } => (profile, overrides),
        DatasetSource::Folder(path) => {
            if !path.is_dir() {
                let what = format!("is {:?}, which is no folder", path.display().to_string());
                at_key(&values.scenario, "dataset.path", what, errors);
            }
            return None;
        }
    };
    match Spec::load(&profile, &overrides) {
        Ok(spec) => spec.total().map(|(_, logs)| logs),
        Err(GeneratorError::Spec { place, what }) => {
            // The generator names what was laid over a profile as a flag of `bench generate`.
            let key = match place.strip_prefix("--") {
                Some(flag) => format!("dataset.{}", flag.replace('-', "_")),
                None => "dataset.profile".to_owned(),
            };
            let what = match place.strip_prefix("--") {
                Some(_) => what,
                None => format!("does not fit: {place}: {what}"),
            };
            at_key(&values.scenario, &key, what, errors);
            None
        }
        Err(error) => {
            let what = format!("cannot be used: {error}");
            at_key(&values.scenario, "dataset.profile", what, errors);
            None
        }
    }
}

/// Complains about a key where it was given, else about the file.
fn at_key(layer: &Layer, key: &str, what: String, errors: &mut Errors) {
    match layer.get(key).and_then(|given| given.origin.place()) {
        Some(at) => errors.at(at, key, what),
        None => errors.plain(None, format!("`{key}` {what}")),
    }
}

/// One variant.
struct Check<'a> {
    layer: &'a Layer,
    variant: &'a Variant,
    /// Logs of the data set, where known.
    logs: Option<u64>,
}

impl Check<'_> {
    fn given(&self, key: &str) -> Option<&Given> {
        self.layer
            .get(key)
            .filter(|given| given.origin != Origin::Default)
    }

    fn at(&self, key: &str, what: impl Into<String>, errors: &mut Errors) {
        at_key(self.layer, key, what.into(), errors);
    }

    /// Workflows of the sequence, where known, before it is stopped.
    fn workflows(&self) -> Option<u64> {
        let sequence = &self.variant.sequence;
        let of_a_pass = self.logs?.div_ceil(u64::from(sequence.files_per_workflow));
        Some(of_a_pass.saturating_mul(u64::from(sequence.passes)))
    }

    fn sequence(&self, errors: &mut Errors) {
        self.concurrency(errors);
        if let (Some(last), Some(stop)) = (self.workflows(), self.variant.sequence.stop_after)
            && u64::from(stop) > last
            && errors.could_read(&[
                "sequence.stop_after",
                "sequence.passes",
                "sequence.files_per_workflow",
            ])
        {
            let what = format!(
                "is {stop}, and the sequence has {last} workflows; \"none\" lets it run to its end"
            );
            self.at("sequence.stop_after", what, errors);
        }
        let retry = &self.variant.sequence.retry;
        if retry.max < retry.initial
            && errors.could_read(&["sequence.retry.initial", "sequence.retry.max"])
        {
            let what = "is less than sequence.retry.initial";
            let key = match self.given("sequence.retry.max") {
                Some(_) => "sequence.retry.max",
                None => "sequence.retry.initial",
            };
            let what = match key {
                "sequence.retry.max" => what.to_owned(),
                _ => format!(
                    "is more than sequence.retry.max, {}",
                    super::units::duration_text(retry.max)
                ),
            };
            self.at(key, what, errors);
        }
    }

    /// Concurrent keys stand only where workflows are concurrent. What a base says of concurrency
    /// does not reach a variant that says of itself that it is sequential.
    fn concurrency(&self, errors: &mut Errors) {
        if !errors.could_read(&["sequence.mode", "sequence.launch_interval"]) {
            return;
        }
        let get = Get(self.layer);
        let rank = |key: &str| self.layer.get(key).map_or(0, |given| given.origin.rank());
        if get.text("sequence.mode") == Some("concurrent") {
            if get.duration("sequence.launch_interval").is_none() {
                let what = "is \"concurrent\", which needs sequence.launch_interval as well, such \
                            as \"15s\"";
                self.at("sequence.mode", what, errors);
            }
            return;
        }
        for key in keys::CONCURRENT {
            let is_more_than_one = get.count(key).is_none_or(|count| count > 1);
            let is_meant = rank(key) >= rank("sequence.mode").max(1);
            if self.given(key).is_some() && is_more_than_one && is_meant {
                let what = "is for concurrent workflows, and sequence.mode is \"sequential\"";
                self.at(key, what, errors);
            }
        }
    }

    fn target(&self, errors: &mut Errors) {
        if !errors.could_read(&["target.kind", "target.command", "target.lake"]) {
            return;
        }
        let target = &self.variant.target;
        let is_command = target.kind == TargetKind::Command;
        let rank = |key: &str| self.layer.get(key).map_or(0, |given| given.origin.rank());
        let has_program = target
            .command
            .first()
            .is_some_and(|first| !first.is_empty());
        if is_command && !has_program {
            let what = "is \"command\", which needs target.command: a list of the program and its \
                        arguments";
            self.at("target.kind", what, errors);
        }
        if !is_command
            && Get(self.layer)
                .words("target.command")
                .is_some_and(|words| !words.is_empty())
            && rank("target.command") >= rank("target.kind")
        {
            let what = "is for a target of kind \"command\" only";
            self.at("target.command", what, errors);
        }
        self.spark(errors);
        if target.lake.is_none()
            && let Some(key) = target.storage.keys().next()
        {
            let what = "is for a lake elsewhere, and there is no target.lake";
            self.at(&format!("target.storage.{key}"), what, errors);
        }
    }

    /// What is said of Spark means nothing elsewhere; a base may say it for some of its variants.
    fn spark(&self, errors: &mut Errors) {
        let target = &self.variant.target;
        let rank = |key: &str| self.layer.get(key).map_or(0, |given| given.origin.rank());
        if target.spark.is_none() {
            let keys = self.layer.keys().filter(|key| {
                keys::SPARK.contains(&key.as_str()) || key.starts_with(keys::SPARK_CONF)
            });
            for key in keys {
                if self.given(key).is_some() && rank(key) >= rank("target.kind") {
                    self.at(key, "is for a target of kind \"spark\" only", errors);
                }
            }
            return;
        }
        let sequence = &self.variant.sequence;
        for (key, count) in [
            ("sequence.workers", sequence.workers),
            ("sequence.slots", sequence.slots),
        ] {
            if count > 1 {
                let what = "is more than 1, and Spark has one worker that executes one workflow at a \
                            time, as on the platform: its streams have one checkpoint each";
                self.at(key, what, errors);
            }
        }
    }

    /// Only another engine may have settings that are not known here.
    fn settings(&self, errors: &mut Errors) {
        let kind = self.variant.target.kind;
        let knows_all = matches!(kind, TargetKind::Embedded | TargetKind::Spark);
        if !knows_all || !errors.could_read(&["target.kind"]) {
            return;
        }
        for key in self.variant.settings.keys() {
            if !bench_embedded::KEYS.iter().any(|known| known.name == key) {
                let path = format!("settings.{key}");
                let what = keys::unknown(&path, keys::Scope::Variant);
                self.at(&path, what, errors);
            }
        }
    }

    /// The engine, and the stages that it may tell of, where they are known.
    fn stages(&self) -> Option<(&'static str, &'static [&'static str])> {
        match (&self.variant.target.kind, &self.variant.target.spark) {
            (TargetKind::Embedded, _) => Some(("the embedded engine", bench_embedded::STAGES)),
            (_, Some(spark)) => match spark.pipeline {
                Pipeline::Builtin => Some(("Spark's pipeline builtin", crate::spark::BUILTIN)),
                Pipeline::Scout => Some(("Spark's pipeline scout", crate::spark::SCOUT)),
            },
            _ => None,
        }
    }

    fn is_done_to(&self, entry: &RawFault) -> bool {
        Get(&entry.layer)
            .words("variants")
            .is_none_or(|names| names.contains(&self.variant.name))
    }

    fn fault(&self, entry: &RawFault, fault: &Fault, before: &[Fault], errors: &mut Errors) {
        let is_same = |other: &Fault| {
            let kind = std::mem::discriminant(&fault.kind);
            (other.workflow, other.attempt) == (fault.workflow, fault.attempt)
                && std::mem::discriminant(&other.kind) == kind
        };
        if before.iter().any(is_same) {
            let what = format!(
                "the same is done twice to attempt {} of workflow {}",
                fault.attempt, fault.workflow
            );
            errors.plain(Some(entry.at.clone()), what);
        }
        let mut wrong = |key: &str, what: String| {
            let at = entry.layer.get(key).and_then(|given| given.origin.place());
            errors.at(at.unwrap_or(&entry.at), &format!("faults.{key}"), what);
        };
        let sequence = &self.variant.sequence;
        let workflow = u64::from(fault.workflow);
        if let Some(last) = self.workflows()
            && workflow > last
        {
            wrong(
                "workflow",
                format!("is {workflow}, and the sequence has {last} workflows"),
            );
        }
        if sequence
            .stop_after
            .is_some_and(|stop| fault.workflow > stop)
        {
            let stop = sequence.stop_after.unwrap_or_default();
            wrong(
                "workflow",
                format!(
                    "is {workflow}, and variant {} stops after workflow {stop}",
                    self.variant.name
                ),
            );
        }
        let attempts = sequence.retry.max_attempts;
        if fault.attempt > attempts {
            let what = format!(
                "is {}, and sequence.retry.max_attempts is {attempts}",
                fault.attempt
            );
            wrong("attempt", what);
        }
        match &fault.kind {
            FaultKind::Memory(bytes) => {
                if let Some(limit) = self.variant.resources.memory
                    && *bytes >= limit
                {
                    let what = format!(
                        "does not lower the limit, which is {}",
                        super::units::size_text(limit)
                    );
                    wrong("memory", what);
                }
            }
            FaultKind::Kill { at, .. } | FaultKind::Pause { at, .. } => {
                if let When::Stage(stage) = at
                    && let Some((engine, stages)) = self.stages()
                    && !stages.contains(&stage.as_str())
                {
                    let hint = match nearest(stage, stages.iter().copied()) {
                        Some(near) => format!("the nearest is \"{near}\""),
                        None => format!("the stages are {}", stages.join(", ")),
                    };
                    wrong("stage", format!("is no stage of {engine}; {hint}"));
                }
            }
        }
    }
}

/// Whether an entry does exactly one thing, and says when.
fn shape(entry: &RawFault, errors: &mut Errors) -> bool {
    let has = |key: &str| entry.layer.contains_key(key);
    let given = |keys: &[&'static str]| -> Vec<&'static str> {
        keys.iter().copied().filter(|key| has(key)).collect()
    };
    let what = given(&["memory", "kill", "pause"]);
    let when = given(&["stage", "after"]);
    let wrong = if !has("workflow") {
        "a fault needs `workflow`".to_owned()
    } else if what.len() != 1 {
        format!(
            "a fault needs exactly one of `memory`, `kill` and `pause`, and has {}",
            what.len()
        )
    } else if what == ["memory"] && !when.is_empty() {
        format!(
            "a memory fault holds for the whole attempt: leave `{}` out",
            when.join("` and `")
        )
    } else if what != ["memory"] && when.len() != 1 {
        format!(
            "a fault with `{}` needs exactly one of `stage` and `after`, and has {}",
            what[0],
            when.len()
        )
    } else {
        return true;
    };
    errors.plain(Some(entry.at.clone()), wrong);
    false
}

/// Faults name variants that exist.
fn names_of_faults(raw: &Raw, values: &Values, errors: &mut Errors) {
    let known: BTreeSet<&str> = values
        .variants
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let ordered: Vec<&str> = values
        .variants
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    for entry in &raw.faults {
        let Some(names) = Get(&entry.layer).words("variants") else {
            continue;
        };
        let at = entry.layer["variants"]
            .origin
            .place()
            .unwrap_or(&entry.at)
            .clone();
        if names.is_empty() {
            errors.at(&at, "faults.variants", "is empty: leave it out for all");
        }
        for name in names.iter().filter(|name| !known.contains(name.as_str())) {
            let what = no_variant(name, &ordered);
            errors.at(
                &at,
                "faults.variants",
                format!("names one that is not there: {what}"),
            );
        }
    }
}
