//! Which patient a study belongs to, which studies a patient has, and by which numbers the patient
//! is known in each message.
//!
//! Studies are dealt onto lanes: every block of one study per lane is shuffled by a key of its own,
//! and a patient is a run of neighbouring studies on one lane. So patients come back over time, the
//! share of new patients stays even from the first block on, and both questions are answered
//! without looking at any other patient.

use crate::draw::{Draw, Permutation, Stream, hash};
use crate::spec::{Amount, Spec};
use crate::timeline::Timeline;

/// Blocks after which a lane's runs are cut: no patient has more studies.
const STRETCH: u64 = 64;

/// A patient: a run of studies on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patient {
    /// A number of its own, below the number of studies plus one stretch of all lanes.
    pub(crate) number: u64,
    lane: u64,
    /// First block of the run, in blocks of the lane.
    begin: u64,
    /// Number of blocks.
    len: u64,
    /// The other patient of a pair: its number and run.
    partner: Option<(u64, u64, u64)>,
    /// Whether this is the first of its pair.
    pub(crate) leads: bool,
}

impl Patient {
    /// The patient that this one is paired with, if any.
    pub(crate) fn partner(&self) -> Option<Patient> {
        let (number, begin, len) = self.partner?;
        Some(Patient {
            number,
            lane: self.lane,
            begin,
            len,
            partner: Some((self.number, self.begin, self.len)),
            leads: !self.leads,
        })
    }

    /// Number of the pair's first patient.
    pub(crate) fn pair(&self) -> u64 {
        match self.partner {
            Some((number, ..)) if !self.leads => number,
            _ => self.number,
        }
    }
}

pub(crate) struct Lanes<'a> {
    spec: &'a Spec,
    /// Lanes, as a power of two.
    bits: u32,
    slots: u64,
}

impl<'a> Lanes<'a> {
    pub(crate) fn new(spec: &'a Spec, timeline: &Timeline) -> Self {
        let a_day = match spec.volume.amount {
            Amount::Rate { per_day, .. } => per_day,
            Amount::Total { messages, logs } => messages as f64 / logs as f64,
        };
        // About five weeks between a patient's studies, on average.
        let bits = ((a_day * 36.0).max(16.0) as u64)
            .next_power_of_two()
            .trailing_zeros();
        Self {
            spec,
            bits,
            slots: timeline.messages,
        }
    }

    /// The patient of a study, given by the slot of its first message.
    pub(crate) fn patient(&self, study: u64) -> Patient {
        let block = study >> self.bits;
        let lane = self.order(block).apply(study & self.mask());
        let shifted = block + self.phase(lane);
        let stretch = shifted / STRETCH;
        let offset = shifted % STRETCH;
        let row = stretch << self.bits | lane;
        let mut draw = Draw::new(self.spec.seed, Stream::LaneRuns, row);
        let base = stretch * STRETCH;
        let run = |start: u64, len: u64| (row * STRETCH + start, base + start, len);
        let mut start = 0;
        let mut leader = None;
        loop {
            let drawn = u64::from(draw.weighted(&self.spec.patients.studies));
            let len = drawn.min(STRETCH - start);
            if offset < start + len {
                let (number, begin, len) = run(start, len);
                let next = start + len;
                let partner = leader.or_else(|| {
                    (next < STRETCH).then(|| {
                        let drawn = u64::from(draw.weighted(&self.spec.patients.studies));
                        run(next, drawn.min(STRETCH - next))
                    })
                });
                return Patient {
                    number,
                    lane,
                    begin,
                    len,
                    partner,
                    leads: leader.is_none(),
                };
            }
            leader = match leader {
                None => Some(run(start, len)),
                Some(_) => None,
            };
            start += len;
        }
    }

    /// The slots of a patient's run, in order: its studies, and places of messages that turned out
    /// to belong to another study.
    pub(crate) fn run(&self, patient: &Patient) -> impl Iterator<Item = u64> {
        let (bits, mask, slots) = (self.bits, self.mask(), self.slots);
        let (lane, phase) = (patient.lane, self.phase(patient.lane));
        let seed = self.spec.seed;
        (patient.begin..patient.begin + patient.len).filter_map(move |shifted| {
            let block = shifted.checked_sub(phase)?;
            let order = Permutation::new(mask + 1, hash(seed, Stream::BlockOrder, block));
            let slot = block << bits | order.invert(lane);
            (slot < slots).then_some(slot)
        })
    }

    /// Whether a study lies in the second half of its patient's run.
    pub(crate) fn is_in_second_half(&self, patient: &Patient, study: u64) -> bool {
        let shifted = (study >> self.bits) + self.phase(patient.lane);
        shifted - patient.begin >= patient.len / 2
    }

    fn order(&self, block: u64) -> Permutation {
        Permutation::new(
            self.mask() + 1,
            hash(self.spec.seed, Stream::BlockOrder, block),
        )
    }

    fn mask(&self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Lanes cut their runs at different blocks, so that new patients come evenly.
    fn phase(&self, lane: u64) -> u64 {
        hash(self.spec.seed, Stream::LanePhase, lane) % STRETCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Overrides;
    use std::collections::{BTreeMap, BTreeSet};

    fn with_lanes(messages: u64, check: impl FnOnce(&Lanes<'_>)) {
        let spec = Spec::load(
            "varied",
            &Overrides {
                messages: Some(messages),
                log_files: Some(messages / 28),
                ..Overrides::default()
            },
        )
        .unwrap();
        let timeline = Timeline::new(&spec);
        check(&Lanes::new(&spec, &timeline));
    }

    #[test]
    fn studies_and_patients_find_each_other() {
        with_lanes(20_000, |lanes| {
            let mut runs = BTreeMap::new();
            for study in 0..20_000 {
                let patient = lanes.patient(study);
                assert!(lanes.run(&patient).any(|slot| slot == study));
                runs.entry(patient.number)
                    .or_insert_with(|| (patient, BTreeSet::new()))
                    .1
                    .insert(study);
            }
            for (patient, studies) in runs.values() {
                assert_eq!(&lanes.run(patient).collect::<BTreeSet<_>>(), studies);
            }
            let mean = 20_000.0 / runs.len() as f64;
            assert!(mean >= 3.0, "{mean} studies a patient");
        });
    }

    #[test]
    fn the_two_of_a_pair_name_each_other() {
        with_lanes(20_000, |lanes| {
            let mut pairs = 0;
            for study in 0..20_000 {
                let patient = lanes.patient(study);
                let Some(partner) = patient.partner() else {
                    continue;
                };
                assert_eq!(partner.pair(), patient.pair());
                if let Some(other) = lanes.run(&partner).next() {
                    assert_eq!(lanes.patient(other), partner);
                    pairs += 1;
                }
            }
            assert!(pairs > 10_000, "{pairs}");
        });
    }

    #[test]
    fn the_share_of_new_patients_stays_even_after_the_first_block() {
        with_lanes(60_000, |lanes| {
            let mut known = BTreeSet::new();
            let mut fresh = [0u32; 15];
            for study in 0..60_000u64 {
                fresh[(study / 4000) as usize] +=
                    u32::from(known.insert(lanes.patient(study).number));
            }
            let later = &fresh[1..];
            let (least, most) = (later.iter().min().unwrap(), later.iter().max().unwrap());
            assert!(most * 10 < least * 13, "{fresh:?}");
        });
    }
}
