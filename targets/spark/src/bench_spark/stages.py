"""The stages of a workflow: timed, attributed in Spark's event log, and told to the runner.

Every Spark job carries which workflow, attempt and stage it belongs to as local properties
(`bench.workflow`, `bench.attempt`, `bench.stage`), which threads of a stream inherit. A stage's
numbers are read from the table's log after its clock has stopped.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from bench_spark.delta_log import Commit, LakeLog
from bench_spark.protocol import Ingest

WORKFLOW, ATTEMPT, STAGE = "bench.workflow", "bench.attempt", "bench.stage"


class Jobs(Protocol):
    """What marks the jobs of the thread that calls: a Spark context."""

    def setLocalProperty(self, key: str, value: str) -> None: ...  # noqa: N802
    def setJobDescription(self, value: str) -> None: ...  # noqa: N802


Tell = Callable[[dict[str, Any]], None]


@dataclass
class Open:
    """A stage while it runs, and what it was."""

    name: str
    table: str | None
    began: float
    # Version of the table when it began.
    version: int
    # Rows where no commit says how many.
    rows: int = 0
    commits: list[Commit] | None = None


class Stages:
    """The stages of one attempt."""

    def __init__(self, jobs: Jobs, ingest: Ingest, logs: LakeLog, tell: Tell):
        self._jobs = jobs
        self._ingest = ingest
        self._logs = logs
        self._tell = tell

    def mark(self, name: str) -> None:
        """Marks the jobs that this thread starts from now on."""
        workflow, attempt = self._ingest.workflow, self._ingest.attempt
        self._jobs.setLocalProperty(WORKFLOW, str(workflow))
        self._jobs.setLocalProperty(ATTEMPT, str(attempt))
        self._jobs.setLocalProperty(STAGE, name)
        # A stream sets a group of its own; the description stays.
        self._jobs.setJobDescription(f"workflow {workflow}, attempt {attempt}: {name}")

    def open(self, name: str, table: str | None = None) -> Open:
        """Begins a stage."""
        self.mark(name)
        version = -1 if table is None else self._logs.tables[table].version
        return Open(name, table, time.monotonic(), version)

    def close(self, stage: Open) -> None:
        """Ends a stage that succeeded, and tells of it."""
        seconds = time.monotonic() - stage.began
        self.mark("between")
        commits: list[Commit] = []
        if stage.table is not None:
            log = self._logs.tables[stage.table]
            log.advance()
            commits = [one for one in log.commits if one.version > stage.version]
        stage.commits = commits
        own = [one for one in commits if not one.is_auto]
        self._tell(
            {
                "name": stage.name,
                "table": stage.table,
                "seconds": seconds,
                "rows": sum(map(rows_changed, own)) or stage.rows,
                "bytes": sum(one.bytes for one in own),
                "files": sum(one.files for one in own),
                "version": own[-1].version if own else None,
            }
        )
        for one in commits:
            if one.is_auto:
                self._tell(_compaction(one, stage.table))

    @contextmanager
    def stage(self, name: str, table: str | None = None) -> Iterator[Open]:
        """Times what happens within, and tells of it where that succeeded."""
        stage = self.open(name, table)
        yield stage
        self.close(stage)


def rows_changed(commit: Commit) -> int:
    """Rows that a commit inserted, updated or deleted."""
    if commit.operation == "MERGE":
        names = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
        return sum(map(commit.metric, names))
    if commit.operation == "WRITE" or commit.operation.startswith("CREATE TABLE AS"):
        return commit.metric("numOutputRows")
    return 0


def _compaction(commit: Commit, table: str | None) -> dict[str, Any]:
    """Auto compaction runs within the commit that it follows, whose stage has its time, too."""
    return {
        "name": "auto-compact",
        "table": table,
        "seconds": 0.0,
        "rows": 0,
        "bytes": commit.bytes,
        "files": commit.files,
        "version": commit.version,
    }
