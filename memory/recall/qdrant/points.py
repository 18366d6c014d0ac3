"""Messages as points of Qdrant, filters and searches as its requests, and its answers as candidates.

All filters are built here, and none without a context.
"""

import math
import struct
from binascii import a2b_base64, b2a_base64
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid5

import msgspec
import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json

from memory.errors import MissingContext
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.qdrant.connection import Envelope, Send, parse_result
from memory.recall.scored_messages import ScoredMessages, Terms
from memory.recall.vector_index import (
    KEYS_PER_MESSAGE,
    TAG,
    TERMS_STORED,
    Hit,
    ListedPoint,
    VectorPoint,
    VectorQuery,
    Where,
)

Json = dict[str, Any]
"""An object of a request."""
_NONE = "-"
_NAMESPACE = UUID("0b0f3f4e-6c0c-4f3e-9a55-3c1f5c8e7a21")


def point_id(context_id: str, message_id: str, slot: int = 0) -> str:
    """Return the id of a message's point, or of its key in a slot. It never changes: indexing twice is harmless."""
    name = f"{message_id}#{slot}" if slot else message_id
    return str(uuid5(_NAMESPACE, f"{context_id}\x1f{name}"))


def scope_of(context_id: str, epoch: int) -> str:
    """Return the scope of a search: one context in one epoch. The epoch follows the last slash."""
    return f"{context_id}/{epoch}"


def search_filter(
    context_id: str, epoch: int, *, where: Where | None = None, sequences: Collection[int] | None = None
) -> Json:
    """Return a filter for the messages of this context and epoch that may be found.

    Context and epoch are one condition on one field. Two conditions take twice as long, because each is looked up for
    every message of the chat.
    """
    if not context_id:
        raise MissingContext
    must: list[Json] = [{"key": "scope", "match": {"value": scope_of(context_id, epoch)}}]
    if sequences is not None:
        must.append({"key": "sequence", "match": {"any": sorted(sequences)}})
    if where is None:
        return {"must": must}
    if where.before_sequence is not None:
        must.append({"key": "sequence", "range": {"lt": where.before_sequence}})
    period = {"gte": where.sent_from, "lt": where.sent_before}
    if period := {name: bound for name, bound in period.items() if bound is not None}:
        must.append({"key": "sent_at", "range": period})
    if where.sender_ids is not None:
        must.append({"key": "sender_id", "match": {"any": sorted(where.sender_ids)}})
    if where.roles is not None:
        must.append({"key": "role", "match": {"any": sorted(where.roles)}})
    must += [{"key": "tags", "match": {"value": each}} for each in sorted(where.tags)]
    if not where.excluded:
        return {"must": must}
    return {"must": must, "must_not": [{"has_id": _points_of(context_id, where.excluded)}]}


def messages_filter(context_id: str, epoch: int) -> Json:
    """Return a filter for the messages of this context and epoch, without their keys."""
    return {**search_filter(context_id, epoch), "must_not": [{"key": "slot", "range": {"gte": 1}}]}


def erasure_filter(
    context_id: str,
    *,
    epoch: int | None = None,
    below_epoch: int | None = None,
    message_ids: Collection[str] | None = None,
    keys_beyond: Mapping[str, int] | None = None,
) -> Json:
    """Return a filter for points of this context, by fields of every layout: erasures cover former collections too.

    `message_ids` are messages with their keys; `keys_beyond` are messages, each with the last slot that is not meant.
    """
    if not context_id:
        raise MissingContext
    must: list[Json] = [{"key": "context", "match": {"value": context_id}}]
    if epoch is not None:
        must.append({"key": "epoch", "range": {"gte": epoch, "lt": epoch + 1}})
    if below_epoch is not None:
        must.append({"key": "epoch", "range": {"lt": below_epoch}})
    if message_ids is not None:
        must.append({"has_id": _points_of(context_id, message_ids)})
    if keys_beyond is not None:
        must.append({"has_id": _keys_beyond(context_id, keys_beyond)})
    return {"must": must}


def filter_of_contexts(context_ids: Collection[str]) -> Json:
    """Return a filter for every point of these contexts. Raises MissingContext if one of them, or all, are missing."""
    if not context_ids or not all(context_ids):
        raise MissingContext
    return {"must": [{"key": "context", "match": {"any": sorted(context_ids)}}]}


def _points_of(context_id: str, message_ids: Iterable[str]) -> list[str]:
    slots = range(KEYS_PER_MESSAGE + 1)
    return [point_id(context_id, message, slot) for message in sorted(message_ids) for slot in slots]


def _keys_beyond(context_id: str, last: Mapping[str, int]) -> list[str]:
    return [
        point_id(context_id, message, slot)
        for message in sorted(last)
        for slot in range(last[message] + 1, KEYS_PER_MESSAGE + 1)
    ]


DENSE = "dense"
TERMS = "terms"

MAX_BATCH_POINTS = 256
MAX_BATCH_BYTES = 16_000_000
"""Half of a Qdrant server's request limit: 32 MB by default, and in the embedded server."""

_NUMBER_BYTES, _TERM_BYTES, _PAYLOAD_BYTES = 23, 46, 600
"""Upper bounds: a component with its comma, a term's index and weight, and the rest of a point."""

_FACTS = ["facts", "of"]
"""The payload fields of a score: `facts` of messages, `of` of keys.

One text is read from the disk and sent in a third of the time of eight fields.
"""
_POINTS_OF_SEQUENCE = 2 * (1 + KEYS_PER_MESSAGE)
"""Points that may share a sequence. Two messages do if the store was restored from a backup older than the index."""

_NEAREST = {"hnsw_ef": 256}
"""Only matters for chats with a graph on a Qdrant server (above 10 MB of vectors). All other searches are exact."""
_EXACT = {"exact": True}


def to_batches(points: Sequence[VectorPoint]) -> list[list[Json]]:
    """Return the points in requests of at most 256 points and 16 MB. Raises MissingContext."""
    batches: list[list[Json]] = []
    size = 0
    for point in points:
        if not point.context_id:
            raise MissingContext
        # An upper bound of the point's size as JSON.
        added = (
            len(point.dense or ()) * _NUMBER_BYTES + len(point.sparse.indices) * _TERM_BYTES + _PAYLOAD_BYTES
        )
        if not batches or len(batches[-1]) == MAX_BATCH_POINTS or size + added > MAX_BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(_to_point(point))
        size += added
    return batches


def search_requests(query: VectorQuery) -> list[Json]:
    """Return one search for each usable vector, with the whole filter in each: a batch shares nothing."""
    scope = search_filter(query.context_id, query.epoch, where=query.where)
    common = {"filter": scope, "limit": query.limit, "with_payload": ["sequence"]}
    return [{**each, **common} for each in _vector_searches(query, _NEAREST)]


def score_requests(query: VectorQuery, sequences: Collection[int]) -> list[Json]:
    """Return one search for the scores of each usable vector, and one for the messages without a score by meaning.

    The facts come with the first search that has all messages, because each point of an answer takes its time.
    """
    scope = search_filter(query.context_id, query.epoch, sequences=sequences)
    common = {"limit": _POINTS_OF_SEQUENCE * len(sequences)}
    scores: list[Json] = [{**each, **common, "filter": scope} for each in _vector_searches(query, _EXACT)]
    others: Json = {**common, "filter": scope, "with_payload": _FACTS}
    if query.dense is not None:
        scores[0]["with_payload"] = _FACTS
        others["filter"] = {**scope, "must_not": [{"has_vector": DENSE}]}
    return [*scores, others]


def _vector_searches(query: VectorQuery, nearest: Json) -> list[Json]:
    """Return the beginning of a search by each usable vector.

    The IDF counts the messages of the same context and epoch, whatever else is filtered. So no score depends on
    another chat or on forgotten messages, and scores mean the same in every deployment. A Qdrant server before 1.19
    counts the whole collection.
    """
    searches: list[Json] = []
    if query.dense is not None:
        searches.append({"query": {"nearest": query.dense}, "using": DENSE, "params": nearest})
    if query.sparse is not None and query.sparse.indices:
        idf = {"corpus": search_filter(query.context_id, query.epoch)}
        words = {"nearest": _to_sparse(query.sparse)}
        searches.append({"query": words, "using": TERMS, "params": {"idf": idf}})
    return searches


class Payload(msgspec.Struct, gc=False):
    """The fields of a point that searches read."""

    sequence: int = 0
    facts: str = ""
    of: str = ""
    """The message of a key."""


class FoundPoint(msgspec.Struct, gc=False):
    """A point of an answer."""

    id: str
    score: float
    payload: Payload | None = None


class Answer(msgspec.Struct):
    """The answer to one search, best first."""

    points: list[FoundPoint]


_ANSWERS = msgspec.json.Decoder(Envelope[list[Answer]])
"""A third of the CPU of dicts, and none of its 500 objects for the garbage collection to follow."""


def parse_answers(content: bytes) -> list[Answer]:
    """Parse the response to a batch of searches. Raises IndexUnreadable for anything else."""
    return parse_result(content, _ANSWERS)


def parse_hits(query: VectorQuery, answers: Sequence[Answer]) -> list[Hit]:
    """Return the hits in the answers to `search_requests`, each sequence once, with the best of its points."""
    by_meaning, by_words = (
        # The best comes first in the answer, and so last here.
        {each.payload.sequence: each.score for each in reversed(points) if each.payload}
        for points in _by_vector(query, answers)
    )
    return [
        Hit(each, by_meaning.get(each), by_words.get(each, 0.0))
        for each in by_meaning.keys() | by_words.keys()
    ]


def parse_scored(query: VectorQuery, answers: Sequence[Answer]) -> ScoredMessages:
    """Return the messages in the answers to `score_requests`, each once, even if it was changed between them.

    Their scores are the best of their points.
    """
    by_meaning, by_words = ({each.id: each.score for each in points} for points in _by_vector(query, answers))
    facts = {
        each.id: each.payload.facts
        for answer in answers
        for each in answer.points
        if each.payload and each.payload.facts
    }
    rows = [each.split(" ", 7) for each in facts.values()]
    sequences, sessions, roles, senders, sent_at, signs, terms, ids = (
        zip(*rows, strict=True) if rows else [()] * 8
    )
    asked = query.sparse.indices if query.sparse else ()
    stored = [np.frombuffer(b"" if each == _NONE else a2b_base64(each), "<u4") for each in terms]
    dense = np.array([by_meaning.get(each, math.nan) for each in facts], np.float64)
    sparse = np.array([by_words.get(each, 0.0) for each in facts], np.float64)
    if keys := _keys_in(answers):
        rows_by_id: dict[str, int] = {each: row for row, each in enumerate(ids)}
        for key, message in keys.items():
            if (row := rows_by_id.get(message)) is not None:
                dense[row] = np.fmax(dense[row], by_meaning.get(key, math.nan))
                sparse[row] = max(sparse[row], by_words.get(key, 0.0))
    return ScoredMessages(
        ids=ids,
        sequences=np.array([int(each) for each in sequences], np.int64),
        sessions=np.array([int(each) for each in sessions], np.int64),
        roles=roles,
        sender_ids=[None if each == _NONE else int(each) for each in senders],
        sent_at=np.array([float(each) for each in sent_at], np.float64),
        signs=[_parse_signs(each) for each in signs],
        dense=dense,
        sparse=sparse,
        terms=_find_terms(asked, stored),
        stored_terms=stored,
    )


def _keys_in(answers: Sequence[Answer]) -> dict[str, str]:
    """Return the points of keys with their messages."""
    return {
        each.id: each.payload.of
        for answer in answers
        for each in answer.points
        if each.payload and each.payload.of
    }


def _by_vector(
    query: VectorQuery, answers: Sequence[Answer]
) -> tuple[Sequence[FoundPoint], Sequence[FoundPoint]]:
    """Return the points found by meaning and those found by words."""
    points = iter([each.points for each in answers])
    by_meaning = next(points, ()) if query.dense is not None else ()
    has_terms = query.sparse is not None and query.sparse.indices
    return by_meaning, next(points, ()) if has_terms else ()


def _to_point(point: VectorPoint) -> Json:
    """Return a Qdrant point. It may have no vectors: unusable ones are left out."""
    vectors: Json = {}
    if point.dense is not None:
        vectors[DENSE] = point.dense
    if point.sparse.indices:
        vectors[TERMS] = _to_sparse(point.sparse)
    payload: Json = {
        "scope": scope_of(point.context_id, point.epoch),
        "context": point.context_id,
        "epoch": point.epoch,
        "role": point.role,
        "sender_id": point.sender_id,
        "sent_at": point.sent_at,
        "sequence": point.sequence,
    }
    if tags := sorted(each for each in point.signs if each.startswith(TAG)):
        payload["tags"] = tags
    if point.slot:
        payload |= {"slot": point.slot, "of": point.message_id}
    else:
        payload["facts"] = _to_facts(point)
    name = point_id(point.context_id, point.message_id, point.slot)
    return {"id": name, "vector": vectors, "payload": payload}


def _to_sparse(sparse: SparseVector) -> Json:
    """Return a vector with at least one term in Qdrant's order."""
    indices, values = zip(*sorted(zip(sparse.indices, sparse.values, strict=True)), strict=True)
    return {"indices": indices, "values": values}


def _to_facts(point: VectorPoint) -> str:
    """Return what the ranker reads, as words of one text; the message's id comes last, because it may have spaces."""
    terms = sorted(point.sparse.indices[:TERMS_STORED])  # sorted, to hide the order of the words
    packed = b2a_base64(struct.pack(f"<{len(terms)}I", *terms), newline=False).decode()
    author = f"{point.role} {_NONE if point.sender_id is None else point.sender_id}"
    signs = ",".join(sorted(point.signs)) or _NONE
    return f"{point.sequence} {point.session} {author} {point.sent_at!r} {signs} {packed or _NONE} {point.message_id}"


def _find_terms(asked: Sequence[int], contents: Sequence[Terms]) -> NDArray[np.bool_]:
    """Return which of the asked terms (columns) each message has (rows), from the terms of all messages."""
    has = np.zeros((len(contents), len(asked)), np.bool_)
    if asked and contents:
        stored = np.concatenate(contents)
        rows = np.repeat(np.arange(len(contents)), [len(each) for each in contents])
        wanted = np.array(asked, np.uint32)
        in_order = np.argsort(wanted)
        columns = in_order[np.minimum(np.searchsorted(wanted[in_order], stored), len(asked) - 1)]
        is_asked = wanted[columns] == stored
        has[rows[is_asked], columns[is_asked]] = True
    return has


@lru_cache(maxsize=256)
def _parse_signs(signs: str) -> frozenset[str]:
    return frozenset() if signs == _NONE else frozenset(signs.split(","))


COPIED_AT_ONCE = 64
"""Points with vectors of a page: 4 MB with 3,072 dimensions."""
LISTED_AT_ONCE = 1_000


async def read_points(
    send: Send, collection: str, context_id: str, *, epoch: int, message_ids: Collection[str]
) -> dict[str, Json]:
    """Return the points of these messages of this epoch, with their keys, by id, as a request would store them."""
    scope = erasure_filter(context_id, epoch=epoch, message_ids=message_ids)
    body = {"filter": scope, "with_payload": True, "with_vector": True}
    return {
        str(point["id"]): {"id": point["id"], "vector": point["vector"], "payload": point["payload"]}
        async for point in _scroll(send, collection, {**body, "limit": COPIED_AT_ONCE})
    }


def own_messages(points: Collection[Json]) -> set[str]:
    """Return the messages that have their own point among these, which a key is not."""
    return {_listed(point["payload"]).message_id for point in points if not point["payload"].get("slot")}


async def list_points(send: Send, collection: str, context_id: str) -> set[ListedPoint]:
    """Return what the points of this context stand for, over all epochs."""
    body = {
        "filter": erasure_filter(context_id),
        "with_payload": ["epoch", "facts", "of", "slot"],
        "limit": LISTED_AT_ONCE,
    }
    return {_listed(point["payload"]) async for point in _scroll(send, collection, body)}


async def list_contexts(send: Send, collection: str) -> set[str]:
    """Return the ids of all contexts with a point, also those of other deployments."""
    body = {"with_payload": ["context"], "limit": LISTED_AT_ONCE}
    return {point["payload"]["context"] async for point in _scroll(send, collection, body)}


class _Page(msgspec.Struct):
    points: list[Json]
    next_page_offset: str | int | None = None


_PAGE = msgspec.json.Decoder(Envelope[_Page])


async def _scroll(send: Send, collection: str, body: Json) -> AsyncGenerator[Json]:
    path = f"/collections/{collection}/points/scroll"
    page = _Page([])
    while True:
        offset = {} if page.next_page_offset is None else {"offset": page.next_page_offset}
        page = parse_result(await send("POST", path, to_json({**body, **offset})), _PAGE)
        for point in page.points:
            yield point
        if page.next_page_offset is None:
            return


def _listed(payload: Json) -> ListedPoint:
    message_id = payload["of"] if payload.get("slot") else payload["facts"].split(" ", 7)[-1]
    return ListedPoint(epoch=payload["epoch"], message_id=message_id, slot=payload.get("slot", 0))
