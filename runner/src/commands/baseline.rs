//! `bench baseline`

use super::print_json;
use crate::baseline::{Saved, Store};
use crate::cli::{BaselineAction, BaselineArguments};
use crate::error::Error;
use crate::exit::Exit;
use crate::table::{Align, Table};
use crate::terminal::Terminal;
use bench_reports::Run;
use bench_reports::gate::{End, Entry, Part};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(
    arguments: &BaselineArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    match &arguments.action {
        BaselineAction::Save { baseline, runs } => save(baseline, runs, out),
        BaselineAction::List { baseline, json } => list(baseline, *json, terminal, out),
        BaselineAction::Show {
            baseline,
            name,
            json,
        } => show(baseline, name, *json, terminal, out),
        BaselineAction::Drop { baseline, names } => {
            let store = Store::open(baseline)?;
            for name in names {
                let dropped = store.drop(name)?;
                say(out, &format!("{name}: {} dropped", entries(dropped)))?;
            }
            Ok(Exit::Ok)
        }
    }
}

fn say(out: &mut dyn Write, line: &str) -> Result<(), Error> {
    writeln!(out, "{line}").map_err(Error::Output)
}

fn entries(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        many => format!("{many} entries"),
    }
}

/// Keeps the entries of runs. All of them are looked at before one is kept, and none of a run that is no
/// measure is.
fn save(baseline: &Path, runs: &[PathBuf], out: &mut dyn Write) -> Result<Exit, Error> {
    let mut all = Vec::new();
    for path in runs {
        let entries = Entry::of(&Run::read(path)?)?;
        if entries.is_empty() {
            return Err(Error::NotABaseline {
                run: path.clone(),
                why: "it has no variant",
            });
        }
        for entry in entries {
            let (exit, why) = match entry.end {
                End::Verified | End::NotVerified => {
                    all.push(entry);
                    continue;
                }
                End::Invalid => (Exit::Invalid, "its rows do not add up"),
                End::Failed => (Exit::WorkflowFailed, "a workflow failed"),
                End::Unfinished => {
                    return Err(Error::NotABaseline {
                        run: path.clone(),
                        why: "it has not ended; `bench run --resume` carries on with it",
                    });
                }
            };
            say(
                out,
                &format!(
                    "{}: nothing was kept: {}: {why}",
                    path.display(),
                    entry.name()
                ),
            )?;
            return Ok(exit);
        }
    }
    let store = Store::open_or_begin(baseline)?;
    for entry in all {
        let what = match store.save(&entry)? {
            Saved::Added => "kept",
            Saved::AlreadyThere => "was kept already",
        };
        let verified = match entry.end {
            End::Verified => "",
            _ => ", its rows not verified",
        };
        say(
            out,
            &format!("{} of {}: {what}{verified}", entry.name(), entry.run),
        )?;
    }
    Ok(Exit::Ok)
}

fn list(
    baseline: &Path,
    json: bool,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let all = Store::open(baseline)?.all()?;
    if json {
        let all: Vec<_> = all.iter().map(brief).collect();
        print_json(out, &serde_json::json!({ "format": 1, "entries": all }))?;
        return Ok(Exit::Ok);
    }
    if all.is_empty() {
        say(out, &format!("{}: nothing is kept", baseline.display()))?;
        return Ok(Exit::Ok);
    }
    let heads = ["scenario", "variant", "began", "run", "data set"];
    let mut table = Table::new(heads.map(|head| (head.to_owned(), Align::Left)));
    for entry in &all {
        let digest = entry.key.part(Part::Dataset).get("digest");
        let digest = digest.map_or("not told".to_owned(), |one| one.chars().take(8).collect());
        table.push([
            entry.scenario.clone(),
            entry.variant.clone(),
            entry.started.clone(),
            entry.run.clone(),
            digest,
        ]);
    }
    let mut text = String::new();
    table.render(terminal, &mut text);
    out.write_all(text.as_bytes()).map_err(Error::Output)?;
    Ok(Exit::Ok)
}

fn brief(entry: &Entry) -> serde_json::Value {
    serde_json::json!({
        "scenario": entry.scenario,
        "variant": entry.variant,
        "run": entry.run,
        "started": entry.started,
        "end": entry.end,
        "key": entry.key,
    })
}

fn show(
    baseline: &Path,
    name: &str,
    json: bool,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let all = Store::open(baseline)?.all()?;
    let named = |one: &&Entry| one.run == name || one.scenario == name || one.name() == name;
    let mut shown: Vec<&Entry> = Vec::new();
    for entry in all.iter().filter(named) {
        // They come in the order of time: of each variant the newest stays.
        if entry.run != name {
            shown.retain(|one| one.name() != entry.name());
        }
        shown.push(entry);
    }
    if shown.is_empty() {
        return Err(crate::baseline::StoreError::Nothing(name.to_owned()).into());
    }
    if json {
        print_json(out, &serde_json::json!({ "format": 1, "entries": shown }))?;
        return Ok(Exit::Ok);
    }
    for entry in shown {
        say(out, &format!("{} of {}", entry.name(), entry.run))?;
        for part in Part::ALL {
            let facts = entry.key.part(part).iter();
            let facts: Vec<String> = facts
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            say(out, &format!("  {}: {}", part.name(), facts.join(", ")))?;
        }
        let mut table = Table::new([
            ("  figure".to_owned(), Align::Left),
            ("values".to_owned(), Align::Right),
        ]);
        for (name, figure) in &entry.figures {
            let values: Vec<String> = figure.values.iter().map(ToString::to_string).collect();
            table.push([format!("  {name}"), values.join(" ")]);
        }
        let mut text = String::new();
        table.render(terminal, &mut text);
        out.write_all(text.as_bytes()).map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}
