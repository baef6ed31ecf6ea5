"""`reports_curated` to `reports_latest`: one row per accession, the one with the latest time."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from bench_spark.builtin.lake import Lake, kept
from bench_spark.columns import LATEST
from bench_spark.ledger import Ledger
from bench_spark.stages import Stages


def merge(
    lake: Lake, stages: Stages, ledger: Ledger, rows: DataFrame, batch: int, optimize: bool
) -> None:
    """Merges rows of curated, the newest of each report."""
    counts = ledger.of(LATEST)
    order = [F.desc_nulls_last("message_dt"), F.desc("primary_report_identifier")]
    rank = Window.partitionBy("accession_number").orderBy(*order)
    best = rows.withColumn("_rank", F.row_number().over(rank)).where("_rank = 1").drop("_rank")
    with stages.stage("latest", LATEST) as stage, kept(best) as best:
        incoming = best.count()
        if incoming > 0:
            with lake.once(lake.stream_mark(LATEST), batch):
                # NULL is neither greater nor less: it never replaces, and is never replaced.
                (
                    lake.merge(LATEST, best, "t.accession_number = s.accession_number")
                    .whenMatchedUpdateAll("s.message_dt > t.message_dt")
                    .whenNotMatchedInsertAll()
                    .execute()
                )
    for commit in stage.commits or []:
        if commit.operation == "MERGE":
            inserted = commit.metric("numTargetRowsInserted")
            updated = commit.metric("numTargetRowsUpdated")
            counts.inserted += inserted
            counts.updated += updated
            counts.kept += incoming - inserted - updated
    if optimize and incoming > 0:
        with stages.stage("latest-optimize", LATEST):
            lake.spark.sql(f"OPTIMIZE delta.`{lake.path(LATEST)}`")
