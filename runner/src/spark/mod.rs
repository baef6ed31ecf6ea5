//! Spark as a target, seen from the runner: whether it is set up, and how its worker is started.
//!
//! What Spark needs (a virtual environment and jars) is made once a machine by
//! `targets/spark/environment/prepare.py`, in a folder named by the digest of its pins, which are
//! compiled into `bench`: an environment of other pins is none. The worker's own code is compiled into
//! `bench` as well and unpacked beside it, so that the two always speak of the same things.

mod package;

use crate::doctor::{Probe, cache_dir};
use crate::scenario::{Pipeline, Scenario, SparkTarget, TargetKind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The variable that names an environment elsewhere.
pub const VARIABLE: &str = "BENCH_SPARK";
/// What sets it up, as an error names it.
pub const SETUP: &str = "just spark-setup";
/// Written last into an environment that is whole.
const STAMP: &str = "whole";
/// What an environment is made of, in the order in which `prepare.py` has it.
const PINS: [&str; 2] = [
    include_str!("../../../targets/spark/environment/requirements.txt"),
    include_str!("../../../targets/spark/environment/pom.xml"),
];

/// The stages that the pipeline `builtin` may tell of, in their order.
pub const BUILTIN: &[&str] = &[
    "read",
    "reports",
    "curated",
    "latest",
    "latest-optimize",
    "mapping-1-read",
    "mapping-2-disjoint",
    "mapping-3-single",
    "mapping-4-components",
    "mapping-5-deferred",
    "mapping-history",
    "dx-delete",
    "dx-append",
    "auto-compact",
    "vacuum",
];

/// The stages that the pipeline `scout` may tell of, in their order.
pub const SCOUT: &[&str] = &[
    "stage",
    "read",
    "reports",
    "curated",
    "latest",
    "mapping",
    "mapping-0-read",
    "mapping-1-defer",
    "mapping-2-disjoint",
    "mapping-3-single",
    "mapping-4-components",
    "mapping-5-deferred",
    "dx",
    "auto-compact",
    "vacuum",
];

/// Where the environment stands, or would.
#[must_use]
pub fn place(probe: &dyn Probe) -> Option<PathBuf> {
    if let Some(named) = probe.env(VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let digest = hex(PINS.iter().map(|pin| pin.as_bytes()));
    Some(cache_dir(probe)?.join(format!("spark-{digest}")))
}

/// The first 16 digits of a SHA-256.
fn hex<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let hash = parts.fold(Sha256::new(), Digest::chain_update).finalize();
    hash.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An environment that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Its folder.
    pub folder: PathBuf,
}

impl Environment {
    /// The environment of this machine, if it is set up.
    #[must_use]
    pub fn find(probe: &dyn Probe) -> Option<Self> {
        let folder = place(probe)?;
        let is_whole = probe.real_path(&folder.join(STAMP)).is_some();
        is_whole.then_some(Self { folder })
    }

    fn python(&self) -> PathBuf {
        self.folder.join("venv").join("bin").join("python")
    }

    /// Unpacks the worker's code into the cache, where it is not there yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn unpack(cache: &Path) -> std::io::Result<Package> {
        package::unpack(cache)
    }

    /// Program and arguments of a worker.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        let python = self.python().to_string_lossy().into_owned();
        ["-m", "bench_spark", "worker"]
            .into_iter()
            .fold(vec![python], |mut command, argument| {
                command.push(argument.to_owned());
                command
            })
    }

    /// What the worker is told in `hello` beside what every target is.
    #[must_use]
    pub fn options(
        &self,
        target: &SparkTarget,
        package: &Package,
        event_log: &Path,
    ) -> BTreeMap<String, Value> {
        let mut options = BTreeMap::from([
            ("pipeline".to_owned(), json!(target.pipeline.name())),
            ("conf".to_owned(), json!(target.conf)),
            ("packages".to_owned(), json!(target.packages)),
            ("event_log".to_owned(), json!(event_log)),
            ("jars".to_owned(), json!(self.folder.join("jars"))),
            ("modalities".to_owned(), json!(package.modalities)),
        ]);
        if let Some(master) = &target.master {
            options.insert("master".to_owned(), json!(master));
        }
        if let Some(transformer) = &target.transformer {
            options.insert("transformer".to_owned(), json!(transformer));
        }
        options
    }
}

/// The worker's code, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The folder that holds the package, for `PYTHONPATH`.
    pub folder: PathBuf,
    /// The map of exam codes to modalities.
    pub modalities: PathBuf,
}

impl Package {
    /// Variables of the environment that a worker needs.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let folder = self.folder.to_string_lossy().into_owned();
        vec![
            ("PYTHONPATH".to_owned(), folder),
            // Nothing is written beside the code, which others use as well.
            ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
        ]
    }
}

/// What keeps a scenario's Spark targets from being started; nothing where it has none. A scenario may
/// leave it open where the transformer is, since that is another place on every machine.
#[must_use]
pub fn obstacle(scenario: &Scenario, probe: &dyn Probe) -> Option<Obstacle> {
    let targets = || scenario.variants.iter().map(|one| &one.target);
    if targets().any(|one| one.kind == TargetKind::Spark) && Environment::find(probe).is_none() {
        return Some(Obstacle::NotSetUp {
            place: place(probe),
        });
    }
    let mut scouts = scenario.variants.iter().filter_map(|variant| {
        let spark = variant.target.spark.as_ref()?;
        (spark.pipeline == Pipeline::Scout).then_some((&variant.name, &spark.transformer))
    });
    scouts.find_map(|(variant, transformer)| match transformer {
        None => Some(Obstacle::NoneNamed {
            variant: variant.clone(),
        }),
        Some(path) => {
            let is_there = probe.real_path(&path.join("hl7scout")).is_some();
            (!is_there).then(|| Obstacle::NoTransformer { path: path.clone() })
        }
    })
}

/// What keeps Spark from being started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// Its environment is missing, or one of other pins.
    #[error(
        "the Spark target is not set up on this machine{}; {SETUP} makes what it needs, once, or {VARIABLE} names it",
        at(place.as_deref())
    )]
    NotSetUp {
        /// Where it would be.
        place: Option<PathBuf>,
    },
    /// Nobody said where the transformer is.
    #[error(
        "the variant {variant} runs the platform's own transformer, and nothing says where it is; name the folder of a checkout that holds the package hl7scout: --set target.transformer=FOLDER, or --set variants.{variant}.target.transformer=FOLDER"
    )]
    NoneNamed {
        /// The variant.
        variant: String,
    },
    /// A transformer is not where it should be.
    #[error(
        "target.transformer names {}, which holds no package hl7scout; name the folder of the transformer in a checkout of the platform",
        path.display()
    )]
    NoTransformer {
        /// The folder.
        path: PathBuf,
    },
}

fn at(place: Option<&Path>) -> String {
    place.map_or_else(String::new, |place| format!(" ({})", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_both_pipelines_are_told_once() {
        for stages in [BUILTIN, SCOUT] {
            let mut sorted = stages.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), stages.len());
        }
    }

    #[test]
    fn an_environment_that_is_missing_is_named_with_what_makes_it() {
        let text = Obstacle::NotSetUp { place: None }.to_string();
        assert!(text.contains(SETUP) && text.contains(VARIABLE), "{text}");
    }
}
