//! What a message means: patient, study, people, report, in values that need no further drawing.

use super::text::{ascii, concat, numbered};
use crate::calendar::{DAY_SECONDS, Day, date_of, day_of, put_day, put_time};
use crate::draw::{Draw, Stream};
use crate::identity::{Edge, Identity, People};
use crate::patients::Patient;
use crate::pools::{LONGEST, MBMC, Part, Person, Pools, Procedure, SITES};
use crate::slots::{Kind, Times};
use crate::spec::{Status, Version};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

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

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
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
struct Draft<'d, 'a, 'b> {
    modeller: &'d Modeller<'a>,
    arena: &'b Bump,
    version: Version,
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
        let mut digits = Vec::with_capacity(14);
        put_time(&mut digits, times.report);
        let rdt = ascii(arena, &digits);
        digits.clear();
        put_time(&mut digits, times.study);
        let sdt = ascii(arena, &digits);
        digits.clear();
        put_day(&mut digits, person.birth);
        let birth_digits = ascii(arena, &digits);
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

    fn report(&self, model: &Model<'b>, draw: &mut Draw) -> Report<'b> {
        let reports = &self.modeller.people.spec.reports;
        match self.version {
            Version::V23 => {
                let lines = draw.weighted(&reports.lines_2_3) as usize;
                Report::Lines(self.lines(model, lines, 5, false, false, draw))
            }
            Version::V24 => {
                let lines = draw.weighted(&reports.lines_2_4) as usize;
                self.texts(model, lines, draw)
            }
            Version::V27 => {
                let lines = draw.weighted(&reports.lines_2_7) as usize;
                let addendum = draw.chance(reports.addendum);
                let note = draw.chance(reports.technician_note);
                Report::Lines(self.lines(model, lines, 6, addendum, note, draw))
            }
        }
    }

    /// A report of `count` lines, of which `fixed` are headings, and what comes on top.
    fn lines(
        &self,
        model: &Model<'b>,
        count: usize,
        fixed: usize,
        addendum: bool,
        note: bool,
        draw: &mut Draw,
    ) -> &'b [(Section, &'b str)] {
        use Section::{Addendum, Findings, Impression, TechnicianNote};
        let free = count.saturating_sub(fixed).max(1);
        let impression = (free / 3).max(1);
        let findings = free - impression;
        let mut lines = BumpVec::with_capacity_in(count + 8, self.arena);
        if addendum || (fixed == 5 && model.status == Status::Corrected) {
            lines.push((Addendum, "ADDENDUM:"));
            self.paragraphs(model, Part::Impression, Addendum, 2, draw, &mut lines);
        }
        let examination = concat(
            self.arena,
            &["EXAMINATION: ", model.procedure.alternative.as_str()],
        );
        lines.push((Findings, examination));
        if fixed == 6 {
            lines.push((Findings, ""));
        }
        if count >= 5 {
            lines.push((Findings, "FINDINGS:"));
            self.paragraphs(model, Part::Findings, Findings, findings, draw, &mut lines);
            lines.push((Findings, ""));
        }
        lines.push((Impression, "IMPRESSION:"));
        self.paragraphs(
            model,
            Part::Impression,
            Impression,
            impression,
            draw,
            &mut lines,
        );
        let dictated = concat(
            self.arena,
            &[
                "Dictated by: ",
                model.principal.full_name.as_str(),
                ", M.D.",
            ],
        );
        lines.push((Impression, dictated));
        if note {
            let length = 1 + draw.index(3);
            self.paragraphs(
                model,
                Part::Findings,
                TechnicianNote,
                length,
                draw,
                &mut lines,
            );
        }
        lines.into_bump_slice()
    }

    /// So many lines of paragraphs, a blank line between two of them.
    fn paragraphs(
        &self,
        model: &Model<'b>,
        part: Part,
        section: Section,
        mut left: usize,
        draw: &mut Draw,
        lines: &mut BumpVec<'b, (Section, &'b str)>,
    ) {
        while left > 0 {
            let length = left.min(3 + draw.index(LONGEST - 2));
            let paragraph = self
                .modeller
                .pools
                .paragraph(model.procedure, part, length, draw);
            lines.extend(
                paragraph
                    .lines()
                    .iter()
                    .map(|line| (section, line.as_str())),
            );
            left -= length;
            if left > 1 {
                lines.push((section, ""));
                left -= 1;
            }
        }
    }

    fn texts(&self, model: &Model<'b>, count: usize, draw: &mut Draw) -> Report<'b> {
        let arena = self.arena;
        let moment = self.moment(model.times.report);
        let principal = model.principal.full_name.as_str();
        let done = matches!(model.status, Status::Final | Status::Corrected);
        let banner = if done { "Final" } else { "Preliminary" };
        let head = concat(
            arena,
            &[
                principal,
                ", M.D.\n\n\n\n********",
                banner,
                " Report********\n\n\n ",
            ],
        );
        let mut body = bumpalo::collections::String::with_capacity_in(1400, arena);
        for text in [
            "ACC#  Date Time  Exam\n\n",
            model.accession,
            " ",
            moment,
            " ",
            &model.procedure.code,
            " ",
            &model.procedure.name,
            "\n\nEXAMINATION:\n",
            &model.procedure.alternative,
            "\n\nFINDINGS:",
        ] {
            body.push_str(text);
        }
        let impression = (count / 3).max(1);
        let mut lines = BumpVec::with_capacity_in(count + 2, arena);
        let findings = count.saturating_sub(impression).max(1);
        self.paragraphs(
            model,
            Part::Findings,
            Section::Findings,
            findings,
            draw,
            &mut lines,
        );
        lines.push((Section::Findings, ""));
        lines.push((Section::Impression, "IMPRESSION:"));
        self.paragraphs(
            model,
            Part::Impression,
            Section::Impression,
            impression,
            draw,
            &mut lines,
        );
        for (_, line) in &lines {
            body.push('\n');
            body.push_str(line);
        }
        let orderer = model.orderer;
        let signature = if done {
            [
                "This document has been electronically signed by: ",
                principal,
                ", M.D. on\n",
                moment,
            ]
        } else {
            ["Pending review by: ", principal, ", M.D.", ""]
        };
        let foot = concat(
            arena,
            &[
                "Requested By: ",
                &orderer.family,
                ",",
                &orderer.given,
                " ",
                &orderer.middle,
                " M.D.\n\nDictated By: ",
                principal,
                ", M.D. on ",
                moment,
                "\n\n",
                signature[0],
                signature[1],
                signature[2],
                signature[3],
                "\n \n\n\n \n\n\n ",
            ],
        );
        let last = concat(arena, &[model.accession, "^UK^ZB"]);
        Report::Texts([head, body.into_bump_str(), foot], last)
    }

    /// A point in time as a report writes it: `Mar 11 2019 05:20AM`.
    fn moment(&self, seconds: i64) -> &'b str {
        let (year, month, day) = date_of(seconds.div_euclid(DAY_SECONDS) as Day);
        let minute = seconds.rem_euclid(DAY_SECONDS) / 60;
        let (hour, half) = match minute / 60 {
            0 => (12, "AM"),
            hour @ 1..12 => (hour, "AM"),
            12 => (12, "PM"),
            hour => (hour - 12, "PM"),
        };
        let mut text = Vec::with_capacity(20);
        text.extend_from_slice(MONTHS[month as usize - 1].as_bytes());
        text.push(b' ');
        crate::calendar::put_digits(&mut text, u64::from(day), 2);
        text.push(b' ');
        crate::calendar::put_digits(&mut text, year as u64, 4);
        text.push(b' ');
        crate::calendar::put_digits(&mut text, hour as u64, 2);
        text.push(b':');
        crate::calendar::put_digits(&mut text, (minute % 60) as u64, 2);
        text.extend_from_slice(half.as_bytes());
        ascii(self.arena, &text)
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
