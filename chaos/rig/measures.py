"""Measurements of processes and times: private memory, its slope, percentiles."""

import asyncio
import math
import os
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression, variance

_ANONYMOUS = re.compile(r"^RssAnon:\s+(\d+) kB", re.MULTILINE)
_RESIDENT = re.compile(r"^VmRSS:\s+(\d+) kB", re.MULTILINE)
_MB = 1024.0


@dataclass(slots=True)
class Sizes:
    """Samples of the memory of processes: (seconds, MB) of each by its name."""

    samples: dict[str, list[tuple[float, float]]] = field(
        default_factory=dict[str, list[tuple[float, float]]]
    )

    def note(self, name: str, pid: int, at: float, size: float) -> None:
        """Take one sample of the running processes."""
        if size:
            self.samples.setdefault(f"{name} {pid}", []).append((at, size))


def private_mb(pid: int) -> float:
    """Return the private memory of a process in MB; 0 after its end."""
    return _field(pid, _ANONYMOUS)


def resident_mb(pid: int) -> float:
    """Return the resident set in MB; 0 after the end of the process."""
    return _field(pid, _RESIDENT)


def processor_s(pid: int) -> float:
    """Return the seconds of processor time that a process has used; 0 after its end."""
    fields = _stat(pid)
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def slope_per_hour(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the least-squares slope of (seconds, value) per hour, and its standard error.

    Both are 0 for fewer than three samples.
    """
    if len(samples) < 3:
        return (0.0, 0.0)
    hours, values = [at / 3600 for at, _ in samples], [value for _, value in samples]
    slope, start = linear_regression(hours, values)
    beside = sum((value - slope * hour - start) ** 2 for hour, value in zip(hours, values, strict=True))
    return slope, math.sqrt(beside / (len(hours) - 2) / ((len(hours) - 1) * variance(hours)))


def floors(samples: Sequence[tuple[float, float]], *, every_s: float) -> list[tuple[float, float]]:
    """Return the smallest value of each stretch of time, which excludes memory in short use."""
    smallest: dict[int, tuple[float, float]] = {}
    for at, value in samples:
        stretch = int(at / every_s)
        smallest[stretch] = min(smallest.get(stretch, (at, value)), (at, value), key=lambda each: each[1])
    return list(smallest.values())


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share lies; 0 for no values."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))] if ranked else 0.0


@asynccontextmanager
async def sampling(
    pids: Callable[[], Mapping[str, int]], *, every_s: float, size: Callable[[int], float] = private_mb
) -> AsyncGenerator[Sizes]:
    """Sample the sizes of these processes while the block runs. Their ids are read again each time."""
    sizes = Sizes()

    async def sample() -> None:
        while True:
            at = time.monotonic()
            for name, pid in pids().items():
                sizes.note(name, pid, at, size(pid))
            await asyncio.sleep(every_s)

    task = asyncio.create_task(sample(), name="sampling")
    try:
        yield sizes
    finally:
        task.cancel()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError), ended


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 after its end."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def children_of(pid: int) -> list[int]:
    """Return the children of a process, started by any of its threads."""
    found: list[int] = []
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat behind the name, which may have blanks; none after the end of the process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _field(pid: int, pattern: re.Pattern[str]) -> float:
    try:
        found = pattern.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / _MB if found else 0.0
