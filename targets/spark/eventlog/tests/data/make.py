"""Runs small Delta workloads on Spark and keeps their event logs as samples; make.sh calls it."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

LOGS = Path("/opt/logs")
SAMPLES = Path("/opt/make")
# What no reader looks at, and what is nine tenths of a small log. Only the plain sample goes without.
LONG = ("Hadoop Properties", "System Properties", "Classpath Entries", "Metrics Properties")


def session(scene):
    from pyspark.sql import SparkSession

    jars = ",".join(str(jar) for jar in sorted(Path("/opt/jars").glob("*.jar")))
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("sample")
        .config("spark.jars", jars)
        .config("spark.driver.memory", "600m")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.sql.shuffle.partitions", "4")
        # Small logs: plans and call sites are long, and no reader needs them.
        .config("spark.sql.maxPlanStringLength", "200")
        .config("spark.callstack.depth", "1")
        .config("spark.eventLog.includeTaskMetricsAccumulators", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", f"file://{LOGS / scene}")
    )
    if scene == "plain":
        builder = builder.config("spark.eventLog.compress", "false")
    elif scene in ("lz4", "snappy"):
        builder = builder.config("spark.eventLog.compression.codec", scene)
    if scene in ("plain", "lz4", "snappy"):
        builder = builder.config("spark.eventLog.rolling.enabled", "false")
    return builder.getOrCreate()


def label(spark, workflow, attempt, stage):
    """The local properties by which a worker says what a job is for."""
    for key, value in (("workflow", workflow), ("attempt", attempt), ("stage", stage)):
        spark.sparkContext.setLocalProperty(f"bench.{key}", value)


def ingest(spark, table, workflow, rows):
    from delta.tables import DeltaTable

    label(spark, workflow, "1", "reports")
    new = spark.range(rows, 3 * rows).selectExpr("id", "id % 3 as part", "'new' as text")
    if workflow == "1":
        new.write.format("delta").partitionBy("part").save(table)
    else:
        (
            DeltaTable.forPath(spark, table)
            .alias("old")
            .merge(new.alias("new"), "old.id = new.id and old.part = new.part")
            .whenMatchedUpdateAll()
            .whenNotMatchedInsertAll()
            .execute()
        )
    label(spark, workflow, "1", "latest")
    spark.conf.set("spark.sql.adaptive.enabled", "true" if workflow == "1" else "false")
    frame = spark.read.format("delta").load(table).where("id > 10 and part = 1")
    frame.groupBy("text").count().collect()


def written(spark, table):
    """What Delta itself says that each commit wrote: files and bytes."""
    from delta.tables import DeltaTable

    label(spark, None, None, None)
    found = []
    for commit in DeltaTable.forPath(spark, table).history().orderBy("version").collect():
        metrics = commit["operationMetrics"]
        files = metrics.get("numFiles", metrics.get("numTargetFilesAdded"))
        size = metrics.get("numOutputBytes", metrics.get("numTargetBytesAdded"))
        found.append({"operation": commit["operation"], "files": int(files), "bytes": int(size)})
    return found


def play(scene):
    (LOGS / scene).mkdir(parents=True)
    spark = session(scene)
    table = str(LOGS / f"table-{scene}")
    ingest(spark, table, "1", 100)
    if scene == "zstd":
        ingest(spark, table, "2", 200)
    if scene == "killed":
        label(spark, "3", "1", "reports")
        spark.range(0, 8, 1, 2).selectExpr("reflect('java.lang.Thread', 'sleep', 1L) as slept").collect()
        jvm = spark.sparkContext._gateway.proc.pid
        os.kill(jvm, signal.SIGKILL)
        os._exit(1)
    if scene == "zstd":
        label(spark, "2", "2", "fails")
        try:
            spark.range(0, 4, 1, 2).selectExpr("raise_error('on purpose')").collect()
        except Exception as error:  # the failed job is what this is for
            print(type(error).__name__)
        (LOGS / "written.json").write_text(json.dumps(written(spark, table), indent=1) + "\n")
    spark.stop()


def collect():
    shutil.copy(LOGS / "written.json", SAMPLES / "written.json")
    for scene in ("zstd", "killed"):
        target = SAMPLES / scene
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(LOGS / scene, target, ignore=shutil.ignore_patterns(".*"))
    for scene in ("lz4", "snappy"):
        (log,) = (LOGS / scene).glob("local-*")
        shutil.copy(log, SAMPLES / f"single.{scene}")
    (log,) = (LOGS / "plain").glob("local-*")
    with open(SAMPLES / "plain.log", "w", encoding="utf-8") as short:
        for line in log.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerEnvironmentUpdate":
                event.update({key: {} for key in LONG})
                line = json.dumps(event, separators=(",", ":"), ensure_ascii=False)
            short.write(line + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "collect":
        collect()
    else:
        play(sys.argv[1])
