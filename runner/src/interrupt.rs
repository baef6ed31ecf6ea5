//! Ctrl-C, and the request to terminate.
//!
//! Most of what `bench` writes is safe to leave at any moment, so an interrupted command just leaves,
//! with the exit code that says so. A run listens: it is told of the first interrupt, ends its
//! workers and says how to resume; a second interrupt leaves at once.

use crate::exit::Exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

type Told = Box<dyn FnOnce() + Send>;

/// Who is to be told of the first interrupt.
static LISTENER: Mutex<Option<Told>> = Mutex::new(None);

/// From now on, an interrupt ends the process with its own exit code, unless somebody listens.
pub(crate) fn leave_with_130() {
    // Without a handler an interrupt ends the process by the signal: no worse, only less polite.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let listener = LISTENER
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            match listener {
                Some(tell) => tell(),
                None => {
                    let _ = writeln!(std::io::stderr(), "\nerror: interrupted");
                    std::process::exit(Exit::Interrupted.code().into());
                }
            }
        }
    });
}

/// While this lives, the first interrupt is told and does not end the process.
pub(crate) struct Listening(());

/// Listens for an interrupt.
pub(crate) fn listen(tell: impl FnOnce() + Send + 'static) -> Listening {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(tell));
    Listening(())
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENER
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}
