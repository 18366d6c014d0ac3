"""Delivers the outbox part by part. Nothing is lost, and only a send with an unknown outcome is repeated, once."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, ParamSpec, Protocol, TypeVar

import stamina
import structlog

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    Fenced,
    FileExpired,
    MessageGone,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
    TokenRefused,
)
from bot.inbox.isolation import Slots
from bot.inbox.records import Claim
from bot.observe import metrics
from bot.transport.rates import Importance
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import TelegramApi
from bot.turn.outbox import Part, SentPart, Waiting, moved_part, next_form, plan_texts_of
from bot.turn.store import NO_MESSAGE, TurnStore
from memory import keys
from memory.artifacts.store import read_file
from memory.errors import MemoryFailure, StoreFull, StoreUnavailable
from memory.http_calls import is_unsent
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall

log = structlog.get_logger()
P = ParamSpec("P")
T = TypeVar("T")

SENDS_AT_MOST = 2
"""Sends of one part with an unknown outcome: the first one and one repetition."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
SHORT_WAIT_S = 0.25
"""A shorter wait, for a gap between calls for other chats, is not counted and keeps the worker's slot."""
KNOWN_AT_MOST = 10_000
"""Marked chats that this process remembers."""

Pause = Callable[[float], Awaitable[None]]

_AWAY = (StoreUnavailable, StoreFull)
_retrying = stamina.AsyncRetryingCaller(
    attempts=None, timeout=None, wait_initial=FIRST_PAUSE_S, wait_max=2.0, wait_jitter=0.0
).on(_AWAY)


async def until_stored(write: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Repeat a write until it succeeds or raises Fenced: only this worker knows what was sent."""
    try:
        return await write(*args, **kwargs)
    except _AWAY:
        await asyncio.sleep(FIRST_PAUSE_S)
    return await _retrying(write, *args, **kwargs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The rest of an outbox after a change."""

    parts: Sequence[Part]
    """The parts in place of the outbox. Without any, it is left to the next update, which erases it."""
    stopped_by: Sequence[int] = ()
    """Waiting updates that have stopped the outbox and end with the change; () for no stop."""


PlanRest = Callable[[Claim, Sequence[Part], Waiting], Awaitable[Rest | None]]
"""Decides what becomes of the outbox if other updates wait (bot/turn/rest.py). None changes nothing."""
_Progress = Literal["ok", "gone", "changed"]
"""The state of the outbox before a send: as it was, left to a reset or erased by it, or changed by `plan_rest`."""


class Send(Protocol):
    """Sends one part, with the content of its kept file.

    Returns the Telegram message that shows it, if any. Raises the TelegramFailure errors.
    """

    async def __call__(self, part: Part, content: bytes = b"", /) -> int | None: ...


class Rates(Protocol):
    """The budgets of calls: see bot/transport/rates.py."""

    async def reserve(self, chat_id: int, importance: Importance) -> float | None: ...
    def reservation(self, chat_id: int, importance: Importance) -> ScriptCall | None: ...
    def wait_in(self, reply: int | None, chat_id: int) -> float | None: ...
    def seems_free(self, chat_id: int) -> bool: ...
    async def held(self, chat_id: int) -> float: ...
    async def hold(self, chat_id: int, retry_after: float) -> None: ...


async def send_part(api: TelegramApi, part: Part, content: bytes = b"") -> int | None:
    """Send, edit or delete as the part says. Return the message that shows it, None after a deletion.

    Raises the TelegramFailure errors.
    """
    if part.kind == "delete" and part.edits is not None:
        if part.keeps_text:
            await api.remove_buttons(part.chat_id, part.edits)
        else:
            await api.delete_message(part.chat_id, part.edits)
        return None
    if part.kind != "text" and part.kind != "delete":
        return await api.send_file(
            part,
            content if part.file_id else part.rich.text.encode(),
            kind=part.kind,
            name=part.file_name,
            caption=part.rich if part.file_id else RichText(text=part.caption),
            reply_to=part.reply_to,
        )
    if part.inline_id:
        await api.inline.edit(part.inline_id, part.rich)
        return None
    if part.edits is not None:
        await api.edit_message(part.chat_id, part.edits, part.rich, buttons=part.buttons)
        return part.edits
    return await api.send_message(part, part.rich, reply_to=part.reply_to, buttons=part.buttons)


class Reachability:
    """Marks the chats that do not take our messages (403: blocked, kicked), in Redis.

    An accepted update removes its chat's mark (accept.lua).
    A chat without a mark costs no round trip: Redis is asked only about chats that this process has marked.
    Each process learns of a chat by a refusal of its own.
    """

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock
        self._known: OrderedDict[int, None] = OrderedDict()

    async def mark(self, partition: int, chat_id: int) -> None:
        """Mark the chat: nothing is sent there from now on. If the store is away, one more refusal follows."""
        self._known[chat_id] = None
        while len(self._known) > KNOWN_AT_MOST:
            self._known.popitem(last=False)
        await self._ask("HSET", keys.partition_key(partition, "unreachable"), chat_id, self._clock())

    async def clear(self, partition: int, chat_id: int) -> None:
        """Remove the chat's mark."""
        self._known.pop(chat_id, None)
        await self._ask("HDEL", keys.partition_key(partition, "unreachable"), chat_id)

    def seems_marked(self, chat_id: int) -> bool:
        """Return True if this process marked the chat; enough for previews. `is_marked` asks the store."""
        return chat_id in self._known

    async def is_marked(self, partition: int, chat_id: int) -> bool:
        """Return True if a call for this chat would be refused; False if the store does not answer."""
        if chat_id not in self._known:
            return False
        if await self._ask("HEXISTS", keys.partition_key(partition, "unreachable"), chat_id):
            return True
        self._known.pop(chat_id, None)
        return False

    async def _ask(self, *command: str | int | float) -> object:
        try:
            return await self._redis.call(*command)
        except MemoryFailure as error:
            log.warning("reachability_unknown", error=type(error).__name__)
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Sends a context's outbox to Telegram, in order."""

    store: TurnStore
    send: Send
    rates: Rates
    marks: Reachability
    learn_migration: Callable[[int, int], Awaitable[None]]
    """Takes the old and the new id of a group that became a supergroup; repeating it is harmless."""
    slots: Slots
    plan_rest: PlanRest | None = None
    pause: Pause = asyncio.sleep

    def reservation(self, parts: Sequence[Part]) -> ScriptCall | None:
        """Return the script that reserves the place of the first send, for the commit's round trip, if it needs one.

        On a cluster a slow server of the budgets must not hold up the commit: then the send reserves its own place.
        """
        if not parts or parts[0].kind == "delete" or self.store.is_on_cluster:
            return None
        return self.rates.reservation(parts[0].chat_id, "final")

    async def deliver(
        self,
        claim: Claim,
        parts: Sequence[Part],
        *,
        sends_begun: int = 0,
        reserved: float | None = None,
        is_counted: bool = False,
    ) -> None:
        """Send every part. `sends_begun` counts the sends of the first part that a crash has interrupted.

        `reserved` are the seconds until the place of the first send if the commit has reserved it. `is_counted`: the
        commit has counted that send too.

        Such a send may have arrived: it is repeated once, not twice. This waits for 429s and outages as long as
        it takes, with the claim but without the worker's slot. If other updates wait, `plan_rest` may change the
        outbox before each send that is not counted yet. An unreachable chat ends the outbox. Raises Fenced and the
        store's errors; undelivered parts stay.
        """
        async with AsyncExitStack() as rest:
            run = _DeliveryRun(
                delivery=self,
                claim=claim,
                left=deque(parts),
                rest=rest,
                counted=sends_begun,
                reserved=reserved,
                is_counted=is_counted,
            )
            while run.left:
                if not await run.deliver(run.left[0]):
                    await run.clean_up()
                    return


@dataclass(slots=True, kw_only=True)
class _DeliveryRun:
    """The delivery of one outbox under one claim: its first part, the form that is sent now, and its sends so far."""

    delivery: Delivery
    claim: Claim
    left: deque[Part]
    """The outbox."""
    rest: AsyncExitStack
    """The slot is released here once the delivery has to wait."""
    counted: int
    """The sends of the first part with an unknown outcome that the store knows of."""
    reserved: float | None
    """Seconds until the place that the commit has reserved for the first send."""
    is_counted: bool
    """True if the commit has counted the first send."""
    _is_resting: bool = False
    _moved: dict[int, int] = field(default_factory=dict[int, int])
    _stored: Part = field(init=False)
    """The first part as the outbox has it."""
    _part: Part = field(init=False)
    """The form of it that is sent now."""
    _begun: int = field(init=False)
    _note: SentPart = field(init=False)

    async def deliver(self, stored: Part) -> bool:
        """Deliver the outbox's first part, or change the outbox. False ends it: it was erased or given up."""
        self._stored = self._part = stored
        self._begun = self.counted + 1
        self._note = SentPart(number=stored.number, kind=stored.kind, outcome="", repeats=self.counted)
        if self.is_counted:
            self.counted, self.is_counted = self._begun, False
        if stored.chat_id in self._moved:
            there = moved_part(stored, self._moved[stored.chat_id])
            if there is None:
                return await self._finish("sent", NO_MESSAGE)
            self._part = there
        partition, marks = self.claim.ref.partition, self.delivery.marks
        try:
            if not stored.inline_id and await marks.is_marked(partition, self._part.chat_id):
                raise ChatUnreachable
            return await self._deliver()
        except ChatUnreachable as error:
            if not stored.inline_id:  # the private chat of the person is another one
                await marks.mark(partition, self._part.chat_id)
            await self._give_up(error)
            return False

    async def clean_up(self) -> None:
        """After the end of an outbox: delete the messages that its parts would have edited or deleted.

        Such a message shows a part of an answer, with a button. Each is tried once.
        """
        for part in self.left:
            if part.edits is None or part.chat_id in self._moved:
                continue
            if await self.delivery.marks.is_marked(self.claim.ref.partition, part.chat_id):
                return
            await self._delete(part)

    async def _deliver(self) -> bool:
        pause = FIRST_PAUSE_S
        progress: _Progress = "ok"
        while progress == "ok":
            part = self._part
            is_edit = part.edits is not None or bool(part.inline_id)
            if self._begun > SENDS_AT_MOST and not is_edit:  # an edit or a deletion may be repeated
                log.warning("send_outcome_unknown", chat=part.chat_id, number=part.number)
                return await self._finish("unknown", None)
            try:
                progress = await self._wait_for_budget()
                if progress == "ok":
                    return await self._finish("sent", await self._send() or NO_MESSAGE)
            except TelegramUnavailable as error:
                wait = pause if error.retry_after is None else error.retry_after
                metrics.SENDS.labels("retried").inc()
                if error.retry_after is not None:
                    await self.delivery.rates.hold(part.chat_id, wait)
                pause = min(LONGEST_PAUSE_S, pause * 2)
                progress = await self._wait_unsent(wait)
            except SendUnknown:
                metrics.SENDS.labels("retried").inc()
                log.warning("send_repeated", chat=part.chat_id, number=part.number, kind=part.kind)
                self._begun += 1
                self._note = replace(self._note, repeats=self._note.repeats + 1)
                await self._release_slot()
                await self.delivery.pause(pause)  # a gateway that fails for a moment may be back by then
                pause = min(LONGEST_PAUSE_S, pause * 2)
            except (ChatMigrated, TelegramRefused) as refusal:
                self._note = replace(self._note, refusals=self._note.refusals + 1)
                form = await self._next_form(refusal)
                if form is None:
                    return await self._refused(refusal)
                progress = await self._take_form(form)
        return progress == "changed"

    async def _send(self) -> int | None:
        part, ref = self._part, self.claim.ref
        try:
            if not part.file_id:
                return await self.delivery.send(part)
            content = await until_stored(read_file, self.delivery.store.redis, ref, part.file_id)
            if content is None:
                raise FileExpired
            return await self.delivery.send(part, content)
        except TokenRefused as error:  # no other form would be accepted; with a good token this one will be
            log.warning("token_refused", chat=self._part.chat_id)
            raise TelegramUnavailable(str(error)) from None
        except asyncio.CancelledError as cancelled:
            if is_unsent(cancelled):
                with suppress(Fenced, MemoryFailure):
                    await self.delivery.store.count_sends(self.claim, self._stored, self._begun - 1)
            raise

    async def _next_form(self, refusal: TelegramRefused | ChatMigrated) -> Part | None:
        part = self._part
        form = next_form(part, refusal)
        if isinstance(refusal, ChatMigrated):
            self._moved[part.chat_id] = refusal.new_chat_id
            log.info("chat_migrated", chat=part.chat_id, to=refusal.new_chat_id)
            try:
                await self.delivery.learn_migration(part.chat_id, refusal.new_chat_id)
            except MemoryFailure as error:  # the migration's service message brings it too
                log.warning("migration_not_stored", chat=part.chat_id, error=type(error).__name__)
        elif form is not None:
            if isinstance(refusal, MessageGone):
                await self._delete(part)  # a file, for instance, exists and cannot become a text
            log.warning(
                "sent_in_another_form",
                chat=part.chat_id,
                number=part.number,
                kind=part.kind,
                error=str(refusal),
            )
        return form

    async def _delete(self, part: Part) -> None:
        with suppress(TelegramFailure):
            await self.delivery.send(replace(part, kind="delete"))

    async def _wait_for_budget(self) -> _Progress:
        """Wait until the budgets and Telegram's 429s allow the send, then count it.

        A send is counted right before it: a crash while none was running must not make its outcome unknown.
        """
        rates, chat_id = self.delivery.rates, self._part.chat_id
        if self.reserved is not None:
            wait, self.reserved = self.reserved, None
        elif self._part.kind == "delete":
            wait = await rates.held(chat_id)
        else:
            wait = await rates.reserve(chat_id, "final") or 0.0
        while wait > 0:
            if wait < SHORT_WAIT_S:
                if await self._count(self._begun - 1) == "gone":
                    return "gone"
                await self.delivery.pause(wait)
            else:
                metrics.SENDS.labels("waited").inc()
                if await self._wait_unsent(wait) == "gone":
                    return "gone"
            wait = await rates.held(chat_id)
        return await self._begin()

    async def _wait_unsent(self, wait: float) -> _Progress:
        """Wait with a part that was certainly not sent; a crash now must not count as a send."""
        progress = await self._count(self._begun - 1)
        if progress == "ok":
            log.info("send_waits", seconds=round(wait, 2))
            self._note = replace(self._note, waited_s=round(self._note.waited_s + wait, 1))
            await self._release_slot()
            await self.delivery.pause(wait)
        return progress

    async def _begin(self) -> _Progress:
        """Count the send that begins now, unless other updates wait and change the outbox.

        A change uses the place in the budgets that the part had.
        """
        plan_rest, store = self.delivery.plan_rest, self.delivery.store
        if plan_rest is None or self.counted == self._begun:
            return await self._count(self._begun)
        is_there = await until_stored(store.count_sends, self.claim, self._stored, self._begun, looks=True)
        if not isinstance(is_there, Waiting):
            self.counted = self._begun
            return "ok" if is_there else "gone"
        rest = await plan_rest(self.claim, tuple(self.left), is_there)
        if rest is None:
            return await self._count(self._begun)
        change = partial(store.replace_part, is_whole=True, stopped_by=rest.stopped_by)
        if not rest.parts or not await until_stored(change, self.claim, self._stored, rest.parts):
            return "gone"
        log.info("outbox_changed", dropped=len(self.left), parts=len(rest.parts))
        self.left, self.counted, self.reserved = deque(rest.parts), 0, 0.0
        return "changed"

    async def _count(self, begun: int) -> _Progress:
        """Store how many sends were begun."""
        if self.counted == begun:
            return "ok"
        store = self.delivery.store
        is_there = await until_stored(store.count_sends, self.claim, self._stored, begun)
        self.counted = begun
        return "ok" if is_there else "gone"

    async def _take_form(self, form: Part) -> _Progress:
        """Store the form to try next, and how many sends had an unknown outcome.

        After a crash nobody begins with a refused form, and a worker that lost the chat sends no other one.
        """
        # Edits with an unknown outcome concerned the message that was there before.
        unknown = self._begun - 1 if self._part.edits is None else 0
        is_there = await until_stored(
            self.delivery.store.replace_part, self.claim, self._stored, [form], sends_begun=unknown
        )
        self._stored = self._part = self.left[0] = form
        self.counted, self._begun = unknown, unknown + 1
        return "ok" if is_there else "gone"

    async def _release_slot(self) -> None:
        if not self._is_resting:
            self._is_resting = True
            await self.rest.enter_async_context(self.delivery.slots.rest())

    async def _finish(self, outcome: Literal["sent", "unknown"], telegram_id: int | None) -> bool:
        """Note what was sent: a store that is away for a moment must not cause a repetition."""
        metrics.SENDS.labels(outcome).inc()
        is_there = await until_stored(
            self.delivery.store.sent,
            self.claim,
            self._stored,
            telegram_id=telegram_id,
            note=replace(self._note, outcome=outcome),
        )
        if is_there:
            self.left.popleft()
            self.counted = 0
        return is_there

    async def _refused(self, refusal: TelegramRefused | ChatMigrated) -> bool:
        """Keep a message that cannot be deleted, send a file as messages, give up a text with its outbox."""
        part = self._part
        if part.kind == "delete":
            log.info("message_not_deleted", chat=part.chat_id, error=str(refusal))
            return await self._finish("sent", NO_MESSAGE)
        if part.kind != "text":
            log.warning("file_refused", chat=part.chat_id, error=str(refusal))
            texts = plan_texts_of(part)
            if not texts:
                return await self._finish("sent", NO_MESSAGE)
            if not await self.delivery.store.replace_part(self.claim, self._stored, texts):
                return False
            self.left.popleft()
            self.left.extendleft(reversed(texts))
            self.counted = 0
            return True
        await self._give_up(refusal)
        return False

    async def _give_up(self, error: TelegramFailure) -> None:
        outcome = "unreachable" if isinstance(error, ChatUnreachable) else "refused"
        metrics.SENDS.labels(outcome).inc()
        log.warning("send_given_up", chat=self._part.chat_id, outcome=outcome, error=str(error))
        await self.delivery.store.sent(
            self.claim,
            self._stored,
            undeliverable=f"undeliverable_{outcome}",
            note=replace(self._note, outcome=outcome),
        )
