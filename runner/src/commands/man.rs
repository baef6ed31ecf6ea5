//! `bench man`

use crate::cli::{ManArguments, command};
use crate::error::Error;
use crate::exit::Exit;
use clap::Command;
use std::io::Write;

pub(crate) fn run(arguments: &ManArguments, out: &mut dyn Write) -> Result<Exit, Error> {
    let mut bench = command();
    bench.build();
    let page = match &arguments.command {
        None => bench,
        Some(name) => bench
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| unknown(name, &bench))?,
    };
    clap_mangen::Man::new(page)
        .render(&mut *out)
        .map_err(Error::Output)?;
    Ok(Exit::Ok)
}

fn unknown(name: &str, bench: &Command) -> Error {
    let known: Vec<&str> = bench.get_subcommands().map(Command::get_name).collect();
    Error::UnknownCommand {
        name: name.to_owned(),
        known: known.join(", "),
    }
}
