"""The plan and the run of crash points, several at a time, and their results."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from chaos.rig.crashes.process_source import HalfFailedError, Source, source
from chaos.rig.crashes.scenarios import KINDS, Kind
from chaos.rig.crashes.verdict import Finding, answers_twice, judge, judge_alone
from chaos.rig.crashes.worker_process import Fault, Order
from memory.embedded.supervisor import IndexEndpoint, open_index_server
from memory.embedded.valkey import open_valkey

FAULTS: Sequence[Fault] = ("kill", "cancel", "cut", "away")
LANES = 3
"""A process waits for its stores most of the time: three pairs keep two cores busy."""
_SAY_EVERY_S = 30.0
_MORE_AWAITS = 3
"""A run under a fault has not so many times the awaits of one without: what does not end by then fails each time."""


class ReferenceBrokenError(Exception):
    """A scenario fails without a fault, so nothing can be compared with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Crash points of one scenario and fault: at these awaits, or (None) at all, one after the other."""

    kind: Kind
    fault: Fault
    at: Sequence[int] | None = None


@dataclass(slots=True)
class TrialResults:
    """The results.

    `awaits` by scenario; `reached` by scenario and fault; violations with the place of the fault.
    """

    awaits: dict[str, int] = field(default_factory=dict[str, int])
    reached: Counter[tuple[str, Fault]] = field(default_factory=Counter[tuple[str, Fault]])
    findings: list[tuple[str, Finding]] = field(default_factory=list[tuple[str, Finding]])
    within_a_send: int = 0
    prompts: int = 0

    @property
    def points(self) -> int:
        """Return the number of injected faults."""
        return sum(self.reached.values())


def plan_samples(
    random: Random, awaits: Mapping[str, int], *, more: Sequence[str], each: int
) -> list[Errand]:
    """Return a point of each scenario, and this many of those in `more`, with any fault at any await."""
    return [
        Errand(kind=kind, fault=random.choice(FAULTS), at=[random.randint(1, awaits[kind.name])])
        for kind in KINDS
        for _ in range(each if kind.name in more else 1)
    ]


def plan_all(random: Random, awaits: Mapping[str, int], *, full: Sequence[str], each: int) -> list[Errand]:
    """Return every await with every fault for the scenarios in `full`.

    For the others return every await with a kill, and samples.
    """
    errands: list[Errand] = []
    for kind in KINDS:
        for fault in FAULTS:
            if kind.name in full or fault == "kill":
                errands.append(Errand(kind=kind, fault=fault))
            else:
                at = sorted(random.sample(range(1, awaits[kind.name] + 1), min(each, awaits[kind.name])))
                errands.append(Errand(kind=kind, fault=fault, at=at))
    random.shuffle(errands)
    return errands


@dataclass(slots=True, kw_only=True)
class Trials:
    """Parallel lanes for crash points, each with its own store."""

    lanes: Sequence["Lane"]
    say: Callable[[str], None]
    tried: TrialResults = field(default_factory=TrialResults)
    golden: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    async def learn(self) -> None:
        """Run every scenario once without a fault."""
        await self._share([Errand(kind=kind, fault="none") for kind in KINDS])

    async def try_all(self, errands: Sequence[Errand]) -> None:
        """Run the planned points and add violations to `tried`."""
        await self._share(errands)

    async def _share(self, errands: Sequence[Errand]) -> None:
        left = list(reversed(errands))
        said_at = time.monotonic()

        async def work(lane: "Lane") -> None:
            nonlocal said_at
            while left:
                errand = left.pop()
                if errand.fault == "none":
                    await self._learn(lane, errand.kind)
                else:
                    await self._try(lane, errand)
                if time.monotonic() - said_at > _SAY_EVERY_S:
                    said_at = time.monotonic()
                    self.say(
                        f"{self.tried.points} crash points, {len(left)} errands left, "
                        f"{len(self.tried.findings)} findings"
                    )

        async with asyncio.TaskGroup() as group:
            for lane in self.lanes:
                group.create_task(work(lane), name="lane")

    async def _learn(self, lane: "Lane", kind: Kind) -> None:
        """Keep a run without a fault to compare others with. Raises ReferenceBrokenError if it is not in order."""
        told, golden = await lane.both(kind, "none", 0)
        assert told is not None
        if findings := judge_alone({**golden, "tasks": [*golden["tasks"], *told["tasks"]]}):
            problems = "; ".join(f"{each.what}: {each.told}" for each in findings)
            raise ReferenceBrokenError(f"{kind.name} without a fault: {problems}")
        self.tried.awaits[kind.name] = told["awaits"]
        self.golden[kind.name] = golden

    async def _try(self, lane: "Lane", errand: Errand) -> None:
        awaits = self.tried.awaits[errand.kind.name]
        numbers = errand.at if errand.at is not None else range(1, _MORE_AWAITS * awaits)
        last = 0
        for number in numbers:
            if number <= last:
                continue
            try:
                told, found = await lane.both(errand.kind, errand.fault, number)
            except HalfFailedError as failure:
                finding = Finding(what="keys or tasks left over", told=f"the next worker failed: {failure}")
                self.tried.findings.append((f"{errand.kind.name} {errand.fault} {number}", finding))
                continue
            fallen = [event for event in found["events"] if event["what"] == "fault"]
            if not fallen and number > awaits:
                return  # it was done before it came to this await
            if not fallen:
                continue  # previews go by time: another run has more awaits
            last = fallen[0]["at"]
            self._judge(errand, found, fallen[0], tasks=told["tasks"] if told else [])

    def _judge(
        self, errand: Errand, found: Mapping[str, Any], fallen: Mapping[str, Any], *, tasks: Sequence[str]
    ) -> None:
        kind, golden = errand.kind, self.golden[errand.kind.name]
        where = f"{kind.name} {errand.fault} {fallen['at']} at {' > '.join(fallen['where'][-3:])}"
        findings = judge(kind, errand.fault, golden, {**found, "tasks": [*found["tasks"], *tasks]})
        self.tried.reached[kind.name, errand.fault] += 1
        self.tried.within_a_send += answers_twice(kind, golden, found)
        self.tried.prompts += sum(event["what"] == "model" for event in found["events"])
        self.tried.findings += [(where, finding) for finding in findings]


@dataclass(slots=True, kw_only=True)
class Lane:
    """A store and a source of processes. Every point has its own chat."""

    source: Source
    redis_url: str
    index: IndexEndpoint
    directory: Path
    numbers: "count[int]"

    async def both(
        self, kind: Kind, fault: Fault, at: int
    ) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
        """Run one crash point.

        Return the results of the first worker (None: it was killed) and of the second. Raises
        HalfFailedError.
        """
        number = next(self.numbers)
        log = self.directory / f"{number}.jsonl"
        order = make_order(kind, number, self.redis_url, self.index, log=log, fault=fault, at=at)
        first = await self.source.run(order)
        second = await self.source.run(order.by_the_second())
        assert second is not None
        log.unlink()
        return first, second


def make_order(
    kind: Kind, number: int, redis_url: str, index: IndexEndpoint, *, log: Path, fault: Fault, at: int
) -> Order:
    """Return the order of the first half of a crash point."""
    return Order(
        kind=kind.name,
        number=number,
        who="first",
        fault=fault,
        at=at,
        redis_url=redis_url,
        index_url=index.url,
        index_key=index.api_key,
        log=str(log),
    )


@asynccontextmanager
async def open_trials(
    directory: Path, *, say: Callable[[str], None], lanes: int = LANES
) -> AsyncGenerator[Trials]:
    """Open lanes with stores in this folder, and run every scenario once without a fault."""
    numbers = count(1)
    async with AsyncExitStack() as stack:
        index = await stack.enter_async_context(open_index_server(directory / "index"))
        urls = [
            await stack.enter_async_context(open_valkey(directory / f"store-{lane}")) for lane in range(lanes)
        ]
        scenes = directory / "scenes"
        scenes.mkdir()
        warm_up = make_order(KINDS[1], 0, urls[0], index, log=scenes / "warm", fault="none", at=0)
        processes = await stack.enter_async_context(source(scenes, warm_up))
        opened = [
            Lane(source=processes, redis_url=url, index=index, directory=scenes, numbers=numbers)
            for url in urls
        ]
        trials = Trials(lanes=opened, say=say)
        await trials.learn()
        yield trials
