//! The text of a report: headings and paragraphs, laid out as each version does.

use super::model::{Draft, Model, Report, Section};
use super::text::{ascii, concat};
use crate::calendar::{DAY_SECONDS, Day, date_of, digits};
use crate::draw::Draw;
use crate::pools::{LONGEST, Part};
use crate::spec::{Status, Version};
use bumpalo::collections::Vec as BumpVec;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

impl<'a: 'b, 'b> Draft<'_, 'a, 'b> {
    pub(super) fn report(&self, model: &Model<'b>, draw: &mut Draw) -> Report<'b> {
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
        // Up to five lines there is no room for findings: heading, impression and name are all.
        let is_short = count <= 5;
        let free = count
            .saturating_sub(if is_short { 3 } else { fixed })
            .max(1);
        let impression = if is_short { free } else { (free / 3).max(1) };
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
        if !is_short {
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
        let arena = self.arena;
        let two = |number: u64| ascii(arena, &digits::<2>(number));
        concat(
            arena,
            &[
                MONTHS[month as usize - 1],
                " ",
                two(u64::from(day)),
                " ",
                ascii(arena, &digits::<4>(year as u64)),
                " ",
                two(hour as u64),
                ":",
                two((minute % 60) as u64),
                half,
            ],
        )
    }
}
