"""The registry of contexts: an operator lists it, and a first message adds to it."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from memory.codec import dump_json, parse_json
from memory.keys import ContextRef, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

_PIECE = 1000
"""Contexts of one round trip of a scan: half a millisecond of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A registered context."""

    ref: ContextRef
    keys: Mapping[str, Any]
    """The names that its id is made of, such as the chat's id."""
    title: str
    created_at: float
    """Unix seconds of the first message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    keys: dict[str, Any]
    title: str
    created_at: float


async def get_or_create(
    redis: RedisClient, ref: ContextRef, *, context_keys: Mapping[str, Any], title: str, now: float
) -> Context:
    """Return the registered context; create it if it is new. Two first messages at the same instant make one.

    A new title replaces the old one. Raises StoreUnavailable or StoreFull.
    """
    entry = dump_entry(context_keys, title=title, created_at=now)
    stored = await redis.run(register_context(ref, entry=entry, replaced=""))
    context = parse_context(ref, stored)
    if context.title == title:
        return context
    entry = dump_entry(context.keys, title=title, created_at=context.created_at)
    stored = await redis.run(register_context(ref, entry=entry, replaced=stored))
    return parse_context(ref, stored)


def dump_entry(context_keys: Mapping[str, Any], *, title: str, created_at: float) -> str:
    """Return a context's entry in the registry."""
    return dump_json(_Entry, _Entry(keys=dict(context_keys), title=title, created_at=created_at))


async def list_contexts(redis: RedisClient, partitions: Iterable[int]) -> list[Context]:
    """Return all registered contexts of these partitions, the oldest first."""
    found = {
        context.ref: context for partition in partitions async for context in _scan(redis, partition, text="")
    }
    return sorted(found.values(), key=lambda context: (context.created_at, context.ref.context_id))


async def find_context(redis: RedisClient, ref: ContextRef) -> Context | None:
    """Return the registered context, or None."""
    entry = await redis.call("HGET", partition_key(ref.partition, "contexts"), ref.context_id)
    return None if entry is None else parse_context(ref, str(entry))


async def scan_contexts(
    redis: RedisClient, partition: int, *, name: str, value: int
) -> AsyncGenerator[Context]:
    """Yield the registered contexts of a partition whose key `name` has this value, in any order.

    The store filters the entries, in pieces. A context may come twice if the registry grows meanwhile.
    """
    async for context in _scan(redis, partition, text=f'"{name}":{value}'):
        if context.keys.get(name) == value:  # the text may be the beginning of a longer number
            yield context


async def _scan(redis: RedisClient, partition: int, *, text: str) -> AsyncGenerator[Context]:
    """Yield the contexts whose entries contain this text. Parsing all at once would hold up other work."""
    cursor = 0
    while True:
        reply = await redis.run(search_contexts(partition, cursor=cursor, count=_PIECE, text=text))
        cursor, entries = int(reply[0]), cast("list[str]", reply[1])
        for context_id, entry in zip(entries[::2], entries[1::2], strict=True):
            yield parse_context(ContextRef(context_id=context_id, partition=partition), entry)
        if not cursor:
            return


@lua_script("memory.redis.scripts")
def register_context(ref: ContextRef, *, entry: str, replaced: str) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def search_contexts(partition: int, *, cursor: int, count: int, text: str) -> ScriptCall: ...


def parse_context(ref: ContextRef, line: str) -> Context:
    """Return the context of an entry in the registry."""
    entry = parse_json(_Entry, line)
    return Context(ref=ref, keys=entry.keys, title=entry.title, created_at=entry.created_at)
