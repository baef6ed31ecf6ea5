//! The arguments of `bench eventlog`.

use clap::Args;
use std::path::PathBuf;

/// `bench eventlog`
#[derive(Args, Debug)]
#[command(
    after_help = "Jobs are put together by the local properties bench.workflow, bench.attempt and bench.stage of the
thread that submitted them; a job without these is shown under -.

Examples:
  bench eventlog eventlog_v2_local-1796038088710
  bench eventlog spark-events --json | jq '.logs[] | {application, complete, total}'

docs/commands.md explains the figures."
)]
pub struct EventlogArguments {
    /// A file that Spark wrote, a folder eventlog_v2_APPLICATION, or a folder of these
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
