//! `bench worker`: an engine as a process of its own, which a runner talks to.

use crate::cli::{WorkerArguments, WorkerKind};
use crate::error::Error;
use crate::exit::Exit;
use crate::worker::serve_null;
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
        WorkerKind::Null => {
            serve_null(std::io::stdin().lock(), std::io::stdout().lock()).map_err(Error::Output)?;
        }
    }
    Ok(Exit::Ok)
}
