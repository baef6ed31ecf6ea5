//! One thread that looks at the memory of all workers: samples at a low rate, and the watchdog where
//! a limit is not enforced by the system.

use super::proc;
use super::process::ProcessId;
use crate::worker::Clock;
use rustix::process::Signal;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the watchdog looks. Between two looks a worker may pass its limit unseen.
pub(super) const WATCHDOG_INTERVAL: Duration = Duration::from_millis(10);

/// What is known of a process's memory.
#[derive(Debug)]
pub struct Watched {
    id: ProcessId,
    pid: u32,
    /// Bytes above which the watchdog kills it; 0 for none.
    limit: AtomicU64,
    /// Most resident memory that was seen since [`Self::mark`].
    peak: AtomicU64,
    /// Most of its life.
    peak_of_life: AtomicU64,
    /// Most CPU time that was seen, in microseconds.
    cpu: AtomicU64,
    /// Processes that it has started, as last looked for, and when.
    family: Mutex<Option<(Instant, Family)>>,
    killed: AtomicBool,
    gone: AtomicBool,
}

/// How old what is known of a worker's own processes may be.
const FAMILY_AGE: Duration = Duration::from_millis(500);

/// What a worker has started.
#[derive(Clone, Debug, Default)]
struct Family {
    processes: Vec<u32>,
    /// Memory of all with the worker, what they share counted once; `None` where it is alone.
    memory: Option<u64>,
}

impl Family {
    fn of(pid: u32) -> Self {
        let processes = proc::descendants(pid);
        let memory = (!processes.is_empty()).then(|| {
            let all = processes.iter().copied().chain([pid]);
            all.filter_map(proc::share).sum()
        });
        Self { processes, memory }
    }
}

impl Watched {
    pub(super) fn new(id: ProcessId, pid: u32) -> Self {
        Self {
            id,
            pid,
            limit: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            peak_of_life: AtomicU64::new(0),
            cpu: AtomicU64::new(0),
            family: Mutex::new(None),
            killed: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        }
    }

    /// The processes that it has started: an engine may be a JVM that a script began.
    fn family(&self) -> Family {
        let mut known = self.family.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((when, family)) if when.elapsed() < FAMILY_AGE => family.clone(),
            _ => {
                let family = Family::of(self.pid);
                *known = Some((Instant::now(), family.clone()));
                family
            }
        }
    }

    /// CPU seconds of its life, with what it has started; never less than was seen before.
    #[must_use]
    pub fn cpu_seconds(&self) -> Option<f64> {
        let own = proc::stat(self.pid).map(|stat| stat.cpu_seconds);
        let family = self.family().processes.into_iter();
        let theirs = family.filter_map(|one| proc::stat(one).map(|stat| stat.cpu_seconds));
        let sum = own.unwrap_or_default() + theirs.sum::<f64>();
        let before = self.cpu.fetch_max((sum * 1e6) as u64, Ordering::AcqRel);
        own.map(|_| sum.max(before as f64 / 1e6))
    }

    /// Sets or lifts the limit that the watchdog enforces.
    pub fn limit(&self, bytes: Option<u64>) {
        self.limit.store(bytes.unwrap_or(0), Ordering::Release);
    }

    /// Whether the watchdog killed it.
    #[must_use]
    pub fn was_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Forgets the peak: an attempt begins.
    pub fn mark(&self) {
        self.look();
        proc::forget_peak(self.pid);
        self.peak.store(0, Ordering::Release);
    }

    /// Most resident memory in bytes since the mark, as far as it was seen.
    #[must_use]
    pub fn peak_since_mark(&self) -> Option<u64> {
        self.look();
        Some(self.peak.load(Ordering::Acquire)).filter(|&peak| peak > 0)
    }

    /// Most resident memory in bytes of its life, as far as it was seen.
    #[must_use]
    pub fn peak(&self) -> Option<u64> {
        Some(self.peak_of_life.load(Ordering::Acquire)).filter(|&peak| peak > 0)
    }

    pub(super) fn gone(&self) {
        self.gone.store(true, Ordering::Release);
    }

    /// Resident memory now; what was most is remembered.
    fn look(&self) -> Option<u64> {
        if self.gone.load(Ordering::Acquire) {
            return None;
        }
        let memory = proc::memory(self.pid)?;
        let rss = self.family().memory.unwrap_or(memory.rss);
        // The system knows the most of each process; of several at a time, only what was seen.
        let peak = memory.peak.max(rss);
        self.peak.fetch_max(peak, Ordering::AcqRel);
        self.peak_of_life.fetch_max(peak, Ordering::AcqRel);
        Some(rss)
    }

    /// Kills the process if it has passed its limit.
    fn guard(&self) {
        let limit = self.limit.load(Ordering::Acquire);
        if limit == 0 || self.killed.load(Ordering::Acquire) {
            return;
        }
        if self.look().is_some_and(|rss| rss > limit) {
            self.killed.store(true, Ordering::Release);
            proc::signal_group(self.pid, Signal::KILL);
        }
    }
}

/// A look at a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The process.
    pub process: ProcessId,
    /// When, on the run's clock.
    pub at: Duration,
    /// Resident memory in bytes.
    pub rss: u64,
    /// CPU seconds so far.
    pub cpu_seconds: f64,
    /// Bytes read from and written to storage so far.
    pub storage: Option<(u64, u64)>,
}

type Processes = Arc<Mutex<Vec<Arc<Watched>>>>;

/// The thread that looks.
#[derive(Debug)]
pub struct Monitor {
    processes: Processes,
    cost: Arc<AtomicU64>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Starts to look: a sample of every process each `interval`, and every few milliseconds at
    /// those with a limit.
    pub fn start(interval: Duration, clock: Clock, tell: impl Fn(Sample) + Send + 'static) -> Self {
        let processes = Processes::default();
        let cost = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = channel::<()>();
        let (watch, spent) = (Arc::clone(&processes), Arc::clone(&cost));
        let thread = std::thread::spawn(move || {
            let mut next = Instant::now() + interval;
            loop {
                let guarded = all(&watch)
                    .iter()
                    .any(|one| one.limit.load(Ordering::Acquire) > 0);
                let until = next.saturating_duration_since(Instant::now());
                let pause = if guarded {
                    until.min(WATCHDOG_INTERVAL)
                } else {
                    // A limit may be set meanwhile: it is noticed soon.
                    until.min(WATCHDOG_INTERVAL * 10)
                };
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let due = Instant::now() >= next;
                if due {
                    next += interval;
                }
                for one in all(&watch) {
                    one.guard();
                    if due && let Some(sample) = sample(&one, clock) {
                        tell(sample);
                    }
                }
                let used = clock_gettime(ClockId::ThreadCPUTime);
                let micros = used.tv_sec * 1_000_000 + used.tv_nsec / 1_000;
                spent.store(u64::try_from(micros).unwrap_or(0), Ordering::Release);
            }
        });
        Self {
            processes,
            cost,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Looks at this process too, until it is gone.
    pub fn watch(&self, process: &Arc<Watched>) {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        processes.retain(|one| !one.gone.load(Ordering::Acquire));
        processes.push(Arc::clone(process));
    }

    /// CPU seconds that looking has cost so far.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.cost.load(Ordering::Acquire) as f64 / 1e6
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn all(processes: &Processes) -> Vec<Arc<Watched>> {
    processes
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

fn sample(process: &Watched, clock: Clock) -> Option<Sample> {
    Some(Sample {
        process: process.id,
        at: clock.now(),
        rss: process.look()?,
        cpu_seconds: process.cpu_seconds()?,
        storage: proc::storage(process.pid),
    })
}
