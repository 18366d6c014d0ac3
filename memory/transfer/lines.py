"""The lines of a context's file: what each may be, and its form as JSON."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from memory.characters import well_formed
from memory.codec import dump_json
from memory.history.ledger import LedgerEntry
from memory.history.message import Message
from memory.history.summary import Summary
from memory.history.talk import HeardLine

FORMAT = 1
"""The version of the file's form; another one is refused."""

KINDS = ("message", "ledger", "person", "session", "summary", "artifact", "piece", "heard")
"""What a body line may be, beside the one `context` line that comes first."""

META_TIMES = ("created_at", "last_sent_at")

_META_COUNTS = (
    *("next_sequence", "conversation_start", "session_start"),
    *("summary_failures", "summary_failed_at"),
)

META_FIELDS: Mapping[str, re.Pattern[str]] = {
    # As the store counts: it takes no other digits, and no zeros before them.
    **dict.fromkeys(_META_COUNTS, re.compile(r"0|[1-9][0-9]{0,14}")),
    **dict.fromkeys(META_TIMES, re.compile(r"[0-9]{1,15}(\.[0-9]+)?(e[+-]?[0-9]{1,2})?")),
    "active_agent": re.compile(r".{1,200}"),
    "migrated_to": re.compile(r"-?[0-9]{1,19}"),
}
"""Of a context's `meta` what a file carries; `revision` is a fence of the store and no memory."""

LATEST = 2**37
"""Unix seconds that no time of a file reaches: the year 6325. From the year 10000 on no time can be told as a date."""

_LONGEST_PROBLEM = 200
_MOST_PARTS = 1000
"""Messages of Telegram as which one of ours is shown, at most: one script takes them all."""


def _sendable(text: str) -> str:
    if well_formed(text) != text:
        raise ValueError("it has half a character, a lone surrogate, which the store cannot be sent")
    return text


_Whole = Annotated[int, Field(ge=0, lt=2**53)]
_Seconds = Annotated[float, Field(ge=0, lt=LATEST, allow_inf_nan=False)]
_Text = Annotated[str, AfterValidator(_sendable)]
"""What goes to the store as it is; what goes there as JSON may have any character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Whose file it is. `chat` and `title` are as an operator knows them, `context` is the context's id."""

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
    """The context's own facts, as strings: META_FIELDS."""

    meta: dict[str, _Text]
    kind: Literal["context"] = "context"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLine:
    """A message, the Telegram ids under which it is shown, what it is noted to quote (a Telegram id), and which messages
    quote it by its own id.
    """

    sequence: _Whole
    message: Message
    kind: Literal["message"] = "message"
    telegram_ids: Annotated[tuple[_Whole, ...], Field(max_length=_MOST_PARTS)] = ()
    quotes: _Whole | None = None
    quoted_by: tuple[_Text, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """What one turn called."""

    first_sequence: _Whole
    last_sequence: _Whole
    entries: tuple[LedgerEntry, ...]
    kind: Literal["ledger"] = "ledger"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLine:
    """Who wrote here: the name that is kept, and how many messages are counted of them."""

    id: int
    kind: Literal["person"] = "person"
    name: _Text | None = None
    messages: _Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLine:
    """The sequence at which a session began."""

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
    """An artifact, whose pieces follow at once."""

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
    """What was heard, and where it stands."""

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
    """The file's first line."""
    return dump_line(asdict(header))


def dump_body(line: BodyLine) -> str:
    """A line of the body as ASCII JSON; a message has the form that it has at rest."""
    fields = {name: value for name, value in asdict(line).items() if value is not None}
    if isinstance(line, MessageLine):
        fields["message"] = json.loads(dump_json(Message, line.message))
        fields = {name: value for name, value in fields.items() if value != ()}
    return dump_line({"kind": fields.pop("kind"), **fields})


def parse_header(fields: Mapping[str, Any]) -> Header:
    """The header in this object. Raises ValueError with where it is wrong, and never with what stands there."""
    try:
        return _HEADER.validate_python(fields)
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from None


def parse_body(fields: Mapping[str, Any]) -> BodyLine:
    """The line of the body in this object; raises as `parse_header` does."""
    try:
        return _BODY.validate_python(fields)
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from None


def dump_line(fields: Mapping[str, object]) -> str:
    """One line of ASCII JSON."""
    return json.dumps(fields, separators=(",", ":"))


def _first_problem(error: ValidationError) -> str:
    """Where and what, without the value: a file's words do not belong into a terminal's history."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"].startswith("union_tag"):  # its message quotes the value
        return "the line's kind is none of ours"
    place = ".".join(str(part) for part in first["loc"])
    return (f"{place}: {first['msg']}" if place else first["msg"])[:_LONGEST_PROBLEM]
