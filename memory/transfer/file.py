"""The file of one context: a header, one line of JSON for each record, and an end with counts and SHA-256."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TextIO, cast
from uuid import UUID

from memory.artifacts.store import PIECE
from memory.transfer.lines import (
    FORMAT,
    KINDS,
    LATEST,
    META_FIELDS,
    META_TIMES,
    ArtifactLine,
    BodyLine,
    ContextLine,
    Header,
    HeardFileLine,
    LedgerLine,
    MessageLine,
    PersonLine,
    PieceLine,
    SessionLine,
    SummaryLine,
    dump_line,
    parse_body,
    parse_header,
)

LONGEST_LINE = 64 * 1024 * 1024
"""Limit of the characters of a line. The longest line of ours, a full piece of an artifact, has 600,000."""

_ARTIFACT_ID = re.compile(r"a[0-9a-f]{11}")
_MOST_TOKENS = 2**31


class BadFile(ValueError):
    """The file is incomplete, of another version, or has impossible contents."""

    def __init__(self, what: str, *, line: int | None = None) -> None:
        self.line = line
        super().__init__(what if line is None else f"line {line:,}: {what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """Header and counts of a checked file."""

    header: Header
    meta: Mapping[str, str]
    counts: Mapping[str, int]


@dataclass(slots=True, kw_only=True)
class Seal:
    """Counts and hashes the lines of the body."""

    counts: Counter[str] = field(default_factory=Counter[str])
    digest: Any = field(default_factory=hashlib.sha256)

    def take(self, kind: str, line: str) -> None:
        """Add one line of the body, without its line end."""
        self.counts[kind] += 1
        self.digest.update(line.encode() + b"\n")

    def end(self) -> str:
        """Return the last line of the file."""
        counts = {kind: self.counts[kind] for kind in KINDS}
        return dump_line({"kind": "end", "counts": counts, "sha256": self.digest.hexdigest()})


def read_lines(stream: TextIO) -> Iterator[str]:
    """Return the stream's lines; a line that is too long is cut just above the limit."""
    return iter(partial(stream.readline, LONGEST_LINE + 2), "")


def read_header(line: str) -> Header:
    """Parse the first line. Raises BadFile if it is not a header, or of another version."""
    fields = _object(line, 1)
    if fields.get("kind") != "header":
        raise BadFile("this is not the header of a context's file", line=1)
    if fields.get("format") != FORMAT:
        raise BadFile(f"the form {fields.get('format')!r:.40} is not known here: {FORMAT} is", line=1)
    try:
        return parse_header(fields)
    except ValueError as error:
        raise BadFile(str(error), line=1) from None


def read_body(lines: Iterable[str]) -> Iterator[tuple[int, BodyLine]]:
    """Yield the numbered lines between header and end. Raises BadFile if the file breaks off or was changed.

    Lines are yielded before the end has proved them: call `check_file` first if you must not act on a damaged file.
    """
    seal, ended, number = Seal(), False, 0
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n")
        if number == 1:
            continue
        if ended:
            raise BadFile("something follows the end", line=number)
        fields = _object(line, number)
        if fields.get("kind") == "end":
            if line != seal.end():
                raise BadFile(
                    "the end's counts and SHA-256 are not those of what comes before it", line=number
                )
            ended = True
            continue
        try:
            parsed = parse_body(fields)
        except ValueError as error:
            raise BadFile(str(error), line=number) from None
        seal.take(parsed.kind, line)
        yield number, parsed
    if not ended:
        raise BadFile(f"the file breaks off after line {number:,}: its end is missing")


def check_file(lines: Iterable[str]) -> FileFacts:
    """Check the whole file without a store. Raises BadFile with the line's number and the mistake."""
    iterator = iter(lines)
    first = next(iterator, "")
    header = read_header(first)
    check = _Check()
    for number, line in read_body(_again(first, iterator)):
        try:
            check.take(line)
        except ValueError as error:
            raise BadFile(str(error), line=number) from None
    try:
        check.end()
    except ValueError as error:
        raise BadFile(str(error)) from None
    counts = {kind: check.counts[kind] for kind in KINDS}
    return FileFacts(header=header, meta=check.meta or {}, counts=counts)


@dataclass(slots=True, kw_only=True)
class _Check:
    """Checks across lines: ascending sequences, no duplicates, all within the context's sequences."""

    meta: dict[str, str] | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    last: dict[str, int] = field(default_factory=dict[str, int])
    ids: set[str] = field(default_factory=set[str])
    artifact: ArtifactLine | None = None
    pieces: int = 0
    length: int = 0

    def take(self, line: BodyLine) -> None:
        """Raise ValueError for a line that is wrong at this place."""
        if isinstance(line, ContextLine) is not (self.meta is None):
            raise ValueError("the context's own line comes first, and once")
        if isinstance(line, PieceLine):
            self._piece(line)
            return
        self._whole_artifact()
        self.counts[line.kind] += 1
        match line:
            case ContextLine():
                self.meta = _checked_meta(line.meta)
            case MessageLine():
                self._message(line)
            case LedgerLine():
                self._ledger(line)
            case SessionLine():
                self._ascending("session", line.sequence)
            case SummaryLine():
                self._summary(line)
            case _:
                self._unordered(line)

    def end(self) -> None:
        """Raise ValueError if something is missing at the end."""
        if self.meta is None:
            raise ValueError("the context's own line is missing")
        self._whole_artifact()

    def _unordered(self, line: ArtifactLine | PersonLine | HeardFileLine) -> None:
        match line:
            case ArtifactLine():
                _check_artifact_id(line.id)
                self._once(line.id)
                if line.pieces != -(-line.length // PIECE):
                    raise ValueError(f"{line.length:,} characters do not make {line.pieces:,} pieces")
                self.artifact, self.pieces, self.length = line, 0, 0
            case PersonLine():
                self._once(f"person {line.id}")
            case HeardFileLine():
                self._once(f"heard {line.score}")
                _check_time(line.line.sent_at)

    def _message(self, line: MessageLine) -> None:
        self._ascending("message", line.sequence)
        message = line.message
        _check_uuid(message.id)
        self._once(message.id)
        _check_time(message.sent_at)
        _check_time(message.edited_at or 0)
        _check_tokens(message.tokens)

    def _ledger(self, line: LedgerLine) -> None:
        self._ascending("ledger", line.last_sequence)
        if line.first_sequence > line.last_sequence:
            raise ValueError("a turn's first sequence is after its last one")
        if not line.entries:
            raise ValueError("a turn that called nothing has no line")
        for entry in line.entries:
            if entry.artifact_id:
                _check_artifact_id(entry.artifact_id)

    def _summary(self, line: SummaryLine) -> None:
        self._ascending("summary", line.upto)
        if line.upto != line.summary.upto_sequence:
            raise ValueError("a summary does not reach as far as its line says")
        _check_uuid(line.summary.id)
        self._once(f"summary {line.summary.id}")
        _check_time(line.summary.created_at)
        _check_tokens(line.summary.tokens)

    def _piece(self, line: PieceLine) -> None:
        if self.artifact is None or line.artifact != self.artifact.id or line.number != self.pieces:
            raise ValueError("a piece stands where another one, or none, is expected")
        if len(line.text) != min(PIECE, self.artifact.length - self.length):
            raise ValueError("a piece is shorter or longer than it can be there")
        self.counts["piece"] += 1
        self.pieces, self.length = self.pieces + 1, self.length + len(line.text)

    def _whole_artifact(self) -> None:
        """Raise ValueError if the previous artifact is incomplete."""
        if self.artifact is not None and (self.pieces, self.length) != (
            self.artifact.pieces,
            self.artifact.length,
        ):
            raise ValueError(f"the artifact {self.artifact.id} is not whole")
        self.artifact = None

    def _ascending(self, what: str, sequence: int) -> None:
        if sequence <= self.last.get(what, -1):
            raise ValueError(f"the sequence {sequence} of a {what} does not come after the one before")
        if self.meta is not None and sequence >= int(self.meta.get("next_sequence", "0")):
            raise ValueError(f"the sequence {sequence} of a {what} is beyond the context's own")
        self.last[what] = sequence

    def _once(self, what: str) -> None:
        if what in self.ids:
            raise ValueError(f"{what} occurs twice")
        self.ids.add(what)


def _checked_meta(meta: Mapping[str, str]) -> dict[str, str]:
    for name, value in meta.items():
        pattern = META_FIELDS.get(name)
        if pattern is None or not pattern.fullmatch(value):
            raise ValueError(f"the context's {name[:40]!r} is not what it can be")
        if name in META_TIMES:
            _check_time(float(value))
    return dict(meta)


def _check_uuid(text: str) -> None:
    try:
        is_one = str(UUID(text)) == text
    except ValueError:
        is_one = False
    if not is_one:
        raise ValueError("the id of a message or summary is not a UUID")


def _check_artifact_id(text: str) -> None:
    if not _ARTIFACT_ID.fullmatch(text):
        raise ValueError("an artifact's id is not one of ours")


def _check_time(seconds: float) -> None:
    """Raise ValueError for a time out of range, or NaN."""
    if not 0 <= seconds < LATEST:
        raise ValueError("a time is before 1970, or so late that it cannot be told")


def _check_tokens(count: int) -> None:
    if not 0 <= count < _MOST_TOKENS:
        raise ValueError("the tokens are not so many as a text can have")


def _object(line: str, number: int) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise BadFile("this line is longer than any of ours", line=number)
    try:
        fields: object = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise BadFile("this is not JSON", line=number) from None
    if not isinstance(fields, dict):
        raise BadFile("this is not a JSON object", line=number)
    return cast("dict[str, Any]", fields)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest
