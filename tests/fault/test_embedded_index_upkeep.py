"""The vacuum of the embedded index:

it loses nothing, blocks nobody, and removes deleted data from the files.
"""

import asyncio
import random
import shutil
import struct
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import qdrant_edge as edge

from memory.embedded.index.collections import Collection, Collections, IndexFailure, engine_errors
from memory.embedded.index.server import IndexApp, UpkeepTimes, keep_up, vacuum

SETTINGS = {
    "vectors": {"dense": {"size": 8, "distance": "Cosine"}},
    "sparse_vectors": {"terms": {"modifier": "idf"}},
}
INDEXES = {"context": {"type": "keyword", "is_tenant": True}, "n": {"type": "integer"}}
EVERYTHING = {"limit": 10_000, "with_payload": True, "with_vector": True}


def point(number: int, *, text: str = "") -> dict[str, Any]:
    """Return a point. Every fifth has no terms, every seventh no dense vector, every 35th neither."""
    chance = random.Random(number)
    vector: dict[str, Any] = {}
    if number % 7:
        vector["dense"] = [round(chance.gauss(0, 1), 6) for _ in range(8)]
    if number % 5:
        terms = sorted(chance.sample(range(50), 4))
        vector["terms"] = {"indices": terms, "values": [round(chance.random(), 6) for _ in terms]}
    payload = {"context": f"chat:{number % 3}", "n": number, "signs": ["question"], "text": text}
    return {"id": number, "vector": vector, "payload": payload}


class Index:
    """A server with a collection `c`."""

    def __init__(self, collections: Collections) -> None:
        self.collections = collections
        self._api = httpx.AsyncClient(
            transport=httpx.ASGITransport(IndexApp(collections, "the key")),
            base_url="http://index",
            headers={"api-key": "the key"},
        )

    async def call(self, method: str, path: str, body: object = None, *, status: int = 200) -> Any:
        answer = await self._api.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json().get("result")

    async def create(self, name: str = "c") -> None:
        await self.call("PUT", f"/collections/{name}", SETTINGS)
        for field, schema in INDEXES.items():
            body = {"field_name": field, "field_schema": schema}
            await self.call("PUT", f"/collections/{name}/index", body)

    async def upsert(self, *points: dict[str, Any]) -> None:
        await self.call("PUT", "/collections/c/points", {"points": points})

    async def delete(self, *ids: int) -> None:
        await self.delete_where({"has_id": ids})

    async def delete_where(self, condition: object) -> None:
        await self.call("POST", "/collections/c/points/delete", {"filter": {"must": [condition]}})

    async def everything(self) -> dict[int, Any]:
        page = await self.call("POST", "/collections/c/points/scroll", EVERYTHING)
        return {point["id"]: point for point in page["points"]}

    async def searches(self) -> list[Any]:
        """Return the results of several searches, in order."""
        scope = {"must": [{"key": "context", "match": {"value": "chat:1"}}]}
        searches = [
            {
                "query": {"nearest": point(number)["vector"][using]},
                "using": using,
                "filter": scope,
                "limit": 20,
            }
            for number in (1, 2, 3, 4)
            for using in ("dense", "terms")
        ]
        found = await self.call("POST", "/collections/c/points/query/batch", {"searches": searches})
        return [[(hit["id"], round(hit["score"], 5)) for hit in one["points"]] for one in found]

    async def vacuum(self, reached: "Stage | None" = None) -> None:
        reached = reached or Stage("never", self.everything)
        with engine_errors():
            await vacuum(self.collections, self.collection, reached=reached)

    @property
    def collection(self) -> Collection:
        return self.collections.get("c")

    @property
    def folder(self) -> Path:
        return self.collection.folder

    @property
    def has_garbage(self) -> bool:
        return self.collection.shard.garbage_since is not None


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncGenerator[Index]:
    collections = Collections(tmp_path / "collections")
    yield Index(collections)
    await collections.close()


@pytest.fixture
async def index(tmp_path: Path) -> AsyncGenerator[Index]:
    async with opened(tmp_path) as index:
        await index.create()
        yield index


class Stage:
    """Does something when a vacuum reaches a stage for the first time."""

    def __init__(self, name: str, act: Callable[[], Awaitable[object]]) -> None:
        self._name = name
        self._act = act
        self.was_reached = False

    async def __call__(self, stage: str) -> None:
        if stage == self._name and not self.was_reached:
            self.was_reached = True
            await self._act()


def files_with(folder: Path, needle: bytes) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and needle in path.read_bytes()
    ]


async def test_a_vacuum_removes_only_garbage(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(300)))
    await index.delete(*range(0, 300, 10))
    before = await index.everything(), await index.call("GET", "/collections/c")
    found = await index.searches()
    assert index.has_garbage
    await index.vacuum()
    after = await index.everything(), await index.call("GET", "/collections/c")
    assert after[0] == before[0]
    assert {**after[1], "segments_count": 0} == {**before[1], "segments_count": 0}
    assert [{hit for hit, _ in one} for one in await index.searches()] == [
        {hit for hit, _ in one} for one in found
    ]
    assert not index.has_garbage


async def test_a_vacuum_removes_deleted_and_replaced_data_from_every_file(index: Index) -> None:
    await index.upsert(point(1, text="canary-deleted"), point(2, text="canary-replaced"))
    await index.upsert(point(3, text="canary-kept"))
    kept = await index.everything()
    await index.delete(1)
    await index.upsert({**point(4), "id": 2})
    vectors = {n: struct.pack("<8f", *kept[n]["vector"]["dense"]) for n in kept}
    # The new vector has overwritten the replaced one in place.
    canaries = [vectors[1], b"canary-deleted", b"canary-replaced"]
    assert all(files_with(index.folder, canary) for canary in canaries)
    await index.vacuum()
    assert [files_with(index.folder, canary) for canary in [*canaries, vectors[2]]] == [[], [], [], []]
    assert files_with(index.folder, vectors[3])
    assert files_with(index.folder, b"canary-kept")


async def test_a_vacuum_leaves_only_the_shard_in_use(index: Index) -> None:
    first = index.collection.shard.folder
    await index.upsert(point(1))
    for _ in range(2):
        await index.vacuum()
    assert index.collection.shard.folder != first
    assert {path.name for path in index.folder.iterdir()} == {
        "collection.json",
        index.collection.shard.folder.name,
    }


@pytest.mark.parametrize("stage", ["begun", "copying", "copied"])
async def test_the_new_shard_has_the_writes_of_every_stage(index: Index, stage: str) -> None:
    await index.upsert(*(point(n) for n in range(200)))
    later: dict[int, Any] = {}

    async def write() -> None:
        await index.delete(3, 150)
        await index.upsert(point(1, text="replaced"), point(170, text="replaced"), point(900))
        await index.delete_where({"key": "n", "range": {"gte": 60, "lt": 70}})
        await index.upsert(point(64, text="back again"))
        schema = {"field_name": "text", "field_schema": {"type": "keyword"}}
        await index.call("PUT", "/collections/c/index", schema)
        wrong = {"points": [{"id": 5, "vector": {"x": [1.0]}}]}
        await index.call("PUT", "/collections/c/points", wrong, status=400)
        await index.call("PATCH", "/collections/c", {"strict_mode_config": {"enabled": True}}, status=501)
        later.update(await index.everything())

    await index.vacuum(Stage(stage, write))
    assert len(later) == 200 - 2 + 1 - 10 + 1
    assert later[170]["payload"]["text"] == "replaced"
    assert await index.everything() == later
    schema = (await index.call("GET", "/collections/c"))["payload_schema"]
    assert schema["text"]["points"] == len(later)


@pytest.mark.parametrize("stage", ["begun", "copying", "copied"])
async def test_points_added_during_a_vacuum_leave_no_garbage(index: Index, stage: str) -> None:
    await index.upsert(*(point(n) for n in range(0, 400, 2)))
    await index.vacuum(Stage(stage, lambda: index.upsert(point(1), point(399), point(900))))
    assert len(await index.everything()) == 203
    assert not index.has_garbage


async def test_the_next_vacuum_removes_data_erased_during_this_one(index: Index) -> None:
    await index.upsert(*(point(n, text=f"canary-{n}.") for n in range(200)))
    await index.vacuum(Stage("copied", lambda: index.delete(7)))
    assert index.has_garbage
    await index.vacuum()
    assert not files_with(index.folder, b"canary-7.")
    assert files_with(index.folder, b"canary-8.")


async def test_a_vacuum_loses_nothing_of_a_stream_of_writes(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(200)))
    chance, is_over = random.Random(7), asyncio.Event()
    expected = dict.fromkeys(range(200), "")

    async def keep_writing(writer: int) -> None:
        for turn in range(1000):
            if is_over.is_set():
                return
            number = 3 * chance.randrange(100) + writer
            if chance.random() < 0.4:
                await index.delete(number)
                expected.pop(number, None)
            else:
                await index.upsert(point(number, text=f"turn {turn}"))
                expected[number] = f"turn {turn}"

    async with asyncio.TaskGroup() as tasks:
        for writer in range(3):
            tasks.create_task(keep_writing(writer))
        await index.vacuum()
        is_over.set()
    assert {n: found["payload"]["text"] for n, found in (await index.everything()).items()} == expected


async def test_searches_are_answered_between_the_slices_of_a_vacuum(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(200)))
    before = await index.searches()

    async def search() -> None:
        assert await index.searches() == before

    await index.vacuum(Stage("copying", search))


async def test_a_collection_recreated_after_a_vacuum_survives_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await index.create()
        await index.create("d")
        await index.upsert(point(1), point(2))
        await index.vacuum()
    async with opened(tmp_path) as index:
        assert sorted(await index.everything()) == [1, 2]
        assert await index.call("DELETE", "/collections/c") is True
        await index.create()
        await index.upsert(point(3))
    async with opened(tmp_path) as index:
        assert sorted(await index.everything()) == [3]
        assert [each.name for each in index.collections] == ["c", "d"]


async def test_a_vacuum_that_fails_changes_nothing_and_the_next_one_succeeds(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(200)))
    before, files = await index.everything(), {path.name for path in index.folder.iterdir()}

    async def break_copy() -> None:
        assert index.collection.copy is not None
        index.collection.copy.close()

    with pytest.raises(IndexFailure, match="not initialized"):
        await index.vacuum(Stage("copying", break_copy))
    assert {path.name for path in index.folder.iterdir()} == files
    assert await index.everything() == before
    await index.vacuum()
    assert await index.everything() == before


async def test_a_write_that_fails_in_the_copy_ends_the_vacuum(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(200)))

    async def write() -> None:
        assert index.collection.copy is not None
        index.collection.copy.close()
        await index.call("PUT", "/collections/c/points", {"points": [point(900)]}, status=500)
        await index.upsert(point(900))

    with pytest.raises(IndexFailure, match="discarded"):
        await index.vacuum(Stage("copying", write))
    assert len(await index.everything()) == 201


@pytest.mark.parametrize("stage", ["begun", "copying", "copied"])
async def test_a_collection_may_be_deleted_during_its_vacuum(index: Index, stage: str) -> None:
    await index.upsert(*(point(n) for n in range(200)))

    async def delete() -> None:
        assert await index.call("DELETE", "/collections/c") is True
        await index.create()
        await index.upsert(point(1))

    with pytest.raises(IndexFailure):
        await index.vacuum(Stage(stage, delete))
    assert sorted(await index.everything()) == [1]
    assert len(list(index.folder.iterdir())) == 2


async def test_a_copy_with_other_points_is_not_adopted(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(100)))

    async def lose_a_point() -> None:
        assert index.collection.copy is not None
        index.collection.copy.update(edge.UpdateOperation.delete_points([1]))

    with pytest.raises(IndexFailure, match="does not hold"):
        await index.vacuum(Stage("copied", lose_a_point))
    assert len(await index.everything()) == 100


async def test_a_vacuum_is_postponed_while_the_disk_is_full(
    index: Index, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Usage(NamedTuple):
        free: int

    before = index.collection.shard
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(free=1000))  # type: ignore[reportUnknownLambdaType]
    await index.upsert(point(1))
    await index.delete(1)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        upkeep = tasks.create_task(keep_up(index.collections, UpkeepTimes(tick=0.01, patience=0.0)))
        while index.collection.next_vacuum_at == 0.0:  # noqa: ASYNC110 - the upkeep does not notify
            await asyncio.sleep(0.01)
        upkeep.cancel()
    assert "vacuum of c postponed: IndexFailure: the disk needs " in capsys.readouterr().err
    assert index.collection.shard is before


async def test_old_garbage_is_vacuumed_although_the_index_is_never_quiet(index: Index) -> None:
    await index.upsert(point(1), point(2))
    before = index.collection.shard
    times = UpkeepTimes(tick=0.01, quiet=3600, patience=0.2)
    upkeep = asyncio.create_task(keep_up(index.collections, times))
    await index.searches()
    assert index.collection.shard is before
    await index.delete(1)
    deadline = time.monotonic() + 20
    while before.folder.exists():
        assert time.monotonic() < deadline
        await index.searches()
        await asyncio.sleep(0.005)
    upkeep.cancel()
    await asyncio.gather(upkeep, return_exceptions=True)
    assert sorted(await index.everything()) == [2]


async def test_garbage_from_before_the_start_is_vacuumed_at_once(tmp_path: Path) -> None:
    """A server that is killed every few seconds would never vacuum otherwise."""
    async with opened(tmp_path) as index:
        await index.create()
        await index.upsert(point(1), point(2))
        await index.delete(1)
    async with opened(tmp_path) as index:
        before = index.collection.shard
        times = UpkeepTimes(tick=0.01, quiet=3600, patience=3600)
        upkeep = asyncio.create_task(keep_up(index.collections, times))
        deadline = time.monotonic() + 20
        while before.folder.exists():
            assert time.monotonic() < deadline
            await index.searches()
            await asyncio.sleep(0.005)
        upkeep.cancel()
        await asyncio.gather(upkeep, return_exceptions=True)
        assert sorted(await index.everything()) == [2]
