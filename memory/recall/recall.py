"""Recall: search of old messages by words and by meaning, and erasure of their vectors."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from sys import getsizeof
from typing import TYPE_CHECKING, TypeAlias

import structlog

from memory.brief_cache import BriefCache
from memory.errors import MissingContext
from memory.history.fact import Fact
from memory.history.message import Message, render_message
from memory.keys import ContextRef
from memory.recall.embedders.embedder import (
    PROBE,
    Embedder,
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingSpace,
    EmbeddingUnavailable,
)
from memory.recall.guard import RecallGuard
from memory.recall.lexicon.analyser import ASKS, SMALL_TALK, analyse_message, analyse_question
from memory.recall.lexicon.analysis import MessageAnalysis, QuestionAnalysis
from memory.recall.spaces import Space, Spaces
from memory.recall.vector_index import (
    KEYS_PER_MESSAGE,
    VectorErasure,
    VectorPoint,
    VectorQuery,
    Where,
    metadata_tags,
)

if TYPE_CHECKING:
    from memory.recall.ranking import RankedHit
    from memory.recall.scored_messages import ScoredMessages

log = structlog.get_logger()

LIST_LIMIT = 100
"""Best messages requested by words, and by meaning."""
_LONG_TEXT = 2_000
"""Characters from which a question is analysed in a thread, because it takes milliseconds."""
_REMEMBERED_BYTES = 4 * 2**20
"""Size of the questions that are remembered with their vectors: 300 of MiniLM's."""
_PROBED = "health"
"""Context without messages, which a probe counts."""
_ANYWHERE = Where()
QuestionVectors: TypeAlias = BriefCache[tuple[EmbeddingSpace, str], list[float]]
"""Vectors of masked questions, for the index entries of the same messages, which are written after the answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexItem:
    """A message to make findable, in the epoch in which it was written.

    Items of the same message are equal: a change of participants or sessions needs no second vector.
    """

    ref: ContextRef
    epoch: int
    message: Message
    people: Mapping[int, str] = field(default_factory=dict[int, str], compare=False)
    """Participants (sender id → name), whose names are masked."""
    session: int = field(default=0, compare=False)
    """Sequence of the session's first message."""
    facts: tuple[Fact, ...] = ()
    """Facts that rest on the message. It is found by them too."""

    @property
    def keys(self) -> tuple[Fact, ...]:
        """Return the facts that become keys: those that still hold first."""
        return tuple(sorted(self.facts, key=lambda fact: fact.valid_to is not None))[:KEYS_PER_MESSAGE]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuestion:
    """A question to search for."""

    text: str
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    """Participants: sender id → name."""
    asker_id: int | None = None
    """The person that "I" means."""
    now: float
    """Unix time from which "yesterday" counts."""
    where: Where = _ANYWHERE
    is_deliberate: bool = False
    """True if somebody asked for a search: then small talk is searched too."""
    is_floored: bool = True
    """False to return messages below the floor as well, for a caller that judges them."""
    updates: int = 0
    """Best hits of which later statements about the same are looked for. The nearest comes directly after its hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """An analysed question and the messages that the index returned for it.

    `query` is None if there was nothing to ask, and `messages` if nothing was found. `messages` are the shortlist and
    its neighbours; `listed` are the sequences of the shortlist.
    """

    question: QuestionAnalysis
    query: VectorQuery | None = None
    messages: "ScoredMessages | None" = None
    listed: Collection[int] = ()


class Recall:
    """Search over the messages of one context at a time, in the serving space.

    Every method raises RecallUnavailable if the index cannot answer now, and MissingContext without a context. While
    recall pauses, all of them except `index` fail at once, see RecallGuard.
    """

    def __init__(self, spaces: Spaces) -> None:
        self.spaces = spaces
        self._guard = RecallGuard(lambda: self.spaces.serving.index.count(_PROBED))
        self._embedder_failure: type[EmbeddingError] | None = None
        self._question_vectors: QuestionVectors = BriefCache(max_bytes=_REMEMBERED_BYTES)

    @property
    def is_paused(self) -> bool:
        """True while recall pauses, because the index did not answer in time."""
        return self._guard.is_paused

    async def ping(self) -> None:
        """Ask the index for anything, within a second. Raises RecallUnavailable, at once while recall pauses."""
        await self._guard.probe()

    def close(self) -> None:
        """End the probes of a recall that pauses."""
        self._guard.close()

    async def search(
        self, ref: ContextRef, epoch: int, question: RecallQuestion, *, k: int
    ) -> "Sequence[RankedHit]":
        """Return the `k` messages likeliest to answer, best first; none if none is above the floor.

        A blank text or no k returns nothing and sends no request. If the embedder fails or does not read the
        question's script, words alone are searched. A hit may have been deleted a moment ago: the history decides.
        """
        if not ref.context_id:
            raise MissingContext
        if k <= 0:
            return []
        candidates = await self.gather(ref, epoch, question)
        if not candidates.messages:
            return []
        from memory.recall.ranking import explain, load_weights, mark_likely, rank, select_relevant
        from memory.recall.updates import find_newer, raise_newer, with_newer

        weights = load_weights()
        ranking = rank(candidates.question, candidates.messages, listed=candidates.listed, weights=weights)
        # Neighbours were scored too, and they may not match the filter.
        ranking = ranking.only(candidates.messages.admitted_by(question.where))
        relevant = select_relevant(candidates.question, ranking, weights=weights)
        newer = find_newer(candidates.question, relevant, ranking, first=question.updates)
        if question.is_floored:
            ranking = raise_newer(relevant, ranking, newer)
        hits = explain(ranking.best(k), candidates.question, ranking)
        hits = with_newer(hits, ranking, newer)
        if question.is_floored:
            return hits
        return mark_likely(hits, relevant.best(k))

    async def gather(self, ref: ContextRef, epoch: int, question: RecallQuestion) -> Candidates:
        """Return what a search ranks. Takes one request to the embedder, and two to the index within its budget."""
        space = self.spaces.serving
        analyse = partial(
            analyse_question, question.text, question.people, asker_id=question.asker_id, now=question.now
        )
        analysis = analyse() if len(question.text) < _LONG_TEXT else await asyncio.to_thread(analyse)
        if SMALL_TALK in analysis.signs and not question.is_deliberate:
            return Candidates(question=analysis)
        if question.is_deliberate:  # search words ask, even without a question mark
            analysis = replace(analysis, signs=analysis.signs | {ASKS})
        # "Anna?" is empty without its name: search for the whole question then.
        dense = await self._embed_question(space, analysis.masked or question.text)
        sparse = analysis.terms if analysis.terms.indices else None
        if dense is None and sparse is None:
            return Candidates(question=analysis)
        query = VectorQuery(
            context_id=ref.context_id,
            epoch=epoch,
            dense=dense,
            sparse=sparse,
            limit=LIST_LIMIT,
            where=question.where,
        )
        from memory.recall.ranking import plan_lookups, shortlist

        async with self._guard.in_time():
            best = await space.index.search(query)
            if not best:
                return Candidates(question=analysis, query=query)
            listed = shortlist(best)
            messages = await space.index.score(query, plan_lookups(listed))
        return Candidates(question=analysis, query=query, messages=messages, listed=frozenset(listed))

    async def index(
        self, items: Sequence[IndexItem], *, spaces: Sequence[Space] | None = None, is_patient: bool = True
    ) -> None:
        """Make messages findable in these spaces, by default in all active ones. Repeating is harmless.

        A key of a fact that a message no longer has stays in its slot: `drop_unused_keys` erases it. A text that an
        embedder does not read, or refuses while it takes others, gets words alone. Unless `is_patient`, so does a text
        that breaks the embedder while it takes others. Raises an EmbeddingError if the embedder fails: the same call
        may work later.
        """
        targets = self.spaces.active if spaces is None else spaces
        if not items:
            return
        analysed: Sequence[tuple[_Entry, MessageAnalysis]] = ()
        for space in targets:
            absent = await _copy(items, space) if space.copies else {item.message.id for item in items}
            if not absent:
                continue
            if not analysed:
                entries = [entry for item in items for entry in _entries(item)]
                analyses = await asyncio.to_thread(_analyse, entries)
                analysed = list(zip(entries, analyses, strict=True))
            chosen = [pair for pair in analysed if pair[0].item.message.id in absent]
            await self._write(space, chosen, is_patient=is_patient)

    async def _write(
        self, space: Space, analysed: Sequence["tuple[_Entry, MessageAnalysis]"], *, is_patient: bool
    ) -> None:
        analyses = [analysis for _, analysis in analysed]
        vectors = await _embed_messages(
            space.embedder, analyses, self._question_vectors, is_patient=is_patient
        )
        points = [
            _point(entry, analysis, vector)
            for (entry, analysis), vector in zip(analysed, vectors, strict=True)
        ]
        await space.index.upsert(points)

    async def erase(self, ref: ContextRef, *, below_epoch: int) -> VectorErasure:
        """Erase the vectors of every epoch before this one, in every space, and count what is left."""
        with self._guard.unless_paused():
            return await self.spaces.serving.index.erase(ref.context_id, below_epoch=below_epoch)

    async def drop(self, ref: ContextRef, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the vectors of these messages, with their keys, in every space, and count what is left."""
        if not message_ids:
            return VectorErasure(before=0, left=0)
        with self._guard.unless_paused():
            return await self.spaces.serving.index.drop(ref.context_id, epoch=epoch, message_ids=message_ids)

    async def drop_keys(self, ref: ContextRef, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the keys of these messages, in every space, and count those that are left. The messages stay."""
        kept = dict.fromkeys(message_ids, 0)
        with self._guard.unless_paused():
            return await self.spaces.serving.index.drop_keys(ref.context_id, epoch=epoch, kept=kept)

    async def drop_unused_keys(self, items: Sequence[IndexItem]) -> int:
        """Erase keys of facts that these messages no longer have, in every space. Return how many there were.

        Call it after `index`, for messages whose facts may have become fewer.
        """
        kept: dict[tuple[ContextRef, int], dict[str, int]] = {}
        for item in items:
            kept.setdefault((item.ref, item.epoch), {})[item.message.id] = len(item.keys)
        index, erased = self.spaces.serving.index, 0
        for (ref, epoch), messages in kept.items():
            erased += (await index.drop_keys(ref.context_id, epoch=epoch, kept=messages)).before
        return erased

    async def count(self, ref: ContextRef) -> int:
        """Return the number of vectors of the context, with keys, over all epochs and spaces."""
        with self._guard.unless_paused():
            return await self.spaces.serving.index.count(ref.context_id)

    async def count_messages(self, ref: ContextRef, *, epoch: int) -> int:
        """Return how many messages of this epoch can be found now."""
        with self._guard.unless_paused():
            return await self.spaces.serving.index.count_messages(ref.context_id, epoch=epoch)

    async def _embed_question(self, space: Space, masked: str) -> list[float] | None:
        """Return None if words alone must do. Each kind of failure is logged once, until a question is embedded
        again.
        """
        if space.embedder is None or not space.embedder.reads(masked):
            return None
        try:
            (vector,) = await space.embedder.embed([masked])
        except EmbeddingError as failure:
            if self._embedder_failure is not type(failure):
                self._embedder_failure = type(failure)
                log.warning("recall_by_words_alone", reason=str(failure))
            return None
        self._embedder_failure = None
        # A float takes 24 bytes, and 8 in its list.
        size = getsizeof(masked) + 32 * len(vector)
        self._question_vectors.put((space.embedder.identity, masked), vector, size)
        return vector


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One point to write: a message, or a key of it in a slot from 1 on."""

    item: IndexItem
    slot: int
    text: str


async def _copy(items: Sequence[IndexItem], space: Space) -> set[str]:
    """Copy the points of these messages into the space. Return the ids of those that have none to copy."""
    ids: dict[tuple[str, int], list[str]] = {}
    for item in items:
        ids.setdefault((item.ref.context_id, item.epoch), []).append(item.message.id)
    copied = {
        (context_id, epoch): await space.index.copy_from(
            space.copies, context_id, epoch=epoch, message_ids=message_ids
        )
        for (context_id, epoch), message_ids in ids.items()
    }
    return {
        item.message.id for item in items if item.message.id not in copied[item.ref.context_id, item.epoch]
    }


def _entries(item: IndexItem) -> list[_Entry]:
    texts = [render_message(item.message), *(fact.statement for fact in item.keys)]
    return [_Entry(item=item, slot=slot, text=text) for slot, text in enumerate(texts)]


def _analyse(entries: Sequence[_Entry]) -> list[MessageAnalysis]:
    return [analyse_message(entry.text, entry.item.people) for entry in entries]


async def _embed_messages(
    embedder: Embedder | None,
    analyses: Sequence[MessageAnalysis],
    known: QuestionVectors,
    *,
    is_patient: bool,
) -> list[list[float] | None]:
    """Return a vector for each message: a known one of its masked text, or a new one.

    It is None if the embedder does not read the text, or refuses it alone.
    """
    if embedder is None:
        return [None] * len(analyses)
    vectors = [known.get((embedder.identity, each.masked)) for each in analyses]
    texts = {
        number: each.masked
        for number, each in enumerate(analyses)
        if vectors[number] is None and embedder.reads(each.masked)
    }
    embedded = await _embed(embedder, list(texts.values()), is_patient=is_patient)
    for number, vector in zip(texts, embedded, strict=True):
        vectors[number] = vector
    return vectors


async def _embed(
    embedder: Embedder, texts: Sequence[str], *, is_patient: bool
) -> Sequence[list[float] | None]:
    if not texts:
        return []
    try:
        return await embedder.embed(texts)
    except (EmbeddingInvalid, EmbeddingRefused):
        pass
    except EmbeddingUnavailable:
        if is_patient:
            raise
    await embedder.embed([PROBE])  # fails too if no message is the cause: a wrong key, an unknown model
    return [await _embed_singly(embedder, text, is_patient=is_patient) for text in texts]


async def _embed_singly(embedder: Embedder, text: str, *, is_patient: bool) -> list[float] | None:
    try:
        (vector,) = await embedder.embed([text])
    except (EmbeddingInvalid, EmbeddingRefused):
        return None
    except EmbeddingUnavailable as failure:
        if is_patient or failure.retry_after_s is not None:  # Retry-After: the text is not the cause
            raise
        await embedder.embed([PROBE])
        log.warning("message_without_vector", reason=str(failure))
        return None
    return vector


def _point(entry: _Entry, analysis: MessageAnalysis, dense: list[float] | None) -> VectorPoint:
    item, message = entry.item, entry.item.message
    return VectorPoint(
        context_id=item.ref.context_id,
        epoch=item.epoch,
        message_id=message.id,
        role=message.role,
        sender_id=message.sender.id if message.sender else None,
        sent_at=message.sent_at,
        sequence=message.sequence or 0,
        session=item.session,
        signs=analysis.signs | metadata_tags(message.metadata),
        slot=entry.slot,
        dense=dense,
        sparse=analysis.terms,
    )
