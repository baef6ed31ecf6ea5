"""One message to one row of `reports`, by the rules of the platform.

Written from the rules alone, on text and without Spark, so that it can be tested by itself. Times are
counted in microseconds and dates in days since 1970, since Python's own know no year 0.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import TypeAlias

Struct: TypeAlias = dict[str, str | None]
Value: TypeAlias = str | int | None | list[str] | list[Struct]
Row: TypeAlias = dict[str, Value]

DIAGNOSIS = ("diagnosis_code", "diagnosis_code_text", "diagnosis_code_coding_system")
PATIENT_ID = ("id_number", "assigning_authority", "identifier_type_code", "assigning_facility")
PATIENT_NAME = (
    "family_name",
    "given_name",
    "second_and_further_names",
    "suffix",
    "prefix",
    "degree",
    "name_type_code",
)
STAFF = ("id_number", *PATIENT_NAME, *PATIENT_ID[1:])
# Components by member; 0 stands for a member that is always NULL.
_STAFF_FULL = (1, 2, 3, 4, 5, 6, 7, 10, 9, 13, 14)
_STAFF_SHORT = (1, 2, 3, 4, 5, 6, 7, 0, 9, 0, 0)
_SECTIONS = {"GDT": "findings", "IMP": "impression", "ADT": "addendum", "ADN": "addendum"}
_SECTIONS["TCM"] = "technician_note"
_SECTION_NAMES = ("addendum", "findings", "impression", "technician_note")
# What no column's name may hold.
_FORBIDDEN = frozenset(" ,;{}()=\t.`")
_REMOVED_TYPE = "SS"
# What a message must have in its first line to be HL7.
_LEAST_DELIMITERS = 9


@dataclass(frozen=True)
class Parsed:
    """A message that is a row."""

    row: Row
    identifiers: dict[str, str]
    # The repetition of PID-3, from 1, whose column cannot exist, and why; never its text.
    invalid: tuple[int, str] | None


class _Segment:
    """The fields of a segment, from 1."""

    def __init__(self, fields: list[str]):
        self._fields = fields

    def whole(self, number: int) -> str | None:
        return self._fields[number - 1] if number <= len(self._fields) else None

    def component(self, number: int, component: int = 1) -> str | None:
        field = self.whole(number)
        return None if field is None else part(field, component)


_ABSENT = _Segment([])


def part(field: str, component: int) -> str | None:
    """A component of a field, from 1."""
    parts = field.split("^", component)
    return parts[component - 1] if component <= len(parts) else None


def parse(lines: list[str], source_file: str, modalities: dict[str, str]) -> Parsed | None:
    """Reads a message; `None` where it cannot be parsed as HL7."""
    header = lines[0] if lines else ""
    if header.count("|") < _LEAST_DELIMITERS:
        return None
    # MSH-1 is the delimiter itself, so the fields behind it are shifted by one.
    msh = _Segment(["|", *header.split("|")[1:]])
    first: dict[str, _Segment] = {}
    observations: list[_Segment] = []
    diagnoses: list[_Segment] = []
    for line in lines[1:]:
        if line == "":
            continue
        name, *fields = _without_trailing(line).split("|")
        segment = _Segment(fields)
        if name == "OBX":
            observations.append(segment)
        elif name == "DG1":
            diagnoses.append(segment)
        else:
            first.setdefault(name, segment)

    def of(name: str) -> _Segment:
        return first.get(name, _ABSENT)

    pid, orc, obr = of("PID"), of("ORC"), of("OBR")
    message_dt = time(msh.component(7))
    service = obr.component(4)
    row: Row = {
        "service_identifier": service,
        "source_file": source_file,
        "message_control_id": msh.component(10),
        "sending_facility": msh.component(4),
        "version_id": msh.component(12),
        "mpi": pid.component(2) or None,
        "sex": pid.component(8),
        "race": pid.component(10),
        "zip_or_postal_code": pid.component(11, 5),
        "country": pid.component(11, 6),
        "ethnic_group": pid.component(22),
        "patient_class": of("PV1").component(2),
        "orc_2_placer_order_number": orc.component(2),
        "obr_2_placer_order_number": obr.component(2),
        "orc_3_filler_order_number": orc.component(3),
        "obr_3_filler_order_number": obr.component(3),
        "service_name": obr.component(4, 2),
        "service_coding_system": obr.component(4, 3),
        "diagnostic_service_id": obr.component(24),
        "study_instance_uid": of("ZDS").component(1),
        "birth_date": date((pid.component(7) or "")[:8]),
        "message_dt": message_dt,
        "requested_dt": time(obr.component(6)),
        "observation_dt": time(obr.component(7)),
        "observation_end_dt": time(obr.component(8)),
        "results_report_status_change_dt": time(obr.component(22)),
        "modality": modalities.get(service) if service is not None else None,
        "year": None if message_dt is None else int((msh.component(7) or "")[:4]),
        **_report(observations),
        **_diagnoses(diagnoses),
        **_people(pid, obr),
    }
    ids = _structs(pid.whole(3), PATIENT_ID, (1, 4, 5, 6))
    identifiers, invalid = _identifiers(ids, row)
    row["patient_ids"] = ids and [one for one in ids if not _is_removed(one)]
    return Parsed(row, identifiers, invalid)


def _without_trailing(line: str) -> str:
    """Removes delimiters at the end, also those before a single final 0x85."""
    if line.endswith("\x85"):
        return line[:-1].rstrip("|") + "\x85"
    return line.rstrip("|")


def _structs(
    field: str | None, members: tuple[str, ...], components: tuple[int, ...]
) -> list[Struct] | None:
    """The repetitions of a field; members that are absent, empty or all spaces are NULL."""
    if field is None:
        return None
    elements = []
    for repetition in field.split("~"):
        parts = repetition.split("^")
        element: Struct = {}
        for member, component in zip(members, components, strict=True):
            text = parts[component - 1] if 0 < component <= len(parts) else ""
            element[member] = text if text.strip(" ") else None
        elements.append(element)
    return elements


def _report(observations: list[_Segment]) -> Row:
    columns = ["report_text", *(f"report_section_{name}" for name in _SECTION_NAMES)]
    if not observations:
        return dict.fromkeys([*columns, "report_status"])
    lines: dict[str, list[str]] = {column: [] for column in columns}
    for segment in observations:
        value = segment.whole(5)
        if value is None:
            continue
        if segment.whole(2) == "TX":
            value = value.replace("~", "\n")
        lines["report_text"].append(value)
        parts = (segment.whole(3) or "").split("&", 2)
        section = _SECTIONS.get(parts[1]) if len(parts) > 1 else None
        if section is not None:
            lines[f"report_section_{section}"].append(value)
    row: Row = {column: "\n".join(of_column) for column, of_column in lines.items()}
    row["report_status"] = observations[0].whole(11)
    return row


def _diagnoses(segments: list[_Segment]) -> Row:
    rows: list[Struct] = []
    for segment in segments:
        code = segment.whole(3)
        parts = (None if code is None else part(code, number) for number in (1, 2, 3))
        rows.append(dict(zip(DIAGNOSIS, parts, strict=True)))
    texts = [text for row in rows if (text := row["diagnosis_code_text"]) is not None]
    return {"diagnoses": rows, "diagnoses_consolidated": "; ".join(texts)}


def _people(pid: _Segment, obr: _Segment) -> Row:
    patient = _structs(pid.whole(5), PATIENT_NAME, (1, 2, 3, 4, 5, 6, 7))
    ordering = _staff(obr.whole(16), _STAFF_FULL)
    principal = _staff(obr.whole(32), _STAFF_SHORT)
    assistants = _staff(obr.whole(33), _STAFF_SHORT)
    technicians = _staff(obr.whole(34), _STAFF_SHORT)
    return {
        "full_patient_name": patient,
        "full_ordering_provider": ordering,
        "full_principal_result_interpreter": principal,
        "full_assistant_result_interpreter": assistants,
        "full_technician": technicians,
        "patient_name": _first_name(patient),
        "ordering_provider": _first_name(ordering),
        "principal_result_interpreter": _first_name(principal),
        "assistant_result_interpreter": _names(assistants),
        "technician": _names(technicians),
    }


def _staff(field: str | None, components: tuple[int, ...]) -> list[Struct] | None:
    people = _structs(field, STAFF, components)
    return people and [person for person in people if person["family_name"] is not None]


def _name(person: Struct) -> str:
    names = (person["given_name"], person["family_name"])
    return " ".join(name for name in names if name is not None)


def _first_name(people: list[Struct] | None) -> str:
    return _name(people[0]) if people else ""


def _names(people: list[Struct] | None) -> list[str] | None:
    return None if people is None else list(dict.fromkeys(map(_name, people)))


def _is_removed(element: Struct) -> bool:
    return element["identifier_type_code"] == _REMOVED_TYPE


def _column_name(element: Struct) -> str | None:
    authority, kind = element["assigning_authority"], element["identifier_type_code"]
    facility = element["assigning_facility"]
    if authority is not None and kind is not None:
        return f"{authority.lower()}_{kind.lower()}"
    return None if facility is None else f"legacy_patient_id_{facility.lower()}"


def _identifiers(ids: list[Struct] | None, row: Row) -> tuple[dict[str, str], tuple[int, str] | None]:
    """The smallest id of each column, and the first whose column cannot exist."""
    columns: dict[str, str] = {}
    invalid = None
    for repetition, element in enumerate(ids or [], 1):
        number, name = element["id_number"], _column_name(element)
        if number is None or name is None or _is_removed(element):
            continue
        if invalid is None:
            held = sorted(_FORBIDDEN.intersection(name))
            if held:
                invalid = (repetition, f"holds {held[0]!r}, which no column's name may hold")
            elif name in row or name in ("patient_ids", "updated", "content_hash"):
                invalid = (repetition, f"is the name of the fixed column `{name}`")
        columns[name] = min(number, columns.get(name, number))
    return columns, invalid


def content_hash(row: Row, identifiers: dict[str, str]) -> str:
    """SHA-256 over what is not NULL, whatever the order of columns."""
    held = {name: value for name, value in {**row, **identifiers}.items() if value is not None}
    text = json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_MICROS_PER_DAY = 86_400_000_000


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _digits(text: str, length: int) -> bool:
    return len(text) == length and text.isascii() and text.isdigit()


def date(text: str) -> int | None:
    """Eight digits that are a day, in days since 1970; else None."""
    if not _digits(text, 8):
        return None
    year, month, day = int(text[:4]), int(text[4:6]), int(text[6:])
    if not (1 <= month <= 12 and 1 <= day <= _length(year, month)):
        return None
    return days_from_civil(year, month, day)


def _length(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def time(text: str | None) -> int | None:
    """Fourteen digits, or twelve without seconds, that are a time in UTC; else None."""
    if text is not None and len(text) == 12:
        text += "00"
    if text is None or not _digits(text, 14):
        return None
    day = date(text[:8])
    hour, minute, second = int(text[8:10]), int(text[10:12]), int(text[12:])
    if day is None or hour > 23 or minute > 59 or second > 59:
        return None
    return day * _MICROS_PER_DAY + (hour * 3600 + minute * 60 + second) * 1_000_000
