//! Which figures are gated, in which direction, and by how much they may differ.

use crate::evidence::{Unit, short_name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of a figure by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// The figure, or the last part of its name: `live_files` of `reports.live_files`.
    pub(super) what: &'static str,
    /// In words.
    pub(super) words: &'static str,
    pub(super) unit: Unit,
    pub(super) sort: Sort,
}

/// How a figure is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A fact of the data: any difference is worse.
    Fact,
    /// A count; more of it is worse.
    Counter { tolerance: Tolerance },
    /// Fewer is worse only where the log did not get shorter: then readers replay more of it.
    Checkpoints,
    /// A count; fewer is worse.
    Done,
    /// Noise of the machine is in it: it gates between interleaved arms only.
    Time,
}

/// By how much a counter may grow before that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// A share of the baseline.
    Share(f64),
    /// So many, or so many bytes.
    Absolute(f64),
    /// Whichever of the two allows more.
    Either {
        /// A share of the baseline.
        share: f64,
        /// So many, or so many bytes.
        absolute: f64,
    },
}

impl Eq for Tolerance {}

impl Tolerance {
    /// The largest difference that does not count.
    #[must_use]
    pub fn of(self, base: f64) -> f64 {
        match self {
            Self::Share(share) => share * base.abs(),
            Self::Absolute(absolute) => absolute,
            Self::Either { share, absolute } => absolute.max(share * base.abs()),
        }
    }

    /// In words; a share and a number as they are written on the command line.
    #[must_use]
    pub fn show(self) -> String {
        match self {
            Self::Share(share) => format!("{} %", share * 100.0),
            Self::Absolute(absolute) => absolute.to_string(),
            Self::Either { share, absolute } => format!("{} % or {absolute}", share * 100.0),
        }
    }

    /// Reads `5%` or `3`.
    fn read(text: &str) -> Option<Self> {
        let (number, share) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (text, false),
        };
        let number: f64 = number.parse().ok()?;
        let usable = number.is_finite() && number >= 0.0;
        usable.then_some(match share {
            true => Self::Share(number / 100.0),
            false => Self::Absolute(number),
        })
    }
}

const NONE: Sort = Sort::Counter {
    tolerance: Tolerance::Absolute(0.0),
};
/// Bytes of the same rows differ a little from run to run: the mapping's ids of patients are drawn at
/// random, and compress to more or fewer bytes. Of a table of 23 kB that was seen to be 1.3 %.
const BYTES: Sort = Sort::Counter {
    tolerance: Tolerance::Either {
        share: 0.01,
        absolute: 4096.0,
    },
};

/// Figures of a table, in the order in which they are told.
pub(super) const OF_TABLE: [Kind; 8] = [
    kind("rows", "rows", Unit::Count, Sort::Fact),
    kind("live_files", "live files", Unit::Count, NONE),
    kind("live_bytes", "live bytes", Unit::Bytes, BYTES),
    kind("disk_files", "files on disk", Unit::Count, NONE),
    kind("disk_bytes", "bytes on disk", Unit::Bytes, BYTES),
    kind("commits", "commits", Unit::Count, NONE),
    kind("log_entries", "log entries on disk", Unit::Count, NONE),
    kind("checkpoints", "checkpoints", Unit::Count, Sort::Checkpoints),
];

/// Figures of a sequence as a whole.
pub(super) const OF_SEQUENCE: [Kind; 5] = [
    kind(
        "rewritten_bytes",
        "bytes written by all stages",
        Unit::Bytes,
        BYTES,
    ),
    kind(
        "written_files",
        "files written by all stages",
        Unit::Count,
        NONE,
    ),
    kind(
        "workflows_completed",
        "workflows completed",
        Unit::Count,
        Sort::Done,
    ),
    kind(
        "attempts_not_completed",
        "attempts that did not complete",
        Unit::Count,
        NONE,
    ),
    kind("restarts", "restarts of a worker", Unit::Count, NONE),
];

/// Figures on time.
pub(super) const TIMES: [Kind; 7] = [
    kind(
        "service_total",
        "service of all workflows",
        Unit::Seconds,
        Sort::Time,
    ),
    kind(
        "wall",
        "first launch to last close",
        Unit::Seconds,
        Sort::Time,
    ),
    kind("cpu", "CPU time of all attempts", Unit::Seconds, Sort::Time),
    kind(
        "service_intercept",
        "service at workflow 1 (least squares)",
        Unit::Seconds,
        Sort::Time,
    ),
    kind(
        "service_slope",
        "growth of service (least squares)",
        Unit::SecondsPerWorkflow,
        Sort::Time,
    ),
    kind(
        "service_late",
        "mean service of the last third",
        Unit::Seconds,
        Sort::Time,
    ),
    kind(
        "peak_memory",
        "most resident memory of a worker",
        Unit::Memory,
        Sort::Time,
    ),
];

const fn kind(what: &'static str, words: &'static str, unit: Unit, sort: Sort) -> Kind {
    Kind {
        what,
        words,
        unit,
        sort,
    }
}

/// What is known of a figure: by its name, `rewritten_bytes` or `reports.live_files`.
pub(super) fn find(id: &str) -> Option<Kind> {
    match id.rsplit_once('.') {
        Some((_, what)) => OF_TABLE.iter().find(|kind| kind.what == what),
        None => OF_SEQUENCE
            .iter()
            .chain(&TIMES)
            .find(|kind| kind.what == id),
    }
    .copied()
}

/// A figure's name for people: `latest: live files`.
pub(super) fn words(id: &str) -> String {
    let words = find(id).map_or(id, |kind| kind.words);
    match id.split_once('.') {
        Some((table, _)) => format!("{}: {words}", short_name(table)),
        None => words.to_owned(),
    }
}

/// The place of a figure among others: tables in the order of a workflow, then the sequence, then time.
pub(super) fn place(id: &str) -> (usize, usize, String) {
    use crate::evidence::TABLES;
    let within = |kinds: &[Kind], what: &str| {
        let place = kinds.iter().position(|kind| kind.what == what);
        place.unwrap_or(kinds.len())
    };
    match id.split_once('.') {
        Some((table, what)) => {
            let at = TABLES.iter().position(|one| *one == table);
            let at = at.unwrap_or(TABLES.len());
            (at, within(&OF_TABLE, what), table.to_owned())
        }
        None => {
            let kinds: Vec<Kind> = OF_SEQUENCE.iter().chain(&TIMES).copied().collect();
            (TABLES.len() + 1, within(&kinds, id), String::new())
        }
    }
}

/// The figure of an entry: one value for each arm that has one, in the order of the repeats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// At the end.
    pub values: Vec<f64>,
    /// After some workflows, the middle of the arms: workflows 1, 2, 4, 8 and so on, and the last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub after: BTreeMap<u32, f64>,
}

/// Tolerances that somebody declared, by the name of a figure or of its last part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tolerances(BTreeMap<String, Tolerance>);

/// Why a tolerance cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToleranceError {
    /// It is no share and no number.
    #[error("{text:?} is no tolerance: write FIGURE=5% or FIGURE=3, as in live_files=5%")]
    Form {
        /// What was written.
        text: String,
    },
    /// There is no such figure.
    #[error(
        "`{name}` is no figure with a tolerance; these are {known}, each also with its table before it, as in reports.live_files"
    )]
    Unknown {
        /// What was written.
        name: String,
        /// The figures that may have one.
        known: String,
    },
}

impl Tolerances {
    /// Adds one, written `FIGURE=5%` or `FIGURE=3`.
    ///
    /// # Errors
    /// [`ToleranceError`]
    pub fn declare(&mut self, text: &str) -> Result<(), ToleranceError> {
        let form = || ToleranceError::Form {
            text: text.to_owned(),
        };
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        let (name, value) = (name.trim(), value.trim());
        let tolerance = Tolerance::read(value).ok_or_else(form)?;
        let counters = || OF_TABLE.iter().chain(&OF_SEQUENCE);
        let is_counter = |kind: &Kind| matches!(kind.sort, Sort::Counter { .. });
        let what = name.rsplit_once('.').map_or(name, |(_, what)| what);
        if !counters().any(|kind| kind.what == what && is_counter(kind)) {
            let known: Vec<&str> = counters()
                .filter(|kind| is_counter(kind))
                .map(|kind| kind.what)
                .collect();
            return Err(ToleranceError::Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            });
        }
        self.0.insert(name.to_owned(), tolerance);
        Ok(())
    }

    /// What was declared for a figure: by its whole name before its last part.
    #[must_use]
    pub fn declared(&self, id: &str) -> Option<Tolerance> {
        let what = id.rsplit_once('.').map_or(id, |(_, what)| what);
        self.0.get(id).or_else(|| self.0.get(what)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_of_one_table_goes_before_that_of_all() {
        let mut declared = Tolerances::default();
        declared.declare("live_files=5%").unwrap();
        declared.declare("reports_dx.live_files = 3").unwrap();
        assert_eq!(
            declared.declared("reports.live_files"),
            Some(Tolerance::Share(0.05))
        );
        assert_eq!(
            declared.declared("reports_dx.live_files"),
            Some(Tolerance::Absolute(3.0))
        );
        assert_eq!(declared.declared("reports.live_bytes"), None);
    }

    #[test]
    fn rows_have_no_tolerance_and_a_slip_is_told() {
        let mut declared = Tolerances::default();
        for wrong in [
            "rows=1",
            "live_file=1",
            "live_files",
            "live_files=-1",
            "live_files=x%",
        ] {
            assert!(declared.declare(wrong).is_err(), "{wrong}");
        }
        let error = declared.declare("rows=1").unwrap_err().to_string();
        assert!(error.contains("live_files, live_bytes"), "{error}");
    }
}
