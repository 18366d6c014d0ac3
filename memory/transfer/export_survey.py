"""Passes over an export of another service: one that counts and checks all of it, then one that imports it."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from memory.transfer.archives import BadArchive, BoundedFile, Opener, is_zip, open_parts
from memory.transfer.assistant_exports import read_conversations
from memory.transfer.foreign import (
    MOST_MESSAGES,
    ForeignChat,
    ForeignMessage,
    Messages,
    Reading,
    Service,
    UnknownExport,
)
from memory.transfer.json_stream import BadJson, CutJson, JsonReader
from memory.transfer.telegram_export import read_telegram

MOST_UNPACKED = 20_000_000_000
"""Bytes of all files of a zip together."""
_FINGERPRINT, _PROGRESS_EVERY = 12, 5_000


class CutExport(ValueError):
    """The file ends in the middle. `read` messages were complete before."""

    def __init__(self, read: int) -> None:
        super().__init__(f"it ends in the middle, after {read:,} complete messages")
        self.read = read


class ChatCount(NamedTuple):
    """A chat of a file with its messages."""

    number: int
    messages: int
    first_at: float
    last_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The contents of a whole file."""

    service: Service
    fingerprint: str
    """Tells this content from any other."""
    counts: tuple[ChatCount, ...]
    """Chats with messages, in the order of the file."""
    chats: dict[int, ForeignChat] = field(default_factory=dict[int, ForeignChat])
    """Chats of Telegram by number."""
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def messages(self) -> int:
        """Return the number of messages."""
        return sum(each.messages for each in self.counts)


def survey_export(
    open_file: Opener,
    *,
    now: float,
    most_unpacked: int = MOST_UNPACKED,
    progress: Callable[[int], None] = lambda _: None,
) -> Survey:
    """Read the whole file once. Nothing is written, so a bad file does nothing.

    `progress` gets the number of messages now and then. Raises UnknownExport, CutExport, BadJson for a file that is
    hostile or damaged, and OSError.
    """
    reading = Reading(now=now)
    counts: list[ChatCount] = []
    digest, total = hashlib.sha256(), 0
    try:
        for message in read_export(open_file, reading, most_unpacked=most_unpacked):
            sent_at = message.sent_at or 0.0
            if not counts or counts[-1].number != message.chat:
                counts.append(ChatCount(message.chat, 0, sent_at, sent_at))
            chat = counts[-1]
            latest = max(chat.last_at, sent_at)
            counts[-1] = chat._replace(messages=chat.messages + 1, last_at=latest)
            digest.update(f"{message.chat} {message.key} {sent_at}\n".encode())
            total += 1
            if total % _PROGRESS_EVERY == 0:
                progress(total)
            if total > MOST_MESSAGES:
                raise BadJson(f"it has more than {MOST_MESSAGES:,} messages; export a shorter period")
    except CutJson:
        if reading.service is None:
            raise UnknownExport from None
        raise CutExport(total) from None
    except BadJson as error:
        if reading.service is None and not isinstance(error, BadArchive):
            raise UnknownExport from None
        raise
    if reading.service is None:
        raise UnknownExport
    return Survey(
        service=reading.service,
        fingerprint=digest.hexdigest()[:_FINGERPRINT],
        counts=tuple(counts),
        chats=reading.chats,
        left_out=reading.left_out,
    )


def read_export(open_file: Opener, reading: Reading, *, most_unpacked: int = MOST_UNPACKED) -> Messages:
    """Yield the messages of a file, always in the same order. Its content tells of which service it is.

    In a zip, files that are of no service or of another one are left out. Raises BadJson and OSError.
    """
    is_packed = is_zip(open_file)
    with open_parts(open_file, most_bytes=most_unpacked) as parts:
        for part in parts:
            yield from _dated(_read_part(part, reading, is_packed=is_packed), reading)


def _read_part(part: BoundedFile, reading: Reading, *, is_packed: bool) -> Messages:
    service = reading.service
    try:
        reader = JsonReader(part)
        event, _ = reader.next()
        if event == "start_map" and service in (None, "Telegram"):
            messages = read_telegram(reader, reading)
        elif event == "start_array" and service != "Telegram":
            messages = read_conversations(reader, reading)
        else:
            return
        yield from messages
        reader.end()
    except BadJson as error:
        is_no_history = is_packed and reading.service is None and not isinstance(error, BadArchive)
        if not is_no_history:
            raise


def _dated(messages: Messages, reading: Reading) -> Iterator[ForeignMessage]:
    for message in messages:
        if message.sent_at is None:
            reading.leave_out("without a date")
        else:
            yield message
