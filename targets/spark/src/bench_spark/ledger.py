"""The account of a workflow, as the protocol has it."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Read:
    """What the logs of a workflow held."""

    logs: int = 0
    failed_logs: list[dict[str, Any]] = field(default_factory=list)
    messages: int = 0
    empty: int = 0
    unparsable: list[dict[str, Any]] = field(default_factory=list)
    parsed: int = 0
    # Identifier columns that its rows have.
    identifiers: list[str] = field(default_factory=list)


@dataclass
class Counts:
    """Rows of a table that follows another, by what became of them in this attempt."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    kept: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class State:
    """A table after the workflow."""

    version: int
    rows: int
    files: int
    bytes: int


@dataclass
class Ledger:
    """Logs, messages and rows of one workflow, all accounted for."""

    read: Read
    inserted: int = 0
    updated: int = 0
    tables: dict[str, Counts] = field(default_factory=dict)
    state: dict[str, State] = field(default_factory=dict)
    continued: bool = False

    def of(self, table: str) -> Counts:
        """Counts of a table, to be added to."""
        return self.tables.setdefault(table, Counts())

    def message(self) -> dict[str, Any]:
        """As the protocol has it."""
        read = asdict(self.read)
        del read["identifiers"]
        return {
            **read,
            "reports": {
                "inserted": self.inserted,
                "updated": self.updated,
                "unchanged": self.read.parsed - self.inserted - self.updated,
            },
            "tables": {name: asdict(counts) for name, counts in self.tables.items()},
            "state": {name: asdict(state) for name, state in self.state.items()},
            "without_messages": self.read.parsed == 0,
            "continued": self.continued,
        }

    def versions(self) -> dict[str, int]:
        """Versions of the tables afterwards."""
        return {name: state.version for name, state in self.state.items()}
