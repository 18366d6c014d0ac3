"""What a turn reads and writes in Redis: what there is to do, each finished step, the one commit, each send."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from bot.errors import Fenced, TurnStopped
from bot.inbox.records import ATTEMPTS_AT_MOST, Claim, Fence, PendingUpdate, TerminalState, Todo
from bot.inbox.redis_inbox import inbox_script
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
"""How many waiting updates one turn may join."""
RECEIPTS_KEPT = 10
"""How many receipts of prompts are kept of a context."""
NO_MESSAGE = 0
"""Instead of a Telegram message id: of a part that took a message away."""
_COUNTS_BEFORE_SUMMARIES = 4
_COUNTS_BEFORE_HEARD = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What a turn changes, all at once. `parts` are the outbox's lines; without any, the updates end here.

    `registered` is the context's entry in the registry of contexts, for one that is new. `ledger` is what the turn
    called, kept with the messages that it appends, or not at all without any. `receipt` is that of its prompt.
    `active_agent` is who has the chat from now on, "" the main agent, None whoever had it. `compresses`: the
    conversation is to be compressed. `deletes` are the ids of the messages of the turn that this one answers again.
    `booking` is run beside it, in the same trip, whatever becomes of the commit itself. `trace` tells operators what the
    turn did (bot/turn/turn_trace.py).
    """

    update_ids: Sequence[int]
    epoch: int
    state: TerminalState = "answered"
    reason: str = ""
    messages: Sequence[Message] = ()
    parts: Sequence[str] = ()
    starts_conversation: bool = False
    registered: str = ""
    ledger: Sequence[LedgerEntry] = ()
    receipt: str = ""
    active_agent: str | None = None
    compresses: bool = False
    deletes: Sequence[str] = ()
    booking: Sequence[ScriptCall] = ()
    trace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What a reset took out of Redis, the epoch from which the context goes on, and its vectors before that."""

    epoch: int
    messages: int
    updates: int
    vectors: int = 0
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
                break  # else a reset came between the two: what was taken is forgotten
        todo = Todo(
            updates=_updates(updates),
            journal=dict(zip(journal[::2], journal[1::2], strict=True)),
            parts=tuple(parts),
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
        """Forget the finished steps of the running turn, which begins anew; what it shows in the chat stays noted.

        It does not count as an attempt of its update: nobody has died over it.
        """
        ref = claim.ref
        script_keys = [keys.ready_key(ref.partition), keys.journal_key(ref), keys.box_key(ref)]
        arguments = [dump_json(Fence, claim.fence), keys.update_prefix(ref.partition)]
        _check(await self._redis.run(inbox_script("restart"), script_keys, arguments))

    async def payload_of(self, ref: keys.ContextRef, update_id: int) -> str | None:
        """The payload of an update of the context that has not finished, or None."""
        record = keys.update_key(ref.partition, update_id)
        context, payload = await self._redis.call("HMGET", record, "context", "payload")
        return payload if context == ref.context_id else None

    async def shown_as(self, ref: keys.ContextRef, message_id: str) -> tuple[int, ...]:
        """The Telegram ids under which a message is shown, in order; none for one that was never delivered."""
        found = await self._redis.call("HGET", keys.telegram_key(ref), message_id)
        return tuple(int(each) for each in str(found or "").split())

    async def commit(self, claim: Claim, commit: Commit) -> None:
        """Make the turn true. A second try of a commit that went through changes nothing. Raises Forgotten."""
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
        # The booking comes first: a commit that is there was booked, and one that is tried again is booked once.
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
            *commit.parts,
        ]

    async def note_refusal(
        self, ref: keys.ContextRef, *, chat_id: int, sender_id: int, update_id: int
    ) -> bool:
        """Whether this update is the one to refuse its sender with, in this chat, for REFUSAL_TTL_S."""
        key = keys.refused_key(ref.partition, chat_id, sender_id)
        await self._redis.call("SET", key, update_id, "NX", "EX", keys.REFUSAL_TTL_S)
        return await self._redis.call("GET", key) == str(update_id)

    async def count_sends(self, claim: Claim, part: str, begun: int) -> bool:
        """Note how many sends of the outbox's first part were begun whose outcome is open. False: it was erased."""
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("count_sends"),
            [keys.ready_key(ref.partition), keys.outbox_key(ref), keys.sending_key(ref)],
            [dump_json(Fence, claim.fence), part, begun],
        )
        _check(outcome)
        return outcome != "gone"

    async def replace_part(
        self, claim: Claim, part: str, instead: Sequence[str], *, sends_begun: int = 0
    ) -> bool:
        """Put these parts, at least one, in the place of the outbox's first. False: it was erased.

        `sends_begun`: of the first of them, how many sends have an open outcome, in whatever form they were.
        """
        ref = claim.ref
        outcome = await self._redis.run(
            inbox_script("replace_part"),
            [keys.ready_key(ref.partition), keys.outbox_key(ref), keys.sending_key(ref)],
            [dump_json(Fence, claim.fence), part, sends_begun, *instead],
        )
        _check(outcome)
        return outcome != "gone"

    async def sent(
        self,
        claim: Claim,
        part: str,
        *,
        epoch: int,
        telegram_id: int | None = None,
        message_id: str = "",
        undeliverable: str = "",
        told: tuple[int, str] = (0, ""),
    ) -> bool:
        """The first part of the outbox has its outcome; after the last one its updates are finished.

        `telegram_id`: the message that shows it, NO_MESSAGE for a part that is shown by none, None where nobody knows
        whether it arrived. `undeliverable` gives up the whole outbox with that reason. `told` is the part's number and how
        it was sent, in words without spaces at their ends, for operators. False if it was erased
        meanwhile: then nothing happens, and the parts after it are not to be sent.
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
                *(
                    dump_json(Fence, claim.fence),
                    part,
                    epoch,
                    self._clock(),
                    keys.update_prefix(ref.partition),
                ),
                *(keys.TERMINAL_UPDATE_TTL_S, shown_by, message_id, undeliverable, *told),
            ],
        )
        _check(outcome)
        return outcome != "gone"

    async def dead_letters(self, ref: keys.ContextRef) -> list[PendingUpdate]:
        """The context's dead letters, the oldest first."""
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
        """Erase what these dead letters of the context say; nobody can take them up again."""
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
    ) -> Erased:
        """Erase all of a context in Redis and raise its epoch; what its turn still does comes to nothing.

        `answering`: the claim and update id of the /reset that asks for it: it stays to be answered, and so do
        the updates after it. Raises Fenced then.
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


def parse_erased(line: str) -> Erased:
    """What `reset` left in the journal of the /reset that it answered.

    Workers of versions before left fewer numbers: there were no summaries, ledger and artifacts to count, no talk.
    """
    counts = line.split()
    if len(counts) == _COUNTS_BEFORE_SUMMARIES:
        epoch, messages, *rest = counts
        counts = [epoch, messages, "0", "0", "0", "0", *rest]
    elif len(counts) == _COUNTS_BEFORE_HEARD:
        counts = [*counts[:5], "0", *counts[5:]]
    return _erased(counts)


def _erased(counts: Sequence[str | int]) -> Erased:
    epoch, messages, summaries, ledger_turns, artifacts, heard, updates, vectors = map(int, counts)
    return Erased(
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
