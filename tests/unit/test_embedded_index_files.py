"""The files of the embedded index: half-made collections and shards, the key, and what is known of garbage."""

import stat
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from memory.embedded.index import folders
from memory.embedded.index.api_key import load_api_key
from memory.embedded.index.collections import Collection, Collections
from memory.embedded.index.engine import asking_engine
from memory.embedded.index.failures import BadRequest, EngineFailed, NotFound
from memory.embedded.index.flushing import FlushTimes, flush, should_flush
from memory.embedded.index.reads import count_points
from memory.embedded.index.requests import (
    CountPoints,
    CreateCollection,
    CreateFieldIndex,
    PointsSelection,
    SetPayload,
    UpsertPoints,
)
from memory.embedded.index.upkeep import UpkeepTimes, should_vacuum
from memory.embedded.index.writes import create_index, delete_points, set_payload, upsert_points

SETTINGS = CreateCollection.model_validate({"vectors": {"dense": {"size": 4, "distance": "Cosine"}}})


CHANGES: list[Callable[[Collection], object]] = [
    lambda collection: delete_points(collection, PointsSelection(points=[2])),
    lambda collection: set_payload(collection, SetPayload(points=[2], payload={"n": 1})),
    lambda collection: upsert_points(collection, points(5, 5)),
]


def points(*numbers: int) -> UpsertPoints:
    return UpsertPoints.model_validate(
        {"points": [{"id": n, "vector": {"dense": [1.0, 2.0, 3.0, float(n)]}} for n in numbers]}
    )


def reopened(directory: Path) -> Collections:
    return Collections.open(directory, folders.settle(directory))


@pytest.fixture
def collection(tmp_path: Path) -> Generator[Collection]:
    """A fresh collection."""
    collections = Collections.open(tmp_path / "c")
    collections.create("messages", SETTINGS)
    yield collections.get("messages")
    collections.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"vectors": {"size": 4, "distance": "Dot"}},
        {"vectors": {"a": {"size": 4, "distance": "Dot"}, "b": {"size": 8, "distance": "Euclid"}}},
        {"sparse_vectors": {"text": {"modifier": "idf"}}},
        {"vectors": {"a": {"size": 4, "distance": "Cosine"}}, "sparse_vectors": {"text": {}}},
    ],
)
def test_a_collection_is_there_after_the_next_start(tmp_path: Path, settings: dict[str, object]) -> None:
    wanted = CreateCollection.model_validate(settings)
    collections = Collections.open(tmp_path / "c")
    collections.create("messages", wanted)
    collections.close()
    again = reopened(tmp_path / "c")
    assert again.get("messages").settings == wanted
    again.close()


def test_what_a_crash_left_half_made_is_removed_at_the_next_start(tmp_path: Path) -> None:
    collections = Collections.open(tmp_path / "c")
    collections.create("whole", SETTINGS)
    collections.create("half", SETTINGS)
    collections.close()
    (tmp_path / "c" / "half" / "collection.json").unlink()
    again = reopened(tmp_path / "c")
    assert [collection.name for collection in again] == ["whole"]
    assert not (tmp_path / "c" / "half").exists()
    again.create("half", SETTINGS)
    again.close()


def make_two_shards(tmp_path: Path) -> tuple[Path, str]:
    """A collection with two points in its shard and three in a fresh one: its folder, and the fresh shard's name."""
    fresh = folders.new_shard()
    for shard in ("shard", fresh):
        collections = Collections.open(tmp_path / "c", {"messages": shard})
        collections.create("messages", SETTINGS)
        upsert_points(collections.get("messages"), points(*range(2 if shard == "shard" else 3)))
        collections.close()
    return tmp_path / "c" / "messages", fresh


def test_the_shard_that_was_not_turned_to_is_removed_at_the_next_start(tmp_path: Path) -> None:
    folder, fresh = make_two_shards(tmp_path)
    left = set(folder.iterdir())
    assert folders.settle(tmp_path / "c") == {"messages": "shard"}
    assert {path.name for path in left - set(folder.iterdir())} == {fresh, f"{fresh}.clean"}
    again = reopened(tmp_path / "c")
    assert count_points(again.get("messages"), CountPoints()) == 2
    again.close()


def test_the_shard_that_was_turned_to_is_the_one_at_the_next_start(tmp_path: Path) -> None:
    folder, fresh = make_two_shards(tmp_path)
    folders.turn_to(folder, fresh)
    again = reopened(tmp_path / "c")
    assert count_points(again.get("messages"), CountPoints()) == 3
    assert sorted(path.name for path in folder.iterdir()) == [
        "collection.json",
        "current",
        fresh,
        f"{fresh}.clean",
    ]
    again.close()


def test_a_deleted_collection_leaves_no_file(tmp_path: Path) -> None:
    collections = Collections.open(tmp_path / "c")
    collections.create("messages", SETTINGS)
    upsert_points(collections.get("messages"), points(1, 2, 3))
    assert collections.delete("messages")
    assert list((tmp_path / "c").iterdir()) == []
    with pytest.raises(NotFound):
        collections.get("messages")


def test_there_is_garbage_once_something_was_deleted_or_replaced(collection: Collection) -> None:
    upsert_points(collection, points(1, 2, 3))
    create_index(collection, CreateFieldIndex(field_name="n", field_schema="integer"))
    delete_points(collection, PointsSelection(points=[77]))
    assert not collection.has_garbage
    upsert_points(collection, points(3, 4))
    assert collection.has_garbage


@pytest.mark.parametrize("change", CHANGES)
def test_garbage_of_every_kind_is_noticed_and_known_at_the_next_start(
    tmp_path: Path, change: Callable[[Collection], object]
) -> None:
    collections = Collections.open(tmp_path / "c")
    collections.create("messages", SETTINGS)
    upsert_points(collections.get("messages"), points(1, 2, 3))
    collections.close()
    again = reopened(tmp_path / "c")
    assert not again.get("messages").has_garbage
    change(again.get("messages"))
    assert again.get("messages").has_garbage
    assert not folders.is_clean(tmp_path / "c" / "messages", "shard")
    again.close()
    once_more = reopened(tmp_path / "c")
    assert once_more.get("messages").has_garbage
    once_more.close()


def test_a_write_that_fails_may_have_left_garbage(collection: Collection) -> None:
    upsert_points(collection, points(1))
    with pytest.raises(NotFound):
        set_payload(collection, SetPayload(points=[1, 99], payload={"n": 1}))
    assert collection.has_garbage


async def test_a_flush_leaves_nothing_to_flush(collection: Collection) -> None:
    upsert_points(collection, points(1, 2, 3))
    assert collection.unflushed_since is not None
    assert collection.unflushed_points == 3
    await flush(collection)
    assert collection.unflushed_since is None
    assert collection.unflushed_points == 0


def test_a_flush_waits_for_silence_or_a_long_log(collection: Collection) -> None:
    times = FlushTimes(after=60, quiet=2, points=3)
    assert not should_flush(collection, now=1e9, used_at=0, times=times)
    upsert_points(collection, points(1, 2))
    written = collection.unflushed_since or 0
    assert not should_flush(collection, now=written + 59, used_at=written, times=times)
    assert not should_flush(collection, now=written + 600, used_at=written + 599, times=times)
    assert should_flush(collection, now=written + 61, used_at=written + 58, times=times)
    upsert_points(collection, points(3))
    assert should_flush(collection, now=written + 1, used_at=written + 1, times=times)


def test_a_vacuum_waits_for_silence_but_not_forever() -> None:
    times = UpkeepTimes(quiet=30, patience=600)
    assert not should_vacuum(garbage_for=100, quiet_for=29, times=times)
    assert should_vacuum(garbage_for=1, quiet_for=30, times=times)
    assert should_vacuum(garbage_for=600, quiet_for=0, times=times)


def test_the_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    key = load_api_key(tmp_path / "api-key")
    assert load_api_key(tmp_path / "api-key") == key
    assert stat.S_IMODE((tmp_path / "api-key").stat().st_mode) == 0o600
    assert load_api_key(tmp_path / "other") != key


def test_a_panic_of_the_engine_ends_the_process_so_that_it_is_started_afresh() -> None:
    panicking = """
from memory.embedded.index.engine import asking_engine

class PanicException(BaseException):
    pass

with asking_engine():
    raise PanicException("index out of bounds")
"""
    ended = subprocess.run([sys.executable, "-c", panicking], capture_output=True, check=False)
    assert ended.returncode == 70
    assert b"index out of bounds" in ended.stderr


def test_what_the_engine_says_gets_a_name() -> None:
    with pytest.raises(EngineFailed, match="Service internal error: disk on fire"), asking_engine():
        raise RuntimeError("disk on fire")
    with pytest.raises(BadRequest, match="Vector dimension error"), asking_engine():
        raise RuntimeError("Vector dimension error: expected dim: 4, got 2")
