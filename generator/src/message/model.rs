//! What a message means: patient, study, people, report, in values that need no further drawing.

use super::text::{ascii, concat, numbered};
use crate::calendar::{Day, day_digits, day_of, time_digits};
use crate::draw::{Draw, Stream};
use crate::identity::{Edge, Identity, People};
use crate::patients::Patient;
use crate::pools::{MBMC, Person, Pools, Procedure, SITES};
use crate::slots::{Kind, Times};
use crate::spec::{Status, Version};
use bumpalo::Bump;

/// The part of a report that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Addendum,
    Findings,
    Impression,
    TechnicianNote,
}

/// The report of a message.
#[derive(Clone, Copy)]
pub(crate) enum Report<'a> {
    /// No OBX at all.
    Missing,
    /// A line an OBX, as 2.3 and 2.7 write it.
    Lines(&'a [(Section, &'a str)]),
    /// Whole texts in three OBX, as 2.4 writes it; the text after them is that of the fourth.
    Texts([&'a str; 3], &'a str),
}

/// A diagnosis: code, meaning, coding system.
pub(crate) type Diagnosis<'a> = (&'a str, &'a str, &'a str);

/// A message before it is written.
pub(crate) struct Model<'a> {
    pub(crate) version: Version,
    pub(crate) times: Times,
    /// Report and study time, 14 digits.
    pub(crate) rdt: &'a str,
    pub(crate) sdt: &'a str,
    pub(crate) control_id: &'a str,
    /// Code of the sending site.
    pub(crate) site: &'a str,
    /// MSH-4.
    pub(crate) facility: &'a str,
    pub(crate) edge: Edge,
    /// PID-2, empty where the version has none.
    pub(crate) pid_2: &'a str,
    /// PID-3: id, authority, type, facility of each; "" where a member is empty.
    pub(crate) ids: &'a [[&'a str; 4]],
    /// Check digits of the 2.3 id.
    pub(crate) check_digit: &'a str,
    pub(crate) family: &'a str,
    pub(crate) given: &'a str,
    pub(crate) middle: &'a str,
    pub(crate) birth: Day,
    pub(crate) birth_digits: &'a str,
    pub(crate) sex: &'a str,
    pub(crate) race: &'a str,
    pub(crate) house: &'a str,
    pub(crate) street: &'a str,
    pub(crate) city: &'a str,
    pub(crate) zip: &'a str,
    pub(crate) visit: &'a str,
    pub(crate) accession: &'a str,
    pub(crate) placer: &'a str,
    pub(crate) procedure: &'a Procedure,
    pub(crate) status: Status,
    pub(crate) orderer: &'a Person,
    pub(crate) principal: &'a Person,
    pub(crate) assistants: &'a [&'a Person],
    pub(crate) technician: Option<&'a Person>,
    pub(crate) diagnoses: &'a [Diagnosis<'a>],
    pub(crate) report: Report<'a>,
    pub(crate) study_uid: &'a str,
}

impl Model<'_> {
    /// The status as 2.3 and 2.7 write it.
    pub(crate) fn status_word(&self) -> &'static str {
        match self.status {
            Status::Preliminary => "Preliminary",
            Status::Final => "Final",
            Status::WetRead => "Wet Read",
            Status::Corrected => "Corrected",
        }
    }

    /// The status as 2.4 writes it.
    pub(crate) fn status_letter(&self) -> &'static str {
        match self.status {
            Status::Preliminary => "P",
            Status::Final => "F",
            Status::WetRead => "",
            Status::Corrected => "C",
        }
    }
}

/// Makes models of messages.
pub(crate) struct Modeller<'a> {
    pub(crate) people: &'a People<'a>,
    pub(crate) pools: &'a Pools,
}

/// The first accession number, so that all have nine digits.
const FIRST_ACCESSION: u64 = 100_000_000;

const RACES: [(&str, &str); 5] = [
    ("WHITE", "W"),
    ("BLACK", "B"),
    ("ASIAN", "A"),
    ("HISPANIC", "H"),
    ("OTHER", "O"),
];

impl<'a> Modeller<'a> {
    /// The meaning of the message in a slot. A copy means what the message means that it copies.
    pub(crate) fn model<'b>(&self, slot: u64, arena: &'b Bump) -> Model<'b>
    where
        'a: 'b,
    {
        let slots = &self.people.slots;
        let (study, source) = match slots.kind(slot) {
            Kind::First => (slot, slot),
            Kind::FollowUp { first } => (first, slot),
            Kind::Resend { first } => (first, first),
        };
        let version = self.people.version(study);
        let patient = self.people.lanes.patient(study);
        let identity = self.people.identity(study, version, &patient);
        let seed = self.people.spec.seed;
        let mut of_study = Draw::new(seed, Stream::Study, study);
        let mut of_message = Draw::new(seed, Stream::Message, source);
        let times = slots.times(source);
        let status = self.status(study, source, &mut of_study);
        let draft = Draft {
            modeller: self,
            arena,
            version,
            identity: &identity,
        };
        draft.finish(
            Edge::of(slot, version, &identity),
            study,
            times,
            status,
            &patient,
            &mut of_study,
            &mut of_message,
        )
    }

    /// A first message has any status. What follows makes it final, or corrects it; what is dated
    /// before it, though it came later, is preliminary. Only earlier slots count: a message stays
    /// the same however many are still to come.
    fn status(&self, study: u64, source: u64, of_study: &mut Draw) -> Status {
        let drawn = of_study.weighted(&self.people.spec.reports.status);
        if source == study {
            return drawn;
        }
        let slots = &self.people.slots;
        let first = slots.times(study).report;
        let follows = |slot: u64| {
            matches!(slots.kind(slot), Kind::FollowUp { .. }) && slots.times(slot).report > first
        };
        if !follows(source) {
            return Status::Preliminary;
        }
        let family = slots.family(study);
        let before = family.iter().any(|slot| *slot < source && follows(*slot));
        if before || drawn == Status::Final {
            Status::Corrected
        } else {
            Status::Final
        }
    }
}

/// A model in the making: what all its parts need.
pub(super) struct Draft<'d, 'a, 'b> {
    pub(super) modeller: &'d Modeller<'a>,
    pub(super) arena: &'b Bump,
    pub(super) version: Version,
    identity: &'d Identity,
}

impl<'a: 'b, 'b> Draft<'_, 'a, 'b> {
    #[expect(
        clippy::too_many_arguments,
        reason = "the draws of one message, taken once and in one order"
    )]
    fn finish(
        &self,
        edge: Edge,
        study: u64,
        times: Times,
        status: Status,
        patient: &Patient,
        of_study: &mut Draw,
        of_message: &mut Draw,
    ) -> Model<'b> {
        let arena = self.arena;
        let spec = self.modeller.people.spec;
        let pools: &'a Pools = self.modeller.pools;
        let at_mbmc = self.version == Version::V27 && self.identity.mbmc;
        let site_index = if at_mbmc {
            SITES.len()
        } else {
            self.identity.site
        };
        let site = if at_mbmc { MBMC } else { SITES[site_index] };
        let staff = &pools.staff[site_index];
        let procedure = of_study.pick(&pools.procedures);
        let orderer = of_study.pick(&staff.physicians);
        let principal = of_study.pick(&staff.physicians);
        let assistants =
            arena.alloc_slice_fill_with(of_study.index(3), |_| of_study.pick(&staff.physicians));
        let technician = (of_study.below(4) == 0).then(|| of_study.pick(&staff.technicians));
        let placer = numbered(arena, "", 4_000_000 + of_study.below(5_000_000));
        let visit = numbered(arena, "V", 30_000_000 + of_study.below(60_000_000));
        let study_uid = self.uuid(of_study);
        let diagnoses = self.diagnoses(of_study);
        let person = self.person(patient);
        let control_id = self.uuid(of_message);
        let rdt = ascii(arena, &time_digits(times.report));
        let sdt = ascii(arena, &time_digits(times.study));
        let birth_digits = ascii(arena, &day_digits(person.birth));
        let accession = numbered(arena, "", FIRST_ACCESSION + study);
        let (pid_2, ids) = self.ids(site);
        let mut model = Model {
            version: self.version,
            times,
            rdt,
            sdt,
            control_id,
            site,
            facility: concat(arena, &[site, "HOSP"]),
            edge,
            pid_2,
            ids,
            check_digit: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
                [(patient.number % 10) as usize],
            family: person.family,
            given: person.given,
            middle: person.middle,
            birth: person.birth,
            birth_digits,
            sex: person.sex,
            race: person.race,
            house: person.house,
            street: person.street,
            city: person.city,
            zip: person.zip,
            visit,
            accession,
            placer,
            procedure,
            status,
            orderer,
            principal,
            assistants,
            technician,
            diagnoses,
            report: Report::Missing,
            study_uid,
        };
        if !of_message.chance(spec.reports.no_obx) {
            model.report = self.report(&model, of_message);
        }
        model
    }

    fn uuid(&self, draw: &mut Draw) -> &'b str {
        let number = u128::from(draw.bits()) << 64 | u128::from(draw.bits());
        concat(self.arena, &["2.25.", itoa::Buffer::new().format(number)])
    }

    fn ids(&self, site: &'b str) -> (&'b str, &'b [[&'b str; 4]]) {
        let arena = self.arena;
        let identity = self.identity;
        match self.version {
            Version::V23 => {
                let legacy = numbered(arena, "", identity.legacy);
                let ids = arena.alloc([[legacy, "", "", "UN"]]);
                (numbered(arena, "", identity.master), ids)
            }
            Version::V24 => {
                let ids = arena.alloc([
                    [numbered(arena, "", identity.master), site, "EE", ""],
                    [numbered(arena, site, identity.record), site, "MR", ""],
                ]);
                ("", ids)
            }
            Version::V27 => {
                let own = if identity.mbmc {
                    [numbered(arena, MBMC, identity.epic), MBMC, "MR", ""]
                } else {
                    [numbered(arena, "EPIC", identity.epic), "EPIC", "MRN", ""]
                };
                match identity.empi {
                    None => ("", arena.alloc([own])),
                    Some(empi) => (
                        "",
                        arena.alloc([own, [numbered(arena, "", empi), "EMPI", "MR", ""]]),
                    ),
                }
            }
        }
    }

    fn person(&self, patient: &Patient) -> PersonDraws<'b> {
        let people = self.modeller.people;
        let spec = people.spec;
        let names = &self.modeller.pools.names;
        let mut draw = Draw::new(spec.seed, Stream::Person, patient.number);
        let female = draw.below(2) == 0;
        let family = if draw.chance(spec.patients.accented) {
            draw.pick(&names.accented)
        } else {
            draw.pick(&names.family)
        };
        let given = draw.pick(&names.given);
        let middle = draw.pick(&names.given);
        let race = RACES[draw.index(RACES.len())];
        let unavailable = draw.chance(spec.patients.race_unavailable);
        let (street, city) = (
            draw.pick(&self.modeller.pools.streets),
            draw.pick(&self.modeller.pools.cities),
        );
        let house = numbered(self.arena, "", 1 + draw.below(9999));
        let zip = numbered(self.arena, "", 60_000 + draw.below(6_000));
        PersonDraws {
            family,
            given,
            middle,
            birth: self.birth(patient, &mut draw),
            sex: if female { "F" } else { "M" },
            race: match self.version {
                Version::V23 => "",
                Version::V24 => race.1,
                Version::V27 if unavailable => "UNAVAILABLE",
                Version::V27 => race.0,
            },
            house,
            street,
            city,
            zip,
        }
    }

    /// A day of birth so many years before the patient's first study, but after 1905-01-01, so that
    /// the platform keeps it.
    fn birth(&self, patient: &Patient, draw: &mut Draw) -> Day {
        let people = self.modeller.people;
        let first = people
            .lanes
            .run(patient)
            .next()
            .expect("a patient has a study");
        let begin = people.slots.log_day(first);
        let days = 1 + u64::from(people.spec.patients.oldest) * 365;
        let birth = begin - 30 - draw.below(days) as Day;
        birth.max(day_of(1905, 6, 1) + (patient.number % 365) as Day)
    }

    fn diagnoses(&self, draw: &mut Draw) -> &'b [Diagnosis<'b>] {
        if self.version != Version::V27 {
            return &[];
        }
        let reports = &self.modeller.people.spec.reports;
        let known = &self.modeller.pools.diagnoses;
        let count = draw.weighted(&reports.diagnoses) as usize;
        let icd9 = draw.chance(reports.icd9);
        self.arena.alloc_slice_fill_with(count, |_| {
            let diagnosis = draw.pick(known);
            if icd9 {
                (diagnosis.icd9.as_str(), diagnosis.meaning.as_str(), "I9")
            } else {
                (diagnosis.icd10.as_str(), diagnosis.meaning.as_str(), "I10")
            }
        })
    }
}

struct PersonDraws<'b> {
    family: &'b str,
    given: &'b str,
    middle: &'b str,
    birth: Day,
    sex: &'b str,
    race: &'b str,
    house: &'b str,
    street: &'b str,
    city: &'b str,
    zip: &'b str,
}
