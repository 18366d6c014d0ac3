"""Messages that are too old: how long they take to go, the longest step, and what people notice of it.

First one walk goes through a chat of 100,000 messages of which 99,000 are too old, alone and without rests. The longest
step is the CPU time of the store's main thread. Then a worker erases while people write in that chat and in others, and
their answers are timed before and meanwhile. The messages have no vectors: making them would take longer than the rest.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

from rig.table import print_table

from chaos.rig.chat_load import BotMessages, collect_bot_messages, gather_people
from chaos.rig.measures import percentile
from chaos.rig.program import until
from chaos.rig.system import System, running_system
from memory.embedded.valkey import open_valkey
from memory.history.message import Message, Sender
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, context_key, partition_key
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import ask_info
from memory.retention import DAY_S, Retention, RetentionQueue
from tests.messages import make_message
from tests.scripted_script import echo

OTHERS = 3
AT_ONCE = 1_000
BEFORE_S = 10.0
PATIENCE_S = 1_800.0


def messages_of(first: int, number: int, *, days: float) -> list[Message]:
    """Return messages of a person that were sent so many days ago."""
    said_at = time.time() - days * DAY_S
    return [
        replace(
            make_message(
                f"m{n}", f"line {n} of a long talk about paint, boards and other things", telegram=n
            ),
            sent_at=said_at + n / 1_000,
            sender=Sender(id=1, name="Ann"),
        )
        for n in range(first, first + number)
    ]


async def fill(redis: RedisClient, ref: ContextRef, *, old: int, new: int) -> None:
    """Store the messages, without work for the index."""
    history = RedisHistory(redis)
    for first in range(0, old + new, AT_ONCE):
        days = 40.0 if first < old else 2.0
        await history.append(ref, messages_of(10**6 + first, AT_ONCE, days=days), epoch=0)
        await redis.call("XTRIM", partition_key(ref.partition, "work"), "MAXLEN", 0)


async def talk(system: System, heard: BotMessages, chat: int, ended: asyncio.Event) -> list[float]:
    """Ask again and again, and return the seconds of each answer."""
    seconds: list[float] = []
    while not ended.is_set():
        wanted, began = len(heard.by_chat[chat]) + 1, time.perf_counter()
        await system.simulator.say(chat, f"question {wanted}")
        await until(lambda wanted=wanted: len(heard.by_chat[chat]) >= wanted, within_s=60.0, what="an answer")
        seconds.append(time.perf_counter() - began)
        await asyncio.sleep(0.5)
    return seconds


async def asked(
    system: System, heard: BotMessages, chats: list[int], during: Awaitable[object]
) -> list[list[float]]:
    """Return the answer times of each chat while something goes on."""
    ended = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        talks = [group.create_task(talk(system, heard, chat, ended)) for chat in chats]
        await during
        ended.set()
    return [each.result() for each in talks]


async def measure_steps(old: int, new: int) -> None:
    """Walk through a chat in this process, and print what each step costs the store."""
    steps: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_valkey(Path(folder)) as url, open_redis(url) as redis:
            ref = ContextRef(context_id="0" * 32, partition=0)
            await fill(redis, ref, old=old, new=new)
            await redis.call("ZADD", partition_key(0, "retain"), 0, ref.context_id)
            last = await cpu_of(redis)

            async def note(_: float) -> None:
                nonlocal last
                await redis.call("XTRIM", partition_key(0, "work"), "MAXLEN", 0)
                before, last = last, await cpu_of(redis)
                steps.append(1_000 * (last - before))

            queue = RetentionQueue(redis, clock=time.time)
            walk = Retention(queue, most_days=30, partition=0, clock=time.time, rest=note)
            began = time.perf_counter()
            result = await walk.step()
            took = time.perf_counter() - began
    print(f"{result.messages:,} messages gone in {took:.1f} s alone, {len(steps):,} steps.")
    print(f"CPU of the store: {sum(steps) / 1_000:.1f} s, the longest step {max(steps):.1f} ms.")


async def cpu_of(redis: RedisClient) -> float:
    """Return the CPU seconds of the store's main thread so far."""
    (found,) = await ask_info(redis, "cpu")
    return float(found["used_cpu_user_main_thread"]) + float(found["used_cpu_sys_main_thread"])


async def measure_answers(old: int, new: int) -> None:
    """Erase while people write, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        async with running_system(Path(folder), echo, RETENTION_DAYS="30") as system:
            chats = await gather_people(system.simulator, 1 + OTHERS)
            ref = system.context(chats[0])
            _, worker = await system.start("serve", "work")
            await fill(system.redis, ref, old=old, new=new)
            async with collect_bot_messages(system.simulator) as heard:
                before = await asked(system, heard, chats, asyncio.sleep(BEFORE_S))
                began = time.perf_counter()
                await system.redis.call("ZADD", partition_key(0, "retain"), 0, ref.context_id)
                ended = until(lambda: worker.has_said("messages_expired"), within_s=PATIENCE_S)
                meanwhile = await asked(system, heard, chats, ended)
                took = time.perf_counter() - began
            left = int(await system.redis.call("ZCARD", context_key(ref, "order")))
            (line,) = [each for each in worker.lines() if each.get("event") == "messages_expired"]
    print(f"{line['messages']:,} messages gone in {took:.1f} s, {left:,} left.")
    rows = [
        row("same chat, before", before[0]),
        row("same chat, meanwhile", meanwhile[0]),
        row("others, before", [each for chat in before[1:] for each in chat]),
        row("others, meanwhile", [each for chat in meanwhile[1:] for each in chat]),
    ]
    print_table("Answers", ["chat", "number", "p50 ms", "p95 ms", "longest ms"], rows)


def row(name: str, seconds: list[float]) -> list[str]:
    """Return a row of the table."""
    ms = [1_000 * each for each in seconds]
    figures = [percentile(ms, 0.5), percentile(ms, 0.95), max(ms, default=0.0)]
    return [name, str(len(ms)), *(f"{each:.0f}" for each in figures)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=int, default=99_000)
    parser.add_argument("--old-with-people", type=int, default=20_000)
    parser.add_argument("--new", type=int, default=1_000)
    arguments = parser.parse_args()
    asyncio.run(measure_steps(arguments.old, arguments.new))
    asyncio.run(measure_answers(arguments.old_with_people, arguments.new))
