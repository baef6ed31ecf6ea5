"""`reports_curated` to the mapping of reports to patients, in the platform's five stages, and its
history.

Stages 1, 2, 3 and 5 work on what a batch brings, within Spark. Stage 4 collects the new reports with
both ids and the stored patients that they meet, and finds components on the driver. No stage needs a
mark against repetition: a report that stands in the table is not placed again.

The history is not written beside the mapping but derived from its change feed, from the commits that
stage 4 marked. So a crash between the two loses nothing.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from bench_spark.builtin.lake import Lake, kept, optional
from bench_spark.builtin.patients import Placed, Report, Stored, place
from bench_spark.columns import COLUMNS, HISTORY, MAPPING, table_schema
from bench_spark.ledger import Ledger
from bench_spark.stages import Stages

COMPONENTS = "bench:mapping-components"
_KEY = "t.primary_report_identifier = s.primary_report_identifier"
# What a new report is, by what it shares with others.
_DEFERRED, _DISJOINT, _SINGLE, _PAIR = "deferred", "disjoint", "single", "pair"


def patient_of(report: str) -> str:
    """An id for the patient that a report begins: a UUID made of its name, so that an attempt that is
    repeated gives the same. A report begins at most one patient. As SQL."""
    hashed = f"sha2(concat('bench-patient:', {report}), 256)"
    parts = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    return "concat_ws('-', {})".format(
        ", ".join(f"substring({hashed}, {start}, {length})" for start, length in parts)
    )


class Mapping:
    """Brings the mapping up to date with a batch of curated rows."""

    def __init__(self, lake: Lake, stages: Stages, ledger: Ledger):
        self._lake = lake
        self._stages = stages
        self._counts = ledger.of(MAPPING)

    def merge(self, rows: DataFrame) -> None:
        """Takes the newest version of each report that changed."""
        with kept(self._classified(rows)) as classified:
            with self._stages.stage("mapping-1-read", MAPPING) as stage:
                found = {one.kind: one["count"] for one in classified.groupBy("kind").count().collect()}
                stage.rows = sum(found.values())
            if found.get(_DISJOINT):
                own = F.expr(patient_of("primary_report_identifier"))
                self._insert(
                    "mapping-2-disjoint",
                    classified.where(F.col("kind") == _DISJOINT).withColumns(
                        {"scout_patient_id": own, "consistent": F.lit(True)}
                    ),
                )
            if found.get(_SINGLE):
                singles = classified.where(F.col("kind") == _SINGLE)
                self._insert("mapping-3-single", self._with_known(singles))
            if found.get(_PAIR):
                self._components(classified.where(F.col("kind") == _PAIR))
            if found.get(_DEFERRED):
                deferred = classified.where(F.col("kind") == _DEFERRED)
                self._insert("mapping-5-deferred", self._with_pair(deferred))

    def _classified(self, rows: DataFrame) -> DataFrame:
        """New reports, with their two ids, and what they share with others."""
        stored = self._lake.read(MAPPING)
        name = "primary_report_identifier"
        new = (
            rows.select(name, _mpi(rows).alias("mpi"), _mrn(rows).alias("epic_mrn"))
            .dropDuplicates([name])
            .join(stored.select(name), name, "left_anti")
        )
        pairs = stored.select(F.col("mpi").alias("_mpi"), F.col("epic_mrn").alias("_mrn")).distinct()
        is_same = F.col("mpi").eqNullSafe(F.col("_mpi")) & F.col("epic_mrn").eqNullSafe(F.col("_mrn"))
        known = pairs.withColumn("_pair", F.lit(True))
        rank = Window.partitionBy("mpi", "epic_mrn").orderBy(name)
        new = (
            new.join(known, is_same, "left")
            .drop("_mpi", "_mrn")
            .withColumn("_rank", F.row_number().over(rank))
            .withColumn("_deferred", F.col("_pair").isNotNull() | (F.col("_rank") > 1))
        )
        for column in ("mpi", "epic_mrn"):
            met = (
                stored.where(F.col(column).isNotNull())
                .select(column)
                .distinct()
                .withColumn(f"_{column}_met", F.lit(True))
            )
            new = new.join(met, column, "left")
        touches = F.coalesce("_mpi_met", "_epic_mrn_met", F.lit(False))
        apart = ~F.col("_deferred") & ~touches
        new = new.withColumn("_apart", apart)
        shared = F.lit(False)
        for column in ("mpi", "epic_mrn"):
            # Reports without this id are many and share nothing: kept apart, they spread over tasks.
            alone = F.when(F.col(column).isNull(), F.col(name))
            same = F.count_if(F.col("_apart")).over(Window.partitionBy(column, alone))
            shared = shared | (F.col(column).isNotNull() & (same > 1))
        kind = (
            F.when(F.col("_deferred"), _DEFERRED)
            .when(F.col("_apart") & ~shared, _DISJOINT)
            .when(F.col("mpi").isNotNull() & F.col("epic_mrn").isNotNull(), _PAIR)
            .otherwise(_SINGLE)
        )
        return new.select(name, "mpi", "epic_mrn", kind.alias("kind"))

    def _with_known(self, singles: DataFrame) -> DataFrame:
        """Reports with one id: the patient of that id, or a new one."""
        stored = self._lake.read(MAPPING)
        rows = singles
        for column in ("mpi", "epic_mrn"):
            owners = (
                stored.where(F.col(column).isNotNull())
                .groupBy(column)
                .agg(
                    F.min("scout_patient_id").alias(f"_{column}_patient"),
                    F.min("consistent").alias(f"_{column}_consistent"),
                )
            )
            rows = rows.join(owners, column, "left")
        own = F.expr(patient_of("primary_report_identifier"))
        return rows.withColumns(
            {
                "scout_patient_id": F.coalesce("_mpi_patient", "_epic_mrn_patient", own),
                "consistent": F.coalesce("_mpi_consistent", "_epic_mrn_consistent", F.lit(True)),
            }
        )

    def _with_pair(self, deferred: DataFrame) -> DataFrame:
        """Reports whose two ids stand in the table, with the patient that has them."""
        stored = (
            self._lake.read(MAPPING)
            .groupBy(F.col("mpi").alias("_mpi"), F.col("epic_mrn").alias("_mrn"))
            .agg(
                F.min("scout_patient_id").alias("scout_patient_id"),
                F.min("consistent").alias("consistent"),
            )
        )
        is_same = F.col("mpi").eqNullSafe(F.col("_mpi")) & F.col("epic_mrn").eqNullSafe(F.col("_mrn"))
        return deferred.join(stored, is_same, "inner")

    def _insert(self, stage: str, rows: DataFrame) -> None:
        with self._stages.stage(stage, MAPPING) as told:
            self._execute(rows.select(*COLUMNS[MAPPING]))
        self._count(told.commits)

    def _execute(self, rows: DataFrame) -> None:
        merge = self._lake.merge(MAPPING, rows, _KEY)
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    def _count(self, commits: object) -> None:
        for commit in commits or []:  # type: ignore[attr-defined]
            self._counts.inserted += commit.metric("numTargetRowsInserted")
            self._counts.updated += commit.metric("numTargetRowsUpdated")

    def _components(self, pairs: DataFrame) -> None:
        """Places the reports with both ids, and moves the stored patients that they join."""
        name = "primary_report_identifier"
        with self._stages.stage("mapping-4-components", MAPPING) as stage:
            own = F.expr(patient_of(name)).alias("own")
            reports = [
                Report(one[name], one.mpi, one.epic_mrn, one.own)
                for one in pairs.select(name, "mpi", "epic_mrn", own).collect()
            ]
            stored = self._lake.read(MAPPING)
            owners = _owners(stored, pairs)
            patients = sorted({patient for _, _, patient in owners})
            placed = place(reports, self._patients(patients), owners)
            with self._lake.remark(COMPONENTS):
                self._execute(self._rows(placed, pairs))
        self._count(stage.commits)

    def _patients(self, names: list[str]) -> list[Stored]:
        if not names:
            return []
        spark = self._lake.spark
        wanted = F.broadcast(
            spark.createDataFrame([(name,) for name in names], "scout_patient_id string")
        )
        rows = (
            self._lake.read(MAPPING)
            .join(wanted, "scout_patient_id", "left_semi")
            .groupBy("scout_patient_id")
            .agg(
                F.min("mpi").alias("a"),
                F.max("mpi").alias("b"),
                F.min("epic_mrn").alias("c"),
                F.max("epic_mrn").alias("d"),
                F.min("consistent").alias("consistent"),
            )
            .collect()
        )
        return [
            Stored(
                one.scout_patient_id,
                None if one.a is None else (one.a, one.b),
                None if one.c is None else (one.c, one.d),
                one.consistent,
            )
            for one in rows
        ]

    def _rows(self, placed: Placed, pairs: DataFrame) -> DataFrame:
        """New rows, and stored ones that change."""
        spark = self._lake.spark
        name = "primary_report_identifier"
        schema = f"{name} string, scout_patient_id string, consistent boolean"
        rows = pairs.select(name, "mpi", "epic_mrn").join(
            spark.createDataFrame(placed.reports, schema), name
        )
        rows = rows.select(*COLUMNS[MAPPING])
        if not placed.moved:
            return rows
        moved = spark.createDataFrame(
            placed.moved, "_before string, _patient string, _consistent boolean"
        )
        stored = self._lake.read(MAPPING)
        changed = stored.join(F.broadcast(moved), stored.scout_patient_id == moved._before).select(
            F.col("_patient").alias("scout_patient_id"),
            name,
            "mpi",
            "epic_mrn",
            F.col("_consistent").alias("consistent"),
        )
        return rows.unionByName(changed)


def _owners(stored: DataFrame, pairs: DataFrame) -> list[tuple[str, str, str]]:
    """The stored patients of the reports' ids."""
    found = None
    for column in ("mpi", "epic_mrn"):
        of = (
            stored.join(pairs.select(column).distinct(), column, "left_semi")
            .select(F.lit(column).alias("kind"), F.col(column).alias("id"), "scout_patient_id")
            .distinct()
        )
        found = of if found is None else found.unionByName(of)
    assert found is not None
    return [(one.kind, one.id, one.scout_patient_id) for one in found.collect()]


def follow_history(lake: Lake, stages: Stages, ledger: Ledger) -> None:
    """Brings the history up to date with the mapping."""
    counts = ledger.of(HISTORY)

    def process(feed: DataFrame, batch: int) -> None:
        with stages.stage("mapping-history", HISTORY) as stage:
            commits = lake.log(MAPPING).commits
            marked = [one.version for one in commits if one.user_metadata == COMPONENTS]
            if marked:
                _append(lake, moves(feed.where(F.col("_commit_version").isin(marked))), batch)
        for commit in stage.commits or []:
            if commit.operation == "WRITE":
                counts.inserted += commit.metric("numOutputRows")

    lake.log(MAPPING).advance()
    stages.mark("mapping-history")
    lake.follow(MAPPING, process)


def _append(lake: Lake, rows: DataFrame, batch: int) -> None:
    with kept(rows) as rows:
        if rows.isEmpty():
            return
        (
            rows.write.format("delta")
            .mode("append")
            .option("txnAppId", lake.stream_mark(HISTORY))
            .option("txnVersion", str(batch))
            .save(lake.path(HISTORY))
        )


def moves(feed: DataFrame) -> DataFrame:
    """Rows of the history, from what stage 4 changed in the mapping: every stored row that it changed,
    and of the new ones those in a web with a conflict, or in one where patients joined."""
    key = ["_commit_version", "primary_report_identifier"]
    before = feed.where("_change_type = 'update_preimage'").select(
        *key,
        F.col("scout_patient_id").alias("previous_scout_patient_id"),
        F.col("consistent").alias("_consistent"),
    )
    changed = feed.where("_change_type = 'update_postimage'").join(before, key)
    joined = (
        changed.where("scout_patient_id != previous_scout_patient_id")
        .select("_commit_version", "scout_patient_id")
        .distinct()
        .withColumn("_joined", F.lit(True))
    )
    new = (
        feed.where("_change_type = 'insert'")
        .join(joined, ["_commit_version", "scout_patient_id"], "left")
        .where("NOT consistent OR _joined")
        .withColumns(
            {
                "previous_scout_patient_id": F.lit(None).cast("string"),
                "_consistent": F.lit(True),
            }
        )
    )
    names = [name for name in COLUMNS[HISTORY] if name != "consistent"]
    rows = changed.select(*names, "_consistent").unionByName(new.select(*names, "_consistent"))
    rows = rows.withColumnRenamed("_consistent", "consistent")
    return rows.select(*[field.name for field in table_schema(HISTORY)])


def _mpi(rows: DataFrame) -> "F.Column":  # type: ignore[name-defined]
    return (
        F.when(F.col("version_id") == "2.7", optional(rows, "empi_mr"))
        .when(
            F.col("version_id") == "2.4",
            F.coalesce(*(optional(rows, name) for name in ("bjh_ee", "bjwc_ee", "slch_ee"))),
        )
        .otherwise(F.col("mpi"))
    )


def _mrn(rows: DataFrame) -> "F.Column":  # type: ignore[name-defined]
    return F.when(
        F.col("version_id") == "2.7",
        F.coalesce(optional(rows, "epic_mrn"), optional(rows, "mbmc_mr")),
    )
