//! Control groups: which limits bind this process, and whether it may set some for a worker.
//!
//! With version 1 each controller has its own tree and memory is looked for in its tree; with
//! version 2 there is one tree, and a child has the memory controller only if its parent passes it
//! on. A machine may have both mounted: the one that holds the memory controller counts.

use super::probe::Probe;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Which control groups hold the memory controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CgroupVersion {
    /// A tree for each controller.
    V1,
    /// One tree for all.
    V2,
}

/// The control group that this process is in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cgroup {
    /// Which kind.
    pub version: CgroupVersion,
    /// Its directory for memory.
    pub directory: PathBuf,
    /// Whether a group could be made inside it.
    pub writable: bool,
    /// Whether a group inside it can limit memory.
    pub limits_memory: bool,
    /// Least memory limit of the group and all above it, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Least CPU limit of the group and all above it, in cores.
    pub cpu_limit_cores: Option<f64>,
}

/// Limits from here on up mean "none": the kernel writes the largest number of whole pages.
const NO_LIMIT_BYTES: u64 = 1 << 60;

impl Cgroup {
    /// Looks for the group that can hold memory; none where the machine has no such thing.
    pub(super) fn gather(probe: &dyn Probe) -> Option<Self> {
        let mounts = Mount::all(probe);
        let v1 = |controller: &str| {
            let mount = mounts
                .iter()
                .find(|mount| mount.kind == "cgroup" && has(Some(&mount.options), controller))?;
            Some((mount, own_path(probe, controller)?))
        };
        if let Some((mount, path)) = v1("memory") {
            let directory = mount.directory(probe, &path);
            let trial = probe.trial_cgroup(&directory);
            let cpu = v1("cpu").and_then(|(mount, path)| {
                least(mount, &mount.directory(probe, &path), |group| {
                    let quota: f64 = number(probe, &group.join("cpu.cfs_quota_us"))?;
                    let period: f64 = number(probe, &group.join("cpu.cfs_period_us"))?;
                    (quota > 0.0 && period > 0.0).then_some(quota / period)
                })
            });
            return Some(Self {
                version: CgroupVersion::V1,
                writable: trial.is_some(),
                limits_memory: has(trial.as_deref(), "memory.limit_in_bytes"),
                memory_limit_bytes: least(mount, &directory, |group| {
                    number(probe, &group.join("memory.limit_in_bytes"))
                        .filter(|&limit: &u64| limit < NO_LIMIT_BYTES)
                }),
                cpu_limit_cores: cpu,
                directory,
            });
        }
        let mount = mounts.iter().find(|mount| mount.kind == "cgroup2")?;
        let directory = mount.directory(probe, &own_path(probe, "")?);
        let trial = probe.trial_cgroup(&directory);
        Some(Self {
            version: CgroupVersion::V2,
            writable: trial.is_some(),
            limits_memory: has(trial.as_deref(), "memory.max"),
            memory_limit_bytes: least(mount, &directory, |group| {
                number(probe, &group.join("memory.max"))
            }),
            cpu_limit_cores: least(mount, &directory, |group| {
                let content = probe.read(&group.join("cpu.max"))?;
                let (quota, period) = content.trim().split_once(' ')?;
                let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
                (period > 0.0).then_some(quota / period)
            }),
            directory,
        })
    }
}

fn has(files: Option<&[String]>, name: &str) -> bool {
    files.is_some_and(|files| files.iter().any(|file| file == name))
}

/// The number that a file holds; `max` and everything else is none.
fn number<T: std::str::FromStr>(probe: &dyn Probe, file: &Path) -> Option<T> {
    probe.read(file)?.trim().parse().ok()
}

/// Least limit among a group and the groups above it.
fn least<T: PartialOrd>(
    mount: &Mount,
    group: &Path,
    limit: impl Fn(&Path) -> Option<T>,
) -> Option<T> {
    group
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(&mount.point))
        .filter_map(limit)
        .reduce(|least, limit| if limit < least { limit } else { least })
}

/// The path of this process in the tree of a controller; "" stands for the tree of version 2.
fn own_path(probe: &dyn Probe, controller: &str) -> Option<PathBuf> {
    probe
        .read(Path::new("/proc/self/cgroup"))?
        .lines()
        .find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let mut controllers = controllers.split(',');
            controllers
                .any(|one| one == controller)
                .then(|| PathBuf::from(path))
        })
}

/// A line of `/proc/self/mountinfo`.
pub(super) struct Mount {
    /// Which directory of its file system is mounted.
    root: PathBuf,
    /// Where.
    pub(super) point: PathBuf,
    /// Type of the file system.
    pub(super) kind: String,
    /// Its own options.
    options: Vec<String>,
}

impl Mount {
    /// Everything that is mounted, in the order in which it was.
    pub(super) fn all(probe: &dyn Probe) -> Vec<Self> {
        let table = probe.read(Path::new("/proc/self/mountinfo"));
        table
            .iter()
            .flat_map(|table| table.lines())
            .filter_map(Self::parse)
            .collect()
    }

    /// `36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/root rw,errors=continue`
    fn parse(line: &str) -> Option<Self> {
        let (place, system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut system = system.split(' ');
        Some(Self {
            root: unescape(place.next()?),
            point: unescape(place.next()?),
            kind: system.next()?.to_owned(),
            options: system.nth(1)?.split(',').map(str::to_owned).collect(),
        })
    }

    /// Directory of a group of this tree. Inside a container the path may name a place that is
    /// not mounted there: then what is mounted is the container's own group.
    fn directory(&self, probe: &dyn Probe, path: &Path) -> PathBuf {
        let below = path.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let directory = self.point.join(below);
        probe.real_path(&directory).unwrap_or(self.point.clone())
    }
}

/// The kernel writes a space in a path as `\040`.
fn unescape(path: &str) -> PathBuf {
    PathBuf::from(path.replace("\\040", " "))
}
