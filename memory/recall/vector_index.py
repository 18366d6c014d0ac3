"""The contract of the vector index: points with a dense and a sparse vector, searched within one context."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory.history.message import MetadataValue, Role
from memory.recall.lexicon.analysis import SparseVector

if TYPE_CHECKING:
    from memory.recall.scored_messages import ScoredMessages

TERMS_STORED = 512
"""Terms of a message that are stored for the ranker. A message of 25 words has about ten."""
KEYS_PER_MESSAGE = 4
"""Points that a message may have besides its own: each has the terms and the vector of a fact that rests on it."""
TAG = "="
"""First character of the signs that are tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPoint:
    """A message as the index stores it, or one of its keys. The text is in Redis only.

    `slot` is 0 for the message itself, and from 1 to KEYS_PER_MESSAGE for a key. A key has the terms and the vector
    of a fact, and everything else of the message. `sequence` identifies the message's neighbours. `session` is the
    sequence of the session's first message. `dense` is None if the embedder cannot read the text. All numbers are
    finite: embedders make unit vectors.
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
    slot: int = 0
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
    tags: frozenset[str] = frozenset()
    """Tags that a message must have, all of them."""


def metadata_tags(metadata: Mapping[str, MetadataValue]) -> frozenset[str]:
    """Return one sign for each entry, a hash of 64 bits: the index has no text. 1 and 1.0 are equal, 1 and True not."""
    return frozenset(map(_tag, metadata.items())) if metadata else frozenset()


def _tag(entry: tuple[str, MetadataValue]) -> str:
    name, value = entry
    plain = int(value) if isinstance(value, float) and value.is_integer() else value
    return TAG + hashlib.sha256(json.dumps([name, plain]).encode()).hexdigest()[:16]


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
    """A message that a search found, by itself or by a key: its sequence and its places in both lists."""

    sequence: int
    dense: float | None
    """Cosine; None if unknown: no vector, or not among the best."""
    sparse: float
    """BM25 score; 0 if no term is shared, or it is not among the best."""


class ListedPoint(NamedTuple):
    """The message and the slot of a stored point."""

    epoch: int
    message_id: str
    slot: int
    """0 for the message itself, from 1 on for a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorErasure:
    """Number of points before an erasure, and number left after it."""

    before: int
    left: int


class VectorIndex(Protocol):
    """Points of many contexts. A message's scores are the best of its own point and its keys.

    Every method raises RecallUnavailable if the index cannot answer now. An empty context id raises MissingContext:
    nothing is read, searched or erased without one.
    """

    losses: int
    """How often a request found that the points are gone as a whole."""

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Store these points, and return when they are searchable. A new point replaces that in the same slot."""
        ...

    async def search(self, query: VectorQuery) -> list[Hit]:
        """Return the best of both lists in one request, each message once, in any order."""
        ...

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> "ScoredMessages":
        """Return the existing messages at these sequences with both scores, each once. `where` and `limit` are ignored.

        All else is the message's own, so a key without its message's own point is not returned.
        A store that was restored from a backup may use a sequence again that an older message still has in the index.
        """
        ...

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """Erase every point of the context's epochs before this one."""
        ...

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the points of these messages of this epoch, with their keys."""
        ...

    async def drop_keys(self, context_id: str, *, epoch: int, kept: Mapping[str, int]) -> VectorErasure:
        """Erase the keys of these messages (message id → number of keys to keep), and count those that are left."""
        ...

    async def count(self, context_id: str) -> int:
        """Return the number of the context's points, with keys, over all epochs and collections."""
        ...

    async def count_messages(self, context_id: str, *, epoch: int) -> int:
        """Return how many messages of this epoch can be found in this collection."""
        ...

    async def list_points(self, context_id: str) -> Collection[ListedPoint]:
        """Return what the context's points in this collection stand for, over all epochs."""
        ...

    async def copy_from(
        self, collection: str, context_id: str, *, epoch: int, message_ids: Collection[str]
    ) -> Collection[str]:
        """Copy the points of these messages of this epoch, with their keys, from another collection.

        Return the messages that it has. What changes there meanwhile is copied again, so that no older point stays.
        """
        ...
