"""Why an attempt failed, told apart by what the system, the JVM and Spark say.

A driver without heap, a process that the kernel killed at the limit of the control group, and an
executor that was lost ask for different remedies, and Spark's own exceptions look alike. No text of
an exception is passed on whole, since it may quote a row.
"""

import re
from pathlib import Path

# What the JVM exits with at `-XX:+ExitOnOutOfMemoryError`, and what Spark exits with where it sees the
# error first.
OUT_OF_MEMORY_EXITS = (3, 52)
# What Spark exits with where an executor cannot reach its driver, or is not taken back by it.
LOST_EXECUTOR_EXITS = (56, 58)
_OUT_OF_MEMORY = re.compile(r"(?:java\.lang\.)?OutOfMemoryError(?:: ([A-Za-z ]+))?")
_CODE_CACHE = re.compile(r"Out of space in CodeCache")
_EXECUTOR_LOST = re.compile(r"ExecutorLostFailure|[Ll]ost executor|Executor heartbeat timed out")
_PYTHON_DIED = re.compile(r"Python worker exited unexpectedly|Python worker failed to connect")
# Spark names an error by a condition such as [DELTA_CONCURRENT_APPEND], which holds no values.
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]{4,})\]")
_JAVA_CLASS = re.compile(r"\b((?:[a-z][a-z0-9]*\.){2,}[A-Z]\w*(?:Exception|Error))\b")


def describe(text: str, kind: str, oom_kills: int) -> str:
    """One sentence for an exception, from its text and the name of its class. `oom_kills` is how many
    processes the kernel killed in this worker's control group during the attempt."""
    if _CODE_CACHE.search(text):
        return (
            "the JVM has no room left for compiled code; raise -XX:ReservedCodeCacheSize in "
            "target.conf's spark.driver.extraJavaOptions"
        )
    if found := _OUT_OF_MEMORY.search(text):
        of = f" ({found[1].strip()})" if found[1] else ""
        return (
            f"OutOfMemoryError{of}: the JVM's heap is too small; raise resources.memory, or "
            "target.conf's spark.driver.memory"
        )
    if oom_kills > 0:
        return (
            "container kill: the kernel killed a process of this worker at the limit of its control "
            f"group (oom_kill {oom_kills}); raise resources.memory"
        )
    if found := _EXECUTOR_LOST.search(text):
        return "lost executor: Spark lost an executor that had tasks; its own log says why"
    if _PYTHON_DIED.search(text):
        return "a Python process that reads logs ended unexpectedly; the worker's log says more"
    named = _CONDITION.search(text) or _JAVA_CLASS.search(text)
    return f"{kind}: {named[1]}" if named else kind


def jvm_exit(code: int | None) -> str:
    """What the end of the JVM means, by the exit code of its process."""
    if code in OUT_OF_MEMORY_EXITS:
        return (
            "OutOfMemoryError: the JVM had no heap left and ended itself; raise resources.memory, or "
            "target.conf's spark.driver.memory"
        )
    if code in LOST_EXECUTOR_EXITS:
        return (
            f"lost executor: it did not reach its driver for long (exit code {code}); the machine was "
            "asleep, or busy with something else"
        )
    if code is not None and code < 0:
        return f"the JVM was killed by signal {-code}"
    return f"the JVM ended (exit code {code})"


def oom_kills() -> int:
    """How many processes the kernel has killed in this process's control group."""
    for path in _counters():
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, count = line.partition(" ")
            if name == "oom_kill" and count.strip().isdigit():
                return int(count)
    return 0


def _counters() -> list[Path]:
    """Files that may hold the counter, of either version of control groups."""
    try:
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for group in groups:
        _, _, rest = group.partition(":")
        controllers, _, path = rest.partition(":")
        relative = path.lstrip("/")
        if controllers == "":
            for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
                found.append(Path(root) / relative / "memory.events")
        elif "memory" in controllers.split(","):
            found.append(Path("/sys/fs/cgroup/memory") / relative / "memory.oom_control")
    return found
