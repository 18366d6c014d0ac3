"""The registry of contexts: what an operator can list, and how a first message makes one."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from memory.keys import ContextRef, contexts_key
from memory.redis.client import RedisClient, ScriptCall, load_script


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context as it is registered: the keys it is known by, its title, when it was first seen."""

    ref: ContextRef
    keys: Mapping[str, Any]
    title: str
    created_at: float


async def get_or_create(
    redis: RedisClient, ref: ContextRef, *, context_keys: Mapping[str, Any], title: str, now: float
) -> Context:
    """The registered context; one atomic step, so that two first messages at the same instant make one.

    A new title replaces the old one. Raises StoreUnavailable or StoreFull.
    """
    reply = await redis.run_all([register_call(ref, context_keys=context_keys, title=title, now=now)])
    kept = parse_registered(ref, reply[0])
    if kept.title == title:
        return kept
    renamed = Context(ref=ref, keys=kept.keys, title=title, created_at=kept.created_at)
    reply = await redis.run_all([_register_call(renamed, replaced=reply[0][1])])
    return parse_registered(ref, reply[0])


def register_call(ref: ContextRef, *, context_keys: Mapping[str, Any], title: str, now: float) -> ScriptCall:
    """The call that registers a context where it is not, for a round trip that carries more than this."""
    return _register_call(Context(ref=ref, keys=context_keys, title=title, created_at=now), replaced="")


def parse_registered(ref: ContextRef, reply: tuple[int, str]) -> Context:
    """The context as it is kept after `register_call`."""
    return _parse(ref, reply[1])


def dump_entry(context_keys: Mapping[str, Any], *, title: str, created_at: float) -> str:
    """A context's entry in the registry, as one line of ASCII JSON."""
    return json.dumps({"keys": dict(context_keys), "title": title, "created_at": created_at}, sort_keys=True)


async def list_contexts(redis: RedisClient, partitions: Iterable[int]) -> list[Context]:
    """Every registered context of these partitions, the oldest first."""
    found: list[Context] = []
    for partition in partitions:
        entries = cast(dict[str, str], await redis.call("HGETALL", contexts_key(partition)))
        found += [
            _parse(ContextRef(context_id=context_id, partition=partition), entry)
            for context_id, entry in entries.items()
        ]
    return sorted(found, key=lambda context: (context.created_at, context.ref.context_id))


async def forget(redis: RedisClient, ref: ContextRef) -> bool:
    """Take the context off the registry; whether it was there. Its memory is erased elsewhere."""
    return bool(await redis.call("HDEL", contexts_key(ref.partition), ref.context_id))


def _register_call(context: Context, *, replaced: str) -> ScriptCall:
    entry = dump_entry(context.keys, title=context.title, created_at=context.created_at)
    return ScriptCall(
        script=load_script("memory.redis.scripts", "register_context"),
        keys=[contexts_key(context.ref.partition)],
        arguments=[context.ref.context_id, entry, replaced],
    )


def _parse(ref: ContextRef, entry: str) -> Context:
    fields = cast(dict[str, Any], json.loads(entry))
    return Context(ref=ref, keys=fields["keys"], title=fields["title"], created_at=fields["created_at"])
