"""What a turn reads and writes in Redis: what there is to do, each finished step, the one commit, each send."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.errors import Fenced, TurnStopped
from bot.inbox.facts import Claim, PendingUpdate, TerminalState, Todo
from bot.inbox.redis_inbox import inbox_script
from memory import keys
from memory.errors import Forgotten
from memory.history_store import HistorySnapshot
from memory.message import Message
from memory.redis_client import RedisClient, ScriptCall
from memory.redis_history import (
    APPEND_PRELUDES,
    CONVERSATION_PRELUDES,
    ERASE_PRELUDES,
    append_keys,
    erase_keys,
    load_call,
    message_arguments,
    parse_snapshot,
)

UPDATES_AT_MOST = 20
"""How many waiting updates one turn may join."""
ATTEMPTS_AT_MOST = 3
"""An update that was begun this often and never finished is dead-lettered: it may be what kills the worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What a turn changes, all at once. `parts` are the outbox's lines; without any, the updates end here."""

    update_ids: Sequence[int]
    epoch: int
    state: TerminalState = "answered"
    reason: str = ""
    messages: Sequence[Message] = ()
    parts: Sequence[str] = ()
    starts_conversation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What a reset took out of Redis, and the epoch from which the context goes on."""

    epoch: int
    messages: int
    updates: int


class TurnStore:
    """The turn's side of the inbox. Every write checks the claim's fence first and raises Fenced."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock

    async def take(self, claim: Claim, *, window: int) -> tuple[Todo, HistorySnapshot]:
        """What the context has to do, with its newest `window` messages: one round trip."""
        ref = claim.ref
        take = ScriptCall(
            script=inbox_script("take"),
            keys=[
                *(
                    keys.ready_key(ref.partition),
                    keys.box_key(ref),
                    keys.journal_key(ref),
                    keys.outbox_key(ref),
                ),
                *(keys.sending_key(ref), keys.stop_key(ref), keys.dead_key(ref.partition)),
            ],
            arguments=[
                *claim.fence,
                keys.update_prefix(ref.partition),
                UPDATES_AT_MOST,
                ATTEMPTS_AT_MOST,
                self._clock(),
            ],
        )
        taken, loaded = await self._redis.run_all([take, load_call(ref, window)])
        if taken[0] == "fenced":
            raise Fenced
        _, updates, journal, parts, sends_begun, stopped_before, buried = taken
        todo = Todo(
            updates=_updates(updates),
            journal=dict(zip(journal[::2], journal[1::2], strict=True)),
            parts=tuple(parts),
            sends_begun=int(sends_begun),
            stopped_before=int(stopped_before),
            buried=_updates(buried),
        )
        return todo, parse_snapshot(loaded)

    async def record(
        self, claim: Claim, *, epoch: int, newest_update: int, fields: Mapping[str, str]
    ) -> None:
        """Write finished steps into the journal. Raises Forgotten (nothing written) and TurnStopped (written)."""
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("record"),
            [keys.ready_key(ref.partition), keys.epoch_key(ref), keys.journal_key(ref), keys.stop_key(ref)],
            [*claim.fence, epoch, newest_update, *(word for field in fields.items() for word in field)],
        )
        _check(outcome)
        if outcome == "stopped":
            raise TurnStopped

    async def commit(self, claim: Claim, commit: Commit) -> None:
        """Make the turn true. A second try of a commit that went through changes nothing. Raises Forgotten."""
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("commit", *APPEND_PRELUDES, *CONVERSATION_PRELUDES),
            [
                *(
                    keys.ready_key(ref.partition),
                    keys.box_key(ref),
                    keys.journal_key(ref),
                    keys.outbox_key(ref),
                ),
                *(keys.sending_key(ref), keys.delivering_key(ref), keys.epoch_key(ref)),
                *append_keys(ref),
            ],
            [
                *(
                    *claim.fence,
                    ref.context_id,
                    commit.epoch,
                    self._clock(),
                    keys.update_prefix(ref.partition),
                ),
                *(commit.state, commit.reason, keys.TERMINAL_UPDATE_TTL_S, int(commit.starts_conversation)),
                *(len(commit.parts), len(commit.update_ids), *commit.update_ids),
                *message_arguments(commit.messages),
                *commit.parts,
            ],
        )
        _check(outcome)

    async def note_refusal(self, ref: keys.ContextRef, *, chat_id: int, sender_id: int) -> bool:
        """Whether this is the first refusal of this person in this chat (for REFUSAL_TTL_S)."""
        key = keys.refused_key(ref.partition, chat_id, sender_id)
        return await self._redis.call("SET", key, 1, "NX", "EX", keys.REFUSAL_TTL_S) is not None

    async def count_send(self, claim: Claim, part: str, change: Literal[1, -1]) -> int | None:
        """Count a send of the outbox's first part as begun (+1) or surely not sent (-1).

        The number of sends begun whose outcome is open; None if the part was erased meanwhile.
        """
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("count_send"),
            [keys.ready_key(ref.partition), keys.outbox_key(ref), keys.sending_key(ref)],
            [*claim.fence, part, change],
        )
        _check(outcome)
        return None if outcome == "gone" else int(outcome)

    async def sent(
        self,
        claim: Claim,
        part: str,
        *,
        epoch: int,
        telegram_id: int | None = None,
        message_id: str = "",
        undeliverable: str = "",
    ) -> None:
        """The first part of the outbox has its outcome; after the last one its updates are finished.

        `undeliverable` gives up the whole outbox with that reason. Nothing happens if it was erased meanwhile.
        """
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("sent", *APPEND_PRELUDES),
            [
                *(keys.ready_key(ref.partition), keys.outbox_key(ref), keys.sending_key(ref)),
                *(keys.delivering_key(ref), keys.telegram_key(ref), keys.epoch_key(ref)),
            ],
            [
                *(*claim.fence, part, epoch, self._clock(), keys.update_prefix(ref.partition)),
                *(keys.TERMINAL_UPDATE_TTL_S, telegram_id or "", message_id, undeliverable),
            ],
        )
        _check(outcome)

    async def reset(self, ref: keys.ContextRef, *, answering: tuple[Claim, int] | None = None) -> Erased:
        """Erase all of a context in Redis and raise its epoch; what its turn still does comes to nothing.

        `answering`: the claim and update id of the /reset that asks for it: it stays to be answered, and so do
        the updates after it. Raises Fenced then.
        """
        fence = answering[0].fence if answering else ("", "", "", "")
        reply = await self._redis.run_durably(
            inbox_script("reset", *ERASE_PRELUDES),
            [
                *erase_keys(ref),
                *(keys.box_key(ref), keys.journal_key(ref), keys.outbox_key(ref), keys.sending_key(ref)),
                *(keys.delivering_key(ref), keys.stop_key(ref), keys.dead_key(ref.partition)),
                keys.ready_key(ref.partition),
            ],
            [
                *(
                    ref.context_id,
                    self._clock(),
                    keys.update_prefix(ref.partition),
                    keys.TERMINAL_UPDATE_TTL_S,
                ),
                *(answering[1] if answering else "", *fence),
            ],
        )
        _check(reply[0])
        return Erased(epoch=int(reply[0]), messages=int(reply[1]), updates=int(reply[2]))


def parse_erased(line: str) -> Erased:
    """What `reset` left in the journal of the /reset that it answered: epoch, messages, updates."""
    epoch, messages, updates = line.split()
    return Erased(epoch=int(epoch), messages=int(messages), updates=int(updates))


def _check(outcome: str | int) -> None:
    if outcome == "fenced":
        raise Fenced
    if outcome == "forgotten":
        raise Forgotten


def _updates(flat: Sequence[str]) -> tuple[PendingUpdate, ...]:
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return tuple(PendingUpdate(update_id=int(number), payload=payload) for number, payload in pairs)
