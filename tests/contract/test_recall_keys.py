"""Facts as keys of recall, on the real store and the embedded index: the keys follow the facts."""

from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

import pytest

from memory.embedded.supervisor import IndexEndpoint
from memory.history.fact import Fact
from memory.history.store import CurrentMessages
from memory.keys import ContextRef, partition_key
from memory.recall.embedders.embedder import EmbeddingUnavailable
from memory.recall.indexer import IndexResult
from memory.recall.qdrant.index import QdrantIndex, open_qdrant
from memory.recall.recall import IndexItem, Recall, RecallQuestion
from memory.recall.spaces import Space, Spaces, collection_name
from memory.recall.vector_index import KEYS_PER_MESSAGE, VectorErasure
from memory.redis.client import RedisClient
from tests.contract.recall_kit import Rig, open_rig
from tests.contract.vector_kit import client_of
from tests.fakes.embedder import FakeEmbedder
from tests.messages import make_message

MOVED, ALLERGIC = "Anna moved house to Porto", "Boris is allergic to walnuts"
WHERE, WALNUTS = "who moved house to Porto", "is somebody allergic to walnuts"


@pytest.fixture
async def rig(redis: RedisClient, index_endpoint: IndexEndpoint) -> AsyncGenerator[Rig]:
    async with open_rig(redis, index_endpoint) as opened:
        yield opened


def fact(statement: str, *message_ids: str, valid_to: float | None = None) -> Fact:
    return Fact(
        id=uuid4().hex,
        subject="Anna",
        statement=statement,
        said_by=1,
        message_ids=message_ids or ("m0",),
        valid_from=1.0,
        valid_to=valid_to,
        confidence=0.9,
    )


@dataclass
class Learned:
    """A history with facts, which change to `later` after the indexer's first read."""

    rig: Rig
    facts: tuple[Fact, ...] = ()
    later: tuple[Fact, ...] | None = None

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> dict[ContextRef, CurrentMessages]:
        facts = self.facts
        if self.later is not None:
            self.facts, self.later = self.later, None
        return {
            ref: replace(current, facts={each: _about(each, facts) for each in current.messages})
            for ref, current in (await self.rig.store.get_current(wanted)).items()
        }


def _about(message_id: str, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    return tuple(each for each in facts if message_id in each.message_ids)


async def tell(rig: Rig, *texts: str) -> None:
    await rig.store.append(
        rig.ref, [make_message(f"m{number}", text) for number, text in enumerate(texts)], epoch=0
    )


async def queue(rig: Rig, message_id: str = "m0") -> None:
    """Queue a message as a change of its facts does."""
    fields = ("op", "index", "context", rig.ref.context_id, "epoch", "0", "id", message_id)
    await rig.redis.call("XADD", partition_key(0, "work"), "*", *fields)


async def found(rig: Rig, text: str) -> list[str]:
    question = RecallQuestion(text=text, now=0.0, is_deliberate=True)
    return [hit.message_id for hit in await rig.recall.search(rig.ref, 0, question, k=3)]


async def keys_left(rig: Rig) -> int:
    return await rig.recall.count(rig.ref) - await rig.recall.count_messages(rig.ref, epoch=0)


async def test_a_message_is_found_by_a_fact_that_rests_on_it(rig: Rig) -> None:
    await tell(rig, "we did it at last, with all our boxes", "the barn roof is leaking")
    assert await rig.indexer(history=Learned(rig)).step() == IndexResult(indexed=2)
    assert await found(rig, WHERE) == []
    await queue(rig)
    assert await rig.indexer(history=Learned(rig, (fact(MOVED),))).step() == IndexResult(indexed=1)
    assert await found(rig, WHERE) == ["m0"]
    assert (await keys_left(rig), await rig.queued()) == (1, 0)


async def test_a_fact_finds_all_messages_that_it_rests_on(rig: Rig) -> None:
    await tell(rig, "we did it at last", "the barn roof is leaking", "with all our boxes")
    await rig.indexer(history=Learned(rig, (fact(MOVED, "m0", "m2"),))).step()
    assert set(await found(rig, WHERE)) == {"m0", "m2"}


async def test_the_oldest_of_too_many_facts_and_closed_ones_become_no_keys(rig: Rig) -> None:
    await tell(rig, "a long story")
    held = tuple(fact(f"statement number {number} about plums") for number in range(KEYS_PER_MESSAGE))
    closed = fact(ALLERGIC, valid_to=2.0)
    await rig.indexer(history=Learned(rig, (closed, *held))).step()
    assert await keys_left(rig) == KEYS_PER_MESSAGE
    assert await found(rig, WALNUTS) == []


async def test_a_replaced_fact_leaves_no_key(rig: Rig) -> None:
    await tell(rig, "a long story")
    await rig.indexer(history=Learned(rig, (fact(MOVED), fact(ALLERGIC)))).step()
    await queue(rig)
    assert await rig.indexer(history=Learned(rig, (fact(ALLERGIC),))).step() == IndexResult(
        indexed=1, erased=1
    )
    assert (await found(rig, WHERE), await found(rig, WALNUTS)) == ([], ["m0"])
    assert await keys_left(rig) == 1


async def test_a_fact_erased_during_the_indexing_of_its_message_leaves_no_key(rig: Rig) -> None:
    await tell(rig, "a long story")
    history = Learned(rig, (fact(MOVED), fact(ALLERGIC)), later=())
    assert await rig.indexer(history=history).step() == IndexResult(indexed=1, erased=2)
    assert (await keys_left(rig), await found(rig, WHERE)) == (0, [])


async def test_keys_of_an_indexer_that_died_before_its_second_look_are_removed(rig: Rig) -> None:
    await tell(rig, "a long story")
    (message,) = await rig.store.page(rig.ref, limit=1)
    item = IndexItem(ref=rig.ref, epoch=0, message=message, facts=(fact(MOVED), fact(ALLERGIC)))
    dead = rig.indexer("one", history=Learned(rig))
    rig.embedder.failure = EmbeddingUnavailable("it dies here")
    with pytest.raises(EmbeddingUnavailable):
        await dead.step()
    rig.embedder.failure = None
    await rig.recall.index([item])
    assert await rig.indexer("one", history=Learned(rig)).step() == IndexResult(indexed=1, erased=2)
    assert await keys_left(rig) == 0


async def test_new_messages_cost_no_request_for_keys(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object, **__: object) -> VectorErasure:
        raise AssertionError("a request for keys")

    monkeypatch.setattr(rig.index, "drop_keys", refuse)
    indexer = rig.indexer()
    await indexer.step()
    await tell(rig, "one", "two")
    assert await indexer.step() == IndexResult(indexed=2)


async def test_a_message_and_its_keys_are_written_with_one_embedding_call(rig: Rig) -> None:
    await tell(rig, "a long story")
    await rig.indexer(history=Learned(rig, (fact(MOVED), fact(ALLERGIC)))).step()
    assert [len(texts) for texts in rig.embedder.calls] == [3]


async def test_a_forgotten_message_takes_its_keys_along(rig: Rig) -> None:
    await tell(rig, "a long story", "the barn roof is leaking")
    await rig.indexer(history=Learned(rig, (fact(MOVED), fact(ALLERGIC, "m1")))).step()
    erasure = await rig.recall.drop(rig.ref, epoch=0, message_ids=["m0"])
    assert erasure == VectorErasure(before=2, left=0)
    assert (await found(rig, WHERE), await found(rig, WALNUTS)) == ([], ["m1"])


async def test_keys_alone_are_dropped_for_facts_that_are_erased(rig: Rig) -> None:
    await tell(rig, "a long story", "the barn roof is leaking")
    await rig.indexer(history=Learned(rig, (fact(MOVED), fact(ALLERGIC, "m1")))).step()
    erasure = await rig.recall.drop_keys(rig.ref, epoch=0, message_ids=["m0", "m1"])
    assert erasure == VectorErasure(before=2, left=0)
    assert (await found(rig, WHERE), (await found(rig, "barn roof"))[:1]) == ([], ["m1"])
    assert await rig.recall.count_messages(rig.ref, epoch=0) == 2


async def test_no_other_context_finds_a_key(rig: Rig) -> None:
    await tell(rig, "a long story")
    await rig.indexer(history=Learned(rig, (fact(MOVED),))).step()
    question = RecallQuestion(text=WHERE, now=0.0, is_deliberate=True)
    other = ContextRef(context_id=uuid4().hex, partition=0)
    assert await rig.recall.search(other, 0, question, k=3) == []
    assert await rig.recall.search(rig.ref, 1, question, k=3) == []


async def test_a_key_tells_nothing_of_its_fact_but_terms_and_a_vector(
    rig: Rig, index_endpoint: IndexEndpoint
) -> None:
    await tell(rig, "a long story")
    await rig.indexer(history=Learned(rig, (fact(MOVED),))).step()
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as qdrant:
        points, _ = await client_of(qdrant).scroll(rig.index.collection, limit=10_000)
    (key,) = [
        each.payload
        for each in points
        if each.payload and each.payload["context"] == rig.ref.context_id and "slot" in each.payload
    ]
    assert key == {
        "scope": f"{rig.ref.context_id}/0",
        "context": rig.ref.context_id,
        "epoch": 0,
        "role": "user",
        "sent_at": key["sent_at"],
        "sender_id": key["sender_id"],
        "sequence": 0,
        "slot": 1,
        "of": "m0",
    }


async def test_a_walk_into_another_space_takes_the_keys_along(
    rig: Rig, index_endpoint: IndexEndpoint
) -> None:
    await tell(rig, "a long story")
    await rig.indexer(history=Learned(rig, (fact(MOVED), fact(ALLERGIC)))).step()
    embedder = FakeEmbedder(dimension=64)
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as qdrant:
        index = QdrantIndex(qdrant, collection_name(embedder.identity), dimension=64)
        target = Space(embedder=embedder, index=index, name=index.collection)
        spaces = Spaces(serving=rig.recall.spaces.serving, building=target)
        walking = replace(rig, recall=Recall(spaces))
        fields = ("op", "index", "context", rig.ref.context_id, "epoch", "0", "id", "m0")
        work = partition_key(0, "work")
        await rig.redis.call("XADD", work, "*", *fields, "space", target.name)
        assert await walking.indexer(history=Learned(rig, (fact(MOVED),))).step() == IndexResult(
            indexed=1, reindexed=1, erased=1
        )
        assert await Recall(Spaces(serving=target)).count_messages(rig.ref, epoch=0) == 1
        assert await rig.recall.count(rig.ref) == 2 + 2, "a message and a key in each space"
        next_recall = replace(rig, recall=Recall(Spaces(serving=target)))
        assert await found(next_recall, WHERE) == ["m0"]
