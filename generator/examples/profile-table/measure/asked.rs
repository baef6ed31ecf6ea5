//! What a data set was asked to be, as `dataset.json` records it.

use super::Error;
use super::data::day_of;
use bench_generator::SpecFile;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Value and weight.
pub(super) type Entries = Vec<(u32, f64)>;

#[derive(Deserialize)]
pub(super) struct Asked {
    pub(super) volume: Volume,
    pub(super) versions: Versions,
    pub(super) patients: Patients,
    pub(super) reports: Reports,
    pub(super) life_cycle: LifeCycle,
    pub(super) resends: Resends,
    pub(super) late: Late,
    pub(super) webs: Webs,
    pub(super) faults: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
pub(super) struct Volume {
    pub(super) messages: Option<u64>,
    pub(super) log_files: Option<u64>,
    pub(super) per_day: Option<f64>,
    pub(super) days: Option<u64>,
    pub(super) start: String,
    pub(super) second_feed: f64,
    pub(super) growth_per_year: f64,
    pub(super) weekdays: [f64; 7],
    pub(super) dispersion: f64,
    pub(super) hours: Vec<f64>,
}

impl Volume {
    /// Messages a day, as lanes of patients are laid out for.
    pub(super) fn a_day(&self) -> f64 {
        match (self.per_day, self.messages, self.log_files) {
            (Some(per_day), ..) => per_day,
            (None, Some(messages), Some(logs)) => messages as f64 / logs as f64,
            _ => unreachable!("a finished data set has a rate or a total"),
        }
    }

    /// First day, in days since 1970.
    pub(super) fn first_day(&self) -> i64 {
        day_of(&self.start.replace('-', ""))
    }
}

#[derive(Deserialize)]
pub(super) struct Versions {
    pub(super) era: String,
    mixed: Shares,
    realistic: Vec<Period>,
}

#[derive(Clone, Copy, Deserialize)]
struct Shares {
    v2_3: f64,
    v2_4: f64,
    v2_7: f64,
}

#[derive(Deserialize)]
struct Period {
    from: String,
    #[serde(flatten)]
    shares: Shares,
}

impl Versions {
    /// Periods: their name, first day, and shares of 2.3, 2.4 and 2.7.
    pub(super) fn periods(&self) -> Vec<(String, i64, [f64; 3])> {
        let shares = |shares: Shares| {
            let all = [shares.v2_3, shares.v2_4, shares.v2_7];
            let sum: f64 = all.iter().sum();
            all.map(|share| share / sum)
        };
        if self.era == "mixed" {
            return vec![(String::new(), 0, shares(self.mixed))];
        }
        self.realistic
            .iter()
            .map(|period| {
                let first = day_of(&period.from.replace('-', ""));
                (
                    format!(" from {}", period.from),
                    first,
                    shares(period.shares),
                )
            })
            .collect()
    }
}

#[derive(Deserialize)]
pub(super) struct Patients {
    pub(super) studies: Entries,
    pub(super) oldest: u32,
    pub(super) mbmc: f64,
    pub(super) empi: f64,
    pub(super) accented: f64,
    pub(super) race_unavailable: f64,
}

#[derive(Deserialize, PartialEq)]
pub(super) struct Reports {
    pub(super) no_obx: f64,
    pub(super) preliminary: f64,
    #[serde(rename = "final")]
    pub(super) final_: f64,
    pub(super) wet_read: f64,
    pub(super) lines_2_7: Entries,
    pub(super) lines_2_3: Entries,
    pub(super) lines_2_4: Entries,
    pub(super) addendum: f64,
    pub(super) technician_note: f64,
    pub(super) diagnoses: Entries,
    pub(super) icd9: f64,
}

#[derive(Deserialize)]
pub(super) struct LifeCycle {
    pub(super) follow_ups: f64,
    pub(super) lags: Entries,
    pub(super) out_of_order: f64,
}

#[derive(Deserialize)]
pub(super) struct Resends {
    pub(super) rate: f64,
    pub(super) lags: Entries,
}

#[derive(Deserialize)]
pub(super) struct Late {
    pub(super) rate: f64,
    pub(super) days: Entries,
}

#[derive(Deserialize)]
pub(super) struct Webs {
    pub(super) second_epic: f64,
    pub(super) merged: f64,
}

impl Asked {
    pub(super) fn of(spec: &SpecFile) -> Result<Self, Error> {
        Ok(serde_json::from_value(serde_json::to_value(spec)?)?)
    }

    /// What the shipped profile on which all rest asks of reports.
    pub(super) fn shipped_reports() -> Result<Reports, Error> {
        let spec = bench_generator::Spec::load("varied", &bench_generator::Overrides::default())?;
        let value = serde_json::to_value(spec.file())?;
        Ok(serde_json::from_value(value["reports"].clone())?)
    }

    /// Whether any message or log has a fault.
    pub(super) fn has_faults(&self) -> bool {
        self.faults.values().any(|share| *share > 0.0)
    }

    /// Whether numbers of patients can conflict.
    pub(super) fn has_webs(&self) -> bool {
        self.webs.second_epic > 0.0 || self.webs.merged > 0.0
    }
}
