"""Limits at 100, 10,000 and 1,000,000 active chats, computed from the measured cost of one turn.

Measured: CPU time of the webhook, of the turn, of the indexer and of the embedded embedder; the work of the Redis server;
what a turn leaves in Redis, in its AOF and in the index. Model and Telegram answer in no time and cost nothing here.
See docs/operating.md.
"""

import argparse
import asyncio
import json
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rig.counting import server_work
from rig.instant import make_message, make_update
from rig.table import print_table
from turn_cost import WORKER, Bench, fill, open_bench

from bot.observe.logs import configure_logs
from bot.turn.store import RECEIPTS_KEPT
from memory import keys
from memory.recall.embedders.minilm import MiniLMEmbedder
from memory.redis.client import RedisClient

CHATS = (100, 10_000, 1_000_000)
SENDS_PER_S = 30
"""Telegram's limit of one bot over all chats, without paid broadcasts."""
BUSY = 0.6
"""How much of a core or of the Redis thread is planned for at the peak."""
TALKED_IN = 20
_DAY_S, _YEAR_DAYS, _RECEIPT_DAYS = 86_400, 365, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCost:
    """Cost of one turn, in milliseconds of CPU time and bytes. `text_bytes` is the text of its two messages.

    `record_bytes` are for 48 hours, `receipt_bytes` for 30 days, `memory_bytes` until the chat
    is reset.
    """

    webhook_ms: float
    turn_ms: float
    index_ms: float
    embed_ms: float
    redis_ms: float
    redis_trips: float
    text_bytes: float
    memory_bytes: float
    record_bytes: float
    receipt_bytes: float
    aof_bytes: float
    point_bytes: float

    @property
    def worker_ms(self) -> float:
        """CPU time of the workers: the turn, its question's and its two messages' vectors, and the index."""
        return self.turn_ms + self.index_ms + 2 * self.embed_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Needs of a number of active chats: cores and shards at the peak, bytes after a year."""

    chats: int
    turns_per_s: float
    peak_per_s: float
    worker_cores: float
    webhook_cores: float
    redis_threads: float
    redis_bytes: float
    index_bytes: float
    bots: float

    @property
    def limits_first(self) -> str:
        """Return the first limit of the bot on one machine of 8 cores, 64 GB of memory and 1 TB of disk."""
        shares = {
            "Telegram's 30 messages a second": self.bots,
            "CPU of the workers": self.worker_cores / 8,
            "Redis' one thread": self.redis_threads,
            "memory for Redis": self.redis_bytes / 32e9,
            "disk for the index": self.index_bytes / 1e12,
        }
        most = max(shares, key=lambda name: shares[name])
        return (
            f"{most} ({shares[most]:.1%} of it)"
            if shares[most] < 1
            else f"{most} ({shares[most]:,.0f} times)"
        )


async def main() -> None:
    """Measure, compute and print."""
    options = _options()
    configure_logs(level="warning")
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench(Path(directory)) as bench:
            cost = await measure(bench, Path(directory), turns=options.turns)
    needs = [
        compute(cost, chats, turns_a_day=options.turns_a_day, peak=options.peak, chars=options.characters)
        for chats in CHATS
    ]
    if options.json:
        print(json.dumps({"cost": asdict(cost), "needs": [asdict(each) for each in needs]}))
    else:
        _print(cost, needs)


async def measure(bench: Bench, directory: Path, *, turns: int) -> TurnCost:
    """Run turns in a few chats of 40 messages, one after the other, and index each."""
    for chat in range(TALKED_IN):
        await fill(bench, 1 + chat, 40)
    for number in range(TALKED_IN):
        await _turn(bench, number)
    before, work = await _sizes(bench.redis), await server_work(bench.redis)
    trips, spent = bench.redis.round_trips, [0.0, 0.0, 0.0]
    for number in range(TALKED_IN, TALKED_IN + turns):
        for stage, seconds in enumerate(await _turn(bench, number)):
            spent[stage] += seconds
    done = (await server_work(bench.redis)).since(work)
    after = await _sizes(bench.redis)
    webhook_ms, turn_ms, index_ms = (seconds / turns * 1000 for seconds in spent)
    text = make_update(1, 1)["message"]["text"] + "You told me about the garden and the lantern."
    return TurnCost(
        webhook_ms=webhook_ms,
        turn_ms=turn_ms,
        index_ms=index_ms,
        embed_ms=await _embedding_ms(directory),
        redis_ms=done.microseconds / turns / 1000,
        redis_trips=(bench.redis.round_trips - trips) / turns,
        text_bytes=len(text.encode()),
        memory_bytes=(after["memory"] - before["memory"]) / turns,
        record_bytes=(after["records"] - before["records"]) / turns,
        receipt_bytes=(after["receipts"] - before["receipts"]) / turns,
        aof_bytes=(after["aof"] - before["aof"]) / turns,
        point_bytes=await _point_bytes(bench, directory),
    )


async def _turn(bench: Bench, number: int) -> tuple[float, float, float]:
    """Return the CPU seconds of the webhook, of the turn and of the indexer."""
    started = time.process_time()
    await bench.ingest.take_in(make_update(1000 + number, 1 + number % TALKED_IN))
    taken = time.process_time()
    (claim,) = await bench.inbox.claim(0, consumer=WORKER, count=1, wait_ms=100)
    await bench.turns.work_on(claim, bench.inbox)
    answered = time.process_time()
    await bench.indexer.step()
    return taken - started, answered - taken, time.process_time() - answered


async def _sizes(redis: RedisClient) -> dict[str, float]:
    """Return bytes by kind: `memory` (kept until a reset), `records`, `receipts`, and the AOF's."""
    sizes = dict.fromkeys(("memory", "records", "receipts"), 0.0)
    for key in await redis.call("KEYS", f"{keys.PREFIX}:*"):
        name = key.rpartition("}:")[2]
        kind = "records" if name.startswith("update:") else "receipts" if ":receipt" in name else "memory"
        if not name.startswith(("work", "control", "ready")):
            sizes[kind] += int(await redis.call("MEMORY", "USAGE", key, "SAMPLES", 0))
    info = await redis.call("INFO", "persistence")
    return {**sizes, "aof": float(info["aof_current_size"])}


async def _embedding_ms(directory: Path, count: int = 200) -> float:
    """Return the CPU time of the embedded embedder for one message of 60 words."""
    embedder = MiniLMEmbedder()
    await embedder.load()
    texts = [make_message(number).text for number in range(count)]
    started = time.process_time()
    await embedder.embed(texts)
    return (time.process_time() - started) / count * 1000


async def _point_bytes(bench: Bench, directory: Path, count: int = 5_000) -> float:
    """Return the bytes of a point on the disk of the embedded index: vector, terms, payload, indexes."""
    before = _size_of(directory, "index")
    await fill(bench, 999, count)
    return (_size_of(directory, "index") - before) / count


def _size_of(directory: Path, name: str) -> int:
    """Return the bytes on the disk below every folder whose name has this prefix."""
    folders = [path for path in directory.iterdir() if path.is_dir() and path.name.startswith(name)]
    files = [path for folder in folders or [directory] for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_blocks * 512 for path in files)


def compute(cost: TurnCost, chats: int, *, turns_a_day: float, peak: float, chars: int) -> Needs:
    """Return the needs. `peak`: the busiest minute as a multiple of the mean. `chars`: of both messages of a turn."""
    mean = chats * turns_a_day / _DAY_S
    busiest = mean * peak
    kept = cost.memory_bytes - cost.text_bytes + chars
    receipts = min(turns_a_day * _RECEIPT_DAYS, RECEIPTS_KEPT) * cost.receipt_bytes
    resident = chats * (turns_a_day * (kept * _YEAR_DAYS + cost.record_bytes * 2) + receipts)
    return Needs(
        chats=chats,
        turns_per_s=mean,
        peak_per_s=busiest,
        worker_cores=busiest * cost.worker_ms / 1000 / BUSY,
        webhook_cores=busiest * cost.webhook_ms / 1000 / BUSY,
        redis_threads=busiest * cost.redis_ms / 1000 / BUSY,
        redis_bytes=resident,
        index_bytes=chats * turns_a_day * 2 * _YEAR_DAYS * cost.point_bytes,
        bots=busiest / SENDS_PER_S,
    )


def _print(cost: TurnCost, needs: Sequence[Needs]) -> None:
    names = {
        "webhook_ms": "CPU ms of the webhook",
        "turn_ms": "CPU ms of the turn",
        "index_ms": "CPU ms of the indexer",
        "embed_ms": "CPU ms to embed one message (two a turn)",
        "redis_ms": "ms of the Redis thread",
        "redis_trips": "round trips to Redis, with those of the webhook and the indexer",
        "text_bytes": "bytes of text in its two messages",
        "memory_bytes": "bytes in Redis until a reset",
        "record_bytes": "bytes in Redis for 48 hours",
        "receipt_bytes": "bytes in Redis, for 30 days",
        "aof_bytes": "bytes appended to the AOF",
        "point_bytes": "bytes in the index for each message",
    }
    rows = [(said, f"{getattr(cost, name):,.2f}") for name, said in names.items()]
    print_table("One turn", ("what", "measured"), rows)
    heads = (
        *("active chats", "turns/s", "at the peak", "worker cores", "webhook cores", "Redis threads"),
        *("Redis after a year", "index after a year", "bots by Telegram's limit"),
    )
    print_table(
        "What they need",
        heads,
        [
            (
                *(f"{each.chats:,}", f"{each.turns_per_s:.2f}", f"{each.peak_per_s:.1f}"),
                *(f"{each.worker_cores:.2f}", f"{each.webhook_cores:.3f}", f"{each.redis_threads:.3f}"),
                *(_bytes(each.redis_bytes), _bytes(each.index_bytes), str(math.ceil(each.bots))),
            )
            for each in needs
        ],
    )
    for each in needs:
        print(f"{each.chats:,} active chats: the first limit of one machine is {each.limits_first}.")


def _bytes(number: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number / 1e3:,.1f} kB"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--turns-a-day", type=float, default=10, help="of an active chat")
    parser.add_argument("--peak", type=float, default=4, help="the busiest minute against the mean")
    parser.add_argument("--characters", type=int, default=400, help="of both messages of a turn")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
