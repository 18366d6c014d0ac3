"""The contract of the vector index: points with a dense and a sparse vector, searched within one context."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memory.history.message import Role
from memory.recall.lexicon.analysis import SparseVector

TERMS_STORED = 512
"""Terms of a message that are stored for the ranker. A message of 25 words has about ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPoint:
    """A message as the index stores it, without its text, which is in Redis only.

    `sequence` identifies its neighbours. `session` is the sequence of the session's first message. `dense` is None if
    the embedder cannot read the text. All numbers are finite: embedders make unit vectors.
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
    """Filter of a search within a context and epoch. Times are Unix seconds; `sent_before` is exclusive."""

    before_sequence: int | None = None
    sent_from: float | None = None
    sent_before: float | None = None
    sender_ids: frozenset[int] | None = None
    roles: frozenset[Role] | None = None
    excluded: frozenset[str] = frozenset()

    def admits(self, message: "VectorPoint | Candidate") -> bool:
        """Return True if this message may be found."""
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
    """A search for the `limit` best messages by each given vector, within one context and epoch."""

    context_id: str
    epoch: int
    dense: list[float] | None
    sparse: SparseVector | None
    limit: int
    where: Where = Where()


class Hit(NamedTuple):
    """A message that a search found: its sequence and its places in both lists."""

    sequence: int
    dense: float | None
    """Cosine; None if unknown: no vector, or not among the best."""
    sparse: float
    """BM25 score; 0 if no term is shared, or it is not among the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A message that was scored, with the facts that the ranker weighs."""

    message_id: str
    sequence: int
    session: int
    role: Role
    sender_id: int | None
    sent_at: float
    signs: frozenset[str]
    dense: float | None
    """Cosine; None without a vector."""
    sparse: float
    """BM25 score; 0 if no term is shared."""
    terms: frozenset[int] = frozenset()
    """Terms of the question that the message has, among its first TERMS_STORED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorErasure:
    """Number of points before an erasure, and number left after it."""

    before: int
    left: int


class VectorIndex(Protocol):
    """Points of many contexts. Every method raises RecallUnavailable if the index cannot answer now.

    An empty context id raises MissingContext: nothing is read, searched or erased without one.
    """

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Store these points, and return when they are searchable. A message's new point replaces its old one."""
        ...

    async def search(self, query: VectorQuery) -> list[Hit]:
        """Return the best of both lists in one request, each message once, in any order."""
        ...

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> list[Candidate]:
        """Return the existing messages at these sequences with both scores. `where` and `limit` are ignored."""
        ...

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """Erase every point of the context's epochs before this one."""
        ...

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the points of these messages of this epoch."""
        ...

    async def count(self, context_id: str) -> int:
        """Return the number of the context's points, over all epochs."""
        ...
