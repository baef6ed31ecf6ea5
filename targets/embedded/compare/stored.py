"""Stores a reference's tables small: keys and hashes, from which a test can tell what differs.

A row is its key, the hash of docs/row-hash.md (16 bytes), and for every column the first two bytes
of the hash of that column alone (zeros for NULL), side by side in the order that the file's
metadata names, so that a difference names its column. Patients are numbers. What is a report's own
content stands nowhere in clear.
"""

import datetime
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from differences import partition, settled
from lake import CURATED, DX, EPOCH, HISTORY, LATEST, MAPPING, PATIENTS, REPORTS, Lake, Row, place


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def encode(value: object) -> bytes:
    """A value in the encoding of docs/row-hash.md."""
    match value:
        case None:
            return b"\0"
        case str():
            return b"\1" + text(value)
        case bool():
            return struct.pack("<B?", 5, value)
        case int():
            return struct.pack("<Bi", 2, value)
        case datetime.datetime():
            return struct.pack("<Bq", 4, (value - EPOCH) // datetime.timedelta(microseconds=1))
        case datetime.date():
            return struct.pack("<Bi", 3, (value - EPOCH.date()).days)
        case list():
            return struct.pack("<BI", 6, len(value)) + b"".join(map(encode, value))
        case dict():
            return struct.pack("<BI", 7, len(value)) + b"".join(map(encode, value.values()))
    raise TypeError(f"no table has a value of type {type(value).__name__}")


def row_hash(row: Row) -> bytes:
    columns = sorted((column.encode(), value) for column, value in row.items())
    encoded = b"".join(text(column.decode()) + encode(value) for column, value in columns)
    return xxhash.xxh3_128(encoded).digest()


def without(row: Row, columns: tuple[str, ...]) -> Row:
    return {column: value for column, value in row.items() if column not in columns}


def accession_hash(row: Row) -> bytes:
    return row_hash({"accession_number": row["accession_number"]})[:8]


def table(rows: list[Row], keys: dict[str, pa.Array], columns: list[str]) -> pa.Table:
    def short(row: Row, column: str) -> bytes:
        return row_hash({column: row[column]})[:2] if column in row else b"\0\0"

    hashes = [row_hash(without(row, PATIENTS)) for row in rows]
    parts = [b"".join(short(row, column) for column in columns) for row in rows]
    arrays = {
        **keys,
        "row": pa.array(hashes, pa.binary(16)),
        "columns": pa.array(parts, pa.binary()),
    }
    return pa.table(arrays).replace_schema_metadata({"columns": ",".join(columns)})


def files(rows: list[Row]) -> pa.Array:
    return pa.array([place(row) for row in rows], pa.string())


def accessions(rows: list[Row]) -> pa.Array:
    return pa.array([accession_hash(row) for row in rows], pa.binary(8))


def store(lake: Lake, workflow_of: dict[str, int], folder: Path) -> None:
    """Writes one small Parquet file a table; ties are settled before."""
    tables, _ = settled(lake, workflow_of)
    tables[HISTORY] = lake.rows(HISTORY)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (REPORTS, CURATED, LATEST, DX, MAPPING, HISTORY):
        order = ("diagnosis_id",) if name == DX else ("source_file", "primary_report_identifier")
        rows = tables[name]
        rows.sort(key=lambda r: ([str(r.get(c)) for c in order], row_hash(without(r, PATIENTS))))
        keys = {"file": files(rows)}
        if name in (REPORTS, CURATED):
            keys["year"] = pa.array([row.get("year") for row in rows], pa.int32())
        if name in (LATEST, DX):
            keys["accession"] = accessions(rows)
        if name == DX:
            positions = [int(str(row["diagnosis_id"]).rpartition("_")[2]) for row in rows]
            keys["position"] = pa.array(positions, pa.int32())
        if name == MAPPING:
            numbers: dict[str, int] = {}
            firsts = partition(rows)
            patients = [numbers.setdefault(firsts[place(row)], len(numbers)) for row in rows]
            keys["patient"] = pa.array(patients, pa.int32())
        if name == HISTORY:
            fresh = ["previous_scout_patient_id" not in row for row in rows]
            keys["new"] = pa.array(fresh, pa.bool_())
        columns = {column for row in rows for column in without(row, PATIENTS)}
        # A row of latest is one of curated, whose columns are stored.
        stored = table(rows, keys, [] if name == LATEST else sorted(columns))
        pq.write_table(stored, folder / f"{name}.parquet", compression="snappy")
