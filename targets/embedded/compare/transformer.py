"""Runs a checkout of the platform's transformer, unmodified, over a folder of logs.

The transformer expects S3, Temporal and Postgres. It gets a local folder for the first, Temporal's
own test environment for the second, and lists in memory in place of the status tables. Everything
else, above all Spark with Delta, is real.
"""

import contextlib
import glob
import json
import os
import re
import shutil
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

LINE_END = re.compile("\r\n|\r|\n")
DAY = re.compile("[0-9]{8}")
# Lines of these alone make a message empty.
BLANK = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "


@dataclass
class Workflow:
    """One workflow of the reference."""

    number: int
    seconds: float = 0.0
    processor_seconds: float = 0.0
    messages: int = 0
    not_parsable: int = 0
    failure: str = ""
    files: dict[str, int] = field(default_factory=dict)


def find_logs(root: Path) -> list[str]:
    """Paths of all logs relative to the root, in byte order."""
    found = (path for path in root.rglob("*.log") if path.is_file())
    relative = (str(path.relative_to(root)) for path in found if not path.name.startswith("."))
    return sorted(relative, key=os.fsencode)


def split(text: str) -> list[list[str]]:
    """The messages of a log, as lines. Numbers count from 0 and include empty messages."""
    lines = LINE_END.split(text)
    if lines[-1] == "":
        del lines[-1]
    messages: list[list[str]] = []
    inside = False
    for line in lines:
        if not inside:
            if "<SB>" in line:
                messages.append([])
                inside = True
            continue
        ends = "<EB>" in line
        if line.endswith("<R>"):
            line = line[: -len("<R>")]
        elif line.endswith("<R>\x85"):
            line = line[: -len("<R>\x85")] + "\x85"
        messages[-1].append(line.replace("<EB>", "") if ends else line)
        inside = not ends
    return messages


def stage(log: Path, folder: Path) -> list[str]:
    """Puts a log's messages into a zip; their names as a manifest has them."""
    day = DAY.search(log.stem)
    messages = split(log.read_bytes().decode("iso-8859-1"))
    filled = [(n, m) for n, m in enumerate(messages) if any(line.strip(BLANK) for line in m)]
    if day is None or not filled:
        return []
    year, month, date = day[0][:4], day[0][4:6], day[0][6:]
    if not ("01" <= month <= "12" and "01" <= date <= "31"):
        return []
    archive = folder / year / f"{log.stem}.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    names = []
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for number, message in filled:
            name = f"{year}/{month}/{date}/{log.stem}_{number}.hl7"
            out.writestr(name, "".join(line + "\r" for line in message))
            names.append(f"{archive}/{name}")
    return names


def processor_seconds() -> float:
    """Of this process and all below it, so of Spark too; steadier than time on a busy machine."""
    parents: dict[int, int] = {}
    spent: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name of the program stands in brackets and may hold spaces.
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            spent[int(path.parent.name)] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    while found := {child for child, parent in parents.items() if parent in mine} - mine:
        mine |= found
    return sum(spent.get(process, 0) for process in mine) / os.sysconf("SC_CLK_TCK")


class LocalFiles:
    """Stands in for the S3 file system; the transformer only downloads."""

    def download(self, source: str, target: str) -> None:
        shutil.copyfile(source, target)


def spark_session(out: Path, jars: Path, settings: dict[str, str]) -> Any:
    from pyspark.sql import SparkSession

    every = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.jars": ",".join(glob.glob(f"{jars}/*.jar")),
        "spark.sql.warehouse.dir": str(out / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "false",
        "spark.databricks.delta.schema.autoMerge.enabled": "true",
        "spark.databricks.delta.merge.repartitionBeforeWrite.enabled": "true",
        "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled": "true",
        "spark.driver.memory": "4g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.appName("reference").master("local[2]")
    for key, value in {**every, **settings}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def run(
    transformer: Path,
    logs: Path,
    out: Path,
    jars: Path,
    modalities: Path,
    batch: int,
    settings: dict[str, str],
) -> list[Workflow]:
    """Ingests all logs under a folder; the tables stand in `out`/warehouse afterwards."""
    if not (transformer / "hl7scout").is_dir():
        sys.exit(f"error: {transformer} holds no package hl7scout\n  give the transformer's folder")
    shutil.rmtree(out, ignore_errors=True)
    (out / "staging").mkdir(parents=True)
    names = find_logs(logs)
    staged = [stage(logs / name, out / "staging") for name in names]

    sys.path.insert(0, str(transformer))
    os.environ["TRINO_VIEW_ENABLED"] = "false"
    # Derby and Hive leave files in the working folder.
    home = Path.cwd()
    os.chdir(out)
    spark = spark_session(out, jars, settings)
    try:
        done = []
        for number, start in enumerate(range(0, len(staged), batch), 1):
            manifest = [name for of_log in staged[start : start + batch] for name in of_log]
            if manifest:
                done.append(ingest(spark, number, manifest, out, modalities))
                print(f"reference: workflow {number}, {done[-1].seconds:.1f} s", flush=True)
    finally:
        spark.stop()
        os.chdir(home)
    (out / "workflows.json").write_text(json.dumps([asdict(w) for w in done], indent=1))
    return done


def ingest(spark: Any, number: int, manifest: list[str], out: Path, modalities: Path) -> Workflow:
    from hl7scout.hl7extractor import deltalake
    from temporalio.exceptions import ApplicationError
    from temporalio.testing import ActivityEnvironment

    @contextlib.contextmanager
    def this_session(*_: object, **__: object) -> Iterator[object]:
        yield spark

    workflow = Workflow(number)
    path = out / f"manifest-{number}.txt"
    path.write_text("".join(name + "\n" for name in manifest))

    def count_errors(paths: list[str], *_: object) -> None:
        workflow.not_parsable += len(paths)

    replaced: dict[str, Any] = {
        "spark_activity_session": this_session,
        "S3FileSystem": LocalFiles,
        "write_successes": lambda *_: None,
        "write_errors": count_errors,
    }
    arguments: tuple[Any, ...] = (str(path), str(modalities), "reports", out / "health")
    began, spent = time.monotonic(), processor_seconds()
    with mock.patch.multiple(deltalake, **replaced):
        try:
            action = deltalake.import_hl7_files_to_deltalake
            workflow.messages = ActivityEnvironment().run(partial(action, *arguments))
        except ApplicationError as error:
            workflow.failure = error.message
    workflow.seconds = time.monotonic() - began
    workflow.processor_seconds = processor_seconds() - spent
    for log in sorted((out / "warehouse").glob("*/_delta_log")):
        detail = spark.sql(f"DESCRIBE DETAIL default.{log.parent.name}").collect()[0]
        workflow.files[log.parent.name] = detail.numFiles
    return workflow
