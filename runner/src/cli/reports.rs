//! Arguments of the commands that read run directories.

use clap::Args;
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

/// `bench report`
#[derive(Args, Debug)]
#[command(
    after_help = "A column is a variant; with several runs, each variant of each. The same runs give the same bytes.

Examples:
  bench report runs/20261130T074501Z-quickstart-3fa9
  bench report runs/20261130T074501Z-quickstart-3fa9 runs/20261130T091502Z-quickstart-71d0 --out report.html
  bench report runs/*-dev04-sequential-* --format csv --out figures.csv
  bench report runs/20261130T074501Z-quickstart-3fa9 --format json | jq '.evidence.rows[].name'"
)]
pub struct ReportArguments {
    /// Run directories
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// What the report is made as [default: by the name of --out, else md]
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// Write it to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// Markdown, for a pull request.
    Md,
    /// One page with charts, which needs no network.
    Html,
    /// Every figure and sentence, for programs.
    Json,
    /// The evidence table, a line a cell.
    Csv,
}

/// `bench compare`
#[derive(Args, Debug)]
#[command(
    after_help = "A side is a run directory, with the name of a variant after a colon where the run has several.
Without --claim every claim is judged and the exit code is 0; with it, the exit code is 13 where a claim that was asked
for is refused. docs/comparison.md says which difference spoils which claim.

Examples:
  bench compare runs/20261130T074501Z-quickstart-3fa9:baseline runs/20261130T074501Z-quickstart-3fa9:tuned
  bench compare old:tuned new:tuned --claim version
  bench compare old:tuned new:tuned --json | jq '.claims[] | select(.verdict != \"refused\")'"
)]
pub struct CompareArguments {
    /// The first side
    #[arg(value_name = "RUN[:VARIANT]")]
    pub a: Side,
    /// The second side
    #[arg(value_name = "RUN[:VARIANT]")]
    pub b: Side,
    /// A claim that has to be supported; may be repeated
    #[arg(long, value_enum, value_name = "CLAIM")]
    pub claim: Vec<ClaimName>,
    /// Write it to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print JSON instead of Markdown
    #[arg(long)]
    pub json: bool,
}

/// A claim, as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ClaimName {
    /// The settings that differ make ingest faster or slower.
    Setting,
    /// Ingest slows down less in one as the lake grows.
    Growth,
    /// One leaves fewer or smaller files.
    Files,
    /// One took less time in all.
    Total,
    /// Another version of the target makes ingest faster or slower.
    Version,
    /// Other memory or processors make ingest faster or slower.
    Resources,
}

/// A run directory and, where it has several, a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The run directory.
    pub run: PathBuf,
    /// The variant.
    pub variant: Option<String>,
}

impl FromStr for Side {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A folder may have a colon in its name.
        let whole = Self {
            run: PathBuf::from(text),
            variant: None,
        };
        if whole.run.exists() {
            return Ok(whole);
        }
        Ok(match text.rsplit_once(':') {
            Some((run, variant)) => Self {
                run: PathBuf::from(run),
                variant: Some(variant.to_owned()),
            },
            None => whole,
        })
    }
}

/// `bench import`
#[derive(Args, Debug)]
#[command(
    after_help = "The durations have the columns `variant`, `workflow` and one of `seconds`, `minutes` and `hours`; what was not
reported is an empty cell. The facts are what is known besides; docs/comparison.md has an example with every key.

Examples:
  bench import --durations dev04.csv --facts dev04.toml --out runs/dev04
  bench report runs/dev04
  bench compare runs/dev04:baseline runs/dev04:tuned"
)]
pub struct ImportArguments {
    /// Durations of workflows, as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub durations: PathBuf,
    /// What is known besides, as TOML
    #[arg(long, value_name = "FILE.toml")]
    pub facts: PathBuf,
    /// The run directory to make
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
}
