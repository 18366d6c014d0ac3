"""One part of a prompt as pieces that stay or go, each counted once, and what they take together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.agent.model import PromptMessage
from bot.agent.prompt.parts import ReceiptItem
from memory.history.selectors import TokenCounter

MESSAGE_OVERHEAD = 4
"""Tokens around each message, and around each tool call or tool in it (OpenAI's cookbook counts 3 to 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What stays or goes as one: whole `messages`, or a `text` under the heading that its section has.

    `sequence` is that of the message which it is, or beside which it is told; `told_at` orders the texts under
    a heading. `why` is what was done to it, empty for nothing. `others` are the ids of messages that are told as one
    with it.
    """

    id: str
    tokens: int
    messages: tuple[PromptMessage, ...] = ()
    text: str = ""
    sequence: int | None = None
    told_at: float = 0.0
    why: str = ""
    others: tuple[str, ...] = ()

    def items(self, why: str = "") -> Iterator[ReceiptItem]:
        """Its lines of the receipt: one with all that it takes, and one for each message that is told with it."""
        yield ReceiptItem(id=self.id, tokens=self.tokens, why=why or self.why)
        for other in self.others:
            yield ReceiptItem(id=other, tokens=0, why=why or f"told as one with {self.id}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a prompt. The piece that gives way first is the first one.

    With a `heading` the texts of all pieces are one message of role "user": what people, tools and models wrote
    must not gain the authority of a system message. `why` is its reason in the receipt, where that is not the same in
    all prompts.
    """

    heading: str = ""
    why: str = ""
    separator: str = "\n"
    pieces: tuple[Piece, ...] = ()
    left_out: tuple[ReceiptItem, ...] = ()
    tokens: int = 0

    def told(self) -> Sequence[Piece]:
        """The pieces in the order in which they are told."""
        return sorted(self.pieces, key=lambda piece: piece.told_at)

    def messages(self) -> tuple[PromptMessage, ...]:
        """What a request has of it; nothing without pieces."""
        if not self.heading:
            return tuple(message for piece in self.told() for message in piece.messages)
        if not self.pieces:
            return ()
        text = self.separator.join([self.heading, *(piece.text for piece in self.told())])
        return (PromptMessage(role="user", text=text),)

    def with_pieces(
        self, pieces: Sequence[Piece], *, meter: TokenCounter, left_out: Sequence[ReceiptItem] = ()
    ) -> "Section":
        """The section with these pieces in the place of its own, counted."""
        changed = replace(self, pieces=tuple(pieces), left_out=(*self.left_out, *left_out))
        if self.heading:  # one text is counted whole: its tokens may reach over the lines
            return replace(changed, tokens=sum(cost_of(each, meter) for each in changed.messages()))
        return replace(changed, tokens=sum(piece.tokens for piece in pieces))


def cost_of(message: PromptMessage, meter: TokenCounter) -> int:
    """The tokens that a message takes in a request, its calls, images and what is around them included."""
    calls = sum(
        MESSAGE_OVERHEAD + sum(map(meter.count, (call.id, call.name, call.arguments)))
        for call in message.tool_calls
    )
    answered = meter.count(message.tool_call_id) if message.tool_call_id else 0
    shown = sum(image.tokens for image in message.images)
    return MESSAGE_OVERHEAD + meter.count(message.text) + calls + answered + shown
