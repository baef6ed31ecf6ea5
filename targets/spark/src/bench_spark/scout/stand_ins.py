"""What stands in for the transformer's surroundings, and marks its steps from outside.

Its functions are wrapped by name where a checkout has them. One that has moved or gone only makes the
stages coarser; what the pipeline cannot do without is asked for plainly.
"""

import contextlib
import functools
import shutil
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from bench_spark.columns import CURATED, DX, LATEST, MAPPING, REPORTS
from bench_spark.stages import Open, Stages

# Stages by the table that a step makes.
_STEPS = {CURATED: "curated", LATEST: "latest", MAPPING: "mapping", DX: "dx"}
# The parts of the mapping's step, by the method that does each.
_PARTS = {
    "preprocess": "mapping-0-read",
    "process_stage_1": "mapping-1-defer",
    "process_stage_2": "mapping-2-disjoint",
    "process_stage_3": "mapping-3-single",
    "process_stage_4": "mapping-4-components",
    "process_stage_5": "mapping-5-deferred",
}


class LocalFiles:
    """Stands in for the S3 file system, from which the transformer only downloads."""

    def download(self, source: str, target: str) -> None:
        """Copies a file."""
        shutil.copyfile(source, target)


class Surroundings:
    """Everything that is replaced or wrapped while one workflow runs."""

    def __init__(self, spark: Any, stages: Stages):
        self._spark = spark
        self._stages = stages
        self._reading: Open | None = None
        # Staged names of messages that the transformer could not read.
        self.not_parsable: list[str] = []

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """In force within."""
        from hl7scout.hl7extractor import dataextraction, deltalake

        replaced: dict[str, Any] = {
            "spark_activity_session": self._session,
            "S3FileSystem": LocalFiles,
            "write_successes": lambda *_: None,
            "write_errors": self._write_errors,
        }
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.multiple(deltalake, **replaced))
            if hasattr(deltalake, "merge_report_df_into_table"):
                merge = self._merge(deltalake.merge_report_df_into_table)
                stack.enter_context(mock.patch.object(deltalake, "merge_report_df_into_table", merge))
            if hasattr(dataextraction, "define_derivative_tables"):
                define = self._define(dataextraction.define_derivative_tables, self._parts(stack))
                stack.enter_context(mock.patch.object(dataextraction, "define_derivative_tables", define))
            yield

    @contextlib.contextmanager
    def _session(self, *_: object, **__: object) -> Iterator[Any]:
        """The worker's session in place of one for each activity; cleared as that would be."""
        self._reading = self._stages.open("read")
        try:
            yield self._spark
        finally:
            self._spark.catalog.clearCache()

    def _write_errors(self, paths: list[str], *_: object) -> None:
        self.not_parsable.extend(paths)

    def _merge(self, merge: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(merge)
        def wrapped(*arguments: Any, **named: Any) -> Any:
            if self._reading is not None:
                self._stages.close(self._reading)
                self._reading = None
            with self._stages.stage("reports", REPORTS):
                return merge(*arguments, **named)

        return wrapped

    def _define(self, define: Callable[..., Any], has_parts: bool) -> Callable[..., Any]:
        @functools.wraps(define)
        def wrapped(*arguments: Any, **named: Any) -> Any:
            tables = define(*arguments, **named)
            for name, table in tables.items():
                stage = _STEPS.get(name)
                if stage is not None and not (name == MAPPING and has_parts):
                    table.process_source_data = self._step(stage, name, table.process_source_data)
            return tables

        return wrapped

    def _step(self, stage: str, table: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            with self._stages.stage(stage, table):
                return step(*arguments, **named)

        return wrapped

    def _parts(self, stack: contextlib.ExitStack) -> bool:
        """Wraps the parts of the mapping's step; whether there are all."""
        try:
            from hl7scout.hl7extractor.mappingtableextractor import MappingTableExtractor
        except ImportError:
            return False
        if not all(hasattr(MappingTableExtractor, part) for part in _PARTS):
            return False
        for part, stage in _PARTS.items():
            method = self._step(stage, MAPPING, getattr(MappingTableExtractor, part))
            stack.enter_context(mock.patch.object(MappingTableExtractor, part, method))
        return True
