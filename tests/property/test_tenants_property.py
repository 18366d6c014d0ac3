"""Whatever was written and deleted, a tenant in memory answers as the engine does."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.embedded.index.collections import Collection, Collections
from memory.embedded.index.requests import (
    CollectionSettings,
    CreateIndex,
    DeletePoints,
    SearchBatch,
    UpsertPoints,
)
from memory.embedded.index.tenants import WANTED_AFTER

SETTINGS = CollectionSettings.model_validate(
    {
        "vectors": {"dense": {"size": 3, "distance": "Cosine"}},
        "sparse_vectors": {"terms": {"modifier": "idf"}},
    }
)
Json = dict[str, Any]
FIELDS = {"scope": "keyword", "role": "keyword", "n": "integer", "at": "float"}
SCOPE = {"key": "scope", "match": {"value": "a"}}
EVERYTHING = DeletePoints.model_validate(
    {"filter": {"must": [{"key": "scope", "match": {"any": ["a", "b"]}}]}}
)

numbers = st.integers(0, 12)
ids = st.one_of(numbers, numbers.map(lambda number: str(UUID(int=number))))
dense = st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3)
weights = st.dictionaries(st.integers(0, 6), st.floats(0.125, 2, width=32), max_size=4)
facts = st.text(max_size=3)
times = st.integers(0, 80).map(lambda eighths: eighths / 8)
fields = st.sampled_from([False, ["n"], ["facts", "at", "role"]])


def sparse(draw: st.DrawFn) -> Json:
    terms = draw(weights)
    return {"indices": list(terms), "values": list(terms.values())}


@st.composite
def points(draw: st.DrawFn) -> UpsertPoints:
    return UpsertPoints.model_validate({"points": [_point(draw) for _ in range(draw(st.integers(0, 8)))]})


def _point(draw: st.DrawFn) -> Json:
    some = [draw(st.booleans()) for _ in range(6)]
    vector: Json = {"dense": draw(dense), "terms": sparse(draw)}
    payload: Json = {"role": draw(st.sampled_from(["user", "assistant"])), "n": draw(numbers)}
    payload |= {"at": draw(times), "facts": draw(facts)}
    return {
        "id": draw(ids),
        "vector": {name: part for (name, part), has in zip(vector.items(), some[:2], strict=True) if has},
        "payload": {"scope": draw(st.sampled_from(["a", "a", "a", "b"]))}
        | {name: value for (name, value), has in zip(payload.items(), some[2:], strict=True) if has},
    }


def condition(draw: st.DrawFn) -> Json:
    match draw(st.integers(0, 7)):
        case 0:
            return {"has_id": draw(st.lists(ids, max_size=6))}
        case 1:
            return {"has_vector": draw(st.sampled_from(["dense", "terms"]))}
        case 2:
            return {"key": "n", "range": {"gte": draw(numbers), "lt": draw(numbers)}}
        case 3:
            return {"key": "at", "range": {"lt": draw(times)}}
        case 4:
            return {"key": "n", "match": {"any": draw(st.lists(numbers, max_size=5))}}
        case 5:
            return {"key": "n", "match": {"value": draw(numbers)}}
        case 6:
            return {"key": "role", "match": {"any": ["user", "nobody"]}}
        case _:
            return {"key": "role", "range": {"gte": 0}}


def scope(draw: st.DrawFn) -> Json:
    must, must_not = ([condition(draw) for _ in range(draw(st.integers(0, 2)))] for _ in range(2))
    return {"must": [SCOPE, *must], "must_not": must_not}


@st.composite
def searches(draw: st.DrawFn) -> Json:
    search: Json = {"filter": scope(draw), "limit": draw(st.integers(1, 30)), "with_payload": draw(fields)}
    match draw(st.sampled_from(["dense", "terms", None])):
        case "dense":
            search |= {"query": {"nearest": draw(dense)}, "using": "dense"}
        case "terms":
            corpus = {"idf": {"corpus": {"must": [SCOPE]}}}
            search |= {"query": {"nearest": sparse(draw)}, "using": "terms", "params": corpus}
        case _:
            pass
    return search


@st.composite
def deletions(draw: st.DrawFn) -> DeletePoints:
    return DeletePoints.model_validate({"filter": scope(draw)})


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Collection, Collection]]:
    """Yield a collection with tenants, and one that its engine answers alone: a shard takes long to make."""
    with tempfile.TemporaryDirectory() as directory:
        collections = Collections(Path(directory) / "c")
        yield (
            _make_collection(collections, "memory", is_tenant=True),
            _make_collection(collections, "engine", is_tenant=False),
        )
        asyncio.run(collections.close())


@pytest.mark.parametrize("is_loading", [False, True], ids=["after the load", "during the load"])
@settings(max_examples=60, deadline=None)
@given(
    before=points(),
    written=st.lists(st.one_of(points(), deletions()), max_size=5),
    asked=st.lists(searches(), min_size=1, max_size=6),
)
def test_a_tenant_in_memory_answers_as_the_engine(
    pair: tuple[Collection, Collection],
    is_loading: bool,
    before: UpsertPoints,
    written: list[UpsertPoints | DeletePoints],
    asked: list[Json],
) -> None:
    in_memory, in_engine = pair
    for write in (EVERYTHING, before):
        _write(in_memory, write)
        _write(in_engine, write)
    asyncio.run(_load(in_memory, written, is_loading=is_loading))
    for write in written:
        _write(in_engine, write)
    batch = SearchBatch.model_validate({"searches": asked})
    assert all(in_memory.tenants.search(search) is not None for search in batch.searches)
    for search, mine, engines in zip(asked, in_memory.search(batch), in_engine.search(batch), strict=True):
        _assert_same_hits(search, mine["points"], engines["points"])


async def _load(
    collection: Collection, written: list[UpsertPoints | DeletePoints], *, is_loading: bool
) -> None:
    """Load the tenant, and write after or during that."""
    collection.tenants.forget()
    for _ in range(WANTED_AFTER):
        collection.search(SearchBatch.model_validate({"searches": [{"filter": {"must": [SCOPE]}}]}))
    loading = asyncio.create_task(collection.tenants.load_wanted(collection.shard.engine, slice_size=3))
    if not is_loading:
        await loading
    for write in written:
        await asyncio.sleep(0)
        _write(collection, write)
    await loading


def _make_collection(collections: Collections, name: str, *, is_tenant: bool) -> Collection:
    collections.create(name, SETTINGS)
    collection = collections.get(name)
    for field, kind in FIELDS.items():
        schema = {"type": kind, "is_tenant": True} if is_tenant and field == "scope" else {"type": kind}
        collection.create_index(CreateIndex.model_validate({"field_name": field, "field_schema": schema}))
    return collection


def _write(collection: Collection, write: UpsertPoints | DeletePoints) -> None:
    if isinstance(write, UpsertPoints):
        collection.upsert(write)
    else:
        collection.delete(write)


def _assert_same_hits(search: Json, mine: list[Json], engines: list[Json]) -> None:
    """Assert the same scores and payloads, and the same order but for equal scores."""
    if "query" not in search:
        assert [str(hit["id"]) for hit in mine] == [str(hit["id"]) for hit in engines]
    assert [hit["score"] for hit in mine] == pytest.approx([hit["score"] for hit in engines], abs=1e-5)
    payloads = {str(hit["id"]): hit["payload"] for hit in engines}
    lowest = engines[-1]["score"] + 1e-4 if len(engines) == search["limit"] else float("-inf")
    for hit in mine:
        if hit["score"] > lowest:  # of equal scores at the limit either may be left out
            assert hit["payload"] == payloads[str(hit["id"])]
