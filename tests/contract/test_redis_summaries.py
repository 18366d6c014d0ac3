"""Summaries on the real store (I14): one compression of a conversation at a time, and no outdated summary."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from memory.errors import Forgotten
from memory.history.summary import Summary
from memory.keys import context_key, partition_key
from memory.leased import QueueClaim, SaveOutcome
from memory.redis.client import RedisClient
from memory.summary.compressor import STORED_SUMMARIES, RedisSummaries
from tests.contract.memory_kit import LEASE_S, RedisMemory, make_summary
from tests.messages import make_message, make_ref, some_messages
from tests.redis_values import all_values

REF = make_ref()


async def fill_memory(redis: RedisClient, *, messages: int = 6) -> RedisMemory:
    memory = RedisMemory(redis)
    await memory.store.append(REF, some_messages(messages), epoch=0)
    return memory


async def save(
    memory: RedisMemory,
    claim: QueueClaim,
    summary: Summary | None = None,
    *covers: str,
    epoch: int = 0,
    revision: int = 0,
) -> SaveOutcome:
    return await memory.summaries.save(
        claim, summary or make_summary("s1", upto=1), covers or ("m0", "m1"), epoch=epoch, revision=revision
    )


async def test_nothing_is_claimed_if_nothing_is_due(redis: RedisClient) -> None:
    memory = await fill_memory(redis)

    assert await memory.summaries.claim(0, lease_s=LEASE_S) is None


async def test_the_conversation_that_is_due_longest_is_claimed_first(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    for chat in (2, 1, 3):
        await memory.summaries.queue(make_ref(chat))
        memory.clock.now += 1
    await memory.summaries.queue(make_ref(2))

    claims = [await memory.summaries.claim(0, lease_s=LEASE_S) for _ in range(4)]

    assert [claim.ref if claim else None for claim in claims] == [make_ref(2), make_ref(1), make_ref(3), None]


async def test_only_unclaimed_due_conversations_are_counted(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    for chat in (1, 2, 3):
        await memory.summaries.queue(make_ref(chat))
    await memory.summaries.claim(0, lease_s=LEASE_S)

    assert await memory.summaries.count_due(0) == 2
    assert await memory.summaries.count_due(1) == 0


async def test_i14_a_claimed_conversation_is_not_claimed_again_before_its_lease_ends(
    redis: RedisClient,
) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    await memory.summaries.queue(REF)
    memory.clock.now += LEASE_S - 1
    assert await memory.summaries.claim(0, lease_s=LEASE_S) is None
    memory.clock.now += 1

    second = await memory.summaries.claim(0, lease_s=LEASE_S)

    assert second is not None
    assert (second.ref, second.token == claim.token) == (REF, False)


async def test_i14_one_of_many_compressors_gets_the_conversation(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    await memory.summaries.queue(REF)
    others = [RedisSummaries(redis, clock=memory.clock) for _ in range(20)]

    claims = await asyncio.gather(*(other.claim(0, lease_s=LEASE_S) for other in others))

    assert [claim.ref for claim in claims if claim] == [REF]


async def test_a_renewed_claim_lasts_longer_and_takes_the_place_of_the_old_one(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    memory.clock.now += LEASE_S / 2

    renewed = await memory.summaries.renew(claim, lease_s=LEASE_S)

    assert renewed is not None
    memory.clock.now += LEASE_S - 1
    assert await memory.summaries.claim(0, lease_s=LEASE_S) is None
    assert await save(memory, claim) == "lost"
    assert await save(memory, renewed) == "saved"


async def test_i05_a_saved_summary_is_the_current_one_with_the_ids_that_it_covers(redis: RedisClient) -> None:
    memory = await fill_memory(redis)

    assert await save(memory, await memory.claim(REF)) == "saved"

    assert (await memory.store.load(REF, limit=9)).summary == make_summary("s1", upto=1)
    assert await memory.summaries.covered(REF, "s1") == ("m0", "m1")
    assert await memory.summaries.covered(REF, "nothing") == ()


async def test_i05_each_summary_builds_on_the_last_and_the_newest_few_are_kept(redis: RedisClient) -> None:
    memory = await fill_memory(redis, messages=12)
    claim = await memory.claim(REF)
    last = None
    for upto in range(11):
        last = make_summary(f"s{upto}", upto=upto, after=last)
        assert await save(memory, claim, last, f"m{upto}") == "saved"

    newest = [f"s{number}" for number in range(11 - STORED_SUMMARIES, 11)]
    assert await redis.call("ZRANGE", context_key(REF, "lineage"), 0, -1) == newest
    fields = await redis.call("HKEYS", context_key(REF, "summaries"))
    assert set(fields) == {*newest, *(f"covers:{kept}" for kept in newest)}
    assert (await memory.store.count_traces(REF)).summaries == STORED_SUMMARIES


async def test_a_summary_saved_twice_is_saved_once(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    await save(memory, claim)
    before = await all_values(redis)

    assert await save(memory, claim) == "saved"

    assert await all_values(redis) == before


async def test_i14_a_summary_is_saved_after_an_append_and_the_new_messages_stay(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    await memory.store.append(REF, [make_message("late")], epoch=0)

    assert await save(memory, claim) == "saved"

    snapshot = await memory.store.load(REF, limit=9)
    assert [message.id for message in snapshot.newest] == ["m2", "m3", "m4", "m5", "late"]


async def _delete_a_covered_message(memory: RedisMemory) -> None:
    await memory.store.delete(REF, ["m1"], epoch=0)


async def _delete_another_message(memory: RedisMemory) -> None:
    await memory.store.delete(REF, ["m5"], epoch=0)


async def _edit(memory: RedisMemory) -> None:
    await memory.store.replace(REF, "m0", text="new", tokens=1, edited_at=5.0, epoch=0)


async def _new_conversation(memory: RedisMemory) -> None:
    await memory.store.start_conversation(REF, epoch=0)


@pytest.mark.parametrize(
    "change", [_delete_a_covered_message, _delete_another_message, _edit, _new_conversation]
)
async def test_i14_a_summary_of_changed_messages_is_not_saved(
    redis: RedisClient, change: Callable[[RedisMemory], Awaitable[None]]
) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    await change(memory)
    before = await all_values(redis)

    assert await save(memory, claim) == "stale"

    assert await all_values(redis) == before


@pytest.mark.parametrize(
    ("summary", "covers"),
    [
        (make_summary("s2", upto=3), ("m2", "m3")),
        (make_summary("s2", upto=3, after=make_summary("other", upto=1)), ("m2", "m3")),
        (make_summary("s2", upto=1, after=make_summary("s1", upto=1)), ("m1",)),
        (make_summary("s2", upto=3, after=make_summary("s1", upto=1)), ("m2", "nothing")),
        (make_summary("s2", upto=3, after=make_summary("s1", upto=1), start=2), ("m2", "m3")),
    ],
)
async def test_a_summary_that_does_not_follow_the_current_one_is_not_saved(
    redis: RedisClient, summary: Summary, covers: tuple[str, ...]
) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    await save(memory, claim)
    before = await all_values(redis)

    assert await save(memory, claim, summary, *covers) == "stale"

    assert await all_values(redis) == before


async def test_a_summary_of_a_reset_context_is_forgotten(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    await memory.store.erase(REF)
    await memory.store.append(REF, some_messages(2), epoch=1)
    before = await all_values(redis)

    with pytest.raises(Forgotten):
        await save(memory, claim)
    assert await memory.summaries.renew(claim, lease_s=LEASE_S) is None

    assert await all_values(redis) == before


async def test_i14_a_compressor_that_slept_past_its_lease_writes_nothing(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    sleeper = await memory.claim(REF)
    memory.clock.now += LEASE_S
    second = await memory.summaries.claim(0, lease_s=LEASE_S)
    assert second is not None
    before = await all_values(redis)

    assert await save(memory, sleeper) == "lost"
    assert await memory.summaries.renew(sleeper, lease_s=LEASE_S) is None
    assert await memory.summaries.fail(sleeper, pauses_s=()) == "lost"
    await memory.summaries.finish(sleeper)

    assert await all_values(redis) == before
    assert await save(memory, second) == "saved"


async def test_a_finished_compression_is_due_again_when_it_is_queued_again(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    await memory.summaries.finish(await memory.claim(REF))
    assert await redis.call("EXISTS", partition_key(0, "compress")) == 0

    assert (await memory.claim(REF)).ref == REF


async def give_up(memory: RedisMemory, claim: QueueClaim) -> None:
    """Finish a compression that has failed for the last time."""
    await memory.summaries.finish(claim, seen=await memory.store.load(REF, limit=1), is_given_up=True)


async def test_i07_a_failure_is_tried_again_after_a_pause_and_finally_given_up(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    for _ in range(2):
        assert await memory.summaries.fail(claim, pauses_s=(30, 30)) == "later"
        assert await memory.summaries.claim(0, lease_s=LEASE_S) is None
        memory.clock.now += 30
        again = await memory.summaries.claim(0, lease_s=LEASE_S)
        assert again is not None
        claim = again

    assert await memory.summaries.fail(claim, pauses_s=(30, 30)) == "given_up"
    await give_up(memory, claim)

    assert (await memory.store.load(REF, limit=1)).summary_state.failed_at == 6
    assert await redis.call("EXISTS", partition_key(0, "compress")) == 0


async def test_after_giving_up_failures_are_counted_from_zero(redis: RedisClient) -> None:
    memory = await fill_memory(redis)
    claim = await memory.claim(REF)
    assert await memory.summaries.fail(claim, pauses_s=()) == "given_up"
    await give_up(memory, claim)

    assert await memory.summaries.fail(await memory.claim(REF), pauses_s=(1,)) == "later"

    assert (await memory.store.load(REF, limit=1)).summary_state.failed_at == 6


@pytest.mark.parametrize("ends_by", ["a summary", "a new conversation"])
async def test_i07_a_summary_or_a_new_conversation_resets_the_count_of_failures(
    redis: RedisClient, ends_by: str
) -> None:
    memory = await fill_memory(redis)
    await give_up(memory, await memory.claim(REF))
    await memory.summaries.fail(await memory.claim(REF), pauses_s=(0, 0))

    if ends_by == "a summary":
        claim = await memory.summaries.claim(0, lease_s=LEASE_S)
        assert claim is not None
        await save(memory, claim)
    else:
        await memory.store.start_conversation(REF, epoch=0)

    assert (await memory.store.load(REF, limit=1)).summary_state.failed_at is None
    assert "summary_failures" not in await redis.call("HGETALL", context_key(REF, "meta"))


async def test_forgetting_a_message_of_an_old_summary_deletes_all_summaries(redis: RedisClient) -> None:
    memory = await fill_memory(redis, messages=12)
    claim = await memory.claim(REF)
    last = None
    for upto in range(11):
        last = make_summary(f"s{upto}", upto=upto, after=last)
        await save(memory, claim, last, f"m{upto}")

    deleted = await memory.store.delete(REF, ["m0"], epoch=0)

    assert deleted.summaries == STORED_SUMMARIES
    assert await redis.call("EXISTS", context_key(REF, "summaries"), context_key(REF, "lineage")) == 0
