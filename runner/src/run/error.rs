//! What can keep a run from being made, resumed or verified.

use super::conductor::ConductError;
use crate::error::{generator_exit, is_asked_wrong};
use crate::exit::Exit;
use crate::record::JournalError;
use crate::spark::Obstacle;
use crate::verify::VerifyError;
use crate::worker::LimitError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run could not be made. That workflows fail or rows do not add up is no error but a verdict.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A data set cannot be made or read.
    #[error(transparent)]
    Generator(#[from] bench_generator::Error),
    /// Logs cannot be found.
    #[error(transparent)]
    Hl7(#[from] bench_hl7::Error),
    /// The system says no.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder holds no logs.
    #[error(
        "{} holds no logs; a log is a file named *.log, at any depth, and dataset.path names the folder above them",
        path.display()
    )]
    NoLogs {
        /// The folder.
        path: PathBuf,
    },
    /// Another runner works there.
    #[error("another bench works on {}; wait for it, or end it", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// `run.json` cannot be used.
    #[error("{} cannot be used: {reason}", path.display())]
    RunFile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The data set is not the one that the run was begun with.
    #[error(
        "the logs in {} are not those that the run was begun with (digest {found}, then {expected}); bring them back, or start a new run",
        path.display()
    )]
    OtherDataset {
        /// The folder.
        path: PathBuf,
        /// The digest of now.
        found: String,
        /// The digest of then.
        expected: String,
    },
    /// A lake that was begun is gone.
    #[error("the lake {lake} is gone, so {arm} cannot be carried on; start a new run")]
    LakeGone {
        /// The lake.
        lake: String,
        /// Its arm.
        arm: crate::record::ArmId,
    },
    /// The run cannot be planned.
    #[error(transparent)]
    Plan(#[from] Box<crate::error::Error>),
    /// A lake is not fresh.
    #[error(
        "{lake} is not empty, and an arm needs a fresh lake; name another place in target.lake, or allow it to be emptied with --wipe"
    )]
    NotFresh {
        /// The lake.
        lake: String,
    },
    /// A password is needed that is stored nowhere.
    #[error(
        "the store's option {option} is kept in no file: give it in the environment variable {variable} to go on"
    )]
    Secret {
        /// The option.
        option: String,
        /// Where it is looked for.
        variable: String,
    },
    /// The disk is too small.
    #[error(
        "{} has {} free and the run needs about {}; name another place with --out or target.lake, or run anyway with --no-space-check",
        path.display(),
        crate::terminal::binary_size(*free),
        crate::terminal::binary_size(*needed)
    )]
    Space {
        /// Where.
        path: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// A worker of another runner cannot be ended.
    #[error(
        "process {pid} is a worker of this run that was begun by another runner, and it does not end; end it, then resume again"
    )]
    WorkerLives {
        /// Its process id.
        pid: u32,
    },
    /// A program is missing.
    #[error(
        "the worker's program {program} is not there; target.command names it, and a path in it is relative to the current folder"
    )]
    NoProgram {
        /// The program.
        program: String,
    },
    /// Spark cannot be started.
    #[error(transparent)]
    Spark(#[from] Obstacle),
    /// A part that is not built.
    #[error("{what}")]
    NotBuilt {
        /// Which.
        what: String,
    },
    /// Limits cannot be set.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// An arm could not be conducted.
    #[error(transparent)]
    Conduct(#[from] ConductError),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The report cannot be made.
    #[error(transparent)]
    Report(#[from] bench_reports::ReportError),
    /// A lake cannot be verified.
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

impl RunError {
    /// Makes an [`RunError::Io`] of what the system said.
    pub(crate) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// The exit code that this error leads to.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Hl7(_)
            | Self::NoLogs { .. }
            | Self::Busy { .. }
            | Self::RunFile { .. }
            | Self::OtherDataset { .. }
            | Self::NotFresh { .. }
            | Self::NotBuilt { .. }
            | Self::LakeGone { .. }
            | Self::Secret { .. }
            | Self::Spark(Obstacle::NoneNamed { .. } | Obstacle::NoTransformer { .. })
            | Self::Limit(LimitError::NoCgroup { .. })
            | Self::Conduct(ConductError::Refused { .. }) => Exit::Usage,
            Self::Plan(error) => error.exit(),
            Self::Generator(error) => generator_exit(error),
            Self::Io { source, .. } | Self::Journal(JournalError::Io { source, .. })
                if is_asked_wrong(source.kind()) =>
            {
                Exit::Usage
            }
            Self::Conduct(ConductError::NeverReady { .. }) => Exit::WorkflowFailed,
            Self::Journal(JournalError::Damaged { .. }) => Exit::Usage,
            Self::Io { .. }
            | Self::Journal(_)
            | Self::Space { .. }
            | Self::NoProgram { .. }
            | Self::Spark(Obstacle::NotSetUp { .. })
            | Self::WorkerLives { .. }
            | Self::Limit(_)
            | Self::Conduct(_)
            | Self::Report(_)
            | Self::Verify(_) => Exit::Unavailable,
        }
    }
}
