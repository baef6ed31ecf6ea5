"""The lines between a runner and this worker (docs/worker-protocol.md)."""

import json
import threading
from dataclasses import dataclass, field
from typing import Any, TextIO

VERSION = 1


class ProtocolError(Exception):
    """A line that is no request, or one out of order."""


@dataclass(frozen=True)
class Options:
    """What a runner says to this target alone."""

    pipeline: str = "builtin"
    # Folder of the platform's transformer; for `scout`.
    transformer: str | None = None
    # What was recorded of it.
    revision: str | None = None
    master: str | None = None
    conf: dict[str, str] = field(default_factory=dict)
    packages: list[str] = field(default_factory=list)
    # Folder that event logs are written to; none are without it.
    event_log: str | None = None
    # Delta's jars, and the map of exam codes.
    jars: str | None = None
    modalities: str | None = None


@dataclass(frozen=True)
class Hello:
    """What to work on, and how."""

    lake: str
    dataset: str
    sequence: str
    settings: dict[str, Any]
    cpus: int | None
    slots: int
    memory_bytes: int | None
    staging_root: str | None
    storage: dict[str, str]
    options: Options


@dataclass(frozen=True)
class Ingest:
    """A workflow to ingest."""

    workflow: int
    attempt: int
    logs: list[str]
    last: bool


@dataclass(frozen=True)
class Shutdown:
    """The end."""


Request = Hello | Ingest | Shutdown


def parse(line: str) -> Request:
    """Reads a request."""
    try:
        message = json.loads(line)
        version = message["protocol"]
    except (ValueError, KeyError, TypeError):
        raise ProtocolError('a line is no JSON object with "protocol"') from None
    if version != VERSION:
        raise ProtocolError(f"version {version} is asked for, this worker speaks {VERSION}")
    try:
        return _parse(message)
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"a request lacks a field, or has one of another type: {error}") from None


def _parse(message: dict[str, Any]) -> Request:
    match message.get("type"):
        case "hello":
            resources = message.get("resources", {})
            given = message.get("options", {})
            known = {name: given[name] for name in Options.__dataclass_fields__ if name in given}
            unknown = sorted(set(given) - set(known))
            if unknown:
                raise ProtocolError(f"options has {unknown[0]!r}, which this target does not know")
            return Hello(
                lake=message["lake"].rstrip("/"),
                dataset=message["dataset"],
                sequence=message["sequence"],
                settings=dict(message.get("settings", {})),
                cpus=resources.get("cpus"),
                slots=resources.get("slots") or 1,
                memory_bytes=resources.get("memory_bytes"),
                staging_root=message.get("staging_root"),
                storage=dict(message.get("storage", {})),
                options=Options(**known),
            )
        case "ingest":
            return Ingest(
                workflow=int(message["workflow"]),
                attempt=int(message["attempt"]),
                logs=[str(log) for log in message["manifest"]["logs"]],
                last=bool(message.get("last", False)),
            )
        case "shutdown":
            return Shutdown()
        case other:
            raise ProtocolError(f"{other!r} is no request")


class Output:
    """Writes replies, one at a time, from any thread."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._lock = threading.Lock()

    def say(self, kind: str, **fields: Any) -> None:
        """Writes a reply."""
        line = json.dumps({"protocol": VERSION, "type": kind, **fields})
        with self._lock:
            self._stream.write(line + "\n")
            self._stream.flush()
