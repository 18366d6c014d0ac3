"""Delivers the outbox part by part: nothing lost, and only a send whose outcome is unknown is repeated, once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol

import structlog

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
)
from bot.inbox.facts import Claim
from bot.observe import metrics
from bot.transport.rich_text import RichText
from bot.turn.outbox import Part, parse_part
from bot.turn.turn_store import TurnStore
from memory.errors import StoreFull, StoreUnavailable

log = structlog.get_logger()

SENDS_AT_MOST = 2
"""Sends of one part whose outcome is open: the first, and one repetition."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
LONGEST_NOTING_PAUSE_S = 2.0

_NO_EPOCH = -1

Pause = Callable[[float], Awaitable[None]]


class Sender(Protocol):
    """Sends one part; the Telegram message id of what was sent. Raises the TelegramFailure errors."""

    async def send(self, part: Part) -> int: ...


class Delivery:
    """Takes a context's outbox to Telegram, in order."""

    def __init__(self, store: TurnStore, sender: Sender, *, pause: Pause = asyncio.sleep) -> None:
        self._store = store
        self._sender = sender
        self._pause = pause

    async def deliver(self, claim: Claim, lines: Sequence[str], *, sends_begun: int) -> None:
        """Send every part. `sends_begun` of the first one: 1 when its commit has just counted it.

        Waits out 429s and outages for as long as it takes (the claim is kept meanwhile); a chat that cannot be
        reached ends the outbox. Raises Fenced, and the store's errors; what is undelivered stays in the outbox.
        """
        begun = sends_begun
        for line in lines:
            part = parse_part(line)
            if part is None:
                log.error("part_unreadable", context=claim.ref.context_id)
                await self._store.sent(claim, line, epoch=_NO_EPOCH, undeliverable="undeliverable_unreadable")
                return
            if not await self._deliver_part(claim, line, part, begun):
                return
            begun = 1  # `sent` has counted the next part's first send

    async def resume(self, claim: Claim, lines: Sequence[str], *, sends_begun: int) -> None:
        """Deliver what a crash left. A send that was begun may have arrived: it is repeated once, not twice."""
        log.info("delivery_resumed", parts=len(lines), sends_begun=sends_begun)
        if await self._store.count_sends(claim, lines[0], sends_begun + 1):
            await self.deliver(claim, lines, sends_begun=sends_begun + 1)

    async def _deliver_part(self, claim: Claim, line: str, part: Part, begun: int) -> bool:
        """Whether the next part may follow."""
        pause = FIRST_PAUSE_S
        is_there = True
        while is_there:
            if begun > SENDS_AT_MOST:
                metrics.SENDS.labels("unknown").inc()
                log.warning("send_outcome_unknown", chat=part.chat_id, number=part.number)
                return await self._store.sent(claim, line, epoch=part.epoch)
            try:
                sent = await self._send(part)
            except TelegramUnavailable as error:
                wait = pause if error.retry_after is None else error.retry_after
                pause = min(LONGEST_PAUSE_S, pause * 2)
                is_there = await self._wait_unsent(claim, line, begun, wait)
            except SendUnknown:
                metrics.SENDS.labels("retried").inc()
                log.warning("send_repeated", chat=part.chat_id, number=part.number)
                begun += 1
                is_there = await self._store.count_sends(claim, line, begun)
                if begun <= SENDS_AT_MOST:
                    await self._pause(pause)  # a gateway that fails for a moment may be back by then
            except (ChatUnreachable, ChatMigrated, TelegramRefused) as error:
                await self._give_up(claim, line, part, error)
                return False
            else:
                metrics.SENDS.labels("sent").inc()
                return await self._note_sent(claim, line, part, sent)
        return False

    async def _send(self, part: Part) -> int:
        """Send it; where its chat has moved, to the new id; where its form is refused, once more as plain text."""
        try:
            return await self._sender.send(part)
        except ChatMigrated as error:
            return await self._sender.send(replace(part, chat_id=error.new_chat_id, reply_to=None))
        except TelegramRefused as error:
            plain = replace(part, rich=RichText(text=part.rich.text), reply_to=None)
            if plain == part:
                raise
            log.warning("sent_as_plain_text", chat=part.chat_id, number=part.number, error=str(error))
            return await self._sender.send(plain)

    async def _note_sent(self, claim: Claim, line: str, part: Part, telegram_id: int) -> bool:
        """Note what was sent, until the claim is lost: a store that is away for a moment must not repeat it."""
        pause = FIRST_PAUSE_S
        while True:
            try:
                return await self._store.sent(
                    claim, line, epoch=part.epoch, telegram_id=telegram_id, message_id=part.message_id
                )
            except (StoreUnavailable, StoreFull) as error:
                log.warning("sent_not_noted", chat=part.chat_id, number=part.number, error=str(error))
                await self._pause(pause)
                pause = min(LONGEST_NOTING_PAUSE_S, pause * 2)

    async def _wait_unsent(self, claim: Claim, line: str, begun: int, wait: float) -> bool:
        """Wait for a part that surely was not sent; a crash in this wait must not count as a send. False: erased."""
        if not await self._store.count_sends(claim, line, begun - 1):
            return False
        metrics.SENDS.labels("retried").inc()
        log.info("send_waits", seconds=wait)
        await self._pause(wait)
        return await self._store.count_sends(claim, line, begun)

    async def _give_up(self, claim: Claim, line: str, part: Part, error: TelegramFailure) -> None:
        outcome = "unreachable" if isinstance(error, ChatUnreachable) else "refused"
        metrics.SENDS.labels(outcome).inc()
        log.warning("send_given_up", chat=part.chat_id, outcome=outcome, error=str(error))
        await self._store.sent(claim, line, epoch=part.epoch, undeliverable=f"undeliverable_{outcome}")
