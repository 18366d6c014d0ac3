"""Imports of other services' histories into the real store: once, whatever stops or doubles them."""

import asyncio
from contextlib import aclosing

import pytest

from memory.errors import Forgotten
from memory.facts.queue import FactQueue
from memory.history.message import Message, Sender
from memory.history.redis_history import RedisHistory
from memory.history.store import BEFORE_ALL
from memory.keys import context_key, partition_key
from memory.redis.client import RedisClient
from memory.summary.compressor import Compressor, RedisSummaries
from memory.transfer.move_in import ImportGone, forget_import, list_imports
from tests.contract.test_compressor import LIMITS, Joining
from tests.exports import chatgpt_conversation, move_in, telegram_chat, telegram_message
from tests.messages import make_ref, some_messages

REF = make_ref()
BEN = Sender(id=77, name="Ben")
MANY = 1_100


def long_chat(count: int = MANY) -> object:
    return telegram_chat([telegram_message(number, f"text {number}") for number in range(1, count + 1)])


async def whole(redis: RedisClient) -> list[Message]:
    return await RedisHistory(redis).page(REF, after_sequence=BEFORE_ALL, limit=5_000, whole=True)


async def test_two_imports_at_once_leave_each_message_once_and_in_order(redis: RedisClient) -> None:
    async def run() -> int:
        work = move_in(redis, REF, long_chat())
        stored = await work.begin(epoch=0)
        async for step in work.run(stored, epoch=0):
            stored = step
        return stored.added

    assert await asyncio.gather(run(), run()) == [MANY, MANY]

    assert [each.text for each in await whole(redis)] == [f"text {number}" for number in range(1, MANY + 1)]
    assert await redis.call("XLEN", partition_key(REF.partition, "work")) == MANY
    assert await redis.call("HGET", context_key(REF, "senders"), 7) == str(MANY)


async def test_an_interrupted_import_goes_on_where_it_was(redis: RedisClient) -> None:
    work = move_in(redis, REF, long_chat())
    stored = await work.begin(epoch=0)
    async with aclosing(work.run(stored, epoch=0)) as steps:
        first = await anext(steps)
    assert 0 < (first.done or 0) < MANY

    again = move_in(redis, REF, long_chat())
    resumed = await again.begin(epoch=0)
    assert (resumed.first, resumed.done) == (-MANY, first.done)
    done = [step async for step in again.run(resumed, epoch=0)]

    assert done[-1].is_whole
    assert done[-1].added == MANY
    assert [each.sequence for each in await whole(redis)] == list(range(-MANY, 0))


async def test_a_reset_ends_a_running_import(redis: RedisClient) -> None:
    work = move_in(redis, REF, long_chat())
    stored = await work.begin(epoch=0)
    async with aclosing(work.run(stored, epoch=0)) as steps:
        await anext(steps)
        await RedisHistory(redis).erase(REF)

        with pytest.raises(Forgotten):
            await anext(steps)

    assert await whole(redis) == []
    assert await list_imports(redis, REF) == []


async def test_forgetting_ends_a_running_import_and_goes_on_after_a_crash(redis: RedisClient) -> None:
    work = move_in(redis, REF, long_chat())
    stored = await work.begin(epoch=0)
    async with aclosing(work.run(stored, epoch=0)) as steps:
        stored = await anext(steps)
        await redis.call(
            "HDEL", context_key(REF, "imports"), f"{stored.id}:done"
        )  # the first step, then a crash

        with pytest.raises(ImportGone):
            await anext(steps)
    with pytest.raises(ImportGone):
        await move_in(redis, REF, long_chat()).begin(epoch=0)

    (left,) = await list_imports(redis, REF)
    receipt = await forget_import(redis, REF, left, epoch=0, recall=None)

    assert receipt.messages_erased == stored.done
    assert await whole(redis) == []
    assert await list_imports(redis, REF) == []
    assert await redis.call("EXISTS", context_key(REF, "sessions"), context_key(REF, "senders")) == 0


async def test_conversations_are_in_the_order_of_their_dates(redis: RedisClient) -> None:
    newest = chatgpt_conversation("new", ["c", "d"], created_at=1_700_000_000)
    oldest = chatgpt_conversation("old", ["a", "b"], created_at=1_600_000_000)
    work = move_in(redis, REF, [newest, oldest], person=BEN)
    async for _ in work.run(await work.begin(epoch=0), epoch=0):
        pass

    found = await whole(redis)

    assert [each.text for each in found] == ["a", "b", "c", "d"]
    assert await redis.call("ZRANGE", context_key(REF, "sessions"), 0, -1) == ["-4", "-2", "0"]


async def test_imported_messages_are_summarised_and_stay_out_of_the_window(redis: RedisClient) -> None:
    history, summarizer = RedisHistory(redis), Joining()
    work = move_in(redis, REF, long_chat(), person=BEN)
    async for _ in work.run(await work.begin(epoch=0), epoch=0):
        pass
    await history.append(REF, some_messages(2), epoch=0)
    compressor = Compressor(
        history=history,
        summaries=RedisSummaries(redis, clock=lambda: 1_000.0),
        summarizer=summarizer,
        limits={"": LIMITS},
        partition=REF.partition,
        clock=lambda: 1_000.0,
    )

    result = await compressor.step()

    assert result.outcome == "compressed"
    snapshot = await history.load(REF, limit=50)
    assert snapshot.summary is not None
    assert "text 1 text 2" in snapshot.summary.text.overview
    assert len(snapshot.newest) == 2, "only the talk that was had here"
    (stored,) = await list_imports(redis, REF)
    receipt = await forget_import(redis, REF, stored, epoch=0, recall=None)
    assert receipt.is_proven
    assert (await history.load(REF, limit=50)).summary is None


async def test_imported_messages_are_read_for_facts_within_the_budget(redis: RedisClient) -> None:
    history = RedisHistory(redis)
    await history.append(REF, some_messages(2), epoch=0)
    await redis.call("HSET", context_key(REF, "meta"), "facts_from", 0)  # all that was said here is read
    work = move_in(redis, REF, [chatgpt_conversation("c", ["I like tea", "Noted"])], person=BEN)
    async for _ in work.run(await work.begin(epoch=0), epoch=0):
        pass
    without, within = (FactQueue(redis, clock=lambda: 1_000.0, tokens_per_day=each) for each in (0, 1_000))

    claim = await within.claim(REF.partition, lease_s=60)

    assert claim is not None
    assert (await without.load(claim, limit=20)).messages == ()
    found = await within.load(claim, limit=20)
    assert [(each.text, each.sender) for each in found.messages] == [("I like tea", BEN)]
    assert found.is_older
    assert await within.save(claim, found, ()) == "saved"
    assert (await within.load(claim, limit=20)).messages == ()
