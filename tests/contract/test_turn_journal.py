"""The journal of a turn after a crash."""

from bot.inbox.records import Claim
from bot.turn.batch import Batch
from bot.turn.question import TurnJournal, joined_updates
from memory.history.buffered import BufferedHistory
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, open_inbox, some_parts
from tests.contract.test_media_reading import update
from tests.messages import ids, make_message, make_ref, some_messages


async def test_a_resumed_turn_has_its_updates_its_steps_and_the_appended_messages_of_its_tools(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.accept(2)
    claim = await box.claim_one()
    history = BufferedHistory(RedisHistory(redis), make_ref(), await box.snapshot(claim))
    await history.append(
        make_ref(), [make_message("u1"), make_message("u2"), make_message("by a tool")], epoch=0
    )
    journal = make_journal(box, claim, history, make_batch(1, 2), steps={})
    await journal.record("tool:1:0", "done")
    (claim,) = await box.sweep("bert")

    found = (await box.take(claim)).journal
    again = BufferedHistory(RedisHistory(redis), make_ref(), await box.snapshot(claim))
    await again.append(make_ref(), [make_message("u1"), make_message("u2")], epoch=0)
    resumed = make_journal(box, claim, again, make_batch(1, 2), steps=found)
    await resumed.restore_appended()

    assert joined_updates(found) == (1, 2)
    assert await resumed.finished("tool:1:0") == "done"
    assert await resumed.finished("tool:1:1") is None
    assert ids(again.pending) == ["u1", "u2", "by a tool"]


async def test_a_turn_whose_tool_erases_the_history_continues_in_the_next_epoch(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await RedisHistory(redis).append(make_ref(), some_messages(3), epoch=0)
    await box.accept(1)
    claim = await box.claim_one()
    history = BufferedHistory(RedisHistory(redis), make_ref(), await box.snapshot(claim))
    journal = make_journal(box, claim, history, make_batch(1), steps={})
    await journal.record("model:1", "erase it")

    await history.erase(make_ref())
    await journal.record("tool:1:0", "erased")
    await history.append(
        make_ref(), [make_message("answer", "It is gone.", role="assistant")], epoch=history.epoch
    )
    await box.commit(claim, 1, epoch=history.epoch, messages=history.pending, parts=some_parts("It is gone."))

    kept = await RedisHistory(redis).load(make_ref(), limit=10)
    assert (kept.epoch, ids(kept.newest)) == (1, ["answer"])
    assert len(await box.outbox()) == 1


def make_batch(*update_ids: int) -> Batch:
    """Return a batch with one message for each update."""
    return Batch(updates=tuple(update(number, text="hi") for number in update_ids))


def make_journal(
    box: Inbox, claim: Claim, history: BufferedHistory, batch: Batch, *, steps: dict[str, str]
) -> TurnJournal:
    """The journal of a turn whose question has one message for each update."""
    return TurnJournal(
        store=box.turns,
        claim=claim,
        history=history,
        batch=batch,
        own_messages=len(batch.updates),
        steps=steps,
    )
