"""Which chats are in the memory of the embedded index, and what stays there."""

import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from memory.embedded.index.collections import Collection, Collections
from memory.embedded.index.requests import (
    CollectionSettings,
    CreateIndex,
    DeletePoints,
    Search,
    SearchBatch,
    UpsertPoints,
)
from memory.embedded.index.tenant import Tenant
from memory.embedded.index.tenants import BUSY_S, IDLE_S, WANTED_AFTER, Tenants

SETTINGS = CollectionSettings.model_validate(
    {
        "vectors": {"dense": {"size": 2, "distance": "Cosine"}},
        "sparse_vectors": {"terms": {"modifier": "idf"}},
    }
)
TERM, ITS_OWN = 7, 0xFACADE01


def points(*numbers: int, term: int = TERM, **payload: Any) -> UpsertPoints:
    return UpsertPoints.model_validate(
        {
            "points": [
                {
                    "id": n,
                    "vector": {"dense": [1.0, float(n)], "terms": {"indices": [term], "values": [1.0]}},
                    "payload": {"scope": "a", "n": n, "facts": f"secret {n}", **payload},
                }
                for n in numbers
            ]
        }
    )


def scope_of(key: str) -> dict[str, Any]:
    return {"must": [{"key": "scope", "match": {"value": key}}]}


def search_of(key: str) -> Search:
    query = {"query": {"nearest": [1.0, 1.0]}, "using": "dense", "with_payload": ["facts"]}
    return Search.model_validate({"filter": scope_of(key), **query})


def ask(collection: Collection, key: str, times: int = WANTED_AFTER) -> list[Any]:
    batch = SearchBatch(searches=[search_of(key)])
    return [collection.search(batch)[0]["points"] for _ in range(times)][-1]


async def load(collection: Collection) -> None:
    """Do what the upkeep does each second."""
    collection.tenants.expire()
    await collection.tenants.load_wanted(collection.shard.engine)


def is_in_memory(collection: Collection, key: str) -> bool:
    return collection.tenants.search(search_of(key)) is not None


@pytest.fixture
async def collection(tmp_path: Path) -> Any:
    """A collection with the points 1 and 2 of tenant a."""
    collections = Collections(tmp_path / "c")
    collections.create("messages", SETTINGS)
    made = collections.get("messages")
    for field, schema in (("scope", {"type": "keyword", "is_tenant": True}), ("n", {"type": "integer"})):
        made.create_index(CreateIndex.model_validate({"field_name": field, "field_schema": schema}))
    made.upsert(points(1, 2))
    yield made
    await collections.close()


async def test_a_chat_that_is_searched_again_and_again_is_loaded(collection: Collection) -> None:
    ask(collection, "a", WANTED_AFTER - 1)
    await load(collection)
    assert not is_in_memory(collection, "a")  # this was the last search that it took
    await load(collection)
    assert is_in_memory(collection, "a")


async def test_searches_of_long_ago_do_not_count(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(collection, "a", WANTED_AFTER - 1)
    later = time.monotonic() + IDLE_S + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    ask(collection, "a", 1)
    await load(collection)
    assert not is_in_memory(collection, "a")


async def test_a_chat_that_nobody_searches_leaves_the_memory(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(collection, "a")
    await load(collection)
    later = time.monotonic() + IDLE_S + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    await load(collection)
    assert not is_in_memory(collection, "a")
    assert len(ask(collection, "a", 1)) == 2


async def test_a_deleted_point_leaves_nothing_in_memory(collection: Collection) -> None:
    ask(collection, "a")
    await load(collection)
    collection.upsert(points(3, term=ITS_OWN))
    before = pickle.dumps(collection.tenants)
    collection.delete(DeletePoints.model_validate({"filter": {"must": [{"has_id": [3]}]}}))
    after = pickle.dumps(collection.tenants)
    assert is_in_memory(collection, "a")
    for secret in (b"secret 3", pickle.dumps(ITS_OWN)[-6:-1]):
        assert secret in before
        assert secret not in after
    assert b"secret 1" in after


async def test_a_chat_of_deleted_points_leaves_the_memory(collection: Collection) -> None:
    ask(collection, "a")
    await load(collection)
    collection.delete(DeletePoints.model_validate({"filter": scope_of("a")}))
    await load(collection)
    assert not is_in_memory(collection, "a")


async def test_a_point_that_moves_to_another_chat_is_found_there_only(collection: Collection) -> None:
    for key in ("a", "b"):
        ask(collection, key)
    await load(collection)
    collection.upsert(points(2, scope="b"))
    assert [hit["id"] for hit in ask(collection, "a", 1)] == [1]
    assert [hit["id"] for hit in ask(collection, "b", 1)] == [2]
    assert is_in_memory(collection, "b")


async def test_a_value_of_another_type_leaves_its_chat_to_the_engine(collection: Collection) -> None:
    ask(collection, "a")
    await load(collection)
    collection.upsert(points(3, n="three"))
    assert not is_in_memory(collection, "a")
    assert {hit["id"] for hit in ask(collection, "a")} == {1, 2, 3}
    await load(collection)
    assert not is_in_memory(collection, "a")


async def test_after_a_failed_write_the_engine_answers(collection: Collection) -> None:
    ask(collection, "a")
    await load(collection)
    collection.shard.close()
    with pytest.raises(Exception, match="not initialized"):
        collection.upsert(points(3))
    assert not is_in_memory(collection, "a")
    collection.shard = Collection.load(collection.folder).shard
    assert len(ask(collection, "a", 1)) == 2


async def test_an_integer_that_has_no_room_in_an_array_leaves_its_chat_to_the_engine(
    collection: Collection,
) -> None:
    ask(collection, "a")
    await load(collection)
    collection.upsert(points(3, n=2**63))
    assert not is_in_memory(collection, "a")
    assert {hit["id"] for hit in ask(collection, "a", 1)} == {1, 2, 3}


async def test_equal_vectors_have_equal_scores(collection: Collection) -> None:
    same = points(*range(100, 1100)).model_dump()
    for point in same["points"]:
        point["vector"]["dense"] = [0.6, 0.81]
    collection.upsert(UpsertPoints.model_validate(same))
    ask(collection, "a")
    await load(collection)
    search = search_of("a").model_copy(update={"limit": 1_002})
    hits = collection.tenants.search(search) or []
    assert len({hit["score"] for hit in hits if hit["id"] >= 100}) == 1


@pytest.mark.parametrize(
    ("idle_s", "loaded"), [(BUSY_S / 2, ["a"]), (BUSY_S + 1, ["b"])], ids=["in use", "at rest"]
)
def test_a_chat_makes_room_for_another_unless_it_is_in_use(
    monkeypatch: pytest.MonkeyPatch, idle_s: float, loaded: list[str]
) -> None:
    size = Tenant("a", "scope", {}, SETTINGS).point_bytes
    kept = Tenants(SETTINGS, max_bytes=size * 100)
    first = kept.begin("a", 2)
    assert first is not None
    for n in (1, 2):
        first.put(n, {}, {})
    later = time.monotonic() + idle_s
    monkeypatch.setattr(time, "monotonic", lambda: later)
    second = kept.begin("b", 2)
    assert [each.key for each in (first, second) if each and kept.is_kept(each)] == loaded


def test_a_chat_larger_than_the_room_is_left_to_the_engine_and_pushes_nobody_out() -> None:
    size = Tenant("a", "scope", {}, SETTINGS).point_bytes
    kept = Tenants(SETTINGS, max_bytes=size * 300)
    small = kept.begin("a", 2)
    assert small is not None
    small.used_at = 0.0
    assert kept.begin("b", 400) is None
    assert kept.is_kept(small)
