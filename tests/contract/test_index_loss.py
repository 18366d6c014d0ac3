"""An index that lost data is noticed, and filled from the history; messages that only wait are no loss."""

from collections.abc import AsyncGenerator

import pytest
from pydantic_core import to_json

from memory.embedded.supervisor import IndexEndpoint
from memory.keys import ContextRef
from memory.recall.audit import AGAIN_S, DAILY_S, LOOK_EVERY_S
from memory.recall.qdrant.index import open_qdrant
from memory.redis.client import RedisClient
from tests.contract.reindex_kit import Clock, Process, Rig, make_embedder, rig_on_server
from tests.contract.vector_kit import client_of
from tests.messages import make_message
from tests.store_proxy import index_proxy

pytestmark = pytest.mark.slow

ANNA, WEATHER, KETTLE = "my sister Anna lives in Lisbon", "the weather is fine", "the kettle is blue"


@pytest.fixture
async def rig(redis: RedisClient, index_endpoint: IndexEndpoint) -> AsyncGenerator[Rig]:
    async with rig_on_server(redis, index_endpoint) as rig:
        yield rig


async def serving_process(rig: Rig, *chats: list[str]) -> tuple[Process, list[ContextRef]]:
    """Return a process that has compared everything, and chats whose messages it has indexed."""
    process = await rig.started(make_embedder())
    refs = [await rig.chat([make_message(f"m{at}", text) for at, text in enumerate(chat)]) for chat in chats]
    await until_idle(rig, process)
    await until_settled(process)
    return process, refs


async def until_idle(rig: Rig, process: Process) -> None:
    while await rig.queued():
        await process.indexers[0].step()


async def until_settled(process: Process) -> None:
    while await process.reindexer.step() != "idle":
        await process.indexers[0].step()


async def look_again(rig: Rig, process: Process) -> bool:
    """Let the time of a look pass. Return True if the process finds a loss."""
    rig.clock.now += LOOK_EVERY_S
    for _ in range(2):  # the first may clean up after a build
        if not process.follower.spaces.is_incomplete:
            await process.reindexer.step()
    return process.follower.spaces.is_incomplete


async def test_a_lost_collection_is_filled_without_a_command(rig: Rig) -> None:
    process, (ref, other) = await serving_process(rig, [ANNA, WEATHER], [KETTLE])
    await client_of(rig.qdrant).delete_collection(process.follower.ours.collection)

    assert await look_again(rig, process)
    progress = await process.reindexer.progress()
    assert (progress.goal, progress.done) == ("fill", 0)
    await process.reindexer.step()
    assert (await process.reindexer.progress()).total == 3
    await process.work_until_it_serves()

    assert await rig.message_ids(process.follower.ours, ref) == {"m0", "m1"}
    assert await rig.message_ids(process.follower.ours, other) == {"m0"}
    assert await process.best(ref, "where does Anna live") == "m0"
    assert process.follower.spaces.is_incomplete is False
    assert await look_again(rig, process) is False


async def test_a_collection_that_a_new_message_created_again_is_noticed(rig: Rig) -> None:
    process, (ref,) = await serving_process(rig, [ANNA, WEATHER])
    await client_of(rig.qdrant).delete_collection(process.follower.ours.collection)
    await rig.history.append(ref, [make_message("m9", KETTLE)], epoch=0)
    await until_idle(rig, process)
    assert await rig.message_ids(process.follower.ours, ref) == {"m9"}

    assert await look_again(rig, process)
    await process.work_until_it_serves()
    assert await rig.message_ids(process.follower.ours, ref) == {"m0", "m1", "m9"}


async def test_a_loss_before_the_start_is_found_at_the_start(rig: Rig) -> None:
    process, (ref, _) = await serving_process(rig, [ANNA, WEATHER], [KETTLE])
    await process.follower.spaces.serving.index.drop(ref.context_id, epoch=0, message_ids=["m1"])
    new = await rig.started(process.follower.spaces.serving.embedder or make_embedder())
    await new.reindexer.step()
    assert new.follower.spaces.is_incomplete
    await new.reindexer.step()
    assert (await new.reindexer.progress()).total == 2  # the other chat has everything
    await new.work_until_it_serves()
    assert await rig.message_ids(new.follower.ours, ref) == {"m0", "m1"}


async def test_an_old_snapshot_gets_what_came_later_and_loses_what_was_erased_later(rig: Rig) -> None:
    process, (kept, changed, reset) = await serving_process(rig, [ANNA], [WEATHER, ANNA], [KETTLE])
    name = process.follower.ours.collection
    snapshot, _ = await client_of(rig.qdrant).scroll(name, limit=100, with_vectors=True)
    await rig.history.append(kept, [make_message("m9", WEATHER)], epoch=0)
    await rig.history.delete(changed, ["m0"], epoch=0)
    await rig.history.erase(reset)
    await until_idle(rig, process)
    await until_settled(process)

    await rig.lose_points(process.follower.ours)
    points = [{"id": each.id, "payload": each.payload, "vector": each.vector} for each in snapshot]
    body = to_json({"points": points})
    await rig.qdrant.send("PUT", f"/collections/{name}/points?wait=true", body)
    new = await rig.started(process.follower.spaces.serving.embedder or make_embedder())
    await new.reindexer.step()
    await new.work_until_it_serves()
    await until_idle(rig, new)

    assert await rig.message_ids(new.follower.ours, kept) == {"m0", "m9"}
    assert await rig.message_ids(new.follower.ours, changed) == {"m1"}
    assert await new.recall.count(reset) == 0


async def test_messages_that_wait_for_an_indexer_are_no_loss(rig: Rig) -> None:
    process, (ref,) = await serving_process(rig, [ANNA])
    await rig.history.append(ref, [make_message("m9", WEATHER), make_message("blank", "")], epoch=0)
    new = await rig.started(process.follower.spaces.serving.embedder or make_embedder())
    await until_compared(new)
    assert new.follower.spaces.is_incomplete is False
    await until_idle(rig, new)
    rig.clock.now += DAILY_S
    await until_compared(new)
    assert new.follower.spaces.is_incomplete is False


async def until_compared(process: Process) -> None:
    while await process.reindexer.step() == "busy":
        pass


async def test_a_sample_is_compared_each_day(rig: Rig) -> None:
    process, (ref,) = await serving_process(rig, [ANNA, WEATHER])
    index = process.follower.spaces.serving.index
    await index.drop(ref.context_id, epoch=0, message_ids=["m1"])
    assert await look_again(rig, process)  # a small collection: each decrease is looked at
    await process.work_until_it_serves()
    await rig.history.append(ref, [make_message("m9", KETTLE)], epoch=0)
    await until_idle(rig, process)
    await index.drop(ref.context_id, epoch=0, message_ids=["m1"])
    assert await look_again(rig, process) is False  # as many as before
    rig.clock.now += DAILY_S
    assert await look_again(rig, process)
    await process.work_until_it_serves()
    assert await rig.message_ids(process.follower.ours, ref) == {"m0", "m1", "m9"}


async def test_an_index_that_was_away_is_compared_when_it_is_back(
    redis: RedisClient, index_endpoint: IndexEndpoint
) -> None:
    async with (
        index_proxy(index_endpoint.url) as way,
        open_qdrant(way.http_url, api_key=index_endpoint.api_key) as qdrant,
    ):
        rig = Rig(redis=redis, qdrant=qdrant, clock=Clock())
        process, (ref,) = await serving_process(rig, [ANNA, WEATHER])
        rig.clock.now += AGAIN_S
        await way.cut()
        assert await look_again(rig, process) is False
        await way.mend()
        index = process.follower.spaces.serving.index
        await index.drop(ref.context_id, epoch=0, message_ids=["m1"])
        await rig.history.append(ref, [make_message("m9", KETTLE)], epoch=0)
        await until_idle(rig, process)
        assert await look_again(rig, process)
        await process.work_until_it_serves()
        assert await rig.message_ids(process.follower.ours, ref) == {"m0", "m1", "m9"}
        for name in rig.collections:
            await client_of(qdrant).delete_collection(name)
