"""Tombstones: keyed hashes of what was erased, in the store and in files beside it. No older file brings that back.

A name is an HMAC with the installation's secret, because ids can be guessed. With the secret, ids can be tried out:
then one learns that something was erased, but no word of it.
"""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Literal, cast

import structlog

from memory.errors import StoreFull
from memory.keys import ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.redis.tombstone_files import Plot, Tombstone, TombstoneFolder

log = structlog.get_logger()

Grave = Literal[
    "message", "shown", "written", "quoted", "talk", "fact", "reset", "replaced", "imported", "person"
]
"""Things that a tombstone names.

- message: a message by its id; shown: the same by its Telegram ids; written: by its writer and second, because the
  export of a private chat has other ids.
- quoted: a message that the history did not have, by these.
- talk: an overheard line by its score; fact: a fact by its id.
- reset, replaced: a whole context that was reset, or emptied for an import.
- imported: a chat of another service that the context had imported before its reset.
- person: the words of a person, in one context or everywhere.
"""

NAME_BYTES = 16
CHATS_FIELD = ":chats:"
"""Part of the names of a context's imports that have the tombstones which a reset leaves, one for each chat."""
_AT_ONCE = 1_000
"""Tombstones of one request."""
_OVERLAP_S = 60.0
"""A tombstone of a script that began earlier may arrive so much later, at most."""


def name_of(secret: bytes, grave: Grave, *ids: str | int) -> str:
    """Return the name of a tombstone, 22 letters. The id of the context comes first, except for a person everywhere."""
    text = "\x1f".join((grave, *map(str, ids)))
    digest = hmac.digest(secret, text.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest[:NAME_BYTES]).decode().rstrip("=")


async def load_secret(redis: RedisClient) -> bytes:
    """Return the installation's secret. It is created once; a new store gets the last one that was used beside it."""
    key = global_key("secret")
    stored = await redis.call("GET", key)
    if stored is None:
        given = "" if redis.beside is None else await asyncio.to_thread(redis.beside.newest_secret)
        await redis.call("SET", key, given or token_hex(32), "NX")
        stored = await redis.call("GET", key)
    return bytes.fromhex(str(stored))


async def open_beside(redis: RedisClient, folder: Path) -> None:
    """Copy tombstones into this folder from now on, and see that the installation has its secret."""
    redis.beside = TombstoneFolder(folder)
    with suppress(StoreFull, OSError):
        secret = await load_secret(redis)
        if redis.beside.path.parent.is_dir():  # given servers need no folder before the first erasure
            await asyncio.to_thread(redis.beside.save_secret, secret)


async def names_of(redis: RedisClient, ref: ContextRef, **wanted: Iterable[str | int]) -> list[str]:
    """Return the names of things of one context, by what they are: `message=ids, fact=ids`.

    One empty name, if a full store has no secret yet: the erasure must not fail because of that.
    """
    try:
        secret = await load_secret(redis)
    except StoreFull:
        return [""]
    return [
        name_of(secret, cast("Grave", of), ref.context_id, id) for of, ids in wanted.items() for id in ids
    ]


async def reset_names(redis: RedisClient, ref: ContextRef, grave: Grave = "reset") -> list[list[str]]:
    """Return the names of the tombstones of a whole context, and those that the reset's script must leave.

    A reset also names the chats that the context has imported, up to 200,000. Their tombstones are left here, in
    steps, so that the script is short. If a crash follows, no later file brings these chats back. A full store takes
    none before it is emptied.
    """
    own = await _reset_name(redis, ref, grave)
    if grave != "reset":
        return [[own], [own]]
    imports: dict[str, str] = await redis.call("HGETALL", context_key(ref, "imports"))
    chats = [name for field, text in imports.items() if CHATS_FIELD in field for name in text.split()]
    done = 0
    with suppress(StoreFull):
        while done < len(chats):
            await redis.run(leave_tombstones(ref, names=chats[done : done + _AT_ONCE]))
            done += _AT_ONCE
    return [[own, *chats], [own, *chats[done:]]]


async def _reset_name(redis: RedisClient, ref: ContextRef, grave: Grave = "reset") -> str:
    """Return "" as `names_of` does."""
    try:
        return name_of(await load_secret(redis), grave, ref.context_id)
    except StoreFull:
        return ""


async def bury(redis: RedisClient, partition: int, name: str, *, at: float) -> str:
    """Leave one tombstone of this time in the store. Return why its copy is missing, or ""."""
    await redis.call("ZADD", partition_key(partition, "tombstones"), "GT", f"{at:.6f}", name)
    return await copy_beside(redis, partition, [name])


async def copy_beside(redis: RedisClient, partition: int, names: Collection[str]) -> str:
    """Copy these tombstones of the store into the file beside it. Return why that failed, or ""."""
    if "" in names:
        return "the store is full and has no secret yet"
    if redis.beside is None or not names:
        return ""
    key, listed, found = partition_key(partition, "tombstones"), list(names), list[Tombstone]()
    for start in range(0, len(listed), _AT_ONCE):
        part = listed[start : start + _AT_ONCE]
        times = await redis.call("ZMSCORE", key, *part)
        found += [Tombstone(partition, name, float(at)) for name, at in zip(part, times, strict=True) if at]
    secret = await load_secret(redis)
    problem = await asyncio.to_thread(redis.beside.append, secret, found)
    if problem:
        log.warning("tombstone_not_copied", folder=str(redis.beside.path), reason=problem)
    return problem


@dataclass(slots=True, kw_only=True)
class TombstoneCopier:
    """Copies the tombstones that other processes and machines have left in the store. Raises the store's errors."""

    redis: RedisClient
    partitions: int
    _since: dict[int, float] = field(default_factory=dict[int, float])
    _known: Plot | None = None

    async def step(self) -> int:
        """Copy what is new, and return how many tombstones that were."""
        beside = self.redis.beside
        if beside is None:
            return 0
        secret = await load_secret(self.redis)
        if self._known is None:
            self._known = (await asyncio.to_thread(beside.load)).get(secret, {})
        known, new = self._known, list[Tombstone]()
        for partition in range(self.partitions):
            since = self._since.get(partition, 0.0)
            found = await _load(self.redis, partition, since=since)
            new += [each for each in found if each.name not in known or known[each.name].at < each.at]
            self._since[partition] = max([since, *(each.at - _OVERLAP_S for each in found)])
        if new and await asyncio.to_thread(beside.append, secret, new):
            self._since.clear()  # the file lacks them: again from the beginning
            return 0
        known |= {each.name: each for each in new}
        return len(new)


@dataclass(slots=True, kw_only=True)
class Graveyard:
    """Everything that must not come back, by secret, and what a file knew of it when it was written."""

    plots: dict[bytes, Plot] = field(default_factory=dict[bytes, Plot])
    carried: dict[str, float] = field(default_factory=dict[str, float])
    """Times of the file's own tombstones: what they name was gone when it was written."""

    def find(self, grave: Grave, *ids: str | int) -> float | None:
        """Return the time of a tombstone, the newest one of all secrets, or None."""
        names = [(plot, name_of(secret, grave, *ids)) for secret, plot in self.plots.items() if plot]
        return max((plot[name].at for plot, name in names if name in plot), default=None)

    def has_later(self, *graves: Grave, of: str | int) -> bool:
        """Return True if one of these tombstones of a context is newer than the file's."""
        names = ((plot, name_of(secret, each, of)) for secret, plot in self.plots.items() for each in graves)
        return any(name in plot and plot[name].at > self.carried.get(name, 0.0) for plot, name in names)

    def has_any(self) -> bool:
        """Return True if something may have to be left out of the file."""
        stones = (each for plot in self.plots.values() for each in plot.values())
        return any(each.at > self.carried.get(each.name, 0.0) for each in stones)

    def find_person(self, context_id: str, person: int) -> float | None:
        """Return the time at which this person was forgotten last, everywhere or in this context, or None."""
        times = (self.find("person", person), self.find("person", context_id, person))
        return max((each for each in times if each is not None), default=None)


async def load_graveyard(redis: RedisClient, partitions: Iterable[int]) -> Graveyard:
    """Return the tombstones of the store's partitions and of the files beside it."""
    plots = {} if redis.beside is None else await asyncio.to_thread(redis.beside.load)
    plot = plots.setdefault(await load_secret(redis), {})
    for partition in partitions:
        for each in await _load(redis, partition):
            if each.name not in plot or plot[each.name].at < each.at:
                plot[each.name] = each
    return Graveyard(plots=plots)


async def load_reset_time(redis: RedisClient, ref: ContextRef) -> float | None:
    """Return the time of the last reset of a context, or None."""
    name = await _reset_name(redis, ref)
    return await redis.call("ZSCORE", partition_key(ref.partition, "tombstones"), name)


async def _load(redis: RedisClient, partition: int, *, since: float = 0.0) -> list[Tombstone]:
    key = partition_key(partition, "tombstones")
    rows = await redis.call("ZRANGEBYSCORE", key, since, "+inf", "WITHSCORES")
    return [Tombstone(partition, str(name), float(at)) for name, at in rows]


@lua_script("memory.redis.scripts")
def leave_tombstones(ref: ContextRef, *, names: list[str]) -> ScriptCall: ...
