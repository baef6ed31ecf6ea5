//! One pass over a scenario: both sides run, and what that says.

use super::against::{Against, both_sides};
use crate::cli::{GateArguments, Setting};
use crate::error::Error;
use crate::record::RunStatus;
use crate::run::{Options, datasets, program, start};
use crate::scenario::load;
use crate::terminal::Terminal;
use bench_reports::Run;
use bench_reports::gate::{Allowed, Compared, Rule, gate_interleaved};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// What a pass found.
pub(crate) struct Pass {
    /// The run directory.
    pub(crate) folder: PathBuf,
    /// Variant by variant.
    pub(crate) compared: Vec<Compared>,
}

/// What a pass is made with.
pub(crate) struct Asked<'a> {
    pub(crate) arguments: &'a GateArguments,
    pub(crate) against: &'a Against,
    pub(crate) rule: Rule,
    pub(crate) allowed: &'a Allowed,
    pub(crate) terminal: &'a Terminal,
}

/// Runs both sides of a scenario, of all variants or those that are named. Nothing where the run was
/// interrupted.
pub(crate) fn interleave(
    asked: &Asked<'_>,
    scenario: &str,
    pairs: u32,
    only: Option<&BTreeSet<String>>,
) -> Result<Option<Pass>, Error> {
    let arguments = asked.arguments;
    let mut loaded = load(scenario, &Setting::pairs(&arguments.set))?;
    let with_aa = !arguments.no_aa;
    loaded.scenario = both_sides(&loaded.scenario, asked.against, pairs, with_aa, only)?;
    let finished = start(&loaded, &options(asked, scenario, pairs)?, asked.terminal)?;
    if finished.status == RunStatus::Interrupted {
        return Ok(None);
    }
    let run = Run::read(&finished.folder)?;
    let base = asked.against.shown();
    Ok(Some(Pass {
        compared: gate_interleaved(&run, &base, asked.rule, asked.allowed)?,
        folder: finished.folder,
    }))
}

fn options(asked: &Asked<'_>, scenario: &str, pairs: u32) -> Result<Options, Error> {
    let arguments = asked.arguments;
    let mut command = format!(
        "bench gate --against '{}' {scenario} --pairs {pairs}",
        asked.against.shown()
    );
    for set in &arguments.set {
        let _ = write!(command, " --set '{}={}'", set.key, set.value);
    }
    if arguments.no_aa {
        command.push_str(" --no-aa");
    }
    Ok(Options {
        runs: arguments.runs.clone(),
        cache: datasets(arguments.cache.as_deref())?,
        keep_lakes: None,
        wipe: false,
        space_check: true,
        quiet: arguments.quiet,
        command,
        program: program()?,
    })
}
