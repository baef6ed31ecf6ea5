//! How a check is put together.

use super::facts::{Facts, MessageId};
use super::read::{At, OpenTable};
use super::verification::{Check, Position};
use bench_tables::Table;
use std::fmt::Display;

/// Collects checks.
#[derive(Default)]
pub(super) struct Checks(pub(super) Vec<Check>);

impl Checks {
    /// A check that compares two things as they are written.
    pub(super) fn compare(
        &mut self,
        name: &str,
        table: Option<Table>,
        expected: &dyn Display,
        found: &dyn Display,
    ) -> &mut Check {
        let (expected, found) = (expected.to_string(), found.to_string());
        let passed = expected == found;
        self.add(name, table, expected, found, passed)
    }

    /// A check that passes where nothing is wrong.
    pub(super) fn none_wrong(
        &mut self,
        name: &str,
        table: Option<Table>,
        what: &str,
        wrong: Wrong,
    ) -> &mut Check {
        let passed = wrong.count == 0;
        let expected = format!("0 {what}");
        let found = format!("{} {what}", wrong.count);
        let check = self.add(name, table, expected, found, passed);
        check.positions = wrong.positions;
        check
    }

    /// A check whose outcome is known.
    pub(super) fn add(
        &mut self,
        name: &str,
        table: Option<Table>,
        expected: impl Into<String>,
        found: impl Into<String>,
        passed: bool,
    ) -> &mut Check {
        self.0.push(Check {
            name: name.to_owned(),
            table: table.map(|table| table.name().to_owned()),
            workflow: None,
            expected: expected.into(),
            found: found.into(),
            passed,
            note: None,
            positions: Vec::new(),
        });
        self.0.last_mut().expect("one was pushed")
    }
}

impl Check {
    /// Adds to what the check could not decide.
    pub(super) fn note(&mut self, note: impl Into<String>) -> &mut Self {
        let note = note.into();
        self.note = Some(match self.note.take() {
            None => note,
            Some(before) => format!("{before}; {note}"),
        });
        self
    }
}

/// What is wrong: how much, and the first places.
#[derive(Default)]
pub(super) struct Wrong {
    pub(super) count: u64,
    pub(super) positions: Vec<Position>,
}

impl Wrong {
    /// Counts one more, and names it if there is room.
    pub(super) fn add(&mut self, position: impl FnOnce() -> Position) {
        self.count += 1;
        if self.positions.len() < Check::POSITIONS {
            self.positions.push(position());
        }
    }

    /// Adds messages, those of the first logs first.
    pub(super) fn messages(
        &mut self,
        facts: &Facts,
        ids: impl IntoIterator<Item = MessageId>,
        what: &str,
    ) {
        for id in ids {
            self.add(|| message(facts, id, what));
        }
    }
}

/// The place of a message.
pub(super) fn message(facts: &Facts, id: MessageId, what: &str) -> Position {
    let (log, ordinal) = facts.place(id);
    Position {
        log: Some(log.to_owned()),
        ordinal: Some(ordinal),
        what: what.to_owned(),
        ..Position::default()
    }
}

/// The place of a row that belongs to no message: its data file.
pub(super) fn row(table: &OpenTable, at: At, what: &str) -> Position {
    Position {
        data_file: Some(table.snapshot.files[at.file as usize].path.clone()),
        what: format!("row {}: {what}", at.row),
        ..Position::default()
    }
}
