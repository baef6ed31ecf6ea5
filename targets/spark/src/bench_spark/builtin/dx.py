"""`reports_latest` to `reports_dx`: one row per diagnosis, those of an accession replaced as a whole.

Two commits at most, one that deletes and one that appends, each only where there is something to do.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from bench_spark.builtin.lake import Lake, kept, newest
from bench_spark.columns import DX, LATEST
from bench_spark.ledger import Ledger
from bench_spark.message import DIAGNOSIS
from bench_spark.stages import Stages


def follow(lake: Lake, stages: Stages, ledger: Ledger) -> None:
    """Brings dx up to date with latest."""
    counts = ledger.of(DX)

    def process(feed: DataFrame, batch: int) -> None:
        mark = lake.stream_mark(DX)
        stages.mark("dx-delete")
        with kept(newest(feed, "accession_number")) as reports:
            with stages.stage("dx-delete", DX) as stage:
                accessions = reports.select("accession_number").distinct()
                if lake.log(DX).state().rows > 0 and _any(lake, accessions):
                    with lake.once(f"{mark}:delete", batch):
                        (
                            lake.merge(DX, accessions, "t.accession_number = s.accession_number")
                            .whenMatchedDelete()
                            .execute()
                        )
            for commit in stage.commits or []:
                counts.deleted += commit.metric("numTargetRowsDeleted")
            with stages.stage("dx-append", DX) as stage, kept(explode(reports)) as rows:
                if not rows.isEmpty():
                    (
                        rows.write.format("delta")
                        .mode("append")
                        .option("mergeSchema", "true")
                        .option("txnAppId", f"{mark}:append")
                        .option("txnVersion", str(batch))
                        .save(lake.path(DX))
                    )
            for commit in stage.commits or []:
                if commit.operation == "WRITE":
                    counts.inserted += commit.metric("numOutputRows")

    stages.mark("dx-delete")
    lake.follow(LATEST, process)


def _any(lake: Lake, accessions: DataFrame) -> bool:
    """Whether any of the accessions has diagnoses already."""
    return not lake.read(DX).join(accessions, "accession_number", "left_semi").isEmpty()


def explode(reports: DataFrame) -> DataFrame:
    """A row per diagnosis of each report, those without any content among them."""
    return (
        reports.select("*", F.posexplode("diagnoses").alias("_position", "_diagnosis"))
        .withColumns({name: F.col(f"_diagnosis.{name}") for name in DIAGNOSIS})
        .withColumn("diagnosis_id", F.concat_ws("_", "primary_report_identifier", F.col("_position")))
        .drop("_position", "_diagnosis", "diagnoses", "diagnoses_consolidated")
    )
