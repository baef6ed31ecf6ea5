//! Rules of platform mode: the message as a whole, its header, and the columns of one field.

mod support;

use bench_tables::{ReportColumn as Column, Value};
use support::{MSH, log, read_log, row_text, text, with_row, with_segment};

fn bars(first_line: &str) -> Option<usize> {
    read_log(&log(&[first_line]), |row| row.err().map(|error| error.bars))
}

#[test]
fn fewer_than_nine_bars_in_the_first_line_are_not_parsable() {
    assert_eq!(bars("MSH|^~\\&|||||||"), Some(8));
    assert_eq!(bars("MSH|^~\\&||||||||"), None);
    assert_eq!(bars("Unparseable message"), Some(0));
    assert_eq!(bars("|||||||||"), None);
}

#[test]
fn an_empty_control_id_passes() {
    let row = |line: &str| {
        with_row(&[line], |row| {
            (
                row_text(row, Column::MessageControlId),
                row_text(row, Column::VersionId),
            )
        })
    };
    assert_eq!(row("MSH|^~\\&||||||||"), (Some(String::new()), None));
    assert_eq!(
        row("MSH|^~\\&||||||||||"),
        (Some(String::new()), Some(String::new()))
    );
    assert_eq!(
        row("MSH|^~\\&||||||||7^x||2.4^y"),
        (Some("7".into()), Some("2.4".into()))
    );
}

#[test]
fn the_first_line_is_msh_whatever_it_says() {
    with_row(
        &[
            "xyz|^~\\&|a|b|||20230113180717|||id||v",
            "MSH|^~\\&|a|other",
        ],
        |row| {
            assert_eq!(row_text(row, Column::SendingFacility).as_deref(), Some("b"));
            assert_eq!(row_text(row, Column::VersionId).as_deref(), Some("v"));
            assert_eq!(row.get(Column::Year), Value::Int(2023));
        },
    );
    // A PID in the first line is the header, not the patient.
    with_row(&["PID|1|2|3|4|5|6|7|8|9|10|11|12"], |row| {
        assert_eq!(row_text(row, Column::SendingFacility).as_deref(), Some("3"));
        assert_eq!(row_text(row, Column::Mpi), None);
    });
}

#[test]
fn a_blank_line_right_after_sb_is_the_header() {
    assert_eq!(bars(""), Some(0));
    let both = log(&["", MSH]);
    assert!(read_log(&both, |row| row.is_err()));
}

#[test]
fn trailing_bars_of_the_header_are_kept() {
    with_row(&["MSH|^~\\&|a|b||||||c||"], |row| {
        assert_eq!(row_text(row, Column::VersionId).as_deref(), Some(""));
    });
}

#[test]
fn other_delimiters_are_not_honoured() {
    with_row(
        &["MSH|@~\\&|APP|SITE@x^y||||||id|P|2.7", "PV1|1|O@x^y"],
        |row| {
            assert_eq!(
                row_text(row, Column::SendingFacility).as_deref(),
                Some("SITE@x")
            );
            assert_eq!(row_text(row, Column::PatientClass).as_deref(), Some("O@x"));
        },
    );
    assert_eq!(bars("MSH#^~\\&#a#b#c#d#e#f#g#h#i"), Some(0));
}

#[test]
fn nothing_is_unescaped_or_trimmed() {
    assert_eq!(
        text(r"PV1|1| \F\O\.br\ ", Column::PatientClass).as_deref(),
        Some(r" \F\O\.br\ ")
    );
    assert_eq!(
        text("PV1|1|\t", Column::PatientClass).as_deref(),
        Some("\t")
    );
}

#[test]
fn a_segment_is_known_by_the_exact_text_before_its_first_bar() {
    for other in [
        " PV1|1|O",
        "pv1|1|O",
        "PV11|1|O",
        "PV|1|O",
        "\tPV1|1|O",
        "PV1 |1|O",
        "PV1^|1|O",
        "|PV1|O",
    ] {
        assert_eq!(text(other, Column::PatientClass), None, "{other}");
    }
    assert_eq!(text("PV1|1|O", Column::PatientClass).as_deref(), Some("O"));
}

#[test]
fn the_first_segment_of_a_name_counts_even_if_it_is_empty() {
    with_row(&[MSH, "PV1", "PV1|1|O"], |row| {
        assert_eq!(row_text(row, Column::PatientClass), None);
    });
    with_row(&[MSH, "PV1|1|I", "PV1|1|O"], |row| {
        assert_eq!(row_text(row, Column::PatientClass).as_deref(), Some("I"));
    });
}

#[test]
fn blank_lines_between_segments_do_no_harm() {
    with_row(&[MSH, "", "PV1|1|O", "", ""], |row| {
        assert_eq!(row_text(row, Column::PatientClass).as_deref(), Some("O"));
    });
}

#[test]
fn a_missing_segment_or_field_is_null_and_an_empty_one_is_empty() {
    assert_eq!(text("PV2|1|O", Column::PatientClass), None);
    assert_eq!(text("PV1|1", Column::PatientClass), None);
    assert_eq!(
        text("PV1|1||loc", Column::PatientClass).as_deref(),
        Some("")
    );
    // Trailing bars go, and with them the empty field.
    assert_eq!(text("PV1|1||||", Column::PatientClass), None);
}

#[test]
fn trailing_bars_go_also_before_a_single_final_0x85() {
    let class = |line: &[u8]| {
        let log = [b"<SB>\n", MSH.as_bytes(), b"<R>\n", line, b"\n<EB>"].concat();
        read_log(&log, |row| row_text(row.unwrap(), Column::PatientClass))
    };
    assert_eq!(class(b"PV1|1|O||\x85").as_deref(), Some("O\u{85}"));
    assert_eq!(class(b"PV1|1|O||<R>\x85").as_deref(), Some("O\u{85}"));
    assert_eq!(class(b"PV1|1|O\x85<R>").as_deref(), Some("O\u{85}"));
    assert_eq!(class(b"PV1|1||\x85\x85<R>").as_deref(), Some(""));
    assert_eq!(class(b"PV1|||\x85"), None);
    assert_eq!(class(b"PV1|||x\x85").as_deref(), Some(""));
}

#[test]
fn a_column_is_component_one_and_repetitions_are_not_split() {
    assert_eq!(
        text("PV1|1|O~I^x~E", Column::PatientClass).as_deref(),
        Some("O~I")
    );
    assert_eq!(text("PV1|1|^x", Column::PatientClass).as_deref(), Some(""));
    assert_eq!(
        text("PV1|1|O&x", Column::PatientClass).as_deref(),
        Some("O&x")
    );
}

#[test]
fn every_plain_column_comes_from_its_field() {
    let pid = "PID|1|mpi^x|3|4|5|6|7|sex^x|9|race^x|a^b^c^d^zip^country^g|12|13|14|15|16|17|18|19|20|21|eth^x";
    let orc = "ORC|1|orc2^x|orc3^x";
    let obr = "OBR|1|obr2^x|obr3^x|code^name^sys^x|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23|diag^x";
    with_row(&[MSH, pid, orc, obr, "ZDS|uid^x"], |row| {
        for (column, expected) in [
            (Column::SourceFile, "s.hl7"),
            (Column::SendingFacility, "SITE"),
            (Column::MessageControlId, "2.25.1"),
            (Column::VersionId, "2.7"),
            (Column::Mpi, "mpi"),
            (Column::Sex, "sex"),
            (Column::Race, "race"),
            (Column::ZipOrPostalCode, "zip"),
            (Column::Country, "country"),
            (Column::EthnicGroup, "eth"),
            (Column::Orc2PlacerOrderNumber, "orc2"),
            (Column::Orc3FillerOrderNumber, "orc3"),
            (Column::Obr2PlacerOrderNumber, "obr2"),
            (Column::Obr3FillerOrderNumber, "obr3"),
            (Column::ServiceIdentifier, "code"),
            (Column::ServiceName, "name"),
            (Column::ServiceCodingSystem, "sys"),
            (Column::DiagnosticServiceId, "diag"),
            (Column::StudyInstanceUid, "uid"),
        ] {
            assert_eq!(
                row_text(row, column).as_deref(),
                Some(expected),
                "{}",
                column.name()
            );
        }
    });
}

#[test]
fn a_message_of_a_header_alone_has_null_empty_and_empty_arrays_where_the_rules_say_so() {
    with_row(&[MSH], |row| {
        for &column in Column::ALL {
            let expected = match column {
                Column::SourceFile => Value::Str("s.hl7"),
                Column::SendingFacility => Value::Str("SITE"),
                Column::MessageControlId => Value::Str("2.25.1"),
                Column::VersionId => Value::Str("2.7"),
                Column::MessageDt => Value::Timestamp(1_673_633_237_000_000),
                Column::Year => Value::Int(2023),
                Column::PatientName
                | Column::OrderingProvider
                | Column::PrincipalResultInterpreter
                | Column::DiagnosesConsolidated => Value::Str(""),
                Column::Diagnoses => {
                    assert_eq!(support::structs(row, column), Some(vec![]));
                    continue;
                }
                _ => Value::Null,
            };
            assert_eq!(row.get(column), expected, "{}", column.name());
        }
        assert_eq!(row.identifiers, []);
    });
}

#[test]
fn an_empty_mpi_is_null_and_spaces_are_a_value() {
    assert_eq!(text("PID|1||x", Column::Mpi), None);
    assert_eq!(text("PID|1|^a|x", Column::Mpi), None);
    assert_eq!(text("PID|1| |x", Column::Mpi).as_deref(), Some(" "));
}

#[test]
fn components_of_the_address_are_null_where_they_are_absent() {
    assert_eq!(text("PID|||||||||||a^b^c^d", Column::ZipOrPostalCode), None);
    assert_eq!(
        text("PID|||||||||||a^b^c^d^", Column::ZipOrPostalCode).as_deref(),
        Some("")
    );
    assert_eq!(
        text("PID|||||||||||a~^^^^z", Column::ZipOrPostalCode).as_deref(),
        Some("z")
    );
}

#[test]
fn times_come_from_their_fields_and_the_year_from_the_header() {
    let header = "MSH|^~\\&|||||202212312359^x|||id";
    let obr = "OBR||||||19700101000001^x|197001010001|19700101||||||||||||||19691231235959";
    with_row(&[header, obr], |row| {
        assert_eq!(
            row.get(Column::MessageDt),
            Value::Timestamp(1_672_531_140_000_000)
        );
        assert_eq!(row.get(Column::Year), Value::Int(2022));
        assert_eq!(row.get(Column::RequestedDt), Value::Timestamp(1_000_000));
        assert_eq!(row.get(Column::ObservationDt), Value::Timestamp(60_000_000));
        assert_eq!(row.get(Column::ObservationEndDt), Value::Null);
        assert_eq!(
            row.get(Column::ResultsReportStatusChangeDt),
            Value::Timestamp(-1_000_000)
        );
    });
}

#[test]
fn a_header_time_that_is_none_leaves_the_year_null() {
    for time in [
        "",
        "20230113",
        "20230113180717.123",
        "20230113180717-0600",
        "20231313000000",
    ] {
        with_row(&[&format!("MSH|^~\\&|||||{time}|||id")], |row| {
            assert_eq!(row.get(Column::MessageDt), Value::Null, "{time}");
            assert_eq!(row.get(Column::Year), Value::Null, "{time}");
        });
    }
}

#[test]
fn a_birth_date_is_the_first_eight_characters_of_its_component() {
    let birth = |field: &str| {
        with_segment(&format!("PID|||||||{field}"), |row| {
            match row.get(Column::BirthDate) {
                Value::Date(days) => Some(days),
                _ => None,
            }
        })
    };
    assert_eq!(birth("19700102"), Some(1));
    assert_eq!(birth("19700102000000^x"), Some(1));
    assert_eq!(birth("1970010"), None);
    assert_eq!(birth("1970010^2"), None);
    assert_eq!(birth("20230229"), None);
}

#[test]
fn a_modality_is_that_of_the_exact_service_identifier() {
    for (service, modality) in [
        ("BHC76140^x", Some("MG")),
        ("bhc76140", None),
        ("BHC76140 ", None),
        ("MDXREVNT", None),
        ("unknown", None),
        ("", None),
    ] {
        let segment = format!("OBR||||{service}|x");
        assert_eq!(
            text(&segment, Column::Modality).as_deref(),
            modality,
            "{service}"
        );
    }
    assert_eq!(text("OBR|1", Column::Modality), None);
}

#[test]
fn latin_1_bytes_are_decoded_one_by_one() {
    let log = [
        b"<SB>\n",
        MSH.as_bytes(),
        b"<R>\nPV1|1|\xe9\x80\xc3\xa9\0\x1c<R>\n<EB>",
    ]
    .concat();
    read_log(&log, |row| {
        let class = row_text(row.unwrap(), Column::PatientClass);
        assert_eq!(class.as_deref(), Some("\u{e9}\u{80}\u{c3}\u{a9}\0\u{1c}"));
    });
}

#[test]
fn an_embedded_line_end_cuts_a_segment_and_what_follows_may_be_one() {
    for end in ["\r", "\n", "\r\n"] {
        let log = format!("<SB>\n{MSH}<R>\nPV1|1|O{end}PID|1|mpi|x<R>\n<EB>");
        read_log(log.as_bytes(), |row| {
            let row = row.unwrap();
            assert_eq!(row_text(row, Column::PatientClass).as_deref(), Some("O"));
            assert_eq!(row_text(row, Column::Mpi).as_deref(), Some("mpi"));
        });
    }
}

#[test]
fn text_beside_eb_is_a_segment() {
    let log = format!("<SB>\n{MSH}<R>\nPV1|1|O<EB>");
    read_log(log.as_bytes(), |row| {
        assert_eq!(
            row_text(row.unwrap(), Column::PatientClass).as_deref(),
            Some("O")
        );
    });
    let log = format!("<SB>\n{MSH}<R>\nPV1|1|O<R><EB>");
    read_log(log.as_bytes(), |row| {
        assert_eq!(
            row_text(row.unwrap(), Column::PatientClass).as_deref(),
            Some("O<R>")
        );
    });
}
