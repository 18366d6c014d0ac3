"""Facts on the real store: which messages are read, what is saved of them, and what people read and correct."""

from dataclasses import replace

import pytest

from bot.turn.store import FactsDefault
from memory.errors import Forgotten
from memory.facts.redis_facts import FactChoices, are_extracted
from memory.keys import partition_key
from memory.redis.client import RedisClient
from tests.contract.facts_kit import ANNA, BEN, LEASE_S, REF, SOON, answered, open_facts, said, told
from tests.messages import ids
from tests.redis_values import all_values


async def test_the_messages_of_a_turn_are_read_a_minute_later_and_answers_only_as_context(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), answered("m1"))
    await store.commit(said("m2", "and I have a cat"), answered("m3"))
    too_early = await store.queue.claim(0, lease_s=LEASE_S)

    claim, work = await store.load()

    assert too_early is None
    assert claim.ref == REF
    assert ids(work.messages) == ["m0", "m2"]
    assert ids(work.context) == ["m1"]
    assert work.people == {ANNA.id: "Anna"}


async def test_twenty_unread_messages_are_read_at_once(redis: RedisClient) -> None:
    store = await open_facts(redis)
    for number in range(20):
        assert await store.queue.claim(0, lease_s=LEASE_S) is None
        await store.commit(said(f"m{number}"))

    assert await store.queue.claim(0, lease_s=LEASE_S) is not None


async def test_somebody_who_asks_need_not_wait_for_the_pause(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    assert await store.facts.count_unread(REF) == 1

    await store.facts.hurry(REF)

    claim = await store.queue.claim(0, lease_s=LEASE_S)
    assert claim is not None
    await store.facts.hurry(REF)
    assert await store.queue.renew(claim, lease_s=LEASE_S), "the claim is as it was"


async def test_a_new_message_does_not_take_the_claim_from_its_worker(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    claim, work = await store.load()
    for number in range(1, 30):
        await store.commit(said(f"m{number}"))

    assert await store.queue.claim(0, lease_s=LEASE_S) is None
    assert await store.queue.save(claim, work, [told("lives in Lisbon", "m0")]) == "saved"
    await store.queue.finish(claim)
    (_, rest) = await store.load(limit=3)
    assert ids(rest.messages) == ["m1", "m2", "m3"]


@pytest.mark.parametrize(("facts", "unread"), [("on", ["m0"]), ("off", []), ("", [])])
async def test_only_what_people_said_here_is_read_and_only_where_facts_are_on(
    redis: RedisClient, facts: FactsDefault, unread: list[str]
) -> None:
    store = await open_facts(redis)
    forwarded = said("m1", forwarded_from="Carl")
    await store.commit(said("m0"), forwarded, said("m2", "   "), answered("m3"), facts=facts)

    assert await store.unread() == unread
    assert await redis.call("ZCARD", partition_key(0, "extract")) == len(unread)


async def test_a_saved_fact_is_listed_and_its_messages_are_indexed_again(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1", "by the sea"))
    await store.work()

    (fact,) = await store.save(told("lives in Lisbon", "m0", "m1"))

    assert (fact.subject, fact.subject_id, fact.said_by) == ("Anna", ANNA.id, ANNA.id)
    assert (fact.statement, fact.message_ids) == ("lives in Lisbon", ("m0", "m1"))
    assert (fact.valid_from, fact.valid_to, fact.confidence) == (1000.0, None, 0.9)
    assert await store.facts.get(REF, [fact.id, "another"]) == {fact.id: fact}
    assert await store.work() == [("index", "m0"), ("index", "m1")]
    assert await store.unread() == []
    assert await store.queue.claim(0, lease_s=LEASE_S) is None, "nothing is left to read"


async def test_facts_are_listed_by_page_and_by_the_people_that_they_are_about_or_from(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1", by=BEN), said("m2"))
    await store.save(
        told("lives in Lisbon", "m0", valid_from=1.0),
        told("has a sister", "m1", by=BEN, valid_from=2.0),
        told("is late", "m2", subject="Ben", subject_id=BEN.id, valid_from=3.0),
    )

    async def statements(people: list[int] | None, **bounds: int) -> list[str]:
        return [fact.statement for fact in (await store.facts.list(REF, people=people, **bounds)).facts]

    assert await statements(None) == ["is late", "has a sister", "lives in Lisbon"]
    assert await statements(None, limit=1, offset=1) == ["has a sister"]
    assert await statements([ANNA.id]) == ["is late", "lives in Lisbon"]
    assert await statements([BEN.id], limit=1, offset=1) == ["has a sister"]
    assert await statements([1]) == await statements([]) == []
    assert (await store.facts.list(REF, people=[BEN.id], limit=1)).total == 2
    assert (await store.facts.list(REF, limit=0)).total == 3


async def test_a_statement_that_is_known_adds_no_fact(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    before = await store.save(told("lives in Lisbon", "m0"))
    await store.commit(said("m1"))

    assert await store.save(told("Lives in Lisbon", "m1")) == before


async def test_a_contradiction_ends_the_earlier_statement_and_deletes_nothing(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (lisbon,) = await store.save(told("lives in Lisbon", "m0", valid_from=1.0))
    await store.commit(said("m1"))

    porto, before = await store.save(told("lives in Porto", "m1", valid_from=5.5, replaces=(lisbon.id,)))

    assert (porto.statement, porto.valid_to) == ("lives in Porto", None)
    assert before == replace(lisbon, valid_to=5.5, closed_by=porto.id)


async def test_an_imported_statement_ends_nothing_that_was_said_here_and_ends_with_it(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (lisbon,) = await store.save(told("lives in Lisbon", "m0", valid_from=5.0))
    await store.commit(*(said(f"m{number}", imported_from="Claude") for number in (1, 2)))
    await store.save(
        told("lives in Porto", "m1", valid_from=9.0, replaces=(lisbon.id,)),
        told("lives in Faro", "m2", valid_from=1.0, replaces=(lisbon.id,)),
    )

    ends = {fact.statement: fact.valid_to for fact in await store.all_facts()}
    assert ends == {"lives in Lisbon": None, "lives in Porto": None, "lives in Faro": 5.0}

    porto = next(fact for fact in await store.all_facts() if "Porto" in fact.statement)
    corrected = await store.facts.correct(REF, porto.id, "was in Porto", epoch=0, by=ANNA.id)
    assert corrected is not None
    assert (corrected.imported_from, corrected.is_corrected) == ("", True)


async def test_an_older_statement_that_is_read_late_ends_where_the_newer_one_began(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (porto,) = await store.save(told("lives in Porto", "m0", valid_from=5.0))
    await store.commit(said("m1"))

    newest, lisbon = await store.save(told("lives in Lisbon", "m1", valid_from=1.0, replaces=(porto.id,)))

    assert newest == porto
    assert (lisbon.statement, lisbon.valid_to, lisbon.closed_by) == ("lives in Lisbon", 5.0, porto.id)


async def test_what_was_true_before_may_be_true_again(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (first,) = await store.save(told("lives in Lisbon", "m0", valid_from=1.0))
    await store.commit(said("m1"))
    (second, _) = await store.save(told("lives in Porto", "m1", valid_from=2.0, replaces=(first.id,)))
    await store.commit(said("m2"))

    listed = await store.save(told("lives in Lisbon", "m2", valid_from=3.0, replaces=(second.id,)))

    assert [(fact.statement, fact.valid_to) for fact in listed] == [
        ("lives in Lisbon", None),
        ("lives in Porto", 3.0),
        ("lives in Lisbon", 2.0),
    ]


async def test_a_save_whose_reply_was_lost_is_repeated_without_harm(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    claim, work = await store.load()
    facts = [told("lives in Lisbon", "m0"), told("has a cat", "m0")]
    assert await store.queue.save(claim, work, facts) == "saved"
    before = await all_values(redis)

    assert await store.queue.save(claim, work, facts) == "saved"

    assert await all_values(redis) == before


async def test_a_worker_that_lost_its_claim_saves_nothing(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    late, work = await store.load()
    store.clock.now += LEASE_S
    other = await store.queue.claim(0, lease_s=LEASE_S)
    assert other is not None
    before = await all_values(redis)

    assert await store.queue.save(late, work, [told("lives in Lisbon", "m0")]) == "lost"
    assert await store.queue.renew(late, lease_s=LEASE_S) is None
    assert await store.queue.fail(late, pauses_s=()) == "lost"
    await store.queue.finish(late)
    assert await all_values(redis) == before


async def test_a_fact_of_messages_that_were_not_read_is_refused(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), answered("m1"))
    claim, work = await store.load()

    for cited in ((), ("m1",), ("m0", "m9")):
        with pytest.raises(ValueError, match="cites"):
            await store.queue.save(claim, work, [told("lives in Lisbon", *cited)])


async def test_after_a_reset_nothing_is_saved(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    claim, work = await store.load()
    await store.history.erase(REF)
    before = await all_values(redis)

    with pytest.raises(Forgotten):
        await store.queue.save(claim, work, [told("lives in Lisbon", "m0")])

    assert await all_values(redis) == before


async def test_failures_are_retried_and_after_the_last_one_the_messages_count_as_read(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    for _ in range(2):
        claim, work = await store.load()
        assert await store.queue.fail(claim, pauses_s=(30, 30)) == "later"
        assert await store.queue.claim(0, lease_s=LEASE_S) is None
    claim, work = await store.load()
    await store.commit(said("m1"))

    assert await store.queue.fail(claim, pauses_s=(30, 30)) == "given_up"
    await store.queue.finish(claim, given_up=work)

    assert await store.unread() == ["m1"]
    assert ids((await store.load())[1].messages) == ["m1"]


async def test_failures_at_messages_that_were_forgotten_do_not_count_for_later_ones(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    for _ in range(2):
        claim, _ = await store.load()
        assert await store.queue.fail(claim, pauses_s=(1, 1)) == "later"
    await store.history.delete(REF, ["m0"], epoch=0)
    await store.queue.finish((await store.load())[0])
    await store.commit(said("m1"))
    claim, _ = await store.load()

    assert await store.queue.fail(claim, pauses_s=(1, 1)) == "later"

    assert await store.unread() == ["m1"]


async def test_new_messages_do_not_shorten_the_pause_after_a_failure(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(*(said(f"m{number}") for number in range(20)))
    claim, _ = await store.load()
    assert await store.queue.fail(claim, pauses_s=(300, 300)) == "later"

    await store.commit(said("m20"))

    assert await store.queue.claim(0, lease_s=LEASE_S) is None
    assert len((await store.load())[1].messages) == 21


async def test_a_person_corrects_a_statement_and_the_old_one_is_gone_everywhere(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (fact,) = await store.save(told("lives in Lisbon", "m0"))
    await store.work()

    corrected = await store.facts.correct(REF, fact.id, " lives in\nOporto ", epoch=0, by=ANNA.id)

    assert corrected == replace(fact, statement="lives in Oporto", confidence=1.0, is_corrected=True)
    assert await store.all_facts() == [corrected]
    assert await store.work() == [("index", "m0")]
    assert not [
        key for key, value in (await all_values(redis)).items() if "Lisbon" in str(value) and "fact" in key
    ]
    assert await store.facts.correct(REF, "another", "x", epoch=0, by=ANNA.id) is None
    with pytest.raises(Forgotten):
        await store.facts.correct(REF, fact.id, "lives in Faro", epoch=1, by=ANNA.id)
    with pytest.raises(ValueError, match="word"):
        await store.facts.correct(REF, fact.id, " \n", epoch=0, by=ANNA.id)


async def test_a_correction_during_an_extraction_makes_it_stale(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"))
    (fact,) = await store.save(told("lives in Lisbon", "m0"))
    await store.commit(said("m1"))
    claim, work = await store.load()
    await store.facts.correct(REF, fact.id, "lives in Porto", epoch=0, by=ANNA.id)

    assert await store.queue.save(claim, work, [told("lives in Faro", "m1")]) == "stale"

    again = await store.queue.load(claim, limit=50)
    assert [known.statement for known in again.known] == ["lives in Porto"]
    assert await store.queue.save(claim, again, [told("lives in Faro", "m1")]) == "saved"


async def test_what_holds_about_the_writers_is_known_first_then_what_is_named(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1", by=BEN))
    await store.save(
        told("lives in Lisbon", "m0", valid_from=1.0),
        told("is red", "m0", subject="The car", subject_id=None, valid_from=2.0),
        told("is old", "m0", subject="Rex", subject_id=None, valid_from=3.0),
        told("has a sister", "m1", by=BEN, valid_from=4.0),
    )
    await store.commit(said("m2", "rex is ill"))

    _, work = await store.load()

    assert [fact.statement for fact in work.known] == ["lives in Lisbon", "is old", "has a sister", "is red"]


async def test_older_messages_are_read_newest_first_within_the_budget_of_the_day(redis: RedisClient) -> None:
    store = await open_facts(redis, tokens_per_day=100)
    await store.commit(*[said(f"m{number}") for number in range(5)], facts="")
    await store.commit(said("m5"))
    claim, work = await store.load(limit=2)
    assert ids(work.messages) == ["m5"]
    assert not work.is_older
    await store.queue.save(claim, work, [])

    pages: list[list[str]] = []
    work = await store.queue.load(claim, limit=2)
    while work.messages:
        assert work.is_older
        pages.append(ids(work.messages))
        await store.queue.save(claim, work, [])
        work = await store.queue.load(claim, limit=2)

    assert pages == [["m3", "m4"], ["m1", "m2"], ["m0"]]
    await store.queue.finish(claim)
    store.clock.now += SOON
    assert await store.queue.claim(0, lease_s=LEASE_S) is None


async def test_without_budget_older_messages_wait_for_another_day_and_its_next_turn(
    redis: RedisClient,
) -> None:
    store = await open_facts(redis, tokens_per_day=100)
    await store.commit(said("m0"), facts="")
    await store.commit(said("m1"))
    claim, work = await store.load()
    await store.queue.save(claim, work, [])
    await store.queue.spend(60)
    await store.queue.spend(60)

    assert await store.queue.tokens_left() == 0
    assert (await store.queue.load(claim, limit=9)).messages == ()
    await store.queue.finish(claim)
    store.clock.now += 24 * 3600
    assert await store.queue.tokens_left() == 100
    assert await store.queue.claim(0, lease_s=LEASE_S) is None
    await store.commit(said("m2"))
    claim, work = await store.load()
    await store.queue.save(claim, work, [])
    assert ids((await store.queue.load(claim, limit=9)).messages) == ["m0"]


def test_groups_are_off_until_somebody_chooses_and_people_may_be_off() -> None:
    on, off = FactChoices(is_on=True), FactChoices(is_on=False)
    assert are_extracted(FactChoices(), is_group=False)
    assert not are_extracted(FactChoices(), is_group=True)
    assert are_extracted(on, is_group=True)
    assert not are_extracted(off, is_group=False)
    assert not are_extracted(replace(on, off=frozenset({11})), is_group=False, person=11)
    assert are_extracted(replace(on, off=frozenset({11})), is_group=False, person=12)


async def test_messages_are_read_with_the_facts_that_cite_them_in_the_same_trip(redis: RedisClient) -> None:
    store = await open_facts(redis)
    await store.commit(said("m0"), said("m1"), answered("m2"))
    cat, home = await store.save(
        told("lives in Lisbon", "m0", "m1", valid_from=1.0), told("has a cat", "m1", valid_from=2.0)
    )
    await store.history.around(REF, [1], reach=1)
    await store.history.get_current({REF: ["m0", "m1", "m2"]})
    trips = redis.round_trips

    around = await store.history.around(REF, [0, 1, 2, 9], reach=1)
    current = (await store.history.get_current({REF: ["m0", "m1", "m2"]}))[REF]

    assert redis.round_trips == trips + 2
    assert [set(around[at].facts) for at in (0, 1, 2, 9)] == [{home}, {home, cat}, set(), set()]
    assert ids(around[1].messages) == ["m0", "m1", "m2"]
    assert {each: set(facts) for each, facts in current.facts.items()} == {"m0": {home}, "m1": {home, cat}}
