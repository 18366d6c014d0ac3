"""Which messages of a history go into a prompt."""

from bisect import bisect_left
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from memory.history.message import CONVERSATION_ROLES, Message, told_text

WINDOW_CHUNK = 16
"""How many messages a window loses at once where its beginning should stay the same for many turns."""


class MessageSelector(Protocol):
    """Chooses from a history; write your own by writing this one method."""

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """The chosen messages, in the order of the conversation.

        `newest` gives the messages newest first and reads them page by page: stop as soon as the choice is
        made, and the cost does not grow with the history.
        """
        ...


class TokenCounter(Protocol):
    """Counts and cuts as the model that reads the prompt does."""

    def count(self, text: str) -> int: ...

    def cut_middle(self, text: str, max_tokens: int) -> str: ...


@dataclass(frozen=True, slots=True)
class MessageWindowMessageSelector:
    """The `n` most recent messages of users and assistants; all of them where there are fewer."""

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
    """The most recent messages of users and assistants that have at most `max_tokens` of text together.

    The window ends at the first message that does not fit: it never has a hole. If that is the newest one,
    it is cut in the middle, with a mark, rather than leaving nothing. With `max_messages` the window also ends
    after that many: then it reads no further than that.

    With a `chunk` a window that reached a limit begins at a message whose sequence is a multiple of it, see
    `chunk_start`: its beginning stays put for a chunk of messages, and so does the prefix of the prompt.
    """

    max_tokens: int
    tokenizer: TokenCounter
    max_messages: int | None = None
    chunk: int = 1

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
            # Counted here: `message.tokens` is of the model that was in use when it was written.
            tokens = self.tokenizer.count(told_text(message))
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
        """The message with its text in what its note and origin leave of the room."""
        beside = self.tokenizer.count(told_text(replace(message, text="")))
        text = self.tokenizer.cut_middle(message.text, max(self.max_tokens - beside, 0))
        cut = replace(message, text=text)
        tokens = self.tokenizer.count(told_text(cut))
        if not text.strip() or tokens > self.max_tokens:
            return []
        return [replace(cut, tokens=tokens)]


@dataclass(frozen=True, slots=True)
class AfterSequence:
    """What `selector` chooses from the messages after `sequence`: those that no summary covers."""

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
                return  # asking for the one before it would read a page of what is covered


@dataclass(frozen=True, slots=True)
class NoMessages:
    """No history at all."""

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """See MessageSelector; reads nothing."""
        return []


def chunk_start(sequences: Sequence[int | None], chunk: int) -> int:
    """Where a window of these sequences begins when its beginning should stay put for `chunk` messages.

    That is at the first multiple of `chunk`, or behind it where that message is missing. More than half of the
    window is never given up for it: then a half, a quarter … of the chunk is used. 0 for messages without
    sequences, and for none.
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
        raise ValueError("a window cannot be smaller than nothing")
