//! A control group of a worker's own, of version 1 or 2.

use crate::doctor::{Cgroup, CgroupVersion};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Processes that were killed take a moment to leave their group.
const PATIENCE: Duration = Duration::from_secs(2);

/// A control group that was made for a worker; it goes when [`Group::remove`] is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    version: CgroupVersion,
    directory: PathBuf,
}

impl Group {
    /// Makes a group named `name` in the group of this process.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(own: &Cgroup, name: &str) -> io::Result<Self> {
        let directory = own.directory.join(name);
        match fs::create_dir(&directory) {
            // One that a killed runner left behind; it can be used unless something lives in it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir(&directory)?;
                fs::create_dir(&directory)?;
            }
            made => made?,
        }
        Ok(Self {
            version: own.version,
            directory,
        })
    }

    /// The kind, as it stands in records: `cgroup-v1` or `cgroup-v2`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        kind(self.version)
    }

    /// Files that a process writes its id into to enter.
    #[must_use]
    pub fn procs_files(&self) -> Vec<PathBuf> {
        vec![self.directory.join("cgroup.procs")]
    }

    /// Sets the memory limit in bytes, or lifts it. No swap on top of it.
    ///
    /// # Errors
    /// What the system says. Version 1 refuses a limit below what is used and cannot be freed.
    pub fn limit_memory(&self, bytes: Option<u64>) -> io::Result<()> {
        match self.version {
            CgroupVersion::V1 => {
                let value = bytes.map_or("-1".to_owned(), |bytes| bytes.to_string());
                // Memory and swap together may never be less than memory alone.
                let with_swap = || self.write("memory.memsw.limit_in_bytes", &value);
                let memory = || self.write("memory.limit_in_bytes", &value);
                let swap_counts = self.directory.join("memory.memsw.limit_in_bytes").exists();
                if !swap_counts {
                    return memory();
                }
                match memory() {
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                        with_swap()?;
                        memory()?;
                    }
                    set => set?,
                }
                with_swap()
            }
            CgroupVersion::V2 => {
                if bytes.is_some() && self.directory.join("memory.swap.max").exists() {
                    self.write("memory.swap.max", "0")?;
                }
                let value = bytes.map_or("max".to_owned(), |bytes| bytes.to_string());
                self.write("memory.max", &value)
            }
        }
    }

    /// Bytes that are charged to the group now.
    #[must_use]
    pub fn used(&self) -> Option<u64> {
        let name = match self.version {
            CgroupVersion::V1 => "memory.usage_in_bytes",
            CgroupVersion::V2 => "memory.current",
        };
        let content = fs::read_to_string(self.directory.join(name)).ok()?;
        content.trim().parse().ok()
    }

    /// Processes that the kernel killed here for want of memory.
    #[must_use]
    pub fn oom_kills(&self) -> Option<u64> {
        let name = match self.version {
            CgroupVersion::V1 => "memory.oom_control",
            CgroupVersion::V2 => "memory.events",
        };
        let content = fs::read_to_string(self.directory.join(name)).ok()?;
        oom_kills(&content)
    }

    /// Removes the group, once what was in it has left.
    pub fn remove(&self) {
        let until = Instant::now() + PATIENCE;
        while fs::remove_dir(&self.directory).is_err()
            && self.directory.exists()
            && Instant::now() < until
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        write(&self.directory.join(file), value)
    }
}

/// As it stands in records.
pub(super) fn kind(version: CgroupVersion) -> &'static str {
    match version {
        CgroupVersion::V1 => "cgroup-v1",
        CgroupVersion::V2 => "cgroup-v2",
    }
}

/// Control files are opened for writing alone: they are not created and not cut.
fn write(path: &Path, value: &str) -> io::Result<()> {
    let mut file = fs::File::options().write(true).open(path)?;
    io::Write::write_all(&mut file, value.as_bytes())
}

fn oom_kills(content: &str) -> Option<u64> {
    content
        .lines()
        .find_map(|line| line.strip_prefix("oom_kill "))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_counted_in_either_version() {
        assert_eq!(
            oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"),
            Some(7)
        );
        assert_eq!(
            oom_kills("low 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"),
            Some(2)
        );
        assert_eq!(oom_kills("oom_kill_disable 0\n"), None);
    }
}
