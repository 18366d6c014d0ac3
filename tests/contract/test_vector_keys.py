"""Keys of messages in the vector index: on the embedded server, in qdrant-client's local mode, and in memory."""

from uuid import uuid4

import pytest

from memory.errors import MissingContext
from memory.recall.vector_index import KEYS_PER_MESSAGE, VectorErasure, VectorIndex, Where
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


async def test_a_message_is_found_by_a_key_with_the_best_of_both_scores(
    any_index: VectorIndex, chat: str
) -> None:
    await any_index.upsert(
        [
            make_point(chat, "keyed", NORTH, sequence=1, sparse=terms(7, weight=0.5)),
            make_point(chat, "keyed", EAST, sequence=1, sparse=terms(7, 8), slot=1),
            make_point(chat, "keyed", NORTHEAST, sequence=1, sparse=terms(9), slot=2),
            make_point(chat, "plain", NORTHEAST, sequence=2, sparse=terms(7)),
        ]
    )
    query = make_query(chat, sparse=terms(7))
    for found in (by_id(await find(any_index, query)), by_id(await score(any_index, query, [1, 2]))):
        assert {name: each.dense for name, each in found.items()} == pytest.approx(
            {"keyed": 1.0, "plain": 0.6}
        )
        assert found["keyed"].sparse == pytest.approx(found["plain"].sparse)


async def test_a_key_lends_its_scores_and_nothing_else(any_index: VectorIndex, chat: str) -> None:
    await any_index.upsert(
        [
            make_point(chat, "m", sequence=4, session=2, sparse=terms(9), signs=frozenset({"dated"})),
            make_point(chat, "m", EAST, sequence=4, sparse=terms(7), signs=frozenset({"question"}), slot=1),
        ]
    )
    (row,) = await score(any_index, make_query(chat, sparse=terms(7, 9)), [4])
    assert (row.dense, row.session, row.signs, row.terms) == (1.0, 2, {"dated"}, {9})


async def test_a_message_without_vectors_is_found_by_its_key(any_index: VectorIndex, chat: str) -> None:
    await any_index.upsert(
        [
            make_point(chat, "m", sequence=1),
            make_point(chat, "m", EAST, sequence=1, slot=KEYS_PER_MESSAGE),
            make_point(chat, "other", NORTH, sequence=2),
        ]
    )
    found = by_id(await find(any_index, make_query(chat)))
    assert (found["m"].dense, found["other"].dense) == pytest.approx((1.0, 0.0), abs=1e-6)


async def test_a_key_whose_message_is_not_there_is_not_scored(any_index: VectorIndex, chat: str) -> None:
    await any_index.upsert([make_point(chat, "m", EAST, sequence=1, slot=1)])
    assert await score(any_index, make_query(chat), [1]) == []


async def test_keys_of_messages_with_one_sequence_are_not_mixed_up(any_index: VectorIndex, chat: str) -> None:
    await any_index.upsert(
        [
            make_point(chat, "old", NORTH, sequence=1),
            make_point(chat, "new", NORTH, sequence=1),
            make_point(chat, "new", EAST, sequence=1, slot=1),
        ]
    )
    found = by_id(await score(any_index, make_query(chat), [1]))
    assert (found["old"].dense, found["new"].dense) == pytest.approx((0.0, 1.0), abs=1e-6)


async def test_keys_are_filtered_as_their_messages_are(any_index: VectorIndex, chat: str) -> None:
    for name, changed in (
        ("m", {"sequence": 1, "sender_id": 1, "sent_at": 10.0}),
        ("late", {"sequence": 2, "sender_id": 1, "sent_at": 20.0}),
        ("theirs", {"sequence": 3, "sender_id": 2, "sent_at": 10.0}),
        ("said", {"sequence": 4, "role": "assistant", "sent_at": 10.0}),
    ):
        await any_index.upsert(
            [make_point(chat, name, NORTH, **changed), make_point(chat, name, EAST, slot=1, **changed)]
        )
    wheres = (
        Where(before_sequence=2),
        Where(sent_before=15.0, sender_ids=frozenset({1})),
        Where(roles=frozenset({"user"}), excluded=frozenset({"late", "theirs"})),
    )
    for where in wheres:
        assert ids(await find(any_index, make_query(chat, where=where))) == {"m"}


async def test_a_key_of_another_context_or_epoch_is_not_found(any_index: VectorIndex, chat: str) -> None:
    other = uuid4().hex
    await any_index.upsert(
        [
            make_point(chat, "m", NORTH, sequence=1),
            make_point(chat, "m", EAST, sequence=1, epoch=1, slot=1),
            make_point(other, "m", EAST, sequence=1, slot=1),
        ]
    )
    query = make_query(chat)
    for (row,) in (await find(any_index, query), await score(any_index, query, [1])):
        assert row.dense == pytest.approx(0.0, abs=1e-6)


async def test_dropping_a_message_drops_all_its_keys(any_index: VectorIndex, chat: str) -> None:
    slots = range(KEYS_PER_MESSAGE + 1)
    await any_index.upsert(
        [make_point(chat, name, EAST, sequence=1, slot=slot) for name in ("m", "n") for slot in slots]
    )
    dropped = await any_index.drop(chat, epoch=0, message_ids=["m"])
    assert dropped == VectorErasure(before=len(slots), left=0)
    assert await any_index.count(chat) == len(slots)


async def test_unused_keys_are_dropped_and_the_message_stays(any_index: VectorIndex, chat: str) -> None:
    slots = range(KEYS_PER_MESSAGE + 1)
    await any_index.upsert(
        [make_point(chat, name, EAST, sequence=1, slot=slot) for name in ("m", "n") for slot in slots]
    )
    none = VectorErasure(before=0, left=0)
    assert await any_index.drop_keys(chat, epoch=1, kept={"m": 0}) == none
    assert await any_index.drop_keys(chat, epoch=0, kept={}) == none
    assert await any_index.drop_keys(chat, epoch=0, kept={"m": 1, "n": KEYS_PER_MESSAGE}) == VectorErasure(
        before=KEYS_PER_MESSAGE - 1, left=0
    )
    assert (await any_index.count(chat), await any_index.count_messages(chat, epoch=0)) == (2 + len(slots), 2)
    with pytest.raises(MissingContext):
        await any_index.drop_keys("", epoch=0, kept={"m": 0})


async def test_erasing_an_epoch_erases_its_keys(any_index: VectorIndex, chat: str) -> None:
    await any_index.upsert([make_point(chat, "m", EAST), make_point(chat, "m", EAST, slot=1)])
    assert await any_index.erase(chat, below_epoch=1) == VectorErasure(before=2, left=0)


async def test_messages_are_counted_once_whatever_keys_they_have(any_index: VectorIndex, chat: str) -> None:
    assert await any_index.count_messages(chat, epoch=0) == 0
    await any_index.upsert(
        [
            make_point(chat, "m", EAST),
            make_point(chat, "m", EAST, slot=1),
            make_point(chat, "n"),
            make_point(chat, "old", EAST, epoch=1),
        ]
    )
    assert (await any_index.count_messages(chat, epoch=0), await any_index.count(chat)) == (2, 4)
