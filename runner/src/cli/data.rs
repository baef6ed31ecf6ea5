//! Arguments of the commands on data sets.

use clap::Args;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

/// `bench generate`
#[derive(Args, Debug)]
#[command(
    override_usage = "\
bench generate [OPTIONS] --out <DIR>
       bench generate --resume --out <DIR>
       bench generate --continue <DIR> --days <D>",
    after_help = "Examples:
  bench generate --messages 100000 --log-files 3591 --seed 20251029 --out D1
  bench generate --profile dirty --per-day 200 --days 30 --out month
  bench generate --continue month --days 60
  bench generate --profile ./my-profile.toml --out mine

The profiles shipped are varied, lifelike, webs, dirty and production; generator/profiles
holds them, and varied.toml explains every key."
)]
pub struct GenerateArguments {
    /// Folder of the data set; new, or empty
    #[arg(long, value_name = "DIR", required_unless_present = "continue_")]
    pub out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// A shipped profile, or the path of a TOML file [default: varied]
    #[arg(long, value_name = "NAME|FILE", help_heading = "What to make")]
    pub profile: Option<String>,
    /// A spec as a TOML file
    #[arg(
        long,
        value_name = "FILE.toml",
        conflicts_with = "profile",
        help_heading = "What to make"
    )]
    pub spec: Option<PathBuf>,
    /// Messages in all
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "per_day",
        help_heading = "What to make"
    )]
    pub messages: Option<u64>,
    /// Logs in all
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "days",
        help_heading = "What to make"
    )]
    pub log_files: Option<u64>,
    /// Messages a day on average; only a data set made from a rate can be continued
    #[arg(long, value_name = "R", help_heading = "What to make")]
    pub per_day: Option<f64>,
    /// Days
    #[arg(long, value_name = "D", help_heading = "What to make")]
    pub days: Option<u64>,
    /// First day, YYYY-MM-DD
    #[arg(long, value_name = "DAY", help_heading = "What to make")]
    pub start: Option<String>,
    /// Seed of all draws
    #[arg(long, value_name = "N", help_heading = "What to make")]
    pub seed: Option<u64>,
    /// Encoding of the logs: latin-1 or utf-8
    #[arg(long, value_name = "NAME", help_heading = "What to make")]
    pub encoding: Option<String>,

    /// Threads; the bytes do not depend on it [default: all cores]
    #[arg(long, value_name = "N", help_heading = "How to make it")]
    pub threads: Option<NonZeroUsize>,
    /// Only the logs from A up to and without B, in path order from 0
    #[arg(long, value_name = "A..B", value_parser = range, help_heading = "How to make it")]
    pub only_files: Option<Range<u64>>,
    /// Finish a data set that was begun in --out
    #[arg(long, help_heading = "How to make it")]
    pub resume: bool,
    /// Add later days to a data set made from a rate, up to --days in all
    #[arg(
        id = "continue_",
        long = "continue",
        value_name = "DIR",
        requires = "days",
        conflicts_with_all = [
            "out", "profile", "spec", "messages", "log_files", "per_day", "start", "seed",
            "encoding", "only_files", "resume"
        ],
        help_heading = "How to make it"
    )]
    pub continue_: Option<PathBuf>,
}

/// `A..B`
fn range(text: &str) -> Result<Range<u64>, String> {
    let number = |part: &str| part.parse().ok();
    text.split_once("..")
        .and_then(|(from, until)| Some(number(from)?..number(until)?))
        .filter(|range| !range.is_empty())
        .ok_or_else(|| "write it as A..B, two numbers from 0, A less than B".to_owned())
}

/// `bench truth`
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  bench truth D1 2015/20150101.log:0
  bench truth D1 20150101:0 --json | jq .curated.accession_number")]
pub struct TruthArguments {
    /// Folder of the data set
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// A log of it and the number of a message in that log, from 0
    #[arg(value_name = "FILE:N")]
    pub message: MessageName,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A message by its log and number: `20150101.log:0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageName {
    /// Path, file name or stem of the log.
    pub log: String,
    /// Number within the log, from 0.
    pub ordinal: u32,
}

impl FromStr for MessageName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.rsplit_once(':')
            .filter(|(log, _)| !log.is_empty())
            .and_then(|(log, number)| {
                Some(Self {
                    log: log.to_owned(),
                    ordinal: number.parse().ok()?,
                })
            })
            .ok_or("write it as FILE:N, as in 2015/20150101.log:0, with N from 0")
    }
}
