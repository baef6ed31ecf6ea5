//! Arguments of `bench suite`.

use super::Setting;
use crate::suite::Shard;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `bench suite`
#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:
  bench suite list bench-suites/nightly.toml
  bench suite run bench-suites/smoke.toml

docs/suites.md explains a suite's file, sharing it out, and what a night in CI looks like."
)]
pub struct SuiteArguments {
    /// What is asked.
    #[command(subcommand)]
    pub command: SuiteCommand,
}

/// What can be done with a suite.
#[derive(Debug, Subcommand)]
pub enum SuiteCommand {
    /// Carry out the scenarios of a suite, each in a run directory of its own
    Run(Box<SuiteRunArguments>),
    /// List the scenarios of a suite, and what each is expected to take
    List(SuiteListArguments),
}

/// `bench suite run`
#[derive(Args, Debug)]
#[command(
    after_help = "A scenario that fails does not keep the next from running; the exit code is the gravest of them
(docs/exit-codes.md). Ctrl-C ends the suite cleanly, and --resume carries on with it.

Examples:
  bench suite run bench-suites/smoke.toml
  bench suite run bench-suites/nightly.toml --out night
  bench suite run bench-suites/nightly.toml --out night --resume
  bench suite run bench-suites/nightly.toml --shard 2/3 --out night-2
  bench suite run bench-suites/smoke.toml --set measure.repeats=3"
)]
pub struct SuiteRunArguments {
    /// A suite's file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only this part of several, as in 2/3; all parts together do each scenario once
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// The suite's folder: suite.json, and the run directories in runs/ [default: a new one in suites/]
    #[arg(long, value_name = "DIR", required_if_eq("resume", "true"))]
    pub out: Option<PathBuf>,
    /// Carry on with the suite in --out: what has not ended is carried on with, what did stays
    #[arg(long)]
    pub resume: bool,
    /// Override a key of every scenario, as in measure.repeats=3; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Where generated data sets are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Keep the lakes, whatever the scenarios say
    #[arg(long, conflicts_with = "drop_lakes")]
    pub keep_lakes: bool,
    /// Drop the lakes once they are verified, whatever the scenarios say
    #[arg(long)]
    pub drop_lakes: bool,
    /// Do not look for room on the disk first
    #[arg(long)]
    pub no_space_check: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench suite list`
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  bench suite list bench-suites/nightly.toml
  bench suite list bench-suites/nightly.toml --shard 2/3 --json | jq -r '.scenarios[].name'")]
pub struct SuiteListArguments {
    /// A suite's file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only this part of several, as in 2/3
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Override a key of every scenario, as in measure.repeats=3; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
