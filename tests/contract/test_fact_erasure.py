"""What is forgotten, edited, reset or switched off leaves no fact behind: in the store, and in the index."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from memory.erasure import delete_and_prove, delete_provably
from memory.errors import Forgotten
from memory.facts.context_facts import erase_facts, switch_off
from memory.history.message import Quote
from memory.history.store import RecordCounts
from memory.keys import context_key, partition_key
from memory.recall.recall import IndexItem, Recall
from memory.recall.spaces import Space, Spaces
from memory.redis.client import RedisClient
from tests.contract.facts_kit import ANNA, BEN, LEASE_S, REF, FactStore, answered, open_facts, said, told
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import ids
from tests.redis_values import all_values
from tests.stores import stray_keys


def make_recall(index: InMemoryIndex) -> Recall:
    return Recall(Spaces(serving=Space(embedder=FakeEmbedder(), index=index)))


async def index_all(store: FactStore, recall: Recall, *message_ids: str) -> None:
    """Index these messages with their facts, as the indexer does."""
    current = (await store.history.get_current({REF: message_ids}))[REF]
    items = [
        IndexItem(ref=REF, epoch=0, message=message, facts=current.facts.get(each, ()))
        for each, message in current.messages.items()
    ]
    await recall.index(items)


async def forget(store: FactStore, *message_ids: str) -> None:
    receipt = await delete_provably(REF, message_ids, epoch=0, store=store.history, recall=None)
    assert receipt.is_proven


async def test_forgetting_a_message_erases_its_facts_and_reads_their_other_messages_again(
    redis: RedisClient,
) -> None:
    store, index = await open_facts(redis), InMemoryIndex()
    recall = make_recall(index)
    await store.commit(said("m0", "I live"), said("m1", "in Lisbon"), said("m2", "and have a cat"))
    cat, home = await store.save(
        told("lives in Lisbon", "m0", "m1", valid_from=1.0), told("has a cat", "m2", valid_from=2.0)
    )
    await index_all(store, recall, "m0", "m1", "m2")
    assert await recall.count(REF) == 6
    await store.work()

    deleted, receipt = await delete_and_prove(REF, ["m1"], epoch=0, store=store.history, recall=recall)

    assert (deleted.fact_ids, deleted.uncited_ids) == ((home.id,), ("m0",))
    assert (receipt.erased.facts, receipt.left.facts, receipt.is_proven) == (1, 0, True)
    assert receipt.vectors_erased == 3
    assert await recall.count(REF) == 3
    assert await store.all_facts() == [cat]
    assert await store.cited() == {"m2": cat.id}
    assert await store.work() == [("drop", "m1"), ("index", "m0")]
    assert ids((await store.load())[1].messages) == ["m0"]


async def test_a_fact_that_an_erased_one_had_closed_holds_again(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1"), said("m2"))
    (lisbon,) = await store.save(told("lives in Lisbon", "m0", valid_from=1.0))
    await store.commit(said("m3"))
    porto, _ = await store.save(told("lives in Porto", "m3", valid_from=3.0, replaces=(lisbon.id,)))
    await store.commit(said("m4"))
    faro, *_ = await store.save(told("lives in Faro", "m4", valid_from=4.0, replaces=(porto.id,)))

    await forget(store, "m3")
    between = await store.all_facts()
    await forget(store, "m4")

    assert between == [faro, replace(lisbon, valid_to=4.0, closed_by=faro.id)]
    assert await store.all_facts() == [lisbon]
    assert await store.cited() == {"m0": lisbon.id}


async def test_an_edited_message_is_read_again_and_its_facts_are_gone(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1"), said("m2"))
    await store.save(told("lives in Lisbon", "m0", "m1"))
    await store.work()

    await store.history.replace(REF, "m0", text="I live in Porto", tokens=4, edited_at=2000.0, epoch=0)

    assert await store.all_facts() == []
    assert sorted(await store.work()) == [("index", "m0"), ("index", "m0"), ("index", "m1")]
    _, work = await store.load()
    assert [message.text for message in work.messages] == ["I live in Porto", "I live in Lisbon"]


async def test_a_fact_of_a_message_that_quoted_a_forgotten_one_is_read_again_without_the_quotation(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    quoting = said(
        "m1", "that's Ben's", BEN, quote=Quote(telegram_message_id=70, sender_name="Anna", text="PIN")
    )
    await store.commit(said("m0", "PIN", telegram_message_id=70), quoting)
    await store.save(told("owns the PIN", "m1", by=BEN))

    await forget(store, "m0")

    assert await store.all_facts() == []
    _, work = await store.load()
    assert [(message.id, message.quote) for message in work.messages] == [("m1", None)]


@pytest.mark.parametrize("change", ["forget", "edit", "off", "person_off"])
async def test_a_change_during_an_extraction_leaves_nothing_of_what_it_read(
    redis: RedisClient, change: str
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1"))
    claim, work = await store.load()
    changes: dict[str, Callable[[], Awaitable[object]]] = {
        "forget": lambda: forget(store, "m0"),
        "edit": lambda: store.history.replace(REF, "m0", text="Ha!", tokens=1, edited_at=2000.0, epoch=0),
        "off": lambda: switch_off(REF, person=None, epoch=0, facts=store.facts, recall=None),
        "person_off": lambda: switch_off(REF, person=ANNA.id, epoch=0, facts=store.facts, recall=None),
    }
    await changes[change]()
    before = await all_values(redis)

    outcome = await store.queue.save(claim, work, [told("lives in Lisbon", "m0")])

    assert outcome == ("lost" if change == "off" else "stale")
    assert await all_values(redis) == before
    again = await store.queue.load(claim, limit=50)
    expected = {"forget": ["m1"], "edit": ["m0", "m1"], "off": [], "person_off": []}
    assert ids(again.messages) == expected[change]


async def test_a_reset_erases_all_facts_and_the_choices_stay(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1", by=BEN))
    await switch_off(REF, person=BEN.id, epoch=0, facts=store.facts, recall=None)
    await store.save(told("lives in Lisbon", "m0"))
    await store.commit(said("m2"))
    before = await store.history.count_traces(REF)

    erased = await store.history.erase(REF)

    assert (before.facts, erased.facts) == (1, 1)
    assert (await store.history.count_traces(REF)).total == 0
    assert (await store.facts.choices(REF)).off == {BEN.id}
    assert await store.queue.claim(0, lease_s=LEASE_S) is None
    await store.commit(said("m0"), said("m1", by=BEN), epoch=1)
    assert ids((await store.load())[1].messages) == ["m0"]


async def test_answering_again_reads_the_question_anew(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), answered("m1"))
    await store.save(told("lives in Lisbon", "m0"))

    await store.commit(said("m2"), answered("m3"), deletes=["m0", "m1"])

    assert await store.all_facts() == []
    assert await store.unread() == ["m2"]


async def test_an_erased_fact_is_gone_from_both_stores_and_is_not_derived_again(redis: RedisClient) -> None:
    store, index = await open_facts(redis), InMemoryIndex()
    recall = make_recall(index)
    await store.commit(said("m0"), said("m1"))
    cat, home = await store.save(
        told("lives in Lisbon", "m0", valid_from=1.0), told("has a cat", "m0", "m1", valid_from=2.0)
    )
    await index_all(store, recall, "m0", "m1")
    await store.work()

    receipt = await erase_facts(REF, [cat.id, "another"], epoch=0, facts=store.facts, recall=recall)

    assert (receipt.erased, receipt.vectors_erased, receipt.is_proven) == (RecordCounts(facts=1), 1, True)
    assert await store.all_facts() == [home]
    assert await store.work() == [("index", "m0"), ("index", "m1")]
    assert await store.unread() == []
    again = await erase_facts(REF, [cat.id], epoch=0, facts=store.facts, recall=recall)
    assert not again.has_erased
    with pytest.raises(Forgotten):
        await erase_facts(REF, [home.id], epoch=1, facts=store.facts, recall=recall)


async def test_without_the_index_the_receipt_does_not_claim_that_the_keys_are_gone(
    redis: RedisClient,
) -> None:
    store, index = await open_facts(redis), InMemoryIndex()
    await store.commit(said("m0"))
    (home,) = await store.save(told("lives in Lisbon", "m0"))
    index.is_down = True

    receipt = await erase_facts(REF, [home.id], epoch=0, facts=store.facts, recall=make_recall(index))

    assert (receipt.erased.facts, receipt.vectors_left, receipt.is_proven) == (1, None, False)
    assert ("index", "m0") in await store.work(), "the indexer erases them later"


async def test_somebody_who_is_off_leaves_no_fact_and_is_not_read(redis: RedisClient) -> None:
    store, index = await open_facts(redis), InMemoryIndex()
    recall = make_recall(index)
    await store.commit(said("m0"), said("m1", by=BEN), said("m2"))
    await store.save(
        told("lives in Lisbon", "m0", valid_from=1.0),
        told("is Anna's brother", "m1", by=BEN, valid_from=2.0),
        told("is late", "m2", subject="Ben", subject_id=BEN.id, valid_from=3.0),
    )
    await index_all(store, recall, "m0", "m1", "m2")

    receipt = await switch_off(REF, person=BEN.id, epoch=0, facts=store.facts, recall=recall)

    assert (receipt.erased.facts, receipt.vectors_erased, receipt.is_proven) == (2, 2, True)
    assert [fact.statement for fact in await store.all_facts()] == ["lives in Lisbon"]
    await store.commit(said("m3", by=BEN), said("m4"))
    _, work = await store.load()
    assert ids(work.messages) == ["m4"]
    assert "m3" not in ids(work.context)
    assert work.choices.off == {BEN.id}


async def test_what_was_said_while_somebody_was_off_is_never_read(redis: RedisClient) -> None:
    store = await open_facts(redis, tokens_per_day=100)
    await store.commit(said("m0", by=BEN), facts="")
    await store.commit(said("m1", by=BEN), said("m2"))
    await switch_off(REF, person=BEN.id, epoch=0, facts=store.facts, recall=None)
    await store.commit(said("m3", by=BEN))
    await store.facts.switch_on(REF, person=BEN.id, context=False)
    await store.commit(said("m4", by=BEN))

    claim, work = await store.load()
    await store.queue.save(claim, work, [])

    assert ids(work.messages) == ["m2", "m4"]
    assert (await store.queue.load(claim, limit=9)).messages == ()


async def test_a_chat_that_is_off_has_no_facts_and_nothing_waits(redis: RedisClient) -> None:
    store, index = await open_facts(redis, tokens_per_day=100), InMemoryIndex()
    recall = make_recall(index)
    await store.commit(said("m0"), facts="")
    await store.commit(said("m1"), said("m2"))
    await store.save(told("lives in Lisbon", "m1", "m2"))
    await index_all(store, recall, "m1", "m2")
    await store.commit(said("m3"))

    receipt = await switch_off(REF, person=None, epoch=0, facts=store.facts, recall=recall)

    assert (receipt.erased.facts, receipt.vectors_erased, receipt.is_proven) == (1, 2, True)
    names = ("facts", "fact_order", "cited", "unread")
    assert await redis.call("EXISTS", *[context_key(REF, name) for name in names]) == 0
    await store.commit(said("m4"))
    await store.history.replace(REF, "m1", text="I moved", tokens=2, edited_at=2000.0, epoch=0)
    assert await redis.call("ZCARD", partition_key(0, "extract")) == 0
    await store.facts.switch_on(REF, person=None, context=True)
    await store.commit(said("m5"))
    claim, work = await store.load()
    await store.queue.save(claim, work, [])
    assert ids(work.messages) == ["m5"]
    assert (await store.queue.load(claim, limit=9)).messages == (), "older messages are not read"


async def test_a_group_is_read_from_the_administrators_choice_on(redis: RedisClient) -> None:
    store = await open_facts(redis, tokens_per_day=100)
    await store.commit(said("m0"), facts="off")
    await store.facts.switch_on(REF, person=ANNA.id, context=True)
    await store.commit(said("m1"), facts="off")

    claim, work = await store.load()
    await store.queue.save(claim, work, [])

    assert ids(work.messages) == ["m1"]
    assert (await store.queue.load(claim, limit=9)).messages == ()


async def test_a_full_context_loses_the_oldest_facts_that_ended_first(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (old,) = await store.save(told("lives in Lisbon", "m0", valid_from=2.0))
    await store.commit(said("m1"))
    await store.save(
        told("lives in Porto", "m1", valid_from=3.0, replaces=(old.id,)), told("is 30", "m1", valid_from=1.0)
    )
    monkeypatch.setattr("memory.facts.queue.FACTS_LIMIT", 2)
    await store.commit(said("m2"))
    after_one = await store.save(told("has a cat", "m2", valid_from=4.0))

    assert [fact.statement for fact in after_one] == ["has a cat", "lives in Porto"]
    assert set(await store.cited()) == {"m1", "m2"}


async def test_no_key_of_facts_is_left_after_a_reset_except_the_choices(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    await store.save(told("lives in Lisbon", "m0"))
    await store.commit(said("m1"))
    await switch_off(REF, person=BEN.id, epoch=0, facts=store.facts, recall=None)

    assert await stray_keys(redis) == []
    await store.history.erase(REF)

    of_context = context_key(REF, "facts").removesuffix("facts")
    kept = [key for key in await all_values(redis) if key.startswith(of_context)]
    assert sorted(kept) == sorted([context_key(REF, "epoch"), context_key(REF, "choices")])
