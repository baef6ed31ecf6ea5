"""Whether the mapping's history is what the rules demand, commit by commit.

Which of several patient ids survives a join is open, and with it which rows move. So two histories
cannot be compared row by row. Each is held against the states of its own mapping, which Delta still
knows: given the id that did survive, the rules leave nothing open. What is comparable between two
lakes, the patients that were joined or found inconsistent, is returned.
"""

from collections import Counter
from dataclasses import dataclass

from lake import HISTORY, MAPPING, Lake, Row

Pair = tuple[object, object]
# Ids of all members of a patient at the time, and whether they conflict.
Event = tuple[tuple[Pair, ...], bool]


@dataclass
class Findings:
    """What a lake's history holds and what it should hold."""

    events: Counter[Event]
    rows: int
    missing: list[str]
    unexpected: list[str]


def pair(row: Row) -> Pair:
    return row.get("mpi"), row.get("epic_mrn")


def by_report(rows: list[Row]) -> dict[str, Row]:
    return {str(row["primary_report_identifier"]): row for row in rows}


def as_tuple(row: Row, consistent: object, previous: object) -> tuple[object, ...]:
    report, patient = row["primary_report_identifier"], row["scout_patient_id"]
    return (report, patient, *pair(row), consistent, previous)


def settle(
    before: dict[str, Row], after: dict[str, Row], events: Counter[Event]
) -> list[tuple[object, ...]]:
    """The history that one merge of the mapping must leave."""
    known = {pair(row) for row in before.values()}
    # Only a new pair of two ids can join or conflict; all others take over what stands.
    new = [row for report, row in after.items() if report not in before]
    seeds = {r["scout_patient_id"] for r in new if None not in pair(r) and pair(r) not in known}
    webs: dict[object, list[Row]] = {}
    for row in after.values():
        if row["scout_patient_id"] in seeds:
            webs.setdefault(row["scout_patient_id"], []).append(row)
    expected = []
    for patient, members in webs.items():
        was = {r: before.get(r) for r in (str(m["primary_report_identifier"]) for m in members)}
        mpis = {m["mpi"] for m in members if "mpi" in m}
        mrns = {m["epic_mrn"] for m in members if "epic_mrn" in m}
        conflict = len(mpis) > 1 or len(mrns) > 1
        joined = len({row["scout_patient_id"] for row in was.values() if row is not None}) > 1
        if not conflict and not joined:
            continue
        pairs = sorted((pair(member) for member in members), key=repr)
        events[(tuple(pairs), conflict)] += 1
        for member in members:
            old = was[str(member["primary_report_identifier"])]
            if old is None:
                expected.append(as_tuple(member, True, None))
            elif old["scout_patient_id"] != patient or (conflict and old["consistent"]):
                expected.append(as_tuple(member, old["consistent"], old["scout_patient_id"]))
    return expected


def check(lake: Lake) -> Findings:
    """Replays the mapping's merges and compares with the rows of the history."""
    events: Counter[Event] = Counter()
    expected: Counter[tuple[object, ...]] = Counter()
    before: dict[str, Row] = {}
    for commit in lake.versions(MAPPING):
        if commit["operation"] != "MERGE":
            continue
        after = by_report(lake.rows(MAPPING, commit["version"]))
        expected.update(settle(before, after, events))
        before = after
    rows = lake.rows(HISTORY)
    found: Counter[tuple[object, ...]] = Counter(
        as_tuple(row, row["consistent"], row.get("previous_scout_patient_id")) for row in rows
    )
    missing = [str(row[0]) for row in (expected - found).elements()]
    unexpected = [str(row[0]) for row in (found - expected).elements()]
    return Findings(events, len(rows), sorted(missing), sorted(unexpected))
