//! `bench gate`

use crate::baseline::Store;
use crate::cli::{GateArguments, GateFormat};
use crate::error::Error;
use crate::exit::Exit;
use crate::gate::{Against, Asked, interleave};
use crate::terminal::Terminal;
use bench_reports::Run;
use bench_reports::gate::{
    Allowed, Compared, Entry, Gate, Rule, Verdict, confirmed, gate_benchmark, gate_entry,
    gate_json, gate_junit, gate_markdown, is_suspect,
};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(
    arguments: &GateArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let mut allowed = Allowed {
        across: arguments.across.iter().map(|one| one.part()).collect(),
        ..Allowed::default()
    };
    for tolerance in &arguments.tolerance {
        allowed.tolerances.declare(tolerance)?;
    }
    let gate = match (&arguments.baseline, &arguments.against) {
        (Some(store), _) => against_store(store, &arguments.subjects, &allowed)?,
        (None, against) => {
            let against = Against::read(against.as_deref().unwrap_or_default())?;
            match beside(arguments, &against, &allowed, terminal)? {
                Ok(gate) => gate,
                Err(interrupted) => return Ok(interrupted),
            }
        }
    };
    if let Some(folder) = &arguments.out {
        write(folder, &gate)?;
    }
    let text = match arguments.format {
        GateFormat::Md => gate_markdown(&gate),
        GateFormat::Json => gate_json(&gate),
        GateFormat::Junit => gate_junit(&gate),
        GateFormat::Benchmark => gate_benchmark(&gate),
    };
    out.write_all(text.as_bytes()).map_err(Error::Output)?;
    Ok(exit(gate.verdict))
}

/// The exit code of a verdict.
const fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Same | Verdict::Better | Verdict::Unstable => Exit::Ok,
        Verdict::Invalid => Exit::Invalid,
        Verdict::Failed => Exit::WorkflowFailed,
        Verdict::Worse => Exit::Regression,
        Verdict::NotComparable => Exit::NotComparable,
        Verdict::NoBaseline => Exit::NoBaseline,
    }
}

/// Holds runs against a store.
fn against_store(folder: &Path, runs: &[String], allowed: &Allowed) -> Result<Gate, Error> {
    let store = Store::open(folder)?;
    let mut variants = Vec::new();
    for run in runs {
        for entry in Entry::of(&Run::read(Path::new(run))?)? {
            let stored = store.entries(&entry.scenario, &entry.variant)?;
            variants.push(gate_entry(&entry, &stored, allowed));
        }
    }
    let how = vec![
        format!(
            "counters against the newest entry of `{}` that may be compared; they are exact, so one run is enough",
            folder.display()
        ),
        "times are shown and do not gate: the two sides ran on different nights. `bench gate --against` gates them".to_owned(),
    ];
    Ok(Gate::of(variants, how))
}

/// Runs both sides of each scenario and judges them; what looked worse once more, where that is asked for.
/// The inner error is the exit code of a run that was interrupted.
fn beside(
    arguments: &GateArguments,
    against: &Against,
    allowed: &Allowed,
    terminal: &Terminal,
) -> Result<Result<Gate, Exit>, Error> {
    let rule = Rule {
        band: arguments.band.0,
        least: arguments.least.0,
    };
    let asked = Asked {
        arguments,
        against,
        rule,
        allowed,
        terminal,
    };
    let mut variants: Vec<Compared> = Vec::new();
    let mut runs = Vec::new();
    for scenario in &arguments.subjects {
        let Some(first) = interleave(&asked, scenario, arguments.pairs, None)? else {
            return Ok(Err(Exit::Interrupted));
        };
        runs.push(first.folder);
        let suspects: BTreeSet<String> = first
            .compared
            .iter()
            .filter(|one| is_suspect(one, rule))
            .map(|one| one.variant.clone())
            .collect();
        match arguments.confirm.filter(|_| !suspects.is_empty()) {
            None => variants.extend(first.compared),
            Some(pairs) => {
                let Some(second) = interleave(&asked, scenario, pairs, Some(&suspects))? else {
                    return Ok(Err(Exit::Interrupted));
                };
                runs.push(second.folder);
                variants.extend(confirmed(first.compared, second.compared));
            }
        }
    }
    Ok(Ok(Gate::of(variants, how(arguments, against, &runs))))
}

fn how(arguments: &GateArguments, against: &Against, runs: &[PathBuf]) -> Vec<String> {
    let mut how = vec![
        format!(
            "both sides ran interleaved (A B, then B A), {} pairs; the old side is `{}`",
            arguments.pairs,
            against.shown()
        ),
        format!(
            "a time is worse where p < 0.05, its interval lies above +{:.0} %, and the middle of its pairs is at least {:.0} % up",
            100.0 * arguments.band.0,
            100.0 * arguments.least.0
        ),
    ];
    if let Some(pairs) = arguments.confirm {
        how.push(format!(
            "what looked worse was run again with {pairs} pairs, and those alone count"
        ));
    }
    for run in runs {
        how.push(format!("run: `{}`", run.display()));
    }
    how
}

/// Writes a verdict in all its forms.
fn write(folder: &Path, gate: &Gate) -> Result<(), Error> {
    let at = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Write { path, source }
    };
    fs::create_dir_all(folder).map_err(at(folder))?;
    for (name, text) in [
        ("verdict.json", gate_json(gate)),
        ("junit.xml", gate_junit(gate)),
        ("summary.md", gate_markdown(gate)),
        ("benchmark.json", gate_benchmark(gate)),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(at(&path))?;
    }
    Ok(())
}
