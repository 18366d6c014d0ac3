"""Everything that the bot heard in a chat: overheard talk, messages to the bot, and its answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.history.message import CONVERSATION_ROLES, Message, Sender, render_message
from memory.history.redis_history import RedisHistory, RedisTalk
from memory.history.talk import TalkLine, cut
from memory.keys import ContextRef, context_key
from memory.redis.client import RedisClient

_PAGE = 500
"""Messages of the history that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardLine:
    """Something that was said in a chat, or an event of it."""

    text: str
    """At most TALK_CHARS characters, with notes on attachments in round brackets."""
    sent_at: float
    """Unix seconds."""
    sender: Sender | None
    """None for an answer of the bot."""
    telegram_id: int = 0
    """The id in its chat; 0 for an answer that was never sent."""
    score: int | None = None
    """Score of a line of talk (`score_of`); None for a message of the history."""
    message_id: str = ""
    """Id of a message of the history; "" for a line of talk."""
    is_service: bool = False
    """True for an event, such as somebody who joined."""

    def is_by(self, person: int) -> bool:
        """Return True if this person wrote it. Nobody writes events."""
        return self.sender is not None and self.sender.id == person and not self.is_service


class HeardLines:
    """Reads what was said in one context. Methods raise the store's errors."""

    def __init__(self, redis: RedisClient, talk: RedisTalk, history: RedisHistory) -> None:
        self._redis = redis
        self._talk = talk
        self._history = history

    async def read(
        self, ref: ContextRef, *, limit: int, since: float = 0.0, person: int | None = None
    ) -> list[HeardLine]:
        """Return the newest lines, at most `limit`, oldest first.

        Earlier conversations count too. Reading stops at `since` (Unix seconds) or at the last message of this person,
        so that a long history is not read. Some older lines may be there all the same.
        """
        talk = [_of_talk(score, line) for score, line in await self._talk.newest(ref, limit=limit)]
        since = max([since, *(line.sent_at for line in talk if person is not None and line.is_by(person))])
        messages: list[Message] = []
        before: int | None = None
        while len(messages) < limit:
            page = await self._history.page(
                ref, before_sequence=before, limit=min(_PAGE, limit - len(messages)), whole=True
            )
            messages += page
            if not page or page[-1].sent_at < since or _has_written(page, person):
                break
            before = page[-1].sequence
        numbers = await self._numbers(ref, messages)
        said = [_of_message(message, number) for message, number in zip(messages, numbers, strict=True)]
        return merge(talk, said)[-limit:]

    async def current_texts(self, ref: ContextRef, lines: Sequence[HeardLine]) -> dict[HeardLine, str]:
        """Return the present texts of these lines. A line that was forgotten, or that is too old by now, has none."""
        found = await self._history.get(ref, [line.message_id for line in lines if line.message_id])
        texts: dict[HeardLine, str] = {}
        for line in lines:
            message = found.get(line.message_id)
            talk = None if line.score is None else await self._talk.find(ref, line.score)
            if message is not None:
                texts[line] = _of_message(message, 0).text
            elif talk is not None:
                texts[line] = talk.text
        return texts

    async def _numbers(self, ref: ContextRef, messages: Sequence[Message]) -> list[int]:
        """Return the Telegram id of each message: of an answer the first that shows it; 0 if it was never sent."""
        if not messages:
            return []
        shown = await self._redis.call(
            "HMGET", context_key(ref, "telegram"), *[message.id for message in messages]
        )
        return [
            int(str(ids).split()[0]) if ids else message.telegram_message_id or 0
            for message, ids in zip(messages, shown, strict=True)
        ]


def merge(talk: Iterable[HeardLine], messages: Iterable[HeardLine]) -> list[HeardLine]:
    """Return all lines in the order in which they were sent, each once, without empty ones.

    A message that is both in the talk and in the history is the one of the history.
    """
    said = [line for line in messages if line.text]
    known = {(line.telegram_id, line.sent_at) for line in said if line.telegram_id}
    lines = [line for line in talk if line.text and (line.telegram_id, line.sent_at) not in known]
    return sorted([*lines, *said], key=_order)


def _order(line: HeardLine) -> tuple[float, int]:
    """Telegram's clock has whole seconds, and its ids are in order. An answer that was never sent is the last one."""
    return int(line.sent_at), line.telegram_id or 2**53


def _of_talk(score: int, line: TalkLine) -> HeardLine:
    return HeardLine(
        text=line.text,
        sent_at=line.sent_at,
        sender=line.sender,
        telegram_id=line.telegram_message_id,
        score=score,
        is_service=line.is_service,
    )


def _of_message(message: Message, number: int) -> HeardLine:
    is_shown = message.role in CONVERSATION_ROLES and not message.is_refused
    return HeardLine(
        text=cut(render_message(message)) if is_shown else "",
        sent_at=message.sent_at,
        sender=message.sender or Sender(id=0, name="") if message.role == "user" else None,
        telegram_id=number,
        message_id=message.id,
    )


def _has_written(messages: Sequence[Message], person: int | None) -> bool:
    return any(each.sender is not None and each.sender.id == person for each in messages)
