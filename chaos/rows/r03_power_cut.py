"""R3: power cuts while updates are acknowledged. Only synced data of the store's files survives.

WAITAOF under `everysec` is reliable only on a server whose WAITAOF waits for the disk. Redis 7.4.0 to 7.4.2
and Valkey up to at least 9.1 confirm earlier (redis/redis pull request 13793). The row finds out which one it
has.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import which
from typing import Literal

from bot.transport.ingest import telegram_ref
from chaos.card import Bench, Row, Score
from chaos.rig.power_cut_store import SOCKET, PowerCutStore, power_cut_store
from chaos.rig.program import until
from chaos.rig.system import BOT_ID, SECRET, System, free_port, running_system
from chaos.rig.webhook_client import WebhookClient, Written, open_webhook_client
from memory import keys
from memory.embedded.valkey import server_options, valkey_binary
from memory.redis.client import Command, RedisClient, open_redis
from tests.scripted_script import echo

CHATS = 500
FIRST_CHAT = 5000
NEXT_CUT_WITHIN_S = 180.0
COME_AGAIN_S = 0.05
PROBES = 4
_PAGE = 500
_REWRITING = ("--auto-aof-rewrite-min-size", "300kb", "--auto-aof-rewrite-percentage", "40")
"""Files are written anew often, so that cuts fall into that too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One mode of the store with its numbers of updates, connections and cuts.

    `moment_s`: the range of the random moment of a cut. `is_mended`: a cut waits until the product has
    repaired the file after the last one (memory/redis/durability.py), because the server alone loses
    acknowledged data.
    """

    name: str
    command: Callable[[Path], Sequence[str]]
    promises: Literal["always", "confirmed", "nothing"]
    updates: int
    cuts: int
    connections: int
    partitions: int
    moment_s: float
    is_mended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The lost acknowledged updates, and half-stored ones.

    `refused`: starts that the store refused after a cut. `confirmed_early`: confirmations by WAITAOF
    without an fsync, of a few.
    """

    acknowledged: int
    lost: int
    halves: int
    bytes_cut_off: int
    refused: int
    confirmed_early: int


async def run(bench: Bench) -> Score:
    """Run the modes one after the other in the long form, in parallel in the short one."""
    score, modes = Score(), _modes(bench)
    async with running_system(bench.directory, echo) as system:
        at_once = asyncio.Semaphore(bench.pick(len(modes), 1))
        async with asyncio.TaskGroup() as group:
            found = [group.create_task(_measure(system, mode, bench, at_once)) for mode in modes]
    for mode, task in zip(modes, found, strict=True):
        _judge(score, mode, task.result())
    always = [task.result() for mode, task in zip(modes, found, strict=True) if mode.promises == "always"]
    cuts = sum(mode.cuts for mode in modes if mode.promises == "always")
    score.at_least(
        "acknowledged with `always`", sum(each.acknowledged for each in always), bench.pick(1_000, 100_000)
    )
    score.at_least("cuts with `always`", cuts, bench.pick(6, 50))
    if bench.size == "long":
        cut_off = sum(task.result().bytes_cut_off for task in found)
        score.at_least("bytes that were not on the disk and were cut off", cut_off, 1)
    return score


def _judge(score: Score, mode: Mode, found: Found) -> None:
    what = f"{mode.name}: acknowledged and lost"
    if mode.promises == "always" or (mode.promises == "confirmed" and not found.confirmed_early):
        score.exactly(what, found.lost, 0)
    else:
        score.note(what, found.lost)
    if mode.promises == "always":
        score.exactly(f"{mode.name}: starts that the store refused", found.refused, 0)
    else:
        score.note(f"{mode.name}: starts that the store refused", f"{found.refused} of {mode.cuts}")
    if mode.promises == "confirmed":
        score.note(f"{mode.name}: confirmations without an fsync", f"{found.confirmed_early} of {PROBES}")
    score.exactly(f"{mode.name}: half stored", found.halves, 0)
    load = f"{found.acknowledged:,} acknowledged, {mode.cuts} cuts, {found.bytes_cut_off:,} bytes cut off"
    score.note(f"{mode.name}: load", load)


async def _measure(system: System, mode: Mode, bench: Bench, at_once: asyncio.Semaphore) -> Found:
    directory = bench.directory / mode.name.partition(" ")[0]
    random = Random(f"{bench.seed}-{mode.name}")
    port = free_port()
    async with at_once, power_cut_store(directory, mode.command(directory)) as store:
        early = await _confirmed_early(store) if mode.promises == "confirmed" else 0
        settings = {"REDIS_URL": store.url, "HTTP_PORT": str(port), "PARTITIONS": str(mode.partitions)}
        (serve,) = await system.start("serve", **settings)
        async with open_webhook_client(
            [port], secret=SECRET, most_rest_s=COME_AGAIN_S, connections=mode.connections
        ) as lanes:
            for number in range(mode.updates):
                lanes.write(FIRST_CHAT + random.randrange(CHATS), f"line {number} as people write them")
            for cut in range(mode.cuts):
                await _until_acknowledged(lanes, mode.updates * (cut + 1) // (mode.cuts + 1))
                await asyncio.sleep(random.uniform(0, mode.moment_s))
                await store.cut_power(random)
                await store.start()
                if mode.is_mended:
                    await store.until_mended()
                bench.say(f"{mode.name}: {cut + 1} of {mode.cuts} cuts")
            await _until_acknowledged(lanes, mode.updates)
        await serve.kill()
        async with open_redis(store.url) as redis:
            lost, halves = await _look(redis, lanes.written, mode.partitions)
    return Found(
        acknowledged=len(lanes.acknowledged),
        lost=lost,
        halves=halves,
        bytes_cut_off=store.cut_off,
        refused=store.refused,
        confirmed_early=early,
    )


async def _confirmed_early(store: PowerCutStore) -> int:
    """Return how many of a few writes WAITAOF confirms without a sync."""
    early = 0
    async with open_redis(store.url) as redis:
        for number in range(PROBES):
            synced = store.syncs
            _, (confirmed, _) = await redis.calls([("SET", "probe", number), ("WAITAOF", 1, 0, 3_000)])
            early += confirmed == 1 and store.syncs == synced
        await redis.call("DEL", "probe")
    return early


async def _until_acknowledged(lanes: WebhookClient, count: int) -> None:
    await until(
        lambda: len(lanes.written) - lanes.waiting >= count,
        within_s=NEXT_CUT_WITHIN_S,
        what=f"the acknowledgement of {count} updates",
    )


async def _look(redis: RedisClient, written: Sequence[Written], partitions: int) -> tuple[int, int]:
    """Return the numbers of updates without a record, and with only a record or only a place in the box.

    No worker has run.
    """
    lost = halves = 0
    for begin in range(0, len(written), _PAGE):
        page = written[begin : begin + _PAGE]
        replies = await redis.calls([command for one in page for command in _asking(one, partitions)])
        for is_recorded, place in zip(replies[::2], replies[1::2], strict=True):
            lost += not is_recorded
            halves += bool(is_recorded) != (place is not None)
    return lost, halves


def _asking(one: Written, partitions: int) -> list[Command]:
    ref = telegram_ref(BOT_ID, one.chat_id, None, partitions=partitions)
    return [
        ("EXISTS", keys.partition_key(ref.partition, "update", one.update_id)),
        ("ZSCORE", keys.context_key(ref, "box"), one.update_id),
    ]


def _modes(bench: Bench) -> list[Mode]:
    redis = which("redis-server")
    if redis is None:
        raise RuntimeError("R3 needs a Redis before 7.2 (Debian: redis-server)")
    return [
        Mode(
            name="always (Valkey, as embedded)",
            command=_embedded,
            promises="always",
            updates=bench.pick(700, 60_000),
            cuts=bench.pick(3, 30),
            connections=40,
            partitions=1,
            moment_s=0.1,
        ),
        Mode(
            name="plain always (Redis before 7.2, no WAITAOF)",
            command=lambda directory: [redis, *_plain(directory, "always")],
            promises="always",
            updates=bench.pick(500, 42_000),
            cuts=bench.pick(3, 20),
            connections=40,
            partitions=8,
            moment_s=0.1,
            is_mended=True,
        ),
        Mode(
            name="confirmed everysec (Valkey, WAITAOF)",
            command=lambda directory: [*_embedded(directory), "--appendfsync", "everysec"],
            promises="confirmed",
            updates=bench.pick(300, 15_000),
            cuts=bench.pick(2, 15),
            connections=300,
            partitions=8,
            moment_s=1.0,
        ),
        Mode(
            name="unconfirmed everysec (Redis before 7.2)",
            command=lambda directory: [redis, *_plain(directory, "everysec")],
            promises="nothing",
            updates=bench.pick(300, 15_000),
            cuts=bench.pick(2, 10),
            connections=40,
            partitions=1,
            moment_s=1.0,
            is_mended=True,
        ),
    ]


def _embedded(directory: Path) -> list[str]:
    return [str(valkey_binary()), *server_options(directory, directory / SOCKET), *_REWRITING]


def _plain(directory: Path, appendfsync: str) -> list[str]:
    """Return the minimal settings that an operator's own server needs."""
    settings = {
        "port": "0",
        "unixsocket": str(directory / SOCKET),
        "dir": str(directory),
        "appendonly": "yes",
        "appendfsync": appendfsync,
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    return [*(part for name, value in settings.items() for part in (f"--{name}", value)), *_REWRITING]


ROW = Row(
    name="R3",
    title="power cut",
    load="{1,200|102,000} updates acknowledged with `always`, 500 chats; {600|30,000} with `everysec`",
    fault="{6 and 4|50 and 25} cuts of power: the store killed, its files truncated to their last fsync, or "
    "to a random place shortly after it",
    hold="0 lost with `always`, and with WAITAOF if the server's WAITAOF waits for the disk; "
    "losses with `everysec` are printed",
    run=run,
)
