"""ChatHistory: the messages of one context, as the agent and its tools read, search and append them."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from memory.forgetting import ErasureReceipt, count_vectors, delete_provably, prove_erased
from memory.history.message import Continuation, Message, Quote, Role, Sender, told_text
from memory.history.selectors import MessageSelector, TokenCounter
from memory.history.store import HistoryStore, newest_first, oldest_first
from memory.keys import ContextRef
from memory.recall.history_search import RankedMessage, add_neighbours, exclude_shown
from memory.recall.recall import Recall, RecallHit, RecallQuestion
from memory.recall.vector_index import Where

_SPARE_HITS = 5
"""Hits asked for beyond k, in the place of messages that were deleted while the index could not be asked."""


class MessageDetails(TypedDict, total=False):
    """What is known of a message besides its text. Without `id` and `sent_at`: a new id, and now."""

    sender: Sender | None
    telegram_message_id: int | None
    sent_at: float | None
    id: str | None
    is_stopped: bool
    note: str
    forwarded_from: str
    continues: Continuation
    quote: Quote | None


class SearchOptions(TypedDict, total=False):
    """`asker_id` is the sender who "I" is; `where` says which messages may be found.

    `told` are messages that stand before the reader anyway, and are not found. `now` (Unix seconds, default: the
    clock) is what "yesterday" counts from. `neighbours` (0): how many messages before and after each are given with it.
    `is_deliberate` (False) and `is_floored` (True): see RecallQuestion.
    """

    asker_id: int | None
    where: Where
    told: Sequence[Message]
    now: float
    neighbours: int
    is_deliberate: bool
    is_floored: bool


class ChatHistory:
    """A two-way conversation that grows. Reading covers the current conversation, searching the whole history.

    Appending and deleting raise Forgotten when the context was reset since `epoch`. A message whose id is
    there already is not appended again.
    """

    def __init__(
        self,
        *,
        ref: ContextRef,
        epoch: int,
        store: HistoryStore,
        recall: Recall | None,
        tokenizer: TokenCounter,
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._ref = ref
        self._epoch = epoch
        self._store = store
        self._recall = recall
        self._clock = clock
        self._writer = _Writer(store=store, ref=ref, tokenizer=tokenizer, clock=clock, new_id=new_id)

    async def append_user_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append what a person wrote; returns it with its id, token count and sequence."""
        return await self._writer.append("user", text, details, epoch=self._epoch)

    async def append_assistant_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append a reply."""
        return await self._writer.append("assistant", text, details, epoch=self._epoch)

    async def append_system_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append an instruction; windows and recall pass it over."""
        return await self._writer.append("system", text, details, epoch=self._epoch)

    async def append_tool_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append what a tool gave; windows and recall pass it over."""
        return await self._writer.append("tool", text, details, epoch=self._epoch)

    def messages(self, *, whole: bool = False) -> AsyncGenerator[Message]:
        """The current conversation, or the whole history, from the oldest to the newest, read page by page."""
        return oldest_first(self._store, self._ref, whole=whole)

    async def last_user_message(self) -> Message | None:
        """The newest one; None where there is none. Reads back only as far as it must."""
        return await _last(self._store, self._ref, "user")

    async def last_assistant_message(self) -> Message | None:
        """See last_user_message."""
        return await _last(self._store, self._ref, "assistant")

    async def last_system_message(self) -> Message | None:
        """See last_user_message; where there is none, this reads the whole conversation."""
        return await _last(self._store, self._ref, "system")

    async def initial_system_prompt(self) -> Message | None:
        """The first message of the conversation, if it is a system message."""
        first = await self._store.page(self._ref, after_sequence=-1, limit=1)
        return first[0] if first and first[0].role == "system" else None

    def is_searchable(self) -> bool:
        """Whether there is an index to search."""
        return self._recall is not None

    async def search(
        self,
        text: str,
        k: int = 3,
        *,
        exclude: Collection[str] = frozenset(),
        **options: Unpack[SearchOptions],
    ) -> list[RankedMessage]:
        """The at most `k` messages likeliest to be what `text` looks for, best first, without the excluded ids.

        Blank text finds none, and neither does small talk, unless the search is deliberate: what is not likely enough
        is not found. A message is found once it is indexed, a moment after its turn. Raises RecallUnavailable.
        """
        if self._recall is None or k <= 0 or not text.strip():
            return []
        told = {message.id for message in options.get("told", ())}
        snapshot = await self._store.load(self._ref, limit=len(told))
        told.update(exclude)
        question = RecallQuestion(
            text=text,
            people=snapshot.people,
            asker_id=options.get("asker_id"),
            now=options["now"] if "now" in options else self._clock(),
            where=exclude_shown(options.get("where", Where()), told, snapshot.newest),
            is_deliberate=options.get("is_deliberate", False),
            is_floored=options.get("is_floored", True),
        )
        hits = await self._recall.search(self._ref, self._epoch, question, k=k + _SPARE_HITS)
        found = await _around(self._store, self._ref, hits, reach=options.get("neighbours", 0))
        return add_neighbours(hits, found, told, k=k)

    async def select_messages(self, selector: MessageSelector, *, whole: bool = False) -> list[Message]:
        """What the selector chooses from the current conversation, or from the whole history."""
        async with aclosing(newest_first(self._store, self._ref, whole=whole)) as newest:
            return await selector.select(newest)

    async def delete_messages(self, selector: MessageSelector, *, whole: bool = False) -> ErasureReceipt:
        """Delete what `select_messages` would choose, from the history and the index both, and read back."""
        ids = [message.id for message in await self.select_messages(selector, whole=whole)]
        return await delete_provably(
            self._ref, ids, epoch=self._epoch, store=self._store, recall=self._recall
        )

    async def clear(self) -> ErasureReceipt:
        """Erase the whole history from both stores and read back.

        A new epoch begins: this history goes on in it, while other work that began before is Forgotten.
        """
        vectors = await count_vectors(self._ref, self._recall)
        erased = await self._store.erase(self._ref)
        self._epoch = erased.epoch
        return await prove_erased(
            self._ref, erased, store=self._store, recall=self._recall, vectors_before=vectors
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    store: HistoryStore
    ref: ContextRef
    tokenizer: TokenCounter
    clock: Callable[[], float]
    new_id: Callable[[], str]

    async def append(self, role: Role, text: str, details: MessageDetails, *, epoch: int) -> Message:
        sent_at = details.get("sent_at")
        message = Message(
            id=details.get("id") or self.new_id(),
            role=role,
            text=text,
            sent_at=self.clock() if sent_at is None else sent_at,
            tokens=0,
            sender=details.get("sender"),
            telegram_message_id=details.get("telegram_message_id"),
            is_stopped=details.get("is_stopped", False),
            note=details.get("note", ""),
            forwarded_from=details.get("forwarded_from", ""),
            continues=details.get("continues", ""),
            quote=details.get("quote"),
        )
        message = replace(message, tokens=self.tokenizer.count(told_text(message)))
        (appended,) = await self.store.append(self.ref, [message], epoch=epoch)
        return appended


async def _around(
    store: HistoryStore, ref: ContextRef, hits: Sequence[RecallHit], *, reach: int
) -> dict[str, list[Message]]:
    """The messages of these hits by their ids, with those beside them; in one round trip, or none."""
    if reach > 0:
        around = await store.around(ref, [hit.sequence for hit in hits], reach=reach)
        return {hit.message_id: around[hit.sequence] for hit in hits}
    found = await store.get(ref, [hit.message_id for hit in hits])
    return {each: [message] for each, message in found.items()}


async def _last(store: HistoryStore, ref: ContextRef, role: Role) -> Message | None:
    async with aclosing(newest_first(store, ref)) as newest:
        async for message in newest:
            if message.role == role:
                return message
    return None
