"""The write settings, and what they are called in Spark and Delta.

What was asked for and what is in force are different things: the effective values are read back from
the sessions, of which there are two. Merges run in the session that the worker made, streams in a copy
that Spark makes of it and changes.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
ADAPTIVE = "spark.sql.adaptive.enabled"
ADAPTIVE_STREAMING = "spark.sql.adaptive.streaming.stateless.enabled"
CHECKPOINT_INTERVAL = "spark.databricks.delta.properties.defaults.checkpointInterval"
RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"

# Settings that are settings of a session, with the type of their values.
OF_SESSION: dict[str, tuple[str, type]] = {
    "shuffle_partitions": (SHUFFLE_PARTITIONS, int),
    "adaptive": (ADAPTIVE, bool),
    "optimize_write": ("spark.databricks.delta.optimizeWrite.enabled", bool),
    "auto_compact": ("spark.databricks.delta.autoCompact.enabled", bool),
    "auto_compact_min_files": ("spark.databricks.delta.autoCompact.minNumFiles", int),
    "repartition_before_write": (
        "spark.databricks.delta.merge.repartitionBeforeWrite.enabled",
        bool,
    ),
    "checkpoint_interval": (CHECKPOINT_INTERVAL, int),
}
# Settings that the pipeline itself acts on.
OF_PIPELINE: dict[str, type] = {
    "optimize_latest_after_merge": bool,
    "vacuum": str,
    "vacuum_retention": str,
    "create_mapping": bool,
}
# Values of the platform where a scenario says nothing.
DEFAULTS: dict[str, Any] = {
    "shuffle_partitions": 200,
    "adaptive": True,
    "optimize_write": False,
    "auto_compact": False,
    "auto_compact_min_files": 50,
    "repartition_before_write": True,
    "optimize_latest_after_merge": True,
    "vacuum": "never",
    "vacuum_retention": "604800s",
    "create_mapping": True,
    "checkpoint_interval": 10,
}
# Delta's own limit of what auto compaction makes, and of what is small; fixed by the rules.
AUTO_COMPACT_SIZE = ("spark.databricks.delta.autoCompact.maxFileSize", str(128 << 20))
# What the platform's transformer relies on.
PLATFORM = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.databricks.delta.schema.autoMerge.enabled": "true",
    "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled": "true",
}

_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 24 * 3600}
_DURATION = re.compile(r"(\d+) *(s|min|h|d)")


class WrongSetting(Exception):
    """A setting whose value cannot be read."""


@dataclass(frozen=True)
class Settings:
    """What was asked for, with the platform's values for the rest."""

    values: dict[str, Any]
    unsupported: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, given: dict[str, Any]) -> "Settings":
        """Reads settings as they stand in a scenario. Raises `WrongSetting`."""
        values = dict(DEFAULTS)
        unsupported = []
        for name, value in given.items():
            if name in OF_SESSION:
                values[name] = _typed(name, value, OF_SESSION[name][1])
            elif name in OF_PIPELINE:
                values[name] = _typed(name, value, OF_PIPELINE[name])
            else:
                unsupported.append(name)
        settings = cls(values, sorted(unsupported))
        settings.vacuum_retention_seconds()
        settings.is_vacuum_due(1, False)
        return settings

    def conf(self) -> dict[str, str]:
        """The settings of the session, by Spark's names."""
        conf = {key: _text(self.values[name]) for name, (key, _) in OF_SESSION.items()}
        # Off is off in streams, too; a scenario's own setting of either comes later.
        conf[ADAPTIVE_STREAMING] = _text(self.values["adaptive"])
        conf[AUTO_COMPACT_SIZE[0]] = AUTO_COMPACT_SIZE[1]
        return conf

    def flag(self, name: str) -> bool:
        """A setting that is true or false."""
        return bool(self.values[name])

    def is_vacuum_due(self, workflow: int, last: bool) -> bool:
        """Whether dead files are to be deleted after a workflow."""
        when = str(self.values["vacuum"])
        if when == "never":
            return False
        if when == "end":
            return last
        if when.isdigit() and int(when) > 0:
            return workflow % int(when) == 0
        raise WrongSetting(f"vacuum is {when!r}; allowed is never, end or a number of workflows")

    def vacuum_retention_seconds(self) -> int:
        """How long a dead file is kept."""
        text = str(self.values["vacuum_retention"])
        found = _DURATION.fullmatch(text)
        if found is None:
            raise WrongSetting(
                f"vacuum_retention is {text!r}; allowed is a number with its unit, such as 168h"
            )
        return int(found[1]) * _UNITS[found[2]]


def _typed(name: str, value: Any, kind: type) -> Any:
    if kind is bool and not isinstance(value, bool):
        raise WrongSetting(f"{name} is {value!r}; allowed is true or false")
    if kind is int and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise WrongSetting(f"{name} is {value!r}; allowed is a whole number from 1")
    return str(value) if kind is str else value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def streaming_conf(spark: SparkSession, scratch: str) -> dict[str, str]:
    """What the settings are in the session of a stream: Spark runs one over an empty folder."""
    seen: dict[str, str] = {}

    def look(batch: Any, _: int) -> None:
        session = batch.sparkSession
        for key in [key for key, _ in OF_SESSION.values()] + [ADAPTIVE_STREAMING]:
            seen[key] = session.conf.get(key, "")

    query = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", "1")
        .option("numPartitions", "1")
        .load()
        .writeStream.foreachBatch(look)
        .option("checkpointLocation", scratch)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return seen


def effective(
    outer: SparkSession, streaming: dict[str, str], settings: Settings, always: dict[str, str]
) -> dict[str, str]:
    """What is in force. A setting that a stream sees otherwise stands a second time, with `streaming.`
    before its name; so does adaptive execution in streams, which has a switch of its own. `always` is
    what a pipeline does whatever is asked."""
    found = {}
    for name, (key, _) in OF_SESSION.items():
        found[name] = str(outer.conf.get(key, ""))
        if (seen := streaming.get(key)) is not None and seen != found[name]:
            found[f"streaming.{name}"] = seen
    # A stream without state adapts where both switches are on.
    switches = (streaming.get(ADAPTIVE), streaming.get(ADAPTIVE_STREAMING))
    found["streaming.adaptive"] = _text(all(switch == "true" for switch in switches))
    for name in OF_PIPELINE:
        found[name] = _text(settings.values[name])
    found["vacuum_retention"] = f"{settings.vacuum_retention_seconds()}s"
    return {**found, **always}
