"""The file of a backup: a head, records of the whole bot, the files of all contexts, and an end with a SHA-256."""

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, model_validator

from memory.transfer.file import BadFile, Header, check_file

FORMAT = 1
"""Version of the layout around the files of the contexts, which have their own."""

Decision = Literal["carried", "derived", "temporary"]
_NAMES: Mapping[Decision, str] = {
    "carried": "messages order telegram meta summaries lineage ledger people senders sessions artifacts artifact talk "
    "facts unread choices reminders contexts migrations zones {access}:guests {access}:invitation {access}:open",
    "derived": "fact_order cited work walk compress extract due spaces format partitions commands unreachable workers "
    "whole_since local_zones unclean renewed",
    "temporary": "epoch receipts receipt fact_lists box journal outbox sending delivering files stop erasures "
    "rewritten rewriting own_updates active ready control dead counts update erased refused warned import sweeping "
    "restoring {usage}:day {usage}:month {usage}:minute {usage}:told {usage}:booked {usage}:pictures {usage}:facts "
    "abilities probe beat {access}:tries {access}:dashboard {access}:sessions "
    "{rates}:seats {rates}:bucket {rates}:hold {rates}:counts",
}
DECISIONS: Mapping[str, Decision] = {
    name: decision for decision, names in _NAMES.items() for name in names.split()
}
"""Every key of memory/keys.py. A backup has the carried ones. Derived ones are made again from these or by a start.
Temporary ones end by themselves, or belong to one store: its updates, epochs, limits and counters.
"""

RecordName = Literal["migrations", "zones", "{access}:guests", "{access}:open", "choices"]
_ID, _DIGEST = "-?[0-9]{1,19}", "[0-9a-f]{64}"
_PATTERNS: Mapping[RecordName, str] = {
    "migrations": f"{_ID}={_ID}",
    "zones": f"{_ID}=[A-Za-z0-9_+/:-]{{1,64}}",
    "{access}:guests": rf"{_ID}=[0-9.]{{1,20}}:{_DIGEST}",
    "{access}:open": rf"{_DIGEST}=[0-9.]{{1,20}}",
    "choices": "(facts=(on|off)|off:-?[0-9]{1,18}=1)",
}
"""Pattern of a record's fields, each with `=` before its value."""


class Head(BaseModel, frozen=True):
    """First line of a backup."""

    format: Literal[1]
    kind: Literal["backup"] = "backup"
    version: str = ""
    began_at: str = ""
    partitions: Annotated[int, Field(ge=1, lt=2**16)]


class RecordLine(BaseModel, frozen=True):
    """Fields of a record of the whole bot, or the choices of a context that has no memory now."""

    name: RecordName
    fields: dict[str, str]
    kind: Literal["record"] = "record"
    context: Annotated[str, Field(pattern="^([0-9a-f]{32})?$")] = ""
    partition: Annotated[int, Field(ge=0, lt=2**16)] = 0

    @model_validator(mode="after")
    def _check_fields(self) -> "RecordLine":
        for name, value in self.fields.items():
            if not re.fullmatch(_PATTERNS[self.name], f"{name}={value}"):
                raise ValueError("a field is not one of ours")
        if bool(self.context) != (self.name == "choices"):
            raise ValueError("choices belong to a context, and nothing else does")
        return self


class Complete(BaseModel, frozen=True):
    """Last line of a backup."""

    chats: Annotated[int, Field(ge=0)]
    sha256: str
    """SHA-256 of all lines before it."""
    kind: Literal["complete"] = "complete"
    erased_before: str = ""
    """Nothing that was erased before this time is in the backup (ISO 8601)."""


Section = Iterator[str]
"""Lines of a context's file."""
BackupPart = Head | RecordLine | Complete | Section

_LINE: TypeAdapter[Head | RecordLine | Complete] = TypeAdapter(
    Annotated[Head | RecordLine | Complete, Field(discriminator="kind")]
)
_SECTION, _SECTION_END, _END = '{"kind":"header"', '{"kind":"end"', '{"kind":"complete"'


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupFacts:
    """A checked backup."""

    head: Head
    complete: Complete


def dump_part(part: Head | RecordLine | Complete) -> str:
    """Return a line as ASCII JSON, with its end."""
    fields = part.model_dump(exclude_defaults=True)
    return json.dumps({"kind": part.kind, **fields}, separators=(",", ":")) + "\n"


def read_parts(lines: Iterator[str]) -> Iterator[BackupPart]:
    """Yield the parts of a backup. The rest of a section is skipped. Raises BadFile for a wrong line.

    The parts are not proved: call `check_backup` first.
    """
    for number, text in enumerate(lines, start=1):
        if text.startswith(_SECTION):
            section = _read_section(text, lines)
            yield section
            deque(section, maxlen=0)
        else:
            yield _parse(text, is_first=number == 1)


def check_backup(lines: Iterable[str]) -> BackupFacts:
    """Return what a whole backup says of itself. Raises BadFile, with the place of the mistake."""
    digest = hashlib.sha256()
    head: Head | None = None
    end: Complete | None = None
    chats, has_sections = 0, False
    for part in read_parts(_hashed(lines, digest)):
        if end is not None:
            raise BadFile("something follows the end of the backup")
        match part:
            case Head() if head is None:
                head = part
            case _ if head is None:
                raise BadFile("this is not a backup of Mnemogram")
            case RecordLine() if not has_sections:
                _check_partition(part.partition, head)
            case Complete():
                end = part
            case Iterator():
                has_sections, chats = True, chats + 1
                _check_section(part, head, number=chats)
            case _:
                raise BadFile("the lines are not in their order")
    if head is None or end is None:
        raise BadFile("the backup breaks off: its end is missing")
    if (end.sha256, end.chats) != (digest.hexdigest(), chats):
        raise BadFile(
            "the backup was changed or damaged: its SHA-256 or the number of its chats is another one"
        )
    return BackupFacts(head=head, complete=end)


def _check_section(section: Section, head: Head, *, number: int) -> None:
    try:
        header = check_file(section).header
        if not re.fullmatch("[0-9a-f]{32}", header.context):
            raise BadFile("its header names no context")
    except BadFile as error:
        raise BadFile(f"chat {number:,} of the backup: {error}") from None
    _check_partition(header.partition, head)


def _check_partition(partition: int, head: Head) -> None:
    if partition >= head.partitions:
        raise BadFile("a record belongs to a partition that the store did not have")


def _read_section(first: str, lines: Iterator[str]) -> Section:
    yield first
    for text in lines:
        yield text
        if text.startswith(_SECTION_END):
            return


def _hashed(lines: Iterable[str], digest: Any) -> Iterator[str]:
    for text in lines:
        if not text.startswith(_END):
            digest.update(text.encode())
        yield text


def _parse(text: str, *, is_first: bool) -> Head | RecordLine | Complete:
    """Raise BadFile without the value, which must not end up in a terminal."""
    try:
        return _LINE.validate_json(text)
    except ValidationError as error:
        place = error.errors(include_input=False, include_url=False, include_context=False)[0]["loc"]
    if is_first and place == ("backup", "format"):
        raise BadFile(f"this backup has another format, and this build reads format {FORMAT}")
    if is_first:
        raise BadFile("this is not a backup of Mnemogram")
    if not text.endswith("\n"):
        raise BadFile("the backup breaks off: its end is missing")
    raise BadFile("a line between two chats is none of ours")


def section_header(line: str) -> Header:
    """Return the header of a section. Raises ValueError."""
    return Header.model_validate_json(line)
