"""Reads logs within Spark: each task reads some logs and gives rows, and an account of what is none.

The executors open the logs by their path, so on a cluster the data set stands on a file system that
all of them see. Nothing of a message leaves here but its row: an account names file and position.
"""

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DateType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from bench_spark import columns, logs
from bench_spark.ledger import Read
from bench_spark.logs import LogName
from bench_spark.message import content_hash, parse

# What a row of the reading is.
ROW, LOG, FAILED, UNPARSABLE, REFUSED = "row", "log", "failed", "unparsable", "refused"
# What tells of the log; everything else (no memory, no handle) tells of the machine.
OF_THE_LOG = (
    errno.ENOENT,
    errno.EACCES,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ENAMETOOLONG,
    errno.EPERM,
)

_ACCOUNT = StructType(
    [
        StructField("kind", StringType()),
        StructField("log", StringType()),
        # Number of the message; of a log, how many it has.
        StructField("number", IntegerType()),
        StructField("empty", IntegerType()),
        StructField("reason", StringType()),
        StructField("identifiers", MapType(StringType(), StringType())),
        StructField("content_hash", StringType()),
    ]
)
# Days and times leave Python as numbers: its own types know no year 0.
_AS_NUMBER: dict[type[DataType], DataType] = {DateType: LongType(), TimestampType: LongType()}
_SCHEMA = StructType(
    [
        *_ACCOUNT.fields,
        *(
            StructField(field.name, _AS_NUMBER.get(type(field.dataType), field.dataType))
            for field in columns.schema(columns.MESSAGE)
        ),
    ]
)


class Refused(Exception):
    """A workflow that cannot be ingested, however often it is tried."""


@dataclass(frozen=True)
class Source:
    """Where logs lie and what their rows are to hold."""

    dataset: str
    staging_root: str
    modalities: dict[str, str]


def load_modalities(path: Path) -> dict[str, str]:
    """The map from exam codes to modalities. Raises `ValueError` where the file is none."""
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if not {"Exam Code", "Modality"} <= set(reader.fieldnames or ()):
            raise ValueError(f"{path} lacks one of the columns `Exam Code` and `Modality`")
        found: dict[str, str] = {}
        for line in reader:
            code = line["Exam Code"]
            if code and code in found:
                raise ValueError(f"{path} has the code {code} twice")
            if code:
                found[code] = line["Modality"] or ""
    return {code: modality for code, modality in found.items() if modality}


def read(spark: SparkSession, source: Source, names: list[LogName], parts: int) -> DataFrame:
    """Everything that the logs hold, as rows of `_SCHEMA`. Read again whenever it is asked for."""

    def read_log(relative: str) -> Iterator[tuple[Any, ...]]:
        return (as_row(one) for one in of_log(source, LogName.of(relative)))

    listed = [name.relative for name in names]
    rows = spark.sparkContext.parallelize(listed, min(parts, max(1, len(listed)))).flatMap(read_log)
    return spark.createDataFrame(rows, _SCHEMA, verifySchema=False)


def as_row(one: dict[str, Any]) -> tuple[Any, ...]:
    """A row of `_SCHEMA`, with structs as tuples."""
    return tuple(_plain(one.get(name)) for name in _SCHEMA.names)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [tuple(each.values()) if isinstance(each, dict) else each for each in value]
    return value


def of_log(source: Source, name: LogName) -> Iterator[dict[str, Any]]:
    """Rows of one log, and at last its account."""
    try:
        data = (Path(source.dataset) / name.relative).read_bytes()
    except OSError as error:
        if error.errno not in OF_THE_LOG:
            raise
        reason = f"cannot be read: {error.strerror}"
        yield {"kind": FAILED, "log": name.relative, "reason": reason}
        return
    count = empty = 0
    for number, lines in enumerate(logs.split(data)):
        if name.day is None:
            yield {"kind": FAILED, "log": name.relative, "reason": logs.NO_DATE}
            return
        count += 1
        if logs.is_blank(lines):
            empty += 1
            continue
        place = {"log": name.relative, "number": number}
        parsed = parse(lines, name.source_file(source.staging_root, number), source.modalities)
        if parsed is None:
            yield {"kind": UNPARSABLE, **place}
        elif parsed.invalid is not None:
            repetition, what = parsed.invalid
            yield {"kind": REFUSED, **place, "reason": f"PID-3 repetition {repetition}: {what}"}
        else:
            yield {
                "kind": ROW,
                **place,
                "identifiers": parsed.identifiers,
                "content_hash": content_hash(parsed.row, parsed.identifiers),
                **parsed.row,
            }
    if count == 0:
        yield {"kind": FAILED, "log": name.relative, "reason": logs.NO_MESSAGES}
        return
    yield {"kind": LOG, "log": name.relative, "number": count, "empty": empty}


def account(everything: DataFrame, names: list[LogName]) -> Read:
    """Counts what was read, in one job. Raises `Refused` for a message that no table can hold."""
    told = (
        everything.where(F.col("kind") != ROW)
        .select("kind", "log", "number", "empty", "reason")
        .collect()
    )
    refused = sorted((one for one in told if one.kind == REFUSED), key=lambda one: (one.log, one.number))
    if refused:
        first = refused[0]
        raise Refused(
            f"{first.log} message {first.number}: {first.reason}; nothing was written, and "
            f"{len(refused)} such messages keep this workflow from being ingested"
        )
    found = everything.where(F.col("kind") == ROW).agg(
        F.count("*").alias("rows"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_set(F.map_keys("identifiers"))))).alias(
            "identifiers"
        ),
    )
    rows = found.collect()[0]
    order = {name.relative: at for at, name in enumerate(names)}
    read = Read(logs=len(names), parsed=rows["rows"], identifiers=list(rows["identifiers"] or ()))
    for one in sorted(told, key=lambda one: (order[one.log], one.number or 0)):
        if one.kind == LOG:
            read.messages += one.number
            read.empty += one.empty
        elif one.kind == FAILED:
            read.failed_logs.append({"file": one.log, "reason": one.reason})
        else:
            read.unparsable.append({"file": one.log, "ordinal": one.number})
    return read


def report_rows(everything: DataFrame, identifiers: list[str], updated: str) -> DataFrame:
    """The rows of `reports` among what was read. `updated` is a time in UTC."""
    ids = [F.col("identifiers")[name].alias(name) for name in identifiers]
    at = columns.MESSAGE.index("patient_ids") + 1
    fixed = [_typed(field) for field in columns.schema(columns.MESSAGE)]
    return everything.where(F.col("kind") == ROW).select(
        *fixed[:at],
        *ids,
        *fixed[at:],
        F.lit(updated).cast("timestamp").alias("updated"),
        "content_hash",
    )


def _typed(field: StructField) -> Column:
    column = F.col(field.name)
    if isinstance(field.dataType, DateType):
        column = F.date_from_unix_date(column.cast("int"))
    elif isinstance(field.dataType, TimestampType):
        column = F.timestamp_micros(column)
    return column.alias(field.name)
