//! `bench show`

use super::print_json;
use crate::cli::ShowArguments;
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
    let sets: Vec<(String, String)> = arguments
        .set
        .iter()
        .map(|set| (set.key.clone(), set.value.clone()))
        .collect();
    let loaded = load(&arguments.scenario, &sets)?;
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
