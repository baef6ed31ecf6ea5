//! The exit codes of `bench`: a contract with scripts and CI.
//!
//! They are stable, and `docs/exit-codes.md` explains each. 1 and 2 are never a verdict, so that a
//! shell's own failure, or a program that is not there, is not mistaken for one.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command did what was asked.
    Ok = 0,
    /// A run does not add up: verification failed.
    Invalid = 10,
    /// A workflow failed.
    WorkflowFailed = 11,
    /// Something became worse, beyond noise.
    Regression = 12,
    /// A claim that was asked for is not supported by these runs.
    NotComparable = 13,
    /// There is nothing to compare with.
    NoBaseline = 14,
    /// What was asked cannot be done as asked: wrong usage, a faulty file, a file that is not there.
    Usage = 64,
    /// The machine lacks something: a program, a service, room on the disk.
    Unavailable = 69,
    /// A fault of `bench` itself.
    Internal = 70,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl Exit {
    /// Every exit code, in ascending order.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Invalid,
        Self::WorkflowFailed,
        Self::Regression,
        Self::NotComparable,
        Self::NoBaseline,
        Self::Usage,
        Self::Unavailable,
        Self::Internal,
        Self::Interrupted,
    ];

    /// The number that a shell sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First cell of each row of the table, without backticks.
    fn documented_codes() -> Vec<u8> {
        include_str!("../../docs/exit-codes.md")
            .lines()
            .filter_map(|line| line.strip_prefix('|'))
            .filter_map(|row| row.split('|').next())
            .filter_map(|cell| cell.trim().trim_matches('`').parse().ok())
            .collect()
    }

    #[test]
    fn the_page_on_exit_codes_lists_exactly_the_codes_there_are() {
        assert_eq!(documented_codes(), Exit::ALL.map(Exit::code));
    }

    #[test]
    fn no_verdict_is_1_or_2() {
        assert!(Exit::ALL.iter().all(|exit| !matches!(exit.code(), 1 | 2)));
    }
}
