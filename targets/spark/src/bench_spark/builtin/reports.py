"""Logs to `reports`: what is stored with the same content is dropped before the merge."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from bench_spark.builtin.lake import Lake, kept
from bench_spark.columns import REPORTS
from bench_spark.stages import Stages


def merge(lake: Lake, stages: Stages, rows: DataFrame, workflow: str) -> tuple[int, int]:
    """Merges a workflow's rows; how many were inserted and updated. `workflow` names it for ever: a
    second attempt inserts nothing again, not even rows of NULL year, which are equal to no row."""
    with stages.stage("reports", REPORTS) as stage:
        years = [one.year for one in rows.select("year").distinct().collect() if one.year is not None]
        stored = (
            lake.read(REPORTS)
            .where(F.col("year").isin(years))
            .select(
                F.col("source_file").alias("_file"),
                F.col("year").alias("_year"),
                F.col("content_hash").alias("_hash"),
            )
        )
        is_stored = (
            (F.col("source_file") == F.col("_file"))
            & (F.col("year") == F.col("_year"))
            & F.col("content_hash").eqNullSafe(F.col("_hash"))
        )
        with kept(rows.join(stored, is_stored, "left_anti")) as changed, lake.once(workflow, 1):
            if not changed.isEmpty():
                (
                    lake.merge(REPORTS, changed, "t.source_file = s.source_file AND t.year = s.year")
                    .whenMatchedUpdateAll("NOT (t.content_hash <=> s.content_hash)")
                    .whenNotMatchedInsertAll()
                    .execute()
                )
    commits = stage.commits or []
    return (
        sum(one.metric("numTargetRowsInserted") for one in commits),
        sum(one.metric("numTargetRowsUpdated") for one in commits),
    )
