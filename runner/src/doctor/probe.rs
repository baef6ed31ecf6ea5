//! Looking at a machine, behind a trait, so that tests describe machines instead of owning them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Room on a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes that an ordinary user may still write.
    pub free_bytes: u64,
    /// Bytes in all.
    pub total_bytes: u64,
}

/// The questions that the doctor asks.
pub trait Probe {
    /// A variable of the environment, if set and not empty.
    fn env(&self, name: &str) -> Option<String>;
    /// The current directory.
    fn current_dir(&self) -> Option<PathBuf>;
    /// Content of a text file.
    fn read(&self, path: &Path) -> Option<String>;
    /// Entries of a directory, sorted.
    fn list(&self, directory: &Path) -> Vec<PathBuf>;
    /// The path without symbolic links, if it exists.
    fn real_path(&self, path: &Path) -> Option<PathBuf>;
    /// Where a program is found on the search path.
    fn find(&self, program: &str) -> Option<PathBuf>;
    /// What a program prints (standard output, then standard error), if it succeeds in good time.
    fn run(&self, program: &Path, arguments: &[&str]) -> Option<String>;
    /// Room on the file system that holds a path.
    fn space(&self, path: &Path) -> Option<Space>;
    /// Names of the files in a control group made on trial inside `parent` and removed at once;
    /// nothing if it cannot be made.
    fn trial_cgroup(&self, parent: &Path) -> Option<Vec<String>>;
    /// Cores that this process may use.
    fn cores(&self) -> usize;
}

/// The machine this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Probe for Machine {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn current_dir(&self) -> Option<PathBuf> {
        std::env::current_dir().ok()
    }

    fn read(&self, path: &Path) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }

    fn list(&self, directory: &Path) -> Vec<PathBuf> {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        entries.sort();
        entries
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|directory| directory.join(program))
            .find(|candidate| is_executable(candidate))
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Option<String> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        if !succeeds_in_time(&mut child) {
            return None;
        }
        let mut output = Vec::new();
        child.stdout.take()?.read_to_end(&mut output).ok()?;
        child.stderr.take()?.read_to_end(&mut output).ok()?;
        Some(String::from_utf8_lossy(&output).into_owned())
    }

    fn space(&self, path: &Path) -> Option<Space> {
        let stat = rustix::fs::statvfs(path).ok()?;
        Some(Space {
            free_bytes: stat.f_bavail * stat.f_frsize,
            total_bytes: stat.f_blocks * stat.f_frsize,
        })
    }

    fn trial_cgroup(&self, parent: &Path) -> Option<Vec<String>> {
        let trial = parent.join(format!("bench-doctor-{}", std::process::id()));
        std::fs::create_dir(&trial).ok()?;
        let files = self
            .list(&trial)
            .iter()
            .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
            .collect();
        // A control group is removed as a directory although it holds files. If that fails, an
        // empty group stays behind, which limits nothing.
        let _ = std::fs::remove_dir(&trial);
        Some(files)
    }

    fn cores(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

/// What a program says of its version is far less than a pipe holds, so it can end unread.
fn succeeds_in_time(child: &mut Child) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
