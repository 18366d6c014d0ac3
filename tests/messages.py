"""Short builders of messages for tests."""

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, replace
from typing import Any

from bot.turn.answer_receipt import AnswerReceipt
from memory.history.fact import Fact
from memory.history.message import Message, Role
from memory.keys import ContextRef, context_id


def make_ref(chat_id: int = 1) -> ContextRef:
    """Return the context of a chat."""
    return ContextRef(context_id=context_id("telegram", {"bot_id": 7, "chat_id": chat_id}), partition=0)


def make_message(
    message_id: str = "m0", text: str = "hello", *, role: Role = "user", telegram: int | None = None
) -> Message:
    """Return a message that is not in any store yet."""
    return Message(
        id=message_id,
        role=role,
        text=text,
        sent_at=1000.5,
        tokens=len(text.split()),
        telegram_message_id=telegram,
    )


def some_messages(number: int, *, start: int = 0) -> list[Message]:
    """Return m0, m1 … alternately by a user and an assistant."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [make_message(f"m{n}", f"text {n}", role=roles[n % 2]) for n in range(start, start + number)]


def make_receipt(message_id: str = "m1", **facts: Any) -> AnswerReceipt:
    """Return the receipt of an answer."""
    return replace(AnswerReceipt(message_id=message_id, at=1000.5, agent="desk"), **facts)


def make_fact(fact_id: str = "f1", statement: str = "Anna lives in Lisbon", **fields: Any) -> Fact:
    """Return a fact about Anna, told by person 7 in the message m0 on 20 November 2025."""
    fact = Fact(
        id=fact_id,
        subject="Anna",
        statement=statement,
        said_by=7,
        message_ids=("m0",),
        valid_from=1_763_660_580.0,
        confidence=0.9,
    )
    return replace(fact, **fields)


def ids(messages: Iterable[Message]) -> list[str]:
    """Return the ids of the messages, in order."""
    return [message.id for message in messages]


async def newest_of(messages: list[Message], read: list[str] | None = None) -> AsyncGenerator[Message]:
    """Yield the messages newest first and append the read ones to `read`."""
    for message in reversed(messages):
        if read is not None:
            read.append(message.id)
        yield message


@dataclass(frozen=True, slots=True)
class WordTokenizer:
    """A tokenizer whose tokens are words. It cuts a text to head, mark and tail."""

    def count(self, text: str) -> int:
        return len(text.split())

    def cut_middle(self, text: str, max_tokens: int) -> str:
        words = text.split()
        if len(words) <= max_tokens:
            return text
        if max_tokens < 3:
            return " ".join(words[:max_tokens])
        head = (max_tokens - 1) // 2
        return " ".join([*words[: max_tokens - 1 - head], "[…]", *words[len(words) - head :]])
