"""R20: a steady load for a long time with random faults of every kind. Nothing is lost, and nothing grows."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from chaos.card import Bench, Row, Score
from chaos.rig import heap
from chaos.rig.chat_load import ChatLoad, open_chat_load
from chaos.rig.crash_load import quiet
from chaos.rig.heap import heap_file, read_notes
from chaos.rig.measures import Sizes, floors, parent_of, percentile, sampling, slope_per_hour
from chaos.rig.program import Program
from chaos.rig.system import Between, System, running_system
from chaos.rig.tcp_proxy import Faults
from chaos.rig.verdict import judge
from simulator.api.faults import Fault
from tests.scripted_replies import Reply, rate_limited, server_error
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.stores import stray_keys

PER_SECOND = 20
QUIET_WITHIN_S = 120.0
SLOPE_MB_PER_HOUR = 1.0
_FAILING = 0.04
"""The share of the model's calls that are answered 429 or 500, and of sends that are answered 429."""
_STRETCH_S = 60.0
"""A slope is of the smallest value (each 5 s) of each minute: what turns take for a moment comes and goes."""
_COURSE_S = 300.0
_SCATTER = 2.0
"""Standard errors. Private memory (RssAnon) also contains freed memory, at times 10 MB of a worker, and the memory in
use what the embedder takes for a batch: both scatter within half an hour, so the excess over the scatter is limited.
"""
_HELD = ("serve", "work", "guardian of valkey", "guardian of index")
_PASSING: tuple[Between, ...] = ("redis", "index", "model", "telegram", "webhook")


async def run(bench: Bench) -> Score:
    """Write at a steady rate during faults. Then check for losses, growth and keys without a TTL."""
    score, seconds, warm_up_s = Score(), bench.pick(7, 1800), bench.pick(0, 300)
    model = _FlakyModel(random=bench.random)
    async with running_system(
        bench.directory,
        model,
        through=_PASSING,
        seed=bench.seed,
        forked_with=heap.EXACT,
        RECALL_K="1",
        WINDOW_TOKENS="500",
    ) as system:
        staying = await system.start("serve", "work", **{heap.NOTED_EVERY_S: f"{bench.pick(1, 5)}"})
        leaving = await system.start("serve", "work")
        system.simulator.simulation.faults.order(
            Fault(error="429", times=None, method="sendMessage", probability=_FAILING, seed=bench.seed)
        )
        soak = _Soak(bench=bench, system=system, leaving=leaving, model=model)
        async with (
            open_chat_load(system, private=bench.pick(20, 200)) as crowd,
            sampling(lambda: _processes(system, staying), every_s=bench.pick(1, 5)) as sizes,
        ):
            begun = time.monotonic()
            # Every slot at work at once: what that takes is taken before it is measured.
            for place in [*crowd.places] * bench.pick(0, 2):
                crowd.write(place)
            await soak.run(crowd, seconds)
            ended = time.monotonic()
            await crowd.give_up_waiting(within_s=QUIET_WITHIN_S)
            await quiet(system, crowd)
            (await judge(system, crowd)).hold(score, lines=int(seconds * PER_SECOND))
            score.exactly("lines that Telegram still holds", crowd.unacknowledged, 0)
            score.exactly("keys without a TTL that are not listed", len(await stray_keys(system.redis)), 0)
            score.note("wait for an answer, p50 and p99 (s)", _waits(crowd))
        span, is_held = (begun + warm_up_s, ended), bench.size == "long"
        _judge_in_use(score, staying, span, is_held=is_held)
        _judge_sizes(score, sizes, span, is_held=is_held)
        score.at_least("injected faults", soak.fallen.total(), bench.pick(1, 40))
        for what, count in sorted(soak.fallen.items()):
            score.note(f"faults: {what}", count)
    return score


@dataclass(slots=True)
class _FlakyModel:
    """A model that echoes and sometimes fails, but never twice in a row for the same line:

    an apology answers no line.
    """

    random: Random
    failed: str = ""

    def __call__(self, request: ChatRequest) -> Reply:
        line = last_user_text(request)
        if line != self.failed and self.random.random() < _FAILING:
            self.failed = line
            return self.random.choice([rate_limited(retry_after_s=1), server_error()])
        return echo(request)


@dataclass(slots=True, kw_only=True)
class _Soak:
    """The load and its faults."""

    bench: Bench
    system: System
    leaving: list[Program]
    model: _FlakyModel
    fallen: Counter[str] = field(default_factory=Counter[str])

    async def run(self, crowd: ChatLoad, seconds: float) -> None:
        """Run load and faults for this time."""
        falling = asyncio.create_task(self._break_things(), name="faults")
        telling = asyncio.create_task(self._tell(crowd), name="telling")
        try:
            await crowd.write_steadily(
                int(seconds * PER_SECOND), per_second=PER_SECOND, random=self.bench.random, burst=2
            )
        finally:
            falling.cancel()
            telling.cancel()
            ended = await asyncio.gather(falling, telling, return_exceptions=True)
        for one in ended:
            if not isinstance(one, asyncio.CancelledError):
                raise RuntimeError(f"the rig's own faults failed: {one!r}")

    async def _break_things(self) -> None:
        random = self.bench.random
        faults: Mapping[str, Callable[[Random], Awaitable[None]]] = {
            "serve killed": lambda _: self._kill(0),
            "worker killed": lambda _: self._kill(1),
            "store killed": lambda _: self._kill_server("valkey"),
            "index killed": lambda _: self._kill_server("index"),
            "connection cut": self._cut,
            "connection slow": self._slow,
        }
        while True:
            await asyncio.sleep(random.uniform(0.4, 1.2) * self.bench.pick(1, 25))
            name = random.choice(list(faults))
            self.fallen[name] += 1  # a restart may take longer than the rest of the load
            await faults[name](random)

    async def _kill(self, which: int) -> None:
        await self.leaving[which].kill()
        if which == 0:
            del self.system.proxies["webhook"].places[-1]
        (self.leaving[which],) = await self.system.start(self.leaving[which].command)

    async def _kill_server(self, store: str) -> None:
        self.system.kill_server(store)

    async def _cut(self, random: Random) -> None:
        proxy = self.system.proxies[random.choice(_PASSING)]
        await proxy.suffer(Faults(refuse=True), seconds=random.uniform(0.2, 2))

    async def _slow(self, random: Random) -> None:
        proxy = self.system.proxies[random.choice(_PASSING)]
        slow = Faults(delay_s=0.02, jitter_s=0.05, cut=0.01)
        await proxy.suffer(slow, seconds=random.uniform(0.5, 3))

    async def _tell(self, crowd: ChatLoad) -> None:
        """Print progress. Requests stored by the scripted model are released."""
        while True:
            await asyncio.sleep(30)
            self.system.model.requests.clear()
            self.bench.say(
                f"{len(crowd.written):,} written, {crowd.waiting} wait, {self.fallen.total()} faults"
            )


def _processes(system: System, staying: Sequence[Program]) -> dict[str, int]:
    """Return our running processes: those that are never killed, the embedded index, and the guardians."""
    found = {program.command: program.process.pid for program in staying}
    if index := system.server_pid("index"):
        found["index"] = index
    for store in ("valkey", "index"):
        server = system.server_pid(store)
        if server and (guardian := parent_of(server)):
            found[f"guardian of {store}"] = guardian
    return found


def _waits(crowd: ChatLoad) -> str:
    waits = crowd.waits()
    return f"{percentile(waits, 0.5):.2f}, {percentile(waits, 0.99):.2f}"


def _judge_in_use(
    score: Score, staying: Sequence[Program], span: tuple[float, float], *, is_held: bool
) -> None:
    """Check the slope of the memory in use by processes that are never killed."""
    for program in staying:
        kept = [each for each in read_notes(heap_file(program.log)) if span[0] <= each[0] <= span[1]]
        lows = floors(kept, every_s=_STRETCH_S)
        slope, error = slope_per_hour(lows)
        if is_held:
            noted_s = kept[-1][0] - kept[0][0] if kept else 0.0
            half_s = (span[1] - span[0]) / 2
            score.at_least(f"seconds with notes of the memory in use by {program.command}", noted_s, half_s)
            score.at_most(
                f"growth of the memory in use by {program.command} beyond its noise (MB/h)",
                slope - _SCATTER * error,
                SLOPE_MB_PER_HOUR,
            )
        score.note(f"memory in use by {program.command}", _told(kept, slope, error))


def _told(kept: Sequence[tuple[float, float]], slope: float, error: float) -> str:
    course = ", ".join(f"{size:.1f}" for _, size in floors(kept, every_s=_COURSE_S))
    return f"{course} MB (minimum of each {_COURSE_S / 60:.0f} min), {slope:+.2f} ± {error:.2f} MB/h"


def _judge_sizes(score: Score, sizes: Sizes, span: tuple[float, float], *, is_held: bool) -> None:
    """Check the slope of each process that ran most of the time after the warm-up.

    The index keeps its vectors in memory and grows with the writes, so its slope is only printed.
    """
    held, (since, until) = 0, span
    for name, samples in sorted(sizes.samples.items()):
        kept = [(at, size) for at, size in samples if since <= at <= until]
        if not kept or kept[-1][0] - kept[0][0] < (until - since) / 2:
            continue
        lows = floors(kept, every_s=_STRETCH_S)
        slope, error = slope_per_hour(lows)
        if is_held and name.startswith(_HELD):
            held += 1
            beyond = slope - _SCATTER * error
            score.at_most(f"growth of {name} beyond its noise (MB/h)", beyond, SLOPE_MB_PER_HOUR)
        score.note(f"private memory of {name}", _told(kept, slope, error))
    if is_held:
        score.at_least("processes whose growth was checked", held, len(_HELD))


ROW = Row(
    name="R20",
    title="soak",
    load=f"{{7 s|30 min}} at {PER_SECOND}/s with random faults",
    fault="kill -9 of serve, worker, store and index; cuts and delays; 4 % of model calls and sends fail",
    hold=f"0 lost; the memory in use of serve and work grows by < {SLOPE_MB_PER_HOUR:g} MB/h beyond its noise, and so "
    "does the private memory of these and of the guardians (the index keeps its vectors in memory: its growth is only "
    "printed); no key without a TTL except those listed",
    run=run,
)
