"""`mnemogram reset CHAT` erases every trace, also in the middle of a running turn, and says so truthfully."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.fault.crowd import ANSWERED_WITHIN_S, Heard, gather_people, listening
from tests.fault.evidence import histories, settled, update_states
from tests.fault.program import until, until_it_is
from tests.fault.scan import index_places, points, redis_places
from tests.fault.system import System, running_system
from tests.fault.witnessed_model import WitnessedModel

CANARY = "zanzibarwort"
WITHIN_S = 20.0
HELD = f"hold on to {CANARY} please"
RECEIPT: dict[str, Any] = {
    "contexts": 1,
    "summaries_erased": 0,
    "heard_erased": 0,
    "quotes_erased": 0,
    "artifacts_erased": 0,
    "messages_left": 0,
    "vectors_left": 0,
    "others_left": 0,
    "is_proven": True,
}


async def test_a_reset_in_the_middle_of_a_running_turn_leaves_no_trace(tmp_path: Path) -> None:
    model = WitnessedModel(tool="upper", holding=frozenset({HELD}))
    async with running_system(tmp_path, model) as system:
        chat, other = await gather_people(system.simulator, 2)
        await system.start("serve", "work")
        async with listening(system.simulator) as heard:
            for line in (f"my plant is a {CANARY}", f"water the {CANARY}", "thanks"):
                await answered(system, heard, chat, line)
            await answered(system, heard, other, "somebody else")
            await indexed(system, {chat: 6, other: 2})
            await system.simulator.say(chat, HELD)
            await until(lambda: model.count(HELD, 2) == 1, within_s=ANSWERED_WITHIN_S)
            await system.simulator.say(chat, f"where is the {CANARY}?")
            await system.simulator.say(chat, f"{CANARY}!")
            await states(system, {"answered": 4, "pending": 3})
            # Else the search below proves nothing.
            assert {"messages", "journal", "update"} <= kinds(await redis_places(system.redis, CANARY))

            receipt = await reset(system, chat)

            assert receipt == RECEIPT | {
                "messages_erased": 6,
                "vectors_erased": 6,
                "ledger_turns_erased": 3,
                "updates_forgotten": 3,
            }
            assert await redis_places(system.redis, CANARY) == []
            assert await index_places(system.index, CANARY) == []
            assert await count_points(system, [chat, other]) == {chat: 0, other: 2}
            model.release.set()
            await settled(system.redis)
            assert await redis_places(system.redis, CANARY) == []
            assert await update_states(system.redis) == {"answered": 4, "forgotten": 3}
            await works_and_knows_nothing(system, model, heard, chat)
            assert [text for text in heard.by_chat[chat] if HELD in text] == []


async def test_a_reset_while_telegram_makes_an_answer_wait_leaves_no_trace(tmp_path: Path) -> None:
    model = WitnessedModel(tool="upper")
    async with running_system(tmp_path, model) as system:
        (chat,) = await gather_people(system.simulator, 1)
        await system.start("serve", "work")
        async with listening(system.simulator) as heard:
            await answered(system, heard, chat, f"my plant is a {CANARY}")
            # Longer than the console takes to start on a busy machine: ten seconds, nearly all of it imports.
            await system.simulator.page("faults", method="sendMessage", error="429", retry_after=25)
            await system.simulator.say(chat, f"the {CANARY} waits")
            await states(system, {"answered": 1, "delivering": 1})
            assert {"messages", "outbox"} <= kinds(await redis_places(system.redis, CANARY))

            receipt = await reset(system, chat)

            assert receipt["updates_forgotten"] == 1
            assert await redis_places(system.redis, CANARY) == []
            assert await index_places(system.index, CANARY) == []
            await works_and_knows_nothing(system, model, heard, chat)
            assert [text for text in heard.by_chat[chat] if "waits" in text] == []


async def reset(system: System, chat: int) -> dict[str, Any]:
    """Reset the chat from the console; its receipt."""
    outcome = await system.console("reset", str(chat), "--yes", "--json")
    assert outcome.status == 0, outcome.err
    receipt = json.loads(outcome.out)
    assert receipt.pop("chat") == str(chat)
    return receipt


async def works_and_knows_nothing(system: System, model: WitnessedModel, heard: Heard, chat: int) -> None:
    """New messages are answered, and the prompts for them have no trace of the past."""
    before = len(system.model.chat_requests)
    for line in ("what is my plant?", "and what else?"):
        await answered(system, heard, chat, line)
    await settled(system.redis)
    assert before + 4 == len(system.model.chat_requests)
    assert CANARY not in repr([request.body for request in system.model.chat_requests[before:]]).casefold()
    history = (await histories(system.redis, {chat: system.context(chat)}))[chat]
    assert [message.text for message in history if message.role == "user"] == [
        "what is my plant?",
        "and what else?",
    ]
    assert await redis_places(system.redis, CANARY) == []
    assert await index_places(system.index, CANARY) == []


async def answered(system: System, heard: Heard, chat: int, line: str) -> None:
    """Say it and wait for the answer."""
    await system.simulator.say(chat, line)
    await until(
        lambda: f"echo: {line}" in heard.by_chat[chat],
        within_s=ANSWERED_WITHIN_S,
        what=f"an answer to {line!r}",
    )


async def states(system: System, wanted: dict[str, int]) -> None:
    """Wait until the updates are in these states."""
    await until_it_is(Counter(wanted), lambda: update_states(system.redis), within_s=WITHIN_S)


async def indexed(system: System, wanted: dict[int, int]) -> None:
    """Wait until each chat has so many points in the index."""
    await until_it_is(wanted, lambda: count_points(system, wanted), within_s=WITHIN_S)


async def count_points(system: System, chats: Iterable[int]) -> dict[int, int]:
    """How many points each chat has in the index."""
    owners = Counter(point["payload"]["context"] for point in await points(system.index))
    return {chat: owners[system.context(chat).context_id] for chat in chats}


def kinds(found: list[str]) -> set[str]:
    """What kinds of keys these are: `messages` of a context, `journal`, `outbox`, `update` …"""
    names = [key.partition("}:")[2].split(":") for key in found]
    return {name[2] if name[0] == "ctx" else name[0] for name in names}
