"""Contexts are identified by their keys, and every Redis key carries its partition."""

import re
from dataclasses import fields
from importlib.resources import files
from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.history.store import RecordCounts
from memory.keys import (
    CONTEXT_KEYS,
    ERASED_KEYS,
    GLOBAL_KEYS,
    PARTITION_KEYS,
    TERMINAL_UPDATE_TTL_S,
    WORK_KEYS,
    ContextName,
    ContextRef,
    GlobalName,
    PartitionName,
    WorkName,
    context_id,
    context_key,
    partition_key,
    partition_of,
)

_VALUES = st.none() | st.booleans() | st.integers() | st.text()
_KEYS = st.dictionaries(st.text(), _VALUES, max_size=5)


@given(_KEYS, st.randoms())
def test_m01_the_same_keys_in_any_order_give_the_same_context(
    keys: dict[str, object], random: Random
) -> None:
    shuffled = list(keys.items())
    random.shuffle(shuffled)
    assert context_id("telegram", dict(shuffled)) == context_id("telegram", keys)


@given(_KEYS, _KEYS)
def test_m01_different_keys_give_different_contexts(one: dict[str, object], other: dict[str, object]) -> None:
    are_alike = _canonical(one) == _canonical(other)
    assert (context_id("telegram", one) == context_id("telegram", other)) == are_alike


def test_m01_a_superset_of_the_keys_is_another_context() -> None:
    chat = {"bot_id": 7, "chat_id": 1}
    assert context_id("telegram", chat) != context_id("telegram", {**chat, "message_thread_id": 3})
    assert context_id("telegram", chat) != context_id("telegram", {"chat_id": 1})


def test_m01_keys_that_are_not_json_are_refused() -> None:
    with pytest.raises(TypeError):
        context_id("telegram", {"chat_id": object()})
    with pytest.raises(ValueError, match="JSON"):
        context_id("telegram", {"chat_id": float("nan")})


def test_m02_a_context_is_identified_by_bot_chat_and_topic() -> None:
    seen = {
        context_id("telegram", {"bot_id": bot, "chat_id": chat, "message_thread_id": thread})
        for bot in (7, 8)
        for chat in (1, -1)
        for thread in (2, 3)
    }
    assert len(seen) == 8


def test_m02_no_other_transport_reaches_a_telegram_context() -> None:
    keys = {"bot_id": 7, "chat_id": 1}
    telegram = context_id("telegram", keys)
    guesses = [context_id("web", keys), context_id("", keys), context_id("", {"telegram": keys})]
    assert telegram not in guesses
    assert context_id("web", {"id": telegram}) != telegram


def test_every_key_name_is_documented() -> None:
    tables = [
        (ContextName, CONTEXT_KEYS),
        (WorkName, WORK_KEYS),
        (PartitionName, PARTITION_KEYS),
        (GlobalName, GLOBAL_KEYS),
    ]
    for names, table in tables:
        assert list(get_args(names)) == list(table)


def test_a_reset_erases_all_keys_of_a_context_except_epoch_choices_and_incognito_and_counts_records() -> None:
    assert set(CONTEXT_KEYS) - set(ERASED_KEYS) == {"epoch", "choices", "incognito", "artifact", "receipt"}
    lists = {CONTEXT_KEYS["artifact"].listed_in, CONTEXT_KEYS["receipt"].listed_in}
    assert lists < set(ERASED_KEYS), "single artifacts and receipts are found by these lists"
    assert set(ERASED_KEYS.values()) - {""} == {field.name for field in fields(RecordCounts)} - {"quotes"}


def test_all_keys_of_a_chat_share_the_hash_tag_of_its_partition() -> None:
    partition = partition_of(-100123, 8)
    ref = ContextRef(context_id=context_id("telegram", {"chat_id": -100123}), partition=partition)
    keys = [
        context_key(ref, "messages"),
        partition_key(partition, "update", 5),
        partition_key(partition, "work"),
    ]
    assert {key.split("{")[1].split("}")[0] for key in keys} == {f"m{partition}"}


@given(st.integers(), st.integers(min_value=1, max_value=64))
def test_a_chat_is_always_in_the_same_partition(chat_id: int, partitions: int) -> None:
    assert 0 <= partition_of(chat_id, partitions) < partitions
    assert partition_of(chat_id, partitions) == partition_of(str(chat_id), partitions)


def _canonical(keys: dict[str, object]) -> list[tuple[str, str, object]]:
    return sorted(
        ((key, type(value).__name__, value) for key, value in keys.items()), key=lambda item: item[0]
    )


def test_no_two_keys_share_a_name() -> None:
    names = [*CONTEXT_KEYS, *WORK_KEYS, *PARTITION_KEYS, *GLOBAL_KEYS]
    assert len(names) == len(set(names))


def test_scripts_keep_the_record_of_a_finished_update_as_long_as_the_table_says() -> None:
    script = files("memory.redis.scripts").joinpath("updates.lua").read_text("utf-8")

    hours = re.findall(r"^local RECORD_KEPT_S = (\d+) \* 3600$", script, re.MULTILINE)

    assert [int(each) * 3600 for each in hours] == [TERMINAL_UPDATE_TTL_S]
