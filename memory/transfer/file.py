"""The file of one context: a header, one line of JSON for each record, and an end with counts and SHA-256."""

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Literal, TextIO, cast

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from memory.artifacts.store import LARGEST_TEXT, PIECE, Artifact
from memory.history.fact import Fact
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, MetadataValue, check_metadata
from memory.history.summary import Summary
from memory.history.talk import TalkLine
from memory.reminders.reminder import LONGEST_TEXT, Reminder, read_repeats
from memory.zones.clocks import find_zone

LONGEST_LINE = 64 * 1024 * 1024
"""Limit of the characters of a line. The longest line of ours, a full piece of an artifact, has 600,000."""

KINDS = (
    "message",
    "ledger",
    "person",
    "session",
    "summary",
    "artifact",
    "piece",
    "talk",
    "fact",
    "choice",
    "reminder",
)
"""Kinds of the lines that the end counts."""

_FOLLOWERS = {"": "header", "header": "context", "end": "nothing"}
_KEYS = {
    "message": "sequence",
    "ledger": "last_sequence",
    "session": "sequence",
    "summary": "summary.upto_sequence",
    "person": "id",
    "artifact": "id",
    "talk": "score",
    "fact": "fact.id",
    "choice": "name",
    "reminder": "reminder.id",
}
"""Field of each kind whose values ascend. A sequence is also below the context's next one."""

_Whole = Annotated[int, Field(ge=0, lt=2**53)]
_Sequence = Annotated[int, Field(gt=-(2**53), lt=2**53)]
"""Negative for imported messages."""
_Tokens = Annotated[int, Field(ge=0, lt=2**31)]
_Seconds = Annotated[float, Field(ge=0, lt=2**37, allow_inf_nan=False)]
"""Unix seconds up to the year 6325. Dates after the year 9999 cannot be rendered."""
_SenderId = Annotated[int, Field(gt=-(2**63), lt=2**63)]
_Uuid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
_FIRST_YEAR = 2020
"""No reminder is older. The search for dates begins at the first one."""
_FileId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,200}$")]
_ARTIFACT_ID = "^a[0-9a-f]{11}$"


class BadFile(ValueError):
    """The file is incomplete, of another version, or has impossible contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMessage(Message):
    """A message with values that every reader of the store can use. Its id names it in the store."""

    id: _Uuid
    sent_at: _Seconds
    tokens: _Tokens
    edited_at: _Seconds | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict[str, MetadataValue], hash=False)

    def __post_init__(self) -> None:
        """Raise ValueError for metadata that no search can filter by."""
        check_metadata(self.metadata, "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary(Summary):
    """A summary with values that every reader of the store can use."""

    id: _Uuid
    upto_sequence: _Sequence
    tokens: _Tokens
    created_at: _Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTalk(TalkLine):
    """A line of talk with a possible time."""

    sent_at: _Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact(Fact):
    """A fact with values that every reader of the store can use."""

    id: _Uuid
    subject: Annotated[str, Field(max_length=1000)]
    subject_id: _SenderId | None = None
    statement: Annotated[str, Field(max_length=10_000)]
    said_by: _SenderId | None
    message_ids: Annotated[tuple[_Uuid, ...], Field(min_length=1, max_length=1000)]
    valid_from: _Seconds
    valid_to: _Seconds | None = None
    closed_by: Literal[""] | _Uuid = ""
    confidence: Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReminder(Reminder):
    """A reminder with values that its next date can be found from."""

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
    due_at: _Seconds
    person_id: _SenderId
    chat_type: Literal["private", "group", "supergroup"]
    created_at: _Seconds

    def __post_init__(self) -> None:
        """Raise ValueError for dates that nobody could compute."""
        try:
            start = datetime.fromisoformat(self.starts_at)
            is_ours = start.tzinfo is None and start.year >= _FIRST_YEAR
            is_ours = is_ours and find_zone(self.zone).key == self.zone
            is_ours = is_ours and read_repeats(self.repeats) == self.repeats
        except ValueError:
            is_ours = False
        if not is_ours:
            raise ValueError("the zone, the start or the rule is not one of ours")


class Header(BaseModel, frozen=True):
    """First line: the chat and title that operators know, and the id of the context."""

    format: Literal[2]
    """Version of the file format; another version is refused."""
    kind: Literal["header"] = "header"
    version: str = ""
    exported_at: str = ""
    chat: str = ""
    title: str = ""
    context: str = ""
    registered_at: _Seconds | None = None
    reset_at: _Seconds | None = None
    """Time of the context's last reset before the export."""


class ContextLine(BaseModel, frozen=True):
    """Fields of the context's `meta`. `revision` is left out: it only separates the writers of one store."""

    kind: Literal["context"] = "context"
    next_sequence: _Whole = 0
    """All sequences of the file are lower."""
    first_sequence: Annotated[int, Field(gt=-(2**53), le=0)] | None = None
    conversation_start: _Whole | None = None
    session_start: _Whole | None = None
    summary_failures: _Whole | None = None
    summary_failed_at: _Whole | None = None
    created_at: _Seconds | None = None
    last_sent_at: _Seconds | None = None
    active_agent: Annotated[str, Field(max_length=200)] | None = None
    model: Annotated[str, Field(max_length=200)] | None = None
    """The model that people have chosen."""
    migrated_to: Annotated[int, Field(gt=-(2**63), lt=2**63)] | None = None
    facts_from: _Sequence | None = None


class MessageLine(BaseModel, frozen=True):
    """A message with its entries in the index of Telegram ids."""

    sequence: _Sequence
    message: FileMessage
    kind: Literal["message"] = "message"
    telegram_ids: Annotated[tuple[_Whole, ...], Field(max_length=1000)] = ()
    """One script takes them all."""
    quotes: _Whole | None = None
    """Telegram id of the message that it quotes."""
    quoted_by: tuple[str, ...] = ()
    """Messages that quote it by its own id."""
    is_unread: bool = False
    """True if it is not read for facts yet."""
    photos: Annotated[tuple[_FileId, ...], Field(max_length=1000)] = ()
    """Telegram's file ids of the photos that the bot sent with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine(LedgerTurn):
    """Calls of one turn."""

    first_sequence: _Whole
    last_sequence: _Whole
    entries: Annotated[tuple[LedgerEntry, ...], Field(min_length=1)]
    kind: Literal["ledger"] = "ledger"

    def __post_init__(self) -> None:
        """Raise ValueError for a turn that no script could erase."""
        if self.first_sequence > self.last_sequence:
            raise ValueError("a turn's first sequence is after its last one")
        if not all(re.fullmatch(f"|{_ARTIFACT_ID}", entry.artifact_id) for entry in self.entries):
            raise ValueError("an artifact's id is not one of ours")


class PersonLine(BaseModel, frozen=True):
    """A sender: the stored name, and the count of their messages."""

    id: int
    kind: Literal["person"] = "person"
    name: str | None = None
    messages: _Whole | None = None


class SessionLine(BaseModel, frozen=True):
    """Sequence at which a session began."""

    sequence: _Sequence
    kind: Literal["session"] = "session"


class SummaryLine(BaseModel, frozen=True):
    """A summary of the lineage, with the ids of the messages that it added."""

    summary: FileSummary
    covers: tuple[str, ...]
    kind: Literal["summary"] = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactLine(Artifact):
    """An artifact; its pieces follow."""

    id: Annotated[str, Field(pattern=_ARTIFACT_ID)]
    length: Annotated[int, Field(ge=0, le=LARGEST_TEXT)]
    ends_at: _Seconds
    kind: Literal["artifact"] = "artifact"


class PieceLine(BaseModel, frozen=True):
    """A piece of the artifact before it."""

    artifact: str
    number: _Whole
    text: str
    kind: Literal["piece"] = "piece"


class TalkFileLine(BaseModel, frozen=True):
    """A line of talk with its score."""

    score: _Whole
    line: FileTalk
    kind: Literal["talk"] = "talk"


class FactLine(BaseModel, frozen=True):
    """A fact, after the messages that it cites."""

    fact: FileFact
    kind: Literal["fact"] = "fact"


class ChoiceLine(BaseModel, frozen=True):
    """A choice about facts of the context (`facts`) or of a person (`off:` and the sender id), or about retention."""

    name: Annotated[str, Field(pattern=r"^(facts|retention|off:-?[0-9]{1,18})$")]
    value: Annotated[str, Field(pattern=r"^(on|off|[0-9]{1,5}( facts)?)$")]
    kind: Literal["choice"] = "choice"


class ReminderLine(BaseModel, frozen=True):
    """A reminder that waits."""

    reminder: FileReminder
    kind: Literal["reminder"] = "reminder"


class EndLine(BaseModel, frozen=True):
    """Last line: the lines of each kind, and the SHA-256 of all lines after the header."""

    counts: Any
    sha256: str
    kind: Literal["end"] = "end"


_HistoryLine = ContextLine | MessageLine | LedgerLine | SessionLine | SummaryLine | TalkFileLine
BodyLine = _HistoryLine | PersonLine | ArtifactLine | PieceLine | FactLine | ChoiceLine | ReminderLine
FileLine = Header | BodyLine | EndLine

_LINE: TypeAdapter[FileLine] = TypeAdapter(Annotated[FileLine, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """Header, context and counts of a checked file."""

    header: Header
    context: ContextLine
    counts: dict[str, int]


@dataclass(slots=True, kw_only=True)
class Seal:
    """Counts and hashes the lines between header and end."""

    counts: Counter[str] = field(default_factory=Counter[str])
    digest: Any = field(default_factory=hashlib.sha256)

    def take(self, kind: str, line: str) -> None:
        """Add one line, without its line end."""
        self.counts[kind] += 1
        self.digest.update(line.encode() + b"\n")

    def end(self) -> EndLine:
        """Return the last line of the file."""
        return EndLine(counts={kind: self.counts[kind] for kind in KINDS}, sha256=self.digest.hexdigest())


def dump_line(line: FileLine) -> str:
    """Return the line as ASCII JSON, without fields that equal their default."""
    fields = _LINE.dump_python(line, exclude_defaults=True)
    return json.dumps({"kind": line.kind, **fields}, separators=(",", ":"))


def split_lines(stream: TextIO) -> Iterator[str]:
    """Yield the stream's lines; a line that is too long is cut just above the limit."""
    return iter(partial(stream.readline, LONGEST_LINE + 2), "")


def read_file(lines: Iterable[str]) -> Iterator[FileLine]:
    """Yield all lines of the file. Raises BadFile if the file breaks off or has a wrong line.

    Lines are yielded before the end has proved them: call `check_file` first if you must not act on a damaged file.
    """
    check, number = _Check(), 0
    for number, text in enumerate(lines, start=1):
        try:
            line = check.take(text.rstrip("\r\n"))
        except ValueError as error:
            raise BadFile(f"line {number:,}: {error}") from None
        yield line
    if check.previous != "end":
        raise BadFile(f"the file breaks off after line {number:,}: its end is missing")


def check_file(lines: Iterable[str]) -> FileFacts:
    """Check the whole file without a store. Raises BadFile with the line's number and the mistake."""
    iterator = read_file(lines)
    header, context = next(iterator, None), next(iterator, None)
    counts = Counter(line.kind for line in iterator)
    if not isinstance(header, Header) or not isinstance(context, ContextLine):
        raise BadFile("the file is empty")
    return FileFacts(header=header, context=context, counts={kind: counts[kind] for kind in KINDS})


@dataclass(slots=True, kw_only=True)
class _Check:
    """Rules between lines: the order of kinds and records, no duplicates, whole artifacts, and the seal."""

    seal: Seal = field(default_factory=Seal)
    next_sequence: int = 0
    previous: str = ""
    """Kind of the line before."""
    keys: dict[str, Any] = field(default_factory=dict[str, Any])
    """Last value of each kind's field of _KEYS."""
    ids: set[str] = field(default_factory=set[str])
    facts: set[str] = field(default_factory=set[str])
    closers: set[str] = field(default_factory=set[str])
    """Facts that have closed others."""
    pieces: deque[tuple[str, int, int]] = field(default_factory=deque[tuple[str, int, int]])
    """Artifact, number and length of the pieces that must follow."""

    def take(self, text: str) -> FileLine:
        """Return the parsed line. Raises ValueError for a line that is wrong at this place."""
        line = _parse(text)
        wanted = _FOLLOWERS.get(self.previous)
        if line.kind != wanted and (wanted or line.kind in _FOLLOWERS.values()):
            raise ValueError("header and context come first, each once, and nothing follows the end")
        if self.pieces and not isinstance(line, PieceLine):
            raise ValueError("the artifact before it is incomplete")
        if isinstance(line, EndLine):
            if not _is_sealed(line, self.seal.end()):
                raise ValueError("the end's counts and SHA-256 are not those of the lines before it")
            if not self.closers <= self.facts:
                raise ValueError("a fact is closed by one that is not in the file")
        elif not isinstance(line, Header):
            self._check_record(line)
            self.seal.take(line.kind, text)
        self.previous = line.kind
        return line

    def _check_record(self, line: BodyLine) -> None:
        match line:
            case ContextLine():
                self.next_sequence = line.next_sequence
            case PieceLine():
                if not self.pieces or self.pieces.popleft() != (line.artifact, line.number, len(line.text)):
                    raise ValueError("a piece is not the next one of its artifact, or has another length")
            case _:
                self._check_key(line.kind, attrgetter(_KEYS[line.kind])(line))
        if isinstance(line, ArtifactLine):
            lengths = (min(PIECE, line.length - start) for start in range(0, line.length, PIECE))
            self.pieces.extend((line.id, number, length) for number, length in enumerate(lengths))
        elif isinstance(line, MessageLine):
            if line.message.id in self.ids:
                raise ValueError("the id of the message occurs twice")
            self.ids.add(line.message.id)
        elif isinstance(line, FactLine):
            self._check_fact(line.fact)

    def _check_fact(self, fact: FileFact) -> None:
        if not self.ids.issuperset(fact.message_ids) or len(set(fact.message_ids)) < len(fact.message_ids):
            raise ValueError("a fact cites a message that is not before it, or one twice")
        if (fact.valid_to is None) != (fact.closed_by == ""):
            raise ValueError("a fact has an end, or a fact that closed it, and not both")
        self.facts.add(fact.id)
        if fact.closed_by:
            self.closers.add(fact.closed_by)

    def _check_key(self, kind: str, key: Any) -> None:
        if kind in self.keys and key <= self.keys[kind]:
            raise ValueError(f"the {_KEYS[kind]} of a line of kind {kind} is not after the one before")
        if "sequence" in _KEYS[kind] and key >= self.next_sequence:
            raise ValueError(f"the {_KEYS[kind]} of a line of kind {kind} is beyond the context's own")
        self.keys[kind] = key


def _is_sealed(line: EndLine, seal: EndLine) -> bool:
    """Return True if the end has these counts and this SHA-256. Older files do not count each kind."""
    if not isinstance(line.counts, dict):
        return False
    counts = cast("dict[str, Any]", line.counts)
    return {**dict.fromkeys(KINDS, 0), **counts} == seal.counts and line.sha256 == seal.sha256


def _parse(text: str) -> FileLine:
    """Raise ValueError with the field of the mistake, without the value: it must not end up in a terminal."""
    if len(text) > LONGEST_LINE:
        raise ValueError("this line is longer than any of ours")
    try:
        return _LINE.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"].startswith("union_tag"):  # its message quotes the value
        raise ValueError("the line's kind is none of ours")
    if first["type"] == "json_invalid":
        raise ValueError("this is not JSON, or has half a character (a lone surrogate)")
    place = ".".join(str(part) for part in first["loc"])
    raise ValueError(f"{place}: {first['msg']}" if place else first["msg"])
