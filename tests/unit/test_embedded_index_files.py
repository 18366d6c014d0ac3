"""The files of the embedded index: half-made collections, the key, and what is left of deleted points."""

import asyncio
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.embedded.index.__main__ import load_api_key
from memory.embedded.index.collections import Collections
from memory.embedded.index.engine import asking_engine
from memory.embedded.index.failures import BadRequest, EngineFailed, NotFound
from memory.embedded.index.reads import count_points
from memory.embedded.index.requests import CountPoints, CreateCollection, PointsSelection, UpsertPoints
from memory.embedded.index.upkeep import UpkeepTimes, keep_up
from memory.embedded.index.writes import delete_points, upsert_points

SETTINGS = CreateCollection.model_validate({"vectors": {"dense": {"size": 4, "distance": "Cosine"}}})


def points(count: int, text: str) -> UpsertPoints:
    return UpsertPoints.model_validate(
        {
            "points": [
                {"id": n, "vector": {"dense": [1.0, 2.0, 3.0, float(n)]}, "payload": {"text": f"{text}-{n}"}}
                for n in range(count)
            ]
        }
    )


async def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.01)


def files_with(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


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
    again = Collections.open(tmp_path / "c")
    assert again.get("messages").settings == wanted
    again.close()


def test_what_a_crash_left_half_made_is_removed_at_the_next_start(tmp_path: Path) -> None:
    collections = Collections.open(tmp_path / "c")
    collections.create("whole", SETTINGS)
    collections.create("half", SETTINGS)
    collections.close()
    (tmp_path / "c" / "half" / "collection.json").unlink()
    again = Collections.open(tmp_path / "c")
    assert [collection.name for collection in again] == ["whole"]
    assert not (tmp_path / "c" / "half").exists()
    again.create("half", SETTINGS)
    again.close()


def test_a_deleted_collection_leaves_no_file(tmp_path: Path) -> None:
    collections = Collections.open(tmp_path / "c")
    collections.create("messages", SETTINGS)
    upsert_points(collections.get("messages"), points(3, "canary"))
    assert collections.delete("messages")
    assert list((tmp_path / "c").iterdir()) == []
    with pytest.raises(NotFound):
        collections.get("messages")


async def test_deleted_points_leave_the_segments_once_all_is_quiet(tmp_path: Path) -> None:
    collections = Collections.open(tmp_path / "c")
    collections.create("messages", SETTINGS)
    collection = collections.get("messages")
    upsert_points(collection, points(50, "canary"))
    delete_points(collection, PointsSelection(points=list(range(10))))
    segments = tmp_path / "c" / "messages" / "shard" / "segments"
    assert files_with(segments, "canary-7")
    upkeep = asyncio.create_task(keep_up(collections, UpkeepTimes(tick=0.01, flush_after=0.01, quiet=0.05)))
    await wait_until(lambda: not collection.is_unvacuumed)
    upkeep.cancel()
    assert not files_with(segments, "canary-7")
    assert files_with(segments, "canary-17")
    assert count_points(collection, CountPoints()) == 40
    collections.close()


async def test_a_busy_index_is_flushed_but_not_vacuumed(tmp_path: Path) -> None:
    collections = Collections.open(tmp_path / "c")
    collections.create("messages", SETTINGS)
    collection = collections.get("messages")
    upsert_points(collection, points(5, "canary"))
    assert collection.is_unflushed
    upkeep = asyncio.create_task(keep_up(collections, UpkeepTimes(tick=0.01, flush_after=0.01, quiet=60)))
    await wait_until(lambda: not collection.is_unflushed)
    upkeep.cancel()
    assert collection.is_unvacuumed
    collections.close()


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
