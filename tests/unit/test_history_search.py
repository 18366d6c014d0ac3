"""A search of a history: what stands before the reader is left out, what stands beside a hit is given with it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memory.chat_history import ChatHistory
from memory.history.buffered import BufferedHistory
from memory.history.message import Message, Role, Sender
from memory.history.sessions import SESSION_GAP_S
from memory.history.store import HistoryStore
from memory.keys import ContextRef
from memory.recall.history_search import RankedMessage, exclude_shown
from memory.recall.recall import Recall, RecallHit, RecallQuestion
from memory.recall.spaces import Space, Spaces
from memory.recall.vector_index import Where
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.history import InMemoryHistory
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import WordTokenizer, a_ref, ids

REF = a_ref()


class FindingRecall(Recall):
    """Finds these messages, the best first, whatever is asked; notes the questions."""

    def __init__(self, *found: Message) -> None:
        super().__init__(Spaces(serving=Space(embedder=FakeEmbedder(), index=InMemoryIndex())))
        self.found = found
        self.asked: list[RecallQuestion] = []
        self.k = 0

    async def search(
        self, ref: ContextRef, epoch: int, question: RecallQuestion, *, k: int
    ) -> list[RecallHit]:
        self.asked.append(question)
        self.k = k
        return [a_hit(message) for message in self.found][:k]


def a_hit(message: Message) -> RecallHit:
    return RecallHit(message_id=message.id, score=1.0, sequence=message.sequence or 0)


def line(number: int, *, role: Role = "user", text: str = "", at: float | None = None) -> Message:
    return Message(
        id=f"m{number}",
        role=role,
        text=text or f"line {number}",
        sent_at=60.0 * number if at is None else at,
        tokens=2,
        sender=Sender(id=7, name="Olga") if role == "user" else None,
        sequence=number,
    )


def lines(number: int) -> list[Message]:
    return [line(each) for each in range(number)]


def a_history(store: HistoryStore, recall: Recall | None) -> ChatHistory:
    return ChatHistory(
        ref=REF,
        epoch=0,
        store=store,
        recall=recall,
        tokenizer=WordTokenizer(),
        clock=lambda: 5000.0,
        new_id=lambda: "new",
    )


async def a_store(messages: Sequence[Message]) -> InMemoryHistory:
    store = InMemoryHistory()
    await store.append(REF, messages, epoch=0)
    return store


async def a_search(messages: Sequence[Message], *found: int, neighbours: int) -> list[RankedMessage]:
    history = a_history(await a_store(messages), FindingRecall(*(messages[each] for each in found)))
    return await history.search("line", k=len(found), neighbours=neighbours)


def told_with(ranked: Sequence[RankedMessage]) -> list[tuple[list[str], str, list[str]]]:
    return [(ids(each.before), each.message.id, ids(each.after)) for each in ranked]


def test_a_window_that_is_whole_is_left_out_by_its_first_sequence() -> None:
    where = exclude_shown(Where(), {"m3", "m4", "m5"}, lines(6)[2:])

    assert where == Where(before_sequence=3)


def test_what_recall_never_finds_makes_no_hole_in_a_window() -> None:
    newest = [line(3), line(4, role="tool"), line(5, text=" \n"), line(6)]

    assert exclude_shown(Where(), {"m3", "m6"}, newest) == Where(before_sequence=3)


def test_before_a_hole_of_the_window_messages_are_left_out_one_by_one() -> None:
    where = exclude_shown(Where(excluded=frozenset(["x"])), {"m1", "m2", "m4", "old"}, lines(5))

    assert where == Where(before_sequence=4, excluded=frozenset(["x", "m1", "m2", "old"]))


def test_a_bound_that_is_asked_for_stays_where_it_is_lower() -> None:
    assert exclude_shown(Where(before_sequence=2), {"m4"}, lines(5)).before_sequence == 2
    assert exclude_shown(Where(before_sequence=9), {"m4"}, lines(5)).before_sequence == 4


def test_where_the_newest_message_is_not_told_nothing_is_left_out_by_sequence() -> None:
    assert exclude_shown(Where(), {"m1"}, lines(3)) == Where(excluded=frozenset(["m1"]))
    assert exclude_shown(Where(), set(), lines(3)) == Where()
    assert exclude_shown(Where(), set(), []) == Where()


async def test_a_turns_search_leaves_out_the_window_and_its_own_messages_without_a_trip() -> None:
    store = await a_store(lines(8))
    turn = BufferedHistory(store, REF, await store.load(REF, limit=4))
    (asking,) = await turn.append(REF, [replace(line(8), id="mine", sequence=None)], epoch=0)
    recall = FindingRecall(line(1))

    found = await a_history(turn, recall).search("line", told=(*lines(8)[4:], asking))

    (question,) = recall.asked
    assert question.where == Where(before_sequence=4)
    assert ids(each.message for each in found) == ["m1"]


async def test_a_search_knows_the_people_the_asker_and_the_time() -> None:
    store = await a_store(lines(2))
    recall = FindingRecall()
    history = a_history(store, recall)

    await history.search("line", asker_id=7, now=9.0)
    await history.search("line", exclude={"m1"}, where=Where(roles=frozenset(["assistant"])))

    first, second = recall.asked
    assert (first.people, first.asker_id, first.now) == ({7: "Olga"}, 7, 9.0)
    assert (second.asker_id, second.now) == (None, 5000.0)
    assert second.where == Where(roles=frozenset(["assistant"]), excluded=frozenset(["m1"]))


@pytest.mark.parametrize("neighbours", [0, 1])
async def test_a_hit_that_was_deleted_meanwhile_gives_its_place_to_the_next(neighbours: int) -> None:
    messages = lines(6)
    store = await a_store(messages)
    await store.delete(REF, ["m0"], epoch=0)
    history = a_history(store, FindingRecall(messages[0], messages[2], messages[4], messages[5]))

    found = await history.search("line", k=2, neighbours=neighbours)

    assert ids(each.message for each in found) == ["m2", "m4"]


async def test_another_message_at_the_sequence_of_a_hit_is_not_taken_for_it() -> None:
    store = await a_store([replace(line(0), id="another")])

    assert await a_history(store, FindingRecall(line(0))).search("line", neighbours=1) == []


async def test_neighbours_are_those_before_and_after_in_the_order_of_the_talk() -> None:
    ranked = await a_search(lines(9), 4, neighbours=2)

    assert told_with(ranked) == [(["m2", "m3"], "m4", ["m5", "m6"])]


async def test_neighbours_end_with_the_history_and_with_the_session() -> None:
    messages = [*lines(3), *(line(each, at=60 * each + SESSION_GAP_S) for each in range(3, 6))]

    assert told_with(await a_search(messages, 0, neighbours=3)) == [([], "m0", ["m1", "m2"])]
    assert told_with(await a_search(messages, 4, neighbours=3)) == [(["m3"], "m4", ["m5"])]


async def test_no_message_is_given_twice_and_hits_are_no_neighbours() -> None:
    ranked = await a_search(lines(7), 3, 1, 5, 4, neighbours=2)

    assert told_with(ranked) == [
        (["m2"], "m3", []),
        (["m0"], "m1", []),
        ([], "m5", ["m6"]),
        ([], "m4", []),
    ]


async def test_what_is_told_or_excluded_or_no_talk_is_no_neighbour() -> None:
    messages = [line(0), line(1, role="tool"), line(2), line(3, text=" "), line(4), line(5)]
    history = a_history(await a_store(messages), FindingRecall(messages[2]))

    ranked = await history.search("line", told=[messages[5]], exclude={"m4"}, neighbours=3)

    assert told_with(ranked) == [(["m0"], "m2", [])]


async def test_neighbours_are_not_counted_in_k() -> None:
    messages = lines(20)
    history = a_history(await a_store(messages), FindingRecall(*messages[::4]))

    ranked = await history.search("line", k=3, neighbours=1)

    assert [len(each.before) + len(each.after) for each in ranked] == [1, 2, 2]
