"""Which messages of a history go into a prompt."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Protocol

from memory.message import CONVERSATION_ROLES, Message


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
    """

    max_tokens: int
    tokenizer: TokenCounter
    max_messages: int | None = None

    def __post_init__(self) -> None:
        _check_not_negative(self.max_tokens)
        _check_not_negative(self.max_messages or 0)

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
            tokens = self.tokenizer.count(message.text)
            if tokens > room:
                return chosen[::-1] or self._cut(message)
            chosen.append(message)
            room -= tokens
            if len(chosen) == self.max_messages:
                break
        return chosen[::-1]

    def _cut(self, message: Message) -> list[Message]:
        text = self.tokenizer.cut_middle(message.text, self.max_tokens)
        tokens = self.tokenizer.count(text)
        if not text.strip() or tokens > self.max_tokens:
            return []
        return [replace(message, text=text, tokens=tokens)]


@dataclass(frozen=True, slots=True)
class NoMessages:
    """No history at all."""

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        """See MessageSelector; reads nothing."""
        return []


def _check_not_negative(number: int) -> None:
    if number < 0:
        raise ValueError("a window cannot be smaller than nothing")
