"""The turn's reads and writes in Redis: its work, each finished step, the one commit, each send."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal
from uuid import uuid4

from bot.errors import Fenced, TurnRestarted, TurnStopped
from bot.inbox.inspection import dead_updates, read_updates
from bot.inbox.records import ATTEMPTS_AT_MOST, Claim, Fence, IncognitoChange, TerminalState
from bot.transport.telegram_api import SentPhoto
from bot.turn.answer_receipt import AnswerReceipt
from bot.turn.outbox import Part, SentPart, Waiting, dump_part, parse_part
from memory import keys
from memory.artifacts.store import drop_unnamed
from memory.codec import dump_json, parse_json
from memory.errors import Forgotten, MemoryFailure
from memory.history import redis_history
from memory.history.fact import STANDING_LIMIT, AwaitedCorrection, parse_corrections
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message
from memory.history.store import Erasure, HistorySnapshot
from memory.keys import ContextRef, Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script, named, numbered
from memory.tombstones import copy_beside, reset_names

_SCRIPTS = "bot.inbox.scripts"
UPDATES_AT_MOST = 20
"""Waiting updates that one turn may answer together."""
_LIMITS = {"updates": UPDATES_AT_MOST, "attempts": ATTEMPTS_AT_MOST, "standing": STANDING_LIMIT}
RECEIPTS_KEPT = 1_000
"""Receipts of answers kept for each context, the newest ones."""
MetaField = Literal["active_agent", "corrections", "model", "offers", "talk_after", "choices", "zone_asked"]
"""The agent that has the chat, questions that wait for an answer, buttons that forget answers, the people's choices.

`talk_after` is the time in Unix seconds after which prompts show talk: a model's filter refused the lines before."""
NO_MESSAGE = 0
"""Stands for the Telegram message id of a part that deleted a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """The work of a claimed context, oldest first. Parts of the outbox come before new updates."""

    updates: dict[int, str]
    """Payloads by update id."""
    journal: dict[str, str]
    """Steps of an interrupted turn."""
    parts: tuple[Part, ...]
    sends_begun: int
    """Interrupted sends of the first part."""
    stopped_before: int | None
    """Updates before this id were stopped by their reader."""
    buried: dict[int, str]
    """Payloads of updates that became dead letters just now."""
    corrections: tuple[AwaitedCorrection, ...] = ()
    """Questions about facts that wait for an answer, oldest first; also those that have expired."""
    unkept: Collection[int] = ()
    """Ids of updates of which nothing is kept: they were sent in incognito."""
    answers: Collection[int] = ()
    """Ids of updates that answer such a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnNote:
    """A turn for operators. The defaults are those of a command."""

    trace: str = ""
    """Its record: see bot/turn/commit.py."""
    counted: Mapping[str, int] = field(default_factory=dict[str, int])
    """Amounts for the counters of all processes, by name (bot/observe/series.py)."""


FactsDefault = Literal["", "on", "off"]
"""The choice about facts in this kind of chat until somebody chooses; "" if this bot extracts none at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterWork:
    """Work of models that follows a turn."""

    compresses: bool = False
    """True if the conversation should be compressed."""
    facts: FactsDefault = ""


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
    """True if a new conversation begins with this turn."""
    registered: str = ""
    """The entry of a new context in the registry of contexts."""
    ledger: Sequence[LedgerEntry] = ()
    """The calls of the turn. They are kept with its messages, or not at all if it has none."""
    receipt: AnswerReceipt | None = None
    """The receipt of the answer, which is one of `messages`; None without an answer to keep."""
    meta: Mapping[MetaField, str] = field(default_factory=dict[MetaField, str])
    """Fields of the context's `meta` that change; "" removes one."""
    later: LaterWork = LaterWork()
    deletes: Sequence[str] = ()
    """Ids of the messages of the turn that this one answers again."""
    booking: Sequence[ScriptCall] = ()
    """Runs in the same round trip, whatever becomes of the commit."""
    note: TurnNote = TurnNote()
    incognito: IncognitoChange | None = None


@lua_script(_SCRIPTS)
def take(ref: ContextRef, *, fence: Fence, limits: Mapping[str, int], now: float) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def record(
    ref: ContextRef, *, fence: Fence, expected_epoch: int, newest: int, order_id: int, fields: Sequence[str]
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def restart(ref: ContextRef, *, fence: Fence) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def commit(
    ref: ContextRef,
    *,
    fence: Fence,
    expected_epoch: int,
    now: float,
    changes: Mapping[str, object],
    settings: Mapping[str, object],
    counted: Sequence[str | int],
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def count_sends(ref: ContextRef, *, fence: Fence, part: str, begun: int, look: int | None) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def replace_part(
    ref: ContextRef,
    *,
    fence: Fence,
    part: str,
    now: float,
    change: Mapping[str, object],
    instead: Sequence[str],
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def sent(
    ref: ContextRef,
    *,
    fence: Fence,
    part: str,
    expected_epoch: int,
    now: float,
    outcome: Mapping[str, object],
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def forget_updates(ref: ContextRef, *, now: float, ids: Sequence[int]) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def reset(
    ref: ContextRef,
    *,
    erased: Key,
    context_id: str,
    now: float,
    order_of_reset: Mapping[str, object],
    erased_keys: Mapping[str, str],
) -> ScriptCall: ...


@dataclass(frozen=True, slots=True)
class TurnStore:
    """The turn's side of the inbox. Every write checks the claim's fence first and raises Fenced."""

    redis: RedisClient
    _: KW_ONLY
    clock: Callable[[], float]
    new_id: Callable[[], str] = lambda: uuid4().hex
    _recent: redis_history.RecentMessages = field(default_factory=redis_history.recent_messages)

    @property
    def is_on_cluster(self) -> bool:
        """Return True if the send budgets may be on another server than the outbox."""
        return self.redis.is_cluster

    async def take(self, claim: Claim, *, window: int) -> tuple[Todo, HistorySnapshot]:
        """Return the context's work and its newest `window` messages, in one round trip."""
        ref = claim.ref
        call = take(ref, fence=claim.fence, limits=_LIMITS, now=self.clock())
        while True:
            taken, loaded = await self.redis.run_all([call, redis_history.load_snapshot(ref, limit=window)])
            if taken == "fenced":
                raise Fenced
            work, history = named(taken), named(loaded)
            if work.get("epoch") == history.get("epoch"):
                break  # otherwise a reset came between the two reads
        history["zones"] += work["zones"]
        history["standing"] = work["standing"]
        todo = Todo(
            updates=numbered(work["updates"]),
            journal=named(work["journal"]),
            parts=tuple(map(parse_part, work["parts"])),
            sends_begun=int(work.get("sends_begun", 0)),
            stopped_before=int(work["stop"]) if "stop" in work else None,
            buried=numbered(work["buried"]),
            corrections=parse_corrections(named(history["meta"]).get("corrections", "")),
            unkept=frozenset(map(int, work["unkept"])),
            answers=frozenset(map(int, work["answers"])),
        )
        return todo, redis_history.parse_snapshot(history, self._recent)

    async def record(
        self,
        claim: Claim,
        *,
        epoch: int,
        newest_update: int,
        order_id: int | None = None,
        fields: Mapping[str, str],
    ) -> None:
        """Write finished steps into the journal. Raises Forgotten (nothing written) and TurnStopped (written).

        `order_id` is the newest update's, by default its id.
        """
        call = record(
            claim.ref,
            fence=claim.fence,
            expected_epoch=epoch,
            newest=newest_update,
            order_id=newest_update if order_id is None else order_id,
            fields=[word for field in fields.items() for word in field],
        )
        if await self._run(call) == "stopped":
            raise TurnStopped

    async def restart(self, claim: Claim, *, epoch: int | None = None) -> None:
        """Forget the finished steps of the running turn, so that it can start again. Its preview stays noted.

        In this epoch the artifacts of these steps go too: they may have the words of a forgotten message. This does
        not count as an attempt of its update, because no worker has died.
        """
        await self._run(restart(claim.ref, fence=claim.fence))
        if epoch is not None:
            with suppress(Forgotten):  # then a reset has erased them
                await drop_unnamed(self.redis, claim.ref, epoch=epoch)

    async def payload_of(self, ref: ContextRef, update_id: int) -> str | None:
        """Return the payload of an unfinished update of the context, or None."""
        record = keys.partition_key(ref.partition, "update", update_id)
        context, payload = await self.redis.call("HMGET", record, "context", "payload")
        return payload if context == ref.context_id else None

    async def shown_as(self, ref: ContextRef, message_id: str) -> tuple[int, ...]:
        """Return the Telegram messages that show this message, in order; () if it was never delivered."""
        found = await self.redis.call("HGET", keys.context_key(ref, "telegram"), message_id)
        return tuple(int(each) for each in str(found or "").split())

    async def commit(
        self,
        claim: Claim,
        turn: Commit,
        *,
        reservation: ScriptCall | None = None,
        begins_send: bool = False,
        revision: int | None = None,
    ) -> int | None:
        """Commit the turn. Repeating a commit changes nothing. Raises Forgotten.

        Raises TurnRestarted if somebody has forgotten a message on the memory page since `revision`: the turn may have
        read it.

        Return the reply to the `reservation` (see bot/transport/rates.py), None if it failed: then the commit is
        stored all the same. With `begins_send` the first send counts as begun.
        """
        ref = claim.ref
        call = commit(
            ref,
            fence=claim.fence,
            expected_epoch=turn.epoch,
            now=self.clock(),
            changes={**_changes(turn), "context_id": ref.context_id, "begins_send": begins_send},
            settings={
                "revision": "" if revision is None else str(revision),
                "receipts_kept": RECEIPTS_KEPT,
                "receipt_ttl": keys.ANSWER_RECEIPT_TTL_S,
            },
            counted=[each for amount in turn.note.counted.items() for each in amount],
        )
        # The booking comes first: a commit that is stored was booked, and a repeated commit is booked once.
        calls = [*turn.booking, call]
        if reservation is None:
            _check((await self.redis.run_all(calls))[-1])
            return None
        *replies, reserved = await self.redis.run_each([*calls, reservation])
        if failure := next((reply for reply in replies if isinstance(reply, MemoryFailure)), None):
            raise failure
        _check(replies[-1])
        return None if isinstance(reserved, MemoryFailure) else int(reserved)

    async def note_refusal(self, ref: ContextRef, *, chat_id: int, sender_id: int, update_id: int) -> bool:
        """Return True if this update should get the refusal. Each sender gets one per chat in REFUSAL_TTL_S."""
        key = keys.partition_key(ref.partition, "refused", chat_id, sender_id)
        await self.redis.call("SET", key, update_id, "NX", "EX", keys.REFUSAL_TTL_S)
        return await self.redis.call("GET", key) == str(update_id)

    async def count_sends(
        self, claim: Claim, part: Part, begun: int, *, looks: bool = False
    ) -> bool | Waiting:
        """Store how many sends of the outbox's first part have an unknown outcome. False: it was erased.

        If other updates wait and `looks` is True, return these and store nothing.
        """
        look = UPDATES_AT_MOST if looks else None
        call = count_sends(claim.ref, fence=claim.fence, part=dump_part(part), begun=begun, look=look)
        outcome, *waiting = await self._run(call)
        if outcome == "waiting":
            first, *payloads = waiting
            return Waiting(payloads=payloads, first_update=int(first) if first else None)
        return outcome != "gone"

    async def replace_part(
        self,
        claim: Claim,
        part: Part,
        instead: Sequence[Part],
        *,
        sends_begun: int = 0,
        is_whole: bool = False,
        stopped_by: Sequence[int] = (),
    ) -> bool:
        """Put these parts, at least one, in place of the outbox's first, or of all. False: it was erased.

        `sends_begun` counts the sends of the first of them, in any form, that have an unknown outcome. The updates
        `stopped_by` have stopped the outbox and end here.
        """
        change: dict[str, object] = {
            "begun": sends_begun,
            "is_whole": is_whole,
            "stopped_by": list(map(str, stopped_by)),
        }
        call = replace_part(
            claim.ref,
            fence=claim.fence,
            part=dump_part(part),
            now=self.clock(),
            change=change,
            instead=list(map(dump_part, instead)),
        )
        return await self._run(call) != "gone"

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

        Then the context is settled as well if it has nothing more to do: `claim.settled` is set.

        `telegram_id` is the message that shows it, NO_MESSAGE for a deletion, None if nobody knows whether it
        arrived. `undeliverable` gives up the whole outbox with that reason. `note` tells operators how it was
        sent. False: it was erased meanwhile; nothing happens, and the parts after it must not be sent.
        """
        outcome: dict[str, object] = {
            "telegram_id": "-" if telegram_id == NO_MESSAGE else str(telegram_id or ""),
            "message_id": part.message_id,
            "context_id": claim.ref.context_id,
            "undeliverable": undeliverable,
        }
        if note is not None:
            outcome["note"] = note
        if isinstance(telegram_id, SentPhoto) and telegram_id.file_id:
            outcome["photo"] = telegram_id.file_id
        call = sent(
            claim.ref,
            fence=claim.fence,
            part=dump_part(part),
            expected_epoch=part.epoch,
            now=self.clock(),
            outcome=outcome,
        )
        reply = await self._run(call)
        if reply == "settled":
            claim.settled.set()
        return reply != "gone"

    async def dead_letters(self, ref: ContextRef) -> dict[int, str]:
        """Return the payloads of the context's dead letters by update id, oldest first."""
        numbers = await dead_updates(self.redis, ref.partition)
        rows = await read_updates(self.redis, ref.partition, numbers, "context", "payload")
        return {
            number: payload for number, (context, payload) in rows if context == ref.context_id and payload
        }

    async def forget_updates(self, ref: ContextRef, update_ids: Sequence[int]) -> None:
        """Erase these waiting updates and dead letters of the context; nobody can retry them."""
        await self.redis.run(forget_updates(ref, now=self.clock(), ids=update_ids))

    async def reset(
        self,
        ref: ContextRef,
        *,
        vectors: int = 0,
        answering: tuple[Claim, int] | None = None,
        others: str = "",
        asked_by: int | None = None,
        grave: Literal["reset", "replaced"] = "reset",
    ) -> Erasure:
        """Erase everything of a context in Redis and raise its epoch, which fences its running turn.

        `answering` is the claim and the update id of a reset from the chat. That update and later ones stay,
        and this raises Fenced. `others` is the receipt of what it erased in other contexts before.

        `asked_by` is an update of another context. A second call for it within ERASED_TTL_S erases nothing more
        and returns the counts of the first.
        """
        token = self.new_id() if asked_by is None else f"{asked_by}:{ref.context_id}"
        names, buried = await reset_names(self.redis, ref, grave)
        order: dict[str, object] = {
            "buried": buried,
            "vectors": vectors,
            "others": others,
            "prefixes": keys.listed_prefixes(ref),
            "erased_ttl": keys.ERASED_TTL_S,
        }
        if answering is not None:
            order |= {"update_id": str(answering[1]), "fence": answering[0].fence}
        erased = keys.partition_key(ref.partition, "erased", token)
        call = reset(
            ref,
            erased=erased,
            context_id=ref.context_id,
            now=self.clock(),
            order_of_reset=order,
            erased_keys=keys.ERASED_KEYS,
        )
        reply = await self.redis.run_durably(call)
        _check(reply)
        problem = await copy_beside(self.redis, ref.partition, names)
        return replace(parse_json(Erasure, reply), not_copied=problem)

    async def _run(self, call: ScriptCall) -> Any:
        """Return the outcome of a script. Raises Fenced, Forgotten and TurnRestarted."""
        outcome = await self.redis.run(call)
        _check(outcome)
        return outcome


def _changes(turn: Commit) -> dict[str, object]:
    """Return a Commit as commit.lua reads it: parts, calls and message rows are JSON that it stores as it is."""
    receipt, incognito = turn.receipt, turn.incognito
    ledger = LedgerTurn(first_sequence=0, last_sequence=0, entries=tuple(turn.ledger))  # a script numbers it
    return {
        "update_ids": list(map(str, turn.update_ids)),
        "deletes": list(turn.deletes),
        "state": turn.state,
        "reason": turn.reason,
        "parts": list(map(dump_part, turn.parts)),
        "messages": redis_history.message_batch(turn.messages),
        "ledger": dump_json(LedgerTurn, ledger) if turn.ledger else "",
        "receipt": [receipt.message_id, dump_json(AnswerReceipt, receipt)] if receipt else [],
        "registered": incognito.registered if incognito else turn.registered,
        "incognito": [incognito] if incognito else [],
        "trace": turn.note.trace,
        "starts_conversation": turn.starts_conversation,
        "later": turn.later,
        "meta": turn.meta,
    }


def _check(outcome: Any) -> None:
    if outcome == "fenced":
        raise Fenced
    if outcome == "forgotten":
        raise Forgotten
    if outcome == "changed":
        raise TurnRestarted
