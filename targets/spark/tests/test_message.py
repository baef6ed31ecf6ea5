"""A message to a row, by the rules of the platform, on texts alone."""

import pytest

from bench_spark import logs
from bench_spark.message import Parsed, content_hash, date, parse, time

MSH = "MSH|^~\\&|APP|FAC^x|RECV|DEPT|20240229010203||ORU^R01|1.2|P|2.7"


def read(*segments: str, header: str = MSH) -> Parsed:
    parsed = parse([header, *segments], "s/2024/a.zip/2024/02/29/a_0.hl7", {"CT1": "CT"})
    assert parsed is not None
    return parsed


def test_a_header_with_fewer_than_nine_delimiters_is_no_message() -> None:
    assert parse(["MSH|1|2|3|4|5|6|7|8"], "x", {}) is None
    assert parse(["MSH|1|2|3|4|5|6|7|8|"], "x", {}) is not None
    assert parse([], "x", {}) is None


def test_the_fields_of_a_header_are_shifted_by_its_delimiter() -> None:
    row = read().row
    assert (row["sending_facility"], row["message_control_id"]) == ("FAC", "1.2")
    assert (row["version_id"], row["year"]) == ("2.7", 2024)
    assert read(header=MSH.removesuffix("|2.7")).row["version_id"] is None
    assert read(header=MSH.removesuffix("2.7")).row["version_id"] == ""


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("19700101000001", 1_000_000),
        ("197001010001", 60_000_000),
        ("19691231235959", -1_000_000),
        ("00000101000000", -719_528 * 86_400_000_000),
        ("20230229000000", None),
        ("20231301000000", None),
        ("20230101240000", None),
        ("20230101", None),
        ("2023010100000", None),
        ("20230101000000.5", None),
        ("２０２３0101000000", None),
        (None, None),
    ],
)
def test_a_time_has_fourteen_digits_or_twelve(text: str | None, micros: int | None) -> None:
    assert time(text) == micros


def test_a_date_is_a_day_that_exists() -> None:
    assert date("20240229") == 19_782
    assert date("20230229") is None
    assert date("2024022") is None


def test_trailing_delimiters_are_removed_also_before_a_final_0x85() -> None:
    assert read("PID|1||||||||x||").row["race"] is None
    assert read("PV1||O||\x85").row["patient_class"] == "O\x85"


def test_only_the_first_segment_of_an_exact_name_counts() -> None:
    row = read("pid||a", " PID||b", "PID||c", "PID||d").row
    assert row["mpi"] == "c"


def test_an_empty_mpi_is_null_and_one_of_spaces_is_a_value() -> None:
    assert read("PID|1||x").row["mpi"] is None
    assert read("PID|1| |x").row["mpi"] == " "


def test_ids_are_split_and_social_security_numbers_never_get_in() -> None:
    parsed = read("PID|1||7^^^BJH^MR~3^^^BJH^MR~9^^^X^SS~5^^^^^Fac~ ^^^A^B")
    assert parsed.identifiers == {"bjh_mr": "3", "legacy_patient_id_fac": "5"}
    ids = parsed.row["patient_ids"]
    assert isinstance(ids, list) and len(ids) == 4
    assert read("PID|1").row["patient_ids"] is None
    assert read("PID|1||9^^^X^SS|x").row["patient_ids"] == []
    nothing = read("PID|1|||x").row["patient_ids"]
    assert isinstance(nothing, list) and nothing[0] == {
        "id_number": None,
        "assigning_authority": None,
        "identifier_type_code": None,
        "assigning_facility": None,
    }


def test_a_column_that_cannot_exist_is_told_without_its_text() -> None:
    parsed = read("PID|1||7^^^A^MR~3^^^B J^MR")
    assert parsed.invalid == (2, "holds ' ', which no column's name may hold")
    assert read("PID|1||7^^^Message^DT").invalid == (1, "is the name of the fixed column `message_dt`")


def test_a_report_is_the_text_of_all_its_observations() -> None:
    row = read(
        "OBX|1|TX|a&GDT||one~two||||||F",
        "OBX|2|ST|a&IMP||three~3",
        "OBX|3|ST|a&IMP",
        "OBX|4|ST|a&ADN|||x",
    ).row
    assert row["report_text"] == "one\ntwo\nthree~3\n"
    assert row["report_section_findings"] == "one\ntwo"
    assert row["report_section_impression"] == "three~3"
    assert row["report_section_addendum"] == ""
    assert row["report_section_technician_note"] == ""
    assert row["report_status"] == "F"


def test_without_an_observation_the_texts_are_null() -> None:
    row = read().row
    assert row["report_text"] is None and row["report_section_findings"] is None


def test_a_diagnosis_without_content_is_one_all_the_same() -> None:
    row = read("DG1|1||A^text^I10", "DG1|2", "DG1|3||^^").row
    assert row["diagnoses"] == [
        {"diagnosis_code": "A", "diagnosis_code_text": "text", "diagnosis_code_coding_system": "I10"},
        {"diagnosis_code": None, "diagnosis_code_text": None, "diagnosis_code_coding_system": None},
        {"diagnosis_code": "", "diagnosis_code_text": "", "diagnosis_code_coding_system": ""},
    ]
    assert row["diagnoses_consolidated"] == "text; "
    assert read().row["diagnoses"] == []


def test_people_without_a_family_name_are_left_out_and_names_stand_once() -> None:
    obr = ["OBR"] + [""] * 34
    obr[33] = "1^Doe^Ann~2^^X~3^Doe^Ann"
    row = read("|".join(obr)).row
    assert row["assistant_result_interpreter"] == ["Ann Doe"]
    assert row["technician"] is None
    assert row["patient_name"] == ""


def test_the_modality_is_found_by_the_exact_code() -> None:
    assert read("OBR||||CT1^x").row["modality"] == "CT"
    assert read("OBR||||ct1").row["modality"] is None


def test_a_content_hash_depends_on_no_order_and_on_no_null() -> None:
    assert content_hash({"a": 1, "b": None}, {"c": "x"}) == content_hash({"c": "x", "a": 1}, {})
    assert content_hash({"a": 1}, {}) != content_hash({"a": 2}, {})


def messages(data: bytes) -> list[list[str]]:
    return list(logs.split(data))


def test_lines_end_at_lf_cr_and_crlf_and_at_nothing_else() -> None:
    assert messages(b"h\n<SB>\na\x85\x0bb\x1c\rc\r\n<EB>\n") == [["a\x85\x0bb\x1c", "c", ""]]


def test_a_second_sb_inside_a_message_is_text() -> None:
    assert messages(b"<SB>\na\n<SB>\nb<R>\n<EB><R>\n") == [["a", "<SB>", "b", ""]]


def test_one_marker_is_stripped_before_every_eb_is_deleted() -> None:
    assert messages(b"<SB>\ntail<R><EB>") == [["tail<R>"]]
    assert messages(b"<SB>\na<R>\x85\n<EB>") == [["a\x85", ""]]


def test_a_message_that_is_cut_is_one_and_an_sb_at_the_end_is_an_empty_one() -> None:
    assert messages(b"<SB>\na") == [["a"]]
    assert messages(b"<SB>") == [[]]
    assert logs.is_blank([]) and logs.is_blank([" \t\x0b"]) and not logs.is_blank(["\x85"])


def test_a_log_has_a_date_by_its_name_or_none() -> None:
    name = logs.LogName.of("2015/20150104_PORU.log")
    assert name.source_file("root", 3) == "root/2015/20150104_PORU.zip/2015/01/04/20150104_PORU_3.hl7"
    assert logs.LogName.of("20151301.log").day is None
    assert logs.LogName.of("x.log").day is None
    for wrong in ("a.txt", "2015/.20150104.log"):
        with pytest.raises(ValueError, match=r"no \*\.log"):
            logs.LogName.of(wrong)
