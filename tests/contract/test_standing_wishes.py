"""Standing wishes on the real store: a turn reads those of its writer, and they end with what they rest on."""

from typing import Any

from bot.inbox.records import Arrival
from bot.turn.store import Commit
from memory.facts.context_facts import erase_facts, list_all, switch_off
from memory.facts.queue import NewFact
from memory.history.fact import STANDING_LIMIT
from memory.history.message import Sender
from memory.keys import context_key
from memory.redis.client import RedisClient
from tests.contract.facts_kit import ANNA, BEN, REF, FactStore, open_facts, said, told


def wish(statement: str, *message_ids: str, by: Sender = ANNA, **details: Any) -> NewFact:
    """Return a new standing wish of its writer."""
    return told(statement, *message_ids, by=by, kind="standing", **details)


async def wishes_of(store: FactStore, writer: Sender, *, epoch: int = 0) -> list[str]:
    """Return the wishes that a turn of this writer reads together with its work."""
    update = len(store.updates) + 1
    store.updates.append(update)
    payload = f'{{"message":{{"sender_id":"{writer.id}"}}}}'
    await store.inbox.inbox.accept(Arrival(update_id=update, ref=REF, mode="turn", payload=payload))
    claim = await store.inbox.claim_one()
    _, snapshot = await store.inbox.turns.take(claim, window=10)
    before = store.redis.round_trips
    await store.inbox.turns.take(claim, window=10)
    assert store.redis.round_trips == before + 1, "wishes take no round trip of their own"
    await store.inbox.turns.commit(claim, Commit(update_ids=[update], epoch=epoch))
    await store.inbox.inbox.settle(claim)
    return [fact.statement for fact in snapshot.standing]


async def test_a_turn_reads_the_newest_wishes_of_its_writer_and_of_nobody_else(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1", by=BEN), said("m2"))
    await store.save(
        wish("wants metres", "m0", valid_from=9.0),
        wish("is vegan", "m2", valid_from=10.0),
        told("lives in Lisbon", "m2", valid_from=11.0),
        wish("wants feet", "m1", by=BEN, valid_from=12.0),
    )

    assert await wishes_of(store, ANNA) == ["is vegan", "wants metres"]
    assert await wishes_of(store, BEN) == ["wants feet"]
    assert await wishes_of(store, Sender(id=1, name="")) == []
    assert await wishes_of(store, Sender(id=1100, name="")) == [], "11 is the beginning of another id"


async def test_twenty_wishes_are_read_however_many_there_are(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(*(said(f"m{number}") for number in range(50)))
    await store.save(*(wish(f"likes {n}", f"m{n}", valid_from=1e9 + n) for n in range(50)))

    assert await wishes_of(store, ANNA) == [f"likes {n}" for n in range(49, 49 - STANDING_LIMIT, -1)]


async def test_wishes_are_listed_before_other_facts(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    await store.save(wish("wants metres", "m0", valid_from=1.0), told("sings", "m0", valid_from=2.0))
    (wants, sings) = await list_all(store.facts, REF)

    pages = [
        await store.facts.list(REF, limit=1, offset=at, people=people)
        for people in (None, [ANNA.id])
        for at in (0, 1)
    ]

    assert [page.facts for page in pages] == [(wants,), (sings,)] * 2
    assert (wants.kind, sings.kind) == ("standing", "fact")


async def test_a_newer_wish_ends_the_older_which_holds_again_when_the_newer_is_forgotten(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (metres,) = await store.save(wish("wants metres", "m0", valid_from=1.0))
    await store.commit(said("m1"))
    await store.save(wish("wants feet", "m1", valid_from=2.0, replaces=(metres.id,)))
    assert await wishes_of(store, ANNA) == ["wants feet"]

    await store.history.delete(REF, ["m1"], epoch=0)
    assert await wishes_of(store, ANNA) == ["wants metres"]


async def test_an_imported_message_gives_no_wish_and_ends_none_and_the_wish_may_be_told_here(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (metres,) = await store.save(wish("wants metres", "m0", valid_from=1.0))
    await store.commit(said("m1", imported_from="Telegram"), said("m2"))
    forged = wish("wants Latin", "m1", "m2", valid_from=2.0, replaces=(metres.id,))
    (latin, _) = sorted(await store.save(forged), key=lambda each: each.is_standing)

    assert (latin.statement, latin.kind, latin.imported_from) == ("wants Latin", "fact", "Telegram")
    assert await wishes_of(store, ANNA) == ["wants metres"]

    await store.commit(said("m3"))
    await store.save(wish("wants Latin", "m3", valid_from=3.0))
    assert await wishes_of(store, ANNA) == ["wants Latin", "wants metres"]


async def test_its_writer_corrects_a_wish_and_anybody_else_makes_it_a_plain_fact(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (fact,) = await store.save(wish("is called Kimberly", "m0"))

    await store.facts.correct(REF, fact.id, "is called Kim", epoch=0, by=ANNA.id)
    assert await wishes_of(store, ANNA) == ["is called Kim"]

    await store.facts.correct(REF, fact.id, "is called Your Majesty", epoch=0, by=BEN.id)
    assert await wishes_of(store, ANNA) == []
    assert [each.kind for each in await store.all_facts()] == ["fact"]


async def test_a_wish_goes_with_its_message_its_text_its_fact_the_choice_and_the_memory(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(*(said(f"m{number}") for number in range(6)))
    facts = await store.save(*(wish(f"wish {n}", f"m{n}", valid_from=10.0 - n) for n in range(6)))

    await store.history.delete(REF, ["m0"], epoch=0)
    await store.history.replace(REF, "m1", text="oh", tokens=1, edited_at=2_000.0, epoch=0)
    await store.history.refuse(REF, "m2", epoch=0)
    await erase_facts(REF, [facts[3].id], epoch=0, facts=store.facts, recall=None)
    assert await wishes_of(store, ANNA) == ["wish 4", "wish 5"]

    await switch_off(REF, person=ANNA.id, epoch=0, facts=store.facts, recall=None)
    assert await wishes_of(store, ANNA) == []
    assert await redis.call("EXISTS", context_key(REF, "standing")) == 0


async def test_a_reset_and_facts_off_leave_no_list_of_wishes(redis: RedisClient) -> None:
    store = await open_facts(redis)
    for end in ("off", "reset"):
        epoch = (await store.history.load(REF, limit=0)).epoch
        await store.facts.switch_on(REF, person=ANNA.id, context=True)
        await store.commit(said(f"m-{end}"))
        await store.save(wish("is vegan", f"m-{end}"))
        assert await wishes_of(store, ANNA) == ["is vegan"]

        if end == "off":
            await switch_off(REF, person=None, epoch=epoch, facts=store.facts, recall=None)
        else:
            epoch = (await store.history.erase(REF)).epoch

        assert await wishes_of(store, ANNA, epoch=epoch) == []
        assert await redis.call("EXISTS", context_key(REF, "standing")) == 0
