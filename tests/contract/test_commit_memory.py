"""A turn's commit beside its messages: tool calls, the active agent, and queued compressions."""

from typing import Any

import pytest

from bot.agent.model import Usage
from bot.errors import Fenced
from bot.turn.store import LaterWork, TurnStore
from memory import keys
from memory.codec import parse_json
from memory.errors import Forgotten
from memory.history.ledger import LedgerTurn
from memory.history.redis_history import RedisHistory
from memory.history.store import Erasure
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import NOW, open_inbox, some_parts
from tests.contract.memory_kit import RedisMemory, make_entry, make_summary, make_turn
from tests.messages import make_receipt, make_ref, some_messages
from tests.redis_values import all_values, keys_with
from tests.stores import stray_keys

REF = make_ref()


async def test_i08_a_commit_stores_the_tool_calls_with_their_messages(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    store = RedisHistory(redis)
    await store.append(REF, some_messages(3), epoch=0)
    await box.accept(1)
    called = (make_entry("a1", output="line one\nline \u2028 two"), make_entry(call="call-2"))

    await box.commit(await box.claim_one(), 1, messages=some_messages(2, start=3), ledger=called)

    assert (await store.load(REF, limit=1)).ledger == (
        LedgerTurn(first_sequence=3, last_sequence=4, entries=called),
    )


async def test_a_commit_without_messages_stores_no_tool_calls(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)

    await box.commit(await box.claim_one(), 1, ledger=(make_entry(),))

    assert await redis.call("EXISTS", keys.context_key(REF, "ledger")) == 0


async def test_forgetting_a_message_deletes_the_calls_and_artifacts_of_its_turn(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    memory = RedisMemory(redis)
    await box.accept(1)
    await memory.add_artifact(REF, "a1", "quokka")
    await memory.add_artifact(REF, "a2", "wombat")
    called = (make_entry("a1", output="quokka"), make_entry("a2"), make_entry("a1"))
    await box.commit(await box.claim_one(), 1, messages=some_messages(2), ledger=called)

    deleted = await memory.store.delete(REF, ["m1"], epoch=0)

    assert (deleted.ledger_turns, deleted.artifacts) == (1, 2)
    assert await keys_with(redis, "quokka") == await keys_with(redis, "wombat") == []


async def test_i12_a_transfer_lasts_until_the_next_one_or_a_return_to_the_main_agent(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    seen: list[str] = []
    for update, agent in enumerate(["billing", None, "shipping", ""], start=1):
        await box.accept(update)
        claim = await box.claim_one()
        await box.commit(claim, update, meta={} if agent is None else {"active_agent": agent})
        await box.inbox.settle(claim)
        seen.append((await RedisHistory(redis).load(REF, limit=0)).choices.agent)

    assert seen == ["billing", "billing", "shipping", ""]


async def test_i12_a_new_conversation_returns_to_the_main_agent_and_drops_the_summaries(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    memory = RedisMemory(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(claim, 1, messages=some_messages(4), meta={"active_agent": "billing"})
    await memory.add_summary(REF, make_summary("s1", upto=1), ["m0", "m1"])
    await box.accept(2)

    await box.commit(claim, 2, starts_conversation=True)

    snapshot = await memory.store.load(REF, limit=9)
    assert (snapshot.choices.agent, snapshot.summary, snapshot.conversation_count) == ("", None, 0)
    assert snapshot.count == 4


async def test_a_commit_queues_its_conversation_for_compression_once(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    memory = RedisMemory(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(claim, 1, messages=some_messages(2))
    assert await redis.call("EXISTS", keys.partition_key(0, "compress")) == 0
    await box.accept(2)
    await box.commit(claim, 2, messages=some_messages(2, start=2), later=LaterWork(compresses=True))

    compression = await memory.summaries.claim(0, lease_s=60)
    assert compression is not None
    assert compression.ref == REF
    await box.accept(3)
    await box.commit(claim, 3, messages=some_messages(2, start=4), later=LaterWork(compresses=True))

    assert await memory.summaries.claim(0, lease_s=60) is None


async def test_a_commit_repeated_after_a_lost_reply_changes_nothing(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    everything: dict[str, Any] = {
        "messages": some_messages(2),
        "ledger": (make_entry("a1"),),
        "receipt": make_receipt("m1"),
        "meta": {"active_agent": "billing"},
        "later": LaterWork(compresses=True),
        "parts": some_parts("hi"),
    }
    await box.commit(claim, 1, **everything)
    before = await all_values(redis)

    await box.commit(claim, 1, **everything)

    assert await all_values(redis) == before
    assert await stray_keys(redis) == []


@pytest.mark.parametrize("late", ["after a reset", "without the claim"])
async def test_a_late_commit_stores_nothing(redis: RedisClient, late: str) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    if late == "after a reset":
        await box.turns.reset(REF)
    else:
        await box.sweep("bert")
    before = await all_values(redis)

    with pytest.raises(Forgotten if late == "after a reset" else Fenced):
        await box.commit(
            claim, 1, messages=some_messages(2), ledger=(make_entry(),), receipt=make_receipt("m1"),
            meta={"active_agent": "billing"}, later=LaterWork(compresses=True),
        )  # fmt: skip

    assert await all_values(redis) == before


async def test_a_take_loads_summary_ledger_and_active_agent_in_one_round_trip(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    memory = RedisMemory(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(
        claim,
        1,
        messages=some_messages(4),
        ledger=(make_entry(output="42"),),
        meta={"active_agent": "billing"},
    )
    await memory.add_summary(REF, make_summary("s1", upto=1), ["m0", "m1"])
    await box.accept(2)
    await box.take(claim)
    trips = redis.round_trips

    snapshot = await box.snapshot(claim)

    assert redis.round_trips == trips + 1
    assert snapshot.summary == make_summary("s1", upto=1)
    assert snapshot.ledger == (make_turn(0, 3),)
    assert snapshot.choices.agent == "billing"


async def test_a_reset_erases_and_counts_all_data_of_a_turn(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    memory = RedisMemory(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await memory.add_artifact(REF, "a1", "quokka")
    await box.commit(
        claim, 1, messages=some_messages(4), ledger=(make_entry("a1", output="quokka"),),
        meta={"active_agent": "quokka"},
        receipt=make_receipt("m3", models=(Usage(model="quokka"),)), later=LaterWork(compresses=True),
    )  # fmt: skip
    await memory.add_summary(REF, make_summary("s1", upto=1, overview="quokka"), ["m0", "m1"])
    await memory.summaries.queue(REF)
    await box.accept(2)

    erased = await box.turns.reset(REF, vectors=3)

    assert erased == Erasure(
        epoch=1,
        messages=4,
        updates=1,
        vectors=3,
        summaries=1,
        ledger_turns=1,
        artifacts=1,
        sessions=1,
        answer_receipts=1,
    )
    assert await keys_with(redis, "quokka") == []
    assert (await memory.store.count_traces(REF)).total == 0
    assert await redis.call("EXISTS", keys.partition_key(0, "compress")) == 0
    assert (await memory.store.load(REF, limit=1)).choices.agent == ""


async def test_a_reset_from_the_chat_leaves_its_counts_for_the_answer(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    memory = RedisMemory(redis)
    await memory.store.append(REF, some_messages(4), epoch=0)
    await memory.add_summary(REF, make_summary("s1", upto=1), ["m0", "m1"])
    await memory.add_turn(REF, make_turn(2, 3, artifact="a1"))
    for update in (1, 2):
        await box.accept(update)
    claim = await box.claim_one()

    erased = await box.turns.reset(REF, vectors=5, answering=(claim, 2))

    assert parse_json(Erasure, (await box.take(claim)).journal["reset"]) == erased
    assert erased == Erasure(
        epoch=1, messages=4, updates=1, vectors=5, summaries=1, ledger_turns=1, artifacts=1, sessions=1
    )


async def test_a_reset_repeated_after_a_lost_reply_returns_the_same_counts(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await open_inbox(redis)
    await memory.store.append(REF, some_messages(4), epoch=0)
    await memory.add_turn(REF, make_turn(2, 3, artifact="a1"))
    turns = TurnStore(redis, clock=lambda: NOW, new_id=lambda: "the call that is repeated")

    first = await turns.reset(REF)

    assert await turns.reset(REF) == first
    assert (first.epoch, first.ledger_turns, first.artifacts) == (1, 1, 1)
