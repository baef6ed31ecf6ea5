//! Arguments of the commands that read run directories.

use clap::Args;
use std::path::PathBuf;

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
