"""Compares the tables of two lakes: keys with their multiplicity, columns, patients, history.

A difference names table, column, file and position, never a value. Documented deviations (see
docs/embedded.md) are recognised and counted; everything else is a difference.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import history
from lake import CURATED, DX, LATEST, MAPPING, PATIENTS, REPORTS, Lake, Row, group, place, stem

SHOWN = 5


@dataclass
class Table:
    """What was found in one table."""

    name: str
    rows: int
    reference_rows: int
    differences: list[str] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)

    def differ(self, what: str, places: list[str]) -> None:
        if places:
            shown = ", ".join(sorted(places)[:SHOWN])
            more = f", … ({len(places)} in all)" if len(places) > SHOWN else ""
            self.differences.append(f"{what}: {shown}{more}")


def file_and_year(row: Row) -> object:
    return place(row), row.get("year")


def accession(row: Row) -> object:
    return row["accession_number"]


def diagnosis(row: Row) -> object:
    return row["accession_number"], row["diagnosis_id"]


def report(row: Row) -> object:
    return place(row)


KEYS: dict[str, Callable[[Row], object]] = {
    REPORTS: file_and_year,
    CURATED: file_and_year,
    LATEST: accession,
    DX: diagnosis,
    MAPPING: report,
}


def compare_rows(table: Table, mine: list[Row], theirs: list[Row]) -> None:
    key = KEYS[table.name]
    ours, reference = group(mine, key), group(theirs, key)
    table.differ(
        "key only in the reference", [place(reference[k][0]) for k in reference.keys() - ours]
    )
    table.differ("key only in the lake", [place(ours[k][0]) for k in ours.keys() - reference])
    both = ours.keys() & reference.keys()
    uneven = [k for k in both if len(ours[k]) != len(reference[k])]
    table.differ(
        "key with another multiplicity",
        [f"{place(ours[k][0])} {len(ours[k])} times, not {len(reference[k])}" for k in uneven],
    )
    columns: dict[str, list[str]] = {}
    for shared in both - set(uneven):
        for row, wanted in zip(ours[shared], reference[shared], strict=True):
            for column in row.keys() | wanted.keys():
                if column not in PATIENTS and row.get(column) != wanted.get(column):
                    columns.setdefault(column, []).append(place(row))
    for column, places in sorted(columns.items()):
        table.differ(f"column {column}", places)


def compare_types(
    table: Table, mine: dict[str, str], theirs: dict[str, str], rows: list[Row]
) -> None:
    """Columns and their types; order is free, since new columns come last in the reference."""
    for column in sorted(mine.keys() | theirs.keys()):
        found, wanted = mine.get(column, "missing"), theirs.get(column, "missing")
        if found == wanted:
            continue
        if table.name == DX and found == "missing" and not any(column in row for row in rows):
            # The reference makes an empty commit, with columns; the lake makes none.
            table.deviations.append(f"column {column} is not there yet, and would be empty")
        else:
            table.differences.append(f"type of {column}: {found}, not {wanted}")


def settle_ties(theirs: dict[str, list[Row]], workflow_of: dict[str, int]) -> int:
    """Settles in the reference's tables what the reference leaves open, as the lake has to.

    Messages of one accession and one time within a workflow tie. The one with the greatest name
    takes the place of the reference's choice: its row is what the reference's own curated table
    says of the file, its diagnoses are those of that row. Returns how many choices changed.
    """
    of_accession = group(theirs[CURATED], accession)
    changed: dict[object, Row] = {}
    for at, row in enumerate(theirs[LATEST]):
        rivals = [
            rival
            for rival in of_accession[accession(row)]
            if rival.get("message_dt") == row.get("message_dt")
            and workflow_of[stem(place(rival))] == workflow_of[stem(place(row))]
        ]
        winner = max(rivals, key=place)
        if place(winner) != place(row):
            changed[accession(row)] = theirs[LATEST][at] = winner
    theirs[DX] = [row for row in theirs[DX] if accession(row) not in changed]
    theirs[DX] += [dx for row in changed.values() for dx in explode(row)]
    return len(changed)


def explode(row: Row) -> list[Row]:
    """The diagnoses of a row of latest, each a row."""
    common = {k: v for k, v in row.items() if k not in ("diagnoses", "diagnoses_consolidated")}
    return [
        {
            **common,
            "diagnosis_id": f"{place(row)}_{position}",
            **{member: value for member, value in members.items() if value is not None},
        }
        for position, members in enumerate(row["diagnoses"])
    ]


def partition(rows: list[Row]) -> dict[str, str]:
    """Every report with the first report of its patient."""
    patients = group(rows, lambda row: row["scout_patient_id"])
    firsts = {patient: min(map(place, of)) for patient, of in patients.items()}
    return {place(row): firsts[row["scout_patient_id"]] for row in rows}


def compare_patients(table: Table, mine: list[Row], theirs: list[Row]) -> None:
    ours, reference = partition(mine), partition(theirs)
    both = ours.keys() & reference.keys()
    table.differ("another patient", [file for file in both if ours[file] != reference[file]])


def compare_history(mine: Lake, theirs: Lake) -> Table:
    ours, reference = history.check(mine), history.check(theirs)
    table = Table("reports_report_patient_mapping_history", ours.rows, reference.rows)
    for lake, found in (("the lake", ours), ("the reference", reference)):
        table.differ(f"row that the rules demand and {lake} lacks", found.missing)
        table.differ(f"row of {lake} that the rules do not give", found.unexpected)
    for what, events in (
        ("only in the reference", reference.events - ours.events),
        ("only in the lake", ours.events - reference.events),
    ):
        sizes = Counter(f"{len(pairs)} rows" for pairs, _ in events.elements())
        table.differ(f"patient joined or in conflict {what}", sorted(sizes.elements()))
    if not table.differences and ours.rows != reference.rows:
        table.deviations.append("other patient ids survived joins, so other rows moved")
    return table


def settled(theirs: Lake, workflow_of: dict[str, int]) -> tuple[dict[str, list[Row]], int]:
    """All rows of the reference, ties settled, and how many that changed."""
    reference = {name: theirs.rows(name) for name in KEYS}
    return reference, settle_ties(reference, workflow_of)


def compare(mine: Lake, theirs: Lake, workflow_of: dict[str, int]) -> list[Table]:
    """Compares all tables. `workflow_of` gives the workflow of a log by its stem."""
    reference, ties = settled(theirs, workflow_of)
    found = []
    for name in KEYS:
        ours = mine.rows(name)
        table = Table(name, len(ours), len(reference[name]))
        compare_types(table, mine.types(name), theirs.types(name), reference[name])
        compare_rows(table, ours, reference[name])
        if name == MAPPING:
            compare_patients(table, ours, reference[name])
        if name == LATEST and ties:
            table.deviations.append(f"{ties} choices among messages that tie in a workflow")
        found.append(table)
    found.append(compare_history(mine, theirs))
    return found
