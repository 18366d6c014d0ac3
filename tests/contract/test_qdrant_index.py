"""QdrantIndex over HTTP: its requests to a Qdrant server, and failures of the server."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import pytest
from pydantic_core import from_json, to_json
from qdrant_client import AsyncQdrantClient, models

from memory.embedded.supervisor import IndexEndpoint
from memory.errors import IndexMismatch, MissingContext, RecallUnavailable
from memory.recall.qdrant import points as qdrant_points
from memory.recall.qdrant.connection import IndexRefusal
from memory.recall.qdrant.index import FormerCollections, Qdrant, QdrantIndex, RequestTooLarge, open_qdrant
from memory.recall.qdrant.points import (
    erasure_filter,
    filter_of_contexts,
    messages_filter,
    point_id,
    search_filter,
)
from memory.recall.spaces import COLLECTION_PREFIX, collection_name
from memory.recall.vector_index import VectorErasure, Where
from tests.contract.vector_kit import (
    EAST,
    SPACE,
    client_of,
    find,
    ids,
    make_index,
    make_point,
    make_query,
    make_space,
    score,
    terms,
)
from tests.store_proxy import index_proxy

pytestmark = pytest.mark.slow


@pytest.fixture
async def qdrant(index_endpoint: IndexEndpoint) -> AsyncGenerator[Qdrant]:
    """Open the server. Collections of this test are removed after it."""
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as opened:
        before = await names(client_of(opened))
        yield opened
        for name in await names(client_of(opened)) - before:
            await client_of(opened).delete_collection(name)


@pytest.fixture
def client(qdrant: Qdrant) -> AsyncQdrantClient:
    return client_of(qdrant)


@pytest.fixture
def chat() -> str:
    """Return a context id for this test alone: erasing and counting cover all collections of a shared server."""
    return uuid4().hex


class Watched:
    """A server whose requests are recorded. A write is recorded by its number of points, with its answer."""

    def __init__(self, qdrant: Qdrant) -> None:
        self._send = qdrant.send
        self.asked: Counter[str] = Counter()
        self.batches: list[int] = []
        self.qdrant = replace(qdrant, send=self.send)

    async def send(self, method: str, path: str, body: bytes) -> bytes:
        _, _, about = path.partition("/points")
        if about:
            self.asked[f"{method} points{about}"] += 1
        if method == "PUT" and about:
            self.batches.append(len(from_json(body)["points"]))
        return await self._send(method, path, body)


async def names(client: AsyncQdrantClient) -> set[str]:
    return {each.name for each in (await client.get_collections()).collections}


async def test_points_have_filter_and_ranking_fields_and_no_text(
    qdrant: Qdrant, client: AsyncQdrantClient, chat: str
) -> None:
    index = make_index(qdrant, make_space())
    point = make_point(
        chat, "m", EAST, epoch=4, sender_id=5, sequence=9, session=7, sparse=terms(3), signs=frozenset("ba")
    )
    await index.upsert([point])
    (record,), _ = await client.scroll(index.collection, with_vectors=True)
    assert record.id == point_id(chat, "m")
    assert record.payload == {
        "scope": f"{chat}/4",
        "context": chat,
        "epoch": 4,
        "role": "user",
        "sender_id": 5,
        "sent_at": 1.5,
        "sequence": 9,
        "facts": "9 7 user 5 1.5 a,b AwAAAA== m",
    }
    assert record.vector == {"dense": EAST, "terms": models.SparseVector(indices=[3], values=[1.0])}


async def test_a_collection_has_both_vectors_and_an_index_for_each_filter(
    qdrant: Qdrant, client: AsyncQdrantClient, chat: str
) -> None:
    index = make_index(qdrant, make_space())
    await index.upsert([make_point(chat, "m", EAST)])
    info = await client.get_collection(index.collection)
    indexed = {name: schema.data_type.value for name, schema in info.payload_schema.items()}
    assert indexed == {
        "scope": "keyword",
        "context": "keyword",
        "epoch": "integer",
        "sequence": "integer",
        "sender_id": "integer",
        "sent_at": "float",
        "role": "keyword",
        "tags": "keyword",
        "slot": "integer",
    }
    everything = Where(
        before_sequence=1,
        sent_from=0.0,
        sent_before=1.0,
        sender_ids=frozenset({1}),
        roles=frozenset({"user"}),
        excluded=frozenset({"m"}),
        tags=frozenset({"=1"}),
    )
    searches = (search_filter(chat, 1, where=everything), search_filter(chat, 1, sequences=[1]))
    counts = messages_filter(chat, 1)
    erasures = (
        erasure_filter(chat, epoch=1, message_ids=["m"]),
        erasure_filter(chat, below_epoch=1),
        filter_of_contexts([chat]),
    )
    fields = {
        condition.key
        for scope in map(models.Filter.model_validate, (*searches, counts, *erasures))
        for condition in cast(
            list[models.Condition], [*cast(list[models.Condition], scope.must), *(scope.must_not or ())]
        )
        if isinstance(condition, models.FieldCondition)
    }
    assert fields == set(indexed)
    sparse = info.config.params.sparse_vectors or {}
    assert sparse["terms"].modifier == models.Modifier.IDF


def test_the_name_of_a_collection_contains_space_analysis_and_layout() -> None:
    space = make_space()
    names = {
        collection_name(space),
        collection_name(space, recipe="other"),
        collection_name(space, layout="other"),
        *(collection_name(replace(space, **other)) for other in ({"dimension": 4}, {"version": "2"})),
        collection_name(replace(space, model=space.model + "x" * 500)),
    }
    assert len(names) == 6
    assert all(len(name) <= 200 and name.startswith(COLLECTION_PREFIX) for name in names)


async def test_a_search_and_a_score_are_one_request_each(qdrant: Qdrant, chat: str) -> None:
    watched = Watched(qdrant)
    index = make_index(watched.qdrant, make_space())
    await index.upsert([make_point(chat, "m", EAST, sequence=1, sparse=terms(1))])
    query = make_query(chat, sparse=terms(1))
    for asking in (index.search(query), score(index, query, [0, 1, 2])):
        watched.asked.clear()
        assert len(await asking) == 1
        assert watched.asked == {"POST points/query/batch": 1}


async def test_a_search_that_cannot_match_sends_no_request(qdrant: Qdrant, chat: str) -> None:
    watched = Watched(qdrant)
    index = make_index(watched.qdrant, make_space())
    nobody = Where(sender_ids=frozenset())
    assert await index.search(make_query(chat, dense=None)) == []
    assert await index.search(make_query(chat, limit=0)) == []
    assert await index.search(make_query(chat, where=nobody)) == []
    assert await index.search(make_query(chat, where=Where(roles=frozenset()))) == []
    assert await score(index, make_query(chat), []) == []
    await index.upsert([])
    assert watched.asked == {}


async def test_a_read_creates_no_collection(qdrant: Qdrant, client: AsyncQdrantClient, chat: str) -> None:
    index = make_index(qdrant, make_space())
    assert await index.search(make_query(chat)) == []
    assert await score(index, make_query(chat), [1]) == []
    assert await index.count(chat) == 0
    assert index.collection not in await names(client)


async def test_points_are_written_in_batches_that_a_server_accepts(
    qdrant: Qdrant, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant_points, "MAX_BATCH_BYTES", 50_000)
    watched = Watched(qdrant)
    index = make_index(watched.qdrant, make_space())
    long = [make_point(chat, f"long{n}", sparse=terms(*range(1_000)), sequence=n) for n in range(3)]
    huge = make_point(chat, "huge", sparse=terms(*range(5_000)))
    short = [make_point(chat, f"short{n}", EAST, sequence=n) for n in range(3)]
    await index.upsert([*long, huge, *short])
    assert watched.batches == [1, 1, 1, 1, 3]
    monkeypatch.undo()
    await index.upsert([make_point(chat, f"m{n}", EAST) for n in range(600)])
    assert watched.batches[5:] == [256, 256, 88]
    assert await index.count(chat) == 607


async def test_an_erasure_includes_the_collections_of_former_embedders(qdrant: Qdrant, chat: str) -> None:
    former, present = make_index(qdrant, make_space()), make_index(qdrant, make_space(dimension=4))
    await former.upsert([make_point(chat, "m", EAST), make_point(chat, "n", EAST)])
    await present.upsert([make_point(chat, "m", [*EAST, 0.0])])
    assert await present.count(chat) == 3
    assert await present.drop(chat, epoch=0, message_ids=["m"]) == VectorErasure(before=2, left=0)
    assert await present.erase(chat, below_epoch=1) == VectorErasure(before=1, left=0)
    assert await former.count(chat) == 0


async def test_an_erasure_includes_points_of_the_former_layout(
    qdrant: Qdrant, client: AsyncQdrantClient, chat: str
) -> None:
    former = f"{COLLECTION_PREFIX}former-{uuid4().hex}"
    plain = {"dense": models.VectorParams(size=2, distance=models.Distance.COSINE)}
    await client.create_collection(former, plain)
    points = [
        models.PointStruct(
            id=point_id(chat, message),
            vector={"dense": [1.0, 0.0]},
            payload={"context": chat, "epoch": epoch, "message_id": message, "role": "user", "sent_at": 1.5},
        )
        for message, epoch in (("m", 1), ("n", 1), ("old", 0))
    ]
    await client.upsert(former, points, wait=True)
    index = make_index(qdrant, make_space())
    assert await index.count(chat) == 3
    assert await index.drop(chat, epoch=1, message_ids=["m", "old"]) == VectorErasure(before=1, left=0)
    assert await index.erase(chat, below_epoch=2) == VectorErasure(before=2, left=0)


async def test_a_space_is_emptied_context_by_context_and_then_deleted(
    qdrant: Qdrant, client: AsyncQdrantClient, chat: str
) -> None:
    former, present, all_of_them = (
        make_index(qdrant, make_space()),
        make_index(qdrant, make_space()),
        FormerCollections(qdrant),
    )
    for index in (former, present):
        await index.upsert(
            [make_point(context, "m", EAST, epoch=3) for context in (chat, f"{chat}2", "of others")]
        )
    assert await all_of_them.erase_contexts(former.collection, [chat, f"{chat}2", "unknown"]) == 2
    assert await all_of_them.delete_if_empty(former.collection) is False
    assert (await former.count(chat), ids(await find(former, make_query(chat, epoch=3)))) == (1, set())
    assert await all_of_them.erase_contexts(former.collection, ["of others"]) == 1
    assert await all_of_them.delete_if_empty(former.collection) is True
    assert await all_of_them.delete_if_empty(former.collection) is True
    assert former.collection not in await names(client)
    assert ids(await find(present, make_query(chat, epoch=3))) == {"m"}
    for wrong in ([], ["", chat]):
        with pytest.raises(MissingContext):
            await all_of_them.erase_contexts(former.collection, wrong)


async def test_a_collection_of_another_size_is_reported_with_both_sizes(qdrant: Qdrant, chat: str) -> None:
    name = collection_name(make_space())
    await QdrantIndex(qdrant, name, dimension=3).upsert([make_point(chat, "m", EAST)])
    other = QdrantIndex(qdrant, name, dimension=4)
    for attempt in (other.search(make_query(chat)), other.upsert([make_point(chat, "m", [*EAST, 0.0])])):
        with pytest.raises(IndexMismatch, match=rf"{name} holds vectors of 3 dimensions, .* makes 4"):
            await attempt


@pytest.mark.parametrize(
    "settings",
    [
        {"vectors_config": {"other": models.VectorParams(size=3, distance=models.Distance.COSINE)}},
        {"vectors_config": {"dense": models.VectorParams(size=3, distance=models.Distance.COSINE)}},
        {"vectors_config": {}, "sparse_vectors_config": {"terms": models.SparseVectorParams()}},
    ],
)
async def test_a_collection_without_our_vectors_is_not_used(
    qdrant: Qdrant, client: AsyncQdrantClient, chat: str, settings: dict[str, Any]
) -> None:
    index = make_index(qdrant, make_space())
    await client.create_collection(index.collection, **settings)
    with pytest.raises(IndexMismatch, match="another program created it"):
        await index.search(make_query(chat))


async def test_a_half_made_collection_is_completed(
    qdrant: Qdrant, client: AsyncQdrantClient, chat: str
) -> None:
    index = make_index(qdrant, make_space())
    await client.create_collection(
        index.collection,
        {"dense": models.VectorParams(size=3, distance=models.Distance.COSINE)},
        {"terms": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    assert await index.search(make_query(chat)) == []
    assert len((await client.get_collection(index.collection)).payload_schema) == 9


async def test_several_openers_create_one_collection(qdrant: Qdrant, chat: str) -> None:
    space = make_space()
    openers = [make_index(qdrant, space) for _ in range(6)]
    await asyncio.gather(
        *(index.upsert([make_point(chat, f"m{number}", EAST)]) for number, index in enumerate(openers))
    )
    assert await openers[0].count(chat) == 6


async def test_a_lost_collection_is_empty_and_created_again_by_a_write(
    qdrant: Qdrant, client: AsyncQdrantClient, chat: str
) -> None:
    index = make_index(qdrant, make_space())
    await index.upsert([make_point(chat, "m", EAST)])
    await client.delete_collection(index.collection)
    assert await index.search(make_query(chat)) == []
    assert await score(index, make_query(chat), [0]) == []
    await index.upsert([make_point(chat, "n", EAST)])
    assert ids(await find(index, make_query(chat))) == {"n"}
    await client.delete_collection(index.collection)
    await index.upsert([make_point(chat, "o", EAST)])
    assert ids(await find(index, make_query(chat))) == {"o"}


async def test_a_server_lost_during_a_batch_is_unavailable_and_a_repetition_completes_it(
    index_endpoint: IndexEndpoint, chat: str
) -> None:
    async with (
        index_proxy(index_endpoint.url) as proxy,
        open_qdrant(proxy.http_url, api_key=index_endpoint.api_key) as through,
    ):

        class Cut(Watched):
            async def send(self, method: str, path: str, body: bytes) -> bytes:
                done = await super().send(method, path, body)
                if len(self.batches) == 2:
                    await proxy.cut()
                return done

        index = make_index(Cut(through).qdrant)
        points = [make_point(chat, f"m{n}", EAST, sequence=n, sparse=terms(n)) for n in range(700)]
        with pytest.raises(RecallUnavailable, match="cannot be reached"):
            await index.upsert(points)
        for ask in (index.search(make_query(chat)), index.score(make_query(chat), [1]), index.count(chat)):
            with pytest.raises(RecallUnavailable):
                await ask
        await proxy.mend()
        assert await index.count(chat) == 512
        await index.upsert(points)
        assert await index.count(chat) == 700


async def test_a_missing_server_is_unavailable_with_its_cause(chat: str) -> None:
    async with open_qdrant("http://127.0.0.1:9", timeout_s=1.0) as nowhere:
        index = make_index(nowhere)
        for attempt in (
            index.search(make_query(chat)),
            index.score(make_query(chat), [1]),
            index.upsert([make_point(chat, "m", EAST)]),
            index.count(chat),
            index.erase(chat, below_epoch=1),
            FormerCollections(nowhere).delete_if_empty(index.collection),
        ):
            with pytest.raises(RecallUnavailable, match="cannot be reached") as raised:
                await attempt
            assert raised.value.__cause__ is not None


async def test_a_wrong_key_is_reported_without_the_key(index_endpoint: IndexEndpoint, chat: str) -> None:
    async with open_qdrant(index_endpoint.url, api_key="canary-key") as stranger:
        with pytest.raises(RecallUnavailable, match=r"40[13]") as raised:
            await make_index(stranger).search(make_query(chat))
    assert "canary-key" not in str(raised.value)


async def test_a_batch_too_large_for_a_proxy_is_written_in_parts(qdrant: Qdrant, chat: str) -> None:
    class Strict(Watched):
        async def send(self, method: str, path: str, body: bytes) -> bytes:
            if path.endswith("/points?wait=true") and len(from_json(body)["points"]) > most:
                raise RequestTooLarge("the vector index answered 413 Request Entity Too Large", 413)
            return await super().send(method, path, body)

    most = 10
    watched = Strict(qdrant)
    index = make_index(watched.qdrant, make_space())
    await index.upsert([make_point(chat, f"m{n}", EAST, sequence=n) for n in range(64)])
    assert await index.count(chat) == 64
    assert watched.batches == [8] * 8
    most = 0
    with pytest.raises(RecallUnavailable, match="413"):
        await index.upsert([make_point(chat, "another", EAST)])


async def test_a_vector_of_a_wrong_size_is_refused_with_its_whole_batch(qdrant: Qdrant, chat: str) -> None:
    index = make_index(qdrant, SPACE)
    with pytest.raises(RecallUnavailable, match="400"):
        await index.upsert([make_point(chat, "right", EAST), make_point(chat, "m", [1.0, 0.0])])
    assert await index.count(chat) == 0


async def test_an_unfinished_write_is_not_reported_as_done(qdrant: Qdrant, chat: str) -> None:
    async def accept(method: str, path: str, body: bytes) -> bytes:
        answer = await qdrant.send(method, path, body)
        if "/points?" not in path:
            return answer
        # As Qdrant answers when its `timeout` expires.
        return to_json({"result": {**from_json(answer)["result"], "status": "acknowledged"}})

    index = make_index(replace(qdrant, send=accept), SPACE)
    with pytest.raises(RecallUnavailable, match="did not finish"):
        await index.upsert([make_point(chat, "m", EAST)])


def test_a_message_that_changes_between_the_answers_is_scored_once() -> None:
    payload = qdrant_points.Payload(facts="1 0 user 7 1.5 - - m")
    first, second = (
        qdrant_points.Answer(points=[qdrant_points.FoundPoint(id="p", score=score, payload=payload)])
        for score in (0.5, 0.0)
    )
    scored = qdrant_points.parse_scored(make_query("chat"), [first, second])
    assert (scored.ids, scored.dense.tolist()) == (("m",), [0.5])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"result":[{"points":[{"id":1}]}]}',
        b'{"result":[{"points":[{"id":"\xff"}]}]}',
    ],
)
def test_an_answer_that_cannot_be_read_is_a_failure_of_recall(content: bytes) -> None:
    with pytest.raises(RecallUnavailable):
        qdrant_points.parse_answers(content)


@pytest.mark.parametrize("is_embedded", [False, True])
async def test_a_server_is_told_to_refuse_slow_filters_and_to_vacuum_early(
    qdrant: Qdrant, chat: str, is_embedded: bool
) -> None:
    told: list[dict[str, Any]] = []

    async def accept(method: str, path: str, body: bytes) -> bytes:
        if method != "PATCH":
            return await qdrant.send(method, path, body)
        told.append(from_json(body))
        return to_json({"result": True, "status": "ok", "time": 0.0})

    index = make_index(replace(qdrant, send=accept, is_embedded=is_embedded), SPACE)
    await index.upsert([make_point(chat, "m", EAST)])
    limits = {
        "strict_mode_config": {
            "enabled": True,
            "unindexed_filtering_retrieve": False,
            "unindexed_filtering_update": False,
        },
        "optimizers_config": {"deleted_threshold": 0.05, "vacuum_min_vector_number": 100},
    }
    assert told == ([] if is_embedded else [limits])


@pytest.mark.parametrize("status", [404, 401])
async def test_a_refusal_of_the_limits_says_what_the_server_answered(
    qdrant: Qdrant, chat: str, status: int
) -> None:
    async def refuse(method: str, path: str, body: bytes) -> bytes:
        if method == "PATCH":
            raise IndexRefusal(f"the vector index answered {status}", status)
        return await qdrant.send(method, path, body)

    index = make_index(replace(qdrant, send=refuse), SPACE)
    with nullcontext() if status == 404 else pytest.raises(IndexRefusal, match=str(status)):
        await index.upsert([make_point(chat, "m", EAST)])
