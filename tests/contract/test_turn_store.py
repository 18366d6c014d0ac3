"""The writes of a turn: each finished step, one commit, each send, behind the fences of claim and epoch."""

import pytest

from bot.errors import Fenced, TurnStopped
from bot.inbox.records import TerminalState
from bot.turn.store import TurnStore
from memory import keys
from memory.codec import parse_json
from memory.errors import Forgotten
from memory.history.redis_history import RedisHistory
from memory.history.store import Erasure
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import NOW, open_inbox, some_parts
from tests.messages import ids, make_message, make_ref, some_messages
from tests.redis_values import all_values, keys_with


async def test_a_take_loads_updates_newest_messages_and_epoch(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await RedisHistory(redis).append(make_ref(), some_messages(3), epoch=0)
    await box.accept(1)
    claim = await box.claim_one()
    await box.turns.take(claim, window=2)  # the server knows the scripts from now on
    trips = redis.round_trips

    todo, snapshot = await box.turns.take(claim, window=2)

    assert redis.round_trips == trips + 1
    assert list(todo.updates) == [1]
    assert ids(list(snapshot.newest)) == ["m1", "m2"]
    assert (snapshot.epoch, snapshot.count) == (0, 3)


async def test_finished_steps_are_loaded_when_the_turn_is_taken_again(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.record(claim, "model:1", "a")
    await box.record(claim, "tool:1:0", "b")
    (taken,) = await box.sweep("bert")

    assert (await box.take(taken)).journal == {"model:1": "a", "tool:1:0": "b"}


async def test_a_step_of_an_old_epoch_is_not_recorded(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.turns.reset(make_ref())
    before = await all_values(redis)

    with pytest.raises(Forgotten):
        await box.record(claim, "model:1")

    assert await all_values(redis) == before


async def test_a_turn_writes_nothing_after_the_memory_it_read_was_erased(redis: RedisClient) -> None:
    """Erased by something else than a /reset, which would have forgotten the update too."""
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await RedisHistory(redis).erase(make_ref())
    before = await all_values(redis)

    with pytest.raises(Forgotten):
        await box.record(claim, "model:1")
    with pytest.raises(Forgotten):
        await box.commit(claim, 1, messages=[make_message()])

    assert await all_values(redis) == before
    await box.commit(claim, 1, epoch=1, messages=[make_message()])


async def test_a_step_that_a_stop_overtakes_is_recorded_and_ends_the_turn(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.accept(2, mode="stop")

    with pytest.raises(TurnStopped):
        await box.record(claim, "model:1", "a")

    assert (await box.take(claim)).journal == {"model:1": "a"}


async def test_a_stop_from_before_the_turn_does_not_end_it(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(5)
    claim = await box.claim_one()
    await box.accept(2, mode="stop")

    await box.turns.record(claim, epoch=0, newest_update=5, fields={"model:1": "a"})


async def test_a_commit_is_atomic(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for update in (1, 2, 3):
        await box.accept(update)
    claim = await box.claim_one()
    await box.record(claim, "model:1")
    parts = some_parts("one", "two", update_id=2)

    await box.commit(claim, 1, 2, messages=some_messages(2), parts=parts, reason="why")

    snapshot = await RedisHistory(redis).load(make_ref(), limit=10)
    assert ids(list(snapshot.newest)) == ["m0", "m1"]
    assert await box.waiting() == [3]
    assert await box.outbox() == parts
    assert (await box.take(claim)).journal == {}
    for update in (1, 2):
        record = await box.record_of(update)
        assert record["state"] == "delivering"
        assert "payload" not in record
    assert await redis.call("XLEN", keys.partition_key(0, "work")) == 2


async def test_a_repeated_commit_changes_nothing(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(claim, 1, messages=some_messages(2), parts=some_parts("hi"))
    before = await all_values(redis)

    await box.commit(claim, 1, messages=some_messages(2), parts=some_parts("hi"))

    assert await all_values(redis) == before


@pytest.mark.parametrize("state", ["answered", "refused"])
async def test_a_commit_without_parts_finishes_its_updates(redis: RedisClient, state: TerminalState) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()

    await box.commit(claim, 1, state=state, reason="why")

    assert await box.state_of(1) == (state, "why")
    assert (await box.record_of(1))["finished_at"] == str(NOW)
    assert 0 < await box.ttl_of(keys.partition_key(0, "update", 1)) <= keys.TERMINAL_UPDATE_TTL_S
    assert "payload" not in await box.record_of(1)


async def test_a_commit_of_an_old_epoch_writes_nothing(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.turns.reset(make_ref())
    await box.accept(2)
    before = await all_values(redis)

    with pytest.raises(Forgotten):
        await box.commit(
            claim, 1, messages=[make_message()], parts=some_parts("hi"), starts_conversation=True
        )

    assert await all_values(redis) == before


async def test_a_commit_begins_a_conversation_after_all_earlier_messages(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await RedisHistory(redis).append(make_ref(), some_messages(3), epoch=0)
    await box.accept(1)

    await box.commit(await box.claim_one(), 1, starts_conversation=True)

    snapshot = await RedisHistory(redis).load(make_ref(), limit=10)
    assert (snapshot.conversation_count, snapshot.count) == (0, 3)


async def test_an_update_is_finished_by_its_last_part(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    first, second = some_parts("one", "two", of="m1")
    await box.commit(claim, 1, messages=some_messages(2), parts=[first, second])

    assert await box.turns.sent(claim, first, telegram_id=71)
    assert (await box.record_of(1))["state"] == "delivering"
    assert await box.turns.sent(claim, second, telegram_id=72)

    record = await box.record_of(1)
    assert (record["state"], record["sent:71"], record["sent:72"]) == ("answered", str(NOW), str(NOW))
    assert "ends_as" not in record
    assert await box.outbox() == []
    history = RedisHistory(redis)
    assert [await history.find_by_telegram(make_ref(), number) for number in (71, 72)] == ["m1", "m1"]
    left = await redis.calls(
        [
            ("EXISTS", keys.context_key(make_ref(), "sending")),
            ("EXISTS", keys.context_key(make_ref(), "delivering")),
        ]
    )
    assert left == [0, 0]


async def test_a_sent_part_is_removed_once(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    first, second = some_parts("one", "two")
    await box.commit(claim, 1, parts=[first, second])
    await box.turns.sent(claim, first, telegram_id=71)

    assert await box.turns.sent(claim, first, telegram_id=71)

    assert await box.outbox() == [second]


async def test_an_outcome_recorded_again_after_a_lost_reply_is_not_reported_as_an_erasure(
    redis: RedisClient,
) -> None:
    """After an erasure of the outbox a delivery deletes the messages that it has edited."""
    box = await open_inbox(redis)
    await box.accept(1)
    await box.accept(2)
    claim = await box.claim_one()
    (line,) = some_parts("one")
    await box.commit(claim, 1, parts=[line])
    await box.turns.sent(claim, line, telegram_id=71)
    before = await all_values(redis)

    assert await box.turns.sent(claim, line, telegram_id=71)
    assert await all_values(redis) == before
    await box.turns.reset(make_ref())
    assert await box.turns.sent(claim, line, telegram_id=71) is False


async def test_the_last_part_settles_a_context_that_has_nothing_more_to_do(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    first, last = some_parts("one", "two")
    await box.commit(claim, 1, parts=[first, last])

    await box.turns.sent(claim, first, telegram_id=71)
    assert not claim.settled.is_set()
    await box.turns.sent(claim, last, telegram_id=72)

    assert claim.settled.is_set()
    assert await box.state_of(1) == ("answered", "")
    assert await box.inbox.depth(0) == (0, 0.0)
    await box.accept(2)
    assert (await box.claim_one("bert")).ref == claim.ref
    before = await all_values(redis)
    with pytest.raises(Fenced):
        await box.turns.sent(claim, last, telegram_id=72)
    assert await all_values(redis) == before


async def test_a_context_with_more_to_do_stays_claimed_after_the_last_part(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    (line,) = some_parts("one")
    await box.commit(claim, 1, parts=[line])
    await box.accept(2)

    await box.turns.sent(claim, line, telegram_id=71)

    assert not claim.settled.is_set()
    assert list((await box.take(claim)).updates) == [2]
    assert await box.claim("bert") == []


async def test_an_undeliverable_part_leaves_its_context_claimed_for_the_cleanup(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    (line,) = some_parts("one")
    await box.commit(claim, 1, parts=[line])

    await box.turns.sent(claim, line, undeliverable="undeliverable_unreachable")

    assert not claim.settled.is_set()
    assert await box.inbox.settle(claim) is False


async def test_an_undeliverable_part_ends_its_updates_and_the_whole_outbox(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    first, second = some_parts("one", "two")
    await box.commit(claim, 1, parts=[first, second])

    await box.turns.sent(claim, first, undeliverable="undeliverable_unreachable")

    assert await box.state_of(1) == ("ignored", "undeliverable_unreachable")
    assert await box.outbox() == []
    assert await box.inbox.settle(claim) is False


async def test_the_count_of_sends_is_set_and_repeating_is_harmless(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    (line,) = some_parts("hi")
    await box.commit(claim, 1, parts=[line])
    assert (await box.take(claim)).sends_begun == 0

    for begun in (1, 2, 2, 1):
        assert await box.turns.count_sends(claim, line, begun)
        assert (await box.take(claim)).sends_begun == begun


async def test_an_erased_part_is_neither_counted_nor_sent(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    (line,) = some_parts("hi")
    await box.commit(claim, 1, parts=[line])
    await box.turns.reset(make_ref())
    before = await all_values(redis)

    assert not await box.turns.count_sends(claim, line, 2)
    assert await box.turns.sent(claim, line, telegram_id=71) is False

    assert await all_values(redis) == before


async def test_a_reset_from_outside_erases_a_running_turn(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    said = [make_message("m0", "my secret is quokka"), make_message("m1", "quokka!", role="assistant")]
    await box.commit(claim, 1, messages=said, parts=some_parts("quokka!"))
    await box.accept(2)
    await box.accept(3)
    await box.turns.record(claim, epoch=0, newest_update=2, fields={"model:1": "quokka"})

    erased = await box.turns.reset(make_ref())

    assert erased == Erasure(epoch=1, messages=2, sessions=1, updates=3, unsent=1)
    assert await keys_with(redis, "quokka") == []
    assert [await box.state_of(update) for update in (1, 2, 3)] == [
        ("forgotten", "the memory of this chat was erased")
    ] * 3
    assert await box.waiting() == []
    assert await box.inbox.settle(claim) is False


async def test_a_reset_deletes_the_dead_letters_of_its_chat_only(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for chat in (1, 2):
        await box.accept(chat, chat=chat)
        claim = await box.claim_one()
        await box.take(await box.wear_out(claim))

    erased = await box.turns.reset(make_ref(1))

    assert erased.updates == 1
    assert (await box.state_of(1))[0] == "forgotten"
    assert (await box.state_of(2))[0] == "dead"


async def test_a_reset_from_the_chat_keeps_its_own_update_and_later_ones(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for update in (1, 2, 3):
        await box.accept(update)
    claim = await box.claim_one()

    erased = await box.turns.reset(make_ref(), answering=(claim, 2))

    todo = await box.take(claim)
    assert list(todo.updates) == [2, 3]
    assert erased == Erasure(epoch=1, messages=0, updates=1)
    assert parse_json(Erasure, todo.journal["reset"]) == erased
    await box.commit(claim, 2, epoch=1, parts=some_parts("erased", update_id=2, epoch=1))


async def test_a_reset_keeps_the_memory_of_other_chats(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await RedisHistory(redis).append(make_ref(2), some_messages(2), epoch=0)
    await box.accept(1, chat=1)
    await box.accept(2, chat=2)

    await box.turns.reset(make_ref(1))

    assert (await RedisHistory(redis).load(make_ref(2), limit=10)).count == 2
    assert await box.waiting(chat=2) == [2]


async def test_a_person_is_refused_once_in_each_chat_for_a_while(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    first = [
        await box.turns.note_refusal(make_ref(), chat_id=chat, sender_id=sender, update_id=update)
        for chat, sender, update in ((1, 7, 1), (1, 7, 2), (1, 8, 3), (2, 7, 4), (1, 7, 1))
    ]

    assert first == [True, False, True, True, True]
    assert 0 < await box.ttl_of(keys.partition_key(0, "refused", 1, 7)) <= keys.REFUSAL_TTL_S


async def test_a_reset_repeated_after_a_lost_reply_returns_the_same_result(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await RedisHistory(redis).append(make_ref(), some_messages(5), epoch=0)
    await box.accept(1)
    turns = TurnStore(redis, clock=lambda: NOW, new_id=lambda: "the call that is repeated")

    await turns.reset(make_ref())
    erased = await turns.reset(make_ref())

    assert erased == Erasure(epoch=1, messages=5, sessions=1, updates=1)


async def test_a_second_reset_for_the_same_update_of_another_chat_returns_the_counts_of_the_first(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    history = RedisHistory(redis)
    await history.append(make_ref(), some_messages(5), epoch=0)

    first = await box.turns.reset(make_ref(), vectors=4, asked_by=77)
    await history.append(make_ref(), some_messages(1), epoch=1)
    second = await box.turns.reset(make_ref(), vectors=1, asked_by=77)

    assert second == first == Erasure(epoch=1, messages=5, sessions=1, updates=0, vectors=4)
    assert (await history.load(make_ref(), limit=9)).count == 1
    assert (await box.turns.reset(make_ref(), asked_by=78)).messages == 1


async def test_an_apology_repeated_after_a_lost_reply_is_stored_once(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()

    for _ in range(2):
        await box.commit(claim, parts=some_parts("sorry"))

    assert len(await box.outbox()) == 1


async def test_a_turn_that_read_during_a_reset_writes_nothing(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.turns.reset(make_ref())

    with pytest.raises(Forgotten):
        await box.record(claim, "model:1", "secret", epoch=1)
    with pytest.raises(Forgotten):
        await box.commit(claim, 1, epoch=1, parts=some_parts("secret"))

    assert await box.outbox() == []
    assert (await box.take(claim)).journal == {}


async def test_an_update_with_a_negative_id_is_not_treated_as_stopped(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(-5)
    claim = await box.claim_one()

    await box.turns.record(claim, epoch=0, newest_update=-5, fields={"model:1": "a"})

    assert (await box.take(claim)).stopped_before is None
