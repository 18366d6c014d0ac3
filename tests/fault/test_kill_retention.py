"""Workers that are killed while old messages go: nothing of them is left, and the newer ones are as they were."""

import json
import logging
import re
import time
from dataclasses import replace
from pathlib import Path

from chaos.rig.chat_load import BotMessages, collect_bot_messages, gather_people
from chaos.rig.evidence import settled
from chaos.rig.program import until, until_it_is
from chaos.rig.store_scan import file_words, redis_words
from chaos.rig.system import System, running_system
from memory.history.message import Message, Sender, message_id
from memory.history.redis_history import RedisHistory
from memory.keys import context_key, partition_key
from memory.retention import DAY_S
from tests.messages import make_message
from tests.scripted_script import echo

OLD, NEW = 3_000, 60
CANARY = "quokka"
KILLED_AT = (2_900, 2_000, 1_200, 300)
"""Messages that are left when a worker is killed."""
WITHIN_S = 240.0

log = logging.getLogger(__name__)


def messages_of(chat: int, word: str, number: int, *, days: float) -> list[Message]:
    said_at = time.time() - days * DAY_S
    return [
        replace(
            make_message(message_id(word, n), f"{word}{n:05d} is said in line {n}", telegram=n + 10**6),
            sent_at=said_at + n,
            sender=Sender(id=chat, name="Ann"),
        )
        for n in range(number)
    ]


async def answered(system: System, heard: BotMessages, chat: int, line: str) -> None:
    wanted = len(heard.by_chat[chat]) + 1
    await system.simulator.say(chat, line)
    await until(lambda: len(heard.by_chat[chat]) >= wanted, within_s=WITHIN_S, what=f"an answer to {line!r}")


async def test_workers_killed_while_messages_expire_leave_no_old_word_and_every_new_one(
    tmp_path: Path,
) -> None:
    async with running_system(tmp_path, echo, RETENTION_DAYS="30") as system:
        (chat,) = await gather_people(system.simulator, 1)
        ref = system.context(chat)
        order, history = context_key(ref, "order"), RedisHistory(system.redis)
        _, worker = await system.start("serve", "work", RETENTION_DAYS="0")
        async with collect_bot_messages(system.simulator) as heard:
            await answered(system, heard, chat, "hello")
            await settled(system.redis)
            await worker.kill()
            await history.append(ref, messages_of(chat, CANARY, OLD, days=40), epoch=0)
            await history.append(ref, messages_of(chat, "wombat", NEW, days=2), epoch=0)
            before = await new_messages(system, chat)
            await system.redis.call("ZADD", partition_key(0, "retain"), 0, ref.context_id)

            for left in KILLED_AT:
                (worker,) = await system.start("work")
                await until_at_most(system, order, left)
                await worker.kill()
                log.info("killed with %d messages", await system.redis.call("ZCARD", order))
            await system.start("work")
            await until_it_is(len(before), lambda: system.redis.call("ZCARD", order), within_s=WITHIN_S)
            await until_it_is(
                0, lambda: system.redis.call("XLEN", partition_key(0, "work")), within_s=WITHIN_S
            )
            await answered(system, heard, chat, "what did I say?")

        assert await redis_words(system.redis, re.compile(CANARY)) == {}
        assert {
            key: line for key, line in (await new_messages(system, chat)).items() if key in before
        } == before
        assert len(before) == NEW + 2
        prompt = json.dumps([request.body for request in system.model.chat_requests][-1])
        assert CANARY not in prompt
        assert (await system.console("export", str(chat), str(tmp_path / "export"))).status == 0
        assert file_words([tmp_path / "export"], re.compile(CANARY.encode())) == {}
        pattern = re.compile(CANARY.encode())
        await until_it_is(0, lambda: _count(file_words([system.data_dir], pattern)), within_s=WITHIN_S)


async def _count(found: dict[str, set[str]]) -> int:
    return len(found)


async def until_at_most(system: System, order: str, left: int) -> None:
    async def is_reached() -> bool:
        return int(await system.redis.call("ZCARD", order)) <= left

    await until_it_is(True, is_reached, within_s=WITHIN_S)


async def new_messages(system: System, chat: int) -> dict[str, str]:
    """Return the stored JSON of the messages that are not old."""
    lines = dict(await system.redis.call("HGETALL", context_key(system.context(chat), "messages")))
    return {key: line for key, line in lines.items() if CANARY not in line}
