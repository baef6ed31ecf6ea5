"""Which reports are of one patient: connected components over stored patients and new reports.

A stored patient is one vertex, since all its rows carry one id already; a new report is an edge between
its two ids. So a component is found by looking at the new reports and at the stored rows that share an
id with one of them, however large the table is. No Spark here.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Report:
    """A new report that has both ids."""

    name: str
    mpi: str
    epic_mrn: str
    # The patient's id if it begins a patient.
    own_id: str


@dataclass(frozen=True)
class Stored:
    """A stored patient: its least and greatest ids are equal where it has but one."""

    patient: str
    mpi: tuple[str, str] | None
    epic_mrn: tuple[str, str] | None
    consistent: bool


@dataclass(frozen=True)
class Placed:
    """What becomes of the new reports, and of the stored patients that change."""

    # Report's name, patient's id, whether it is consistent.
    reports: list[tuple[str, str, bool]]
    # Patient's id before and now, whether it is consistent now.
    moved: list[tuple[str, str, bool]]


class _Sets:
    """Disjoint sets over anything that can be a key."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}

    def root(self, one: Hashable) -> Hashable:
        path = []
        while (above := self._above.setdefault(one, one)) != one:
            path.append(one)
            one = above
        for passed in path:
            self._above[passed] = one
        return one

    def join(self, one: Hashable, other: Hashable) -> None:
        self._above[self.root(one)] = self.root(other)


@dataclass
class _Component:
    reports: list[Report] = field(default_factory=list)
    stored: list[Stored] = field(default_factory=list)

    def is_consistent(self) -> bool:
        mpis: set[str] = {report.mpi for report in self.reports}
        mrns: set[str] = {report.epic_mrn for report in self.reports}
        for patient in self.stored:
            mpis.update(patient.mpi or ())
            mrns.update(patient.epic_mrn or ())
        return len(mpis) <= 1 and len(mrns) <= 1


def place(
    reports: Iterable[Report],
    stored: Iterable[Stored],
    owners: Iterable[tuple[str, str, str]],
) -> Placed:
    """Places new reports. `owners` are the stored patients of the reports' ids: kind (`mpi` or
    `epic_mrn`), id, patient."""
    sets = _Sets()
    reports = list(reports)
    for report in reports:
        sets.join(("mpi", report.mpi), ("epic_mrn", report.epic_mrn))
    for kind, value, patient in owners:
        sets.join((kind, value), ("patient", patient))
    components: dict[Hashable, _Component] = {}
    for report in reports:
        root = sets.root(("mpi", report.mpi))
        components.setdefault(root, _Component()).reports.append(report)
    for one in stored:
        root = sets.root(("patient", one.patient))
        if root in components:
            components[root].stored.append(one)
    placed = Placed([], [])
    for component in components.values():
        consistent = component.is_consistent()
        known = sorted(one.patient for one in component.stored)
        least = min(component.reports, key=lambda report: report.name)
        patient = known[0] if known else least.own_id
        placed.reports.extend((report.name, patient, consistent) for report in component.reports)
        placed.moved.extend(
            (one.patient, patient, consistent)
            for one in component.stored
            if (one.patient, one.consistent) != (patient, consistent)
        )
    return placed
