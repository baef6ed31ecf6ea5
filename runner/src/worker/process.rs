//! A worker process: started, written to, read from, waited for.
//!
//! Four threads belong to a process: one writes requests (so that a worker that does not read never
//! holds up the runner), one reads replies, one waits for its end; the fourth, which is shared, looks
//! at memory ([`super::monitor`]). Each tells what it learned, with the time at which it did.

use super::cgroup::Group;
use super::monitor::Watched;
use super::proc;
use crate::record::Exit;
use bench_embedded::protocol::{Line, Reply, Request, VERSION};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A reply that is longer is a breach of the protocol.
const LONGEST_LINE: u64 = 64 << 20;

/// After a process has ended, what it printed is read for at most so long: a child of it may hold
/// the pipe.
const DRAIN: Duration = Duration::from_secs(2);

/// Names a process: the worker, and how many times it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId {
    /// Number of the worker, from 1.
    pub worker: u32,
    /// Which of its processes, from 1.
    pub incarnation: u32,
}

/// What a process did.
#[derive(Debug)]
pub enum Told {
    /// It said something.
    Reply(Box<Reply>),
    /// It said what is no reply.
    Breach(String),
    /// It ended.
    Exited(Exit),
}

/// What a process did, and when.
#[derive(Debug)]
pub struct News {
    /// The process.
    pub process: ProcessId,
    /// When, on the run's clock.
    pub at: Duration,
    /// What.
    pub told: Told,
}

/// Hears what processes do.
pub type Listener = Arc<dyn Fn(News) + Send + Sync>;

/// How a process is to be started.
#[derive(Debug)]
pub struct Start<'a> {
    /// Which one it is.
    pub id: ProcessId,
    /// Program and arguments.
    pub command: &'a [String],
    /// What its environment has beside the runner's own.
    pub environment: &'a [(String, String)],
    /// The program that puts the process into its place: `bench` itself.
    pub launcher: &'a Path,
    /// The processors that it may use; all where it is empty.
    pub cpus: &'a [usize],
    /// Its control group.
    pub group: Option<Group>,
    /// Where its standard error goes; appended to.
    pub log: &'a Path,
}

/// A process that was started.
#[derive(Debug)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// When the system started it, in its own ticks.
    pub start_ticks: u64,
    /// What is known of its memory.
    pub watched: Arc<Watched>,
    /// Its control group.
    pub group: Option<Group>,
    requests: Option<Sender<Vec<u8>>>,
}

impl Process {
    /// Starts a process. Everything that it does is told to `news`.
    ///
    /// The thread that calls this must live as long as the runner: the process is ended by the
    /// system when that thread ends.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(start: Start<'_>, clock: super::Clock, news: &Listener) -> std::io::Result<Self> {
        let log = File::options().create(true).append(true).open(start.log)?;
        let mut command = Command::new(start.launcher);
        command.arg("launch");
        command.arg("--parent").arg(std::process::id().to_string());
        if let Some(group) = &start.group {
            for procs in group.procs_files() {
                command.arg("--cgroup-procs").arg(procs);
            }
        }
        if !start.cpus.is_empty() {
            let cpus: Vec<String> = start.cpus.iter().map(ToString::to_string).collect();
            command.arg("--cpus").arg(cpus.join(","));
        }
        command.arg("--").args(start.command);
        command.envs(start.environment.iter().map(|(name, value)| (name, value)));
        // Ctrl-C in a terminal reaches the runner alone, which ends its workers itself.
        command.process_group(0);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let pid = child.id();
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("the pipes to the worker are missing"));
        };
        let (requests, to_write) = channel();
        let watched = Arc::new(Watched::new(start.id, pid));
        let (drained, wait_for_drained) = channel();
        let id = start.id;
        std::thread::spawn(move || write_requests(stdin, &to_write));
        let tell = Teller {
            id,
            clock,
            news: Arc::clone(news),
        };
        let reader = tell.clone();
        std::thread::spawn(move || {
            read_replies(stdout, &reader);
            drop(drained);
        });
        let waited = Arc::clone(&watched);
        let group = start.group.clone();
        std::thread::spawn(move || {
            wait_for_end(child, &tell, &waited, group.as_ref(), &wait_for_drained);
        });
        Ok(Self {
            pid,
            start_ticks: proc::stat(pid).map_or(0, |stat| stat.start_ticks),
            watched,
            group: start.group,
            requests: Some(requests),
        })
    }

    /// Sends a request.
    pub fn send(&self, request: Request) {
        let Some(requests) = &self.requests else {
            return;
        };
        if let Ok(mut line) = serde_json::to_vec(&Line::new(request)) {
            line.push(b'\n');
            // A process that has ended is told by the thread that waits for it.
            let _ = requests.send(line);
        }
    }

    /// Says that nothing more will be asked, and closes its input.
    pub fn shut_down(&mut self) {
        self.send(Request::Shutdown);
        self.requests = None;
    }

    /// Sends a signal to the process and its children.
    pub fn signal(&self, signal: Signal) {
        proc::signal_group(self.pid, signal);
    }
}

#[derive(Clone)]
struct Teller {
    id: ProcessId,
    clock: super::Clock,
    news: Listener,
}

impl Teller {
    fn tell(&self, told: Told) {
        self.tell_at(self.clock.now(), told);
    }

    fn tell_at(&self, at: Duration, told: Told) {
        (self.news)(News {
            process: self.id,
            at,
            told,
        });
    }
}

fn write_requests(mut stdin: ChildStdin, requests: &Receiver<Vec<u8>>) {
    for line in requests {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_replies(stdout: ChildStdout, tell: &Teller) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
        {
            // Its end is told by who waits for it; one that closes its output and lives falls silent.
            Ok(0) | Err(_) => return,
            Ok(_) if line.last() != Some(&b'\n') => {
                // A process that was killed in the middle of a line has only ended; one that prints
                // without end has not.
                if line.len() as u64 >= LONGEST_LINE {
                    tell.tell(Told::Breach("a line without end".to_owned()));
                }
                return;
            }
            Ok(_) => match parse(&line) {
                Ok(reply) => tell.tell(Told::Reply(reply)),
                Err(reason) => return tell.tell(Told::Breach(reason)),
            },
        }
    }
}

/// What is wrong is told without the line itself, which may quote a log.
fn parse(line: &[u8]) -> Result<Box<Reply>, String> {
    #[derive(serde::Deserialize)]
    struct Head {
        protocol: Option<u32>,
        #[serde(rename = "type")]
        kind: Option<String>,
    }
    let head: Head =
        serde_json::from_slice(line).map_err(|_| "a line that is no JSON object".to_owned())?;
    match head.protocol {
        Some(VERSION) => {}
        Some(other) => {
            return Err(format!(
                "a line of protocol version {other}; this runner speaks {VERSION}"
            ));
        }
        None => return Err("a line without \"protocol\": 1".to_owned()),
    }
    let known = ["ready", "stage", "heartbeat", "done", "failed"];
    match head.kind.as_deref() {
        Some(kind) if known.contains(&kind) => {
            let line: Line<Reply> = serde_json::from_slice(line).map_err(|error| {
                let at = error.column();
                format!("a message {kind:?} that lacks a field, or has one of another type, before column {at}")
            })?;
            Ok(Box::new(line.message))
        }
        Some(_) => Err(format!("a message that is none of {}", known.join(", "))),
        None => Err("a line without \"type\"".to_owned()),
    }
}

fn wait_for_end(
    mut child: Child,
    tell: &Teller,
    watched: &Watched,
    group: Option<&Group>,
    drained: &Receiver<()>,
) {
    let pid = child.id();
    // Its figures can be read until it is reaped.
    if let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(
            waitid(WaitId::Pid(id), options),
            Err(rustix::io::Errno::INTR)
        ) {}
    }
    let ended = tell.clock.now();
    let cpu_seconds = watched.cpu_seconds();
    watched.gone();
    let status = child.wait();
    // Children of it that are left would hold the pipe, and memory.
    proc::signal_group(pid, Signal::KILL);
    let _ = drained.recv_timeout(DRAIN);
    let status = status.ok();
    let signal = status.and_then(|status| status.signal());
    let exit = Exit {
        code: status.and_then(|status| status.code().or(signal.map(|signal| 128 + signal))),
        signal,
        oom_kills: group.and_then(Group::oom_kills),
        peak_rss: watched.peak(),
        cpu_seconds,
    };
    // It ended when it did, however long its pipe was read.
    tell.tell_at(ended, Told::Exited(exit));
}

/// Where the log of a worker is, within the run directory.
#[must_use]
pub fn log_path(folder: &Path, arm: &crate::record::ArmId, worker: u32) -> PathBuf {
    folder
        .join("logs")
        .join(format!("{arm}-worker-{worker}.log"))
}
