"""The points of one tenant as arrays, and searches over them.

A tenant is the points with one value in the field that has this role in Qdrant: the messages of one chat.
"""

import math
import struct
import time
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, Literal, Protocol, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.embedded.index import requests

Fields = Mapping[str, str]
"""The indexed payload fields, each with its type: keyword, integer or float."""
Bools = NDArray[np.bool_]
"""One value for each row."""
Floats = NDArray[np.float32]
Ranking = tuple[NDArray[np.intp], Floats]
"""Rows with their scores, in the order of the rows."""

_POINT_BYTES = 1_500
"""Estimated size of a point without its dense vectors."""
_FIRST_ROWS = 64
_NO_VALUE = {"keyword": -1, "integer": -(2**63), "float": math.nan}
_ENTRY = struct.Struct("<If")
_ENTRIES = np.dtype([("row", "<u4"), ("weight", "<f4")])
"""A row that has a term, and the term's weight there."""


class Unsuitable(Exception):
    """A value, or a request, that only the engine can deal with."""


class SparseVector(Protocol):
    """A sparse vector of a request or of the engine."""

    @property
    def indices(self) -> Sequence[int]: ...
    @property
    def values(self) -> Sequence[float]: ...


class Tenant:
    """The points of one tenant, a row for each. A point that is replaced or removed leaves an empty row."""

    def __init__(
        self, key: str, field: str, fields: Fields, settings: requests.CollectionSettings, *, points: int = 0
    ) -> None:
        self.key = key
        self._own = requests.FieldMatch(key=field, match=requests.MatchValue(value=key))
        """The condition that all its points match."""
        self.is_complete = False
        """False while it is filled: the engine answers until then."""
        self.used_at = time.monotonic()
        self._ids: list[str | int] = []
        self._rows: dict[str | int, int] = {}
        self._others: list[dict[str, Any]] = []
        self._present = _Rows(np.bool_, points)
        self._selected: tuple[requests.Filter, Bools] | None = None
        """The last filter since a write, and its rows."""
        self._columns = {name: _Column(kind, points) for name, kind in fields.items()}
        self._dense = {
            name: _Rows(np.float32, points, params.size) for name, params in settings.vectors.items()
        }
        self._terms = {
            name: _Terms(has_idf=bool(params.modifier)) for name, params in settings.sparse_vectors.items()
        }
        self._has = {name: _Rows(np.bool_, points) for name in (*self._dense, *self._terms)}

    @property
    def is_hollow(self) -> bool:
        """True if more than half of its rows are empty."""
        return len(self._rows) * 2 < len(self._ids)

    @property
    def point_bytes(self) -> int:
        """The estimated size of a point in memory."""
        return _POINT_BYTES + sum(each.width * 4 for each in self._dense.values())

    @property
    def bytes(self) -> int:
        """The estimated size in memory."""
        return self._present.capacity * self.point_bytes

    def put(self, point_id: str | int | UUID, vector: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        """Add or replace a point. Raises Unsuitable for a payload value that is not of its field's type."""
        name = plain(point_id)
        self.remove([name])
        self._selected = None
        for field, column in self._columns.items():
            column.append(payload.get(field))
        for field, vectors in self._dense.items():
            vectors.append(_unit(vector[field]) if field in vector else 0.0)
        for field, terms in self._terms.items():
            if field in vector:
                terms.append(len(self._ids), vector[field])
        for field, present in self._has.items():
            present.append(field in vector)
        self._present.append(True)
        self._others.append({key: value for key, value in payload.items() if key not in self._columns})
        self._rows[name] = len(self._ids)
        self._ids.append(name)

    def remove(self, names: Sequence[str | int]) -> None:
        """Empty the rows of these points, as far as it has them. Nothing of them stays in memory."""
        if self._rows.keys().isdisjoint(names):
            return
        rows = [self._rows.pop(name) for name in names if name in self._rows]
        self._selected = None
        for row in rows:
            self._ids[row] = ""
            self._others[row] = {}
            for column in self._columns.values():
                column.clear(row)
        for values in (self._present, *self._has.values(), *self._dense.values()):
            values.values[rows] = 0
        for terms in self._terms.values():
            terms.remove(rows)

    def delete(self, scope: requests.Filter) -> None:
        """Remove the points of a filter. Raises Unsuitable."""
        self.remove([self._ids[row] for row in np.flatnonzero(self._select(scope)).tolist()])

    def search(self, search: requests.Search) -> list[dict[str, Any]]:
        """Answer a search as the engine does. Raises Unsuitable."""
        selected = self._select(search.filter)
        if search.query is None:
            rows = sorted(np.flatnonzero(selected).tolist(), key=self._order)[: search.limit]
            return self._hits(rows, [1.0] * len(rows), search.with_payload)
        query, using = search.query.nearest, search.using or ""
        if isinstance(query, requests.Sparse):
            rows, scores = self._by_terms(query, using, selected, search.params)
        else:
            rows, scores = self._by_vector(query, using, selected)
        if len(rows) > search.limit:
            best = np.argpartition(scores, -search.limit)[-search.limit :]
            rows, scores = rows[best], scores[best]
        order = np.argsort(-scores, kind="stable")
        return self._hits(rows[order].tolist(), scores[order].tolist(), search.with_payload)

    def _by_vector(self, query: Sequence[float], using: str, selected: Bools) -> Ranking:
        vectors = self._dense.get(using)
        if vectors is None or len(query) != vectors.width:
            raise Unsuitable
        rows = np.flatnonzero(selected & self._has[using].values)
        unit = _unit(query)
        # Unlike the product with a matrix, vecdot gives equal vectors equal scores.
        if len(rows) * 4 < len(selected):  # a copy of few rows is cheaper than the product with all
            return rows, np.vecdot(vectors.values[rows], unit)
        return rows, np.vecdot(vectors.values, unit)[rows]

    def _by_terms(
        self, query: SparseVector, using: str, selected: Bools, params: requests.SearchParams | None
    ) -> Ranking:
        terms = self._terms.get(using)
        idf = params.idf if params else None
        if terms is None or terms.has_idf != (idf is not None):
            raise Unsuitable
        corpus = None if idf is None else self._has[using].values & self._select(idf.corpus)
        return terms.search(query, selected, corpus)

    def _select(self, scope: requests.Filter) -> Bools:
        """Return the rows of a filter. The searches of a batch have the same one: it is looked up once."""
        if self._selected is not None and self._selected[0] == scope:
            return self._selected[1]
        selected = self._present.values.copy()
        for condition in scope.must:
            if condition != self._own:
                selected &= self._matches(condition)
        for condition in scope.must_not:
            selected &= ~self._matches(condition)
        self._selected = scope, selected
        return selected

    def _matches(self, condition: requests.Condition) -> Bools:
        match condition:
            case requests.FieldMatch(key=key) if key in self._columns:
                match condition.match:
                    case requests.MatchValue(value=value):
                        return self._columns[key].equals([value])
                    case requests.MatchAny(any=values):
                        return self._columns[key].equals(values)
            case requests.FieldRange(key=key) if key in self._columns:
                return self._columns[key].within(condition.range)
            case requests.HasId():
                selected = np.zeros(len(self._ids), np.bool_)
                names = (plain(each) for each in condition.has_id)
                selected[[self._rows[name] for name in names if name in self._rows]] = True
                return selected
            case requests.HasVector(has_vector=name) if name in self._has:
                return self._has[name].values
            case _:
                raise Unsuitable

    def _hits(
        self, rows: Sequence[int], scores: Sequence[float], fields: bool | list[str]
    ) -> list[dict[str, Any]]:
        if fields is True:
            raise Unsuitable
        payloads = self._payloads(rows, fields) if fields else repeat(None)
        return [
            {"id": self._ids[row], "version": 0, "score": score, "payload": payload}
            for row, score, payload in zip(rows, scores, payloads, strict=False)
        ]

    def _payloads(self, rows: Sequence[int], fields: Sequence[str]) -> list[dict[str, Any]]:
        values = [
            self._columns[name].values_at(rows)
            if name in self._columns
            else [self._others[row].get(name) for row in rows]
            for name in fields
        ]
        return [
            {name: value for name, value in zip(fields, point, strict=True) if value is not None}
            for point in zip(*values, strict=True)
        ]

    def _order(self, row: int) -> tuple[bool, str | int]:
        """Return the engine's order of points: numbers before UUIDs."""
        return isinstance(self._ids[row], str), self._ids[row]


class _Rows:
    """An array that grows: of numbers, or of vectors of `width` numbers. It begins with room for `points` rows."""

    def __init__(self, dtype: type[np.generic], points: int, width: int = 0) -> None:
        self.width = width
        self._count = 0
        self._room: NDArray[Any] = np.empty((_grown(points), width) if width else _grown(points), dtype)

    @property
    def values(self) -> NDArray[Any]:
        """The rows so far. Writes into them are kept."""
        return self._room[: self._count]

    @property
    def capacity(self) -> int:
        """The number of rows that it has room for."""
        return len(self._room)

    def append(self, value: Any) -> None:
        """Add a row."""
        if self._count == len(self._room):
            former, self._room = (
                self._room,
                np.empty((_grown(self._count), *self._room.shape[1:]), self._room.dtype),
            )
            self._room[: self._count] = former
        self._room[self._count] = value
        self._count += 1


def _grown(rows: int) -> int:
    """Return the room for a number of rows: an eighth more, because each growth copies them all."""
    return rows + rows // 8 + _FIRST_ROWS


class _Column:
    """The values of one payload field. Keywords are kept as numbers."""

    def __init__(self, kind: str, points: int) -> None:
        self._kind = kind
        self._keywords: list[str] = []
        self._codes: dict[str, int] = {}
        self._rows = _Rows(np.float64 if kind == "float" else np.int64, points)

    def append(self, value: Any) -> None:
        """Add a value, None for none. Raises Unsuitable for one of another type."""
        match self._kind, value:
            case _, None:
                self._rows.append(_NO_VALUE[self._kind])
            case "keyword", str():
                if value not in self._codes:
                    self._codes[value] = len(self._keywords)
                    self._keywords.append(value)
                self._rows.append(self._codes[value])
            case ("integer", int()) | ("float", int() | float()) if abs(value) < -_NO_VALUE["integer"]:
                self._rows.append(value)
            case _:
                raise Unsuitable

    def clear(self, row: int) -> None:
        """Remove the value of a row."""
        self._rows.values[row] = _NO_VALUE[self._kind]

    def values_at(self, rows: Sequence[int]) -> list[str | int | float | None]:
        """Return the values of these rows, None for none."""
        known = self._has_value(self._rows.values[rows]).tolist()
        values: list[int | float] = self._rows.values[rows].tolist()
        names = self._keywords if self._kind == "keyword" else None
        return [
            (names[int(value)] if names else value) if has else None
            for value, has in zip(values, known, strict=True)
        ]

    def equals(self, wanted: Sequence[str | int]) -> Bools:
        """Return the rows with one of these values."""
        values = self._rows.values
        match self._kind:
            case "keyword":
                codes = [
                    self._codes[each] for each in wanted if isinstance(each, str) and each in self._codes
                ]
            case "integer":
                codes = [each for each in wanted if isinstance(each, int) and each != _NO_VALUE[self._kind]]
            case _:
                raise Unsuitable
        if len(codes) == 1:
            return cast(Bools, values == codes[0])
        return np.isin(values, codes) if codes else np.zeros(len(values), np.bool_)

    def within(self, bounds: Mapping[Literal["gte", "lt"], float]) -> Bools:
        """Return the rows with a number within these bounds."""
        values = self._rows.values
        if self._kind == "keyword":
            return np.zeros(len(values), np.bool_)
        selected = self._has_value(values)
        if (bound := bounds.get("gte")) is not None:
            selected &= values >= bound
        if (bound := bounds.get("lt")) is not None:
            selected &= values < bound
        return selected

    def _has_value(self, values: NDArray[Any]) -> Bools:
        return ~np.isnan(values) if self._kind == "float" else values != _NO_VALUE[self._kind]


class _Terms:
    """The rows of each term of one sparse vector, with the term's weights."""

    def __init__(self, *, has_idf: bool) -> None:
        self.has_idf = has_idf
        self._of: dict[int, bytearray] = {}

    def append(self, row: int, vector: SparseVector) -> None:
        """Add the terms of a row."""
        for index, value in zip(vector.indices, vector.values, strict=True):
            self._of.setdefault(index, bytearray()).extend(_ENTRY.pack(row, value))

    def remove(self, rows: Sequence[int]) -> None:
        """Remove rows: reads the entries of all terms at once, 2 ms for 10,000 points."""
        indices = list(self._of)
        entries = np.frombuffer(b"".join(self._of.values()), _ENTRIES)
        ends = np.cumsum([len(each) // _ENTRY.size for each in self._of.values()])
        gone = np.flatnonzero(np.isin(entries["row"], rows))
        for number in np.unique(np.searchsorted(ends, gone, side="right")).tolist():
            held = np.frombuffer(self._of[indices[number]], _ENTRIES)
            kept = held[~np.isin(held["row"], rows)]
            if len(kept):
                self._of[indices[number]] = bytearray(kept.tobytes())
            else:
                del self._of[indices[number]]

    def search(self, query: SparseVector, selected: Bools, corpus: Bools | None) -> Ranking:
        """Return the selected rows with a term of the query, and their scores.

        With a corpus each term weighs ln((N - n + 0.5) / (n + 0.5) + 1), by the N rows of the corpus of which n have
        the term: https://qdrant.tech/documentation/concepts/indexing/#idf-modifier
        """
        scores = np.zeros(len(selected), np.float32)
        found = np.zeros(len(selected), np.bool_)
        size = 0 if corpus is None else int(corpus.sum())
        for index, value in zip(query.indices, query.values, strict=True):
            entries = np.frombuffer(self._of.get(index, b""), _ENTRIES)
            rows = entries["row"]
            count = 0 if corpus is None else int(corpus[rows].sum())
            rarity = 1.0 if corpus is None else math.log((size - count + 0.5) / (count + 0.5) + 1)
            scores[rows] += np.float32(value * rarity) * entries["weight"]
            found[rows] = True
        rows = np.flatnonzero(selected & found)
        return rows, scores[rows]


def plain(point_id: str | int | UUID) -> str | int:
    """Return an id as JSON has it."""
    return str(point_id) if isinstance(point_id, UUID) else point_id


def _unit(vector: Sequence[float]) -> NDArray[np.float32]:
    """Return the vector with length 1: the product of two is their cosine. The engine leaves tiny ones as they are."""
    values = np.array(vector, np.float32)
    squared = np.dot(values, values)
    return values if squared < np.finfo(np.float32).eps else values / np.sqrt(squared)
