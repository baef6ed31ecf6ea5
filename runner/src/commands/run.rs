//! `bench run`

use super::print_json;
use crate::cli::{RunArguments, Setting};
use crate::doctor::Machine;
use crate::error::Error;
use crate::exit::Exit;
use crate::plan::{self, Logs, Plan};
use crate::record::RunStatus;
use crate::run::{Finished, Options, REPORT_FILE, datasets, program, resume, start};
use crate::scenario::{Scenario, load};
use crate::table::{Align, Table};
use crate::terminal::{Terminal, Tone};
use bench_reports::{Cell, Evidence, Run, report};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(
    arguments: &RunArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let options = options(arguments)?;
    let finished = match (&arguments.resume, &arguments.scenario) {
        (Some(folder), _) => resume(folder, &options, terminal)?,
        (None, scenario) => {
            let name = scenario.as_deref().unwrap_or_default();
            let mut loaded = load(name, &Setting::pairs(&arguments.set))?;
            loaded.only(&arguments.variant)?;
            if arguments.dry_run {
                return show_plan(&loaded.scenario, arguments, terminal, out);
            }
            start(&loaded, &options, terminal)?
        }
    };
    if arguments.json {
        let json = serde_json::json!({
            "format": 1,
            "run": finished.folder,
            "status": finished.status.name(),
            "findings": finished.findings,
        });
        print_json(out, &json)?;
    } else {
        out.write_all(text(&finished, terminal).as_bytes())
            .map_err(Error::Output)?;
    }
    Ok(finished.exit)
}

/// Says what the run would do.
fn show_plan(
    scenario: &Scenario,
    arguments: &RunArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let mut plan = Plan::of(scenario, &Logs::foresee(&scenario.dataset)?);
    if let Some(obstacle) = crate::spark::obstacle(scenario, &Machine) {
        plan.notes
            .push(format!("This cannot be run yet: {obstacle}."));
    }
    if arguments.json {
        print_json(out, &plan)?;
    } else {
        out.write_all(plan::text(&plan, terminal).as_bytes())
            .map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}

fn options(arguments: &RunArguments) -> Result<Options, Error> {
    let keep_lakes = kept(arguments.keep_lakes, arguments.drop_lakes);
    Ok(Options {
        runs: arguments.out.clone(),
        cache: datasets(arguments.cache.as_deref())?,
        keep_lakes,
        wipe: arguments.wipe,
        space_check: !arguments.no_space_check,
        quiet: arguments.quiet,
        command: command(arguments, keep_lakes),
        program: program()?,
    })
}

/// Whether lakes stay, where one of the two flags says so.
pub(crate) fn kept(keep: bool, drop: bool) -> Option<bool> {
    match (keep, drop) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// The command that makes the same run again.
fn command(arguments: &RunArguments, keep_lakes: Option<bool>) -> String {
    let sets = Setting::pairs(&arguments.set);
    let scenario = arguments.scenario.as_deref();
    reproduce(scenario, &sets, &arguments.variant, keep_lakes)
}

/// The command that makes a run of a scenario.
pub(crate) fn reproduce(
    scenario: Option<&str>,
    sets: &[(String, String)],
    variants: &[String],
    keep_lakes: Option<bool>,
) -> String {
    let mut command = "bench run".to_owned();
    if let Some(scenario) = scenario {
        let _ = write!(command, " {}", quoted(scenario));
    }
    for (key, value) in sets {
        let _ = write!(command, " --set {}", quoted(&format!("{key}={value}")));
    }
    for variant in variants {
        let _ = write!(command, " --variant {}", quoted(variant));
    }
    match keep_lakes {
        Some(true) => command.push_str(" --keep-lakes"),
        Some(false) => command.push_str(" --drop-lakes"),
        None => {}
    }
    command
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn text(finished: &Finished, terminal: &Terminal) -> String {
    let mut text = String::new();
    let (tone, verdict) = match finished.status {
        RunStatus::Completed | RunStatus::Cancelled => (Tone::Good, "completed"),
        RunStatus::Invalid => (Tone::Bad, "invalid: the rows do not add up"),
        RunStatus::Failed => (Tone::Bad, "failed"),
        RunStatus::Interrupted => (Tone::Warning, "interrupted"),
        RunStatus::Running => (Tone::Warning, "running"),
    };
    let _ = writeln!(text, "{}", terminal.paint(tone, verdict));
    for finding in &finished.findings {
        let _ = writeln!(text, "  {finding}");
    }
    let folder = relative(&finished.folder);
    if let Ok(report) = Run::read(&finished.folder).and_then(|run| report(&[run])) {
        text.push('\n');
        evidence(&report.evidence, terminal, &mut text);
        text.push('\n');
    }
    if finished.status == RunStatus::Interrupted {
        let _ = writeln!(
            text,
            "carry on with: bench run --resume {}",
            folder.display()
        );
    } else {
        let _ = writeln!(text, "report: {}", folder.join(REPORT_FILE).display());
    }
    text
}

/// The evidence table as plain text.
fn evidence(evidence: &Evidence, terminal: &Terminal, text: &mut String) {
    let columns = evidence.columns.iter();
    let columns = std::iter::once((String::new(), Align::Left))
        .chain(columns.map(|column| (column.show(), Align::Right)));
    let mut table = Table::new(columns);
    for row in &evidence.rows {
        let mut cells = vec![row.name.clone()];
        // Why there is none stands in the report, which has room for it.
        let short = |cell: &Cell| match cell {
            Cell::Missing { .. } => "n/a".to_owned(),
            cell => cell.show(row.unit),
        };
        cells.extend(row.cells.iter().map(short));
        table.push(cells);
    }
    table.render(terminal, text);
}

/// A path from the current folder, where that is shorter.
pub(crate) fn relative(path: &Path) -> PathBuf {
    std::env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf))
        .unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_change_is_quoted() {
        assert_eq!(quoted("settings.vacuum=end"), "settings.vacuum=end");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
