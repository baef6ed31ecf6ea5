//! `bench show`

use super::print_json;
use crate::cli::{Setting, ShowArguments};
use crate::error::Error;
use crate::exit::Exit;
use crate::scenario::load;
use crate::terminal::Terminal;
use std::io::Write;

pub(crate) fn run(
    arguments: &ShowArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let loaded = load(&arguments.scenario, &Setting::pairs(&arguments.set))?;
    if arguments.json {
        print_json(out, &loaded.json())?;
    } else {
        let text = match arguments.toml {
            true => loaded.toml(),
            false => loaded.text(terminal),
        };
        out.write_all(text.as_bytes()).map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}
