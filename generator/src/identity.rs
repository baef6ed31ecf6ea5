//! By which numbers a patient is known in each message, and which messages that joins.
//!
//! A patient has one number of each kind for life. Messages show some of them: 2.3 and 2.4 the
//! master number, 2.7 the EPIC (or MBMC) number and, sometimes, the master number as EMPI; that
//! message then bridges the two. Webs that conflict arise within a pair of patients only.

use crate::draw::{Draw, Stream, hash};
use crate::patients::{Lanes, Patient};
use crate::pools::SITES;
use crate::slots::{Kind, Slots};
use crate::spec::{Spec, Version};
use crate::timeline::Timeline;

/// Each kind of number has a range of its own, all of ten digits: a number that a fault cut short
/// is never another patient's.
const MASTER: u64 = 1_000_000_000;
const LEGACY: u64 = 2_000_000_000;
const RECORD: u64 = 3_000_000_000;
const EPIC: u64 = 4_000_000_000;
const SECOND_EPIC: u64 = 5_000_000_000;
const MBMC_RECORD: u64 = 6_000_000_000;

/// The numbers that a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Master number: PID-2 in 2.3, EE in 2.4.
    pub(crate) master: u64,
    /// PID-3 of 2.3.
    pub(crate) legacy: u64,
    /// MR of 2.4, at any site.
    pub(crate) record: u64,
    /// Number behind `EPIC` or, if `mbmc`, behind `MBMC`.
    pub(crate) epic: u64,
    /// Whether 2.7 messages carry the MBMC number instead of the EPIC one.
    pub(crate) mbmc: bool,
    /// EMPI of a 2.7 message that has it.
    pub(crate) empi: Option<u64>,
    /// Position in [`SITES`] of the sending site.
    pub(crate) site: usize,
}

/// What a message says about identity: an edge between a master and an EPIC number, either of
/// which may be absent. A number that is not one of ours (a fault cut it) has a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) slot: u64,
    pub(crate) mpi: Option<u64>,
    pub(crate) epic: Option<u64>,
}

impl Edge {
    pub(crate) fn of(slot: u64, version: Version, identity: &Identity) -> Self {
        let (mpi, epic) = match version {
            Version::V23 | Version::V24 => (Some(identity.master), None),
            Version::V27 => (identity.empi, Some(identity.epic)),
        };
        Self { slot, mpi, epic }
    }

    /// An edge from ids as they stand in a row.
    pub(crate) fn from_text(slot: u64, mpi: Option<&str>, epic: Option<&str>) -> Self {
        let number = |text: &str| {
            let digits = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
            match digits.parse::<u64>() {
                Ok(number) if digits.len() == 10 => number,
                _ => xxhash_rust::xxh3::xxh3_64(text.as_bytes()) | 1 << 63,
            }
        };
        Self {
            slot,
            mpi: mpi.map(number),
            epic: epic.map(number),
        }
    }
}

/// A connected component of identities: a patient, as the platform sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// Global index of its first message: the component's name in the truth.
    pub label: u64,
    /// Whether it has at most one master and at most one EPIC number.
    pub consistent: bool,
}

/// The component of an edge among the edges of its patients. `None` for an edge without any number.
pub(crate) fn component(edges: &[Edge], of: &Edge) -> Option<Component> {
    let mut mpis: Vec<u64> = of.mpi.into_iter().collect();
    let mut epics: Vec<u64> = of.epic.into_iter().collect();
    if mpis.is_empty() && epics.is_empty() {
        return None;
    }
    let mut label = of.slot;
    let mut joined = vec![false; edges.len()];
    loop {
        let mut grew = false;
        for (edge, joined) in edges.iter().zip(&mut joined) {
            let touches = edge.mpi.is_some_and(|mpi| mpis.contains(&mpi))
                || edge.epic.is_some_and(|epic| epics.contains(&epic));
            if *joined || !touches {
                continue;
            }
            *joined = true;
            grew = true;
            label = label.min(edge.slot);
            for (id, known) in [(edge.mpi, &mut mpis), (edge.epic, &mut epics)] {
                if let Some(id) = id.filter(|id| !known.contains(id)) {
                    known.push(id);
                }
            }
        }
        if !grew {
            break;
        }
    }
    Some(Component {
        label,
        consistent: mpis.len() <= 1 && epics.len() <= 1,
    })
}

/// Everything about studies that patients share.
pub(crate) struct People<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) timeline: &'a Timeline,
    pub(crate) slots: Slots<'a>,
    pub(crate) lanes: Lanes<'a>,
}

impl<'a> People<'a> {
    pub(crate) fn new(spec: &'a Spec, timeline: &'a Timeline) -> Self {
        Self {
            spec,
            timeline,
            slots: Slots::new(spec, timeline),
            lanes: Lanes::new(spec, timeline),
        }
    }

    /// Version of a study's messages.
    pub(crate) fn version(&self, study: u64) -> Version {
        let bits = hash(self.spec.seed, Stream::Version, study);
        let periods = &self.spec.versions;
        if let [only] = periods.as_slice() {
            return only.shares.at(bits);
        }
        let day = self.slots.log_day(study);
        let begun = periods.partition_point(|period| period.from <= day);
        periods[begun.max(1) - 1].shares.at(bits)
    }

    /// The studies of a patient, by the slots of their first messages, in order.
    pub(crate) fn studies(&self, patient: &Patient) -> impl Iterator<Item = u64> {
        let all_first = self.slots.all_first();
        self.lanes
            .run(patient)
            .filter(move |slot| all_first || self.slots.kind(*slot) == Kind::First)
    }

    /// The numbers that a study's messages carry.
    pub(crate) fn identity(&self, study: u64, version: Version, patient: &Patient) -> Identity {
        self.identity_with(study, version, patient, || self.has_older(patient, study))
    }

    fn identity_with(
        &self,
        study: u64,
        version: Version,
        patient: &Patient,
        has_older: impl FnOnce() -> bool,
    ) -> Identity {
        let spec = self.spec;
        let number = patient.number;
        let mut of_patient = Draw::new(spec.seed, Stream::Patient, number);
        let mbmc = of_patient.chance(spec.patients.mbmc);
        let home = of_patient.index(SITES.len());
        let mut draw = Draw::new(spec.seed, Stream::Identity, study);
        // One study in eight is made at another site than the patient's own.
        let site = if draw.below(8) == 0 {
            draw.index(SITES.len())
        } else {
            home
        };
        let shows_empi = draw.chance(spec.patients.empi);
        let swaps = draw.below(2) == 0;
        let mut identity = Identity {
            master: MASTER + number,
            legacy: LEGACY + number,
            record: RECORD + number,
            epic: if mbmc { MBMC_RECORD } else { EPIC } + number,
            mbmc,
            empi: None,
            site,
        };
        if version != Version::V27 {
            return identity;
        }
        let (second_epic, merged) = self.web(patient);
        let in_web = second_epic || merged;
        if in_web || (shows_empi && has_older()) {
            identity.empi = Some(identity.master);
        }
        if merged && !patient.leads && swaps {
            identity.empi = patient.partner().map(|leader| MASTER + leader.number);
        }
        if second_epic && patient.leads && !mbmc {
            // From the middle of the patient's run on.
            if self.lanes.is_in_second_half(patient, study) {
                identity.epic = SECOND_EPIC + number;
            }
        }
        identity
    }

    /// Whether a patient has a study before this one whose messages are older than 2.7.
    fn has_older(&self, patient: &Patient, study: u64) -> bool {
        self.studies(patient)
            .take_while(|before| *before < study)
            .any(|before| self.version(before) != Version::V27)
    }

    /// Whether the pair of a patient has a second EPIC number, and whether it is merged.
    fn web(&self, patient: &Patient) -> (bool, bool) {
        if !self.has_webs() {
            return (false, false);
        }
        let mut draw = Draw::new(self.spec.seed, Stream::PatientPair, patient.pair());
        let second_epic = draw.chance(self.spec.second_epic);
        (second_epic, draw.chance(self.spec.merged))
    }

    /// The patients whose identities can join those of a patient: itself, and its partner where
    /// their pair is merged.
    pub(crate) fn neighbours(&self, patient: &Patient) -> impl Iterator<Item = Patient> {
        let partner = patient.partner().filter(|_| self.web(patient).1);
        std::iter::once(*patient).chain(partner)
    }

    /// The component of a patient's message where no web joins or splits numbers and no message is
    /// torn: all of the patient's messages with the same kind of number are one component, and both
    /// kinds are one if any message shows both.
    pub(crate) fn plain_component(&self, patient: &Patient, own: &Edge) -> Option<Component> {
        let joins = |edge: &Edge| {
            (edge.mpi.is_some() && own.mpi.is_some()) || (edge.epic.is_some() && own.epic.is_some())
        };
        let mut edges = self.edges(patient);
        let first = edges.next()?;
        let label = if joins(&first) {
            first.slot
        } else {
            // The patient's first message shows the other kind: it is ours if a bridge exists.
            let mut ours = None;
            let mut bridged = false;
            for edge in edges {
                bridged |= edge.mpi.is_some() && edge.epic.is_some();
                ours = ours.or(Some(edge.slot).filter(|_| joins(&edge)));
                if bridged {
                    break;
                }
            }
            if bridged { first.slot } else { ours? }
        };
        Some(Component {
            label,
            consistent: true,
        })
    }

    /// Whether two patients or two numbers of a kind can meet in one component.
    pub(crate) fn has_webs(&self) -> bool {
        !(self.spec.second_epic.is_zero() && self.spec.merged.is_zero())
    }

    /// The edge of each study of a patient, as its first message shows it.
    pub(crate) fn edges(&self, patient: &Patient) -> impl Iterator<Item = Edge> {
        let mut has_older = false;
        self.studies(patient).map(move |study| {
            let version = self.version(study);
            let identity = self.identity_with(study, version, patient, || has_older);
            has_older |= version != Version::V27;
            Edge::of(study, version, &identity)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(slot: u64, mpi: Option<u64>, epic: Option<u64>) -> Edge {
        Edge { slot, mpi, epic }
    }

    #[test]
    fn a_bridge_joins_what_stood_apart() {
        let edges = [
            edge(5, Some(1), None),
            edge(7, None, Some(2)),
            edge(9, Some(1), Some(2)),
            edge(2, Some(8), None),
        ];
        let joined = Component {
            label: 5,
            consistent: true,
        };
        for own in &edges[..3] {
            assert_eq!(component(&edges, own), Some(joined));
        }
        assert_eq!(component(&edges, &edges[3]).unwrap().label, 2);
        assert_eq!(component(&edges, &edge(4, None, None)), None);
    }

    #[test]
    fn two_numbers_of_a_kind_conflict() {
        let edges = [edge(1, Some(1), Some(2)), edge(3, Some(1), Some(4))];
        assert!(!component(&edges, &edges[0]).unwrap().consistent);
    }

    #[test]
    fn a_number_that_was_cut_is_nobodys() {
        let whole = Edge::from_text(0, Some("1000000012"), Some("EPIC4000000012"));
        assert_eq!(
            (whole.mpi, whole.epic),
            (Some(1_000_000_012), Some(4_000_000_012))
        );
        let cut = Edge::from_text(0, Some("100000001"), Some("EPIC40"));
        assert!(cut.mpi.unwrap() > 1 << 62 && cut.epic.unwrap() > 1 << 62);
    }
}
