//! Arguments of the nightly commands: baselines, the gate, the trend.

use super::Setting;
use bench_reports::gate::Part;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// `bench baseline`
#[derive(Args, Debug)]
pub struct BaselineArguments {
    /// What to do with the store.
    #[command(subcommand)]
    pub action: BaselineAction,
}

/// What to do with a store of baselines.
#[derive(Debug, Subcommand)]
pub enum BaselineAction {
    /// Keep what runs measured, an entry for each variant
    #[command(after_help = "Examples:
  bench baseline save --baseline baselines runs/20261130T074501Z-quickstart-3fa9")]
    Save {
        /// The store: a folder, which is made if it is missing
        #[arg(long, value_name = "STORE")]
        baseline: PathBuf,
        /// Run directories
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<PathBuf>,
    },
    /// List what a store holds
    List {
        /// The store
        #[arg(long, value_name = "STORE")]
        baseline: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an entry: what it may be compared with, and its figures
    #[command(after_help = "Examples:
  bench baseline show --baseline baselines quickstart/tuned
  bench baseline show --baseline baselines 20261130T074501Z-quickstart-3fa9 --json")]
    Show {
        /// The store
        #[arg(long, value_name = "STORE")]
        baseline: PathBuf,
        /// A run, or SCENARIO or SCENARIO/VARIANT, of which the newest is shown
        #[arg(value_name = "NAME")]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Drop entries
    #[command(after_help = "Examples:
  bench baseline drop --baseline baselines 20261130T074501Z-quickstart-3fa9
  bench baseline drop --baseline baselines quickstart/tuned")]
    Drop {
        /// The store
        #[arg(long, value_name = "STORE")]
        baseline: PathBuf,
        /// Runs, or SCENARIO or SCENARIO/VARIANT for all that is kept of it
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}

/// `bench gate`
#[derive(Args, Debug)]
#[command(
    override_usage = "\
bench gate --baseline <STORE> [OPTIONS] <RUN>...
       bench gate --against <BINARY|COMMAND> [OPTIONS] <SCENARIO>...",
    after_help = "With --baseline, exact counters of runs are held against a store; times are shown and never gate.
With --against, both sides run here, interleaved, so that times gate too, from 6 pairs on.
Exit codes: 0 nothing is worse, 10 rows do not add up, 11 a workflow failed, 12 worse, 13 not comparable, 14 no baseline.
docs/gate.md has the rules.

Examples:
  bench gate --baseline baselines runs/20261130T074501Z-quickstart-3fa9
  bench gate --baseline baselines runs/new --across version --tolerance live_files=5%
  bench gate --against ./bench-of-yesterday quickstart --pairs 10
  bench gate --against ./bench-of-yesterday quickstart dev04-matched --pairs 3 --confirm 10"
)]
pub struct GateArguments {
    /// A store of baselines to hold runs against
    #[arg(
        long,
        value_name = "STORE",
        required_unless_present = "against",
        conflicts_with = "against"
    )]
    pub baseline: Option<PathBuf>,
    /// What to hold scenarios against: a bench binary (one word), or the command of a worker (several)
    #[arg(long, value_name = "BINARY|COMMAND")]
    pub against: Option<String>,
    /// Run directories with --baseline, scenarios with --against
    #[arg(value_name = "RUN|SCENARIO", required = true)]
    pub subjects: Vec<String>,
    /// A part that may differ although two sides are compared; may be repeated
    #[arg(
        long,
        value_enum,
        value_name = "PART",
        help_heading = "What is compared"
    )]
    pub across: Vec<PartName>,
    /// By how much a counter may grow, as in live_files=5% or reports.live_files=3; may be repeated
    #[arg(long, value_name = "FIGURE=N", help_heading = "What is compared")]
    pub tolerance: Vec<String>,
    /// Leave alone what a time is up by no more than this
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "2%",
        help_heading = "What is compared"
    )]
    pub band: Share,
    /// A time is worse only if the middle of its pairs is up by at least this
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "5%",
        help_heading = "What is compared"
    )]
    pub least: Share,

    /// Pairs of arms; times gate from 6 on
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "How it is run, with --against")]
    pub pairs: u32,
    /// Run what looked worse again with so many pairs; only what is worse then counts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), requires = "against", help_heading = "How it is run, with --against")]
    pub confirm: Option<u32>,
    /// Do not run the old side twice: a third less time, and nothing says what the machine does by itself
    #[arg(
        long,
        requires = "against",
        help_heading = "How it is run, with --against"
    )]
    pub no_aa: bool,
    /// Override a key of the scenarios; may be repeated
    #[arg(
        long,
        value_name = "KEY=VALUE",
        requires = "against",
        help_heading = "How it is run, with --against"
    )]
    pub set: Vec<Setting>,
    /// Folder in which run directories are made
    #[arg(
        long,
        value_name = "DIR",
        default_value = "runs",
        help_heading = "How it is run, with --against"
    )]
    pub runs: PathBuf,
    /// Where generated data sets are kept [default: the user's cache folder]
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "How it is run, with --against"
    )]
    pub cache: Option<PathBuf>,
    /// Show no progress
    #[arg(long, short, help_heading = "How it is run, with --against")]
    pub quiet: bool,

    /// Write verdict.json, junit.xml, summary.md and benchmark.json into a folder
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is printed
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value = "md")]
    pub format: GateFormat,
}

/// A form of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// Markdown, for the summary of a CI job or a comment.
    Md,
    /// Every figure and reason, for programs.
    Json,
    /// JUnit XML, for the test view of CI.
    Junit,
    /// Figures for github-action-benchmark, customSmallerIsBetter.
    Benchmark,
}

/// A part of what two sides must have in common, as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    /// The logs.
    Dataset,
    /// Sequence, resources, settings and faults.
    Scenario,
    /// Kind, pipeline and command of the target.
    Target,
    /// Versions of the target.
    Version,
    /// Processor, cores, memory and storage.
    Host,
}

impl PartName {
    /// What it names.
    #[must_use]
    pub const fn part(self) -> Part {
        match self {
            Self::Dataset => Part::Dataset,
            Self::Scenario => Part::Scenario,
            Self::Target => Part::Target,
            Self::Version => Part::Version,
            Self::Host => Part::Host,
        }
    }
}

/// A share, written as `5%` or `0.05`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "write it as a share from 0 to 1, as in 5% or 0.05";
        let (number, unit) = match text.strip_suffix('%') {
            Some(number) => (number, 0.01),
            None => (text, 1.0),
        };
        let share = number.trim().parse::<f64>().map_err(|_| wrong)? * unit;
        match (0.0..=1.0).contains(&share) {
            true => Ok(Self(share)),
            false => Err(wrong),
        }
    }
}

/// `bench trend`
#[derive(Args, Debug)]
#[command(
    after_help = "A series is a figure of a variant over the runs of a store. It begins anew where the data set, the
scenario, the target, its versions or the host class change. An alarm, not a gate: the exit code is 0.

Examples:
  bench trend baselines
  bench trend baselines --format html --out trend.html
  bench trend baselines --format json | jq '.series[] | select(.changes != [])'"
)]
pub struct TrendArguments {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// What it is made as
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value = "md")]
    pub format: TrendFormat,
    /// Write it to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Runs that have to stand on both sides of a change
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub min_segment: u32,
    /// The least change of the middle that counts
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub min_change: Share,
}

/// A form of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrendFormat {
    /// Markdown.
    Md,
    /// JSON.
    Json,
    /// One page that needs nothing else.
    Html,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_either_way() {
        assert_eq!("5%".parse(), Ok(Share(0.05)));
        assert_eq!("0.05".parse(), Ok(Share(0.05)));
        for wrong in ["5", "-1%", "x", "", "nan"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
