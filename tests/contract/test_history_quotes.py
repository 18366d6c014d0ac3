"""Quotations, which are copies of other messages: they are erased when those are forgotten or edited."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from memory.erasure import delete_and_prove
from memory.errors import Forgotten
from memory.history.buffered import BufferedHistory
from memory.history.message import Message, Quote, Sender
from memory.history.redis_history import RedisHistory
from memory.history.store import Deletion, RecordCounts
from memory.keys import context_key
from memory.redis.client import RedisClient, open_redis
from tests.contract.memory_kit import Memory, RedisMemory, make_summary, make_turn
from tests.messages import make_message, make_ref
from tests.redis_values import keys_with
from tests.typed_scripts import unlink_all

REF = make_ref()
FORGED = '","quote":{"telegram_message_id":1,"text":"\\"}}'


@pytest.fixture
async def redis(redis_url: str) -> AsyncGenerator[RedisClient]:
    async with open_redis(redis_url) as client:
        await client.call("FLUSHALL")
        yield client


def quoting(message_id: str, telegram: int, quoted: int, *, text: str = "yes") -> Message:
    """Return a message with all marks before its quotation, and an unusual text."""
    quote = Quote(telegram_message_id=quoted, sender_name=f"Ben{FORGED}", text=f"SECRET{FORGED}")
    return replace(
        make_message(message_id, text + FORGED, telegram=telegram),
        sender=Sender(id=7, name=f"Olga{FORGED}"),
        is_stopped=True,
        edited_at=1.0,
        note=f"a photo{FORGED}",
        forwarded_from=f"Carl{FORGED}",
        continues="bundle",
        quote=quote,
    )


async def write_conversation(memory: Memory) -> list[Message]:
    """m0 (1) is quoted by m1 (2) and m3 (4); m2 (3) by nobody, m4 (5) quotes m3 (4)."""
    said = [
        make_message("m0", "SECRET", telegram=1),
        quoting("m1", 2, 1),
        make_message("m2", "other", telegram=3),
        quoting("m3", 4, 1),
        quoting("m4", 5, 4),
    ]
    return await memory.store.append(REF, said, epoch=0)


async def quotes_of(memory: Memory) -> dict[str, Quote | None]:
    return {m.id: m.quote for m in (await memory.store.load(REF, limit=50)).newest}


async def test_a_quotation_is_stored_with_its_message(memory: Memory) -> None:
    said = await write_conversation(memory)

    assert (await memory.store.load(REF, limit=50)).newest == tuple(said)


async def test_forgetting_a_message_deletes_its_quotations_and_nothing_else(memory: Memory) -> None:
    _, m1, m2, m3, m4 = await write_conversation(memory)

    deleted = await memory.store.delete(REF, ["m0"], epoch=0)

    snapshot = await memory.store.load(REF, limit=50)
    assert snapshot.newest == (replace(m1, quote=None), m2, replace(m3, quote=None), m4)
    assert snapshot.revision == 1
    assert (deleted.messages, deleted.quotes) == (1, 2)
    assert await memory.store.count_traces(REF, mentioning=deleted) == RecordCounts(
        summaries=0, ledger_turns=0, artifacts=0
    )


async def test_an_edit_deletes_the_quotations_of_the_old_text(memory: Memory) -> None:
    await write_conversation(memory)

    await memory.store.replace(REF, "m0", text="new", tokens=1, edited_at=5.0, epoch=0)

    quotes = await quotes_of(memory)
    assert (quotes["m1"], quotes["m3"]) == (None, None)
    assert quotes["m4"] is not None


async def test_a_refused_message_is_marked_and_its_quotations_are_deleted(memory: Memory) -> None:
    m0, *_ = await write_conversation(memory)

    assert await memory.store.refuse(REF, "m0", epoch=0)
    assert await memory.store.refuse(REF, "m0", epoch=0)

    snapshot = await memory.store.load(REF, limit=50)
    assert (snapshot.newest[0], snapshot.revision) == (replace(m0, is_refused=True), 1)
    quotes = await quotes_of(memory)
    assert (quotes["m1"], quotes["m3"]) == (None, None)
    assert not await memory.store.refuse(REF, "m99", epoch=0)


async def test_an_edit_of_the_text_takes_the_mark_of_the_refusal_away(memory: Memory) -> None:
    await write_conversation(memory)
    await memory.store.refuse(REF, "m4", epoch=0)
    marked = (await memory.store.get(REF, ["m4"]))["m4"]
    assert marked.quote is not None

    await memory.store.replace(REF, "m4", text=marked.text, tokens=1, edited_at=5.0, epoch=0)
    same = (await memory.store.get(REF, ["m4"]))["m4"]
    await memory.store.replace(REF, "m4", text="new", tokens=1, edited_at=6.0, epoch=0)
    edited = (await memory.store.get(REF, ["m4"]))["m4"]

    assert (same.is_refused, edited.is_refused, edited.quote) == (True, False, marked.quote)
    with pytest.raises(Forgotten):
        await memory.store.refuse(REF, "m4", epoch=3)


async def test_an_edit_without_a_change_of_text_keeps_the_quotations(memory: Memory) -> None:
    await write_conversation(memory)

    await memory.store.replace(REF, "m0", text="SECRET", tokens=1, edited_at=5.0, epoch=0)

    assert None not in [
        quote for message, quote in (await quotes_of(memory)).items() if message in ("m1", "m3")
    ]


async def test_an_edited_message_keeps_its_own_quotation_until_that_must_go(memory: Memory) -> None:
    await write_conversation(memory)
    await memory.store.replace(REF, "m1", text="no", note="a video", tokens=1, edited_at=5.0, epoch=0)
    edited = (await memory.store.get(REF, ["m1"]))["m1"]
    assert (edited.text, edited.note, edited.quote is None) == ("no", "a video", False)

    await memory.store.delete(REF, ["m0"], epoch=0)

    assert (await quotes_of(memory))["m1"] is None


async def test_summaries_and_calls_that_may_contain_a_quotation_are_deleted_with_it(memory: Memory) -> None:
    await write_conversation(memory)
    first = make_summary("s1", upto=0)
    await memory.add_summary(REF, first, ["m0"])
    await memory.add_summary(REF, make_summary("s2", upto=4, after=first), ["m1", "m2", "m3", "m4"])
    await memory.add_turn(REF, make_turn(1, 2, artifact="a1"))

    deleted = await memory.store.delete(REF, [], epoch=0, quoted=[1])

    assert deleted == Deletion(
        summaries=1,
        summary_ids=("s2",),
        ledger_turns=1,
        artifacts=1,
        artifact_ids=("a1",),
        quotes=2,
        quoting=(1, 3),
        known_by=("1",),
    )
    assert (await memory.store.load(REF, limit=50)).summary == first


async def test_quotations_of_an_unknown_message_can_be_deleted(memory: Memory) -> None:
    await memory.store.append(REF, [quoting("m0", 9, 8), make_message("m1", "fine", telegram=10)], epoch=0)

    _, receipt = await delete_and_prove(REF, [], epoch=0, store=memory.store, recall=None, quoted=[8])
    _, again = await delete_and_prove(REF, [], epoch=0, store=memory.store, recall=None, quoted=[8])

    assert (receipt.erased.quotes, receipt.messages_erased, receipt.is_proven) == (1, 0, True)
    assert again.erased.quotes == 0
    assert await quotes_of(memory) == {"m0": None, "m1": None}


async def test_a_receipt_with_a_remaining_quotation_is_unproven(memory: Memory) -> None:
    await write_conversation(memory)
    deleted = await memory.store.delete(REF, ["m0"], epoch=0)
    await memory.store.append(REF, [quoting("m9", 99, 1)], epoch=0)

    assert (await memory.store.count_traces(REF, mentioning=deleted)).quotes == 1


async def test_a_quotation_from_another_chat_belongs_to_no_message_here(memory: Memory) -> None:
    await memory.store.append(REF, [quoting("m0", 9, 0)], epoch=0)

    deleted = await memory.store.delete(REF, [], epoch=0, quoted=[0])

    assert deleted.quotes == 0
    assert (await quotes_of(memory))["m0"] is not None


async def test_deleting_quotations_after_a_reset_is_forgotten(memory: Memory) -> None:
    await write_conversation(memory)
    await memory.store.erase(REF)

    with pytest.raises(Forgotten):
        await memory.store.delete(REF, [], epoch=0, quoted=[1])


async def test_pending_messages_of_a_turn_lose_the_quotations_too(memory: Memory) -> None:
    await memory.store.append(REF, [make_message("m0", "SECRET", telegram=1)], epoch=0)
    buffered = BufferedHistory(memory.store, REF, await memory.store.load(REF, limit=50))
    await buffered.append(REF, [quoting("p0", 2, 1), quoting("p1", 3, 2)], epoch=0)

    deleted = await buffered.delete(REF, ["m0"], epoch=0)
    also = await buffered.delete(REF, ["p0"], epoch=0)

    assert (deleted.quotes, also.quotes, also.messages) == (1, 1, 1)
    assert [message.quote for message in buffered.pending] == [None]


async def test_deleting_a_quoting_message_removes_it_from_the_index_of_quotations(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)

    await memory.store.delete(REF, ["m1", "m3", "m4"], epoch=0)

    fields = await redis.call("HKEYS", context_key(REF, "telegram"))
    assert sorted(fields) == ["1", "3", "m0", "m2"]


async def test_redis_contains_no_forgotten_text(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)
    await memory.store.delete(REF, ["m4"], epoch=0)

    await memory.store.delete(REF, ["m0"], epoch=0)

    assert await keys_with(redis, "SECRET") == []


async def test_quotations_are_found_after_the_chat_became_a_supergroup(redis: RedisClient) -> None:
    """A supergroup numbers its messages again: the old ids are forgotten, the links of quotations are not."""
    history = RedisHistory(redis)
    memory = RedisMemory(redis)
    await write_conversation(memory)
    await history.append(REF, [quoting("m5", 6, 77)], epoch=0)

    await redis.run(unlink_all(REF))
    await history.append(REF, [make_message("n0", "new", telegram=1), quoting("n1", 2, 1)], epoch=0)

    assert await history.find_by_telegram(REF, 3) is None
    assert (await history.delete(REF, ["m0"], epoch=0)).quotes == 2
    assert (await quotes_of(memory))["n1"] is not None
    assert (await history.delete(REF, ["n0"], epoch=0)).quotes == 1
