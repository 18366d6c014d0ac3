"""Writes a backup: a head, the keys of all contexts and of the bot, as they are, and an end with a SHA-256."""

import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Final, Literal, TextIO

from pydantic import BaseModel, Field

from memory.keys import CONTEXT_KEYS, PREFIX, ContextRef, Key, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.durability import STORE_FORMAT
from memory.redis.lua import ScriptCall, lua_script

TRIES = 4
"""Times that the backup is written if something was erased meanwhile."""
KEYS_AT_ONCE = 1000
VALUES_OF_A_LINE, CHARACTERS_OF_A_LINE = 1000, 100_000
"""Limits of a line; a longer key has several lines. A single value may have more characters."""

OF_PARTITIONS: Final = ("contexts",)
OF_THE_BOT: Final = ("migrations", "zones", "{access}:guests", "{access}:open")
OF_ERASURES: Final = ("secret", "tombstones")
"""First in the file: what they name is gone from the rest. They are no memory."""
IN_PARTITIONS: Final = (*OF_PARTITIONS, "tombstones")
_LISTED: Mapping[str, str] = {
    **{kind.listed_in: name for name, kind in CONTEXT_KEYS.items() if kind.listed_in},
    "{access}:open": "{access}:invitation",
}
"""Keys that list the ids of other keys, with the name of those."""
CARRIED: Final = frozenset((*CONTEXT_KEYS, *OF_PARTITIONS, *OF_THE_BOT, *OF_ERASURES, *_LISTED.values()))
"""Keys of a backup. The others are made again, end by themselves, or belong to one store."""


class KeyPlace(BaseModel, frozen=True):
    """Name of a key of a context, a partition or the bot."""

    name: str
    partition: int = 0
    context: Annotated[str, Field(pattern="^([0-9a-f]{32})?$")] = ""
    part: Annotated[str, Field(pattern="^[0-9a-zA-Z_-]*$")] = ""
    """Last part of the name, such as the id of an artifact."""

    @property
    def key(self) -> Key:
        """Return the whole key. Raises ValueError for one that no backup has."""
        name: Any = self.name
        parts = (self.part,) if self.part else ()
        if name not in CARRIED or bool(self.context) != (name in CONTEXT_KEYS):
            raise ValueError("no backup has this key")
        if self.context:
            return context_key(self.ref, name, *parts)
        return partition_key(self.partition, name) if name in IN_PARTITIONS else global_key(name, *parts)

    @property
    def ref(self) -> ContextRef:
        """Return the key's context."""
        return ContextRef(context_id=self.context, partition=self.partition)


class Head(BaseModel, frozen=True):
    """First line of a backup."""

    kind: Literal["backup"] = "backup"
    store: int
    """Format of the keys and their values."""
    version: str
    began_at: str
    partitions: int


class KeyLine(KeyPlace, frozen=True):
    """A key, or a piece of it."""

    kind: Literal["key"] = "key"
    type: Literal["hash", "zset", "string"]
    values: Annotated[list[str], Field(min_length=1)]
    """Fields and values of a HASH, members and scores of a ZSET, or one STRING."""
    ends_at: int | None = None
    """Unix milliseconds at which the key expires."""


class Complete(BaseModel, frozen=True):
    """Last line of a backup."""

    kind: Literal["complete"] = "complete"
    sha256: str
    """SHA-256 of all lines before it."""
    counts: dict[str, int]
    """Entries of all keys of a name."""
    erased_before: str
    """Nothing that was erased before this time is in the backup (ISO 8601)."""

    @property
    def chats(self) -> int:
        """Return the number of registered contexts."""
        return self.counts.get("contexts", 0)


@dataclass(slots=True)
class Backup:
    """One run."""

    redis: RedisClient
    _: KW_ONLY
    partitions: int
    version: str
    iso: Callable[[float], str]
    clock: Callable[[], float]
    notify: Callable[[int, int], None]
    """Called with the number of contexts that are read, and of all."""

    async def write(self, stream: TextIO) -> Complete:
        """Write the file and return its last line. It is written again if something is erased or edited meanwhile.

        The keys of a context are of one moment. Raises OSError and the store's errors.
        """
        tries = TRIES
        while True:
            stream.seek(0)
            stream.truncate()
            began, erasures = self.iso(self.clock()), await self._erasures()
            digest, counts = hashlib.sha256(), Counter[str]()
            head = Head(store=STORE_FORMAT, version=self.version, began_at=began, partitions=self.partitions)
            digest.update(_write(stream, head))
            async for line in self._lines():
                digest.update(_write(stream, line))
                counts[line.name] += count_entries(line)
            ended, is_current = self.iso(self.clock()), await self._erasures() == erasures
            erased_before = ended if is_current else began
            end = Complete(sha256=digest.hexdigest(), counts=counts, erased_before=erased_before)
            tries -= 1
            if is_current or not tries:
                _write(stream, end)
                return end

    async def _erasures(self) -> list[str]:
        """Return the partitions' numbers of erasures and edits that somebody asked for."""
        names = [partition_key(partition, "erasures") for partition in range(self.partitions)]
        return [str(await self.redis.call("GET", name)) for name in names]

    async def _lines(self) -> AsyncGenerator[KeyLine]:
        """Yield all keys. The registry comes last, so that it has every context with a memory."""
        graves = [KeyPlace(name="tombstones", partition=each) for each in range(self.partitions)]
        for place in (KeyPlace(name="secret"), *graves):
            for line in await self._read([place]):
                yield line
        for name in OF_THE_BOT:
            async for line in self._read_all([KeyPlace(name=name)]):
                yield line
        contexts = {ref: None async for ref in scan_contexts(self.redis, self.partitions)}
        names = [name for name, kind in CONTEXT_KEYS.items() if not kind.parts]
        for number, ref in enumerate(contexts, 1):
            places = [KeyPlace(name=name, context=ref.context_id, partition=ref.partition) for name in names]
            async for line in self._read_all(places):
                yield line
            self.notify(number, len(contexts))
        for partition in range(self.partitions):
            async for line in self._read_all(
                [KeyPlace(name=name, partition=partition) for name in OF_PARTITIONS]
            ):
                yield line

    async def _read_all(self, places: Sequence[KeyPlace]) -> AsyncGenerator[KeyLine]:
        """Yield these keys, and those that they list."""
        for line in await self._read(places):
            yield line
            if line.name in _LISTED:
                listed = KeyPlace(name=_LISTED[line.name], context=line.context, partition=line.partition)
                for part in line.values[::2]:
                    for each in await self._read([listed.model_copy(update={"part": part})]):
                        yield each

    async def _read(self, places: Sequence[KeyPlace]) -> list[KeyLine]:
        first, *others = [place.key for place in places]
        replies = await self.redis.run(read_keys(first=first, others=others))
        now = int(self.clock() * 1000)
        return [
            KeyLine(
                **place.model_dump(),
                type=kind,
                values=values,
                ends_at=now + int(left_ms) if int(left_ms) >= 0 else None,
            )
            for place, (kind, left_ms, whole) in zip(places, replies, strict=True)
            for values in _pieces(whole)
        ]


async def scan_contexts(redis: RedisClient, partitions: int) -> AsyncGenerator[ContextRef]:
    """Yield every context that has a key, some of them often. After a reset a context is not registered."""
    for partition in range(partitions):
        cursor, pattern = 0, f"{PREFIX}:{{m{partition}}}:ctx:*"
        while True:
            script = scan_keys(partition, cursor=cursor, count=KEYS_AT_ONCE, pattern=pattern)
            next_cursor, found = await redis.run(script)
            for key in found:
                yield ContextRef(context_id=key.split(":")[3], partition=partition)
            cursor = int(next_cursor)
            if not cursor:
                break


def count_entries(line: KeyLine) -> int:
    """Return the number of fields of a HASH, or of members of a ZSET; 1 for a STRING."""
    return (len(line.values) + 1) // 2


def _pieces(values: Sequence[str]) -> Iterator[list[str]]:
    """Yield the values, with pairs together."""
    piece: list[str] = []
    size = 0
    for at in range(0, len(values), 2):
        piece += values[at : at + 2]
        size += sum(map(len, values[at : at + 2]))
        if len(piece) >= VALUES_OF_A_LINE or size >= CHARACTERS_OF_A_LINE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _write(stream: TextIO, line: Head | KeyLine | Complete) -> bytes:
    text = line.model_dump_json(ensure_ascii=True, exclude_defaults=True)
    text = f'{{"kind":"{line.kind}",{text[1:]}\n'
    stream.write(text)
    return text.encode()


@lua_script("memory.redis.scripts")
def read_keys(*, first: Key, others: list[Key]) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def scan_keys(partition: int, *, cursor: int, count: int, pattern: str) -> ScriptCall: ...
