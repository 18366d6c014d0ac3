"""What a preview is shown on: a draft in a private chat, a message that is edited elsewhere."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol
from zlib import crc32

import structlog

from bot.errors import MessageGone, SendUnknown, TelegramFailure, TelegramUnavailable, TurnEnded
from bot.observe import metrics
from bot.transport.rates import Importance
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.turn.delivery import Pause, Rates
from bot.turn.outbox import Destination
from bot.turn.sending import TextApi
from bot.turn.stop_button import as_alone
from memory.errors import MemoryFailure

log = structlog.get_logger()

STEP = "preview"
"""The journal's field: which message of ours shows this turn, for who resumes it."""
FAILURES_AT_MOST = 3
"""A preview whose calls failed so often is given up: the answer will show whether Telegram is back."""

DRAFT_EVERY_S, MESSAGE_EVERY_S = 1.0, 3.0
DRAFT_LIFE_S = 20.0
"""Telegram shows a draft for 30 seconds: one that does not change is sent again after this."""
STOP_BUTTON_AFTER_S = 2.0
"""A draft has no buttons: an answer that takes longer gets a small message with the Stop button."""
MESSAGE_AFTER_S = 1.5
"""Nobody wants to see a message that was there for a moment."""


_NOTHING = RichText(text="")

Look = Callable[[], RichText]
"""What there is to show now, empty for nothing."""


class PreviewApi(TextApi, Protocol):
    """The Bot API's calls that show what is being written."""

    async def send_typing(self, chat_id: int, *, thread_id: int | None = None) -> None: ...
    async def send_draft(
        self, chat_id: int, draft_id: int, rich: RichText, *, thread_id: int | None = None
    ) -> None: ...


class PreviewJournal(Protocol):
    """Where a turn keeps what a resumed one must know."""

    async def finished(self, step: str) -> str | None: ...
    async def record(self, step: str, value: str) -> None: ...


@dataclass(slots=True, kw_only=True)
class Line:
    """The way of one preview to Telegram: within the budgets, and without its failures ever leaving it."""

    api: PreviewApi
    rates: Rates
    pause: Pause
    to: Destination
    is_open: bool = True
    """Once it is not, no call begins any more."""
    calling: Importance | None = None
    """What kind of call is under way."""
    is_unsure: bool = False
    """Whether a call was lost that may still arrive."""
    _failures: int = 0

    async def call(self, importance: Importance, call: Callable[[], Awaitable[int]]) -> int | None:
        """What the call gives; None where there is no room for it now, or where it fails."""
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
        # It may have been closed during the call: it stays so.
        self.is_open &= isinstance(error, TelegramUnavailable) and self._failures < FAILURES_AT_MOST
        self.is_unsure |= isinstance(error, SendUnknown)
        log.info("preview_failed", chat=self.to.chat_id, error=type(error).__name__)

    async def type(self) -> None:
        """Show "typing"."""

        async def typing() -> int:
            await self.api.send_typing(self.to.chat_id, thread_id=self.to.thread_id)
            return 0

        await self.call("typing", typing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What every screen has: its way to Telegram, the journal, the Stop button, what is said before there is a text."""

    line: Line
    journal: PreviewJournal | None
    unnoted: Callable[[int], None]
    """Told of a message that the journal did not take: only this process knows of it."""
    stop: Button
    writing: RichText
    opened_at: float

    async def note(self, message_id: int) -> None:
        """This message shows the turn from now on."""
        metrics.PREVIEWS.labels("shown").inc()
        await self.keep(message_id)

    async def keep(self, message_id: int) -> None:
        """Keep it for who resumes the turn. What ends the turn ends it without the preview's help."""
        if self.journal is None:
            return
        try:
            await self.journal.record(STEP, json.dumps({"message": message_id}))
        except (TurnEnded, MemoryFailure) as error:
            self.unnoted(message_id)
            log.info("preview_not_noted", error=type(error).__name__)

    async def delete(self, message_id: int) -> None:
        """Take a message away that came too late."""
        await delete_shown(self.line.api, self.line.to.chat_id, message_id)


class Screen(Protocol):
    """Shows the text as it grows. `edits`, `deletes`, `shown`: see `Preview`; `shown_at` is None while nothing is seen."""

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
    """A draft, and after a while a message with the Stop button, which the answer's delivery deletes."""

    stage: Stage
    edits: tuple[int, ...] = ()
    deletes: tuple[int, ...] = ()
    shown_at: float | None = None
    _shown: RichText = _NOTHING
    _known: tuple[int, ...] | None = None

    @property
    def shown(self) -> tuple[int, ...]:
        """The message with the button."""
        return self.deletes

    async def step(self, look: Look, *, now: float) -> None:
        """Show what there is, if it is time to."""
        if not self.deletes and now - self.stage.opened_at >= STOP_BUTTON_AFTER_S:
            await self._send_button()
        since = DRAFT_LIFE_S if self.shown_at is None else now - self.shown_at
        rich = look() if since >= DRAFT_EVERY_S else _NOTHING
        if not rich or (rich == self._shown and since < DRAFT_LIFE_S):
            return
        if await self.stage.line.call("edit", lambda: self._draft(rich)) is not None:
            self._shown, self.shown_at = rich, now

    def abandon(self) -> None:
        """What is under way now comes too late; a draft that does ends by itself."""
        self._known = self.deletes

    async def clean_up(self) -> None:
        """Delete a button that came too late for the answer's delivery to know it."""
        if self._known is not None and self.deletes != self._known:
            await self.stage.delete(self.deletes[0])

    async def _send_button(self) -> None:
        stage, to = self.stage, self.stage.line.to
        stop = replace(stage.stop, data=as_alone(stage.stop.data))

        async def send() -> int:
            return await stage.line.api.send_message(
                to.chat_id, stage.writing, thread_id=to.thread_id, buttons=[stop]
            )

        message_id = await stage.line.call("button", send)
        if message_id is not None:
            self.deletes = (message_id,)
            self._shown = _NOTHING  # a message ends the draft: it is to be shown again
            if self._known is None:
                await stage.note(message_id)

    async def _draft(self, rich: RichText) -> int:
        # The same turn has the same draft, also after a crash.
        draft_id = crc32(self.stage.stop.data.encode()) % (2**31 - 1) + 1
        to = self.stage.line.to
        await self.stage.line.api.send_draft(to.chat_id, draft_id, rich, thread_id=to.thread_id)
        return draft_id


@dataclass(slots=True, kw_only=True)
class MessageScreen:
    """A message with the Stop button that is edited, and in the end becomes the answer."""

    stage: Stage
    edits: tuple[int, ...] = ()
    deletes: tuple[int, ...] = ()
    is_seen: bool = False
    """Whether the first of `edits` shows this turn's answer, for all we know."""
    shown_at: float | None = None
    _shown: RichText = _NOTHING
    _is_abandoned: bool = False

    @property
    def shown(self) -> tuple[int, ...]:
        """The message that grew."""
        return (*self.edits, *self.deletes)[:1] if self.is_seen else ()

    async def step(self, look: Look, *, now: float) -> None:
        """Show what there is, if it is time to."""
        since = MESSAGE_EVERY_S if self.shown_at is None else now - self.shown_at
        if now - self.stage.opened_at < MESSAGE_AFTER_S or since < MESSAGE_EVERY_S:
            return
        rich = look() or self.stage.writing
        if rich == self._shown:
            return
        try:
            shown = await self.stage.line.call("edit", lambda: self._show(rich))
        except MessageGone:
            self.edits, self.is_seen = self.edits[1:], False
            return
        if shown is None:
            return
        self._shown, self.shown_at, self.is_seen = rich, now, True
        if not self.edits:
            self.edits = (shown,)
            if not self._is_abandoned:
                await self.stage.note(shown)

    def abandon(self) -> None:
        """An edit under way may arrive after the answer and would stand in its place: the answer is sent anew."""
        self._is_abandoned = True
        self.edits, self.deletes = (), (*self.edits, *self.deletes)

    async def clean_up(self) -> None:
        """Delete a message that came too late for the answer to stand in its place."""
        if self._is_abandoned and self.edits and self.edits[0] not in self.deletes:
            await self.stage.delete(self.edits[0])

    async def _show(self, rich: RichText) -> int:
        api, to, buttons = self.stage.line.api, self.stage.line.to, [self.stage.stop]
        self.is_seen = bool(self.edits)
        if not self.edits:
            return await api.send_message(
                to.chat_id, rich, thread_id=to.thread_id, reply_to=to.reply_to, buttons=buttons
            )
        message_id = self.edits[0]
        await api.edit_message(to.chat_id, message_id, rich, buttons=buttons)
        return message_id


async def noted_message(journal: PreviewJournal | None) -> int | None:
    """The message that an interrupted turn was shown by."""
    return parse_noted(None if journal is None else await journal.finished(STEP))


def parse_noted(line: str | None) -> int | None:
    """The message that the journal's field names."""
    return None if line is None else int(json.loads(line)["message"])
