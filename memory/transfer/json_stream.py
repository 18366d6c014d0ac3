"""Reads JSON piece by piece, with bounds on depth, texts and objects. The one door to ijson."""

import re
from collections.abc import Iterator
from typing import Any, Protocol

import ijson  # pyright: ignore[reportMissingTypeStubs]

LONGEST_TEXT = 64_000_000
"""Bytes that may pass without the end of a text or number."""
_DEEPEST = 64
_BUFFER = 65_536
_COST_OF_VALUE = 64
"""Bytes that each value of an object costs besides its text, about."""
_BEGINNINGS, _ENDS = frozenset(["start_map", "start_array"]), frozenset(["end_map", "end_array"])
_LONGEST_HELD = 4_096
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_BARE_NAME = re.compile(rb'("document_id": )([^"\s\d\\][^"\n\\]*)')


class BadJson(ValueError):
    """The file is no JSON, or JSON that nobody writes by accident."""


class CutJson(BadJson):
    """The file ends in the middle of a value."""


class ObjectTooLarge(BadJson):
    """One object has more than the caller takes. The reader stands after it."""


class ByteSource(Protocol):
    """A file to read from."""

    def read(self, size: int, /) -> bytes: ...


class JsonReader:
    """A cursor over the events of one JSON document. Methods raise BadJson and CutJson."""

    def __init__(self, source: ByteSource) -> None:
        self._source = _Watched(source)
        self._depth = 0
        self._events: Iterator[tuple[str, Any]] = ijson.basic_parse(
            self._source, use_float=True, buf_size=_BUFFER
        )

    def next(self) -> tuple[str, Any]:
        """Return the next event and its value, as ijson names them."""
        try:
            event = next(self._events)
        except BadJson:
            raise
        except StopIteration:
            raise CutJson("it ends in the middle") from None
        except (ijson.JSONError, ValueError, OverflowError) as error:
            raise self._translated(error) from None
        self._source.since_event = 0
        if event[0] in _BEGINNINGS:
            self._depth += 1
            if self._depth > _DEEPEST:
                raise BadJson("its values are nested too deeply")
        elif event[0] in _ENDS:
            self._depth -= 1
        return event

    def _translated(self, error: Exception) -> BadJson:
        if isinstance(error, ijson.IncompleteJSONError) and (
            "premature EOF" in str(error) or self._source.has_ended
        ):
            return CutJson("it ends in the middle")
        return BadJson("it is not valid JSON")

    def end(self) -> None:
        """Read the end of the document. Raises BadJson if there is something after it."""
        try:
            for _ in self._events:
                raise BadJson("it has something after its end")
        except BadJson:
            raise
        except (ijson.JSONError, ValueError):
            raise BadJson("it has something after its end") from None

    def fields(self) -> Iterator[str]:
        """Yield the names of an object that has begun. Read or skip the value after each."""
        while (event := self.next())[0] != "end_map":
            yield event[1]

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the first event of each item of a list that has begun. Read or skip the rest of each."""
        while (event := self.next())[0] != "end_array":
            yield event

    def skip(self, event: tuple[str, Any]) -> None:
        """Skip the rest of the value that this event begins."""
        if event[0] in _BEGINNINGS:
            outside = self._depth - 1
            while self._depth > outside:
                self.next()

    def value(self, event: tuple[str, Any], *, at_most: int) -> Any:
        """Return the value that this event begins. Raises ObjectTooLarge after skipping one of more than `at_most`."""
        if event[0] not in _BEGINNINGS:
            return event[1]
        outside = self._depth - 1
        built, left = self._build(event[0], at_most)
        if left >= 0:
            return built
        while self._depth > outside:
            self.next()
        raise ObjectTooLarge("an object in it is too large")

    def _build(self, kind: str, left: int) -> tuple[Any, int]:
        """Return the value, and what is left of `left`; below 0 the value has not ended."""
        root: Any = {} if kind == "start_map" else []
        open_values: list[tuple[Any, str]] = []
        value: Any = root
        key, take = "", self.next
        while True:
            event, found = take()
            if event == "map_key":
                key = found
                left -= len(key)
                continue
            if event in _ENDS:
                if not open_values:
                    return root, left
                value, kind = open_values.pop()
                continue
            left -= _COST_OF_VALUE + (len(found) if event == "string" else 0)
            if left < 0:
                return None, left
            if event in _BEGINNINGS:
                found = dict[str, Any]() if event == "start_map" else list[Any]()
            if kind == "start_map":
                value[key] = found
            else:
                value.append(found)
            if event in _BEGINNINGS:
                open_values.append((value, kind))
                value, kind = found, event


class _Watched:
    """A source without a byte order mark that refuses a value without an end.

    It mends two mistakes of Telegram Desktop: `\\x01` in texts (telegramdesktop/tdesktop#27571), and names of files
    without quotation marks (telegramdesktop/tdesktop#24961).
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._held: bytes | None = None
        self.since_event = 0
        self.has_ended = False

    def read(self, size: int, /) -> bytes:
        if not size:  # ijson asks for nothing to see if it gets bytes
            return b""
        while not self.has_ended:
            piece = self._source.read(size)
            if self._held is None:
                self._held, piece = b"", piece.removeprefix(b"\xef\xbb\xbf")
            self.since_event += len(piece)
            if self.since_event > LONGEST_TEXT:
                raise BadJson("a text in it is too long")
            self.has_ended = not piece
            whole = self._held + piece
            end = len(whole) if self.has_ended else _end_of_whole(whole)
            self._held = whole[end:]
            if end:
                return _mended(whole[:end])
        return b""


def _end_of_whole(piece: bytes) -> int:
    """Return where a piece can be cut: at its last line if that is short, and never between backslashes."""
    line = piece.rfind(b"\n") + 1
    if len(piece) - line <= _LONGEST_HELD:
        return line
    return max(len(piece.rstrip(b"\\")), len(piece) - _LONGEST_HELD)


def _mended(piece: bytes) -> bytes:
    if b"\\x" in piece:
        piece = _ESCAPE.sub(lambda found: b"\\u00" if found[1] == b"x" else found[0], piece)
    if b'"document_id": ' in piece:
        piece = _BARE_NAME.sub(rb'\1"\2"', piece)
    return piece
