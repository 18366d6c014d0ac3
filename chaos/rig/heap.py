"""The memory in use by a process, measured from inside. The resident set also contains freed memory.

In half an hour of load that scatters a worker's private memory by about ten MB, a slope of as many MB an
hour. Only the allocator knows the memory in use: `EXACT` makes glibc's the only one.
"""

import ctypes
import gc
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

EXACT: Mapping[str, str] = {"PYTHONMALLOC": "malloc"}
"""To be in the environment before Python starts."""
NOTED_EVERY_S = "HEAP_NOTED_EVERY_S"
"""In the environment of a process that is to note it: how often."""
_MB = 2.0**20


class _Mallinfo2(ctypes.Structure):
    """mallinfo(3). glibc 2.33 and later adds up all of its arenas."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    )


def in_use_mb() -> float:
    """Return the MB that this process has allocated and not freed, after a garbage collection."""
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    told = mallinfo2()
    return (told.uordblks + told.hblkhd) / _MB


@contextmanager
def noting(file: Path, *, every_s: float) -> Generator[None]:
    """Append a line to the file at this interval while the block runs:

    seconds (`time.monotonic`), MB in use.
    """
    ended = Event()

    def note() -> None:
        while not ended.wait(every_s):
            with file.open("a") as lines:
                lines.write(f"{time.monotonic()} {in_use_mb()}\n")

    thread = Thread(target=note, name="heap-notes", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def read_notes(file: Path) -> list[tuple[float, float]]:
    """Return the recorded (seconds, MB) of complete lines."""
    whole, _, _ = file.read_text().rpartition("\n")
    return [(float(at), float(size)) for at, size in (line.split() for line in whole.splitlines())]


def heap_file(log: Path) -> Path:
    """Return the path of the notes of a process with this log."""
    return log.with_suffix(".heap")
