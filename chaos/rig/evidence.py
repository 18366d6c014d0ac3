"""Evidence of a run from stores, model and chats, and checks whose findings must be empty."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from chaos.rig.chat_load import LINE
from chaos.rig.command_monitor import RecordedSend, RecordedStep
from chaos.rig.program import until_it_is
from memory import keys
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from simulator.offline_model.prompt import text_of
from tests.stores import all_keys

ECHO = "echo: "
SETTLED_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request to the model:

    its line (of a chat load; otherwise the whole text) and its number of tool steps. `reply_id` names the
    reply; for a tool call it is the call's id.
    """

    at: float
    line: str
    step: int
    reply_id: str


def read_model_request(request: Mapping[str, Any], *, at: float, reply_id: str) -> ModelRequest:
    """Return the facts of a chat request."""
    messages = cast("list[dict[str, Any]]", request["messages"])
    last_user = max(at for at, message in enumerate(messages) if message["role"] == "user")
    tool_steps = sum(bool(message.get("tool_calls")) for message in messages[last_user:])
    text = text_of(messages[last_user])
    lines = LINE.findall(text)
    return ModelRequest(at=at, line=lines[-1] if lines else text, step=tool_steps + 1, reply_id=reply_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStep:
    """The time at which the journal recorded a step, and the time at which a dead letter removed it."""

    at: float
    until: float = math.inf


Steps = Mapping[tuple[str, int], Sequence[FinishedStep]]
"""Times at which model steps finished, by line and number of the call."""


def finished_steps(
    asked: Sequence[ModelRequest], recorded: Iterable[RecordedStep], buried: Mapping[str, Sequence[float]]
) -> Steps:
    """Return the steps of the journal.

    Updates that had joined the turn of a dead letter (`buried`: times by context) start again. The
    journal's value identifies the call: ids of tool calls are unique, and an answer repeats its line.
    """
    by_reply = {call.reply_id: call for call in asked}
    finished: dict[tuple[str, int], list[FinishedStep]] = defaultdict(list)
    for record in recorded:
        if record.step.startswith("model:"):
            calls = record.value.get("tool_calls", [])
            call = by_reply[calls[0]["id"] if calls else record.value["text"]]
            until = min((at for at in buried.get(record.context_id, ()) if at > record.at), default=math.inf)
            finished[call.line, call.step].append(FinishedStep(at=record.at, until=until))
    return finished


def finished_twice(finished: Steps) -> list[tuple[str, int]]:
    """Return steps that the journal recorded twice. There must be none."""
    return [
        step
        for step, times in finished.items()
        if any(later.at < one.until for one, later in pairwise(times))
    ]


def late_calls(asked: Sequence[ModelRequest], finished: Steps) -> list[ModelRequest]:
    """Return model calls for a step that was already in the journal.

    There must be none. A step outside the journal at its worker's death may be requested again; then the
    journal's entry is newer than both calls.
    """
    return [
        call
        for call in asked
        if any(one.at < call.at < one.until for one in finished.get((call.line, call.step), ()))
    ]


def finished_tools(recorded: Iterable[RecordedStep]) -> dict[str, float]:
    """Return the times at which the journal recorded the results of tool calls."""
    asked: dict[str, Sequence[str]] = {}
    finished: dict[str, float] = {}
    for record in recorded:
        kind, _, number = record.step.partition(":")
        if kind == "model":
            asked[record.context_id] = [call["id"] for call in record.value.get("tool_calls", [])]
        else:
            call_id = asked[record.context_id][int(number.rpartition(":")[2])]
            finished.setdefault(call_id, record.at)
    return finished


def late_effects(ran: Mapping[str, Sequence[float]], finished: Mapping[str, float]) -> list[str]:
    """Return tool calls that ran again after their result was in the journal. There must be none."""
    return [call for call, times in ran.items() if max(times) > finished.get(call, max(times))]


IN_FLIGHT_S = 1.0
"""A killed process's last writes still arrive: its commit may be newer than its death."""


def unexplained_repeats(sendings: Iterable[RecordedSend], kills: Sequence[float]) -> list[RecordedSend]:
    """Return sends that started a second time without a kill since the first time. There must be none."""
    return [
        sending
        for sending in sendings
        for began in sending.repeated_at
        if not any(sending.begun_at - IN_FLIGHT_S < kill < began for kill in kills)
    ]


def duplicates(texts: Sequence[str]) -> Counter[str]:
    """Return the number of repetitions of each text that was sent more than once."""
    return Counter({text: count - 1 for text, count in Counter(texts).items() if count > 1})


def in_order(texts: Sequence[str]) -> list[str]:
    """Return the texts in the order of their first arrival."""
    return list(dict.fromkeys(texts))


def history_faults(history: Sequence[Message], lines: Sequence[str]) -> list[str]:
    """Return the faults of a history:

    each line must be there once, in order, with an echo after each batch.
    """
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


_UPDATE = re.compile(rf"{keys.PREFIX}:\{{m\d+\}}:update:(-?\d+)")
_UNFINISHED = re.compile(
    rf"{keys.PREFIX}:\{{m\d+\}}:(?:box|journal|outbox|sending|delivering|active)(?::.+)?"
)


async def update_records(redis: RedisClient) -> dict[int, str]:
    """Return the keys of all update records."""
    found = ((_UPDATE.fullmatch(key), key) for key in await all_keys(redis))
    return {int(update[1]): key for update, key in found if update}


async def update_ids(redis: RedisClient) -> list[int]:
    """Return the ids of all updates with a record."""
    return list(await update_records(redis))


async def update_states(redis: RedisClient) -> Counter[str]:
    """Return the number of updates in each state."""
    found = await update_records(redis)
    states = [
        await redis.call("HGET", key, "state") for key in found.values()
    ]  # one by one: on a cluster they are in different slots
    return Counter(map(str, states))


async def histories(redis: RedisClient, contexts: Mapping[int, keys.ContextRef]) -> dict[int, list[Message]]:
    """Return the whole history of each chat, oldest first."""
    return {chat: await whole_history(redis, ref) for chat, ref in contexts.items()}


async def whole_history(redis: RedisClient, ref: keys.ContextRef) -> list[Message]:
    """Return the whole history of one context, oldest first."""
    return await RedisHistory(redis).page(ref, after_sequence=-1, limit=10_000, whole=True)


async def settled(redis: RedisClient, *, within_s: float = SETTLED_WITHIN_S) -> None:
    """Wait until the store has no work."""
    await until_it_is([], lambda: leftovers(redis), within_s=within_s, look_again_s=0.1)


async def leftovers(redis: RedisClient) -> list[str]:
    """Return the keys of unfinished work."""
    partitions = int(await redis.call("GET", keys.global_key("partitions")) or 1)
    at_work: list[str] = [
        keys.partition_key(number, "active")
        for number in range(partitions)
        if int(await redis.call("EXISTS", keys.partition_key(number, "active")))
    ]
    # All keys are looked through only when nobody has anything to do any more.
    return at_work or [key for key in await all_keys(redis) if _UNFINISHED.fullmatch(key)]
