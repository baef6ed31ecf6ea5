//! `bench completions`

use crate::cli::{CompletionsArguments, command};
use crate::error::Error;
use crate::exit::Exit;
use std::io::Write;

pub(crate) fn run(arguments: &CompletionsArguments, out: &mut dyn Write) -> Result<Exit, Error> {
    // clap_complete panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "bench", &mut script);
    out.write_all(&script).map_err(Error::Output)?;
    Ok(Exit::Ok)
}
