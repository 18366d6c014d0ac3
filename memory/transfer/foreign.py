"""Histories of other services: their messages, and one pass over a file that yields them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from memory.characters import one_line, well_formed
from memory.history.message import Role
from memory.transfer.json_stream import BadJson, JsonReader, ObjectTooLarge

Service = Literal["Telegram", "ChatGPT", "Claude"]
"""The services whose exports are taken."""
EARLIEST, LATEST_AHEAD_S = 631_152_000.0, 86_400.0
"""Messages are not from before 1990, and not from tomorrow: other dates are mistakes."""
MOST_CHATS, MOST_MESSAGES = 200_000, 5_000_000
LONGEST_TEXT = 200_000
_NAME_CHARACTERS = 100
_UNPLAIN = re.compile(r"[^\w\s.,:;@#&+/–—-]")


class UnknownExport(ValueError):
    """The file is no export that is known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignChat:
    """A chat or conversation of a file."""

    number: int
    """Place in the file."""
    key: str
    """Its id in the service; "" if the file tells none."""
    title: str = ""
    chat_id: int | None = None
    """Id that the Bot API gives to this chat; None for one that no bot can be in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMessage:
    """A message of a file."""

    chat: int
    """Number of its chat."""
    key: str
    """Its id in the chat."""
    role: Role
    sent_at: float | None
    """Unix seconds; None without a possible date."""
    text: str
    sender_id: int | None = None
    """Telegram id of the writer; None for the person or the assistant of another service."""
    sender_name: str = ""
    note: str = ""
    forwarded_from: str = ""
    forwarded_id: int | None = None
    via_bot: bool = False
    edited_at: float | None = None
    telegram_id: int | None = None


@dataclass(slots=True, kw_only=True)
class Reading:
    """One pass over a file: the service, the chats so far, and counts of what was left out."""

    now: float
    service: Service | None = None
    chats: dict[int, ForeignChat] = field(default_factory=dict[int, ForeignChat])
    """By number. Chats of Telegram stay, because the file may tell their ids last."""
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Numbers of service notes, of messages without content, of hidden ones and of what was too large."""
    _last_chat: int = -1

    def new_chat(self) -> int:
        """Return a number for another chat. Raises BadJson if there are too many."""
        self._last_chat += 1
        if self._last_chat >= MOST_CHATS:
            raise BadJson(f"it has more than {MOST_CHATS:,} conversations; export a part of them")
        return self._last_chat

    def leave_out(self, kind: str) -> None:
        """Count something that is no message."""
        self.left_out[kind] = self.left_out.get(kind, 0) + 1

    def objects(self, reader: JsonReader, *, at_most: int) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list that has begun. Those of more than `at_most` bytes are counted as left out."""
        for event in reader.items():
            if event[0] != "start_map":
                reader.skip(event)
                continue
            try:
                yield reader.value(event, at_most=at_most)
            except ObjectTooLarge:
                self.leave_out("too large")

    def possible_date(self, value: float | None) -> float | None:
        """Return the date if a message can be of it."""
        is_possible = value is not None and EARLIEST <= value <= self.now + LATEST_AHEAD_S
        return value if is_possible else None


Messages = Iterator[ForeignMessage]


def clean_text(text: str) -> str:
    """Return the text without lone surrogates, cut if it is longer than any message."""
    text = well_formed(text)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} […]"


def clean_name(name: object) -> str:
    """Return a name of a person or a title on one line; "" for anything but a text."""
    return one_line(name, _NAME_CHARACTERS) if isinstance(name, str) else ""


def plain_name(name: object) -> str:
    """Return a name that can stand in a note: without brackets and quotation marks."""
    return " ".join(_UNPLAIN.sub(" ", clean_name(name)).split())
