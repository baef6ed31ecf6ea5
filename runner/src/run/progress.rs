//! What a person sees while a run runs: a bar per arm, or plain lines where nobody watches.

use crate::record::{ArmId, Cause, Event, WorkflowStatus};
use crate::terminal::Terminal;
use indicatif::ProgressBar;
use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};

/// Follows the events of a run.
pub(super) struct Progress<'a> {
    terminal: &'a Terminal,
    quiet: bool,
    bar: Option<ProgressBar>,
    workflows: u32,
    closed: u32,
    restarts: u32,
    launched: HashMap<u32, Instant>,
    stage: String,
    workflow: u32,
    last_line: Instant,
}

/// Where nobody watches, a line for each workflow, but no more than one in this time.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

impl<'a> Progress<'a> {
    pub(super) fn new(terminal: &'a Terminal, quiet: bool) -> Self {
        Self {
            terminal,
            quiet,
            bar: None,
            workflows: 0,
            closed: 0,
            restarts: 0,
            launched: HashMap::new(),
            stage: String::new(),
            workflow: 0,
            last_line: Instant::now(),
        }
    }

    /// Says something beside the bars.
    pub(super) fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) if !bar.is_hidden() => bar.println(text),
            // Nobody is left to be told if this fails.
            _ => drop(writeln!(std::io::stderr(), "{text}")),
        }
    }

    /// An arm begins, of whose workflows some may have closed before.
    pub(super) fn arm(&mut self, arm: &ArmId, workflows: u32, closed: u32) {
        self.workflows = workflows;
        self.closed = closed;
        self.restarts = 0;
        self.launched.clear();
        let template = format!(
            "{:<12} {{bar:24}} {{pos}} of {{len}}, {{eta}} left, {{msg}}",
            arm.to_string()
        );
        let bar = self.terminal.bar(&template);
        bar.set_length(u64::from(workflows));
        bar.set_position(u64::from(closed));
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(200));
        self.bar = Some(bar);
        if !self.terminal.watched {
            self.line(&format!("{arm}: {workflows} workflows"));
        }
    }

    /// The sequence of the arm is over.
    pub(super) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Takes in an event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::WorkflowLaunched { workflow, .. } => {
                self.launched.insert(*workflow, Instant::now());
            }
            Event::AttemptStarted {
                arm,
                workflow,
                attempt,
                injected,
                ..
            } => {
                self.workflow = *workflow;
                "sent".clone_into(&mut self.stage);
                for fault in injected {
                    self.line(&format!(
                        "{arm}: workflow {workflow}, attempt {attempt}: injected fault: {}",
                        fault.what
                    ));
                }
            }
            Event::Stage {
                workflow, stage, ..
            } => {
                self.workflow = *workflow;
                self.stage.clone_from(&stage.name);
            }
            Event::WorkerExited {
                arm, worker, cause, ..
            } if !matches!(cause, Cause::Shutdown | Cause::Interrupted) => {
                self.restarts += 1;
                self.line(&format!("{arm}: worker {worker} {}", cause.words()));
            }
            Event::WorkflowClosed {
                arm,
                workflow,
                status,
                reason,
            } => {
                self.closed += 1;
                let took = self.launched.remove(workflow);
                self.closed(arm, *workflow, *status, reason.as_deref(), took);
            }
            _ => return,
        }
        if let Some(bar) = &self.bar {
            bar.set_position(u64::from(self.closed));
            let restarts = match self.restarts {
                0 => String::new(),
                1 => ", 1 restart".to_owned(),
                many => format!(", {many} restarts"),
            };
            bar.set_message(format!(
                "workflow {} {}{restarts}",
                self.workflow, self.stage
            ));
        }
    }

    fn closed(
        &mut self,
        arm: &ArmId,
        workflow: u32,
        status: WorkflowStatus,
        reason: Option<&str>,
        launched: Option<Instant>,
    ) {
        let completed = status == WorkflowStatus::Completed;
        if let Some(reason) = reason.filter(|_| status == WorkflowStatus::Failed) {
            self.line(&format!("{arm}: workflow {workflow} failed: {reason}"));
            return;
        }
        let soon = self.last_line.elapsed() < LINE_INTERVAL && self.closed < self.workflows;
        if self.terminal.watched || soon || !completed {
            return;
        }
        self.last_line = Instant::now();
        let took = launched.map_or(String::new(), |at| {
            format!(" after {:.2} s", at.elapsed().as_secs_f64())
        });
        self.line(&format!(
            "{arm}: {} of {} workflows, {workflow} completed{took}",
            self.closed, self.workflows
        ));
    }
}
