"""How a worker's memory is divided: what the driver's heap gets of it.

The runner holds the whole worker to a limit: this Python process, the Java virtual machine that it
starts, and the Python processes that read logs. So the heap gets what the others leave.
"""

MIB = 1 << 20
# Beside the heap a JVM needs metaspace, compiled code, threads and direct buffers: a tenth, as Spark has
# it, and at least this. Spark's own 384 MiB are too few in local mode, where the driver plans and
# executes: 440 to 570 MiB were seen beside heaps of 1.3 to 2.3 GiB.
LEAST_OVERHEAD = 640 * MIB
OVERHEAD_SHARE = 0.10
# This process, and each Python process that reads logs.
PYTHON_DRIVER = 160 * MIB
PYTHON_READER = 96 * MIB
# Spark refuses to start below 450 MiB of heap.
LEAST_HEAP = 480 * MIB
# Where there is no limit.
DEFAULT_HEAP = 2048 * MIB


class TooLittleMemory(Exception):
    """A limit below which Spark does not start."""


def overhead(memory: int, readers: int) -> int:
    """Bytes of a worker's memory that are not the driver's heap."""
    jvm = max(LEAST_OVERHEAD, int(memory * OVERHEAD_SHARE))
    return jvm + PYTHON_DRIVER + PYTHON_READER * readers


def driver_heap(memory: int | None, readers: int) -> int:
    """Bytes of heap for a worker of so much memory that reads logs with so many processes."""
    if memory is None:
        return DEFAULT_HEAP
    heap = memory - overhead(memory, readers)
    if heap < LEAST_HEAP:
        least = LEAST_HEAP + overhead(0, readers)
        raise TooLittleMemory(
            f"resources.memory is {memory // MIB} MiB, of which {heap // MIB} MiB would be left for "
            f"the driver's heap, and Spark needs {LEAST_HEAP // MIB} MiB; allow at least "
            f"{-(-least // MIB)} MiB, or fewer cpus"
        )
    return heap // MIB * MIB
