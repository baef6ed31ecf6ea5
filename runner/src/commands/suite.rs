//! `bench suite`

use super::print_json;
use super::run::{kept, relative, reproduce};
use crate::cli::{Setting, SuiteArguments, SuiteCommand, SuiteListArguments, SuiteRunArguments};
use crate::error::Error;
use crate::exit::Exit;
use crate::plan::{order, time};
use crate::run::{Options, datasets, fresh, program};
use crate::suite::{Asked, Member, Record, SUITE_FILE, State, Suite, carry, load};
use crate::table::{Align, Table};
use crate::terminal::{Terminal, Tone, counted, hang};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Folder of suites whose folder nobody named.
const SUITES: &str = "suites";

pub(crate) fn run(
    arguments: &SuiteArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    match &arguments.command {
        SuiteCommand::Run(arguments) => carry_out(arguments, terminal, out),
        SuiteCommand::List(arguments) => list(arguments, terminal, out),
    }
}

fn carry_out(
    arguments: &SuiteRunArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let suite = load(&arguments.file, &Setting::pairs(&arguments.set))?;
    let cache = datasets(arguments.cache.as_deref())?;
    let program = program()?;
    let keep_lakes = kept(arguments.keep_lakes, arguments.drop_lakes);
    let options = |member: &Member, runs: PathBuf| Options {
        runs,
        cache: cache.clone(),
        keep_lakes,
        wipe: false,
        space_check: !arguments.no_space_check,
        quiet: arguments.quiet,
        command: reproduce(Some(&member.named), &member.sets, &[], keep_lakes),
        program: program.clone(),
    };
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => fresh(Path::new(SUITES), &suite.name)?,
    };
    let asked = Asked {
        folder: &folder,
        shard: arguments.shard,
        resume: arguments.resume,
        quiet: arguments.quiet,
        options: &options,
    };
    let record = carry(&suite, &asked, terminal)?;
    if arguments.json {
        print_json(out, &record)?;
    } else {
        let text = summary(&record, &relative(&folder), terminal);
        out.write_all(text.as_bytes()).map_err(Error::Output)?;
    }
    Ok(record.gravest())
}

/// What became of each scenario, and where more is said.
fn summary(record: &Record, folder: &Path, terminal: &Terminal) -> String {
    let mut table = Table::new([
        ("scenario", Align::Left),
        ("", Align::Left),
        ("time", Align::Right),
        ("expected", Align::Right),
        ("run", Align::Left),
    ]);
    for entry in &record.scenarios {
        let took = entry.seconds.map(|seconds| format!("{seconds:.1} s"));
        table.push([
            entry.name.clone(),
            entry.state.name().to_owned(),
            took.unwrap_or_else(|| "-".to_owned()),
            time(entry.expected_seconds),
            entry.run.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let shard = record.shard.as_ref();
    let shard = shard.map_or(String::new(), |shard| format!(", shard {shard}"));
    let mut text = format!("{}{shard}\n", record.suite);
    if record.scenarios.is_empty() {
        text.push_str("no scenario of the suite falls into this shard\n");
    } else {
        table.render(terminal, &mut text);
    }
    let done = |state: &State| matches!(state, State::Completed | State::Cancelled);
    let good = record.scenarios.iter().filter(|one| done(&one.state));
    let (good, all) = (good.count(), record.scenarios.len());
    let tone = if good == all { Tone::Good } else { Tone::Bad };
    let count = format!("{good} of {} as expected", counted(all as u64, "scenario"));
    let _ = writeln!(text, "\n{}", terminal.paint(tone, count));
    for entry in &record.scenarios {
        for finding in &entry.findings {
            hang(
                &mut text,
                "  ",
                &format!("{}: {finding}", entry.name),
                terminal.width,
            );
        }
    }
    let is_unfinished = |state| matches!(state, State::Interrupted | State::Waiting);
    if record.scenarios.iter().any(|one| is_unfinished(one.state)) {
        let _ = writeln!(
            text,
            "carry on with: bench suite run {}{} --out {} --resume",
            record.file,
            record
                .shard
                .as_ref()
                .map_or(String::new(), |shard| format!(" --shard {shard}")),
            folder.display()
        );
    }
    let _ = writeln!(text, "suite: {}", folder.join(SUITE_FILE).display());
    text
}

/// A scenario of a suite, in a line.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    scenario: String,
    variants: Vec<String>,
    /// Variants and repeats.
    arms: u64,
    /// Seconds that it is expected to take.
    seconds: f64,
}

impl Listed {
    fn of(member: &Member) -> Self {
        let scenario = &member.loaded.scenario;
        let variants = scenario.variants.iter();
        Self {
            name: member.name().to_owned(),
            scenario: member.named.clone(),
            variants: variants.map(|variant| variant.name.clone()).collect(),
            arms: order(scenario).count() as u64,
            seconds: member.seconds,
        }
    }
}

fn list(
    arguments: &SuiteListArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let suite = load(&arguments.file, &Setting::pairs(&arguments.set))?;
    let members = suite.in_shard(arguments.shard);
    let listed: Vec<Listed> = members.into_iter().map(Listed::of).collect();
    let seconds: f64 = listed.iter().map(|one| one.seconds).sum();
    if arguments.json {
        let json = serde_json::json!({
            "format": 1,
            "suite": suite.name,
            "about": suite.about,
            "shard": arguments.shard.map(|shard| shard.to_string()),
            "seconds": seconds,
            "scenarios": listed,
        });
        print_json(out, &json)?;
        return Ok(Exit::Ok);
    }
    let text = listing(&suite, arguments, &listed, seconds, terminal);
    out.write_all(text.as_bytes()).map_err(Error::Output)?;
    Ok(Exit::Ok)
}

fn listing(
    suite: &Suite,
    arguments: &SuiteListArguments,
    listed: &[Listed],
    seconds: f64,
    terminal: &Terminal,
) -> String {
    let title = terminal.paint(Tone::Heading, &suite.name);
    let shard = arguments.shard;
    let shard = shard.map_or(String::new(), |shard| format!(", shard {shard}"));
    let count = counted(listed.len() as u64, "scenario");
    let mut text = format!("{title}{shard}: {count}, about {}\n", time(seconds));
    if let Some(about) = &suite.about {
        hang(&mut text, "  ", about, terminal.width);
    }
    let mut table = Table::new([
        ("name", Align::Left),
        ("arms", Align::Right),
        ("time", Align::Right),
        ("scenario", Align::Left),
    ]);
    for one in listed {
        table.push([
            one.name.clone(),
            one.arms.to_string(),
            time(one.seconds),
            one.scenario.clone(),
        ]);
    }
    text.push('\n');
    table.render(terminal, &mut text);
    text
}
