"""Counters of all processes as series in time: messages, turns, tokens, answer times, refusals, and living workers.

Scripts that run anyway write the counters (memory/redis/scripts/counters.lua).
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from memory import keys
from memory.keys import Key
from memory.redis.client import RedisClient

Stage = Literal["waiting", "answering", "delivering", "whole"]
"""Parts of a turn: from its first update to its begin, to its commit, to its last part; and all of it."""

STEP_S, COARSE_STEP_S = keys.COUNTER_STEP_S, 3600
FINE_HOURS, HOURS_AT_MOST = 24, 720
"""Up to FINE_HOURS a point is one bucket, else an hour."""

SHORTEST_S, GROWTH = 0.001, 1.2
"""The first level of a histogram begins at SHORTEST_S. Each is longer than the one before by GROWTH (counters.lua)."""

_READ_AT_ONCE = 100
_LATE_S = 120
"""Clocks of processes may differ by this much: a bucket does not change any more after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Seconds within which half and 95 % of the turns passed a stage, within 10 %; None without turns."""

    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """Tokens and cost of one model; `cost` is None without prices."""

    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One step of time, which begins `at` Unix seconds."""

    at: int
    messages: int
    """Updates that asked for a turn, or stopped one."""
    turns: int
    """Answers of the agent."""
    recalled: int
    """Answers that used memories."""
    expired: int
    """Messages that went because they became too old."""
    stages: Mapping[Stage, Percentiles]
    models: Mapping[str, ModelUse]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points of equal steps, oldest first, without gaps. The last one is not over."""

    step_s: int
    points: Sequence[Point]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker that gave a sign of life `seen_s` seconds ago."""

    name: str
    version: str
    seen_s: float


class CounterReader:
    """Reads the counters of all partitions. Past buckets are read once. Each method raises StoreUnavailable."""

    def __init__(self, redis: RedisClient, *, partitions: int, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock
        self._past: dict[int, Counter[str]] = {}
        self._reading = asyncio.Lock()

    async def series(self, hours: int) -> Series:
        """Return the last `hours`, at most HOURS_AT_MOST."""
        step = STEP_S if hours <= FINE_HOURS else COARSE_STEP_S
        end = int(self._clock()) // step * step + step
        begin = end - min(hours, HOURS_AT_MOST) * 3600
        counters = await self._load(range(begin, end, STEP_S))
        points: list[Point] = []
        for start in range(begin, end, step):
            total = Counter[str]()
            for each in range(start, start + step, STEP_S):
                total.update(counters[each])
            points.append(point_of(start, total))
        return Series(step_s=step, points=points)

    async def messages_per_minute(self) -> float:
        """Return the rate of the last COUNTER_STEP_S. The bucket before the running one counts by its share of them."""
        now = self._clock()
        running = int(now) // STEP_S * STEP_S
        before = running - STEP_S
        counters = await self._load((before, running))
        share = 1 - (now - running) / STEP_S
        return (counters[running]["messages"] + counters[before]["messages"] * share) * 60 / STEP_S

    async def refusals(self) -> tuple[int, int]:
        """Return how often the Bot API refused a call as too early (429) in the last hour and day."""
        end = int(self._clock()) // STEP_S * STEP_S + STEP_S
        starts = range(end - FINE_HOURS * 3600, end, STEP_S)
        rows = await self._read([keys.global_key("{rates}:counts", start) for start in starts])
        refused = [int(row.get("refusals", 0)) for row in rows]
        return sum(refused[-(3600 // STEP_S) :]), sum(refused)

    async def expired(self) -> int:
        """Return how many messages went in the last day because they became too old."""
        return sum([point.expired for point in (await self.series(FINE_HOURS)).points])

    async def workers(self) -> list[Worker]:
        """Return the workers whose sign of life is younger than a lease, by name."""
        now = self._clock()
        reply = await self._redis.call("ZRANGE", keys.partition_key(0, "workers"), 0, -1, "WITHSCORES")
        found = [
            Worker(name=name, version=version, seen_s=max(0.0, now - float(seen)))
            for member, seen in cast("list[tuple[str, float]]", reply)
            for name, _, version in [member.partition(" ")]
        ]
        return sorted(found, key=lambda worker: worker.name)

    async def _load(self, starts: Sequence[int]) -> Mapping[int, Counter[str]]:
        """Return the counters of these buckets, summed over the partitions."""
        async with self._reading:
            missing = [start for start in starts if start not in self._past]
            found = {start: Counter[str]() for start in missing}
            for partition in range(self._partitions):
                names = [keys.partition_key(partition, "counts", start) for start in missing]
                for start, row in zip(missing, await self._read(names), strict=True):
                    found[start].update({name: int(number) for name, number in row.items()})
            known = {**self._past, **found}
            now = self._clock()
            ends_before, begins_after = now - _LATE_S, now - keys.COUNTER_TTL_S
            self._past = {
                start: each
                for start, each in known.items()
                if start + STEP_S < ends_before and start > begins_after
            }
            return known

    async def _read(self, names: Sequence[Key]) -> list[dict[str, str]]:
        rows: list[dict[str, str]] = []
        for first in range(0, len(names), _READ_AT_ONCE):
            rows += await self._redis.calls(
                [("HGETALL", name) for name in names[first : first + _READ_AT_ONCE]]
            )
        return rows


def point_of(at: int, counters: Mapping[str, int]) -> Point:
    """Return the point of these counters, by their names in the store."""
    levels: dict[str, dict[int, int]] = {stage: {} for stage in get_args(Stage)}
    models: dict[str, dict[str, int]] = {}
    for name, number in counters.items():
        kind, _, rest = name.partition(":")
        if kind in levels:
            levels[kind][int(rest)] = number
        elif rest:
            models.setdefault(rest, {})[kind] = number
    return Point(
        at=at,
        messages=counters.get("messages", 0),
        turns=counters.get("turns", 0),
        recalled=counters.get("recalled", 0),
        expired=counters.get("expired", 0),
        stages={
            stage: Percentiles(p50=percentile(levels[stage], 0.5), p95=percentile(levels[stage], 0.95))
            for stage in get_args(Stage)
        },
        models={
            model: ModelUse(
                prompt_tokens=used.get("prompt", 0),
                completion_tokens=used.get("completion", 0),
                cost=used["micros"] / 1_000_000 if "micros" in used else None,
            )
            for model, used in sorted(models.items())
        },
    )


def percentile(levels: Mapping[int, int], share: float) -> float | None:
    """Return the duration that this share of a histogram does not exceed: the middle of its level. None if empty."""
    rank = math.ceil(share * sum(levels.values()))
    for level, number in sorted(levels.items()):
        rank -= number
        if rank <= 0 and number:
            return round(SHORTEST_S * GROWTH ** (level + 0.5), 6)
    return None
