"""Shows an answer while it is being written; it never fails a turn and never comes after the final text."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Protocol

import structlog

from bot.observe import metrics
from bot.transport.rendering import render
from bot.transport.rich_text import RichText
from bot.transport.splitting import MESSAGE_LIMIT, split
from bot.transport.telegram_api import Button
from bot.transport.unfinished import ending, without_loose_ends
from bot.transport.words import Words
from bot.turn.delivery import Pause, Rates
from bot.turn.outbox import Destination
from bot.turn.preview_screens import (
    DraftScreen,
    Line,
    MessageScreen,
    PreviewApi,
    PreviewJournal,
    Screen,
    Stage,
    delete_shown,
    noted_message,
)
from memory.errors import Forgotten

log = structlog.get_logger()

TICK_S = 0.25
"""How often it is looked whether there is something new to show."""
TYPING_AFTER_S = 0.25
"""A quicker answer needs neither the call nor its place in the budget."""
TYPING_EVERY_S = 4.5
"""Telegram shows a chat action for five seconds."""
SLEPT_S = 5.0
"""A pause of a tick that took so long: this process stood still, and another may have the chat by now."""
LATE_S = 1.0
"""A call under way at the end of the run may delay the answer by so much, and no more."""

REMEMBERED_AT_MOST = 100
"""Messages that no journal took, or that an edit may reach too late, are remembered for so many turns, the newest: these
begin again soon.
"""

_CUT = "…\n"
_TOOL_STATUS = "Running tool "
"""What the agent's status lines begin with (bot/agent/tool_calls.py)."""


class KnownMarks(Protocol):
    """What this process knows of chats that do not take our messages."""

    def seems_marked(self, chat_id: int) -> bool: ...


class Preview:
    """What the run tells, and after the block what became of it.

    `edits` are Telegram messages that the answer's texts are to replace, in order; `deletes` are to be taken away.
    `shown` are those of both that the preview has made or written over.
    """

    def __init__(self, words: Words, *, edits: tuple[int, ...]) -> None:
        self.edits = edits
        self.deletes: tuple[int, ...] = ()
        self.shown: tuple[int, ...] = ()
        self._words = words
        self._text = ""
        self._status = ""
        self._rendered = ("", RichText(text=""))

    async def take(self, text: str) -> None:
        """The text so far, whole."""
        self._text = text

    async def tell(self, status: str) -> None:
        """What the run is doing now; shown while there is no text."""
        self._status = status

    def look(self) -> RichText:
        """What there is to show now: the newest part of a text that no message could hold, else the status."""
        if self._text.strip():
            if self._rendered[0] != self._text:
                self._rendered = (self._text, _newest_part(self._text))
            return self._rendered[1]
        if self._status.startswith(_TOOL_STATUS):
            return RichText(text=self._words("preview-tool", tool=self._status.removeprefix(_TOOL_STATUS)))
        return RichText(text=self._status)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewSettings:
    """`is_streaming`: whether more than "typing" is shown."""

    is_streaming: bool = True
    tick_s: float = TICK_S
    late_s: float = LATE_S


class Previews:
    """Shows what turns write. One of a process; a preview that comes too late is cleaned up after its turn."""

    def __init__(
        self,
        api: PreviewApi,
        rates: Rates,
        marks: KnownMarks,
        settings: PreviewSettings,
        *,
        clock: Callable[[], float] = monotonic,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._api = api
        self._rates = rates
        self._marks = marks
        self._settings = settings
        self._clock = clock
        self._pause = pause
        self._late: set[asyncio.Task[None]] = set()
        self._unnoted: dict[str, int] = {}
        self._unsafe: dict[tuple[int, int], None] = {}
        """Messages, with their chats, that an edit may reach at any time: no answer can stand there."""

    @asynccontextmanager
    async def show(
        self,
        to: Destination,
        *,
        is_private: bool,
        stop_data: str,
        journal: PreviewJournal | None,
        words: Words,
        edits: tuple[int, ...] = (),
    ) -> AsyncGenerator[Preview]:
        """Show what the block tells the preview, from "typing" on.

        `stop_data` is what a press of the Stop button says, the same for the same turn, and of no other; `edits` are
        the messages of an older answer that this one is to replace. Leaving the block waits LATE_S at most, and leaves what is shown as it
        is: for the answer's delivery, or for the next `show` with this journal where the turn begins anew. Where the
        block raises Forgotten there is neither, and it is taken away.
        """
        preview = Preview(words, edits=edits)
        if self._marks.seems_marked(to.chat_id):
            yield preview
            return
        line = Line(api=self._api, rates=self._rates, pause=self._pause, to=to)
        stage = Stage(
            line=line,
            journal=journal,
            unnoted=partial(self._remember, stop_data),
            stop=Button(text=words("preview-stop"), data=stop_data),
            writing=RichText(text=words("preview-writing")),
            opened_at=self._clock(),
        )
        noted = await self._noted(stage, stop_data)
        shown_by = () if noted is None else (noted,)
        screen: Screen
        # An edit does not end a draft, which would stay below the answer until it fades.
        if edits or not is_private:
            mine = edits or shown_by
            safe = tuple(each for each in mine if (to.chat_id, each) not in self._unsafe)
            gone = tuple(each for each in dict.fromkeys((*shown_by, *mine)) if each not in safe)
            is_seen = noted is not None and not edits
            screen = MessageScreen(stage=stage, edits=safe, deletes=gone, is_seen=is_seen)
        else:
            screen = DraftScreen(stage=stage, deletes=shown_by)
        task = asyncio.create_task(self._run(preview, screen, line), name="preview")
        try:
            try:
                yield preview
            finally:
                await self._end(task, screen, line)
                preview.edits, preview.deletes, preview.shown = screen.edits, screen.deletes, screen.shown
        except Forgotten:
            await self.take_away(to, preview.shown)
            raise

    async def take_away(self, to: Destination, message_ids: Sequence[int]) -> None:
        """Delete what was shown of a turn that nobody goes on with. One that cannot be deleted stays."""
        for message_id in message_ids:
            await delete_shown(self._api, to.chat_id, message_id)

    async def _noted(self, stage: Stage, stop_data: str) -> int | None:
        """The message that an earlier try of this turn was shown by: that of the journal, else that of this process."""
        remembered = self._unnoted.get(stop_data)
        noted = await noted_message(stage.journal)
        self._unnoted.pop(stop_data, None)
        if noted is not None or remembered is None:
            return noted
        await stage.keep(remembered)
        return remembered

    def _remember(self, stop_data: str, message_id: int) -> None:
        """The store was away when it was to be noted: where the turn begins again here, it is known all the same."""
        self._unnoted[stop_data] = message_id
        if len(self._unnoted) > REMEMBERED_AT_MOST:
            del self._unnoted[next(iter(self._unnoted))]

    async def _run(self, preview: Preview, screen: Screen, line: Line) -> None:
        """The broad catch of the preview: whatever breaks here, the answer is on its way."""
        type_at = self._clock() + TYPING_AFTER_S
        try:
            while line.is_open:
                now = self._clock()
                if screen.shown_at is None and now >= type_at:
                    type_at = now + TYPING_EVERY_S
                    await line.type()
                if self._settings.is_streaming and line.is_open:
                    await screen.step(preview.look, now=now)
                if line.is_open:  # its end may have come during a call
                    before = self._clock()
                    await self._pause(self._settings.tick_s)
                    line.is_open &= self._clock() - before < SLEPT_S
            await screen.clean_up()
        except Exception:
            metrics.PREVIEWS.labels("failed").inc()
            log.exception("preview_broke", chat=line.to.chat_id)

    async def _end(self, task: asyncio.Task[None], screen: Screen, line: Line) -> None:
        """No call of the preview begins from here on; one under way is waited for, but not for long."""
        line.is_open = False
        if line.calling in (None, "typing"):
            task.cancel()
        _, late = await asyncio.wait([task], timeout=self._settings.late_s)
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
    parts = split(render(without_loose_ends(end)), MESSAGE_LIMIT - len(_CUT))
    if not parts or (len(parts) == 1 and end == text):
        return parts[0] if parts else RichText(text="")
    newest = parts[-1]
    moved = tuple(replace(entity, offset=entity.offset + len(_CUT)) for entity in newest.entities)
    return RichText(text=_CUT + newest.text, entities=moved)
