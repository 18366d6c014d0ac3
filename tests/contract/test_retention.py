"""Messages that are too old go with what rests on them, whatever kills the walk; everything else stays as it is."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import pytest

from memory import retention
from memory.codec import dump_json
from memory.errors import Forgotten
from memory.facts.selection import RecallBudget, select_memories
from memory.history.ledger import LedgerTurn
from memory.history.message import EXPIRED, Message, Quote, Role, Sender
from memory.history.redis_history import RedisHistory
from memory.history.store import HistorySnapshot
from memory.history.talk import TalkLine
from memory.keys import ContextRef, context_key, partition_key
from memory.redis.client import RedisClient
from memory.retention import DAY_S, Retention, RetentionChoice, RetentionQueue, RetentionResult
from tests.contract.facts_kit import ANNA, BEN, FactStore, answered, open_facts, said, told
from tests.contract.memory_kit import RedisMemory, make_entry, make_summary, write_receipts
from tests.contract.tripping_redis import TrippingRedis
from tests.known_reminders import make_reminder, set_reminders
from tests.messages import make_message, make_ref
from tests.redis_values import all_values, keys_with

REF = make_ref()
NOW = time.time()
OLD, NEW = NOW - 40 * DAY_S, NOW - DAY_S
CANARY = "quetzal"
"""A word that only old messages and what tells them have."""
REMINDED = "feed the parrot"
ENTRY = '{"keys":{"bot_id":7,"chat_id":1},"title":"Anna","created_at":1000.0}'
ARTIFACT = "a00000000001"


def messages_of(number: int, *, sent_at: float, word: str, start: int = 0) -> list[Message]:
    """Return messages by Anna and answers in turns."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [
        replace(
            make_message(
                f"{word}-{n}", f"{word} says {n}", role=roles[n % 2], telegram=1_000 * len(word) + n
            ),
            sent_at=sent_at + n,
            sender=ANNA if n % 2 == 0 else None,
        )
        for n in range(start, start + number)
    ]


@dataclass
class Rig:
    """A chat, and the walks through it. Rests are noted and take no time."""

    redis: RedisClient
    rests: list[float] = field(default_factory=list[float])
    clock: float = NOW
    is_waiting: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a walk has to wait."""

    @property
    def history(self) -> RedisHistory:
        return RedisHistory(self.redis)

    @property
    def queue(self) -> RetentionQueue:
        return RetentionQueue(self.redis, clock=lambda: self.clock)

    def retention(self, *, most_days: int = 0, redis: RedisClient | None = None) -> Retention:
        queue = RetentionQueue(redis or self.redis, clock=lambda: self.clock)
        return Retention(
            queue, most_days=most_days, partition=0, clock=lambda: self.clock, rest=self.note_rest
        )

    async def note_rest(self, seconds: float) -> None:
        self.rests.append(seconds)
        if seconds == retention.BUSY_REST_S:
            self.is_waiting.set()
        await asyncio.sleep(0)

    async def append(self, messages: Sequence[Message], ref: ContextRef = REF) -> None:
        await self.redis.call("HSET", partition_key(0, "contexts"), ref.context_id, ENTRY)
        await self.history.append(ref, messages, epoch=0)

    async def walk(self, *, most_days: int = 30) -> RetentionResult:
        """Walk once through the chat, which is due."""
        return await self.retention(most_days=most_days).step()

    async def state(self, ref: ContextRef = REF) -> HistorySnapshot:
        return await self.history.load(ref, limit=1_000)

    async def texts(self) -> list[str]:
        return [each.text for each in (await self.state()).newest]


@pytest.fixture
async def rig(redis: RedisClient) -> Rig:
    return Rig(redis=redis)


async def fill(rig: Rig) -> None:
    """Store a chat in which everything that can tell an old message tells one, and new messages that tell none."""
    memory = RedisMemory(rig.redis)
    old = messages_of(20, sent_at=OLD, word=CANARY)
    new = messages_of(20, sent_at=NEW, word="new")
    quote = Quote(telegram_message_id=1_000 * len(CANARY) + 3, sender_name="", text=f"{CANARY} says 3")
    await rig.append([*old, *new[:6], replace(new[6], quote=quote), *new[7:]])
    await memory.add_turn(REF, turn_of(2, 3, output=f"{CANARY} found"))
    await memory.add_turn(
        REF, turn_of(30, 31, output=f"{CANARY} again", quotes="new-2 quetzal-7", artifact=ARTIFACT)
    )
    await memory.add_artifact(REF, ARTIFACT, f"{CANARY} " * 50)
    await memory.add_turn(REF, turn_of(32, 33, output=f"{CANARY} read", quotes=ARTIFACT))
    await memory.add_turn(REF, turn_of(34, 35, output="harmless", quotes="new-4"))
    first = make_summary("s1", upto=9, overview=f"{CANARY} talk")
    await memory.add_summary(REF, first, [each.id for each in old[:10]])
    await write_receipts(rig.redis, "quetzal-1", "new-1", ref=REF)
    reminder = make_reminder("r1", ANNA, REMINDED, chat=1, message_ids=("quetzal-4",))
    await set_reminders(rig.redis, REF, [reminder])
    lines = [
        TalkLine(telegram_message_id=1, sender=BEN, text=f"{CANARY} overheard", sent_at=OLD),
        TalkLine(telegram_message_id=2, sender=BEN, text="new overheard", sent_at=NEW),
    ]
    for score, line in enumerate(lines, 1):
        await rig.redis.call("ZADD", context_key(REF, "talk"), score, dump_json(TalkLine, line))
    await rig.redis.call("EXPIRE", context_key(REF, "talk"), 60)


def turn_of(first: int, last: int, *, output: str, quotes: str = "", artifact: str = "") -> LedgerTurn:
    entry = replace(make_entry(artifact, output=output), quotes=quotes)
    return LedgerTurn(first_sequence=first, last_sequence=last, entries=(entry,))


async def new_lines(rig: Rig) -> dict[str, str]:
    """Return the stored JSON of the new messages, without the second line, which has quotations."""
    lines = dict(await rig.redis.call("HGETALL", context_key(REF, "messages")))
    return {each: line.split("\n")[0] for each, line in lines.items() if each.startswith("new-")}


async def test_old_messages_go_with_everything_that_tells_them(rig: Rig) -> None:
    await fill(rig)
    before = await new_lines(rig)

    result = await rig.walk()

    assert (result.outcome, result.messages) == ("expired", 20)
    counts = {name: count for name, count in result.counts.by_name().items() if count}
    assert counts == {
        "messages": 20,
        "summaries": 1,
        "ledger_turns": 3,
        "artifacts": 1,
        "talk": 1,
        "quotes": 1,
        "answer_receipts": 1,
    }
    assert await new_lines(rig) == before
    assert len(before) == 20
    left = [key for key in await keys_with(rig.redis, CANARY) if not key.endswith((":work", ":reminders"))]
    assert left == []
    assert [turn.entries[0].output for turn in (await rig.state()).ledger] == ["harmless"]
    assert (await rig.state()).created_at == pytest.approx(NEW, abs=0.01)
    assert REMINDED in str(await rig.redis.call("HGETALL", context_key(REF, "reminders")))
    work = await rig.redis.call("XRANGE", partition_key(0, "work"), "-", "+")
    assert [each["id"] for _, each in work if each["op"] == "drop"] == [f"{CANARY}-{n}" for n in range(20)]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_walk_that_is_killed_at_any_request_is_finished_by_the_next(
    redis: RedisClient, when: Literal["before", "after"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PAGE", 7)
    for at in range(1, 60):
        await redis.call("FLUSHALL")
        rig = Rig(redis=redis)
        await fill(rig)
        before = await new_lines(rig)
        tripping = cast("RedisClient", TrippingRedis(redis, at, when))
        task = asyncio.create_task(rig.retention(most_days=30, redis=tripping).step())
        await asyncio.wait({task})

        rig.clock += retention.LEASE_S + 1  # the claim of the dead one ends
        await rig.walk()

        left = [key for key in await keys_with(redis, CANARY) if not key.endswith((":work", ":reminders"))]
        assert left == [], f"request {at}"
        assert await new_lines(rig) == before
        if not task.cancelled():
            assert at > 15
            return
    pytest.fail("the walk never ended")


async def test_two_workers_at_once_do_no_more_than_one(rig: Rig) -> None:
    await fill(rig)

    one, other = await asyncio.gather(rig.walk(), rig.walk())

    assert sorted(each.messages for each in (one, other)) == [0, 20]
    assert [len(await rig.texts())] == [20]


async def test_dead_letters_go_when_they_are_too_old_and_only_those_of_the_chat(rig: Rig) -> None:
    await rig.append(messages_of(1, sent_at=NEW, word="new"))
    letters = {7: (REF, OLD), 8: (REF, NEW), 9: (make_ref(2), OLD)}
    for number, (ref, at) in letters.items():
        key = partition_key(0, "update", number)
        await rig.redis.call("HSET", key, "context", ref.context_id, "payload", f"{CANARY} {number}")
        await rig.redis.call("ZADD", partition_key(0, "dead"), at, number)

    await rig.walk()

    left = await keys_with(rig.redis, CANARY)
    assert left == [partition_key(0, "update", 8), partition_key(0, "update", 9)]
    assert await rig.redis.call("ZRANGE", partition_key(0, "dead"), 0, -1) == ["9", "8"]


async def test_without_a_limit_nothing_goes_and_a_choice_only_shortens_the_operators(rig: Rig) -> None:
    await rig.append(messages_of(4, sent_at=OLD, word="old"))

    assert (await rig.walk(most_days=0)).outcome == "not_due"
    await rig.queue.choose(REF, RetentionChoice(days=365))
    assert (await rig.walk(most_days=0)).messages == 0
    another = rig.retention(most_days=30)
    assert (await another.step()).outcome == "idle"
    rig.clock += (
        retention.LEASE_S + 1
    )  # a process with another limit looks once no other one can have a lease
    assert (await another.step()).messages == 4


async def test_a_choice_outlives_a_reset_and_is_due_at_once(rig: Rig) -> None:
    await rig.queue.choose(REF, RetentionChoice(days=30, keeps_facts=True))
    await rig.history.erase(REF)

    assert await rig.queue.choice(REF) == RetentionChoice(days=30, keeps_facts=True)
    assert (await rig.state()).retention == "30 facts"
    assert await rig.redis.call("ZSCORE", partition_key(0, "retain"), REF.context_id) == 0


@pytest.mark.parametrize(
    ("sent_at", "stays"),
    [(0.0, False), (NOW - 30 * DAY_S - 60, False), (NOW - 30 * DAY_S + 60, True), (4_102_444_800.0, True)],
    ids=["1970", "a minute too old", "a minute too young", "2100"],
)
async def test_the_date_of_a_message_decides(rig: Rig, sent_at: float, stays: bool) -> None:
    await rig.append([replace(make_message("m0"), sent_at=sent_at)])

    await rig.walk()

    assert bool(await rig.texts()) is stays


async def test_imported_messages_may_be_older_than_those_before_them(rig: Rig) -> None:
    await rig.append(messages_of(3, sent_at=NEW, word="new"))
    await rig.append(messages_of(250, sent_at=OLD, word="old"))
    await rig.append(messages_of(1, sent_at=NEW, word="last"))

    result = await rig.walk()

    assert result.messages == 250
    assert await rig.texts() == ["new says 0", "new says 1", "new says 2", "last says 0"]


async def test_a_clock_that_is_ahead_of_the_stores_erases_nothing_that_is_not_old(rig: Rig) -> None:
    await rig.append(messages_of(4, sent_at=NEW, word="new"))
    rig.clock = NOW + 20 * 365 * DAY_S

    assert (await rig.walk()).messages == 0
    rig.clock = NOW
    await rig.queue.refill(0, is_first=False)
    score = float(await rig.redis.call("ZSCORE", partition_key(0, "retain"), REF.context_id))
    assert score <= NOW + DAY_S


def test_a_clock_that_jumps_while_the_process_runs_is_not_followed_by_more_than_a_day() -> None:
    wall, passed = [1_000.0], [5.0]
    clock = retention.SteadyClock(lambda: wall[0], passed=lambda: passed[0])
    wall[0] += 60
    passed[0] += 60
    assert clock() == 1_060.0
    wall[0] += 400 * DAY_S
    assert clock() == 1_060.0 + DAY_S
    wall[0] = 500.0
    assert clock() == 500.0


async def test_messages_stay_while_a_turn_is_running_and_go_after_it(rig: Rig) -> None:
    await rig.append(messages_of(4, sent_at=OLD, word="old"))
    await rig.redis.call("HSET", partition_key(0, "active"), REF.context_id, "1-0")

    walk = asyncio.create_task(rig.walk())
    await rig.is_waiting.wait()
    assert len(await rig.texts()) == 4
    await rig.redis.call("HDEL", partition_key(0, "active"), REF.context_id)

    assert (await walk).messages == 4
    assert await rig.texts() == []


async def test_a_turn_that_never_ends_holds_a_walk_up_for_a_minute_at_most(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PATIENCE_S", 0.0)
    await rig.append(messages_of(4, sent_at=OLD, word="old"))
    await rig.redis.call("HSET", partition_key(0, "active"), REF.context_id, "1-0")

    assert (await rig.walk()).messages == 4


async def test_a_walk_waits_while_the_indexer_has_much_to_do(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BACKLOG", 10)
    await rig.append(messages_of(11, sent_at=OLD, word="old"))
    walk = asyncio.create_task(rig.walk())
    await rig.is_waiting.wait()
    assert len(await rig.texts()) == 11

    await rig.redis.call("DEL", partition_key(0, "work"))

    assert (await walk).messages == 11


async def test_a_reset_ends_a_walk_and_the_new_messages_stay(rig: Rig) -> None:
    await rig.append(messages_of(4, sent_at=OLD, word="old"))
    page = await rig.queue.read(REF, after="-1", days=30, now=NOW)
    await rig.history.erase(REF)
    expiry = retention.Expiry(now=NOW, summarize_at=NOW, keeps_facts=False, waits=False)

    with pytest.raises(Forgotten):
        await rig.queue.expire(REF, page, expiry)


async def with_facts(redis: RedisClient, *, keeps_facts: bool) -> tuple[Rig, FactStore]:
    """Return a chat with a fact on an old message, one on an old and a new one, and one on a new message."""
    rig, store = Rig(redis=redis), await open_facts(redis)
    await rig.redis.call("HSET", partition_key(0, "contexts"), REF.context_id, ENTRY)
    await store.commit(
        said("old-0", f"I live in {CANARY}", sent_at=OLD),
        answered("old-1", "Nice!"),
        said("old-2", "I have two", sent_at=OLD),
        said("new-0", "dogs", sent_at=NEW),
        said("new-1", "I like tea", sent_at=NEW),
    )
    await store.save(
        told("lives in Lisbon", "old-0", valid_from=1.0),
        told("has two dogs", "old-2", "new-0", valid_from=2.0),
        told("likes tea", "new-1", valid_from=3.0),
    )
    await store.work()
    await rig.queue.choose(REF, RetentionChoice(days=30, keeps_facts=keeps_facts))
    return rig, store


async def test_facts_go_with_their_messages_and_the_others_are_read_again(redis: RedisClient) -> None:
    rig, store = await with_facts(redis, keeps_facts=False)

    result = await rig.walk()

    assert result.counts.facts == 2
    assert [fact.statement for fact in await store.all_facts()] == ["likes tea"]
    assert await store.unread() == ["new-0"]


async def test_kept_facts_rest_on_the_places_of_their_messages_which_have_no_word_left(
    redis: RedisClient,
) -> None:
    rig, store = await with_facts(redis, keeps_facts=True)
    facts = await store.all_facts()

    result = await rig.walk()

    assert await store.all_facts() == facts
    assert await keys_with(redis, CANARY) == []
    assert (result.messages, result.counts.facts) == (3, 0)
    kept = [each for each in (await rig.state()).newest if each.note == EXPIRED]
    assert [(each.id, each.text, each.sender, each.sent_at) for each in kept] == [
        ("old-0", "", ANNA, OLD),
        ("old-2", "", ANNA, OLD),
    ]
    assert sorted(await store.work()) == [("drop", "old-1"), ("index", "old-0"), ("index", "old-2")]

    await rig.queue.choose(REF, RetentionChoice(days=30, keeps_facts=True))
    assert (await rig.walk()).messages == 0, "a place is no message that could expire again"
    await rig.queue.choose(REF, RetentionChoice(days=30))
    assert (await rig.walk()).counts.facts == 2, "without the choice the facts go too"
    assert [each.id for each in (await rig.state()).newest] == ["new-0", "new-1"]


async def test_a_fact_that_is_saved_while_its_message_expires_keeps_the_message_until_the_next_walk(
    redis: RedisClient,
) -> None:
    rig, store = Rig(redis=redis), await open_facts(redis)
    await store.commit(said("old-0", sent_at=OLD))
    page = await rig.queue.read(REF, after="-1", days=30, now=NOW)
    await store.save(told("lives in Lisbon", "old-0"))
    expiry = retention.Expiry(now=NOW, summarize_at=NOW, keeps_facts=True, waits=False)

    counts = await rig.queue.expire(REF, page, expiry)

    assert counts is not None
    assert counts.messages == 0
    page = await rig.queue.read(REF, after="-1", days=30, now=NOW)
    assert list(page.husks) == ["old-0"]


async def test_every_registered_chat_is_looked_at_once_a_day(rig: Rig) -> None:
    refs = [make_ref(chat) for chat in range(1, 6)]
    for ref in refs:
        await rig.append(messages_of(1, sent_at=OLD, word="old"), ref)
    worker = rig.retention(most_days=30)

    results = [await worker.step() for _ in range(6)]

    assert [each.outcome for each in results] == ["expired"] * 5 + ["idle"]
    assert {each.ref for each in results[:5]} == set(refs)
    assert await rig.redis.call("ZCARD", partition_key(0, "retain")) == 0, "they have no message left"


async def test_a_chat_with_messages_is_due_again_in_a_day(rig: Rig) -> None:
    await rig.append(messages_of(2, sent_at=NEW, word="new"))
    worker = rig.retention(most_days=30)

    assert [(await worker.step()).outcome, (await worker.step()).outcome] == ["not_due", "idle"]
    rig.clock += DAY_S + 1
    assert (await worker.step()).outcome == "not_due"


async def test_the_counter_of_the_operators_page_counts_what_went(rig: Rig) -> None:
    await fill(rig)

    await rig.walk()

    values: dict[str, Any] = await all_values(rig.redis)
    counted = [value for key, value in values.items() if ":counts:" in key]
    assert [each["expired"] for each in counted] == ["20"]


async def test_before_a_shorter_time_the_messages_that_would_go_are_counted(rig: Rig) -> None:
    await fill(rig)

    assert await rig.queue.count_expired(REF, days=30) == 20
    assert await rig.queue.count_expired(REF, days=365) == 0
    assert len(await rig.texts()) == 30


def test_select_memories_tells_the_facts_of_an_expired_message_and_not_its_place() -> None:
    from memory.chat_history import RankedMessage
    from tests.messages import make_fact

    fact = make_fact("f1", message_ids=("m0",))
    place = replace(make_message("m0", ""), note=EXPIRED, sender=Sender(id=7, name="Anna"))
    ranked = [
        RankedMessage(message=place, score=1.0, facts=(fact,)),
        RankedMessage(message=make_message("m1"), score=0.5),
    ]

    memories = select_memories(ranked, RecallBudget(lines=8))

    assert [each.message.id for each in memories.messages] == ["m1"]
    assert memories.facts == (fact,)
