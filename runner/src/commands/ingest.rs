//! `bench ingest`

use super::print_json;
use crate::cli::IngestArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::table::{Align, Table as TextTable};
use crate::terminal::{Terminal, Tone, counted, hang, thousands};
use bench_embedded::{FolderProgress, Ledger, Options, Progress, Settings, Stage, ingest_folder};
use bench_hl7::ModalityMap;
use bench_tables::Table;
use indicatif::ProgressBar;
use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

pub(crate) fn run(
    arguments: &IngestArguments,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let mut settings = Settings::default();
    for pair in &arguments.set {
        settings
            .set(&pair.key, &pair.value)
            .map_err(Error::Engine)?;
    }
    let mut options = Options {
        settings,
        ..Options::default()
    };
    if let Some(threads) = arguments.threads {
        options.threads = threads.get();
    }
    if let Some(path) = &arguments.modalities {
        options.modalities = ModalityMap::from_path(path)?;
    }
    let started = Instant::now();
    let mut watch = Watch::new(terminal);
    let result = ingest_folder(
        &arguments.logs,
        &arguments.lake,
        arguments.files_per_workflow.get(),
        options,
        &mut watch,
    );
    watch.bar.finish_and_clear();
    let ledger = match result {
        Ok(ledger) => ledger,
        // What fails before the first workflow was asked wrongly; the rest is a failed workflow.
        Err(error) if watch.workflow == 0 => return Err(Error::Engine(error)),
        Err(source) => {
            return Err(Error::Workflow {
                workflow: watch.workflow,
                source,
            });
        }
    };
    let done = Done {
        lake: &arguments.lake,
        workflows: watch.workflow,
        ledger: &ledger,
        time: started.elapsed(),
    };
    if arguments.json {
        print_json(out, &done.json())?;
    } else {
        out.write_all(done.text(terminal).as_bytes())
            .map_err(Error::Output)?;
    }
    Ok(Exit::Ok)
}

/// Follows the ingest: a bar over workflows.
struct Watch {
    bar: ProgressBar,
    /// The workflow in hand, or the last one; 0 before the first.
    workflow: usize,
}

impl Watch {
    fn new(terminal: &Terminal) -> Self {
        Self {
            bar: terminal.bar("{bar:32} workflow {human_pos} of {human_len}, {eta} left, {msg}"),
            workflow: 0,
        }
    }
}

impl Progress for Watch {
    fn stage(&mut self, stage: &Stage) {
        self.bar.set_message(stage.name.clone());
    }
}

impl FolderProgress for Watch {
    fn found(&mut self, _: usize, workflows: usize) {
        self.bar.set_length(workflows as u64);
    }

    fn begins(&mut self, workflow: usize, _: usize) {
        self.workflow = workflow;
    }

    fn completed(&mut self, _: usize, _: &Ledger, _: Duration) {
        self.bar.inc(1);
    }
}

/// What was ingested.
struct Done<'a> {
    lake: &'a str,
    workflows: usize,
    ledger: &'a Ledger,
    time: Duration,
}

impl Done<'_> {
    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "format": 1,
            "lake": self.lake,
            "workflows": self.workflows,
            "seconds": self.time.as_secs_f64(),
            "ledger": self.ledger,
        })
    }

    fn text(&self, terminal: &Terminal) -> String {
        let ledger = self.ledger;
        let mut text = String::new();
        let title = terminal.paint(Tone::Heading, self.lake);
        let _ = writeln!(
            text,
            "{title}: {}, {} in {:.2} s",
            counted(self.workflows as u64, "workflow"),
            counted(ledger.logs, "log"),
            self.time.as_secs_f64(),
        );
        let failed = ledger.failed_logs.len() as u64;
        let lost = ledger.unparsable.len() as u64;
        let reports = ledger.reports;
        for (name, value) in [
            (
                "logs",
                format!(
                    "{} read, {} failed",
                    thousands(ledger.logs - failed),
                    thousands(failed)
                ),
            ),
            (
                "messages",
                format!(
                    "{}: {} parsed, {} not parsable, {} empty",
                    thousands(ledger.messages),
                    thousands(ledger.parsed),
                    thousands(lost),
                    thousands(ledger.empty)
                ),
            ),
            (
                "reports",
                format!(
                    "{} inserted, {} updated, {} unchanged",
                    thousands(reports.inserted),
                    thousands(reports.updated),
                    thousands(reports.unchanged)
                ),
            ),
        ] {
            hang(&mut text, &format!("  {name:<8}  "), &value, terminal.width);
        }
        text.push('\n');
        self.tables(terminal, &mut text);
        if failed > 0 {
            let _ = writeln!(text, "\n{}", terminal.paint(Tone::Heading, "Failed logs"));
            for log in &ledger.failed_logs {
                hang(
                    &mut text,
                    &format!("  {}  ", log.file),
                    &log.reason,
                    terminal.width,
                );
            }
        }
        if lost > 0 {
            let title = terminal.paint(Tone::Heading, "Messages that are not parsable");
            let _ = writeln!(text, "\n{title}");
            for message in &ledger.unparsable {
                let _ = writeln!(text, "  {}:{}", message.file, message.ordinal);
            }
        }
        text
    }

    fn tables(&self, terminal: &Terminal, text: &mut String) {
        let mut table = TextTable::new([
            ("table", Align::Left),
            ("rows", Align::Right),
            ("live files", Align::Right),
            ("live bytes", Align::Right),
            ("version", Align::Right),
            ("inserted", Align::Right),
            ("updated", Align::Right),
            ("deleted", Align::Right),
            ("dropped", Align::Right),
        ]);
        for name in Table::ALL {
            let state = self.ledger.state(name);
            let mut counts = self.ledger.table(name);
            if name == Table::Reports {
                counts.inserted = self.ledger.reports.inserted;
                counts.updated = self.ledger.reports.updated;
            }
            table.push([
                name.name().to_owned(),
                thousands(state.rows),
                thousands(state.files),
                thousands(state.bytes),
                state.version.to_string(),
                thousands(counts.inserted),
                thousands(counts.updated),
                thousands(counts.deleted),
                thousands(counts.dropped),
            ]);
        }
        table.render(terminal, text);
    }
}
