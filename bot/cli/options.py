"""The arguments and options that several commands share."""

import re
from dataclasses import dataclass
from typing import Annotated

import typer

NEGATIVE_NUMBERS = {"ignore_unknown_options": True}
"""Context settings of a command that takes a CHAT: without them `-1001234` would be read as an option."""

_CHAT = re.compile(r"(-?\d{1,19})(?:/(\d{1,19}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatName:
    """A chat, or one topic of it, as an operator names it: `-1001234` or `-1001234/7`."""

    chat_id: int
    thread_id: int | None = None

    def __str__(self) -> str:
        return str(self.chat_id) if self.thread_id is None else f"{self.chat_id}/{self.thread_id}"


def parse_chat(text: str) -> ChatName:
    """The chat that an operator names. Raises typer.BadParameter for anything else."""
    found = _CHAT.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(
            f"{text!r} is not a chat: give its id, or chat_id/thread_id, or an option first"
        )
    thread = found[2]
    return ChatName(chat_id=int(found[1]), thread_id=None if thread is None else int(thread))


Chat = Annotated[
    ChatName,
    typer.Argument(parser=parse_chat, metavar="CHAT", help="A chat id, or chat_id/thread_id for a topic."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
