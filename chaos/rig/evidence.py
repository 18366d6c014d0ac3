"""What the stores, the model and the chats show after a run, and the findings that must be empty."""

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
    """A request as it reached the model: for which line (of a crowd; else the whole text), after how many tool steps.

    `reply_id` names the reply: where it asked for a tool that is the call's id.
    """

    at: float
    line: str
    step: int
    reply_id: str


def read_model_request(request: Mapping[str, Any], *, at: float, reply_id: str) -> ModelRequest:
    """The facts of a chat request."""
    messages = cast("list[dict[str, Any]]", request["messages"])
    last_user = max(at for at, message in enumerate(messages) if message["role"] == "user")
    tool_steps = sum(bool(message.get("tool_calls")) for message in messages[last_user:])
    text = text_of(messages[last_user])
    lines = LINE.findall(text)
    return ModelRequest(at=at, line=lines[-1] if lines else text, step=tool_steps + 1, reply_id=reply_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStep:
    """When the journal took a step in, and when it was forgotten because its turn became a dead letter."""

    at: float
    until: float = math.inf


Steps = Mapping[tuple[str, int], Sequence[FinishedStep]]
"""When each model step was finished: a line, the number of the call for it."""


def finished_steps(
    asked: Sequence[ModelRequest], recorded: Iterable[RecordedStep], buried: Mapping[str, Sequence[float]]
) -> Steps:
    """What the journal took in. What had joined the turn of a dead letter (`buried`: when, by context) begins anew.

    The journal's value tells which call it came from: a tool call's id is unlike any other, and so is an answer,
    which repeats its line.
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
    """Steps that the journal took in though it had them: there must be none."""
    return [
        step
        for step, times in finished.items()
        if any(later.at < one.until for one, later in pairwise(times))
    ]


def late_calls(asked: Sequence[ModelRequest], finished: Steps) -> list[ModelRequest]:
    """Model calls for a step that the journal had already: there must be none.

    A step that was not in the journal yet when its worker died may be asked for again; then the journal's entry
    is younger than both calls.
    """
    return [
        call
        for call in asked
        if any(one.at < call.at < one.until for one in finished.get((call.line, call.step), ()))
    ]


def finished_tools(recorded: Iterable[RecordedStep]) -> dict[str, float]:
    """When the journal took in the result of each tool call of a model's."""
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
    """Tool calls that ran again after their result was in the journal: there must be none."""
    return [call for call, times in ran.items() if max(times) > finished.get(call, max(times))]


IN_FLIGHT_S = 1.0
"""What a killed process had written into its socket is still done: its commit may be younger than its death."""


def unexplained_repeats(sendings: Iterable[RecordedSend], kills: Sequence[float]) -> list[RecordedSend]:
    """Sends begun a second time though no kill fell between the first time and that: there must be none."""
    return [
        sending
        for sending in sendings
        for began in sending.repeated_at
        if not any(sending.begun_at - IN_FLIGHT_S < kill < began for kill in kills)
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


_UPDATE = re.compile(rf"{keys.PREFIX}:\{{m\d+\}}:update:(-?\d+)")
_UNFINISHED = re.compile(
    rf"{keys.PREFIX}:\{{m\d+\}}:(?:box|journal|outbox|sending|delivering|active)(?::.+)?"
)


async def update_records(redis: RedisClient) -> dict[int, str]:
    """The key of every update of which there is a record."""
    found = ((_UPDATE.fullmatch(key), key) for key in await all_keys(redis))
    return {int(update[1]): key for update, key in found if update}


async def update_ids(redis: RedisClient) -> list[int]:
    """Every update of which there is a record."""
    return list(await update_records(redis))


async def update_states(redis: RedisClient) -> Counter[str]:
    """How many updates are in each state."""
    found = await update_records(redis)
    states = [
        await redis.call("HGET", key, "state") for key in found.values()
    ]  # one by one: on a cluster they are in different slots
    return Counter(map(str, states))


async def histories(redis: RedisClient, contexts: Mapping[int, keys.ContextRef]) -> dict[int, list[Message]]:
    """The whole history of each chat, oldest first."""
    return {chat: await whole_history(redis, ref) for chat, ref in contexts.items()}


async def whole_history(redis: RedisClient, ref: keys.ContextRef) -> list[Message]:
    """The whole history of one context, oldest first."""
    return await RedisHistory(redis).page(ref, after_sequence=-1, limit=10_000, whole=True)


async def settled(redis: RedisClient, *, within_s: float = SETTLED_WITHIN_S) -> None:
    """Return when no work is left in the store."""
    await until_it_is([], lambda: leftovers(redis), within_s=within_s, look_again_s=0.1)


async def leftovers(redis: RedisClient) -> list[str]:
    """Keys of work that is not finished."""
    partitions = int(await redis.call("GET", keys.global_key("partitions")) or 1)
    at_work: list[str] = [
        keys.partition_key(number, "active")
        for number in range(partitions)
        if int(await redis.call("EXISTS", keys.partition_key(number, "active")))
    ]
    # All keys are looked through only when nobody has anything to do any more.
    return at_work or [key for key in await all_keys(redis) if _UNFINISHED.fullmatch(key)]
