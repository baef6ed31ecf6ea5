//! What can go wrong in a command, and which exit code it leaves with.

use crate::exit::Exit;
use std::io;
use std::path::PathBuf;

/// Why a command could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output could not be written.
    #[error("failed to write the output")]
    Output(#[source] io::Error),
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A report's form does not follow from its file's name.
    #[error("{}: the name ends in no format of a report; end it in .md, .html, .json or .csv, or name one with --format", .0.display())]
    UnknownFormat(PathBuf),
    /// A report could not be made.
    #[error(transparent)]
    Report(#[from] bench_reports::ReportError),
    /// A side of a comparison does not name one variant of its run.
    #[error("{}: {}; name one as {}:VARIANT, of {}", run.display(), what, run.display(), known.join(", "))]
    NoVariant {
        /// The run.
        run: PathBuf,
        /// What is wrong.
        what: String,
        /// The variants that it has.
        known: Vec<String>,
    },
    /// A store of baselines cannot be used.
    #[error(transparent)]
    Store(#[from] crate::baseline::StoreError),
    /// A run is no baseline.
    #[error("{} is no baseline: {why}", run.display())]
    NotABaseline {
        /// The run.
        run: PathBuf,
        /// Why.
        why: &'static str,
    },
    /// A tolerance cannot be declared.
    #[error(transparent)]
    Tolerance(#[from] bench_reports::gate::ToleranceError),
    /// A scenario cannot be gated against something.
    #[error(transparent)]
    Against(#[from] crate::gate::AgainstError),
    /// Figures could not be imported.
    #[error(transparent)]
    Import(#[from] crate::import::ImportError),
    /// A data set could not be made or read.
    #[error(transparent)]
    Generator(#[from] bench_generator::Error),
    /// The embedded engine could not begin.
    #[error(transparent)]
    Engine(bench_embedded::Error),
    /// A workflow failed.
    #[error("workflow {workflow} failed; the workflows before it stay")]
    Workflow {
        /// Its number, from 1.
        workflow: usize,
        /// Why.
        source: bench_embedded::Error,
    },
    /// A scenario cannot be carried out as it is written.
    #[error(transparent)]
    Scenario(#[from] crate::scenario::ScenarioErrors),
    /// A suite cannot be carried out as it is written.
    #[error(transparent)]
    Suite(#[from] crate::suite::SuiteErrors),
    /// A suite cannot be carried out in a folder.
    #[error("{} {reason}", path.display())]
    SuiteFolder {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A modality map cannot be used.
    #[error(transparent)]
    Hl7(#[from] bench_hl7::Error),
    /// A log has fewer messages.
    #[error("{} has {count} messages, numbered from 0: there is no message {number}", path.display())]
    NoSuchMessage {
        /// The log.
        path: PathBuf,
        /// What was asked for.
        number: u32,
        /// How many there are.
        count: usize,
    },
    /// A worker cannot be put into its place.
    #[error("cannot become a worker")]
    Launch(#[source] io::Error),
    /// There is no place for generated data sets.
    #[error(
        "there is no cache folder, as neither XDG_CACHE_HOME nor HOME is set; name a folder with --cache"
    )]
    NoCache,
    /// A run could not be made, resumed or verified.
    #[error(transparent)]
    Run(#[from] crate::run::RunError),
    /// An event log cannot be read.
    #[error(transparent)]
    EventLog(#[from] bench_eventlog::EventLogError),
    /// There is no such command.
    #[error("there is no command `{name}`; the commands are {known}")]
    UnknownCommand {
        /// What was asked for.
        name: String,
        /// What could be asked for.
        known: String,
    },
}

impl Error {
    /// The exit code that this error leads to.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Output(_) | Self::Launch(_) => Exit::Unavailable,
            Self::Generator(error) => generator_exit(error),
            Self::Workflow { .. } => Exit::WorkflowFailed,
            Self::Engine(error) => engine_exit(error),
            Self::Run(error) => error.exit(),
            Self::EventLog(bench_eventlog::EventLogError::Io { source, .. })
                if !is_asked_wrong(source.kind()) =>
            {
                Exit::Unavailable
            }
            Self::EventLog(bench_eventlog::EventLogError::Thread { .. }) => Exit::Unavailable,
            Self::Report(error) => report_exit(error),
            Self::Write { source, .. } if is_asked_wrong(source.kind()) => Exit::Usage,
            Self::Write { .. } => Exit::Unavailable,
            Self::Import(crate::import::ImportError::Io { source, .. })
                if !is_asked_wrong(source.kind()) =>
            {
                Exit::Unavailable
            }
            Self::Store(error) => store_exit(error),
            Self::UnknownFormat(_)
            | Self::NotABaseline { .. }
            | Self::Tolerance(_)
            | Self::Against(_)
            | Self::NoVariant { .. }
            | Self::Import(_)
            | Self::Read { .. }
            | Self::NoCache
            | Self::Scenario(_)
            | Self::Suite(_)
            | Self::SuiteFolder { .. }
            | Self::Hl7(_)
            | Self::EventLog(_)
            | Self::NoSuchMessage { .. }
            | Self::UnknownCommand { .. } => Exit::Usage,
        }
    }

    /// Whether the reader of our output has left.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The error and what caused it, on one line.
    #[must_use]
    pub fn chain(&self) -> String {
        chain(self)
    }
}

/// An error and what caused it, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        // Some errors quote their cause themselves.
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}

pub(crate) fn generator_exit(error: &bench_generator::Error) -> Exit {
    use bench_generator::Error as Cause;
    match error {
        Cause::Spec { .. }
        | Cause::UnknownProfile { .. }
        | Cause::Target { .. }
        | Cause::Dataset { .. }
        | Cause::NoSuchMessage { .. } => Exit::Usage,
        Cause::Io { source, .. } if is_asked_wrong(source.kind()) => Exit::Usage,
        Cause::Io { .. } | Cause::Truth { .. } => Exit::Unavailable,
    }
}

pub(crate) fn report_exit(error: &bench_reports::ReportError) -> Exit {
    use bench_reports::ReportError as Cause;
    match error {
        Cause::Io { .. } | Cause::File { .. } => Exit::Usage,
        Cause::Query(_) => Exit::Internal,
    }
}

fn store_exit(error: &crate::baseline::StoreError) -> Exit {
    use crate::baseline::StoreError as Cause;
    match error {
        Cause::Io { source, .. } if !is_asked_wrong(source.kind()) => Exit::Unavailable,
        Cause::Text(_) => Exit::Internal,
        _ => Exit::Usage,
    }
}

/// What fails before the first workflow is mostly asked wrongly: a setting, a folder, another lake.
fn engine_exit(error: &bench_embedded::Error) -> Exit {
    use bench_embedded::Error as Cause;
    match error {
        Cause::Io { source, .. } if is_asked_wrong(source.kind()) => Exit::Usage,
        Cause::Io { .. } | Cause::Storage { .. } | Cause::Delta { .. } => Exit::Unavailable,
        _ => Exit::Usage,
    }
}

/// Whether another path would do, rather than another machine or more room.
pub(crate) fn is_asked_wrong(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        kind,
        Kind::NotFound
            | Kind::PermissionDenied
            | Kind::AlreadyExists
            | Kind::NotADirectory
            | Kind::IsADirectory
            | Kind::InvalidInput
            | Kind::InvalidFilename
            | Kind::InvalidData
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let error = Error::Generator(bench_generator::Error::Io {
            action: "write",
            path: "a.log".into(),
            source: full(),
        });
        assert_eq!(error.chain(), "cannot write a.log: no storage space");
        assert_eq!(error.exit(), Exit::Unavailable);
        assert_eq!(
            Error::Output(full()).chain(),
            "failed to write the output: no storage space"
        );
    }

    #[test]
    fn a_path_that_is_not_there_is_wrong_usage_and_a_full_disk_is_not() {
        let exit = |kind| {
            let source = io::Error::from(kind);
            let path = "spec.toml".into();
            let action = "read";
            generator_exit(&bench_generator::Error::Io {
                action,
                path,
                source,
            })
        };
        assert_eq!(exit(io::ErrorKind::NotFound), Exit::Usage);
        assert_eq!(exit(io::ErrorKind::StorageFull), Exit::Unavailable);
    }
}
