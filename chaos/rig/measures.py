"""What a row measures of processes and of times: private memory, its slope, percentiles."""

import asyncio
import math
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
    """The memory of processes, sampled: (seconds, MB) of each, by its name."""

    samples: dict[str, list[tuple[float, float]]] = field(
        default_factory=dict[str, list[tuple[float, float]]]
    )

    def note(self, name: str, pid: int, at: float, size: float) -> None:
        """Take one sample; a process that is gone has none."""
        if size:
            self.samples.setdefault(f"{name} {pid}", []).append((at, size))


def private_mb(pid: int) -> float:
    """What the process has in memory that is no file's and no other process's, in MB; 0 for one that is gone."""
    return _field(pid, _ANONYMOUS)


def resident_mb(pid: int) -> float:
    """The resident set, in MB; 0 for a process that is gone."""
    return _field(pid, _RESIDENT)


def slope_per_hour(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The least-squares slope of (seconds, value), for an hour, and its standard error, as the scatter about it has it.

    0 and 0 for fewer than three samples.
    """
    if len(samples) < 3:
        return (0.0, 0.0)
    hours, values = [at / 3600 for at, _ in samples], [value for _, value in samples]
    slope, start = linear_regression(hours, values)
    beside = sum((value - slope * hour - start) ** 2 for hour, value in zip(hours, values, strict=True))
    return slope, math.sqrt(beside / (len(hours) - 2) / ((len(hours) - 1) * variance(hours)))


def floors(samples: Sequence[tuple[float, float]], *, every_s: float) -> list[tuple[float, float]]:
    """The smallest value of each stretch of time: what stays when what is in use for a moment is given back."""
    smallest: dict[int, tuple[float, float]] = {}
    for at, value in samples:
        stretch = int(at / every_s)
        smallest[stretch] = min(smallest.get(stretch, (at, value)), (at, value), key=lambda each: each[1])
    return list(smallest.values())


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them is; 0 for none."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))] if ranked else 0.0


@asynccontextmanager
async def sampling(
    pids: Callable[[], Mapping[str, int]], *, every_s: float, size: Callable[[int], float] = private_mb
) -> AsyncGenerator[Sizes]:
    """The sizes of these processes while the block runs; who they are is asked for anew each time."""
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
    """The process that started this one; 0 where it has ended."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(told.rpartition(")")[2].split()[1])


def children_of(pid: int) -> list[int]:
    """The processes that this one started and that are its children still, whichever of its threads it was."""
    found: list[int] = []
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _field(pid: int, pattern: re.Pattern[str]) -> float:
    try:
        found = pattern.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / _MB if found else 0.0
