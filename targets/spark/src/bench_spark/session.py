"""The Spark session of a worker: one application for the life of the process.

The JVM is a child of this process, in its process group and control group, and ends when its standard
input does: it cannot outlive the worker.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench_spark import memory
from bench_spark.protocol import Hello
from bench_spark.settings import PLATFORM, Settings

EXTENSIONS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
# One that a scenario's own adds to, rather than replaces.
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
DRIVER_MEMORY = "spark.driver.memory"


class Unusable(Exception):
    """A session that cannot be made as asked."""


def cpus(hello: Hello) -> int:
    """Processors that the worker is to use."""
    return hello.cpus or len(os.sched_getaffinity(0))


def is_local(hello: Hello) -> bool:
    """Whether executors are threads of the driver."""
    return (hello.options.master or "local").startswith("local")


def configuration(hello: Hello, settings: Settings) -> dict[str, str]:
    """Everything that the session is made with, by Spark's names; a scenario's own comes last."""
    options = hello.options
    readers = cpus(hello)
    heap = memory.driver_heap(hello.memory_bytes, readers)
    # The JVM's own size, which it cuts to 48 MiB where only the quick compiler is used. Spark fills
    # those within two workflows; then compiling stops, and lambdas that are new fail to link.
    java = ["-XX:+ExitOnOutOfMemoryError", "-XX:ReservedCodeCacheSize=240m"]
    conf = {
        **EXTENSIONS,
        **PLATFORM,
        **settings.conf(),
        "spark.app.name": f"bench {hello.sequence}",
        "spark.master": options.master or f"local[{readers}]",
        DRIVER_MEMORY: f"{heap // memory.MIB}m",
        "spark.sql.warehouse.dir": hello.lake,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Execution plans are looked at after a workflow, to see what had an effect.
        "spark.sql.ui.retainedExecutions": "1000",
        # Readers come and go with their stage; idle ones would hold memory.
        "spark.python.worker.reuse": "true",
        "spark.pyspark.python": sys.executable,
        "spark.pyspark.driver.python": sys.executable,
    }
    if options.pipeline == "builtin":
        # Rows that it computes once keep no more partitions than adaptive execution leaves, so that where
        # that is on the number of files follows from it, as on the platform, which computes them anew.
        conf["spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"] = "true"
    if is_local(hello):
        # An executor that is threads of the driver cannot be lost. After a pause of two minutes (a
        # laptop that slept, a machine that others keep busy) Spark takes it for lost all the same,
        # cannot register it again, and ends itself ten minutes later.
        conf["spark.storage.blockManagerHeartbeatTimeoutMs"] = "30d"
    if options.jars:
        jars = sorted(str(jar) for jar in Path(options.jars).glob("*.jar"))
        if not jars:
            raise Unusable(f"{options.jars} holds no jars; run `just spark-setup`")
        conf["spark.jars"] = ",".join(jars)
    if options.packages:
        conf["spark.jars.packages"] = ",".join(options.packages)
    if options.event_log:
        conf |= {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": Path(options.event_log).absolute().as_uri(),
            "spark.eventLog.rolling.enabled": "true",
            "spark.eventLog.compress": "true",
        }
    conf |= {f"spark.hadoop.{key}": value for key, value in _hadoop(hello.storage).items()}
    conf |= options.conf
    conf[JAVA_OPTIONS] = " ".join([*java, options.conf.get(JAVA_OPTIONS, "")]).strip()
    return conf


# What the other targets call an option of the store, and what Hadoop's S3 client does.
_S3A = {
    "aws_access_key_id": "fs.s3a.access.key",
    "aws_secret_access_key": "fs.s3a.secret.key",
    "aws_session_token": "fs.s3a.session.token",
    "aws_endpoint": "fs.s3a.endpoint",
    "aws_region": "fs.s3a.endpoint.region",
}


def _hadoop(storage: dict[str, str]) -> dict[str, str]:
    return {_S3A.get(key.lower(), key): value for key, value in storage.items()}


@dataclass
class Engine:
    """A session, and the process behind it."""

    spark: SparkSession
    conf: dict[str, str]
    jvm: "subprocess.Popen[bytes]"

    @property
    def jvm_code(self) -> int | None:
        """Exit code of the JVM; None while it runs."""
        return self.jvm.poll()

    def java_version(self) -> str:
        """Version of the Java that runs it."""
        return str(self.spark._jvm.java.lang.System.getProperty("java.version"))  # type: ignore[union-attr]


def start(conf: dict[str, str], on_start: Callable[["subprocess.Popen[bytes]"], Any]) -> Engine:
    """Starts the JVM and the session. `on_start` gets the JVM's process as soon as it is known."""
    from pyspark import SparkConf, SparkContext

    spark_conf = SparkConf(loadDefaults=False)
    for key, value in conf.items():
        spark_conf.set(key, value)
    SparkContext._ensure_initialized(conf=spark_conf)
    gateway = SparkContext._gateway
    assert gateway is not None
    process: subprocess.Popen[bytes] = gateway.proc
    on_start(process)
    # On a cluster the readers need this package; here they find it where this process did.
    spark = SparkSession.builder.config(conf=spark_conf).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return Engine(spark, conf, process)
