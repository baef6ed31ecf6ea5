//! Points between two effects at which a test kills the process.
//!
//! The environment variable `BENCH_EMBEDDED_KILL_AT` holds a number: the process ends itself with
//! SIGKILL when it comes to the point of that number, counted from 1. Without the variable a point
//! costs the look at one number. A point stands after every effect that another process can see:
//! a file written, a version put, a note replaced.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

static AT: LazyLock<Option<u64>> =
    LazyLock::new(|| std::env::var("BENCH_EMBEDDED_KILL_AT").ok()?.parse().ok());
static PASSED: AtomicU64 = AtomicU64::new(0);

/// Ends the process here if it is told to. `name` says on stderr where that was.
pub(crate) fn point(name: &str) {
    let Some(at) = *AT else { return };
    if PASSED.fetch_add(1, Ordering::SeqCst) + 1 != at {
        return;
    }
    eprintln!("killed at point {at}: {name}");
    let pid = std::process::id().to_string();
    // The shell's own program: a signal from inside would need a system call of our own.
    let _ = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status();
    std::process::abort();
}
