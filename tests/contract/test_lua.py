"""Lua scripts as typed functions: checked at import, and run by the real server."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory import keys
from memory.keys import ContextRef, Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

REF = ContextRef(context_id="c" * 32, partition=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A record that a script reads as JSON."""

    name: str
    age: int | None = None


@lua_script("tests.scripts")
def typed(
    ref: ContextRef, *, extra: Key, name: str, count: int, is_new: bool, person: Person, ids: Sequence[str]
) -> ScriptCall: ...


async def test_a_stub_builds_the_keys_and_encodes_the_arguments_of_its_script(redis: RedisClient) -> None:
    extra = keys.context_key(REF, "journal")

    call = typed(
        REF, extra=extra, name="Anna", count=2, is_new=True, person=Person(name="Tom"), ids=["a", "b"]
    )

    assert list(call.keys) == [keys.context_key(REF, "meta"), keys.partition_key(0, "contexts"), extra]
    assert await redis.run(call) == ["Anna", 4, "Tom", 2]
    stored = await redis.call("HMGET", keys.context_key(REF, "meta"), "count", "is_new", "person", "age")
    assert stored == ["4", "1", "Tom", "none"]
    assert await redis.call("HGET", keys.partition_key(0, "contexts"), "ids") == "a b"


def test_a_stub_with_another_order_of_arguments_is_refused_at_import() -> None:
    def typed_wrong_order(ref: ContextRef, *, second: str, first: str) -> ScriptCall: ...

    with pytest.raises(TypeError, match="declares the arguments"):
        lua_script("tests.scripts")(typed_wrong_order)


def test_a_stub_with_a_key_that_the_script_lacks_is_refused_at_import() -> None:
    def typed_wrong_order(ref: ContextRef, *, journal: Key, first: str, second: str) -> ScriptCall: ...

    with pytest.raises(TypeError, match="does not declare the keys"):
        lua_script("tests.scripts")(typed_wrong_order)


def test_a_script_with_an_undeclared_key_is_refused_at_import() -> None:
    def typed_missing_key(ref: ContextRef, *, name: str) -> ScriptCall: ...

    with pytest.raises(TypeError, match="epoch"):
        lua_script("tests.scripts")(typed_missing_key)


async def test_each_script_names_commands_whose_permission_can_be_asked(redis: RedisClient) -> None:
    """The check before a script fails for a name that is no command by itself, such as XINFO."""
    root = Path(__file__).parents[2]
    texts = [
        path.read_text("utf-8") for folder in ("bot", "memory") for path in (root / folder).rglob("*.lua")
    ]
    names = {name for text in texts for name in re.findall(r"redis\.p?call\('([A-Z]+)'", text)} - {
        "XGROUP",
        "XINFO",
    }

    for name in names:
        assert await redis.call("EVAL", "return redis.acl_check_cmd(ARGV[1], '') and 1", 0, name) == 1
