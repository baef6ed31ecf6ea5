"""One workflow through all tables."""

import datetime

from pyspark.sql import DataFrame, SparkSession

from bench_spark.builtin import curated, dx, latest, mapping, reports
from bench_spark.builtin.lake import Lake, kept, newest
from bench_spark.columns import CURATED, REPORTS, TABLES
from bench_spark.delta_log import Files, LakeLog
from bench_spark.ledger import Ledger
from bench_spark.logs import LogName
from bench_spark.reading import Source, account, read, report_rows
from bench_spark.settings import Settings
from bench_spark.stages import Stages


class Builtin:
    """The pipeline `builtin`."""

    # What it does whatever is asked.
    always: dict[str, str] = {}  # noqa: RUF012
    unsupported: tuple[str, ...] = ()

    def __init__(self, spark: SparkSession, lake: str, source: Source, settings: Settings, files: Files):
        self.spark = spark
        self.logs = LakeLog(lake, TABLES, files)
        self._source = source
        self._settings = settings
        self._lake = Lake(spark, lake, self.logs)
        self._lake.make_tables()

    def versions(self) -> dict[str, str]:
        """What it is made of, beside Spark and Delta."""
        return {}

    def ingest(self, workflow: str, names: list[LogName], stages: Stages, parts: int) -> Ledger:
        """Ingests logs. What an attempt committed before it failed stays; the next goes on from it."""
        lake = self._lake
        everything = read(self.spark, self._source, names, parts)
        with kept(everything):
            with stages.stage("read") as stage:
                ledger = Ledger(account(everything, names))
                stage.rows = ledger.read.parsed
            ledger.continued = f"bench:{workflow}" in lake.log(REPORTS).transactions
            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
            rows = report_rows(everything, ledger.read.identifiers, now)
            ledger.inserted, ledger.updated = reports.merge(lake, stages, rows, f"bench:{workflow}")
        curated.follow(lake, stages, ledger)
        self._follow_curated(stages, ledger)
        dx.follow(lake, stages, ledger)
        return ledger

    def _follow_curated(self, stages: Stages, ledger: Ledger) -> None:
        """Latest and then the mapping, within one batch, as on the platform."""
        optimize = self._settings.flag("optimize_latest_after_merge")
        has_mapping = self._settings.flag("create_mapping")
        patients = mapping.Mapping(self._lake, stages, ledger) if has_mapping else None

        def process(feed: DataFrame, batch: int) -> None:
            stages.mark("latest")
            with kept(newest(self._lake.own(feed), "primary_report_identifier")) as rows:
                latest.merge(self._lake, stages, ledger, rows, batch, optimize)
                if patients is not None:
                    patients.merge(rows)

        stages.mark("latest")
        self._lake.follow(CURATED, process)
        if has_mapping:
            mapping.follow_history(self._lake, stages, ledger)
