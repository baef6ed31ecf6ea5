"""A worker with a real Spark, driven over its pipes as a runner drives it. Minutes, not seconds."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(__file__).resolve().parents[1] / "src"
# For a few messages, compiling plans costs more than running them.
SMALL = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# A year, none, and a message that is none.
MESSAGES = (
    ("20240105080000", "A1", "1^^^EPIC^MRN~11^^^EMPI^MR"),
    ("no time", "A2", "1^^^EPIC^MRN~12^^^EMPI^MR"),
    ("20230105080000", " ", "2^^^EPIC^MRN"),
)


def log(messages: tuple[tuple[str, str, str], ...]) -> str:
    texts = []
    for number, (time, accession, ids) in enumerate(messages):
        segments = (
            f"MSH|^~\\&|A|F|R|D|{time}||ORU^R01|{number}|P|2.7",
            f"PID|1||{ids}||DOE^JOHN||19700101",
            f"OBR|1||{accession}|CODE^NAME^SYS",
            "DG1|1||I10^text^I10",
            "OBX|2|ST|&GDT|1|line",
        )
        texts.append("<SB>\n" + "".join(f"{one}<R>\n" for one in segments) + "<EB><R>\n")
    return "header\n" + "\r\n".join(texts) + "<SB>\nMSH|no\n<EB>\n"


# Asks a Spark of its own what became of one shuffle, with adaptive execution and without.
PLANS = """
from pyspark.sql import SparkSession, functions as F
from bench_spark.effects import Executions, Plans
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
executions = Executions(spark)
for adaptive in ("true", "false"):
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    executions.new()
    spark.range(0, 100, 1, 4).groupBy((F.col("id") % 7).alias("k")).count().collect()
    plans = Plans.of(executions.new())
    print(plans.shuffled, plans.coalesced)
"""


@pytest.mark.spark
def test_a_shuffle_that_spark_adapted_is_seen_in_its_plan() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    asked = [sys.executable, "-c", PLANS]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "1", "0"]


class Worker:
    """A worker's process."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench_spark", "worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "log").open("a"),
            env=environment,
            text=True,
        )
        self.stages: list[dict[str, Any]] = []
        self.say(
            type="hello",
            lake=str(folder / "lake"),
            dataset=str(folder / "logs"),
            sequence="test",
            settings={"shuffle_partitions": 4, "adaptive": False},
            resources={"cpus": 2, "memory_bytes": 2 << 30},
            options={
                "jars": str(Path(sys.prefix).parent / "jars"),
                "modalities": str(ROOT / "hl7" / "data" / "modality_mapping_codes.csv"),
                "event_log": str(folder / "events"),
                "conf": SMALL,
            },
        )
        self.ready = self.hear()

    def say(self, **fields: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"protocol": 1, **fields}) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next reply that is neither a stage nor a heartbeat."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            reply: dict[str, Any] = json.loads(line)
            if reply["type"] == "stage":
                self.stages.append(reply)
            elif reply["type"] != "heartbeat":
                return reply
        raise AssertionError(f"the worker ended with {self.process.wait()}")

    def ingest(self, workflow: int, attempt: int) -> dict[str, Any]:
        manifest = {"logs": ["2024/20240105.log"]}
        self.say(type="ingest", workflow=workflow, attempt=attempt, manifest=manifest, last=False)
        return self.hear()


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    logs = tmp_path / "logs" / "2024"
    logs.mkdir(parents=True)
    (logs / "20240105.log").write_text(log(MESSAGES), encoding="latin-1", newline="")
    (tmp_path / "lake").mkdir()
    worker = Worker(tmp_path)
    yield worker
    worker.process.kill()
    worker.process.wait()


@pytest.mark.spark
def test_a_repeated_attempt_inserts_nothing_and_a_deliberate_ingest_rows_without_a_year(
    worker: Worker, tmp_path: Path
) -> None:
    assert worker.ready["type"] == "ready", worker.ready
    assert worker.ready["effective"]["shuffle_partitions"] == "4"
    assert worker.ready["effective"]["streaming.adaptive"] == "false"
    first = worker.ingest(1, 1)
    assert first["type"] == "done", first
    ledger = first["ledger"]
    assert (ledger["messages"], ledger["parsed"]) == (4, 3)
    assert ledger["unparsable"] == [{"file": "2024/20240105.log", "ordinal": 3}]
    assert ledger["reports"] == {"inserted": 3, "updated": 0, "unchanged": 0}
    tables = ledger["tables"]
    assert (tables["reports_curated"]["inserted"], tables["reports_curated"]["dropped"]) == (2, 1)
    assert tables["reports_dx"]["inserted"] == 2
    # Two reports of one MRN and two MPIs are a conflict, which both rows are told of.
    assert tables["reports_report_patient_mapping_history"]["inserted"] == 2
    names = [stage["name"] for stage in worker.stages]
    assert names[:4] == ["read", "reports", "curated", "latest"]

    again = worker.ingest(1, 2)
    assert again["ledger"]["reports"] == {"inserted": 0, "updated": 0, "unchanged": 3}
    assert again["ledger"]["continued"]
    assert again["versions"] == first["versions"]

    other = worker.ingest(2, 1)
    assert other["ledger"]["reports"] == {"inserted": 1, "updated": 0, "unchanged": 2}
    rows = {name: state["rows"] for name, state in other["ledger"]["state"].items()}
    assert (rows["reports"], rows["reports_curated"], rows["reports_latest"]) == (4, 3, 2)

    worker.say(type="shutdown")
    assert worker.process.wait() == 0
    assert list((tmp_path / "events").glob("eventlog_v2_*/events_1_*.zstd"))
