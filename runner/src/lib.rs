//! The command `bench`.
//!
//! [`main`] is the whole story: parse, run the one command that was asked for, say what went
//! wrong, and leave with an exit code of [`exit::Exit`]. Each command is a module with a function
//! `run`, which prints data to the given output and returns its exit code or an [`error::Error`].
//! What a command does to data is in the crates below: this one reads arguments and shows results.

pub mod baseline;
pub mod cli;
pub mod doctor;
pub mod error;
pub mod exit;
pub mod gate;
pub mod import;
pub mod inspect;
pub mod plan;
pub mod probe;
pub mod record;
pub mod run;
pub mod scenario;
pub mod sequence;
pub mod spark;
pub mod suite;
pub mod terminal;
pub mod verify;
pub mod worker;

mod commands;
mod delta;
mod interrupt;
mod table;
mod value;

use cli::{Cli, Command};
use error::Error;
use exit::Exit;
use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::process::ExitCode;
use terminal::Terminal;

/// Runs `bench` with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_panic));
    interrupt::leave_with_130();
    guarded(|| run(std::env::args_os())).into()
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::parse(arguments) {
        Ok(cli) => cli,
        Err(usage) => {
            // Nobody is left to be told if printing fails.
            let _ = usage.print();
            return if usage.use_stderr() {
                Exit::Usage
            } else {
                Exit::Ok
            };
        }
    };
    let terminal = Terminal::detect(cli.color);
    // Not locked: a worker's threads print, too.
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let result = execute(&cli.command, &terminal, &mut out)
        .and_then(|exit| out.flush().map(|()| exit).map_err(Error::Output));
    match result {
        Ok(exit) => exit,
        // `bench … | head` has seen enough.
        Err(error) if error.is_broken_pipe() => Exit::Ok,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {}", error.chain());
            error.exit()
        }
    }
}

fn execute(command: &Command, terminal: &Terminal, out: &mut dyn Write) -> Result<Exit, Error> {
    match command {
        Command::Run(arguments) => commands::run::run(arguments, terminal, out),
        Command::Verify(arguments) => commands::verify::run(arguments, terminal, out),
        Command::Report(arguments) => commands::report::run(arguments, out),
        Command::Compare(arguments) => commands::compare::run(arguments, out),
        Command::Import(arguments) => commands::import::run(arguments, out),
        Command::Baseline(arguments) => commands::baseline::run(arguments, terminal, out),
        Command::Gate(arguments) => commands::gate::run(arguments, terminal, out),
        Command::Trend(arguments) => commands::trend::run(arguments, out),
        Command::Launch(arguments) => Err(commands::launch::run(arguments)),
        Command::List(arguments) => commands::list::run(arguments, terminal, out),
        Command::Show(arguments) => commands::show::run(arguments, terminal, out),
        Command::Suite(arguments) => commands::suite::run(arguments, terminal, out),
        Command::Schema => commands::schema::run(out),
        Command::Generate(arguments) => commands::generate::run(arguments, terminal, out),
        Command::Truth(arguments) => commands::truth::run(arguments, terminal, out),
        Command::Ingest(arguments) => commands::ingest::run(arguments, terminal, out),
        Command::Worker(arguments) => commands::worker::run(arguments),
        Command::Inspect(arguments) => commands::inspect::run(arguments, terminal, out),
        Command::Eventlog(arguments) => commands::eventlog::run(arguments, terminal, out),
        Command::Doctor(arguments) => commands::doctor::run(arguments, terminal, out),
        Command::Completions(arguments) => commands::completions::run(arguments, out),
        Command::Man(arguments) => commands::man::run(arguments, out),
    }
}

/// Runs `work`; a panic in it is an internal error.
fn guarded(work: impl FnOnce() -> Exit) -> Exit {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Exit::Internal)
}

/// Says that and where `bench` is at fault. The panic's own words are withheld, since they can
/// quote the text that was being read, and with it a patient.
fn report_panic(panic: &PanicHookInfo<'_>) {
    let mut err = std::io::stderr();
    let place = panic
        .location()
        .map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let _ = writeln!(
        err,
        "error: internal error at {place}; this is a fault of bench, please report it"
    );
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        let words = panic.payload_as_str().unwrap_or("no words");
        let trace = std::backtrace::Backtrace::force_capture();
        let _ = writeln!(err, "{words}\n{trace}");
    } else {
        let _ = writeln!(
            err,
            "its message is withheld, as it may quote a log; RUST_BACKTRACE=1 shows it"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Internal);
    }
}
