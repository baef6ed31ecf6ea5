//! The command line: what can be asked, and how `--help` says so.

mod help;

pub use help::command;

use crate::inspect::Asked;
use clap::{Args, ColorChoice, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

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
    /// Show what the platform reads in a log, beside what the HL7 standard says
    Inspect(InspectArguments),
    /// Say what this machine can do, and what each missing thing would enable
    Doctor(DoctorArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page of bench or of one command
    Man(ManArguments),
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
