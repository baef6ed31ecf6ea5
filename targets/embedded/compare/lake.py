"""Reads a lake's tables with the Python `deltalake` reader, as rows of plain values."""

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

Row = dict[str, Any]

REPORTS = "reports"
CURATED = "reports_curated"
LATEST = "reports_latest"
DX = "reports_dx"
MAPPING = "reports_report_patient_mapping"
HISTORY = "reports_report_patient_mapping_history"
TABLES = (REPORTS, CURATED, LATEST, DX, MAPPING, HISTORY)

PATHS = ("source_file", "primary_report_identifier", "diagnosis_id")
# What every run makes anew, and the hash that is compared within one target only.
OWN = ("updated", "content_hash")
PATIENTS = ("scout_patient_id", "previous_scout_patient_id")


def portable(path: str) -> str:
    """The part of a staged name that does not depend on the staging root."""
    return path.rpartition(".zip/")[2]


def place(row: Row) -> str:
    """File and position of a row, for messages: never a value of the report itself."""
    return str(row.get("source_file") or row.get("primary_report_identifier"))


def stem(file: str) -> str:
    """The log that a staged message stood in, by its name."""
    return re.sub(r"_[0-9]+\.hl7$", "", file.rpartition("/")[2])


@dataclass(frozen=True)
class Lake:
    """A folder with one Delta table a folder."""

    name: str
    folder: Path

    def table(self, name: str, version: int | None = None) -> DeltaTable | None:
        """A table, or none where it was never made."""
        try:
            return DeltaTable(str(self.folder / name), version=version)
        except TableNotFoundError:
            return None

    def rows(self, name: str, version: int | None = None) -> list[Row]:
        """All rows, without NULLs and without what the target adds; paths without their root."""
        table = self.table(name, version)
        if table is None:
            return []
        return [plain(row) for row in table.to_pyarrow_table().to_pylist()]

    def types(self, name: str) -> dict[str, str]:
        """Type of every column that a message gives."""
        table = self.table(name)
        if table is None:
            return {}
        schema = table.to_pyarrow_table().slice(0, 0).schema
        types = ((field.name, re.sub(" not null", "", str(field.type))) for field in schema)
        return {column: kind for column, kind in types if column not in OWN}

    def versions(self, name: str) -> list[dict[str, Any]]:
        """Version, operation and metrics of every commit, oldest first."""
        table = self.table(name)
        return [] if table is None else sorted(table.history(), key=lambda c: c["version"])


def plain(row: Row) -> Row:
    kept = {}
    for column, value in row.items():
        if value is None or column in OWN:
            continue
        kept[column] = portable(str(value)) if column in PATHS else value
    return kept


def group(rows: list[Row], key: Callable[[Row], object]) -> dict[object, list[Row]]:
    """Rows by key; those of one key in an order that depends on their values alone."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    for same in groups.values():
        same.sort(key=lambda row: repr(sorted(row.items())))
    return groups


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
