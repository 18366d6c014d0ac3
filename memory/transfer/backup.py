"""Writes a backup of all contexts: one file for each in a folder, which a later run continues, then one file of all."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO, cast

from memory.errors import Forgotten, RecordCorrupt
from memory.history.contexts import Context, list_contexts
from memory.keys import PREFIX, ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.transfer.backup_file import (
    FORMAT,
    Complete,
    Head,
    RecordLine,
    dump_part,
    section_header,
)
from memory.transfer.exporter import ChangedMeanwhile, write_export
from memory.transfer.file import Header

TRIES = 4
"""Times that the file of all is written if something was erased meanwhile."""
CONTEXTS_AT_ONCE = 200
FIELDS_AT_ONCE = 1000
KEYS_AT_ONCE = 1000
_HASHES: Final = ("migrations", "zones", "{access}:guests")
_CHAT, _PART = ".chat", ".part"


class BackupFailed(Exception):
    """A chat cannot be read. The message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupResult:
    """Counts of a complete backup."""

    chats: int
    read: int
    """Files of chats that this run has written."""
    counts: Counter[str]
    """Lines of each kind (KINDS)."""
    complete: Complete


@dataclass(slots=True)
class Backup:
    """One run, in a folder that is its own."""

    redis: RedisClient
    folder: Path
    _: KW_ONLY
    partitions: int
    version: str
    name_of: Callable[[Context], str]
    """Returns the chat as operators write it, or ""."""
    iso: Callable[[float], str]
    clock: Callable[[], float]
    notify: Callable[[int, int], None]
    """Called with the number of chats that are done, and of all."""
    read: int = 0
    _moments: dict[str, str] = field(default_factory=dict[str, str])

    async def write(self) -> tuple[Path, BackupResult]:
        """Write the file of all, flushed to disk, and return it. A run after a crash reads only what has changed.

        Nothing that was erased before the time in its last line is in it. Raises BackupFailed, OSError and the store's
        errors.
        """
        whole, began = self.folder / "whole", self.iso(self.clock())
        try:
            with private_file(whole) as stream:
                result, is_current = await self._fill(stream, began)
                for _ in range(TRIES - 1):
                    if is_current:
                        break
                    result, is_current = await self._fill(stream, began)
                stream.write(dump_part(result.complete))
                stream.flush()
                os.fsync(stream.fileno())
        except BaseException:
            whole.unlink(missing_ok=True)  # it may have filled the disk
            raise
        return whole, result

    async def _fill(self, stream: TextIO, began: str) -> tuple[BackupResult, bool]:
        """Write all lines but the last. Return the result, and True if nothing was erased meanwhile."""
        erased_before, erasures = self.clock(), await self._erasures()
        contexts = await self._refresh()
        digest, counts = hashlib.sha256(), Counter[str]()
        stream.seek(0)
        stream.truncate()
        async for line in self._all_lines(contexts, began, counts):
            digest.update(line.encode())
            stream.write(line)
        now = self.clock()
        is_current = await self._erasures() == erasures
        complete = Complete(
            chats=len(contexts),
            sha256=digest.hexdigest(),
            erased_before=self.iso(now if is_current else erased_before),
        )
        chats = len(contexts)
        return BackupResult(chats=chats, read=self.read, counts=counts, complete=complete), is_current

    async def _refresh(self) -> list[Context]:
        """Read every context that is new or has changed, and return those that have a file now, the oldest first."""
        listed = await list_contexts(self.redis, range(self.partitions))
        names = {self._path(context).name for context in listed}
        for path in self.folder.iterdir():
            if path.suffix in (_CHAT, _PART) and path.name not in names:
                path.unlink()
        done, kept = 0, list[Context]()
        for first in range(0, len(listed), CONTEXTS_AT_ONCE):
            batch = listed[first : first + CONTEXTS_AT_ONCE]
            digests = await self.redis.run_all([context_moment(context.ref) for context in batch])
            for context, digest in zip(batch, digests, strict=True):
                moment = f"{digest} {context.created_at!r} {context.title}"
                if self._kept_moment(context) == moment or await self._read(context, moment):
                    kept.append(context)
                done += 1
                self.notify(done, len(listed))
        return kept

    def _kept_moment(self, context: Context) -> str:
        """Return the moment of the file that a run has written, or "" if there is none that is whole."""
        context_id = context.ref.context_id
        if context_id not in self._moments:
            self._moments[context_id] = _whole_moment(self._path(context))
        return self._moments[context_id]

    async def _read(self, context: Context, moment: str) -> bool:
        """Write the file of a context. Return False if it was reset meanwhile."""
        header = Header(
            format=2,
            version=self.version,
            exported_at=self.iso(self.clock()),
            chat=self.name_of(context),
            title=context.title,
            context=context.ref.context_id,
            registered_at=context.created_at,
            keys=dict(context.keys),
            partition=context.ref.partition,
            moment=moment,
        )
        path = self._path(context)
        name = header.chat or header.context
        try:
            with private_file(path.with_suffix(_PART)) as stream:
                await write_export(self.redis, context.ref, stream, header=header, clock=self.clock)
        except Forgotten:
            path.unlink(missing_ok=True)
            self._moments.pop(context.ref.context_id, None)
            return False
        except ChangedMeanwhile:
            raise BackupFailed(f"Chat {name} was edited during each attempt to read it.") from None
        except RecordCorrupt as error:
            raise BackupFailed(f"Chat {name} cannot be read: {error}.") from None
        path.with_suffix(_PART).replace(path)
        self._moments[context.ref.context_id] = moment
        self.read += 1
        return True

    async def _all_lines(
        self, contexts: Sequence[Context], began: str, counts: Counter[str]
    ) -> AsyncGenerator[str]:
        """Yield all lines but the last, and count the lines of each kind in the contexts' files."""
        yield dump_part(Head(format=FORMAT, version=self.version, began_at=began, partitions=self.partitions))
        async for record in self._records({context.ref.context_id for context in contexts}):
            yield dump_part(record)
        for context in contexts:
            with self._path(context).open(encoding="ascii", newline="\n") as stream:
                line = ""
                for line in stream:
                    yield line
                counts.update(json.loads(line)["counts"])

    async def _records(self, registered: set[str]) -> AsyncGenerator[RecordLine]:
        """Yield the records that belong to no file of a context."""
        for name in _HASHES:
            for fields in _pieces(await self.redis.call("HGETALL", global_key(name))):
                yield RecordLine(name=name, fields=fields)
        invitations = await self.redis.call("ZRANGE", global_key("{access}:open"), 0, -1, "WITHSCORES")
        for fields in _pieces(dict(invitations)):
            yield RecordLine(name="{access}:open", fields=fields)
        async for ref in scan_choices(self.redis, self.partitions):
            if ref.context_id not in registered:
                registered.add(ref.context_id)  # a scan may find a key twice
                choices = await self.redis.call("HGETALL", context_key(ref, "choices"))
                if choices:
                    yield RecordLine(
                        name="choices", fields=choices, context=ref.context_id, partition=ref.partition
                    )

    async def _erasures(self) -> list[str]:
        """Return the partitions' numbers of erasures and edits that somebody asked for."""
        names = [partition_key(partition, "erasures") for partition in range(self.partitions)]
        return [str(await self.redis.call("GET", name)) for name in names]

    def _path(self, context: Context) -> Path:
        return self.folder / f"{context.ref.context_id}{_CHAT}"


async def scan_choices(redis: RedisClient, partitions: int) -> AsyncGenerator[ContextRef]:
    """Yield the contexts with choices about facts. They outlive a reset, after which the context is not registered."""
    for partition in range(partitions):
        cursor = 0
        pattern = f"{PREFIX}:{{m{partition}}}:ctx:*:choices"
        while True:
            reply = await redis.run(scan_keys(partition, cursor=cursor, count=KEYS_AT_ONCE, pattern=pattern))
            for key in cast("list[str]", reply[1]):
                yield ContextRef(context_id=key.split(":")[3], partition=partition)
            cursor = int(reply[0])
            if not cursor:
                break


def private_file(path: Path) -> TextIO:
    """Open an empty file that only its owner may read."""
    path.unlink(missing_ok=True)
    path.touch(0o600)
    return path.open("r+", encoding="ascii", newline="\n")


def _whole_moment(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            header, last = stream.readline(), b""
            for line in stream:
                digest.update(last)
                last = line
        if json.loads(last)["sha256"] == digest.hexdigest():
            return section_header(header.decode()).moment
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return ""


def _pieces(fields: dict[str, Any]) -> Iterator[dict[str, str]]:
    items = list(fields.items())
    for first in range(0, len(items), FIELDS_AT_ONCE):
        yield {str(name): str(value) for name, value in items[first : first + FIELDS_AT_ONCE]}


@lua_script("memory.redis.scripts")
def context_moment(ref: ContextRef) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def scan_keys(partition: int, *, cursor: int, count: int, pattern: str) -> ScriptCall: ...
