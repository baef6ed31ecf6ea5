//! What a machine is and has, without judgement.

use super::cgroup::{Cgroup, Mount};
use super::probe::{Probe, Space};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a machine is: all that can be told without starting a program. What could not be told is
/// absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineFacts {
    /// Version of `bench`.
    pub bench: String,
    /// Operating system.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor architecture.
    pub architecture: String,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory of the machine, in bytes.
    pub memory_bytes: Option<u64>,
    /// Memory that can be had without swapping, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// The control group of this process.
    pub cgroup: Option<Cgroup>,
    /// The current directory.
    pub current_dir: Option<Place>,
    /// Where generated data sets are kept.
    pub cache_dir: Option<Place>,
    /// A file system in memory.
    pub memory_dir: Option<Place>,
}

/// What was found on a machine, its programs included.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// What the machine is.
    #[serde(flatten)]
    pub machine: MachineFacts,
    /// `cargo`.
    pub cargo: Option<Found>,
    /// `rustc`.
    pub rustc: Option<Found>,
    /// `just`.
    pub just: Option<Found>,
    /// Every Java, newest first.
    pub java: Vec<Java>,
    /// Every Python 3, newest first.
    pub python: Vec<Found>,
    /// Maven.
    pub maven: Option<Found>,
    /// What the Spark target needs, where it is set up.
    pub spark: Option<PathBuf>,
    /// Chromium or Chrome.
    pub chromium: Option<Found>,
}

/// A program that was found and ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// Version as it says itself.
    pub version: String,
    /// Where it is.
    pub path: PathBuf,
}

impl Found {
    /// Major and minor number of the version.
    #[must_use]
    pub fn major_minor(&self) -> (u32, u32) {
        let mut numbers = self.version.split('.').map(|part| part.parse().ok());
        let mut next = || numbers.next().flatten().unwrap_or(0);
        (next(), next())
    }
}

/// A Java runtime.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Java {
    /// Feature release: 8, 11, 17, 21, …
    pub release: u32,
    /// The program and its full version.
    #[serde(flatten)]
    pub program: Found,
}

/// A directory and the file system under it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The directory; it may not exist yet.
    pub path: PathBuf,
    /// Type of the file system.
    pub file_system: Option<String>,
    /// Bytes that may still be written.
    pub free_bytes: u64,
    /// Bytes in all.
    pub total_bytes: u64,
}

impl Facts {
    /// Looks at everything. Programs are started to learn their versions, so this takes a second.
    #[must_use]
    pub fn gather(probe: &dyn Probe) -> Self {
        Self {
            machine: MachineFacts::gather(probe),
            cargo: program(probe, "cargo", "--version"),
            rustc: program(probe, "rustc", "--version"),
            just: program(probe, "just", "--version"),
            java: javas(probe),
            python: pythons(probe),
            maven: program(probe, "mvn", "--version"),
            spark: crate::spark::Environment::find(probe).map(|found| found.folder),
            chromium: ["chromium", "chromium-browser", "google-chrome", "chrome"]
                .iter()
                .find_map(|name| program(probe, name, "--version")),
        }
    }
}

impl MachineFacts {
    /// Looks at the machine.
    #[must_use]
    pub fn gather(probe: &dyn Probe) -> Self {
        let mounts = Mount::all(probe);
        let place = |path: PathBuf| Place::of(probe, &mounts, path);
        let memory = |key| meminfo_bytes(&probe.read(Path::new("/proc/meminfo"))?, key);
        Self {
            bench: env!("CARGO_PKG_VERSION").to_owned(),
            system: std::env::consts::OS.to_owned(),
            kernel: probe
                .read(Path::new("/proc/sys/kernel/osrelease"))
                .map(|release| release.trim().to_owned()),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu_model: probe
                .read(Path::new("/proc/cpuinfo"))
                .and_then(|info| value_of(&info, "model name").map(str::to_owned)),
            cores: probe.cores(),
            memory_bytes: memory("MemTotal"),
            memory_available_bytes: memory("MemAvailable"),
            cgroup: Cgroup::gather(probe),
            current_dir: probe.current_dir().and_then(place),
            cache_dir: cache_dir(probe).and_then(place),
            memory_dir: place(PathBuf::from("/dev/shm")).filter(Place::is_in_memory),
        }
    }

    /// Memory that a process started from here may use: of the machine, or less where a control
    /// group says so. In bytes.
    #[must_use]
    pub fn usable_memory_bytes(&self) -> Option<u64> {
        let limit = self
            .cgroup
            .as_ref()
            .and_then(|group| group.memory_limit_bytes);
        match (self.memory_bytes, limit) {
            (Some(memory), Some(limit)) => Some(memory.min(limit)),
            (memory, limit) => memory.or(limit),
        }
    }
}

impl Place {
    /// The directory at a path, or where it would be made.
    #[must_use]
    pub fn at(probe: &dyn Probe, path: PathBuf) -> Option<Self> {
        Self::of(probe, &Mount::all(probe), path)
    }

    fn of(probe: &dyn Probe, mounts: &[Mount], path: PathBuf) -> Option<Self> {
        let there = path
            .ancestors()
            .find_map(|ancestor| probe.real_path(ancestor))?;
        let Space {
            free_bytes,
            total_bytes,
        } = probe.space(&there)?;
        // Of several mounts on one point the last hides the others.
        let file_system = mounts
            .iter()
            .filter(|mount| there.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.as_os_str().len())
            .map(|mount| mount.kind.clone());
        Some(Self {
            path,
            file_system,
            free_bytes,
            total_bytes,
        })
    }

    fn is_in_memory(&self) -> bool {
        matches!(self.file_system.as_deref(), Some("tmpfs" | "ramfs"))
    }
}

/// The folder below which things are kept that can be made again, such as data sets. A relative
/// path counts as none, as the XDG Base Directory Specification has it.
#[must_use]
pub fn cache_dir(probe: &dyn Probe) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = probe.env(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("hl7-ingest-bench"))
}

/// Value of the first line `key: value`.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn meminfo_bytes(meminfo: &str, key: &str) -> Option<u64> {
    let kibibytes: u64 = value_of(meminfo, key)?.strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

fn program(probe: &dyn Probe, name: &str, question: &str) -> Option<Found> {
    let path = probe.find(name)?;
    let version = version_in(&probe.run(&path, &[question])?)?;
    Some(Found { version, path })
}

/// The first word of an answer that looks like a version.
fn version_in(answer: &str) -> Option<String> {
    // Maven colours its answer even into a pipe.
    anstream::adapter::strip_str(answer)
        .to_string()
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}

/// Java on the search path, in `JAVA_HOME`, and where distributions and SDKMAN install it.
fn javas(probe: &dyn Probe) -> Vec<Java> {
    let homes = probe.env("JAVA_HOME").map(PathBuf::from);
    let installed = ["/usr/lib/jvm", "/opt/java", "/opt/jdk"]
        .map(PathBuf::from)
        .into_iter()
        .chain(
            probe
                .env("HOME")
                .map(|home| Path::new(&home).join(".sdkman/candidates/java")),
        )
        .flat_map(|directory| probe.list(&directory));
    let programs = probe.find("java").into_iter().chain(
        homes
            .into_iter()
            .chain(installed)
            .map(|home| home.join("bin/java")),
    );
    let mut found: Vec<Java> = Vec::new();
    for path in programs.filter_map(|path| probe.real_path(&path)) {
        if found.iter().any(|java| java.program.path == path) {
            continue;
        }
        let answer = probe.run(&path, &["-version"]);
        let Some(version) = answer.as_deref().and_then(quoted) else {
            continue;
        };
        if let Some(release) = java_release(&version) {
            let program = Found { version, path };
            found.push(Java { release, program });
        }
    }
    found.sort_by_key(|java| std::cmp::Reverse(java.release));
    found
}

/// `openjdk version "17.0.15" 2025-04-15` holds the version in quotes.
fn quoted(answer: &str) -> Option<String> {
    answer.split('"').nth(1).map(str::to_owned)
}

/// `17.0.15` is release 17, `1.8.0_292` is release 8.
fn java_release(version: &str) -> Option<u32> {
    let mut numbers = version.split(['.', '-', '+', '_']).map(str::parse);
    match numbers.next()?.ok()? {
        1 => numbers.next()?.ok(),
        release => Some(release),
    }
}

/// Pythons on the search path, by their usual names.
fn pythons(probe: &dyn Probe) -> Vec<Found> {
    let names = (10..=15)
        .map(|minor| format!("python3.{minor}"))
        .chain(["python3".to_owned(), "python".to_owned()]);
    let mut found: Vec<Found> = Vec::new();
    for name in names {
        if let Some(python) = program(probe, &name, "--version")
            && python.major_minor() >= (3, 0)
            && !found.iter().any(|known| known.version == python.version)
        {
            found.push(python);
        }
    }
    found.sort_by_key(|python| std::cmp::Reverse(python.major_minor()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_word_that_looks_like_one() {
        let of = |answer| version_in(answer).unwrap();
        assert_eq!(of("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), "1.95.0");
        assert_eq!(of("\u{1b}[1mApache Maven 3.8.7\u{1b}[m\n"), "3.8.7");
        assert_eq!(of("Python 3.11.7"), "3.11.7");
        assert_eq!(
            of("Chromium 140.0.7339.80 built on Debian"),
            "140.0.7339.80"
        );
    }
}
