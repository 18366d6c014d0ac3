"""The contract of VectorIndex: on the embedded server, in qdrant-client's local mode, and in memory."""

import math
from dataclasses import replace
from uuid import uuid4

import pytest

from memory.errors import MissingContext
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.vector_index import TERMS_STORED, VectorErasure, VectorIndex, Where, metadata_tags
from tests.contract.vector_kit import (
    EAST,
    NORTH,
    NORTHEAST,
    by_id,
    find,
    ids,
    make_point,
    make_query,
    score,
    terms,
)
from tests.fakes.vector_index import ScoredMessage


@pytest.fixture
def index(any_index: VectorIndex) -> VectorIndex:
    return any_index


async def test_the_nearest_messages_are_found_with_their_cosine(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [make_point(chat, "n", NORTH), make_point(chat, "ne", NORTHEAST), make_point(chat, "e", EAST)]
    )
    found = by_id(await find(index, make_query(chat)))
    cosines = {name: each.dense for name, each in found.items()}
    assert cosines == pytest.approx({"e": 1.0, "ne": 0.6, "n": 0.0}, abs=1e-6)
    assert ids(await find(index, make_query(chat, limit=2))) == {"e", "ne"}


async def test_messages_with_shared_terms_are_found_with_their_bm25_score(
    index: VectorIndex, chat: str
) -> None:
    await index.upsert(
        [
            make_point(chat, "both", sparse=SparseVector(indices=(7, 8), values=(1.0, 2.0))),
            make_point(chat, "common", sparse=terms(7)),
            make_point(chat, "other", sparse=terms(9)),
        ]
    )
    sparse = SparseVector(indices=(7, 8), values=(1.0, 1.0))
    found = by_id(await find(index, make_query(chat, dense=None, sparse=sparse)))
    assert set(found) == {"both", "common"}
    assert found["both"].sparse > 2 * found["common"].sparse > 0
    assert found["both"].dense is None


async def test_both_lists_contain_each_message_once(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [
            make_point(chat, "both", EAST, sparse=terms(7)),
            make_point(chat, "near", NORTHEAST),
            make_point(chat, "word", sparse=terms(7, weight=2.0)),
            make_point(chat, "far", NORTH),
        ]
    )
    found = await find(index, make_query(chat, sparse=terms(7), limit=2))
    assert sorted(each.message_id for each in found) == ["both", "near", "word"]
    both, near, word = (by_id(found)[name] for name in ("both", "near", "word"))
    assert both.dense == pytest.approx(1.0)
    assert word.sparse == pytest.approx(2 * both.sparse)
    assert (near.sparse, word.dense) == (0.0, None)


async def test_a_hit_has_the_fields_of_its_indexed_message(index: VectorIndex, chat: str) -> None:
    point = make_point(
        chat,
        "m",
        EAST,
        epoch=3,
        role="assistant",
        sender_id=-(2**52),
        sent_at=1_700_000_000.25,
        sequence=41,
        session=38,
        signs=frozenset({"question", "dated"}),
    )
    await index.upsert([point])
    told = ScoredMessage(
        message_id="m",
        sequence=41,
        session=38,
        role="assistant",
        sender_id=-(2**52),
        sent_at=1_700_000_000.25,
        signs=frozenset({"question", "dated"}),
        dense=1.0,
        sparse=0.0,
    )
    query = make_query(chat, epoch=3)
    assert await find(index, query) == [told]
    assert await score(index, query, [41]) == [told]


async def test_an_empty_query_finds_nothing(index: VectorIndex, chat: str) -> None:
    await index.upsert([make_point(chat, "m", EAST, sparse=terms(7))])
    assert await index.search(make_query(chat, dense=None)) == []
    assert await index.search(make_query(chat, dense=None, sparse=SparseVector())) == []
    assert await index.search(make_query(chat, limit=0)) == []
    assert ids(await find(index, make_query(chat, sparse=SparseVector()))) == {"m"}


async def test_scores_cover_the_existing_messages_of_the_sequences(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [
            make_point(chat, "both", EAST, sequence=1, sparse=terms(7)),
            make_point(chat, "near", NORTHEAST, sequence=2, sparse=terms(9)),
            make_point(chat, "word", sequence=3, sparse=terms(7, 9)),
            make_point(chat, "mute", sequence=4),
            make_point(chat, "elsewhere", EAST, sequence=5, sparse=terms(7)),
            make_point(chat, "forgotten", EAST, sequence=1, sparse=terms(7), epoch=1),
            make_point(uuid4().hex, "theirs", EAST, sequence=1, sparse=terms(7)),
        ]
    )
    query = make_query(
        chat, sparse=terms(7), limit=1, where=Where(before_sequence=0, excluded=frozenset({"mute"}))
    )
    found = by_id(await score(index, query, [1, 2, 3, 4, 4, 77]))
    assert set(found) == {"both", "near", "word", "mute"}
    assert {name: each.dense for name, each in found.items() if each.dense is not None} == pytest.approx(
        {"both": 1.0, "near": 0.6}
    )
    assert found["both"].sparse == pytest.approx(found["word"].sparse)
    assert found["both"].sparse > 0
    assert (found["near"].sparse, found["mute"].sparse) == (0.0, 0.0)
    assert await score(index, query, []) == []


async def test_two_messages_with_one_sequence_are_both_scored(index: VectorIndex, chat: str) -> None:
    """A store that was restored from a backup uses sequences again that older points still have."""
    await index.upsert(
        [
            make_point(chat, "old", EAST, sequence=1, sparse=terms(7)),
            make_point(chat, "new", NORTHEAST, sequence=1, sparse=terms(7)),
            make_point(chat, "old words", sequence=2, sparse=terms(7)),
            make_point(chat, "new words", sequence=2, sparse=terms(7)),
        ]
    )
    found = by_id(await score(index, make_query(chat, sparse=terms(7)), [1, 2]))
    assert {name: each.dense is None for name, each in found.items()} == {
        "old": False,
        "new": False,
        "old words": True,
        "new words": True,
    }
    assert len({round(each.sparse, 5) for each in found.values()}) == 1


async def test_scores_equal_those_of_the_search(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [
            make_point(chat, f"m{n}", [1.0, n / 9, 0.0], sequence=n, sparse=terms(*range(n, n + 4)))
            for n in range(30)
        ]
    )
    query = make_query(chat, sparse=terms(3, 5, 28), limit=30)
    found = by_id(await find(index, query))
    scored = by_id(await score(index, query, range(30)))
    assert set(found) == set(scored)
    for name, each in found.items():
        assert (each.dense, each.sparse) == pytest.approx((scored[name].dense, scored[name].sparse), abs=1e-5)


async def test_scores_include_the_terms_shared_by_question_and_message(index: VectorIndex, chat: str) -> None:
    last = 100 + TERMS_STORED
    await index.upsert(
        [
            make_point(chat, "both", sequence=1, sparse=terms(9, 8, 7)),
            make_point(chat, "none", EAST, sequence=2, sparse=terms(6)),
            make_point(chat, "long", sequence=3, sparse=terms(7, *range(100, last))),
        ]
    )
    query = make_query(chat, sparse=terms(7, 9, last - 2, last - 1))
    scored = by_id(await score(index, query, [1, 2, 3]))
    assert {name: each.terms for name, each in scored.items()} == {
        "both": {7, 9},
        "none": frozenset(),
        "long": {7, last - 2},
    }


async def test_without_vectors_scores_still_list_the_messages(index: VectorIndex, chat: str) -> None:
    await index.upsert([make_point(chat, "m", EAST, sequence=2)])
    (told,) = await score(index, make_query(chat, dense=None), [2])
    assert (told.message_id, told.dense, told.sparse) == ("m", None, 0.0)


async def test_an_empty_index_finds_and_erases_nothing(index: VectorIndex, chat: str) -> None:
    await index.upsert([])
    assert await index.search(make_query(chat, sparse=terms(1))) == []
    assert await score(index, make_query(chat), [0, 1]) == []
    assert await index.count(chat) == 0
    assert await index.erase(chat, below_epoch=9) == VectorErasure(before=0, left=0)
    assert await index.drop(chat, epoch=0, message_ids=["m"]) == VectorErasure(before=0, left=0)
    assert await index.drop(chat, epoch=0, message_ids=[]) == VectorErasure(before=0, left=0)


async def test_a_message_indexed_twice_is_stored_once_with_its_last_fields(
    index: VectorIndex, chat: str
) -> None:
    await index.upsert([make_point(chat, "m", EAST, sequence=0, sparse=terms(7))])
    await index.upsert([make_point(chat, "m", sequence=0, sparse=terms(8))])
    assert await index.count(chat) == 1
    (told,) = await score(index, make_query(chat, sparse=terms(7)), [0])
    assert (told.dense, told.sparse) == (None, 0.0)
    assert ids(await find(index, make_query(chat, sparse=terms(8)))) == {"m"}


async def test_a_message_twice_in_a_batch_is_stored_with_its_last_fields(
    index: VectorIndex, chat: str
) -> None:
    await index.upsert([make_point(chat, "m", EAST), make_point(chat, "m", NORTH)])
    (told,) = await find(index, make_query(chat))
    assert told.dense == pytest.approx(0.0, abs=1e-6)


async def test_a_message_without_vectors_is_stored_but_never_found(index: VectorIndex, chat: str) -> None:
    await index.upsert([make_point(chat, "m"), make_point(chat, "n", EAST)])
    assert await index.count(chat) == 2
    assert ids(await find(index, make_query(chat, sparse=terms(7)))) == {"n"}
    assert await index.drop(chat, epoch=0, message_ids=["m"]) == VectorErasure(before=1, left=0)


async def test_a_search_sees_its_own_context_only(index: VectorIndex, chat: str) -> None:
    other = uuid4().hex
    await index.upsert(
        [make_point(chat, "mine", NORTH, sparse=terms(7)), make_point(other, "theirs", EAST, sparse=terms(7))]
    )
    assert ids(await find(index, make_query(chat, sparse=terms(7)))) == {"mine"}
    await index.erase(other, below_epoch=1)
    assert (await index.count(chat), await index.count(other)) == (1, 0)


@pytest.mark.parametrize("strange", ["*", "1:2", "a\x1fb", "'; DROP", "[0]", "chat one", "чат", "😀" * 60])
async def test_a_context_id_is_taken_literally(index: VectorIndex, chat: str, strange: str) -> None:
    strange += chat
    await index.upsert([make_point(chat, "m", EAST), make_point(strange, "s", EAST)])
    assert ids(await find(index, make_query(strange))) == {"s"}
    assert await index.erase(strange, below_epoch=1) == VectorErasure(before=1, left=0)
    assert await index.count(chat) == 1


async def test_a_late_vector_of_a_forgotten_epoch_is_never_found(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [
            make_point(chat, "old", EAST, epoch=1, sequence=0, sparse=terms(7)),
            make_point(chat, "new", NORTH, epoch=2, sequence=0, sparse=terms(7)),
        ]
    )
    for epoch, visible in ((2, {"new"}), (1, {"old"}), (3, set[str]())):
        query = make_query(chat, epoch=epoch, sparse=terms(7))
        assert ids(await find(index, query)) == visible
        assert ids(await score(index, query, [0])) == visible


@pytest.mark.parametrize(
    ("where", "visible"),
    [
        (Where(), {"m0", "m1", "m2", "m3"}),
        (Where(before_sequence=2), {"m0", "m1"}),
        (Where(sent_from=10.5), {"m1", "m2", "m3"}),
        (Where(sent_from=10.5, sent_before=12.5), {"m1", "m2"}),
        (Where(sent_before=10.5), {"m0"}),
        (Where(sender_ids=frozenset({1})), {"m1"}),
        (Where(sender_ids=frozenset({1, -5})), {"m1", "m2"}),
        (Where(sender_ids=frozenset({77})), set[str]()),
        (Where(sender_ids=frozenset()), set[str]()),
        (Where(roles=frozenset({"assistant"})), {"m3"}),
        (Where(roles=frozenset({"assistant", "user"})), {"m0", "m1", "m2", "m3"}),
        (Where(roles=frozenset()), set[str]()),
        (Where(excluded=frozenset({"m0", "m3", "unknown"})), {"m1", "m2"}),
        (Where(before_sequence=3, sent_from=10.5, excluded=frozenset({"m1"})), {"m2"}),
    ],
)
async def test_both_lists_obey_the_filters_of_the_search(
    index: VectorIndex, chat: str, where: Where, visible: set[str]
) -> None:
    senders = (None, 1, -5, None)
    await index.upsert(
        [
            make_point(
                chat,
                f"m{n}",
                EAST,
                sequence=n,
                sent_at=9.5 + n,
                sender_id=senders[n],
                role="assistant" if n == 3 else "user",
                sparse=terms(7),
            )
            for n in range(4)
        ]
    )
    assert ids(await find(index, make_query(chat, where=where))) == visible
    assert ids(await find(index, make_query(chat, dense=None, sparse=terms(7), where=where))) == visible


async def test_excluded_messages_make_room_for_others(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [make_point(chat, "e", EAST), make_point(chat, "ne", NORTHEAST), make_point(chat, "n", NORTH)]
    )
    query = make_query(chat, limit=2, where=Where(excluded=frozenset({"e"})))
    assert ids(await find(index, query)) == {"ne", "n"}


async def test_an_erasure_deletes_and_counts_only_older_epochs(index: VectorIndex, chat: str) -> None:
    await index.upsert([make_point(chat, f"m{epoch}", EAST, epoch=epoch) for epoch in range(4)])
    assert await index.erase(chat, below_epoch=3) == VectorErasure(before=3, left=0)
    assert await index.erase(chat, below_epoch=3) == VectorErasure(before=0, left=0)
    assert ids(await find(index, make_query(chat, epoch=3))) == {"m3"}


async def test_dropping_deletes_the_named_messages_of_the_named_epoch(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [make_point(chat, "a", EAST), make_point(chat, "b", EAST), make_point(chat, "c", EAST, epoch=1)]
    )
    assert await index.drop(chat, epoch=0, message_ids={"a", "c", "nothing"}) == VectorErasure(
        before=1, left=0
    )
    assert await index.count(chat) == 2


async def test_the_rarity_of_a_word_is_counted_in_its_chat_and_epoch(index: VectorIndex, chat: str) -> None:
    other = uuid4().hex
    theirs = [make_point(other, f"t{n}", sparse=terms(7, 8)) for n in range(40)]
    forgotten = [make_point(chat, f"f{n}", epoch=0, sparse=terms(7)) for n in range(5)]
    mute = make_point(chat, "mute", EAST, epoch=1)
    mine = [make_point(chat, f"m{n}", epoch=1, sequence=n, sparse=terms(n, 7, weight=2.0)) for n in range(4)]
    await index.upsert([*theirs, *forgotten, mute, *mine])
    common, rare = math.log(1 + 0.5 / 4.5), math.log(1 + 3.5 / 1.5)
    for where in (Where(), Where(excluded=frozenset({"m0"}), before_sequence=3)):
        query = make_query(chat, epoch=1, dense=None, sparse=terms(2, 7, weight=0.5), where=where)
        found = by_id(await find(index, query))
        assert found["m2"].sparse == pytest.approx(common + rare, abs=1e-5)
        assert found["m1"].sparse == pytest.approx(common, abs=1e-5)
        scored = by_id(await score(index, query, [1, 2]))
        assert scored["m2"].sparse == pytest.approx(common + rare, abs=1e-5)


async def test_erased_messages_do_not_count_for_the_rarity_of_words(index: VectorIndex, chat: str) -> None:
    await index.upsert([make_point(chat, f"m{n}", sequence=n, sparse=terms(7)) for n in range(8)])
    await index.drop(chat, epoch=0, message_ids=[f"m{n}" for n in range(1, 8)])
    (left,) = await find(index, make_query(chat, dense=None, sparse=terms(7)))
    assert left.message_id == "m0"
    assert left.sparse == pytest.approx(math.log(1 + 0.5 / 1.5), abs=1e-5)


async def test_a_batch_of_thousands_is_stored(index: VectorIndex, chat: str) -> None:
    await index.upsert(
        [make_point(chat, f"m{n}", [1.0, n / 500, 0.0], sequence=n, sparse=terms(n)) for n in range(600)]
    )
    assert await index.count(chat) == 600
    assert ids(await find(index, make_query(chat, sparse=terms(599), limit=1))) == {"m0", "m599"}


@pytest.mark.slow
async def test_a_hundred_thousand_terms_of_one_message_are_stored(index: VectorIndex, chat: str) -> None:
    many = SparseVector(indices=tuple(range(100_000)), values=tuple(0.5 for _ in range(100_000)))
    await index.upsert(
        [make_point(chat, "long", sparse=many), make_point(chat, "short", sparse=terms(2**32 - 1))]
    )
    query = make_query(chat, dense=None, sparse=terms(99_999, 2**32 - 1))
    assert ids(await find(index, query)) == {"long", "short"}
    assert ids(await find(index, replace(query, sparse=many))) == {"long"}


async def test_every_call_needs_a_context(index: VectorIndex, chat: str) -> None:
    for attempt in (
        index.search(make_query("")),
        index.search(make_query("", dense=None)),
        index.score(make_query(""), [1]),
        index.score(make_query(""), []),
        index.upsert([make_point(chat, "m", EAST), make_point("", "m", EAST)]),
        index.erase("", below_epoch=9),
        index.drop("", epoch=0, message_ids=["m"]),
        index.drop("", epoch=0, message_ids=[]),
        index.count(""),
    ):
        with pytest.raises(MissingContext):
            await attempt
    assert await index.count(chat) == 0


async def test_only_messages_with_all_the_tags_are_found(index: VectorIndex, chat: str) -> None:
    crm, vip, long = (
        metadata_tags(each) for each in ({"source": "crm"}, {"vip": True}, {"text": "x" * 9000})
    )
    await index.upsert(
        [
            make_point(chat, "both", EAST, signs=crm | vip | {"question"}),
            make_point(chat, "one", EAST, signs=crm),
            make_point(chat, "one", NORTH, signs=crm, slot=1),
            make_point(chat, "none", EAST),
            make_point(chat, "long", EAST, signs=long),
        ]
    )
    for names, tags in (("both", crm | vip), ("long", long), ("both one", crm), ("", crm | long)):
        assert ids(await find(index, make_query(chat, where=Where(tags=tags)))) == set(names.split())


def test_equal_metadata_have_equal_tags_and_a_boolean_is_no_number() -> None:
    assert metadata_tags({"n": 1}) == metadata_tags({"n": 1.0}) != metadata_tags({"n": True})
    assert metadata_tags({"n": 1}) != metadata_tags({"n": "1"})
    assert metadata_tags({"a": "b:c"}) != metadata_tags({"a:b": "c"})
