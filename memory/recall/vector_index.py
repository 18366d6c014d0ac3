"""The contract of the index: points with a dense and a sparse vector each, searched within one context."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.errors import RecallUnavailable
from memory.history.message import Role
from memory.recall.lexicon.analysis import SparseVector

TERMS_TOLD = 512
"""Of a message's terms, so many are told with it: a message of 25 words has about ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPoint:
    """What the index keeps of a message: never its text, which lives in Redis alone.

    `sequence` tells its neighbours (the sequences beside it), `session` is the sequence of the first message of
    its stretch of talk. `dense` is None where the embedder reads nothing in the text.
    """

    context_id: str
    epoch: int
    message_id: str
    role: Role
    sender_id: int | None
    sent_at: float
    sequence: int
    session: int
    signs: frozenset[str] = frozenset()
    dense: list[float] | None
    sparse: SparseVector


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which messages may be found, besides those of the context and epoch. Times are Unix seconds, the end not in."""

    before_sequence: int | None = None
    sent_from: float | None = None
    sent_before: float | None = None
    sender_ids: frozenset[int] | None = None
    roles: frozenset[Role] | None = None
    excluded: frozenset[str] = frozenset()

    def admits(self, message: "VectorPoint | Candidate") -> bool:
        """Whether this message may be found."""
        return (
            (self.before_sequence is None or message.sequence < self.before_sequence)
            and (self.sent_from is None or message.sent_at >= self.sent_from)
            and (self.sent_before is None or message.sent_at < self.sent_before)
            and (self.sender_ids is None or message.sender_id in self.sender_ids)
            and (self.roles is None or message.role in self.roles)
            and message.message_id not in self.excluded
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    """A search: the `limit` best of each vector that is given, within one context and one epoch."""

    context_id: str
    epoch: int
    dense: list[float] | None
    sparse: SparseVector | None
    limit: int
    where: Where = Where()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A message that was found, with what the ranker weighs.

    `dense` is the cosine, None where it is not known (no vector, or not among the best); `sparse` is the BM25
    score, 0 where no term is shared or it is not among the best. `terms` are those of the question's terms that the
    message has (among its first TERMS_TOLD), known from `score` only.
    """

    message_id: str
    sequence: int
    session: int
    role: Role
    sender_id: int | None
    sent_at: float
    signs: frozenset[str]
    dense: float | None
    sparse: float
    terms: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorErasure:
    """How many points an erasure found, and how many reading back found after it."""

    found: int
    left: int


class VectorIndex(Protocol):
    """Points of many contexts. Every method raises RecallUnavailable when the index cannot answer now.

    An empty context id raises MissingContext: nothing is read, searched or erased without one.
    """

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Keep these points; returns when they are searchable. The same message again replaces its point."""
        ...

    async def search(self, query: VectorQuery) -> list[Candidate]:
        """The best of both lists, each message once, in one request; no order is promised."""
        ...

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> list[Candidate]:
        """The messages at these sequences, those that there are, with both scores; `where` and `limit` do not count."""
        ...

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """Erase every point of the context's epochs before this one."""
        ...

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the points of these messages of this epoch."""
        ...

    async def count(self, context_id: str) -> int:
        """How many points the context has, over all epochs."""
        ...


def check_finite(dense: Sequence[float] | None, sparse: SparseVector | None) -> None:
    """Raises RecallUnavailable where a number is not one: engines differ in what they make of it."""
    numbers = (*(dense or ()), *(sparse.values if sparse else ()))
    if not all(map(math.isfinite, numbers)):
        raise RecallUnavailable("a vector holds a number that is not finite")
