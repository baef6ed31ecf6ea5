//! `bench schema`

use super::print_json;
use crate::error::Error;
use crate::exit::Exit;
use crate::scenario::schema;
use std::io::Write;

pub(crate) fn run(out: &mut dyn Write) -> Result<Exit, Error> {
    print_json(out, &schema())?;
    Ok(Exit::Ok)
}
