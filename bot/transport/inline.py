"""Inline queries (`@bot question` in any chat): the newest of each person gets one result. No model runs for it."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.errors import TelegramFailure
from bot.transport.gating import BotIdentity
from bot.transport.rich_text import Entity, RichText, utf16_length
from bot.transport.telegram_api import Button, InlineResult, TelegramInline
from bot.transport.updates import IncomingMessage, ParsedUpdate
from bot.transport.words import words_for
from memory.errors import MemoryFailure

log = structlog.get_logger()

PAUSE_S = 0.4
"""The pause in typing after which a query is answered. A letter takes about 0.3 s (pennlabs/penn-clubs#640).

Telegram sends a query for nearly every letter (telegraf/telegraf#1027).
"""
QUERIES_AT_MOST = 1_000
"""People whose queries wait for this pause. More are dropped: the next letter brings another one."""


class InlineQueries:
    """Answers inline queries; one instance per process. A query is kept nowhere, and lost with the process."""

    def __init__(
        self,
        telegram: TelegramInline,
        *,
        bot: BotIdentity,
        may_ask: Callable[[int], Awaitable[bool]],
        clock: Callable[[], float],
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        self._telegram = telegram
        self._bot = bot
        self._may_ask = may_ask
        self._clock = clock
        self._pause = pause
        self._newest: dict[int, int] = {}
        """Update ids of waiting queries by person."""
        self._queries: asyncio.Queue[tuple[ParsedUpdate, IncomingMessage]] = asyncio.Queue()

    def add(self, query: ParsedUpdate) -> None:
        """Take a query in place of the person's earlier ones. Webhook requests may overtake each other."""
        if query.message is None:
            return
        person, newest = query.message.chat_id, self._newest.get(query.message.chat_id)
        if query.update_id <= newest if newest is not None else len(self._newest) >= QUERIES_AT_MOST:
            return
        self._newest[person] = query.update_id
        self._queries.put_nowait((query, query.message))

    async def run(self) -> None:
        """Answer queries until cancelled. A failed answer is only logged."""
        async with asyncio.TaskGroup() as group:
            while True:
                query, message = await self._queries.get()
                group.create_task(self._answer(query, message), name="inline-query")

    async def _answer(self, query: ParsedUpdate, message: IncomingMessage) -> None:
        await self._pause(PAUSE_S)
        if self._newest.get(message.chat_id) != query.update_id:
            return
        del self._newest[message.chat_id]
        try:
            may_ask = bool(message.text) and await self._may_ask(message.chat_id)
            await self._telegram.answer(query.inline_id, self._result(message) if may_ask else None)
        except (TelegramFailure, MemoryFailure) as error:
            log.warning("inline_query_unanswered", error=str(error))

    def _result(self, message: IncomingMessage) -> InlineResult:
        """Return the result. Its button is what makes Telegram name the message that is to be edited."""
        words, question = words_for(message.language_code), quoted_question(message.text)
        waiting = f"{question.text}\n\n{words('preview-writing')}"
        return InlineResult(
            id=str(int(self._clock())),
            title=words("inline-ask", bot=f"@{self._bot.username}"),
            description=message.text,
            rich=RichText(text=waiting, entities=question.entities),
            button=Button(text=words("inline-open"), url=f"https://t.me/{self._bot.username}"),
        )


def quoted_question(text: str) -> RichText:
    """Return the question as it stands above its answer."""
    quote = Entity(type="blockquote", offset=0, length=utf16_length(text))
    return RichText(text=text, entities=(quote,) if text else ())
