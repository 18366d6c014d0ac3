"""Delivers the outbox part by part: nothing lost, and only a send whose outcome is unknown is repeated, once."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

import structlog

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    Fenced,
    MessageGone,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
    TokenRefused,
)
from bot.inbox.records import Claim
from bot.inbox.slots import Slots
from bot.observe import metrics
from bot.transport.rates import Importance
from bot.turn.fallbacks import moved, next_form
from bot.turn.outbox import Part, dump_part, is_repeatable, parse_part
from bot.turn.replies import plan_instead_of
from bot.turn.send_note import SendNote
from bot.turn.turn_store import NO_MESSAGE, TurnStore
from memory.errors import MemoryFailure, StoreFull, StoreUnavailable
from memory.http_calls import is_unsent

log = structlog.get_logger()

SENDS_AT_MOST = 2
"""Sends of one part whose outcome is open: the first, and one repetition."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
LONGEST_NOTING_PAUSE_S = 2.0
SHORT_WAIT_S = 0.25
"""A wait for a gap between other chats' calls, which is not worth to be noted."""

_NO_EPOCH = -1

Pause = Callable[[float], Awaitable[None]]


class Sender(Protocol):
    """Does what one part asks for; the Telegram message id that shows it. Raises the TelegramFailure errors."""

    async def send(self, part: Part) -> int | None: ...


class Rates(Protocol):
    """The budgets of calls: see bot/transport/rates.py."""

    async def reserve(self, chat_id: int, importance: Importance) -> float | None: ...
    async def held(self, chat_id: int) -> float: ...
    async def hold(self, chat_id: int, retry_after: float) -> None: ...


class Marks(Protocol):
    """Which chats do not take our messages."""

    async def mark(self, partition: int, chat_id: int) -> None: ...
    async def is_marked(self, partition: int, chat_id: int) -> bool: ...


class Moves(Protocol):
    """Is told that a group has become a supergroup with another id; telling it twice is harmless."""

    async def learn(self, old_chat_id: int, new_chat_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a delivery minds beside its own outbox: the budgets, who is not reachable, who has moved, the worker's slots."""

    rates: Rates
    marks: Marks
    moves: Moves
    slots: Slots


class Delivery:
    """Takes a context's outbox to Telegram, in order."""

    def __init__(
        self, store: TurnStore, sender: Sender, traffic: Traffic, *, pause: Pause = asyncio.sleep
    ) -> None:
        self._store = store
        self._sender = sender
        self._traffic = traffic
        self._pause = pause

    async def deliver(self, claim: Claim, lines: Sequence[str], *, sends_begun: int = 0) -> None:
        """Send every part. `sends_begun`: how many sends of the first one a crash has cut off.

        Such a send may have arrived: it is repeated once, not twice. Waits out 429s and outages for as long as it takes:
        the claim is kept meanwhile, the worker's slot is not. A chat that cannot be reached ends the outbox. Raises
        Fenced, and the store's errors; what is undelivered stays.
        """
        async with AsyncExitStack() as rest:
            errand = _Errand(
                store=self._store,
                sender=self._sender,
                traffic=self._traffic,
                pause=self._pause,
                claim=claim,
                rest=rest,
                counted=sends_begun,
            )
            left = deque(lines)
            while left:
                line = left.popleft()
                instead = await errand.deliver(line, errand.counted + 1)
                if instead is None:
                    await errand.clean_up([line, *left])
                    return
                left.extendleft(reversed(instead))
                errand.counted = 0


@dataclass(slots=True, kw_only=True)
class _Errand:
    """The delivery of one outbox under one claim. `rest` is where the slot is lent, once it has to wait.

    `counted`: of the first part, how many sends the store knows of whose outcome is open.
    """

    store: TurnStore
    sender: Sender
    traffic: Traffic
    pause: Pause
    claim: Claim
    rest: AsyncExitStack
    counted: int
    is_resting: bool = False
    moved: dict[int, int] = field(default_factory=dict[int, int])
    told: SendNote = field(default_factory=SendNote)

    async def deliver(self, line: str, begun: int) -> Sequence[str] | None:
        """Deliver the outbox's first part: the lines to go on with before the others. None: the end of the outbox."""
        part = parse_part(line)
        self.told = SendNote(repeats=max(0, begun - 1))
        if part is None:
            log.error("part_unreadable", context=self.claim.ref.context_id)
            await self.store.sent(self.claim, line, epoch=_NO_EPOCH, undeliverable="undeliverable_unreadable")
            return None
        if part.chat_id in self.moved:
            there = moved(part, self.moved[part.chat_id])
            if there is None:
                return await self._note_sent(line, part, None)
            part = there
        try:
            if await self.traffic.marks.is_marked(self.claim.ref.partition, part.chat_id):
                raise ChatUnreachable
            return await self._deliver(line, part, begun)
        except ChatUnreachable as error:
            await self.traffic.marks.mark(self.claim.ref.partition, part.chat_id)
            return await self._give_up(line, part, error)

    async def clean_up(self, lines: Sequence[str]) -> None:
        """Of an outbox that has ended: take away what it would have, and what it would have written over.

        Such a message shows a part of an answer, with a button. It is tried once.
        """
        for line in lines:
            part = parse_part(line)
            if part is None or part.edits is None or part.chat_id in self.moved:
                continue
            if await self.traffic.marks.is_marked(self.claim.ref.partition, part.chat_id):
                return
            await _take_away(self.sender, part)

    async def _deliver(self, line: str, part: Part, begun: int) -> Sequence[str] | None:
        pause = FIRST_PAUSE_S
        is_there = True
        while is_there:
            if begun > SENDS_AT_MOST and not is_repeatable(part):
                return await self._note_unknown(line, part)
            try:
                is_there = await self._wait_for_place(line, begun, part)
                if is_there:
                    return await self._note_sent(line, part, await self._send(line, part, begun))
            except TelegramUnavailable as error:
                wait = pause if error.retry_after is None else error.retry_after
                metrics.SENDS.labels("retried").inc()
                if error.retry_after is not None:
                    await self.traffic.rates.hold(part.chat_id, wait)
                pause = min(LONGEST_PAUSE_S, pause * 2)
                is_there = await self._wait_unsent(line, begun, wait)
            except SendUnknown:
                metrics.SENDS.labels("retried").inc()
                log.warning("send_repeated", chat=part.chat_id, number=part.number, kind=part.kind)
                begun += 1
                self.told.repeats += 1
                await self._lend_slot()
                await self.pause(pause)  # a gateway that fails for a moment may be back by then
                pause = min(LONGEST_PAUSE_S, pause * 2)
            except (ChatMigrated, TelegramRefused) as refusal:
                self.told.refusals += 1
                form = await self._next_form(part, refusal)
                if form is None:
                    return await self._refused(line, part, refusal)
                # Edits of unknown outcome were of the message that was there before.
                unknown = 0 if is_repeatable(part) else begun - 1
                is_there = await self._go_on_with(line, form, unknown)
                line, part, begun = dump_part(form), form, unknown + 1
        return None

    async def _send(self, line: str, part: Part, begun: int) -> int | None:
        try:
            return await self.sender.send(part)
        except TokenRefused as error:  # no other form would be taken, and with a good token this one will be
            log.warning("token_refused", chat=part.chat_id)
            raise TelegramUnavailable(str(error)) from None
        except asyncio.CancelledError as cancelled:
            if is_unsent(cancelled):
                with suppress(Fenced, MemoryFailure):
                    await self.store.count_sends(self.claim, line, begun - 1)
            raise

    async def _next_form(self, part: Part, refusal: TelegramRefused | ChatMigrated) -> Part | None:
        form = next_form(part, refusal)
        if isinstance(refusal, ChatMigrated):
            self.moved[part.chat_id] = refusal.new_chat_id
            log.info("chat_migrated", chat=part.chat_id, to=refusal.new_chat_id)
            try:
                await self.traffic.moves.learn(part.chat_id, refusal.new_chat_id)
            except MemoryFailure as error:  # the service message of the migration tells it too
                log.warning("migration_not_kept", chat=part.chat_id, error=type(error).__name__)
        elif form is not None:
            if isinstance(refusal, MessageGone):
                await _take_away(self.sender, part)  # a file, for instance, is there and cannot become a text
            log.warning(
                "sent_in_another_form",
                chat=part.chat_id,
                number=part.number,
                kind=part.kind,
                error=str(refusal),
            )
        return form

    async def _wait_for_place(self, line: str, begun: int, part: Part) -> bool:
        """Wait until the budgets and Telegram's 429s allow it, and count it. False: the outbox was erased meanwhile.

        A send is counted right before it: crashes while none was under way must not make its outcome unknown.
        """
        rates = self.traffic.rates
        if part.kind == "delete":
            wait = await rates.held(part.chat_id)
        else:
            wait = await rates.reserve(part.chat_id, "final") or 0.0
        while wait > 0:
            if wait < SHORT_WAIT_S:
                await self.pause(wait)
            else:
                metrics.SENDS.labels("waited").inc()
                if not await self._wait_unsent(line, begun, wait):
                    return False
            wait = await rates.held(part.chat_id)
        return await self._count(line, begun)

    async def _wait_unsent(self, line: str, begun: int, wait: float) -> bool:
        """Wait for a part that surely was not sent; a crash in this wait must not count as a send. False: erased."""
        if not await self._count(line, begun - 1):
            return False
        log.info("send_waits", seconds=round(wait, 2))
        self.told.waited_s += wait
        await self._lend_slot()
        await self.pause(wait)
        return True

    async def _count(self, line: str, begun: int) -> bool:
        """Have the store know how many sends were begun. False: the outbox was erased meanwhile."""
        if self.counted == begun:
            return True
        is_there = await self._insist(lambda: self.store.count_sends(self.claim, line, begun))
        self.counted = begun
        return is_there

    async def _go_on_with(self, line: str, form: Part, unknown: int) -> bool:
        """Have the store know the form that is tried next: after a crash nothing begins with one that was refused, and who
        has lost the chat sends no other one. `unknown`: sends of unknown outcome before. False: erased meanwhile.
        """
        is_there = await self._insist(
            lambda: self.store.replace_part(self.claim, line, [dump_part(form)], sends_begun=unknown)
        )
        self.counted = unknown
        return is_there

    async def _insist(self, note: Callable[[], Awaitable[bool]]) -> bool:
        """Note it, until the claim is lost. We know what was sent; after beginning anew nobody would."""
        pause = FIRST_PAUSE_S
        while True:
            try:
                return await note()
            except (StoreUnavailable, StoreFull) as error:
                log.warning("delivery_not_noted", context=self.claim.ref.context_id, error=str(error))
                await self.pause(pause)
                pause = min(LONGEST_NOTING_PAUSE_S, pause * 2)

    async def _lend_slot(self) -> None:
        if not self.is_resting:
            self.is_resting = True
            await self.rest.enter_async_context(self.traffic.slots.rest())

    async def _note_sent(self, line: str, part: Part, telegram_id: int | None) -> Sequence[str] | None:
        """Note what was sent: a store that is away for a moment must not repeat it."""
        metrics.SENDS.labels("sent").inc()
        is_there = await self._insist(
            lambda: self.store.sent(
                self.claim,
                line,
                epoch=part.epoch,
                telegram_id=NO_MESSAGE if telegram_id is None else telegram_id,
                message_id=part.message_id,
                told=(part.number, self.told.line(part.kind, "sent")),
            )
        )
        return () if is_there else None

    async def _note_unknown(self, line: str, part: Part) -> Sequence[str] | None:
        metrics.SENDS.labels("unknown").inc()
        log.warning("send_outcome_unknown", chat=part.chat_id, number=part.number)
        told = (part.number, self.told.line(part.kind, "unknown"))
        return () if await self.store.sent(self.claim, line, epoch=part.epoch, told=told) else None

    async def _refused(
        self, line: str, part: Part, refusal: TelegramRefused | ChatMigrated
    ) -> Sequence[str] | None:
        """A message that cannot be taken away stays; a file becomes messages; a text ends the outbox."""
        if part.kind == "delete":
            log.info("message_not_deleted", chat=part.chat_id, error=str(refusal))
            return await self._note_sent(line, part, None)
        if part.kind == "document":
            log.warning("document_refused", chat=part.chat_id, error=str(refusal))
            instead = [dump_part(each) for each in plan_instead_of(part)]
            return instead if await self.store.replace_part(self.claim, line, instead) else None
        return await self._give_up(line, part, refusal)

    async def _give_up(self, line: str, part: Part, error: TelegramFailure) -> None:
        outcome = "unreachable" if isinstance(error, ChatUnreachable) else "refused"
        metrics.SENDS.labels(outcome).inc()
        log.warning("send_given_up", chat=part.chat_id, outcome=outcome, error=str(error))
        await self.store.sent(
            self.claim,
            line,
            epoch=part.epoch,
            undeliverable=f"undeliverable_{outcome}",
            told=(part.number, self.told.line(part.kind, outcome)),
        )


async def _take_away(sender: Sender, part: Part) -> None:
    with suppress(TelegramFailure):
        await sender.send(replace(part, kind="delete"))
