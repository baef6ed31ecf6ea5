//! Faults that are put into messages on purpose, and what the lines then are.
//!
//! A fault works on the lines of a message that was written without fault, as characters the way
//! the platform decodes them (one a byte). It says both what is written to the log and which lines
//! the platform collects; the row that must come of them is worked out from the collected lines.

use crate::calendar::{DAY_SECONDS, Day, date_of, time_digits};
use crate::draw::Draw;
use crate::message::render::END;

macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident $name:literal;)+) => {
        /// A fault of one message. The names are the keys of `[faults]` in a spec.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $($(#[$doc])* $variant,)+
        }

        impl Fault {
            /// Every fault of a message.
            pub const ALL: &'static [Fault] = &[$(Fault::$variant,)+];

            /// The fault's key in a spec and its name in the truth.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Fault::$variant => $name,)+
                }
            }
        }
    };
}

faults! {
    /// Only blank lines between `<SB>` and `<EB>`.
    EmptyMessage "empty_message";
    /// Fewer than nine `|` in the first line.
    ShortMsh "short_msh";
    /// No `<EB>`: the next message becomes part of this one.
    MissingEb "missing_eb";
    /// No header line before `<SB>`.
    MissingHeader "missing_header";
    /// Other lines before the header line.
    Chatter "chatter";
    /// `<EB>` at the end of the last segment's line.
    EbAfterText "eb_after_text";
    /// LF inside a field.
    LfInField "lf_in_field";
    /// CR inside a field.
    CrInField "cr_in_field";
    /// Lines that end in CRLF.
    CrlfLines "crlf_lines";
    /// A segment with a space before its name.
    IndentedSegment "indented_segment";
    /// A segment whose name lost its last letter.
    SegmentName2 "segment_name_2";
    /// A segment whose name gained a letter.
    SegmentName4 "segment_name_4";
    /// Spaces instead of an accession number.
    BlankAccession "blank_accession";
    /// No accession number.
    MissingAccession "missing_accession";
    /// MSH-7 with a fraction of a second.
    Msh7Fraction "msh7_fraction";
    /// MSH-7 with a time zone.
    Msh7Zone "msh7_zone";
    /// MSH-7 with the date alone.
    Msh7EightDigits "msh7_8_digits";
    /// MSH-7 in month 13.
    Msh7Month13 "msh7_month_13";
    /// PID-7 on 31 February.
    BirthDateImpossible "birth_date_impossible";
    /// PID-7 before 1905.
    BirthDateBefore1905 "birth_date_before_1905";
    /// PID-7 more than 109 years before the study.
    AgeOver109 "age_over_109";
    /// Characters U+0080 to U+009F.
    C1Bytes "c1_bytes";
    /// UTF-8 bytes in a Latin-1 feed.
    Utf8Bytes "utf8_bytes";
    /// A NUL.
    NulByte "nul_byte";
    /// The byte 0x85, within text or after `<R>`.
    NelByte "nel_byte";
    /// The bytes 0x1C, 0x1D and 0x1E.
    SeparatorBytes "separator_bytes";
    /// `\.br\` in text.
    EscapeBr "escape_br";
    /// A lone backslash in text.
    EscapeLone "escape_lone";
    /// `\X0D\` in text.
    EscapeHex "escape_hex";
    /// An escape sequence that HL7 does not know.
    EscapeUnknown "escape_unknown";
    /// MSH-2 is `@~\&`.
    DelimitersAt "delimiters_at";
    /// MSH-2 is `^~\&#`.
    DelimitersShifted "delimiters_shifted";
    /// `<R>` inside text.
    LiteralR "literal_r";
    /// `<SB>` inside text.
    LiteralSb "literal_sb";
    /// `<EB>` inside text.
    LiteralEb "literal_eb";
    /// An OBX-5 of more than 64 KiB.
    Obx5Over64Kib "obx5_over_64_kib";
    /// A report of 1 MiB.
    Report1Mib "report_1_mib";
    /// ZDS before the first OBX.
    ZdsBeforeObx "zds_before_obx";
    /// OBX-2 empty.
    Obx2Missing "obx2_missing";
    /// OBX-5 with two repetitions.
    Obx5Repeated "obx5_repeated";
    /// MSH-7 on another day than the log's.
    Msh7OtherDay "msh7_other_day";
}

/// The fault of a whole log in which nothing begins with `<SB>`.
pub(crate) const LOG_WITHOUT_SB: &str = "log_without_sb";
/// The fault of a log whose last message breaks off.
pub(crate) const TRUNCATED: &str = "truncated";

/// A message after a fault.
#[derive(Debug, Default)]
pub(crate) struct Torn {
    /// What stands in the log from before the header line to after the end mark, header excluded.
    pub(crate) chatter: String,
    pub(crate) header: bool,
    pub(crate) body: String,
    /// The lines that the platform collects; blank ones may be left out.
    pub(crate) collected: Vec<String>,
}

/// The second message of a log entry that swallows one: its header line and its lines.
pub(crate) struct Victim {
    pub(crate) header: String,
    pub(crate) lines: Vec<String>,
}

impl Fault {
    /// Tears a message. `victim` is asked for where the fault needs a second message.
    pub(crate) fn tear(
        self,
        mut lines: Vec<String>,
        study: i64,
        draw: &mut Draw,
        victim: impl FnOnce() -> Victim,
    ) -> Torn {
        match self {
            Self::EmptyMessage => {
                let blank = ["\n", " \n", "\t\n \n"][draw.index(3)];
                return Torn {
                    header: true,
                    body: format!("<SB>\n{blank}<EB>{END}"),
                    ..Torn::default()
                };
            }
            Self::ShortMsh => {
                lines[0] = match draw.below(3) {
                    0 => "Message could not be built".to_owned(),
                    1 => String::new(),
                    _ => lines[0].split('|').take(9).collect::<Vec<_>>().join("|"),
                };
            }
            Self::MissingEb => return missing_eb(lines, victim()),
            Self::MissingHeader => {
                let mut torn = whole(lines);
                torn.header = false;
                return torn;
            }
            Self::Chatter => {
                let mut torn = whole(lines);
                torn.chatter = [
                    "connection reset by peer\n",
                    "MSH|^~\\&|lost in transit\n\n",
                ][draw.index(2)]
                .to_owned();
                return torn;
            }
            Self::EbAfterText => {
                let mut torn = whole(lines);
                let (before, _) = torn.body.split_at(torn.body.len() - "<R>\n<EB><R>\n".len());
                torn.body = format!("{before}<EB>{END}");
                return torn;
            }
            Self::LfInField | Self::CrInField => {
                let mark = if self == Self::LfInField { "\n" } else { "\r" };
                return broken_line(lines, mark, draw);
            }
            Self::CrlfLines => {
                let mut torn = whole(lines);
                torn.body = torn.body.replace('\n', "\r\n");
                return torn;
            }
            Self::IndentedSegment => {
                let at = some_segment(&lines, draw);
                lines[at].insert(0, ' ');
            }
            Self::SegmentName2 => {
                let at = some_segment(&lines, draw);
                lines[at].remove(2);
            }
            Self::SegmentName4 => {
                let at = some_segment(&lines, draw);
                lines[at].insert(3, 'X');
            }
            Self::BlankAccession | Self::MissingAccession => {
                let text = if self == Self::BlankAccession {
                    "  "
                } else {
                    ""
                };
                set_field(&mut lines, "ORC", 3, text);
                set_field(&mut lines, "OBR", 3, text);
            }
            Self::Msh7Fraction | Self::Msh7Zone | Self::Msh7EightDigits | Self::Msh7Month13 => {
                edit_field(&mut lines, "MSH", 6, |time| match self {
                    Self::Msh7Fraction => format!("{time}.1234"),
                    Self::Msh7Zone => format!("{time}-0600"),
                    Self::Msh7EightDigits => time[..8].to_owned(),
                    _ => format!("{}13{}", &time[..4], &time[6..]),
                });
            }
            Self::Msh7OtherDay => {
                let days = 1 + draw.below(700) as i64;
                let seconds =
                    (study + (if draw.below(2) == 0 { -days } else { days }) * DAY_SECONDS).max(0);
                let digits = time_digits(seconds);
                let digits = std::str::from_utf8(&digits).expect("digits are ASCII");
                set_field(&mut lines, "MSH", 6, digits);
            }
            Self::BirthDateImpossible => {
                edit_field(&mut lines, "PID", 7, |birth| format!("{}0231", &birth[..4]));
            }
            Self::BirthDateBefore1905 => {
                let text = format!("{}{}", 1880 + draw.below(25), "0607");
                set_field(&mut lines, "PID", 7, &text);
            }
            Self::AgeOver109 => {
                let (year, ..) = date_of(study.div_euclid(DAY_SECONDS) as Day);
                let text = format!("{:04}0102", year - 111 - draw.below(9) as i32);
                set_field(&mut lines, "PID", 7, &text);
            }
            Self::NelByte if draw.below(2) == 0 => return nel_after_mark(lines, draw),
            Self::LiteralEb => return literal_eb(lines, draw),
            Self::DelimitersAt => set_field(&mut lines, "MSH", 1, "@~\\&"),
            Self::DelimitersShifted => set_field(&mut lines, "MSH", 1, "^~\\&#"),
            Self::Obx5Over64Kib | Self::Report1Mib => {
                let size = if self == Self::Report1Mib {
                    1 << 20
                } else {
                    (64 << 10) + 1 + draw.index(4096)
                };
                first_obx(&mut lines);
                edit_field(&mut lines, "OBX", 5, |text| grow(text, size));
            }
            Self::ZdsBeforeObx => {
                let zds = match lines.iter().position(|line| line.starts_with("ZDS|")) {
                    Some(at) => lines.remove(at),
                    None => "ZDS|1.2.3.4^EPIC^APPLICATION^DICOM".to_owned(),
                };
                let obx = lines.iter().position(|line| line.starts_with("OBX|"));
                lines.insert(obx.unwrap_or(lines.len()), zds);
            }
            Self::Obx2Missing => {
                for line in lines.iter_mut().filter(|line| line.starts_with("OBX|")) {
                    set_nth(line, 2, "");
                }
            }
            Self::Obx5Repeated => {
                first_obx(&mut lines);
                edit_field(&mut lines, "OBX", 5, |text| format!("{text}~second of two"));
            }
            Self::C1Bytes => insert(&mut lines, "\u{80}\u{93}quoted\u{94}\u{9f}", draw),
            Self::Utf8Bytes => insert(&mut lines, "\u{c3}\u{bc}\u{e2}\u{80}\u{99}", draw),
            Self::NulByte => insert(&mut lines, "\0", draw),
            Self::NelByte => insert(&mut lines, "\u{85}", draw),
            Self::SeparatorBytes => insert(&mut lines, "\u{1c}a\u{1d}b\u{1e}", draw),
            Self::EscapeBr => insert(&mut lines, "\\.br\\", draw),
            Self::EscapeLone => insert(&mut lines, "\\", draw),
            Self::EscapeHex => insert(&mut lines, "\\X0D\\", draw),
            Self::EscapeUnknown => insert(&mut lines, "\\Zq9\\", draw),
            Self::LiteralR => insert(&mut lines, "<R>", draw),
            Self::LiteralSb => insert(&mut lines, "<SB>", draw),
        }
        whole(lines)
    }
}

/// A message as it is written without any fault of form.
fn whole(lines: Vec<String>) -> Torn {
    let mut body = String::from("<SB>\n");
    for line in &lines {
        body.push_str(line);
        body.push_str(END);
    }
    body.push_str("<EB>");
    body.push_str(END);
    Torn {
        chatter: String::new(),
        header: true,
        body,
        collected: lines,
    }
}

/// A message that breaks off within its last third, as the last of its log.
pub(crate) fn truncate(lines: Vec<String>, draw: &mut Draw) -> Torn {
    let mut torn = whole(lines);
    let from = (torn.collected.len() * 2 / 3)
        .max(2)
        .min(torn.collected.len() - 1);
    let last = from + draw.index(torn.collected.len() - from);
    torn.collected.truncate(last + 1);
    let chars = torn.collected[last].chars().count();
    let keep = 4 + draw.index(chars.saturating_sub(4).max(1));
    torn.collected[last] = torn.collected[last].chars().take(keep).collect();
    torn.body = format!("<SB>\n{}", torn.collected.join(END));
    torn
}

fn missing_eb(lines: Vec<String>, victim: Victim) -> Torn {
    let mut torn = whole(lines);
    let kept = torn.body.len() - "<EB><R>\n".len();
    torn.body.truncate(kept);
    torn.body
        .push_str(&format!("\r\n{}\n<SB>\n", victim.header));
    torn.collected.extend([victim.header, "<SB>".to_owned()]);
    for line in &victim.lines {
        torn.body.push_str(line);
        torn.body.push_str(END);
    }
    torn.body.push_str("<EB>");
    torn.body.push_str(END);
    torn.collected.extend(victim.lines);
    torn
}

/// A line break within a field of some segment: the rest stands on a line of its own.
fn broken_line(lines: Vec<String>, mark: &str, draw: &mut Draw) -> Torn {
    let at = some_segment(&lines, draw);
    let chars: Vec<char> = lines[at].chars().collect();
    let cut = 5 + draw.index(chars.len().saturating_sub(6).max(1));
    let (head, tail) = chars.split_at(cut.min(chars.len()));
    let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
    let mut written = lines.clone();
    written[at] = format!("{head}{mark}{tail}");
    let mut torn = whole(written);
    torn.collected = lines;
    torn.collected[at] = head;
    torn.collected.insert(at + 1, tail);
    torn
}

/// 0x85 between `<R>` and the line's end: `<R>` goes, and 0x85 stays at the end of the segment.
fn nel_after_mark(lines: Vec<String>, draw: &mut Draw) -> Torn {
    let at = some_segment(&lines, draw);
    let mut torn = whole(lines);
    let line = format!("{}{END}", torn.collected[at]);
    let marked = format!("{}<R>\u{85}\n", torn.collected[at]);
    // Two segments may be alike to the letter; both are then marked, and both are collected so.
    torn.body = torn
        .body
        .replace(&format!("\n{line}"), &format!("\n{marked}"));
    let alike = torn.collected[at].clone();
    for collected in torn.collected.iter_mut().filter(|line| **line == alike) {
        collected.push('\u{85}');
    }
    torn
}

/// `<EB>` within text: the message ends on that line, which keeps its other text.
fn literal_eb(mut lines: Vec<String>, draw: &mut Draw) -> Torn {
    let at = insert_at(&mut lines, "<EB>", draw);
    let mut torn = whole(lines);
    torn.collected.truncate(at + 1);
    torn.collected[at] = torn.collected[at].replace("<EB>", "");
    torn
}

/// Some segment other than the first line and the one that holds the accession number.
fn some_segment(lines: &[String], draw: &mut Draw) -> usize {
    let others: Vec<usize> = (1..lines.len()).filter(|&at| lines[at].len() > 8).collect();
    others[draw.index(others.len())]
}

/// Puts text into a place that the platform reads: the middle of an OBX-5, else of the service name.
fn insert(lines: &mut [String], text: &str, draw: &mut Draw) {
    insert_at(lines, text, draw);
}

fn insert_at(lines: &mut [String], text: &str, draw: &mut Draw) -> usize {
    let obx: Vec<usize> = (0..lines.len())
        .filter(|&at| lines[at].starts_with("OBX|"))
        .collect();
    let (at, field) = if obx.is_empty() {
        let obr = lines.iter().position(|line| line.starts_with("OBR|"));
        (obr.expect("every version has an OBR"), 4)
    } else {
        (obx[draw.index(obx.len())], 5)
    };
    let old = nth(&lines[at], field).to_owned();
    let chars = old.chars().count();
    let middle: usize = old.chars().take(chars / 2).map(char::len_utf8).sum();
    let (before, after) = old.split_at(middle);
    set_nth(&mut lines[at], field, &format!("{before}{text}{after}"));
    at
}

/// Makes sure that there is an OBX.
fn first_obx(lines: &mut Vec<String>) {
    if !lines.iter().any(|line| line.starts_with("OBX|")) {
        lines.push("OBX|1|ST|&GDT|1|Addressed separately.||||||Final".to_owned());
    }
}

/// Text of `size` bytes that begins with a text.
fn grow(text: &str, size: usize) -> String {
    const MORE: &str = "No further abnormality is seen in this part of the examination. ";
    let mut grown = String::with_capacity(size + MORE.len());
    grown.push_str(text);
    while grown.len() < size {
        grown.push_str(MORE);
    }
    grown.truncate(size.max(text.len()));
    grown
}

/// The piece of a segment at a place between its bars.
fn nth(line: &str, at: usize) -> &str {
    line.split('|').nth(at).unwrap_or("")
}

fn set_nth(line: &mut String, at: usize, text: &str) {
    let mut pieces: Vec<&str> = line.split('|').collect();
    if at < pieces.len() {
        pieces[at] = text;
        *line = pieces.join("|");
    }
}

/// Changes a piece of the first segment of a name. In MSH, piece n is MSH-(n + 1).
fn edit_field(lines: &mut [String], name: &str, at: usize, edit: impl FnOnce(&str) -> String) {
    let segment = lines
        .iter_mut()
        .find(|line| line.starts_with(name) && line[3..].starts_with('|'));
    if let Some(line) = segment {
        let text = edit(nth(line, at));
        set_nth(line, at, &text);
    }
}

fn set_field(lines: &mut [String], name: &str, at: usize, text: &str) {
    edit_field(lines, name, at, |_| text.to_owned());
}
