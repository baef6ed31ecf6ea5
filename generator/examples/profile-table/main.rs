//! Prints what a profile asks for and what the data made from it holds.
//!
//! ```text
//! profile-table [--markdown] [--messages N] PROFILE|SPEC.toml|DATASET ...
//! ```
//!
//! A profile or spec is made in a temporary folder, at its own number of messages a log; a finished
//! data set is measured as it stands. Exits with 1 if any quantity is outside of what is allowed.

mod measure;

use bench_generator::{DATASET_FILE, Options, Overrides, Silent, Spec, generate};
use measure::{Error, Table, measure};
use std::path::Path;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Error> {
    let mut markdown = false;
    let mut messages = None;
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--markdown" => markdown = true,
            "--messages" => {
                let number = arguments.next().ok_or("--messages needs a number")?;
                messages = Some(number.replace('_', "").parse()?);
            }
            _ => names.push(argument),
        }
    }
    if names.is_empty() {
        return Err("name profiles, spec files or folders of data sets".into());
    }
    let mut outside = 0;
    for name in names {
        let (title, table) = if Path::new(&name).join(DATASET_FILE).exists() {
            (name.clone(), measure(Path::new(&name))?)
        } else {
            made(&name, messages)?
        };
        let count = table.outside().len();
        let judged = table.judged();
        let mark = if markdown { "### " } else { "" };
        println!("{mark}{title}\n\n{}", table.render(markdown));
        println!("{count} of {judged} judged quantities outside of what is allowed\n");
        outside += count;
    }
    Ok(ExitCode::from(u8::from(outside > 0)))
}

/// Makes a data set of a spec, of so many messages if told, and measures it.
fn made(name: &str, messages: Option<u64>) -> Result<(String, Table), Error> {
    let mut overrides = Overrides::default();
    if let Some(messages) = messages {
        let file = serde_json::to_value(Spec::load(name, &overrides)?.file())?;
        let number = |key: &str| file["volume"][key].as_f64();
        let per_log = match (number("messages"), number("log_files")) {
            (Some(messages), Some(logs)) => messages / logs,
            _ => return Err(format!("{name} asks for a rate: leave --messages out").into()),
        };
        overrides.messages = Some(messages);
        overrides.log_files = Some(((messages as f64 / per_log).round() as u64).clamp(1, messages));
    }
    let folder = tempfile::tempdir()?;
    let options = Options {
        out: folder.path().to_path_buf(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        only_files: None,
        resume: false,
    };
    let info = generate(Spec::load(name, &overrides)?, &options, &Silent)?;
    let title = format!(
        "{name}: {} messages in {} logs",
        info.messages(),
        info.log_files
    );
    Ok((title, measure(folder.path())?))
}
