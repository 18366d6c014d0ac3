"""Lua scripts for tests, as typed functions."""

from memory.keys import ContextRef, Key
from memory.redis.lua import ScriptCall, lua_script

_typed = lua_script("tests.scripts")


@_typed
def set_value(*, key: Key, value: str) -> ScriptCall: ...


@_typed
def set_two(*, one: Key, two: Key, value: str) -> ScriptCall: ...


@_typed
def link_telegram_id(ref: ContextRef, *, message_id: str, telegram_id: int) -> ScriptCall: ...


@_typed
def unlink_all(ref: ContextRef) -> ScriptCall: ...
