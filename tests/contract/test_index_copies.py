"""After erasures the collection of a server is copied into a new one, and the old one goes with its files."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from memory.embedded.supervisor import IndexEndpoint
from memory.keys import ContextRef
from memory.recall.indexer import SpaceMoved
from memory.recall.qdrant.index import QdrantIndex
from memory.recall.reindex import EVERY_S, LOOK_EVERY_S
from memory.recall.spaces import SWEEP_AFTER_S, is_copy
from memory.redis.client import RedisClient
from tests.contract.reindex_kit import Process, Rig, collection_names, make_embedder, rig_on_server
from tests.fakes.embedder import FakeEmbedder
from tests.messages import make_message

pytestmark = pytest.mark.slow

ANNA, WEATHER = "my sister Anna lives in Lisbon", "the weather is fine"


@pytest.fixture
async def rig(redis: RedisClient, index_endpoint: IndexEndpoint) -> AsyncGenerator[Rig]:
    async with rig_on_server(redis, index_endpoint) as rig:
        yield rig


class Counting(FakeEmbedder):
    """An embedder that counts its texts."""

    embedded = 0

    async def embed(self, texts: Any) -> Any:
        self.embedded += len(texts)
        return await super().embed(texts)


def counting_embedder() -> Counting:
    embedder = Counting(dimension=64)
    embedder.identity = make_embedder().identity
    return embedder


async def serving_process(rig: Rig, *chats: Collection[str]) -> tuple[Process, list[ContextRef]]:
    process = await rig.started(counting_embedder())
    refs = [await rig.chat([make_message(f"m{at}", text) for at, text in enumerate(chat)]) for chat in chats]
    await until_idle(rig, process)
    while await process.reindexer.step() != "idle":
        pass
    return process, refs


async def until_idle(rig: Rig, process: Process) -> None:
    while await rig.queued():
        with suppress(SpaceMoved):  # the work is done again
            await process.indexers[0].step()


async def begin_copy(rig: Rig, process: Process) -> None:
    """Let the time of a look pass, and see a copy begin."""
    rig.clock.now += LOOK_EVERY_S
    for _ in range(5):
        await process.reindexer.step()
        if (await process.reindexer.progress()).goal == "copy":
            return
    raise AssertionError("no copy begins")


async def test_after_an_erasure_what_is_left_is_copied_without_embedding_and_the_old_collection_goes(
    rig: Rig,
) -> None:
    process, (ref, other) = await serving_process(rig, [ANNA, WEATHER], ["hello", "good day"])
    first = process.follower.ours
    before = await rig.points(first)
    await rig.history.erase(other)
    await until_idle(rig, process)
    embedder: Any = process.follower.spaces.serving.embedder
    embedded = embedder.embedded

    await begin_copy(rig, process)
    await process.work_until_it_serves()
    serving = (await rig.record()).serving
    assert serving is not None
    assert is_copy(serving.collection)
    assert await rig.points(serving) == {k: v for k, v in before.items() if v[0]["context"] == ref.context_id}
    assert embedder.embedded == embedded
    assert process.follower.spaces.serving.name == serving.collection
    assert await process.best(ref, "where does Anna live") == "m0"

    rig.clock.now += SWEEP_AFTER_S
    await process.reindexer.step()
    assert await rig.has_collection(first.collection) is False


async def test_the_next_copy_comes_a_day_later_and_deletes_the_former_one_whole(rig: Rig) -> None:
    process, (ref,) = await serving_process(rig, [ANNA, WEATHER, "hello"])
    await rig.history.delete(ref, ["m2"], epoch=0)
    await until_idle(rig, process)
    await begin_copy(rig, process)
    await process.work_until_it_serves()
    copied = (await rig.record()).serving
    assert copied is not None
    rig.clock.now += SWEEP_AFTER_S
    await process.reindexer.step()

    await rig.history.delete(ref, ["m1"], epoch=0)
    await until_idle(rig, process)
    rig.clock.now += EVERY_S - 2 * SWEEP_AFTER_S
    while await process.reindexer.step() != "idle":
        pass
    assert (await rig.record()).target is None
    rig.clock.now += 2 * SWEEP_AFTER_S
    await begin_copy(rig, process)
    await process.work_until_it_serves()
    rig.clock.now += SWEEP_AFTER_S
    await process.reindexer.step()
    assert await rig.has_collection(copied.collection) is False
    assert (await rig.record()).copies == ()
    assert await process.best(ref, "where does Anna live") == "m0"


async def test_a_process_with_the_same_model_works_on_in_the_copy(rig: Rig) -> None:
    process, (ref,) = await serving_process(rig, [ANNA, "hello"])
    await rig.history.delete(ref, ["m1"], epoch=0)
    await until_idle(rig, process)
    await begin_copy(rig, process)
    await process.work_until_it_serves()
    record = await rig.record()

    new = await rig.started(process.follower.spaces.serving.embedder or make_embedder())
    assert await rig.record() == record
    await rig.history.append(ref, [make_message("m2", WEATHER)], epoch=0)
    await until_idle(rig, new)
    assert record.serving is not None
    assert await rig.message_ids(record.serving, ref) == {"m0", "m2"}

    await new.reindexer.claim(is_forced=True)
    forced = await rig.record()
    assert forced.target == record.serving
    await new.work_until_it_serves()
    assert await rig.message_ids(record.serving, ref) == {"m0", "m2"}


async def test_writes_and_searches_during_the_switch_miss_nothing(rig: Rig) -> None:
    process, (ref, other) = await serving_process(rig, [f"number {n}" for n in range(300)], ["x", "y"])
    await rig.history.delete(ref, ["m299"], epoch=0)
    await until_idle(rig, process)
    follower = await rig.started(process.follower.spaces.serving.embedder or make_embedder())
    written: list[str] = ["m0"]
    missed: list[str] = []
    is_done, has_enough = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        number = 0
        while not is_done.is_set():
            name = f"w{number}"
            await rig.history.append(ref, [make_message(name, f"item{number} in the shed")], epoch=0)
            await until_idle(rig, follower)
            written.append(name)
            if len(written) == 40:
                has_enough.set()
            if number % 3 == 2:
                await rig.history.replace(
                    ref, name, text=f"thing{number} there", tokens=3, edited_at=9.0, epoch=0
                )
            if number % 5 == 4:
                await rig.history.delete(ref, [f"m{number}"], epoch=0)
            number += 1

    async def search() -> None:
        while not is_done.is_set():
            for worker in (process, follower):
                known = written[-1]
                found = {
                    each.message_id
                    for each in await worker.follower.spaces.serving.index.list_points(ref.context_id)
                }
                if known not in found:
                    missed.append(known)
                await worker.reindexer.follow()
            await asyncio.sleep(0)

    async with asyncio.timeout(90), asyncio.TaskGroup() as tasks:
        tasks.create_task(write())
        tasks.create_task(search())
        await begin_copy(rig, process)
        await process.work_until_it_serves()
        await has_enough.wait()
        is_done.set()
    await until_idle(rig, process)

    assert missed == []
    serving = (await rig.record()).serving
    assert serving is not None
    history = await rig.history.page(ref, after_sequence=-1, limit=1000, whole=True)
    assert await rig.message_ids(serving, ref) == {message.id for message in history}
    assert await rig.message_ids(serving, other) == {"m0", "m1"}
    terms = {
        k: v[1]["terms"] for k, v in (await rig.points(serving)).items() if v[0]["context"] == ref.context_id
    }
    fresh = await rig.started(make_embedder())
    await fresh.work_until_it_serves()
    rebuilt = {
        k: v[1]["terms"]
        for k, v in (await rig.points(fresh.follower.ours)).items()
        if v[0]["context"] == ref.context_id
    }
    assert terms == rebuilt  # edits arrived


@pytest.mark.parametrize("steps", range(6))
async def test_a_crash_at_any_step_leaves_one_good_collection(rig: Rig, steps: int) -> None:
    process, (ref,) = await serving_process(rig, [f"number {n}" for n in range(200)])
    await rig.history.delete(ref, ["m0"], epoch=0)
    await until_idle(rig, process)
    await begin_copy(rig, process)
    for _ in range(steps):
        await process.work()

    new = await rig.started(process.follower.spaces.serving.embedder or make_embedder())
    assert await new.best(ref, "number 77") == "m77"
    await new.work_until_it_serves()
    rig.clock.now += SWEEP_AFTER_S
    await new.reindexer.step()
    serving = (await rig.record()).serving
    assert serving is not None
    assert await rig.message_ids(serving, ref) == {f"m{n}" for n in range(1, 200)}
    assert {name for name in await collection_names(rig.qdrant) if serving.model in name} == {
        serving.collection
    }


class Meddled(QdrantIndex):
    """An index on which something happens after its first write."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.meddle: Callable[[], Awaitable[object]] | None = None

    async def _write(self, batch: Sequence[Any]) -> None:
        await super()._write(batch)
        meddle, self.meddle = self.meddle, None
        if meddle is not None:
            await meddle()


async def test_what_changes_in_the_source_during_a_copy_is_copied_again(rig: Rig) -> None:
    process, (ref,) = await serving_process(rig, [ANNA, WEATHER])
    source, index = process.follower.ours, process.follower.spaces.serving.index
    collection = f"{source.collection}-copy{'0' * 16}"
    target = Meddled(rig.qdrant, collection, dimension=source.dimension)

    async def meddle() -> None:
        await index.drop(ref.context_id, epoch=0, message_ids=["m0"])
        await rig.history.replace(ref, "m1", text="other words", tokens=2, edited_at=9.0, epoch=0)
        await until_idle(rig, process)

    target.meddle = meddle
    copied = await target.copy_from(source.collection, ref.context_id, epoch=0, message_ids=["m0", "m1"])
    assert set(copied) == {"m1"}
    assert await rig.points(replace(source, collection=collection)) == await rig.points(source)
