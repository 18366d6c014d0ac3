"""A conversation of 600 messages in a small window: it is compressed repeatedly, and kills change nothing."""

import json
import logging
from pathlib import Path
from typing import Any

from chaos.rig.chat_load import BotMessages, collect_bot_messages, gather_people
from chaos.rig.evidence import settled
from chaos.rig.program import until, until_it_is
from chaos.rig.system import System, running_system
from memory import keys
from tests.stores import all_keys
from tests.summarizing_model import SummarizingModel

WINDOW = 8_192
TURNS = 300
PLANTED = {2: ("Anna", "tamarind"), 100: ("Boris", "kestrel"), 200: ("Carla", "obsidian")}
"""Turns with a code: their message is the 5th, 201st and 401st of the history."""
WITHIN_S = 60.0

log = logging.getLogger(__name__)


async def test_facts_of_messages_5_200_and_400_are_in_the_prompt_of_message_600(tmp_path: Path) -> None:
    model = SummarizingModel()
    async with running_system(
        tmp_path, model, MODEL_CONTEXT_WINDOW=str(WINDOW), OPENAI_MODEL="scripted-8k"
    ) as system:
        (chat,) = await gather_people(system.simulator, 1)
        await system.start("serve", "work")
        async with collect_bot_messages(system.simulator) as heard:
            for turn in range(TURNS - 1):
                await answered(system, heard, chat, line_of(turn))
            await at_rest(system)
            await answered(system, heard, chat, "which codes do you know?")

        last = prompts(system)[-1]
        history = json.loads((await system.console("history", str(chat), "--json")).out)
        assert history["messages"] == 2 * TURNS
        assert [code for _, code in PLANTED.values() if code not in json.dumps(last)] == []
        assert model.summaries >= 3
        assert all(size <= WINDOW for size in sizes(system))
        assert len(await read_key(system, chat, "lineage")) >= 3
        log.info("%d messages, %d summaries", history["messages"], model.summaries)


async def test_a_worker_killed_during_a_compression_changes_no_stored_data(tmp_path: Path) -> None:
    model = SummarizingModel(holding=True)
    async with running_system(
        tmp_path, model, FACTS="off", MODEL_CONTEXT_WINDOW=str(WINDOW), OPENAI_MODEL="scripted-8k"
    ) as system:
        (chat,) = await gather_people(system.simulator, 1)
        _, worker = await system.start("serve", "work")
        async with collect_bot_messages(system.simulator) as heard:
            turn = 0
            while model.summaries == 0:
                await answered(system, heard, chat, line_of(turn))
                turn += 1
            await settled(system.redis)  # the last send is noted
            before = await memory_of(system, chat)
            await worker.kill()
            after = await memory_of(system, chat)
            model.holding = False
            await system.start("work")
            await until(lambda: model.summaries >= 2, within_s=WITHIN_S, what="another try")
            await at_rest(system)
            await answered(system, heard, chat, "and now?")

        assert after == before
        assert await read_key(system, chat, "lineage") != []
        assert "overview" in json.dumps(await read_key(system, chat, "summaries"))
        assert "tamarind" in json.dumps(prompts(system)[-1])


def line_of(turn: int) -> str:
    """Return the text of this turn: long enough to fill the window, sometimes with a code."""
    if turn in PLANTED:
        name, code = PLANTED[turn]
        return f"Please remember this for later, I will not say it again: the code of {name} is {code}."
    return (
        f"Note {turn}: the paint on shelf {turn} dries in {turn % 7 + 2} hours, then the next coat goes on, "
        f"and the boards of row {turn % 13} are turned over and looked at from below once more."
    )


async def answered(system: System, heard: BotMessages, chat: int, line: str) -> None:
    """Send the text and wait for the answer."""
    wanted = len(heard.by_chat[chat]) + 1
    await system.simulator.say(chat, line)
    await until(
        lambda: len(heard.by_chat[chat]) >= wanted, within_s=WITHIN_S, what=f"an answer to {line[:20]!r}"
    )


async def at_rest(system: System) -> None:
    """Wait until no compression is due and every vector is written."""

    async def waiting() -> int:
        return int(await system.redis.call("ZCARD", keys.partition_key(0, "compress"))) + int(
            await system.redis.call("XLEN", keys.partition_key(0, "work"))
        )

    await until_it_is(0, waiting, within_s=WITHIN_S)


def prompts(system: System) -> list[list[dict[str, Any]]]:
    """Return the requests for answers, without those for summaries."""
    bodies = [request.body for request in system.model.chat_requests]
    return [body["messages"] for body in bodies if "response_format" not in body]


def sizes(system: System) -> list[int]:
    """Return the approximate tokens of each request. Four characters are more than a token of these texts."""
    return [len(json.dumps(request.body)) // 4 for request in system.model.chat_requests]


def memory_prefix(system: System, chat: int) -> str:
    """Return the common prefix of all keys of the chat's memory."""
    return keys.context_key(system.context(chat), "meta").removesuffix("meta")


async def read_key(system: System, chat: int, name: str) -> Any:
    """Return the value of a key of the chat's memory."""
    key = f"{memory_prefix(system, chat)}{name}"
    if await system.redis.call("TYPE", key) == "zset":
        return await system.redis.call("ZRANGE", key, 0, -1, "WITHSCORES")
    return await system.redis.call("HGETALL", key)


async def memory_of(system: System, chat: int) -> dict[str, Any]:
    """Return all stored data of the chat, except receipts of answers."""
    prefix = memory_prefix(system, chat)
    names = [key.removeprefix(prefix) for key in await all_keys(system.redis) if key.startswith(prefix)]
    kept = sorted(name for name in names if name != "epoch" and not name.startswith("receipt"))
    return {name: await read_key(system, chat, name) for name in kept}
