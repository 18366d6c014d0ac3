"""Recall on a fake index: its requests to embedder and index, and the fallback to words."""

from collections.abc import Collection, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.app.upkeep import FEW_INDEXED, INDEX_PAUSE_S, SHORT_INDEX_PAUSE_S, index_pause_s
from memory.errors import MissingContext, RecallUnavailable
from memory.history.message import Message, Sender
from memory.keys import ContextRef
from memory.recall.embedders.embedder import (
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingSpace,
    EmbeddingUnavailable,
)
from memory.recall.indexer import IndexResult
from memory.recall.recall import LIST_LIMIT, IndexItem, Recall, RecallQuestion
from memory.recall.scored_messages import ScoredMessages
from memory.recall.spaces import Space, Spaces
from memory.recall.vector_index import Hit, VectorErasure, VectorQuery, Where
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import make_ref

REF = make_ref()
PEOPLE = {1: "Anna", 2: "Boris"}
NOW = 1_763_661_780.0


class CountedIndex(InMemoryIndex):
    """An index in memory that records requests. `score_failure` is raised by the second one."""

    def __init__(self, *, score_failure: RecallUnavailable | None = None) -> None:
        super().__init__()
        self.searched: list[VectorQuery] = []
        self.scored: list[set[int]] = []
        self.score_failure = score_failure

    async def search(self, query: VectorQuery) -> list[Hit]:
        self.searched.append(query)
        return await super().search(query)

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> ScoredMessages:
        self.scored.append(set(sequences))
        if self.score_failure:
            raise self.score_failure
        return await super().score(query, sequences)

    def dense(self, message_id: str) -> list[float] | None:
        return self.points[REF.context_id, message_id].dense


class Picky:
    """An embedder that refuses texts with a word in `poison`, and every text while `is_shut`."""

    def __init__(self, failure: type[EmbeddingError] = EmbeddingRefused, *, is_shut: bool = False) -> None:
        self.failure = failure
        self.is_shut = is_shut
        self._words = FakeEmbedder()

    @property
    def identity(self) -> EmbeddingSpace:
        return self._words.identity

    def reads(self, text: str) -> bool:
        return self._words.reads(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.is_shut or any("poison" in text for text in texts):
            raise self.failure
        return await self._words.embed(texts)


def make_space(embedder: Any = None, index: Any = None, **details: Any) -> Space:
    return Space(embedder=embedder or FakeEmbedder(), index=index or CountedIndex(), **details)


def make_message(number: int, text: str, *, sender: int | None = 1) -> Message:
    return Message(
        id=f"m{number}",
        role="user" if sender else "assistant",
        text=text,
        sent_at=NOW - 100_000 + 60 * number,
        tokens=1,
        sender=Sender(id=sender, name=PEOPLE[sender]) if sender else None,
        sequence=number,
    )


def items(*texts: str, epoch: int = 0) -> list[IndexItem]:
    return [
        IndexItem(ref=REF, epoch=epoch, message=make_message(number, text), people=PEOPLE)
        for number, text in enumerate(texts)
    ]


def ask(text: str, **details: Any) -> RecallQuestion:
    return RecallQuestion(text=text, people=PEOPLE, now=NOW, **details)


async def search_ids(recall: Recall, text: str, *, k: int = 3, **details: Any) -> list[str]:
    return [hit.message_id for hit in await recall.search(REF, 0, ask(text, **details), k=k)]


TALK = (
    "my sister moved to Lisbon",
    "the weather is awful",
    "our dog eats carrots",
    "the train to Porto was late",
    "we baked bread with walnuts",
)


async def make_recall(index: CountedIndex | None = None, embedder: Any = None) -> Recall:
    recall = Recall(Spaces(serving=make_space(embedder, index)))
    await recall.index(items(*TALK))
    return recall


async def test_a_message_is_found_by_its_text_with_its_position() -> None:
    recall = await make_recall()

    (hit,) = await recall.search(REF, 0, ask("who moved to Lisbon?"), k=1)

    assert (hit.message_id, hit.sequence) == ("m0", 0)


async def test_a_search_takes_one_embedding_and_at_most_two_index_requests() -> None:
    index, embedder = CountedIndex(), FakeEmbedder()
    recall = await make_recall(index, embedder)
    embedder.calls.clear()

    await search_ids(recall, "who moved to Lisbon with Anna?")

    assert embedder.calls == [["who moved to Lisbon with?"]]
    (query,) = index.searched
    assert query.limit == LIST_LIMIT
    assert len(index.scored) <= 1


@pytest.mark.parametrize(("text", "k"), [("", 3), (" \n\t", 3), ("\u200b", 3), ("Lisbon", 0), ("Lisbon", -1)])
async def test_an_empty_question_sends_no_request(text: str, k: int) -> None:
    index, embedder = CountedIndex(), FakeEmbedder()
    recall = await make_recall(index, embedder)
    embedder.calls.clear()

    assert await recall.search(REF, 0, ask(text), k=k) == []

    assert (index.searched, index.scored, embedder.calls) == ([], [], [])


async def test_a_question_of_names_alone_sends_no_request() -> None:
    index, embedder = CountedIndex(), FakeEmbedder()
    recall = await make_recall(index, embedder)
    embedder.calls.clear()

    assert await search_ids(recall, "Anna Boris") == []

    assert (index.searched, embedder.calls) == ([], [])


async def test_a_search_needs_a_context() -> None:
    nowhere = ContextRef(context_id="", partition=0)
    recall = await make_recall()
    with pytest.raises(MissingContext):
        await recall.search(nowhere, 0, ask("Lisbon"), k=3)
    with pytest.raises(MissingContext):
        await recall.search(nowhere, 0, ask(""), k=0)


async def test_filters_are_in_the_query_and_in_the_result() -> None:
    index = CountedIndex()
    recall = await make_recall(index)
    where = Where(excluded=frozenset({"m0"}), before_sequence=4)

    assert {"m0", "m4"}.isdisjoint(
        await search_ids(recall, "who moved to Lisbon and baked bread?", k=9, where=where)
    )

    assert index.searched[0].where == where


async def test_a_chat_of_one_message_finds_it() -> None:
    recall = Recall(Spaces(serving=make_space()))
    await recall.index(items("my sister moved to Lisbon"))

    assert await search_ids(recall, "where did my sister move?") == ["m0"]


async def test_an_empty_chat_takes_one_request() -> None:
    index = CountedIndex()
    recall = Recall(Spaces(serving=make_space(index=index)))

    assert await search_ids(recall, "where did my sister move?") == []

    assert (len(index.searched), index.scored) == (1, [])


async def test_another_epoch_is_not_found() -> None:
    recall = await make_recall()
    assert await recall.search(REF, 1, ask("who moved to Lisbon?"), k=3) == []


@pytest.mark.parametrize("failure", [EmbeddingUnavailable, EmbeddingRefused, EmbeddingInvalid])
async def test_words_find_messages_while_the_embedder_fails_and_the_log_says_it_once(
    failure: type[EmbeddingError],
) -> None:
    index, embedder = CountedIndex(), FakeEmbedder()
    recall = await make_recall(index, embedder)

    with capture_logs() as logs:
        embedder.failure = failure("the secret reason is not told")
        answers = [await search_ids(recall, "who moved to Lisbon?", k=1) for _ in range(3)]
        embedder.failure = None
        answers.append(await search_ids(recall, "who moved to Lisbon?", k=1))
        embedder.failure = failure("again")
        answers.append(await search_ids(recall, "who moved to Lisbon?", k=1))

    assert answers == [["m0"]] * 5
    assert [entry["event"] for entry in logs] == ["recall_by_words_alone"] * 2
    assert "Lisbon" not in str(logs)
    assert [query.dense is None for query in index.searched] == [True, True, True, False, True]


async def test_another_kind_of_failure_is_logged_too() -> None:
    embedder = FakeEmbedder()
    recall = await make_recall(embedder=embedder)

    with capture_logs() as logs:
        for failure in (
            EmbeddingUnavailable("down"),
            EmbeddingUnavailable("down"),
            EmbeddingRefused("no key"),
        ):
            embedder.failure = failure
            await search_ids(recall, "who moved to Lisbon?")

    assert [entry["reason"] for entry in logs] == ["down", "no key"]


async def test_a_failing_index_is_reported() -> None:
    index = CountedIndex()
    recall = await make_recall(index)
    index.is_down = True
    with pytest.raises(RecallUnavailable):
        await search_ids(recall, "who moved to Lisbon?")


async def test_an_index_that_fails_at_its_second_request_is_reported() -> None:
    index = CountedIndex(score_failure=RecallUnavailable())
    recall = await make_recall(index)
    with pytest.raises(RecallUnavailable):
        await search_ids(recall, "who moved to Lisbon?")


async def test_a_space_without_an_embedder_is_searched_and_written_by_words_alone() -> None:
    index = CountedIndex()
    recall = Recall(Spaces(serving=Space(embedder=None, index=index)))

    await recall.index(items(*TALK))

    assert index.dense("m0") is None
    assert await search_ids(recall, "who moved to Lisbon?") == ["m0"]


async def test_a_message_is_indexed_with_position_people_and_words() -> None:
    index = CountedIndex()
    recall = Recall(Spaces(serving=make_space(index=index)))
    message = make_message(7, "Anna moved to Lisbon", sender=2)

    await recall.index([IndexItem(ref=REF, epoch=3, message=message, people=PEOPLE, session=5)])

    point = index.points[REF.context_id, "m7"]
    assert (point.epoch, point.sequence, point.session, point.sender_id) == (3, 7, 5, 2)
    assert point.sent_at == message.sent_at
    assert len(point.sparse.indices) == 2  # moved, Lisbon; the name is no word
    assert point.dense == (await FakeEmbedder().embed(["moved to Lisbon"]))[0]


async def test_indexing_nothing_sends_no_request() -> None:
    embedder = FakeEmbedder()
    await Recall(Spaces(serving=make_space(embedder))).index([])
    assert embedder.calls == []


async def test_a_batch_is_one_embedding_call_without_unreadable_texts() -> None:
    index, embedder = CountedIndex(), FakeEmbedder()
    recall = Recall(Spaces(serving=make_space(embedder, index)))

    await recall.index(items("my sister", "Anna", "a dog"))

    assert embedder.calls == [["my sister", "a dog"]]
    assert (index.dense("m1"), await recall.count(REF)) == (None, 3)


@pytest.mark.parametrize("failure", [EmbeddingInvalid, EmbeddingRefused])
async def test_a_message_that_the_embedder_refuses_is_found_by_its_words(
    failure: type[EmbeddingError],
) -> None:
    index = CountedIndex()
    recall = Recall(Spaces(serving=make_space(Picky(failure), index)))

    await recall.index(items("the poison of Lisbon", "a dog"))

    assert (index.dense("m0"), index.dense("m1") is None) == (None, False)
    assert (await search_ids(recall, "tell of Lisbon"))[0] == "m0"


async def test_a_refused_message_does_not_wait_for_others() -> None:
    recall = Recall(Spaces(serving=make_space(Picky())))
    await recall.index(items("the poison of Lisbon"))
    assert await recall.count(REF) == 1


@pytest.mark.parametrize("failure", [EmbeddingUnavailable, EmbeddingInvalid, EmbeddingRefused])
async def test_an_embedder_that_refuses_everything_is_reported_and_nothing_is_written(
    failure: type[EmbeddingError],
) -> None:
    index = CountedIndex()
    recall = Recall(Spaces(serving=make_space(Picky(failure, is_shut=True), index)))
    with pytest.raises(failure):
        await recall.index(items("one", "two"))
    assert index.points == {}


async def test_only_the_given_spaces_are_written() -> None:
    old, new = CountedIndex(), CountedIndex()
    building = make_space(index=new)
    recall = Recall(Spaces(serving=make_space(index=old), building=building))

    await recall.index(items(*TALK), spaces=[building])

    assert (len(old.points), len(new.points)) == (0, 5)


async def test_erasing_and_counting_query_the_index() -> None:
    recall = await make_recall()
    assert await recall.drop(REF, epoch=0, message_ids=[]) == VectorErasure(before=0, left=0)
    assert await recall.drop(REF, epoch=0, message_ids=["m0", "none"]) == VectorErasure(before=1, left=0)
    assert await recall.count(REF) == 4
    assert await recall.erase(REF, below_epoch=1) == VectorErasure(before=4, left=0)


ODD = {
    "blank": " \n\t",
    "emoji": "😀👨‍👩‍👧‍👦🏳️‍🌈",
    "binary": "\x00\x01\xff\ud800 \udfff\x1b[31m PK\x03\x04",
    "marks": "a" + "\u0301" * 5_000,
    "long": "carrots and walnuts " * 5_000,
    "one long word": "x" * 100_000,
    "names": " and ".join(["Anna", "Boris"] * 300),
}


@pytest.mark.parametrize("kind", ODD)
async def test_any_text_can_be_indexed_and_searched_for(kind: str) -> None:
    recall = Recall(Spaces(serving=make_space()))

    await recall.index(items(*TALK, ODD[kind]))
    hits = await recall.search(REF, 0, ask(ODD[kind], asker_id=1), k=3)

    assert await recall.count(REF) == len(TALK) + 1
    assert len(hits) <= 3
    assert await search_ids(recall, "who moved to Lisbon?", k=1) == ["m0"]


async def test_a_chat_of_hundreds_of_people_is_searched_for_the_named_one() -> None:
    people = {number: f"Person{number}" for number in range(3, 500)} | PEOPLE
    recall = Recall(Spaces(serving=make_space()))
    said = [make_message(number, "I am allergic to nuts", sender=number % 2 + 1) for number in range(4)]
    await recall.index([IndexItem(ref=REF, epoch=0, message=each, people=people) for each in said])

    everybody = RecallQuestion(text=f"Are {', '.join(people.values())} allergic?", people=people, now=NOW)
    boris = RecallQuestion(text="What is Boris allergic to?", people=people, now=NOW)

    assert len(await recall.search(REF, 0, everybody, k=9)) == 4
    assert {hit.message_id for hit in await recall.search(REF, 0, boris, k=2)} == {"m1", "m3"}


@pytest.mark.parametrize(
    ("result", "pause"),
    [
        (IndexResult(), 0),
        (IndexResult(indexed=2), SHORT_INDEX_PAUSE_S),  # a turn of one chat
        (IndexResult(indexed=FEW_INDEXED), SHORT_INDEX_PAUSE_S),
        (IndexResult(indexed=FEW_INDEXED + 1), INDEX_PAUSE_S),
        (IndexResult(indexed=64, is_full=True), 0),
        (IndexResult(indexed=20, reindexed=20), 0),
    ],
)
def test_the_indexer_pauses_shortly_after_a_turn_and_longer_after_many(
    result: IndexResult, pause: float
) -> None:
    assert index_pause_s(result) == pause
