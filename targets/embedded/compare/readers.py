"""Whether Spark and the Python `deltalake` read an embedded lake as the engine's ledger counts it.

The lake has what readers stumble over: checkpoints, tombstones, columns that appear later, rows of
NULL year, some of them twice. Both readers must find the rows that the ledger states, the same
rows, and by a filter (so by statistics and partition values) those that a full scan finds.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import transformer
from compare import ROOT, bench
from lake import CURATED, LATEST, MAPPING, REPORTS, TABLES, Lake, Row, plain
from stored import row_hash

SPEC = ROOT / "targets/embedded/tests/data/reference/generated.toml"
SETTINGS = {
    "shuffle_partitions": "5",
    "adaptive": "false",
    "checkpoint_interval": "3",
    "auto_compact": "true",
    "auto_compact_min_files": "8",
}


def run(command: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run([str(command), *arguments, "--json"], stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"error: `bench {arguments[0]}` failed (exit code {done.returncode})")
    return json.loads(done.stdout)


def require(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"error: {what}")


def make(command: Path, folder: Path) -> tuple[Lake, dict[str, int]]:
    """A lake of generated logs, ingested twice, and its rows as the ledger has them."""
    logs, lake = folder / "logs", folder / "lake"
    run(command, "generate", "--profile", str(SPEC), "--out", str(logs))
    ingest = ["ingest", str(logs), "--lake", str(lake), "--files-per-workflow", "90"]
    for key, value in SETTINGS.items():
        ingest += ["--set", f"{key}={value}"]
    run(command, *ingest)
    # A deliberate second ingest inserts rows of NULL year again.
    state = run(command, *ingest)["ledger"]["state"]
    return Lake("lake", lake), {table: state[table]["rows"] for table in state}


def check_hardships(lake: Lake) -> None:
    """That the lake has what it was made to have; otherwise this proves nothing."""
    for name in (REPORTS, CURATED, LATEST, MAPPING):
        folder = lake.folder / name
        table = lake.table(name)
        live = len(table.file_uris()) if table is not None else 0
        dead = sum(1 for _ in folder.rglob("*.parquet")) - live
        checkpoints = len(list(folder.glob("_delta_log/*.checkpoint*.parquet")))
        require(checkpoints > 0, f"{name} has no checkpoint")
        require(dead > checkpoints, f"{name} has no tombstone")
    for name in (REPORTS, CURATED, LATEST):
        log = sorted((lake.folder / name).glob("_delta_log/*.json"))
        schemas = sum('"metaData"' in commit.read_text() for commit in log)
        require(schemas > 1, f"{name} never gained a column")
    timeless = [row["source_file"] for row in lake.rows(REPORTS) if "year" not in row]
    require(len(timeless) > len(set(timeless)), "no row of NULL year stands twice")


def spark_rows(frame: Any) -> list[Row]:
    def utc(value: object) -> object:
        if isinstance(value, datetime.datetime):
            return value.replace(tzinfo=datetime.UTC)
        return value

    rows = (row.asDict(recursive=True) for row in frame.collect())
    return [plain({column: utc(value) for column, value in row.items()}) for row in rows]


def check(spark: Any, lake: Lake, name: str, counted: int) -> str:
    frame = spark.read.format("delta").load(str(lake.folder / name))
    mine, sparks = lake.rows(name), spark_rows(frame)
    for reader, rows in (("deltalake", mine), ("Spark", sparks)):
        said = f"{name}: {reader} reads {len(rows)} rows, the ledger has {counted}"
        require(len(rows) == counted, said)
    same = sorted(map(row_hash, mine)) == sorted(map(row_hash, sparks))
    require(same, f"{name}: the two readers see other rows")
    said = f"{counted} rows"
    if name == REPORTS:
        for year in {row.get("year") for row in mine}:
            where = "year is null" if year is None else f"year = {year}"
            expected = sum(row.get("year") == year for row in mine)
            require(frame.where(where).count() == expected, f"{name}: rows where {where}")
            said += f", {expected} where {where}"
    key = "source_file" if name == REPORTS else "primary_report_identifier"
    keys = sorted({str(row[key]) for row in mine})
    for one in keys[:: max(1, len(keys) // 5)]:
        expected = sum(row[key] == one for row in mine)
        require(frame.where(frame[key].endswith(one)).count() == expected, f"{name}: rows of {one}")
        full = frame.where(frame[key].endswith(one)).first()[key]
        require(frame.where(frame[key] == full).count() == expected, f"{name}: rows equal to {one}")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jars", type=Path, required=True, help="Delta's jars, from prepare.py")
    parser.add_argument("--bench", type=Path, help="the command `bench`, where it is built already")
    options = parser.parse_args()
    os.environ["TZ"] = "UTC"
    time.tzset()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lake, counts = make(bench(options.bench), folder)
        check_hardships(lake)
        spark = transformer.spark_session(folder / "spark", options.jars.resolve(), {})
        try:
            for name in TABLES:
                print(f"{name:40} {check(spark, lake, name, counts[name])}", flush=True)
        finally:
            spark.stop()
    print("Spark and deltalake read the same rows, as many as the ledger has")


if __name__ == "__main__":
    main()
