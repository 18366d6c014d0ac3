"""A change of the embedding space: built in the background from the history, and searched meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from chaos.rig.tcp_proxy import TcpProxy
from memory.embedded.supervisor import IndexEndpoint
from memory.errors import RecallUnavailable
from memory.keys import ContextRef, partition_key
from memory.recall.embedders.embedder import EmbeddingRefused, EmbeddingUnavailable
from memory.recall.indexer import SpaceMoved
from memory.recall.qdrant.index import open_qdrant
from memory.recall.reindex import BACKLOG, PAGE
from memory.recall.spaces import SpacesRecord
from memory.redis.client import RedisClient
from tests.contract.reindex_kit import Clock, Process, Rig, make_embedder
from tests.contract.vector_kit import client_of, open_local_client
from tests.messages import make_message, some_messages
from tests.store_proxy import index_proxy

pytestmark = pytest.mark.slow

ANNA, WEATHER = "my sister Anna lives in Lisbon", "the weather is fine"


@pytest.fixture
async def rig(redis: RedisClient) -> AsyncGenerator[Rig]:
    """Use an index in this process: creating a collection of a server takes a second on a busy disk."""
    async with open_local_client() as qdrant:
        yield Rig(redis=redis, qdrant=qdrant, clock=Clock())


@asynccontextmanager
async def rig_behind_a_proxy(
    redis: RedisClient, endpoint: IndexEndpoint
) -> AsyncGenerator[tuple[Rig, TcpProxy]]:
    """Use the index server, which can be cut off. Its collections go with the rig: erasing covers all of them."""
    async with (
        index_proxy(endpoint.url) as way,
        open_qdrant(way.http_url, api_key=endpoint.api_key) as qdrant,
    ):
        rig = Rig(redis=redis, qdrant=qdrant, clock=Clock())
        yield rig, way
        for name in rig.collections:
            await client_of(qdrant).delete_collection(name)


async def serving_process(rig: Rig, *chats: Sequence[str]) -> tuple[Process, list[ContextRef]]:
    """Return a process on an empty store, and chats whose messages it has indexed."""
    process = await rig.started(make_embedder())
    refs = [
        await rig.chat([make_message(f"m{at}", text) for at, text in enumerate(texts)]) for texts in chats
    ]
    await until_idle(rig, process)
    return process, refs


async def until_idle(rig: Rig, process: Process) -> None:
    while await rig.queued():
        await process.indexers[0].step()


async def test_on_an_empty_store_the_first_space_serves_at_once(rig: Rig) -> None:
    process = await rig.started(make_embedder())
    assert await rig.record() == SpacesRecord(serving=process.follower.ours)
    assert (process.follower.spaces.building, process.follower.spaces.takes_work) == (None, True)


async def test_a_process_without_a_claimed_space_takes_no_work(rig: Rig) -> None:
    process = rig.process(make_embedder())
    await rig.chat(some_messages(1))
    await process.work()
    assert await rig.queued() == 1


async def test_a_space_whose_embedder_does_not_work_is_not_claimed(rig: Rig) -> None:
    old, (ref,) = await serving_process(rig, [ANNA])
    before = await rig.record()
    broken = make_embedder(dimension=48)
    broken.failure = EmbeddingRefused("the endpoint takes no such dimensions")
    with pytest.raises(EmbeddingRefused):
        await rig.started(broken)
    assert await rig.record() == before
    await rig.history.append(ref, [make_message("m1", WEATHER)], epoch=0)
    await old.work()
    assert await rig.message_ids(old.follower.ours, ref) == {"m0", "m1"}


async def test_data_from_before_the_record_is_indexed_again_and_searchable_meanwhile(rig: Rig) -> None:
    ref = await rig.chat([make_message("m0", ANNA)])
    await rig.redis.call("XTRIM", partition_key(0, "work"), "MAXLEN", 0)
    process = await rig.started(make_embedder())
    assert process.follower.spaces.serving.name == process.follower.ours.collection
    await process.work_until_it_serves()
    assert await process.best(ref, "where does Anna live") == "m0"
    assert (await rig.record()).serving == process.follower.ours


async def test_searches_use_the_new_space_alone_and_say_that_they_may_miss_messages(rig: Rig) -> None:
    former, (ref,) = await serving_process(rig, [ANNA, WEATHER])
    new = await rig.started(make_embedder(dimension=48))
    assert await new.best(ref, "where does Anna live") is None
    assert new.follower.spaces.is_incomplete
    await former.reindexer.follow()
    assert await former.best(ref, "where does Anna live") == "m0", "its own space is still there"
    assert former.follower.spaces.is_incomplete, "newer messages are not in it"
    await new.work_until_it_serves()
    await former.reindexer.follow()
    for process in (former, new):
        assert process.follower.spaces.serving.name == new.follower.ours.collection
        assert not process.follower.spaces.is_incomplete
        assert await process.best(ref, "where does Anna live") == "m0"
    assert former.follower.spaces.serving.embedder is None, "it finds by words alone"


async def test_a_space_after_a_change_equals_one_that_served_from_the_beginning(rig: Rig) -> None:
    _, refs = await serving_process(rig, [ANNA, WEATHER], [f"text {n}" for n in range(PAGE + 30)], ["one"])
    new = await rig.started(make_embedder(dimension=48))
    await new.work_until_it_serves()
    built = await rig.points(new.follower.ours)
    assert len(built) == 2 + PAGE + 30 + 1

    await rig.lose_points(new.follower.ours)
    for ref in refs:
        for message in await rig.history.page(ref, after_sequence=-1, limit=1000):
            fields = ("op", "index", "context", ref.context_id, "epoch", "0", "id", message.id)
            await rig.redis.call("XADD", partition_key(0, "work"), "*", *fields)
    await until_idle(rig, new)
    assert await rig.points(new.follower.ours) == built


async def test_empty_and_erased_chats_do_not_block_the_change(rig: Rig) -> None:
    _, (erased, _) = await serving_process(rig, [ANNA], [WEATHER])
    await rig.chat()
    await rig.history.erase(erased)
    new = await rig.started(make_embedder(dimension=48))
    await new.work_until_it_serves()
    assert len(await rig.points(new.follower.ours)) == 1


async def test_every_partition_is_reindexed(rig: Rig) -> None:
    rig.partitions = 3
    await rig.started(make_embedder())
    refs = [await rig.chat(some_messages(2), partition=partition) for partition in range(3)]
    new = await rig.started(make_embedder(dimension=48))
    await new.work_until_it_serves()
    assert [len(await rig.message_ids(new.follower.ours, ref)) for ref in refs] == [2, 2, 2]


async def test_the_progress_shows_all_and_finished_messages(rig: Rig) -> None:
    await serving_process(rig, [f"text {n}" for n in range(100)])
    new = await rig.started(make_embedder(dimension=48))
    assert (await new.reindexer.progress()).done == 0
    await new.reindexer.step()
    await new.work()
    progress = await new.reindexer.progress()
    assert (progress.serving, progress.target) == (None, new.follower.ours)
    assert (progress.total, progress.done) == (100, 64)


async def test_new_messages_never_wait_for_a_long_reindexing(rig: Rig) -> None:
    await serving_process(rig, [f"text {n}" for n in range(2 * BACKLOG + 2 * PAGE)])
    new = await rig.started(make_embedder(dimension=48))
    while await new.reindexer.step() == "busy":
        pass
    assert BACKLOG < await rig.queued() <= BACKLOG + PAGE


async def test_a_message_during_the_change_is_found_at_once(rig: Rig) -> None:
    former, (ref,) = await serving_process(rig, [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    await rig.history.append(ref, [make_message("m9", "the kettle is blue")], epoch=0)
    await new.indexers[0].step()
    assert await new.best(ref, "the kettle is blue") == "m9"
    assert await rig.message_ids(former.follower.ours, ref) == {"m0"}
    await new.work_until_it_serves()
    assert await rig.message_ids(new.follower.ours, ref) == {"m0", "m9"}


async def test_a_chat_that_begins_during_the_change_is_in_the_new_space(rig: Rig) -> None:
    await serving_process(rig, [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    await new.reindexer.step()
    await new.reindexer.step()
    first = ContextRef(context_id="0" * 32, partition=0)
    await rig.register_chat(first)
    await rig.history.append(first, some_messages(2), epoch=0)
    await new.work_until_it_serves()
    await until_idle(rig, new)
    assert await rig.message_ids(new.follower.ours, first) == {"m0", "m1"}


async def test_a_reset_during_the_change_erases_both_spaces(rig: Rig) -> None:
    former, (ref, other) = await serving_process(rig, [f"text {n}" for n in range(100)], [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    for _ in range(3):
        await new.work()
    assert await rig.message_ids(new.follower.ours, ref)
    erased = await rig.history.erase(ref)
    assert (await new.recall.erase(ref, below_epoch=erased.epoch)).left == 0
    assert await new.recall.count(ref) == 0
    await rig.register_chat(ref)
    await rig.history.append(ref, [make_message("m3", "a new beginning")], epoch=erased.epoch)
    await new.work_until_it_serves()
    await until_idle(rig, new)
    assert await rig.message_ids(former.follower.ours, ref) <= {"m3"}
    assert await rig.message_ids(new.follower.ours, ref) == {"m3"}
    assert await rig.message_ids(new.follower.ours, other) == {"m0"}


async def test_deletions_and_edits_during_the_change_apply_to_both_spaces(rig: Rig) -> None:
    former, (ref,) = await serving_process(rig, [f"text {n}" for n in range(100)])
    new = await rig.started(make_embedder(dimension=48))
    for _ in range(2):
        await new.work()
    await rig.history.delete(ref, ["m0", "m99"], epoch=0)
    await rig.history.replace(ref, "m1", text=ANNA, tokens=6, edited_at=5.0, epoch=0)
    await new.work_until_it_serves()
    await until_idle(rig, new)
    kept = {f"m{n}" for n in range(1, 99)}
    assert await rig.message_ids(former.follower.ours, ref) == kept
    assert await rig.message_ids(new.follower.ours, ref) == kept
    assert await new.best(ref, "where does Anna live") == "m1"


async def test_a_failing_embedder_delays_the_change_and_loses_nothing(rig: Rig) -> None:
    _, (ref,) = await serving_process(rig, [f"text {n}" for n in range(150)])
    embedder = make_embedder(dimension=48)
    new = await rig.started(embedder)
    await new.reindexer.step()
    await new.work()
    embedder.failure = EmbeddingUnavailable("down")
    with pytest.raises(RecallUnavailable):
        await new.work()
    assert (await new.reindexer.progress()).target is not None
    embedder.failure = None
    await new.work_until_it_serves()
    assert len(await rig.message_ids(new.follower.ours, ref)) == 150


async def test_an_unavailable_index_delays_the_change_and_loses_nothing(
    redis: RedisClient, index_endpoint: IndexEndpoint
) -> None:
    async with rig_behind_a_proxy(redis, index_endpoint) as (rig, way):
        _, (ref,) = await serving_process(rig, [f"text {n}" for n in range(150)])
        new = await rig.started(make_embedder(dimension=48))
        await new.reindexer.step()
        await new.work()
        await way.cut()
        with pytest.raises(RecallUnavailable):
            await new.work()
        await way.mend()
        await new.work_until_it_serves()
        assert len(await rig.message_ids(new.follower.ours, ref)) == 150


async def test_concurrent_reindexers_queue_each_message_once(rig: Rig) -> None:
    former, _ = await serving_process(rig, *[[f"text {n}" for n in range(20)] for _ in range(10)])
    embedder = make_embedder(dimension=48)
    others = [await rig.started(embedder) for _ in range(4)]
    for _ in range(30):
        await asyncio.gather(*(other.reindexer.step() for other in others))
    assert await rig.queued() == 200
    await others[0].work_until_it_serves()
    assert len(await rig.points(embedder_space := others[0].follower.ours)) == 200
    assert embedder_space != former.follower.ours


async def test_processes_share_the_work_and_switch_together(rig: Rig) -> None:
    await serving_process(rig, [f"text {n}" for n in range(300)])
    embedder = make_embedder(dimension=48)
    others = [await rig.started(embedder) for _ in range(3)]
    while (await others[0].reindexer.progress()).target is not None:
        await asyncio.gather(*(other.work() for other in others))
    assert len(await rig.points(others[0].follower.ours)) == 300
    for other in others:
        await other.reindexer.follow()
        assert not other.follower.spaces.is_incomplete


async def test_a_reindexing_continues_after_a_killed_process(rig: Rig) -> None:
    _, (ref,) = await serving_process(rig, [f"text {n}" for n in range(3 * PAGE)])
    embedder = make_embedder(dimension=48)
    killed = await rig.started(embedder, consumer="killed")
    await killed.reindexer.step()
    await killed.reindexer.step()
    resumed = await rig.started(embedder)
    assert (await rig.redis.call("HGET", partition_key(0, "walk"), "queued")) == str(PAGE)
    await resumed.work_until_it_serves()
    assert await rig.redis.call("HMGET", partition_key(0, "walk"), "queued", "done") == [
        str(3 * PAGE),
        str(3 * PAGE),
    ]
    assert len(await rig.message_ids(resumed.follower.ours, ref)) == 3 * PAGE


async def test_an_old_process_takes_no_work_of_a_new_one(rig: Rig) -> None:
    old, (ref,) = await serving_process(rig, [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    await old.reindexer.step()
    await rig.history.append(ref, [make_message("m1", WEATHER)], epoch=0)
    await old.work()
    assert await rig.queued() == 1
    await new.work_until_it_serves()
    await old.work()
    await rig.history.append(ref, [make_message("m2", WEATHER)], epoch=0)
    await old.work()
    assert await rig.queued() == 1
    await until_idle(rig, new)
    assert await rig.message_ids(new.follower.ours, ref) == {"m0", "m1", "m2"}


async def test_an_old_process_that_does_not_know_the_change_loses_no_work(rig: Rig) -> None:
    old, (ref,) = await serving_process(rig, [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    await new.reindexer.step()  # the walk has begun
    await rig.history.append(ref, [make_message("m1", WEATHER)], epoch=0)
    with pytest.raises(SpaceMoved):
        await old.indexers[0].step()
    assert await rig.queued() == 1
    await give_back(rig)
    await new.work_until_it_serves()
    await until_idle(rig, new)
    assert await rig.message_ids(new.follower.ours, ref) == {"m0", "m1"}


async def test_an_old_process_cannot_finish_the_reindexings_work(rig: Rig) -> None:
    old, (ref,) = await serving_process(rig, [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    while await new.reindexer.step() == "busy":
        pass
    with pytest.raises(SpaceMoved):
        await old.indexers[0].step()
    await give_back(rig)
    await new.work_until_it_serves()
    assert await rig.message_ids(new.follower.ours, ref) == {"m0"}


async def give_back(rig: Rig) -> None:
    """Simulate half a minute of silence: the entries may be taken over."""
    for number, _ in await rig.redis.call("XRANGE", partition_key(0, "work"), "-", "+"):
        await rig.redis.call(
            "XCLAIM", partition_key(0, "work"), "indexers", "nobody", 0, number, "IDLE", 31_000
        )


async def test_the_last_of_several_changes_is_built(rig: Rig) -> None:
    _, (ref,) = await serving_process(rig, [f"text {n}" for n in range(100)])
    second = await rig.started(make_embedder(dimension=48))
    await second.reindexer.step()
    await second.work()
    third = await rig.started(make_embedder(dimension=32))
    await third.work_until_it_serves()
    assert (await rig.record()).serving == third.follower.ours
    assert len(await rig.message_ids(third.follower.ours, ref)) == 100
    await second.work()
    assert second.follower.spaces.takes_work is False


async def test_a_return_to_the_former_space_leaves_no_message_out(rig: Rig) -> None:
    embedder = make_embedder()
    former = await rig.started(embedder)
    ref = await rig.chat([make_message("m0", ANNA)])
    await until_idle(rig, former)
    new = await rig.started(make_embedder(dimension=48))
    await new.reindexer.step()
    await rig.history.append(ref, [make_message("m1", WEATHER)], epoch=0)
    await new.indexers[0].step()

    back = await rig.started(embedder)
    await back.work_until_it_serves()

    record = await rig.record()
    assert (record.serving, record.target) == (former.follower.ours, None)
    points = await rig.points(former.follower.ours)
    assert [bool(vectors.get("dense")) for _, vectors in points.values()] == [True, True]


async def test_force_rebuilds_the_serving_space(rig: Rig) -> None:
    process, (ref,) = await serving_process(rig, [ANNA, WEATHER])
    await rig.lose_points(process.follower.ours)
    assert await process.best(ref, "where does Anna live") is None
    await process.reindexer.claim(is_forced=True)
    await process.work_until_it_serves()
    assert await process.best(ref, "where does Anna live") == "m0"
    assert await rig.message_ids(process.follower.ours, ref) == {"m0", "m1"}


async def test_the_former_space_is_deleted_a_minute_after_the_switch(rig: Rig) -> None:
    former, (ref,) = await serving_process(rig, [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    await new.work_until_it_serves()
    rig.clock.now += 59
    await new.work()
    assert await rig.message_ids(former.follower.ours, ref) == {"m0"}
    rig.clock.now += 1
    await new.work()
    assert await rig.has_collection(former.follower.ours.collection) is False
    assert await rig.record() == SpacesRecord(serving=new.follower.ours, build=(await rig.record()).build)
    assert await new.best(ref, "where does Anna live") == "m0"


async def test_points_of_another_deployment_and_their_collection_stay(rig: Rig) -> None:
    former, (ref,) = await serving_process(rig, [ANNA])
    stranger = ContextRef(context_id=uuid4().hex, partition=0)
    await rig.history.append(stranger, [make_message("m0", WEATHER)], epoch=0)
    await until_idle(rig, former)
    new = await rig.started(make_embedder(dimension=48))
    await new.work_until_it_serves()
    rig.clock.now += 60
    await new.work()
    assert await rig.message_ids(former.follower.ours, ref) == set()
    assert await rig.message_ids(former.follower.ours, stranger) == {"m0"}


async def test_a_space_that_is_needed_again_is_not_deleted(rig: Rig) -> None:
    embedder = make_embedder()
    former = await rig.started(embedder)
    ref = await rig.chat([make_message("m0", ANNA)])
    await until_idle(rig, former)
    new = await rig.started(make_embedder(dimension=48))
    await new.work_until_it_serves()
    back = await rig.started(embedder)
    rig.clock.now += 3600
    await new.work()
    assert await rig.message_ids(former.follower.ours, ref) == {"m0"}
    await back.work_until_it_serves()
    assert await rig.message_ids(former.follower.ours, ref) == {"m0"}


async def test_a_reindexing_begins_only_when_no_space_is_being_deleted(rig: Rig) -> None:
    await serving_process(rig, [ANNA])
    new = await rig.started(make_embedder(dimension=48))
    await rig.redis.call("SET", "mnemogram:sweeping", "somebody", "EX", 30)
    await new.reindexer.step()
    assert await rig.redis.call("EXISTS", partition_key(0, "walk")) == 0
    await rig.redis.call("DEL", "mnemogram:sweeping")
    await new.work_until_it_serves()


async def test_an_unavailable_index_delays_the_deletion_of_a_space(
    redis: RedisClient, index_endpoint: IndexEndpoint
) -> None:
    async with rig_behind_a_proxy(redis, index_endpoint) as (rig, way):
        former, _ = await serving_process(rig, [ANNA])
        new = await rig.started(make_embedder(dimension=48))
        await new.work_until_it_serves()
        rig.clock.now += 60
        await way.cut()
        with pytest.raises(RecallUnavailable):
            await new.reindexer.step()
        await way.mend()
        await new.reindexer.step()
        assert await rig.has_collection(former.follower.ours.collection) is False
        assert (await rig.record()).sweep_after is None
