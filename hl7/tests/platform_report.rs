//! Rules of platform mode: report text and sections, diagnoses, people and identifiers.

mod support;

use bench_tables::{ReportColumn as Column, Value};
use support::{MSH, row_text, structs, with_row, with_segment};

/// Report text and the sections findings, impression, addendum and technician note.
fn report(observations: &[&str]) -> [Option<String>; 5] {
    let lines: Vec<&str> = std::iter::once(MSH)
        .chain(observations.iter().copied())
        .collect();
    with_row(&lines, |row| {
        [
            Column::ReportText,
            Column::ReportSectionFindings,
            Column::ReportSectionImpression,
            Column::ReportSectionAddendum,
            Column::ReportSectionTechnicianNote,
        ]
        .map(|column| row_text(row, column))
    })
}

fn report_text(observations: &[&str]) -> Option<String> {
    report(observations)[0].clone()
}

fn some<const N: usize>(texts: [&str; N]) -> [Option<String>; N] {
    texts.map(|text| Some(text.to_owned()))
}

#[test]
fn the_texts_of_all_observations_are_joined_by_lf_in_file_order() {
    assert_eq!(
        report_text(&["OBX|1|ST|x|1|one", "PID|1", "OBX|2|ST|x|1|two^a&b~c"]).as_deref(),
        Some("one\ntwo^a&b~c")
    );
}

#[test]
fn an_absent_text_adds_nothing_and_an_empty_one_adds_a_blank_line() {
    assert_eq!(
        report_text(&[
            "OBX|1|ST|x|1|a",
            "OBX|2|ST|x|1",
            "OBX|3|ST|x|1||||",
            "OBX|4|ST|x|1|b"
        ])
        .as_deref(),
        Some("a\nb")
    );
    assert_eq!(
        report_text(&["OBX|1|ST|x|1|a", "OBX|2|ST|x|1||||||F", "OBX|3|ST|x|1|b"]).as_deref(),
        Some("a\n\nb")
    );
    assert_eq!(
        report_text(&["OBX|1|ST|x|1||||||F", "OBX|2|ST|x|1||||||F"]).as_deref(),
        Some("\n")
    );
    assert_eq!(
        report_text(&["OBX|1", "OBX|2|ST|x|1||||||F"]).as_deref(),
        Some("")
    );
}

#[test]
fn without_any_observation_texts_and_status_are_null() {
    assert_eq!(report(&[]), [const { None }; 5]);
    assert_eq!(
        report(&[" OBX|1|ST|x|1|a", "obx|1|ST|x|1|a", "OBXX|1"]),
        [const { None }; 5]
    );
}

#[test]
fn with_an_observation_the_texts_are_strings() {
    assert_eq!(report(&["OBX"]), some([""; 5]));
    assert_eq!(report(&["OBX|1|ST|&GDT"]), some([""; 5]));
}

#[test]
fn a_tilde_becomes_a_line_end_where_the_type_is_exactly_tx() {
    assert_eq!(
        report_text(&["OBX|1|TX|x|1|a~b~~c~"]).as_deref(),
        Some("a\nb\n\nc\n")
    );
    for other in ["ST", "tx", "TX ", " TX", "TX^", "FT", ""] {
        let line = format!("OBX|1|{other}|x|1|a~b");
        assert_eq!(report_text(&[&line]).as_deref(), Some("a~b"), "{other}");
    }
}

#[test]
fn a_section_is_named_between_the_first_and_the_second_ampersand() {
    assert_eq!(
        report(&[
            "OBX|1|ST|&GDT|1|g",
            "OBX|2|ST|71020&IMP&x|1|i",
            "OBX|3|ST|a^b&ADT|1|t",
            "OBX|4|ST|&ADN|1|n",
            "OBX|5|ST|&TCM|1|c",
        ]),
        some(["g\ni\nt\nn\nc", "g", "i", "t\nn", "c"])
    );
    for none in [
        "GDT", "&gdt", "& GDT", "&GDT ", "&GDT^x", "x&y&GDT", "&", "",
    ] {
        let line = format!("OBX|1|ST|{none}|1|a");
        assert_eq!(report(&[&line]), some(["a", "", "", "", ""]), "{none}");
    }
}

#[test]
fn a_section_whose_lines_are_apart_is_joined_all_the_same() {
    assert_eq!(
        report(&[
            "OBX|1|ST|&GDT|1|a",
            "OBX|2|TX|&IMP|1|i~j",
            "OBX|3|ST|&GDT|1",
            "OBX|4|ST|&GDT|1||||||F",
            "OBX|5|ST|x|1|free",
            "OBX|6|TX|&GDT|1|b~c",
            "OBX|7|ST|&IMP|1|k",
        ]),
        some(["a\ni\nj\n\nfree\nb\nc\nk", "a\n\nb\nc", "i\nj\nk", "", ""])
    );
}

#[test]
fn an_observation_without_text_does_not_part_a_section() {
    assert_eq!(
        report(&["OBX|1|ST|&GDT|1|a", "OBX|2|ST|&IMP|1", "OBX|3|ST|&GDT|1|b"]),
        some(["a\nb", "a\nb", "", "", ""])
    );
}

#[test]
fn a_section_of_one_empty_line_is_empty() {
    assert_eq!(
        report(&["OBX|1|ST|&GDT|1||||||F", "OBX|2|ST|x|1|a"]),
        some(["\na", "", "", "", ""])
    );
}

#[test]
fn the_status_is_the_whole_of_the_first_observations_eleventh_field() {
    let status = |lines: &[&str]| with_row(lines, |row| row_text(row, Column::ReportStatus));
    assert_eq!(
        status(&[MSH, "OBX|1|ST|||a||||||F^x~y", "OBX|||||||||||P"]).as_deref(),
        Some("F^x~y")
    );
    assert_eq!(status(&[MSH, "OBX|1|ST", "OBX|||||||||||P"]), None);
    assert_eq!(status(&[MSH, "OBX|||||||||||||x"]).as_deref(), Some(""));
}

#[test]
fn every_dg1_is_a_diagnosis_in_file_order() {
    let lines = [
        MSH,
        "DG1|1|I10|A1^Text one^I10^x",
        "DG1|2|I10|A2^^",
        "DG1|3|I10",
        "DG1",
        "DG1|5|I10||x",
        "DG1|6||A6^six",
        "dg1|7||A7^seven",
    ];
    with_row(&lines, |row| {
        let element = |parts: [Option<&str>; 3]| parts.map(|part| part.map(str::to_owned)).to_vec();
        assert_eq!(
            structs(row, Column::Diagnoses),
            Some(vec![
                element([Some("A1"), Some("Text one"), Some("I10")]),
                element([Some("A2"), Some(""), Some("")]),
                element([None, None, None]),
                element([None, None, None]),
                element([Some(""), None, None]),
                element([Some("A6"), Some("six"), None]),
            ])
        );
        assert_eq!(
            row_text(row, Column::DiagnosesConsolidated).as_deref(),
            Some("Text one; ; six")
        );
    });
}

#[test]
fn without_texts_the_consolidated_diagnoses_are_empty() {
    with_row(&[MSH, "DG1|1|I10|A1", "DG1|2"], |row| {
        assert_eq!(
            row_text(row, Column::DiagnosesConsolidated).as_deref(),
            Some("")
        );
        assert_eq!(structs(row, Column::Diagnoses).unwrap().len(), 2);
    });
}

#[test]
fn patient_ids_are_null_absent_empty_or_without_social_security_numbers() {
    let ids = |segment: &str| {
        with_segment(segment, |row| {
            let names: Vec<String> = row
                .identifiers
                .iter()
                .map(|(name, id)| format!("{name}={id}"))
                .collect();
            (structs(row, Column::PatientIds).map(|ids| ids.len()), names)
        })
    };
    assert_eq!(ids("PID|1|m"), (None, vec![]));
    assert_eq!(ids("PID|1|m||||"), (None, vec![]));
    assert_eq!(ids("PID|1|m|||N"), (Some(1), vec![]));
    assert_eq!(ids("PID|1|m|1^^^A^SS~2^^^B^SS"), (Some(0), vec![]));
    assert_eq!(
        ids("PID|1|m|1^^^EPIC^MRN~2^^^EMPI^MR~3^^^A^SS~4^^^^^OLD"),
        (
            Some(3),
            vec![
                "empi_mr=2".into(),
                "epic_mrn=1".into(),
                "legacy_patient_id_old=4".into()
            ]
        )
    );
}

#[test]
fn each_array_of_people_comes_from_its_field() {
    let fields: Vec<String> = (1..=35).map(|n| format!("i{n}^F{n}^G{n}")).collect();
    let obr = format!("OBR|{}", fields.join("|"));
    with_row(&[MSH, "PID|1||||DOE^JANE", &obr], |row| {
        for (column, number) in [
            (Column::FullOrderingProvider, 16),
            (Column::FullPrincipalResultInterpreter, 32),
            (Column::FullAssistantResultInterpreter, 33),
            (Column::FullTechnician, 34),
        ] {
            let people = structs(row, column).unwrap();
            assert_eq!(people.len(), 1);
            let expected = [
                format!("i{number}"),
                format!("F{number}"),
                format!("G{number}"),
            ];
            assert_eq!(people[0][..3], expected.map(Some), "{}", column.name());
        }
        assert_eq!(
            structs(row, Column::FullPatientName).unwrap()[0][0].as_deref(),
            Some("DOE")
        );
        assert_eq!(
            row_text(row, Column::PatientName).as_deref(),
            Some("JANE DOE")
        );
        assert_eq!(
            row_text(row, Column::OrderingProvider).as_deref(),
            Some("G16 F16")
        );
        assert_eq!(
            row_text(row, Column::PrincipalResultInterpreter).as_deref(),
            Some("G32 F32")
        );
        assert_eq!(
            row.get(Column::AssistantResultInterpreter),
            Value::Strings(&["G33 F33"])
        );
        assert_eq!(row.get(Column::Technician), Value::Strings(&["G34 F34"]));
    });
}

#[test]
fn names_skip_what_is_null() {
    let name = |field: &str| {
        with_segment(&format!("PID|1||||{field}|x"), |row| {
            row_text(row, Column::PatientName)
        })
    };
    assert_eq!(name("DOE^JANE").as_deref(), Some("JANE DOE"));
    assert_eq!(name("DOE").as_deref(), Some("DOE"));
    assert_eq!(name("^JANE").as_deref(), Some("JANE"));
    assert_eq!(name(" ^ ").as_deref(), Some(""));
    assert_eq!(name("").as_deref(), Some(""));
    assert_eq!(name("~DOE^JANE").as_deref(), Some(""));
}

#[test]
fn a_lone_tilde_of_staff_is_an_empty_array() {
    with_segment(&format!("OBR{}~", "|".repeat(33)), |row| {
        assert_eq!(
            structs(row, Column::FullAssistantResultInterpreter),
            Some(vec![])
        );
        assert_eq!(
            row.get(Column::AssistantResultInterpreter),
            Value::Strings(&[])
        );
        assert_eq!(row.get(Column::Technician), Value::Null);
        assert_eq!(
            structs(row, Column::FullPrincipalResultInterpreter),
            Some(vec![])
        );
        assert_eq!(
            row_text(row, Column::PrincipalResultInterpreter).as_deref(),
            Some("")
        );
    });
}
