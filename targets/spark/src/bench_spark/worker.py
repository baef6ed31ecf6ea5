"""The worker: reads requests, drives an engine, answers.

The end of the input while a workflow is in hand means that the runner is gone, and ends the process at
once. A JVM that ended takes the engine with it: of one that the kernel killed the worker dies as well,
by the same signal, so that the runner sees what happened; of any other end the attempt fails with the
reason, and the process begins anew in its place, with the requests that are still to be answered.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from typing import TextIO

from bench_spark import failures
from bench_spark.engine import Engine
from bench_spark.memory import TooLittleMemory
from bench_spark.protocol import Hello, Ingest, Output, ProtocolError, Request, Shutdown, parse
from bench_spark.reading import Refused
from bench_spark.session import Unusable
from bench_spark.settings import WrongSetting

HEARTBEAT_SECONDS = 5.0
# How long a JVM that broke a call is given to end, before it counts as alive.
PATIENCE_SECONDS = 10.0
# What a worker that begins anew is told, by this name in its environment.
AGAIN = "BENCH_SPARK_AGAIN"
_REFUSED = (Refused, WrongSetting, TooLittleMemory, Unusable, ValueError)


class Worker:
    """Serves one runner."""

    def __init__(self, requests: TextIO, output: Output):
        self._input = requests
        self._output = output
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._hello_line: str | None = None
        self._hello: Hello | None = None
        self._engine: Engine | None = None
        self._jvm: subprocess.Popen[bytes] | None = None
        self._busy = threading.Event()

    def serve(self) -> int:
        """Answers requests until the end; the exit code."""
        again = json.loads(os.environ.pop(AGAIN, "{}"))
        for line in again.get("pending", []):
            self._lines.put(line)
        threading.Thread(target=self._read, daemon=True).start()
        if "hello" in again:
            self._hello_line = again["hello"]
            greeting = parse(again["hello"])
            assert isinstance(greeting, Hello)
            self._hello = greeting
        try:
            while (line := self._lines.get()) is not None:
                if not self._answer(parse(line), line):
                    break
        except ProtocolError as error:
            print(f"error: {error}", file=sys.stderr, flush=True)
            self._end_jvm()
            return 70
        self._end_jvm()
        return 0

    def _read(self) -> None:
        for line in self._input:
            if line.strip():
                self._lines.put(line)
        if self._busy.is_set():
            self._end_jvm()
            os._exit(0)
        self._lines.put(None)

    def _end_jvm(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None and not self._busy.is_set():
            with contextlib.suppress(Exception):
                # Ends the event log as one that is whole.
                engine.spark.stop()
        if self._jvm is not None and self._jvm.poll() is None:
            self._jvm.kill()

    def _answer(self, request: Request, line: str) -> bool:
        match request:
            case Shutdown():
                return False
            case Hello():
                if self._engine is not None:
                    raise ProtocolError("a second hello came out of order")
                self._greet(request, line)
            case Ingest():
                if self._hello is None:
                    raise ProtocolError("ingest came before hello")
                self._ingest(request)
        return True

    def _started(self, jvm: "subprocess.Popen[bytes]") -> None:
        self._jvm = jvm

    def _greet(self, hello: Hello, line: str) -> None:
        try:
            self._engine = Engine(hello, self._started)
            ready = self._engine.ready()
        except Exception as error:
            self._log()
            self._output.say("failed", message=self._words(error, 0), retryable=False)
            self._end_jvm()
            return
        self._hello, self._hello_line = hello, line
        self._output.say("ready", **ready)

    def _ingest(self, ingest: Ingest) -> None:
        name = {"workflow": ingest.workflow, "attempt": ingest.attempt}
        self._busy.set()
        stop = threading.Event()

        def beat() -> None:
            while not stop.wait(HEARTBEAT_SECONDS):
                self._output.say("heartbeat", **name)

        beating = threading.Thread(target=beat, daemon=True)
        beating.start()
        kills = failures.oom_kills()
        reply = None
        try:
            if self._engine is None:
                assert self._hello is not None
                self._engine = Engine(self._hello, self._started)
            done = self._engine.ingest(ingest, lambda stage: self._output.say("stage", **name, **stage))
            reply = {
                "ledger": done.ledger.message(),
                "versions": done.ledger.versions(),
                "without_effect": done.without_effect,
            }
        except Exception as error:
            self._log()
            failure = error
            if self._engine is not None:
                # Waits for streams, so while the runner still hears a heartbeat.
                self._engine.abandon()
        finally:
            stop.set()
            beating.join()
        if reply is not None:
            self._busy.clear()
            self._output.say("done", **name, **reply)
            return
        code = self._jvm_code(failure)
        if code == -signal.SIGKILL:
            # Whoever killed the JVM meant the worker.
            os.kill(os.getpid(), signal.SIGKILL)
        oom_kills = failures.oom_kills() - kills
        words = failures.jvm_exit(code) if code is not None else self._words(failure, oom_kills)
        self._busy.clear()
        retryable = not isinstance(failure, _REFUSED)
        self._output.say("failed", **name, message=words, retryable=retryable)
        if code is not None:
            self._begin_anew()

    def _jvm_code(self, error: Exception) -> int | None:
        """Exit code of the JVM, where it ended; a call breaks a moment before that is known."""
        if self._jvm is None:
            return None
        is_broken = type(error).__module__.startswith("py4j") or isinstance(error, OSError)
        until = time.monotonic() + (PATIENCE_SECONDS if is_broken else 0.5)
        while (code := self._jvm.poll()) is None and time.monotonic() < until:
            time.sleep(0.05)
        return code

    def _words(self, error: Exception, oom_kills: int) -> str:
        # These are this package's own words, and hold nothing of a message.
        if isinstance(error, _REFUSED):
            return str(error)
        if type(error).__name__ == "WithoutMessages":
            return "the transformer fails a workflow in which it can read no message"
        return failures.describe(str(error), type(error).__name__, oom_kills)

    def _log(self) -> None:
        """The trace, without the error's own text, which may quote a row."""
        kind, _, trace = sys.exc_info()
        print("".join(traceback.format_tb(trace)), file=sys.stderr, end="")
        print(kind.__name__ if kind else "", file=sys.stderr, flush=True)

    def _begin_anew(self) -> None:
        """Replaces this process by a fresh one of the same number, pipes and limits."""
        pending = []
        with contextlib.suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                pending.append(line)
        os.environ[AGAIN] = json.dumps({"hello": self._hello_line, "pending": pending})
        os.execv(sys.executable, [sys.executable, "-m", "bench_spark", "worker"])


def main() -> int:
    """Serves over the process's own pipes."""
    # What Spark and its JVM print belongs into the log, not between the replies.
    replies = int(os.environ.get("BENCH_SPARK_REPLIES") or os.dup(1))
    os.environ["BENCH_SPARK_REPLIES"] = str(replies)
    os.set_inheritable(replies, True)
    os.dup2(2, 1)
    requests = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    output = Output(os.fdopen(replies, "w", encoding="utf-8", closefd=False))
    return Worker(requests, output).serve()
