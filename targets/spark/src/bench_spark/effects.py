"""What settings really did, seen after a workflow in the plans that Spark executed.

A plan says what adaptive execution made of it, so this is no guess from numbers of files. Only what
can be seen is told.
"""

import re
from dataclasses import dataclass
from typing import Any

from bench_spark.delta_log import LakeLog
from bench_spark.settings import Settings

# How a plan shows a shuffle, and one whose partitions were merged: operator and arguments.
_SHUFFLED = ("Exchange", "hashpartitioning")
_COALESCED = ("AQEShuffleRead", "coalesced")
# An operator in Spark's formatted text, which is what its user interface has unless a setting says
# otherwise: `(4) Exchange`, what goes in, and `Arguments: hashpartitioning(k, 200), …`.
_OPERATOR = re.compile(r"^\(\d+\) (\w+)[^\n]*\n(?:\S[^\n]*\n)*?Arguments: ([^\n]*)", re.MULTILINE)

# The same in the simple one: `+- Exchange hashpartitioning(k, 200)`.
_SIMPLE = re.compile(r"\b(\w+) ([^\n]*)")


@dataclass(frozen=True)
class Plans:
    """What became of the SQL executions of a workflow."""

    shuffled: int = 0
    coalesced: int = 0

    @classmethod
    def of(cls, texts: list[str]) -> "Plans":
        """Counts plans by their text."""
        plans = [_operators(text) for text in texts]
        shuffled = [plan for plan in plans if _has(plan, *_SHUFFLED)]
        return cls(len(shuffled), sum(_has(plan, *_COALESCED) for plan in shuffled))


def _operators(text: str) -> list[tuple[str, str]]:
    """The operators of a plan with their arguments, from the formatted text or else the simple one."""
    return _OPERATOR.findall(text) or _SIMPLE.findall(text)


def _has(plan: list[tuple[str, str]], operator: str, argument: str) -> bool:
    return any(name == operator and argument in arguments for name, arguments in plan)


class Executions:
    """The SQL executions of a session since it was last asked."""

    def __init__(self, session: Any):
        self._store = session._jsparkSession.sharedState().statusStore()
        self._seen = -1

    def new(self) -> list[str]:
        """Plans of the executions that ended since, as text."""
        listed = self._store.executionsList()
        texts = []
        last = self._seen
        for at in range(listed.size() - 1, -1, -1):
            execution = listed.apply(at)
            number = execution.executionId()
            if number <= self._seen:
                break
            last = max(last, number)
            texts.append(execution.physicalPlanDescription())
        self._seen = last
        return texts


def without_effect(settings: Settings, plans: Plans, compactions: int) -> dict[str, str]:
    """Settings that changed nothing in a workflow, and why."""
    found = {}
    if plans.coalesced:
        found["shuffle_partitions"] = (
            f"adaptive execution merged the partitions of {plans.coalesced} of the "
            f"{plans.shuffled} SQL executions that shuffled"
        )
    elif settings.flag("adaptive") and plans.shuffled:
        found["adaptive"] = f"none of the {plans.shuffled} SQL executions that shuffled was adapted"
    if settings.flag("auto_compact") and compactions == 0:
        found["auto_compact"] = "no commit found enough small files to compact"
    return found


def auto_compactions(logs: LakeLog, since: dict[str, int]) -> int:
    """Compactions that Delta made by itself after some versions of the tables."""
    return sum(
        commit.is_auto
        for name, log in logs.tables.items()
        for commit in log.commits
        if commit.version > since.get(name, -1)
    )
