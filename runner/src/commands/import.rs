//! `bench import`

use crate::cli::ImportArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::import::import;
use crate::terminal::counted;
use std::io::Write;

pub(crate) fn run(arguments: &ImportArguments, out: &mut dyn Write) -> Result<Exit, Error> {
    let durations = import(&arguments.durations, &arguments.facts, &arguments.out)?;
    let durations = counted(durations as u64, "duration");
    writeln!(
        out,
        "{}: {durations} imported; they were not verified",
        arguments.out.display()
    )
    .map_err(Error::Output)?;
    Ok(Exit::Ok)
}
