//! `bench trend`

use crate::baseline::Store;
use crate::cli::{TrendArguments, TrendFormat};
use crate::error::Error;
use crate::exit::Exit;
use bench_reports::gate::{trend, trend_html, trend_json, trend_markdown};
use bench_reports::statistics::changes::Wanted;
use std::io::Write;

pub(crate) fn run(arguments: &TrendArguments, out: &mut dyn Write) -> Result<Exit, Error> {
    let entries = Store::open(&arguments.store)?.all()?;
    if entries.is_empty() {
        let store = arguments.store.display();
        writeln!(out, "{store}: nothing is kept").map_err(Error::Output)?;
        return Ok(Exit::NoBaseline);
    }
    let wanted = Wanted {
        min_segment: arguments.min_segment as usize,
        min_change: arguments.min_change.0,
    };
    let trend = trend(&entries, wanted);
    let text = match arguments.format {
        TrendFormat::Md => trend_markdown(&trend),
        TrendFormat::Json => trend_json(&trend),
        TrendFormat::Html => trend_html(&trend),
    };
    match &arguments.out {
        None => out.write_all(text.as_bytes()).map_err(Error::Output)?,
        Some(path) => std::fs::write(path, text).map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })?,
    }
    Ok(Exit::Ok)
}
