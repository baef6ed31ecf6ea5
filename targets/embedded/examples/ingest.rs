//! Ingests a folder of logs and prints what each workflow and each stage took.
//!
//! `cargo run --release -p bench-embedded --example ingest -- LOGS LAKE [KEY=VALUE…]`; with
//! `files_per_workflow=N` among the settings the batches are of that size.

use bench_embedded::{FolderProgress, Ledger, Options, Progress, Settings, Stage, ingest_folder};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Printer {
    stages: BTreeMap<String, (f64, u64, u64)>,
    /// Seconds of each stage in each workflow.
    seconds: BTreeMap<String, Vec<f64>>,
    workflows: Vec<f64>,
    /// Processor seconds at the end of each workflow; steadier than time on a busy machine.
    processor: Vec<f64>,
}

impl Progress for Printer {
    fn stage(&mut self, stage: &Stage) {
        let sum = self.stages.entry(stage.name.clone()).or_default();
        let seconds = self.seconds.entry(stage.name.clone()).or_default();
        seconds.resize(self.workflows.len() + 1, 0.0);
        seconds[self.workflows.len()] += stage.seconds;
        sum.0 += stage.seconds;
        sum.1 += stage.files;
        sum.2 += stage.bytes;
    }
}

impl FolderProgress for Printer {
    fn completed(&mut self, workflow: usize, ledger: &Ledger, took: Duration) {
        let files: Vec<String> = ledger
            .state
            .iter()
            .map(|(table, state)| format!("{table} {}", state.files))
            .collect();
        println!(
            "{workflow:3} {:7.3} s  {}",
            took.as_secs_f64(),
            files.join(", ")
        );
        self.workflows.push(took.as_secs_f64());
        self.processor.push(processor_seconds());
    }
}

/// Processor seconds of this process so far, from `/proc`; 0 where there is none.
fn processor_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program stands in brackets and may hold spaces.
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: f64 = fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    ticks / TICKS_PER_SECOND
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(logs), Some(lake)) = (arguments.next(), arguments.next()) else {
        return Err("give a folder of logs, a lake, and settings as KEY=VALUE".into());
    };
    let mut settings = Settings::default();
    let mut files_per_workflow = 150;
    let mut threads = 2;
    for argument in arguments {
        match argument.split_once('=') {
            Some(("files_per_workflow", value)) => files_per_workflow = value.parse()?,
            Some(("threads", value)) => threads = value.parse()?,
            Some((key, value)) => settings.set(key, value)?,
            None => return Err(format!("{argument} is no KEY=VALUE").into()),
        }
    }
    let options = Options {
        settings,
        threads,
        ..Options::default()
    };
    let mut printer = Printer::default();
    let began = Instant::now();
    let ledger = ingest_folder(
        Path::new(&logs),
        &lake,
        files_per_workflow,
        options,
        &mut printer,
    )?;
    println!("total {:.3} s", began.elapsed().as_secs_f64());
    for (name, (seconds, files, bytes)) in &printer.stages {
        println!(
            "  {name:24} {seconds:8.3} s {files:7} files {:9.1} MB",
            *bytes as f64 / 1e6
        );
    }
    let all = printer.workflows.len();
    if all >= 13 {
        for (name, seconds) in &mut printer.seconds {
            seconds.resize(all, 0.0);
            let (early, late) = (mean(&seconds[1..7]), mean(&seconds[all - 6..]));
            println!("  {name:24} workflows 2-7 {early:.4} s, last 6 {late:.4} s");
        }
    }
    let spent: Vec<f64> = printer
        .processor
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect();
    if spent.len() >= 12 {
        let (early, late) = (mean(&spent[..6]), mean(&spent[spent.len() - 6..]));
        println!(
            "processor seconds: {early:.3} each, {late:.3} each, ratio {:.3}",
            late / early
        );
    }
    if printer.workflows.len() >= 13 {
        let late = &printer.workflows[printer.workflows.len() - 6..];
        let early = &printer.workflows[1..7];
        println!(
            "workflows 2-7 {:.3} s each, last 6 {:.3} s each, ratio {:.3}",
            mean(early),
            mean(late),
            mean(late) / mean(early)
        );
    }
    println!(
        "logs {} ({} failed), messages {}: {} empty, {} unparsable, {} parsed",
        ledger.logs,
        ledger.failed_logs.len(),
        ledger.messages,
        ledger.empty,
        ledger.unparsable.len(),
        ledger.parsed,
    );
    for (table, state) in &ledger.state {
        println!(
            "  {table:40} version {:4} rows {:8} files {:6} {:8.1} MB",
            state.version,
            state.rows,
            state.files,
            state.bytes as f64 / 1e6
        );
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status")
        && let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM"))
    {
        println!("{peak}");
    }
    Ok(())
}
