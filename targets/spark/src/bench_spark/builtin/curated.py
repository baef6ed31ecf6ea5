"""`reports` to `reports_curated`: reports with an accession, and what follows from their fields."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from bench_spark.builtin.lake import Lake, identifiers, kept, newest, optional
from bench_spark.columns import COLUMNS, CURATED, ORDER_NUMBERS, REPORTS
from bench_spark.ledger import Ledger
from bench_spark.stages import Stages

_EARLIEST_BIRTH = "1905-01-01"
_GREATEST_AGE = 109


def follow(lake: Lake, stages: Stages, ledger: Ledger) -> None:
    """Brings curated up to date with reports."""
    counts = ledger.of(CURATED)

    def process(feed: DataFrame, batch: int) -> None:
        with (
            stages.stage("curated", CURATED) as stage,
            kept(curate(newest(lake.own(feed), "source_file"))) as rows,
        ):
            seen = rows.agg(F.count("*"), F.count_if(has_accession())).collect()[0]
            counts.dropped += seen[0] - seen[1]
            if seen[1] > 0:
                condition = (
                    "t.primary_report_identifier = s.primary_report_identifier AND t.year = s.year"
                )
                with lake.once(lake.stream_mark(CURATED), batch):
                    (
                        lake.merge(CURATED, rows.where(has_accession()), condition)
                        .whenMatchedUpdateAll()
                        .whenNotMatchedInsertAll()
                        .execute()
                    )
        for commit in stage.commits or []:
            counts.inserted += commit.metric("numTargetRowsInserted")
            counts.updated += commit.metric("numTargetRowsUpdated")

    stages.mark("curated")
    lake.follow(REPORTS, process)


def has_accession() -> Column:
    """Whether a curated row has an accession; one of spaces is none. Never NULL."""
    return F.coalesce(F.trim("accession_number") != "", F.lit(False))


def curate(rows: DataFrame) -> DataFrame:
    """Curated rows of reports, those without an accession among them."""
    ids = identifiers(rows, REPORTS)
    scanned = F.coalesce("observation_dt", "requested_dt")
    born = F.when(F.col("birth_date") > F.lit(_EARLIEST_BIRTH).cast("date"), F.col("birth_date"))
    rows = rows.withColumns(
        {
            "accession_number": _filled("obr_3_filler_order_number", "orc_3_filler_order_number"),
            "placer_order_number": _filled("obr_2_placer_order_number", "orc_2_placer_order_number"),
            "primary_patient_identifier": _primary_patient(rows),
            "patient_mpi": _patient_mpi(rows),
            "_scanned": scanned,
            "birth_date": born,
        }
    )
    # Complete years, towards zero; a 29 February becomes 1 March in common years.
    age = F.expr("timestampdiff(YEAR, CAST(birth_date AS TIMESTAMP), _scanned)").cast("int")
    rows = rows.withColumn("patient_age", age)
    believed = F.coalesce(F.col("patient_age") <= _GREATEST_AGE, F.lit(True))
    rows = rows.withColumns(
        {
            "birth_date": F.when(believed, F.col("birth_date")),
            "patient_age": F.when(believed, F.col("patient_age")),
            "primary_study_identifier": F.col("accession_number"),
        }
    ).withColumnRenamed("source_file", "primary_report_identifier")
    rows = rows.drop("content_hash", "_scanned", *ORDER_NUMBERS)
    fixed = COLUMNS[CURATED]
    at = fixed.index("patient_ids") + 1
    return rows.select(*fixed[:at], *ids, *fixed[at:])


def _filled(first: str, second: str) -> Column:
    """The first value unless it is absent or "", else the second."""
    return F.when(F.col(first) != "", F.col(first)).otherwise(F.col(second))


def _primary_patient(rows: DataFrame) -> Column:
    def named(*columns: str) -> Column:
        texts = (F.concat(F.lit(f"{name}_"), optional(rows, name)) for name in columns)
        return F.coalesce(*texts)

    return (
        F.when(F.col("version_id") == "2.7", named("epic_mrn", "mbmc_mr", "empi_mr"))
        .when(F.col("version_id") == "2.4", named("bjh_mr", "bjwc_mr", "slch_mr"))
        .otherwise(named("mpi"))
    )


def _patient_mpi(rows: DataFrame) -> Column:
    return (
        F.when(F.col("version_id") == "2.7", optional(rows, "empi_mr"))
        .when(
            F.col("version_id") == "2.4",
            F.coalesce(*(optional(rows, name) for name in ("bjh_ee", "bjwc_ee", "slch_ee"))),
        )
        .otherwise(F.col("mpi"))
    )
