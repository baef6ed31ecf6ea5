//! `bench verify`

use super::print_json;
use crate::cli::VerifyArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::run::verify_again;
use crate::terminal::{Terminal, Tone, counted};
use std::fmt::Write as _;
use std::io::Write;

pub(crate) fn run(
    arguments: &VerifyArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let (verifications, skipped) = verify_again(&arguments.run)?;
    let exit = if verifications.passed() {
        Exit::Ok
    } else {
        Exit::Invalid
    };
    if arguments.json {
        print_json(out, &verifications)?;
        return Ok(exit);
    }
    let mut text = String::new();
    for one in &verifications.arms {
        let failed = one.verification.failures().count() as u64;
        let all = one.verification.checks.len() as u64;
        let verdict = if failed == 0 {
            terminal.paint(Tone::Good, format!("{} passed", counted(all, "check")))
        } else {
            terminal.paint(
                Tone::Bad,
                format!("{failed} of {} failed", counted(all, "check")),
            )
        };
        let seconds = one.verification.seconds;
        let _ = writeln!(text, "{}: {verdict} in {seconds:.2} s", one.arm);
    }
    for finding in verifications.findings() {
        let _ = writeln!(text, "  {finding}");
    }
    for why in skipped {
        let _ = writeln!(
            text,
            "{} {why}",
            terminal.paint(Tone::Warning, "not verified:")
        );
    }
    out.write_all(text.as_bytes()).map_err(Error::Output)?;
    Ok(exit)
}
