"""Logs: which day one is of, and the messages in it.

Only splitting. What a message says is read in `message`; what becomes of a log that cannot be read
is decided by who reads it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile("\r\n|\r|\n")
_DAY = re.compile("[0-9]{8}")
# Lines of these alone make a message empty.
BLANK = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "

NO_MESSAGES = "did not contain any HL7 messages"
NO_DATE = "its name holds no date: eight digits, of which the month is 01 to 12 and the day 01 to 31"


@dataclass(frozen=True)
class LogName:
    """A log by its path relative to the data set, and what its name says."""

    relative: str
    stem: str
    # Year, month and day as digits; None where the name holds none.
    day: tuple[str, str, str] | None

    @classmethod
    def of(cls, relative: str) -> "LogName":
        """Reads a path. Raises `ValueError` for one that is no log's."""
        name = relative.rpartition("/")[2]
        if not name.endswith(".log") or name.startswith("."):
            raise ValueError(f"manifest entry {relative!r} is no *.log")
        stem = name.removesuffix(".log")
        return cls(relative, stem, _day_of(stem))

    def archive(self) -> str:
        """The zip that the platform would stage its messages in, below the staging root."""
        assert self.day is not None
        return f"{self.day[0]}/{self.stem}.zip"

    def member(self, ordinal: int) -> str:
        """A message's name within the archive."""
        assert self.day is not None
        return f"{'/'.join(self.day)}/{self.stem}_{ordinal}.hl7"

    def source_file(self, root: str, ordinal: int) -> str:
        """The whole name of a staged message, which is the key of its row."""
        return f"{root}/{self.archive()}/{self.member(ordinal)}"


def _day_of(stem: str) -> tuple[str, str, str] | None:
    found = _DAY.search(stem)
    if found is None:
        return None
    digits = found[0]
    year, month, day = digits[:4], digits[4:6], digits[6:]
    is_date = "01" <= month <= "12" and "01" <= day <= "31"
    return (year, month, day) if is_date else None


def split(data: bytes) -> Iterator[list[str]]:
    """The messages of a log, each as its lines, numbered from 0 with the empty ones."""
    lines = _LINE_END.split(data.decode("iso-8859-1"))
    if lines[-1] == "":
        del lines[-1]
    message: list[str] | None = None
    for line in lines:
        if message is None:
            if "<SB>" in line:
                message = []
            continue
        is_last = "<EB>" in line
        if line.endswith("<R>"):
            line = line[: -len("<R>")]
        elif line.endswith("<R>\x85"):
            line = line[: -len("<R>\x85")] + "\x85"
        message.append(line.replace("<EB>", "") if is_last else line)
        if is_last:
            yield message
            message = None
    if message is not None:
        yield message


def is_blank(message: list[str]) -> bool:
    """Whether a message is empty: staged nowhere, but it keeps its number."""
    return not any(line.strip(BLANK) for line in message)
