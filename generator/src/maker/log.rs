//! Writing one log: messages in the order of their header lines, with the truth of each.

use super::{Made, Maker, MessageTruth, Outcome, Scratch};
use crate::calendar::{date_of, digits, time_digits};
use crate::draw::{Draw, Stream};
use crate::faults::{Fault, LOG_WITHOUT_SB, TRUNCATED};
use crate::identity::Edge;
use crate::message::curate::{curated_row, mapping_ids};
use crate::message::render::{END, render};
use crate::spec::Encoding;
use crate::timeline::LogPlan;
use bench_tables::RowEncoder;
use bumpalo::Bump;

impl Maker<'_> {
    /// Writes a log and hands over the truth of every message in it, in the order of the log.
    pub(crate) fn log(
        &self,
        log: usize,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
        mut sink: impl FnMut(&MessageTruth<'_>),
    ) {
        let plan = &self.plan.timeline.logs[log];
        let log_fault = self.log_fault(log);
        let mut form = Draw::new(self.seed(), Stream::LogForm, log as u64);
        let separator: &[u8] = if form.below(10) == 0 { b"\n" } else { b"\r\n" };
        let bare_end = form.below(2) == 0;
        let stem = plan.stem();
        let order = self.order(plan);
        let mut ordinal = 0;
        for (at, &(report, fraction, slot)) in order.iter().enumerate() {
            scratch.arena.reset();
            let last = at + 1 == order.len();
            let start = out.len();
            let arena = &scratch.arena;
            let source_file = portable_source(plan, &stem, ordinal, arena);
            let truncated = last && log_fault == Some(TRUNCATED);
            let made = self.make(slot, truncated, source_file, arena);
            self.write(
                &made,
                report,
                fraction,
                log_fault == Some(LOG_WITHOUT_SB),
                out,
            );
            if !last {
                out.extend_from_slice(separator);
            } else if bare_end && made.torn.is_none() {
                // The last end mark of a log often stands alone, without `<R>` and line end.
                out.truncate(out.len() - END.len());
            }
            if self.plan.spec.encoding == Encoding::Latin1 && made.torn.is_none() {
                to_latin1(out, start);
            }
            if log_fault == Some(LOG_WITHOUT_SB) {
                sink(&unread(
                    slot,
                    Outcome::LogFailed,
                    LOG_WITHOUT_SB,
                    made.model.control_id,
                ));
                continue;
            }
            let joined = made.fault == Some(Fault::MissingEb.name());
            let truth = self.truth(
                &made,
                slot,
                ordinal,
                source_file,
                arena,
                &mut scratch.encoder,
            );
            sink(&truth);
            if joined {
                let victim = self
                    .modeller()
                    .model(self.source(slot).saturating_sub(1), arena);
                sink(&unread(
                    slot,
                    Outcome::Joined,
                    Fault::MissingEb.name(),
                    victim.control_id,
                ));
            }
            ordinal += 1;
        }
    }

    /// Appends one message with its header line and marks.
    fn write(&self, made: &Made<'_>, report: i64, fraction: u32, no_sb: bool, out: &mut Vec<u8>) {
        let Some(torn) = &made.torn else {
            put_header(out, report, fraction);
            if !no_sb {
                out.extend_from_slice(b"<SB>\n");
            }
            render(&made.model, out);
            out.extend_from_slice(b"<EB>");
            out.extend_from_slice(END.as_bytes());
            return;
        };
        out.extend(torn.chatter.chars().map(to_byte));
        if torn.header {
            put_header(out, report, fraction);
        }
        let body = if no_sb {
            torn.body.replace("<SB>", "")
        } else {
            torn.body.clone()
        };
        out.extend(body.chars().map(to_byte));
    }

    fn truth<'b>(
        &self,
        made: &Made<'b>,
        slot: u64,
        ordinal: u32,
        source_file: &'b str,
        arena: &'b Bump,
        encoder: &mut RowEncoder,
    ) -> MessageTruth<'b> {
        let curated = made.row.and_then(|row| curated_row(row, arena));
        let component = match (made.row, curated) {
            (Some(row), Some(_)) => {
                let edge = if made.torn.is_some() {
                    let (mpi, epic) = mapping_ids(row);
                    Edge::from_text(slot, mpi, epic)
                } else {
                    made.model.edge
                };
                self.component(self.people.slots.study(slot), &edge)
            }
            _ => None,
        };
        MessageTruth {
            slot,
            ordinal: Some(ordinal),
            outcome: made.outcome,
            fault: made.fault,
            control_id: made.model.control_id,
            source_file: (made.outcome != Outcome::Empty).then_some(source_file),
            report_hash: made.row.map(|row| encoder.report(row)),
            curated_hash: curated.map(|row| encoder.curated(row)),
            row: made.row,
            curated,
            component,
        }
    }
}

/// The truth of a message that the platform does not read as one.
fn unread<'b>(
    slot: u64,
    outcome: Outcome,
    fault: &'static str,
    control_id: &'b str,
) -> MessageTruth<'b> {
    MessageTruth {
        slot,
        ordinal: None,
        outcome,
        fault: Some(fault),
        control_id,
        source_file: None,
        row: None,
        curated: None,
        component: None,
        report_hash: None,
        curated_hash: None,
    }
}

/// A header line.
pub(super) fn put_header(out: &mut Vec<u8>, seconds: i64, fraction: u32) {
    let time = time_digits(seconds);
    for (digits, after) in [
        (&time[..4], b'-'),
        (&time[4..6], b'-'),
        (&time[6..8], b' '),
        (&time[8..10], b':'),
        (&time[10..12], b':'),
        (&time[12..], b'.'),
        (&digits::<4>(u64::from(fraction)), b'|'),
    ] {
        out.extend_from_slice(digits);
        out.push(after);
    }
    out.extend_from_slice(b"INFO|Raw.Application.TcpServer.TcpServer|\n");
}

/// The part of a staged message's path that does not depend on the staging root.
fn portable_source<'b>(plan: &LogPlan, stem: &str, ordinal: u32, arena: &'b Bump) -> &'b str {
    let (year, rest) = stem.split_at(4);
    let (month, rest) = rest.split_at(2);
    debug_assert_eq!(year, format!("{:04}", date_of(plan.day).0));
    crate::message::text::concat(
        arena,
        &[
            year,
            "/",
            month,
            "/",
            &rest[..2],
            "/",
            stem,
            "_",
            itoa::Buffer::new().format(ordinal),
            ".hl7",
        ],
    )
}

fn to_byte(c: char) -> u8 {
    u8::try_from(u32::from(c)).expect("decoded text has one byte a character")
}

/// Rewrites UTF-8 text from `start` on as Latin-1.
fn to_latin1(out: &mut Vec<u8>, start: usize) {
    if out[start..].is_ascii() {
        return;
    }
    let text = String::from_utf8(out.split_off(start)).expect("a message is written as text");
    out.extend(text.chars().map(to_byte));
}
