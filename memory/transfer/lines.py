"""The lines of a context's file and their JSON form."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from memory.characters import well_formed
from memory.history.ledger import LedgerEntry
from memory.history.message import Message
from memory.history.summary import Summary
from memory.history.talk import HeardLine

FORMAT = 1
"""Version of the file format; another version is refused."""

KINDS = ("message", "ledger", "person", "session", "summary", "artifact", "piece", "heard")
"""Kinds of body lines, besides the one `context` line that comes first."""

META_TIMES = ("created_at", "last_sent_at")

_META_COUNTS = (
    *("next_sequence", "conversation_start", "session_start"),
    *("summary_failures", "summary_failed_at"),
)

META_FIELDS: Mapping[str, re.Pattern[str]] = {
    # As the store writes numbers: ASCII digits without leading zeros.
    **dict.fromkeys(_META_COUNTS, re.compile(r"0|[1-9][0-9]{0,14}")),
    **dict.fromkeys(META_TIMES, re.compile(r"[0-9]{1,15}(\.[0-9]+)?(e[+-]?[0-9]{1,2})?")),
    "active_agent": re.compile(r".{1,200}"),
    "migrated_to": re.compile(r"-?[0-9]{1,19}"),
}
"""Fields of a context's `meta` that a file has. `revision` is left out: it is a fence of the store."""

LATEST = 2**37
"""Limit of the times in a file, in Unix seconds: the year 6325. Dates after the year 9999 cannot be rendered."""

_LONGEST_PROBLEM = 200
_MOST_PARTS = 1000
"""Telegram ids of one message, at most: one script takes them all."""


def _sendable(text: str) -> str:
    if well_formed(text) != text:
        raise ValueError("it has half a character, a lone surrogate, which the store cannot be sent")
    return text


_Whole = Annotated[int, Field(ge=0, lt=2**53)]
_Seconds = Annotated[float, Field(ge=0, lt=LATEST, allow_inf_nan=False)]
_Text = Annotated[str, AfterValidator(_sendable)]
"""Text that goes to the store unchanged. Text within JSON may have any character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """First line: the chat and title that operators know, and the id of the context."""

    kind: Literal["header"] = "header"
    format: int = FORMAT
    version: str = ""
    exported_at: str = ""
    chat: str = ""
    title: str = ""
    context: str = ""
    registered_at: _Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLine:
    """Facts of the context as strings, see META_FIELDS."""

    meta: dict[str, _Text]
    kind: Literal["context"] = "context"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLine:
    """A message with its entries in the index of Telegram ids."""

    sequence: _Whole
    message: Message
    kind: Literal["message"] = "message"
    telegram_ids: Annotated[tuple[_Whole, ...], Field(max_length=_MOST_PARTS)] = ()
    quotes: _Whole | None = None
    """Telegram id of the message that it quotes."""
    quoted_by: tuple[_Text, ...] = ()
    """Messages that quote it by its own id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """Calls of one turn."""

    first_sequence: _Whole
    last_sequence: _Whole
    entries: tuple[LedgerEntry, ...]
    kind: Literal["ledger"] = "ledger"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLine:
    """A sender: the stored name, and the count of their messages."""

    id: int
    kind: Literal["person"] = "person"
    name: _Text | None = None
    messages: _Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLine:
    """Sequence at which a session began."""

    sequence: _Whole
    kind: Literal["session"] = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """A summary of the lineage, with the ids of the messages that it added."""

    upto: _Whole
    summary: Summary
    covers: tuple[str, ...]
    kind: Literal["summary"] = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactLine:
    """An artifact; its pieces follow."""

    id: str
    tool: str
    length: _Whole
    ends_at: _Seconds
    pieces: _Whole
    kind: Literal["artifact"] = "artifact"


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceLine:
    """A piece of the artifact before it."""

    artifact: str
    number: _Whole
    text: _Text
    kind: Literal["piece"] = "piece"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardFileLine:
    """A heard line with its score."""

    score: _Whole
    line: HeardLine
    kind: Literal["heard"] = "heard"


BodyLine = (
    ContextLine
    | MessageLine
    | LedgerLine
    | PersonLine
    | SessionLine
    | SummaryLine
    | ArtifactLine
    | PieceLine
    | HeardFileLine
)

_BODY: TypeAdapter[BodyLine] = TypeAdapter(Annotated[BodyLine, Field(discriminator="kind")])
_HEADER = TypeAdapter(Header)


def dump_header(header: Header) -> str:
    """Return the first line of the file."""
    return dump_line(asdict(header))


def dump_body(line: BodyLine) -> str:
    """Return a line of the body as ASCII JSON, without fields that have their default."""
    return dump_line({"kind": line.kind, **_BODY.dump_python(line, exclude_defaults=True)})


def parse_header(fields: Mapping[str, Any]) -> Header:
    """Return the header in this object. Raises ValueError with the place of the mistake, without the value."""
    try:
        return _HEADER.validate_python(fields)
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from None


def parse_body(fields: Mapping[str, Any]) -> BodyLine:
    """Return the line of the body in this object. Raises ValueError as `parse_header` does."""
    try:
        return _BODY.validate_python(fields)
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from None


def dump_line(fields: Mapping[str, object]) -> str:
    """Return one line of ASCII JSON."""
    return json.dumps(fields, separators=(",", ":"))


def _first_problem(error: ValidationError) -> str:
    """Describe the first mistake without its value: the texts of a file must not end up in a terminal."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"].startswith("union_tag"):  # its message quotes the value
        return "the line's kind is none of ours"
    place = ".".join(str(part) for part in first["loc"])
    return (f"{place}: {first['msg']}" if place else first["msg"])[:_LONGEST_PROBLEM]
