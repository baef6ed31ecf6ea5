//! Ctrl-C.
//!
//! What `bench` writes is safe to leave at any moment, so an interrupted command just leaves, with
//! the exit code that says so.

use crate::exit::Exit;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::io::Write;

/// From now on, an interrupt ends the process with its own exit code.
pub(crate) fn leave_with_130() {
    // Without a handler an interrupt ends the process by the signal: no worse, only less polite.
    let Ok(mut signals) = Signals::new([SIGINT]) else {
        return;
    };
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            let _ = writeln!(std::io::stderr(), "\nerror: interrupted");
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}
