//! `bench worker`: an engine as a process of its own, which a runner talks to.

use crate::cli::{WorkerArguments, WorkerKind};
use crate::error::Error;
use crate::exit::Exit;
use bench_embedded::worker::{AtEnd, serve};
use std::io::BufReader;

pub(crate) fn run(arguments: &WorkerArguments) -> Result<Exit, Error> {
    match arguments.kind {
        WorkerKind::Embedded => {
            serve(
                BufReader::new(std::io::stdin()),
                std::io::stdout(),
                AtEnd::Exit,
            )
            .map_err(Error::Engine)?;
        }
    }
    Ok(Exit::Ok)
}
