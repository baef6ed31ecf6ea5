//! From a spec as it is written to one that is checked and compiled.

use super::file::Entries;
use super::{
    Amount, Encoding, Later, Patients, Period, Reports, Spec, SpecFile, Status, Version, Volume,
};
use crate::calendar::{self, Day};
use crate::draw::{Rate, Weighted};
use crate::error::Error;
use crate::faults::{Fault, LOG_WITHOUT_SB, TRUNCATED};

impl Spec {
    pub(super) fn check(file: SpecFile, place: &dyn Fn(&str) -> String) -> Result<Self, Error> {
        let check = Check { place };
        let volume = check.volume(&file)?;
        let faults = check.faults(&file)?;
        let encoding = match file.encoding.as_str() {
            "latin-1" => Encoding::Latin1,
            "utf-8" => Encoding::Utf8,
            _ => return check.fail("encoding", "must be \"latin-1\" or \"utf-8\""),
        };
        Ok(Self {
            seed: file.seed,
            encoding,
            volume,
            versions: check.versions(&file)?,
            patients: check.patients(&file)?,
            reports: check.reports(&file)?,
            follow_ups: check.later(
                "life_cycle.follow_ups",
                file.life_cycle.follow_ups,
                "life_cycle.lags",
                &file.life_cycle.lags,
            )?,
            out_of_order: check.rate("life_cycle.out_of_order", file.life_cycle.out_of_order)?,
            resends: check.later(
                "resends.rate",
                file.resends.rate,
                "resends.lags",
                &file.resends.lags,
            )?,
            late: check.rate("late.rate", file.late.rate)?,
            late_days: check.entries("late.days", &file.late.days, 1, 3650)?,
            second_epic: check.rate("webs.second_epic", file.webs.second_epic)?,
            merged: check.rate("webs.merged", file.webs.merged)?,
            log_without_sb: check.fault_of_logs(&file, LOG_WITHOUT_SB)?,
            truncated: check.fault_of_logs(&file, TRUNCATED)?,
            faults,
            file,
        })
    }
}

/// Checks values and names the key of what is not allowed.
struct Check<'a> {
    place: &'a dyn Fn(&str) -> String,
}

impl Check<'_> {
    fn fail<T>(&self, key: &str, what: impl Into<String>) -> Result<T, Error> {
        Err(Error::spec((self.place)(key), what))
    }

    fn share(&self, key: &str, share: f64) -> Result<f64, Error> {
        if (0.0..=1.0).contains(&share) {
            Ok(share)
        } else {
            self.fail(key, format!("is {share}: a share is from 0 to 1"))
        }
    }

    fn rate(&self, key: &str, share: f64) -> Result<Rate, Error> {
        Ok(Rate::new(self.share(key, share)?))
    }

    fn table<T: Copy>(&self, key: &str, entries: &[(T, f64)]) -> Result<Weighted<T>, Error> {
        let bad = |weight: f64| !weight.is_finite() || weight < 0.0;
        if entries.iter().any(|(_, weight)| bad(*weight)) {
            return self.fail(key, "has a weight that is no number from 0 up");
        }
        if !entries.iter().any(|(_, weight)| *weight > 0.0) {
            return self.fail(key, "has no weight above 0");
        }
        Ok(Weighted::new(entries))
    }

    fn entries(
        &self,
        key: &str,
        entries: &Entries,
        least: u32,
        most: u32,
    ) -> Result<Weighted<u32>, Error> {
        if let Some((value, _)) = entries.iter().find(|(v, _)| !(least..=most).contains(v)) {
            return self.fail(key, format!("has {value}: allowed are {least} to {most}"));
        }
        self.table(key, entries)
    }

    fn day(&self, key: &str, text: &str) -> Result<Day, Error> {
        match calendar::parse_day(text) {
            Some(day) if (calendar::FIRST_DAY..=calendar::LAST_DAY).contains(&day) => Ok(day),
            _ => self.fail(
                key,
                format!("is `{text}`: a date is YYYY-MM-DD, from 1970-01-01 to 9998-12-31"),
            ),
        }
    }

    fn volume(&self, file: &SpecFile) -> Result<Volume, Error> {
        let volume = &file.volume;
        let start = self.day("volume.start", &volume.start)?;
        let days_left = u64::from((calendar::LAST_DAY - start) as u32) + 1;
        let too_long = |key: &str, asked: u64| {
            self.fail(
                key,
                format!(
                    "asks for {asked} days from {}: allowed are {days_left}, up to 9998-12-31",
                    volume.start
                ),
            )
        };
        let amount = match (
            volume.messages,
            volume.log_files,
            volume.per_day,
            volume.days,
        ) {
            (Some(messages), Some(logs), None, None) => {
                if messages == 0 {
                    return self.fail("volume.messages", "is 0: a data set has at least 1 message");
                }
                if messages > 900_000_000 {
                    return self.fail(
                        "volume.messages",
                        format!("is {messages}: accession numbers have 9 digits, so at most 900,000,000 fit"),
                    );
                }
                if logs == 0 || logs > messages {
                    return self.fail(
                        "volume.log_files",
                        format!(
                            "is {logs}: allowed are 1 to {messages}, one message a log or more"
                        ),
                    );
                }
                if logs > days_left {
                    return too_long("volume.log_files", logs);
                }
                Amount::Total { messages, logs }
            }
            (None, None, Some(per_day), Some(days)) => {
                if !(per_day > 0.0 && per_day <= 10_000_000.0) {
                    return self.fail(
                        "volume.per_day",
                        format!("is {per_day}: allowed is above 0, up to 10,000,000"),
                    );
                }
                if days == 0 {
                    return self.fail("volume.days", "is 0: a data set has at least 1 day");
                }
                if days > days_left {
                    return too_long("volume.days", days);
                }
                if per_day * days as f64 > 900_000_000.0 {
                    return self.fail(
                        "volume.days",
                        "makes more than 900,000,000 messages: accession numbers have 9 digits",
                    );
                }
                Amount::Rate { per_day, days }
            }
            _ => {
                return self.fail(
                    "volume",
                    "needs either `messages` and `log_files`, or `per_day` and `days`",
                );
            }
        };
        let hours: Vec<(u32, f64)> = (6..).zip(volume.hours.iter().copied()).collect();
        if hours.len() != 15 {
            return self.fail(
                "volume.hours",
                format!(
                    "has {} weights: 15 are needed, for hours 06 to 20",
                    hours.len()
                ),
            );
        }
        let Ok(weekdays) = <[f64; 7]>::try_from(volume.weekdays.as_slice()) else {
            return self.fail(
                "volume.weekdays",
                format!(
                    "has {} weights: 7 are needed, Monday first",
                    volume.weekdays.len()
                ),
            );
        };
        self.table("volume.weekdays", &weekdays.map(|weight| ((), weight)))?;
        if !(-0.5..=2.0).contains(&volume.growth_per_year) {
            return self.fail(
                "volume.growth_per_year",
                format!("is {}: allowed are -0.5 to 2", volume.growth_per_year),
            );
        }
        Ok(Volume {
            amount,
            start,
            second_feed: self.rate("volume.second_feed", volume.second_feed)?,
            growth_per_year: volume.growth_per_year,
            weekdays,
            dispersion: self.share("volume.dispersion", volume.dispersion)?,
            hours: self.table("volume.hours", &hours)?,
        })
    }

    fn versions(&self, file: &SpecFile) -> Result<Vec<Period>, Error> {
        let shares = |key: &str, v2_3: f64, v2_4: f64, v2_7: f64| {
            self.table(
                key,
                &[
                    (Version::V23, v2_3),
                    (Version::V24, v2_4),
                    (Version::V27, v2_7),
                ],
            )
        };
        match file.versions.era.as_str() {
            "mixed" => {
                let mixed = &file.versions.mixed;
                Ok(vec![Period {
                    from: calendar::FIRST_DAY,
                    shares: shares("versions.mixed", mixed.v2_3, mixed.v2_4, mixed.v2_7)?,
                }])
            }
            "realistic" => {
                let key = "versions.realistic";
                let mut periods = Vec::new();
                for period in &file.versions.realistic {
                    periods.push(Period {
                        from: self.day(key, &period.from)?,
                        shares: shares(key, period.v2_3, period.v2_4, period.v2_7)?,
                    });
                }
                if periods
                    .first()
                    .is_none_or(|first| first.from > calendar::FIRST_DAY)
                    || periods.windows(2).any(|pair| pair[0].from >= pair[1].from)
                {
                    return self.fail(key, "must begin on 1970-01-01 and rise in date");
                }
                Ok(periods)
            }
            other => self.fail(
                "versions.era",
                format!("is `{other}`: allowed are \"mixed\" and \"realistic\""),
            ),
        }
    }

    fn patients(&self, file: &SpecFile) -> Result<Patients, Error> {
        let patients = &file.patients;
        if patients.oldest > 95 {
            return self.fail("patients.oldest", "is above 95 years");
        }
        Ok(Patients {
            studies: self.entries("patients.studies", &patients.studies, 1, 64)?,
            oldest: patients.oldest,
            mbmc: self.rate("patients.mbmc", patients.mbmc)?,
            empi: self.rate("patients.empi", patients.empi)?,
            accented: self.rate("patients.accented", patients.accented)?,
            race_unavailable: self.rate("patients.race_unavailable", patients.race_unavailable)?,
        })
    }

    fn reports(&self, file: &SpecFile) -> Result<Reports, Error> {
        let reports = &file.reports;
        Ok(Reports {
            no_obx: self.rate("reports.no_obx", reports.no_obx)?,
            status: self.table(
                "reports.preliminary",
                &[
                    (Status::Preliminary, reports.preliminary),
                    (Status::Final, reports.final_),
                    (Status::WetRead, reports.wet_read),
                ],
            )?,
            lines_2_7: self.entries("reports.lines_2_7", &reports.lines_2_7, 7, 1000)?,
            lines_2_3: self.entries("reports.lines_2_3", &reports.lines_2_3, 4, 1000)?,
            lines_2_4: self.entries("reports.lines_2_4", &reports.lines_2_4, 4, 1000)?,
            addendum: self.rate("reports.addendum", reports.addendum)?,
            technician_note: self.rate("reports.technician_note", reports.technician_note)?,
            diagnoses: self.entries("reports.diagnoses", &reports.diagnoses, 0, 100)?,
            icd9: self.rate("reports.icd9", reports.icd9)?,
        })
    }

    fn later(&self, key: &str, rate: f64, lags_key: &str, lags: &Entries) -> Result<Later, Error> {
        if !(0.0..=0.45).contains(&rate) {
            return self.fail(key, format!("is {rate}: allowed are 0 to 0.45"));
        }
        self.entries(lags_key, lags, 0, 365)?;
        let mut seen: Vec<u32> = lags.iter().map(|(lag, _)| *lag).collect();
        seen.sort_unstable();
        if seen.windows(2).any(|pair| pair[0] == pair[1]) || lags.len() > 12 {
            return self.fail(lags_key, "must name each lag once, at most 12 of them");
        }
        Ok(Later {
            rate,
            lags: lags.clone(),
        })
    }

    fn fault_of_logs(&self, file: &SpecFile, name: &str) -> Result<Rate, Error> {
        let share = file.faults.get(name).copied().unwrap_or(0.0);
        self.rate(&format!("faults.{name}"), share)
    }

    fn faults(&self, file: &SpecFile) -> Result<Vec<(Fault, u64)>, Error> {
        let mut sum = 0.0;
        let mut faults = Vec::new();
        for &fault in Fault::ALL {
            let key = format!("faults.{}", fault.name());
            let share = self.share(&key, file.faults.get(fault.name()).copied().unwrap_or(0.0))?;
            if share > 0.0 {
                sum += share;
                faults.push((fault, (sum * 4_294_967_296.0) as u64));
            }
        }
        if sum > 1.0 {
            return self.fail(
                "faults",
                format!("come to {sum}: a message has at most one"),
            );
        }
        Ok(faults)
    }
}
