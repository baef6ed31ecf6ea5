"""A session with a pipeline on a lake: what a worker drives.

Made when the worker is greeted, and made again in the same process if its JVM ended.
"""

import contextlib
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench_spark import __version__, effects, session, settings
from bench_spark.builtin.pipeline import Builtin
from bench_spark.files import of_lake
from bench_spark.ledger import Ledger
from bench_spark.logs import LogName
from bench_spark.protocol import Hello, Ingest
from bench_spark.reading import Source, load_modalities
from bench_spark.settings import Settings
from bench_spark.stages import Stages

PIPELINES = ("builtin", "scout")


@dataclass
class Done:
    """A workflow that was completed."""

    ledger: Ledger
    without_effect: dict[str, str]


class Engine:
    """A pipeline that is ready."""

    def __init__(self, hello: Hello, on_start: Callable[[Any], Any]):
        self._hello = hello
        self.settings = Settings.read(hello.settings)
        if hello.options.pipeline not in PIPELINES:
            raise session.Unusable(
                f"pipeline is {hello.options.pipeline!r}; allowed is {' or '.join(PIPELINES)}"
            )
        if hello.slots > 1:
            raise session.Unusable(
                "this target executes one workflow at a time, as the platform's worker does: its "
                "streams have one checkpoint each; leave sequence.slots out"
            )
        conf = session.configuration(hello, self.settings)
        if hello.options.event_log:
            Path(hello.options.event_log).mkdir(parents=True, exist_ok=True)
        self._session = session.start(conf, on_start)
        self.spark = self._session.spark
        if not session.is_local(hello):
            self._ship_package()
        if self.settings.values["vacuum"] != "never":
            self.spark.conf.set(settings.RETENTION_CHECK, "false")
        self._pipeline = self._make_pipeline()
        self._executions = effects.Executions(self.spark)
        self._streaming = self._look_into_a_stream()
        self._executions.new()

    def _make_pipeline(self) -> Any:
        hello = self._hello
        if hello.options.pipeline == "scout":
            from bench_spark.scout.pipeline import Scout

            return Scout(self.spark, hello, self.settings)
        if hello.options.modalities is None:
            raise session.Unusable("options.modalities names no map of exam codes")
        source = Source(
            dataset=str(Path(hello.dataset).absolute()),
            staging_root=hello.staging_root or "staging",
            modalities=load_modalities(Path(hello.options.modalities)),
        )
        files = of_lake(hello.lake, self.spark)
        return Builtin(self.spark, hello.lake, source, self.settings, files)

    def _ship_package(self) -> None:
        """Executors elsewhere need this package to read logs."""
        source = Path(__file__).resolve().parent
        archive = Path(tempfile.mkdtemp(prefix="bench-spark-")) / "bench_spark.zip"
        with zipfile.ZipFile(archive, "w") as out:
            for file in sorted(source.rglob("*.py")):
                out.write(file, f"bench_spark/{file.relative_to(source)}")
        self.spark.sparkContext.addPyFile(str(archive))

    def _look_into_a_stream(self) -> dict[str, str]:
        scratch = tempfile.mkdtemp(prefix="bench-stream-")
        try:
            local = session.is_local(self._hello)
            place = Path(scratch).as_uri() if local else f"{self._hello.lake}/_checkpoints/_look"
            return settings.streaming_conf(self.spark, place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @property
    def jvm_code(self) -> int | None:
        """Exit code of the JVM; None while it runs."""
        return self._session.jvm_code

    def ready(self) -> dict[str, Any]:
        """What the worker is, with the settings that are in force."""
        options = self._hello.options
        spark = self.spark
        effective = settings.effective(spark, self._streaming, self.settings, self._pipeline.always)
        unsupported = set(self.settings.unsupported)
        asked = self._hello.settings
        unsupported |= {
            name
            for name, value in self._pipeline.always.items()
            if name in asked and settings._text(asked[name]) != value
        }
        effective["spark.driver.memory"] = self._session.conf[session.DRIVER_MEMORY]
        effective["spark.master"] = str(spark.sparkContext.master)
        for key in options.conf:
            found: str | None = spark.conf.get(key, "")
            effective[key] = found or self._session.conf.get(key, "")
        return {
            "engine": f"spark {options.pipeline}",
            "versions": {
                "bench-spark": __version__,
                "spark": spark.version,
                "delta": version("delta-spark"),
                "java": self._session.java_version(),
                "python": ".".join(map(str, sys.version_info[:3])),
                **self._pipeline.versions(),
            },
            "effective": effective,
            "unsupported": sorted(unsupported),
        }

    def ingest(self, ingest: Ingest, tell: Callable[[dict[str, Any]], None]) -> Done:
        """Ingests a workflow. What was committed before it fails stays."""
        hello = self._hello
        names = [LogName.of(log) for log in ingest.logs]
        refuse_shared_stems(names)
        logs = self._pipeline.logs
        logs.advance()
        before = {name: log.version for name, log in logs.tables.items()}
        stages = Stages(self.spark.sparkContext, ingest, logs, tell)
        self.spark.sparkContext.setJobGroup(
            f"bench-{ingest.workflow}-{ingest.attempt}", f"workflow {ingest.workflow}"
        )
        workflow = f"{hello.sequence}/{ingest.workflow}"
        ledger = self._pipeline.ingest(workflow, names, stages, session.cpus(hello))
        if self.settings.is_vacuum_due(ingest.workflow, ingest.last):
            with stages.stage("vacuum"):
                self._vacuum()
        logs.advance()
        ledger.state = logs.states()
        plans = effects.Plans.of(self._executions.new())
        compactions = effects.auto_compactions(logs, before)
        return Done(ledger, effects.without_effect(self.settings, plans, compactions))

    def abandon(self) -> None:
        """Ends what an attempt that failed left running: a stream that goes on would still write."""
        with contextlib.suppress(Exception):
            # A JVM that ended has none.
            for query in self.spark.streams.active:
                with contextlib.suppress(Exception):
                    query.stop()

    def _vacuum(self) -> None:
        hours = self.settings.vacuum_retention_seconds() / 3600
        for name, log in self._pipeline.logs.tables.items():
            if log.exists:
                path = f"{self._hello.lake}/{name}"
                self.spark.sql(f"VACUUM delta.`{path}` RETAIN {hours:g} HOURS").collect()


def refuse_shared_stems(names: list[LogName]) -> None:
    """Two logs of one stem would share the keys of their rows."""
    from bench_spark.reading import Refused

    seen: dict[str, str] = {}
    for name in names:
        if name.stem in seen:
            raise Refused(
                f"the logs {seen[name.stem]} and {name.relative} have one stem, so their messages "
                "would share keys; rename one of them"
            )
        seen[name.stem] = name.relative
