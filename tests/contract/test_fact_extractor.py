"""The extractor of facts on the real store: what it sends, what it saves, and failures that lose no message."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import pytest

from memory.errors import SummaryFailed
from memory.facts.extractor import BATCH_MESSAGES, ExtractionResult, FactExtractor, ReadingTally
from memory.facts.queue import FactQueue, FactWork, NewFact
from memory.history.message import Message
from memory.keys import context_key, partition_key
from memory.leased import RETRY_PAUSES_S
from memory.redis.client import RedisClient
from tests.contract.facts_kit import (
    ANNA,
    BEN,
    LEASE_S,
    REF,
    SOON,
    FactStore,
    answered,
    open_facts,
    said,
    told,
)
from tests.contract.tripping_redis import TrippingRedis
from tests.messages import ids
from tests.redis_values import all_values

CALL_TOKENS = 100


@dataclass
class Repeating:
    """A reader whose facts repeat the messages. `during` runs while it reads."""

    during: Callable[[], Awaitable[object]] | None = None
    failures: list[Exception] = field(default_factory=list[Exception])
    most_messages: int = 1_000
    subject: str = ""
    works: list[FactWork] = field(default_factory=list[FactWork])

    async def read(self, work: FactWork, tally: ReadingTally) -> Sequence[NewFact]:
        self.works.append(work)
        if len(work.messages) > self.most_messages:
            raise SummaryFailed("Too long.", is_too_long=True)
        tally.calls += 1
        tally.prompt_tokens += CALL_TOKENS
        if self.during is not None:
            await self.during()
        if self.failures:
            raise self.failures.pop(0)
        return [self._fact(message) for message in work.messages]

    def _fact(self, message: Message) -> NewFact:
        assert message.sender is not None
        fact = told(message.text, message.id, by=message.sender, valid_from=message.sent_at)
        return replace(fact, subject=self.subject, subject_id=None) if self.subject else fact

    @property
    def texts(self) -> list[list[str]]:
        """Return the texts of the messages of each request."""
        return [[message.text for message in work.messages] for work in self.works]


def make_extractor(
    store: FactStore, reader: Repeating, *, lease_s: float = LEASE_S, queue: FactQueue | None = None
) -> FactExtractor:
    return FactExtractor(queue=queue or store.queue, reader=reader, partition=0, lease_s=lease_s)


async def step(store: FactStore, reader: Repeating) -> ExtractionResult:
    """Read what is due after the pause in which messages wait for others."""
    store.clock.now += SOON
    return await make_extractor(store, reader).step()


async def statements(store: FactStore) -> list[str]:
    """Return the statements of all facts, sorted."""
    return sorted(fact.statement for fact in await store.all_facts())


async def is_queued(store: FactStore) -> bool:
    return await store.redis.call("ZSCORE", partition_key(0, "extract"), REF.context_id) is not None


@pytest.fixture
async def store(redis: RedisClient) -> FactStore:
    """Return a store in which Anna and Ben have told something, with an answer between."""
    made = await open_facts(redis)
    await made.commit(said("m0", "I live in Lisbon"), answered("m1", "Nice!"))
    await made.commit(said("m2", "I have a cat", by=BEN), answered("m3", "Good."))
    return made


async def test_the_extractor_is_idle_without_a_waiting_context(redis: RedisClient) -> None:
    result = await step(await open_facts(redis), Repeating())

    assert result == ExtractionResult(outcome="idle")
    assert not result.is_busy


async def test_the_messages_of_people_are_read_once_and_their_facts_are_saved(store: FactStore) -> None:
    reader = Repeating()

    result = await step(store, reader)

    assert (result.outcome, result.ref, result.facts, result.messages) == ("read", REF, 2, 2)
    assert (result.tally.calls, result.tally.tokens) == (1, CALL_TOKENS)
    assert reader.texts == [["I live in Lisbon", "I have a cat"]]
    assert [message.text for message in reader.works[0].context] == ["Nice!"]
    assert await statements(store) == ["I have a cat", "I live in Lisbon"]
    assert not await is_queued(store)
    assert (await step(store, reader)).outcome == "idle"


async def test_many_messages_are_read_in_batches(redis: RedisClient) -> None:
    store, reader = await open_facts(redis), Repeating()
    for start in range(0, 50, 10):
        await store.commit(*(said(f"m{n}", f"text {n}") for n in range(start, start + 10)))

    results = [await step(store, reader) for _ in range(4)]

    assert [result.outcome for result in results] == ["read", "read", "read", "idle"]
    assert [len(work.messages) for work in reader.works] == [BATCH_MESSAGES, BATCH_MESSAGES, 10]
    assert len(await statements(store)) == 50


async def test_a_batch_that_is_too_long_is_halved_and_the_rest_is_read_next(store: FactStore) -> None:
    reader = Repeating(most_messages=1)

    assert (await step(store, reader)).messages == 1
    assert await store.unread() == ["m2"]
    assert (await step(store, reader)).messages == 1
    assert reader.texts == [["I live in Lisbon", "I have a cat"], ["I live in Lisbon"], ["I have a cat"]]


async def test_a_single_message_that_is_too_long_counts_as_read_after_three_tries(redis: RedisClient) -> None:
    store, reader = await open_facts(redis), Repeating(most_messages=0)
    await store.commit(said("m0"))

    assert await outcomes(store, reader) == ["later", "later", "given_up"]
    assert await store.unread() == []


async def test_a_message_that_a_filter_refuses_counts_as_read_at_once(redis: RedisClient) -> None:
    store, reader = await open_facts(redis), Repeating(failures=[SummaryFailed(is_filtered=True)])
    await store.commit(said("m0"))

    assert (await step(store, reader)).outcome == "given_up"
    assert await store.unread() == []


# Faults ---------------------------------------------------------------------------------------------------
async def outcomes(store: FactStore, reader: Repeating) -> list[str]:
    """Return the outcomes of three steps with the pauses between them."""
    one, found = make_extractor(store, reader), list[str]()
    store.clock.now += SOON
    for pause_s in (*RETRY_PAUSES_S, 0.0):
        found.append((await one.step()).outcome)
        assert (await one.step()).outcome == "idle", "not before its pause has passed"
        store.clock.now += pause_s + 1
    return found


@pytest.mark.parametrize("failure", [SummaryFailed("No JSON."), ValueError("I live in Lisbon")])
async def test_a_failing_model_is_tried_three_times_then_the_messages_count_as_read(
    store: FactStore, failure: Exception
) -> None:
    reader = Repeating(failures=[failure] * 3)

    assert await outcomes(store, reader) == ["later", "later", "given_up"]

    assert await statements(store) == []
    assert await store.unread() == []
    assert not await is_queued(store)
    await store.commit(said("m4", "I moved"))
    assert (await step(store, reader)).outcome == "read"
    assert await statements(store) == ["I moved"]


async def test_the_reason_of_a_failure_quotes_nothing(store: FactStore) -> None:
    result = await step(store, Repeating(failures=[ValueError("I live in Lisbon")]))

    assert result.reason.startswith("It broke: ValueError at read:")
    assert "Lisbon" not in result.reason


async def test_a_fact_that_cites_another_message_is_never_saved(store: FactStore) -> None:
    class Citing(Repeating):
        async def read(self, work: FactWork, tally: ReadingTally) -> Sequence[NewFact]:
            return [told("is the operator", "m1")]

    result = await step(store, Citing())

    assert result.outcome == "later"
    assert await statements(store) == []


async def test_a_success_resets_the_count_of_failures(store: FactStore) -> None:
    reader = Repeating(failures=[SummaryFailed(), SummaryFailed()])
    assert (await outcomes(store, reader))[2] == "read"
    await store.commit(said("m4", "I moved"))
    reader.failures = [SummaryFailed()]

    assert (await step(store, reader)).outcome == "later"


# What happens meanwhile -----------------------------------------------------------------------------------
async def test_a_reset_during_the_call_leaves_no_fact(store: FactStore) -> None:
    reader = Repeating(during=lambda: store.history.erase(REF))

    assert (await step(store, reader)).outcome == "lost"  # the reset took it out of the queue
    assert not await is_queued(store)
    assert "Lisbon" not in str(await all_values(store.redis))


async def test_a_reset_right_before_the_save_leaves_no_fact(store: FactStore) -> None:
    class ResetBeforeSave(FactQueue):
        async def save(self, *arguments: Any, **named: Any) -> Any:
            await store.history.erase(REF)
            return await super().save(*arguments, **named)

    queue = ResetBeforeSave(store.redis, clock=store.clock)
    store.clock.now += SOON

    assert (await make_extractor(store, Repeating(), queue=queue).step()).outcome == "forgotten"
    assert "Lisbon" not in str(await all_values(store.redis))


async def test_a_message_forgotten_during_the_call_leaves_no_fact(store: FactStore) -> None:
    reader = Repeating(during=once(lambda: store.history.delete(REF, ["m0"], epoch=0)))

    assert (await step(store, reader)).outcome == "read"
    assert reader.texts == [["I live in Lisbon", "I have a cat"], ["I have a cat"]]
    assert await statements(store) == ["I have a cat"]


async def test_a_message_edited_during_the_call_is_read_with_its_new_text(store: FactStore) -> None:
    async def edit() -> None:
        await store.history.replace(REF, "m0", text="I live in Porto", tokens=4, edited_at=5.0, epoch=0)

    assert (await step(store, Repeating(during=once(edit)))).outcome == "read"
    assert await statements(store) == ["I have a cat", "I live in Porto"]


async def test_a_message_said_during_the_call_is_read_next(store: FactStore) -> None:
    async def go_on() -> None:
        await store.commit(said("m4", "I moved"))

    assert (await step(store, Repeating(during=once(go_on)))).facts == 2
    assert await store.unread() == ["m4"]
    assert (await step(store, Repeating())).facts == 1


async def test_a_chat_that_changes_during_every_call_gets_a_pause(store: FactStore) -> None:
    numbers = iter(range(9))

    async def edit() -> None:
        await store.history.replace(REF, "m0", text=f"text {next(numbers)}", tokens=2, edited_at=5.0, epoch=0)

    result = await step(store, Repeating(during=edit))

    assert (result.outcome, result.reason) == ("later", "The chat changed under every extraction.")
    assert await store.unread() == ["m0", "m2"]


def once(do: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
    """Return a function that does this at its first call only."""
    left = [do]

    async def run() -> None:
        if left:
            await left.pop()()

    return run


# Who may be read ------------------------------------------------------------------------------------------
async def test_a_person_who_has_chosen_off_is_neither_read_nor_shown_as_context(store: FactStore) -> None:
    await store.facts.switch_off(REF, person=ANNA.id, epoch=0)
    reader = Repeating()

    await step(store, reader)

    assert reader.texts == [["I have a cat"]]
    assert "Lisbon" not in str([work.context for work in reader.works])
    assert await statements(store) == ["I have a cat"]


async def test_off_during_the_call_saves_nothing_of_that_person(store: FactStore) -> None:
    reader = Repeating(during=once(lambda: store.facts.switch_off(REF, person=ANNA.id, epoch=0)))

    await step(store, reader)

    assert await statements(store) == ["I have a cat"]


async def test_off_for_the_whole_chat_during_the_call_saves_nothing(store: FactStore) -> None:
    reader = Repeating(during=once(lambda: store.facts.switch_off(REF, person=None, epoch=0)))

    assert (await step(store, reader)).outcome == "lost"  # it took the chat out of the queue
    assert await statements(store) == []
    assert not await is_queued(store)


async def test_messages_that_wait_where_facts_are_off_are_not_sent_to_the_model(store: FactStore) -> None:
    await store.redis.call("HSET", context_key(REF, "choices"), "facts", "off")
    reader = Repeating()

    assert (await step(store, reader)).facts == 0
    assert reader.works == []
    assert await store.unread() == []


async def test_a_group_is_read_only_after_somebody_has_turned_facts_on(redis: RedisClient) -> None:
    store, reader = await open_facts(redis), Repeating()
    await store.commit(said("m0", "I live in Lisbon"), facts="off")
    assert (await step(store, reader)).outcome == "idle"

    await store.facts.switch_on(REF, person=None, context=True)
    await store.commit(said("m1", "I have a cat"), facts="off")

    assert (await step(store, reader)).outcome == "read"
    assert await statements(store) == ["I have a cat"], "what was said before is not read"


@pytest.mark.parametrize("subject", ["Anna", "anna", "@Anna"])
async def test_nobody_tells_facts_about_a_person_who_has_chosen_off(store: FactStore, subject: str) -> None:
    await store.facts.switch_off(REF, person=ANNA.id, epoch=0)

    result = await step(store, Repeating(subject=subject))

    assert (result.outcome, result.facts, await statements(store)) == ("read", 0, [])


# Older messages -------------------------------------------------------------------------------------------
async def open_older(redis: RedisClient, *, tokens_per_day: int, messages: int = 50) -> FactStore:
    """Open a store with messages from before facts were on, and a first one after it, which is read."""
    store = await open_facts(redis, tokens_per_day=tokens_per_day)
    for start in range(0, messages, 10):
        old = (said(f"m{n}", f"text {n}") for n in range(start, min(messages, start + 10)))
        await store.commit(*old, facts="")
    await store.commit(said("new", "I moved"))
    assert (await step(store, Repeating())).is_older is False
    return store


async def test_older_messages_are_read_newest_first_when_nothing_is_unread(redis: RedisClient) -> None:
    store, reader = await open_older(redis, tokens_per_day=10_000), Repeating()

    results = [await step(store, reader) for _ in range(4)]

    assert [(result.outcome, result.is_older) for result in results[:3]] == [("read", True)] * 3
    assert results[3].outcome == "idle"
    assert [texts[0] for texts in reader.texts] == ["text 30", "text 10", "text 0"]
    assert (await store.facts.list(REF)).total == 51


async def test_a_page_of_older_messages_that_is_too_long_is_halved_from_its_newer_end(
    redis: RedisClient,
) -> None:
    store, reader = await open_older(redis, tokens_per_day=10_000, messages=8), Repeating(most_messages=4)

    assert [(await step(store, reader)).messages for _ in range(2)] == [4, 4]
    assert reader.texts[1] == ["text 4", "text 5", "text 6", "text 7"]
    assert len(await statements(store)) == 9
    assert (await step(store, reader)).outcome == "idle"


async def test_a_used_up_budget_ends_the_reading_of_older_messages_until_the_next_day(
    redis: RedisClient,
) -> None:
    store, reader = await open_older(redis, tokens_per_day=CALL_TOKENS + 1), Repeating()

    found = [(await step(store, reader)).outcome for _ in range(3)]
    assert found == ["read", "read", "idle"]
    assert await store.queue.tokens_left() == 0
    assert not await is_queued(store)

    store.clock.now += 24 * 3600
    assert (await step(store, reader)).outcome == "idle", "the next turn queues it again"
    await store.commit(said("newer", "I moved again"))
    assert [(await step(store, reader)).is_older for _ in range(2)] == [False, True]


async def test_calls_that_fail_count_for_the_budget(redis: RedisClient) -> None:
    store = await open_older(redis, tokens_per_day=10_000)

    await step(store, Repeating(failures=[SummaryFailed()]))

    assert await store.queue.tokens_left() == 10_000 - CALL_TOKENS


async def test_new_messages_cost_no_budget_and_come_before_older_ones(redis: RedisClient) -> None:
    store = await open_older(redis, tokens_per_day=10_000)
    await store.commit(said("newer", "I moved again"))

    assert (await step(store, Repeating())).is_older is False
    assert await store.queue.tokens_left() == 10_000


# Claims, crashes and cancellation -------------------------------------------------------------------------
async def test_two_extractors_of_a_partition_read_a_context_once(store: FactStore) -> None:
    store.clock.now += SOON
    one, two = Repeating(), Repeating()

    results = await asyncio.gather(make_extractor(store, one).step(), make_extractor(store, two).step())

    assert sorted(result.outcome for result in results) == ["idle", "read"]
    assert len(one.works) + len(two.works) == 1


async def test_a_worker_that_slept_past_its_lease_saves_nothing(store: FactStore) -> None:
    working, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        working.set()
        await go.wait()

    store.clock.now += SOON
    slow = asyncio.create_task(make_extractor(store, Repeating(during=wait)).step())
    await working.wait()
    store.clock.now += LEASE_S + 1
    assert (await make_extractor(store, Repeating()).step()).outcome == "read"
    after = await all_values(store.redis)
    go.set()

    assert (await slow).outcome == "lost"
    assert await all_values(store.redis) == after


async def test_the_lease_is_renewed_while_the_model_reads(store: FactStore) -> None:
    working, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        working.set()
        await go.wait()

    async def lease_end() -> float:
        key = partition_key(0, "extract")
        return float(await store.redis.call("ZSCORE", key, REF.context_id))

    store.clock.now += SOON
    slow = asyncio.create_task(make_extractor(store, Repeating(during=wait), lease_s=0.03).step())
    await working.wait()
    store.clock.now += 10
    async with asyncio.timeout(5):
        while await lease_end() <= store.clock.now:  # noqa: ASYNC110 - the store has no event to wait on
            await asyncio.sleep(0.005)
    assert (await make_extractor(store, Repeating()).step()).outcome == "idle"
    go.set()

    assert (await slow).outcome == "read"


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_worker_that_dies_at_any_round_trip_leaves_nothing_half_done(
    redis: RedisClient, when: Literal["before", "after"]
) -> None:
    at, was_cancelled = 0, True
    while was_cancelled:
        at += 1
        await redis.call("FLUSHALL")
        store = await open_facts(redis)
        await store.commit(said("m0", "I live in Lisbon"), said("m1", "I have a cat"))
        store.clock.now += SOON
        tripping = cast("RedisClient", TrippingRedis(redis, at, when))
        queue = FactQueue(tripping, clock=store.clock, tokens_per_day=0)
        dying = asyncio.create_task(make_extractor(store, Repeating(), queue=queue).step())
        await asyncio.wait({dying})
        was_cancelled = dying.cancelled()

        assert await statements(store) in ([], ["I have a cat", "I live in Lisbon"])
        store.clock.now += LEASE_S + 1
        await make_extractor(store, Repeating()).step()
        assert await statements(store) == ["I have a cat", "I live in Lisbon"]
        assert await store.unread() == []
        assert not await is_queued(store)
    assert at >= 5


async def test_a_cancellation_during_the_call_stores_nothing_and_leaves_no_task(store: FactStore) -> None:
    working = asyncio.Event()

    async def hang() -> None:
        working.set()
        await asyncio.Event().wait()

    store.clock.now += SOON
    running = asyncio.create_task(make_extractor(store, Repeating(during=hang)).step())
    await working.wait()
    running.cancel()
    await asyncio.wait({running})

    assert running.cancelled()
    assert await statements(store) == []
    assert ids((await store.load())[1].messages) == ["m0", "m2"], "its lease ends, and it is read again"
    assert [task for task in asyncio.all_tasks() if task.get_name() == "extract"] == []
