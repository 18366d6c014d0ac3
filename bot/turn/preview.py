"""Shows an answer while it is being written. It never fails a turn and never comes after the final text."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from time import monotonic

import structlog

from bot.observe import metrics
from bot.transport.rendering import render_messages
from bot.transport.rich_text import RichText
from bot.transport.splitting import MESSAGE_LIMIT
from bot.transport.unfinished import ending, without_loose_ends
from bot.transport.words import Words
from bot.turn.delivery import Pause, Rates
from bot.turn.outbox import Part
from bot.turn.screens import (
    DraftScreen,
    Line,
    MessageScreen,
    PreviewApi,
    PreviewJournal,
    Screen,
    delete_shown,
)
from memory.errors import Forgotten

log = structlog.get_logger()

TICK_S = 0.25
"""The interval between looks for new text."""
TYPING_AFTER_S = 0.25
"""A quicker answer needs no "typing", and no place in the budget for it."""
TYPING_EVERY_S = 4.5
"""Telegram shows a chat action for five seconds."""
SLEPT_S = 3.0
"""A tick that took this long means that this process stood still; another one may have the chat soon."""
LATE_S = 1.0
"""The longest delay of the answer by a call that is running at the end."""

REMEMBERED_AT_MOST = 100
"""The newest turns for which this process remembers unrecorded messages, and messages that a late edit may reach."""

_CUT = "…\n"
_TOOL_STATUS = "Running tool "
"""The first words of the agent's status lines (bot/agent/tool_calls.py)."""


class Preview:
    """The text and status of a run, and after the block of `Previews.show` the messages that showed them."""

    def __init__(self, words: Words, *, edits: tuple[int, ...]) -> None:
        self.text = ""
        """The text so far."""
        self.edits = edits
        """Telegram messages that the answer's texts replace, in order."""
        self.deletes: tuple[int, ...] = ()
        """Telegram messages that the answer's delivery deletes."""
        self.shown: tuple[int, ...] = ()
        """Those of both that the preview has made or overwritten."""
        self.words = words
        self._status = ""
        self._rendered = ("", RichText(text=""))

    async def take(self, text: str) -> None:
        """Take the whole text so far."""
        self.text = text

    async def tell(self, status: str) -> None:
        """Take what the run is doing now; it is shown while there is no text."""
        self._status = status

    def has_text(self) -> bool:
        """Return True if the run has written anything."""
        return bool(self.text.strip())

    def look(self) -> RichText:
        """Return what to show now: the newest part of the text that fits into a message, else the status."""
        if self.has_text():
            if self._rendered[0] != self.text:
                self._rendered = (self.text, _newest_part(self.text))
            return self._rendered[1]
        if self._status.startswith(_TOOL_STATUS):
            return RichText(text=self.words("preview-tool", tool=self._status.removeprefix(_TOOL_STATUS)))
        return RichText(text=self._status)


@dataclass(frozen=True, slots=True)
class Previews:
    """Shows the texts of turns; one instance per process. A late preview is cleaned up after its turn."""

    api: PreviewApi
    rates: Rates
    is_unreachable: Callable[[int], bool]
    _: KW_ONLY
    is_streaming: bool = True
    """False: only "typing" is shown."""
    is_late: Callable[[], bool] = lambda: False
    """Returns True if another worker may have the chat by now. Then nothing more is shown."""
    tick_s: float = TICK_S
    clock: Callable[[], float] = monotonic
    pause: Pause = asyncio.sleep
    _late: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _unnoted: dict[str, int] = field(default_factory=dict[str, int])
    _unsafe: dict[tuple[int, int], None] = field(default_factory=dict[tuple[int, int], None])
    """Chats and messages that a late edit may reach at any time: no answer can be there."""

    @asynccontextmanager
    async def show(
        self, preview: Preview, to: Part, *, is_private: bool, stop_data: str, journal: PreviewJournal | None
    ) -> AsyncGenerator[Preview]:
        """Show what the block gives the preview, beginning with "typing".

        `stop_data` is the data of the Stop button, unique to the turn. Leaving the block waits LATE_S at most. The
        messages stay for the answer's delivery, or for the next `show` with this journal if the turn starts
        again. If the block raises Forgotten, they are deleted.
        """
        edits = preview.edits
        if to.inline_id or self.is_unreachable(to.chat_id):
            yield preview
            return
        line = Line(
            api=self.api,
            rates=self.rates,
            pause=self.pause,
            to=to,
            journal=journal,
            unnoted=partial(self._remember, stop_data),
            words=preview.words,
            stop_data=stop_data,
            opened_at=self.clock(),
        )
        noted = await self._noted(line, stop_data)
        shown_by = () if noted is None else (noted,)
        screen: Screen
        # An edit does not end a draft, which would stay below the answer until it fades.
        if edits or not is_private:
            mine = edits or shown_by
            safe = tuple(each for each in mine if (to.chat_id, each) not in self._unsafe)
            gone = tuple(each for each in dict.fromkeys((*shown_by, *mine)) if each not in safe)
            is_seen = noted is not None and not edits
            screen = MessageScreen(line=line, edits=safe, deletes=gone, is_seen=is_seen)
        else:
            screen = DraftScreen(line=line, deletes=shown_by)
        task = asyncio.create_task(self._run(preview, screen, line), name="preview")
        try:
            try:
                yield preview
            finally:
                await self._end(task, screen, line)
                preview.edits, preview.deletes, preview.shown = screen.edits, screen.deletes, screen.shown
        except Forgotten:
            await self.take_away(to.chat_id, preview.shown)
            raise

    async def take_away(self, chat_id: int, message_ids: Sequence[int]) -> None:
        """Delete the messages of a turn that was forgotten. One that cannot be deleted stays."""
        for message_id in message_ids:
            await delete_shown(self.api, chat_id, message_id)

    async def _noted(self, line: Line, stop_data: str) -> int | None:
        """Return the message that showed an earlier try of this turn, from the journal or from this process."""
        remembered = self._unnoted.get(stop_data)
        noted = None if line.journal is None else await line.journal.shown_in()
        self._unnoted.pop(stop_data, None)
        if noted is not None or remembered is None:
            return noted
        await line.keep(remembered)
        return remembered

    def _remember(self, stop_data: str, message_id: int) -> None:
        """Remember a message that the store could not take, for the case that the turn starts again here."""
        self._unnoted[stop_data] = message_id
        if len(self._unnoted) > REMEMBERED_AT_MOST:
            del self._unnoted[next(iter(self._unnoted))]

    async def _run(self, preview: Preview, screen: Screen, line: Line) -> None:
        """Run until the line closes. This is the preview's broad catch: no failure here may stop the answer."""
        type_at = self.clock() + TYPING_AFTER_S
        try:
            while line.is_open:
                before = self.clock()
                await self.pause(self.tick_s)  # first: a quick answer needs no preview
                now = self.clock()
                line.is_open &= now - before < SLEPT_S and not self.is_late()
                if line.is_open and screen.shown_at is None and now >= type_at:
                    type_at = now + TYPING_EVERY_S
                    await line.type()
                if line.is_open and self.is_streaming:
                    await screen.step(preview.look, now=now)
            await screen.clean_up()
        except Exception:
            metrics.PREVIEWS.labels("failed").inc()
            log.exception("preview_broke", chat=line.to.chat_id)

    async def _end(self, task: asyncio.Task[None], screen: Screen, line: Line) -> None:
        """Close the line: no call begins after this. Wait for a running one, but not for long."""
        line.is_open = False
        if line.calling in (None, "typing"):
            task.cancel()
        _, late = await asyncio.wait([task], timeout=LATE_S)
        if late:
            metrics.PREVIEWS.labels("late").inc()
            self._late.add(task)
            task.add_done_callback(self._late.discard)
        if late or line.is_unsure:
            screen.abandon()
            for message_id in screen.shown:
                self._unsafe[line.to.chat_id, message_id] = None
            if len(self._unsafe) > REMEMBERED_AT_MOST:
                del self._unsafe[next(iter(self._unsafe))]


def _newest_part(text: str) -> RichText:
    end = ending(text)
    parts = render_messages(without_loose_ends(end), MESSAGE_LIMIT - len(_CUT))
    if not parts or (len(parts) == 1 and end == text):
        return parts[0] if parts else RichText(text="")
    newest = parts[-1]
    moved = tuple(replace(entity, offset=entity.offset + len(_CUT)) for entity in newest.entities)
    return RichText(text=_CUT + newest.text, entities=moved)
