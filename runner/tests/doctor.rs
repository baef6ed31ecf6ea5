//! What `bench doctor` says of machines that are described here.

use bench_runner::doctor::{Diagnosis, Probe, Space, State, render};
use bench_runner::terminal::Terminal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const GIB: u64 = 1 << 30;

/// A machine made of files, programs and control groups.
#[derive(Default)]
struct Described {
    files: BTreeMap<&'static str, &'static str>,
    /// Path and what it prints.
    programs: BTreeMap<&'static str, &'static str>,
    environment: BTreeMap<&'static str, &'static str>,
    /// Control groups in which another can be made, and the files of that other.
    cgroups: BTreeMap<&'static str, &'static [&'static str]>,
    cores: usize,
    free_bytes: u64,
}

impl Probe for Described {
    fn env(&self, name: &str) -> Option<String> {
        self.environment.get(name).map(ToString::to_string)
    }

    fn current_dir(&self) -> Option<PathBuf> {
        Some("/home/ada/bench".into())
    }

    fn read(&self, path: &Path) -> Option<String> {
        self.files.get(path.to_str()?).map(ToString::to_string)
    }

    fn list(&self, directory: &Path) -> Vec<PathBuf> {
        let mut homes: Vec<PathBuf> = self
            .programs
            .keys()
            .filter_map(|program| Path::new(program).strip_prefix(directory).ok())
            .filter_map(|below| Some(directory.join(below.components().next()?)))
            .collect();
        homes.dedup();
        homes
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let is_there = self.programs.contains_key(path.to_str()?)
            || [
                "/",
                "/home/ada",
                "/home/ada/bench",
                "/dev/shm",
                "/home/ada/spark/whole",
            ]
            .contains(&path.to_str()?)
            || path.starts_with("/sys/fs/cgroup");
        is_there.then(|| path.to_owned())
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let path = format!("/usr/bin/{program}");
        self.programs
            .contains_key(path.as_str())
            .then(|| path.into())
    }

    fn run(&self, program: &Path, _: &[&str]) -> Option<String> {
        self.programs
            .get(program.to_str()?)
            .map(ToString::to_string)
    }

    fn space(&self, _: &Path) -> Option<Space> {
        Some(Space {
            free_bytes: self.free_bytes,
            total_bytes: 250 * GIB,
        })
    }

    fn trial_cgroup(&self, parent: &Path) -> Option<Vec<String>> {
        let files = self.cgroups.get(parent.to_str()?)?;
        Some(files.iter().map(ToString::to_string).collect())
    }

    fn cores(&self) -> usize {
        self.cores
    }
}

const JAVA_17: &str = "openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment\n";
const JAVA_25: &str = "openjdk version \"25.0.3\" 2026-04-21 LTS\n";
const JAVA_8: &str = "java version \"1.8.0_292\"\n";

/// A developer's workstation that lacks nothing, with control groups of version 2.
fn workstation() -> Described {
    Described {
        files: BTreeMap::from([
            ("/proc/sys/kernel/osrelease", "6.12.41\n"),
            (
                "/proc/cpuinfo",
                "processor\t: 0\nmodel name\t: AMD Ryzen 7 7700\n",
            ),
            (
                "/proc/meminfo",
                "MemTotal:       64912345 kB\nMemAvailable:   41234567 kB\n",
            ),
            (
                "/proc/self/mountinfo",
                "22 1 254:0 / / rw,relatime - ext4 /dev/sda1 rw\n\
                 23 22 0:22 / /dev/shm rw - tmpfs tmpfs rw\n\
                 24 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n\
                 25 22 254:1 / /home rw,relatime - xfs /dev/sdb1 rw\n",
            ),
            (
                "/proc/self/cgroup",
                "0::/user.slice/user-1000.slice/bench.scope\n",
            ),
            ("/sys/fs/cgroup/user.slice/memory.max", "max\n"),
            ("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
        ]),
        programs: BTreeMap::from([
            ("/usr/bin/cargo", "cargo 1.95.0 (f2d3ce0bd 2026-03-21)\n"),
            ("/usr/bin/rustc", "rustc 1.95.0 (59807616e 2026-04-14)\n"),
            ("/usr/bin/just", "just 1.50.0\n"),
            ("/usr/bin/java", JAVA_17),
            ("/usr/lib/jvm/temurin-25-jdk-amd64/bin/java", JAVA_25),
            ("/usr/bin/python3", "Python 3.13.5\n"),
            ("/usr/bin/python3.11", "Python 3.11.9\n"),
            ("/usr/bin/mvn", "\u{1b}[1mApache Maven 3.9.9\u{1b}[m\n"),
            (
                "/usr/bin/chromium",
                "Chromium 140.0.7339.80 built on Debian\n",
            ),
        ]),
        environment: BTreeMap::from([("HOME", "/home/ada"), ("BENCH_SPARK", "/home/ada/spark")]),
        cgroups: BTreeMap::from([(
            "/sys/fs/cgroup/user.slice/user-1000.slice/bench.scope",
            &["cgroup.procs", "memory.max", "memory.current"][..],
        )]),
        cores: 16,
        free_bytes: 120 * GIB,
    }
}

/// A small container: control groups of version 1, read-only, nothing installed.
fn container() -> Described {
    Described {
        files: BTreeMap::from([
            ("/proc/sys/kernel/osrelease", "5.4.0-generic\n"),
            (
                "/proc/meminfo",
                "MemTotal:       16318480 kB\nMemAvailable:    8159240 kB\n",
            ),
            (
                "/proc/self/mountinfo",
                "22 1 0:50 / / rw - overlay overlay rw\n\
                 30 22 0:31 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n\
                 31 22 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
            ),
            (
                "/proc/self/cgroup",
                "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n",
            ),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "2147483648\n",
            ),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]),
        environment: BTreeMap::from([("HOME", "/root")]),
        cores: 4,
        free_bytes: GIB,
        ..Described::default()
    }
}

fn text(machine: &Described, width: usize) -> String {
    let terminal = Terminal {
        color: false,
        width,
        watched: false,
    };
    render(&Diagnosis::of(machine), &terminal)
        .replace(env!("CARGO_PKG_VERSION"), "[version]")
        .replace(std::env::consts::OS, "[system]")
        .replace(std::env::consts::ARCH, "[architecture]")
}

fn state(machine: &Described, name: &str) -> State {
    let diagnosis = Diagnosis::of(machine);
    let check = diagnosis.checks.iter().find(|check| check.name == name);
    check.expect("there is such a check").state
}

#[test]
fn a_workstation_lacks_nothing() {
    insta::assert_snapshot!(text(&workstation(), 100));
}

#[test]
fn a_bare_container_is_told_what_each_thing_would_enable() {
    insta::assert_snapshot!(text(&container(), 80));
}

#[test]
fn the_json_holds_facts_and_checks() {
    let mut diagnosis = Diagnosis::of(&container());
    diagnosis.facts.machine.bench = "[version]".to_owned();
    diagnosis.facts.machine.system = "[system]".to_owned();
    diagnosis.facts.machine.architecture = "[architecture]".to_owned();
    insta::assert_snapshot!(serde_json::to_string_pretty(&diagnosis).unwrap());
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for machine in [workstation(), container()] {
        for line in text(&machine, 80).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn the_limit_in_force_is_the_least_of_the_group_and_those_above() {
    let mut machine = workstation();
    let below = "/sys/fs/cgroup/user.slice/user-1000.slice/bench.scope/memory.max";
    machine.files.insert(below, "8589934592\n");
    machine
        .files
        .insert("/sys/fs/cgroup/user.slice/memory.max", "4294967296\n");
    let facts = Diagnosis::of(&machine).facts;
    assert_eq!(facts.machine.usable_memory_bytes(), Some(4 * GIB));
}

#[test]
fn a_group_without_the_memory_controller_cannot_limit_memory() {
    let mut machine = workstation();
    for files in machine.cgroups.values_mut() {
        *files = &["cgroup.procs"];
    }
    assert_eq!(state(&machine, "memory limits"), State::Limited);
    machine.cgroups.clear();
    assert_eq!(state(&machine, "memory limits"), State::Limited);
    machine.files.remove("/proc/self/mountinfo");
    assert_eq!(state(&machine, "memory limits"), State::Missing);
}

#[test]
fn spark_takes_java_17_and_21_only_and_trino_24_and_later() {
    let with = |java| {
        let mut machine = container();
        machine.programs.insert("/usr/bin/java", java);
        (
            state(&machine, "Java 17 or 21"),
            state(&machine, "Java 24+"),
        )
    };
    assert_eq!(with(JAVA_8), (State::Missing, State::Missing));
    assert_eq!(with(JAVA_17), (State::Ok, State::Missing));
    assert_eq!(with(JAVA_25), (State::Missing, State::Ok));
}

#[test]
fn a_python_older_than_3_10_is_named_but_not_enough() {
    let mut machine = container();
    machine
        .programs
        .insert("/usr/bin/python3", "Python 3.9.18\n");
    assert_eq!(state(&machine, "Python 3.10+"), State::Limited);
}

#[test]
fn the_cache_folder_follows_the_environment() {
    let mut machine = workstation();
    let place = |machine: &Described| Diagnosis::of(machine).facts.machine.cache_dir.unwrap().path;
    assert_eq!(
        place(&machine),
        Path::new("/home/ada/.cache/hl7-ingest-bench")
    );
    machine.environment.insert("XDG_CACHE_HOME", "/home/cache");
    assert_eq!(place(&machine), Path::new("/home/cache/hl7-ingest-bench"));
}
