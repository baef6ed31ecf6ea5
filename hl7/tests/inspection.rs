//! What inspection says of a message: each fault by name and place, and fields in both modes.

mod support;

use bench_hl7::inspect::{Fault, FaultKind, field, inspect, segment_lines};
use bench_hl7::{LogDate, ModalityMap, Outcome, Reader, StandardValue, StopReason, split};
use bumpalo::Bump;
use support::{MSH, log};

const PID: &str = "PID|1|m|7^^^EPIC^MRN||DOE^JANE||19450207";
const OBR: &str = "OBR|1|p|f|BHC76140";
const OBX: &str = "OBX|1|ST|&GDT|1|text";

/// Looks at the message of this number in a log of 13 January 2023.
fn look<T>(log: &[u8], number: usize, look: impl FnOnce(Outcome, &[Fault]) -> T) -> T {
    let reader = Reader::new(ModalityMap::shipped());
    let arena = Bump::new();
    let message = split(log).nth(number).expect("the log has the message");
    let date = LogDate::from_name("20230113.log");
    let inspection = inspect(&reader, &message, date, "s.hl7", &arena);
    look(inspection.outcome, &inspection.faults)
}

/// Faults of the first message of a log, with the first place of each.
fn faults(log: &[u8]) -> Vec<(FaultKind, String)> {
    look(log, 0, |_, faults| {
        let first = |fault: &Fault| (fault.kind, fault.positions[0].to_string());
        faults.iter().map(first).collect()
    })
}

/// Faults of a good message with these lines added.
fn with_lines(lines: &[&str]) -> Vec<(FaultKind, String)> {
    let all: Vec<&str> = [MSH, PID, OBR, OBX].iter().chain(lines).copied().collect();
    faults(&log(&all))
}

fn one(kind: FaultKind, place: &str) -> Vec<(FaultKind, String)> {
    vec![(kind, place.to_owned())]
}

#[test]
fn a_good_message_has_no_faults() {
    assert_eq!(with_lines(&[]), []);
    let outcome = look(&log(&[MSH, PID, OBR, OBX]), 0, |outcome, _| outcome);
    assert_eq!(outcome, Outcome::Read);
}

#[test]
fn faults_of_framing_are_told() {
    let good = format!("{MSH}<R>\n{PID}<R>\n{OBR}<R>\n{OBX}<R>\n");
    let header = "2023-01-13 18:07:17.8754|INFO|\n";
    for (log, kind, place) in [
        (
            format!("{header}<SB>\n{good}"),
            FaultKind::NotClosed,
            "line 0",
        ),
        (
            format!("<SB>\n{good}<EB>"),
            FaultKind::NoHeaderLine,
            "line 0",
        ),
        (
            format!("{header}x<SB>\n{good}<EB>"),
            FaultKind::TextBesideStart,
            "line 0",
        ),
        (
            format!("hello\n\n{header}<SB>\n{good}<EB>"),
            FaultKind::TextBefore,
            "line 0",
        ),
        (
            format!("{header}<SB>\n{good}ZPF|1<EB>"),
            FaultKind::TextBesideEnd,
            "line 5, ZPF",
        ),
        (
            format!("{header}<SB>\n{good}ZPF|1<R><EB>"),
            FaultKind::TextBesideEnd,
            "line 5, ZPF",
        ),
        (
            format!("{header}<SB>\n{good}\nZPF|1<R>\n<EB>"),
            FaultKind::BlankLine,
            "line 5",
        ),
        (
            format!("{header}<SB>\n{good}ZPF|1\n<EB>"),
            FaultKind::NoSegmentEnd,
            "line 5, ZPF",
        ),
        (
            format!("{header}<SB>\n{good}ZPF|<R>1<R>\n<EB>"),
            FaultKind::SegmentEndInside,
            "line 5, ZPF",
        ),
        (
            format!("{header}<SB>\n{good}ZPF|<SB><R>\n<EB>"),
            FaultKind::StartInside,
            "line 5, ZPF",
        ),
    ] {
        let found = faults(log.as_bytes());
        assert!(
            found.contains(&(kind, place.to_owned())),
            "{kind:?}: {found:?}"
        );
        let allowed = |found: &FaultKind| *found == kind || *found == FaultKind::SegmentEndInside;
        assert!(
            found.iter().all(|(found, _)| allowed(found)),
            "{kind:?}: {found:?}"
        );
    }
}

#[test]
fn a_swallowed_message_shows_as_a_start_inside() {
    let good = format!("{MSH}<R>\n{PID}<R>\n{OBR}<R>\n{OBX}<R>\n");
    let header = "2023-01-13 18:07:17.8754|INFO|\n";
    let log = format!("{header}<SB>\n{good}{header}<SB>\n{good}<EB>");
    let kinds: Vec<FaultKind> = faults(log.as_bytes())
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    assert!(kinds.contains(&FaultKind::StartInside));
    assert!(kinds.contains(&FaultKind::AnotherSegment("PID")));
}

#[test]
fn faults_of_the_header_are_told() {
    let with_header = |header: &str| faults(&log(&[header, PID, OBR, OBX]));
    for (header, kind, place) in [
        (
            r"MSH|@~\&|A|B|||20230113180717|||id",
            FaultKind::Delimiters,
            "line 1, MSH-2",
        ),
        (
            r"MSH|^~\&#|A|B|||20230113180717|||id",
            FaultKind::Delimiters,
            "line 1, MSH-2",
        ),
        (
            r"MSH|^~\&|A|B|||20230113|||id",
            FaultKind::MessageTime,
            "line 1, MSH-7",
        ),
        (
            r"MSH|^~\&|A|B|||20230114180717|||id",
            FaultKind::OtherDay,
            "line 1, MSH-7",
        ),
        (
            r"MSH|^~\&|A|B|||20230113180717|||",
            FaultKind::NoControlId,
            "line 1, MSH-10",
        ),
        (
            r"msh|^~\&|A|B|||20230113180717|||id",
            FaultKind::NotMsh,
            "line 1, MSH",
        ),
    ] {
        assert_eq!(with_header(header), one(kind, place));
    }
}

#[test]
fn an_unparsable_or_empty_message_is_told_by_its_outcome() {
    let found = look(&log(&["Unparseable message"]), 0, |outcome, faults| {
        assert_eq!(outcome, Outcome::NotParsable);
        faults
            .iter()
            .map(|fault| fault.kind.to_string())
            .collect::<Vec<_>>()
    });
    assert!(
        found[1].contains("has 0 `|`, at least 9 are needed"),
        "{found:?}"
    );
    look(&log(&["", " "]), 0, |outcome, faults| {
        assert_eq!(outcome, Outcome::Empty);
        assert_eq!(
            faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(),
            [FaultKind::Empty]
        );
    });
}

#[test]
fn faults_of_segments_are_told() {
    for (line, kind, place) in [
        (" OBX|2|ST|x|1|a", FaultKind::Indented, "line 5"),
        ("OB|2", FaultKind::SegmentName, "line 5"),
        ("OBXX|2", FaultKind::SegmentName, "line 5"),
        ("obx|2|ST", FaultKind::SegmentName, "line 5, obx"),
        ("text without bars", FaultKind::NoFields, "line 5"),
        ("PID|2", FaultKind::AnotherSegment("PID"), "line 5, PID[2]"),
        (
            "OBX|2||x|1|a",
            FaultKind::NoObservationType,
            "line 5, OBX[2]-2",
        ),
        (
            r"OBX|2|ST|x|1|5\2",
            FaultKind::LoneEscape,
            "line 5, OBX[2]-5",
        ),
        (
            r"OBX|2|ST|x|1|\Q\",
            FaultKind::UnknownEscape,
            "line 5, OBX[2]-5",
        ),
        ("OBX|2|ST|x|1|a\0b", FaultKind::Nul, "line 5, OBX[2]"),
        (
            "OBX|2|ST|x|1|a\u{1c}b",
            FaultKind::Control,
            "line 5, OBX[2]",
        ),
        ("OBX|2|ST|x|1|caf\u{e9}", FaultKind::Utf8, "line 5, OBX[2]"),
    ] {
        let found = with_lines(&[line]);
        assert_eq!(found, one(kind, place), "{line}");
    }
    assert_eq!(with_lines(&[r"OBX|2|ST|x|1|\F\\.br\"]), []);
}

#[test]
fn bytes_of_latin_1_are_no_fault_but_c1_is() {
    let line = |bytes: &[u8]| {
        let start = log(&[MSH, PID, OBR, OBX]);
        let start = start.strip_suffix(b"<EB><R>\n").expect("the end marker");
        faults(&[start, b"OBX|2|ST|x|1|", bytes, b"<R>\n<EB><R>\n"].concat())
    };
    assert_eq!(line(b"caf\xe9"), []);
    assert_eq!(line(b"caf\x85!"), one(FaultKind::C1, "line 5, OBX[2]"));
}

#[test]
fn faults_of_the_order_and_the_patient_are_told() {
    let found = |lines: &[&str]| faults(&log(lines));
    let no_order = ["OBR|1|p||x", "OBR|1|p|  |x", "OBR"];
    for obr in no_order {
        assert_eq!(
            found(&[MSH, PID, obr, OBX]),
            one(FaultKind::NoAccession, "line 3, OBR-3")
        );
    }
    assert_eq!(found(&[MSH, PID, "ORC|1|p|f", "OBR|1|p||x", OBX]), []);
    // An accession of spaces hides a good one.
    assert_eq!(
        found(&[MSH, PID, "ORC|1|p|f", "OBR|1|p| |x", OBX]),
        one(FaultKind::NoAccession, "line 4, OBR-3")
    );
    assert_eq!(
        found(&[MSH, "PID|||||||194502", OBR, OBX]),
        one(FaultKind::BirthDate, "line 2, PID-7")
    );
    let invalid = found(&[MSH, "PID|1||1^^^A~2^^^A B^MR", OBR, OBX]);
    assert!(matches!(invalid[..], [(FaultKind::InvalidIdentifier(id), _)] if id.repetition == 2));
    assert_eq!(
        found(&[MSH])
            .into_iter()
            .map(|(kind, _)| kind)
            .collect::<Vec<_>>(),
        [
            FaultKind::NoSegment("PID"),
            FaultKind::NoSegment("OBR"),
            FaultKind::NoSegment("OBX"),
            FaultKind::NoAccession,
        ]
    );
}

#[test]
fn a_fault_that_is_there_often_is_counted_and_its_first_places_kept() {
    let lines = ["OBX|2||x|1|a"; 20];
    let all: Vec<&str> = [MSH, PID, OBR].iter().chain(&lines).copied().collect();
    look(&log(&all), 0, |_, faults| {
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].count, 20);
        assert_eq!(faults[0].positions.len(), 8);
        assert_eq!(faults[0].positions[7].to_string(), "line 11, OBX[8]-2");
    });
}

#[test]
fn the_place_of_a_fault_is_also_a_byte_of_the_log() {
    let log = [log(&[MSH, PID, OBR, OBX]), log(&[MSH, PID, OBR, " OBX|1"])].concat();
    look(&log, 1, |_, faults| {
        let indented = faults
            .iter()
            .find(|fault| fault.kind == FaultKind::Indented);
        let offset = indented.expect("the fault").positions[0].offset;
        assert!(log[offset..].starts_with(b" OBX|1<R>"));
    });
}

#[test]
fn a_field_is_read_in_both_modes() {
    let log = log(&[
        MSH,
        "PID|1|m|7^^^EPIC^MRN~8||D\\T\\E^JANE~X^Y||",
        "OBX|1|ST",
        "OBX|2|ST|a&b",
    ]);
    let message = split(&log).next().unwrap();
    let arena = Bump::new();
    for (path, platform, standard) in [
        ("PID-5", Some(r"D\T\E^JANE~X^Y"), Some("D&E^JANE~X^Y")),
        ("PID-5.1", Some(r"D\T\E"), Some("D&E")),
        // The platform does not split repetitions, so the second component runs into the next.
        ("PID-5.2", Some("JANE~X"), Some("JANE")),
        ("PID-5[2].2", Some("Y"), Some("Y")),
        ("PID-3.4", Some("EPIC"), Some("EPIC")),
        // Trailing bars go in platform mode.
        ("PID-7", None, Some("")),
        ("PID-4", Some(""), Some("")),
        ("PID-40", None, None),
        ("OBX[2]-3", Some("a&b"), Some("a&b")),
        ("OBX[2]-3.1.2", Some("b"), Some("b")),
        ("OBX[3]-3", None, None),
        ("MSH-1", Some("|"), Some("|")),
        ("MSH-2", Some(r"^~\&"), Some(r"^~\&")),
        ("MSH-9.2", Some("R01"), Some("R01")),
        ("MSH-12", Some("2.7"), Some("2.7")),
        ("ZDS-1", None, None),
    ] {
        let reading = field(&message, &path.parse().unwrap(), &arena);
        assert_eq!(reading.platform, platform, "{path}");
        let expected = standard.map_or(StandardValue::Absent, |text| {
            StandardValue::Value(text.into())
        });
        assert_eq!(reading.standard, expected, "{path}");
    }
}

#[test]
fn where_the_parser_of_the_standard_stops_the_platforms_reading_goes_on() {
    let log = log(&[MSH, PID, "", OBX]);
    let message = split(&log).next().unwrap();
    let reader = Reader::new(ModalityMap::shipped());
    let arena = Bump::new();
    let inspection = inspect(&reader, &message, None, "s.hl7", &arena);
    let stop = inspection.standard.stop.unwrap();
    assert_eq!((stop.line, stop.reason), (3, StopReason::BlankLine));
    assert_eq!(
        (
            inspection.standard.segments_kept,
            inspection.standard.segments
        ),
        (2, 3)
    );
    let names: Vec<_> = segment_lines(&message, &arena)
        .map(|line| line.name)
        .collect();
    assert_eq!(names, [Some("MSH"), Some("PID"), None, Some("OBX"), None]);
    let reading = field(&message, &"OBX-5".parse().unwrap(), &arena);
    assert_eq!(reading.platform, Some("text"));
    assert_eq!(reading.standard, StandardValue::NotReached(stop));
}
