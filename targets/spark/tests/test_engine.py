"""What decides without Spark: logs of tables, settings, memory, failures, patients, the protocol."""

import json
from pathlib import Path

import pytest

from bench_spark import failures, memory, protocol
from bench_spark.builtin.patients import Report, Stored, place
from bench_spark.delta_log import LocalFiles, TableLog
from bench_spark.effects import Plans, without_effect
from bench_spark.ledger import Counts, Ledger, Read, State
from bench_spark.logs import LogName
from bench_spark.scout import checkout
from bench_spark.scout.staging import stage
from bench_spark.settings import Settings, WrongSetting


def entry(folder: Path, version: int, *actions: object) -> None:
    log = folder / "_delta_log"
    log.mkdir(exist_ok=True)
    text = "\n".join(json.dumps(action) for action in actions)
    (log / f"{version:020}.json").write_text(text + "\n")


def added(path: str, rows: int, size: int) -> object:
    return {"add": {"path": path, "size": size, "stats": json.dumps({"numRecords": rows})}}


def test_a_table_is_followed_entry_by_entry(tmp_path: Path) -> None:
    log = TableLog(str(tmp_path), LocalFiles())
    assert log.advance() == [] and not log.exists
    metrics = {"numTargetRowsInserted": "3", "executionTimeMs": "x"}
    merge = {"commitInfo": {"operation": "MERGE", "operationMetrics": metrics, "userMetadata": "m"}}
    entry(tmp_path, 0, {"commitInfo": {"operation": "CREATE TABLE"}})
    entry(tmp_path, 1, merge, added("a", 1, 10), added("b", 2, 20), {"txn": {"appId": "x", "version": 7}})
    commits = log.advance()
    assert [one.version for one in commits] == [0, 1]
    assert (commits[1].metric("numTargetRowsInserted"), commits[1].files) == (3, 2)
    assert commits[1].user_metadata == "m" and log.transactions == {"x": 7}
    compact = {"commitInfo": {"operation": "OPTIMIZE", "operationParameters": {"auto": "true"}}}
    removed = [{"remove": {"path": path}} for path in ("a", "b")]
    entry(tmp_path, 2, compact, *removed, added("c", 3, 25))
    assert [one.is_auto for one in log.advance()] == [True]
    assert log.state() == State(version=2, rows=3, files=1, bytes=25)
    assert log.advance() == []


def test_settings_have_the_platforms_values_where_nothing_is_said() -> None:
    settings = Settings.read({"shuffle_partitions": 16, "adaptive": False, "executors": 3})
    conf = settings.conf()
    assert conf["spark.sql.shuffle.partitions"] == "16"
    assert conf["spark.sql.adaptive.enabled"] == "false"
    assert conf["spark.sql.adaptive.streaming.stateless.enabled"] == "false"
    assert conf["spark.databricks.delta.merge.repartitionBeforeWrite.enabled"] == "true"
    assert settings.unsupported == ["executors"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"shuffle_partitions": 0},
        {"shuffle_partitions": True},
        {"adaptive": "no"},
        {"vacuum": "sometimes"},
        {"vacuum": 0},
        {"vacuum_retention": "7"},
    ],
)
def test_a_value_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(WrongSetting):
        Settings.read(wrong)


def test_vacuum_is_due_never_at_the_end_or_every_so_many_workflows() -> None:
    assert not Settings.read({}).is_vacuum_due(1, True)
    assert Settings.read({"vacuum": "end"}).is_vacuum_due(1, True)
    every = Settings.read({"vacuum": 2, "vacuum_retention": "2h"})
    assert [every.is_vacuum_due(number, False) for number in (1, 2, 3, 4)] == [False, True] * 2
    assert every.vacuum_retention_seconds() == 7200


def test_the_heap_is_what_the_other_processes_leave() -> None:
    gib = 1 << 30
    assert memory.driver_heap(2 * gib, 2) == (2048 - 640 - 160 - 192) * memory.MIB
    assert memory.driver_heap(None, 4) == memory.DEFAULT_HEAP
    with pytest.raises(memory.TooLittleMemory, match="allow at least 1472 MiB"):
        memory.driver_heap(gib, 2)
    assert memory.driver_heap(1472 * memory.MIB, 2) == memory.LEAST_HEAP


def test_want_of_memory_and_lost_executors_are_told_apart() -> None:
    heap = "Job aborted: java.lang.OutOfMemoryError: Java heap space\n at x"
    assert failures.describe(heap, "E", 0).startswith("OutOfMemoryError (Java heap space): the JVM")
    assert failures.describe("whatever", "E", 2).startswith("container kill")
    lost = "ExecutorLostFailure (executor 3 exited)"
    assert failures.describe(lost, "E", 0).startswith("lost executor")
    code = "java.lang.VirtualMachineError: Out of space in CodeCache for method handle intrinsic"
    assert "no room left for compiled code" in failures.describe(code, "E", 0)
    died = "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"
    assert "Python process" in failures.describe(died, "E", 0)
    assert all(failures.jvm_exit(code).startswith("OutOfMemoryError") for code in (3, 52))
    assert all(failures.jvm_exit(code).startswith("lost executor") for code in (56, 58))
    assert failures.jvm_exit(-11) == "the JVM was killed by signal 11"


def test_a_failure_names_the_condition_and_never_the_text() -> None:
    text = "[DELTA_CONCURRENT_APPEND] DOE^JOHN io.delta.exceptions.ConcurrentAppendException"
    assert failures.describe(text, "Py4JJavaError", 0) == "Py4JJavaError: DELTA_CONCURRENT_APPEND"
    assert failures.describe("DOE^JOHN", "ValueError", 0) == "ValueError"


def report(name: str, mpi: str, mrn: str) -> Report:
    return Report(name, mpi, mrn, f"own-{name}")


def test_new_reports_that_share_an_id_are_one_patient() -> None:
    placed = place([report("b", "1", "x"), report("a", "1", "x"), report("c", "2", "y")], [], [])
    assert sorted(placed.reports) == [
        ("a", "own-a", True),
        ("b", "own-a", True),
        ("c", "own-c", True),
    ]
    assert placed.moved == []


def test_a_patient_that_two_stored_ones_join_takes_one_of_their_ids() -> None:
    stored = [Stored("p", ("1", "1"), None, True), Stored("q", None, ("x", "x"), True)]
    owners = [("mpi", "1", "p"), ("epic_mrn", "x", "q")]
    placed = place([report("a", "1", "x")], stored, owners)
    assert placed.reports == [("a", "p", True)]
    assert placed.moved == [("q", "p", True)]


def test_a_web_with_two_ids_of_one_kind_is_inconsistent_as_a_whole() -> None:
    stored = [Stored("p", ("1", "1"), ("y", "y"), True), Stored("r", ("9", "9"), None, True)]
    placed = place([report("a", "1", "x")], stored, [("mpi", "1", "p"), ("epic_mrn", "y", "p")])
    assert placed.reports == [("a", "p", False)]
    assert placed.moved == [("p", "p", False)]


def test_an_inconsistent_patient_that_stays_as_it_is_does_not_move() -> None:
    stored = [Stored("p", ("1", "2"), ("x", "x"), False)]
    placed = place([report("a", "1", "x")], stored, [("mpi", "1", "p"), ("epic_mrn", "x", "p")])
    assert placed.reports == [("a", "p", False)] and placed.moved == []


def test_a_plan_whose_partitions_were_merged_is_seen_as_such() -> None:
    exchange = "(4) Exchange\nInput [1]: [k#1]\nArguments: hashpartitioning(k#1, 200), [plan_id=2]\n"
    read = "(6) AQEShuffleRead\nInput [1]: [k#1]\nArguments: {}\n"
    spread = "(4) Exchange\nInput [1]: [k#1]\nArguments: RoundRobinPartitioning(2)\n"
    plain, merged, local = (
        f"== Physical Plan ==\nAdaptiveSparkPlan (7)\n+- Exchange (4)\n\n\n{exchange}\n{more}"
        for more in ("", read.format("coalesced"), read.format("local"))
    )
    plans = Plans.of([plain, merged, local, spread, "Scan"])
    assert plans == Plans(shuffled=3, coalesced=1)
    simple = "AQEShuffleRead coalesced\n+- Exchange hashpartitioning(a, 200)"
    assert Plans.of([simple]) == Plans(shuffled=1, coalesced=1)
    told = without_effect(Settings.read({"auto_compact": True}), plans, 0)
    assert set(told) == {"shuffle_partitions", "auto_compact"}
    assert without_effect(Settings.read({}), Plans(2, 0), 0).keys() == {"adaptive"}
    assert without_effect(Settings.read({"adaptive": False}), Plans(2, 0), 0) == {}


def test_a_ledger_says_what_became_of_every_message() -> None:
    ledger = Ledger(Read(logs=1, messages=3, empty=1, parsed=2, identifiers=["a_mr"]), inserted=1)
    ledger.of("reports_curated").inserted += 1
    message = ledger.message()
    assert message["reports"] == {"inserted": 1, "updated": 0, "unchanged": 1}
    assert "identifiers" not in message and not message["without_messages"]
    assert ledger.tables == {"reports_curated": Counts(inserted=1)}


def test_a_request_of_another_version_or_shape_is_refused() -> None:
    for line in (
        "x",
        "[]",
        '{"type":"shutdown"}',
        '{"protocol":2,"type":"shutdown"}',
        '{"protocol":1,"type":"dance"}',
        '{"protocol":1,"type":"ingest","workflow":1}',
    ):
        with pytest.raises(protocol.ProtocolError):
            protocol.parse(line)


def test_a_greeting_without_options_asks_for_the_own_pipeline() -> None:
    line = {"protocol": 1, "type": "hello", "lake": "l/", "dataset": "d", "sequence": "s", "new": 1}
    hello = protocol.parse(json.dumps(line))
    assert isinstance(hello, protocol.Hello)
    assert (hello.lake, hello.slots, hello.options.pipeline) == ("l", 1, "builtin")


def test_a_folder_without_the_transformer_is_refused_and_a_digest_names_one(tmp_path: Path) -> None:
    with pytest.raises(checkout.NoTransformer, match="holds no package hl7scout"):
        checkout.use(tmp_path)
    package = tmp_path / "hl7scout"
    package.mkdir()
    (package / "a.py").write_text("x = 1\n")
    first = checkout.revision(tmp_path)
    assert first.startswith("sha256 ")
    (package / "a.py").write_text("x = 2\n")
    assert checkout.revision(tmp_path) != first


def test_staging_accounts_for_every_log_and_message(tmp_path: Path) -> None:
    dataset = tmp_path / "logs"
    dataset.mkdir()
    (dataset / "20240101.log").write_bytes(b"<SB>\nMSH|1\n<EB>\n<SB>\n \n<EB>\n")
    (dataset / "20240102.log").write_bytes(b"nothing\n")
    names = [LogName.of(name) for name in ("20240101.log", "20240102.log", "20240103.log")]
    staged = stage(dataset, names, tmp_path / "root")
    assert staged.manifest == [f"{tmp_path}/root/2024/20240101.zip/2024/01/01/20240101_0.hl7"]
    assert (staged.read.logs, staged.read.messages, staged.read.empty) == (3, 2, 1)
    assert [one["file"] for one in staged.read.failed_logs] == ["20240102.log", "20240103.log"]
