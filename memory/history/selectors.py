"""Selectors choose the messages of a history that go into a prompt."""

from bisect import bisect_left
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from memory.history.message import CONVERSATION_ROLES, Message, render_message

WINDOW_CHUNK = 16
"""Messages that a window loses at once, so that its beginning stays the same for many turns."""


class MessageSelector(Protocol):
    """Chooses messages from a history. Your own selector needs this one method."""

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """Return the chosen messages in the order of the conversation.

        `newest` yields the messages newest first and reads them page by page. Stop as soon as the choice is made:
        then the cost does not grow with the history.
        """
        ...


class TokenCounter(Protocol):
    """Counts and cuts text in tokens of the model that reads the prompt."""

    def count(self, text: str) -> int: ...

    def cut_middle(self, text: str, max_tokens: int) -> str: ...


@dataclass(frozen=True, slots=True)
class MessageWindowMessageSelector:
    """The `n` most recent messages of users and assistants, or all if there are fewer."""

    n: int

    def __post_init__(self) -> None:
        _check_not_negative(self.n)

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """See MessageSelector."""
        chosen: list[Message] = []
        if self.n == 0:
            return chosen
        async for message in newest:
            if message.role in CONVERSATION_ROLES:
                chosen.append(message)
            if len(chosen) == self.n:
                break
        return chosen[::-1]


@dataclass(frozen=True, slots=True)
class TokenWindowMessageSelector:
    """The most recent messages of users and assistants with up to `max_tokens` of text together.

    The window ends at the first message that does not fit, so it never has a hole. If the newest message does not fit,
    it is cut in the middle, with a mark.
    """

    max_tokens: int
    tokenizer: TokenCounter
    max_messages: int | None = None
    """The window also ends after this many messages, and reads no further."""
    chunk: int = 1
    """A window that reached a limit begins at a multiple of this, see `chunk_start`. Its beginning, and the prefix of
    the prompt, then stay the same for a chunk of messages."""

    def __post_init__(self) -> None:
        _check_not_negative(self.max_tokens)
        _check_not_negative(self.max_messages or 0)
        _check_not_negative(self.chunk - 1)

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """See MessageSelector."""
        chosen: list[Message] = []
        room = self.max_tokens
        if room == 0 or self.max_messages == 0:
            return chosen
        async for message in newest:
            if message.role not in CONVERSATION_ROLES:
                continue
            # Count again: `message.tokens` is of the model that was in use when the message was written.
            tokens = self.tokenizer.count(render_message(message))
            if tokens > room:
                return self._from_chunk(chosen[::-1]) or self._cut(message)
            chosen.append(message)
            room -= tokens
            if len(chosen) == self.max_messages:
                return self._from_chunk(chosen[::-1])
        return chosen[::-1]

    def _from_chunk(self, chosen: list[Message]) -> list[Message]:
        return chosen[chunk_start([message.sequence for message in chosen], self.chunk) :]

    def _cut(self, message: Message) -> list[Message]:
        """Return the message with its text cut to the room that its note and origin leave."""
        extra = self.tokenizer.count(render_message(replace(message, text="")))
        text = self.tokenizer.cut_middle(message.text, max(self.max_tokens - extra, 0))
        cut = replace(message, text=text)
        tokens = self.tokenizer.count(render_message(cut))
        if not text.strip() or tokens > self.max_tokens:
            return []
        return [replace(cut, tokens=tokens)]


@dataclass(frozen=True, slots=True)
class AfterSequence:
    """The choice of `selector` from the messages after `sequence`, which no summary covers."""

    selector: MessageSelector
    sequence: int

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """See MessageSelector."""
        async with aclosing(self._uncovered(newest)) as uncovered:
            return await self.selector.select(uncovered)

    async def _uncovered(self, newest: AsyncIterator[Message]) -> AsyncGenerator[Message]:
        async for message in newest:
            if message.sequence is not None and message.sequence <= self.sequence:
                return
            yield message
            if message.sequence == self.sequence + 1:
                return  # the next message would cost a page of covered messages


@dataclass(frozen=True, slots=True)
class NoMessages:
    """An empty choice."""

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """See MessageSelector; reads nothing."""
        return []


def chunk_start(sequences: Sequence[int | None], chunk: int) -> int:
    """Return the index at which a window of these sequences begins, so that its beginning stays for `chunk` messages.

    It is the first multiple of `chunk`, or the next sequence after it. A window never gives up more than half of its
    messages: then a half, a quarter … of the chunk is used. Return 0 if a sequence is missing.
    """
    numbered = [sequence for sequence in sequences if sequence is not None]
    if len(numbered) < len(sequences) or not numbered:
        return 0
    while chunk > 1:
        boundary = -(-numbered[0] // chunk) * chunk
        start = bisect_left(numbered, boundary)
        if start <= len(numbered) // 2:
            return start
        chunk //= 2
    return 0


def _check_not_negative(number: int) -> None:
    if number < 0:
        raise ValueError("a window cannot be negative")
