"""What a store of histories does, and what one read of it gives."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.keys import ContextRef
from memory.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySnapshot:
    """A context as one read found it. `newest` is of the current conversation, oldest first.

    `count` is of the whole history, `conversation_count` of the current conversation, which begins at the
    sequence `conversation_start`. `created_at` is None while nothing was ever appended in this epoch.
    """

    epoch: int
    count: int
    conversation_count: int
    conversation_start: int
    next_sequence: int
    created_at: float | None
    newest: tuple[Message, ...]

    @property
    def is_whole_conversation(self) -> bool:
        """Whether `newest` holds every message of the current conversation."""
        return len(self.newest) >= self.conversation_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What erasing a context removed, and the epoch that began with it."""

    epoch: int
    messages: int


class HistoryStore(Protocol):
    """Messages of many contexts. Every write names the epoch in which its work began.

    A write raises Forgotten, and writes nothing, when the context was reset since; a write of nothing does
    nothing. All methods raise StoreUnavailable or StoreFull when the store cannot answer.
    """

    async def load(self, ref: ContextRef, *, limit: int) -> HistorySnapshot:
        """The context and the newest `limit` messages of its current conversation, in one round trip."""
        ...

    async def append(self, ref: ContextRef, messages: Sequence[Message], *, epoch: int) -> list[Message]:
        """Append in order; returns the messages with their sequences.

        A message whose id is there already is not appended again and keeps its sequence.
        """
        ...

    async def page(
        self,
        ref: ContextRef,
        *,
        before_sequence: int | None = None,
        after_sequence: int | None = None,
        limit: int,
        whole: bool = False,
    ) -> list[Message]:
        """A page of the current conversation, or of the whole history; newest first.

        With `after_sequence` (-1 for the beginning): oldest first, from there on. A page may be short; only
        an empty one says that there is no more.
        """
        ...

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """The messages with these ids; those that are not there are left out."""
        ...

    async def delete(self, ref: ContextRef, ids: Collection[str], *, epoch: int) -> int:
        """Delete messages and queue the removal of their vectors; returns how many were there."""
        ...

    async def erase(self, ref: ContextRef) -> Erased:
        """Erase the whole history and begin a new epoch; queues the removal of the vectors."""
        ...
