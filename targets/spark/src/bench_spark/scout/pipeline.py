"""One workflow through the platform's transformer."""

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench_spark.columns import CURATED, DX, HISTORY, LATEST, MAPPING, REPORTS, TABLES
from bench_spark.delta_log import Commit, LakeLog
from bench_spark.files import of_lake
from bench_spark.ledger import Ledger
from bench_spark.logs import LogName
from bench_spark.protocol import Hello
from bench_spark.scout import checkout
from bench_spark.scout.staging import Staged, stage
from bench_spark.scout.stand_ins import Surroundings
from bench_spark.settings import Settings
from bench_spark.stages import Stages, rows_changed

# What the transformer says of a workflow without one message that it can read.
_NO_MESSAGE = "No data extracted from HL7 messages"


class WithoutMessages(Exception):
    """The transformer fails a workflow in which no message can be read."""


class Scout:
    """The pipeline `scout`."""

    # The transformer does so whatever is asked.
    always: dict[str, str] = {"optimize_latest_after_merge": "true"}  # noqa: RUF012

    def __init__(self, spark: SparkSession, hello: Hello, settings: Settings):
        if hello.options.transformer is None:
            raise checkout.NoTransformer(
                "options.transformer names no folder; the pipeline scout needs one"
            )
        self._folder = Path(hello.options.transformer).absolute()
        checkout.use(self._folder)
        self._revision = checkout.revision(self._folder)
        # Views in Trino are none of Spark's business.
        os.environ["TRINO_VIEW_ENABLED"] = "false"
        self.spark = spark
        self.logs = LakeLog(hello.lake, TABLES, of_lake(hello.lake, spark))
        self._dataset = Path(hello.dataset).absolute()
        self._modalities = str(Path(hello.options.modalities or "").absolute())
        self._create_mapping = settings.flag("create_mapping")
        is_elsewhere = "://" in hello.lake
        self._root = Path(
            tempfile.mkdtemp(prefix="bench-staging-") if is_elsewhere else f"{hello.lake}/_staging"
        ).absolute()
        self._register(hello.lake)

    def _register(self, lake: str) -> None:
        """The catalogue lives in memory: tables of an earlier process are entered into it again."""
        self.logs.advance()
        for name, log in self.logs.tables.items():
            if log.exists:
                self.spark.sql(f"CREATE TABLE default.{name} USING delta LOCATION '{lake}/{name}'")

    def versions(self) -> dict[str, str]:
        """Which transformer it is."""
        return {"transformer": self._revision}

    def ingest(self, workflow: str, names: list[LogName], stages: Stages, parts: int) -> Ledger:
        """Ingests logs with the transformer. A batch without a message starts no workflow there."""
        del workflow, parts
        before = {name: log.version for name, log in self.logs.tables.items()}
        with stages.stage("stage") as told:
            staged = stage(self._dataset, names, self._root)
            told.rows = len(staged.manifest)
        if staged.manifest:
            self._run(staged, stages)
        self.logs.advance()
        new = {
            name: [one for one in log.commits if one.version > before[name]]
            for name, log in self.logs.tables.items()
        }
        return account(staged, new, self._create_mapping)

    def _run(self, staged: Staged, stages: Stages) -> None:
        from hl7scout.hl7extractor import deltalake
        from temporalio.exceptions import ApplicationError
        from temporalio.testing import ActivityEnvironment

        surroundings = Surroundings(self.spark, stages)
        with tempfile.TemporaryDirectory(prefix="bench-scout-") as work:
            manifest = Path(work) / "manifest.txt"
            manifest.write_text("".join(name + "\n" for name in staged.manifest))
            activity: Any = partial(
                deltalake.import_hl7_files_to_deltalake,
                str(manifest),
                self._modalities,
                REPORTS,
                Path(work) / "health",
                create_mapping=self._create_mapping,
            )
            stages.mark("read")
            with surroundings.around():
                try:
                    staged.read.parsed = ActivityEnvironment().run(activity)
                except ApplicationError as error:
                    if error.message == _NO_MESSAGE:
                        raise WithoutMessages from error
                    raise
        for name in surroundings.not_parsable:
            log, number = staged.places[name]
            staged.read.unparsable.append({"file": log, "ordinal": number})


def account(staged: Staged, new: dict[str, list[Commit]], has_mapping: bool) -> Ledger:
    """The account of a workflow, from what was staged and what the tables' commits say."""
    ledger = Ledger(staged.read)

    def total(table: str, metric: str) -> int:
        return sum(one.metric(metric) for one in new[table] if one.operation == "MERGE")

    ledger.inserted = total(REPORTS, "numTargetRowsInserted")
    ledger.updated = total(REPORTS, "numTargetRowsUpdated")
    tables = (CURATED, LATEST, DX, *((MAPPING, HISTORY) if has_mapping else ()))
    for table in tables:
        counts = ledger.of(table)
        # The first rows of a table are written, later ones merged.
        written = sum(rows_changed(one) for one in new[table] if one.operation != "MERGE")
        counts.inserted = total(table, "numTargetRowsInserted") + written
        counts.updated = total(table, "numTargetRowsUpdated")
        counts.deleted = total(table, "numTargetRowsDeleted")
    curated = ledger.of(CURATED)
    # What changed in reports is inserted, updated or dropped there.
    changed = ledger.inserted + ledger.updated
    curated.dropped = max(0, changed - curated.inserted - curated.updated)
    return ledger
