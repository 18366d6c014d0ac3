"""Messages that are too old: how long 99,000 of them take to go, and what other people notice of it.

One `mnemogram work` erases while people write in the same chat and in others. Printed are the seconds until all are
gone, the longest request to the store, and the answer times before and meanwhile. The messages have no vectors: making
them would take longer than the rest. Their erasures are queued and done all the same.
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
from memory.history.message import Message, Sender
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, context_key, partition_key
from memory.retention import DAY_S
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


async def fill(system: System, ref: ContextRef, *, old: int, new: int) -> None:
    """Store the messages, without work for the index."""
    history = RedisHistory(system.redis)
    for first in range(0, old + new, AT_ONCE):
        days = 40.0 if first < old else 2.0
        await history.append(ref, messages_of(10**6 + first, AT_ONCE, days=days), epoch=0)
        await system.redis.call("XTRIM", partition_key(ref.partition, "work"), "MAXLEN", 0)


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


async def measure(old: int, new: int) -> None:
    """Run everything, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        async with running_system(Path(folder), echo, RETENTION_DAYS="30") as system:
            chats = await gather_people(system.simulator, 1 + OTHERS)
            ref = system.context(chats[0])
            _, worker = await system.start("serve", "work")
            await fill(system, ref, old=old, new=new)
            async with collect_bot_messages(system.simulator) as heard:
                before = await asked(system, heard, chats, asyncio.sleep(BEFORE_S))
                await system.redis.call("CONFIG", "SET", "slowlog-log-slower-than", 1_000)
                began = time.perf_counter()
                await system.redis.call("ZADD", partition_key(0, "retain"), 0, ref.context_id)
                ended = until(lambda: worker.has_said("messages_expired"), within_s=PATIENCE_S)
                meanwhile = await asked(system, heard, chats, ended)
                took = time.perf_counter() - began
            slow = await system.redis.call("SLOWLOG", "GET", 128)
            left = int(await system.redis.call("ZCARD", context_key(ref, "order")))
            (line,) = [each for each in worker.lines() if each.get("event") == "messages_expired"]
    print(f"{line['messages']:,} messages gone in {took:.1f} s, {left:,} left.")
    print(f"The longest request to the store took {line['longest_ms']} ms with the way there and back.")
    print(
        f"The store's own longest command of all: {max([each['duration'] for each in slow], default=0) / 1000:.1f} ms."
    )
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
    parser.add_argument("--new", type=int, default=1_000)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.old, arguments.new))
