"""The compressor on the real store: its summaries, and its failures, which change nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import pytest

from memory.codec import dump_json
from memory.errors import SummaryFailed
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.history.store import HistorySnapshot
from memory.history.summary import SummaryText
from memory.history.transcript import Excerpt, render_line
from memory.keys import context_key, partition_key
from memory.leased import RETRY_PAUSES_S, QueueClaim
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall
from memory.summary import compressor
from memory.summary.compression import CompressionLimits, Piece
from memory.summary.compressor import CompressionResult, Compressor, RedisSummaries
from tests.contract.tripping_redis import TrippingRedis
from tests.messages import ids, make_ref, some_messages
from tests.redis_values import all_values

REF = make_ref()
LIMITS = CompressionLimits(
    trigger_tokens=600,
    trigger_messages=400,
    keep_tokens=200,
    keep_messages=4,
    piece_tokens=300,
    summary_tokens=100,
)
LEASE_S = 60.0


@dataclass
class Joining:
    """A summarizer that joins the texts that it reads. `during` runs while it works."""

    model: str = "joining-1"
    failures: list[SummaryFailed] = field(default_factory=list[SummaryFailed])
    during: Callable[[], Awaitable[object]] | None = None
    pieces: list[Piece] = field(default_factory=list[Piece])
    most_lines: int = 1_000
    refused_word: str = "\0"

    def count(self, text: str) -> int:
        return len(text.split())

    async def summarize(self, previous: SummaryText | None, piece: Piece) -> SummaryText:
        self.pieces.append(piece)
        if self.during is not None:
            await self.during()
        if len(piece.lines) > self.most_lines:
            raise SummaryFailed("Too long.", is_too_long=True)
        if any(self.refused_word in render_line(line) for line in piece.lines):
            raise SummaryFailed("Filtered.", is_filtered=True)
        if self.failures:
            raise self.failures.pop(0)
        told = [line.text if isinstance(line, Excerpt) else line.output for line in piece.lines]
        return SummaryText(overview=" ".join([*([previous.overview] if previous else []), *told]))


@dataclass
class Rig:
    """A conversation of 40 messages that is due for compression, and a clock that the test moves."""

    redis: RedisClient
    now: float = 1_000.0
    summarizer: Joining = field(default_factory=Joining)

    @property
    def history(self) -> RedisHistory:
        return RedisHistory(self.redis)

    @property
    def summaries(self) -> RedisSummaries:
        return RedisSummaries(self.redis, clock=lambda: self.now)

    def compressor(
        self,
        summarizer: Joining | None = None,
        *,
        redis: RedisClient | None = None,
        summaries: RedisSummaries | None = None,
        lease_s: float = LEASE_S,
    ) -> Compressor:
        client = redis or self.redis
        return Compressor(
            history=RedisHistory(client),
            summaries=summaries or RedisSummaries(client, clock=lambda: self.now),
            summarizer=summarizer or self.summarizer,
            limits={"": LIMITS},
            partition=0,
            clock=lambda: self.now,
            lease_s=lease_s,
        )

    async def append(self, number: int, *, start: int = 0, tokens: int = 20) -> None:
        said = [replace(message, tokens=tokens) for message in some_messages(number, start=start)]
        await self.history.append(REF, said, epoch=0)

    async def state(self) -> HistorySnapshot:
        return await self.history.load(REF, limit=1_000)

    async def is_queued(self) -> bool:
        return await self.redis.call("ZSCORE", partition_key(0, "compress"), REF.context_id) is not None

    async def everything(self) -> dict[str, Any]:
        """Return all stored data except the queue."""
        values = await all_values(self.redis)
        values.pop(partition_key(0, "compress"), None)
        return values


@pytest.fixture
async def rig(redis: RedisClient) -> Rig:
    made = Rig(redis=redis)
    await made.append(40)
    await made.summaries.queue(REF)
    return made


LONG = "long word " * 200


async def rig_with_long_message(redis: RedisClient) -> Rig:
    """Return a conversation that begins with a message larger than a piece."""
    made = Rig(redis=redis)
    await made.history.append(REF, [replace(some_messages(1)[0], text=LONG, tokens=900)], epoch=0)
    await made.append(9, start=1)
    await made.summaries.queue(REF)
    return made


def numbered_text(*numbers: int) -> str:
    return " ".join(f"text {number}" for number in numbers)


async def test_the_compressor_is_idle_without_a_queued_conversation(redis: RedisClient) -> None:
    result = await Rig(redis=redis).compressor().step()

    assert result == CompressionResult(outcome="idle")
    assert not result.is_busy


async def test_i05_the_older_messages_are_summarised_and_the_newest_stay(rig: Rig) -> None:
    result = await rig.compressor().step()

    after = await rig.state()
    assert (result.outcome, result.ref, result.messages) == ("compressed", REF, 32)
    assert after.summary is not None
    assert after.summary.text.overview == numbered_text(*range(32))
    assert (after.summary.upto_sequence, after.summary.model) == (31, "joining-1")
    assert after.summary.tokens == len(numbered_text(*range(32)).split()) + 1
    assert ids(after.newest) == [f"m{n}" for n in range(32, 40)]
    assert after.count == 40  # originals stay
    assert not await rig.is_queued()


async def test_i05_each_piece_is_saved_on_the_previous_one_with_its_own_messages(rig: Rig) -> None:
    result = await rig.compressor().step()

    newest = (await rig.state()).summary
    assert newest is not None
    added = [await rig.summaries.covered(REF, newest.id), await rig.summaries.covered(REF, newest.builds_on)]
    assert result.summaries == len(rig.summarizer.pieces) > 2
    assert added[0] == tuple(ids(rig.summarizer.pieces[-1].covers))
    assert added[1] == tuple(ids(rig.summarizer.pieces[-2].covers))
    assert newest.from_sequence == rig.summarizer.pieces[-1].covers[0].sequence


async def test_i05_the_next_compression_builds_on_the_summary(rig: Rig) -> None:
    await rig.compressor().step()
    first = (await rig.state()).summary
    await rig.append(40, start=40)
    await rig.summaries.queue(REF)

    await rig.compressor().step()

    assert first is not None
    assert rig.summarizer.pieces[-1].covers[-1].id == "m71"
    last = (await rig.state()).summary
    assert last is not None
    assert last.text.overview == numbered_text(*range(72))


async def test_a_conversation_that_is_no_longer_due_leaves_the_queue(redis: RedisClient) -> None:
    rig = Rig(redis=redis)
    await rig.append(4)
    await rig.summaries.queue(REF)

    assert (await rig.compressor().step()).outcome == "not_due"
    assert not await rig.is_queued()
    assert (await rig.state()).summary is None


async def test_i01_thousands_of_messages_are_read_page_by_page_and_compressed(redis: RedisClient) -> None:
    rig = Rig(redis=redis)
    for start in range(0, 1_200, 200):
        await rig.append(200, start=start)
    await rig.summaries.queue(REF)

    result = await rig.compressor().step()

    assert result.messages == 1_192
    assert len((await rig.state()).newest) == 8


async def test_i01_messages_beyond_the_limit_of_a_read_are_compressed_next(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressor, "MESSAGES_AT_MOST", 30)

    assert (await rig.compressor().step()).outcome == "compressed"
    assert ids((await rig.state()).newest) == [f"m{n}" for n in range(22, 40)]  # then 18 are not due

    await rig.append(30, start=40)
    await rig.summaries.queue(REF)
    assert (await rig.compressor().step()).outcome == "compressed"
    summary = (await rig.state()).summary
    assert summary is not None
    assert summary.text.overview == numbered_text(*range(summary.upto_sequence + 1))


async def test_tool_results_are_read_before_the_reply(redis: RedisClient) -> None:
    rig = Rig(redis=redis)
    await rig.append(40)
    entry = LedgerEntry(id="e", kind="tool", agent="", name="add", input="{}", output="five")
    await keep_ledger(rig, first=2, last=3, entry=entry)
    await rig.summaries.queue(REF)

    await rig.compressor().step()

    summary = (await rig.state()).summary
    assert summary is not None
    assert summary.text.overview.startswith("text 0 text 1 text 2 five text 3")


async def keep_ledger(rig: Rig, *, first: int, last: int, entry: LedgerEntry) -> None:
    turn = LedgerTurn(first_sequence=first, last_sequence=last, entries=(entry,))
    await rig.redis.call("ZADD", context_key(REF, "ledger"), last, dump_json(LedgerTurn, turn))


@pytest.mark.parametrize("message", ["The summary model failed.", ""])
async def test_i07_a_failure_changes_nothing_and_there_are_three_tries(rig: Rig, message: str) -> None:
    before = await rig.state()
    rig.summarizer.failures = [SummaryFailed(message) for _ in range(3)]
    one = rig.compressor()

    outcomes: list[str] = []
    for pause_s in (*RETRY_PAUSES_S, 0.0):
        outcomes.append((await one.step()).outcome)
        assert (await one.step()).outcome == "idle"  # not before its pause has passed
        rig.now += pause_s

    after = await rig.state()
    assert outcomes == ["later", "later", "given_up"]
    assert replace(after, summary_state=before.summary_state) == before
    assert after.summary_state.failed_at == 40
    assert not await rig.is_queued()


async def test_i07_a_success_resets_the_count_of_failures(rig: Rig) -> None:
    rig.summarizer.failures = [SummaryFailed(), SummaryFailed()]
    one = rig.compressor()
    for pause_s in RETRY_PAUSES_S:
        await one.step()
        rig.now += pause_s

    assert (await one.step()).outcome == "compressed"
    rig.summarizer.failures = [SummaryFailed()]
    await rig.append(40, start=40)
    await rig.summaries.queue(REF)
    assert (await one.step()).outcome == "later"


async def test_i07_an_empty_summary_is_a_failure(rig: Rig) -> None:
    class Blank(Joining):
        async def summarize(self, previous: SummaryText | None, piece: Piece) -> SummaryText:
            return SummaryText(overview=" ")

    result = await rig.compressor(Blank()).step()

    assert (result.outcome, result.reason) == ("later", "The summary is empty.")
    assert (await rig.state()).summary is None


async def test_a_failure_at_a_later_piece_keeps_the_saved_pieces(rig: Rig) -> None:
    async def fail_at_the_third() -> None:
        if len(rig.summarizer.pieces) == 3:
            raise SummaryFailed

    rig.summarizer.during = fail_at_the_third

    result = await rig.compressor().step()

    summary = (await rig.state()).summary
    assert (result.outcome, result.summaries) == ("later", 2)
    assert summary is not None
    assert summary.upto_sequence == rig.summarizer.pieces[1].covers[-1].sequence


async def test_a_piece_that_is_too_long_is_halved_at_most_twice(rig: Rig) -> None:
    rig.summarizer.most_lines = 1  # of a whole piece's six; the half has two, the quarter one
    assert (await rig.compressor().step()).outcome == "compressed"
    assert [len(piece.lines) for piece in rig.summarizer.pieces[:3]] == [6, 2, 1]

    await rig.append(40, start=40)
    await rig.summaries.queue(REF)
    rig.summarizer.pieces.clear()
    rig.summarizer.most_lines = 0
    result = await rig.compressor().step()

    assert (result.outcome, result.reason) == ("later", "Too long.")
    assert len(rig.summarizer.pieces) == 3


async def test_a_small_piece_that_a_filter_refuses_is_covered_without_its_text(rig: Rig) -> None:
    rig.summarizer.refused_word = '"text 5"'

    result = await rig.compressor().step()

    summary = (await rig.state()).summary
    assert result.outcome == "compressed"
    assert summary is not None
    assert summary.upto_sequence > 10
    assert "text 5" not in summary.text.overview.split(" text 6")[0]
    assert "text 20" in summary.text.overview


async def test_a_refused_message_is_not_summarised(rig: Rig) -> None:
    ids = [message.id for message in await rig.history.page(REF, after_sequence=2, limit=1)]
    assert await rig.history.refuse(REF, ids[0], epoch=0)

    await rig.compressor().step()

    told = [
        line.message.id
        for piece in rig.summarizer.pieces
        for line in piece.lines
        if isinstance(line, Excerpt)
    ]
    assert len(told) > 10
    assert ids[0] not in told
    summary = (await rig.state()).summary
    assert summary is not None
    assert summary.upto_sequence == 31


async def test_a_message_larger_than_a_piece_is_covered_after_it_was_read_to_its_end(
    redis: RedisClient,
) -> None:
    rig = await rig_with_long_message(redis)

    async def nothing_is_saved_of_a_part() -> None:
        if not rig.summarizer.pieces[-1].covers:
            assert (await rig.state()).summary is None

    rig.summarizer.during = nothing_is_saved_of_a_part

    assert (await rig.compressor().step()).outcome == "compressed"
    parts = [
        line.text
        for piece in rig.summarizer.pieces
        for line in piece.lines
        if isinstance(line, Excerpt) and line.message.id == "m0"
    ]
    assert len(parts) > 3
    assert "".join(parts) == LONG


async def test_i14_a_message_appended_during_a_compression_is_not_covered(rig: Rig) -> None:
    async def append_once() -> None:
        if len(rig.summarizer.pieces) == 1:
            await rig.append(2, start=40)

    rig.summarizer.during = append_once

    assert (await rig.compressor().step()).outcome == "compressed"
    assert ids((await rig.state()).newest) == [f"m{n}" for n in range(32, 42)]


async def test_i14_a_reset_during_a_compression_leaves_no_summary(rig: Rig) -> None:
    async def reset() -> None:
        await rig.history.erase(REF)

    rig.summarizer.during = reset

    assert (await rig.compressor().step()).outcome == "lost"  # the reset took it out of the queue
    after = await rig.state()
    assert (after.epoch, after.count, after.summary) == (1, 0, None)
    assert not await rig.is_queued()
    assert "text 1" not in str(await rig.everything())


async def test_i14_a_reset_right_before_the_save_leaves_no_summary(rig: Rig) -> None:
    class ResetBeforeSave(RedisSummaries):
        async def save(self, *arguments: Any, **named: Any) -> Any:
            await rig.history.erase(REF)
            return await super().save(*arguments, **named)

    summaries = ResetBeforeSave(rig.redis, clock=lambda: rig.now)

    assert (await rig.compressor(summaries=summaries).step()).outcome == "forgotten"
    assert (await rig.state()).summary is None
    assert "text 1" not in str(await rig.everything())


async def test_a_message_forgotten_during_a_compression_is_not_in_the_summary(rig: Rig) -> None:
    async def forget_m1_at_the_second() -> None:
        if len(rig.summarizer.pieces) == 2:
            await rig.history.delete(REF, ["m1"], epoch=0)

    rig.summarizer.during = forget_m1_at_the_second

    assert (await rig.compressor().step()).outcome == "compressed"
    summary = (await rig.state()).summary
    assert summary is not None
    assert summary.text.overview == numbered_text(0, *range(2, 32))


async def test_a_message_forgotten_between_its_parts_is_not_sent_to_the_model_any_more(
    redis: RedisClient,
) -> None:
    rig = await rig_with_long_message(redis)

    async def forget_it_after_its_first_part() -> None:
        if len(rig.summarizer.pieces) == 1:
            await rig.history.delete(REF, ["m0"], epoch=0)

    rig.summarizer.during = forget_it_after_its_first_part
    await rig.compressor().step()

    read = [render_line(line) for piece in rig.summarizer.pieces for line in piece.lines]
    assert sum("long word" in line for line in read) == 1


async def test_a_compression_between_a_deletion_and_its_reading_back_is_no_trace_of_it(rig: Rig) -> None:
    await rig.compressor().step()
    deleted = await rig.history.delete(REF, ["m1"], epoch=0)

    again = await rig.compressor().step()

    left = await rig.history.count_traces(REF, mentioning=deleted)
    assert (deleted.summaries > 0, again.outcome, left.total) == (True, "compressed", 0)


async def test_a_message_edited_during_a_compression_is_summarised_with_its_new_text(rig: Rig) -> None:
    async def edit_m1_at_the_second() -> None:
        if len(rig.summarizer.pieces) == 2:
            await rig.history.replace(REF, "m1", text="edited", tokens=20, edited_at=5.0, epoch=0)

    rig.summarizer.during = edit_m1_at_the_second

    assert (await rig.compressor().step()).outcome == "compressed"
    summary = (await rig.state()).summary
    assert summary is not None
    assert summary.text.overview == f"text 0 edited {numbered_text(*range(2, 32))}"


async def test_a_conversation_that_changes_during_every_compression_gets_a_pause(rig: Rig) -> None:
    async def forget_another() -> None:
        await rig.history.delete(REF, [f"m{len(rig.summarizer.pieces)}"], epoch=0)

    rig.summarizer.during = forget_another

    result = await rig.compressor().step()

    assert (result.outcome, result.summaries) == ("later", 0)
    assert result.reason == "The conversation changed under every summary."


async def test_a_new_conversation_gets_no_summary_of_the_old_one(rig: Rig) -> None:
    async def begin() -> None:
        await rig.history.start_conversation(REF, epoch=0)

    rig.summarizer.during = begin

    assert (await rig.compressor().step()).outcome == "not_due"
    assert (await rig.state()).summary is None


async def test_a_conversation_queued_during_its_compression_is_compressed_again(rig: Rig) -> None:
    class Late(RedisSummaries):
        """A store that finishes a compression after a message was forgotten and a new one was queued."""

        async def finish(self, claim: QueueClaim, **ending: Any) -> None:
            if await rig.history.get(REF, ["m0"]):
                await rig.history.delete(REF, ["m0"], epoch=0)
                await self.queue(REF)
            await super().finish(claim, **ending)

    late = rig.compressor(summaries=Late(rig.redis, clock=lambda: rig.now))

    assert (await late.step()).outcome == "compressed"
    assert (await rig.state()).summary is None
    assert (await late.step()).outcome == "compressed"

    summary = (await rig.state()).summary
    assert summary is not None
    assert summary.text.overview == numbered_text(*range(1, 32))
    assert (await late.step()).outcome == "idle"


class Repeating:
    """A client that sends each script twice and returns the second reply, like a driver after a lost reply."""

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis

    async def run(self, call: ScriptCall) -> Any:
        first = await self._redis.run(call)
        again = await self._redis.run(call)
        return first if call.script.name == "claim_due" else again  # that one claims the next that is due

    async def run_all(self, calls: Any) -> Any:
        return await self._redis.run_all(calls)

    async def call(self, *command: Any) -> Any:
        return await self._redis.call(*command)


async def test_repeating_any_step_after_a_lost_reply_does_no_harm(rig: Rig) -> None:
    result = await rig.compressor(redis=cast(RedisClient, Repeating(rig.redis))).step()

    assert (result.outcome, result.messages) == ("compressed", 32)
    assert not await rig.is_queued()


async def step_thrice(rig: Rig, one: Compressor) -> list[CompressionResult]:
    """Run all tries, each when it is due."""
    results: list[CompressionResult] = []
    for pause_s in (*RETRY_PAUSES_S, 0.0):
        results.append(await one.step())
        rig.now += pause_s
    return results


async def test_i07_a_compression_that_raises_is_given_up_like_one_that_fails(rig: Rig) -> None:
    async def break_down() -> None:
        raise ValueError("text 3 is secret")

    rig.summarizer.during = break_down
    one = rig.compressor()

    results = await step_thrice(rig, one)

    assert [result.outcome for result in results] == ["later", "later", "given_up"]
    assert results[0].reason.startswith("It broke: ValueError at break_down:")
    assert (await one.step()).outcome == "idle"


async def test_i07_a_compression_that_redis_refuses_is_given_up_like_one_that_fails(rig: Rig) -> None:
    await rig.redis.call("SET", context_key(REF, "summaries"), "no hash")
    one = rig.compressor()

    results = await step_thrice(rig, one)

    assert [result.outcome for result in results] == ["later", "later", "given_up"]
    assert results[0].reason.startswith("It broke: CommandRefused at ")
    assert (await one.step()).outcome == "idle"


async def test_i14_two_compressors_never_work_on_the_same_conversation(rig: Rig) -> None:
    working, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        working.set()
        await go.wait()

    first = asyncio.create_task(rig.compressor(Joining(during=wait)).step())
    await working.wait()
    second = await rig.compressor().step()
    go.set()

    assert second.outcome == "idle"
    assert (await first).outcome == "compressed"


async def test_i14_a_compressor_without_its_lease_saves_nothing(rig: Rig) -> None:
    working, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        working.set()
        await go.wait()

    slow = asyncio.create_task(rig.compressor(Joining(during=wait)).step())
    await working.wait()
    rig.now += LEASE_S + 1
    assert (await rig.compressor().step()).outcome == "compressed"
    after = await rig.everything()
    go.set()

    assert (await slow).outcome == "lost"
    assert await rig.everything() == after


async def test_the_lease_is_renewed_while_the_model_works(rig: Rig) -> None:
    working, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        working.set()
        await go.wait()

    async def lease_end() -> float:
        return float(await rig.redis.call("ZSCORE", partition_key(0, "compress"), REF.context_id))

    slow = asyncio.create_task(rig.compressor(Joining(during=wait), lease_s=0.03).step())
    await working.wait()
    rig.now += 10
    await wait_until_async(lease_end, lambda end: end > rig.now)
    assert (await rig.compressor().step()).outcome == "idle"
    go.set()

    assert (await slow).outcome == "compressed"


async def wait_until_async(read: Callable[[], Awaitable[float]], holds: Callable[[float], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds(await read()):  # noqa: ASYNC110 - the store has no event to wait on
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_cancellation_at_any_round_trip_leaves_nothing_half_done(
    redis: RedisClient, when: Literal["before", "after"]
) -> None:
    at, was_cancelled = 0, True
    while was_cancelled:
        at += 1
        await redis.call("FLUSHALL")
        rig = Rig(redis=redis)
        await rig.append(40)
        await rig.summaries.queue(REF)
        tripping = TrippingRedis(redis, at, when)
        step = asyncio.create_task(rig.compressor(redis=cast("RedisClient", tripping)).step())
        await asyncio.wait({step})
        was_cancelled = step.cancelled()

        between = await rig.state()
        assert between.count == 40
        assert text_of(between) == numbered_text(*range(40))
        rig.now += LEASE_S + 1
        await rig.compressor().step()
        ended = await rig.state()
        assert ended.summary is not None
        assert text_of(ended) == numbered_text(*range(40))
        assert len(ended.newest) <= 24  # what one more compression may leave when the first saved a part
        assert not await rig.is_queued()
    assert at > 15


def text_of(snapshot: HistorySnapshot) -> str:
    """Return the text of summary and window together."""
    newest: list[Message] = list(snapshot.newest)
    summary = [snapshot.summary.text.overview] if snapshot.summary else []
    return " ".join([*summary, *(message.text for message in newest)])


async def test_a_cancellation_during_the_model_call_stores_nothing_and_leaves_no_task(rig: Rig) -> None:
    working = asyncio.Event()

    async def hang() -> None:
        working.set()
        await asyncio.Event().wait()

    before = await rig.everything()
    step = asyncio.create_task(rig.compressor(Joining(during=hang)).step())
    await working.wait()
    step.cancel()
    await asyncio.wait({step})

    assert step.cancelled()
    assert await rig.everything() == before
    assert [task for task in asyncio.all_tasks() if task.get_name() == "summarize"] == []
