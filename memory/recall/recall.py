"""Recall: finding old messages of a context by their words and their meaning, and taking them out again."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from memory.errors import MissingContext
from memory.history.message import Message, told_text
from memory.keys import ContextRef
from memory.recall.embedders.embedder import (
    Embedder,
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingUnavailable,
)
from memory.recall.lexicon.analyser import analyse_message, analyse_question
from memory.recall.lexicon.analysis import MessageAnalysis, QuestionAnalysis, SparseVector
from memory.recall.lexicon.signs import SMALL_TALK
from memory.recall.ranking import Scored, load_weights, plan_lookups, rank, select_relevant, shortlist
from memory.recall.spaces import Space, Spaces
from memory.recall.vector_index import Candidate, VectorErasure, VectorPoint, VectorQuery, Where

log = structlog.get_logger()

LIST_LIMIT = 100
"""How many of the best by words, and by meaning, are asked for."""
_LONG_TEXT = 2_000
"""Characters from which on a question is read beside the event loop: it takes milliseconds."""
_PROBE = "hello"
"""What any embedder that works embeds."""
_ANYWHERE = Where()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexItem:
    """A message to make findable, and the epoch of its context in which it was written.

    `people` are the participants (sender id → name): their names are told apart from the words. `session` is
    the sequence of the first message of its stretch of talk.
    """

    ref: ContextRef
    epoch: int
    message: Message
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    session: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuestion:
    """What is searched for. `people` are the participants (sender id → name), `asker_id` is who "I" is.

    `now` (Unix seconds) is what "yesterday" counts from. Where somebody searches, `is_deliberate`, small talk is
    looked for as well; `is_floored` is false for who is told the scores and judges what is relevant.
    """

    text: str
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    asker_id: int | None = None
    now: float
    where: Where = _ANYWHERE
    is_deliberate: bool = False
    is_floored: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallHit:
    """A message that was found, and its score (memory/recall/ranking.py): higher is likelier to answer the question."""

    message_id: str
    score: float
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A question as it was read, what the index was asked (None: nothing to ask), and what it gave.

    `messages` are those on the shortlist and those beside them; `listed` are the sequences of the former.
    """

    question: QuestionAnalysis
    query: VectorQuery | None = None
    messages: Sequence[Candidate] = ()
    listed: frozenset[int] = frozenset()


class Recall:
    """Search over the messages of one context at a time, in the space that serves.

    Every method raises RecallUnavailable when the index cannot answer now, and MissingContext without a context.
    """

    def __init__(self, spaces: Spaces) -> None:
        self.spaces = spaces
        self._embedder_failure: type[EmbeddingError] | None = None

    async def search(
        self, ref: ContextRef, epoch: int, question: RecallQuestion, *, k: int
    ) -> list[RecallHit]:
        """The `k` messages likeliest to answer, best first, each once; none where none is above the floor, if there is one.

        Blank text or no k finds nothing and asks nobody. While the embedder fails, or where it does not read
        the question's script, words alone find. A hit may be of a message that was deleted a moment ago: the
        history is the truth.
        """
        if not ref.context_id:
            raise MissingContext
        if k <= 0:
            return []
        gathered = await self.gather(ref, epoch, question)
        weights = load_weights()
        ranked = rank(gathered.question, gathered.messages, listed=gathered.listed, weights=weights)
        # What stands beside a message that may be found need not be one itself.
        allowed = [each for each in ranked if question.where.admits(each.candidate)]
        if question.is_floored:
            allowed = select_relevant(gathered.question, allowed, weighed=gathered.messages, weights=weights)
        return [_to_hit(each) for each in allowed[:k]]

    async def gather(self, ref: ContextRef, epoch: int, question: RecallQuestion) -> Gathered:
        """What a search has before it ranks: one request to the embedder, and two to the index."""
        space = self.spaces.serving
        reading = await _read_question(question)
        if SMALL_TALK in reading.signs and not question.is_deliberate:
            return Gathered(question=reading)
        # Of "Anna?" nothing is left: who searches for it is shown what she wrote.
        dense = await self._embed_question(space, reading.masked or question.text)
        sparse = reading.terms if reading.terms.indices and space.has_our_terms else None
        if dense is None and sparse is None:
            return Gathered(question=reading)
        query = VectorQuery(
            context_id=ref.context_id,
            epoch=epoch,
            dense=dense,
            sparse=sparse,
            limit=LIST_LIMIT,
            where=question.where,
        )
        found = shortlist(await space.index.search(query))
        messages = await space.index.score(query, plan_lookups(found)) if found else []
        return Gathered(
            question=reading,
            query=query,
            messages=messages,
            listed=frozenset(each.sequence for each in found),
        )

    async def index(
        self, items: Sequence[IndexItem], *, spaces: Sequence[Space] | None = None, is_patient: bool = True
    ) -> None:
        """Make messages findable in these spaces, or in those that are written now.

        Repeating is harmless. A message that an embedder does not read, or refuses while it takes others, is
        found by its words alone. Raises an EmbeddingError when the embedder of the last space fails: the same
        call may work later. Spaces before it are on their way out: without their embedder, words must do there.
        Not `is_patient`: also a message at which the embedder breaks down, while it takes others, has words only.
        """
        written = self.spaces.written if spaces is None else spaces
        if not items:
            return
        readings = await asyncio.to_thread(_read_messages, items)
        for space in written:
            vectors = await _embed_messages(
                space, readings, is_needed=space is written[-1], is_patient=is_patient
            )
            points = [
                _point(item, reading, vector, space)
                for item, reading, vector in zip(items, readings, vectors, strict=True)
            ]
            await space.index.upsert(points)

    async def erase(self, ref: ContextRef, *, below_epoch: int) -> VectorErasure:
        """Erase the vectors of every epoch before this one, in every space, and read back."""
        return await self.spaces.serving.index.erase(ref.context_id, below_epoch=below_epoch)

    async def drop(self, ref: ContextRef, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the vectors of these messages, in every space, and read back."""
        if not message_ids:
            return VectorErasure(found=0, left=0)
        return await self.spaces.serving.index.drop(ref.context_id, epoch=epoch, message_ids=message_ids)

    async def count(self, ref: ContextRef) -> int:
        """How many vectors the context has, over all epochs and spaces."""
        return await self.spaces.serving.index.count(ref.context_id)

    async def _embed_question(self, space: Space, masked: str) -> list[float] | None:
        """None where words alone must do. Each kind of failure is logged once, until a question is embedded."""
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
        return vector


def _to_hit(found: Scored) -> RecallHit:
    candidate = found.candidate
    return RecallHit(message_id=candidate.message_id, score=found.score, sequence=candidate.sequence)


async def _read_question(question: RecallQuestion) -> QuestionAnalysis:
    if len(question.text) < _LONG_TEXT:
        return _analyse(question)
    return await asyncio.to_thread(_analyse, question)


def _analyse(question: RecallQuestion) -> QuestionAnalysis:
    return analyse_question(question.text, question.people, asker_id=question.asker_id, now=question.now)


def _read_messages(items: Sequence[IndexItem]) -> list[MessageAnalysis]:
    return [analyse_message(told_text(item.message), item.people) for item in items]


async def _embed_messages(
    space: Space, readings: Sequence[MessageAnalysis], *, is_needed: bool, is_patient: bool
) -> list[list[float] | None]:
    """A vector for each message, None where the embedder does not read it or refuses it alone."""
    vectors: list[list[float] | None] = [None] * len(readings)
    embedder = space.embedder
    if embedder is None:
        return vectors
    readable = [number for number, reading in enumerate(readings) if embedder.reads(reading.masked)]
    try:
        texts = [readings[number].masked for number in readable]
        embedded = await _embed(embedder, texts, is_patient=is_patient)
    except EmbeddingError:
        if is_needed:
            raise
        return vectors
    for number, vector in zip(readable, embedded, strict=True):
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
    await embedder.embed(
        [_PROBE]
    )  # fails as well where no message is at fault: a wrong key, an unknown model
    return [await _embed_singly(embedder, text, is_patient=is_patient) for text in texts]


async def _embed_singly(embedder: Embedder, text: str, *, is_patient: bool) -> list[float] | None:
    try:
        (vector,) = await embedder.embed([text])
    except (EmbeddingInvalid, EmbeddingRefused):
        return None
    except EmbeddingUnavailable as failure:
        if is_patient or failure.retry_after_s is not None:  # told to wait: the text is not at fault
            raise
        await embedder.embed([_PROBE])
        log.warning("message_without_vector", reason=str(failure))
        return None
    return vector


def _point(item: IndexItem, reading: MessageAnalysis, dense: list[float] | None, space: Space) -> VectorPoint:
    message = item.message
    return VectorPoint(
        context_id=item.ref.context_id,
        epoch=item.epoch,
        message_id=message.id,
        role=message.role,
        sender_id=message.sender.id if message.sender else None,
        sent_at=message.sent_at,
        sequence=message.sequence or 0,
        session=item.session,
        signs=reading.signs,
        dense=dense,
        sparse=reading.terms if space.has_our_terms else SparseVector(),
    )
