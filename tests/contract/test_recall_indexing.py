"""The indexer on the real store and the embedded index: the vectors follow the history."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

import pytest

from memory.embedded.supervisor import IndexEndpoint
from memory.erasure import count_vectors, delete_provably, prove_erased
from memory.errors import RecallUnavailable
from memory.history.redis_history import RedisHistory
from memory.history.selectors import MessageWindowMessageSelector
from memory.history.store import CurrentMessages
from memory.keys import ContextRef, partition_key
from memory.recall.embedders.embedder import EmbeddingInvalid, EmbeddingRefused, EmbeddingUnavailable
from memory.recall.indexer import GROUP, LOOK_BACK_EVERY, PATIENT_FAILURES, Indexer, IndexResult
from memory.recall.recall import IndexItem, Recall, RecallQuestion
from memory.recall.spaces import Space, Spaces
from memory.recall.vector_index import VectorErasure
from memory.redis.client import RedisClient
from tests.contract.recall_kit import Rig, open_rig
from tests.fakes.embedder import FakeEmbedder
from tests.messages import make_message, some_messages


@pytest.fixture
async def rig(redis: RedisClient, index_endpoint: IndexEndpoint) -> AsyncGenerator[Rig]:
    async with open_rig(redis, index_endpoint) as opened:
        yield opened


async def test_m05_a_message_is_found_by_its_meaning_once_it_is_indexed(rig: Rig) -> None:
    history = rig.history()
    anna = await history.append_user_message("my sister Anna lives in Lisbon")
    await history.append_user_message("the barn roof is leaking")
    assert await history.search("where does Anna live") == []
    assert await rig.indexer().step() == IndexResult(indexed=2)
    ranked = await history.search("where does my sister Anna live", k=1)
    assert [hit.message for hit in ranked] == [anna]
    assert (await rig.queued(), await rig.pending()) == (0, 0)


async def test_a_message_is_found_by_its_file_and_its_first_author(rig: Rig) -> None:
    history = rig.history()
    venue = await history.append_user_message("", note="a venue, Harbour Café, Rua Nova 1")
    news = await history.append_user_message("we meet at noon", forwarded_from="Giuseppe")
    await history.append_user_message("the barn roof is leaking")
    await rig.indexer().step()

    for question, wanted in (("where is the Harbour Café", venue), ("what did Giuseppe write", news)):
        assert [hit.message for hit in await history.search(question, k=1, is_deliberate=True)] == [wanted]


async def test_the_indexer_does_nothing_without_work(rig: Rig) -> None:
    assert await rig.indexer().step() == IndexResult()
    assert rig.embedder.calls == []


async def test_a_batch_covers_several_chats_in_one_embedding_call(rig: Rig) -> None:
    other = ContextRef(context_id=uuid4().hex, partition=0)
    await rig.store.append(rig.ref, some_messages(3), epoch=0)
    await rig.store.append(other, some_messages(2), epoch=0)
    assert await rig.indexer().step() == IndexResult(indexed=5)
    assert [len(texts) for texts in rig.embedder.calls] == [5]
    assert (await rig.recall.count(rig.ref), await rig.recall.count(other)) == (3, 2)


async def test_work_over_the_batch_size_takes_several_steps(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(100), epoch=0)
    indexer = rig.indexer()
    assert [(await indexer.step()).indexed for _ in range(3)] == [64, 36, 0]


async def test_work_stays_queued_while_the_embedder_fails_and_is_done_later(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    rig.embedder.failure = EmbeddingUnavailable("down")
    indexer = rig.indexer()
    with pytest.raises(RecallUnavailable):
        await indexer.step()
    assert await rig.pending() == 2
    rig.embedder.failure = None
    assert await indexer.step() == IndexResult(indexed=2)
    assert (await rig.queued(), await rig.pending()) == (0, 0)


async def test_unfinished_work_is_done_before_new_work(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(64), epoch=0)
    indexer = rig.indexer()
    rig.embedder.failure = EmbeddingUnavailable("down")
    with pytest.raises(RecallUnavailable):
        await indexer.step()
    await rig.store.append(rig.ref, some_messages(3, start=64), epoch=0)
    rig.embedder.failure = None
    assert [(await indexer.step()).indexed for _ in range(2)] == [64, 3]


async def test_indexers_that_start_at_once_share_the_work(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(20), epoch=0)
    results = await asyncio.gather(*(rig.indexer(f"worker-{number}").step() for number in range(4)))
    assert sum(result.indexed for result in results) == 20
    assert (await rig.recall.count(rig.ref), await rig.pending()) == (20, 0)


async def test_forgetting_does_not_wait_for_the_embedder(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    indexer = rig.indexer()
    await indexer.step()
    await rig.store.erase(rig.ref)
    await rig.store.append(rig.ref, some_messages(1, start=5), epoch=1)
    rig.embedder.failure = EmbeddingUnavailable("down")
    with pytest.raises(RecallUnavailable):
        await indexer.step()
    assert await rig.recall.count(rig.ref) == 0
    assert await rig.queued() == 1


async def test_forgetting_does_not_wait_behind_work_that_the_embedder_blocks(rig: Rig) -> None:
    other = ContextRef(context_id=uuid4().hex, partition=0)
    await rig.store.append(other, some_messages(2), epoch=0)
    await rig.store.append(rig.ref, some_messages(3), epoch=0)
    indexer = rig.indexer()
    await indexer.step()
    await rig.store.append(rig.ref, some_messages(700, start=10), epoch=0)
    rig.embedder.failure = EmbeddingUnavailable("down")
    with pytest.raises(RecallUnavailable):
        await indexer.step()
    await rig.store.delete(rig.ref, ["m1"], epoch=0)
    await rig.store.erase(other)
    for _ in range(4):
        with pytest.raises(RecallUnavailable):
            await indexer.step()
    assert (await rig.recall.count(other), await rig.recall.count(rig.ref)) == (0, 2)
    assert await rig.queued() == 700
    rig.embedder.failure = None
    assert sum([(await indexer.step()).indexed for _ in range(12)]) == 700
    assert (await rig.queued(), await rig.pending()) == (0, 0)


class Choking(FakeEmbedder):
    """An embedder whose server crashes at some texts."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if any("poison" in text for text in texts):
            raise EmbeddingUnavailable("the embedding endpoint answered 500 (no code)")
        return await super().embed(texts)


async def test_a_message_that_crashes_the_embedder_repeatedly_is_found_by_its_words(rig: Rig) -> None:
    embedder = Choking(dimension=512)
    recall = Recall(Spaces(serving=Space(embedder=embedder, index=rig.index)))
    indexer = replace(rig, recall=recall).indexer()
    await rig.store.append(
        rig.ref,
        [make_message("m0", "the barn roof is leaking"), make_message("m1", "a poison apple")],
        epoch=0,
    )
    for _ in range(PATIENT_FAILURES):
        with pytest.raises(RecallUnavailable):
            await indexer.step()
    assert await indexer.step() == IndexResult(indexed=2)
    assert (await rig.queued(), await rig.pending()) == (0, 0)
    found = await recall.search(rig.ref, 0, RecallQuestion(text="which apple is poison?", now=0.0), k=1)
    assert [hit.message_id for hit in found] == ["m1"]


async def test_an_unavailable_embedder_delays_indexing_instead_of_indexing_words_alone(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    rig.embedder.failure = EmbeddingUnavailable("down")
    indexer = rig.indexer()
    for _ in range(PATIENT_FAILURES + 3):
        with pytest.raises(RecallUnavailable):
            await indexer.step()
    assert (await rig.recall.count(rig.ref), await rig.queued()) == (0, 2)


async def test_the_work_of_a_dead_indexer_is_taken_over(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    dead = rig.indexer("dead")
    rig.embedder.failure = EmbeddingUnavailable("it dies here")
    with pytest.raises(RecallUnavailable):
        await dead.step()
    rig.embedder.failure = None
    assert await rig.indexer("alive").step() == IndexResult()
    for number, _ in await rig.redis.call("XRANGE", partition_key(0, "work"), "-", "+"):
        await rig.redis.call("XCLAIM", partition_key(0, "work"), GROUP, "dead", 0, number, "IDLE", 31_000)
    assert await rig.indexer("alive").step() == IndexResult(indexed=2)


async def test_a_busy_indexer_takes_over_abandoned_work_too(rig: Rig) -> None:
    busy = rig.indexer("busy")
    await busy.step()
    abandoned = await rig.store.append(rig.ref, [make_message("m0", "abandoned")], epoch=0)
    rig.embedder.failure = EmbeddingUnavailable("it dies here")
    with pytest.raises(RecallUnavailable):
        await rig.indexer("dead").step()
    rig.embedder.failure = None
    for number, _ in await rig.redis.call("XRANGE", partition_key(0, "work"), "-", "+"):
        await rig.redis.call("XCLAIM", partition_key(0, "work"), GROUP, "dead", 0, number, "IDLE", 31_000)

    for number in range(LOOK_BACK_EVERY + 2):
        await rig.store.append(rig.ref, [make_message(f"n{number}", "new")], epoch=0)
        await busy.step()

    assert await rig.recall.count(rig.ref) == LOOK_BACK_EVERY + 2 + len(abandoned)
    assert (await rig.queued(), await rig.pending()) == (0, 0)


async def test_a_question_and_its_index_entry_share_a_vector(rig: Rig) -> None:
    history = rig.history()
    await history.search("where does Anna live")
    await history.append_user_message("where does Anna live")
    await history.append_user_message("she lives in Lisbon")

    await rig.indexer().step()

    assert rig.embedder.calls == [["where does Anna live"], ["she lives in Lisbon"]]
    assert [hit.message.text for hit in await history.search("where does Anna live", k=1)] == [
        "where does Anna live"
    ]


async def test_indexing_the_same_message_twice_is_harmless(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(1), epoch=0)
    fields = ("op", "index", "context", rig.ref.context_id, "epoch", "0", "id", "m0")
    await rig.redis.call("XADD", partition_key(0, "work"), "*", *fields)
    await rig.indexer().step()
    await rig.redis.call("XADD", partition_key(0, "work"), "*", *fields)
    await rig.indexer().step()
    assert await rig.recall.count(rig.ref) == 1


async def test_a_message_deleted_before_its_indexing_is_skipped(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    await rig.store.delete(rig.ref, ["m0"], epoch=0)
    assert await rig.indexer().step() == IndexResult(indexed=1, skipped=1)
    assert await rig.recall.count(rig.ref) == 1


async def test_work_of_an_old_epoch_is_skipped(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    await rig.store.erase(rig.ref)
    await rig.store.append(rig.ref, [make_message("m0", "again")], epoch=1)
    assert await rig.indexer().step() == IndexResult(indexed=1, skipped=2)
    assert await rig.recall.count(rig.ref) == 1


class Interrupted:
    """A history that changes after the indexer's first read."""

    def __init__(self, store: RedisHistory, *, erases: ContextRef | None = None, deletes: str = "") -> None:
        self._store = store
        self._erases = erases
        self._deletes = deletes

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> dict[ContextRef, CurrentMessages]:
        seen = await self._store.get_current(wanted)
        if self._erases and not self._deletes:
            await self._store.erase(self._erases)
        elif self._erases:
            await self._store.delete(self._erases, [self._deletes], epoch=0)
        self._erases = None
        return seen


async def test_a_reset_during_indexing_leaves_no_vectors(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(3), epoch=0)
    result = await rig.indexer(history=Interrupted(rig.store, erases=rig.ref)).step()
    assert result == IndexResult(indexed=0, erased=3, skipped=3)
    assert await rig.recall.count(rig.ref) == 0


async def test_a_message_deleted_during_its_indexing_leaves_no_vector(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(3), epoch=0)
    history = Interrupted(rig.store, erases=rig.ref, deletes="m1")
    assert await rig.indexer(history=history).step() == IndexResult(indexed=2, erased=1, skipped=1)
    assert await rig.recall.count(rig.ref) == 2


class Edited:
    """A history with an edit after the indexer's first read; another indexer has done its part of it."""

    def __init__(self, rig: Rig, *, text: str) -> None:
        self._rig = rig
        self._text: str | None = text

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> dict[ContextRef, CurrentMessages]:
        seen = await self._rig.store.get_current(wanted)
        if self._text is not None:
            text, self._text = self._text, None
            await self._rig.store.replace(self._rig.ref, "m0", text=text, tokens=1, edited_at=5.0, epoch=0)
            await self._rig.indexer("another").step()
        return seen


async def test_an_edited_message_is_found_by_its_new_text(rig: Rig) -> None:
    await rig.store.append(rig.ref, [make_message("m0", "my sister Anna lives in Lisbon")], epoch=0)
    await rig.indexer().step()
    await rig.store.replace(rig.ref, "m0", text="the barn roof is leaking", tokens=4, edited_at=5.0, epoch=0)

    assert await rig.indexer().step() == IndexResult(indexed=1)

    (hit,) = await rig.history().search("the barn roof is leaking")
    assert hit.message.text == "the barn roof is leaking"
    assert await rig.history().search("where does my sister Anna live") == []
    assert await rig.recall.count(rig.ref) == 1


async def test_a_message_edited_to_nothing_leaves_no_vector_even_without_the_embedder(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    await rig.indexer().step()
    await rig.store.replace(rig.ref, "m0", text=" ", tokens=0, edited_at=5.0, epoch=0)
    await rig.store.append(rig.ref, some_messages(1, start=7), epoch=0)
    rig.embedder.failure = EmbeddingUnavailable("down")

    with pytest.raises(RecallUnavailable):
        await rig.indexer().step()

    assert await rig.recall.count(rig.ref) == 1


async def test_an_indexer_that_an_edit_overtakes_leaves_no_vector_of_the_old_text(rig: Rig) -> None:
    await rig.store.append(rig.ref, [make_message("m0", "my sister Anna lives in Lisbon")], epoch=0)

    result = await rig.indexer(history=Edited(rig, text="the barn roof is leaking")).step()

    assert result == IndexResult(indexed=1)
    (hit,) = await rig.history().search("the barn roof is leaking")
    assert hit.message.id == "m0"
    assert await rig.history().search("where does my sister Anna live") == []


async def test_an_indexer_that_an_edit_from_nothing_overtakes_leaves_the_new_vector(rig: Rig) -> None:
    await rig.store.append(rig.ref, [make_message("m0", "first")], epoch=0)
    await rig.indexer().step()
    await rig.store.replace(rig.ref, "m0", text="", tokens=0, edited_at=4.0, epoch=0)

    await rig.indexer(history=Edited(rig, text="the barn roof is leaking")).step()

    (hit,) = await rig.history().search("the barn roof is leaking")
    assert hit.message.id == "m0"
    assert await rig.recall.count(rig.ref) == 1


async def test_a_vector_of_an_indexer_that_died_before_its_check_is_removed(rig: Rig) -> None:
    message = (await rig.store.append(rig.ref, some_messages(1), epoch=0))[0]
    await rig.recall.index([IndexItem(ref=rig.ref, epoch=0, message=message)])
    await rig.store.delete(rig.ref, ["m0"], epoch=0)
    await rig.redis.call("XTRIM", partition_key(0, "work"), "MAXLEN", 0)
    work = ("op", "index", "context", rig.ref.context_id, "epoch", "0", "id", "m0")
    await rig.redis.call("XADD", partition_key(0, "work"), "*", *work)
    assert await rig.indexer().step() == IndexResult(erased=1, skipped=1)
    assert await rig.recall.count(rig.ref) == 0


@pytest.mark.parametrize("failure", [EmbeddingInvalid, EmbeddingRefused])
async def test_a_message_that_the_embedder_refuses_is_found_by_its_words_and_blocks_no_other(
    rig: Rig, failure: type[EmbeddingInvalid | EmbeddingRefused]
) -> None:
    picky = Picky(rig.embedder, failure)
    indexer = Indexer(
        redis=rig.redis,
        history=rig.store,
        recall=Recall(Spaces(serving=Space(embedder=picky, index=rig.index))),
        partition=0,
        consumer="one",
        block_ms=1,
    )
    await rig.store.append(rig.ref, [make_message("bad", "poison ivy"), make_message("good")], epoch=0)
    assert await indexer.step() == IndexResult(indexed=2)
    (hit,) = await rig.history().search("poison ivy", k=1)
    assert hit.message.id == "bad"
    assert await rig.queued() == 0


class Picky:
    """An embedder that refuses one word."""

    def __init__(self, embedder: FakeEmbedder, failure: type[EmbeddingInvalid | EmbeddingRefused]) -> None:
        self._embedder = embedder
        self._failure = failure
        self.identity = embedder.identity

    def reads(self, text: str) -> bool:
        return self._embedder.reads(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if any("poison" in text for text in texts):
            raise self._failure
        return await self._embedder.embed(texts)


async def test_foreign_entries_are_removed(rig: Rig) -> None:
    await rig.redis.call("XADD", partition_key(0, "work"), "*", "op", "index", "context", "", "epoch", "zero")
    await rig.redis.call("XADD", partition_key(0, "work"), "*", "something", "else")
    assert await rig.indexer().step() == IndexResult(skipped=2)
    assert await rig.queued() == 0


async def test_an_indexer_continues_after_its_stream_was_lost(rig: Rig) -> None:
    indexer = rig.indexer()
    await indexer.step()
    await rig.redis.call("FLUSHALL")
    await rig.store.append(rig.ref, some_messages(1), epoch=0)
    assert await indexer.step() == IndexResult(indexed=1)


async def test_m15_a_deletion_is_proven_in_both_stores(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(4), epoch=0)
    await rig.indexer().step()
    receipt = await rig.history().delete_messages(MessageWindowMessageSelector(3))
    assert (receipt.messages_erased, receipt.vectors_erased, receipt.is_proven) == (3, 3, True)
    assert await rig.recall.count(rig.ref) == 1
    assert await rig.indexer().step() == IndexResult()


async def test_m15_an_erasure_is_proven_in_both_stores_and_late_vectors_are_deleted(rig: Rig) -> None:
    message = (await rig.store.append(rig.ref, some_messages(1), epoch=0))[0]
    await rig.indexer().step()
    receipt = await rig.history().clear()
    assert (receipt.messages_erased, receipt.vectors_erased, receipt.is_proven) == (1, 1, True)
    await rig.recall.index([IndexItem(ref=rig.ref, epoch=0, message=message)])
    assert await rig.history(epoch=1).search(message.text) == []
    assert await rig.indexer().step() == IndexResult(erased=1)
    assert await rig.recall.count(rig.ref) == 0


async def test_m15_a_receipt_is_not_proven_while_messages_are_left(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(2), epoch=0)
    erased = await rig.store.erase(rig.ref)
    await rig.store.append(rig.ref, some_messages(1, start=7), epoch=1)
    receipt = await prove_erased(rig.ref, replace(erased, updates=2), store=rig.store, recall=rig.recall)
    assert (receipt.messages_left, receipt.updates_forgotten, receipt.is_proven) == (1, 2, False)


@pytest.mark.parametrize("late_ones", [1, 4])
async def test_m15_vectors_written_during_the_count_are_erased_as_well(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, late_ones: int
) -> None:
    """Several indexers read before the erasure, and each writes once after it."""
    await rig.store.append(rig.ref, some_messages(3), epoch=0)
    await rig.indexer().step()
    (late,) = await rig.store.page(rig.ref, limit=1)
    erased = await rig.store.erase(rig.ref)
    erase, erasures = rig.recall.erase, list[int]()

    async def erase_with_a_late_one(ref: ContextRef, *, below_epoch: int) -> VectorErasure:
        done = await erase(ref, below_epoch=below_epoch)
        erasures.append(done.before)
        if len(erasures) <= late_ones:
            await rig.recall.index([IndexItem(ref=ref, epoch=0, message=late)])
            return replace(done, left=await rig.recall.count(ref))
        return done

    monkeypatch.setattr(rig.recall, "erase", erase_with_a_late_one)
    receipt = await prove_erased(rig.ref, erased, store=rig.store, recall=rig.recall)

    assert (erasures, receipt.vectors_left, receipt.is_proven) == ([3, *[1] * late_ones], 0, True)
    assert await rig.recall.count(rig.ref) == 0


async def test_m15_a_forgotten_message_with_a_late_vector_is_erased_as_well(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    (late,) = await rig.store.append(rig.ref, some_messages(1), epoch=0)
    drop, drops = rig.recall.drop, list[int]()

    async def drop_with_a_late_one(
        ref: ContextRef, *, epoch: int, message_ids: Collection[str]
    ) -> VectorErasure:
        done = await drop(ref, epoch=epoch, message_ids=message_ids)
        drops.append(done.before)
        if len(drops) == 2:  # the first one comes before the deletion
            await rig.recall.index([IndexItem(ref=ref, epoch=0, message=late)])
            return replace(done, left=await rig.recall.count(ref))
        return done

    monkeypatch.setattr(rig.recall, "drop", drop_with_a_late_one)
    receipt = await delete_provably(rig.ref, [late.id], epoch=0, store=rig.store, recall=rig.recall)

    assert (drops, receipt.vectors_left, receipt.is_proven) == ([0, 0, 1], 0, True)
    assert await rig.recall.count(rig.ref) == 0


async def test_m15_a_receipt_includes_vectors_that_an_indexer_erased_first(rig: Rig) -> None:
    await rig.store.append(rig.ref, some_messages(3), epoch=0)
    await rig.indexer().step()
    vectors = await count_vectors(rig.ref, rig.recall)
    erased = await rig.store.erase(rig.ref)
    assert await rig.indexer().step() == IndexResult(erased=3)
    receipt = await prove_erased(
        rig.ref, replace(erased, vectors=vectors), store=rig.store, recall=rig.recall
    )
    assert (receipt.vectors_erased, receipt.is_proven) == (3, True)
