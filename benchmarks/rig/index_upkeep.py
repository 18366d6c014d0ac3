"""The vacuum of an embedded index: its duration, and that of the searches during it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_GIVE_UP_AFTER_S = 1_800.0
_BETWEEN_S = 0.02
"""Pause between two searches: the benchmark measures their waiting time, not their load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuum:
    """The duration of a vacuum, and of the searches during it and of as many after it (p50, p99, slowest)."""

    seconds: float
    searches: int
    during_ms: tuple[float, float, float]
    after_ms: tuple[float, float, float]


async def watch_vacuum(folder: Path, search: Callable[[], Awaitable[object]]) -> Vacuum:
    """Search again and again during a vacuum of the collection of this folder, which has garbage.

    Raises TimeoutError if there is no vacuum.
    """
    (former,) = _shards(folder)
    begun_at: float | None = None
    during: list[float] = []
    deadline = time.monotonic() + _GIVE_UP_AFTER_S
    while former in _shards(folder):
        if time.monotonic() > deadline:
            raise TimeoutError("the collection was not vacuumed")
        if begun_at is None and len(_shards(folder)) > 1:
            begun_at = time.perf_counter()
        spent = await time_ms(search)
        if begun_at is not None:
            during.append(spent)
        await asyncio.sleep(_BETWEEN_S)
    seconds = time.perf_counter() - (begun_at or time.perf_counter())
    after = [await time_ms(search) for _ in during]
    return Vacuum(
        seconds=seconds, searches=len(during), during_ms=_percentiles(during), after_ms=_percentiles(after)
    )


async def time_ms(ask: Callable[[], Awaitable[object]]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    await ask()
    return (time.perf_counter() - started) * 1000


def _shards(folder: Path) -> list[Path]:
    return list(folder.glob("shard-*"))


def _percentiles(spent: list[float]) -> tuple[float, float, float]:
    p50, p99 = np.percentile(spent or [0.0], [50, 99])
    return float(p50), float(p99), max(spent, default=0.0)
