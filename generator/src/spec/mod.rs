//! What a data set shall be: a spec as written ([`SpecFile`]), checked and compiled ([`Spec`]).
//!
//! The raw form never travels further: the rest of the generator sees rates, weighted tables and
//! days, all of them in range.

mod check;
mod file;

pub use file::{PROFILES, SpecFile};

use crate::calendar::Day;
use crate::draw::{Rate, Weighted};
use crate::error::Error;
use crate::faults::Fault;
use file::{Entries, Layers};
use toml::{Table, Value};

/// How characters beyond ASCII are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// One byte a character.
    Latin1,
    /// UTF-8, which the platform reads as Latin-1.
    Utf8,
}

/// Version of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Version {
    V23,
    V24,
    V27,
}

impl Version {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::V23 => "2.3",
            Self::V24 => "2.4",
            Self::V27 => "2.7",
        }
    }
}

/// How many messages on which days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    /// So many messages in so many logs.
    Total { messages: u64, logs: u64 },
    /// So many messages a day on average over so many days.
    Rate { per_day: f64, days: u64 },
}

pub(crate) struct Volume {
    pub(crate) amount: Amount,
    pub(crate) start: Day,
    pub(crate) second_feed: Rate,
    pub(crate) growth_per_year: f64,
    pub(crate) weekdays: [f64; 7],
    pub(crate) dispersion: f64,
    /// Hours 6 to 20.
    pub(crate) hours: Weighted<u32>,
}

/// Shares of versions from a day on.
pub(crate) struct Period {
    pub(crate) from: Day,
    pub(crate) shares: Weighted<Version>,
}

pub(crate) struct Patients {
    pub(crate) studies: Weighted<u32>,
    pub(crate) oldest: u32,
    pub(crate) mbmc: Rate,
    pub(crate) empi: Rate,
    pub(crate) accented: Rate,
    pub(crate) race_unavailable: Rate,
}

/// Status of a study's first message, and of those that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Preliminary,
    Final,
    WetRead,
    Corrected,
}

pub(crate) struct Reports {
    pub(crate) no_obx: Rate,
    pub(crate) status: Weighted<Status>,
    pub(crate) lines_2_7: Weighted<u32>,
    pub(crate) lines_2_3: Weighted<u32>,
    pub(crate) lines_2_4: Weighted<u32>,
    pub(crate) addendum: Rate,
    pub(crate) technician_note: Rate,
    pub(crate) diagnoses: Weighted<u32>,
    pub(crate) icd9: Rate,
}

/// Messages that depend on an earlier one: share, and how many logs later.
pub(crate) struct Later {
    pub(crate) rate: f64,
    pub(crate) lags: Entries,
}

/// A data set's spec, checked. Made by [`Spec::load`].
pub struct Spec {
    file: SpecFile,
    pub(crate) seed: u64,
    pub(crate) encoding: Encoding,
    pub(crate) volume: Volume,
    pub(crate) versions: Vec<Period>,
    pub(crate) patients: Patients,
    pub(crate) reports: Reports,
    pub(crate) follow_ups: Later,
    pub(crate) out_of_order: Rate,
    pub(crate) resends: Later,
    pub(crate) late: Rate,
    pub(crate) late_days: Weighted<u32>,
    pub(crate) second_epic: Rate,
    pub(crate) merged: Rate,
    pub(crate) log_without_sb: Rate,
    pub(crate) truncated: Rate,
    /// Faults of messages that have a rate, as ends of adjoining parts of 2^32.
    pub(crate) faults: Vec<(Fault, u64)>,
}

/// Values that are given by hand over a spec; `None` leaves the spec's.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Overrides {
    /// Seed of all draws.
    pub seed: Option<u64>,
    /// Messages in all.
    pub messages: Option<u64>,
    /// Logs in all.
    pub log_files: Option<u64>,
    /// Messages a day on average.
    pub per_day: Option<f64>,
    /// Days.
    pub days: Option<u64>,
    /// First day, `YYYY-MM-DD`.
    pub start: Option<String>,
    /// `latin-1` or `utf-8`.
    pub encoding: Option<String>,
}

impl Overrides {
    fn table(&self) -> Table {
        let mut volume = Table::new();
        let mut top = Table::new();
        let whole = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                volume.insert(key.to_owned(), value);
            }
        };
        put("messages", self.messages.map(whole));
        put("log_files", self.log_files.map(whole));
        put("per_day", self.per_day.map(Value::Float));
        put("days", self.days.map(whole));
        put("start", self.start.clone().map(Value::String));
        if let Some(seed) = self.seed {
            top.insert("seed".to_owned(), whole(seed));
        }
        if let Some(encoding) = &self.encoding {
            top.insert("encoding".to_owned(), Value::String(encoding.clone()));
        }
        if !volume.is_empty() {
            top.insert("volume".to_owned(), Value::Table(volume));
        }
        top
    }
}

impl Spec {
    /// Reads a shipped profile (by name) or a spec file (by path), lays `overrides` over it, and
    /// checks the whole.
    ///
    /// # Errors
    /// [`Error::Spec`] with source, line and key for what is not allowed, [`Error::UnknownProfile`],
    /// or [`Error::Io`] when the file cannot be read.
    pub fn load(profile_or_path: &str, overrides: &Overrides) -> Result<Self, Error> {
        let mut layers = Layers::load(profile_or_path)?;
        layers.overlay(&overrides.table());
        let file = layers.file()?;
        Self::check(file, &|key| layers.place(key))
    }

    /// Takes a spec that was resolved before, as `dataset.json` records it.
    ///
    /// # Errors
    /// [`Error::Spec`] for what is not allowed.
    pub fn resolved(file: SpecFile) -> Result<Self, Error> {
        Self::check(file, &|key| format!("dataset.json, `spec.{key}`"))
    }

    /// Messages and logs of a spec that asks for a total; `None` where it asks for a rate.
    #[must_use]
    pub fn total(&self) -> Option<(u64, u64)> {
        match self.volume.amount {
            Amount::Total { messages, logs } => Some((messages, logs)),
            Amount::Rate { .. } => None,
        }
    }

    /// How many messages each log will hold, in path order. Nothing is made, but every message is
    /// counted: some nanoseconds each.
    #[must_use]
    pub fn messages_per_log(&self) -> Vec<u64> {
        let timeline = crate::timeline::Timeline::new(self);
        timeline
            .logs
            .iter()
            .map(|log| u64::from(log.count))
            .collect()
    }

    /// The spec with every key.
    #[must_use]
    pub fn file(&self) -> &SpecFile {
        &self.file
    }
}
