"""Turns per second of one worker on one core, and of two workers on two cores, on the same stores.

Each run answers one line of each of many chats, which all wait in the inbox before the clock stops at the last index
entry. One core: a `mnemogram work`, Valkey, the index and the scripted servers share it. Two cores: each worker has a core
of its own, and the others share both. So the whole machine of the run doubles, and a ratio of 2 means that no worker waits
for the other. Turns per second are counted over the core time that other programs of the machine left (/proc/stat).
See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from statistics import median

from rig.instant import make_update
from rig.surroundings import cpu_seconds, pin, ready_bot, scripted_servers
from rig.table import print_table

from bot.features import CONTROLS
from bot.inbox.redis_inbox import RedisInbox
from bot.settings import SIMULATOR_TOKEN, Access
from bot.transport.gating import BotIdentity
from bot.transport.ingest import DoorRules, Ingest
from bot.transport.migrations import Migrations
from memory import keys
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.redis.client import RedisClient, open_redis

CORES = (0, 1)
_DONE_WITHIN_S = 300.0
_LOOK_AGAIN_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. `rate` is in turns per second, corrected by the share of the cores that others have `taken`.

    CPU is for one turn, of the workers and of the stores. `busy` is the share of the rest that the run has used.
    """

    rate: float
    worker_ms: float
    stores_ms: float
    taken: float
    busy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The running stores and servers, and the door through which the lines come."""

    directory: Path
    redis: RedisClient
    ingest: Ingest
    stores: Sequence[int]
    servers: Sequence[int]
    api_url: str


async def main() -> None:
    """Run one and two workers alternately, print."""
    options = _options()
    runs: dict[int, list[Run]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench(Path(directory)) as bench:
            first_id = 1
            for _ in range(options.rounds):
                for count, measured in runs.items():
                    measured.append(await measure(bench, count, options.chats, first_id=first_id))
                    first_id += 2 * options.chats
    if options.json:
        figures = {count: [asdict(each) for each in measured] for count, measured in runs.items()}
        print(json.dumps({"runs": figures, "ratio": ratio(runs)}))
    else:
        _print(runs, options.chats)


@asynccontextmanager
async def open_bench(directory: Path) -> AsyncGenerator[Bench]:
    """Start the embedded stores and the scripted servers."""
    data_dir = directory / "data"
    async with AsyncExitStack() as stack:
        redis_url = await stack.enter_async_context(open_valkey(data_dir))
        await stack.enter_async_context(open_index_server(data_dir))
        redis = await stack.enter_async_context(open_redis(redis_url))
        scripted = scripted_servers(directory / "servers.log")
        api_url, servers_pid = await stack.enter_async_context(scripted)
        inbox = RedisInbox(redis, partitions=1, box_limit=100, clock=time.time)
        await inbox.open()
        yield Bench(
            directory=directory,
            redis=redis,
            ingest=Ingest(
                inbox.accept,
                bot=BotIdentity(id=int(SIMULATOR_TOKEN.partition(":")[0]), username="mnemogram_bot"),
                controls=CONTROLS,
                access=Access(),
                rules=DoorRules(partitions=1),
                anchors=Migrations(redis, clock=time.time),
            ),
            stores=[int((data_dir / name / "server.lock").read_text()) for name in ("valkey", "index")],
            servers=[servers_pid],
            api_url=api_url,
        )


async def measure(bench: Bench, count: int, chats: int, *, first_id: int) -> Run:
    """Run `count` workers on as many cores: one line of each chat to warm up, one that is measured."""
    cores = CORES[:count]
    async with AsyncExitStack() as stack:
        workers = [await stack.enter_async_context(worker(bench, number)) for number in cores]
        for pid in (os.getpid(), *bench.stores, *bench.servers):
            pin(pid, cores)
        for pid, core in zip(workers, cores, strict=True):
            pin(pid, [core])
        await _answer_all(bench, chats, first_id=first_id)
        before = _Usage.now(bench, workers, cores)
        await _answer_all(bench, chats, first_id=first_id + chats)
        used = _Usage.now(bench, workers, cores).since(before)
    own_s = used.workers_s + used.stores_s + used.servers_s
    core_s = used.seconds * count
    taken = max(0.0, used.cores_s - own_s) / core_s
    return Run(
        rate=chats / used.seconds / (1 - taken),
        worker_ms=used.workers_s * 1000 / chats,
        stores_ms=used.stores_s * 1000 / chats,
        taken=taken,
        busy=own_s / (core_s * (1 - taken)),
    )


@dataclass(frozen=True, slots=True)
class _Usage:
    """The clock, and CPU seconds of our processes and of all that ran on the cores."""

    seconds: float
    workers_s: float
    stores_s: float
    servers_s: float
    cores_s: float

    @classmethod
    def now(cls, bench: Bench, workers: Sequence[int], cores: Sequence[int]) -> "_Usage":
        """Read the clock and /proc."""
        return cls(
            time.perf_counter(),
            _cpu_s(workers),
            _cpu_s(bench.stores),
            _cpu_s([*bench.servers, os.getpid()]),
            sum(map(_busy_s, cores)),
        )

    def since(self, before: "_Usage") -> "_Usage":
        """Return the difference."""
        pairs = zip(astuple(self), astuple(before), strict=True)
        return _Usage(*(after - earlier for after, earlier in pairs))


@asynccontextmanager
async def worker(bench: Bench, number: int) -> AsyncGenerator[int]:
    """Start `mnemogram work` for the simulator's bot, whose sends have no pace. Yield its process id."""
    log, data_dir = bench.directory / f"work-{number}.log", bench.directory / "data"
    async with ready_bot("work", log=log, data_dir=data_dir, servers=bench.api_url) as pid:
        yield pid


async def _answer_all(bench: Bench, chats: int, *, first_id: int) -> None:
    """Let each chat write one line, and return when all are answered and indexed."""
    updates = [make_update(first_id + number, 1 + number) for number in range(chats)]
    await asyncio.gather(*map(bench.ingest.take_in, updates))
    deadline = time.monotonic() + _DONE_WITHIN_S
    active, work = keys.partition_key(0, "active"), keys.partition_key(0, "work")
    while any(await bench.redis.calls([("HLEN", active), ("XLEN", work)])):
        if time.monotonic() > deadline:
            raise TimeoutError("the workers have not answered every line")
        await asyncio.sleep(_LOOK_AGAIN_S)


def _busy_s(core: int) -> float:
    """Return the seconds in which a core was not idle since the machine started."""
    line = next(
        each for each in Path("/proc/stat").read_text().splitlines() if each.startswith(f"cpu{core} ")
    )
    user, nice, system, _, _, *interrupts = map(int, line.split()[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def _cpu_s(pids: Collection[int]) -> float:
    return sum(cpu_seconds(pid) or 0.0 for pid in pids)


def ratio(runs: Mapping[int, Sequence[Run]]) -> float:
    """Return the turns per second of two workers ÷ those of one: the median over the pairs of neighbouring runs."""
    return median(two.rate / one.rate for one, two in zip(runs[1], runs[2], strict=True))


def _print(runs: Mapping[int, Sequence[Run]], chats: int) -> None:
    rows = [
        (
            str(count),
            f"{median(each.rate for each in measured):.1f}",
            f"{median(each.worker_ms for each in measured):.1f}",
            f"{median(each.stores_ms for each in measured):.1f}",
            f"{median(each.taken for each in measured):.0%}",
            f"{median(each.busy for each in measured):.0%}",
        )
        for count, measured in runs.items()
    ]
    heads = ("workers and cores", "turns/s", "CPU ms a turn: workers", "stores", "taken by others", "busy")
    print_table(f"{chats} turns in as many chats, medians of {len(runs[1])} rounds", heads, rows)
    print(f"two workers ÷ one worker: {ratio(runs):.2f}, the median of the rounds' ratios in turns/s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--chats", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
