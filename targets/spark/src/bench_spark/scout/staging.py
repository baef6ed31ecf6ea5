"""Stages logs as the platform does before its transformer runs: a zip of messages for each log."""

import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from bench_spark import logs
from bench_spark.ledger import Read
from bench_spark.logs import LogName
from bench_spark.reading import OF_THE_LOG


@dataclass
class Staged:
    """What was staged, and what was not."""

    read: Read
    # Names of the staged messages, in order.
    manifest: list[str] = field(default_factory=list)
    # By name, the log and the number of the message.
    places: dict[str, tuple[str, int]] = field(default_factory=dict)


def stage(dataset: Path, names: list[LogName], root: Path) -> Staged:
    """Puts the messages of logs into zips below a root."""
    staged = Staged(Read(logs=len(names)))
    for name in names:
        failure = _stage_log(dataset, name, root, staged)
        if failure is not None:
            staged.read.failed_logs.append({"file": name.relative, "reason": failure})
    return staged


def _stage_log(dataset: Path, name: LogName, root: Path, staged: Staged) -> str | None:
    """Stages one log; why it failed, if it did."""
    try:
        data = (dataset / name.relative).read_bytes()
    except OSError as error:
        if error.errno not in OF_THE_LOG:
            raise
        return f"cannot be read: {error.strerror}"
    messages = list(logs.split(data))
    if not messages:
        return logs.NO_MESSAGES
    if name.day is None:
        return logs.NO_DATE
    read = staged.read
    read.messages += len(messages)
    filled = [(number, lines) for number, lines in enumerate(messages) if not logs.is_blank(lines)]
    read.empty += len(messages) - len(filled)
    if not filled:
        return None
    archive = root / name.archive()
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for number, lines in filled:
            out.writestr(name.member(number), "".join(line + "\r" for line in lines))
            source = name.source_file(str(root), number)
            staged.manifest.append(source)
            staged.places[source] = (name.relative, number)
    return None
