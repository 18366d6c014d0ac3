"""Search of a history: it excludes messages of the prompt and adds neighbours of hits."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.search_memory import on_days, parse_day
from memory.chat_history import ChatHistory, RankedMessage, exclude_visible, keep_one_of_each
from memory.history.buffered import BufferedHistory
from memory.history.message import Message, Role, Sender
from memory.history.store import SESSION_GAP_S, HistoryStore
from memory.keys import ContextRef
from memory.recall.lexicon.names import find_people
from memory.recall.ranking import RankedHit
from memory.recall.recall import Recall, RecallQuestion
from memory.recall.spaces import Space, Spaces
from memory.recall.vector_index import Where
from memory.zones.clocks import find_zone
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.history import InMemoryHistory
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import WordTokenizer, ids, make_fact, make_ref

REF = make_ref()


class FindingRecall(Recall):
    """A recall that returns these messages for every question, best first, and records the questions."""

    def __init__(self, *found: Message) -> None:
        super().__init__(Spaces(serving=Space(embedder=FakeEmbedder(), index=InMemoryIndex())))
        self.found = found
        self.asked: list[RecallQuestion] = []
        self.k = 0

    async def search(
        self, ref: ContextRef, epoch: int, question: RecallQuestion, *, k: int
    ) -> list[RankedHit]:
        self.asked.append(question)
        self.k = k
        return [make_hit(message) for message in self.found][:k]


def make_hit(message: Message) -> RankedHit:
    return RankedHit(message.id, message.sequence or 0, 1.0)


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


def make_history(store: HistoryStore, recall: Recall | None) -> ChatHistory:
    return ChatHistory(
        ref=REF,
        epoch=0,
        store=store,
        recall=recall,
        tokenizer=WordTokenizer(),
        clock=lambda: 5000.0,
        new_id=lambda: "new",
    )


async def make_store(messages: Sequence[Message]) -> InMemoryHistory:
    store = InMemoryHistory()
    await store.append(REF, messages, epoch=0)
    return store


async def run_search(messages: Sequence[Message], *found: int, neighbours: int) -> list[RankedMessage]:
    history = make_history(await make_store(messages), FindingRecall(*(messages[each] for each in found)))
    return await history.search("line", k=len(found), neighbours=neighbours)


def ids_around(ranked: Sequence[RankedMessage]) -> list[tuple[list[str], str, list[str]]]:
    return [(ids(each.before), each.message.id, ids(each.after)) for each in ranked]


def test_a_complete_window_is_excluded_by_its_first_sequence() -> None:
    where = exclude_visible(Where(), {"m3", "m4", "m5"}, lines(6)[2:])

    assert where == Where(before_sequence=3)


def test_messages_that_recall_never_finds_make_no_gap() -> None:
    newest = [line(3), line(4, role="tool"), line(5, text=" \n"), line(6)]

    assert exclude_visible(Where(), {"m3", "m6"}, newest) == Where(before_sequence=3)


def test_messages_before_a_gap_are_excluded_one_by_one() -> None:
    where = exclude_visible(Where(excluded=frozenset(["x"])), {"m1", "m2", "m4", "old"}, lines(5))

    assert where == Where(before_sequence=4, excluded=frozenset(["x", "m1", "m2", "old"]))


def test_a_lower_requested_bound_is_kept() -> None:
    assert exclude_visible(Where(before_sequence=2), {"m4"}, lines(5)).before_sequence == 2
    assert exclude_visible(Where(before_sequence=9), {"m4"}, lines(5)).before_sequence == 4


def test_without_the_newest_message_nothing_is_excluded_by_sequence() -> None:
    assert exclude_visible(Where(), {"m1"}, lines(3)) == Where(excluded=frozenset(["m1"]))
    assert exclude_visible(Where(), set(), lines(3)) == Where()
    assert exclude_visible(Where(), set(), []) == Where()


async def test_a_turns_search_excludes_the_window_and_its_own_messages_without_a_round_trip() -> None:
    store = await make_store(lines(8))
    turn = BufferedHistory(store, REF, await store.load(REF, limit=4))
    (asking,) = await turn.append(REF, [replace(line(8), id="mine", sequence=None)], epoch=0)
    recall = FindingRecall(line(1))

    found = await make_history(turn, recall).search("line", visible=(*lines(8)[4:], asking))

    (question,) = recall.asked
    assert question.where == Where(before_sequence=4)
    assert ids(each.message for each in found) == ["m1"]


async def test_a_search_knows_the_people_the_asker_and_the_time() -> None:
    store = await make_store(lines(2))
    recall = FindingRecall()
    history = make_history(store, recall)

    await history.search("line", asker_id=7, now=9.0)
    await history.search("line", exclude={"m1"}, where=Where(roles=frozenset(["assistant"])))

    first, second = recall.asked
    assert (first.people, first.asker_id, first.now) == ({7: "Olga"}, 7, 9.0)
    assert (second.asker_id, second.now) == (None, 5000.0)
    assert second.where == Where(roles=frozenset(["assistant"]), excluded=frozenset(["m1"]))


@pytest.mark.parametrize("neighbours", [0, 1])
async def test_a_deleted_hit_is_replaced_by_the_next(neighbours: int) -> None:
    messages = lines(6)
    store = await make_store(messages)
    await store.delete(REF, ["m0"], epoch=0)
    history = make_history(store, FindingRecall(messages[0], messages[2], messages[4], messages[5]))

    found = await history.search("line", k=2, neighbours=neighbours)

    assert ids(each.message for each in found) == ["m2", "m4"]


def said(number: int, text: str, by: int | None) -> Message:
    """Return a person's message, or the bot's without `by`."""
    sender = Sender(id=by, name=f"person {by}") if by else None
    return replace(line(number, text=text, role="user" if by else "assistant"), sender=sender)


async def search_texts(*messages: Message, k: int) -> list[tuple[str, str]]:
    history = make_history(await make_store(messages), FindingRecall(*messages))
    return [(each.message.id, each.message.text) for each in await history.search("line", k=k)]


async def test_one_message_stands_for_all_with_the_same_text_however_many() -> None:
    echoes = [
        said(number, f"Anna lives in  {place}", None) for number, place in enumerate(["Porto", "porto"] * 20)
    ]

    assert await search_texts(*echoes, said(40, "She moved", 7), k=2) == [
        ("m0", "Anna lives in  Porto"),
        ("m40", "She moved"),
    ]


async def test_a_persons_message_stands_for_the_bots_in_the_better_place() -> None:
    found = await search_texts(
        said(0, "Tea is ready", None), said(1, "The kettle sings", 7), said(2, "tea is ready", 7), k=3
    )

    assert found == [("m2", "tea is ready"), ("m1", "The kettle sings")]


async def test_the_same_words_of_two_people_are_two_messages() -> None:
    found = await search_texts(said(0, "I am in", 7), said(1, "I am in", 8), said(2, "I am in", None), k=3)

    assert [message_id for message_id, _ in found] == ["m0", "m1"]


def test_a_message_keeps_the_facts_of_its_copies_and_the_best_score() -> None:
    facts = [make_fact(str(number)) for number in range(3)]
    copies = [
        RankedMessage(message=said(0, "I am vegan", None), score=3.0),
        RankedMessage(
            message=said(1, "I am vegan", 7), score=2.0, is_likely=False, facts=(facts[0], facts[1])
        ),
        RankedMessage(
            message=said(2, "I am vegan", 7), score=1.0, is_likely=False, facts=(facts[1], facts[2])
        ),
    ]

    (kept,) = keep_one_of_each(copies)

    assert (kept.message.id, kept.score, kept.is_likely) == ("m1", 3.0, True)
    assert kept.facts == tuple(facts)


async def test_another_message_with_the_sequence_of_a_hit_is_not_used() -> None:
    store = await make_store([replace(line(0), id="another")])

    assert await make_history(store, FindingRecall(line(0))).search("line", neighbours=1) == []


async def test_neighbours_are_the_messages_before_and_after_in_order() -> None:
    ranked = await run_search(lines(9), 4, neighbours=2)

    assert ids_around(ranked) == [(["m2", "m3"], "m4", ["m5", "m6"])]


async def test_neighbours_end_with_the_history_and_with_the_session() -> None:
    messages = [*lines(3), *(line(each, at=60 * each + SESSION_GAP_S) for each in range(3, 6))]

    assert ids_around(await run_search(messages, 0, neighbours=3)) == [([], "m0", ["m1", "m2"])]
    assert ids_around(await run_search(messages, 4, neighbours=3)) == [(["m3"], "m4", ["m5"])]


async def test_no_message_appears_twice_and_hits_are_no_neighbours() -> None:
    ranked = await run_search(lines(7), 3, 1, 5, 4, neighbours=2)

    assert ids_around(ranked) == [(["m2"], "m3", []), (["m0"], "m1", []), ([], "m5", ["m6"]), ([], "m4", [])]


async def test_excluded_messages_and_those_without_text_are_no_neighbours() -> None:
    messages = [line(0), line(1, role="tool"), line(2), line(3, text=" "), line(4), line(5)]
    history = make_history(await make_store(messages), FindingRecall(messages[2]))

    ranked = await history.search("line", visible=[messages[5]], exclude={"m4"}, neighbours=3)

    assert ids_around(ranked) == [(["m0"], "m2", [])]


@pytest.mark.parametrize("neighbours", [0, 1])
async def test_a_hit_is_found_although_a_lost_message_had_its_sequence(neighbours: int) -> None:
    messages = lines(4)
    lost = replace(messages[2], id="lost")
    history = make_history(await make_store(messages), FindingRecall(messages[2], lost))

    ranked = await history.search("line", neighbours=neighbours)

    assert [each.message.id for each in ranked] == ["m2"]


async def test_neighbours_do_not_count_for_k() -> None:
    messages = lines(20)
    history = make_history(await make_store(messages), FindingRecall(*messages[::4]))

    ranked = await history.search("line", k=3, neighbours=1)

    assert [len(each.before) + len(each.after) for each in ranked] == [1, 2, 2]


PEOPLE = {
    1: "Anna Smith",
    2: "Anna Berg",
    3: "Анна",
    4: "✨Kate✨",
    5: "张伟",
    6: "Will",
    7: "DROP TABLE",
    8: "Anna",
    9: "🌻",
    10: "O'Neill (work)",
    11: "Melanie Ng",
}


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("anna smith", {1}),
        ("Anna", {8}),
        ("Berg", {2}),
        ("@Will", {6}),
        ("kate", {4}),
        ("✨Kate✨", {4}),
        ("张伟", {5}),
        ("drop table", {7}),
        ("🌻", {9}),
        ("o'neill", {10}),
        ("smith anna", {1}),
        ("Анне", {3}),
        ("Mel", {11}),
        ("mel", {11}),
        ("Zoe", set[int]()),
        ("", set[int]()),
        (" \n", set[int]()),
        ("(", set[int]()),
        (".*", set[int]()),
        ("\udcff", set[int]()),
    ],
)
def test_a_name_means_exact_matches_or_else_people_with_it_in_their_name(name: str, ids: set[int]) -> None:
    assert find_people(name, PEOPLE) == ids


def test_one_name_may_mean_several_people() -> None:
    assert find_people("Anna", {1: "Anna Smith", 2: "Anna Berg"}) == {1, 2}


@given(st.text(max_size=80), st.dictionaries(st.integers(), st.text(max_size=80), max_size=20))
def test_any_name_of_a_person_finds_people(name: str, people: dict[int, str]) -> None:
    assert find_people(name, people) <= people.keys()


@pytest.mark.parametrize("text", ["2026-05-31", " 2026-05-31\n"])
def test_a_day_is_parsed(text: str) -> None:
    assert parse_day(text) == date(2026, 5, 31)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-02-30",
        "20260531",
        "2026-W22-7",
        "2026-5-1",
        "1780000000",
        "\u0662\u0660\u0662\u0666-\u0660\u0665-\u0663\u0661",
    ],
)
def test_an_invalid_day_is_refused_with_the_expected_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a day such as 2026-05-31$"):
        parse_day(text)


def test_days_are_whole_and_the_last_one_is_included() -> None:
    day = date(2026, 5, 31)

    where = on_days(Where(before_sequence=7), after=day, before=day, zone=UTC)

    assert where.sent_from == datetime(2026, 5, 31, tzinfo=UTC).timestamp()
    assert where.sent_before == datetime(2026, 6, 1, tzinfo=UTC).timestamp()
    assert where.before_sequence == 7
    assert on_days(Where(), after=None, before=None, zone=UTC) == Where()


def test_days_are_those_where_the_asker_is() -> None:
    day = date(2026, 11, 27)

    where = on_days(Where(), after=day, before=day, zone=find_zone("Pacific/Kiritimati"))

    assert where.sent_from == datetime(2026, 11, 26, 10, tzinfo=UTC).timestamp()
    assert where.sent_before == datetime(2026, 11, 27, 10, tzinfo=UTC).timestamp()


def test_the_first_and_last_possible_days_are_accepted() -> None:
    for zone in (UTC, find_zone("UTC+14:00"), find_zone("UTC-12:00")):
        where = on_days(Where(), after=date.min, before=date.max, zone=zone)

        assert (where.sent_from or 0) < -6e10
        assert where.sent_before is None


def test_days_in_reverse_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^after \(2026-06-01\) is later than before \(2026-05-31\)"):
        on_days(Where(), after=date(2026, 6, 1), before=date(2026, 5, 31), zone=UTC)
