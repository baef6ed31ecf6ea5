"""The lake of the pipeline: its tables by path, merges into them, and streams over their feeds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from delta.tables import DeltaMergeBuilder, DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from bench_spark.columns import COLUMNS, HISTORY, LATEST, REPORTS, TABLES, table_schema
from bench_spark.delta_log import LakeLog, TableLog

_TRANSACTION = "spark.databricks.delta.write.txnAppId"
_TRANSACTION_VERSION = "spark.databricks.delta.write.txnVersion"
_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_QUERY = "sql.streaming.queryId"
# No rate limit may cut what an interrupted workflow left into several batches.
_NO_LIMIT = str((1 << 31) - 1)
# What the feed adds to a table's columns.
_CHANGE = ("_change_type", "_commit_version", "_commit_timestamp")


@dataclass
class Lake:
    """Tables that exist, and what Spark needs to work on them."""

    spark: SparkSession
    folder: str
    logs: LakeLog

    def make_tables(self) -> None:
        """Makes the tables that are missing, all with their change feed."""
        self.logs.advance()
        for name in TABLES:
            if self.logs.tables[name].exists:
                continue
            table = (
                DeltaTable.createIfNotExists(self.spark)
                .location(self.path(name))
                .addColumns(table_schema(name))
            )
            if name != HISTORY:
                table = table.property("delta.enableChangeDataFeed", "true")
            if name == REPORTS:
                table = table.partitionedBy("year")
            if name == LATEST:
                # Statistics are kept of the column that the table is clustered by.
                table = table.clusterBy("accession_number").property(
                    "delta.dataSkippingStatsColumns", "accession_number"
                )
            table.execute()
        self.logs.advance()

    def path(self, table: str) -> str:
        """Where a table lies."""
        return f"{self.folder}/{table}"

    def log(self, table: str) -> TableLog:
        """A table's log, as far as it was read."""
        return self.logs.tables[table]

    def read(self, table: str) -> DataFrame:
        """A table's rows now."""
        return self.spark.read.format("delta").load(self.path(table))

    def merge(self, table: str, rows: DataFrame, condition: str) -> DeltaMergeBuilder:
        """A merge of rows `s` into a table `t`, which gains the columns that are new."""
        target = DeltaTable.forPath(self.spark, self.path(table)).alias("t")
        return target.merge(self.widen(table, rows).alias("s"), condition).withSchemaEvolution()

    def widen(self, table: str, rows: DataFrame) -> DataFrame:
        """Rows with every identifier column of a table: an id that a row has no more is NULL."""
        known = {*rows.columns, *COLUMNS[table]}
        missing = [name for name in self.log(table).columns if name not in known]
        return rows.withColumns({name: F.lit(None).cast("string") for name in missing})

    def own(self, rows: DataFrame) -> DataFrame:
        """The same rows, planned in the session that the worker made, as merges are on the platform. What
        a stream hands over is planned in the stream's, where adaptive execution is another switch."""
        plan = rows._jdf.queryExecution().analyzed()
        classic = self.spark._jvm.org.apache.spark.sql.classic  # type: ignore[union-attr]
        return DataFrame(classic.Dataset.ofRows(self.spark._jsparkSession, plan), self.spark)

    @contextmanager
    def once(self, application: str, version: int) -> Iterator[None]:
        """Commits within are made unless one with this mark, or a later version of it, was."""
        self.spark.conf.set(_TRANSACTION, application)
        self.spark.conf.set(_TRANSACTION_VERSION, str(version))
        try:
            yield
        finally:
            self.spark.conf.unset(_TRANSACTION)
            self.spark.conf.unset(_TRANSACTION_VERSION)

    @contextmanager
    def remark(self, text: str) -> Iterator[None]:
        """Commits within carry a remark."""
        self.spark.conf.set(_USER_METADATA, text)
        try:
            yield
        finally:
            self.spark.conf.unset(_USER_METADATA)

    def follow(
        self, source: str, process: Callable[[DataFrame, int], None], name: str | None = None
    ) -> None:
        """Hands what a table changed since it was last looked at to `process`, which runs on the
        stream's own thread and gets the number of the batch."""
        query = (
            self.spark.readStream.format("delta")
            .option("readChangeFeed", "true")
            .option("startingVersion", "0")
            .option("maxFilesPerTrigger", _NO_LIMIT)
            .load(self.path(source))
            .writeStream.foreachBatch(process)
            .option("checkpointLocation", f"{self.folder}/_checkpoints/{name or source}")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def stream_mark(self, table: str) -> str:
        """Names the stream whose thread calls, with the table that it writes, for ever."""
        return f"bench:{self.spark.sparkContext.getLocalProperty(_QUERY)}:{table}"


def newest(feed: DataFrame, key: str) -> DataFrame:
    """The rows that a feed brought, the newest version of each key."""
    rank = Window.partitionBy(key).orderBy(F.desc("_commit_version"))
    return (
        feed.where(F.col("_change_type").isin("insert", "update_postimage"))
        .withColumn("_rank", F.row_number().over(rank))
        .where("_rank = 1")
        .drop("_rank", *_CHANGE)
    )


def identifiers(rows: DataFrame, table: str) -> list[str]:
    """The identifier columns that rows of a table have."""
    return [name for name in rows.columns if name not in COLUMNS[table]]


def optional(rows: DataFrame, column: str) -> Column:
    """A column that may never have been seen."""
    return F.col(column) if column in rows.columns else F.lit(None).cast("string")


@contextmanager
def kept(rows: DataFrame) -> Iterator[DataFrame]:
    """Rows that are computed once."""
    rows.persist()
    try:
        yield rows
    finally:
        rows.unpersist()
