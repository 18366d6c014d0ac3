"""ChatHistory and a turn's buffered history, on the fake stores (proven by the contract suites)."""

from collections.abc import AsyncIterator

import pytest

from memory.chat_history import ChatHistory
from memory.errors import Forgotten, RecallUnavailable
from memory.facts.selection import Memories, RecallBudget
from memory.history.buffered import BufferedHistory
from memory.history.message import Message, Sender
from memory.history.redis_history import is_indexed
from memory.history.selectors import MessageWindowMessageSelector, NoMessages
from memory.history.store import HistoryStore
from memory.recall.embedders.embedder import EmbeddingUnavailable
from memory.recall.recall import IndexItem, Recall
from memory.recall.spaces import Space, Spaces
from tests.contract.memory_kit import make_summary, make_turn
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.history import InMemoryHistory
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import WordTokenizer, ids, make_ref

REF = make_ref()


class Rig:
    """A ChatHistory over stores in memory; `index_all` does what the indexer does."""

    def __init__(self, store: HistoryStore | None = None, *, epoch: int = 0) -> None:
        self.store = store or InMemoryHistory()
        self.index = InMemoryIndex()
        self.embedder = FakeEmbedder(dimension=512)
        self.recall = Recall(Spaces(serving=Space(embedder=self.embedder, index=self.index)))
        numbers = iter(range(1000))
        self.history = ChatHistory(
            ref=REF,
            epoch=epoch,
            store=self.store,
            recall=self.recall,
            tokenizer=WordTokenizer(),
            clock=lambda: 1234.5,
            new_id=lambda: f"new-{next(numbers)}",
        )

    async def index_all(self, *, epoch: int = 0) -> None:
        messages = await self.store.page(REF, limit=1000, whole=True)
        items = [IndexItem(ref=REF, epoch=epoch, message=found) for found in messages if is_indexed(found)]
        await self.recall.index(items)


async def write_talk() -> Rig:
    rig = Rig()
    await rig.history.append_system_message("Be kind.", id="s")
    await rig.history.append_user_message("My sister Anna lives in Lisbon", id="u1")
    await rig.history.append_assistant_message("Noted: Anna, Lisbon.", id="a1")
    await rig.history.append_tool_message("42", id="t")
    await rig.history.append_user_message("What is the weather?", id="u2")
    return rig


async def test_m03_each_kind_of_message_is_appended_with_its_fields() -> None:
    history = Rig().history
    sender = Sender(id=5, name="Anna")
    user = await history.append_user_message(
        "one two three", sender=sender, telegram_message_id=77, sent_at=9.0, id="given"
    )
    assert user == Message(
        id="given", role="user", text="one two three", sent_at=9.0, tokens=3, sender=sender,
        telegram_message_id=77, sequence=0,
    )  # fmt: skip
    reply = await history.append_assistant_message("four")
    assert (reply.role, reply.id, reply.sent_at, reply.sequence) == ("assistant", "new-0", 1234.5, 1)
    assert (await history.append_system_message("five")).role == "system"
    assert (await history.append_tool_message("six")).role == "tool"


async def test_m03_the_history_reads_linearly() -> None:
    rig = await write_talk()
    assert [message.id async for message in rig.history.messages()] == ["s", "u1", "a1", "t", "u2"]


async def test_m03_a_new_conversation_hides_the_old_one_until_it_is_requested() -> None:
    store = InMemoryHistory()
    rig = Rig(store)
    await rig.history.append_user_message("old", id="old")
    await store.start_conversation(REF, epoch=0)
    await rig.history.append_user_message("new", id="new")
    assert [message.id async for message in rig.history.messages()] == ["new"]
    assert [message.id async for message in rig.history.messages(whole=True)] == ["old", "new"]


async def test_m04_the_last_message_of_each_kind_and_the_system_prompt_can_be_read() -> None:
    history = (await write_talk()).history
    found = [
        await history.last_user_message(),
        await history.last_assistant_message(),
        await history.last_system_message(),
        await history.initial_system_prompt(),
    ]
    assert [message and message.id for message in found] == ["u2", "a1", "s", "s"]


async def test_m04_an_empty_history_has_no_last_message() -> None:
    history = Rig().history
    assert await history.last_user_message() is None
    assert await history.last_assistant_message() is None
    assert await history.last_system_message() is None
    assert await history.initial_system_prompt() is None


async def test_m04_a_system_message_in_the_middle_is_not_the_initial_prompt() -> None:
    history = Rig().history
    await history.append_user_message("hello")
    await history.append_system_message("Be brief.")
    assert await history.initial_system_prompt() is None


async def test_m05_search_ranks_k_distinct_messages() -> None:
    rig = await write_talk()
    await rig.index_all()
    ranked = await rig.history.search("where does sister Anna live", k=2)
    assert [hit.message.id for hit in ranked] == ["u1", "a1"]
    assert ranked[0].score > ranked[1].score > 0
    assert {hit.message.id for hit in (await rig.history.search("Anna"))[:2]} == {"u1", "a1"}


async def test_m05_search_leaves_out_excluded_and_deleted_messages() -> None:
    rig = await write_talk()
    await rig.index_all()
    await rig.store.delete(REF, ["a1"], epoch=0)
    ranked = await rig.history.search("Anna", k=3, exclude={"u1"})
    assert {"u1", "a1"}.isdisjoint({hit.message.id for hit in ranked})


async def test_m05_blank_text_or_no_k_finds_nothing_without_a_request() -> None:
    rig = await write_talk()
    rig.index.is_down = True
    assert await rig.history.search(" \n") == []
    assert await rig.history.search("Anna", k=0) == []
    assert rig.embedder.calls == []


async def test_m05_a_history_without_an_index_finds_nothing() -> None:
    history = ChatHistory(
        ref=REF, epoch=0, store=InMemoryHistory(), recall=None, tokenizer=WordTokenizer(),
        clock=lambda: 0.0, new_id=lambda: "id",
    )  # fmt: skip
    assert await history.search("Anna") == []
    assert await history.recall("Anna", RecallBudget(lines=8)) == Memories()


async def test_m05_a_failing_index_is_reported() -> None:
    rig = await write_talk()
    rig.index.is_down = True
    with pytest.raises(RecallUnavailable):
        await rig.history.search("Anna")


async def test_m05_words_find_while_the_embedder_fails() -> None:
    rig = await write_talk()
    await rig.index_all()
    rig.embedder.failure = EmbeddingUnavailable()
    assert [hit.message.id for hit in await rig.history.search("where does sister Anna live", k=1)] == ["u1"]


class OnlyShouting:
    """A custom selector."""

    async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
        return [message async for message in newest if message.text.isupper()][::-1]


async def test_m06_selectors_choose_from_the_conversation_and_can_be_custom() -> None:
    rig = await write_talk()
    await rig.history.append_user_message("HELLO", id="loud")
    assert ids(await rig.history.select_messages(MessageWindowMessageSelector(2))) == ["u2", "loud"]
    assert ids(await rig.history.select_messages(OnlyShouting())) == ["loud"]
    assert await rig.history.select_messages(NoMessages()) == []


async def test_m14_tools_and_context_read_each_others_messages() -> None:
    rig = await write_talk()
    snapshot = await rig.store.load(REF, limit=10)
    turn = BufferedHistory(rig.store, REF, snapshot)
    context_history, tool_history = Rig(turn).history, Rig(turn).history
    await tool_history.append_assistant_message("by the tool", id="by-tool")
    assert ids(await context_history.select_messages(MessageWindowMessageSelector(1))) == ["by-tool"]
    await context_history.append_user_message("by the context", id="by-context")
    last = await tool_history.last_user_message()
    assert last is not None
    assert last.id == "by-context"


async def test_m15_selected_messages_are_deleted_from_both_stores() -> None:
    rig = await write_talk()
    await rig.index_all()
    receipt = await rig.history.delete_messages(MessageWindowMessageSelector(2))
    assert (receipt.messages_erased, receipt.vectors_erased) == (2, 2)
    assert (receipt.messages_left, receipt.vectors_left, receipt.is_proven) == (0, 0, True)
    assert [message.id async for message in rig.history.messages()] == ["s", "u1", "t"]
    assert "a1" not in [hit.message.id for hit in await rig.history.search("Anna", k=9)]


async def test_m15_deleting_counts_the_summaries_and_calls_of_the_message() -> None:
    store = InMemoryHistory()
    rig = Rig(store)
    for number in range(6):
        await rig.history.append_user_message("hello", id=f"u{number}")
    store.keep_summary(REF, make_summary("s1", upto=3))
    store.keep_ledger_turn(REF, make_turn(4, 5, artifact="a1"))
    receipt = await rig.history.delete_messages(MessageWindowMessageSelector(3))
    assert (receipt.messages_erased, receipt.erased.summaries) == (3, 1)
    assert (receipt.erased.ledger_turns, receipt.erased.artifacts) == (1, 1)
    assert (receipt.others_left, receipt.is_proven) == (0, True)


async def test_m15_deleting_nothing_is_proven() -> None:
    rig = await write_talk()
    receipt = await rig.history.delete_messages(NoMessages())
    assert (receipt.messages_erased, receipt.is_proven) == (0, True)


async def test_m15_an_erasure_empties_both_stores_and_the_history_stays_usable() -> None:
    rig = await write_talk()
    await rig.index_all()
    receipt = await rig.history.clear()
    assert (receipt.messages_erased, receipt.messages_left) == (5, 0)
    assert (receipt.vectors_erased, receipt.vectors_left, receipt.is_proven) == (3, 0, True)
    assert rig.index.points == {}
    await rig.history.append_user_message("afresh", id="afresh")
    assert [message.id async for message in rig.history.messages(whole=True)] == ["afresh"]


async def test_m15_an_unreachable_index_is_not_reported_as_empty() -> None:
    rig = await write_talk()
    await rig.index_all()
    rig.index.is_down = True
    deleted = await rig.history.delete_messages(MessageWindowMessageSelector(1))
    cleared = await rig.history.clear()
    assert (deleted.messages_left, deleted.vectors_left, deleted.is_proven) == (0, None, False)
    assert (cleared.messages_left, cleared.vectors_left, cleared.is_proven) == (0, None, False)


async def test_m15_a_write_from_before_an_erasure_raises_forgotten() -> None:
    rig = await write_talk()
    late = Rig(rig.store).history
    await rig.history.clear()
    with pytest.raises(Forgotten):
        await late.append_user_message("too late")
    await rig.history.append_user_message("afresh")
    with pytest.raises(Forgotten):
        await late.delete_messages(MessageWindowMessageSelector(1))
