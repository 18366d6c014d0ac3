"""ChatHistory: the messages of one context, for an agent and its tools to read, search and append."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict, Unpack

from memory.erasure import ErasureReceipt, count_vectors, delete_provably, prove_erased
from memory.facts.selection import Memories, RecallBudget, select_memories
from memory.history.message import (
    Continuation,
    Message,
    MetadataValue,
    Origin,
    Quote,
    Role,
    Sender,
    is_indexed,
    render_message,
)
from memory.history.selectors import MessageSelector, TokenCounter
from memory.history.store import BEFORE_ALL, HistoryStore, Passage
from memory.keys import ContextRef
from memory.recall.excerpts import NO_WORDS, Excerpt, Reason, excerpt_of, read_question, tell
from memory.recall.recall import LIST_LIMIT, Recall, RecallQuestion
from memory.recall.vector_index import Where

if TYPE_CHECKING:
    from memory.history.fact import Fact
    from memory.recall.ranking import RankedHit

_LONG_TEXT = 100_000
"""Characters of a text whose tokens are counted in a thread."""
FACT_HITS = 8
"""Extra hits of a recall, whose facts may stand for messages."""
_SPARE_HITS = 5
"""Extra hits, in place of repeated texts and of messages that were deleted while the index did not answer."""

PAGE = 100
"""Messages of one round trip: a window of 8,000 tokens rarely has more."""


class MessageDetails(TypedDict, total=False):
    """Facts of a message besides its text. The default of `id` is a new id, that of `sent_at` is now."""

    sender: Sender | None
    telegram_message_id: int | None
    sent_at: float | None
    id: str | None
    is_stopped: bool
    note: str
    forwarded_from: str
    origin: Origin
    continues: Continuation
    quote: Quote | None
    metadata: Mapping[str, MetadataValue]


class SearchHints(TypedDict, total=False):
    """Options of a search besides its filter. `is_deliberate` (False) and `is_floored` (True): see RecallQuestion."""

    asker_id: int | None
    """The sender that "I" refers to."""
    visible: Sequence[Message]
    """Messages that the reader sees anyway: they are not found."""
    now: float
    """Unix seconds that "yesterday" refers to; the clock by default."""
    neighbours: int
    """Messages before and after each hit that are returned with it (0)."""
    is_deliberate: bool
    is_floored: bool
    updates: int
    """See RecallQuestion."""


class SearchOptions(SearchHints, total=False):
    """Options of a search."""

    where: Where
    """Filter of the messages that may be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMessage:
    """A message that matches a search. A higher score is likelier to be what was searched for.

    `before` and `after` are its neighbours in the session, oldest first. They give context and are no hits.
    """

    message: Message
    score: float
    reasons: tuple[Reason, ...] = ()
    """Kinds of evidence, the strongest first."""
    is_likely: bool = True
    """False for a message below the floor or far below the best; only a search with `is_floored=False` finds it."""
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
    facts: "tuple[Fact, ...]" = ()
    """Facts that rest on the message."""
    newer: tuple[int, ...] = ()
    """Sequences of later statements of its writer about the same, the nearest first. Only `recall` looks for them."""
    update: Message | None = None
    """The nearest of these that a prompt tells as well."""
    is_update: bool = False
    """True if it is such a statement of another message that the prompt tells."""
    excerpt: Excerpt | None = None
    """The part of a long message that a prompt tells; None for the whole message."""

    @property
    def told(self) -> Message:
        """The message as a prompt tells it."""
        return tell(self.message, self.excerpt)


class ChatHistory:
    """A two-way conversation that grows. Reading covers the current conversation, searching the whole history.

    Appending and deleting raise Forgotten if the context was reset since `epoch`. A message whose id exists is not
    appended again.
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
        self._searcher = _Searcher(store=store, ref=ref, recall=recall, clock=clock)
        self._writer = _Writer(store=store, ref=ref, tokenizer=tokenizer, clock=clock, new_id=new_id)

    async def append_user_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append a person's message; return it with its id, token count and sequence."""
        return await self._writer.append("user", text, details, epoch=self._epoch)

    async def append_assistant_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append a reply."""
        return await self._writer.append("assistant", text, details, epoch=self._epoch)

    async def append_system_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append an instruction; windows and recall ignore it."""
        return await self._writer.append("system", text, details, epoch=self._epoch)

    async def append_tool_message(self, text: str, **details: Unpack[MessageDetails]) -> Message:
        """Append the result of a tool; windows and recall ignore it."""
        return await self._writer.append("tool", text, details, epoch=self._epoch)

    def messages(self, *, whole: bool = False) -> AsyncGenerator[Message]:
        """Yield the current conversation, or the whole history, oldest first, read page by page."""
        return oldest_first(self._store, self._ref, whole=whole)

    async def last_user_message(self) -> Message | None:
        """Return the newest user message or None; reads only as far back as necessary."""
        return await _last(self._store, self._ref, "user")

    async def last_assistant_message(self) -> Message | None:
        """See last_user_message."""
        return await _last(self._store, self._ref, "assistant")

    async def last_system_message(self) -> Message | None:
        """See last_user_message; without a system message this reads the whole conversation."""
        return await _last(self._store, self._ref, "system")

    async def initial_system_prompt(self) -> Message | None:
        """Return the first message of the conversation if it is a system message, or None."""
        first = await self._store.page(self._ref, after_sequence=BEFORE_ALL, limit=1)
        return first[0] if first and first[0].role == "system" else None

    async def search(
        self,
        text: str,
        k: int = 3,
        *,
        exclude: Collection[str] = frozenset(),
        **options: Unpack[SearchOptions],
    ) -> list[RankedMessage]:
        """Return up to `k` messages that match `text`, best first, without the excluded ids.

        Blank text finds nothing. Small talk finds nothing unless the search is deliberate. A message can be found once
        it is indexed, shortly after its turn. Raises RecallUnavailable.
        """
        found = await self._searcher.find(text, k, options, exclude=exclude, epoch=self._epoch)
        return found.add_neighbours(found.ranked)

    async def recall(self, text: str, budget: RecallBudget, **options: Unpack[SearchOptions]) -> Memories:
        """Return messages and facts for a prompt. Long messages have an excerpt.

        `search` says what is found, `select_memories` what is selected. Neighbours come on top of the budget. Raises
        RecallUnavailable.
        """
        k = budget.lines + min(budget.lines, FACT_HITS)
        found = await self._searcher.find(text, k, {**options, "updates": budget.lines}, epoch=self._epoch)
        words = read_question(text) if found.ranked else NO_WORDS
        memories = select_memories(
            found.ranked,
            budget,
            visible_ids=found.visible_ids,
            shorten=lambda hit: replace(hit, excerpt=excerpt_of(hit.message, words)),
        )
        return replace(
            memories,
            messages=tuple(found.add_neighbours(memories.messages)),
            people=found.people,
            is_incomplete=self._recall is not None and self._recall.spaces.is_incomplete,
        )

    async def select_messages(self, selector: MessageSelector, *, whole: bool = False) -> list[Message]:
        """Return the selector's choice from the current conversation, or from the whole history, for a prompt.

        Messages that a model's filter refused are left out.
        """
        async with aclosing(newest_first(self._store, self._ref, whole=whole, is_prompt=True)) as newest:
            return await selector.select(newest)

    async def delete_messages(self, selector: MessageSelector, *, whole: bool = False) -> ErasureReceipt:
        """Delete the selector's choice from history and index, also refused messages, and read both back."""
        async with aclosing(newest_first(self._store, self._ref, whole=whole)) as newest:
            ids = [message.id for message in await selector.select(newest)]
        return await delete_provably(
            self._ref, ids, epoch=self._epoch, store=self._store, recall=self._recall
        )

    async def clear(self) -> ErasureReceipt:
        """Erase the whole history from both stores and read both back.

        A new epoch begins. This object continues in it; other work that began before raises Forgotten.
        """
        vectors = await count_vectors(self._ref, self._recall)
        erased = replace(await self._store.erase(self._ref), vectors=vectors)
        self._epoch = erased.epoch
        return await prove_erased(self._ref, erased, store=self._store, recall=self._recall)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Hits of a search that still exist, best first, and the passage around each, by its sequence."""

    ranked: Sequence[RankedMessage] = ()
    passages: Mapping[int, Passage] = field(default_factory=dict[int, Passage])
    visible_ids: Collection[str] = ()
    people: Mapping[int, str] = field(default_factory=dict[int, str])

    def add_neighbours(self, ranked: Sequence[RankedMessage]) -> list[RankedMessage]:
        """Return these hits with their neighbours, no message twice and none that is visible.

        A neighbour of two hits goes to the better one.
        """
        taken = {*self.visible_ids, *(hit.message.id for hit in ranked)}
        complete: list[RankedMessage] = []
        for hit in ranked:
            messages = self.passages[hit.message.sequence or 0].messages
            place = messages.index(hit.message)
            before = _take_neighbours(messages[:place][::-1], taken)[::-1]
            after = _take_neighbours(messages[place + 1 :], taken)
            complete.append(replace(hit, before=tuple(before), after=tuple(after)))
        return complete


@dataclass(frozen=True, slots=True, kw_only=True)
class _Searcher:
    store: HistoryStore
    ref: ContextRef
    recall: Recall | None
    clock: Callable[[], float]

    async def find(
        self, text: str, k: int, options: SearchOptions, *, exclude: Collection[str] = frozenset(), epoch: int
    ) -> _Found:
        """Return the best `k` messages with their facts, as ChatHistory.search describes."""
        if self.recall is None or k <= 0 or not text.strip():
            return _Found()
        visible_ids = {message.id for message in options.get("visible", ())}
        snapshot = await self.store.load(self.ref, limit=len(visible_ids))
        visible_ids.update(exclude)
        question = RecallQuestion(
            text=text,
            people=snapshot.people,
            asker_id=options.get("asker_id"),
            now=options["now"] if "now" in options else self.clock(),
            where=exclude_visible(options.get("where", Where()), visible_ids, snapshot.newest),
            is_deliberate=options.get("is_deliberate", False),
            is_floored=options.get("is_floored", True),
            updates=options.get("updates", 0),
        )
        hits = await self.recall.search(self.ref, epoch, question, k=k + LIST_LIMIT)
        reach = options.get("neighbours", 0)
        ranked: list[RankedMessage] = []
        passages: dict[int, Passage] = {}
        for page in (hits[: k + _SPARE_HITS], hits[k + _SPARE_HITS :]):
            if not page or len(ranked) >= k:
                break
            around = await self.store.around(self.ref, sorted({hit.sequence for hit in page}), reach=reach)
            passages.update(around)
            ranked = keep_one_of_each([*ranked, *_present(page, around)])
        return _Found(ranked=ranked[:k], passages=passages, visible_ids=visible_ids, people=snapshot.people)


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
            origin=details.get("origin", "typed"),
            continues=details.get("continues", ""),
            quote=details.get("quote"),
            metadata=details.get("metadata", {}),
        )
        rendered, count = render_message(message), self.tokenizer.count
        is_long = len(rendered) > _LONG_TEXT
        tokens = await asyncio.to_thread(count, rendered) if is_long else count(rendered)
        message = replace(message, tokens=tokens)
        (appended,) = await self.store.append(self.ref, [message], epoch=epoch)
        return appended


def _present(hits: "Sequence[RankedHit]", passages: Mapping[int, Passage]) -> list[RankedMessage]:
    """Return the messages of those hits that still exist and that prompts may contain."""
    return [
        RankedMessage(
            message=message,
            score=hit.score,
            reasons=hit.reasons,
            is_likely=hit.is_likely,
            facts=passages[hit.sequence].facts,
            newer=hit.newer,
        )
        for hit in hits
        if hit.sequence in passages
        for message in passages[hit.sequence].messages
        if message.id == hit.message_id and not message.is_refused
    ]


def excerpted(hits: Sequence[RankedMessage], question: str, *, at_most: int) -> list[RankedMessage]:
    """Return the hits with excerpts of the long ones for this question."""
    words = read_question(question)
    return [replace(hit, excerpt=excerpt_of(hit.message, words, at_most=at_most)) for hit in hits]


def keep_one_of_each(ranked: Sequence[RankedMessage]) -> list[RankedMessage]:
    """Return each text once for each person who wrote it, at the place of its best copy, with the facts of all copies.

    The bot's copies count as copies of a person's message, which stands for them.
    """
    texts = [" ".join(render_message(each.message).casefold().split()) for each in ranked]
    writers = [(each.message.role, each.message.sender and each.message.sender.id) for each in ranked]
    people = {
        text: writer for text, writer in zip(texts[::-1], writers[::-1], strict=True) if writer[0] == "user"
    }
    kept: dict[tuple[object, ...], RankedMessage] = {}
    for hit, text, writer in zip(ranked, texts, writers, strict=True):
        place = (text, *(writer if writer[0] == "user" else people.get(text, writer)))
        best = kept.setdefault(place, hit)
        is_better = hit.message.role == "user" != best.message.role
        shown = replace(hit, score=best.score, is_likely=best.is_likely) if is_better else best
        facts = {fact.id: fact for fact in (*best.facts, *hit.facts)}
        kept[place] = replace(shown, facts=tuple(facts.values()))
    return list(kept.values())


def exclude_visible(where: Where, visible_ids: Collection[str], newest: Sequence[Message]) -> Where:
    """Return `where` without the messages that are already in the prompt (`visible_ids`).

    `newest` are the newest messages, oldest first. A bound on the sequence excludes the part of them that is all
    visible. Earlier messages are excluded one by one.
    """
    bound = where.before_sequence
    single_ids = set(visible_ids)
    for message in reversed(newest):
        if message.sequence is None or (message.id not in visible_ids and is_indexed(message)):
            break
        single_ids.discard(message.id)
        bound = message.sequence if bound is None else min(bound, message.sequence)
    return replace(where, before_sequence=bound, excluded=where.excluded | single_ids)


def _take_neighbours(messages: Sequence[Message], taken: set[str]) -> list[Message]:
    """Return the messages that are not taken, and take them."""
    neighbours: list[Message] = []
    for message in messages:
        if message.id not in taken and is_indexed(message):
            taken.add(message.id)
            neighbours.append(message)
    return neighbours


async def _last(store: HistoryStore, ref: ContextRef, role: Role) -> Message | None:
    async with aclosing(newest_first(store, ref, is_prompt=True)) as newest:
        async for message in newest:
            if message.role == role:
                return message
    return None


async def newest_first(
    store: HistoryStore, ref: ContextRef, *, whole: bool = False, is_prompt: bool = False
) -> AsyncGenerator[Message]:
    """Yield the current conversation, or the whole history, from its end; reads only as far as it is consumed.

    A prompt gets no messages that a model's filter refused.
    """
    page = await store.page(ref, limit=PAGE, whole=whole)
    while page:
        for message in page:
            if not (is_prompt and message.is_refused):
                yield message
        page = await store.page(ref, before_sequence=page[-1].sequence, limit=PAGE, whole=whole)


async def oldest_first(
    store: HistoryStore, ref: ContextRef, *, whole: bool = False
) -> AsyncGenerator[Message]:
    """Yield the current conversation, or the whole history, from its beginning, with messages appended meanwhile."""
    page = await store.page(ref, after_sequence=BEFORE_ALL, limit=PAGE, whole=whole)
    while page:
        for message in page:
            yield message
        page = await store.page(ref, after_sequence=page[-1].sequence, limit=PAGE, whole=whole)
