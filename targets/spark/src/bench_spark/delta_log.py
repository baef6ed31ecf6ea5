"""A table's Delta log, followed entry by entry.

From it come the counts of every commit, the state of a table and the transactions that it has seen:
without a Spark job, so that looking costs the engine nothing. Entries are JSON for as long as Delta
keeps them (30 days); a table whose first entries are gone cannot be followed, which is said.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench_spark.ledger import State


class Files(Protocol):
    """Reads files by address."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None where there is none."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        ...


class LocalFiles:
    """Files of this machine."""

    def read(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            return None

    def exists(self, path: str) -> bool:
        return Path(path).exists()


@dataclass(frozen=True)
class Commit:
    """What a version did."""

    version: int
    operation: str
    metrics: dict[str, int]
    user_metadata: str | None
    files: int
    bytes: int
    # Whether Delta compacted by itself, after another commit.
    is_auto: bool = False

    def metric(self, name: str) -> int:
        """A number that Delta counted; 0 where it did not."""
        return self.metrics.get(name, 0)


@dataclass
class TableLog:
    """The log of one table, as far as it was read."""

    folder: str
    files: Files
    version: int = -1
    commits: list[Commit] = field(default_factory=list)
    transactions: dict[str, int] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    _live: dict[str, tuple[int, int]] = field(default_factory=dict)

    def advance(self) -> list[Commit]:
        """Reads the entries that came since; the commits that are new."""
        new = []
        while True:
            name = f"{self.folder}/_delta_log/{self.version + 1:020}.json"
            data = self.files.read(name)
            if data is None:
                break
            new.append(self._apply(data))
        if self.version < 0 and self.files.exists(f"{self.folder}/_delta_log/_last_checkpoint"):
            raise ValueError(f"the first entries of the log of {self.folder} are gone")
        self.commits.extend(new)
        return new

    def _apply(self, data: bytes) -> Commit:
        self.version += 1
        info: dict[str, Any] = {}
        added = size = 0
        for line in data.splitlines():
            action = json.loads(line) if line.strip() else {}
            if "add" in action:
                add = action["add"]
                stats = json.loads(add.get("stats") or "{}")
                self._live[add["path"]] = (stats.get("numRecords", 0), add["size"])
                added += 1
                size += add["size"]
            elif "remove" in action:
                self._live.pop(action["remove"]["path"], None)
            elif "commitInfo" in action:
                info = action["commitInfo"]
            elif "txn" in action:
                self.transactions[action["txn"]["appId"]] = action["txn"]["version"]
            elif "metaData" in action:
                schema = json.loads(action["metaData"]["schemaString"])
                self.columns = [one["name"] for one in schema["fields"]]
                self.properties = action["metaData"].get("configuration", {})
        return Commit(
            version=self.version,
            operation=info.get("operation", ""),
            metrics=_whole(info.get("operationMetrics", {})),
            user_metadata=info.get("userMetadata"),
            files=added,
            bytes=size,
            is_auto=str(info.get("operationParameters", {}).get("auto", "")).lower() == "true",
        )

    @property
    def exists(self) -> bool:
        """Whether there is a table, as far as it was read."""
        return self.version >= 0

    def state(self) -> State:
        """The table at the version that was read last."""
        rows = sum(rows for rows, _ in self._live.values())
        size = sum(size for _, size in self._live.values())
        return State(version=self.version, rows=rows, files=len(self._live), bytes=size)


def _whole(metrics: dict[str, str]) -> dict[str, int]:
    return {name: int(value) for name, value in metrics.items() if str(value).lstrip("-").isdigit()}


class LakeLog:
    """The logs of a lake's tables."""

    def __init__(self, lake: str, tables: tuple[str, ...], files: Files):
        self.tables = {name: TableLog(f"{lake}/{name}", files) for name in tables}

    def advance(self) -> None:
        """Reads on in every table."""
        for log in self.tables.values():
            log.advance()

    def states(self) -> dict[str, State]:
        """The tables that exist."""
        return {name: log.state() for name, log in self.tables.items() if log.exists}
