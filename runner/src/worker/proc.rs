//! What the system says about a process, from `/proc`.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;

/// Figures of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stat {
    /// When it was started, in ticks since the machine was.
    pub start_ticks: u64,
    /// CPU seconds in user and system mode, of all its threads and of the children that it has
    /// waited for, without those that live.
    pub cpu_seconds: f64,
    /// The process that started it.
    pub parent: u32,
}

/// Memory of `/proc/PID/status`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Resident now.
    pub rss: u64,
    /// Most that was resident since it began or since [`forget_peak`].
    pub peak: u64,
}

/// Figures of a process; also of one that has ended and was not reaped.
#[must_use]
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(stat: &str) -> Option<Stat> {
    // The name of the program may hold blanks and brackets: what follows its last one is fixed.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The state is field 3 of proc(5).
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    Some(Stat {
        start_ticks: field(22)?,
        cpu_seconds: (14..=17).map(field).sum::<Option<u64>>()? as f64 / ticks as f64,
        parent: u32::try_from(field(4)?).ok()?,
    })
}

/// Whether the process that was started then still is, zombies not counted.
#[must_use]
pub(crate) fn is_alive(pid: u32, start_ticks: u64) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let zombie = text
        .rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with('Z'));
    !zombie && parse_stat(&text).is_some_and(|stat| stat.start_ticks == start_ticks)
}

/// The processes that a process has started, and those that they have, as far as they live.
#[must_use]
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = numbers
        .filter_map(|one| Some((one, stat(one)?.parent)))
        .collect();
    let mut family = vec![pid];
    let mut at = 0;
    while let Some(&parent) = family.get(at) {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        family.extend(children.map(|(child, _)| *child));
        at += 1;
    }
    family.split_off(1)
}

/// Sends a signal to a process that leads a group, and to its children that stayed in it.
pub(crate) fn signal_group(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // Gone already is as good.
        let _ = kill_process_group(pid, signal);
    }
}

/// Memory of a process.
#[must_use]
pub(crate) fn memory(pid: u32) -> Option<Memory> {
    parse_memory(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

fn parse_memory(status: &str) -> Option<Memory> {
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    Some(Memory {
        rss: kib("VmRSS:")? * 1024,
        peak: kib("VmHWM:")? * 1024,
    })
}

/// Memory of a process in bytes, in which pages that it shares with others count by its share of
/// them: so the sum over several counts nothing twice. Costs more than [`memory`].
#[must_use]
pub(crate) fn share(pid: u32) -> Option<u64> {
    parse_share(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?)
        .or_else(|| Some(memory(pid)?.rss))
}

fn parse_share(smaps: &str) -> Option<u64> {
    let line = smaps.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Begins to count a process's peak anew.
pub(crate) fn forget_peak(pid: u32) {
    // Where it cannot be done the peak is that of the whole life: not less than the truth.
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Bytes that a process has read from and written to storage.
#[must_use]
pub(crate) fn storage(pid: u32) -> Option<(u64, u64)> {
    parse_storage(&fs::read_to_string(format!("/proc/{pid}/io")).ok()?)
}

fn parse_storage(io: &str) -> Option<(u64, u64)> {
    let value = |name: &str| {
        let line = io.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some((value("read_bytes:")?, value("write_bytes:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_s_name_does_not_shift_the_figures() {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 150 50 30 20 20 0 4 0 777 0 0";
        let plain = parse_stat(&format!("12 (bench) {fields}")).unwrap();
        assert_eq!((plain.start_ticks, plain.parent), (777, 1));
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert!((plain.cpu_seconds - 250.0 / ticks).abs() < 1e-9);
        assert_eq!(parse_stat(&format!("12 (a) b (c) {fields}")), Some(plain));
    }

    #[test]
    fn this_process_is_alive_and_uses_memory() {
        let pid = std::process::id();
        let own = stat(pid).unwrap();
        assert!(is_alive(pid, own.start_ticks));
        assert!(!is_alive(pid, own.start_ticks + 1));
        let memory = memory(pid).unwrap();
        assert!(memory.rss > 1 << 20 && memory.peak >= memory.rss / 2);
    }

    #[test]
    fn a_process_that_this_one_started_is_among_its_descendants() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("it can be started");
        let family = descendants(std::process::id());
        assert!(family.contains(&child.id()), "{family:?}");
        assert!(descendants(child.id()).is_empty());
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }

    #[test]
    fn memory_and_storage_are_read_by_name() {
        let status = "Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t    1024 kB\n";
        let expected = Memory {
            rss: 1 << 20,
            peak: 2 << 20,
        };
        assert_eq!(parse_memory(status), Some(expected));
        let smaps = "55ab-7ffd ---p 0 00:00 0 [rollup]\nRss:  900 kB\nPss:  512 kB\n";
        assert_eq!(parse_share(smaps), Some(512 << 10));
        assert!(share(std::process::id()).is_some_and(|share| share > 1 << 20));
        let io = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\n";
        assert_eq!(parse_storage(io), Some((4096, 8192)));
    }
}
