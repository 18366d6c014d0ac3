"""The turn's reads and writes in Redis: its work, each finished step, the one commit, each send."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from bot.errors import Fenced, TurnStopped
from bot.inbox.records import ATTEMPTS_AT_MOST, Claim, Fence, PendingUpdate, TerminalState
from bot.inbox.redis_inbox import inbox_script
from bot.turn.outbox import Part, dump_part, parse_part
from bot.turn.trace import SentPart
from memory import keys
from memory.codec import dump_json
from memory.errors import Forgotten
from memory.history.ledger import LedgerEntry
from memory.history.message import Message
from memory.history.redis_history import (
    APPEND_PRELUDES,
    CONVERSATION_PRELUDES,
    DELETE_PRELUDES,
    ERASE_PRELUDES,
    MessageBatch,
    append_keys,
    conversation_keys,
    erase_keys,
    load_snapshot,
    message_batch,
    parse_snapshot,
)
from memory.history.store import HistorySnapshot
from memory.redis.client import RedisClient, ScriptCall

UPDATES_AT_MOST = 20
"""Waiting updates that one turn may answer together."""
RECEIPTS_KEPT = 10
"""Prompt receipts kept for each context."""
NO_MESSAGE = 0
"""Stands for the Telegram message id of a part that deleted a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """The work of a claimed context, oldest first. Parts of the outbox come before new updates."""

    updates: tuple[PendingUpdate, ...]
    journal: dict[str, str]
    """Steps of an interrupted turn."""
    parts: tuple[Part, ...]
    sends_begun: int
    """Interrupted sends of the first part."""
    stopped_before: int | None
    """Updates before this id were stopped by their reader."""
    buried: tuple[PendingUpdate, ...]
    """Updates that became dead letters just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The changes of one turn, made all at once. Without parts its updates end at once, else with the last part."""

    update_ids: Sequence[int]
    epoch: int
    state: TerminalState = "answered"
    reason: str = ""
    messages: Sequence[Message] = ()
    parts: Sequence[Part] = ()
    """The outbox."""
    starts_conversation: bool = False
    registered: str = ""
    """The entry of a new context in the registry of contexts."""
    ledger: Sequence[LedgerEntry] = ()
    """The calls of the turn. They are kept with its messages, or not at all if it has none."""
    receipt: str = ""
    """The receipt of the last prompt."""
    active_agent: str | None = None
    """The agent that has the chat from now on: "" for the main one, None for no change."""
    compresses: bool = False
    """True if the conversation should be compressed."""
    deletes: Sequence[str] = ()
    """Ids of the messages of the turn that this one answers again."""
    booking: Sequence[ScriptCall] = ()
    """Runs in the same round trip, whatever becomes of the commit."""
    trace: str = ""
    """The turn's record for operators: see bot/turn/trace.py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedContext:
    """Counts of what a reset erased in Redis, and the context's new epoch."""

    epoch: int
    messages: int
    updates: int
    vectors: int = 0
    """Counted before the reset; the index erases them later."""
    summaries: int = 0
    ledger_turns: int = 0
    artifacts: int = 0
    heard: int = 0


class TurnStore:
    """The turn's side of the inbox. Every write checks the claim's fence first and raises Fenced."""

    def __init__(
        self,
        redis: RedisClient,
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._redis = redis
        self._clock = clock
        self._new_id = new_id

    async def take(self, claim: Claim, *, window: int) -> tuple[Todo, HistorySnapshot]:
        """Return the context's work and its newest `window` messages, in one round trip."""
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
                *(
                    keys.sending_key(ref),
                    keys.stop_key(ref),
                    keys.dead_key(ref.partition),
                    keys.epoch_key(ref),
                ),
            ],
            arguments=[
                dump_json(Fence, claim.fence),
                keys.update_prefix(ref.partition),
                UPDATES_AT_MOST,
                ATTEMPTS_AT_MOST,
                self._clock(),
            ],
        )
        while True:
            taken, loaded = await self._redis.run_all([take, load_snapshot(ref, limit=window)])
            if taken[0] == "fenced":
                raise Fenced
            _, updates, journal, parts, sends_begun, stopped_before, buried, epoch = taken
            snapshot = parse_snapshot(loaded)
            if snapshot.epoch == int(epoch):
                break  # otherwise a reset came between the two reads
        todo = Todo(
            updates=_updates(updates),
            journal=dict(zip(journal[::2], journal[1::2], strict=True)),
            parts=tuple(map(parse_part, parts)),
            sends_begun=int(sends_begun),
            stopped_before=int(stopped_before) if stopped_before else None,
            buried=_updates(buried),
        )
        return todo, snapshot

    async def record(
        self, claim: Claim, *, epoch: int, newest_update: int, fields: Mapping[str, str]
    ) -> None:
        """Write finished steps into the journal. Raises Forgotten (nothing written) and TurnStopped (written)."""
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("record"),
            [
                *(keys.ready_key(ref.partition), keys.epoch_key(ref), keys.journal_key(ref)),
                *(keys.stop_key(ref), keys.box_key(ref)),
            ],
            [
                dump_json(Fence, claim.fence),
                epoch,
                newest_update,
                *(word for field in fields.items() for word in field),
            ],
        )
        _check(outcome)
        if outcome == "stopped":
            raise TurnStopped

    async def restart(self, claim: Claim) -> None:
        """Forget the finished steps of the running turn, so that it can start again. Its preview stays noted.

        This does not count as an attempt of its update: no worker has died.
        """
        ref = claim.ref
        script_keys = [keys.ready_key(ref.partition), keys.journal_key(ref), keys.box_key(ref)]
        arguments = [dump_json(Fence, claim.fence), keys.update_prefix(ref.partition)]
        _check(await self._redis.run(inbox_script("restart"), script_keys, arguments))

    async def payload_of(self, ref: keys.ContextRef, update_id: int) -> str | None:
        """Return the payload of an unfinished update of the context, or None."""
        record = keys.update_key(ref.partition, update_id)
        context, payload = await self._redis.call("HMGET", record, "context", "payload")
        return payload if context == ref.context_id else None

    async def shown_as(self, ref: keys.ContextRef, message_id: str) -> tuple[int, ...]:
        """Return the Telegram messages that show this message, in order; () if it was never delivered."""
        found = await self._redis.call("HGET", keys.telegram_key(ref), message_id)
        return tuple(int(each) for each in str(found or "").split())

    async def commit(self, claim: Claim, commit: Commit) -> None:
        """Commit the turn. Repeating a commit changes nothing. Raises Forgotten."""
        ref = claim.ref
        call = ScriptCall(
            script=inbox_script("commit", *APPEND_PRELUDES, *DELETE_PRELUDES, *CONVERSATION_PRELUDES),
            keys=[
                *(
                    keys.ready_key(ref.partition),
                    keys.box_key(ref),
                    keys.journal_key(ref),
                    keys.outbox_key(ref),
                ),
                *(keys.delivering_key(ref), keys.epoch_key(ref)),
                *append_keys(ref),
                *(keys.contexts_key(ref.partition), *conversation_keys(ref)[1:]),
                *(keys.ledger_key(ref), keys.prompts_key(ref), keys.compress_key(ref.partition)),
                keys.artifacts_key(ref),
            ],
            arguments=[dump_json(Fence, claim.fence), ref.context_id, *self._arguments(ref, commit)],
        )
        # The booking comes first: a commit that is stored was booked, and a repeated commit is booked once.
        *_, outcome = await self._redis.run_all([*commit.booking, call])
        _check(outcome)

    def _arguments(self, ref: keys.ContextRef, commit: Commit) -> list[str | int | float]:
        return [
            *(commit.epoch, self._clock(), keys.update_prefix(ref.partition)),
            *(commit.state, commit.reason, keys.TERMINAL_UPDATE_TTL_S, int(commit.starts_conversation)),
            *(commit.registered, _dump_entries(commit.ledger)),
            *(commit.receipt, RECEIPTS_KEPT, keys.PROMPTS_TTL_S),
            "" if commit.active_agent is None else f"={commit.active_agent}",
            int(commit.compresses),
            *(len(commit.parts), len(commit.update_ids), len(commit.deletes), keys.artifact_key(ref, "")),
            commit.trace,
            *(*commit.update_ids, *commit.deletes),
            dump_json(MessageBatch, message_batch(commit.messages)),
            *map(dump_part, commit.parts),
        ]

    async def note_refusal(
        self, ref: keys.ContextRef, *, chat_id: int, sender_id: int, update_id: int
    ) -> bool:
        """Return True if this update should get the refusal. Each sender gets one per chat in REFUSAL_TTL_S."""
        key = keys.refused_key(ref.partition, chat_id, sender_id)
        await self._redis.call("SET", key, update_id, "NX", "EX", keys.REFUSAL_TTL_S)
        return await self._redis.call("GET", key) == str(update_id)

    async def count_sends(self, claim: Claim, part: Part, begun: int) -> bool:
        """Store how many sends of the outbox's first part have an unknown outcome. False: it was erased."""
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("count_sends"),
            [keys.ready_key(ref.partition), keys.outbox_key(ref), keys.sending_key(ref)],
            [dump_json(Fence, claim.fence), dump_part(part), begun],
        )
        _check(outcome)
        return outcome != "gone"

    async def replace_part(
        self, claim: Claim, part: Part, instead: Sequence[Part], *, sends_begun: int = 0
    ) -> bool:
        """Put these parts, at least one, in place of the outbox's first. False: it was erased.

        `sends_begun` counts the sends of the first of them, in any form, that have an unknown outcome.
        """
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("replace_part"),
            [keys.ready_key(ref.partition), keys.outbox_key(ref), keys.sending_key(ref)],
            [dump_json(Fence, claim.fence), dump_part(part), sends_begun, *map(dump_part, instead)],
        )
        _check(outcome)
        return outcome != "gone"

    async def sent(
        self,
        claim: Claim,
        part: Part,
        *,
        telegram_id: int | None = None,
        undeliverable: str = "",
        note: SentPart | None = None,
    ) -> bool:
        """Take the first part off the outbox. After the last one its updates are finished.

        `telegram_id` is the message that shows it, NO_MESSAGE for a deletion, None if nobody knows whether it
        arrived. `undeliverable` gives up the whole outbox with that reason. `note` tells operators how it was
        sent. False: it was erased meanwhile; nothing happens, and the parts after it must not be sent.
        """
        shown_by = "-" if telegram_id == NO_MESSAGE else telegram_id or ""
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("sent", *APPEND_PRELUDES),
            [
                *(keys.ready_key(ref.partition), keys.outbox_key(ref), keys.sending_key(ref)),
                *(keys.delivering_key(ref), keys.telegram_key(ref), keys.epoch_key(ref)),
            ],
            [
                *(dump_json(Fence, claim.fence), dump_part(part), part.epoch, self._clock()),
                *(keys.update_prefix(ref.partition), keys.TERMINAL_UPDATE_TTL_S, shown_by, part.message_id),
                *(undeliverable, part.number, "" if note is None else dump_json(SentPart, note)),
            ],
        )
        _check(outcome)
        return outcome != "gone"

    async def dead_letters(self, ref: keys.ContextRef) -> list[PendingUpdate]:
        """Return the context's dead letters, oldest first."""
        numbers = [
            int(each) for each in await self._redis.call("ZRANGE", keys.dead_key(ref.partition), 0, -1)
        ]
        if not numbers:
            return []
        records = [keys.update_key(ref.partition, number) for number in numbers]
        rows = await self._redis.calls([("HMGET", record, "context", "payload") for record in records])
        return [
            PendingUpdate(update_id=number, payload=payload)
            for number, (context, payload) in zip(numbers, rows, strict=True)
            if context == ref.context_id and payload
        ]

    async def forget_dead(self, ref: keys.ContextRef, update_ids: Sequence[int]) -> None:
        """Erase the texts of these dead letters of the context; nobody can retry them."""
        await self._redis.run(
            inbox_script("forget_dead"),
            [keys.dead_key(ref.partition), keys.erasures_key(ref.partition)],
            [
                *(ref.context_id, keys.update_prefix(ref.partition), self._clock()),
                *(keys.TERMINAL_UPDATE_TTL_S, *update_ids),
            ],
        )

    async def reset(
        self,
        ref: keys.ContextRef,
        *,
        vectors: int = 0,
        answering: tuple[Claim, int] | None = None,
        others: str = "",
    ) -> ErasedContext:
        """Erase everything of a context in Redis and raise its epoch, which fences its running turn.

        `answering` is the claim and the update id of a reset from the chat. That update and later ones stay,
        and this raises Fenced. `others` is the receipt of what it erased in other contexts before.
        """
        fence = dump_json(Fence, answering[0].fence) if answering else "{}"
        reply = await self._redis.run_durably(
            inbox_script("reset", *ERASE_PRELUDES),
            [
                *erase_keys(ref),
                *(keys.box_key(ref), keys.journal_key(ref), keys.outbox_key(ref), keys.sending_key(ref)),
                *(keys.delivering_key(ref), keys.stop_key(ref), keys.dead_key(ref.partition)),
                *(keys.ready_key(ref.partition), keys.erased_key(ref.partition, self._new_id())),
                *(keys.active_key(ref.partition), keys.control_key(ref.partition)),
            ],
            [
                *(
                    ref.context_id,
                    keys.artifact_key(ref, ""),
                    self._clock(),
                    keys.update_prefix(ref.partition),
                    keys.TERMINAL_UPDATE_TTL_S,
                ),
                *(answering[1] if answering else "", fence, vectors, others, keys.ERASED_TTL_S),
            ],
        )
        _check(reply[0])
        return _erased([*reply, vectors])


def parse_erased(line: str) -> ErasedContext:
    """Return the counts that `reset` left in the journal of the update that it answered."""
    return _erased(line.split())


def _erased(counts: Sequence[str | int]) -> ErasedContext:
    epoch, messages, summaries, ledger_turns, artifacts, heard, updates, vectors = map(int, counts)
    return ErasedContext(
        epoch=epoch,
        messages=messages,
        updates=updates,
        vectors=vectors,
        summaries=summaries,
        ledger_turns=ledger_turns,
        artifacts=artifacts,
        heard=heard,
    )


def _dump_entries(entries: Sequence[LedgerEntry]) -> str:
    return dump_json(tuple[LedgerEntry, ...], tuple(entries)) if entries else ""


def _check(outcome: str | int) -> None:
    if outcome == "fenced":
        raise Fenced
    if outcome == "forgotten":
        raise Forgotten


def _updates(flat: Sequence[str]) -> tuple[PendingUpdate, ...]:
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return tuple(PendingUpdate(update_id=int(number), payload=payload) for number, payload in pairs)
