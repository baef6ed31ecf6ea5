"""`python -m bench_spark worker`: serves a runner over stdin and stdout."""

import os
import sys


def main() -> int:
    """The command."""
    if sys.argv[1:] != ["worker"]:
        print("usage: python -m bench_spark worker", file=sys.stderr)
        return 64
    from bench_spark.worker import main as serve

    return serve()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the gateway may be waiting for a JVM that is gone.
    os._exit(code)
