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

    /// From the gravest to the least: which one a command leaves with that has several. What was not
    /// finished comes first, then faults of `bench`, then verdicts, then what could not begin.
    pub const BY_GRAVITY: [Self; 10] = [
        Self::Interrupted,
        Self::Internal,
        Self::Invalid,
        Self::WorkflowFailed,
        Self::Regression,
        Self::NotComparable,
        Self::NoBaseline,
        Self::Unavailable,
        Self::Usage,
        Self::Ok,
    ];

    /// The gravest of some; [`Exit::Ok`] of none.
    #[must_use]
    pub fn gravest(exits: impl IntoIterator<Item = Self>) -> Self {
        let exits: Vec<Self> = exits.into_iter().collect();
        let is_there = |exit: &Self| exits.contains(exit);
        Self::BY_GRAVITY
            .into_iter()
            .find(is_there)
            .unwrap_or(Self::Ok)
    }

    /// The exit that has a number.
    #[must_use]
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| exit.code() == code)
    }

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
    fn the_page_says_which_of_several_exit_codes_is_the_gravest() {
        let page = include_str!("../../docs/exit-codes.md");
        let order = Exit::BY_GRAVITY.map(|exit| format!("`{}`", exit.code()));
        assert!(page.contains(&order.join(", ")), "{}", order.join(", "));
        let mut all = Exit::BY_GRAVITY.map(Exit::code);
        all.sort_unstable();
        assert_eq!(all, Exit::ALL.map(Exit::code));
    }

    #[test]
    fn rows_that_do_not_add_up_are_graver_than_whatever_else_was_found() {
        use Exit::{Invalid, Ok, Unavailable, Usage, WorkflowFailed};
        let gravest = |exits: &[Exit]| Exit::gravest(exits.iter().copied());
        assert_eq!(gravest(&[Ok, WorkflowFailed, Invalid, Usage]), Invalid);
        assert_eq!(
            gravest(&[Usage, Unavailable, WorkflowFailed, Ok]),
            WorkflowFailed
        );
        assert_eq!(gravest(&[Usage, Ok, Unavailable]), Unavailable);
        assert_eq!(gravest(&[Invalid, Exit::Interrupted]), Exit::Interrupted);
        assert_eq!(gravest(&[Ok, Ok]), Ok);
        assert_eq!(gravest(&[]), Ok);
    }

    #[test]
    fn no_verdict_is_1_or_2() {
        assert!(Exit::ALL.iter().all(|exit| !matches!(exit.code(), 1 | 2)));
    }
}
