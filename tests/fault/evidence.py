"""What the stores, the model and the chats show after a run, and the findings that must be empty."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from memory import keys
from memory.message import Message
from memory.redis_client import RedisClient
from memory.redis_history import RedisHistory
from tests.fault.program import until_it_is
from tests.fault.witness import Recorded, Sending
from tests.stores import all_keys

ECHO = "echo: "
SETTLED_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it reached the model: for which line, and after how many finished tool steps.

    `reply_id` names the reply: where it asked for a tool that is the call's id.
    """

    at: float
    line: str
    step: int
    reply_id: str


def read_asked(request: Mapping[str, Any], *, at: float, reply_id: str) -> Asked:
    """The facts of a chat request."""
    messages = cast("list[dict[str, Any]]", request["messages"])
    last_user = max(at for at, message in enumerate(messages) if message["role"] == "user")
    tool_steps = sum(bool(message.get("tool_calls")) for message in messages[last_user:])
    return Asked(at=at, line=messages[last_user]["content"], step=tool_steps + 1, reply_id=reply_id)


def finished_steps(
    asked: Sequence[Asked], recorded: Iterable[Recorded]
) -> dict[tuple[str, int], list[float]]:
    """When the journal took in each model step: a line, the number of the call for it.

    The journal's value tells which call it came from: a tool call's id is unlike any other, and so is an answer,
    which repeats its line.
    """
    by_reply = {call.reply_id: call for call in asked}
    finished: dict[tuple[str, int], list[float]] = defaultdict(list)
    for record in recorded:
        if record.step.startswith("model:"):
            calls = record.value["reply"]["calls"]
            call = by_reply[calls[0][0] if calls else record.value["finish"]]
            finished[call.line, call.step].append(record.at)
    return finished


def late_calls(asked: Sequence[Asked], finished: Mapping[tuple[str, int], Sequence[float]]) -> list[Asked]:
    """Model calls for a step that the journal had already: there must be none.

    A step that was not in the journal yet when its worker died may be asked for again; then the journal's entry
    is younger than both calls.
    """
    return [
        call
        for call in asked
        if any(call.at > recorded for recorded in finished.get((call.line, call.step), ()))
    ]


IN_FLIGHT_S = 1.0
"""What a killed process had written into its socket is still done: its commit may be younger than its death."""


def unexplained_repeats(sendings: Iterable[Sending], kills: Sequence[float]) -> list[Sending]:
    """Sends begun a second time though no kill fell around the commit or between it and that: there must be none."""
    return [
        sending
        for sending in sendings
        for began in sending.repeated_at
        if not any(sending.committed_at - IN_FLIGHT_S < kill < began for kill in kills)
    ]


def duplicates(texts: Sequence[str]) -> Counter[str]:
    """How often each text was sent beyond once, where that is so."""
    return Counter({text: count - 1 for text, count in Counter(texts).items() if count > 1})


def in_order(texts: Sequence[str]) -> list[str]:
    """The texts as they first came."""
    return list(dict.fromkeys(texts))


def history_faults(history: Sequence[Message], lines: Sequence[str]) -> list[str]:
    """What is wrong with a history of these lines, each once and in order, and an echo after each batch."""
    faults: list[str] = []
    if [message.text for message in history if message.role == "user"] != list(lines):
        faults.append("the user's lines are not each there once and in order")
    before: Message | None = None
    for message in history:
        if message.role == "assistant" and (before is None or message.text != ECHO + before.text):
            faults.append(f"{message.text!r} is not the answer to what stands before it")
        before = message
    if before is None or before.role != "assistant":
        faults.append("the last line has no answer")
    return faults


async def update_ids(redis: RedisClient) -> list[int]:
    """Every update of which there is a record."""
    prefix = keys.update_prefix(0)
    return [int(key.removeprefix(prefix)) for key in await all_keys(redis) if key.startswith(prefix)]


async def update_states(redis: RedisClient) -> Counter[str]:
    """How many updates are in each state."""
    found = await update_ids(redis)
    states = await redis.calls([("HGET", keys.update_key(0, number), "state") for number in found])
    return Counter(states)


async def histories(redis: RedisClient, contexts: Mapping[int, keys.ContextRef]) -> dict[int, list[Message]]:
    """The whole history of each chat, oldest first."""
    store = RedisHistory(redis)
    return {
        chat: await store.page(ref, after_sequence=-1, limit=1000, whole=True)
        for chat, ref in contexts.items()
    }


async def settled(redis: RedisClient) -> None:
    """Return when no work is left in the store."""
    await until_it_is([], lambda: leftovers(redis), within_s=SETTLED_WITHIN_S)


async def leftovers(redis: RedisClient) -> list[str]:
    """Keys of work that is not finished."""
    unfinished = ("box", "journal", "outbox", "sending", "delivering", "active", "dead")
    prefix = keys.partition_key(0, "")
    return [key for key in await all_keys(redis) if key.removeprefix(prefix).split(":")[0] in unfinished]
