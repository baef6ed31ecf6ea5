//! `bench inspect`

use super::print_json;
use crate::cli::InspectArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::inspect::{FieldView, Log, MessageView, Overview};
use crate::terminal::Terminal;
use bench_hl7::{ModalityMap, Reader};
use serde::Serialize;
use std::io::Write;

pub(crate) fn run(
    arguments: &InspectArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let modalities = match &arguments.modalities {
        Some(path) => ModalityMap::from_path(path)?,
        None => ModalityMap::shipped(),
    };
    let reader = Reader::new(modalities);
    let log = Log::read(&arguments.file)?;
    match (arguments.message, arguments.field.as_slice()) {
        (number, asked @ [_, ..]) => {
            let view = FieldView::of(&log, number, asked, &reader)?;
            print(out, arguments.json, &view, |view| view.text(terminal))
        }
        (Some(number), []) => {
            let view = MessageView::of(&log, number, &reader)?;
            print(out, arguments.json, &view, |view| view.text(terminal))
        }
        (None, []) => {
            let view = Overview::of(&log, &reader);
            print(out, arguments.json, &view, |view| view.text(terminal))
        }
    }
}

fn print<View: Serialize>(
    out: &mut dyn Write,
    as_json: bool,
    view: &View,
    text: impl FnOnce(&View) -> String,
) -> Result<Exit, Error> {
    if as_json {
        print_json(out, view)?;
    } else {
        out.write_all(text(view).as_bytes())
            .map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}
