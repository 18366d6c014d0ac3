"""Screens of a preview: a draft in a private chat, a message that is edited in other chats."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from zlib import crc32

import structlog

from bot.errors import MessageGone, SendUnknown, TelegramFailure, TelegramUnavailable, TurnEnded
from bot.observe import metrics
from bot.transport.forms import ChatPlace
from bot.transport.rates import Importance
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from bot.turn.batch import with_nothing_else
from bot.turn.delivery import Pause, Rates
from bot.turn.outbox import Part
from memory.errors import MemoryFailure

log = structlog.get_logger()

FAILURES_AT_MOST = 3
"""Failed calls after which a preview is given up: the answer will show if Telegram is back."""

DRAFT_EVERY_S, MESSAGE_EVERY_S = 1.0, 3.0
DRAFT_LIFE_S = 20.0
"""Telegram shows a draft for 30 seconds: one that does not change is sent again after this."""
STOP_BUTTON_AFTER_S = 2.0
"""A draft has no buttons: an answer that takes longer gets a small message with the Stop button."""
MESSAGE_AFTER_S = 1.5
"""Nobody wants to see a message for only a moment."""


_NOTHING = RichText(text="")

Look = Callable[[], RichText]
"""Returns the text to show now, empty for none."""


class PreviewApi(Protocol):
    """The calls of the Bot API that show an answer while it is written."""

    async def send_message(
        self, to: ChatPlace, rich: RichText, *, reply_to: int | None = None, buttons: Sequence[Button] = ()
    ) -> int: ...
    async def edit_message(
        self, chat_id: int, message_id: int, rich: RichText, *, buttons: Sequence[Button] = ()
    ) -> None: ...
    async def delete_message(self, chat_id: int, message_id: int) -> None: ...
    async def send_typing(self, to: ChatPlace) -> None: ...
    async def send_draft(self, to: ChatPlace, draft_id: int, rich: RichText) -> None: ...


class PreviewJournal(Protocol):
    """The journal of the turn: it knows the message that shows the turn."""

    async def show_in(self, message_id: int) -> None: ...
    async def shown_in(self) -> int | None: ...


@dataclass(slots=True, kw_only=True)
class Line:
    """The calls of one preview to Telegram, within the budgets. No failure leaves it, except MessageGone."""

    api: PreviewApi
    rates: Rates
    pause: Pause
    to: Part
    """The blank part of the answer."""
    journal: PreviewJournal | None
    unnoted: Callable[[int], None]
    """Takes a message that the journal did not take: only this process knows of it."""
    words: Words
    stop_data: str
    """Data of the Stop button."""
    opened_at: float
    is_open: bool = True
    """False: no call begins any more."""
    calling: Importance | None = None
    """The kind of the running call."""
    is_unsure: bool = False
    """True if a call was lost that may still arrive."""
    _failures: int = 0

    async def call(self, importance: Importance, call: Callable[[], Awaitable[int]]) -> int | None:
        """Return the result of the call; None if there is no budget for it now, or if it fails."""
        wait = await self.rates.reserve(self.to.chat_id, importance) if self.is_open else None
        if wait is None:
            return None
        if wait > 0:
            await self.pause(wait)
        self.calling = importance
        try:
            return await call()
        except TelegramUnavailable as error:
            if error.retry_after is not None:
                await self.rates.hold(self.to.chat_id, error.retry_after)
            self._failed(error)
        except MessageGone:
            self.is_open = False
            raise
        except TelegramFailure as error:
            self._failed(error)
        finally:
            self.calling = None
        return None

    def _failed(self, error: TelegramFailure) -> None:
        metrics.PREVIEWS.labels("failed").inc()
        self._failures += 1
        # It stays closed if it was closed during the call.
        self.is_open &= isinstance(error, TelegramUnavailable) and self._failures < FAILURES_AT_MOST
        self.is_unsure |= isinstance(error, SendUnknown)
        log.info("preview_failed", chat=self.to.chat_id, error=type(error).__name__)

    async def type(self) -> None:
        """Show "typing". Telegram has it in no channel's direct messages (sendChatAction)."""

        async def typing() -> int:
            await self.api.send_typing(self.to)
            return 0

        if not self.to.is_direct:
            await self.call("typing", typing)

    @property
    def writing(self) -> RichText:
        """The text that is shown before the answer begins."""
        return RichText(text=self.words("preview-writing"))

    def stop_button(self, data: str) -> Button:
        """Return the Stop button with this data."""
        return Button(text=self.words("preview-stop"), data=data)

    async def note(self, message_id: int) -> None:
        """Count and record the message that shows the turn from now on."""
        metrics.PREVIEWS.labels("shown").inc()
        await self.keep(message_id)

    async def keep(self, message_id: int) -> None:
        """Record the message for the next try of the turn. The turn ends without the preview's help."""
        if self.journal is None:
            return
        try:
            await self.journal.show_in(message_id)
        except (TurnEnded, MemoryFailure) as error:
            self.unnoted(message_id)
            log.info("preview_not_noted", error=type(error).__name__)


class Screen(Protocol):
    """Shows the text as it grows. `shown_at` is None before that; for the other attributes see `Preview`."""

    shown_at: float | None
    edits: tuple[int, ...]
    deletes: tuple[int, ...]

    @property
    def shown(self) -> tuple[int, ...]: ...
    async def step(self, look: Look, *, now: float) -> None: ...
    def abandon(self) -> None: ...
    async def clean_up(self) -> None: ...


async def delete_shown(api: PreviewApi, chat_id: int, message_id: int) -> None:
    """Delete a message, if that can be done."""
    try:
        await api.delete_message(chat_id, message_id)
    except TelegramFailure as error:
        log.info("preview_not_deleted", chat=chat_id, error=type(error).__name__)


@dataclass(slots=True, kw_only=True)
class DraftScreen:
    """A draft, and later a message with the Stop button, which the answer's delivery deletes."""

    line: Line
    edits: tuple[int, ...] = ()
    deletes: tuple[int, ...] = ()
    shown_at: float | None = None
    _shown: RichText = _NOTHING
    _known: tuple[int, ...] | None = None

    @property
    def shown(self) -> tuple[int, ...]:
        """The message with the Stop button."""
        return self.deletes

    async def step(self, look: Look, *, now: float) -> None:
        """Show the text now if it is time to."""
        if not self.deletes and now - self.line.opened_at >= STOP_BUTTON_AFTER_S:
            await self._send_button()
        since = DRAFT_LIFE_S if self.shown_at is None else now - self.shown_at
        rich = look() if since >= DRAFT_EVERY_S else _NOTHING
        if not rich or (rich == self._shown and since < DRAFT_LIFE_S):
            return
        if await self.line.call("draft", lambda: self._draft(rich)) is not None:
            self._shown, self.shown_at = rich, now

    def abandon(self) -> None:
        """Remember the messages so far: a later one comes too late. A late draft disappears by itself."""
        self._known = self.deletes

    async def clean_up(self) -> None:
        """Delete a button message that the answer's delivery does not know."""
        if self._known is not None and self.deletes != self._known:
            await delete_shown(self.line.api, self.line.to.chat_id, self.deletes[0])

    async def _send_button(self) -> None:
        line, to = self.line, self.line.to
        stop = line.stop_button(with_nothing_else(line.stop_data))

        async def send() -> int:
            return await line.api.send_message(to, line.writing, buttons=[stop])

        message_id = await line.call("button", send)
        if message_id is not None:
            self.deletes = (message_id,)
            self._shown = _NOTHING  # a message ends the draft, which must be sent again
            if self._known is None:
                await line.note(message_id)

    async def _draft(self, rich: RichText) -> int:
        # The draft id is the same in every try of the turn.
        draft_id = crc32(self.line.stop_data.encode()) % (2**31 - 1) + 1
        await self.line.api.send_draft(self.line.to, draft_id, rich)
        return draft_id


@dataclass(slots=True, kw_only=True)
class MessageScreen:
    """A message with the Stop button that is edited until it becomes the answer."""

    line: Line
    edits: tuple[int, ...] = ()
    deletes: tuple[int, ...] = ()
    is_seen: bool = False
    """True if the first of `edits` probably shows this turn's answer."""
    shown_at: float | None = None
    _shown: RichText = _NOTHING
    _is_abandoned: bool = False

    @property
    def shown(self) -> tuple[int, ...]:
        """The message that was edited."""
        return (*self.edits, *self.deletes)[:1] if self.is_seen else ()

    async def step(self, look: Look, *, now: float) -> None:
        """Show the text now if it is time to."""
        since = MESSAGE_EVERY_S if self.shown_at is None else now - self.shown_at
        if now - self.line.opened_at < MESSAGE_AFTER_S or since < MESSAGE_EVERY_S:
            return
        rich = look() or self.line.writing
        if rich == self._shown:
            return
        try:
            shown = await self.line.call("edit", lambda: self._show(rich))
        except MessageGone:
            # A voice message, for instance, exists and cannot become a text.
            self.edits, self.deletes = self.edits[1:], (*self.deletes, *self.edits[:1])
            self.is_seen = False
            return
        if shown is None:
            return
        is_first = self.shown_at is None
        self._shown, self.shown_at, self.is_seen = rich, now, True
        self.edits = self.edits or (shown,)
        if is_first and not self._is_abandoned:
            await self.line.note(shown)

    def abandon(self) -> None:
        """Send the answer as a new message: a running edit may arrive later and would overwrite it."""
        self._is_abandoned = True
        self.edits, self.deletes = (), (*self.edits, *self.deletes)

    async def clean_up(self) -> None:
        """Delete a message that came too late to become the answer."""
        if self._is_abandoned and self.edits and self.edits[0] not in self.deletes:
            await delete_shown(self.line.api, self.line.to.chat_id, self.edits[0])

    async def _show(self, rich: RichText) -> int:
        api, to = self.line.api, self.line.to
        buttons = [self.line.stop_button(self.line.stop_data)]
        self.is_seen = bool(self.edits)
        if not self.edits:
            return await api.send_message(to, rich, reply_to=to.reply_to, buttons=buttons)
        message_id = self.edits[0]
        await api.edit_message(to.chat_id, message_id, rich, buttons=buttons)
        return message_id
