//! The command line: what can be asked, and how `--help` says so.

mod data;
mod eventlog;
mod gate;
mod help;
mod reports;
mod suite;

pub use data::{GenerateArguments, MessageName, TruthArguments};
pub use eventlog::EventlogArguments;
pub use gate::{
    BaselineAction, BaselineArguments, GateArguments, GateFormat, PartName, Share, TrendArguments,
    TrendFormat,
};
pub use help::command;
pub use reports::{
    ClaimName, CompareArguments, ImportArguments, ReportArguments, ReportFormat, Side,
};
pub use suite::{SuiteArguments, SuiteCommand, SuiteListArguments, SuiteRunArguments};

use crate::inspect::Asked;
use clap::{Args, ColorChoice, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// The arguments of `bench`.
#[derive(Debug, Parser)]
#[command(
    name = "bench",
    version,
    about = "A test bench for platforms that ingest HL7 logs into a Delta lake",
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// When to colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        display_order = 900
    )]
    pub color: ColorChoice,
    /// What is asked.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Reads the arguments, the first of which is the program's name.
    ///
    /// # Errors
    /// Usage errors, and what clap treats like one: the texts of `--help` and `--version`.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&command().try_get_matches_from(arguments)?)
    }
}

/// The commands of `bench`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Carry out a scenario: measure ingest, and prove that no row was lost
    Run(Box<RunArguments>),
    /// Verify the lakes of a run once more
    Verify(VerifyArguments),
    /// Make the report of runs, side by side
    Report(ReportArguments),
    /// Say which claims two runs support, and which not, and why
    Compare(CompareArguments),
    /// Make a run directory of what somebody measured by hand
    Import(ImportArguments),
    /// Keep what runs measured, for later nights to be held against
    Baseline(BaselineArguments),
    /// Say whether something has become worse, beyond noise
    Gate(Box<GateArguments>),
    /// Show how figures go over many nights, and where they changed
    Trend(TrendArguments),
    /// List the scenarios that come with bench
    List(ListArguments),
    /// Show a scenario, every value with where it came from
    Show(ShowArguments),
    /// Carry out several scenarios, one after the other or shared out among machines
    Suite(SuiteArguments),
    /// Print the JSON Schema of scenario files, for editors
    Schema,
    /// Make a data set of HL7 logs with its truth, the same bytes anywhere
    Generate(Box<GenerateArguments>),
    /// Print what must become of one message of a data set
    Truth(TruthArguments),
    /// Ingest a folder of logs into the platform's tables on Delta, with the embedded engine
    Ingest(IngestArguments),
    /// Be an engine that a runner drives over standard input and output
    Worker(WorkerArguments),
    /// Become a worker inside its limits; used by bench itself
    #[command(hide = true)]
    Launch(LaunchArguments),
    /// Show what the platform reads in a log, beside what the HL7 standard says
    Inspect(InspectArguments),
    /// Show what an event log says that Spark did, by workflow and stage
    Eventlog(EventlogArguments),
    /// Say what this machine can do, and what each missing thing would enable
    Doctor(DoctorArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page of bench or of one command
    Man(ManArguments),
}

/// `bench run`
#[derive(Args, Debug)]
#[command(
    override_usage = "\
bench run [OPTIONS] <SCENARIO>
       bench run --resume <RUN>",
    after_help = "A run directory holds everything that is known of a run; docs/run-directory.md explains it.
Ctrl-C ends a run cleanly, and --resume carries on with it, also after a crash.

Examples:
  bench run quickstart
  bench run scenarios/dev04-sequential.toml
  bench run dev04-sequential --set settings.shuffle_partitions=32
  bench run dev04-sequential --variant tuned
  bench run dev04-sequential --set dataset.path=logs --dry-run
  bench run --resume runs/20261130T074501Z-quickstart-3fa9"
)]
pub struct RunArguments {
    /// A scenario file, or the name of a shipped scenario (`bench list`)
    #[arg(value_name = "SCENARIO", required_unless_present = "resume")]
    pub scenario: Option<String>,
    /// Carry on with a run that was interrupted or whose runner died
    #[arg(long, value_name = "RUN", conflicts_with_all = ["scenario", "set", "variant", "out", "wipe", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// Override a key of the scenario, as in settings.shuffle_partitions=32; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Run this variant and no other; may be repeated
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// Folder in which the run directory is made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub out: PathBuf,
    /// Where generated data sets are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Print the plan and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Keep the lakes, whatever the scenario says
    #[arg(long, conflicts_with = "drop_lakes")]
    pub keep_lakes: bool,
    /// Drop the lakes once they are verified, whatever the scenario says
    #[arg(long)]
    pub drop_lakes: bool,
    /// Empty a lake that is not, instead of refusing it
    #[arg(long)]
    pub wipe: bool,
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

/// `bench verify`
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  bench verify runs/20261130T074501Z-quickstart-3fa9")]
pub struct VerifyArguments {
    /// A run directory whose lakes were kept
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench launch`
#[derive(Args, Debug)]
pub struct LaunchArguments {
    /// Process id of the runner, which must be the parent
    #[arg(long, value_name = "PID")]
    pub parent: u32,
    /// File of a control group to enter
    #[arg(long, value_name = "FILE")]
    pub cgroup_procs: Vec<PathBuf>,
    /// Processors to use
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub cpus: Vec<usize>,
    /// Program and arguments
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}

/// `bench list`
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  bench list
  bench list --json | jq -r '.scenarios[].name'")]
pub struct ListArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench show`
#[derive(Args, Debug)]
#[command(
    after_help = "A value comes from --set, the matrix, the variant, the file or the default, in this order.
docs/scenarios.md explains every key.

Examples:
  bench show quickstart
  bench show scenarios/dev04-sequential.toml --set settings.shuffle_partitions=32
  bench show dev05-concurrent --set variants.default.resources.memory=4GiB
  bench show quickstart --toml > mine.toml"
)]
pub struct ShowArguments {
    /// A scenario file, or the name of a shipped scenario (`bench list`)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Override a key of the scenario, as in settings.shuffle_partitions=32; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print a scenario file that loads as the same
    #[arg(long, conflicts_with = "json")]
    pub toml: bool,
}

/// `bench ingest`
#[derive(Args, Debug)]
#[command(
    after_help = "Logs are taken in path order. Ingesting the same logs again commits nothing. Logs that fail are
listed and do not fail the ingest; a workflow that fails ends it with exit code 11, and what was
committed stays.

Examples:
  bench ingest D1 --lake lake
  bench ingest D1 --lake lake --set shuffle_partitions=16 --set optimize_write=true
  bench ingest logs --lake lake --json | jq .ledger.failed_logs

docs/embedded.md explains the settings."
)]
pub struct IngestArguments {
    /// Folder of logs
    #[arg(value_name = "LOGS")]
    pub logs: PathBuf,
    /// The lake: a folder, whose tables are made if they are missing
    #[arg(long, value_name = "DIR")]
    pub lake: String,
    /// Logs that one workflow takes
    #[arg(long, value_name = "N", default_value = "150")]
    pub files_per_workflow: NonZeroUsize,
    /// Set a write setting, as in shuffle_partitions=16; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Map exam codes to modalities by this CSV file instead of the one built in
    #[arg(long, value_name = "FILE.csv")]
    pub modalities: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A setting as text: `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key; the engine knows which there are.
    pub key: String,
    /// The value.
    pub value: String,
}

impl Setting {
    /// Keys and values of some.
    #[must_use]
    pub fn pairs(settings: &[Self]) -> Vec<(String, String)> {
        let pair = |one: &Self| (one.key.clone(), one.value.clone());
        settings.iter().map(pair).collect()
    }
}

impl FromStr for Setting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, value) = text
            .split_once('=')
            .ok_or("write it as KEY=VALUE, as in shuffle_partitions=16")?;
        Ok(Self {
            key: key.trim().to_owned(),
            value: value.trim().to_owned(),
        })
    }
}

/// `bench worker`
#[derive(Args, Debug)]
#[command(after_help = "The protocol, JSON lines, is in docs/worker-protocol.md.")]
pub struct WorkerArguments {
    /// The engine
    #[arg(value_enum, value_name = "ENGINE")]
    pub kind: WorkerKind,
}

/// Engines that are part of bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WorkerKind {
    /// The engine written for this bench, on Delta.
    Embedded,
    /// Only answers: what a run with it costs, the harness costs.
    Null,
}

/// `bench inspect`
#[derive(Args, Debug)]
#[command(
    after_help = "Without --message, a table of all messages. Control characters are shown as pictures (␊).

Examples:
  bench inspect 20230113.log
  bench inspect 20230113.log --message 4
  bench inspect 20230113.log --message 4 --field PID-5 --field report_text
  bench inspect 20230113.log --json | jq '.messages[] | select(.outcome != \"read\")'"
)]
pub struct InspectArguments {
    /// A log, whatever its name
    #[arg(value_name = "FILE.log")]
    pub file: PathBuf,
    /// Show this message in full; they count from 0
    #[arg(long, short, value_name = "N")]
    pub message: Option<u32>,
    /// Fields and columns to show in full.
    #[arg(
        long,
        short,
        value_name = "FIELD",
        help = "Show this field (PID-5, PID-3.4, OBX[2]-5) or column (report_text) in full; may be repeated"
    )]
    pub field: Vec<Asked>,
    /// Map exam codes to modalities by this CSV file instead of the one built in
    #[arg(long, value_name = "FILE.csv")]
    pub modalities: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench doctor`
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  bench doctor
  bench doctor --json | jq '.checks[] | select(.state != \"ok\") | .name'")]
pub struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench completions`
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  bench completions bash > ~/.local/share/bash-completion/completions/bench
  bench completions zsh > ~/.zfunc/_bench
  bench completions fish > ~/.config/fish/completions/bench.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `bench man`
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  bench man | man -l -
  bench man doctor > bench-doctor.1")]
pub struct ManArguments {
    /// The command to describe; without it, bench as a whole
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}
