//! `bench doctor`

use super::print_json;
use crate::cli::DoctorArguments;
use crate::doctor::{Diagnosis, Machine, render};
use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::Terminal;
use std::io::Write;

pub(crate) fn run(
    arguments: &DoctorArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let diagnosis = Diagnosis::of(&Machine);
    if arguments.json {
        print_json(out, &diagnosis)?;
    } else {
        write!(out, "{}", render(&diagnosis, terminal)).map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}
