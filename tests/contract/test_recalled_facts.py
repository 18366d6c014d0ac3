"""Facts that a prompt recalls, on the real store."""

from memory.chat_history import ChatHistory
from memory.facts.selection import RecallBudget
from memory.recall.recall import IndexItem, Recall
from memory.recall.spaces import Space, Spaces
from memory.redis.client import RedisClient
from tests.contract.facts_kit import REF, open_facts, said, told
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import WordTokenizer

QUESTION = "Where does my sister live?"


async def test_no_fact_of_a_message_that_is_visible_is_recalled(redis: RedisClient) -> None:
    store = await open_facts(redis)
    recall = Recall(Spaces(serving=Space(embedder=FakeEmbedder(), index=InMemoryIndex())))
    told_in = {f"m{number}": place for number, place in enumerate(("Lisbon", "Porto", "Faro"))}
    messages = [said(each, f"My sister lives in {place}") for each, place in told_in.items()]
    await store.commit(*messages, said("window", "Yes, she does"))
    await store.save(*(told(f"has a sister in {place}", each, "window") for each, place in told_in.items()))
    stored = await store.history.get(REF, [*told_in, "window"])
    await recall.index([IndexItem(ref=REF, epoch=0, message=stored[each]) for each in told_in])
    history = ChatHistory(
        ref=REF, epoch=0, store=store.history, recall=recall, tokenizer=WordTokenizer(),
        clock=lambda: 0.0, new_id=lambda: "unused",
    )  # fmt: skip

    assert len((await history.recall(QUESTION, RecallBudget(lines=3))).facts) == 1
    assert (await history.recall(QUESTION, RecallBudget(lines=3), visible=[stored["window"]])).facts == ()
