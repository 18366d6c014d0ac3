"""A vacuum of the embedded index: nothing is lost or held up by it, and what was deleted has left the files."""

import asyncio
import json
import os
import random
import shutil
import signal
import struct
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memory.embedded.index import folders
from memory.embedded.index.api_key import load_api_key
from memory.embedded.index.succession import SuccessionFailed
from memory.embedded.index.switchboard import Switchboard
from memory.embedded.index.tunnel import Asked
from memory.embedded.index.upkeep import UpkeepTimes, keep_up, try_vacuum
from memory.embedded.index.vacuum import vacuum

SETTINGS = {
    "vectors": {"dense": {"size": 8, "distance": "Cosine"}},
    "sparse_vectors": {"terms": {"modifier": "idf"}},
}
INDEXES = {"context": {"type": "keyword", "is_tenant": True}, "n": "integer"}
EVERYTHING = {"limit": 10_000, "with_payload": True, "with_vector": True}


def point(number: int, *, text: str = "") -> dict[str, Any]:
    """Every fifth has no terms, every seventh no dense vector, so that every 35th has neither."""
    chance = random.Random(number)
    vector: dict[str, Any] = {}
    if number % 7:
        vector["dense"] = [round(chance.gauss(0, 1), 6) for _ in range(8)]
    if number % 5:
        terms = sorted(chance.sample(range(50), 4))
        vector["terms"] = {"indices": terms, "values": [round(chance.random(), 6) for _ in terms]}
    payload = {"context": f"chat:{number % 3}", "n": number, "signs": ["question"], "text": text}
    return {"id": number, "vector": vector, "payload": payload}


@dataclass
class Index:
    """A collection `c` behind a switchboard, as the front sees it."""

    switchboard: Switchboard
    losses: list[str] = field(default_factory=list[str])

    async def ask(self, method: str, path: str, body: object = None, *, status: int = 200) -> Any:
        asked = Asked(
            method=method,
            path=path,
            query="wait=true",
            headers=(("api-key", load_api_key(self.switchboard.directory / "api-key")),),
            body=b"" if body is None else json.dumps(body).encode(),
        )
        told = await self.switchboard.ask(asked)
        assert told.status == status, told.body
        return json.loads(told.body).get("result")

    async def create(self, name: str = "c") -> None:
        await self.ask("PUT", f"/collections/{name}", SETTINGS)
        for field_name, schema in INDEXES.items():
            await self.ask(
                "PUT", f"/collections/{name}/index", {"field_name": field_name, "field_schema": schema}
            )

    async def upsert(self, *points: dict[str, Any], name: str = "c") -> None:
        await self.ask("PUT", f"/collections/{name}/points", {"points": points})

    async def delete(self, *ids: int) -> None:
        await self.ask("POST", "/collections/c/points/delete", {"points": ids})

    async def everything(self, name: str = "c") -> dict[int, Any]:
        page = await self.ask("POST", f"/collections/{name}/points/scroll", EVERYTHING)
        return {found["id"]: found for found in page["points"]}

    async def searches(self) -> list[Any]:
        """What several searches find, in order."""
        condition = {"must": [{"key": "context", "match": {"value": "chat:1"}}]}
        asked = [
            {
                "query": point(number)["vector"][using],
                "using": using,
                "filter": condition,
                "limit": 20,
                "with_payload": True,
            }
            for number in (1, 2, 3, 4)
            for using in ("dense", "terms")
        ]
        found = await self.ask("POST", "/collections/c/points/query/batch", {"searches": asked})
        return [[(hit["id"], round(hit["score"], 5)) for hit in one["points"]] for one in found]

    @property
    def folder(self) -> Path:
        return self.switchboard.folder("c")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncGenerator[Index]:
    losses: list[str] = []
    switchboard = await Switchboard.open(tmp_path, lambda: losses.append("lost"))
    index = Index(switchboard, losses)
    await index.create()
    yield index
    await switchboard.close()


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


async def wait_until(holds: Callable[[], bool], patience: float = 20) -> None:
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.02)


async def test_nothing_but_the_garbage_is_gone_after_a_vacuum(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(300)))
    await index.delete(*range(0, 300, 10))
    before = await index.everything(), await index.ask("GET", "/collections/c")
    found = await index.searches()
    assert index.switchboard.collections() == {"c": True}
    await vacuum(index.switchboard, "c")
    after = await index.everything(), await index.ask("GET", "/collections/c")
    assert after[0] == before[0]
    assert {**after[1], "segments_count": 0} == {**before[1], "segments_count": 0}
    assert [{hit for hit, _ in one} for one in await index.searches()] == [
        {hit for hit, _ in one} for one in found
    ]
    assert index.switchboard.collections() == {"c": False}


async def test_what_was_deleted_or_replaced_has_left_every_file(index: Index) -> None:
    await index.upsert(point(1, text="canary-deleted"), point(2, text="canary-replaced"))
    await index.upsert(point(3, text="canary-kept"))
    kept = await index.everything()
    await index.delete(1)
    await index.upsert({**point(4), "id": 2})
    vectors = {n: struct.pack("<8f", *kept[n]["vector"]["dense"]) for n in kept}
    # The vector of the replaced one stood where the new one stands.
    canaries = [vectors[1], b"canary-deleted", b"canary-replaced"]
    assert all(files_with(index.folder, canary) for canary in canaries)
    await vacuum(index.switchboard, "c")
    assert [files_with(index.folder, canary) for canary in [*canaries, vectors[2]]] == [[], [], [], []]
    assert files_with(index.folder, vectors[3])
    assert files_with(index.folder, b"canary-kept")


async def test_only_the_shard_that_is_used_is_left(index: Index) -> None:
    await index.upsert(point(1))
    for _ in range(2):
        await vacuum(index.switchboard, "c")
    shard = folders.current_shard(index.folder)
    assert shard != "shard"
    assert {path.name for path in index.folder.iterdir()} == {
        "collection.json",
        "current",
        shard,
        f"{shard}.clean",
    }


@pytest.mark.parametrize("stage", ["begun", "copying", "copied"])
async def test_writes_at_every_stage_are_in_the_new_shard(index: Index, stage: str) -> None:
    await index.upsert(*(point(n) for n in range(200)))
    later: dict[int, Any] = {}

    async def write() -> None:
        await index.delete(3, 150)
        await index.upsert(point(1, text="replaced"), point(170, text="replaced"), point(900))
        for selection in (
            {"points": [5, 160, 901]},
            {"filter": {"must": [{"key": "n", "range": {"gte": 190}}]}},
        ):
            status = 404 if "points" in selection else 200
            change = {"payload": {"text": "changed"}, **selection}
            await index.ask("POST", "/collections/c/points/payload", change, status=status)
        between = {"must": [{"key": "n", "range": {"gte": 60, "lt": 70}}]}
        await index.ask("POST", "/collections/c/points/delete", {"filter": between})
        await index.upsert(point(64, text="back again"))
        await index.ask("PUT", "/collections/c/index", {"field_name": "text", "field_schema": "keyword"})
        await index.ask(
            "PUT", "/collections/c/points", {"points": [{"id": 5, "vector": {"x": [1.0]}}]}, status=400
        )
        later.update(await index.everything())

    reached = Stage(stage, write)
    await vacuum(index.switchboard, "c", reached=reached)
    assert reached.was_reached
    assert len(later) == 200 - 2 + 1 - 10 + 1
    assert later[160]["payload"]["text"] == later[199]["payload"]["text"] == "changed"
    assert await index.everything() == later
    assert "text" in (await index.ask("GET", "/collections/c"))["payload_schema"]


@pytest.mark.parametrize("stage", ["begun", "copying", "copied"])
async def test_points_that_come_during_a_vacuum_leave_nothing_for_another(index: Index, stage: str) -> None:
    await index.upsert(*(point(n) for n in range(0, 400, 2)))
    await vacuum(
        index.switchboard, "c", reached=Stage(stage, lambda: index.upsert(point(1), point(399), point(900)))
    )
    assert len(await index.everything()) == 203
    assert index.switchboard.collections() == {"c": False}


async def test_a_vacuum_is_not_put_off_by_a_request_that_the_server_does_not_know(index: Index) -> None:
    """Each worker makes one at its start: strict mode is for servers that have it."""
    await index.upsert(*(point(n) for n in range(200)))

    async def ask() -> None:
        await index.ask("PATCH", "/collections/c", {"strict_mode_config": {"enabled": True}}, status=501)

    await vacuum(index.switchboard, "c", reached=Stage("copying", ask))
    assert len(await index.everything()) == 200


async def test_a_vacuum_in_a_stream_of_writes_loses_none(index: Index) -> None:
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
        await vacuum(index.switchboard, "c")
        is_over.set()
    assert {n: found["payload"]["text"] for n, found in (await index.everything()).items()} == expected


async def test_searches_are_answered_while_the_new_shard_hangs(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(200)))
    before = await index.searches()

    async def freeze() -> None:
        succession = index.switchboard.succession
        assert succession is not None
        os.kill(succession.process.pid, signal.SIGSTOP)
        assert await index.searches() == before
        await index.upsert(point(1000))
        os.kill(succession.process.pid, signal.SIGCONT)

    reached = Stage("copying", freeze)
    await vacuum(index.switchboard, "c", reached=reached)
    assert reached.was_reached
    assert 1000 in await index.everything()


async def test_collections_are_served_apart_after_a_vacuum_and_listed_together(index: Index) -> None:
    await index.create("d")
    await index.upsert(point(1), point(2))
    await index.upsert(point(3), name="d")
    await vacuum(index.switchboard, "c")
    names = [told["name"] for told in (await index.ask("GET", "/collections"))["collections"]]
    assert sorted(names) == ["c", "d"]
    assert sorted(await index.everything()) == [1, 2]
    assert sorted(await index.everything("d")) == [3]
    assert index.switchboard.serving("c") is not index.switchboard.serving("d")
    await index.ask("PUT", "/collections/c", SETTINGS, status=409)
    assert await index.ask("DELETE", "/collections/c") is True
    await index.ask("POST", "/collections/c/points/count", {}, status=404)
    assert not index.folder.exists()
    await index.create()
    assert await index.everything() == {}
    assert index.losses == []


async def test_after_a_vacuum_of_the_only_collection_one_process_is_left(index: Index) -> None:
    former = index.switchboard.serving("c")
    await vacuum(index.switchboard, "c")
    assert index.switchboard.serving("c") is index.switchboard.serving("another")
    assert not is_alive(former.pid)
    await index.create("another")
    assert await index.everything("another") == {}


@pytest.mark.parametrize("others", [(), ("d",)])
async def test_what_is_made_again_after_a_vacuum_is_there_after_a_restart(
    tmp_path: Path, others: tuple[str, ...]
) -> None:
    for lives in range(2):  # in the second one the shard that is loaded has the name that a vacuum gave it
        switchboard = await Switchboard.open(tmp_path, lambda: None)
        index = Index(switchboard)
        for name in (*others, "c") if lives == 0 else ():
            await index.create(name)
        await index.upsert(point(1), point(2))
        await vacuum(switchboard, "c")
        if lives == 1:
            assert await index.ask("DELETE", "/collections/c") is True
            await index.create()
            await index.upsert(point(3))
        await switchboard.close()
    again = await Switchboard.open(tmp_path, lambda: None)
    assert sorted(await Index(again).everything()) == [3]
    await again.close()


async def test_a_vacuum_whose_process_is_killed_changes_nothing_and_the_next_one_succeeds(
    index: Index,
) -> None:
    await index.upsert(*(point(n) for n in range(200)))
    before = await index.everything()

    async def kill() -> None:
        succession = index.switchboard.succession
        assert succession is not None
        os.kill(succession.process.pid, signal.SIGKILL)

    with pytest.raises(SuccessionFailed, match="ShardProcessGone"):
        await vacuum(index.switchboard, "c", reached=Stage("copying", kill))
    assert {path.name for path in index.folder.iterdir()} == {"collection.json", "shard", "shard.clean"}
    assert index.switchboard.succession is None
    assert await index.everything() == before
    await vacuum(index.switchboard, "c")
    assert await index.everything() == before
    assert index.losses == []


async def test_a_collection_may_be_deleted_while_it_is_vacuumed(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(200)))

    async def delete() -> None:
        assert await index.ask("DELETE", "/collections/c") is True
        await index.create()
        await index.upsert(point(1))

    with pytest.raises(SuccessionFailed):
        await vacuum(index.switchboard, "c", reached=Stage("copying", delete))
    assert sorted(await index.everything()) == [1]
    assert {path.name for path in index.folder.iterdir()} == {"collection.json", "shard", "shard.clean"}


async def test_whoever_has_no_key_stops_no_vacuum(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(200)))

    async def try_to_delete() -> None:
        stranger = Asked(method="DELETE", path="/collections/c", headers=(("api-key", "another"),))
        assert (await index.switchboard.ask(stranger)).status == 401

    await vacuum(index.switchboard, "c", reached=Stage("copying", try_to_delete))
    assert len(await index.everything()) == 200


async def test_a_shard_that_turned_out_different_is_not_taken(index: Index) -> None:
    await index.upsert(*(point(n) for n in range(100)))

    async def lose_a_point() -> None:
        succession = index.switchboard.succession
        assert succession is not None
        gone = Asked(
            method="POST",
            path="/collections/c/points/delete",
            headers=(("api-key", load_api_key(index.switchboard.directory / "api-key")),),
            body=b'{"points": [1]}',
        )
        assert (await succession.ask(gone)).status == 200

    with pytest.raises(SuccessionFailed, match="does not hold"):
        await vacuum(index.switchboard, "c", reached=Stage("copied", lose_a_point))
    assert len(await index.everything()) == 100


async def test_a_vacuum_is_put_off_while_the_disk_is_short(
    index: Index, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(free=1000))  # type: ignore[reportUnknownLambdaType]
    assert not await try_vacuum(index.switchboard, "c")
    assert capsys.readouterr().err.startswith("vacuum of c: put off, the disk is short of ")
    assert folders.current_shard(index.folder) == "shard"


async def test_garbage_is_vacuumed_in_the_end_though_the_index_is_never_quiet(index: Index) -> None:
    await index.upsert(point(1), point(2))
    times = UpkeepTimes(tick=0.01, quiet=3600, patience=0.2)
    upkeep = asyncio.create_task(keep_up(index.switchboard, times))
    await index.searches()
    assert folders.current_shard(index.folder) == "shard"
    await index.delete(1)
    await wait_until(lambda: not (index.folder / "shard").exists())
    upkeep.cancel()
    await asyncio.gather(upkeep, return_exceptions=True)
    assert sorted(await index.everything()) == [2]


async def test_garbage_from_before_the_start_is_vacuumed_soon_though_the_index_is_never_quiet(
    index: Index,
) -> None:
    """A server that is killed each few seconds would else never come to it."""
    await index.upsert(point(1), point(2))
    await index.delete(1)
    upkeep = asyncio.create_task(keep_up(index.switchboard, UpkeepTimes(tick=0.01, quiet=0.5, patience=3600)))
    deadline = time.monotonic() + 20
    while (index.folder / "shard").exists():
        assert time.monotonic() < deadline
        await index.searches()
    upkeep.cancel()
    await asyncio.gather(upkeep, return_exceptions=True)
    assert sorted(await index.everything()) == [2]


async def test_the_loss_of_a_serving_process_is_told(index: Index) -> None:
    os.kill(index.switchboard.serving("c").pid, signal.SIGKILL)
    await wait_until(lambda: index.losses == ["lost"])


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
