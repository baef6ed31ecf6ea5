//! What the facts mean: per thing whether it is there, what it is for, and how to get it.
//!
//! Says only what is known: a part of the harness that is planned is called planned.

use super::cgroup::{Cgroup, CgroupVersion};
use super::facts::{Facts, Found, Java, Place};
use serde::Serialize;
use std::path::Path;

/// Least room that is not worth a word: a handful of data sets of 100,000 messages.
const ENOUGH_DISK_BYTES: u64 = 5 << 30;

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is there and good.
    Ok,
    /// It is there, with a limit that matters.
    Limited,
    /// It is not there.
    Missing,
}

/// One thing that the harness can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Name of the thing.
    pub name: &'static str,
    /// How it stands.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What it enables.
    pub enables: &'static str,
    /// How to get it, where it is missing or limited.
    pub advice: Option<&'static str>,
}

/// Judges every thing, in the order in which a newcomer needs them.
#[must_use]
pub fn checks(facts: &Facts) -> Vec<Check> {
    vec![
        rust(facts),
        just(facts),
        disk(facts),
        memory_files(facts),
        memory_limit(facts.machine.cgroup.as_ref()),
        python(&facts.python),
        java_for_spark(&facts.java),
        java_for_trino(&facts.java),
        maven(facts.maven.as_ref()),
        spark(facts.spark.as_deref()),
        chromium(facts.chromium.as_ref()),
    ]
}

fn rust(facts: &Facts) -> Check {
    let (state, found) = match (&facts.cargo, &facts.rustc) {
        (Some(cargo), Some(rustc)) => (
            State::Ok,
            format!("cargo {}, rustc {}", cargo.version, rustc.version),
        ),
        (None, None) => (State::Missing, "no cargo, no rustc".to_owned()),
        (None, _) => (State::Missing, "no cargo".to_owned()),
        (_, None) => (State::Missing, "no rustc".to_owned()),
    };
    Check {
        name: "Rust toolchain",
        state,
        found,
        enables: "building and testing this project",
        advice: advice(
            state,
            "install rustup; it fetches the version that rust-toolchain.toml names",
        ),
    }
}

fn just(facts: &Facts) -> Check {
    let state = present(facts.just.is_some());
    Check {
        name: "just",
        state,
        found: one(facts.just.as_ref()),
        enables: "short names for the project's habits (just --list)",
        advice: advice(
            state,
            "cargo install just, or the package rust-just of PyPI",
        ),
    }
}

fn disk(facts: &Facts) -> Check {
    let free = |place: &Option<Place>| {
        place.as_ref().map_or_else(
            || "unknown".to_owned(),
            |place| format!("{} free", bytes(place.free_bytes)),
        )
    };
    let tight = [&facts.machine.current_dir, &facts.machine.cache_dir]
        .into_iter()
        .flatten()
        .any(|place| place.free_bytes < ENOUGH_DISK_BYTES);
    let state = if tight { State::Limited } else { State::Ok };
    Check {
        name: "disk",
        state,
        found: format!(
            "current folder {}, cache folder {}",
            free(&facts.machine.current_dir),
            free(&facts.machine.cache_dir)
        ),
        enables: "data sets and, later, lakes: 100,000 messages are about a quarter of a GB",
        advice: advice(
            state,
            "free some room, or name a folder on a larger disk (--out; XDG_CACHE_HOME)",
        ),
    }
}

fn memory_files(facts: &Facts) -> Check {
    let state = present(facts.machine.memory_dir.is_some());
    Check {
        name: "memory file system",
        state,
        found: facts.machine.memory_dir.as_ref().map_or_else(
            || "none at /dev/shm".to_owned(),
            |place| format!("{}, {} free", place.path.display(), bytes(place.free_bytes)),
        ),
        enables: "measuring the generator without the disk",
        advice: advice(state, "mount a tmpfs at /dev/shm"),
    }
}

fn memory_limit(group: Option<&Cgroup>) -> Check {
    let (state, found, hint) = match group {
        None => (
            State::Missing,
            "no control groups: only a watchdog can enforce a memory limit".to_owned(),
            "mount cgroup2 at /sys/fs/cgroup",
        ),
        Some(group) => {
            let version = match group.version {
                CgroupVersion::V1 => "cgroup v1",
                CgroupVersion::V2 => "cgroup v2",
            };
            if group.limits_memory {
                (
                    State::Ok,
                    format!("{version}, writable: the kernel can enforce a memory limit"),
                    "",
                )
            } else if group.writable {
                (
                    State::Limited,
                    format!("{version}, writable, but without the memory controller"),
                    "start bench in a scope of its own: systemd-run --user --scope -p Delegate=yes",
                )
            } else {
                (
                    State::Limited,
                    format!("{version}, not writable: only a watchdog can enforce a memory limit"),
                    "run as root, or: systemd-run --user --scope -p Delegate=yes",
                )
            }
        }
    };
    Check {
        name: "memory limits",
        state,
        found,
        enables: "workers that the kernel really kills at their memory limit",
        advice: advice(state, hint),
    }
}

fn python(pythons: &[Found]) -> Check {
    let state = match pythons.first() {
        None => State::Missing,
        Some(newest) if newest.major_minor() < (3, 10) => State::Limited,
        Some(_) => State::Ok,
    };
    let versions: Vec<&str> = pythons.iter().map(|one| one.version.as_str()).collect();
    Check {
        name: "Python 3.10+",
        state,
        found: list(&versions),
        enables: "the Spark target",
        advice: advice(state, "packages python3 and python3-venv, 3.10 or newer"),
    }
}

fn java_for_spark(javas: &[Java]) -> Check {
    let state = present(javas.iter().any(|java| matches!(java.release, 17 | 21)));
    Check {
        name: "Java 17 or 21",
        state,
        found: releases(javas),
        enables: "the Spark target",
        advice: advice(
            state,
            "package openjdk-17-jre-headless or openjdk-21-jre-headless",
        ),
    }
}

fn java_for_trino(javas: &[Java]) -> Check {
    let state = present(javas.iter().any(|java| java.release >= 24));
    Check {
        name: "Java 24+",
        state,
        found: releases(javas),
        enables: "Trino as a second opinion on the rows (planned)",
        advice: advice(state, "package temurin-25-jre or openjdk-25-jre-headless"),
    }
}

fn maven(maven: Option<&Found>) -> Check {
    let state = present(maven.is_some());
    Check {
        name: "Maven",
        state,
        found: one(maven),
        enables: "fetching the jars of the Spark target",
        advice: advice(state, "package maven"),
    }
}

fn spark(folder: Option<&Path>) -> Check {
    let state = present(folder.is_some());
    Check {
        name: "Spark target",
        state,
        found: folder.map_or_else(
            || "not set up".to_owned(),
            |folder| format!("set up in {}", folder.display()),
        ),
        enables: "target.kind = \"spark\": Spark and the platform's own transformer",
        advice: advice(
            state,
            "just spark-setup, or python3 targets/spark/environment/prepare.py",
        ),
    }
}

fn chromium(chromium: Option<&Found>) -> Check {
    let state = present(chromium.is_some());
    Check {
        name: "Chromium",
        state,
        found: one(chromium),
        enables: "opening HTML reports in tests (planned)",
        advice: advice(state, "package chromium"),
    }
}

fn present(is: bool) -> State {
    if is { State::Ok } else { State::Missing }
}

fn advice(state: State, text: &'static str) -> Option<&'static str> {
    (state != State::Ok).then_some(text)
}

fn one(found: Option<&Found>) -> String {
    found.map_or_else(|| "none".to_owned(), |program| program.version.clone())
}

fn list(versions: &[&str]) -> String {
    if versions.is_empty() {
        "none".to_owned()
    } else {
        versions.join(", ")
    }
}

fn releases(javas: &[Java]) -> String {
    let versions: Vec<&str> = javas
        .iter()
        .map(|java| java.program.version.as_str())
        .collect();
    list(&versions)
}

/// Bytes as people read them: in the largest binary unit that leaves a whole one, with one
/// decimal where that is less than ten.
pub(super) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4);
    let tenths = u128::from(bytes) * 10 / (1 << (10 * unit));
    let name = UNITS[unit as usize];
    if unit == 0 || tenths >= 100 {
        format!("{} {name}", tenths / 10)
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_the_largest_unit_that_leaves_a_whole_one() {
        let shown = [0, 1023, 1024, 8_355_061_760, 16 << 30, 5 << 50].map(bytes);
        let expected = ["0 B", "1023 B", "1.0 KiB", "7.7 GiB", "16 GiB", "5120 TiB"];
        assert_eq!(shown, expected);
    }
}
