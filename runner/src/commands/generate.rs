//! `bench generate`

use super::print_json;
use crate::cli::GenerateArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::{Terminal, Tone, counted, hang, thousands};
use bench_generator::{
    DatasetInfo, Options, Overrides, Progress, Spec, continue_to, generate, unfinished_spec,
};
use indicatif::ProgressBar;
use std::fmt::Write as _;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The profile of a spec that names none.
const DEFAULT_PROFILE: &str = "varied";

pub(crate) fn run(
    arguments: &GenerateArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let started = Instant::now();
    let bar = Bar::new(terminal);
    let result = make(arguments, &bar);
    bar.0.finish_and_clear();
    let (folder, info) = result?;
    let made = Made {
        folder,
        info,
        messages: bar.0.position(),
        time: started.elapsed(),
    };
    if arguments.json {
        print_json(out, &made.json())?;
    } else {
        out.write_all(made.text(terminal).as_bytes())
            .map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}

/// Makes, finishes or continues a data set: its folder, and what it is now.
fn make(
    arguments: &GenerateArguments,
    progress: &dyn Progress,
) -> Result<(PathBuf, DatasetInfo), Error> {
    let threads = arguments
        .threads
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    if let (Some(folder), Some(days)) = (&arguments.continue_, arguments.days) {
        let info = continue_to(folder, days, threads, progress)?;
        return Ok((folder.clone(), info));
    }
    let out = arguments.out.clone().unwrap_or_default();
    let (spec, only_files) = if arguments.resume && !names_a_spec(arguments) {
        unfinished_spec(&out)?
    } else {
        (spec(arguments)?, arguments.only_files.clone())
    };
    let options = Options {
        out: out.clone(),
        threads,
        only_files,
        resume: arguments.resume,
    };
    Ok((out, generate(spec, &options, progress)?))
}

fn overrides(arguments: &GenerateArguments) -> Overrides {
    Overrides {
        seed: arguments.seed,
        messages: arguments.messages,
        log_files: arguments.log_files,
        per_day: arguments.per_day,
        days: arguments.days,
        start: arguments.start.clone(),
        encoding: arguments.encoding.clone(),
    }
}

fn names_a_spec(arguments: &GenerateArguments) -> bool {
    arguments.profile.is_some()
        || arguments.spec.is_some()
        || arguments.only_files.is_some()
        || overrides(arguments) != Overrides::default()
}

fn spec(arguments: &GenerateArguments) -> Result<Spec, Error> {
    let path = arguments.spec.as_deref().map(Path::to_string_lossy);
    let profile = arguments.profile.as_deref().map(Into::into);
    let name = path.or(profile).unwrap_or(DEFAULT_PROFILE.into());
    Ok(Spec::load(&name, &overrides(arguments))?)
}

/// A progress bar over messages.
struct Bar(ProgressBar);

impl Bar {
    fn new(terminal: &Terminal) -> Self {
        Self(terminal.bar("{bar:32} {human_pos} of {human_len} messages, {per_sec}, {eta} left"))
    }
}

impl Progress for Bar {
    fn begin(&self, _: u64, messages: u64) {
        self.0.set_length(messages);
    }

    fn advance(&self, _: u64, messages: u64, _: u64) {
        self.0.inc(messages);
    }
}

/// What was made.
struct Made {
    folder: PathBuf,
    info: DatasetInfo,
    /// Messages that were made now: fewer than the data set has, where it was continued.
    messages: u64,
    time: Duration,
}

impl Made {
    /// For a machine. The list of logs is left to `dataset.json`.
    fn json(&self) -> serde_json::Value {
        let mut dataset = serde_json::to_value(&self.info).expect("a data set's head is JSON");
        if let Some(dataset) = dataset.as_object_mut() {
            dataset.remove("files");
        }
        serde_json::json!({
            "format": 1,
            "out": self.folder,
            "seconds": self.time.as_secs_f64(),
            "dataset": dataset,
        })
    }

    /// For a person.
    fn text(&self, terminal: &Terminal) -> String {
        let info = &self.info;
        let mut text = String::new();
        let title = terminal.paint(Tone::Heading, self.folder.display());
        let _ = writeln!(
            text,
            "{title}: {} in {}, {}",
            counted(info.messages(), "message"),
            counted(info.log_files, "log"),
            megabytes(info.bytes),
        );
        let seconds = self.time.as_secs_f64();
        let rate = self.messages as f64 / seconds;
        let faults: u64 = info.faults.values().sum();
        let mut rows = vec![
            (
                "outcomes",
                counts(info.outcomes.iter().filter(|(_, count)| **count > 0)),
            ),
            (
                "faults",
                match faults {
                    0 => "none".to_owned(),
                    _ => format!("{} in all: {}", thousands(faults), counts(&info.faults)),
                },
            ),
            (
                "rows",
                info.tables
                    .as_ref()
                    .map_or("not counted: not all logs were made".to_owned(), |rows| {
                        counts(rows)
                    }),
            ),
            (
                "digest",
                format!(
                    "{}, generator version {}",
                    info.digest, info.generator_version
                ),
            ),
        ];
        let time = match self.messages {
            0 => "nothing was left to make".to_owned(),
            _ => format!("{seconds:.2} s, {} messages/s", thousands(rate as u64)),
        };
        rows.push(("time", time));
        for (name, value) in rows {
            hang(&mut text, &format!("  {name:<8}  "), &value, terminal.width);
        }
        text
    }
}

/// `staged 12, empty 3`
fn counts<'a>(counts: impl IntoIterator<Item = (&'a String, &'a u64)>) -> String {
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(name, count)| format!("{name} {}", thousands(*count)))
        .collect();
    parts.join(", ")
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_counts_messages_and_is_hidden_from_pipes() {
        let terminal = Terminal {
            color: false,
            width: 80,
            watched: false,
        };
        let bar = Bar::new(&terminal);
        bar.begin(2, 10);
        bar.advance(1, 4, 400);
        assert!(bar.0.is_hidden());
        assert_eq!((bar.0.position(), bar.0.length()), (4, Some(10)));
    }
}
