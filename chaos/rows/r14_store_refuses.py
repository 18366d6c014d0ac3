"""R14:

the store runs and refuses writes: full, read-only, loading, without scripts, locked, or without its disk.
"""

import asyncio
import resource
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import ChatLoad, open_chat_load
from chaos.rig.crash_load import quiet
from chaos.rig.evidence import settled
from chaos.rig.power_cut_store import SOCKET, PowerCutStore, power_cut_store
from chaos.rig.system import running_system
from chaos.rig.verdict import A_DEAD_ONE_OF, judge
from memory.embedded.valkey import server_options, valkey_binary
from memory.redis.client import RedisClient, open_redis
from tests.scripted_script import echo

CHATS = 100
PER_SECOND = 50
RECOVERY_S = 5.0
GIVEN_UP_AFTER_S = 30.0
UNDER_WAY_S = 0.25
"""Time in which a write from just before a trouble may still be acknowledged."""
_USER, _PASSWORD, _OTHER = "bot", "the-password", "another-password"
_NEVER_REWRITTEN = ("--auto-aof-rewrite-percentage", "0")
"""From 64 MB on the server would make its file small: it would be loaded, and have room, before a trouble is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The store, an unaffected connection to it, and a random generator.

    `load_delay_us`: a pause after each command of its file, so that loading takes longer than a trouble.
    A loading server reads requests only between 1,024 commands.
    """

    store: PowerCutStore
    control: RedisClient
    random: Random
    load_delay_us: int

    async def set(self, name: str, value: str | int) -> None:
        await self.control.call("CONFIG", "SET", name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A trouble of the store and its repair. `refuses`: no durable write is possible meanwhile."""

    name: str
    begin: Callable[[Broken], Awaitable[None]]
    end: Callable[[Broken], Awaitable[None]]
    refuses: bool = True


@dataclass(slots=True, kw_only=True)
class Measured:
    """The measurements of one trouble:

    200s during it, and seconds from its end to the next 200 and the next answer.
    """

    name: str
    acknowledged: int
    to_200_s: float
    to_answer_s: float


@dataclass(slots=True)
class _Watch:
    """The times of 200s and answers."""

    crowd: ChatLoad
    measured: list[Measured] = field(default_factory=list[Measured])

    def acknowledged(self, since: float, until: float = float("inf")) -> list[float]:
        times = (one.acknowledged_at for one in self.crowd.written)
        return [at for at in times if at is not None and since < at < until]

    def answered(self, since: float) -> list[float]:
        times = (one.answered_at for one in self.crowd.written)
        return [at for at in times if at is not None and at > since]


async def run(bench: Bench) -> Score:
    """Cause one trouble after the other under a steady load. Then check every update."""
    score = Score()
    async with _a_store(bench) as broken:
        url = broken.store.url.replace("unix://", f"unix://{_USER}:{_PASSWORD}@")
        async with running_system(bench.directory, echo, redis_url=url, STREAMING="false") as system:
            programs = await system.start("serve", "work")
            async with open_chat_load(system, private=CHATS) as crowd:
                watch = _Watch(crowd)
                writing = asyncio.create_task(_write(crowd, bench), name="writing")
                for round_number in range(bench.pick(1, 3)):
                    for trouble in TROUBLES:
                        bench.say(f"round {round_number + 1}: {trouble.name}")
                        watch.measured.append(
                            await _suffer(broken, trouble, watch, bench.pick(400, 5_000) / 1000)
                        )
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                await crowd.give_up_waiting(within_s=60)
                await quiet(system, crowd)
                await broken.store.cut_power(broken.random)
                await broken.store.start()
                await settled(system.redis, within_s=60)
                verdict = await judge(system, crowd)
                verdict.hold(
                    score, lines=bench.pick(100, 5_000), otherwise_at_most=len(crowd.written) // A_DEAD_ONE_OF
                )
                score.exactly("lines that Telegram still holds", crowd.unacknowledged, 0)
                score.exactly(
                    "processes that ended", sum(each.process.returncode is not None for each in programs), 0
                )
                score.note("answers seen twice", verdict.answers_twice.total())
                score.at_least("tries that were refused", crowd.refused, bench.pick(7, 500))
    _hold(score, watch.measured)
    return score


async def _suffer(broken: Broken, trouble: Trouble, watch: _Watch, seconds: float) -> Measured:
    """Cause a trouble for this time. Return the measurements of the recovery."""
    await _until_working(watch, time.time())
    await trouble.begin(broken)
    begun = time.time()
    await asyncio.sleep(seconds)
    ending = time.time()
    await trouble.end(broken)
    ended = time.time()
    await _until_working(watch, ended)
    answers = watch.answered(ended)
    acknowledged = watch.acknowledged(ended)
    return Measured(
        name=trouble.name,
        acknowledged=len(watch.acknowledged(begun + UNDER_WAY_S, ending)) if trouble.refuses else 0,
        to_200_s=min(acknowledged, default=float("inf")) - ended,
        to_answer_s=min(answers, default=float("inf")) - ended,
    )


async def _until_working(watch: _Watch, since: float) -> None:
    """Wait for the first 200 and answer after this time, or until neither can be expected."""
    deadline = time.monotonic() + GIVEN_UP_AFTER_S
    while not (watch.acknowledged(since) and watch.answered(since)):
        if time.monotonic() > deadline:
            return
        await asyncio.sleep(0.02)


async def _write(crowd: ChatLoad, bench: Bench) -> None:
    await crowd.write_steadily(1_000_000, per_second=PER_SECOND, random=bench.random, at_most_waiting=2_000)


def _hold(score: Score, measured: Sequence[Measured]) -> None:
    score.exactly("200s while nothing could be stored", sum(each.acknowledged for each in measured), 0)
    score.at_most(
        "seconds to the next 200", max(each.to_200_s for each in measured), RECOVERY_S, is_timed=True
    )
    score.at_most(
        "seconds to the next answer", max(each.to_answer_s for each in measured), RECOVERY_S, is_timed=True
    )
    for name in dict.fromkeys(each.name for each in measured):
        mine = [each for each in measured if each.name == name]
        score.note(
            f"{name}: wrong 200s, next 200, next answer",
            f"{sum(each.acknowledged for each in mine)}, {max(each.to_200_s for each in mine):.2f} s, "
            f"{max(each.to_answer_s for each in mine):.2f} s",
        )


@asynccontextmanager
async def _a_store(bench: Bench) -> AsyncGenerator[Broken]:
    directory = bench.directory / "store"
    settings = bench.directory / "store.conf"
    settings.write_text(f"user {_USER} on >{_PASSWORD} ~* &* +@all\n")
    command = [
        str(valkey_binary()),
        str(settings),
        *server_options(directory, directory / SOCKET),
        *_NEVER_REWRITTEN,
    ]
    async with (
        power_cut_store(directory, command) as store,
        open_redis(store.url, max_connections=4) as control,
    ):
        yield Broken(store=store, control=control, random=bench.random, load_delay_us=bench.pick(300, 2_000))


def _setting(name: str, bad: str | int, good: str | int) -> tuple[Callable[[Broken], Awaitable[None]], ...]:
    async def begin(broken: Broken) -> None:
        await broken.set(name, bad)

    async def end(broken: Broken) -> None:
        await broken.set(name, good)

    return begin, end


async def _follow_nobody(broken: Broken) -> None:
    await broken.control.call("REPLICAOF", "127.0.0.1", 1)


async def _lead(broken: Broken) -> None:
    await broken.control.call("REPLICAOF", "NO", "ONE")


async def _load_slowly(broken: Broken) -> None:
    await broken.store.kill()
    await broken.store.spawn("--key-load-delay", str(broken.load_delay_us))


async def _load(broken: Broken) -> None:
    await broken.set("key-load-delay", 0)
    await broken.store.ready()


async def _flush_scripts(broken: Broken) -> None:
    await broken.control.call("SCRIPT", "FLUSH")


async def _change_password(broken: Broken) -> None:
    await broken.control.call("ACL", "SETUSER", _USER, "resetpass", f">{_OTHER}")
    await broken.control.call("CLIENT", "KILL", "USER", _USER)


async def _right_password(broken: Broken) -> None:
    await broken.control.call("ACL", "SETUSER", _USER, "resetpass", f">{_PASSWORD}")


async def _lose_power(broken: Broken) -> None:
    """Kill a store without a file: its data since then is lost. It returns with a file."""
    await broken.store.cut_power(broken.random)
    await broken.store.start()


async def _fill_disk(broken: Broken) -> None:
    """Forbid files to grow. With `always` the server would end itself instead of refusing."""
    await broken.set("appendfsync", "everysec")
    size = max(_growing(broken.store), key=lambda path: path.stat().st_mtime).stat().st_size
    resource.prlimit(broken.store.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def _empty_disk(broken: Broken) -> None:
    resource.prlimit(
        broken.store.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    )
    await broken.set("appendfsync", "always")


def _growing(store: PowerCutStore) -> list[Path]:
    """Return the files that are still appended to."""
    return list((store.directory / "appendonlydir").glob("*.incr.aof"))


_memory, _more_memory = _setting("maxmemory", 1, 0)
_replicas, _no_replicas = _setting("min-replicas-to-write", 1, 0)
_no_file, _ = _setting("appendonly", "no", "yes")

TROUBLES = (
    Trouble(name="out of memory", begin=_memory, end=_more_memory),
    Trouble(name="too few replicas", begin=_replicas, end=_no_replicas),
    Trouble(name="read-only, as a replica", begin=_follow_nobody, end=_lead),
    Trouble(name="loading", begin=_load_slowly, end=_load),
    Trouble(name="scripts flushed", begin=_flush_scripts, end=_flush_scripts, refuses=False),
    Trouble(name="password changed", begin=_change_password, end=_right_password),
    Trouble(name="disk full", begin=_fill_disk, end=_empty_disk),
    Trouble(name="append-only file switched off", begin=_no_file, end=_lose_power),
)

ROW = Row(
    name="R14",
    title="full or misconfigured store",
    load="50 updates/s in 100 chats, 8 disturbances of {0.4 s|5 s, three times}",
    fault="OOM, too few replicas, read-only, LOADING, scripts flushed, another password, disk full, no AOF",
    hold="0 × 200 without a durable write; recovery ≤ 5 s, no restart; dead letters ≤ 0.5 % (a disturbance "
    "lasts longer than the lease)",
    run=run,
)
