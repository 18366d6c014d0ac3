"""The files of the embedded index: half-made collections and shards, the key, and the mark of garbage."""

import asyncio
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.embedded.index.collections import Collection, Collections, IndexFailure, engine_errors
from memory.embedded.index.requests import (
    CollectionSettings,
    CountPoints,
    CreateIndex,
    DeletePoints,
    UpsertPoints,
)
from memory.embedded.index.server import (
    FLUSH_POINTS,
    UpkeepTimes,
    is_vacuum_due,
    keep_up,
    load_api_key,
    vacuum,
)

SETTINGS = CollectionSettings.model_validate({"vectors": {"dense": {"size": 4, "distance": "Cosine"}}})


def points(*numbers: int) -> UpsertPoints:
    return UpsertPoints.model_validate(
        {"points": [{"id": n, "vector": {"dense": [1.0, 2.0, 3.0, float(n)]}} for n in numbers]}
    )


def deletion(*numbers: int) -> DeletePoints:
    return DeletePoints.model_validate({"filter": {"must": [{"has_id": numbers}]}})


CHANGES: list[Callable[[Collection], object]] = [
    lambda collection: collection.delete(deletion(2)),
    lambda collection: collection.upsert(points(5, 5)),
]


@pytest.fixture
async def collection(tmp_path: Path) -> Any:
    """A fresh collection."""
    collections = Collections(tmp_path / "c")
    collections.create("messages", SETTINGS)
    yield collections.get("messages")
    await collections.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"vectors": {"a": {"size": 4, "distance": "Cosine"}, "b": {"size": 8, "distance": "Cosine"}}},
        {"sparse_vectors": {"text": {"modifier": "idf"}}},
        {"vectors": {"a": {"size": 4, "distance": "Cosine"}}, "sparse_vectors": {"text": {}}},
    ],
)
async def test_a_collection_survives_a_restart(tmp_path: Path, settings: dict[str, object]) -> None:
    wanted = CollectionSettings.model_validate(settings)
    collections = Collections(tmp_path / "c")
    collections.create("messages", wanted)
    await collections.close()
    again = Collections(tmp_path / "c")
    assert again.get("messages").settings == wanted
    await again.close()


async def test_a_start_removes_collections_that_a_crash_left_unfinished(tmp_path: Path) -> None:
    collections = Collections(tmp_path / "c")
    collections.create("whole", SETTINGS)
    collections.create("half", SETTINGS)
    await collections.close()
    (tmp_path / "c" / "half" / "collection.json").unlink()
    again = Collections(tmp_path / "c")
    assert [collection.name for collection in again] == ["whole"]
    assert not (tmp_path / "c" / "half").exists()
    again.create("half", SETTINGS)
    await again.close()


def test_a_collection_of_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "c" / "messages").mkdir(parents=True)
    (tmp_path / "c" / "messages" / "collection.json").write_text('{"vectors": {}}')
    with pytest.raises(SystemExit, match="from another version: remove it, then run `mnemogram reindex`"):
        Collections(tmp_path / "c")


@pytest.mark.parametrize("is_adopted", [False, True])
async def test_a_start_removes_the_shard_that_is_not_in_use(tmp_path: Path, is_adopted: bool) -> None:
    """A crash before and after a copy is adopted: the copy has one point less."""
    collections = Collections(tmp_path / "c")
    collections.create("messages", SETTINGS)
    collection = collections.get("messages")
    collection.upsert(points(1))
    copy = collection.begin_copy()
    collection.upsert(points(2, 3))
    if is_adopted:
        collection.adopt_copy(copy).close()
    crashed = tmp_path / "crashed"
    # A thread prepares the log's next segment, and renames it when it likes.
    shutil.copytree(tmp_path / "c", crashed, ignore=shutil.ignore_patterns("tmp-open-*"))
    assert len(list((crashed / "messages").glob("shard-*"))) == 2
    again = Collections(crashed)
    assert again.get("messages").count(CountPoints()) == {"count": 2 if is_adopted else 3}
    assert len(list((crashed / "messages").glob("shard-*"))) == 1
    await again.close()
    await collections.close()


async def test_a_deleted_collection_leaves_no_file(tmp_path: Path) -> None:
    collections = Collections(tmp_path / "c")
    collections.create("messages", SETTINGS)
    collections.get("messages").upsert(points(1, 2, 3))
    assert collections.delete("messages")
    assert list((tmp_path / "c").iterdir()) == []
    with pytest.raises(IndexFailure, match="doesn't exist"):
        collections.get("messages")


async def test_only_deletions_and_replacements_leave_garbage(collection: Collection) -> None:
    collection.upsert(points(1, 2, 3))
    schema = {"field_name": "n", "field_schema": {"type": "integer"}}
    collection.create_index(CreateIndex.model_validate(schema))
    collection.delete(deletion(77))
    assert collection.shard.garbage_since is None
    collection.upsert(points(3, 4))
    assert collection.shard.garbage_since is not None


@pytest.mark.parametrize("change", CHANGES)
async def test_garbage_of_every_kind_is_noticed_and_remembered(
    tmp_path: Path, change: Callable[[Collection], object]
) -> None:
    collections = Collections(tmp_path / "c")
    collections.create("messages", SETTINGS)
    collections.get("messages").upsert(points(1, 2, 3))
    await collections.close()
    again = Collections(tmp_path / "c")
    assert again.get("messages").shard.garbage_since is None
    change(again.get("messages"))
    assert again.get("messages").shard.garbage_since is not None
    await again.close()
    once_more = Collections(tmp_path / "c")
    assert once_more.get("messages").shard.garbage_since is not None
    await vacuum(once_more, once_more.get("messages"))
    assert once_more.get("messages").shard.garbage_since is None
    await once_more.close()


async def test_a_failed_write_may_have_left_garbage(collection: Collection) -> None:
    collection.upsert(points(1))
    unchecked = points(2).model_copy(update={"points": [*points(1).points, *wrong_points()]})
    collection.settings = CollectionSettings.model_validate(
        {"vectors": {"dense": {"size": 4, "distance": "Cosine"}, "more": {"size": 4, "distance": "Cosine"}}}
    )
    with pytest.raises(Exception, match="Not existing vector name"):
        collection.upsert(unchecked)
    assert collection.shard.garbage_since is not None


def wrong_points() -> list[Any]:
    point = {"id": 9, "vector": {"more": [1.0, 2.0, 3.0, 4.0]}}
    return UpsertPoints.model_validate({"points": [point]}).points


async def test_a_flush_leaves_nothing_to_flush(collection: Collection) -> None:
    collection.upsert(points(1, 2, 3))
    assert collection.shard.unflushed_points == 3
    await collection.shard.flush()
    assert collection.shard.unflushed_points == 0


async def test_many_writes_are_flushed_while_the_server_runs(tmp_path: Path) -> None:
    collections = Collections(tmp_path / "c")
    collections.create("few", SETTINGS)
    collections.create("many", SETTINGS)
    few, many = collections.get("few").shard, collections.get("many").shard
    collections.get("few").upsert(points(1))
    collections.get("many").upsert(points(*range(FLUSH_POINTS)))
    upkeep = asyncio.create_task(keep_up(collections, UpkeepTimes(tick=0.01)))
    async with asyncio.timeout(20):
        while many.unflushed_points:  # noqa: ASYNC110 - the upkeep does not notify
            await asyncio.sleep(0.01)
    assert few.unflushed_points == 1
    upkeep.cancel()
    await asyncio.gather(upkeep, return_exceptions=True)
    await collections.close()


async def test_a_vacuum_waits_for_a_quiet_moment_but_not_forever(collection: Collection) -> None:
    times = UpkeepTimes(quiet=30, patience=600)
    collection.shard.garbage_since = 1000.0
    assert not is_vacuum_due(collection, now=1100, used_at=1071, times=times)
    assert is_vacuum_due(collection, now=1100, used_at=1070, times=times)
    assert is_vacuum_due(collection, now=1600, used_at=1600, times=times)
    collection.next_vacuum_at = 1700.0
    assert not is_vacuum_due(collection, now=1600, used_at=1000, times=times)


def test_the_key_is_created_once_and_for_its_owner_only(tmp_path: Path) -> None:
    key = load_api_key(tmp_path / "api-key")
    assert load_api_key(tmp_path / "api-key") == key
    assert stat.S_IMODE((tmp_path / "api-key").stat().st_mode) == 0o600
    assert load_api_key(tmp_path / "other") != key


def test_a_panic_of_the_engine_ends_the_process() -> None:
    panicking = """
from memory.embedded.index.collections import engine_errors

class PanicException(BaseException):
    pass

with engine_errors():
    raise PanicException("index out of bounds")
"""
    ended = subprocess.run([sys.executable, "-c", panicking], capture_output=True, check=False)
    assert ended.returncode == 70
    assert b"index out of bounds" in ended.stderr


@pytest.mark.parametrize("error", [RuntimeError("disk on fire"), ValueError("disk on fire")])
def test_errors_of_the_engine_become_refusals(error: Exception) -> None:
    with (
        pytest.raises(IndexFailure, match="Service internal error: disk on fire") as refusal,
        engine_errors(),
    ):
        raise error
    assert refusal.value.status == 500
